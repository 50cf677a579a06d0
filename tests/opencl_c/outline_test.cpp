// Kernels as functions of a virtual work-group: changes, text that must stay, and refusals.
#include "opencl_c/outline.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

using Renamed = std::map<std::string, std::string>;

std::set<std::string> all_kernels(const TranslationUnit& unit) {
  std::set<std::string> kernels;
  for (const Function& function : unit.functions) {
    if (function.is_kernel && function.body) {
      kernels.insert(function.name);
    }
  }
  return kernels;
}

OutlinedUnit outline_all(const std::string& source, const Renamed& renamed = {}) {
  const TranslationUnit unit = parse(source);
  auto outlined = outline(unit, {.kernels = all_kernels(unit), .renamed = renamed});
  if (!outlined) {
    INFO(source);
    FAIL(describe(outlined.error()));
  }
  return std::move(*outlined);
}

// The tokens of the result, without layout and #line directives.
std::string outlined(const std::string& source, const Renamed& renamed = {}) {
  return spaced(outline_all(source, renamed).text);
}

const OutlinedKernel& kernel(const OutlinedUnit& unit, const std::string& name = "k") {
  const auto found = unit.kernels.find(name);
  REQUIRE(found != unit.kernels.end());
  return found->second;
}

std::string refused(const std::string& source) {
  const TranslationUnit unit = parse(source);
  const auto outlined = outline(unit, {.kernels = all_kernels(unit)});
  if (outlined && !outlined->fallbacks.empty()) {
    return refusal(Result<void>(tl::unexpected(outlined->fallbacks.begin()->second)));
  }
  return refusal(outlined);
}

// Expands KERNEL NAME( to the text that outline() writes for "kernel void NAME(".
std::string expected(std::string text) {
  const std::string mark = "KERNEL ";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
    text.replace(at, mark.size(), "__attribute__((always_inline)) static void ");
  }
  return spaced(text);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("kernels and what they call take the work-item that asks") {
  for (const auto& [source, result] : std::vector<std::pair<std::string, std::string>>{
           // A kernel becomes a function of a work-item.
           {"kernel void k(global int* a, const int n) { a[get_global_id(0)] = n; }",
            "KERNEL k(tg_item tg_self, global int* a, const int n) { a[tg_get_global_id(tg_self, 0)] = n; }"},
           {"__kernel void k() { }", "KERNEL k(tg_item tg_self) { }"},
           {"kernel void k(void) { }", "KERNEL k(tg_item tg_self) { }"},
           {"void kernel k(global int* a __attribute__((unused))) { return; }",
            "KERNEL k(tg_item tg_self, global int* a __attribute__((unused))) { return; }"},
           // Attributes of kernels are removed: functions may not have them.
           {"__attribute__((reqd_work_group_size(8, 1, 1))) kernel void k() { }",
            "KERNEL k(tg_item tg_self) { }"},
           {"kernel __attribute__((vec_type_hint(float4))) void k() "
            "__attribute__((work_group_size_hint(8, 1, 1))) "
            "{ }",
            "KERNEL k(tg_item tg_self) { }"},
           // Helpers get the work-item when they ask, also through others.
           {"int deep(int d) { return get_local_id(d); } int middle(void) { return deep(0); } "
            "int plain(int x) { return x; } kernel void k(int n) { n = middle() + plain(n); }",
            "int deep(tg_item tg_self, int d) { return tg_get_local_id(tg_self, d); }"
            "int middle(tg_item tg_self) { return deep(tg_self, 0); } int plain(int x) { return x; }"
            "KERNEL k(tg_item tg_self, int n) { n = middle(tg_self) + plain(n); }"},
           {"int a(); int a() { return get_global_id(0); } kernel void k(int n) { n = a(); }",
            "int a(tg_item tg_self); int a(tg_item tg_self) { return tg_get_global_id(tg_self, 0); }"
            "KERNEL k(tg_item tg_self, int n) { n = a(tg_self); }"},
           {"int a(void); kernel void k(int n) { n = a(); } int a(void) { return get_work_dim(); }",
            "int a(tg_item tg_self); KERNEL k(tg_item tg_self, int n) { n = a(tg_self); }"
            "int a(tg_item tg_self) { return tg_get_work_dim(tg_self); }"},
           // Functions that call each other.
           {"int b(int); int a(int n) { return n ? b(n - 1) : 0; } int b(int n) { return a(n) + "
            "get_local_id(0); } "
            "kernel void k(int n) { n = a(n); }",
            "int b(tg_item tg_self, int); int a(tg_item tg_self, int n) { return n ? b(tg_self, n - 1) : 0; }"
            "int b(tg_item tg_self, int n) { return a(tg_self, n) + tg_get_local_id(tg_self, 0); }"
            "KERNEL k(tg_item tg_self, int n) { n = a(tg_self, n); }"},
           // Members are no functions.
           {"struct s { int get_local_id; }; kernel void k(global struct s* p) { p->get_local_id = "
            "p[0].get_local_id; }",
            "struct s { int get_local_id; }; KERNEL k(tg_item tg_self, global struct s* p) "
            "{ p->get_local_id = p[0].get_local_id; }"},
           // Kernels may be called; helpers pass the item on to them.
           {"kernel void inner(global int* a) { *a = 1; } kernel void k(global int* a) { inner(a); }",
            "KERNEL inner(tg_item tg_self, global int* a) { *a = 1; }"
            "KERNEL k(tg_item tg_self, global int* a) { inner(tg_self, a); }"},
           {"kernel void inner(void) { } void h(void) { inner(); } kernel void k() { h(); }",
            "KERNEL inner(tg_item tg_self) { } void h(tg_item tg_self) { inner(tg_self); }"
            "KERNEL k(tg_item tg_self) { h(tg_self); }"},
           // Functions that meet at barriers or see local memory become part of the kernel.
           {"void h(void) { barrier(1); } kernel void k() { h(); }",
            "__attribute__((always_inline)) void h(tg_item tg_self) { tg_barrier(tg_self, 1); }"
            "KERNEL k(tg_item tg_self) { h(tg_self); }"},
           {"int h(local int* a) { return *a; } kernel void k(local int* a) { *a = h(a); }",
            "__attribute__((always_inline)) int h(local int* a) { return *a; }"
            "KERNEL k(tg_item tg_self, local int* a) { *a = h(a); }"}}) {
    CHECK(outlined(source) == expected(result));
  }
}

