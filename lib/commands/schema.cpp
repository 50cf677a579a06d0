#include <tidegate/commands/schema.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/documents/catalogue.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/report_documents.hpp>
#include <tidegate/documents/schema.hpp>

#include <utility>

namespace tidegate::commands {
namespace {

documents::SchemaList list() {
  documents::SchemaList list;
  for (const documents::Document* document : documents::catalogue()) {
    list.schemas.push_back(
        {.name = std::string(document->kind),
         .title = std::string(document->title),
         .direction = document->direction == documents::Direction::input ? "input" : "output",
         .id = documents::schema_id(*document)});
  }
  return list;
}

} // namespace

Result<std::string> schema_text(std::string_view name, bool table) {
  if (name.empty() && !table) {
    return documents::encode(list()) + '\n';
  }
  if (name.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const documents::SchemaEntry& entry : list().schemas) {
      rows.push_back({entry.name, entry.direction, entry.title});
    }
    return render_table(rows);
  }
  const auto document = documents::find_document(name);
  if (!document) {
    Error error = document.error();
    error.code = ErrorCode::invalid_usage; // the name stands on the command line
    return tl::unexpected(std::move(error));
  }
  return table ? documents::reference_text(**document) : documents::json_schema(**document);
}

} // namespace tidegate::commands
