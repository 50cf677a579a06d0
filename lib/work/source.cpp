// Preprocesses a source, within the scope, until all questions about macros are answered, then parses it.
#include "core/files.hpp"
#include "device/kernels.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {

namespace {

constexpr std::size_t most_source_bytes = std::size_t{64} << 20U;

// Refuses text that editors save and no compiler accepts, with a specific message.
Result<std::string> plain_text(std::string text, const std::string& path) {
  const bool is_utf_16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (!is_utf_16 && text.find('\0') == std::string::npos) {
    return text;
  }
  return tl::unexpected(
      Error{.code = ErrorCode::kernel_source,
            .message = fmt::format("{} is {}", in_quotes(std::filesystem::path(path).filename().string()),
                                   is_utf_16 ? "UTF-16, which OpenCL compilers do not read"
                                             : "not text: it holds a byte of 0"),
            .fix = is_utf_16 ? "save it as UTF-8" : "name a file of OpenCL C",
            .source = path,
            .line = 1,
            .column = 1});
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

// The macros of the options are for the user's file, and not for the text before it.
SourceFrame without_macros(SourceFrame frame, const std::vector<opencl_c::MacroDefinition>& definitions) {
  std::string without;
  std::string again;
  for (const opencl_c::MacroDefinition& macro : definitions) {
    without += fmt::format("#undef {}\n", macro.name.substr(0, macro.name.find('(')));
    again += fmt::format("#define {} {}\n", macro.name, macro.value);
  }
  frame.before = frame.before.empty() ? std::string() : without + frame.before + again;
  return frame;
}

} // namespace

Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, SourceFrame frame) {
  TIDEGATE_TRY(auto options, at_place(pointer + "/options", opencl_c::parse_compiler_options(spec.options)));
  opencl_c::PreprocessorOptions preprocessor{.definitions = options.definitions,
                                             .undefinitions = options.undefinitions};
  for (const std::string& include : options.include_folders) {
    preprocessor.include_folders.push_back((std::filesystem::path(folder) / include).string());
  }
  const std::string path = path_in(folder, spec.source);
  if (path.empty() ||
      std::ranges::any_of(spec.source, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; })) {
    return invalid_program(
        "the name of the source is empty, or has a quote, a backslash or a control character",
        "rename the file: compilers read its name between quotes", pointer + "/source");
  }
  // A virtual file in the same folder includes the user's file between the frame's texts.
  const bool framed = !frame.before.empty() || !frame.after.empty();
  const std::string whole = framed ? path + ": framed" : path;
  std::vector<std::string> files;
  frame = without_macros(std::move(frame), options.definitions);
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
  auto unit = preprocess(whole, preprocessor, options, answer).and_then(opencl_c::parse_translation_unit);
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
                     .parsed_options = std::move(options),
                     .unit = std::move(*unit),
                     .frame = std::move(frame)};
}

tl::unexpected<Error> error_at(const ProgramUnit& unit, std::size_t token, ErrorCode code,
                               std::string message, std::string fix) {
  return tl::unexpected(with_line_of(
      unit.files, opencl_c::error_at(unit.unit, token, code, std::move(message), std::move(fix))));
}

tl::unexpected<Error> no_kernel(const ProgramUnit& unit, const opencl_c::Function& function) {
  return error_at(unit, function.begin, ErrorCode::kernel_source,
                  in_quotes(function.name) + " is a function and no kernel",
                  "write kernel in front of it; an op that works on a queue says \"queue\": true");
}

Result<void> check_parameter(const ProgramUnit& unit, const opencl_c::Parameter& parameter) {
  const auto word = opencl_c::unsupported_word(unit.unit, parameter.tokens);
  return !word ? Result<void>()
               : error_at(unit, *word, ErrorCode::unsupported_kernel,
                          fmt::format("{} cannot be an argument of a wave",
                                      in_quotes(opencl_c::text_of(unit.unit, {*word, *word + 1}))),
                          fmt::format("write it without: {}", opencl_c::see_unsupported));
}

Result<std::uint32_t> built_in_op(ProgramOps& ops, const char* file, std::string_view kernel) {
  for (std::uint32_t op = 0; op < ops.ops.size(); ++op) {
    if (ops.ops[op].name == kernel && !ops.unit(op).built_in.empty()) {
      return op;
    }
  }
  const std::string path = fmt::format("tidegate/kernels/{}", file);
  opencl_c::PreprocessorOptions options;
  options.read = [file](const std::string&) { return Result<std::string>(device::kernel_source(file)); };
  TIDEGATE_TRY(opencl_c::TranslationUnit unit,
               opencl_c::preprocess(path, options).and_then(opencl_c::parse_translation_unit));
  for (std::uint32_t i = 0; i < unit.functions.size(); ++i) {
    if (unit.functions[i].is_kernel) {
      ops.ops.push_back({.name = unit.functions[i].name,
                         .unit = static_cast<std::uint32_t>(ops.units.size()),
                         .function = i});
    }
  }
  ops.units.push_back({.path = path,
                       .options = "",
                       .parsed_options = {},
                       .unit = std::move(unit),
                       .built_in = device::kernel_source(file)});
  return built_in_op(ops, file, kernel);
}

} // namespace tidegate::engine
