// Checks of a document beyond its schema that need no device: the faults that `plan`, `arena` and `run` would
// find.
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

// Checks everything up to the launch: names, kernels, arguments, sizes, cycles, files that are missing, hold
// something else, cannot be written or would be overwritten. `file` is the program's. Without errors, returns
// warnings of likely mistakes.
Result<std::vector<engine::Warning>> lint(const engine::WaveProgram& program, const std::string& file,
                                          PathScope scope);

// Checks names, dependencies, cycles, and waves that no plan can hold.
Result<void> lint(documents::NamedWaveDag&& dag);

// Checks ids, lifetimes, alignments and sizes.
Result<void> lint(const documents::BufferLifetimes& lifetimes);

// Checks the graph, sources, outputs and settings, and that no file lies outside the program's folder or would be overwritten.
Result<void> lint(const graphs::FrontierProgram& program, const std::string& file, PathScope scope);

} // namespace tidegate::app