// The body of kernel k, from `begin` on, with steady parameters w and n (0 and 1); the third, x, changes.
std::string body_with_wait(const std::string& statements, const std::string& helpers = "") {
  const TranslationUnit unit =
      parse(helpers + "kernel void k(global const int* w, global const int* n, global int* x, uint at) { " +
            statements + " barrier(1); }");
  const auto result = outline(unit, {.kernels = {"k"}, .steady = {{"k", {0, 1}}}});
  REQUIRE(result);
  CHECK(kernel(*result).waits);
  const std::string text = spaced(result->text);
  const std::string begin = "uint at ) { ";
  const std::string end = " tg_barrier";
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end) - from);
}

TEST_CASE("a kernel waits after the statements that use steady memory alone") {
  const auto waits_before = [](const std::string& early, const std::string& late,
                               const std::string& helpers = "") {
    CHECK(body_with_wait(early + " " + late, helpers) == spaced(early + " TG_PASS(tg_self) " + late));
  };
  waits_before("int a = w[at]; const int4 b = vload4(at, n);", "x[at] = a;");
  waits_before(
      "int a[4]; for (int i = 0; i < 4; ++i) { a[i] = w[i] + n[at]; } for (int i = 0; i < 2; ++i) a[i] = max(a[i], 0);",
      "int c = x[0];");
  waits_before("global const int* p = w + at; int a = *p;", "global int* q = x;");
  waits_before("int a; ask(&a, w);", "x[0] = a;",
               "void ask(int* a, global const int* b) { if (b[0] != 0) { *a = b[1]; return; } *a = 0; } ");
  // What leaves the kernel, meets others, or is not on the list of what is harmless comes after the wait.
  waits_before("int a = w[0];", "if (at > 3) { return; }");
  waits_before("", "for (int i = 0; i < 4; ++i) { x[i] = w[i]; }");
  waits_before("", "atomic_inc((global int*)w);");
  waits_before("", "call(w);", "void call(global const int* w) { mem_fence(1); } ");
  waits_before("", "again(w);", "void again(global const int* w) { atomic_inc((global int*)w); } ");
  waits_before("", "int a = mystery(w);");
  waits_before("", "{ int a = w[0]; }");
  waits_before("", "while (w[0] == 0) { }");
  CHECK(body_with_wait("int a = w[0];") == spaced("int a = w[0]; TG_PASS(tg_self)"));
  // One without barriers may not wait, as its work-items need not all be there.
  const TranslationUnit unit = parse("kernel void k(global const int* w, global int* x) { x[0] = w[0]; }");
  const auto result = outline(unit, {.kernels = {"k"}, .steady = {{"k", {0}}}});
  REQUIRE(result);
  CHECK_FALSE(kernel(*result).waits);
  CHECK(count(result->text, "TG_PASS") == 0);
}

TEST_CASE("each work-item function takes the item") {
  for (const std::string name :
       {"get_global_id", "get_global_size", "get_global_offset", "get_local_id", "get_local_size",
        "get_enqueued_local_size", "get_group_id", "get_num_groups"}) {
    CHECK(outlined("kernel void k(int d) { d = " + name + "(get_local_id(0)) + " + name + " (1 + (2)); }") ==
          expected("KERNEL k(tg_item tg_self, int d) { d = tg_" + name +
                   "(tg_self, tg_get_local_id(tg_self, 0)) + tg_" + name + "(tg_self, 1 + (2)); }"));
  }
  for (const std::string name : {"get_work_dim", "get_global_linear_id", "get_local_linear_id"}) {
    CHECK(outlined("kernel void k(int d) { d = " + name + "(); }") ==
          expected("KERNEL k(tg_item tg_self, int d) { d = tg_" + name + "(tg_self); }"));
  }
}

