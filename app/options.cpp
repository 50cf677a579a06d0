#include "app/command_line.hpp"
#include "core/json.hpp"
#include "core/table.hpp"

namespace tidegate::app {
namespace {

// Names of files that end so are of these formats, whatever wrote them. All others may hold anything.
constexpr std::array<std::string_view, 13> telling_endings{"json", "html", "htm", "svg",  "dot", "pdf", "png",
                                                           "jpg",  "jpeg", "gif", "webp", "ps",  "eps"};

std::string in_case(std::string text, int (*change)(int)) {
  std::ranges::transform(text, text.begin(), [change](unsigned char c) { return change(c); });
  return text;
}

} // namespace

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    names.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

Result<std::uint64_t> read_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count < least || count > most) {
    return tl::unexpected(
        Error{.message = fmt::format("{} is not a whole number from {} to {}", in_quotes(text), least,
                                     most == ~std::uint64_t{0} ? "2^64 - 1" : std::to_string(most))});
  }
  return count;
}

OptionModel written_file_option(std::string_view names, std::string& target, std::vector<std::string> endings,
                                std::string meaning, Endings endings_mean) {
  const auto read = [endings, endings_mean](const std::string& file) -> Result<std::string> {
    const std::string dotted = std::filesystem::path(file).extension().string();
    const std::string ending = in_case(dotted.substr(dotted.empty() ? 0 : 1), std::tolower);
    const bool tells_nothing =
        endings_mean == Endings::tell && std::ranges::find(telling_endings, ending) == telling_endings.end();
    if (tells_nothing || std::ranges::find(endings, ending) != endings.end()) {
      return file;
    }
    return tl::unexpected(Error{
        .message = fmt::format("cannot write {}; use a name ending in .{}",
                               dotted.empty() ? in_quotes(file) : in_case(dotted.substr(1), std::toupper),
                               fmt::join(endings, " or ."))});
  };
  OptionModel model = option(names, "FILE", target, read, std::move(meaning));
  model.takes_file = true;
  model.endings = std::move(endings);
  return model;
}

OptionModel number_option(std::string_view names, std::optional<std::uint32_t>& target, std::uint32_t least,
                          std::uint32_t most, std::string meaning) {
  const auto read = [least, most](const std::string& text) {
    return read_count(text, 0, most).map([least](std::uint64_t given) {
      return given < least ? std::nullopt : std::optional(static_cast<std::uint32_t>(given));
    });
  };
  return option(names, "N", target, read, std::move(meaning), least == 0 ? "" : "0");
}

OptionModel path_scope_option(PathScope& scope) {
  const auto read = [](const std::string&) -> Result<PathScope> { return PathScope::anywhere; };
  return option("--allow-outside", "", scope, read,
                "Let the paths of a program, and of #include, leave its folder");
}

OptionModel flag(std::string_view names, bool& given, std::string meaning) {
  const auto read = [](const std::string&) -> Result<bool> { return true; };
  return option(names, "", given, read, std::move(meaning));
}

OptionModel index_option(std::string_view names, std::function<void(std::size_t)> choose,
                         std::span<const std::string_view> choices, std::string meaning,
                         std::string no_value) {
  const auto take = [choose = std::move(choose), words = std::vector(choices.begin(), choices.end())](
                        const std::string& word) -> Result<void> {
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) {
      Error error{.message = fmt::format("{} is not one of {}", in_quotes(word), one_of(words))};
      error.nearest = nearest_name(word, words);
      return tl::unexpected(std::move(error));
    }
    choose(static_cast<std::size_t>(found - words.begin()));
    return {};
  };
  return {.names = names_in(names),
          .value = fmt::format("{}", fmt::join(choices, "|")),
          .choices = {choices.begin(), choices.end()},
          .meaning = std::move(meaning),
          .no_value = std::move(no_value),
          .take = take};
}

OptionModel settings_option(std::vector<OptionModel> settings, std::string meaning) {
  const auto take = [settings](const std::string& text) -> Result<void> {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string key = text.substr(0, equals);
    std::vector<std::string_view> known;
    for (const OptionModel& setting : settings) {
      known.push_back(setting.names.front());
      if (key == known.back()) {
        return equals == text.size()
                   ? tl::unexpected(Error{.message = fmt::format("{} has no value", in_quotes(key)),
                                          .fix = fmt::format("give --set {}={}", key, setting.value)})
                   : setting.take(text.substr(equals + 1)).map_error([&key](Error error) {
                       error.message = key + ": " + error.message;
                       return error;
                     });
      }
    }
    Error error{.message = fmt::format("there is no setting {}", in_quotes(key)),
                .fix = "`tidegate schema run_settings` lists the settings"};
    error.nearest = nearest_name(key, known);
    return tl::unexpected(std::move(error));
  };
  return {.names = {"--set"},
          .value = "KEY=VALUE",
          .repeats = true,
          .meaning = std::move(meaning),
          .settings = std::move(settings),
          .take = take};
}

OptionModel parameter_option(std::vector<documents::Parameter>& parameters) {
  const auto take = [&parameters](const std::string& text) -> Result<void> {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return tl::unexpected(Error{.message = fmt::format("{} has no value", in_quotes(text)),
                                  .fix = fmt::format("give --param {}=1024", text)});
    }
    TIDEGATE_TRY(const Number value, documents::read_number(text.substr(equals + 1)));
    parameters.insert(parameters.begin(), {text.substr(0, equals), value}); // the first of a name is taken
    return {};
  };
  return {.names = {"--param"},
          .value = "NAME=VALUE",
          .repeats = true,
          .meaning = "Set a parameter of the program",
          .take = take};
}

OptionModel positional(std::string value, OptionModel option) {
  option.names.clear();
  option.value = std::move(value);
  return option;
}

OptionModel format_option(std::string_view& format, std::span<const std::string_view> names,
                          std::string meaning) {
  return index_option(
      "--format", [&format, names](std::size_t index) { format = names[index]; }, names, std::move(meaning));
}

OptionModel output_option(std::string& output, std::vector<std::string> endings) {
  OptionModel option = written_file_option("-o,--output", output, std::move(endings),
                                           "Write to a file, which appears complete or not at all");
  option.endings.clear(); // a stream or a text may be called anything
  return option;
}

std::string_view picture_format(std::string_view format, const std::string& output) {
  return !format.empty() ? format : output.ends_with(".svg") ? "svg" : "json";
}

OptionModel stream_option(bool& stream) {
  return flag("--stream", stream, "Read newline-delimited JSON, write one line per line, in order");
}

OptionModel input_positional(std::string& input, const std::string& document) {
  return positional("[FILE]", file_option("", input, document + " to read; - or none is standard input"));
}

std::vector<std::string> document_kinds() {
  std::vector<std::string> kinds;
  for (const auto& [document, command] : documents::catalogue()) {
    kinds.emplace_back(document->kind);
  }
  return kinds;
}

} // namespace tidegate::app
