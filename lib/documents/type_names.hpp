// What people call element types when they do not know what they are called here.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tidegate::documents {

// "i32" for OpenCL C's "int" and for numpy's "int32", where it is one of the known names; else the name that
// looks most like the word, as nearest_name() finds it.
std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known);

} // namespace tidegate::documents
