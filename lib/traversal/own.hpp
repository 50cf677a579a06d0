// Algorithms of a program's own: their source, and checks on the device that share no code with the traversal.
#pragma once
#include "core/files.hpp"
#include "opencl_c/translation_unit.hpp"
#include "runtime/monitor.hpp"
#include "traversal/checks.hpp"
#include "traversal/memory.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/npy.hpp>

namespace tidegate::traversal {

struct TraversalPlan;

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

// Makes an error in the algorithm's source, with its line, of a build failure that names it.
Error at_own_source(const OwnCode& code, Error build_failure);

// Errors: kernel_source if the graph's weights have another type than `along` takes.
Result<void> check_weights(const OwnCode& code, const graphs::Graph& graph);

// Reads the first value of each vertex; nothing if the program has no file of them. Error: bad_array.
Result<std::vector<std::byte>> read_initial(const graphs::FrontierProgram& program, const std::string& folder,
                                            std::uint32_t vertices);

// Builds the kernels of an algorithm's checks. Throws device::Refused.
device::Program build_own_checks(const device::Session& session, const TraversalPlan& plan,
                                 const std::filesystem::path& cache_folder);

// Checks of one traversal; all functions throw device::Refused. Its memory is the part "checks" of the plan.
class OwnChecks {
public:
  // All references outlive it.
  OwnChecks(const device::Session& session, const TraversalPlan& plan, const ResidentGraph& resident,
            device::Program built);

  // Tries the laws on values that occur. Error: kernel_source at a function that breaks one, with the values.
  Result<void> check_laws();

  // Passes the results along all edges once more: none may change. Counts the vertices with a value, or that have
  // fired.
  std::optional<Error> check_fix_point(const std::vector<std::uint32_t>& values, std::uint64_t& reached);

  // Starts again and passes values along all edges until none changes. Error: outputs_differ, or that this takes too
  // long.
  std::optional<Error> check_by_plain_rounds(const std::vector<std::uint32_t>& values,
                                             std::chrono::steady_clock::time_point deadline);

private:
  struct Noted {
    std::uint32_t changed = 0;
    std::uint32_t reached = 0;
  };

  void begin();
  Noted pass_along(const device::Buffer& from);
  [[nodiscard]] std::optional<Error> first_difference(const std::vector<std::uint32_t>& values,
                                                      std::string_view rule, std::string_view meaning) const;
  template <class... Arguments>
  void launch(const char* kernel, std::uint64_t items, const Arguments&... arguments) const;

  const device::Session& session_;
  const TraversalPlan& plan_;
  const ResidentGraph& resident_;
  const TraversalShape& shape_;
  const std::uint64_t fired_bytes_;
  device::Program built_;
  device::Buffer values_, fired_, noted_;
};

} // namespace tidegate::traversal
