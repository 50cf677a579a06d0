// tidegate check
#include "command_line.hpp"
#include "terminal.hpp"
#include <tidegate/commands/check.hpp>
#include <tidegate/documents/catalogue.hpp>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tidegate::app {
namespace {

// A mistyped document type looks like a file that does not exist, and standard input can be read once.
std::optional<Error> wrong_words(const commands::CheckRequest& request) {
  if (std::ranges::count(request.files, "-") > 1) {
    return Error{.code = ErrorCode::invalid_usage,
                 .message = "standard input can be checked once",
                 .fix = "give - once; with --stream each of its lines is a document"};
  }
  const std::string& first = request.files.front();
  const auto found = documents::find_document(first);
  if (!request.document && !found && found.error().nearest && ::access(first.c_str(), F_OK) != 0) {
    Error error = found.error();
    error.code = ErrorCode::invalid_usage;
    return error;
  }
  return {};
}

} // namespace

void define_check(CLI::App& command, Invocation& invocation) {
  struct Settings {
    std::vector<std::string> words;
    std::string output = "-";
    bool stream = false;
    Format format = Format::json;
  };
  const auto settings = std::make_shared<Settings>();
  command
      .add_option("FILES", settings->words,
                  "Documents to check; - or none is standard input. A type before them (see `tidegate "
                  "schema`) is that of all")
      ->type_name("[KIND] FILE...")
      ->option_text(positional_text);
  command.add_flag("--stream", settings->stream, "Each line of a file is a document");
  add_format(command, settings->format);
  add_output(command, settings->output);
  command.callback([&invocation, settings] {
    invocation.run = [&invocation, settings]() -> Result<ExitCode> {
      commands::CheckRequest request{.files = settings->words, .stream = settings->stream};
      if (!request.files.empty() && documents::find_document(request.files.front())) {
        request.document = request.files.front();
        request.files.erase(request.files.begin());
      }
      if (request.files.empty()) {
        request.files.emplace_back("-");
      }
      if (auto wrong = wrong_words(request); wrong) {
        return tl::unexpected(std::move(*wrong));
      }
      const documents::CheckReport report = commands::check(request);
      for (const documents::CheckedDocument& checked : report.documents) {
        if (checked.error) {
          print_error(*checked.error, invocation.errors_as_json);
        }
      }
      const bool colour = settings->output == "-" && use_colour(STDOUT_FILENO);
      const std::string text = settings->format == Format::table ? commands::check_table(report, colour)
                                                                 : documents::encode(report) + '\n';
      return commands::write_text(settings->output, text).map([&](ExitCode) {
        return commands::exit_code(report);
      });
    };
  });
}

} // namespace tidegate::app
