// Any text as any document: decoding ends in a sound error or in an object that survives a round trip; waves
// and buffers that were decoded can be planned, drawn and told.
#include "app/command_line.hpp"
#include "app/plan.hpp"
#include "core/json.hpp"
#include "fuzz.hpp"
#include <tidegate/planning/documents.hpp>

using namespace tidegate;

namespace {

void round_trip(const documents::Document& document, std::string_view json) {
  const auto object = document.record->create();
  const auto decoded = documents::decode(document, json, object.get());
  if (!decoded) {
    fuzz::require_sound(app::located(decoded.error(), json));
    return;
  }
  std::string first;
  documents::encode(document, object.get(), documents::Style::pretty, first);
  const auto again = document.record->create();
  fuzz::require(documents::decode(document, first, again.get()).has_value(), "what was encoded is read");
  std::string second;
  documents::encode(document, again.get(), documents::Style::pretty, second);
  fuzz::require(first == second, "what is read again is the same");
}

void plan(std::string_view json) {
  auto document = documents::decode<documents::NamedWaveDag>(json);
  if (!document) {
    return; // a program would read its sources
  }
  const auto planned = app::plan_document(json, {});
  if (!planned) {
    fuzz::require_sound(planned.error());
    return;
  }
  const std::string table = app::plan_table(*planned, {}, false);
  const std::string picture = app::plan_svg(*planned, {});
  for (const std::string& text : {table, picture}) {
    fuzz::require(text.find_first_of("\x1b\x07\r") == std::string::npos, "tables and pictures are printable");
  }
}

} // namespace

FUZZ_TARGET(documents) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  fuzz::require(!app::catalogue().empty(), "there are documents to decode");
  for (const auto& [document, command] : app::catalogue()) {
    round_trip(*document, json);
  }
  const auto checked = app::check_document(json, {}, "input", {});
  if (checked.error) {
    fuzz::require_sound(*checked.error);
  }
  plan(json);
  return 0;
}
