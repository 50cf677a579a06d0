// Reports held against the outputs that they name.
#include "app/check.hpp"
#include "core/npy.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

using namespace tidegate;

namespace {

template <class Report>
bool blames(const Report& report, const std::string& file, std::string_view pointer) {
  const auto judged = app::judge(report, file);
  if (judged) {
    return false;
  }
  Error first = judged.error();
  const auto others = documents::take_others(first);
  return first.pointer == pointer || (others && std::ranges::any_of(*others, [pointer](const Error& error) {
                                        return error.pointer == pointer;
                                      }));
}

engine::WrittenFile write(const std::string& path, std::string what,
                          const std::vector<std::uint32_t>& values) {
  std::string text = npy_header(ElementType::u32, std::array{std::uint64_t{values.size()}});
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::uint32_t));
  std::ofstream(path) << text;
  return {.file = path, .what = std::move(what), .bytes = text.size()};
}

} // namespace

TEST_CASE("the answer of a graph program is made again of its output, unless a later run has written it") {
  const test::TemporaryFolder folder;
  const std::string output = folder.path() / "levels.npy";
  traversal::FrontierReport report;
  report.answer = {.reached = 3, .distance = 2, .farthest = 3};
  report.files_written = {write(output, "levels", {0, 1, graphs::unreached, 2})};
  const std::string file = folder.path() / "report.json";
  std::ofstream(file) << "{}";
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(output));
  CHECK(!blames(report, file, "/answer"));
  report.answer->farthest = 1;
  CHECK(blames(report, file, "/answer"));
  CHECK(!blames(report, "-", "/answer"));
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(output) - std::chrono::seconds(1));
  CHECK(!blames(report, file, "/answer"));
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(output));
  report.files_written[0].bytes += 4;
  CHECK(!blames(report, file, "/answer")); // not the file that the run wrote
}

TEST_CASE("figures of a wave program that follow from others") {
  const test::TemporaryFolder folder;
  documents::RunReportDocument document;
  engine::RunReport& report = document.report;
  report.iterations = 3;
  report.published_items = 10;
  report.items_processed = report.items_in_all = 30;
  CHECK(!blames(document, "-", "/items_processed"));
  report.items_processed = report.items_in_all = 31;
  CHECK(blames(document, "-", "/items_processed"));
  report.items_processed = report.items_in_all = 9;
  CHECK(blames(document, "-", "/items_processed"));

  report.queues = {{.items = 4, .published_items = 4, .items_processed = 12}};
  CHECK(!blames(document, "-", "/queues/0/items_processed"));
  report.queues[0].items_processed = 8;
  CHECK(blames(document, "-", "/queues/0/items_processed"));

  report.active = {{{.tiles = 100, .iterations = 3, .active_tiles = 30}}};
  report.telemetry.frontier_density_bps = 1000;
  CHECK(!blames(document, "-", "/telemetry/frontier_density_bps"));
  report.telemetry.frontier_density_bps = 10'000;
  CHECK(blames(document, "-", "/telemetry/frontier_density_bps"));

  report.files_written = {write(folder.path() / "hits.npy", "buffer \"found\"", {5, 6})};
  report.hits = {{{.list = "found", .capacity = 8, .hits = 2, .dropped = 0, .needed_capacity = 2}}};
  const std::string file = folder.path() / "report.json";
  std::ofstream(file) << "{}";
  CHECK(!blames(document, file, "/hits/0/hits"));
  report.hits->front().hits = 3;
  CHECK(blames(document, file, "/hits/0/hits"));
}