TEST_CASE("a kernel may be called before its definition") {
  const std::string text =
      outlined("kernel void late(global int* a); kernel void k(global int* a) { late(a); } "
               "kernel void late(global int* a) { *a = 1; }");
  const std::size_t declared = text.find("late ( tg_item tg_self , global int * a ) ;");
  REQUIRE(declared != std::string::npos);
  CHECK(declared < text.find("late ( tg_self , a )"));
}

TEST_CASE("functions that no kernel reaches are dropped") {
  const TranslationUnit unit =
      parse("int used(void) { return 1; } int unused(image2d_t i) { return other(); } "
            "int unused_too(void); kernel void k(int n) { n = used(); } kernel void not_asked() { }");
  const auto result = outline(unit, {.kernels = {"k"}});
  REQUIRE(result);
  CHECK(spaced(result->text) ==
        expected("int used(void) { return 1; } KERNEL k(tg_item tg_self, int n) { n = used(); }"));
  CHECK(result->kernels.size() == 1);
  const auto none = outline(unit, {});
  REQUIRE(none);
  CHECK(spaced(none->text).empty());
}

TEST_CASE("pointers are restricted unless others may write what is read through them") {
  const auto restricted = [](const std::string& body) {
    const auto unit = parse("int h(int a) { " + body +
                            " return a; } kernel void k(global const int* a, global int* b) { h(1); }");
    const auto result = outline(unit, {.kernels = {"k"}, .distinct = {"k"}});
    REQUIRE(result);
    CHECK(result->text.find("* TG_RESTRICT a") != std::string::npos);
    return result->text.find("* TG_RESTRICT b") != std::string::npos;
  };
  CHECK(restricted(""));
  CHECK(restricted("a = max(a, (int)get_global_id(0)) + convert_int(sqrt(2.0f));"));
  for (const char* const body : {"barrier(CLK_GLOBAL_MEM_FENCE);", "mem_fence(CLK_GLOBAL_MEM_FENCE);",
                                 "local int l; atomic_inc(&l);", "volatile int v = 1;", "of_a_vendor(a);"}) {
    CHECK_FALSE(restricted(body));
  }
}

TEST_CASE("who needs the whole group") {
  const std::string one = "void h(void) { barrier(1); } ";
  const auto needs = [&](const std::string& source) { return kernel(outline_all(source)).needs_whole_group; };
  for (const std::string& source :
       {std::string("kernel void k() { barrier(CLK_LOCAL_MEM_FENCE); }"),
        std::string("kernel void k(int n) { n = work_group_reduce_add(n); }"),
        std::string("kernel void k(int n) { n = get_sub_group_id(); }"),
        std::string("kernel void k() { local int a; }"), std::string("kernel void k(local int* a) { }"),
        one + "kernel void k() { h(); }",
        one + "void g(void) { h(); } void f(void) { g(); } kernel void k() { f(); }",
        "kernel " + one + "void g(void) { h(); } kernel void k() { g(); }",
        "void h(void); kernel void k() { h(); } " + one}) {
    CHECK_MESSAGE(needs(source), source);
  }
  for (const std::string& source :
       {std::string("kernel void k(global int* a) { a[get_local_id(0)] = 1; mem_fence(1); atomic_inc(a); }"),
        one + "kernel void other() { h(); } kernel void k() { }",
        std::string("void barrier_of(int a) { } struct s { int barrier; }; kernel void k(struct s a) { "
                    "barrier_of(a.barrier); }"),
        std::string(
            "int work_group_size(int a) { return a; } kernel void k(int n) { n = work_group_size(n); }")}) {
    CHECK_MESSAGE(!needs(source), source);
  }
}

TEST_CASE("what may be rounded otherwise when it is constant") {
  const auto rounds = [](const std::string& source) { return kernel(outline_all(source)).rounds; };
  for (const char* const source :
       {"kernel void k(global float* a) { *a = 1 / *a; }",
        "kernel void k(global float4* a) { *a = sqrt(*a); }",
        "typedef double real; kernel void k(global real* a) { *a /= 3; }",
        "float h(float x) { return 1 / x; } kernel void k(global float* a) { *a = h(*a); }"}) {
    CHECK_MESSAGE(rounds(source), std::string(source));
  }
  CHECK_FALSE(rounds("kernel void k(global int* a) { *a = 1 / *a; }"));
  CHECK_FALSE(rounds("kernel void k(global float* a) { a[get_global_id(0)] *= 3; }"));
}

