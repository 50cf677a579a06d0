// Outputs beside those of plain launches, and what a difference between them most likely means.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/host_contents.hpp>
#include <tidegate/run/run_report.hpp>

namespace tidegate::run {

// Compares the outputs byte for byte.
OutputParity compare_outputs(const ResolvedProgram& program, const HostContents& expected,
                             const HostContents& found);

// Why outputs differ, from whether each way repeats itself when it is run again: what does not is a race.
// Outputs that both ways repeat, and that lie within some thousand units in the last place of floats, were
// rounded differently.
DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats);

} // namespace tidegate::run
