#include "command_model.hpp"

#include <tidegate/documents/catalogue.hpp>

#include <CLI/CLI.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::app {
namespace {

// The type name without the descriptions of checks, which CLI11 appends behind colons.
std::string type_name(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

bool mentions(std::string_view type, std::string_view word) {
  return type.find(word) != std::string_view::npos;
}

std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  if (mentions(type, "KIND")) {
    for (const documents::Document* document : documents::catalogue()) {
      choices.emplace_back(document->kind);
    }
  } else if (mentions(type, "|")) {
    std::istringstream names(type);
    for (std::string name; std::getline(names, name, '|');) {
      choices.push_back(name);
    }
  }
  return choices;
}

commands::OptionModel option_model(const CLI::Option& option) {
  commands::OptionModel model{.meaning = option.get_description()};
  for (const std::string& name : option.get_snames()) {
    model.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    model.names.push_back("--" + name);
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) {
    model.value = type_name(option);
    model.choices = choices_of(model.value);
    model.takes_file = mentions(model.value, "FILE");
  }
  return model;
}

commands::OptionModel positional_model(const CLI::Option& option) {
  commands::OptionModel model = option_model(option);
  if (mentions(model.value, "|")) {
    model.value = option.get_name(true); // SHELL reads better than bash|zsh|fish
  }
  if (!option.get_required() && !model.value.starts_with('[')) {
    model.value = '[' + model.value + ']';
  }
  return model;
}

} // namespace

commands::CommandModel model_of(const CLI::App& command) {
  commands::CommandModel model{.name = command.get_name(), .summary = command.get_description()};
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) {
      model.options.push_back(option_model(*option));
    } else if (option->get_positional()) {
      model.positionals.push_back(positional_model(*option));
    }
  }
  // A filter, even an empty one, asks for the subcommands that there are instead of those that were parsed.
  for (const CLI::App* subcommand : command.get_subcommands(std::function<bool(const CLI::App*)>())) {
    model.subcommands.push_back(model_of(*subcommand));
  }
  return model;
}

} // namespace tidegate::app
