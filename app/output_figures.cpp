// Compares what run reports say of their outputs (files, lists of hits, names of buffers) with the sizes of the
// buffers. Where an output is still there, it is read.
#include "app/check.hpp"
#include "app/report_figures.hpp"
#include "core/files.hpp"
#include "core/npy.hpp"
#include "engine/documents.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tidegate::app {

std::optional<NpyArray> read_output(const engine::WrittenFile& written, const std::string& report) {
  std::error_code unknown;
  const std::filesystem::path path = written.file;
  if (path.extension() != ".npy" || !std::filesystem::is_regular_file(path, unknown) ||
      std::filesystem::file_size(path, unknown) != written.bytes || unknown) {
    return {};
  }
  const auto output_time = std::filesystem::last_write_time(path, unknown);
  const auto report_time = std::filesystem::last_write_time(report, unknown);
  if (unknown || output_time > report_time) { // by a later run, or perhaps: standard input has no time
    return {};
  }
  const auto text = read_all(written.file, written.bytes);
  auto array = text ? parse_npy(*text) : tl::unexpected(text.error());
  return array ? std::optional(std::move(*array)) : std::nullopt;
}

bool is_about_run(std::string_view what) {
  constexpr std::array<std::string_view, 5> known{"generated kernel", "trace", "page", "times as Markdown",
                                                  "times as CSV"};
  return std::ranges::find(known, what) != known.end();
}

bool has_no_size(const engine::WrittenFile& written) {
  std::error_code unknown;
  return written.bytes == 0 && (written.file.starts_with("/dev/") || written.file.starts_with("/proc/") ||
                                !std::filesystem::is_regular_file(written.file, unknown));
}

