// `tidegate arena`: buffer lifetimes become offsets in one arena, as a document, a table or a picture.
#include "app/command_line.hpp"
#include "app/plan.hpp"
#include "core/table.hpp"

namespace tidegate::app {
namespace {

using planning::ArenaProof;

// The planner's error with the id of the buffer.
Error with_id(Error error, const documents::BufferLifetimes& lifetimes) {
  constexpr std::string_view buffers = "/buffers/";
  if (error.pointer->starts_with(buffers)) {
    const std::size_t index = std::stoull(error.pointer->substr(buffers.size()));
    error.message += fmt::format(" (id {})", describe(lifetimes.buffers[index].id));
  }
  return error;
}

// "3.9 KiB (4003 bytes)"
std::string exact_bytes(std::uint64_t count) {
  return count < 1024 ? bytes_text(count) : fmt::format("{} ({} bytes)", bytes_text(count), count);
}

// The number, or the name, which has quotes when it could be taken for a number.
std::string arena_label(const Identifier& id) {
  if (id.name() == nullptr) {
    return std::to_string(id.number());
  }
  return id.name()->find_first_not_of("0123456789") == std::string::npos ? in_quotes(*id.name())
                                                                         : shortened(*id.name());
}

// "arena of 3.9 KiB (4003 bytes) for 8 buffers, which is the least possible".
std::string arena_headline(const planning::ArenaPlan& plan) {
  const std::string_view verdict = plan.proof == ArenaProof::meets_bound ? "which is the least possible"
                                   : plan.proof == ArenaProof::exhausted_search
                                       ? "which an exhaustive search proves to be the least"
                                       : "not proved to be the least";
  return fmt::format("arena of {} for {}, {}", exact_bytes(plan.height_bytes),
                     plural(plan.offsets.size(), "buffer"), verdict);
}

} // namespace

std::string buffer_key(const Identifier& id) {
  return id.name() != nullptr ? "=" + *id.name() : "#" + std::to_string(id.number());
}

Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes) {
  ErrorList errors;
  BufferIndex index;
  index.reserve(lifetimes.buffers.size());
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const auto [found, is_new] = index.try_emplace(buffer_key(lifetimes.buffers[i].id), i);
    if (!is_new) {
      errors.add({.code = ErrorCode::duplicate_name,
                  .message = fmt::format("buffers {} and {} have the same id, {}", found->second, i,
                                         describe(lifetimes.buffers[i].id)),
                  .fix = "give each its own",
                  .pointer = fmt::format("/buffers/{}/id", i)});
    }
  }
  TIDEGATE_CHECK(errors.result());
  return index;
}

Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes) {
  const planning::ArenaProblem problem = arena_problem(lifetimes);
  ErrorList errors;
  for (std::size_t i = 0; i < problem.buffers.size() && !errors.full(); ++i) {
    if (auto error = planning::unsound(problem.buffers[i], i)) {
      errors.add(with_id(*std::move(error), lifetimes));
    }
  }
  TIDEGATE_CHECK(errors.result());
  return planning::check_arena_problem(problem).map_error( // of all buffers together
      [&lifetimes](Error error) { return with_id(std::move(error), lifetimes); });
}

planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes) {
  planning::ArenaProblem problem{.buffers = {}, .capacity_bytes = lifetimes.capacity_bytes};
  problem.buffers.reserve(lifetimes.buffers.size());
  for (const documents::NamedBuffer& buffer : lifetimes.buffers) {
    problem.buffers.push_back(buffer.lifetime);
  }
  return problem;
}

namespace {

// Errors of decoding, and of the planner with ids, a pointer and a fix.
Result<PlannedArena> arena_document(std::string_view json, std::optional<std::uint64_t> capacity_bytes) {
  TIDEGATE_TRY(auto lifetimes, documents::decode<documents::BufferLifetimes>(json));
  lifetimes.capacity_bytes = capacity_bytes ? capacity_bytes : lifetimes.capacity_bytes;
  TIDEGATE_CHECK(index_buffers(lifetimes));
  auto plan = planning::plan_arena(arena_problem(lifetimes), {});
  if (!plan) {
    TIDEGATE_CHECK(check_lifetimes(lifetimes)); // reports every fault
    return tl::unexpected(with_id(std::move(plan.error()), lifetimes));
  }
  return PlannedArena{.lifetimes = std::move(lifetimes), .plan = std::move(*plan)};
}

// Height, bound and proof, then the buffers from the bottom of the arena up.
std::string arena_table(const PlannedArena& planned, bool colour) {
  constexpr std::size_t most_rows = 100;
  const auto& [lifetimes, plan] = planned;
  std::vector<std::size_t> by_offset(plan.offsets.size());
  std::iota(by_offset.begin(), by_offset.end(), 0);
  std::ranges::stable_sort(by_offset, {}, [&plan = plan](std::size_t i) { return plan.offsets[i]; });

  TableRows rows{{"buffer", "offset", "size", "alive"}};
  for (const std::size_t i : by_offset) {
    if (rows.size() > most_rows) {
      rows.push_back({"…", "", "", plural(by_offset.size() - most_rows, "buffer") + " not shown"});
      break;
    }
    const auto& [id, lifetime] = lifetimes.buffers[i];
    rows.push_back({arena_label(id), std::to_string(plan.offsets[i]), std::to_string(lifetime.size),
                    fmt::format("[{}, {})", lifetime.lower, lifetime.upper)});
  }
  align_right(rows, {1, 2});

  return fmt::format("{}\nlower bound {}{}\n\n{}", bold(arena_headline(plan), colour),
                     exact_bytes(plan.lower_bound_bytes),
                     lifetimes.capacity_bytes ? ", capacity " + exact_bytes(*lifetimes.capacity_bytes) : "",
                     render_table(rows));
}

// The picture of an arena: time from left to right, offsets from bottom to top, a box for each buffer.
//
//   1.5 KiB +-----------------+
//           |   +-----+   +---+  offsets stand at the left, times below; the line of the lower bound is
//           |   |  b  |   | d |  dashed: where the top of the boxes meets it, no arena is lower
//         0 +-+-+-----+---+---+
//             0              7

} // namespace

