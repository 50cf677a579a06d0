// Checks of a document beyond its schema that need no device: the faults that `plan`, `arena` and `run` would
// find. A document with errors of form is checked as far as it can be read.
#pragma once
#include "core/files.hpp"
#include "graph/program.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/documents.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::app {

// Decode a document. If its form has errors, those that lint() finds in the rest are added; a sound document is not
// linted. `files` selects checks of files.
Result<engine::WaveProgram> read_program(std::string_view json, const std::string& folder, PathScope scope,
                                         engine::FileCheck files = engine::FileCheck::none);
Result<documents::NamedWaveDag> read_wave_dag(std::string_view json);
Result<documents::BufferLifetimes> read_lifetimes(std::string_view json);
Result<graphs::FrontierProgram> read_frontier_program(std::string_view json);

// Checks everything up to the launch: names, kernels, arguments, sizes, cycles, files that are missing, hold
// something else, cannot be written or would be overwritten. `file` is the program's. Without errors, returns
// warnings of likely mistakes.
Result<std::vector<engine::Warning>> lint(const engine::WaveProgram& program, const std::string& file,
                                          PathScope scope);

// Checks names, dependencies, cycles, and waves that no plan can hold.
Result<void> lint(documents::NamedWaveDag&& dag, const UnreadLocations& unread = {});

// Checks ids, lifetimes, alignments and sizes.
Result<void> lint(const documents::BufferLifetimes& lifetimes, const UnreadLocations& unread = {});

// Checks the graph, sources, outputs and settings, and that no file lies outside the program's folder or would be overwritten.
Result<void> lint(const graphs::FrontierProgram& program, const std::string& file, PathScope scope);

} // namespace tidegate::app
