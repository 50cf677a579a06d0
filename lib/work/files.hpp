// Files of a wave program: paths must stay in scope, and a run never overwrites its inputs.
//
// A program may come from an untrusted place, and its paths are read and written with the user's rights. They
// must stay in the program's folder, links and #include included, unless the user allows other folders.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::engine {

struct BufferInit;
struct Job;
struct ProgramBuffer;
struct WaveProgram;

// Checks of data files before a device is used: none; inputs are readable and outputs writable; input
// contents also match the program.
enum class FileCheck : std::uint8_t { none, reachable, contents };

// Checks the files of one buffer or image, Errors: cannot_read, cannot_write,
// bad_array.
Result<void> check_data_files(const ProgramBuffer& buffer, const std::optional<BufferInit>& init,
                              const std::string& folder, FileCheck check);

// Files that a run of the program reads and writes; `job` has its sources.
FileUses files_of(const WaveProgram& program, const Job& job);

} // namespace tidegate::engine
