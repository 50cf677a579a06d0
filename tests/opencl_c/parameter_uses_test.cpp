// Uses of kernel parameters, where the analysis is certain.
#include "opencl_c/accesses.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace tidegate;
using namespace tidegate::opencl_c;

namespace {

KernelUses uses(const std::string& source) {
  const TranslationUnit unit = opencl_c::test::parse(source);
  return uses_of(unit, *unit.definition("k"));
}

// "r", "w" or "rw", with "a" appended for atomic, for the first parameter of a kernel with this body.
std::string access(const std::string& body, const std::string& before = "") {
  const ParameterUse use =
      uses(before + "kernel void k(global int* p, int n) { " + body + " }").parameters[0];
  return std::string(use.read ? "r" : "") + (use.written ? "w" : "") + (use.atomic ? "a" : "");
}

std::string scalar(const std::string& body, const std::string& before = "") {
  const ParameterUse use =
      uses(before + "kernel void k(global int* p, int n) { " + body + " }").parameters[1];
  return std::string(use.factor ? "f" : "") + (use.bound ? "b" : "");
}

} // namespace

TEST_CASE("elements are read or written") {
  CHECK(access("int a = p[0] + 2;") == "r");
  CHECK(access("int a = *p == 3;") == "r");
  CHECK(access("if (p[n] == 3 || p[1] <= 2) return;") == "r");
  CHECK(access("p[n + 1] = 3;") == "w");
  CHECK(access("((p)[n]) = (*(p)) + 3;") == "rw");
  CHECK(access("(*p) = 3;") == "w");
  CHECK(access("*p = n;") == "w");
  CHECK(access("p[0] = p[1];") == "rw");
  CHECK(access("p[0] += 1;") == "rw");
  CHECK(access("p[0] <<= 1;") == "rw");
  CHECK(access("++p[0];") == "rw");
  CHECK(access("p[0]--;") == "rw");
  CHECK(access("") == "");
}

TEST_CASE("what is not seen through is both") {
  CHECK(access("global int* q = p + n;") == "rw");
  CHECK(access("global int* q = &p[n];") == "rw");
  CHECK(access("p += 1;") == "rw");
  CHECK(access("*p++ = 1;") == "rw");
  CHECK(access("mystery(p);") == "rw");
  CHECK(access("(p[n])++;") == "rw");
  CHECK(access("(*p)--;") == "rw");
  CHECK(access("*(p + n) = 1;") == "rw");
  CHECK(access("((p)[n]) += 1;") == "rw");
  CHECK(access("int* q = (int*)&(p[n]);") == "rw");
  CHECK(access("f(p);", "__attribute__((overloadable)) int f(global float* q) { return q[1]; } "
                        "__attribute__((overloadable)) int f(global int* q) { return q[1] = 2; }") == "rw");
  CHECK(access("{ int p[3]; p[0] = 1; }") == "rw"); // another p, as scopes suggest
  CHECK(access("int a = (int)p;") == "rw");
}

TEST_CASE("functions of the file and of the language are known") {
  CHECK(access("f(n, p);", "void f(int m, global int* q) { q[m] = 1; }") == "w");
  CHECK(access("g(p);", "int f(global int* q) { return q[1]; } int g(global int* q) { return f(q); }") ==
        "r");
  CHECK(access("int4 a = vload4(0, p);") == "r");
  CHECK(access("vstore4((int4)(0), 0, p);") == "w");
  CHECK(access("atomic_add(&p[n], 1);") == "rwa");
  CHECK(access("atomic_inc(p);") == "rwa");
}

TEST_CASE("scalars that span rows, and those that bound an index") {
  CHECK(scalar("p[get_global_id(1) * n + get_global_id(0)] = 1;") == "f");
  CHECK(scalar("p[n * 2] = 1;") == "f");
  CHECK(scalar("p[2 * n] = 1;") == "f");
  CHECK(scalar("int a = (int)*p + n;") == "");
  CHECK(scalar("if (get_global_id(0) >= n) return;") == "b");
  CHECK(scalar("for (int i = 0; i < n; ++i) p[i] = 1;") == "b");
  CHECK(scalar("p[0] = n == 3;") == "");
  CHECK(scalar("p[f(n)] = 1;", "int f(int width) { return width * 3; }") == "f");
}

TEST_CASE("the NDRange, the numbers that multiply and the room of local arrays") {
  const KernelUses found = uses("#define T 16\n"
                                "int row(void) { return get_global_id(2); }\n"
                                "kernel void k(global float* p, local float* l) {\n"
                                "  local float a[T][T + 1], b[T], c;\n"
                                "  p[8 * row() + get_global_id(0)] = vload4(0, p).x * 0.5f;\n"
                                "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "}");
  CHECK(found.dimensions == 3);
  CHECK(found.largest_factor == 8);
  CHECK(found.in_groups);
  CHECK(found.arrays == std::vector<LocalArray>{{16, 17}, {16}});
  CHECK_FALSE(uses("kernel void k(global int* p) { p[get_global_id(0)] = 1; }").in_groups);
  CHECK(uses("kernel void k(local int* p) {}").in_groups);
}
