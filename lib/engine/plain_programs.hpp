// The user's sources, built without changes, and build failures as errors in them.
#pragma once
#include "device/session.hpp"
#include "engine/job.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

// Sets the location of a failure to the call of a function that the linker did not find, if its log names one.
void place_missing_function(const opencl_c::TranslationUnit& unit, Error& build_failure);

// Finds the source that breaks a generated kernel by compiling each source alone, as written, so that the
// location is the user's in any strategy. Returns the error of the first source that fails; if all compile,
// returns the failure unchanged, because the fault is not the user's.
Error blame_sources(const device::Session& session, const Job& program, Error build_failure);

} // namespace tidegate::engine
