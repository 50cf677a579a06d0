#include <tidegate/compiler/buffer_files.hpp>
#include <tidegate/compiler/program_files.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

namespace tidegate::compiler {

Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope) {
  if (scope == PathScope::anywhere) {
    return {};
  }
  const std::filesystem::path home = canonical_path(folder.empty() ? "." : folder);
  const std::filesystem::path file = canonical_path(path);
  if (lies_inside(file, home)) {
    return {};
  }
  std::error_code none;
  const bool plain = std::filesystem::absolute(path, none).lexically_normal() == file;
  return tl::unexpected(Error{
      .code = ErrorCode::outside_folder,
      .message = fmt::format("{} {} outside the program's folder, {}", path,
                             plain ? "lies" : fmt::format("leads to {},", file.string()), home.string()),
      .fix = "keep what the program needs in its folder, or give --allow-outside"});
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
  for (const ProgramBuffer& buffer : program.buffers) {
    const std::string kind = buffer.image ? "image" : "buffer";
    const std::string pointer = fmt::format("/{}s/{}", kind, pointer_token(buffer.name));
    if (buffer.spec.init && buffer.spec.init->file) {
      files.inputs.push_back({beside(program.folder, *buffer.spec.init->file),
                              fmt::format("the input of {} {}", kind, in_quotes(buffer.name)),
                              pointer + "/init/file"});
    }
    if (buffer.spec.output) {
      files.outputs.push_back({beside(program.folder, *buffer.spec.output),
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

} // namespace tidegate::compiler
