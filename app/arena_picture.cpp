// The picture of an arena: time from left to right, offsets from bottom to top, a box for each buffer.
//
//   1.5 KiB +-----------------+
//           |   +-----+   +---+  offsets are told at the left, times below; the line of the lower bound is
//           |   |  b  |   | d |  dashed: where the top of the boxes meets it, no arena is lower
//         0 +-+-+-----+---+---+
//             0              7
#include "app/arena.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tidegate::commands {
namespace {

// The text of an element: names may hold anything.
std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  // U+FFFE and U+FFFF are in no XML: the replacement character stands for them.
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = safe.find(forbidden); at != std::string::npos; at = safe.find(forbidden, at)) {
      safe.replace(at, forbidden.size(), "\xef\xbf\xbd");
    }
  }
  return safe;
}

class ArenaPicture {
public:
  explicit ArenaPicture(const PlannedArena& planned)
      : buffers_(planned.lifetimes.buffers), plan_(planned.plan),
        capacity_(planned.lifetimes.capacity_bytes) {
    for (const auto& [id, lifetime] : buffers_) {
      begin_ = std::min(begin_, lifetime.lower);
      end_ = std::max(end_, lifetime.upper);
    }
    begin_ = std::min(begin_, end_);
  }

  std::string draw(const std::string& headline) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(font-family="Helvetica, Arial, sans-serif" font-size="11">)"
        "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        page_width, page_height);
    text(left, 26, headline, R"(font-size="14")");
    text(left, 46,
         fmt::format("lower bound {}{}", bytes_text(plan_.lower_bound_bytes),
                     capacity_ ? ", capacity " + bytes_text(*capacity_) : ""));
    axes();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      box(i);
    }
    bound();
    return text_ + "</svg>\n";
  }

private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void text(double x, double y, std::string_view what, std::string_view more = "") {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, more.empty() ? "" : " ", more,
        xml_text(what));
  }

  [[nodiscard]] double x(std::uint64_t time) const {
    return end_ == begin_
               ? left
               : left + width * (static_cast<double>(time - begin_) / static_cast<double>(end_ - begin_));
  }
  [[nodiscard]] double y(std::uint64_t offset) const {
    const double share =
        plan_.height_bytes == 0 ? 0 : static_cast<double>(offset) / static_cast<double>(plan_.height_bytes);
    return top + height * (1 - share);
  }

  void axes() {
    constexpr std::uint64_t steps = 4;
    for (std::uint64_t i = 0; i <= steps; ++i) {
      const std::uint64_t offset = plan_.height_bytes / steps * i + plan_.height_bytes % steps * i / steps;
      add("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e3e7eb\"/>\n", left, left + width,
          y(offset), y(offset));
      text(left - 8, y(offset) + 4, bytes_text(offset), R"(text-anchor="end")");
      const std::uint64_t time = begin_ + (end_ - begin_) / steps * i + (end_ - begin_) % steps * i / steps;
      if (i == 0 || time != last_time_) {
        text(x(time), top + height + 18, std::to_string(time), R"(text-anchor="middle")");
      }
      last_time_ = time;
    }
    text(left + width / 2, top + height + 34, "time", R"(text-anchor="middle" fill="#5b6b7b")");
  }

  void box(std::size_t i) {
    const auto& [id, lifetime] = buffers_[i];
    if (lifetime.size == 0) {
      return; // takes no room
    }
    const std::string name = arena_label(id);
    const std::string size = bytes_text(lifetime.size);
    const double from = x(lifetime.lower);
    const double upper = y(plan_.offsets[i] + lifetime.size);
    const double across = x(lifetime.upper) - from;
    const double high = y(plan_.offsets[i]) - upper;
    add("<g><title>{}: {} at {}, alive in [{}, {})</title>", xml_text(name), size, plan_.offsets[i],
        lifetime.lower, lifetime.upper);
    add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="#5b6b7b" stroke-width="0.6"/>)",
        from, upper, across, high, colours[i % colours.size()]);
    // As much of the name and the size as there is room for.
    const auto fits = [across](std::string_view label) {
      return static_cast<double>(character_count(label)) * character < across - 4;
    };
    const std::string both = name + "  " + size;
    const std::string label = fits(both) ? both : fits(name) ? name : "";
    if (!label.empty() && high >= line_height) {
      text(from + across / 2, upper + high / 2 + 4, label, R"(text-anchor="middle")");
    }
    text_ += "</g>\n";
  }

  void bound() {
    add("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#c0392b\" stroke-width=\"1.5\" "
        "stroke-dasharray=\"6 4\"><title>lower bound</title></line>\n",
        left, left + width, y(plan_.lower_bound_bytes), y(plan_.lower_bound_bytes));
  }

  // Pixels: of the page, and of the arena in it.
  static constexpr double page_width = 960, page_height = 600;
  static constexpr double left = 80, right = 20, top = 70, bottom = 40;
  static constexpr double width = page_width - left - right, height = page_height - top - bottom;
  static constexpr double character = 6.6, line_height = 13; // of a label

  // Colours that black reads well on, so that neighbours can be told apart.
  static constexpr std::array<std::string_view, 8> colours{"#bcd7ee", "#f6d6ad", "#c9e6c4", "#f3c6c6",
                                                           "#d9cdea", "#cfe8e8", "#f5e6a8", "#dcdcdc"};

  const std::vector<documents::NamedBuffer>& buffers_;
  const planning::ArenaPlan& plan_;
  const std::optional<std::uint64_t> capacity_;
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0; // of time
  std::uint64_t last_time_ = 0;
  std::string text_;
};

} // namespace

std::string arena_picture(const PlannedArena& planned) {
  return ArenaPicture(planned).draw(arena_headline(planned.plan));
}

} // namespace tidegate::commands
