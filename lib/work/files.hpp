// Files of a wave program: paths must stay in scope, and a run never overwrites its inputs.
//
// A program may come from an untrusted place, and its paths are read and written with the user's rights. They
// must stay in the program's folder, links and #include included, unless the user allows other folders.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string>

namespace tidegate::engine {

struct ProgramBuffer;
struct ResolvedProgram;

// Folders that the paths of a program may lead to.
enum class PathScope : std::uint8_t { folder, anywhere };

// Error: outside_folder for a path out of the scope; `folder` is the program's.
Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope);

// Checks of data files before a device is used: none; inputs are readable and outputs writable; input
// contents also match the program.
enum class FileCheck : std::uint8_t { none, reachable, contents };

// Checks the files of one buffer or image, at its place `pointer` in the program. Errors: cannot_read,
// cannot_write, bad_array.
Result<void> check_data_files(const ProgramBuffer& buffer, const std::string& folder,
                              const std::string& pointer, FileCheck check);

// Files that a run of the program reads and writes.
FileUses files_of(const ResolvedProgram& program);

// Refuses outputs that would replace inputs or each other, of the program and of the command line (`files`):
// see refuse_overwriting().
Result<void> keep_inputs(const ResolvedProgram& program, FileUses files);

} // namespace tidegate::engine
