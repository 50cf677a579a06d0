// Lays out tables by characters, not bytes.
#include "core/table.hpp"

#include <tidegate/core/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace tidegate {
namespace {

std::vector<std::string_view> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  while (character_count(text) > width) {
    // Cut at the last space within the width, else at the first one after it.
    std::size_t cut = std::string_view::npos;
    for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
      if (cut != std::string_view::npos && character_count(text.substr(0, at)) > width) {
        break;
      }
      cut = at;
    }
    if (cut == std::string_view::npos) {
      break;
    }
    lines.push_back(text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  lines.push_back(text);
  return lines;
}

} // namespace

std::size_t text_width(std::size_t most) {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0
             ? std::min<std::size_t>(most, size.ws_col)
             : most;
}

std::string render_table(std::vector<std::vector<std::string>> rows, std::size_t width) {
  for (auto& row : rows) {
    std::ranges::transform(row, row.begin(), printable);
  }
  constexpr std::size_t gap = 2;
  constexpr std::size_t narrowest_text = 30;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], character_count(row[i]));
    }
  }

  std::string table;
  for (const auto& row : rows) {
    std::size_t indent = 0;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      table += row[i];
      table.append(widths[i] + gap - character_count(row[i]), ' ');
      indent += widths[i] + gap;
    }
    if (!row.empty()) {
      bool first = true;
      for (const std::string_view line :
           wrap(row.back(), std::max(width, indent + narrowest_text) - indent)) {
        if (!first) {
          table += '\n';
          table.append(indent, ' ');
        }
        table += line;
        first = false;
      }
    }
    table.erase(table.find_last_not_of(' ') + 1);
    table += '\n';
  }
  return table;
}

void align_right(std::vector<std::vector<std::string>>& rows, std::initializer_list<std::size_t> columns) {
  for (const std::size_t column : columns) {
    std::size_t width = 0;
    for (const auto& row : rows) {
      width = std::max(width, column < row.size() ? character_count(row[column]) : 0);
    }
    for (auto& row : rows) {
      if (column < row.size()) {
        row[column].insert(0, width - character_count(row[column]), ' ');
      }
    }
  }
}

std::string bold(std::string_view text, bool colour) {
  return colour ? "\x1b[1m" + printable(text) + "\x1b[0m" : printable(text);
}

} // namespace tidegate
