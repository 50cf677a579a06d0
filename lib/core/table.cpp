// Lays out tables by characters, not bytes.
#include "core/table.hpp"

#include <tidegate/core/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tidegate {
namespace {

// The lines of a cell, as wide as its words allow; a number stays with its unit ("12.5 us"), and all lines start with the cell's
// blanks.
std::vector<std::string> lines_of(std::string_view cell, std::size_t width) {
  if (character_count(cell) <= width) {
    return {std::string(cell)};
  }
  std::vector<std::string> words;
  std::istringstream read{std::string(cell)};
  for (std::string word; read >> word;) {
    const bool is_unit = word.size() <= 2 && !words.empty() &&
                         std::isdigit(static_cast<unsigned char>(words.back().back())) != 0;
    is_unit ? void(words.back() += ' ' + word) : words.push_back(word);
  }
  const std::string blanks(std::min(cell.find_first_not_of(' '), cell.size()), ' ');
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    if (!lines.empty() && character_count(lines.back()) + 1 + character_count(word) <= width) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(blanks + word);
    }
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

std::size_t text_width(std::size_t most, int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0
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
