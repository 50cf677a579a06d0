// Variables in local and constant memory declared in a kernel's body.
#include "opencl_c/outline.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

std::string describe(const TranslationUnit& unit, const std::vector<HoistedVariable>& variables) {
  std::string text;
  for (const HoistedVariable& variable : variables) {
    text += fmt::format("{}{}:", text.empty() ? "" : "; ", text_of(unit, variable.declaration));
    for (const HoistedName& name : variable.names) {
      const std::string& own = unit.source.tokens[name.token].text;
      text += " " + own + (name.unique == own ? "" : "=" + name.unique);
    }
    for (const TokenRange& range : variable.remaining) {
      text += " stays " + text_of(unit, range);
    }
  }
  return text;
}

// The sizes of the last variable in local memory: " size=VALUE" each.
std::string sizes(const std::string& body) {
  const TranslationUnit unit = parse("kernel void k(int n) {" + body + "}");
  const auto variables = find_local_variables(unit, *unit.definition("k"));
  REQUIRE(variables);
  std::string text;
  for (const auto& [range, value] : variables->locals.back().extents) {
    text += fmt::format(" {}={}", text_of(unit, range), value);
  }
  return text;
}

// The declarations in local memory of a kernel with this body, then those in constant memory.
std::string found(const std::string& body, const std::string& before = "") {
  const TranslationUnit unit = parse(before + "\nkernel void k(int n) {" + body + "}");
  const auto variables = find_local_variables(unit, *unit.definition("k"));
  if (!variables) {
    return refusal(variables);
  }
  const std::string constants = describe(unit, variables->constants);
  std::string text = describe(unit, variables->locals) + (constants.empty() ? "" : " | " + constants);
  return text;
}

} // namespace

TEST_CASE("arrays and scalars") {
  CHECK(found("").empty());
  CHECK(found("int a; float b[3]; global int* p = 0;").empty());
  CHECK(found("local float tile[16];") == "local float tile[16]: tile");
  CHECK(found("__local int count;") == "__local int count: count");
  CHECK(found("local volatile uint cube[2][3][4];") == "local volatile uint cube[2][3][4]: cube");
  CHECK(found("local unsigned int a[2];") == "local unsigned int a[2]: a");
  CHECK(found("local struct point a, b[2];", "struct point { int x; };") ==
        "local struct point a, b[2]: a b");
  CHECK(found("local float a[2], b, c[N][N * (2 + 1)];", "#define N 4") ==
        "local float a[2], b, c[4][4 * (2 + 1)]: a b c");
}

TEST_CASE("the qualifier may follow others and the type") {
  CHECK(found("volatile local int a;") == "volatile local int a: a");
  CHECK(found("float local a[4];") == "float local a[4]: a");
  CHECK(found("static local int a;") == "static local int a: a");
  CHECK(found("n += 1; const local int a[2];") == "const local int a[2]: a");
}

TEST_CASE("attributes on either side of the name") {
  CHECK(found("local uchar __attribute__((aligned(16))) a[4];") ==
        "local uchar __attribute__((aligned(16))) a[4]: a");
  CHECK(found("local uchar a[4] __attribute__((aligned(16))), b;") ==
        "local uchar a[4] __attribute__((aligned(16))), b: a b");
  CHECK(found("local __attribute__((aligned(16))) uchar a[4];") ==
        "local __attribute__((aligned(16))) uchar a[4]: a");
  CHECK(found("local point __attribute__((aligned(16))) a[4];", "typedef struct { int x; } point;") ==
        "local point __attribute__((aligned(16))) a[4]: a");
  CHECK(found("local uchar a __attribute__((aligned(16)));") ==
        "local uchar a __attribute__((aligned(16))): a");
}

TEST_CASE("pointers to local memory stay") {
  CHECK(found("local int* p = 0; local int *a, *b;").empty());
  CHECK(found("local int a[2], *p = &a[0], b;") == "local int a[2], *p = &a[0], b: a b stays *p = &a[0],");
  CHECK(found("local int *p, a[2];") == "local int *p, a[2]: a stays *p,");
  CHECK(found("local int (*rows)[4] = 0;").empty());
  CHECK(found("local int a[2][4], (*rows)[4] = a;") ==
        "local int a[2][4], (*rows)[4] = a: a stays (*rows)[4] = a");
  CHECK(found("local int* const p = 0;").empty());
}

TEST_CASE("a pointer that is itself in local memory moves") {
  CHECK(found("global float* local p;") == "global float* local p: p");
}

TEST_CASE("casts, arguments and sizes declare nothing") {
  CHECK(found("n = *(local int*)0; f((local float*)0, sizeof(local int*));").empty());
  CHECK(found("for (local int* p = 0; p; ++p) { }").empty());
}

TEST_CASE("declarations in blocks, after labels and in loops") {
  CHECK(found("{ local int a; } if (n) { local int b; } else { local int c; } for (;;) { local int d; } "
              "switch (n) { case 1: ; local int e; } done: ; local int f;") ==
        "local int a: a; local int b: b; local int c: c; local int d: d; local int e: e; local int f: f");
}

TEST_CASE("equal names become different ones") {
  CHECK(found("{ local int a[2]; } { local float a; } { local int a, b; }") ==
        "local int a[2]: a; local float a: a=a_2; local int a, b: a=a_3 b");
  // All names must differ.
  const std::string text = found("{ local int a; } { local int a; } local int a_2;");
  CHECK(text.find("a=a_2") != std::string::npos);
  CHECK(text.find("a_2: a_2;") == std::string::npos);
  CHECK_FALSE(text.ends_with(": a_2"));
}

