// A table of macros used instead of a compiler when there is no device.
#include "work/macro_answers.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/lexer.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace tidegate::engine {
namespace {

// Predefined macros of an OpenCL C 3.0 compiler, without a device.
std::optional<std::string> assumed_macro(const std::string& name, const opencl_c::CompilerOptions& options) {
  static const std::map<std::string, std::string, std::less<>> values{
      {"CL_VERSION_1_0", "100"},
      {"CL_VERSION_1_1", "110"},
      {"CL_VERSION_1_2", "120"},
      {"CL_VERSION_2_0", "200"},
      {"CL_VERSION_3_0", "300"},
      {"__OPENCL_VERSION__", "300"},
      {"__ENDIAN_LITTLE__", "1"},
      {"cl_khr_fp64", "1"},
      {"cl_khr_byte_addressable_store", "1"},
      {"__opencl_c_fp64", "1"},
      {"__opencl_c_int64", "1"},
      {"cl_khr_global_int32_base_atomics", "1"},
      {"CHAR_BIT", "8"},
      {"INT_MAX", "2147483647"},
      {"INT_MIN", "(-2147483647 - 1)"},
      {"UINT_MAX", "0xffffffffu"},
      {"LONG_MAX", "9223372036854775807l"}};
  if (name == "__OPENCL_C_VERSION__") {
    const std::string& standard = options.language_standard;
    return standard.starts_with("CL3")   ? "300"
           : standard.starts_with("CL2") ? "200"
           : standard == "CL1.1"         ? "110"
                                         : "120";
  }
  if (name == "__FAST_RELAXED_MATH__") {
    return std::ranges::find(options.others, "-cl-fast-relaxed-math") != options.others.end()
               ? std::optional<std::string>("1")
               : std::nullopt;
  }
  if (const auto found = values.find(name); found != values.end()) {
    return found->second;
  }
  const bool constant = name.starts_with("M_") || name.starts_with("FLT_") || name.starts_with("DBL_") ||
                        name.starts_with("CLK_") || name == "NULL" || name == "INFINITY" || name == "NAN" ||
                        name == "MAXFLOAT" || name.starts_with("HUGE_VAL") || name.ends_with("_MAX") ||
                        name.ends_with("_MIN");
  return constant && opencl_c::standard_macros().contains(name) ? std::optional(name) : std::nullopt;
}

} // namespace

AnswerMacros assume_macros(std::set<std::string>& assumed) {
  return [&assumed](const opencl_c::CompilerOptions& options,
                    opencl_c::PredefinedMacros& macros) -> Result<void> {
    for (const std::string& name : macros.unknown_names) {
      macros.names[name] = assumed_macro(name, options);
      assumed.insert(name);
    }
    for (const std::string& condition : macros.unknown_conditions) {
      const auto tokens = opencl_c::Lexer(condition, "").next_line();
      const auto value =
          tokens ? opencl_c::evaluate_condition_as_clang(*tokens, {}, "") : Result<bool>(false);
      macros.conditions[condition] = value.value_or(false);
      assumed.insert(condition);
    }
    macros.unknown_names.clear();
    macros.unknown_conditions.clear();
    return {};
  };
}

} // namespace tidegate::engine
