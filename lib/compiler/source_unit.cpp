#include <tidegate/compiler/source_unit.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/opencl_c/preprocessor.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace tidegate::compiler {
namespace {

// Every answer may lead to other lines, which ask for more.
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
                              PathScope scope, const std::string& pointer) {
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
  const std::string path = (std::filesystem::path(folder) / spec.source).string();
  std::vector<std::string> files;
  preprocessor.read = [&](const std::string& file) -> Result<std::string> {
    constexpr std::size_t most = std::size_t{64} << 20U;
    std::error_code none;
    if (auto allowed = check_scope(file, folder, scope); !allowed && std::filesystem::exists(file, none)) {
      return tl::unexpected(std::move(allowed.error()));
    }
    auto text = read_all(file, most);
    if (text && std::ranges::find(files, file) == files.end()) {
      files.push_back(file);
    }
    return text;
  };
  auto unit = preprocess(path, preprocessor, *options, answer).and_then(opencl_c::parse_translation_unit);
  if (!unit) {
    if (!unit.error().line) {
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
                     .unit = std::move(*unit)};
}

} // namespace tidegate::compiler
