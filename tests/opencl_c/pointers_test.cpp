// What becomes of pointers: parameters that point to const, and kernels that drop it; pointers that are moved, and kernels that
// would notice.
#include "opencl_c/outline.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

const std::string declarations = R"(
typedef global float* fptr; typedef global const float* reads; typedef global float* row_of[2];
typedef struct { global float* p; global const float* q; } pair;
typedef union { global float* p; global const float* q; } both;
float sum(global const float* p, int n) { return n ? p[0] + sum(p + 1, n - 1) : 0; }
global const float* same(global const float* p, int n) { return 1 < n ? p : &p[n]; }
global float* drop(global const float* p) { return (global float*)p; }
global float* lose(global const float* p) { return p; }
void put(global float* p) { *p = 1; }
void hide(global const float* p) { put((global float*)p); }
void first(global const float* p, int n);
void second(global const float* p, int n) { if (n) first(p, n - 1); }
void first(global const float* p, int n) { if (n) second(p, n - 1); else hide(p); }
kernel void writes(global float* a, uint n) { a[n] = 1; }
)";

std::string kernel(int index, const std::string& body) {
  return fmt::format(
      "kernel void k{}(global const float* a, global const float* other, global float* b, uint n) "
      "{{ global const float* p; global float* w; {} }}\n",
      index, body);
}

// Whether parameter a of a kernel with this body counts as const.
bool stays(const std::string& body) {
  return parse(declarations + kernel(0, body)).definition("k0")->parameters[0].is_const;
}

std::string obstacle(const std::string& source, std::size_t parameter = 0) {
  const TranslationUnit unit = parse(source);
  return obstacle_to_moving(unit, *unit.definition("k"), parameter);
}

// Of the parameter a of a kernel with this body.
std::string obstacle_in(const std::string& body, const std::string& before = "") {
  return obstacle(before + "kernel void k(global float* a, global float* b, uint n) {" + body + "}");
}

} // namespace

TEST_CASE("reads, and pointers to const") {
  for (const char* const body :
       {"", "typedef global float* uint; typedef global float* local_name; p = a; b[0] = p[0];",
        "b[n] = a[n] + *a - *(a + n) * a[n & 1] + (a + 2)[1];",
        "global const float* r = a + n; b[0] = r[1]; const global float *q; q = &r[2]; b[1] = q[0] & 1;",
        "b[0] = sum(a, 4) + sum(&a[4], 3) + sum(n ? a : a + 1, 2) + sum((a), 1);",
        "b[0] = vload4(0, a).x; prefetch(a, n); local float c[8]; async_work_group_copy(c, a + n, 8, 0);",
        "if (n) b[0] = 1; for (; *a; a++) b[n++] = a[0]; a += 2;",
        "b[0] = ((global const float4*)a)[n].x + *(global const int*)(a + 1);",
        "float4 v = (float4)(a[0], a[1], 2, 3); b[(int)a[0]] = (float)a[n] * -a[1];",
        "reads q = a; b[0] = (q - a) + sum((reads)q, 1) + sum((n, q + 1), 2); q += 2; p = q++; b[1] = *p;",
        "for (p = a; p < a + n; ++p) if (p == a || !p) b[0] += *p; switch (n) { case 1: b[0] = a[0]; }",
        "b[0] = (n + 1) & (int)a[0]; b[1] = (n) & *a; p = 1 < n ? a : other; b[2] = *p++;",
        "b[0] = same(a, 2)[n] + *same(&(a[n]), 1); p = same(same(a, 1), 2); b[1] = sum(same(p, 1), 2);"}) {
    CAPTURE(std::string(body));
    CHECK(stays(body));
  }
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
  CHECK(of_points("b[0] = a[n].x + a->m[1] * twice(a[1].x) + sum(a[2].m) + fmax(a->x, 1.0f) + (*a).m[n];"));
  CHECK(of_points("const float x = (float)a[n].x; point p = a[1]; float4 v = {a[0].x, 1, 2, a->x};"));
  CHECK(
      of_points("global const float* p = a[n].m; b[0] = p[1] + *a[1].m; p = &a->m[2]; b[1] = sizeof(a->m);"));
  CHECK_FALSE(of_points("put(a->m);"));
  CHECK_FALSE(of_points("global float* p = a[n].m;"));
  CHECK_FALSE(of_points("put((global float*)a[n].m);"));
  CHECK_FALSE(of_points("put(&(a->m[1]));"));
  CHECK_FALSE(of_points("atomic_xchg(a->m, 1.0f);"));
}