TEST_CASE("local variables become members of a structure, tables in constant memory move to file scope") {
  CHECK(
      outlined(
          "struct s { int a; }; kernel void k(int n) { local int a, *p = &a; constant int t[2] = {1, 2}; "
          "struct s v = {.a = 1}; { int a = n; n = a; } n = v.a + a + t[*p]; }") ==
      expected(
          "struct s { int a; }; typedef struct { int a; } tg_locals_k; constant int tg_constant1_k_t[2] = {1, 2};"
          "KERNEL k(tg_item tg_self, int n, local tg_locals_k* tg_locals) { local int *p = &tg_locals->a; ; "
          "struct s v = {.a = 1}; { int a = n; n = a; } n = v.a + tg_locals->a + tg_constant1_k_t[*p]; }"));
  CHECK(kernel(outline_all("kernel void k(int n) { local float tile[16]; }")).locals == "tg_locals_k");
  CHECK_FALSE(kernel(outline_all("kernel void k() { constant int t = 1; }")).needs_whole_group);
}

TEST_CASE("tables of kernels with similar names have different ones") {
  const std::string text =
      outlined("kernel void k() { constant int a_b = 1; } kernel void k_a() { constant int b = 2; }");
  CHECK(count(text, "constant int tg_constant1_k_a_b =") <= 1);
}

TEST_CASE("pointers into constant memory point into global memory where a kernel has constant arguments") {
  const std::string head =
      "constant float own[2] = {1, 2}; float at(constant float*, int); float at(constant float* t, int n) { return t[n]; }"
      "kernel void k(constant float* t, int n) { at(t, 1); ";
  const std::string moved =
      "constant float own[2] = {1, 2}; float at(const global float*, int); float at(const global float* t, int n) { return t[n]; }"
      "KERNEL k(tg_item tg_self, const global float* t, int n) { at(t, 1); ";
  for (
      const auto& [body, result] : std::vector<std::pair<std::string, std::string>>{
          {"constant float* p = t + 1; __constant float *q, *r; q = p; r = n ? t : q;",
           "const global float* p = t + 1; const global float *q, *r; q = p; r = n ? t : q;"},
          {"for (constant float* p = t; n; ++p) --n; n = ((constant int*)t)[0];",
           "for (const global float* p = t; n; ++p) --n; n = ((const global int*)t)[0];"},
          {"n = *t + own[n] + at((constant float*)t, 2);",
           "n = *t + own[n] + at((const global float*)t, 2);"},
          {"constant int (*m)[4] = (constant int (*)[4])(ulong)t; constant int* q = m[2]; n = q[1];",
           "const global int (*m)[4] = (const global int (*)[4])(ulong)t; const global int* q = m[2]; n = q[1];"},
          {"n = vload4(0, t).x + sizeof(own) + sizeof(\"text\"); printf(\"%f\", own[n]); char c[] = \"text\";",
           "n = vload4(0, t).x + sizeof(own) + sizeof(\"text\"); printf(\"%f\", own[n]); char c[] = \"text\";"}}) {
    CHECK(outlined(head + body + "}") == expected(moved + result + "}"));
  }
  // Without constant arguments nothing moves.
  const std::string alone = "constant int own[2] = {1, 2}; int f(constant int* t) { return t[1]; }";
  CHECK(outlined(alone + "kernel void k(global int* a) { *a = f(own); }") ==
        expected(alone + "KERNEL k(tg_item tg_self, global int* a) { *a = f(own); }"));
}

