#include <tidegate/commands/completion.hpp>
#include <tidegate/commands/completion_parts.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tidegate::commands {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool share_a_name(const OptionModel& a, const OptionModel& b) {
  return std::ranges::any_of(a.names,
                             [&b](const std::string& name) { return std::ranges::count(b.names, name) > 0; });
}

void append_places(const CommandModel& command, const std::string& parent_path,
                   const std::vector<const OptionModel*>& inherited, std::vector<Place>& all) {
  Place place{.path = parent_path + command.name, .command = &command, .options = {}};
  for (const OptionModel& option : command.options) {
    place.options.push_back(&option);
  }
  const std::vector<const OptionModel*> own = place.options;
  for (const OptionModel* option : inherited) {
    if (std::ranges::none_of(own,
                             [option](const OptionModel* mine) { return share_a_name(*mine, *option); })) {
      place.options.push_back(option);
    }
  }
  all.push_back(place);
  for (const CommandModel& subcommand : command.subcommands) {
    append_places(subcommand, place.path + ' ', place.options, all);
  }
}

} // namespace

std::vector<Place> places(const CommandModel& root) {
  std::vector<Place> all;
  append_places(root, "", {}, all);
  return all;
}

bool repeats(const OptionModel& positional) {
  return positional.value.find("...") != std::string::npos;
}

bool names_then_files(const OptionModel& positional) {
  return repeats(positional) && positional.takes_file && !positional.choices.empty();
}

std::string_view without_brackets(std::string_view value) {
  const bool enclosed = value.starts_with('[') && value.find(']') == value.size() - 1;
  return enclosed ? value.substr(1, value.size() - 2) : value;
}

std::string identifier(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_word_character(c); }, '_');
  return name;
}

std::string backslashed(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string shell_quoted(std::string_view text) {
  return '\'' + replaced(text, "'", R"('\'')") + '\'';
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) {
      return result;
    }
    result += to;
    at = found + from.size();
  }
}

Result<std::string> completion_script(std::string_view shell, const CommandModel& root) {
  if (shell == "bash") {
    return bash_completion(root);
  }
  if (shell == "zsh") {
    return zsh_completion(root);
  }
  if (shell == "fish") {
    return fish_completion(root);
  }
  return tl::unexpected(Error{.code = ErrorCode::unknown_name,
                              .message = fmt::format("there is no completion for {}", in_quotes(shell)),
                              .fix = fmt::format("give {}", one_of(shell_names))});
}

} // namespace tidegate::commands
