// tidegate schema
#include "command_line.hpp"
#include <tidegate/commands/schema.hpp>

namespace tidegate::app {

void define_schema(CLI::App& command, Invocation& invocation) {
  struct Settings {
    std::string name;
    std::string output = "-";
    Format format = Format::json;
  };
  const auto settings = std::make_shared<Settings>();
  command.add_option("NAME", settings->name, "Document type; none lists them")
      ->type_name("KIND")
      ->option_text(positional_text);
  add_format(command, settings->format);
  add_output(command, settings->output);
  command.callback([&invocation, settings] {
    invocation.run = [settings] {
      const bool table = settings->format == Format::table;
      return commands::schema_text(settings->name, table).and_then([&](const std::string& text) {
        return commands::write_text(settings->output, text);
      });
    };
  });
}

} // namespace tidegate::app
