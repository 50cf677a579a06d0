// `tidegate schema`: lists the document types, or writes one as JSON Schema (2020-12) or a table, from its description.
#include "app/documents.hpp"
#include "app/run.hpp"
#include "core/json.hpp"
#include "traversal/documents.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

using namespace documents;

using Json = nlohmann::ordered_json;

Json object_schema(Json properties, Json required, const Record* record = nullptr) {
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  for (const Rule& rule : record != nullptr ? record->rules : std::span<const Rule>()) {
    const std::vector<std::string_view> names = names_of(*record, rule.keys);
    Json forms = Json::array();
    for (const std::string_view name : names) {
      forms.push_back({{"required", {name}}});
    }
    if (rule.of == 0) {
      schema["allOf"].push_back({{"oneOf", std::move(forms)}});
      continue;
    }
    for (const std::string_view dependent : names_of(*record, rule.of)) {
      const std::string key(dependent);
      if (names.size() == 1) {
        schema["dependentRequired"][key] = names;
      } else {
        schema["dependentSchemas"][key] = {{"anyOf", forms}};
      }
    }
  }
  schema["additionalProperties"] = false;
  return schema;
}

std::string type_word(const Type& type) {
  if (type.kind == Kind::integer) {
    return fmt::format("u{}", 8 * type.bytes);
  }
  if (type.kind == Kind::map) {
    return type_word(type.items->element) + "{}";
  }
  if (type.kind != Kind::list) {
    return std::string(kind_words[static_cast<std::size_t>(type.kind)].type);
  }
  const std::string element = type_word(type.items->element);
  const std::string list = type.items->fixed_length == 0
                               ? element + "[]"
                               : fmt::format("{}[{}]", element, type.items->fixed_length);
  if (type.or_single) {
    return fmt::format("{}|{}", element, list);
  }
  return type.left_out_word.empty() ? list : fmt::format("\"{}\"|{}", type.left_out_word, list);
}

// Makes the schema of one document. Integers and records become definitions, named after the first key that has them.
class SchemaWriter {
public:
  // With `parameters`, a parameter may stand in place of each number.
  SchemaWriter(Direction direction, bool parameters) : direction_(direction), parameters_(parameters) {}

  void add_fields(const Record& record, Json& properties, Json& required) {
    for (const Field& field : record.fields) {
      Json& property = properties[std::string(field.name)];
      Json schema = field_schema(record, field);
      property = property.is_null() ? std::move(schema)
                                    : Json{{"anyOf", Json::array({property, std::move(schema)})}};
      if (field.presence == Presence::required) {
        required.push_back(field.name);
      }
    }
  }

  [[nodiscard]] Json definitions() { return std::move(definitions_); }

private:
  // Returns a reference to the definition that stands for `key`, which is made on its first use.
  Json defined(const void* key, std::string_view name, const std::function<Json()>& make) {
    std::string& known = names_[key];
    if (known.empty()) {
      known = name;
      for (int next = 2; definitions_.contains(known); ++next) {
        known = fmt::format("{}_{}", name, next);
      }
      definitions_[known] = nullptr; // its parts get other names
      Json schema = make();
      definitions_[known] = std::move(schema);
    }
    return {{"$ref", "#/$defs/" + known}};
  }

  [[nodiscard]] Json number_schema(Json number) const {
    return parameters_ ? Json{{"anyOf", Json::array({std::move(number), {{"$ref", "#/$defs/parameter"}}})}}
                       : number;
  }

  Json integer_schema(const Type& type) {
    const Json range =
        number_schema({{"type", "integer"}, {"minimum", type.minimum}, {"maximum", type.maximum}});
    const bool whole = type.minimum == 0 && type.maximum == ~std::uint64_t{0} >> (64 - 8 * type.bytes);
    return whole ? defined(kind_words.data() + type.bytes, type_word(type), [&] { return range; }) : range;
  }

