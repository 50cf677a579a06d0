// `tidegate init`: a first program for kernels.
#include "app/command_line.hpp"
#include "app/options.hpp"
#include "app/run.hpp"
#include "core/files.hpp"
#include "work/documents.hpp"
#include "work/draft.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::commands {

struct InitRequest {
  std::vector<std::string> sources; // paths
  std::string output = "-";         // path of the program, or - for standard output
  std::string options;              // for the compiler
};

struct Draft {
  std::string json;
  std::vector<engine::DraftNote> notes; // placeholders to fill in
};

// The program that engine::draft_program() makes; the paths in it are relative to the folder of the output,
// and no output of the program is there already.
Result<Draft> init(const InitRequest& request);

namespace {

// The path as a program in `folder` names the file.
std::string relative_path(const std::string& path, const std::string& folder) {
  return canonical_path(path).lexically_relative(canonical_path(folder)).string();
}

// Nothing that is there already is overwritten by a first run.
void keep_files(std::optional<std::string>& output, const std::string& folder) {
  if (!output) {
    return;
  }
  const std::filesystem::path name(*output);
  for (std::size_t i = 2; std::filesystem::exists(std::filesystem::path(folder) / *output); ++i) {
    output = fmt::format("{}_{}{}", name.stem().string(), i, name.extension().string());
  }
}

} // namespace

Result<Draft> init(const InitRequest& request) {
  engine::DraftRequest draft{
      .sources = {}, .folder = program_folder(request.output), .options = request.options};
  for (const std::string& source : request.sources) {
    draft.sources.push_back(relative_path(source, draft.folder));
  }
  std::set<std::string> assumed;
  TIDEGATE_TRY(engine::WaveProgram program, engine::draft_program(draft, engine::assume_macros(assumed)));
  for (auto& [name, buffer] : program.buffers) {
    keep_files(buffer.output, draft.folder);
  }
  for (auto& [name, image] : program.images) {
    keep_files(image.output, draft.folder);
  }
  for (auto& [name, op] : program.ops) {
    if (op.source.starts_with("..")) {
      op.note = "lies outside of the program's folder: run with --allow-outside, or move the program there";
    }
  }
  Draft result{.json = {}, .notes = engine::notes_of(program)};
  documents::encode(documents::DocumentOf<engine::WaveProgram>::document, &program, documents::Style::brief,
                    result.json);
  result.json += '\n';
  return result;
}

} // namespace tidegate::commands

namespace tidegate::app {

// tidegate init

namespace {

struct InitSettings {
  commands::InitRequest request;
  bool force = false;
  bool quiet = false;
};

// A program that somebody has filled in is not replaced by a draft.
Result<void> keep_program(const InitSettings& settings) {
  const std::string& output = settings.request.output;
  std::error_code unknown;
  if (settings.force || output == standard_stream || !std::filesystem::is_regular_file(output, unknown)) {
    return {};
  }
  return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                              .message = fmt::format("{} is there already", in_quotes(display_name(output))),
                              .fix = "name another file, or give --force to replace it"});
}

// Prints the placeholders to standard error; the program runs with them.
void print_notes(const commands::Draft& draft, const commands::InitRequest& request) {
  std::string text = fmt::format("tidegate: {} runs as it is; to fill in:\n",
                                 request.output == "-" ? "the program" : display_name(request.output));
  for (const engine::DraftNote& note : draft.notes) {
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
  TIDEGATE_CHECK(refuse_overwriting(files));
  TIDEGATE_CHECK(keep_program(settings));
  TIDEGATE_TRY(const auto draft, commands::init(request));
  auto written = commands::write_text(request.output, draft.json);
  if (written && !settings.quiet) {
    print_notes(draft, request);
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
                  flag("--force", settings->force, "Replace the file of -o"),
                  short_flag("-q", "--quiet", settings->quiet, "Print errors only, no list of placeholders"),
                  output_option(settings->request.output)},
      .positionals = {sources_positional(settings->request.sources)},
      .examples = {{"A first program, with the list of its placeholders:",
                    "tidegate init examples/programs/heat/heat.cl"},
                   {"It runs as it is:",
                    "tidegate init examples/programs/heat/heat.cl -o first.json && tidegate run first.json"}},
      .run = [settings] { return run_init(*settings); }};
}

} // namespace tidegate::app
