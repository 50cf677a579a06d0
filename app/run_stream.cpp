// `tidegate run --stream`: reads one request per line and writes one report per line. All requests share one session
// with the device; programs, inputs and graphs that a request leaves there serve the next ones (engine/device_memory.hpp).
#include "app/documents.hpp"
#include "app/run.hpp"
#include "core/interrupt.hpp"
#include "device/isolation.hpp"
#include "traversal/documents.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tidegate::app {
namespace {

using documents::RunRequest;
using documents::Style;
using nlohmann::ordered_json;

// Sets the value at an RFC 6901 pointer. The pointer names an existing value, or a new key of an existing object other than
// the parameters.
Result<void> replace(ordered_json& program, const std::string& place, const ordered_json& value) {
  try {
    const ordered_json::json_pointer at(place);
    const auto parent = at.parent_pointer();
    const bool may_grow = parent.to_string() != "/parameters" && program.at(parent).is_object();
    if (!at.empty() && (may_grow || program.contains(at))) {
      program[at] = value;
      return {};
    }
  } catch (const ordered_json::exception&) { // not a pointer, or it names nothing
  }
  return failure(ErrorCode::unknown_name, fmt::format("the program has no {}", in_quotes(place)),
                 R"(give the place of a value, such as "/buffers/x/init/random/seed")",
                 "/set/" + pointer_token(place));
}

// Sets run.json to the text of the request's program, with the values of `set` in the request, which is a line of JSON.
Result<void> read_program_of(const RunRequest& request, std::string_view line, Run& run) {
  run.program = request.program.value_or(run.program);
  if (run.program == standard_stream) {
    return tl::unexpected(
        Error{.code = ErrorCode::missing_key,
              .message = "the request names no program, and the command line does not either",
              .fix = R"(give {"program": "program.json"}, or run --stream PROGRAM)",
              .field = "program"});
  }
  TIDEGATE_CHECK(read_text(run));
  if (request.set.empty()) {
    return {};
  }
  // Refuses an invalid file before changes are applied.
  const auto at = [&](Error error) { return at_program(std::move(error), run); };
  if (is_frontier_program(run.json)) {
    TIDEGATE_CHECK(documents::decode<graphs::FrontierProgram>(run.json).map_error(at));
  } else {
    TIDEGATE_CHECK(documents::decode<engine::WaveProgram>(run.json).map_error(at));
  }
  run.changed = true;
  ordered_json changed = ordered_json::parse(run.json);
  const ordered_json whole = ordered_json::parse(line);
  for (const auto& [place, value] : whole.at("set").items()) {
    TIDEGATE_CHECK(replace(changed, place, value));
  }
  run.json = changed.dump();
  return {};
}

} // namespace

Result<ExitCode> run_stream(const Run& given) {
  hint_at_terminal(std::string(standard_stream));
  flush_outputs(false); // no wait for the disk: later requests write the outputs again
  runtime::Kept kept;
  Run shared = given;
  shared.options.kept = &kept;
  shared.options.open_session = [&](const device::DeviceInfo& device,
                                    device::Profiling profiling) -> Result<std::shared_ptr<device::Session>> {
    if (!kept.session) {
      TIDEGATE_TRY(kept.session, given.options.open_session(device, profiling));
    }
    return kept.session;
  };
  const auto answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
    RunRequest request;
    const auto decoded = documents::decode(documents::DocumentOf<RunRequest>::document, line, &request);
    reply.id = request.id; // also if decoding fails
    TIDEGATE_CHECK(decoded);
    ++kept.run;
    if (!shared.device) {
      TIDEGATE_TRY(shared.device, find_device(shared));
    }
    Run run = shared;
    TIDEGATE_CHECK(read_program_of(request, line, run));
    const bool frontier = is_frontier_program(run.json);
    TIDEGATE_CHECK(check_options_for(run, frontier));
    const auto report_line = [&](auto report) {
      report.id = request.id;
      reply.exit_code = report.error ? exit_code(*report.error) : ExitCode::done;
      shorten(report, run);
      append(report, Style::compact, reply.text);
    };
    const auto abandon = [&](const auto& report) { // the device has not come back, so this ends the process
      report_line(report);
      device::PrintsToStandardError::end();
      reply.text += '\n';
      (void)!::write(STDOUT_FILENO, reply.text.data(), reply.text.size());
      ::_exit(static_cast<int>(reply.exit_code));
    };
    run.options.abandon = abandon;
    run.graphs.abandon = abandon;
    runtime::Monitor monitor;
    const InterruptWatch interrupts;
    auto done =
        frontier ? run_frontier(run, monitor).map(report_line) : run_waves(run, monitor).map(report_line);
    if (!done && done.error().code == ErrorCode::opencl_failure) {
      kept.forget(); // the session may be unusable after a failure
    }
    return done;
  };
  const std::string input(standard_stream);
  // One worker answers all requests in order, because they share the device.
  return serve_lines({&input, 1}, given.output, answer, 1);
}

} // namespace tidegate::app