// Products of an address in the parameter's memory, a way to drop const, and a way to write: each test run takes every
// eleventh of them, all 9 430 were tried.
TEST_CASE("const that is dropped") {
  const std::vector<std::string> addresses = split(
      "a | (a) | (a + n) | &a[n] | &(a[n]) | &*a | &*(a + n) | n + a | p++ | (p = a) | (n, a) | (n ? a : b) | "
      "(0 < n ? other : a) | same(a, n) | (same)(a, n) | (reads)a | (const reads)a | 1[&a] | *&a | "
      "((pair){b, a}).q | *(global const float* const[2]){a, a} | ({ a; }) | (global const float*)&a[1]",
      " | ");
  // Those from the sixth on are pointers that are not to const.
  const std::vector<std::string> drops = split(
      "{} | _Generic(0, default: {}) | __builtin_choose_expr(1, {}, b) | same({}, 1) | (n ? {} : other) | "
      "(global float*)({}) | (global void*)({}) | (fptr)({}) | (const fptr)({}) | (local_name)({}) | "
      "(uint)({}) | (__typeof__(b))({}) | (global float*)(uintptr_t)({}) | "
      "(global int*)(global const int*)({}) | ((both){{.q = {}}}).p | ((pair){{{}, 0}}).p | drop({}) | "
      "lose({}) | (global float*)(0 < n ? {} : b) | (global float* const)({})",
      " | ");
  // Those up to the second need a pointer that is not to const.
  const std::vector<std::string> writes = split(
      "*({}) = 1; | ({})[n] = 1; | w = {}; w[0] = 1; | global float* v = {}; *v = 1; | put({}); | (put)({}); | "
      "fptr v = {}; *v = 1; | pair c; c.p = {}; c.p[0] = 1; | pair c = {{{}, a}}; *c.p = 1; | "
      "vstore4((float4)(1), 0, {}); | atomic_xchg({}, 1.0f); | __builtin_memcpy({}, b, 4); | writes({}, n); | "
      "global float* v[2] = {{{}, b}}; *v[0] = 1; | row_of v; v[0] = {}; *v[0] = 1; | b = {}; | hide({}); | "
      "first({}, n); | ulong u = (ulong)({}); *(global float*)u = 1; | *(&w) = {}; | "
      "async_work_group_copy({}, (local float*)0, 4, 0);",
      " | ");
  std::size_t product = seed();
  for (const std::string& address : addresses) {
    std::string source = declarations;
    std::vector<std::string> bodies;
    for (std::size_t drop = 0; drop < drops.size(); ++drop) {
      const std::string pointer = fmt::format(fmt::runtime(drops[drop]), address);
      for (std::size_t write = drop < 5 ? 2 : 0; write < writes.size(); ++write) {
        if (++product % 11 != 0) {
          continue;
        }
        bodies.push_back("typedef global float* uint; typedef global float* local_name; p = a; " +
                         fmt::format(fmt::runtime(writes[write]), pointer));
        source += kernel(static_cast<int>(bodies.size()) - 1, bodies.back());
      }
    }
    const TranslationUnit unit = parse(source);
    for (const Function& function : unit.functions) {
      if (function.is_kernel && function.name.starts_with("k")) {
        INFO(bodies[std::stoul(function.name.substr(1))]);
        CHECK_FALSE(function.parameters[0].is_const);
      }
    }
  }
  CHECK_FALSE(stays("global const float* q; global const float** qq = &q; *qq = a;"));
  CHECK_FALSE(stays("global float* seen = (global float*)&(a[n]); seen[0] = 1;"));
  CHECK_FALSE(stays("asm(\"\" : : \"r\"(a));"));
  CHECK_FALSE(stays("__global if (!a[n]) { b[0] = 1; }")); // a declaration to the parser
}

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
       {"a[n] = 0;", "*a = 0;", "*(a + n) = 0;", "atomic_xchg(a + n, 1);", "vstore4((float4)(0), n, a);",
        "global float* row = a + n; row[0] = 1;", "global float* row = a; row[n] = 1;", "n = a[n] == 0;",
        "if (a[n] < 1) a[n] = 2;", "b[n] = n ? a[n] : a[n + 1];", "{ float a = 1; n = a == 0; }",
        "set(a, n);", "deep(a, n);"}) {
    CHECK_MESSAGE(obstacle_in(body, "void set(global float* p, uint i) { p[i] = 0; }\n"
                                    "void deep(global float* p, uint i) { set(p + 1, i); }\n") == "",
                  body);
  }
}

TEST_CASE("a kernel that may notice that a pointer is moved is named") {
  const std::string more = "k does more with a than access elements";
  for (const std::string body :
       {"if (a) n = 0;", "if (!a) n = 0;", "n = a == b;", "n = b == a;", "n = a < b;", "n = (ulong)a;",
        "n = (size_t)(a + 1);", "n = a ? 1 : 0;", "((global float4*)a)[n] = 0;", "n = (a != 0);",
        "global float* c = n ? a : b; c[0] = 0;", "printf(\"%p\", a);", "tell(a);", "deep(a);",
        "global float** p = &a;"}) {
    CHECK_MESSAGE(obstacle_in(body, "void tell(global float* p) { printf(\"%p\", p); }\n"
                                    "void deep(global float* p) { tell(p); }\n") == more,
                  body);
  }
  CHECK(obstacle("kernel void k(global float* const a) { a[0] = 0; }") == more);
  CHECK(obstacle("kernel void k(constant float* a, global float* b) { b[0] = a[0]; }") == more);
  CHECK(obstacle("kernel void k(global float a[]) { a[0] = 0; }") == "");
  CHECK(obstacle("kernel void k(global float* a); kernel void k(global float* a) { a[0] = 0; }") == more);
  CHECK(
      obstacle("kernel void k(global float* a) { a[0] = 0; } kernel void other(global float* a) { k(a); }") ==
      more);
}
