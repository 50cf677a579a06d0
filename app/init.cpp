// tidegate init
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/init.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace tidegate::app {
namespace {

struct InitSettings {
  commands::InitRequest request;
  bool quiet = false;
};

// What the program does not know, on standard error: the program itself runs as it is.
void print_notes(const commands::Draft& draft, const commands::InitRequest& request) {
  std::string text = fmt::format("tidegate: {} runs as it is; to fill in:\n",
                                 request.output == "-" ? "the program" : display_name(request.output));
  for (const compiler::DraftNote& note : draft.notes) {
    text += fmt::format("  {}: {}\n", printable(note.pointer), printable(note.text));
  }
  std::fputs(text.c_str(), stderr);
}

Result<ExitCode> run_init(const InitSettings& settings) {
  const commands::InitRequest& request = settings.request;
  FileUses files{.inputs = {}, .outputs = {{request.output, "-o", {}}}};
  for (const std::string& source : request.sources) {
    files.inputs.push_back({source, "a source", {}});
  }
  if (auto kept = refuse_overwriting(files); !kept) {
    return tl::unexpected(std::move(kept.error()));
  }
  const auto draft = commands::init(request);
  if (!draft) {
    return tl::unexpected(draft.error());
  }
  auto written = commands::write_text(request.output, draft->json);
  if (written && !settings.quiet) {
    print_notes(*draft, request);
  }
  return written;
}

OptionModel sources_positional(std::vector<std::string>& sources) {
  return {.value = "KERNELS...",
          .takes_file = true,
          .meaning = "OpenCL C files; each of their kernels becomes a wave, and their functions that return "
                     "TIDEGATE_DONE, TIDEGATE_REQUEUE or TIDEGATE_FAULT become ops of a queue",
          .take = [&sources](const std::string& word) -> Result<void> {
            sources.push_back(word);
            return {};
          }};
}

} // namespace

CommandModel init_command() {
  const auto settings = std::make_shared<InitSettings>();
  return {
      .options = {text_option("--options", "TEXT", settings->request.options,
                              "Compiler options for the kernels, as for clBuildProgram"),
                  short_flag("-q", "--quiet", settings->quiet,
                             "Tell nothing but errors: no list of what is made up"),
                  output_option(settings->request.output)},
      .positionals = {sources_positional(settings->request.sources)},
      .examples = {{"A first program, and what is made up in it:",
                    "tidegate init examples/programs/heat/heat.cl"},
                   {"It runs as it is:",
                    "tidegate init examples/programs/heat/heat.cl -o first.json && tidegate run first.json"}},
      .run = [settings](bool) { return run_init(*settings); }};
}

} // namespace tidegate::app
