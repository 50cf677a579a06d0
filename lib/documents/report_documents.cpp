#include <tidegate/documents/report_documents.hpp>

#include <utility>

namespace tidegate::documents {

template <>
struct Description<StreamError> {
  static const Record record;
};
template <>
struct Description<CheckedDocument> {
  static const Record record;
};
template <>
struct Description<CheckReport> {
  static const Record record;
};
template <>
struct Description<SchemaEntry> {
  static const Record record;
};
template <>
struct Description<SchemaList> {
  static const Record record;
};
template <>
struct Description<VersionOfDevice> {
  static const Record record;
};
template <>
struct Description<VersionReport> {
  static const Record record;
};

namespace {

constexpr Field error_fields[] = {
    required<&Error::code>("code", "stable name of the error"),
    required<&Error::message>("message", "what happened, in words"),
    required<&Error::fix>("fix", "what to change"),
    optional<&Error::source>("source", "the file that the place is in"),
    optional<&Error::pointer>("pointer", "the place, as an RFC 6901 pointer into the input"),
    optional<&Error::line>("line", "the place, counted from 1"),
    optional<&Error::column>("column", "the place in its line, in characters counted from 1"),
    optional<&Error::excerpt>("excerpt", "that line of the source"),
    optional<&Error::field>("field", "the field that overflowed, is out of range, is missing or is unknown"),
    optional<&Error::nearest>("nearest", "the known name closest to an unknown one"),
    optional<&Error::requested>("requested", "bytes that were asked for"),
    optional<&Error::available>("available", "bytes that the budget allows"),
    optional<&Error::wave>("wave", "index of the wave that depends on itself"),
    optional<&Error::wave_count>("wave_count", "waves of the DAG"),
    optional<&Error::before>("before", "wave that the dependency at fault starts from"),
    optional<&Error::after>("after", "wave that the dependency at fault leads to"),
    optional<&Error::unscheduled_waves>("unscheduled_waves", "waves on a cycle or behind one"),
    optional<&Error::cycle>("cycle", "one cycle: each wave before the next, the last before the first"),
    optional<&Error::required_bytes>("required_bytes", "bytes that are needed at least"),
    optional<&Error::budget_bytes>("budget_bytes", "bytes that are left for them"),
    optional<&Error::capacity_bytes>("capacity_bytes", "bytes that the arena may have"),
    optional<&Error::best_height_bytes>("best_height_bytes", "bytes of the lowest arena found"),
    optional<&Error::log>("log", "what the compiler of a driver said, line by line"),
};

constexpr Field stream_error_fields[] = {
    required<&StreamError::error>("error", "why the line has no answer"),
    required<&StreamError::line>("line", "line of the input stream, counted from 1"),
};

constexpr Field checked_fields[] = {
    required<&CheckedDocument::file>("file", "path, or - for standard input"),
    optional<&CheckedDocument::line>("line", "line of a stream, counted from 1"),
    optional<&CheckedDocument::document>("document", "kind of the document, once known"),
    required<&CheckedDocument::verdict>("verdict", "valid, or what is wrong"),
    optional<&CheckedDocument::error>("error", "why it is not valid"),
    optional<&CheckedDocument::others>("others", "what else is wrong with it, in its order"),
    optional<&CheckedDocument::warnings>("warnings", "what a valid program most likely does not mean"),
};

constexpr Field check_report_fields[] = {
    required<&CheckReport::checked>("checked", "documents looked at"),
    required<&CheckReport::valid>("valid", "documents without a fault"),
    required<&CheckReport::failed>("failed", "the others"),
    required<&CheckReport::documents>("documents", "every document with its verdict"),
};

constexpr Field schema_entry_fields[] = {
    required<&SchemaEntry::name>("name", "kind of the document"),
    required<&SchemaEntry::title>("title", "what it holds"),
    required<&SchemaEntry::direction>("direction", "input or output of the tool"),
    required<&SchemaEntry::id>("id", "$id of its JSON Schema"),
};

constexpr Field schema_list_fields[] = {
    required<&SchemaList::schemas>("schemas", "every document type that the tool reads or writes"),
};

constexpr Field version_of_device_fields[] = {
    required<&VersionOfDevice::name>("name", "name, in the driver's words"),
    required<&VersionOfDevice::platform>("platform", "OpenCL platform that it belongs to"),
    required<&VersionOfDevice::opencl_version>("opencl_version", "what it offers, in the driver's words"),
    required<&VersionOfDevice::driver_version>("driver_version", "version of its driver"),
};

constexpr Field version_fields[] = {
    required<&VersionReport::tidegate>("tidegate", "version of the tool"),
    required<&VersionReport::build_type>("build_type", "CMake build type"),
    required<&VersionReport::compiler>("compiler", "compiler that built it"),
    required<&VersionReport::cli11>("cli11", "version of CLI11"),
    required<&VersionReport::rapidjson>("rapidjson", "version of RapidJSON"),
    required<&VersionReport::nlohmann_json>("nlohmann_json", "version of nlohmann_json"),
    required<&VersionReport::fmt>("fmt", "version of {fmt}"),
    required<&VersionReport::opencl_loader>("opencl_loader",
                                            "the OpenCL ICD loader found at run time, or \"none\""),
    required<&VersionReport::system>("system", "distribution, kernel and architecture"),
    required<&VersionReport::devices>("devices", "every OpenCL device"),
    required<&VersionReport::notes>("notes", "drivers that cannot be used, and platforms without devices"),
    required<&VersionReport::environment>("environment", "variables that change how it runs, as NAME=value"),
};

} // namespace

std::optional<std::vector<Error>> take_others(Error& error) {
  std::vector<Error> others = std::exchange(error.others, {});
  return others.empty() ? std::nullopt : std::optional(std::move(others));
}

constinit const Record Description<Error>::record = record_of<Error>("error", error_fields);
constinit const Record Description<StreamError>::record =
    record_of<StreamError>("stream_error", stream_error_fields);
constinit const Record Description<CheckedDocument>::record =
    record_of<CheckedDocument>("checked_document", checked_fields);
constinit const Record Description<CheckReport>::record =
    record_of<CheckReport>("check_report", check_report_fields);
constinit const Record Description<SchemaEntry>::record =
    record_of<SchemaEntry>("schema_entry", schema_entry_fields);
constinit const Record Description<SchemaList>::record =
    record_of<SchemaList>("schema_list", schema_list_fields);
constinit const Record Description<VersionOfDevice>::record =
    record_of<VersionOfDevice>("version_of_device", version_of_device_fields);
constinit const Record Description<VersionReport>::record =
    record_of<VersionReport>("version_report", version_fields);

constinit const Document DocumentOf<Error>::document{.kind = "error",
                                                     .title = "An error, as --errors json prints it",
                                                     .direction = Direction::output,
                                                     .record = &Description<Error>::record,
                                                     .has_kind = false};
constinit const Document DocumentOf<StreamError>::document{.kind = "stream_error",
                                                           .title = "A line of a stream that has no answer",
                                                           .direction = Direction::output,
                                                           .record = &Description<StreamError>::record,
                                                           .has_kind = false};
constinit const Document DocumentOf<CheckReport>::document{.kind = "check_report",
                                                           .title = "Verdicts on documents",
                                                           .direction = Direction::output,
                                                           .record = &Description<CheckReport>::record};
constinit const Document DocumentOf<SchemaList>::document{.kind = "schema_list",
                                                          .title = "The document types of the tool",
                                                          .direction = Direction::output,
                                                          .record = &Description<SchemaList>::record};
constinit const Document DocumentOf<VersionReport>::document{
    .kind = "version_report",
    .title = "Versions of the tool and of what it is built on",
    .direction = Direction::output,
    .record = &Description<VersionReport>::record};

} // namespace tidegate::documents