  Json type_schema(const Type& type, std::string_view key) {
    switch (type.kind) {
    case Kind::boolean: return {{"type", "boolean"}};
    case Kind::integer: return integer_schema(type);
    case Kind::f64:
      // Outputs write null for a value that is not finite.
      return direction_ == Direction::output || type.or_null ? Json{{"type", {"number", "null"}}}
                                                             : number_schema({{"type", "number"}});
    case Kind::number: return number_schema({{"type", "number"}});
    case Kind::text: return {{"type", "string"}};
    case Kind::identifier: // the range is that of an integer
      return {{"type", {"integer", "string"}}, {"minimum", type.minimum}, {"maximum", type.maximum}};
    case Kind::choice: return {{"type", "string"}, {"enum", words_of(type)}};
    case Kind::record:
      return defined(type.record, key, [&] {
        Json properties = Json::object();
        Json required = Json::array();
        add_fields(*type.record, properties, required);
        return object_schema(std::move(properties), std::move(required), type.record);
      });
    case Kind::map:
      return {{"type", "object"}, {"additionalProperties", type_schema(type.items->element, key)}};
    case Kind::value: return {{"type", {"number", "string", "array", "object"}}};
    case Kind::list: break;
    }
    const Json item = type_schema(type.items->element, key);
    Json schema{{"type", "array"}, {"items", item}};
    if (type.items->fixed_length != 0) {
      schema["minItems"] = type.items->fixed_length;
      schema["maxItems"] = type.items->fixed_length;
    }
    if (type.or_single) {
      return {{"anyOf", Json::array({item, schema})}};
    }
    if (!type.left_out_word.empty()) {
      return {{"anyOf", Json::array({{{"const", type.left_out_word}}, schema})}};
    }
    return schema;
  }

  Json field_schema(const Record& record, const Field& field) {
    Json schema = type_schema(field.type, field.name);
    std::string meaning(field.meaning);
    if (!field.same_as.empty()) {
      meaning += fmt::format("; left out, it is the value of {}", field.same_as);
    }
    // The description first: that is what a reader looks for.
    Json result{{"description", meaning}};
    result.update(schema);
    // Records show their defaults field by field.
    if (field.presence == Presence::defaulted && field.same_as.empty() && field.type.kind != Kind::record) {
      result["default"] = Json::parse(json_of(field, record.create().get()));
    }
    return result;
  }

  Direction direction_;
  bool parameters_;
  Json definitions_ = Json::object();
  std::map<const void*, std::string> names_; // of definitions
};

// The JSON with each value on one line where it fits, or has no parts that could be taken apart.
std::string laid_out(const Json& value, std::size_t indent = 0) {
  constexpr std::size_t line_width = 150;
  std::string line = value.dump();
  const bool plain = std::ranges::none_of(value, [](const Json& part) { return part.is_structured(); });
  if (plain || indent + line.size() <= line_width) {
    return line;
  }
  std::string text;
  for (const auto& [key, part] : value.items()) {
    text += fmt::format("{}\n{:{}}{}{}", text.empty() ? "" : ",", "", indent + 2,
                        value.is_object() ? Json(key).dump() + ": " : "", laid_out(part, indent + 2));
  }
  return fmt::format("{}{}\n{:{}}{}", line.front(), text, "", indent, line.back());
}

// MINOR rises with fields that are added, or may be left out now; documents carry MAJOR alone.
std::string schema_id(const Document& document) {
  const bool of_runs = &document == &DocumentOf<engine::RunReport>::document ||
                       &document == &DocumentOf<traversal::FrontierReport>::document;
  const int minor = of_runs ? 2 : &document == &DocumentOf<CheckReport>::document ? 1 : 0;
  return fmt::format("urn:tidegate:schema:{}:{}.{}", document.kind, document.schema_version, minor);
}

constexpr std::string_view settings_name = "run_settings";

// Settings are no document: they have a reference and no schema.
std::string settings_reference() {
  AskedRun unused;
  std::string text = "Settings of tidegate run, each given as --set KEY=VALUE or --KEY VALUE\n";
  for (const OptionModel& setting : run_settings(unused)) {
    text += fmt::format("\n  {}={}\n{}", setting.names.front(), setting.value,
                        render_table({{"     ", setting.meaning}}, text_width(100)));
  }
  return text;
}

// The bytes committed as schemas/KIND.schema.json.
std::string json_schema(const Document& document) {
  Json properties = Json::object();
  Json required = Json::array();
  if (document.has_kind) {
    properties["kind"] = {{"description", "name of the document type"}, {"const", document.kind}};
    properties["schema_version"] = {{"description", "version of the document type"},
                                    {"const", document.schema_version}};
    if (document.direction == Direction::output) {
      required = {"kind", "schema_version"};
    } else {
      properties["$schema"] = {{"description", "for editors; has no effect"}, {"type", "string"}};
    }
  }
  const bool parameters =
      std::ranges::find(document.record->fields, "parameters", &Field::name) != document.record->fields.end();
  SchemaWriter writer(document.direction, parameters);
  writer.add_fields(*document.record, properties, required);
  Json definitions = writer.definitions();

  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", schema_id(document)},
              {"title", document.kind},
              {"description", document.title}};
  if (parameters) {
    definitions["parameter"] = object_schema({{"parameter", {{"type", "string"}}}}, {"parameter"});
  }
  schema.update(object_schema(std::move(properties), std::move(required), document.record));
  if (!definitions.empty()) {
    schema["$defs"] = std::move(definitions);
  }
  return laid_out(schema) + "\n";
}