TEST_CASE("a kernel with constant arguments uses no address of what stays in constant memory") {
  const auto found = [](const std::string& body) {
    return refused(
        "constant int own[4] = {1}; struct s { ulong p; };\n"
        "constant struct { int n, w[2]; } one = {1, {2, 3}}; constant int grid[2][2] = {{1, 2}, {3, 4}};\n"
        "int at(constant int* t, int i) { return t[i]; } int of(ulong n) { return n; } constant int single = 1;\n"
        "kernel void k(constant int* a, global int* out, int i) { struct s v; constant int* p = a; " +
        body + " out[0] = p[0]; }");
  };
  constexpr std::string_view lost =
      " unsupported_kernel: this may use an address in constant memory, and a persistent kernel has "
      "its constant arguments in global memory";
  // Products of an address and where it goes.
  const std::vector<std::string> addresses = split(
      "own | (own) | own + i | &own[i] | &*own | (i ? own : a) | (i, own) | (constant int*)own | (constant char*)own | "
      "grid[i] | *grid | one.w | (&one)->w | &one.n | &single | &grid[1][i] | (constant int*)\"text\" | "
      "(p = own) | _Generic(0, default: own) | ({ own; }) | (__typeof__(a))own",
      " | ");
  const std::vector<std::string> uses = split(
      "p = {}; | constant int* q = {}; | constant int* const q = {}; | ulong q[2] = {{1, (ulong)({})}}; | out[0] = *({}); | "
      "out[0] = at({}, 1); | v.p = (ulong)({}); | v = (struct s){{(ulong)({})}}; | out[0] = of((ulong)({})); | "
      "out[0] = ({}) == a; | if ({}) out[0] = 1; | out[0] = vload4(0, {}).x;",
      " | ");
  for (const std::string& address : addresses) {
    for (const std::string& use : uses) {
      const std::string body = fmt::format(fmt::runtime(use), address);
      CAPTURE(body);
      CHECK(found(body).ends_with(lost));
    }
  }
  for (const char* const value :
       {"own[i]", "grid[1][i]", "one.n + one.w[i]", "single", "sizeof(own)", "own[grid[0][own[1]]]"}) {
    CAPTURE(value);
    CHECK(found(fmt::format("out[0] = {}; out[1] = at(a, {}); int n = -{};", value, value, value)) == "none");
  }
  for (const char* const body :
       {"constant int* q[2] = {a, a};", "out[0] = sizeof(constant int*);",
        "constant int w[2] = {1, 2}, *q = a;", "out[0] = __builtin_constant_p(a[0]);", "__typeof__(a) q = a;",
        "asm(\"\" : : \"r\"(a));", "constant char* q = \"text\";"}) {
    CAPTURE(body);
    CHECK(found(body).ends_with(lost));
  }
  // Of the whole file: addresses in tables, and functions that the address space may choose.
  for (
      const std::string before :
      {"constant int own[2] = {1}; constant int* constant rows[1] = {own};",
       "constant int own[2] = {1}; constant ulong at = (ulong)own;", "typedef constant int* t;",
       "struct s { constant int* p; };", "constant int* of(constant int* p) { return p; }",
       "__attribute__((overloadable)) int of(constant int* a) { return 1; } __attribute__((overloadable)) int of(global int* a) "
       "{ return 2; }"}) {
    CAPTURE(before);
    CHECK(refused(before + "kernel void k(constant int* a, global int* b) { b[0] = a[0]" +
                  (before.ends_with("; }") ? " + of(a)" : "") + "; }")
              .ends_with(lost));
    CHECK(refused(before + "kernel void k(global const int* a, global int* b) { b[0] = a[0]; }") == "none");
  }
}

TEST_CASE("names that meet are renamed wherever they mean the same") {
  // What is renamed has a @ before it.
  for (
      const std::string marked :
      {"typedef struct @point { int item, length; } @point; enum { @item = 3, @other }; constant int @table[@item] = {@item, @other};"
       "int @helper(@point p) { return p.item + @item + @table[0]; } kernel void @k(global @point* p) { @point q = {.item = @item}; "
       "p->item = @helper(q); }",
       "int @a(void); kernel void @b() { @a(); } kernel void k() { @a(); } int @a(void) { return 1; }",
       "uint @f(uint x) { uint lane; asm volatile (\"mov.u32 %0, %1;\" : \"=r\"(lane) : \"r\"(x), \"r\"(lane)); "
       "if (lane == x) { lane = 1; } return lane + x; } enum { @lane, @x }; kernel void k() { @f(@x); }",
       "enum { @size = 2 }; enum @kind { @item }; struct s { int item[@size], size; enum @kind kind; struct { int item; } in; "
       "union { float size; } u; int kind2 __attribute__((aligned(8))); }; kernel void k() { }",
       "enum { @item }; struct s { int item __attribute__((aligned(8))); }; kernel void k(global struct s* p) { p->item = 1; }",
       "enum { @item }; kernel void k(int n) { struct { int item; } s; s.item = @item; n = s.item; }",
       "enum { @item, @size = 2 }; struct outer { struct @inner { int size; } in; }; kernel void k(global struct outer* p, int n) { "
       "struct { int item[@size], size : @item; } s = {.item = {@item}, .size = @size}; struct @inner in = {@size}, *q = &in; "
       "union { int inner, item; } u = {.item = @item}; s.item[@item] = p->in.size + q->size + (*q).size + u.item + @size; }",
       "enum { @item }; struct @packed { int a; } __attribute__((packed)); int f(int item) { return item; } "
       "kernel void k(int n) { n = f(@item); for (int item = 0; item < n; ++item) n += item; n = @item; }"}) {
    Renamed renamed;
    std::string source;
    std::string result;
    for (std::size_t i = 0; i < marked.size(); ++i) {
      if (marked[i] != '@') {
        source += marked[i];
        result += marked[i];
        continue;
      }
      const std::string word = marked.substr(i + 1, marked.find_first_of(" ;,(){}[]=:*+.", i + 1) - i - 1);
      renamed[word] = "u0_" + word;
      result += "u0_";
    }
    const std::string begin = "kernel void ";
    for (std::size_t at = result.find(begin); at != std::string::npos; at = result.find(begin, at)) {
      result.replace(at, begin.size(), "KERNEL ");
      const std::size_t list = result.find('(', at) + 1;
      result.insert(list, result[list] == ')' ? "tg_item tg_self" : "tg_item tg_self, ");
    }
    CHECK(outlined(source, renamed) == expected(result));
  }
  const OutlinedUnit unit =
      outline_all("kernel void k() { local int table; table = 1; }", {{"k", "u0_k"}, {"table", "u0_table"}});
  CHECK(kernel(unit).function == "u0_k");
  CHECK(kernel(unit).locals == "tg_locals_u0_k");
  CHECK(spaced(unit.text) == expected("typedef struct { int table; } tg_locals_u0_k;"
                                      "KERNEL u0_k(tg_item tg_self, local tg_locals_u0_k* tg_locals) "
                                      "{ ; tg_locals->table = 1; }"));
}

