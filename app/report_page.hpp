// `tidegate run --report`: writes a run as one HTML page that loads no other files and needs no script to be read. Its
// frame is in the files under report_page/, embedded at build time; a block of JSON in it has the whole report.
#pragma once
#include "engine/traversal/documents.hpp"

namespace tidegate::app {

// Return the embedded text of the files under report_page/.
std::string_view page_html();
std::string_view page_style();
std::string_view page_script();

struct PageOrigin {
  std::string program;              // its name in messages
  std::vector<std::string> command; // the run's command line, split into words
  std::string version;              // of the tool
};

// Return the page of a report.
std::string report_page(const documents::RunReportDocument& document, const PageOrigin& origin);
std::string report_page(const traversal::FrontierReport& report, const PageOrigin& origin);

// Escapes JSON for a <script> element, so that no text in it ends the element or opens an HTML comment.
std::string script_safe(std::string_view json);

} // namespace tidegate::app
