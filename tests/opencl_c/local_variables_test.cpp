// Variables in local and constant memory declared in a kernel's body.
#include "opencl_c/outline.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

// Each declaration that leaves a kernel with this body, in its new place, then " | " and what the body becomes.
std::string hoisted(const std::string& body, const std::string& before = "") {
  const TranslationUnit unit = parse(before + "\nkernel void k(int n) {" + body + "}");
  const Function& kernel = *unit.definition("k");
  Edits edits;
  const auto variables = hoist_variables(unit, kernel, "C_", edits);
  if (!variables) {
    return refusal(variables);
  }
  const auto written = [&](TokenRange range, const Edits& by) {
    std::string text;
    TokenWriter(unit, text).write(range, by);
    return spaced(text);
  };
  std::string text;
  for (const HoistedVariable& variable : variables->declarations) {
    text += written(variable.declaration, variable.edits) + " ; ";
  }
  return text + "| " + written(*kernel.body, edits);
}

std::string expected(const std::string& moved, const std::string& body) {
  return (moved.empty() ? "" : spaced(moved) + " ") + "| { " + spaced(body) + (body.empty() ? "}" : " }");
}

std::string needs(const std::string& name) {
  return "this declaration needs \"" + name + "\", which ";
}

} // namespace

TEST_CASE("declarations leave the kernel, pointers stay") {
  const std::string types =
      "typedef struct { int x; } point; struct pair { int x; }; enum { size = 4 };\n#define N 4\n";
  struct Case {
    std::string body, moved, left;
  };
  for (
      const Case& one : std::vector<Case>{
          {"", "", ""},
          {"int a; global int* p = 0;", "", "int a; global int* p = 0;"},
          {"local float tile[16];", "float tile[16];", ";"},
          {"__local int count; count = 1;", "int count;", "; tg_locals->count = 1;"},
          {"local volatile uint cube[2][3][4];", "volatile uint cube[2][3][4];", ";"},
          {"local struct pair a, b[2];", "struct pair a, b[2];", ";"},
          {"local float a[2], b, c[N][N * (2 + 1)];", "float a[2], b, c[4][4 * (2 + 1)];", ";"},
          {"volatile local int a; float local b[4]; static local int c; n += 1; const local int d[2];",
           "volatile int a; float b[4]; int c; const int d[2];", ";;; n += 1; ;"},
          {"local uchar __attribute__((aligned(16))) a[4];", "uchar __attribute__((aligned(16))) a[4];", ";"},
          {"local uchar a[4] __attribute__((aligned(16))), b;", "uchar a[4] __attribute__((aligned(16))), b;",
           ";"},
          {"local __attribute__((aligned(16))) point a[4];", "__attribute__((aligned(16))) point a[4];", ";"},
          {"local int* p = 0; local int *a, *b, (*rows)[4] = 0; local int* const c = 0;", "",
           "local int* p = 0; local int *a, *b, (*rows)[4] = 0; local int* const c = 0;"},
          {"local int a[2], *p = &a[0], b;", "int a[2], b;", "local int *p = &tg_locals->a[0];"},
          {"local int *p, a[2];", "int a[2];", "local int *p;"},
          {"local int a[2][4], (*rows)[4] = a;", "int a[2][4];", "local int (*rows)[4] = tg_locals->a;"},
          {"global float* local p;", "global float* p;", ";"},
          {"n = *(local int*)0; f((local float*)0, sizeof(local int*)); for (local int* p = 0; p; ++p) { }",
           "",
           "n = *(local int*)0; f((local float*)0, sizeof(local int*)); for (local int* p = 0; p; ++p) { }"},
          {"{ local int a; } if (n) { local int b; } for (;;) { local int d; } switch (n) { case 1: ; local int e; } "
           "done: ; local int f;",
           "int a; int b; int d; int e; int f;",
           "{ ; } if (n) { ; } for (;;) { ; } switch (n) { case 1: ; ; } done: ; ;"},
          // Uses, where no inner name hides the variable.
          {"local int a[2]; { n = a[1]; float4 a; a.x = n; { a.y = 1; } } a[0] = 1;", "int a[2];",
           "; { n = tg_locals->a[1]; float4 a; a.x = n; { a.y = 1; } } tg_locals->a[0] = 1;"},
          {"local int a[2]; if (n) return; else a[0] = 1; do a[1] = 2; while (n); n = sizeof a; "
           "switch (n) { case 1: a[0] = 2; }",
           "int a[2];",
           "; if (n) return; else tg_locals->a[0] = 1; do tg_locals->a[1] = 2; while (n); n = sizeof tg_locals->a; "
           "switch (n) { case 1: tg_locals->a[0] = 2; }"},
          {"local int a[2]; { int* a = &n; *a = 1; } { int b = 1, a = 2; n = a + b; } "
           "for (int a = 0; a < n; ++a) { n += a; } n = a[0];",
           "int a[2];",
           "; { int* a = &n; *a = 1; } { int b = 1, a = 2; n = a + b; } for (int a = 0; a < n; ++a) { n += a; } "
           "n = tg_locals->a[0];"},
          {"constant float w[3] = {1, 2, 3}; __constant int n2 = (1, 2), m[2][2] = {{1, 2}, {3, 4}}; n = m[0][n2];",
           "constant float C_w[3] = {1, 2, 3}; __constant int C_n2 = (1, 2), C_m[2][2] = {{1, 2}, {3, 4}};",
           ";; n = C_m[0][C_n2];"},
          {"constant float* p = 0;", "", "constant float* p = 0;"},
          {"local int a; constant int b = 1;", "int a; constant int C_b = 1;", ";;"},
          // Names of file scope and of other blocks may be used.
          {"local point a; local int b[size];", "point a; int b[size];", ";;"},
          {"int a = sizeof(int); local int b[sizeof(int)];", "int b[sizeof(int)];", "int a = sizeof(int); ;"},
          {"local struct { int x, y[sizeof(int)]; } a, b;", "struct { int x, y[sizeof(int)]; } a, b;", ";"},
          {"{ enum { size = 2 }; } struct { int size; } s; local int a[size];", "int a[size];",
           "{ enum { size = 2 }; } struct { int size; } s; ;"},
          {"{ local int w; } local int a[size];", "int w; int a[size];", "{ ; } ;"}}) {
    CAPTURE(one.body);
    CHECK(hoisted(one.body, types) == expected(one.moved, one.left));
  }
}

