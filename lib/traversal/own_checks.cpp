#include "traversal/own_checks.hpp"

#include "device/kernels.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

// kernels/frontier/own_check.cl tries the laws, which it numbers from 1, with values that occur.
struct Law {
  const char* function; // that breaks it
  std::string_view flaw;
};
constexpr std::array<Law, 7> laws{{
    {"along",
     "along is not monotone: the better of {a} and {b} leads to {other} over the weight {weight}, and {a} to {one}, which is not worse"},
    {"merge", "merge is not idempotent: it makes {one} of {a} and {a}"},
    {"merge", "merge is not commutative: it makes {one} of {b} and {a}, and {other} of {a} and {b}"},
    {"merge", "merge is not associative: {a}, {b} and {c} become {one} or {other}"},
    {"unreached", "merged with unreached(), {a} becomes {one}"},
    {"settled", "settled says that {a} is final, but with {b} it becomes {one}"},
    {"fires",
     "a vertex that fires at {one} does not at {other}, after a neighbour over the weight {weight} has fired"},
}};

} // namespace

device::Program build_own_checks(const device::Session& session, const TraversalPlan& plan,
                                 const std::filesystem::path& cache_folder) {
  return runtime::build_kernel(
             session, *plan.device,
             {.source = plan.own->text + device::kernel_source("frontier/own_check.cl"),
              .options = fmt::format("-cl-std=CL1.2 -Dtg_offset={} -DTG_WEIGHTS={}",
                                     offset_type(plan.shape.edges), static_cast<int>(plan.shape.weights)),
              .kernel = "tidegate_own_edges"},
             0, cache_folder)
      .program;
}

OwnChecks::OwnChecks(const device::Session& session, const TraversalPlan& plan, const ResidentGraph& resident,
                     device::Program built)
    : session_(session), plan_(plan), resident_(resident), shape_(plan.shape),
      fired_bytes_((std::uint64_t{shape_.vertices} + 1) * sizeof(std::uint32_t)), built_(std::move(built)),
      values_(session.allocate(value_bytes(shape_) + sizeof(std::uint64_t))), // more than 0 bytes
      fired_(session.allocate(fired_bytes_)), noted_(session.allocate(sizeof(Noted))) {}

template <class... Arguments>
void OwnChecks::launch(const char* kernel, std::uint64_t items, const Arguments&... arguments) const {
  launch_items(session_, session_.make_kernel(built_, kernel), items, arguments...);
}

void OwnChecks::begin() {
  session_.clear(fired_, fired_bytes_);
  launch("tidegate_own_begin", shape_.vertices, resident_.part(Part::offsets), resident_.part(Part::others),
         values_, shape_.vertices);
  launch("tidegate_own_sources", 1, resident_.part(Part::sources), values_,
         static_cast<std::uint32_t>(plan_.program.sources.size()));
}

Result<void> OwnChecks::check_laws() {
  if (shape_.vertices == 0) {
    return {};
  }
  begin();
  std::vector<std::uint64_t> words(std::size_t{law_trials} * flaw_words);
  const auto bytes = std::as_writable_bytes(std::span(words));
  const device::Buffer flaws = session_.allocate(bytes.size());
  launch("tidegate_own_laws", law_trials, resident_.part(Part::offsets), resident_.part(Part::neighbours),
         resident_.part(Part::weights), values_, resident_.part(Part::sources),
         static_cast<std::uint32_t>(plan_.program.sources.size()), flaws, shape_.vertices);
  session_.read(flaws, 0, bytes);
  for (std::size_t i = 0; i < words.size(); i += flaw_words) {
    if (words[i] != 0) {
      const auto text = [&](std::size_t at, ElementType type) {
        return element_text(type, reinterpret_cast<const std::byte*>(&words[i + at]));
      };
      const auto value = [&](std::size_t at) { return text(at, element_type(plan_.program.own->value)); };
      const Law& law = laws.at(words[i] - 1);
      const opencl_c::Function* at = plan_.own->unit.definition(law.function);
      return tl::unexpected(refused_at(
          *plan_.own, at != nullptr ? *at : *plan_.own->unit.definition("along"),
          fmt::format(
              fmt::runtime(law.flaw), fmt::arg("a", value(1)), fmt::arg("b", value(2)),
              fmt::arg("c", value(3)),
              fmt::arg("weight", text(4, plan_.own->float_weights ? ElementType::f32 : ElementType::u32)),
              fmt::arg("one", value(5)), fmt::arg("other", value(6))),
          "the result would depend on the order of the waves; the laws are in examples/graphs/README.md"));
    }
  }
  return {};
}

OwnChecks::Noted OwnChecks::pass_along(const device::Buffer& from) {
  session_.clear(noted_, sizeof(Noted));
  launch("tidegate_own_edges", shape_.vertices, resident_.part(Part::offsets),
         resident_.part(Part::neighbours), resident_.part(Part::weights), from, values_, fired_, noted_,
         shape_.vertices);
  Noted noted;
  session_.read(noted_, 0, std::as_writable_bytes(std::span(&noted, 1)));
  return noted;
}

std::optional<Error> OwnChecks::first_difference(const std::vector<std::uint32_t>& values,
                                                 std::string_view rule, std::string_view meaning) const {
  std::vector<std::uint32_t> expected(values.size());
  session_.read(values_, 0, std::as_writable_bytes(std::span(expected)));
  const auto at = std::ranges::mismatch(expected, values).in1 - expected.begin();
  if (at == std::ssize(expected)) {
    return {};
  }
  const ElementType type = element_type(plan_.program.own->value);
  const std::size_t vertex = static_cast<std::size_t>(at) * sizeof(std::uint32_t) / element_bytes(type);
  const auto text = [&](const std::vector<std::uint32_t>& of) {
    return element_text(type, std::as_bytes(std::span(of)).data() + vertex * element_bytes(type));
  };
  return Error{
      .code = ErrorCode::outputs_differ,
      .message = fmt::format("{}: the value of vertex {} is {}, and {} it is {}", rule, vertex, text(values),
                             meaning, text(expected)),
      .fix =
          "check that the algorithm's functions keep the laws in examples/graphs/README.md; if they do, report the "
          "program",
      .field = std::string(rule)};
}

std::optional<Error> OwnChecks::check_fix_point(const std::vector<std::uint32_t>& values,
                                                std::uint64_t& reached) {
  if (shape_.vertices == 0) {
    return {};
  }
  begin();
  reached = pass_along(resident_.part(Part::values)).reached;
  return first_difference(values, "fix_point", "from its first value and along its edges");
}

std::optional<Error> OwnChecks::check_by_plain_rounds(const std::vector<std::uint32_t>& values,
                                                      std::chrono::steady_clock::time_point deadline) {
  if (shape_.vertices == 0) {
    return {};
  }
  begin();
  while (pass_along(values_).changed != 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{.code = ErrorCode::wall_time_exceeded,
                   .message = "plain_rounds: they have not come to an end",
                   .fix = "give --max-wall-time more, or leave --verify out",
                   .field = "plain_rounds"};
    }
  }
  return first_difference(values, "plain_rounds", "by rounds over all edges");
}

} // namespace tidegate::traversal