std::string default_word(const Record& record, const Field& field) {
  return field.presence == Presence::required   ? "required"
         : field.presence == Presence::optional ? "optional"
         : !field.same_as.empty()               ? std::string(field.same_as)
         : field.type.kind == Kind::record      ? "standard"
                                                : json_of(field, record.create().get());
}

// Tables leave out longer lists of choices: the element types fit a line, image formats do not.
constexpr std::size_t most_listed = 12;

std::string meaning_words(const Field& field) {
  std::string words(field.meaning);
  if (field.type.kind == Kind::choice && field.type.choices.size() <= most_listed) {
    words += fmt::format(": {}", fmt::join(words_of(field.type), ", "));
  }
  return words;
}

// "one of fill and iota", or the keys that a key needs.
std::vector<std::string> rule_words(const Record& record, const Field& field) {
  const FieldMask bit = FieldMask{1} << (&field - record.fields.data());
  std::vector<std::string> words;
  for (const Rule& rule : record.rules) {
    if (rule.of == bit) {
      words.push_back(fmt::format("; with {}", one_of(names_of(record, rule.keys))));
    } else if (rule.of == 0 && (rule.keys & bit) != 0 && (rule.keys & (bit - 1)) == 0) {
      words.push_back(fmt::format("; exactly one of {}", one_of(names_of(record, rule.keys))));
    }
  }
  return words;
}

void add_rows(const Record& record, const std::string& prefix, Direction direction, TableRows& rows) {
  for (const Field& field : record.fields) {
    const std::string key = prefix + std::string(field.name);
    const std::string presence = direction == Direction::output && field.presence == Presence::required
                                     ? "always"
                                     : default_word(record, field);
    rows.push_back({key, type_word(field.type), presence,
                    fmt::format("{}{}", meaning_words(field), fmt::join(rule_words(record, field), ""))});
    const bool is_list = field.type.kind == Kind::list, is_map = field.type.kind == Kind::map;
    const Type& inner = is_list || is_map ? field.type.items->element : field.type;
    if (inner.kind == Kind::record) {
      add_rows(*inner.record, key + (is_list ? "[]." : is_map ? ".NAME." : "."), direction, rows);
    }
  }
}

// The fields as a table for people: key, type, default and meaning.
std::string reference_text(const Document& document) {
  const bool input = document.direction == Direction::input;
  TableRows rows{{"key", "type", input ? "default" : "present", "meaning"}};
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

SchemaList list() {
  SchemaList list;
  for (const auto& [document, command] : catalogue()) {
    list.schemas.push_back({.name = std::string(document->kind),
                            .title = std::string(document->title),
                            .direction = document->direction == Direction::input ? "input" : "output",
                            .id = schema_id(*document)});
  }
  return list;
}

std::string list_table(const SchemaList& list, bool /*colour*/) {
  TableRows rows;
  for (const SchemaEntry& entry : list.schemas) {
    rows.push_back({entry.name, entry.direction, entry.title});
  }
  return render_table(rows);
}

struct SchemaSettings {
  std::string name; // empty: the list of all
  std::string output = "-";
  std::string_view format{};
};

Result<ExitCode> run_schema(const SchemaSettings& settings) {
  if (settings.name.empty()) {
    return write_document(settings.output, settings.format, list(), list_table);
  }
  if (settings.name == settings_name) {
    return write_text(settings.output, settings_reference());
  }
  const auto document = find_document(settings.name);
  if (!document) {
    Error error = document.error();
    error.code = ErrorCode::invalid_usage; // the name stands on the command line
    return tl::unexpected(std::move(error));
  }
  return write_text(settings.output, is_table(settings.format, settings.output) ? reference_text(**document)
                                                                                : json_schema(**document));
}

} // namespace

CommandModel schema_command() {
  const auto settings = std::make_shared<SchemaSettings>();
  OptionModel name =
      option("", as_text("[NAME]"), settings->name, "Document type, or run_settings; none lists the types");
  name.choices = document_kinds();
  name.choices.emplace_back(settings_name);
  return {
      .options = {format_option(settings->format), output_option(settings->output)},
      .positionals = {std::move(name)},
      .examples = {{"Everything that may stand in a program:", "tidegate schema wave_program --format table"},
                   {"For an editor that completes and checks:",
                    "tidegate schema wave_program -o program.schema.json"},
                   {"The settings of `tidegate run --set KEY=VALUE`:", "tidegate schema run_settings"}},
      .run = [settings] { return run_schema(*settings); }};
}

} // namespace tidegate::app
