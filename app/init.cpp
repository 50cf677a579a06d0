// `tidegate init`: writes a first program for given kernels.
#include "app/run.hpp"
#include "work/draft.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

struct InitSettings {
  std::vector<std::string> sources; // paths
  std::string output = "-";         // path of the program, or - for standard output
  std::string options;              // for the compiler
  bool force = false;
};

// Renames an output whose file exists, so that the first run of the program overwrites nothing.
void keep_files(std::optional<std::string>& output, const std::string& folder) {
  if (!output) {
    return;
  }
  const std::filesystem::path name(*output);
  for (std::size_t i = 2; std::filesystem::exists(std::filesystem::path(folder) / *output); ++i) {
    output = fmt::format("{}_{}{}", name.stem().string(), i, name.extension().string());
  }
}

// Returns the JSON of engine::draft_program(), with paths relative to the folder of -o and with names of outputs that do not
// exist yet.
Result<std::string> draft(const InitSettings& settings) {
  engine::DraftRequest request{
      .sources = {}, .folder = program_folder(settings.output), .options = settings.options};
  for (const std::string& source : settings.sources) {
    request.sources.push_back(
        canonical_path(source).lexically_relative(canonical_path(request.folder)).string());
  }
  std::set<std::string> assumed;
  TIDEGATE_TRY(engine::WaveProgram program, engine::draft_program(request, engine::assume_macros(assumed)));
  const auto keep_all = [&request](auto& named) {
    for (auto& [name, each] : named) {
      keep_files(each.output, request.folder);
    }
  };
  keep_all(program.buffers);
  keep_all(program.images);
  keep_all(program.hits);
  for (auto& [name, op] : program.ops) {
    if (op.source.starts_with("..")) {
      op.note = "lies outside of the program's folder: run with --allow-outside, or move the program there";
    }
  }
  return documents::encode(program, documents::Style::brief) + '\n';
}

// Prints the placeholders to standard error: the notes of all parts.
void print_notes(const std::string& draft, const std::string& output) {
  std::string text = fmt::format("tidegate: {} is a draft; to fill in:\n",
                                 output == standard_stream ? "the program" : display_name(output));
  const auto values = nlohmann::ordered_json::parse(draft).flatten();
  for (const auto& [pointer, value] : values.items()) {
    if (pointer.ends_with("/note") && pointer != "/note" && value.is_string()) {
      text += fmt::format("  {}: {}\n", printable(pointer.substr(0, pointer.rfind('/'))),
                          printable(value.get<std::string>()));
    }
  }
  std::fputs(text.c_str(), stderr);
}

Result<ExitCode> run_init(const InitSettings& settings) {
  if (std::ranges::find(settings.sources, standard_stream) != settings.sources.end()) {
    return misuse("kernels cannot come from standard input: the program names their file",
                  "save them in a file of OpenCL C");
  }
  FileUses files{.inputs = {}, .outputs = {{settings.output, "-o", {}}}};
  for (const std::string& source : settings.sources) {
    files.inputs.push_back({source, "a source", {}});
  }
  TIDEGATE_CHECK(refuse_overwriting(files));
  std::error_code unknown;
  if (!settings.force && settings.output != standard_stream &&
      std::filesystem::is_regular_file(settings.output, unknown)) { // someone may have filled it in
    return misuse(fmt::format("{} is there already", in_quotes(display_name(settings.output))),
                  "name another file, or give --force to replace it");
  }
  TIDEGATE_TRY(const std::string drafted, draft(settings));
  auto written = write_text(settings.output, drafted);
  if (written && !reporting.quiet) {
    print_notes(drafted, settings.output);
  }
  return written;
}

} // namespace

CommandModel init_command() {
  const auto settings = std::make_shared<InitSettings>();
  return {
      .options = {option("--options", as_text("TEXT"), settings->options,
                         "Compiler options for the kernels, as for clBuildProgram"),
                  flag("--force", settings->force, "Replace the file of -o"),
                  output_option(settings->output)},
      .positionals = {option("", as_file("KERNELS..."), settings->sources,
                             "OpenCL C files; each of their kernels becomes a wave")},
      .examples = {{"A first program, with the list of its placeholders:",
                    "tidegate init examples/programs/heat/heat.cl"},
                   {"Fill it in, and run it:",
                    "tidegate init examples/programs/heat/heat.cl -o first.json && tidegate run first.json"}},
      .run = [settings] { return run_init(*settings); }};
}

} // namespace tidegate::app