TEST_CASE("what cannot be carried is named with its place") {
  CHECK(refused("kernel void k(\n  read_only image2d_msaa_t i) { }") ==
        "2:13 unsupported_kernel: \"image2d_msaa_t\" cannot be carried into a persistent kernel");
  CHECK(refused("void h(void) {\n enqueue_kernel(0); }\nkernel void k() { h(); }") ==
        "2:2 unsupported_kernel: \"enqueue_kernel\" cannot be carried into a persistent kernel");
  CHECK(refused("kernel void k(pipe int p) { }") ==
        "1:15 unsupported_kernel: \"pipe\" cannot be carried into a persistent kernel");
  CHECK(refused("int pipe(int a) { return a; } kernel void k(int n) { n = pipe(n); }") ==
        "none"); // a name like others
  CHECK(refused("kernel void inner() {\n local int a; }\nkernel void k() { inner(); }") ==
        "2:2 unsupported_kernel: this kernel has local variables and is called by another function");
}

TEST_CASE("an unreachable caller does not count") {
  const TranslationUnit unit = parse("kernel void k() { local int a; } void unused(void) { k(); }");
  CHECK(refusal(outline(unit, {.kernels = {"k"}})) == "none");
}

TEST_CASE("pragmas go along") {
  const std::string text =
      outline_all("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void k(int n) {\n#pragma unroll\n"
                  "  for (;;) n++;\n}")
          .text;
  CHECK(count(text, "\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n") == 1);
  CHECK(count(text, "\n#pragma unroll\n") == 1);
  CHECK(text.find("#pragma unroll") > text.find("tg_item"));
}

TEST_CASE("what one kernel cannot be carried for keeps no other one back") {
  const TranslationUnit unit = parse("constant int w[] = {1, 2};\n"
                                     "int first(constant int* p) { return p[0]; }\n"
                                     "kernel void both(constant int* t, global int* a, int n) {\n"
                                     "  constant int* p = n ? t : w;\n  a[0] = p[0]; }\n"
                                     "kernel void fine(global int* a) { a[1] = first(w); }\n");
  const auto outlined = outline(unit, {.kernels = {"both", "fine"}});
  REQUIRE(outlined);
  CHECK(outlined->fallbacks.size() == 1);
  CHECK(outlined->fallbacks.at("both").line == 4);
  CHECK(outlined->kernels.size() == 1);
  CHECK(outlined->kernels.contains("fine"));
  CHECK(count(outlined->text, "both") == 0);
}

TEST_CASE("structures that a pragma packs keep their source alone") {
  const TranslationUnit unit = parse("#pragma pack(1)\nkernel void k() { local char c; local float t[4]; }");
  const auto result = outline(unit, {.kernels = {"k"}});
  REQUIRE(result);
  CHECK(result->fallbacks.at("k").message == "nothing ends the effect of its \"#pragma pack(1)\"");
}

