// `tidegate schema`: the document types, and one of them in full.
#pragma once

#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>

namespace tidegate::commands {

// The JSON Schema of a document type, or its reference as a table; with an empty name the list of all.
// invalid_usage when there is no such type.
Result<std::string> schema_text(std::string_view name, bool table);

} // namespace tidegate::commands
