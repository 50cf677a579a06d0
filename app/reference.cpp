// Reference text: schema.hpp's reference_text().
#include "app/schema.hpp"
#include "core/table.hpp"
#include <tidegate/core/encode.hpp>

#include <fmt/format.h>

namespace tidegate::documents {
namespace {

std::string type_word(const Type& type) {
  switch (type.kind) {
  case Kind::boolean: return "bool";
  case Kind::u16: return "u16";
  case Kind::u32: return "u32";
  case Kind::u64: return "u64";
  case Kind::f64: return "f64";
  case Kind::number: return "number";
  case Kind::text: return "string";
  case Kind::identifier: return "u64|string";
  case Kind::choice: return "name";
  case Kind::record: return "object";
  case Kind::map: return type_word(type.map->element) + "{}";
  case Kind::value: return "value";
  case Kind::list: break;
  }
  const std::string element = type_word(type.list->element);
  const std::string list =
      type.list->fixed_length == 0 ? element + "[]" : fmt::format("{}[{}]", element, type.list->fixed_length);
  if (type.or_single) {
    return fmt::format("{}|{}", element, list);
  }
  return type.left_out_word.empty() ? list : fmt::format("\"{}\"|{}", type.left_out_word, list);
}

std::string default_word(const Record& record, const Field& field) {
  switch (field.presence) {
  case Presence::required: return "required";
  case Presence::optional: return "optional";
  case Presence::defaulted: break;
  }
  if (!field.same_as.empty()) {
    return fmt::format("{}", field.same_as);
  }
  if (field.type.kind == Kind::record) {
    return "standard";
  }
  return default_json(record, field);
}

// All element types; formats of images are too many for a line.
constexpr std::size_t most_listed = 12;

std::string meaning_words(const Field& field) {
  std::string words(field.meaning);
  if (field.type.kind == Kind::choice && field.type.choices.size() <= most_listed) {
    words += ": ";
    for (std::size_t i = 0; i < field.type.choices.size(); ++i) {
      words += fmt::format("{}{}", i == 0 ? "" : ", ", field.type.choices[i]);
    }
  }
  return words;
}

void add_rows(const Record& record, const std::string& prefix, Direction direction,
              std::vector<std::vector<std::string>>& rows) {
  for (const Field& field : record.fields) {
    const std::string key = prefix + std::string(field.name);
    const std::string presence = direction == Direction::output && field.presence == Presence::required
                                     ? "always"
                                     : default_word(record, field);
    rows.push_back({key, type_word(field.type), presence, meaning_words(field)});
    if (field.type.kind == Kind::record) {
      add_rows(*field.type.record, key + ".", direction, rows);
    } else if (field.type.kind == Kind::list && field.type.list->element.kind == Kind::record) {
      add_rows(*field.type.list->element.record, key + "[].", direction, rows);
    } else if (field.type.kind == Kind::map && field.type.map->element.kind == Kind::record) {
      add_rows(*field.type.map->element.record, key + ".NAME.", direction, rows);
    }
  }
}

} // namespace

std::string reference_text(const Document& document) {
  const bool input = document.direction == Direction::input;
  std::vector<std::vector<std::string>> rows{{"key", "type", input ? "default" : "present", "meaning"}};
  if (document.has_kind) {
    const std::string presence = input ? "optional" : "always";
    rows.push_back({"kind", "string", presence, fmt::format("\"{}\"", document.kind)});
    rows.push_back({"schema_version", "u32", presence, std::to_string(document.schema_version)});
  }
  add_rows(*document.record, "", document.direction, rows);
  std::string notes = document.notes.empty() ? "" : "\n";
  for (const std::string_view note : document.notes) {
    notes += fmt::format("{}\n", note);
  }
  return fmt::format("{} ({}): {}\n\n{}{}", document.kind, input ? "input" : "output", document.title,
                     render_table(rows), notes);
}

} // namespace tidegate::documents
