// tidegate schema
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/schema.hpp>

#include <memory>
#include <utility>

namespace tidegate::app {

CommandModel schema_command() {
  struct Settings {
    std::string name;
    std::string output = "-";
    Format format = Format::json;
  };
  const auto settings = std::make_shared<Settings>();
  OptionModel name = text_option("", "", settings->name, "Document type; none lists them");
  name.choices = document_kinds();
  return {
      .options = {format_option(settings->format), output_option(settings->output)},
      .positionals = {positional("[NAME]", std::move(name))},
      .examples = {{"Everything that may stand in a program:", "tidegate schema wave_program --format table"},
                   {"For an editor that completes and checks:",
                    "tidegate schema wave_program -o program.schema.json"}},
      .run = [settings](bool) {
        const bool table = settings->format == Format::table;
        return commands::schema_text(settings->name, table).and_then([&](const std::string& text) {
          return commands::write_text(settings->output, text);
        });
      }};
}

} // namespace tidegate::app
