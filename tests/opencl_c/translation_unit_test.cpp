// File-scope declarations: functions with their signatures, names, and refusals with their places.
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

using Size = std::array<std::uint64_t, 3>;

std::string describe(const Parameter& parameter) {
  constexpr std::array<std::string_view, 4> spaces{"", "global ", "constant ", "local "};
  return fmt::format("{}{}{}{}{}{}", spaces[static_cast<std::size_t>(parameter.space)],
                     parameter.is_const ? "const " : "", parameter.type, parameter.is_pointer ? "*" : "",
                     parameter.name.empty() ? "" : " ", parameter.name);
}

// Each function as "kernel name(parameters) {}", prototypes with a semicolon.
std::string signatures(const TranslationUnit& unit) {
  std::string text;
  for (const Function& function : unit.functions) {
    text +=
        fmt::format("{}{}{}(", text.empty() ? "" : " ", function.is_kernel ? "kernel " : "", function.name);
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      text += (i == 0 ? "" : ", ") + describe(function.parameters[i]);
    }
    text += function.body ? "){}" : ");";
  }
  return text;
}

std::string signatures(const std::string& source) {
  return signatures(parse(source));
}

// The parameters of one kernel.
std::string parameters(const std::string& list, const std::string& before = "") {
  const std::string text = signatures(before + " kernel void k(" + list + ") {}");
  constexpr std::string_view head = "kernel k(";
  REQUIRE(text.starts_with(head));
  return text.substr(head.size(), text.size() - head.size() - 3);
}

