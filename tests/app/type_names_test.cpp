// What people call element types.
#include <tidegate/core/decode.hpp>

#include <doctest/doctest.h>

#include <array>

namespace tidegate::documents {
namespace {

TEST_CASE("names of OpenCL C and of numpy mean ours, where ours may stand") {
  constexpr std::array<std::string_view, 4> known{"i32", "u8", "f32", "f64"};
  CHECK(meant_name("int", known) == "i32");
  CHECK(meant_name("uchar", known) == "u8");
  CHECK(meant_name("uint8", known) == "u8");
  CHECK(meant_name("float", known) == "f32");
  CHECK(meant_name("double", known) == "f64");
  CHECK(meant_name("half", known) == std::nullopt);
  CHECK(meant_name("", known) == std::nullopt);
  CHECK(meant_name("float4", known) == "f32"); // a vector is several elements
  CHECK(meant_name("uchar16", known) == "u8");
  CHECK(meant_name("f32x8", known) == "f32");
  CHECK(meant_name("int64x2", known) == std::nullopt);
  constexpr std::array<std::string_view, 2> words{"printer", "float3"};
  CHECK(meant_name("int", words) == std::nullopt);
  CHECK(meant_name("float", words) == "float3"); // a slip, then
}

} // namespace
} // namespace tidegate::documents
