#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/schema.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tidegate::documents {
namespace {

using Json = nlohmann::ordered_json;

Json record_schema(const Record& record, Direction direction);

Json type_schema(const Type& type, Direction direction) {
  switch (type.kind) {
  case Kind::boolean: return {{"type", "boolean"}};
  case Kind::u16:
  case Kind::u32:
  case Kind::u64: return {{"type", "integer"}, {"minimum", type.minimum}, {"maximum", type.maximum}};
  case Kind::f64:
    // Outputs write null for a value that is not finite.
    return direction == Direction::output ? Json{{"type", {"number", "null"}}} : Json{{"type", "number"}};
  case Kind::number: return {{"type", "number"}};
  case Kind::text: return {{"type", "string"}};
  case Kind::identifier: // the range is that of an integer
    return {{"type", {"integer", "string"}}, {"minimum", type.minimum}, {"maximum", type.maximum}};
  case Kind::choice: {
    Json schema{{"type", "string"}, {"enum", Json::array()}};
    for (const std::string_view choice : type.choices) {
      schema["enum"].push_back(choice);
    }
    return schema;
  }
  case Kind::record: return record_schema(*type.record, direction);
  case Kind::map:
    return {{"type", "object"}, {"additionalProperties", type_schema(type.map->element, direction)}};
  case Kind::value: return {{"type", {"number", "string", "array", "object"}}};
  case Kind::list: break;
  }
  const Json item = type_schema(type.list->element, direction);
  Json schema{{"type", "array"}, {"items", item}};
  if (type.list->fixed_length != 0) {
    schema["minItems"] = type.list->fixed_length;
    schema["maxItems"] = type.list->fixed_length;
  }
  if (type.or_single) {
    return {{"anyOf", Json::array({item, schema})}};
  }
  if (!type.left_out_word.empty()) {
    return {{"anyOf", Json::array({{{"const", type.left_out_word}}, schema})}};
  }
  return schema;
}

Json field_schema(const Record& record, const Field& field, Direction direction) {
  Json schema = type_schema(field.type, direction);
  std::string meaning(field.meaning);
  if (!field.same_as.empty()) {
    meaning += fmt::format("; left out, it is the value of {}", field.same_as);
  }
  // The description first: that is what a reader looks for.
  Json result{{"description", meaning}};
  result.update(schema);
  // Records show their defaults field by field.
  if (field.presence == Presence::defaulted && field.same_as.empty() && field.type.kind != Kind::record) {
    result["default"] = Json::parse(default_json(record, field));
  }
  return result;
}

void add_fields(const Record& record, Direction direction, Json& properties, Json& required) {
  for (const Field& field : record.fields) {
    properties[std::string(field.name)] = field_schema(record, field, direction);
    if (field.presence == Presence::required) {
      required.push_back(field.name);
    }
  }
}

Json object_schema(Json properties, Json required) {
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  schema["additionalProperties"] = false;
  return schema;
}

Json record_schema(const Record& record, Direction direction) {
  Json properties = Json::object();
  Json required = Json::array();
  add_fields(record, direction, properties, required);
  return object_schema(std::move(properties), std::move(required));
}

} // namespace

std::string schema_id(const Document& document) {
  return fmt::format("urn:tidegate:schema:{}:{}", document.kind, document.schema_version);
}

std::string json_schema(const Document& document) {
  Json properties = Json::object();
  Json required = Json::array();
  if (document.has_kind) {
    properties["kind"] = {{"description", "name of the document type"}, {"const", document.kind}};
    properties["schema_version"] = {{"description", "version of the document type"},
                                    {"const", document.schema_version}};
    if (document.direction == Direction::output) {
      required = {"kind", "schema_version"};
    }
  }
  add_fields(*document.record, document.direction, properties, required);

  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", schema_id(document)},
              {"title", document.kind},
              {"description", document.title}};
  schema.update(object_schema(std::move(properties), std::move(required)));
  return schema.dump(2) + "\n";
}

} // namespace tidegate::documents
