// SVG pictures of plans, arenas and the --report page, and text in XML.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::app {

// Colours of parts, in pictures and on the page.
inline constexpr std::array<std::string_view, 8> picture_colours{"#4a90c9", "#cf7a22", "#3f9e5d", "#cc5f95",
                                                                 "#8a70d6", "#a98a12", "#2a9d9d", "#a8744f"};

// Escapes text for an XML element; names may contain any character.
std::string xml_text(std::string_view text);
std::string xml_lines(std::string_view text);     // of several lines
std::string xml_attribute(std::string_view text); // the same between double quotes

// Returns the first lines of an SVG of this size, with the styles of pictures.
std::string svg_head(double width, double height);

// Elements of an SVG.
class Drawing {
public:
  template <class... Values>
  void add(fmt::format_string<Values...> element, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), element, std::forward<Values>(values)...);
  }

  // `style`: its class in the styles of pictures; `anchor`: which part of the text is at x, if not its start.
  void add_text(double x, double y, std::string_view style, std::string_view text,
                std::string_view anchor = "");

  std::string take() { return std::exchange(body_, {}); }

protected:
  std::string body_;
};

} // namespace tidegate::app
