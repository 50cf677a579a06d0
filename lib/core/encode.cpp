// One encoder for the JSON styles; a table has a row per value.
#include "core/json_text.hpp"
#include "core/table.hpp"
#include <tidegate/core/encode.hpp>

#include <fmt/format.h>

#include <charconv>
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
    open_bracket('{');
    members(record, object);
    close('}');
  }

  void value(const Type& type, const void* value) {
    begin_value();
    if (style_ == Style::brief && is_container(type) && on_one_line(type, value)) {
      return;
    }
    switch (type.kind) {
    case Kind::boolean: json_ += *static_cast<const bool*>(value) ? "true" : "false"; break;
    case Kind::u16: unsigned_integer(*static_cast<const std::uint16_t*>(value)); break;
    case Kind::u32: unsigned_integer(*static_cast<const std::uint32_t*>(value)); break;
    case Kind::u64: unsigned_integer(*static_cast<const std::uint64_t*>(value)); break;
    case Kind::f64: append_number(json_, *static_cast<const double*>(value)); break;
    case Kind::number: number(*static_cast<const Number*>(value)); break;
    case Kind::text: append_string(json_, *static_cast<const std::string*>(value)); break;
    case Kind::identifier: identifier(*static_cast<const Identifier*>(value)); break;
    case Kind::choice: append_string(json_, type.choices[*static_cast<const std::uint8_t*>(value)]); break;
    case Kind::record: record(*type.record, value); break;
    case Kind::list:
      if (leaves_defaults_out_ && type.or_single && type.list->size(value) == 1) {
        after_key_ = true;
        this->value(type.list->element, type.list->at(value, 0));
      } else {
        list(*type.list, value);
      }
      break;
    case Kind::map: map(*type.map, value); break;
    case Kind::value: structured(*static_cast<const Value*>(value)); break;
    }
  }

private:
  static bool is_container(const Type& type) {
    return type.kind == Kind::record || type.kind == Kind::list || type.kind == Kind::map ||
           type.kind == Kind::value;
  }

  // Appends the value on one line if it fits.
  bool on_one_line(const Type& type, const void* value) {
    constexpr std::size_t line_length = 110; // characters
    std::string line;
    Encoder encoder(line, Style::brief);
    encoder.broken_ = false;
    encoder.style_ = Style::compact; // for the parts
    encoder.leaves_defaults_out_ = true;
    encoder.value(type, value);
    const std::size_t column = json_.size() - (json_.rfind('\n') + 1);
    if (column + line.size() > line_length) {
      return false;
    }
    json_ += line;
    return true;
  }

  [[nodiscard]] bool left_out(const Record& record, const Field& field, const void* value) const {
    if (!leaves_defaults_out_ || field.presence != Presence::defaulted || !field.same_as.empty()) {
      return false;
    }
    std::string json;
    Encoder(json, Style::compact).value(field.type, value);
    return json == default_json(record, field);
  }

  void members(const Record& record, const void* object) {
    for (const Field& field : record.fields) {
      const Field* const form = second_form(record, field);
      const void* const value =
          form != nullptr && form->read(object) != nullptr ? nullptr : field.read(object);
      if (value == nullptr) {
        if (!field.type.left_out_word.empty() && !leaves_defaults_out_) {
          member(field.name, field.type.left_out_word);
        }
      } else if (!left_out(record, field, value)) {
        key(field.name);
        this->value(field.type, value);
      }
    }
  }

  void list(const ListAccess& list, const void* object) {
    const std::size_t size = list.size(object);
    const Kind kind = list.element.kind;
    const bool nested = kind == Kind::record || kind == Kind::list || kind == Kind::map;
    if (size == 0 || !nested) {
      json_ += '[';
      for (std::size_t i = 0; i < size; ++i) {
        if (i > 0) {
          json_ += spaced_ ? ", " : ",";
        }
        after_key_ = true; // separated from the one before
        value(list.element, list.at(object, i));
      }
      json_ += ']';
      return;
    }
    open_bracket('[');
    for (std::size_t i = 0; i < size; ++i) {
      value(list.element, list.at(object, i));
    }
    close(']');
  }

  void map(const MapAccess& map, const void* object) {
    open_bracket('{');
    for (std::size_t i = 0; i < map.size(object); ++i) {
      separate();
      append_string(json_, map.key(object, i));
      json_ += spaced_ ? ": " : ":";
      after_key_ = true;
      value(map.element, map.at(object, i));
    }
    close('}');
  }

  void structured(const Value& value) {
    if (const auto* plain = std::get_if<Number>(&value.is)) {
      number(*plain);
    } else if (const auto* text = std::get_if<std::string>(&value.is)) {
      append_string(json_, *text);
    } else if (const auto* items = std::get_if<Value::List>(&value.is)) {
      list(detail::list_access<Value::List>, items);
    } else {
      map(detail::map_access<Value::Object>, &std::get<Value::Object>(value.is));
    }
  }

  void number(const Number& number) {
    if (const auto* natural = std::get_if<std::uint64_t>(&number)) {
      unsigned_integer(*natural);
    } else if (const auto* negative = std::get_if<std::int64_t>(&number)) {
      json_ += std::to_string(*negative);
    } else {
      append_number(json_, std::get<double>(number));
    }
  }

  void identifier(const Identifier& identifier) {
    if (identifier.name() != nullptr) {
      append_string(json_, *identifier.name());
    } else {
      unsigned_integer(identifier.number());
    }
  }

  void unsigned_integer(std::uint64_t value) {
    constexpr std::size_t longest = 20; // digits of 2^64 - 1
    char text[longest];
    json_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
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
  std::string json;
  Encoder(json, Style::compact).value(field.type, value);
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
