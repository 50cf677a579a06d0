// Which elements a work-item touches, where that is certain.
#include "source_support.hpp"
#include <tidegate/opencl_c/subscripts.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

// For each parameter of a kernel with a, b and n: "0..0 -1..1 -".
std::string reach(const std::string& body) {
  const TranslationUnit unit =
      parse("void other(global float* p); kernel void k(global const float* a, global float* b, uint n) {" +
            body + "}");
  std::string text;
  for (const auto& range : subscripts_by_global_id(unit, *unit.definition("k"))) {
    text += (text.empty() ? "" : " ") + (range ? fmt::format("{}..{}", range->low, range->high) : "-");
  }
  return text;
}

} // namespace

TEST_CASE("a variable that holds the global id, or the call itself") {
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i];") == "0..0 0..0 -");
  CHECK(reach("const size_t i = get_global_id(0), j = 3; if (i < n) b[i] = a[i] + j;") == "0..0 0..0 -");
  CHECK(reach("int i = (int)get_global_id(0); b[i] += a[i] * a[i];") == "0..0 0..0 -");
  CHECK(reach("b[get_global_id(0)] = a[get_global_id(0)];") == "0..0 0..0 -");
  CHECK(reach("b[get_global_id(0)] = n;") == "0..0 0..0 -"); // a is not touched
}

TEST_CASE("constants beside it") {
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i - 1] + a[i + 2u];") == "-1..2 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[0x10 + i];") == "16..16 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i + n];") == "- 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i * 2];") == "- 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[2 - i];") == "- 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i + 99999999999];") == "- 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[i + 1 + 1];") == "- 0..0 -");
}

TEST_CASE("a variable that changes, or holds something else") {
  CHECK(reach("uint i = get_global_id(0); i++; b[i] = a[i];") == "- - -");
  CHECK(reach("uint i = get_global_id(0); i += 4; b[i] = 1;") == "0..0 - -");
  CHECK(reach("for (uint i = get_global_id(0); i < n; i += 64) b[i] = 1;") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); uint* p = &i; *p = 3; b[i] = 1;") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(1); b[i] = 1;") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0) / 2; b[i] = 1;") == "0..0 - -");
  CHECK(reach("uchar i = get_global_id(0); b[i] = 1;") == "0..0 - -"); // the id may not fit
  CHECK(reach("uint i; i = get_global_id(0); b[i] = 1;") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); { uint i = 3; b[i] = 1; }") == "0..0 - -");
}

TEST_CASE("a pointer that goes elsewhere") {
  CHECK(reach("uint i = get_global_id(0); other(b); b[i] = a[i];") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); global float* p = b + 3; b[i] = a[i];") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); global float* p = &b[i]; p[5] = a[i];") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); *b = a[i];") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); b += 2; b[i] = a[i];") == "0..0 - -");
  CHECK(reach("uint i = get_global_id(0); vstore4(vload4(i, a), i, b);") == "- - -");
  CHECK(reach("uint i = get_global_id(0); b[i] = a[a[i] > 0 ? i : 0];") == "- 0..0 -");
}

TEST_CASE("an element is assigned before it is read") {
  const auto first = [](const std::string& body) {
    const TranslationUnit unit = parse("kernel void k(global float* b, uint n) {" + body + "}");
    const Function& kernel = *unit.definition("k");
    return is_assigned_first(unit, kernel, kernel.parameters[0]);
  };
  CHECK(first("uint i = get_global_id(0); b[i] = 1;"));
  CHECK(first("if (n > 3) { n = 2; } b[get_global_id(0)] = n; b[get_global_id(0)] += 1;"));
  CHECK_FALSE(first("b[get_global_id(0)] += 1;"));
  CHECK_FALSE(first("b[get_global_id(0)] = b[get_global_id(0)] + 1;"));
  CHECK_FALSE(first("if (n > 3) b[get_global_id(0)] = 1;"));
  CHECK_FALSE(first("if (n > 3) { b[get_global_id(0)] = 1; }"));
  CHECK_FALSE(first("if (n > 3) return; b[get_global_id(0)] = 1;"));
  CHECK_FALSE(first("for (uint k = 0; k < n; ++k) b[get_global_id(0)] = k;"));
  CHECK_FALSE(first("n > 3 ? (b[get_global_id(0)] = 1) : 2;"));
  CHECK_FALSE(first("n += 1;"));
}
