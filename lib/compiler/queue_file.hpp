// Files of work items: 16 bytes an item, or a JSON object a line.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

// By the ending of its name, .ndjson or .jsonl: one object a line, with op_handle, input_handle,
// output_handle and param in any order, all of them integers from 0 to 2^32 - 1; empty lines are left out.
// Otherwise four u32 an item, in the order of the machine (little-endian). bad_queue with the line, and
// errors of reading.
Result<std::vector<QueueItem>> read_queue_file(const std::string& path);

// The same of text that was read. `path` is for errors.
Result<std::vector<QueueItem>> parse_queue_lines(std::string_view text, const std::string& path);

} // namespace tidegate::compiler
