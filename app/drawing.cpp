#include "app/drawing.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::app {

// A short form of the styles of the --report page (report_page/page.css), which has such pictures in it.
constexpr std::string_view svg_style = R"(
  .picture { --page: #f4f6f8; --card: #ffffff; --ink: #18212c; --soft: #55626f; --line: #dce2e8; --accent: #1a69aa; --bad: #b3261e; }
  @media (prefers-color-scheme: dark) {
    .picture { --page: #0e1318; --card: #161c23; --ink: #e5eaf0; --soft: #9eabb8; --line: #2b353f; --accent: #70b5ee; --bad: #ff8f85; }
  }
  .picture text { fill: var(--ink); font-size: 13px; font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
  .picture .soft { fill: var(--soft); font-size: 11px; }
  .picture .head { font-weight: 600; }
  .picture .page { fill: var(--page); }
  .picture .group { fill: var(--card); stroke: var(--line); }
  .picture .full { fill: var(--accent); }
  .picture .box { fill: var(--page); stroke: var(--line); }
  .picture .edge { fill: none; stroke: var(--soft); stroke-width: 1.2; opacity: 0.6; }
  .picture .repeats { fill: none; stroke: var(--soft); }
  .picture .box.critical { stroke: var(--bad); stroke-width: 2; }
  .picture .edge.critical { stroke: var(--bad); stroke-width: 2; opacity: 1; }
  .picture .arrow { fill: var(--soft); }
  .picture .bound { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 6 4; }
)";

void Drawing::add_text(double x, double y, std::string_view style, std::string_view text,
                       std::string_view anchor) {
  add(R"(<text class="{}" x="{:.1f}" y="{:.1f}"{}>{}</text>)"
      "\n",
      style, x, y, anchor.empty() ? "" : fmt::format(R"( text-anchor="{}")", anchor), xml_text(text));
}

std::string svg_head(double width, double height) {
  return fmt::format(
      R"(<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}">
<style>{2}</style>
)",
      width, height, svg_style);
}

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  // XML does not allow U+FFFE and U+FFFF: replaces them by U+FFFD.
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = safe.find(forbidden); at != std::string::npos; at = safe.find(forbidden, at)) {
      safe.replace(at, forbidden.size(), "\xef\xbf\xbd");
    }
  }
  return safe;
}

std::string xml_lines(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    safe += xml_text(text.substr(at, end - at)) + (end < text.size() ? "\n" : "");
    at = end + 1;
  }
  return safe;
}

std::string xml_attribute(std::string_view text) {
  std::string safe = xml_text(text);
  for (std::size_t at = 0; (at = safe.find('"', at)) != std::string::npos;) {
    safe.replace(at, 1, "&quot;");
  }
  return safe;
}

} // namespace tidegate::app
