// Parameters that point to const, and kernels that drop it.
#include "opencl_c/translation_unit.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

// Whether parameter a of a kernel with this body counts as const.
bool stays(const std::string& body) {
  const auto unit = parse(
      "typedef global const float* reads; typedef struct { global float* p; global const float* q; } pair;"
      "float sum(global const float* p, int n) { return n ? p[0] + sum(p + 1, n - 1) : 0; }"
      "void put(global float* p) { *p = 1; } void hide(global const float* p) { put((global float*)p); }"
      "kernel void k(global const float* a, global float* b, uint n) {" +
      body + "}");
  return unit.definition("k")->parameters[0].is_const;
}

} // namespace

TEST_CASE("reads, and pointers to const") {
  CHECK(stays(""));
  CHECK(stays("b[n] = a[n] + *a - *(a + n) * a[n & 1] + (a + 2)[1];"));
  CHECK(stays(
      "global const float* p = a + n; b[0] = p[1]; const global float *q; q = &p[2]; b[1] = q[0] & 1;"));
  CHECK(stays("reads p = a; b[0] = p[0];") == false); // a form that is not on the list
  CHECK(stays("b[0] = sum(a, 4) + sum(&a[4], 3) + sum(n ? a : a + 1, 2) + sum((a), 1);"));
  CHECK(stays(
      "b[0] = vload4(0, a).x; prefetch(a, n); local float c[8]; async_work_group_copy(c, a + n, 8, 0);"));
  CHECK(stays("if (a != 0 && n) b[0] = 1; for (; *a; a++) b[n++] = a[0]; a += 2;"));
  CHECK(stays("b[0] = ((global const float4*)a)[n].x + *(global const int*)(a + 1);"));
  CHECK(stays("float4 v = (float4)(a[0], a[1], 2, 3); b[(int)a[0]] = (float)a[n] * -a[1];"));
}

TEST_CASE("elements that hold arrays") {
  const auto of_points = [](const std::string& body) {
    const auto unit =
        parse("typedef struct { float m[4]; float x; } point; void put(global float* p) { *p = 1; }"
              "float sum(global const float* p) { return p[0]; } float twice(float x) { return 2 * x; }"
              "kernel void k(global const point* a, global float* b, uint n) {" +
              body + "}");
    return unit.definition("k")->parameters[0].is_const;
  };
  CHECK(of_points("b[0] = a[n].x + a->m[1] * twice(a[1].x) + sum(a[2].m) + fmax(a->x, 1.0f);"));
  CHECK(of_points("const float x = (float)a[n].x; point p = a[1]; float4 v = {a[0].x, 1, 2, a->x};"));
  CHECK_FALSE(of_points("put(a->m);"));
  CHECK_FALSE(of_points("global float* p = a[n].m;"));
  CHECK_FALSE(of_points("put((global float*)a[n].m);"));
  CHECK_FALSE(of_points("atomic_xchg(a->m, 1.0f);"));
}

TEST_CASE("const that is dropped") {
  CHECK_FALSE(stays("((global float*)a)[0] = 1;"));
  CHECK_FALSE(stays("global float* p = (global float*)a; p[0] = 1;"));
  CHECK_FALSE(stays("global float* p; p = a + 1;"));
  CHECK_FALSE(stays("global const float* q = a; global float* p = q;"));
  CHECK_FALSE(stays("put(a);"));
  CHECK_FALSE(stays("put((global float*)(a + 1));"));
  CHECK_FALSE(stays("put((global float*)&a[1]);"));
  CHECK_FALSE(stays("hide(a + 1);"));
  CHECK_FALSE(stays("pair c; c.q = a; c.p = (global float*)c.q;"));
  CHECK_FALSE(stays("pair c = {(global float*)a, a};"));
  CHECK_FALSE(stays("ulong address = (ulong)a; *(global float*)address = 1;"));
  CHECK_FALSE(stays("vstore4((float4)(1), 0, (global float*)a);"));
  CHECK_FALSE(stays("atomic_xchg((volatile global float*)a, 1);"));
  CHECK_FALSE(stays("*(global float*)a = 1;"));
  CHECK_FALSE(stays("put((global float* const)a);"));
  CHECK_FALSE(stays("global float* t[2] = {a, b};"));
  CHECK_FALSE(stays("pair c = {a, a};"));
  CHECK_FALSE(stays("put(((pair){a, a}).p);"));
  CHECK_FALSE(stays("global const float* q; global const float** qq = &q; *qq = a;"));
}
