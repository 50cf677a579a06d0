// Writes findings for services that show them in a change: `check --format github|sarif|junit`.
#include "app/check.hpp"
#include "app/drawing.hpp"
#include <tidegate/core/text.hpp>

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

using nlohmann::ordered_json;

// Names in documents may have control characters.
std::string text_of(const Error& error) {
  return printable(error.message) + (error.fix.empty() ? "" : "\nfix: " + printable(error.fix));
}

std::string_view code_of(const Error& error) {
  return error_code_names[static_cast<std::size_t>(error.code)];
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string safe;
  for (const char c : text) {
    special.find(c) == special.npos ? safe += c : safe += fmt::format("%{:02X}", c);
  }
  return safe;
}

// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string github(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    for (const Error& error : finding.errors) {
      text += fmt::format("::{} file={}", error.code == ErrorCode::warning ? "warning" : "error",
                          escaped(printable(error.source.value_or(finding.file)), "%:,"));
      text += error.line ? fmt::format(",line={}", *error.line) : "";
      text += error.column ? fmt::format(",col={}", *error.column) : "";
      text += fmt::format(",title={}::{}\n", code_of(error), escaped(text_of(error), "%\r\n"));
    }
  }
  return text;
}

// SARIF 2.1.0, an OASIS standard.
std::string sarif(const std::vector<Finding>& findings) {
  ordered_json results = ordered_json::array();
  for (const Finding& finding : findings) {
    for (const Error& error : finding.errors) {
      ordered_json place{{"artifactLocation", {{"uri", error.source.value_or(finding.file)}}}};
      if (error.line) {
        place["region"] = {{"startLine", *error.line}};
        if (error.column) {
          place["region"]["startColumn"] = *error.column;
        }
      }
      results.push_back({{"ruleId", code_of(error)},
                         {"level", error.code == ErrorCode::warning ? "warning" : "error"},
                         {"message", {{"text", text_of(error)}}},
                         {"locations", ordered_json::array({{{"physicalLocation", std::move(place)}}})}});
    }
  }
  const ordered_json driver{{"name", "tidegate"}, {"version", TIDEGATE_VERSION}};
  const ordered_json run{
      {"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}, {"results", results}};
  return ordered_json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", ordered_json::array({run})}}
             .dump(2, ' ', true, ordered_json::error_handler_t::replace) +
         '\n';
}

std::string junit(const std::vector<Finding>& findings) {
  std::string cases;
  std::size_t failed = 0;
  for (const Finding& finding : findings) {
    std::string inside;
    bool fails = false;
    for (const Error& error : finding.errors) {
      const bool warning = error.code == ErrorCode::warning;
      fails |= !warning;
      const std::string text = xml_lines(describe(error));
      inside += warning ? fmt::format("<system-out>{}</system-out>\n", text)
                        : fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>\n", code_of(error),
                                      xml_attribute(error.message), text);
    }
    failed += fails ? 1 : 0;
    cases += fmt::format("<testcase classname=\"{}\" name=\"{}\">\n{}</testcase>\n",
                         xml_attribute(finding.document), xml_attribute(finding.file), inside);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuite name=\"tidegate check\" tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
                     findings.size(), failed, cases);
}

} // namespace

std::string ci_text(std::string_view format, const std::vector<Finding>& findings) {
  return format == "github" ? github(findings) : format == "sarif" ? sarif(findings) : junit(findings);
}

} // namespace tidegate::app
