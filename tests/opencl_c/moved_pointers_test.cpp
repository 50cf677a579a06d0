// Kernels whose pointers are moved, and those that would notice.
#include "opencl_c/pointers.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

std::string obstacle(const std::string& source, std::size_t parameter = 0) {
  const TranslationUnit unit = parse(source);
  return obstacle_to_moving(unit, *unit.definition("k"), parameter);
}

// Of the parameter a of a kernel with this body.
std::string obstacle_in(const std::string& body, const std::string& before = "") {
  return obstacle(before + "kernel void k(global float* a, global float* b, uint n) {" + body + "}");
}

} // namespace

TEST_CASE("a pointer is moved before the body uses it") {
  const std::string source =
      "kernel void k(global const float* restrict a, uint n, global float4* b) {\n b[n] = a[n]; }";
  CHECK(
      spaced(move_pointers(parse(source), {{"k", {0, 2}}})) ==
      spaced(
          "kernel void k(global const float* restrict a, uint n, global float4* b , ulong tg_begin0 , ulong tg_begin2 ) { "
          "a = ( global void * ) ( ( uintptr_t ) a - ( uintptr_t ) tg_begin0 ) ; "
          "b = ( global void * ) ( ( uintptr_t ) b - ( uintptr_t ) tg_begin2 ) ; b[n] = a[n]; }"));
}

TEST_CASE("accesses and addresses of elements are the same for a pointer that is moved") {
  for (const std::string body :
       {"a[n] = 0;", "*a = 0;", "*(a + n) = 0;", "atomic_inc((global int*)a + n);",
        "vstore4((float4)(0), n, a);", "((global float4*)a)[n] = 0;",
        "global float* row = a + n; row[0] = 1;", "global float* row = a; row[n] = 1;", "n = a[n] == 0;",
        "if (a[n] < 1) a[n] = 2;", "b[n] = n ? a[n] : a[n + 1];", "{ float a = 1; n = a == 0; }",
        "set(a, n);", "deep(n, a);"}) {
    CHECK_MESSAGE(
        obstacle_in(body, "void set(global float* p, uint i) { p[i] = 0; }\n"
                          "void deep(uint i, global float* p) { if (i) deep(i - 1, p); set(p, i); }\n") == "",
        body);
  }
}

TEST_CASE("a kernel that may notice that a pointer is moved is named") {
  const std::string more = "k does more with a than access elements";
  for (const std::string body :
       {"if (a) n = 0;", "if (!a) n = 0;", "n = a == b;", "n = b == a;", "n = a < b;", "n = (ulong)a;",
        "n = (size_t)(a + 1);", "n = a ? 1 : 0;", "n = (a != 0);", "global float* c = n ? a : b; c[0] = 0;",
        "printf(\"%p\", a);", "tell(a);", "deep(a);", "global float** p = &a;"}) {
    CHECK_MESSAGE(obstacle_in(body, "void tell(global float* p) { printf(\"%p\", p); }\n"
                                    "void deep(global float* p) { tell(p); }\n") == more,
                  body);
  }
  CHECK(obstacle("kernel void k(global float* const a) { a[0] = 0; }") ==
        "the parameter a of k is not a pointer to global memory that can be assigned to");
  CHECK(obstacle("kernel void k(constant float* a, global float* b) { b[0] = a[0]; }") ==
        "the parameter a of k is not a pointer to global memory that can be assigned to");
  CHECK(obstacle("kernel void k(global float a[]) { a[0] = 0; }") ==
        "the parameter a of k is not a pointer to global memory that can be assigned to");
  CHECK(obstacle("kernel void k(global float* a); kernel void k(global float* a) { a[0] = 0; }") ==
        "k is declared twice, or called");
  CHECK(
      obstacle("kernel void k(global float* a) { a[0] = 0; } kernel void other(global float* a) { k(a); }") ==
      "k is declared twice, or called");
}
