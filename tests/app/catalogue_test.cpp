// The catalogue: every document type is there, described without contradictions.
#include "app/command_line.hpp"
#include "core/json.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::documents;

TEST_CASE("document types have different names and are found by them") {
  std::set<std::string_view> kinds;
  for (const auto& [document, command] : app::catalogue()) {
    CHECK(kinds.insert(document->kind).second);
    CHECK(*app::find_document(document->kind) == document);
  }
  CHECK(kinds.contains("launch_request"));
  CHECK(kinds.contains("launch_recommendation"));
}

TEST_CASE("a document is recognised by its kind, or else by its keys") {
  for (const auto& [json, kind] : {std::pair(R"({"kind":"wave_dag","ops":{},"buffers":{}})", "wave_dag"),
                                   {R"({"kind":"wave_dog"})", "wrong_kind"},
                                   {R"({"buffers":{},"ops":{},"waves":[]})", "wave_program"},
                                   {R"({"waves":[],"dependencies":[],"budget_bytes":4})", "wave_dag"},
                                   {R"({"waves":[],"oops":{},"buffers":{}})", "wave_program"},
                                   {R"({"buffers":[]})", "buffer_lifetimes"},
                                   {R"({"queue_len":1})", "launch_request"},
                                   {R"({"candidates":[],"costs":[],"current":0})", "measured_costs"},
                                   {"{}", "missing_kind"},
                                   {"[]", "missing_kind"},
                                   {R"({"name":"x","version":1,"scripts":{},"waves":[]})", "missing_kind"},
                                   {"{", "syntax_error"}}) {
    const auto found = app::recognise(json);
    CHECK((found ? (*found)->kind : name(found.error().code)) == kind);
  }
}

TEST_CASE("every field says what it means, and no record has more fields than a mask has bits") {
  const std::function<void(const Record&)> visit = [&](const Record& record) {
    CHECK(record.fields.size() <= 8 * sizeof(FieldMask));
    std::set<std::string_view> names;
    for (const Field& field : record.fields) {
      CAPTURE(field.name);
      const bool is_second = &field != record.fields.data() && second_form(record, *(&field - 1)) == &field;
      CHECK(names.insert(field.name).second != is_second);
      CHECK_FALSE(field.meaning.empty());
      CHECK(field.meaning.find('\n') == std::string_view::npos);
      if (field.type.kind == Kind::record) {
        visit(*field.type.record);
      } else if (field.type.kind == Kind::list && field.type.items->element.kind == Kind::record) {
        visit(*field.type.items->element.record);
      }
    }
  };
  for (const auto& [document, command] : app::catalogue()) {
    CHECK_FALSE(document->title.empty());
    visit(*document->record);
  }
}

TEST_CASE("the committed schemas are those of the descriptions") {
  const test::TemporaryFolder folder;
  for (const auto& [document, command] : app::catalogue()) {
    const std::string kind(document->kind), file = folder.file(kind);
    CHECK(app::run_tidegate({"schema", kind, "-o", file}) == ExitCode::done);
    CHECK_MESSAGE(test::contents(file) ==
                      test::contents(TIDEGATE_SOURCE_DIR "/schemas/" + kind + ".schema.json"),
                  kind << " is stale: run scripts/update-schemas");
  }
}
