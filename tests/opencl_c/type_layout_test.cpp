// Layout of structure members, and refusals where it is uncertain.
#include "opencl_c/type_layout.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

std::string text(const TypeLayout& type) {
  if (type.kind == TypeLayout::Kind::arithmetic) {
    return type.name;
  }
  std::string parts;
  for (const auto& [name, value] : type.enumerators) {
    parts += fmt::format("{}{}={}", parts.empty() ? "" : " ", name, value);
  }
  for (const MemberLayout& member : type.members) {
    parts +=
        fmt::format("{}{}: {}@{}", parts.empty() ? "" : ", ", member.name, text(member.type), member.offset);
    for (const std::uint64_t count : member.dimensions) {
      parts += fmt::format("[{}]", count);
    }
  }
  return fmt::format("{} {{{}}} {}/{}", type.name, parts, type.bytes, type.alignment);
}

// The layout of a kernel parameter, or the reason why there is none.
std::string layout(const std::string& before, const std::string& parameter) {
  const TranslationUnit unit = parse(before + " kernel void k(" + parameter + ") {}");
  const auto found = layout_of(unit, unit.functions.back().parameters.at(0));
  return found ? text(*found) : found.error();
}

} // namespace

TEST_CASE("members lie on multiples of their alignment") {
  CHECK(layout("struct s { char a; int b; char c; };", "struct s p") ==
        "struct s {a: char@0, b: int@4, c: char@8} 12/4");
  CHECK(layout("typedef struct { float3 at; uchar kind; int n[2], m; } particle;", "const particle p") ==
        "particle {at: float3@0, kind: uchar@16, n: int@20[2], m: int@28} 32/16");
  CHECK(layout("struct s { unsigned char a; const unsigned long b; short2 c; half h; };", "struct s p") ==
        "struct s {a: uchar@0, b: ulong@8, c: short2@16, h: half@20} 24/8");
  CHECK(layout("typedef float quad[4]; struct s { quad q[2]; double d[3][5]; };", "struct s p") ==
        "struct s {q: float@0[2][4], d: double@32[3][5]} 152/8");
  CHECK(layout("", "unsigned int p") == "uint");
  CHECK(layout("typedef float real;", "real p") == "float");
}

TEST_CASE("structures in structures, wherever they are declared") {
  CHECK(layout("struct in { char a; double d; }; struct s { char c; struct in i[2]; struct { int x; } y; };",
               "struct s p") == "struct s {c: char@0, i: struct in {a: char@0, d: double@8} 16/8@8[2], "
                                "y: struct {x: int@0} 4/4@40} 48/8");
  CHECK(
      layout("struct s; typedef struct s t; struct s { int a; }; struct o { struct n { char c; } m; t s; };",
             "struct o p") == "struct o {m: struct n {c: char@0} 1/1@0, s: struct s {a: int@0} 4/4@4} 8/4");
  CHECK(layout("typedef struct tag { int a; } t;", "t p") == "struct tag {a: int@0} 4/4");
}

TEST_CASE("packed and aligned structures") {
  CHECK(layout("struct __attribute__((packed)) s { char a; int b; };", "struct s p") ==
        "struct s {a: char@0, b: int@1} 5/1");
  CHECK(layout("typedef struct { char a; int b; } __attribute__((__packed__)) s;", "s p") ==
        "s {a: char@0, b: int@1} 5/1");
  CHECK(layout("struct s { char a; int b; } __attribute__((aligned(16)));", "struct s p") ==
        "struct s {a: char@0, b: int@4} 16/16");
  CHECK(layout("struct s { char a; float4 b; } __attribute__((packed, aligned(4)));", "struct s p") ==
        "struct s {a: char@0, b: float4@1} 20/4");
}

TEST_CASE("enumerations, and bounds that are enumerators") {
  CHECK(layout("enum mode { A, B = 4, C, D = B << 2 };", "enum mode m") == "uint {A=0 B=4 C=5 D=16} 4/4");
  CHECK(layout("typedef enum { A = -1, B } mode;", "mode m") == "int {A=-1 B=0} 4/4");
  CHECK(layout("enum { N = 3, M = N * 2 }; struct s { int a[M + 1]; enum { X } e; };", "struct s p") ==
        "struct s {a: int@0[7], e: uint {X=0} 4/4@28} 32/4");
}

TEST_CASE("bounds are computed in the types of C") {
  CHECK(layout("struct s { int a[sizeof(int)], b[0xffffffff - 0xfffffffd], c[(uchar)2]; };", "struct s p") ==
        "struct s {a: int@0[4], b: int@16[2], c: int@24[2]} 32/4");
  CHECK(layout("enum { LEAST = -2147483647 - 1 }; struct s { int a[LEAST < 0 ? 2 : 3]; };", "struct s p") ==
        "struct s {a: int@0[2]} 8/4");
  CHECK(layout("struct s { int a[-(-2147483647 - 1) != 0]; };", "struct s p") ==
        "it has an array whose bound is not a plain constant"); // it overflows
}

TEST_CASE("an uncertain layout has a reason") {
  using Rows = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [members, reason] :
       Rows{{"int a : 3;", "it has bit-fields"},
            {"union { int i; float f; } u;", "it has a union"},
            {"global int* a;", "it has a pointer"},
            {"size_t a;", "it has a member of type size_t"},
            {"int a __attribute__((aligned(8)));", "it has a member with attributes"},
            {"struct t { int a; } b; int a[sizeof(struct t)];",
             "it has an array whose bound is not a plain constant"},
            {"struct { int a; };", "it has members without a name"},
            {"int a[100000];", "it is larger than an argument can be"},
            {"", "it has no members"}}) {
    CHECK(layout("struct s { " + members + " };", "struct s p") == reason);
  }
  CHECK(layout("\n#pragma pack(1)\nstruct s { char a; int b; };", "struct s p") ==
        "a #pragma pack precedes it");
  CHECK(layout("", "struct s p") == "struct s is declared nowhere");
  CHECK(layout("", "struct") == "struct is declared nowhere"); // without a tag
  CHECK(layout("enum big { A = 0x100000000 };", "enum big p") ==
        "it has enumerators whose values are not plain constants of 32 bits");
  CHECK(layout("enum __attribute__((packed)) small { A };", "enum small p") ==
        "it has an enumeration that is not an int");
}
