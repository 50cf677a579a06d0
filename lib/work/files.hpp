// The files of a wave program: where they may lie, and that a run destroys none that it reads.
//
// A program may come from anywhere, and its paths say what is read and written in its user's name. They stay
// in the program's folder, also through links and #include, unless the user says otherwise.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string>

namespace tidegate::engine {

struct ProgramBuffer;
struct ResolvedProgram;

// Where the paths of a program document may lead.
enum class PathScope : std::uint8_t { folder, anywhere };

// outside_folder for a path out of the scope; `folder` is the program's.
Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope);

// What is asked of the files of buffers and images before there is a device: nothing; that inputs can be read
// and outputs written; that also the contents of inputs are as the program says.
enum class FileCheck : std::uint8_t { none, reachable, contents };

// Looks at the files of one buffer or image; `pointer` is its place in the program. Errors: cannot_read,
// cannot_write, bad_array.
Result<void> check_data_files(const ProgramBuffer& buffer, const std::string& folder,
                              const std::string& pointer, FileCheck check);

// What a run of the program reads and writes.
FileUses files_of(const ResolvedProgram& program);

// Refuses outputs of the program or of the command line that would replace what is read, or each other: see
// refuse_overwriting(). `files` are those of the command line.
Result<void> keep_inputs(const ResolvedProgram& program, FileUses files);

} // namespace tidegate::engine
