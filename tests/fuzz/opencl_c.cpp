// Any text as OpenCL C, its first line also as options of a compiler: preprocessed, parsed and outlined, or refused with a sound error. A form feed on a
// line of its own divides the file from what it includes as "inner.h".
#include "fuzz.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/preprocessor.hpp"
#include "opencl_c/translation_unit.hpp"

#include <set>

using namespace tidegate;

FUZZ_TARGET(opencl_c) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = opencl_c::parse_compiler_options(text.substr(0, text.find('\n'))); !parsed) {
    fuzz::require_sound(parsed.error());
  }
  constexpr std::string_view mark = "\n\f\n";
  const std::size_t middle = text.find(mark);
  const opencl_c::PreprocessorOptions options{
      .definitions = {{"__OPENCL_C_VERSION__", "120"}, {"WIDTH", "4"}},
      .undefinitions = {},
      .include_folders = {"include"},
      .read = [&](const std::string& path) -> Result<std::string> {
        if (path == "main.cl") {
          return std::string(text.substr(0, middle));
        }
        if (middle != std::string_view::npos && path == "include/inner.h") {
          return std::string(text.substr(middle + mark.size()));
        }
        return tl::unexpected(Error{.code = ErrorCode::cannot_read, .message = "no such file"});
      }};
  const auto unit = opencl_c::preprocess("main.cl", options).and_then(opencl_c::parse_translation_unit);
  if (!unit) {
    fuzz::require_sound(unit.error());
    return 0;
  }
  std::set<std::string> kernels;
  for (const opencl_c::Function& function : unit->functions) {
    if (function.is_kernel && function.body) {
      kernels.insert(function.name);
    }
  }
  const auto outlined = opencl_c::outline(*unit, {.kernels = kernels});
  if (!outlined) {
    fuzz::require_sound(outlined.error());
    return 0;
  }
  fuzz::require(outlined->kernels.size() + outlined->fallbacks.size() == kernels.size(),
                "every kernel is outlined or falls back");
  return 0;
}
