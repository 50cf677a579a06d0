// tidegate version
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/core/table.hpp>
#include <tidegate/device/loader.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/report_documents.hpp>

#include <CLI/Version.hpp>
#include <fmt/format.h>
#include <nlohmann/detail/abi_macros.hpp>
#include <rapidjson/rapidjson.h>

#include <memory>

namespace tidegate::app {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

documents::VersionReport versions() {
  return {.tidegate = TIDEGATE_VERSION,
          .build_type = TIDEGATE_BUILD_TYPE,
          .compiler = compiler(),
          .cli11 = CLI11_VERSION,
          .rapidjson = RAPIDJSON_VERSION_STRING,
          .nlohmann_json = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                       NLOHMANN_JSON_VERSION_PATCH),
          .fmt = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
          .opencl_loader = device::loader_version()};
}

std::string table(const documents::VersionReport& report) {
  return render_table({{"tidegate", report.tidegate + " (" + report.build_type + ")"},
                       {"compiler", report.compiler},
                       {"CLI11", report.cli11},
                       {"RapidJSON", report.rapidjson},
                       {"nlohmann_json", report.nlohmann_json},
                       {"{fmt}", report.fmt},
                       {"OpenCL loader", report.opencl_loader}});
}

} // namespace

CommandModel version_command() {
  struct Settings {
    std::string output = "-";
    Format format = Format::json;
  };
  const auto settings = std::make_shared<Settings>();
  return {.options = {format_option(settings->format), output_option(settings->output)},
          .run = [settings](bool) {
            const documents::VersionReport report = versions();
            return commands::write_text(settings->output, settings->format == Format::table
                                                              ? table(report)
                                                              : documents::encode(report) + '\n');
          }};
}

} // namespace tidegate::app
