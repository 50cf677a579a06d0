// One encoder for the JSON styles; a table has a row per value.
#include "core/json.hpp"
#include "core/table.hpp"
#include <tidegate/core/encode.hpp>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::documents {
namespace {

class Encoder : private JsonWriter {
public:
  Encoder(std::string& json, Style style) : JsonWriter(json, style != Style::compact), style_(style) {}

  void document(const Document& document, const void* object) {
    open('{');
    if (document.has_kind) {
      member("kind", document.kind);
      member("schema_version", document.schema_version);
    }
    members(*document.record, object);
    close('}');
  }

  void record(const Record& record, const void* object) {
    open('{');
    members(record, object);
    close('}');
  }

  using JsonWriter::value;
  void value(const Type& type, const void* object) {
    begin_value();
    if (style_ == Style::brief && is_container(type.kind) && on_one_line(type, object)) {
      return;
    }
    after_key_ = true; // this value has begun
    switch (type.kind) {
    case Kind::boolean: value(*static_cast<const bool*>(object)); break;
    case Kind::u16: value(*static_cast<const std::uint16_t*>(object)); break;
    case Kind::u32: value(*static_cast<const std::uint32_t*>(object)); break;
    case Kind::u64: value(*static_cast<const std::uint64_t*>(object)); break;
    case Kind::f64: value(*static_cast<const double*>(object)); break;
    case Kind::number: value(*static_cast<const Number*>(object)); break;
    case Kind::text: value(*static_cast<const std::string*>(object)); break;
    case Kind::identifier: value(*static_cast<const Identifier*>(object)); break;
    case Kind::choice: value(type.choices[*static_cast<const std::uint8_t*>(object)]); break;
    case Kind::record: record(*type.record, object); break;
    case Kind::map: map(*type.map, object); break;
    case Kind::value: value(*static_cast<const Value*>(object)); break;
    case Kind::list:
      if (leaves_defaults_out_ && type.or_single && type.list->size(object) == 1) {
        value(type.list->element, type.list->at(object, 0));
      } else {
        list(*type.list, object);
      }
    }
  }

private:
  static bool is_container(Kind kind) {
    return kind == Kind::record || kind == Kind::list || kind == Kind::map || kind == Kind::value;
  }

  // Appends the value on one line if it fits.
  bool on_one_line(const Type& type, const void* object) {
    constexpr std::size_t line_length = 110; // characters
    std::string line;
    Encoder encoder(line, Style::brief);
    encoder.broken_ = false;
    encoder.style_ = Style::compact; // for the parts
    encoder.value(type, object);
    const std::size_t column = json_.size() - (json_.rfind('\n') + 1);
    if (column + line.size() > line_length) {
      return false;
    }
    json_ += line;
    return true;
  }

  void members(const Record& record, const void* object) {
    for (const Field& field : record.fields) {
      const Field* const form = second_form(record, field);
      const void* const given =
          form != nullptr && form->read(object) != nullptr ? nullptr : field.read(object);
      if (given == nullptr) {
        if (!field.type.left_out_word.empty() && !leaves_defaults_out_) {
          member(field.name, field.type.left_out_word);
        }
        continue;
      }
      if (leaves_defaults_out_ && field.presence == Presence::defaulted && field.same_as.empty()) {
        std::string json;
        Encoder(json, Style::compact).value(field.type, given);
        if (json == default_json(record, field)) {
          continue;
        }
      }
      key(field.name);
      value(field.type, given);
    }
  }

  void list(const ListAccess& list, const void* object) {
    const std::size_t size = list.size(object);
    const Kind kind = list.element.kind;
    if (size != 0 && (kind == Kind::record || kind == Kind::list || kind == Kind::map)) {
      open('[');
      for (std::size_t i = 0; i < size; ++i) {
        value(list.element, list.at(object, i));
      }
      return close(']');
    }
    verbatim("["); // on one line
    for (std::size_t i = 0; i < size; ++i) {
      json_ += i == 0 ? "" : spaced_ ? ", " : ",";
      after_key_ = true;
      value(list.element, list.at(object, i));
    }
    json_ += ']';
  }