TEST_CASE("what moves takes along nothing that the kernel declares") {
  const std::string before = "struct s { char q; }; enum { B, size }; typedef local int LI;";
  const std::string own = "the kernel declares in its body";
  for (const auto& [body, message] : std::vector<std::pair<std::string, std::string>>{
           {"\n local int a[2];\n local int b[sizeof(a)];", "4:21 unsupported_kernel: " + needs("a") + own},
           {"\n local int a[2], b[sizeof(a)];", "3:27 unsupported_kernel: " + needs("a") + own},
           {"\n local int a[sizeof(n)];",
            "3:21 unsupported_kernel: " + needs("n") + "is a parameter of the kernel"},
           {"constant int w[] = {1};\n constant int b = w[0];",
            "3:19 unsupported_kernel: " + needs("w") + own},
           {"int size = 2; local int a[size];", needs("size") + own}, // the inner one counts
           {"typedef float real; local real a[2];", needs("real") + own},
           {"struct point { int x; }; local struct point a[2];", needs("point") + own},
           {"enum kind { one }; local enum kind a;", needs("kind") + own},
           {"int m = 16; local float t[m];", needs("m") + own},
           {"const int m = 16; local float t[m];", needs("m") + own},
           {"enum { four = 4 }; local int t[four];", needs("four") + own},
           {"{ local int a[2]; } { local float a; }", "the kernel declares \"a\" twice"},
           {"volatile const int m = 1; local float t[m];", needs("m") + own},
           {"enum { four = 4 }; local struct { int x[four]; } t;", needs("four") + own},
           {"enum { four = 4 }; constant int t = four;", needs("four") + own},
           {"constant float w[] = {1, 2}; local int a[sizeof(w) / sizeof(w[0])];", needs("w") + own},
           // A tag and an enumerator may meet others of their name.
           {"local struct s { int x; } v;", needs("s") + own},
           {"local enum { A = 3, B } v;", needs("A") + own},
           {"LI z[16];", "a typedef puts this variable in local memory"}}) {
    const std::string text = hoisted(body, before);
    CHECK_MESSAGE(text.ends_with(message), text);
  }
}

TEST_CASE("the room of local variables counts every element of arrays, typedefs and structures") {
  const auto room = [](const std::string& declaration, const std::string& before = "") {
    const TranslationUnit unit = parse(before + "\nkernel void k(int n) {" + declaration + "}");
    Edits edits;
    const auto variables = hoist_variables(unit, *unit.definition("k"), "C_", edits);
    REQUIRE(variables);
    return variables->local_bytes;
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
