#include <tidegate/device/build_log.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace tidegate::device {
namespace {

// The number behind the last colon of `text`, which is then shortened by both.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  std::uint64_t number = 0;
  if (colon == std::string_view::npos) {
    return {};
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) {
    return {};
  }
  text = text.substr(0, colon);
  return number;
}

// "FILE:LINE:COLUMN", perhaps with " <Spelling=…>" behind it.
std::optional<LogError> place(std::string_view text) {
  text = text.substr(0, text.find(" <Spelling="));
  const auto column = take_number(text);
  const auto line = column ? take_number(text) : std::nullopt;
  if (!line || text.empty()) {
    return {};
  }
  return LogError{.file = std::string(text), .line = *line, .column = *column, .message = {}};
}

// What stands behind the mark, with its place.
std::optional<LogError> told_in(std::string_view line, std::string_view mark) {
  const std::size_t found = line.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view behind = line.substr(found + mark.size());
  const std::string_view before =
      line.substr(0, line.substr(0, found).ends_with("fatal ") ? found - 6 : found);
  if (before.ends_with(": ")) {
    auto error = place(before.substr(0, before.size() - 2));
    if (error) {
      error->message = behind;
    }
    return error;
  }
  // The message begins behind the first ": " that has a place in front.
  for (std::size_t colon = behind.find(": "); colon != std::string_view::npos;
       colon = behind.find(": ", colon + 1)) {
    if (auto error = place(behind.substr(0, colon))) {
      error->message = behind.substr(colon + 2);
      return error;
    }
  }
  return {};
}

} // namespace

std::optional<LogError> first_error(std::string_view log) {
  // Some take the call of a function that is nowhere for a warning; what misses it then knows no lines.
  constexpr std::array<std::array<std::string_view, 2>, 2> marks{
      {{"error: ", ""}, {"warning: ", "implicit declaration of function "}}};
  for (const auto& [mark, message] : marks) {
    for (std::string_view rest = log; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      auto error = told_in(rest.substr(0, end), mark);
      if (error && error->message.starts_with(message)) {
        return error;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

std::optional<std::string> unresolved_function(std::string_view log) {
  constexpr std::string_view mark = "Unresolved extern function '";
  const std::size_t found = log.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view behind = log.substr(found + mark.size());
  return std::string(behind.substr(0, behind.find('\'')));
}

LogError follow_line_directives(std::string_view text, LogError error) {
  constexpr std::string_view directive = "#line ";
  std::uint64_t named = 0; // of the line at hand; 0 before the first directive
  std::string file;
  for (std::uint64_t line = 1; line < error.line && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = text.substr(0, end);
    const std::size_t quote = words.find('"');
    if (words.starts_with(directive) && quote != std::string_view::npos) {
      std::from_chars(words.data() + directive.size(), words.data() + words.size(), named);
      file = words.substr(quote + 1, words.rfind('"') - quote - 1);
    } else if (named != 0) {
      ++named;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (named != 0) {
    error.file = file;
    error.line = named;
  }
  return error;
}

} // namespace tidegate::device
