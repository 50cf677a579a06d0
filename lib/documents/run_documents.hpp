// What a run tells, as a document.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/launch_documents.hpp>
#include <tidegate/documents/planning_documents.hpp>
#include <tidegate/run/run_report.hpp>

namespace tidegate::documents {

struct BufferOffset {
  std::string buffer;
  std::uint64_t offset = 0;
};

struct RunMemory {
  run::MemoryReport figures;
  std::vector<BufferOffset> offsets;
};

struct RunReportDocument {
  run::RunReport report;
  RunMemory memory;
  FrontierMemoryPlan plan;
  Evidence evidence;
};

template <>
struct Choices<run::RunStatus> {
  static constexpr std::span<const std::string_view> names = run::run_status_names;
};
template <>
struct Choices<run::DifferenceCause> {
  static constexpr std::span<const std::string_view> names = run::difference_cause_names;
};
template <>
struct Choices<run::Side> {
  static constexpr std::span<const std::string_view> names = run::side_names;
};
template <>
struct Choices<compiler::Strategy> {
  static constexpr std::span<const std::string_view> names = compiler::strategy_names;
};
template <>
struct Choices<compiler::TileOrder> {
  static constexpr std::span<const std::string_view> names = compiler::tile_order_names;
};
template <>
struct Choices<compiler::Promotion> {
  static constexpr std::span<const std::string_view> names = compiler::promotion_names;
};

template <>
struct Description<run::DeviceReport> {
  static const Record record;
};
template <>
struct Description<run::FirstRun> {
  static const Record record;
};
template <>
struct Description<run::StuckGroup> {
  static const Record record;
};
template <>
struct Description<run::WrittenFile> {
  static const Record record;
};
template <>
struct Description<run::Geometry> {
  static const Record record;
};

template <>
struct DocumentOf<RunReportDocument> {
  static const Document document;
};

} // namespace tidegate::documents