std::string arena_svg(const PlannedArena& planned, const std::string& headline) {
  constexpr double left = 80, top = 70, width = 860, height = 490; // pixels of the arena
  const documents::BufferLifetimes& lifetimes = planned.lifetimes;
  const planning::ArenaPlan& plan = planned.plan;
  std::uint64_t begin = ~std::uint64_t{0}, end = 0; // of time
  for (const auto& [id, lifetime] : lifetimes.buffers) {
    begin = std::min(begin, lifetime.lower);
    end = std::max(end, lifetime.upper);
  }
  begin = std::min(begin, end);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const auto x = [&](std::uint64_t time) { return left + width * share(time - begin, end - begin); };
  const auto y = [&](std::uint64_t offset) { return top + height * (1 - share(offset, plan.height_bytes)); };
  Drawing picture;
  picture.begin(left + width + 20, top + height + 40);
  picture.add_text(left, 26, "head", headline);
  picture.add_text(
      left, 46, "soft",
      fmt::format("lower bound {}{}", bytes_text(plan.lower_bound_bytes),
                  lifetimes.capacity_bytes ? ", capacity " + bytes_text(*lifetimes.capacity_bytes) : ""));
  const auto step_of = [](std::uint64_t whole) { // a power of two, so that there are 3 to 6
    return std::bit_ceil(std::max<std::uint64_t>(whole / 5, 1));
  };
  const std::uint64_t bytes_step = step_of(plan.height_bytes), time_step = step_of(end - begin);
  for (std::uint64_t step = 0; step <= plan.height_bytes / bytes_step; ++step) {
    const double at = y(step * bytes_step);
    picture.add("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"group\"/>\n", left,
                left + width, at, at);
    picture.add_text(left - 8, at + 4, "soft", bytes_text(step * bytes_step), "end");
  }
  for (std::uint64_t step = (begin + time_step - 1) / time_step; step <= end / time_step; ++step) {
    picture.add_text(x(step * time_step), top + height + 18, "soft", std::to_string(step * time_step),
                     "middle");
  }
  picture.add_text(left + width / 2, top + height + 34, "soft", "time", "middle");
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const auto& [id, lifetime] = lifetimes.buffers[i];
    if (lifetime.size == 0) {
      continue; // takes no room
    }
    const std::string name = arena_label(id), size = bytes_text(lifetime.size);
    const double from = x(lifetime.lower), upper = y(plan.offsets[i] + lifetime.size);
    const double across = x(lifetime.upper) - from, high = y(plan.offsets[i]) - upper;
    picture.add(
        R"(<g><title>{}: {} at {}, alive in [{}, {})</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" fill-opacity="0.4" stroke="{}"/>)",
        xml_text(name), size, plan.offsets[i], lifetime.lower, lifetime.upper, from, upper, across, high,
        picture_colours[i % picture_colours.size()], picture_colours[i % picture_colours.size()]);
    // The label is as much of the name and the size as there is room for.
    const auto fits = [across](std::string_view label) {
      constexpr double character = 6.6;
      return static_cast<double>(character_count(label)) * character < across - 4;
    };
    constexpr double line_height = 13;
    const std::string both = name + "  " + size;
    if (const std::string label = fits(both)   ? both
                                  : fits(name) ? name
                                               : "";
        !label.empty() && high >= line_height) {
      picture.add_text(from + across / 2, upper + high / 2 + 4, "name", label, "middle");
    }
    picture.add("</g>\n");
  }
  picture.add(
      "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"bound\"><title>lower bound</title></line>\n</svg>\n",
      left, left + width, y(plan.lower_bound_bytes));
  return picture.svg;
}

namespace {

struct ArenaSettings {
  Route route;
  std::optional<std::uint64_t> capacity_bytes; // instead of the document's
};

Result<ExitCode> run_arena(ArenaSettings& settings) {
  Route& route = settings.route;
  return serve(route, [&](std::string_view json, documents::Style style, std::string& text) -> Result<void> {
    TIDEGATE_TRY(PlannedArena planned, arena_document(json, settings.capacity_bytes));
    if (route.format == "svg") {
      text += arena_svg(planned, arena_headline(planned.plan));
    } else if (route.format == "table") {
      text += arena_table(planned, use_colour(route.output));
    } else {
      documents::ArenaPlanDocument document{.plan = std::move(planned.plan), .buffers = {}};
      document.buffers.reserve(document.plan.offsets.size());
      for (std::size_t i = 0; i < document.plan.offsets.size(); ++i) {
        document.buffers.push_back(
            {.id = std::move(planned.lifetimes.buffers[i].id), .offset = document.plan.offsets[i]});
      }
      append(document, style, text);
    }
    return {};
  });
}

} // namespace

CommandModel arena_command() {
  const auto settings = std::make_shared<ArenaSettings>();
  return answering(
      settings->route, "Buffer lifetimes",
      {.options = {bytes_option("--capacity", settings->capacity_bytes,
                                "Capacity instead of the document's")},
       .examples = {{"A picture of the arena:", "tidegate arena examples/stereo_buffers.json -o arena.svg"},
                    {"Offsets that a checker verifies:",
                     "tidegate arena examples/stereo_buffers.json | tidegate check arena --lifetimes "
                     "examples/stereo_buffers.json -"}},
       .run = [settings] { return run_arena(*settings); }},
      true);
}

} // namespace tidegate::app
