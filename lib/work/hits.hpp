// Lists of hits: bounded lists that kernels and queue ops append to. To the engine a list is a buffer with a
// header, whose elements are in no order.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/translation_unit.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Defines TIDEGATE_HIT (kernels/wave/hits.cl) for the sources of a program with lists.
SourceFrame hits_frame();

// Makes the list at its place `pointer` in the program, still without a capacity.
ProgramBuffer resolve_hits(const std::string& name, const HitsSpec& spec, const std::string& folder,
                           const std::string& pointer);

// Numbers from which the policy derives capacities.
struct HitSources {
  std::uint32_t items = 0;        // tiles, and items of queues, of the whole run
  bool endless = false;           // the program repeats without a bound
  std::uint64_t memory_bytes = 0; // of everything but lists
  std::uint64_t budget_bytes = 0; // 0: none given
};

// Gives the list its capacity and memory. Errors: invalid_program for an endless program without a capacity; those
// of the policy.
Result<void> size_list(ProgramBuffer& list, const HitsSpec& spec, const HitSources& sources,
                       const policy::LaunchPolicy& policy);

// Checks that a kernel can append to the list through this parameter. Error: argument_mismatch.
Result<void> check_hits_parameter(const ProgramBuffer& list, const opencl_c::Parameter& parameter,
                                  const opencl_c::TranslationUnit& unit, const std::string& pointer);

// Returns why a queue op cannot append to the list through its output; empty if it can.
std::string hits_output_refused(const ProgramBuffer& list, const opencl_c::Parameter& output);

// Returns the program with room for the hits that a run found; nothing if a list that overflowed is not to grow.
std::optional<WaveProgram> grown(const WaveProgram& program, std::span<const HitsReport> hits);

} // namespace tidegate::engine
