// What can be known of a document beyond its schema without a device: the faults that `plan`, `arena` and
// `run` would find.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/compiler/program_files.hpp>
#include <tidegate/compiler/warning.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/documents/planning_documents.hpp>

#include <string>
#include <vector>

namespace tidegate::commands {

// Everything up to the launch: names, kernels, arguments, sizes, cycles, files that are missing, hold
// something else, cannot be written or would be overwritten. `file` is the program's. What it most likely
// does not mean comes back where nothing is wrong.
Result<std::vector<compiler::Warning>> lint(const compiler::WaveProgram& program, const std::string& file,
                                            compiler::PathScope scope);

// Names, dependencies, cycles, and waves that no plan can hold.
Result<void> lint(documents::NamedWaveDag&& dag);

// Ids, lifetimes, alignments and sizes.
Result<void> lint(const documents::BufferLifetimes& lifetimes);

} // namespace tidegate::commands
