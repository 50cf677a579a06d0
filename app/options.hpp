// Options that several commands share, and the kinds of values that an option may take.
#pragma once

#include <tidegate/commands/command_model.hpp>
#include <tidegate/commands/serve.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/run/program_files.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tidegate::app {

using commands::OptionModel;

enum class Format : std::uint8_t { json, table };

// Whatever was given, as it is, into a std::string or std::optional<std::string>.
template <class Text>
OptionModel text_option(std::string name, std::string value, Text& text, std::string meaning) {
  return {.names = {std::move(name)},
          .value = std::move(value),
          .meaning = std::move(meaning),
          .take = [&text](const std::string& given) -> Result<void> {
            text = given;
            return {};
          }};
}

template <class Text>
OptionModel file_option(std::string name, Text& path, std::string meaning) {
  OptionModel option = text_option(std::move(name), "FILE", path, std::move(meaning));
  option.takes_file = true;
  return option;
}

OptionModel flag(std::string name, bool& given, std::string meaning);

// One of a few names, by its index.
OptionModel choice_option(std::string name, std::function<void(std::size_t)> choose,
                          std::span<const std::string_view> names, std::string meaning);

// One of the names of an enumeration, in its order.
template <class Enumeration>
requires std::is_enum_v<Enumeration> OptionModel choice_option(std::string name, Enumeration& value,
                                                               std::span<const std::string_view> names,
                                                               std::string meaning) {
  return choice_option(
      std::move(name), [&value](std::size_t index) { value = static_cast<Enumeration>(index); }, names,
      std::move(meaning));
}
template <class Enumeration>
OptionModel choice_option(std::string name, std::optional<Enumeration>& value,
                          std::span<const std::string_view> names, std::string meaning) {
  return choice_option(
      std::move(name), [&value](std::size_t index) { value = static_cast<Enumeration>(index); }, names,
      std::move(meaning));
}

// A number of bytes, also as 64MiB or 1.5GB.
OptionModel bytes_option(std::string name, std::optional<std::uint64_t>& value, std::string meaning);

// A whole number.
OptionModel count_option(std::string name, std::uint64_t& value, std::string meaning);
OptionModel count_option(std::string name, std::optional<std::uint64_t>& value, std::string meaning);

// The option as a word without a name: "SHELL", or "[FILE]" if it may be left out.
OptionModel positional(std::string value, OptionModel option);

// What several commands take.
OptionModel format_option(Format& format);
OptionModel output_option(std::string& output);
OptionModel stream_option(bool& stream);
OptionModel input_positional(std::string& input, const std::string& document);

// --allow-outside, for what reads wave programs.
OptionModel path_scope_option(run::PathScope& scope);

// The names of all document types.
std::vector<std::string> document_kinds();

// A table or a picture is one answer, not a stream: invalid_usage.
Result<void> refuse_stream(bool stream, std::string_view format);

// A command that turns one document into another: FILE, --stream and -o.
commands::CommandModel document_command(std::string name, std::string summary, const std::string& document,
                                        commands::Answer answer);

} // namespace tidegate::app
