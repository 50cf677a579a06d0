#include <tidegate/commands/init.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/core/same_file.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/program_documents.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace tidegate::commands {
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
  compiler::DraftRequest draft{
      .sources = {}, .folder = program_folder(request.output), .options = request.options};
  for (const std::string& source : request.sources) {
    draft.sources.push_back(relative_path(source, draft.folder));
  }
  std::set<std::string> assumed;
  TIDEGATE_TRY(compiler::WaveProgram program,
               compiler::draft_program(draft, compiler::assume_macros(assumed)));
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
  Draft result{.json = {}, .notes = compiler::notes_of(program)};
  documents::encode(documents::DocumentOf<compiler::WaveProgram>::document, &program, documents::Style::brief,
                    result.json);
  result.json += '\n';
  return result;
}

} // namespace tidegate::commands
