// Checks of a program's own algorithm on the device, which share no code with the traversal.
#pragma once
#include "traversal/plan.hpp"

namespace tidegate::traversal {

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
