// Lays out tables by characters, not bytes.
#include "core/table.hpp"

#include <tidegate/core/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tidegate {
namespace {

// True for the blank between a number and its unit: "3 %", "12.5 us".
bool joins_unit(std::string_view text, std::size_t blank) {
  const std::size_t unit = std::min(text.find(' ', blank + 1), text.size()) - blank - 1;
  return blank != 0 && text[blank - 1] >= '0' && text[blank - 1] <= '9' && unit <= 2;
}

std::vector<std::string_view> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  while (character_count(text) > width) {
    // Cut at the last space within the width, else at the first one after it.
    std::size_t cut = std::string_view::npos;
    for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
      if (joins_unit(text, at)) {
        continue;
      }
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

// The lines of a cell; all start with its blanks.
std::vector<std::string> lines_of(std::string_view cell, std::size_t width) {
  const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
  std::vector<std::string> lines;
  for (const std::string_view line : wrap(cell.substr(blanks), width - std::min(width, blanks))) {
    lines.push_back(std::string(blanks, ' ').append(line));
  }
  return lines;
}

std::size_t longest_word(std::string_view cell) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(cell, 1)) {
    longest = std::max(longest, character_count(line));
  }
  return longest;
}

} // namespace

std::size_t text_width(std::size_t most) {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0
             ? std::min<std::size_t>(most, size.ws_col)
             : most;
}

std::string render_table(TableRows rows, std::size_t width) {
  constexpr std::size_t gap = 2;
  constexpr std::size_t narrowest_text = 18;
  std::size_t columns = 1;
  for (auto& row : rows) {
    std::ranges::transform(row, row.begin(), printable);
    columns = std::max(columns, row.size());
  }
  std::vector<std::size_t> widths(columns - 1); // of all columns but each row's last cell
  std::vector<std::size_t> least(columns - 1);  // their longest words
  std::size_t all = 0;                          // first of the last cells of the longest rows
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], character_count(row[i]));
      least[i] = std::max(least[i], longest_word(row[i]));
    }
    all = row.size() == columns ? std::max(all, std::min(character_count(row.back()), narrowest_text)) : all;
  }
  all = std::accumulate(widths.begin(), widths.end(), all + gap * widths.size());
  // Narrow the widest columns whose cells can be wrapped until the longest rows fit, if they can.
  constexpr std::size_t narrow = 110; // elsewhere than on a narrower terminal, lines stay whole for grep
  for (; all > width && width < narrow; --all) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widest = widths[i] > least[i] && (widest == nullptr || widths[i] > *widest) ? &widths[i] : widest;
    }
    if (widest == nullptr) {
      break;
    }
    --*widest;
  }

  std::string table;
  for (const auto& row : rows) {
    std::vector<std::pair<std::size_t, std::vector<std::string>>> cells; // where each starts, and its lines
    std::size_t start = 0;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const std::size_t room = is_last ? std::max(width, start + narrowest_text) - start : widths[i];
      height = std::max(height, cells.emplace_back(start, lines_of(row[i], room)).second.size());
      start += is_last ? 0 : widths[i] + gap;
    }
    for (std::size_t i = 0; i < height; ++i) {
      std::string text;
      for (const auto& [begin, lines] : cells) {
        if (i < lines.size()) {
          text.append(begin - character_count(text), ' ').append(lines[i]);
        }
      }
      table += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    }
  }
  return table;
}

void align_right(TableRows& rows, std::initializer_list<std::size_t> columns) {
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
