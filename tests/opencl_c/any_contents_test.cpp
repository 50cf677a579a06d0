// Kernels that end well on any contents, and kernels of which that is not known.
#include "opencl_c/accesses.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

bool on_any(const std::string& body) {
  const TranslationUnit unit = parse(
      "typedef float real; void unknown(int x);"
      "int same(int at) { return at; } float load(global const float* p, int at) { return p[at]; }"
      "float add(float x, float y) { return x + y; } int until(int x) { while (x != 3) x += 2; return x; }"
      "kernel void k(global const float* a, global float* b, global const int* t, int n, int w) {"
      "const int i = get_global_id(0), j = get_global_id(1);" +
      body + "}");
  return runs_on_any_contents(unit, *unit.definition("k"));
}

} // namespace

TEST_CASE("data that is computed with and stored decides nothing") {
  for (
      const std::string body :
      {"b[i] = a[i] * 3.0f + (i > 0 ? a[i - 1] : 1.0f);",
       "if (i >= n) return; b[j * w + i] = a[(j + 1) % n * w + i];",
       "global const float* row = a + j * w; float s = 0; for (int d = -1; d <= 1; ++d) { s += row[i + d]; } b[i] = s / 9;",
       "const float x = a[i]; b[i] = x > 0 ? x : -x; b[j] = (float)(x > 1 && x < 2);",
       "b[i] = sqrt(fabs(*(a + i)));",
       "local float tile[16]; tile[get_local_id(0)] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); b[i] = tile[w - 1];",
       "vstore4(vload4(i, a), i, b);", "b[i] = add(a[i], load(a, i + 1));",
       "float4 v = (float4)(a[i]); v.x = v.y; b[i] = v.x;",
       "real s[4]; for (int c = 0; c < 4; ++c) s[c] = a[i + c]; b[i] = s[3] * (real)2;",
       "b[i] = a[i] / (w + 1);", "int c = n; c -= 1; b[c] = a[i];", "b[same(i)] = a[same(same(i) - 1)];"}) {
    CAPTURE(body);
    CHECK(on_any(body));
  }
}

TEST_CASE("data that decides where a kernel goes on or what it accesses") {
  for (const std::string body : {"b[i] = a[t[i]];",
                                 "int at = t[i]; b[i] = a[at];",
                                 "int at = 0; (at) = t[i]; b[i] = a[at];",
                                 "int at = (int)*t; b[i] = a[at];",
                                 "int at = 1; at += t[i]; const int of = at * 2; b[of] = 1;",
                                 "int2 v = (int2)(t[i], 0); v.x = 0; b[v.y] = 1;",
                                 "int2 v; v.xy = (int2)(t[i]); b[v.x] = 1;",
                                 "int x = t[i]; while (x != 3) x += 2; b[i] = x;",
                                 "int x = t[i]; do { ++x; } while (x < 9); b[i] = x;",
                                 "for (int c = 0; c < t[i]; ++c) b[i] = c;",
                                 "for (int c = 0;; ++c) if (a[c] > 0) break;",
                                 "for (int c = 0; c < n; c += t[c]) b[i] = 1;",
                                 "for (int c = 0; c < n;) { if (a[c] > 0) ++c; }",
                                 "for (int c = 0; c < 1000000; ++c) if (a[c] > 0) break;",
                                 "b[i] = 7 / t[i];",
                                 "int x = t[i] + 1; b[i] = 7 % x;",
                                 "int x = 9; x /= t[i]; b[i] = x;",
                                 "b[i] = 7 / (int)t[i];",
                                 "if (a[i] > 0) b[i] = a[i - 1];",
                                 "if (a[i] > 0) return; b[i] = 1;",
                                 "b[i] = a[i] > 0 ? a[i - 1] : 0;",
                                 "b[i] = a[i] > 0 && a[i - 1] > 0;",
                                 "const float x = a[i]; b[i] = x > 0 || load(a, i - 1) > 0;",
                                 "switch (t[i]) { case 1: b[i] = 1; }",
                                 "b[same(t[i])] = 1;",
                                 "b[i] = load(a, t[i]);",
                                 "b[i] = until(t[i]);",
                                 "unknown(t[i]); b[i] = 1;",
                                 "int x = 0; int* p = &x; *p = t[i]; b[x] = 1;",
                                 "global float* q = b + t[i]; q[0] = 1;",
                                 "b[i] = vload4(t[i], a).x;",
                                 "vstore4((float4)(1), t[i], b);",
                                 "atomic_inc((global int*)b + t[i]);",
                                 "if (t[i] > 0) barrier(CLK_LOCAL_MEM_FENCE);",
                                 "int x = t[i]; goto end; end: b[i] = x;",
                                 "int x = 0, y = t[i]; x = y; b[x] = 1;",
                                 "b[i] = *(a + t[i]);",
                                 "if (n > 1) return; else *(b + t[i]) = 1;"}) {
    CAPTURE(body);
    CHECK_FALSE(on_any(body));
  }
}
