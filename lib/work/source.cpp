// Preprocesses a source, within the scope, until all questions about macros are answered, then parses it.
#include "work/source.hpp"

#include "core/files.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/lexer.hpp"
#include "opencl_c/preprocessor.hpp"
#include "work/buffers.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace tidegate::engine {

// A table of macros used instead of a compiler when there is no device.

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

namespace {

constexpr std::size_t most_source_bytes = std::size_t{64} << 20U;

// Refuses text that editors save and no compiler accepts, with a specific message.
Result<std::string> plain_text(std::string text, const std::string& path) {
  const auto refused = [&](std::string what, std::string fix) {
    return tl::unexpected(
        Error{.code = ErrorCode::kernel_source,
              .message = in_quotes(std::filesystem::path(path).filename().string()) + ' ' + std::move(what),
              .fix = std::move(fix),
              .source = path,
              .line = 1,
              .column = 1});
  };
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return refused("is UTF-16, which OpenCL compilers do not read", "save it as UTF-8");
  }
  if (text.find('\0') != std::string::npos) {
    return refused("is no text: it holds a byte of 0", "name a file of OpenCL C");
  }
  return text;
}

// Each answer may enable other lines with new questions.
Result<opencl_c::TokenStream> preprocess(const std::string& path, opencl_c::PreprocessorOptions& options,
                                         const opencl_c::CompilerOptions& compiler,
                                         const AnswerMacros& answer) {
  opencl_c::PredefinedMacros macros;
  options.predefined = &macros;
  while (true) {
    auto source = opencl_c::preprocess(path, options);
    if (macros.is_complete()) {
      return source;
    }
    if (auto answered = answer(compiler, macros); !answered) {
      return tl::unexpected(std::move(answered.error()));
    }
  }
}

} // namespace

Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, const SourceFrame& frame) {
  auto options = opencl_c::parse_compiler_options(spec.options);
  if (!options) {
    options.error().pointer = pointer + "/options";
    return tl::unexpected(std::move(options.error()));
  }
  opencl_c::PreprocessorOptions preprocessor{.definitions = options->definitions,
                                             .undefinitions = options->undefinitions};
  for (const std::string& include : options->include_folders) {
    preprocessor.include_folders.push_back((std::filesystem::path(folder) / include).string());
  }
  const std::string path = path_in(folder, spec.source);
  // A virtual file in the same folder includes the user's file between the frame's texts.
  const bool framed = !frame.before.empty() || !frame.after.empty();
  const std::string whole = framed ? path + ": framed" : path;
  std::vector<std::string> files;
  preprocessor.read = [&](const std::string& file) -> Result<std::string> {
    if (framed && file == whole) {
      const std::string name = std::filesystem::path(path).filename().string();
      return fmt::format("{}#include \"{}\"\n{}", frame.before, name, frame.after);
    }
    std::error_code none;
    if (auto allowed = check_scope(file, folder, scope); !allowed && std::filesystem::exists(file, none)) {
      return tl::unexpected(std::move(allowed.error()));
    }
    auto read = read_all(file, most_source_bytes, FileKinds::regular).and_then([&](std::string&& bytes) {
      return plain_text(std::move(bytes), file);
    });
    if (read && std::ranges::find(files, file) == files.end()) {
      files.push_back(file);
    }
    return read;
  };
  auto unit = preprocess(whole, preprocessor, *options, answer).and_then(opencl_c::parse_translation_unit);
  if (!unit) {
    unit.error() = with_line_of(files, std::move(unit.error()));
    if (unit.error().code == ErrorCode::kernel_options) {
      unit.error().pointer = pointer + "/options";
    } else if (!unit.error().line) {
      unit.error().pointer = pointer + "/source";
      if (unit.error().code == ErrorCode::cannot_read) {
        unit.error().fix = "name the OpenCL C file, relative to the program's folder";
      }
    }
    return tl::unexpected(std::move(unit.error()));
  }
  return ProgramUnit{.path = path,
                     .files = std::move(files),
                     .options = spec.options,
                     .parsed_options = std::move(*options),
                     .unit = std::move(*unit),
                     .frame = frame};
}

Error with_line_of(const std::vector<std::string>& files, Error error, ColumnCounts counts) {
  if (!error.source || std::ranges::find(files, *error.source) == files.end()) {
    return error;
  }
  const auto text = read_all(*error.source, most_source_bytes);
  return text ? with_excerpt(std::move(error), *text, counts) : error;
}

Error no_kernel(const ProgramUnit& unit, const opencl_c::Function& function) {
  return with_line_of(
      unit.files,
      opencl_c::error_at(unit.unit, function.begin, ErrorCode::kernel_source,
                         in_quotes(function.name) + " is a function and no kernel",
                         "write kernel in front of it; an op that works on a queue says \"queue\": true"));
}

} // namespace tidegate::engine