  void map(const MapAccess& map, const void* object) {
    open('{');
    for (std::size_t i = 0; i < map.size(object); ++i) {
      key(map.key(object, i));
      value(map.element, map.at(object, i));
    }
    close('}');
  }

  void value(const Value& any) {
    if (const auto* plain = std::get_if<Number>(&any.is)) {
      value(*plain);
    } else if (const auto* text = std::get_if<std::string>(&any.is)) {
      value(*text);
    } else if (const auto* items = std::get_if<Value::List>(&any.is)) {
      list(detail::list_access<Value::List>, items);
    } else {
      map(detail::map_access<Value::Object>, &std::get<Value::Object>(any.is));
    }
  }

  void value(const Number& number) {
    std::visit([this](auto each) { value(each); }, number);
  }

  void value(const Identifier& identifier) {
    if (identifier.name() != nullptr) {
      value(*identifier.name());
    } else {
      value(identifier.number());
    }
  }

  Style style_;
  bool leaves_defaults_out_ = style_ == Style::brief;
};

// Adds a row "name  value" for each present value, recursively; lists of objects use names such as
// "name.0.code".
void add_rows(const Record& record, const void* object, const std::string& prefix,
              std::vector<std::vector<std::string>>& rows) {
  for (const Field& field : record.fields) {
    const void* const value = field.read(object);
    const std::string name = prefix + std::string(field.name);
    const Type& type = field.type;
    if (value == nullptr) {
      if (!type.left_out_word.empty()) {
        rows.push_back({name, std::string(type.left_out_word)});
      }
    } else if (type.kind == Kind::record) {
      add_rows(*type.record, value, name + ".", rows);
    } else if (type.kind == Kind::list && type.list->element.kind == Kind::record) {
      for (std::size_t i = 0; i < type.list->size(value); ++i) {
        add_rows(*type.list->element.record, type.list->at(value, i), fmt::format("{}.{}.", name, i), rows);
      }
    } else if (type.kind == Kind::text) {
      rows.push_back({name, *static_cast<const std::string*>(value)});
    } else if (type.kind == Kind::choice) {
      rows.push_back({name, std::string(type.choices[*static_cast<const std::uint8_t*>(value)])});
    } else if (type.kind == Kind::boolean) {
      rows.push_back({name, *static_cast<const bool*>(value) ? "yes" : "no"});
    } else {
      std::string text;
      Encoder(text, Style::pretty).value(type, value);
      rows.push_back({name, std::move(text)});
    }
  }
}

} // namespace

void encode(const Document& document, const void* object, Style style, std::string& json) {
  if (style == Style::table) {
    std::vector<std::vector<std::string>> rows;
    add_rows(*document.record, object, "", rows);
    json += render_table(std::move(rows));
    return;
  }
  Encoder(json, style).document(document, object);
}

void encode(const Record& record, const void* object, Style style, std::string& json) {
  Encoder(json, style).record(record, object);
}

std::string default_json(const Record& record, const Field& field) {
  const void* const value = field.read(record.defaults());
  if (value == nullptr) {
    return fmt::format("\"{}\"", field.type.left_out_word);
  }
  return json_of(field, record.defaults());
}

std::string json_of(const Field& field, const void* object) {
  std::string json;
  Encoder(json, Style::compact).value(field.type, field.read(object));
  return json;
}

// Diagnostics: the notes on non-finite values of outputs.

constexpr Field diagnostic_fields[] = {
    required<&Diagnostic::code>("stable name"),
    required<&Diagnostic::pointer>("the value, as an RFC 6901 pointer into this document"),
    required<&Diagnostic::message>("the original value"),
};
TIDEGATE_RECORD(Diagnostic, diagnostic_fields);

std::optional<std::vector<Diagnostic>> non_finite_diagnostics(std::string_view pointer,
                                                              std::span<const double> values) {
  std::vector<Diagnostic> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      const std::string_view what = std::isnan(values[i]) ? "not a number"
                                    : values[i] > 0       ? "+infinity"
                                                          : "-infinity";
      found.push_back({.code = "non_finite",
                       .pointer = fmt::format("{}/{}", pointer, i),
                       .message = fmt::format("the value is {}, which JSON cannot hold", what)});
    }
  }
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

} // namespace tidegate::documents
