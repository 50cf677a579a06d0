#include "app/documents.hpp"

namespace tidegate::documents {

constexpr Field stream_error_fields[] = {
    optional<&StreamError::id>("id of the request, where it has one"),
    required<&StreamError::error>("error of the line"),
    required<&StreamError::line>("line of the input stream, counted from 1"),
};
TIDEGATE_RECORD(StreamError, stream_error_fields);

constexpr Field run_request_fields[] = {
    optional<&RunRequest::id>("any number or name; the answer has it too"),
    optional<&RunRequest::program>(
        "path of a wave or frontier program; left out: the program of the command line"),
    defaulted<&RunRequest::set>(
        "values that replace those of the program for this request, by their place (RFC 6901), such "
        "as \"/buffers/x/init/file\""),
};
TIDEGATE_RECORD(RunRequest, run_request_fields);

constexpr Field checked_fields[] = {
    required<&CheckedDocument::file>("path, or - for standard input"),
    optional<&CheckedDocument::line>("line of a stream, counted from 1"),
    optional<&CheckedDocument::document>("kind of the document, once known"),
    required<&CheckedDocument::verdict>("valid, or the kind of fault"),
    optional<&CheckedDocument::error>("why it is invalid"),
    optional<&CheckedDocument::others>("further errors, in document order"),
    optional<&CheckedDocument::warnings>("likely mistakes in a valid program"),
};
TIDEGATE_RECORD(CheckedDocument, checked_fields);

constexpr Field check_report_fields[] = {
    required<&CheckReport::checked>("number of documents"),
    required<&CheckReport::valid>("number of valid documents"),
    required<&CheckReport::failed>("number of other documents"),
    required<&CheckReport::documents>("all documents with their verdicts"),
};
TIDEGATE_RECORD(CheckReport, check_report_fields);

constexpr Field schema_entry_fields[] = {
    required<&SchemaEntry::name>("kind of the document"),
    required<&SchemaEntry::title>("content of the document"),
    required<&SchemaEntry::direction>("input or output of the tool"),
    required<&SchemaEntry::id>("$id of its JSON Schema"),
};
TIDEGATE_RECORD(SchemaEntry, schema_entry_fields);

constexpr Field schema_list_fields[] = {
    required<&SchemaList::schemas>("every document type that the tool reads or writes"),
};
TIDEGATE_RECORD(SchemaList, schema_list_fields);

constexpr Field compared_text_fields[] = {
    required<&ComparedText::name>("key of the report, or what is under it"),
    optional<&ComparedText::a>("in the first report; left out if it has none"),
    optional<&ComparedText::b>("in the second report; left out if it has none"),
};
TIDEGATE_RECORD(ComparedText, compared_text_fields);

constexpr Field compared_number_fields[] = {
    required<&ComparedNumber::name>("key of the report, or a wave"),
    optional<&ComparedNumber::a>("in the first report; left out if it has none"),
    optional<&ComparedNumber::b>("in the second report; left out if it has none"),
    optional<&ComparedNumber::ratio>("b divided by a; left out where one is missing or a is 0"),
};
TIDEGATE_RECORD(ComparedNumber, compared_number_fields);

using runtime::Comparison;

constexpr Field speed_fields[] = {
    required<&Comparison::run_ns>("median of the first report's rounds"),
    required<&Comparison::speedup>("median of all ratios of an earlier time and a later one"),
    required<&Comparison::speedup_low>(
        "lower end of the interval that holds the true ratio with 95 % confidence"),
    required<&Comparison::speedup_high>("upper end of that interval"),
    required<&Comparison::verdict>("faster or slower than the earlier run if the interval leaves out 1"),
};
constinit const Record speed_record = record_of<Comparison>(speed_fields);

constexpr Field report_comparison_fields[] = {
    required<&ReportComparison::a>("file of the first report"),
    required<&ReportComparison::b>("file of the second report"),
    optional<&ReportComparison::speed>("of b against a; left out unless both were run with --compare")
        .described_by(speed_record),
    required<&ReportComparison::texts>("devices and choices"),
    required<&ReportComparison::numbers>("times, sizes and counts"),
    required<&ReportComparison::waves>("nanoseconds of an execution of each wave, with --by-wave"),
};
TIDEGATE_RECORD(ReportComparison, report_comparison_fields);

constexpr Field version_fields[] = {
    required<&VersionReport::tidegate>("version of the tool"),
    required<&VersionReport::build_type>("CMake build type"),
    required<&VersionReport::compiler>("compiler of the tool"),
    required<&VersionReport::cli11>("version of CLI11"),
    required<&VersionReport::nlohmann_json>("version of nlohmann_json"),
    required<&VersionReport::fmt>("version of {fmt}"),
    required<&VersionReport::opencl_loader>("the OpenCL ICD loader"),
};
TIDEGATE_RECORD(VersionReport, version_fields);

template <>
constinit const Document DocumentOf<StreamError>::document{.kind = "stream_error",
                                                           .title = "A line of a stream that failed",
                                                           .direction = Direction::output,
                                                           .record = &Description<StreamError>::record,
                                                           .has_kind = false};
TIDEGATE_DOCUMENT(RunRequest, "run_request",
                  "A line of `tidegate run --stream`: a program to run, and what is different this time",
                  Direction::input);
TIDEGATE_DOCUMENT(CheckReport, "check_report", "Verdicts on documents", Direction::output);
TIDEGATE_DOCUMENT(ReportComparison, "report_comparison", "Two reports of runs next to each other",
                  Direction::output);
TIDEGATE_DOCUMENT(SchemaList, "schema_list", "The document types of the tool", Direction::output);
TIDEGATE_DOCUMENT(VersionReport, "version_report", "Versions of the tool and of its libraries",
                  Direction::output);

} // namespace tidegate::documents
