// Compares canonical paths, so that links cannot lead out of the scope.
#include "work/files.hpp"

#include "core/files.hpp"
#include "engine/job.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

namespace tidegate::engine {

namespace {

Result<void> check_input(const ProgramBuffer& buffer, const std::string& path, FileCheck check) {
  std::error_code ignored;
  // Reading a pipe would consume its contents.
  auto checked = check == FileCheck::reachable || !std::filesystem::is_regular_file(path, ignored)
                     ? open_input(path).map([](const auto&) {})
                     : buffer.first().map([](const auto&) {});
  if (!checked && checked.error().code == ErrorCode::cannot_read) {
    checked.error().fix = fmt::format("name an .npy{} or raw file, relative to the program's folder",
                                      buffer.image ? ", .png" : "");
  }
  return checked;
}

} // namespace

Result<void> check_data_files(const ProgramBuffer& buffer, const std::optional<BufferInit>& init,
                              const std::string& folder, FileCheck check) {
  ErrorList errors;
  const auto at = [&](Result<void> checked, std::string_view key) {
    if (!checked) {
      checked.error().pointer = buffer.pointer + std::string(key);
    }
    errors.check(checked);
  };
  if (check != FileCheck::none && init && init->file) {
    at(check_input(buffer, path_in(folder, *init->file), check), "/init/file");
  }
  if (check != FileCheck::none && buffer.output) { // fails now instead of after the run
    at(Output::open(*buffer.output, FileKinds::no_named_pipes).map([](const Output&) {}), "/output");
  }
  return errors.result();
}

FileUses files_of(const WaveProgram& program, const Job& job) {
  FileUses files;
  for (const ProgramOp& op : job.ops) {
    files.inputs.push_back({job.units[op.unit].path, "the source of op " + in_quotes(op.name), {}});
  }
  for (const ProgramUnit& unit : job.units) {
    for (const std::string& file : unit.files) {
      files.inputs.push_back({file, "an included file", {}});
    }
  }
  for (const WaveSpec& wave : program.waves) {
    if (wave.queue && wave.queue->file) {
      files.inputs.push_back({path_in(job.folder, *wave.queue->file), "a file of work items", {}});
    }
  }
  const auto add = [&](const std::string& name, const auto& spec, std::string_view kind) {
    const std::string pointer = fmt::format("/{}s/{}", kind, pointer_token(name));
    if (spec.init && spec.init->file) {
      files.inputs.push_back({path_in(job.folder, *spec.init->file),
                              fmt::format("the input of {} {}", kind, in_quotes(name)),
                              pointer + "/init/file"});
    }
    if (spec.output) {
      files.outputs.push_back({path_in(job.folder, *spec.output),
                               fmt::format("the output of {} {}", kind, in_quotes(name)),
                               pointer + "/output"});
    }
  };
  for (const auto& [name, spec] : program.buffers) {
    add(name, spec, "buffer");
  }
  for (const auto& [name, spec] : program.images) {
    add(name, spec, "image");
  }
  return files;
}

} // namespace tidegate::engine
