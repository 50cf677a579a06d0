// tidegate arena
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/arena.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 3> arena_formats{"json", "table", "svg"};

struct ArenaSettings {
  commands::Route route;
  commands::ArenaOptions arena;
  std::optional<std::string_view> format;
};

Result<ExitCode> run_arena(ArenaSettings& settings) {
  const std::string_view format = picture_format(settings.format, settings.route.output, arena_formats);
  if (auto usable = refuse_stream(settings.route.stream, format); !usable) {
    return tl::unexpected(std::move(usable.error()));
  }
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
