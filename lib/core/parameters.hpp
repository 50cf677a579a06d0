// A document may have more than JSON: a byte order mark, comments, and parameters.
//
//   {"parameters": {"n": 1024, "bytes": {"parameter": "n * 4"}},    // this is a comment
//    "buffers": {"a": {"type": "f32", "count": {"parameter": "n"}}}, …}
//
// Their uses are replaced in the text, before it is decoded, so that no decoder knows of them. A replacement is filled
// up with spaces: what follows keeps its line, and its column unless the value is longer than its use.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::documents {

using Parameter = std::pair<std::string, Number>;

// Replaces each {"parameter": "n * 4 + 1"} by its value: numbers and names of "parameters", with + - * / and brackets.
// Whole numbers stay whole, as in C: 7 / 2 is 3. A parameter may use those before it. Values that are `given` take the
// place of those in the document. Text that is not JSON stays as it is. Errors, with their places: invalid_program for
// expressions, out_of_range for values beyond 64 bits; invalid_usage for a given parameter that the document lacks.
Result<std::string> replace_parameters(std::string json, std::span<const Parameter> given = {});

// Reads a number as JSON writes it. Error: invalid_usage.
Result<Number> read_number(std::string_view text);

} // namespace tidegate::documents