std::string names(const std::string& source) {
  std::string text;
  for (const std::string& name : parse(source).file_scope_names) {
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

std::optional<Size> required(const std::string& source) {
  const TranslationUnit unit = parse(source);
  REQUIRE(unit.functions.size() == 1);
  return unit.functions[0].required_local_size;
}

} // namespace

TEST_CASE("kernels in both spellings, helpers and prototypes") {
  CHECK(signatures(
            "kernel void a() {} __kernel void b(void) {} void kernel c() {}\n"
            "float f(float x); float f(float x) { return x; } static inline int g(void) { return 1; }") ==
        "kernel a(){} kernel b(){} kernel c(){} f(float x); f(float x){} g(){}");
  CHECK(signatures(";;;").empty());
}

TEST_CASE("the tokens of a function") {
  const TranslationUnit unit = parse("int x(int, int);\n__attribute__((noinline)) int add(int a, int b) "
                                     "__attribute__((overloadable)) { return (a) + b[0]; } ;");
  const Function& x = unit.functions.at(0);
  const Function& add = unit.functions.at(1);
  CHECK(text_of(unit, {.begin = x.begin, .end = x.end}) == "int x(int, int);");
  CHECK_FALSE(x.body);
  CHECK(unit.source.tokens[add.begin].is("__attribute__"));
  CHECK(unit.source.tokens[add.name_token].is("add"));
  CHECK(text_of(unit, add.parameter_list) == "int a, int b");
  CHECK(text_of(unit, add.body.value()) == "{ return (a) + b[0]; }");
  CHECK(add.end == add.body->end);
}

TEST_CASE("parameters") {
  CHECK(parameters("").empty());
  CHECK(parameters("void").empty());
  CHECK(
      parameters("global const float* in, __global float *out, float const global* a, uint n, const int m") ==
      "global const float* in, global float* out, global const float* a, uint n, const int m");
  // The pointer is constant, not its target.
  CHECK(
      parameters(
          "global float* const a, global const float* const restrict b, global volatile uint* restrict c") ==
      "global float* a, global const float* b, global uint* c");
  CHECK(
      parameters("constant float* a, __constant float4 *b, local uchar* c, __local float16* __restrict d") ==
      "constant const float* a, constant const float4* b, local uchar* c, local float16* d");
  CHECK(parameters(
            "global float a[], global const int b[16], local int (*c)[2], global void* d, private float e") ==
        "global float* a, global const int* b, local int* c, global void* d, float e");
  CHECK(parameters(
            "unsigned int a, long int b, unsigned c, unsigned long d, short int e, signed char f, size_t g, "
            "global unsigned* h, global long unsigned int* i") ==
        "uint a, long b, uint c, ulong d, short e, char f, size_t g, global uint* h, global ulong* i");
}

TEST_CASE("parameters with attributes wherever they may stand") {
  CHECK(parameters(
            "__attribute__((unused)) global float* a, global float* b __attribute__((unused)), "
            "global float* __attribute__((align_value(64))) c, global float __attribute__((aligned(16)))* d, "
            "uint __attribute__((annotate(\"a, b\", (1, 2)))) e, int f") ==
        "global float* a, global float* b, global float* c, global float* d, uint e, int f");
}

TEST_CASE("parameters without names") {
  const TranslationUnit unit =
      parse("typedef float real; struct point { int x; };\n"
            "int f(int, float4*, unsigned, unsigned int, struct point, global const real*, "
            "struct point*, int[4], long int, size_t);");
  CHECK(signatures(unit) ==
        "f(int, float4*, uint, uint, struct point, global const float*, struct point*, int*, "
        "long, size_t);");
  CHECK(signatures("enum kind { a }; int f(enum kind);") == "f(uint);");
}

TEST_CASE("a typedef of an array or of a vector in GNU C names a type that is not that of its elements") {
  for (const std::string declaration :
       {"typedef uint T[4];", "typedef uint T __attribute__((ext_vector_type(4)));",
        "typedef __attribute__((vector_size(16))) uint T;", "typedef uint __attribute__((mode(QI))) T;",
        "typedef uint T __attribute__((aligned(8), vector_size(16)));", "typedef uint other, T[2];"}) {
    CAPTURE(declaration);
    const bool is_array = declaration.find('[') != std::string::npos; // which decays to a pointer
    CHECK(parameters("global T* a, T b", declaration) ==
          std::string("global T* a, ") + (is_array ? "uint* b" : "T b"));
  }
  CHECK(parameters("T* a", "typedef global uint T[4];") == "global T* a");
}

TEST_CASE("typedefs of pointers") {
  CHECK(
      parameters(
          "floats a, const floats b, table c, reals d, points e, also f, global const again* g, u64 h, quad i",
          "typedef global float* floats; typedef constant float* table; typedef float real; "
          "typedef global real* reals; struct point { int x; }; typedef global struct point* points; "
          "typedef floats also; typedef real again; typedef unsigned long int u64; typedef const uint4 quad;") ==
      "global float* a, global float* b, constant const float* c, global float* d, global struct point* e, "
      "global float* f, global const float* g, ulong h, const uint4 i");
}

TEST_CASE("typedefs of one declaration share its specifiers") {
  const std::string source =
      "typedef struct point { int x, y; } point, *points, row[4]; typedef const uint4 quad, "
      "*quads; typedef __global uint words, *pointer; typedef int a __attribute__((aligned(8))), b;";
  CHECK(
      parameters("point p, points q, quad r, quads s, words* t, pointer u, a v, b w", source) ==
      "struct point p, struct point* q, const uint4 r, const uint4* s, global uint* t, global uint* u, int v, int w");
  CHECK(parameters("constants* a", "typedef constant float constants;") == "constant const float* a");
  CHECK(parameters("third a",
                   "typedef constant int* first; typedef first second, *other; typedef second third;") ==
        "constant const int* a");
  CHECK(names("typedef float real, *reals, (*rows)[4];") == "real reals rows");
  CHECK(parameters("spaced a", "typedef int __attribute__((aligned(8))) spaced;") == "int a");
  CHECK(names("constant float __attribute__((aligned(16))) table[2] = {1, 2};") == "table");
}

TEST_CASE("typedefs of structures, unions, enumerations and arrays") {
  const std::string source =
      "typedef struct { float x, y; } point; typedef struct node { int next; } node_t;\n"
      "typedef union bits { int i; float f; } bits; typedef enum { red, green } colour;\n"
      "typedef float row[4];";
  CHECK(names(source) == "bits colour green node node_t point red row");
  CHECK(parameters("point a, global const struct node* b, node_t c, global bits* d", source) ==
        "point a, global const struct node* b, struct node c, global union bits* d");
  CHECK(parameters("struct point a, union bits b", "struct point { int x; }; union bits { int x; };") ==
        "struct point a, union bits b");
}

TEST_CASE("every name of file scope") {
  CHECK(names("struct tag; union other { int a; }; struct __attribute__((packed)) packed { int field; };\n"
              "enum kind { one, two = 2, three = (1, 2) + sizeof(int), four }; enum { anonymous = 1 };") ==
        "anonymous four kind one other packed tag three two");
  CHECK(names("constant int a = 1, b = 2, c[2] = {1, 2}, d[2][2] = {{1, 2}, {3, 4}}, e = (3, 4);\n"
              "constant struct point { int x; } origin = {.x = 1}; extern constant float table[];\n"
              "constant int f[] = {1, 2}, n = sizeof(f) / sizeof(f[0]);\n"
              "int helper(int argument) { int variable; return variable; } kernel void run() {}") ==
        "a b c d e f helper n origin point run table");
}

TEST_CASE("names that structures declare for the whole file") {
  // C has one scope for all tags and enumerators of a file, even inside structures (C99 6.2.1).
  CHECK(names("struct outer { struct inner { int a; } first; };") == "inner outer");
  CHECK(names("struct outer { enum { red, green } colour; };") == "green outer red");
  CHECK(names("typedef union { struct { union deep { int a; } b; } c; enum kind { one = 1 } d; } all;") ==
        "all deep kind one");
  CHECK(names("constant int n = sizeof(enum { small, large }) + sizeof(struct hidden { int a; });") ==
        "hidden large n small");
  // Tags and enumerators of parameters and bodies are invisible outside the function.
  CHECK(
      names("int f(enum { a, b } c, struct s* d); kernel void k() { struct t { int u; } v; enum { w }; }") ==
      "f k");
}

namespace {

// Identifiers that name declarations of the file, each with the line that declares it: "a1 a2 a1".
std::string meanings(const std::string& source, std::string_view name = "a") {
  const TranslationUnit unit = parse(source);
  std::string text;
  for (std::size_t i = 0; i < unit.source.tokens.size(); ++i) {
    const Decl* const meaning = unit.meaning(i);
    if (unit.source.tokens[i].text == name) {
      const bool member = meaning != nullptr && meaning->kind == Decl::Kind::member;
      const std::uint32_t line = meaning == nullptr ? 0 : unit.source.tokens[meaning->token].line;
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", member ? "m" : "", line);
    }
  }
  return text;
}

} // namespace

TEST_CASE("a name means what the innermost scope declares") {
  CHECK(meanings("constant int a = 1;\nint f(int a\n) { return a; } int g() { return a; }") == "1 2 2 1");
  CHECK(meanings("enum { a };\nkernel void k() { int b = a; { int\na = a; } b = a; }") == "1 1 3 3 1");
  CHECK(meanings("enum { a = 2 };\nkernel void k() { int\na[a]; a[0] = 1; }") == "1 3 1 3");
  CHECK(meanings("enum { a };\nkernel void k() { enum {\na = a }; int b = a; }") == "1 3 1 3");
  CHECK(meanings("enum { a };\nint f(int\na[a]); int b(int c[a]);") == "1 3 1 1");
  CHECK(meanings("enum { a };\nkernel void k() { typedef int\na; a b = (a)1; unknown_t c = a; }") ==
        "1 3 3 3 3");
  CHECK(meanings("typedef int a;\nkernel void k() { a b; { a a\n; a = 1; } a c; }") == "1 1 1 2 2 1");
  CHECK(meanings("kernel void k() { a: a = 1; goto a; }") == "0 0 0"); // labels, and an undeclared name
}

TEST_CASE("statements that are scopes") {
  const auto body = [](const std::string& text) {
    return meanings("enum { a };\nkernel void k(int n) {\n" + text + " n = a; }");
  };
  CHECK(body("for (int a = 0; a < n; ++a) n = a;") == "1 3 3 3 3 1");
  CHECK(body("for (int a = 0;;) if (a) n = 1; else if (n) n = a; else { n = a; }") == "1 3 3 3 3 1");
  CHECK(body("if (n) for (int a = 0;;) n = a; else n = a;") == "1 3 3 1 1");
  CHECK(body("do for (int a = 0;;) n = a; while (a);") == "1 3 3 1 1");
  CHECK(body("do { int a; n = a; } while (a);") == "1 3 3 1 1");
  CHECK(body("while (a) { float4 a; a.x = 1; }") == "1 1 3 3 1");
  CHECK(body("switch (n) { case a: { int a = 1; } case (n ? a : 2): default: n = a; }") == "1 1 3 1 1 1");
  CHECK(body("n = ({ int a = 1; a; }) + a;") == "1 3 3 1 1");
  CHECK(body("int b = 1, *c = &a, a = 2, d = a;") == "1 1 3 3 3");
  CHECK(body("__attribute__((opencl_unroll_hint(a))) for (int a;;) { }") == "1 1 3 1");
  CHECK(body("atomic_int a; other_t *b = a;") == "1 3 3 3");
}

TEST_CASE("members and tags have separate name spaces") {
  CHECK(meanings(
            "enum { a = 3 };\nstruct s {\nint a[a], b : a; struct { int a; } c; };\n"
            "int f(struct s* p, struct s v) { struct s w = {.a = {a}}; return p->a[a] + v.c.a + w.a[0]; }") ==
        "1 m3 1 1 m3 0 1 0 1 0 0");
  CHECK(
      meanings(
          "struct a { int x; };\nint f(struct a* p) { int\na = 1; struct a q; return a + (int)sizeof(struct "
          "a); }") == "1 1 3 1 3 1");
  CHECK(meanings("struct a;\nstruct a { struct\na* next; }; kernel void k() { struct\na; struct a* p; }") ==
        "1 1 1 4 4");
}

TEST_CASE("declarators that look like functions") {
  // A function typedef, an initialiser with a call, and parentheses in dimensions declare no function.
  CHECK(
      signatures("typedef float operation(float, float); constant int a[(int)(2)] = {(int)(1), 2};").empty());
  CHECK(signatures("constant float b = (float)(1), c = as_float(3); constant int d = max(1, 2);").empty());
}

TEST_CASE("enumerations as parameters are numbers") {
  const auto type = [](const std::string& before, const std::string& parameter) {
    const TranslationUnit unit = parse(before + "\nkernel void k(" + parameter + ") {}");
    const Parameter& found = unit.definition("k")->parameters.at(0);
    CHECK(found.name == "a");
    return found.type;
  };
  CHECK(type("enum mode { one = -1, two };", "const enum mode a") == "int");
  CHECK(type("enum mode { one = 0x100000000 };", "enum mode a") == "enum mode");
  CHECK(type("typedef enum { one, two } mode;", "mode a") == "uint");
  CHECK(type("enum tag { one }; typedef enum tag mode;", "mode a") == "uint");
  CHECK(type("typedef struct { enum { one } mode; } item;", "item a") == "item");
  CHECK(type("enum __attribute__((packed)) mode { one };", "enum mode a") == "enum mode");
}

TEST_CASE("reqd_work_group_size") {
  const auto with = [](const std::string& size) {
    return "kernel __attribute__((reqd_work_group_size(" + size + "))) void k() {}";
  };
  const std::vector<std::pair<std::string, std::optional<Size>>> rows{
      {"kernel void k() {}", {}},
      {with("64, 2, 1"), Size{64, 2, 1}},
      {"__attribute__((reqd_work_group_size(8, 8, 1))) kernel void k() {}", Size{8, 8, 1}},
      {"kernel void __attribute__((__reqd_work_group_size__(1, 2, 3))) k() {}", Size{1, 2, 3}},
      {"kernel void k() __attribute__((reqd_work_group_size(4, 4, 4))) {}", Size{4, 4, 4}},
      {"kernel __attribute__((vec_type_hint(float4), reqd_work_group_size(16, 1, 1))) void k() {}",
       Size{16, 1, 1}},
      {"#define N 16\n" + with("N * 2, (N + 1) / 2, 1u << 1"), Size{32, 8, 2}},
      {"enum { W = 010, H };\n" + with("W, H, 0x1"), Size{8, 9, 1}},
      {"enum { A = -2, B, C = 3 * (B + 3) };\n" + with("C, (int)sizeof(float4), 1"), Size{6, 16, 1}},
      {with("unknown, 1, 1"), {}},
      {with("(3, 5), 1, 1"), {}}, // not constant
      {"kernel __attribute__((work_group_size_hint(8, 8, 8))) void k() {}", {}}};
  for (const auto& [source, size] : rows) {
    CHECK(required(source) == size);
  }
}

TEST_CASE("overloadable functions") {
  const TranslationUnit unit =
      parse("int __attribute__((overloadable)) a(int x) { return x; }\n"
            "int b(int x) __attribute__((__overloadable__));\n"
            "int __attribute__((noinline)) c(int overloadable) { return overloadable; }");
  for (const Function& function : unit.functions) {
    CHECK(function.is_overloadable == (function.name != "c"));
  }
}

TEST_CASE(
    "open brackets, open declarations and variables outside of constant memory are named with their place") {
  using Rows = std::vector<std::array<std::string, 3>>; // source, place, and the word of the message
  const auto check = [](const std::string& message, const Rows& rows) {
    for (const auto& [source, place, word] : rows) {
      CHECK(refusal(try_parse(source)) == place + " " + fmt::format(fmt::runtime(message), word));
    }
  };
  check("kernel_source: this \"{}\" has no counterpart",
        {{"kernel void k(\n  int a {}", "1:14", "("},
         {"kernel void k() {\n  if (1) {\n }\n", "1:17", "{"},
         {"constant int a[2 = {1};\n", "1:15", "["},
         {"kernel void k() {}\n }", "2:2", "}"},
         {"constant int a = 1);", "1:19", ")"},
         {"constant int a = 1];", "1:19", "]"},
         {"int f(int x) __attribute__((noinline", "1:27", "("}});
  for (const char* const other : {"int a;\n kernel void k( {", "kernel void k(int a] {}",
                                  "kernel void k(int a) { a = (1]; }", "constant int a[2) = {1, 2};"}) {
    CHECK(refusal(try_parse(other)).ends_with("has no counterpart"));
  }
  check("kernel_source: this declaration does not end{}",
        {{"constant int a = 1", "1:1", ""},
         {"kernel void a() {}\n\n  struct point { int x; }", "3:3", ""},
         {"int f(int x)", "1:1", ""},
         {"__attribute__", "1:1", ""},
         {"struct", "1:1", ""},
         {"enum __attribute__((packed))", "1:1", ""}});
  check("unsupported_kernel: \"{}\" is a variable of file scope outside constant memory",
        {{"int a;", "1:5", "a"},
         {"\nglobal float table[2] = {1, 2};", "2:14", "table"},
         {"static const int n = 3;", "1:18", "n"},
         {"global atomic_int counter = ATOMIC_VAR_INIT(0);", "1:19", "counter"},
         {"struct point { int x; } origin;", "1:25", "origin"},
         {"struct point { int x; }; struct point origin;", "1:39", "origin"},
         {"enum { red } colour = red;", "1:14", "colour"},
         {"int a, b;", "1:5", "a"},
         {"global int* p = 0;", "1:13", "p"},
         {"int a __attribute__((aligned(8)));", "1:5", "a"}});
  check("unsupported_kernel: this {} variable is outside constant and local memory",
        {{"kernel void k() { static global int n; }", "1:19", "static"},
         {"void f() { if (1) { global static int n = 0; } }", "1:28", "static"}});
  CHECK(try_parse(
      "kernel void k() { static local int a; constant static int b = 1; static constant int c = 2; }"));
}

TEST_CASE("pragmas stand between declarations and inside of them") {
  const TranslationUnit unit =
      parse("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
            "kernel void k() {\n#pragma unroll\n for (;;) {}\n#pragma unroll 4\n for (;;) {} }\n"
            "struct point {\n#pragma pack\n int x; };\n#pragma end\n");
  CHECK(signatures(unit) == "kernel k(){}");
  CHECK(unit.file_scope_names == std::set<std::string>{"k", "point"});
}

TEST_CASE("deep nesting needs no stack, and takes no time that grows with its square") {
  constexpr int depth = 20'000;
  const TranslationUnit unit =
      parse("kernel void k() { int a = " + repeated("(", depth) + "1" + repeated(")", depth) + "; " +
            repeated("{", depth) + repeated("}", depth) + "}\nconstant int t = " + repeated("{", depth) +
            repeated("}", depth) + ";\nkernel void x(int a[" + repeated("(", depth) + repeated(")", depth) +
            "]) {}");
  CHECK(signatures(unit) == "kernel k(){} kernel x(int* a){}");
  CHECK(refusal(try_parse("kernel void k() " + repeated("{", depth))) ==
        "1:17 kernel_source: this \"{\" has no counterpart");
  CHECK_FALSE(required("kernel __attribute__((reqd_work_group_size(" + repeated("(", depth) + "8" +
                       repeated(")", depth) + ", 1, 1))) void k() {}") == Size{8, 1, 1});
}

TEST_CASE("file scope and bodies are read by one parser, which takes typedefs into account") {
  CHECK(names("typedef constant float numbers; numbers table[2] = {1, 2};") == "numbers table");
  CHECK(
      refusal(try_parse("constant float* pointer = 0;")).starts_with("1:17 unsupported_kernel: \"pointer\""));
  CHECK(refusal(try_parse("void f() { static constant float* pointer; }"))
            .starts_with("1:12 unsupported_kernel: this static variable"));
  CHECK(refusal(try_parse("void f(int n) { n = ({ switch (n) { case 1 ... 2: static int k; } 1; }); }"))
            .starts_with("1:51 unsupported_kernel: this static variable"));
  CHECK(refusal(try_parse("DECLARE(foo) kernel void k() {}")).starts_with("1:9 unsupported_kernel: \"foo\""));
  CHECK(signatures("typedef float fn(float); fn f; float f(float x) { return x; }") == "f(float x){}");
  CHECK(signatures("float f(float x) __attribute__((overloadable, const)); kernel void k() {}") ==
        "f(float x); kernel k(){}");
  CHECK(parse("float f(float x) __attribute__((pure));").names.at(1)->kind == Decl::Kind::function);
  CHECK(parse("typedef unsigned int word; static inline word f(void) { return 1; }").functions[0].result ==
        "uint");
}

TEST_CASE("the corpus declares kernels and nothing is lost between them") {
  REQUIRE(corpus().size() > 25);
  for (const CorpusUnit& found : corpus()) {
    INFO(found.name);
    const TranslationUnit& unit = found.unit;
    bool any_kernel = false;
    std::size_t end = 0;
    for (const Function& function : unit.functions) {
      any_kernel |= function.is_kernel;
      CHECK(function.begin >= end);
      CHECK(function.name_token > function.begin);
      CHECK(function.end > function.name_token);
      end = function.end;
      for (const Parameter& parameter : function.parameters) {
        CHECK_FALSE(parameter.type.empty());
        CHECK((!function.body || !parameter.name.empty()));
      }
    }
    CHECK(any_kernel);
  }
}

TEST_CASE("brackets around the name of a function, which keep a macro from being expanded") {
  CHECK(
      signatures(
          "#define f(x) ((x) + 1)\nint (f)(int x) { return x; }\nkernel void k(global int* a) { *a = f(1); }") ==
      "f(int x){} kernel k(global int* a){}");
  CHECK(signatures("uint (g)(void);\nkernel void k() {}") == "g(); kernel k(){}");
  CHECK(signatures("constant int (table)[2] = {1, 2};\nkernel void k() {}") == "kernel k(){}");
  CHECK(signatures("kernel void (k)(global int* a) {}") == "kernel k(global int* a){}");
}
