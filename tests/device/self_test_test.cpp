// The choices of the self-test, on a device whose kernels take as long as a test says.
#include "../stand_in.hpp"

namespace tidegate::device {
namespace {

// Returns the ordering that is chosen where a barrier takes so many nanoseconds by ordering.
std::optional<MemoryOrdering> chosen(const std::map<MemoryOrdering, double>& barrier_ns) {
  std::chrono::steady_clock::time_point now{};
  test::StandIn session;
  session.on_host = true;
  const auto take = [&now](double ns) { now += std::chrono::nanoseconds(static_cast<std::int64_t>(ns)); };
  for (const char* const name : {"litmus", "waves", "neighbours", "nothing", "alone_sum", "alone_most",
                                 "launch_pair", "persistent_pair"}) {
    session.kernels[name] = [&](const test::StandInLaunch&) { take(1000); };
  }
  session.kernels["barriers"] = [&](const test::StandInLaunch& launch) {
    const std::size_t at = launch.options.find("-DTG_ORDERING=") + std::string_view("-DTG_ORDERING=").size();
    const auto ordering = static_cast<MemoryOrdering>(launch.options.at(at) - '0');
    take(1000 + launch.value<std::uint32_t>(1) * barrier_ns.at(ordering));
  };
  return self_test({.type = DeviceType::cpu, .compute_units = 2}, session, [&now] { return now; }).ordering;
}

TEST_CASE(
    "noise does not choose the memory ordering: the first is taken unless another one is clearly faster") {
  using enum MemoryOrdering;
  CHECK(chosen({{c11, 1000}, {fence, 1000}, {classic, 1000}}) == c11);
  CHECK(chosen({{c11, 1000}, {fence, 950}, {classic, 900}}) == c11);
  CHECK(chosen({{c11, 1000}, {fence, 900}, {classic, 700}}) == classic);
  CHECK(chosen({{c11, 1000}, {fence, 700}, {classic, 650}}) == fence);
  CHECK(chosen({{c11, 1e6}, {fence, 1e6}, {classic, 1e6}}) == c11);
}

TEST_CASE("the litmus test has restrict where generated kernels have it") {
  for (const bool nvidia : {false, true}) {
    test::StandIn session; // its first launch ends the self-test, as it has no kernels
    const std::string extensions = nvidia ? "cl_nv_device_attribute_query" : "cl_khr_fp64";
    CHECK_THROWS_AS(self_test({.type = DeviceType::cpu, .compute_units = 2, .extensions = extensions},
                              session, std::chrono::steady_clock::now),
                    std::logic_error);
    REQUIRE(!session.sources->empty());
    CHECK(session.sources->front().find(nvidia ? "-DTG_RESTRICT=restrict\n" : "-DTG_RESTRICT=\n") !=
          std::string::npos);
  }
}

} // namespace
} // namespace tidegate::device
