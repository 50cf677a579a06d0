#include "app/arena.hpp"

#include "app/command_line.hpp"
#include "app/lint.hpp"
#include "app/options.hpp"
#include "app/terminal.hpp"
#include "core/table.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tidegate::commands {
namespace {

using planning::ArenaError;
using planning::ArenaErrorCode;
using planning::ArenaProof;

Error to_error(const ArenaError& refusal, const documents::BufferLifetimes& lifetimes,
               const ArenaOptions& options) {
  Error error;
  error.message = describe(refusal);
  const auto at_buffer = [&](std::string_view key) {
    error.pointer = fmt::format("/buffers/{}{}", refusal.buffer, key);
    error.message += fmt::format(" (id {})", describe(lifetimes.buffers[refusal.buffer].id));
  };
  const auto with_bytes = [&] {
    error.required_bytes = refusal.required_bytes;
    error.capacity_bytes = refusal.capacity_bytes;
    error.pointer = "/capacity_bytes";
  };
  switch (refusal.code) {
  case ArenaErrorCode::empty_lifetime:
    error.code = ErrorCode::empty_lifetime;
    error.fix = "give an upper end above the lower one, or leave the buffer out";
    error.field = std::string(refusal.field);
    at_buffer("/upper");
    break;
  case ArenaErrorCode::bad_alignment:
    error.code = ErrorCode::bad_alignment;
    error.fix = "give 1, 2, 4, 8 or another power of two";
    error.field = std::string(refusal.field);
    at_buffer("/alignment");
    break;
  case ArenaErrorCode::byte_count_overflow:
    error.code = ErrorCode::byte_count_overflow;
    error.fix = "check the sizes of the buffers";
    error.field = std::string(refusal.field);
    at_buffer("");
    break;
  case ArenaErrorCode::arena_over_capacity:
    error.code = ErrorCode::arena_over_capacity;
    error.fix = fmt::format("raise the capacity to at least {} bytes, or keep fewer buffers alive together",
                            refusal.required_bytes);
    with_bytes();
    break;
  case ArenaErrorCode::arena_search_exhausted:
    error.code = ErrorCode::arena_search_exhausted;
    // Effort and no node: the problem is too large to be searched at all.
    error.fix = refusal.best_height_bytes == 0 ? "raise --effort"
                : refusal.search_nodes == 0 && options.effort != 0
                    ? fmt::format("raise the capacity to {} bytes", refusal.best_height_bytes)
                    : fmt::format("raise --effort, or the capacity to {} bytes", refusal.best_height_bytes);
    error.best_height_bytes = refusal.best_height_bytes;
    with_bytes();
    break;
  }
  return error;
}

// "3.9 KiB (4003 bytes)"
std::string exact_bytes(std::uint64_t count) {
  return count < 1024 ? bytes_text(count) : fmt::format("{} ({} bytes)", bytes_text(count), count);
}

} // namespace

std::string arena_label(const Identifier& id) {
  if (id.name() == nullptr) {
    return std::to_string(id.number());
  }
  return id.name()->find_first_not_of("0123456789") == std::string::npos ? in_quotes(*id.name())
                                                                         : shortened(*id.name());
}

std::string arena_headline(const planning::ArenaPlan& plan) {
  const std::string_view verdict = plan.proof == ArenaProof::meets_bound ? "which is the least possible"
                                   : plan.proof == ArenaProof::exhausted_search
                                       ? "which an exhaustive search proves to be the least"
                                       : "not proved to be the least";
  return fmt::format("arena of {} for {}, {}", exact_bytes(plan.height_bytes),
                     plural(plan.offsets.size(), "buffer"), verdict);
}

std::string buffer_key(const Identifier& id) {
  return id.name() != nullptr ? "=" + *id.name() : "#" + std::to_string(id.number());
}

Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes, const UnreadPlaces& unread) {
  ErrorList errors;
  BufferIndex index;
  index.reserve(lifetimes.buffers.size());
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    if (!unread.empty() && unread.cover(fmt::format("/buffers/{}/id", i))) {
      continue;
    }
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

Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes, const UnreadPlaces& unread) {
  const planning::ArenaProblem problem = arena_problem(lifetimes);
  const auto sound = planning::check_arena_problem(problem);
  if (sound) {
    return {};
  }
  // Faults of single buffers come first; without any, the buffers together are too large.
  ErrorList errors;
  for (std::size_t i = 0; i < problem.buffers.size() && !errors.full(); ++i) {
    if (!unread.empty() && !unread.intact(fmt::format("/buffers/{}", i))) {
      errors.add(already_reported());
      continue;
    }
    if (auto single = planning::check_arena_problem({.buffers = {problem.buffers[i]}}); !single) {
      single.error().buffer = i;
      errors.add(to_error(single.error(), lifetimes, {}));
    }
  }
  TIDEGATE_CHECK(errors.result());
  return tl::unexpected(to_error(sound.error(), lifetimes, {}));
}

planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes) {
  planning::ArenaProblem problem{.buffers = {}, .capacity_bytes = lifetimes.capacity_bytes};
  problem.buffers.reserve(lifetimes.buffers.size());
  for (const documents::NamedBuffer& buffer : lifetimes.buffers) {
    problem.buffers.push_back(buffer.lifetime);
  }
  return problem;
}

