// The user's sources, built without changes, and build failures as errors in them.
#pragma once
#include "device/session.hpp"
#include "engine/job.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

class PlainPrograms {
public:
  // `instead` replaces the texts of some units. Throws device::Refused: argument_mismatch if a value and its parameter
  // differ in size; kernel_source with a place if the log names one; kernel_options; build_failure, with the log.
  PlainPrograms(const device::Session& session, const Job& program, const std::vector<std::uint32_t>& waves,
                const std::map<std::uint32_t, std::string>& instead = {});

  // Returns a new kernel object for an op.
  [[nodiscard]] device::Kernel kernel(std::uint32_t op) const;

private:
  const device::Session& session_;
  const Job& program_;
  std::map<std::uint32_t, device::Program> units_;
};

// Launches of kernels. On a CPU it waits for the first one of each op and work-group size, in which the driver compiles.
class Launcher {
public:
  explicit Launcher(const device::Session& session) : session_(session) {}

  // `before` names what ran before it, for errors; `event` may be null. Throws device::Refused.
  device::Status launch(const device::Kernel& kernel, const device::LaunchRange& range, std::uint32_t op,
                        const std::string& before, device::Event* event);

  [[nodiscard]] std::uint64_t compile_ns() const { return compile_ns_; } // in first launches so far

private:
  const device::Session& session_;
  std::set<std::pair<std::uint32_t, std::array<std::size_t, 3>>> compiled_; // op and work-group size
  std::uint64_t compile_ns_ = 0;
};

// Finds the source that breaks a generated kernel by compiling each source alone, as written, so that the
// location is the user's in any strategy. Returns the error of the first source that fails; if all compile,
// returns the failure unchanged, because the fault is not the user's.
Error blame_sources(const device::Session& session, const Job& program, Error build_failure);

} // namespace tidegate::engine