TEST_CASE("tables in constant memory") {
  CHECK(
      found("constant float w[3] = {1, 2, 3}; __constant int n2 = (1, 2), m[2][2] = {{1, 2}, {3, 4}};") ==
      " | constant float w[3] = {1, 2, 3}: w; __constant int n2 = (1, 2), m[2][2] = {{1, 2}, {3, 4}}: n2 m");
  CHECK(found("constant float* p = 0;").empty());
  CHECK(found("local int a; constant int b = 1;") == "local int a: a | constant int b = 1: b");
}

TEST_CASE("what moves cannot take along what the kernel declares") {
  const auto message = [](std::string_view place, std::string_view name) {
    return fmt::format(
        "{} unsupported_kernel: this declaration needs \"{}\", which the kernel declares in its body", place,
        name);
  };
  CHECK(found("\n local int a[2];\n local int b[sizeof(a)];") == message("4:21", "a"));
  CHECK(found("\n local int a[2], b[sizeof(a)];") == message("3:27", "a"));
}

TEST_CASE("constants of the kernel stand for their values in sizes, its types stay") {
  CHECK(sizes("enum { size = 4, more }; local int a[size][more];") == " size=4 more=5");
  CHECK(sizes("const int size = 16, twice = 2 * size; local float t[twice];") == " twice=32");
  CHECK(sizes("enum { two = 2 }; const uchar size = 128 * two + 3; local float t[size];") == " size=3");
  for (const std::string body :
       {"typedef float real; local real a[2];", "struct point { int x; }; local struct point a[2];",
        "enum kind { one }; local enum kind a;", "int size = 16; local float t[size];",
        "const int size = size; local float t[size];", "volatile const int size = 1; local float t[size];",
        "enum { size = 4 }; local struct { int x[size]; } t;", "enum { size = 4 }; constant int t = size;",
        "constant float w[] = {1, 2}; local int a[sizeof(w) / sizeof(w[0])];"}) {
    CAPTURE(body);
    CHECK(found(body).find("which the kernel declares in its body") != std::string::npos);
  }
  // A tag and an enumerator would meet others of their name.
  const std::string before = "struct s { char q; }; enum { B }; typedef local int LI;";
  CHECK(found("local struct s { int x; } v;", before).find("which the kernel declares") != std::string::npos);
  CHECK(found("local enum { A = 3, B } v;", before).find("which the kernel declares") != std::string::npos);
  CHECK(found("LI z[16];", before).find("a typedef puts this variable in local memory") != std::string::npos);
}

TEST_CASE("names of file scope and of other blocks may be used") {
  CHECK(found("local point a; local int b[size];", "typedef struct { int x; } point; enum { size = 4 };") ==
        "local point a: a; local int b[size]: b");
  CHECK(found("int a = sizeof(int); local int b[sizeof(int)];") == "local int b[sizeof(int)]: b");
}

TEST_CASE("what a size needs is named with its place") {
  const auto message = [](std::string_view place, std::string_view name, std::string_view what) {
    return fmt::format("{} unsupported_kernel: this declaration needs \"{}\", which {}", place, name, what);
  };
  const std::string own = "the kernel declares in its body";
  CHECK(found("constant int w[] = {1};\n constant int b = w[0];") == message("3:19", "w", own));
  CHECK(found("\n local int a[sizeof(n)];") == message("3:21", "n", "is a parameter of the kernel"));
  CHECK(found("int size = 2; local int a[size];", "enum { size = 4 };") ==
        message("2:49", "size", own)); // the inner one counts
}

TEST_CASE("what a declaration brings along, and names that other scopes have too") {
  CHECK(found("local struct pair { int x, y[sizeof(int)]; } a, b;") ==
        "local struct pair { int x, y[sizeof(int)]; } a, b: a b");
  CHECK(found("local enum { one, two = one + 1 } a;") == "local enum { one, two = one + 1 } a: a");
  CHECK(found("{ enum { size = 2 }; } struct { int size; } s; local int a[size];", "enum { size = 4 };") ==
        "local int a[size]: a");
  CHECK(found("{ local int w; } local int a[w];", "enum { w = 4 };") == "local int w: w; local int a[w]: a");
}

TEST_CASE("the room of local variables counts every element of arrays, typedefs and structures") {
  const auto room = [](const std::string& declaration, const std::string& before = "") {
    const TranslationUnit unit = parse(before + "\nkernel void k(int n) {" + declaration + "}");
    const auto variables = find_local_variables(unit, *unit.definition("k"));
    REQUIRE(variables);
    return local_bytes(unit, *variables);
  };
  constexpr std::uint64_t padding = 16;
  CHECK(room("") == 0);
  CHECK(room("local float a; __local uchar b[3];") == 4 + 3 + 2 * padding);
  CHECK(room("local unsigned short a[2][5], b;") == 20 + 2 + 2 * padding);
  CHECK(room("local float3 a[8];") == 8 * 16 + padding);
  CHECK(room("local T t[8];", "typedef uint T[4];") == 8 * 16 + padding);
  CHECK(room("local volatile T t[N];", "enum { N = 4 }; typedef ulong T[2][3];") == 4 * 48 + padding);
  CHECK(room("local struct { uint a[8]; float b; } t[4];") == 4 * 36 + padding);
  CHECK(room("local struct point t[4];", "struct point { uchar kind; double at; };") == 4 * 16 + padding);
  CHECK(room("local E e[4];", "typedef enum { A, B } E;") == 16 + padding);
  CHECK_FALSE(room("local union { uint a; uchar b[8]; } t;"));
  CHECK_FALSE(room("local V v[4];", "typedef float V __attribute__((ext_vector_type(4)));"));
}
