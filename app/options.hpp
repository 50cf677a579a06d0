// Options that several commands share, and the kinds of values that an option may take.
#pragma once
#include "app/command_line.hpp"
#include "app/serve.hpp"
#include "core/duration.hpp"

namespace tidegate::app {

// Makes an option that sets `target`, which may be a std::optional, to `read` of the given text. Help texts
// call the text `value`.
template <class Target, class Read>
OptionModel option(std::string name, std::string value, Target& target, Read read, std::string meaning) {
  OptionModel model;
  model.names.push_back(std::move(name));
  model.value = std::move(value);
  model.meaning = std::move(meaning);
  model.take = [&target, read](const std::string& text) -> Result<void> {
    return read(text).map([&target](auto&& given) { target = std::move(given); });
  };
  return model;
}

Result<std::string> read_text(const std::string& text); // as it is
Result<std::uint64_t> read_count(const std::string& text, std::uint64_t least = 0,
                                 std::uint64_t most = ~std::uint64_t{0}); // a whole number
Result<std::uint64_t> read_bytes(const std::string& text);                // also 64MiB or 1.5GB

template <class Target>
OptionModel text_option(std::string name, std::string value, Target& target, std::string meaning) {
  return option(std::move(name), std::move(value), target, read_text, std::move(meaning));
}
template <class Target>
OptionModel file_option(std::string name, Target& target, std::string meaning) {
  OptionModel file = text_option(std::move(name), "FILE", target, std::move(meaning));
  file.takes_file = true;
  return file;
}
// What the name of a written file says: its ending chooses the format, or only must not be that of another
// one: run.pdf that is no PDF helps no one.
enum class Endings : std::uint8_t { tell, choose };
// A file that is written. `endings` are those of the right formats, without the dot.
OptionModel written_file_option(std::string name, std::string& target, std::vector<std::string_view> endings,
                                std::string meaning, Endings endings_mean = Endings::tell);
template <class Target>
OptionModel count_option(std::string name, Target& target, std::string meaning) {
  const auto read = [](const std::string& text) { return read_count(text); };
  return option(std::move(name), "N", target, read, std::move(meaning));
}
// A number of at most `most`. One below `least` leaves the choice to tidegate.
OptionModel number_option(std::string name, std::optional<std::uint32_t>& target, std::uint32_t least,
                          std::uint32_t most, std::string meaning);
template <class Target>
OptionModel bytes_option(std::string name, Target& target, std::string meaning) {
  return option(std::move(name), "BYTES", target, read_bytes, std::move(meaning));
}
// Takes 10s, 2m or 150ms, or a plain number of `unit_ns`; the target has nanoseconds.
template <class Target>
OptionModel duration_option(std::string name, Target& target_ns, std::uint64_t unit_ns, std::string meaning) {
  const auto read = [unit_ns](const std::string& text) { return parse_duration(text, unit_ns); };
  return option(std::move(name), "TIME", target_ns, read, std::move(meaning));
}
template <class Target>
OptionModel device_option(Target& target, std::string meaning) {
  OptionModel device = text_option("--device", "SEL", target, std::move(meaning));
  device.choices = {"cpu", "gpu"};
  return device;
}
OptionModel flag(std::string name, bool& given, std::string meaning);
OptionModel short_flag(std::string letter, std::string name, bool& given, std::string meaning);

// Takes one of a few names, by its index.
OptionModel index_option(std::string name, std::function<void(std::size_t)> choose,
                         std::span<const std::string_view> names, std::string meaning);

inline constexpr std::array<std::string_view, 2> yes_no_names{"yes", "no"};

template <class Target>
OptionModel switch_option(std::string name, Target& on, std::string meaning) {
  return index_option(
      std::move(name), [&on](std::size_t index) { on = index == 0; }, yes_no_names, std::move(meaning));
}

// Takes one of the names of an enumeration, in its order.
template <class Target>
OptionModel choice_option(std::string name, Target& target, std::span<const std::string_view> names,
                          std::string meaning) {
  using Enumeration = typename decltype(std::optional(target))::value_type;
  const auto choose = [&target](std::size_t index) { target = static_cast<Enumeration>(index); };
  return index_option(std::move(name), choose, names, std::move(meaning));
}

// --set: KEY=VALUE for one of these, as often as wanted.
OptionModel settings_option(std::vector<OptionModel> settings, std::string meaning);

// Returns the option as a word without a name: "SHELL", or "[FILE]" if it may be left out.
OptionModel positional(std::string value, OptionModel option);

// Options that several commands share.
// Takes words that name files, "FILE..." or "[KIND] FILE...", all of which go to `files`.
OptionModel files_positional(std::string value, std::vector<std::string>& files, std::string meaning);

// --format; `meaning` explains the names.
inline constexpr std::array<std::string_view, 2> json_or_table{"json", "table"};
OptionModel
format_option(std::string_view& format, std::span<const std::string_view> names = json_or_table,
              std::string meaning = "JSON or a table for people (default: a table on a terminal)");
inline constexpr std::string_view json_by_default = "JSON for programs (default) or a table for people";
// Returns the format of a command that draws: the given one, else that of `-o x.svg`, else json.
std::string_view picture_format(std::string_view given, const std::string& output);
// -o; `endings` as in written_file_option().
OptionModel output_option(std::string& output, std::vector<std::string_view> endings = {"json"});

OptionModel stream_option(bool& stream);
OptionModel input_positional(std::string& input, const std::string& document);

// --param NAME=VALUE, as often as wanted; the last value of a name counts.
OptionModel parameter_option(std::vector<documents::Parameter>& parameters);

// --allow-outside, for commands that read wave programs.
OptionModel path_scope_option(PathScope& scope);

// Returns the names of all document types.
std::vector<std::string> document_kinds();

// Returns a command that turns one document into another: FILE, --format, --stream and -o.
CommandModel document_command(std::string name, std::string summary, const std::string& document,
                              CommandExample example, Answer answer);

} // namespace tidegate::app