namespace {

bool is_ours(const std::string& text) {
  static const std::set<std::string> words{"__attribute__", "always_inline", "overloadable", "static",
                                           "void",          "typedef",       "struct",       "local",
                                           "const",         "global"};
  return text.starts_with("tg_") || words.contains(text);
}

// Returns "a" for "a_2", the second local variable of that name.
std::string without_number(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string::npos && digits > 0 && digits + 1 < name.size() && name[digits] == '_'
             ? name.substr(0, digits)
             : name;
}

bool is_word(const std::string& text) {
  return std::isalnum(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_' || text[0] == '"';
}

struct Lines {
  std::string wrong; // first token that is not on the line stated by the directives
  std::size_t right = 0;
};

// Every word and number of the source must be on a line that has it in the source, and every number in a
// kernel's body must be present.
Lines check_lines(const TranslationUnit& unit, const OutlinedUnit& outlined) {
  std::map<std::pair<std::string, std::uint32_t>, std::set<std::string>> source;
  for (const Token& token : unit.source.tokens) {
    source[{unit.source.files[token.file], token.line}].insert(token.text);
  }
  std::map<std::pair<std::string, std::uint32_t>, std::set<std::string>> written;
  Lines lines;
  const auto placed = placed_tokens(outlined.text);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const auto& [file, line, text] = placed[i];
    written[{file, line}].insert(text);
    const bool named_by_us =
        i + 2 < placed.size() && i > 0 && placed[i - 1].text == "void" && placed[i + 2].text == "tg_item";
    if (!is_word(text) || is_ours(text) || named_by_us) {
      continue;
    }
    const auto& on_line = source[{file, line}];
    if (on_line.contains(text) || on_line.contains(without_number(text))) {
      ++lines.right;
    } else if (lines.wrong.empty()) {
      lines.wrong = fmt::format("{}:{} has no {}", file.substr(file.rfind('/') + 1), line, text);
    }
  }
  for (const Function& function : unit.functions) {
    if (!function.is_kernel || !function.body) {
      continue;
    }
    for (std::size_t i = function.body->begin; i < function.body->end; ++i) {
      const Token& token = unit.source.tokens[i];
      if (token.kind == TokenKind::number && lines.wrong.empty() &&
          !written[{unit.source.files[token.file], token.line}].contains(token.text)) {
        lines.wrong = fmt::format("{}:{} lost {}", unit.source.files[token.file], token.line, token.text);
      }
    }
  }
  return lines;
}

} // namespace

TEST_CASE("directives state the line of every token") {
  for (const std::string source :
       {// Kernels one after the other.
        "kernel void a(global int* x) {\n  x[1] = 11;\n}\nkernel void b(global int* y) {\n  y[2] = 22;\n}\n"
        "kernel void c(global int* z) {\n  z[3] = 33;\n}\n",
        // Local variables and tables before their kernel.
        "kernel void a(global int* x) {\n  local int t[17];\n  constant int u[2] = {5,\n 6};\n"
        "  t[3] = x[4];\n  x[7] = u[1];\n}\nint h(int v) {\n return v + 8;\n}\nkernel void b(global int* "
        "y) {\n  y[2] = h(9);\n}\n",
        // Helpers for both kinds of memory.
        "int h(constant int* t) {\n  return t[1];\n}\nkernel void a(constant int* x, global int* y) {\n  "
        "y[2] = h(x);\n}\n",
        // Macros of several lines.
        "#define SET(a, b) \\\n  a[3] = \\\n  b;\nkernel void a(global int* x) {\n\n\n\n\n\n\n\n  SET(x,\n "
        "  4)\n  x[5] = 6;\n}\n"}) {
    const TranslationUnit unit = parse(source);
    const auto result = outline(unit, {.kernels = all_kernels(unit)});
    REQUIRE(result);
    INFO(result->text);
    CHECK(check_lines(unit, *result).wrong == "");
  }
}

TEST_CASE("the corpus is outlined, and directives state the line of every token") {
  for (const CorpusUnit& found : corpus()) {
    const auto result = outline(found.unit, {.kernels = all_kernels(found.unit)});
    if (!result) {
      FAIL(describe(result.error()));
    }
    INFO(found.name);
    const Lines lines = check_lines(found.unit, *result);
    CHECK(lines.wrong == "");
    CHECK(lines.right > 10);
    CHECK(result->kernels.size() == all_kernels(found.unit).size());
  }
}

TEST_CASE("the corpus under other names") {
  for (const CorpusUnit& found : corpus()) {
    Renamed renamed;
    for (const std::string& name : found.unit.file_scope_names) {
      renamed[name] = "u7_" + name;
    }
    const auto result = outline(found.unit, {.kernels = all_kernels(found.unit), .renamed = renamed});
    REQUIRE(result);
    INFO(found.name);
    for (const auto& [name, kernel] : result->kernels) {
      CHECK(kernel.function == "u7_" + name);
    }
    // Every call of a function of the file uses its new name.
    const auto placed = placed_tokens(result->text);
    for (std::size_t i = 1; i + 1 < placed.size(); ++i) {
      if (placed[i + 1].text == "(" && placed[i - 1].text != "." && placed[i - 1].text != "->") {
        const bool old = found.unit.file_scope_names.contains(placed[i].text);
        CHECK_MESSAGE(!old, placed[i].text);
      }
    }
  }
}