namespace {

// Returns true if some header of a file of this name leaves contents that fit.
template <class Fits>
bool has_contents(const engine::WrittenFile& written, const Fits& fits) {
  if (!written.file.ends_with(".npy")) {
    return fits(written.bytes);
  }
  constexpr std::uint64_t alignment = 64;
  constexpr std::uint64_t longest = 512; // of 64 dimensions, as each has one digit or more
  for (std::uint64_t header = alignment; header <= std::min(longest, written.bytes); header += alignment) {
    if (fits(written.bytes - header)) {
      return true;
    }
  }
  return false;
}

constexpr std::uint64_t large_buffer = std::uint64_t{64} << 10U;
constexpr std::uint64_t left_free = 1280; // bytes after large buffers, on some devices

bool is_size(std::uint64_t bytes, std::uint64_t room) {
  return bytes == room || (bytes >= large_buffer && bytes + left_free == room);
}

const engine::BufferOffset* find_buffer(const engine::RunReport& report, std::string_view quoted) {
  const auto found = std::ranges::find(report.memory.offsets, quoted,
                                       [](const auto& buffer) { return in_quotes(buffer.buffer); });
  return found == report.memory.offsets.end() ? nullptr : &*found;
}

// Checks the files of outputs by the sizes of their buffers. Ranks have parts of buffers.
void check_files(const engine::RunReport& report, FigureChecks& checks) {
  constexpr std::string_view of_buffer = "buffer ";
  std::uint64_t read = 0; // at least
  for (std::size_t i = 0; i < report.files_written.size(); ++i) {
    const engine::WrittenFile& written = report.files_written[i];
    const std::string pointer = fmt::format("/files_written/{}/", i);
    if (!written.what.starts_with(of_buffer)) {
      constexpr std::array<std::string_view, 3> of_export{"sizes and tables", "host program", "Makefile"};
      checks.require(written.what.starts_with("image ") || written.what.starts_with("first contents of ") ||
                         is_about_run(written.what) ||
                         std::ranges::find(of_export, written.what) != of_export.end(),
                     pointer + "what", "no run writes such a file");
      continue;
    }
    const std::string_view name = std::string_view(written.what).substr(of_buffer.size());
    const engine::BufferOffset* const buffer = find_buffer(report, name);
    checks.require(buffer != nullptr, pointer + "what", fmt::format("the memory has no buffer {}", name));
    if (buffer == nullptr || !buffer->alive || report.ranks) {
      continue;
    }
    const std::uint64_t room = buffer->alive->size;
    read += room - (room >= large_buffer + left_free ? left_free : 0);
    const auto all = report.hits.value_or(std::vector<engine::HitsReport>());
    const auto hits = std::ranges::find(all, buffer->buffer, &engine::HitsReport::list);
    const std::uint64_t rows = hits == all.end() ? 0 : std::min(hits->hits.value_or(0), hits->capacity);
    checks.require(
        has_no_size(written) || has_contents(written,
                                             [&](std::uint64_t bytes) {
                                               return hits == all.end() ? is_size(bytes, room)
                                                      : rows == 0
                                                          ? bytes == 0
                                                          : bytes % rows == 0 &&
                                                                bytes / rows * (hits->capacity + 1) <= room;
                                             }),
        pointer + "bytes",
        fmt::format("the file has {}, and its buffer {}", bytes_text(written.bytes), bytes_text(room)));
  }
  if (report.status == engine::RunStatus::done) {
    checks.at_most("/telemetry/bytes_read_back", "bytes of the outputs", read, "bytes_read_back",
                   report.telemetry.bytes_read_back);
  }
}

// Checks names of buffers and waves: what belongs to them is in the memory.
void check_names(const engine::RunReport& report, FigureChecks& checks) {
  const auto has = [&](std::string_view name) {
    return report.memory.offsets.empty() || find_buffer(report, in_quotes(name)) != nullptr;
  };
  const auto holds = [&](bool there, std::string pointer) {
    checks.require(there, std::move(pointer), "the memory has no such buffer");
  };
  for (std::size_t i = 0; report.active && i < report.active->size(); ++i) {
    const engine::ActiveReport& wave = (*report.active)[i];
    holds(has(fmt::format("{}: counts of wave {}", wave.flags, wave.wave)),
          fmt::format("/active/{}/flags", i));
  }
  for (std::size_t i = 0; report.hits && i < report.hits->size(); ++i) {
    holds(has((*report.hits)[i].list), fmt::format("/hits/{}/list", i));
  }
  for (std::size_t i = 0; i < report.queues.size(); ++i) {
    const std::string& wave = report.queues[i].wave; // with a name, or by its number
    holds(!wave.starts_with('"') || std::ranges::any_of(report.memory.offsets,
                                                        [&](const auto& buffer) {
                                                          return in_quotes(buffer.buffer.substr(
                                                                     0, buffer.buffer.rfind(": "))) == wave;
                                                        }),
          fmt::format("/queues/{}/wave", i));
  }
  if (report.until) {
    holds(has(report.until->buffer), "/until/buffer");
  }
}

// Checks the outputs: all that were compared were read back, and all that were written were compared.
void check_outputs(const engine::RunReport& report, FigureChecks& checks) {
  if (report.status != engine::RunStatus::done) {
    return;
  }
  const auto written =
      static_cast<std::uint64_t>(std::ranges::count_if(report.files_written, [](const auto& file) {
        return file.what.starts_with("buffer ") || file.what.starts_with("image ");
      }));
  if (!report.ranks) { // which write their parts
    checks.at_most("/telemetry/readback_buffers", "outputs that were written", written, "readback_buffers",
                   report.telemetry.readback_buffers);
  }
  checks.require_section(report.output_parity || (!report.comparison && !report.stress), "/output_parity",
                         "output_parity, though the run was compared with plain launches");
  if (report.output_parity) {
    checks.at_most("/output_parity/checked", "outputs that were written", written, "checked",
                   report.output_parity->checked);
    checks.at_most("/files_written", "checked", report.output_parity->checked,
                   "outputs written or expected are",
                   written + (report.expected ? report.expected->size() : 0));
  }
}

void check_hits(const engine::RunReport& report, const documents::Evidence& evidence, const std::string& file,
                FigureChecks& checks) {
  if (!report.hits) {
    return;
  }
  const bool counted = report.status == engine::RunStatus::done ||
                       report.status == engine::RunStatus::outputs_differ ||
                       report.status == engine::RunStatus::hits_overflow;
  std::uint64_t capacity = 0;
  bool overflow = false;
  for (std::size_t i = 0; i < report.hits->size(); ++i) {
    const engine::HitsReport& hits = (*report.hits)[i];
    const std::string pointer = fmt::format("/hits/{}/", i);
    capacity += hits.capacity;
    overflow |= counted && overflows(hits);
    if (hits.rule && !hits.grown_from) {
      const engine::HitCapacityRule& rule = *hits.rule;
      checks.equal(
          pointer + "capacity", "capacity is", hits.capacity, "by its rule it is",
          std::max<std::uint64_t>(rule.items * rule.expected_hits_per_item * rule.multiplier, rule.least));
      if (evidence.promotion) {
        checks.equal(pointer + "rule/items", "items is", rule.items, "queue_len of the evidence is",
                     evidence.promotion->queue_len);
      }
    }
    checks.require(!counted || hits.hits, pointer + "hits", "the run was done, and has no count of hits");
    if (hits.hits) {
      checks.equal(pointer + "dropped", "dropped is", hits.dropped.value_or(0),
                   "hits without room:", *hits.hits - std::min(*hits.hits, hits.capacity));
      checks.equal(pointer + "needed_capacity", "needed_capacity is", hits.needed_capacity.value_or(0),
                   "hits, and at least 1:", std::max<std::uint64_t>(*hits.hits, 1));
      const auto written = std::ranges::find(report.files_written, "buffer " + in_quotes(hits.list),
                                             &engine::WrittenFile::what);
      const auto array = written != report.files_written.end() ? read_output(*written, file) : std::nullopt;
      if (array && !array->shape.empty()) {
        checks.equal(pointer + "hits", "hits that have room:", std::min(*hits.hits, hits.capacity),
                     fmt::format("{} has", in_quotes(written->file)), array->shape[0]);
      }
    }
  }
  checks.equal("/telemetry/hit_capacity", "hit_capacity is", report.telemetry.hit_capacity,
               "capacities of the lists are together",
               std::min<std::uint64_t>(capacity, std::numeric_limits<std::uint32_t>::max()));
  checks.require(overflow == (report.status == engine::RunStatus::hits_overflow), "/hits",
                 fmt::format("{} list overflowed, and the status is {}", overflow ? "a" : "no",
                             engine::run_status_names[static_cast<std::size_t>(report.status)]));
}

} // namespace

void check_output_figures(const engine::RunReport& report, const documents::Evidence& evidence,
                          const std::string& file, FigureChecks& checks) {
  check_files(report, checks);
  check_names(report, checks);
  check_outputs(report, checks);
  check_hits(report, evidence, file, checks);
}

} // namespace tidegate::app
