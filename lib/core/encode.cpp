// One encoder for the JSON styles; a table has a row per value.
#include "core/json.hpp"
#include "core/table.hpp"

namespace tidegate::documents {
namespace {

class Encoder {
public:
  Encoder(std::string& json, Style style)
      : json_(json), spaced_(style != Style::compact), brief_(style == Style::brief) {}

  void record(const Record& record, const void* object, const Document* document = nullptr) {
    bracketed("{}", broken_, [&](auto begin_item) {
      if (document != nullptr && document->has_kind) {
        begin_item();
        key("kind");
        append_string(json_, document->kind);
        begin_item();
        key("schema_version");
        append_number(json_, document->schema_version);
      }
      members(record, object, begin_item);
    });
  }

  void value(const Type& type, const void* object) {
    if (brief_ && broken_ && on_one_line(type, object)) {
      return;
    }
    switch (type.kind) {
    case Kind::boolean: json_ += *static_cast<const bool*>(object) ? "true" : "false"; break;
    case Kind::integer: {
      std::uint64_t number = 0;
      std::memcpy(&number, object, type.bytes); // the low bytes come first
      append_number(json_, number);
      break;
    }
    case Kind::f64: append_number(json_, *static_cast<const double*>(object)); break;
    case Kind::number: append_number(json_, *static_cast<const Number*>(object)); break;
    case Kind::text: append_string(json_, *static_cast<const std::string*>(object)); break;
    case Kind::identifier: {
      const auto& identifier = *static_cast<const Identifier*>(object);
      identifier.name() != nullptr ? append_string(json_, *identifier.name())
                                   : append_number(json_, identifier.number());
      break;
    }
    case Kind::choice: append_string(json_, type.choices[*static_cast<const std::uint8_t*>(object)]); break;
    case Kind::record: record(*type.record, object); break;
    case Kind::value: any_value(*static_cast<const Value*>(object)); break;
    case Kind::map:
    case Kind::list:
      if (brief_ && type.or_single && type.items->size(object) == 1) {
        value(type.items->element, type.items->at(object, 0));
      } else {
        items(*type.items, object);
      }
    }
  }

private:
  static bool is_container(Kind kind) {
    return kind == Kind::record || kind == Kind::list || kind == Kind::map;
  }

  // Appends a record, list, map or value on one line if it fits.
  bool on_one_line(const Type& type, const void* object) {
    constexpr std::size_t line_length = 110; // characters
    if (!is_container(type.kind) && type.kind != Kind::value) {
      return false;
    }
    std::string line;
    Encoder encoder(line, Style::brief);
    encoder.broken_ = false;
    encoder.value(type, object);
    const std::size_t column = json_.size() - (json_.rfind('\n') + 1);
    if (column + line.size() > line_length) {
      return false;
    }
    json_ += line;
    return true;
  }

  void members(const Record& record, const void* object, auto begin_item) {
    for (const Field& field : record.fields) {
      const Field* const form = second_form(record, field);
      const void* const given =
          form != nullptr && form->read(object) != nullptr ? nullptr : field.read(object);
      if (given == nullptr) {
        if (!field.type.left_out_word.empty() && !brief_) {
          begin_item();
          key(field.name);
          append_string(json_, field.type.left_out_word);
        }
      } else if (!brief_ || field.presence != Presence::defaulted || !field.same_as.empty() ||
                 !is_default(record, field, object)) {
        begin_item();
        key(field.name);
        value(field.type, given);
      }
    }
  }

  // A list, whose scalars are on one line, or a map.
  void items(const Sequence& items, const void* object) {
    const bool is_map = items.key != nullptr;
    bracketed(is_map ? "{}" : "[]", broken_ && (is_map || is_container(items.element.kind)),
              [&](auto begin_item) {
                for (std::size_t i = 0; i < items.size(object); ++i) {
                  begin_item();
                  if (is_map) {
                    key(items.key(object, i));
                  }
                  value(items.element, items.at(object, i));
                }
              });
  }

  void any_value(const Value& any) {
    if (const auto* const number = std::get_if<Number>(&any.is)) {
      append_number(json_, *number);
    } else if (const auto* const string = std::get_if<std::string>(&any.is)) {
      append_string(json_, *string);
    } else if (const auto* const list = std::get_if<Value::List>(&any.is)) {
      items(detail::sequence<Value::List>, list);
    } else {
      items(detail::sequence<Value::Object>, &std::get<Value::Object>(any.is));
    }
  }

  void key(std::string_view name) {
    append_string(json_, name);
    json_ += spaced_ ? ": " : ":";
  }

  // If `broken`, each item begins a new line. `fill` calls its argument before each item.
  void bracketed(std::string_view brackets, bool broken, auto fill) {
    bool empty = true;
    const auto break_line = [&] {
      if (broken) {
        json_.append(1, '\n').append(depth_ * 2, ' ');
      }
    };
    json_ += brackets.front();
    depth_ += broken ? 1 : 0;
    fill([&] {
      if (!std::exchange(empty, false)) {
        json_ += spaced_ && !broken ? ", " : ",";
      }
      break_line();
    });
    depth_ -= broken ? 1 : 0;
    if (!empty) {
      break_line();
    }
    json_ += brackets.back();
  }

  std::string& json_;
  const bool spaced_;
  const bool brief_;
  bool broken_ = spaced_; // into lines
  std::size_t depth_ = 0; // of broken brackets
};

// Adds a row "name  value" for each present value, recursively; lists of objects use names such as
// "name.0.code".
void add_rows(const Record& record, const void* object, const std::string& prefix, TableRows& rows) {
  for (const Field& field : record.fields) {
    const void* const value = field.read(object);
    const std::string name = prefix + std::string(field.name);
    const Type& type = field.type;
    if (value != nullptr && type.kind == Kind::record) {
      add_rows(*type.record, value, name + ".", rows);
    } else if (value != nullptr && type.kind == Kind::list && type.items->element.kind == Kind::record) {
      for (std::size_t i = 0; i < type.items->size(value); ++i) {
        add_rows(*type.items->element.record, type.items->at(value, i), fmt::format("{}.{}.", name, i), rows);
      }
    } else if (value != nullptr || !type.left_out_word.empty()) {
      std::string text(value == nullptr ? type.left_out_word : "");
      if (value != nullptr) {
        Encoder(text, Style::pretty).value(type, value);
      }
      const bool is_word = text.starts_with('"');
      rows.push_back({name, is_word ? text.substr(1, text.size() - 2) : text});
    }
  }
}

} // namespace

void encode(const Document& document, const void* object, Style style, std::string& json) {
  style == Style::table ? encode(*document.record, object, style, json)
                        : Encoder(json, style).record(*document.record, object, &document);
}

void encode(const Record& record, const void* object, Style style, std::string& json) {
  if (style != Style::table) {
    return Encoder(json, style).record(record, object);
  }
  TableRows rows;
  add_rows(record, object, "", rows);
  json += render_table(std::move(rows));
}

std::string json_of(const Field& field, const void* object) {
  const void* const value = field.read(object);
  std::string json;
  value == nullptr ? append_string(json, field.type.left_out_word)
                   : Encoder(json, Style::compact).value(field.type, value);
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
