// Comparison of outputs with plain launches: counts, and the likely cause of a difference.
#include "../program_support.hpp"
#include "engine/proof.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
OutputParity compared(ElementType type, const std::vector<T>& expected, const std::vector<T>& found) {
  Job program = program_of(1, {expected.size() * sizeof(T)});
  program.buffers[0].type = type;
  program.buffers[0].count = expected.size();
  program.buffers[0].output = "x.npy";
  return compare_outputs(program, HostContents(BufferContents{bytes_of(expected)}),
                         HostContents(BufferContents{bytes_of(found)}));
}

} // namespace

TEST_CASE("the first difference, how many there are and how far floats are apart") {
  const OutputParity same = compared<float>(ElementType::f32, {1, 2}, {1, 2});
  CHECK(same.equal);
  CHECK(same.checked == 1);
  CHECK(!same.largest_difference_ulp);
  const float next = std::nextafter(2.0F, 3.0F);
  const OutputParity parity =
      compared<float>(ElementType::f32, {1, 2, 3}, {1, next, std::nextafter(3.0F, 0.0F)});
  CHECK(!parity.equal);
  CHECK(parity.first_difference->element == 1);
  CHECK(parity.first_difference->expected == "2");
  CHECK(parity.differing_elements == 2);
  CHECK(parity.largest_difference_ulp == 1);
  CHECK(compared<double>(ElementType::f64, {1}, {std::nextafter(1.0, 2.0)}).largest_difference_ulp == 1);
  CHECK(compared<std::uint16_t>(ElementType::f16, {0x3c00}, {0x3c05}).largest_difference_ulp == 5);
  // Across zero: the smallest numbers of both signs differ by two; 0 and -0 by none although their bits
  // differ.
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK(compared<float>(ElementType::f32, {-tiny}, {tiny}).largest_difference_ulp == 2);
  CHECK(compared<float>(ElementType::f32, {0.0F}, {-0.0F}).largest_difference_ulp == 0);
}

TEST_CASE("integers and what is not a number are not a matter of rounding") {
  CHECK(!compared<std::uint32_t>(ElementType::u32, {1}, {2}).largest_difference_ulp);
  CHECK(!compared<float>(ElementType::f32, {1}, {NAN}).largest_difference_ulp);
  CHECK(!compared<float>(ElementType::f32, {1, 1}, {INFINITY, 2}).largest_difference_ulp);
}

TEST_CASE("an output is within its tolerances, or the worst element says how far outside") {
  const auto compare = [](ElementType type, const auto& expected, const auto& found, double rtol,
                          double atol) {
    const ProgramBuffer buffer{.name = "x",
                               .type = type,
                               .count = expected.size(),
                               .expected = ExpectedOutput{.file = "ref.npy", .rtol = rtol, .atol = atol}};
    return compare_expected(buffer, bytes_of(expected), bytes_of(found));
  };
  using Floats = std::vector<float>;
  const Floats right{1, -200, NAN, INFINITY, 0.0F};
  CHECK(compare(ElementType::f32, right, Floats{1, -200, NAN, INFINITY, -0.0F}, 0, 0).equal);
  CHECK(!compare(ElementType::f32, right, right, 0, 0).worst);
  const ExpectedReport near =
      compare(ElementType::f32, right, Floats{1.5F, -201, NAN, INFINITY, 0.25F}, 0.0078125, 0.5);
  CHECK(near.equal);
  CHECK(near.worst->element == 0); // at its tolerance less 0.0078125, the others less 1.0625 and 0.25
  const ExpectedReport far =
      compare(ElementType::f32, right, Floats{1.5F, -202, NAN, INFINITY, 0.75F}, 0, 0.5);
  CHECK(!far.equal);
  CHECK(far.outside == 2);
  CHECK(far.elements == 5);
  CHECK(far.worst->element == 1);
  CHECK(far.worst->expected == "-200");
  CHECK(far.worst->found == "-202");
  for (const Floats& found : {Floats{NAN, -200, NAN, INFINITY, 0}, Floats{1, -200, 3, INFINITY, 0},
                              Floats{1, -200, NAN, -INFINITY, 0}, Floats{1, -200, NAN, 3, 0}}) {
    const ExpectedReport not_finite =
        compare(ElementType::f32, right, found, 1, 1e30); // no tolerance allows it
    CHECK(not_finite.outside == 1);
  }
  // Integers of 64 bits are not rounded.
  const std::vector<std::uint64_t> whole{~std::uint64_t{0}};
  CHECK(!compare(ElementType::u64, whole, std::vector{~std::uint64_t{0} - 1}, 0, 0).equal);
  CHECK(compare(ElementType::u64, whole, std::vector{~std::uint64_t{0} - 1}, 0, 1).equal);
}

TEST_CASE("what a difference most likely means") {
  const OutputParity close{.differing_elements = 1, .largest_difference_ulp = 3, .likely_cause = {}};
  const OutputParity far{.differing_elements = 1, .largest_difference_ulp = 1'000'000, .likely_cause = {}};
  CHECK(likely_cause(close, true, true) == DifferenceCause::rounding);
  CHECK(likely_cause(far, true, true) == DifferenceCause::unknown);
  CHECK(likely_cause({.differing_elements = 1}, true, true) == DifferenceCause::unknown);
  CHECK(likely_cause(close, true, false) == DifferenceCause::order);
  CHECK(likely_cause(close, false, true) == DifferenceCause::race);
}