Result<PlannedArena> arena_document(std::string_view json, const ArenaOptions& options) {
  TIDEGATE_TRY(auto lifetimes, read_lifetimes(json));
  if (options.capacity_bytes) {
    lifetimes.capacity_bytes = options.capacity_bytes;
  }
  TIDEGATE_CHECK(index_buffers(lifetimes));
  auto plan = planning::plan_arena(arena_problem(lifetimes),
                                   {.effort = options.effort, .threads = options.threads, .techniques = {}});
  if (!plan) {
    TIDEGATE_CHECK(check_lifetimes(lifetimes)); // reports every fault
    return tl::unexpected(to_error(plan.error(), lifetimes, options));
  }
  return PlannedArena{.lifetimes = std::move(lifetimes), .plan = std::move(*plan)};
}

Result<void> arena(std::string_view json, const ArenaOptions& options, documents::Style style,
                   std::string& answer) {
  TIDEGATE_TRY(auto planned, arena_document(json, options));
  const planning::ArenaPlan& plan = planned.plan;
  documents::ArenaPlanDocument document{.height_bytes = plan.height_bytes,
                                        .lower_bound_bytes = plan.lower_bound_bytes,
                                        .optimal = plan.optimal,
                                        .proof = plan.proof,
                                        .gave_up = plan.gave_up,
                                        .search_nodes = plan.search_nodes,
                                        .buffers = {}};
  document.buffers.reserve(plan.offsets.size());
  for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
    document.buffers.push_back({.id = std::move(planned.lifetimes.buffers[i].id), .offset = plan.offsets[i]});
  }
  documents::encode(documents::DocumentOf<documents::ArenaPlanDocument>::document, &document, style, answer);
  return {};
}

std::string arena_table(const PlannedArena& planned, bool colour) {
  constexpr std::size_t most_rows = 100;
  const auto& [lifetimes, plan] = planned;
  std::vector<std::size_t> by_offset(plan.offsets.size());
  for (std::size_t i = 0; i < by_offset.size(); ++i) {
    by_offset[i] = i;
  }
  std::ranges::stable_sort(by_offset, {}, [&plan = plan](std::size_t i) { return plan.offsets[i]; });

  std::vector<std::vector<std::string>> rows{{"buffer", "offset", "size", "alive"}};
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

  std::vector<std::vector<std::string>> figures;
  figures.push_back({"lower bound", exact_bytes(plan.lower_bound_bytes) + " alive at one moment"});
  if (lifetimes.capacity_bytes) {
    figures.push_back({"capacity", exact_bytes(*lifetimes.capacity_bytes)});
  }
  std::string searched = plan.search_nodes != 0 ? plural(plan.search_nodes, "node")
                         : plan.gave_up         ? "none"
                                                : "not needed";
  if (plan.gave_up) {
    searched += ", no more effort was allowed; --effort allows more";
  }
  figures.push_back({"search", std::move(searched)});
  return fmt::format("{}\n\n{}\n{}", bold(arena_headline(plan), colour), render_table(rows),
                     render_table(figures));
}

} // namespace tidegate::commands

namespace tidegate::app {

// tidegate arena

namespace {

constexpr std::array<std::string_view, 3> arena_formats{"json", "table", "svg"};

struct ArenaSettings {
  commands::Route route;
  commands::ArenaOptions arena;
  std::optional<std::string_view> format;
};

Result<ExitCode> run_arena(ArenaSettings& settings) {
  const std::string_view format = picture_format(settings.format, settings.route.output, arena_formats);
  TIDEGATE_CHECK(refuse_stream(settings.route.stream, format));
  hint_at_terminal(settings.route.input);
  // The threads of a stream take a problem each.
  settings.arena.threads = settings.route.stream ? 1 : std::max(std::thread::hardware_concurrency(), 1U);
  if (format != "json") {
    const bool colour = settings.route.output == "-" && use_colour(STDOUT_FILENO);
    return commands::serve_text(settings.route, [&](std::string_view json) {
      return commands::arena_document(json, settings.arena).map([&](const commands::PlannedArena& planned) {
        return format == "svg" ? commands::arena_picture(planned) : commands::arena_table(planned, colour);
      });
    });
  }
  const auto answer = [&options = settings.arena](std::string_view json, documents::Style style,
                                                  std::string& text) {
    return commands::arena(json, options, style, text);
  };
  return commands::serve(settings.route, [&] { return answer; });
}

} // namespace

CommandModel arena_command() {
  const auto settings = std::make_shared<ArenaSettings>();
  return {
      .options =
          {bytes_option("--capacity", settings->arena.capacity_bytes, "Capacity instead of the document's"),
           count_option("--effort", settings->arena.effort,
                        "Nodes of the exact search, 0 for none; equal effort, equal plan"),
           picture_option(settings->format, arena_formats,
                          "JSON for programs (default), a table for people, or a picture: time across, "
                          "offsets up; -o x.svg means that"),
           stream_option(settings->route.stream), output_option(settings->route.output, {"json", "svg"})},
      .positionals = {input_positional(settings->route.input, "Buffer lifetimes")},
      .examples = {{"A picture of the arena:", "tidegate arena examples/stereo_buffers.json -o arena.svg"},
                   {"Offsets that a checker proves:",
                    "tidegate arena examples/stereo_buffers.json | tidegate check arena --lifetimes "
                    "examples/stereo_buffers.json -"}},
      .run = [settings](bool) { return run_arena(*settings); }};
}

} // namespace tidegate::app
