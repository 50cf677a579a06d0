// Algorithms of a program's own: their source.
#pragma once
#include "core/files.hpp"
#include "opencl_c/translation_unit.hpp"
#include "runtime/monitor.hpp"
#include "traversal/checks.hpp"
#include "traversal/memory.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/npy.hpp>

namespace tidegate::traversal {

struct OwnCode {
  std::string text;           // the preprocessed source, with #line directives, and definitions for kernels
  bool float_weights = false; // `along` takes a float
  opencl_c::TranslationUnit unit;
  std::vector<std::string> files; // that were read
};

ElementType element_type(graphs::OwnValue value);

// Reads the source of a program that brings its algorithm and checks its functions. Errors: those of files and sources,
// and kernel_source for a function that is missing, has other types or has no use, each with its place.
Result<OwnCode> read_own(const graphs::FrontierProgram& program, const std::string& folder, PathScope scope);

// sssp with distances of 64 bits, as an algorithm of a program's own: the program and its source.
graphs::FrontierProgram with_wide_distances(graphs::FrontierProgram program);
OwnCode wide_distances(const graphs::FrontierProgram& program);

// A kernel_source error at a function of the algorithm.
Error refused_at(const OwnCode& code, const opencl_c::Function& function, std::string message,
                 std::string fix);

// Makes an error in the algorithm's source, with its line, of a build failure that names it.
Error at_own_source(const OwnCode& code, Error build_failure);

// Errors: kernel_source if the graph's weights have another type than `along` takes.
Result<void> check_weights(const OwnCode& code, const graphs::Graph& graph);

// Reads the first value of each vertex; nothing if the program has no file of them. Error: bad_array.
Result<std::vector<std::byte>> read_initial(const graphs::FrontierProgram& program, const std::string& folder,
                                            std::uint32_t vertices);

} // namespace tidegate::traversal
