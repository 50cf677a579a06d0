// `tidegate priority` and `tidegate tune`: one document in, one document out.
#pragma once
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>

namespace tidegate::commands {

// Each decodes its input document and appends its answer to `json`.
Result<void> drain_priority(std::string_view input, documents::Style style, std::string& json);
Result<void> diffuse_priority(std::string_view input, documents::Style style, std::string& json);
Result<void> choose_tuning(std::string_view input, documents::Style style, std::string& json);
Result<void> step_tuning(std::string_view input, documents::Style style, std::string& json);

} // namespace tidegate::commands