TEST_CASE("accesses of memory, by loops") {
  const auto accesses = [](const std::string& body, const std::string& before = "") {
    return kernel(outline_all(before + "kernel void k(global int* a, int n) {" + body + "}")).accesses;
  };
  CHECK(accesses("n = 1;") == 0);
  CHECK(accesses("a[0] = a[n] + a[a[1]];") == 4);
  CHECK(accesses("int t[3][3]; t[0][n] = 1; vstore4(vload4(0, a), 1, a);") == 3);
  CHECK(accesses("for (int i = 0; i < n; ++i) a[i] = 1; a[0] = 2;") == 5);
  CHECK(accesses("for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) a[i * n + j] = 1;") == 16);
  CHECK(accesses("for (int i = 0; i < 16; ++i) for (int j = 0; j <= n; ++j) a[i] = 1;") == 64);
  CHECK(accesses("for (int i = 0; i < 99999999; ++i) a[i] = 1;") == 1024);
  CHECK(accesses("for (int i = 16; i > 0; i /= 2) a[i] = 1; for (;;) a[0] = 1;") == 8);
  const std::string sum =
      "int sum(global int* a, int n) { int s = 0; while (n > 0) s += a[--n]; return s + a[0]; }";
  CHECK(accesses("a[0] = sum(a, n) + sum(a, 1);", sum) == 11);
  CHECK(accesses("for (int i = 0; i < n; ++i) a[i] = sum(a, n);", sum) == 24);
  CHECK(accesses("again(a, n);",
                 "void again(global int* a, int n) { a[n] = 0; if (n > 0) again(a, n - 1); }") == 1);
  std::string doubling = "void f0(global int* a) { a[0] = 1; }\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string before = "f" + std::to_string(i - 1) + "(a); ";
    doubling += "void f" + std::to_string(i) + "(global int* a) { " + before + before + "}\n";
  }
  CHECK(accesses("f60(a);", doubling) == 1e12);
  std::string chain = "void f0(global int* a) { a[0] = 1; }\n";
  for (int i = 1; i <= 500; ++i) {
    chain +=
        "void f" + std::to_string(i) + "(global int* a) { f" + std::to_string(i - 1) + "(a); a[0] = 1; }\n";
  }
  CHECK(accesses("f500(a);", chain) == 64);
}

TEST_CASE("loops inside of each other") {
  const auto depth = [](const std::string& body, const std::string& before = "") {
    return kernel(outline_all(before + "kernel void k(global int* a, int n) {" + body + "}")).loop_depth;
  };
  CHECK(depth("a[0] = 1;") == 0);
  CHECK(depth("for (int i = 0; i < n; ++i) a[i] = 1; for (int i = 0; i < n; ++i) { a[i] = 2; }") == 1);
  CHECK(
      depth(
          "for (int i = 0; i < n; ++i) if (i != 3) for (int j = 0; j < n; ++j) a[j] += i; else a[i] = 0;") ==
      2);
  CHECK(depth("while (n > 0) { --n; } do a[--n] = 1; while (n > 0); while (a[0]) a[0] -= 1;") == 1);
  CHECK(depth("do { for (;;) { if (n) break; } } while (a[0]);") == 2);
  CHECK(depth("for (int i = 0; i < n; ++i) a[i] = sum(a, n);",
              "int sum(global int* a, int n) { int s = 0; while (n > 0) s += a[--n]; return s; }") == 1);
  std::string nested;
  for (int i = 0; i < 20; ++i) {
    nested += "for (;;) ";
  }
  CHECK(depth(nested + ";") == 8);
}

TEST_CASE("functions are called by their names, in parentheses too") {
  const auto refused_for = [](const std::string& body) {
    return refused("float of(float x) { return x + get_global_id(0); }\nkernel void k(global float* a) { " +
                   body + " }");
  };
  for (const std::string name :
       {"get_global_id", "get_local_size", "barrier", "work_group_any", "of", "sqrt", "atomic_add"}) {
    for (const std::string& call : {"(" + name + ")(0)", "((" + name + "))(0)"}) {
      CAPTURE(call);
      CHECK(refused_for("a[0] = " + call + ";") == "none");
    }
    CHECK(refused_for("a[0] = (0, " + name + ")(0);")
              .ends_with("unsupported_kernel: the function \"" + name +
                         "\" is used without a call by its name"));
  }
  CHECK(refused_for("volatile global atomic_int* p = (volatile global atomic_int*)a; atomic_int x;") ==
        "none");
}

TEST_CASE("calls are rewritten wherever the tree has them") {
  const std::string before = "float of(float x) { return x + get_global_id(0); }\n";
  for (const auto& [call, rewritten] : std::vector<std::pair<std::string, std::string>>{
           {"(get_global_id)(0)", "tg_get_global_id ( tg_self , 0 )"},
           {"((get_global_id)) (1 - 1)", "tg_get_global_id ( tg_self , 1 - 1 )"},
           {"(of)(2)", "( of ) ( tg_self , 2 )"},
           {"({ int x = (get_local_id)(0); x; })", "( { int x = tg_get_local_id ( tg_self , 0 ) ; x ; } )"},
           {"sizeof((get_local_id)(0))", "sizeof ( tg_get_local_id ( tg_self , 0 ) )"}}) {
    CHECK(outlined(before + "kernel void k(global float* a) { a[0] = " + call + "; }").find(rewritten) !=
          std::string::npos);
  }
  CHECK(outlined("kernel void k(global float* a) { (barrier)(1); a[0] = 1; }")
            .find("tg_barrier ( tg_self , 1 ) ;") != std::string::npos);
}
