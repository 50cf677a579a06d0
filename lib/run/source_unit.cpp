#include <tidegate/core/files.hpp>
#include <tidegate/run/source_unit.hpp>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tidegate::run {

Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder,
                              const std::vector<opencl_c::MacroDefinition>& predefined, PathScope scope,
                              const std::string& pointer) {
  auto options = opencl_c::parse_compiler_options(spec.options);
  if (!options) {
    options.error().pointer = pointer + "/options";
    return tl::unexpected(std::move(options.error()));
  }
  opencl_c::PreprocessorOptions preprocessor{.definitions = predefined,
                                             .undefinitions = options->undefinitions};
  preprocessor.definitions.insert(preprocessor.definitions.end(), options->definitions.begin(),
                                  options->definitions.end());
  // What -cl-std asks for; OpenCL C 1.2 without it.
  const std::string& standard = options->language_standard;
  preprocessor.definitions.push_back({"__OPENCL_C_VERSION__", standard.starts_with("CL3")   ? "300"
                                                              : standard.starts_with("CL2") ? "200"
                                                              : standard == "CL1.1"         ? "110"
                                                                                            : "120"});
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
    if (text) {
      files.push_back(file);
    }
    return text;
  };
  auto unit = opencl_c::preprocess(path, preprocessor).and_then(opencl_c::parse_translation_unit);
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

} // namespace tidegate::run
