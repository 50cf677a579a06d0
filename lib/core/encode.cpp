// One encoder for all styles.
#include "core/json.hpp"

namespace tidegate::documents {
namespace {

bool is_container(Kind kind) {
  return kind == Kind::record || kind == Kind::list || kind == Kind::map;
}

class Encoder {
public:
  Encoder(std::string& json, Style style)
      : json_(json), spaced_(style != Style::compact), brief_(style == Style::brief) {}

  void record(const Record& record, const void* object, const Document* document = nullptr) {
    open('{', broken_);
    if (document != nullptr && document->has_kind) {
      key("kind");
      append_string(json_, document->kind);
      key("schema_version");
      append_number(json_, std::uint64_t{document->schema_version});
    }
    for (const Field& each : record.fields) {
      const Field* const form = second_form(record, each);
      const bool has_form = form != nullptr && form->read(object) != nullptr;
      const void* const given = has_form ? nullptr : each.read(object);
      const bool is_left_out = given == nullptr
                                   ? brief_ || each.type.left_out_word.empty()
                                   : brief_ && each.presence == Presence::defaulted && each.same_as.empty() &&
                                         is_default(record, each, object);
      if (!is_left_out) {
        key(each.name);
        field(each, given);
      }
    }
    close('}', broken_);
  }

  // A field's value, or the word for none.
  void field(const Field& field, const void* given) {
    given == nullptr ? append_string(json_, field.type.left_out_word) : value(field.type, given);
  }

private:
  void value(const Type& type, const void* object) {
    if (brief_ && broken_ && is_container(type.kind) && on_one_line(type, object)) {
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
    case Kind::map:
    case Kind::list:
      if (brief_ && type.or_single && type.items->size(object) == 1) {
        value(type.items->element, type.items->at(object, 0));
      } else {
        items(*type.items, object);
      }
      break;
    case Kind::value:
      std::visit([this](const auto& is) { value(detail::type_of<std::remove_cvref_t<decltype(is)>>(), &is); },
                 static_cast<const Value*>(object)->is);
    }
  }

  // Appends a record, list or map on one line if it fits.
  bool on_one_line(const Type& type, const void* object) {
    constexpr std::size_t line_length = 110; // characters
    std::string line;
    Encoder encoder(line, Style::brief);
    encoder.broken_ = false;
    encoder.value(type, object);
    const std::size_t column = json_.size() - (json_.rfind('\n') + 1);
    const bool fits = column + line.size() <= line_length;
    json_ += fits ? line : "";
    return fits;
  }

  // A list, whose scalars are on one line, or a map.
  void items(const Sequence& items, const void* object) {
    const bool is_map = items.key != nullptr,
               broken = broken_ && (is_map || is_container(items.element.kind));
    open(is_map ? '{' : '[', broken);
    for (std::size_t i = 0; i < items.size(object); ++i) {
      is_map ? key(items.key(object, i)) : begin_item(broken);
      value(items.element, items.at(object, i));
    }
    close(is_map ? '}' : ']', broken);
  }

  void open(char bracket, bool broken) {
    json_ += bracket;
    depth_ += broken ? 1 : 0;
  }

  void begin_item(bool broken) {
    if (!is_open()) {
      json_ += spaced_ && !broken ? ", " : ",";
    }
    break_line(broken);
  }

  void key(std::string_view name) {
    begin_item(broken_);
    append_string(json_, name);
    json_ += spaced_ ? ": " : ":";
  }

  void close(char bracket, bool broken) {
    depth_ -= broken ? 1 : 0;
    break_line(broken && !is_open());
    json_ += bracket;
  }

  [[nodiscard]] bool is_open() const { return json_.back() == '{' || json_.back() == '['; }

  void break_line(bool broken) {
    if (broken) {
      json_.append(1, '\n').append(depth_ * 2, ' ');
    }
  }

  std::string& json_;
  const bool spaced_;
  const bool brief_;
  bool broken_ = spaced_; // into lines: records and maps
  std::size_t depth_ = 0; // of broken brackets
};

} // namespace

void encode(const Document& document, const void* object, Style style, std::string& json) {
  Encoder(json, style).record(*document.record, object, &document);
}

void encode(const Record& record, const void* object, Style style, std::string& json) {
  Encoder(json, style).record(record, object);
}

std::string json_of(const Field& field, const void* object) {
  std::string json;
  Encoder(json, Style::compact).field(field, field.read(object));
  return json;
}

} // namespace tidegate::documents
