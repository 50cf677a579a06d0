// Compares canonical paths, so that links cannot lead out of the scope.
#include "work/files.hpp"

#include "core/files.hpp"
#include "work/buffers.hpp"
#include "work/image_files.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

namespace tidegate::engine {

Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope) {
  if (scope == PathScope::anywhere) {
    return {};
  }
  const std::filesystem::path home = canonical_path(folder.empty() ? "." : folder);
  const std::filesystem::path file = canonical_path(path);
  if (is_inside(file, home)) {
    return {};
  }
  std::error_code ignored;
  const bool plain = std::filesystem::absolute(path, ignored).lexically_normal() == file;
  return tl::unexpected(
      Error{.code = ErrorCode::outside_folder,
            .message = fmt::format("{} {} outside the program's folder, {}", path,
                                   plain ? "is" : fmt::format("leads to {},", file.string()), home.string()),
            .fix = "keep what the program needs in its folder, or give --allow-outside"});
}

namespace {

Result<void> check_input(const ProgramBuffer& buffer, const std::string& folder, FileCheck check) {
  const std::string path = path_in(folder, *buffer.spec.init->file);
  std::error_code ignored;
  // Reading a pipe would consume its contents.
  auto checked = check == FileCheck::reachable || !std::filesystem::is_regular_file(path, ignored)
                     ? open_input(path).map([](const auto&) {})
                     : (buffer.image ? initial_image(buffer, folder) : initial_contents(buffer.spec, folder))
                           .map([](const auto&) {});
  if (!checked && checked.error().code == ErrorCode::cannot_read) {
    checked.error().fix = fmt::format("name an .npy{} or raw file, relative to the program's folder",
                                      buffer.image ? ", .png" : "");
  }
  return checked;
}

} // namespace

Result<void> check_data_files(const ProgramBuffer& buffer, const std::string& folder,
                              const std::string& pointer, FileCheck check) {
  ErrorList errors;
  const auto at = [&](Result<void> checked, std::string_view key) {
    if (!checked) {
      checked.error().pointer = pointer + std::string(key);
    }
    errors.check(checked);
  };
  if (check != FileCheck::none && buffer.spec.init && buffer.spec.init->file) {
    at(check_input(buffer, folder, check), "/init/file");
  }
  if (check != FileCheck::none && buffer.spec.output) { // fails now instead of after the run
    at(Output::open(path_in(folder, *buffer.spec.output), FileKinds::no_named_pipes).map([](const Output&) {
    }),
       "/output");
  }
  return errors.result();
}

FileUses files_of(const ResolvedProgram& program) {
  FileUses files;
  for (const ProgramOp& op : program.ops) {
    files.inputs.push_back({program.units[op.unit].path, "the source of op " + in_quotes(op.name), {}});
  }
  for (const ProgramUnit& unit : program.units) {
    for (const std::string& file : unit.files) {
      files.inputs.push_back({file, "an included file", {}});
    }
  }
  for (const ProgramWave& wave : program.waves) {
    if (wave.queue && !wave.queue->file.empty()) {
      files.inputs.push_back({wave.queue->file, "a file of work items", {}});
    }
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    const std::string kind = buffer.image ? "image" : "buffer";
    const std::string pointer = fmt::format("/{}s/{}", kind, pointer_token(buffer.name));
    if (buffer.spec.init && buffer.spec.init->file) {
      files.inputs.push_back({path_in(program.folder, *buffer.spec.init->file),
                              fmt::format("the input of {} {}", kind, in_quotes(buffer.name)),
                              pointer + "/init/file"});
    }
    if (buffer.spec.output) {
      files.outputs.push_back({path_in(program.folder, *buffer.spec.output),
                               fmt::format("the output of {} {}", kind, in_quotes(buffer.name)),
                               pointer + "/output"});
    }
  }
  return files;
}

Result<void> keep_inputs(const ResolvedProgram& program, FileUses files) {
  FileUses of_program = files_of(program);
  std::ranges::move(of_program.inputs, std::back_inserter(files.inputs));
  std::ranges::move(of_program.outputs, std::back_inserter(files.outputs));
  return refuse_overwriting(files);
}

} // namespace tidegate::engine
