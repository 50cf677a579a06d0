// `tidegate run --report`: writes a run as one HTML page that loads no other files. Its parts are the files under
// report_page/, embedded at build time; its script shows the data, which is one block of JSON in the page.
#pragma once
#include "engine/documents.hpp"
#include "engine/traversal/documents.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::app {

// Return the embedded text of the files under report_page/.
std::string_view page_html();
std::string_view page_style();
std::string_view page_script(); // all script files, concatenated

struct PageOrigin {
  std::string program;              // its name in messages
  std::vector<std::string> command; // the run's command line, split into words
  std::string version;              // of the tool
};

// Encodes the data of a page as JSON: the report, the outline of a wave program, and the timeline in arrays of numbers.
std::string page_data(const documents::RunReportDocument& document, const PageOrigin& origin);
std::string page_data(const traversal::FrontierReport& report, const PageOrigin& origin);

// Return the HTML page that shows the data of page_data().
std::string report_page(const documents::RunReportDocument& document, const PageOrigin& origin);
std::string report_page(const traversal::FrontierReport& report, const PageOrigin& origin);

// Escapes JSON for a <script> element, so that no text in it ends the element or opens an HTML comment.
std::string script_safe(std::string_view json);

} // namespace tidegate::app
