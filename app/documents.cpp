#include "app/documents.hpp"

namespace tidegate::documents {

constexpr Field stream_error_fields[] = {
    optional<&StreamError::id>("id", "id of the request, where it has one"),
    required<&StreamError::error>("error", "error of the line"),
    required<&StreamError::line>("line", "line of the input stream, counted from 1"),
};
template <>
constinit const Record Description<StreamError>::record = record_of<StreamError>(stream_error_fields);

constexpr Field run_request_fields[] = {
    optional<&RunRequest::id>("id", "any number or name; the answer has it too"),
    optional<&RunRequest::program>(
        "program", "path of a wave or frontier program; left out: the program of the command line"),
    defaulted<&RunRequest::set>(
        "set", "values that replace those of the program for this request, by their place (RFC 6901), such "
               "as \"/buffers/x/init/file\""),
};
template <>
constinit const Record Description<RunRequest>::record = record_of<RunRequest>(run_request_fields);

constexpr Field checked_fields[] = {
    required<&CheckedDocument::file>("file", "path, or - for standard input"),
    optional<&CheckedDocument::line>("line", "line of a stream, counted from 1"),
    optional<&CheckedDocument::document>("document", "kind of the document, once known"),
    required<&CheckedDocument::verdict>("verdict", "valid, or the kind of fault"),
    optional<&CheckedDocument::error>("error", "why it is invalid"),
    optional<&CheckedDocument::others>("others", "further errors, in document order"),
    optional<&CheckedDocument::warnings>("warnings", "likely mistakes in a valid program"),
};
template <>
constinit const Record Description<CheckedDocument>::record = record_of<CheckedDocument>(checked_fields);

constexpr Field check_report_fields[] = {
    required<&CheckReport::checked>("checked", "number of documents"),
    required<&CheckReport::valid>("valid", "number of valid documents"),
    required<&CheckReport::failed>("failed", "number of other documents"),
    required<&CheckReport::documents>("documents", "all documents with their verdicts"),
};
template <>
constinit const Record Description<CheckReport>::record = record_of<CheckReport>(check_report_fields);

constexpr Field schema_entry_fields[] = {
    required<&SchemaEntry::name>("name", "kind of the document"),
    required<&SchemaEntry::title>("title", "content of the document"),
    required<&SchemaEntry::direction>("direction", "input or output of the tool"),
    required<&SchemaEntry::id>("id", "$id of its JSON Schema"),
};
template <>
constinit const Record Description<SchemaEntry>::record = record_of<SchemaEntry>(schema_entry_fields);

constexpr Field schema_list_fields[] = {
    required<&SchemaList::schemas>("schemas", "every document type that the tool reads or writes"),
};
template <>
constinit const Record Description<SchemaList>::record = record_of<SchemaList>(schema_list_fields);

constexpr Field compared_text_fields[] = {
    required<&ComparedText::name>("name", "key of the report, or what is under it"),
    optional<&ComparedText::a>("a", "in the first report; left out if it has none"),
    optional<&ComparedText::b>("b", "in the second report; left out if it has none"),
};
template <>
constinit const Record Description<ComparedText>::record = record_of<ComparedText>(compared_text_fields);

constexpr Field compared_number_fields[] = {
    required<&ComparedNumber::name>("name", "key of the report, or a wave"),
    optional<&ComparedNumber::a>("a", "in the first report; left out if it has none"),
    optional<&ComparedNumber::b>("b", "in the second report; left out if it has none"),
    optional<&ComparedNumber::ratio>("ratio", "b divided by a; left out where one is missing or a is 0"),
};
template <>
constinit const Record
    Description<ComparedNumber>::record = record_of<ComparedNumber>(compared_number_fields);

constexpr Field report_comparison_fields[] = {
    required<&ReportComparison::a>("a", "file of the first report"),
    required<&ReportComparison::b>("b", "file of the second report"),
    optional<&ReportComparison::speed>("speed",
                                       "of b against a; left out unless both were run with --compare"),
    required<&ReportComparison::texts>("texts", "devices and choices"),
    required<&ReportComparison::numbers>("numbers", "times, sizes and counts"),
    required<&ReportComparison::waves>("waves", "nanoseconds of an execution of each wave, with --by-wave"),
};
template <>
constinit const Record
    Description<ReportComparison>::record = record_of<ReportComparison>(report_comparison_fields);

constexpr Field version_of_device_fields[] = {
    required<&VersionOfDevice::name>("name", "name, as the driver reports it"),
    required<&VersionOfDevice::platform>("platform", "OpenCL platform that it belongs to"),
    required<&VersionOfDevice::opencl_version>("opencl_version",
                                               "version of OpenCL, as the driver reports it"),
    required<&VersionOfDevice::driver_version>("driver_version", "version of its driver"),
};
template <>
constinit const Record
    Description<VersionOfDevice>::record = record_of<VersionOfDevice>(version_of_device_fields);

constexpr Field version_fields[] = {
    required<&VersionReport::tidegate>("tidegate", "version of the tool"),
    required<&VersionReport::build_type>("build_type", "CMake build type"),
    required<&VersionReport::compiler>("compiler", "compiler of the tool"),
    required<&VersionReport::cli11>("cli11", "version of CLI11"),
    required<&VersionReport::rapidjson>("rapidjson", "version of RapidJSON"),
    required<&VersionReport::nlohmann_json>("nlohmann_json", "version of nlohmann_json"),
    required<&VersionReport::fmt>("fmt", "version of {fmt}"),
    required<&VersionReport::opencl_loader>("opencl_loader", "the OpenCL ICD loader"),
    required<&VersionReport::system>("system", "distribution, kernel and architecture"),
    required<&VersionReport::devices>("devices", "every OpenCL device"),
    required<&VersionReport::notes>("notes", "drivers that cannot be used, and platforms without devices"),
    required<&VersionReport::environment>("environment", "variables that affect the tool, as NAME=value"),
};
template <>
constinit const Record Description<VersionReport>::record = record_of<VersionReport>(version_fields);

template <>
constinit const Document DocumentOf<StreamError>::document{.kind = "stream_error",
                                                           .title = "A line of a stream that failed",
                                                           .direction = Direction::output,
                                                           .record = &Description<StreamError>::record,
                                                           .has_kind = false};
template <>
constinit const Document DocumentOf<RunRequest>::document =
    document_of<RunRequest>("run_request",
                            "A line of `tidegate run --stream`: a program to run, and what is "
                            "different this time",
                            Direction::input);
template <>
constinit const Document DocumentOf<CheckReport>::document = document_of<CheckReport>("check_report",
                                                                                      "Verdicts on documents",
                                                                                      Direction::output);
template <>
constinit const Document DocumentOf<ReportComparison>::document = document_of<ReportComparison>(
    "report_comparison", "Two reports of runs next to each other", Direction::output);
template <>
constinit const Document DocumentOf<SchemaList>::document =
    document_of<SchemaList>("schema_list", "The document types of the tool", Direction::output);
template <>
constinit const Document DocumentOf<VersionReport>::document = document_of<VersionReport>(
    "version_report", "Versions of the tool and of its libraries", Direction::output);

} // namespace tidegate::documents
