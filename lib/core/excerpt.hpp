// The line of a source that an error stands in, as compilers show it:
//
//     2 |   out[get_global_id(0)] = foo + n;
//       |                           ^
#pragma once

#include <tidegate/core/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate {

// The two lines above, indented, without a newline at the end; one without a column. Of a long line what is
// around the place.
std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column);

// What an error's column counts before it has its line.
enum class ColumnCounts : std::uint8_t { characters, bytes };

// The error with its line of `text`, where it has one that is text and no longer than people write them. Its
// column counts characters from then on.
Error with_excerpt(Error error, std::string_view text, ColumnCounts counts = ColumnCounts::characters);

} // namespace tidegate
