// Walks a parsed text along the description.
//
// After an error the walk continues after the invalid value, so that all errors are reported at once.
#include "core/json.hpp"
#include "core/npy.hpp"

namespace tidegate::documents {

std::vector<std::string_view> words_of(const Type& type) {
  std::vector<std::string_view> words(type.left_out_word.empty() ? 0 : 1, type.left_out_word);
  words.insert(words.end(), type.choices.begin(), type.choices.end());
  return words;
}

namespace {

// Where a value goes: an item, or a field, which is only written if the value is valid: a reply to a request that cannot be
// decoded has the request's id, if there is one.
struct Target {
  void* object = nullptr;
  const Field* field = nullptr;

  [[nodiscard]] void* address() const { return field != nullptr ? field->write(object) : object; }
  template <class T>
  void store(T value) const {
    *static_cast<T*>(address()) = std::move(value);
  }
};

// Returns '0' for a number, 't' for true and false, else the first character.
char form_of(JsonValue value) {
  const char first = value.first();
  return first == '-' || (first >= '0' && first <= '9') ? '0' : first == 'f' ? 't' : first;
}

// Returns the expression of {"parameter": "n * 4"}.
std::optional<JsonValue> expression_of(JsonValue value) {
  std::string room;
  const JsonValue key = value.inner();
  const bool is_use = value.first() == '{' && key != value.close() && key.next().next() == value.close() &&
                      key.string(room) == "parameter" && key.next().first() == '"';
  return is_use ? std::optional(key.next()) : std::nullopt;
}

std::string_view found(JsonValue value) {
  constexpr std::array<std::string_view, 6> words{"an object", "an array", "a string",
                                                  "true",      "false",    "null"};
  const std::size_t at = std::string_view("{[\"tfn").find(value.first());
  return at >= words.size() || expression_of(value) ? "a number" : words[at];
}

constexpr std::size_t few_choices = 12; // at most this many are listed in one line

// "an integer from 0 to 65535"
std::string type_phrase(const Type& type) {
  if (type.kind == Kind::choice) {
    return type.choices.size() <= few_choices
               ? "one of the names " + one_of(words_of(type))
               : fmt::format("one of {} names, such as \"{}\"", type.choices.size(), type.choices.front());
  }
  if (!type.left_out_word.empty()) {
    return fmt::format("an array or \"{}\"", type.left_out_word);
  }
  if (type.or_single) {
    return type_phrase(type.items->element) + " or an array of them";
  }
  return fmt::format(fmt::runtime(kind_words[static_cast<std::size_t>(type.kind)].phrase), type.minimum,
                     type.maximum) +
         (type.or_null ? " or null" : "");
}

// Lists the required keys: "give an object" alone does not help a reader who has never seen one.
std::string fix_for_type(const Type& type) {
  if (type.kind != Kind::record) {
    return "give " + type_phrase(type);
  }
  std::vector<std::string_view> keys;
  for (const Field& field : type.record->fields) {
    if (field.presence == Presence::required) {
      keys.push_back(field.name);
    }
  }
  return keys.empty() ? fmt::format("give an object such as {{\"{}\": …}}", type.record->fields.front().name)
                      : fmt::format("give an object: {{\"{}\": …}}", fmt::join(keys, "\": …, \""));
}

std::optional<JsonValue> member(JsonValue object, std::string_view key) {
  return find_inner(object, [key](std::string_view name, JsonValue) { return name == key; });
}

// Returns the number of fields if none has the name.
std::size_t index_of(const Record& record, std::string_view name) {
  const auto found = std::ranges::find(record.fields, name, &Field::name);
  return static_cast<std::size_t>(found - record.fields.begin());
}

// The keys of a document in addition to those of its record. Inputs may name their schema for editors.
struct Envelope {
  std::string kind;
  std::uint32_t schema_version = 0;
  std::string schema{};
};
constexpr Field fields_of_envelope[] = {defaulted<&Envelope::schema>("").named("$schema"),
                                        defaulted<&Envelope::kind>(""),
                                        defaulted<&Envelope::schema_version>("")};

Record envelope_of(const Document& document) {
  const std::span<const Field> fields = std::span(fields_of_envelope).first(document.has_kind ? 3 : 1);
  return {.fields = fields.subspan(document.direction == Direction::input ? 0 : 1)};
}

class Walk {
public:
  Walk(const Document& document, std::string_view json, JsonValue whole)
      : document_(document), envelope_(envelope_of(document)), json_(json), whole_(whole) {}

  // Returns all errors.
  Result<void> run(void* object, std::span<const Parameter> given) {
    if (whole_.first() != '{') {
      fail(whole_, ErrorCode::wrong_type, fmt::format("expected an object, got {}", found(whole_)),
           fmt::format("a {} is one JSON object", document_.kind));
    } else if (envelope()) {
      parameters(object, given);
      record(*document_.record, whole_, object);
    }
    return errors_.result();
  }

private:
  // Any other error would follow from one of the envelope, so it returns false after one.
  bool envelope() {
    Envelope stated{.kind = std::string(document_.kind), .schema_version = document_.schema_version};
    record(envelope_, whole_, &stated);
    if (stated.kind != document_.kind) {
      fail(*member(whole_, "kind"), ErrorCode::wrong_kind,
           fmt::format("this is a {}, not a {}", in_quotes(stated.kind), document_.kind),
           fmt::format("give a document of kind \"{}\"", document_.kind));
    } else if (stated.schema_version != document_.schema_version) {
      fail(*member(whole_, "schema_version"), ErrorCode::unsupported_version,
           fmt::format("schema_version {} of {} is not supported", stated.schema_version, document_.kind),
           fmt::format("this version of tidegate reads schema_version {}", document_.schema_version));
    }
    const bool sound = errors_.result().has_value();
    if (sound && document_.has_kind && document_.direction == Direction::output &&
        !(member(whole_, "kind") && member(whole_, "schema_version"))) {
      fail(whole_.close(), ErrorCode::missing_key, "missing key \"kind\" or \"schema_version\"",
           "every output document carries both");
    }
    return sound;
  }

  // Decodes the parameters, if the document may have some: uses may stand before them.
  void parameters(void* object, std::span<const Parameter> given) {
    constexpr std::string_view key = "parameters";
    if (const std::size_t index = index_of(*document_.record, key); index < document_.record->fields.size()) {
      parameters_field_ = &document_.record->fields[index];
      parameters_ = static_cast<std::vector<Parameter>*>(parameters_field_->write(object));
      given_ = given;
      if (const auto stated = member(whole_, key)) {
        value(parameters_field_->type, *stated, {object, parameters_field_});
      }
    }
    for (const auto& [name, unused] : given) {
      if (std::ranges::find(known(), name, &Parameter::first) == known().end()) {
        errors_.add(
            {.code = ErrorCode::invalid_usage,
             .message = fmt::format("--param {}: the program has no such parameter", name),
             .fix = known().empty() ? "add \"parameters\" to the program" : parameters_text(known())});
      }
    }
    trusted_ = errors_.result().has_value();
  }

  // Takes the parameter that was decoded last.
  void add_parameter(JsonValue value) {
    Parameter& parameter = (*parameters_)[known_++];
    if (!is_parameter_name(parameter.first)) {
      fail(value, ErrorCode::invalid_program,
           fmt::format("{} is not a name of a parameter", in_quotes(parameter.first)),
           "use letters, digits and _, and no digit first");
    }
    const auto other = std::ranges::find(given_, parameter.first, &Parameter::first);
    parameter.second = other != given_.end() ? other->second : parameter.second;
  }

  [[nodiscard]] std::span<const Parameter> known() const { return std::span(*parameters_).first(known_); }

  void value(const Type& type, JsonValue value, const Target& target) {
    std::string room;
    char form = form_of(value);
    std::string_view text = form == '"' ? value.string(room) : form == '0' ? value.text() : "";
    if (const auto expression = parameters_field_ != nullptr ? expression_of(value) : std::nullopt) {
      const auto number = evaluate(expression->string(room), known());
      if (!number) {
        return fail(value, number.error().code, number.error().message, number.error().fix);
      }
      if (!trusted_) {
        return; // computed from a parameter that was refused
      }
      room.clear();
      append_number(room, *number);
      text = room;
      form = '0';
    }
    if (form == '"' && text.find('\0') != text.npos) {
      return nul(value, text);
    }
    if (form == '"' && !text.empty() && text == type.left_out_word) {
      return;
    }
    if (form == '0' && type.or_single) { // the list of a single number has no brackets
      void* const list = target.address();
      type.items->clear(list);
      return this->value(type.items->element, value, {type.items->append(list, 0, {})});
    }
    if (form == 'n' && type.kind == Kind::f64 && (type.or_null || document_.direction == Direction::output)) {
      return target.store(std::numeric_limits<double>::quiet_NaN());
    }
    if (kind_words[static_cast<std::size_t>(type.kind)].forms.find(form) == std::string_view::npos) {
      return wrong_type(type, value);
    }
    switch (type.kind) {
    case Kind::boolean: return target.store(value.first() == 't');
    case Kind::integer: return integer(type, value, text, target);
    case Kind::f64: return target.store(as_double(number_of(text)));
    case Kind::number: return number(value, text, target);
    case Kind::text: return target.store(std::string(text));
    case Kind::identifier:
      return form == '"' ? target.store(Identifier(text)) : integer(type, value, text, target);
    case Kind::choice: {
      const auto chosen = std::ranges::find(type.choices, text);
      return chosen == type.choices.end()
                 ? unknown_name(type, value, text)
                 : target.store(static_cast<std::uint8_t>(chosen - type.choices.begin()));
    }
    case Kind::record: return record(*type.record, value, target.address());
    case Kind::map:
    case Kind::list: return items(*type.items, value, target.address());
    case Kind::value: break;
    }
    auto& any = static_cast<Value*>(target.address())->is;
    using Any = decltype(Value::is);
    any = form == '0'   ? Any(Number())
          : form == '"' ? Any(std::string())
          : form == '[' ? Any(Value::List())
                        : Any(Value::Object());
    std::visit(
        [&](auto& is) { this->value(detail::type_of<std::remove_cvref_t<decltype(is)>>(), value, {&is}); },
        any);
  }

  void integer(const Type& type, JsonValue value, std::string_view text, const Target& target) {
    if (text.find_first_of(".eE") != text.npos) {
      return fail(value, ErrorCode::not_an_integer, fmt::format("{} is not written as an integer", text),
                  fix_for_type(type));
    }
    const Number number = number_of(text == "-0" ? "0" : text);
    const auto* const natural = std::get_if<std::uint64_t>(&number);
    if (natural == nullptr || *natural < type.minimum || *natural > type.maximum) {
      return fail(value, ErrorCode::out_of_range,
                  fmt::format("{} is outside the range {} to {}", text, type.minimum, type.maximum),
                  fix_for_type(type));
    }
    if (type.kind == Kind::identifier) {
      return target.store(Identifier(*natural));
    }
    std::memcpy(target.address(), natural, type.bytes); // the low bytes come first
  }

  void number(JsonValue value, std::string_view text, const Target& target) {
    const Number number = number_of(text);
    if (std::holds_alternative<double>(number) && text.find_first_of(".eE") == text.npos && text != "-0") {
      return fail(value, ErrorCode::out_of_range, fmt::format("{} does not fit into 64 bits", text),
                  "give a smaller integer, or one with a decimal point");
    }
    target.store(number);
  }

  void record(const Record& record, JsonValue text, void* object) {
    const std::span<const Field> fields = record.fields;
    FieldMask seen = 0;
    FieldMask misspelt = 0; // fields that an unknown key most likely means
    bool guesses = false;   // an unknown key may mean any field
    std::size_t next = 0;
    std::string room;
    for (JsonValue key = text.inner(); key != text.close() && !errors_.full(); key = key.next().next()) {
      const std::string_view name = key.string(room);
      // Documents mostly follow the order of the description: try the next field before searching.
      std::size_t index = next < fields.size() && fields[next].name == name ? next : index_of(record, name);
      if (index == fields.size()) {
        const bool is_elsewhere =
            text == whole_ && (&record == &envelope_ || index_of(envelope_, name) < envelope_.fields.size());
        if (!is_elsewhere) {
          const auto meant = unknown_key(record, key, name);
          misspelt |= meant ? FieldMask{1} << *meant : 0;
          guesses = guesses || !meant;
        }
        continue;
      }
      index -= index != 0 && fields[index - 1].name == name ? 1 : 0; // its first form
      if ((seen >> index & 1U) != 0) {
        fail(key, ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(name)),
             "keep one of the two values");
        continue;
      }
      seen |= FieldMask{1} << index;
      next = index + 1;
      const Field* const second = key.next().first() == '{' ? second_form(record, fields[index]) : nullptr;
      const Field& field = second != nullptr ? *second : fields[index];
      if (&field != parameters_field_) { // those are decoded
        value(field.type, key.next(), {object, &field});
      }
    }
    if (errors_.full()) {
      return;
    }
    FieldMask missing = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const FieldMask bit = FieldMask{1} << i & ~seen;
      missing |= fields[i].presence == Presence::required ? bit & ~misspelt : 0;
      if (bit != 0 && !fields[i].same_as.empty()) {
        const Field& other = fields[index_of(record, fields[i].same_as)];
        std::memcpy(fields[i].write(object), other.read(object), fields[i].type.bytes);
      }
    }
    if (missing != 0) {
      const std::vector<std::string_view> names = names_of(record, missing);
      const bool one = names.size() == 1;
      fail(text.close(), ErrorCode::missing_key,
           fmt::format("missing {} \"{}\"", one ? "key" : "keys", fmt::join(names, "\", \"")),
           one ? "add it" : "add them", names.front());
    }
    if (!guesses) {
      check_rules(record, seen | misspelt, text, object);
    }
  }

  // The items of a list or the members of a map.
  void items(const Sequence& items, JsonValue text, void* object) {
    items.clear(object);
    const std::size_t wanted = items.fixed_length;
    std::unordered_set<std::string> seen; // keys
    std::string room;
    std::string_view name;
    std::size_t index = 0;
    for (JsonValue item = text.inner(); item != text.close() && !errors_.full();
         item = item.next(), ++index) {
      if (items.key != nullptr) {
        const JsonValue key = item;
        name = key.string(room);
        item = key.next();
        if (name.find('\0') != name.npos) {
          nul(key, name);
          continue;
        }
        if (!seen.emplace(name).second) {
          fail(key, ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(name)),
               "rename or remove one of the two");
          continue;
        }
      }
      if (wanted == 0 || index < wanted) {
        value(items.element, item, {items.append(object, index, name)});
      } else if (index == wanted) {
        fail(item, ErrorCode::wrong_length, fmt::format("expected an array of {} items, got more", wanted),
             "remove the items past the last");
      }
      if (object == parameters_) {
        add_parameter(item);
      }
    }
    if (index < wanted && !errors_.full()) {
      fail(text.close(), ErrorCode::wrong_length,
           fmt::format("expected an array of {} items, got {}", wanted, index),
           fmt::format("give {} items", wanted));
    }
  }

  // The errors. Those of a value or a key leave the value out.

  using Word = std::optional<std::string_view>; // for programs

  void fail(JsonValue at, ErrorCode code, std::string message, std::string fix, Word field = {},
            Word nearest = {}) {
    Error error{.code = code,
                .message = std::move(message),
                .fix = std::move(fix),
                .pointer = pointer_of(whole_, at)};
    error.field = field;
    error.nearest = nearest;
    errors_.add(error_at(json_, at.begin(), std::move(error)));
  }

  // The system and OpenCL would take what is before a NUL for the whole.
  void nul(JsonValue at, std::string_view text) {
    fail(at, ErrorCode::unknown_name, fmt::format("{} has a NUL character", in_quotes(text)),
         "remove \\u0000");
  }

  // Returns the field that the key most likely means: correcting the key supplies it, so it is not missing.
  std::optional<std::size_t> unknown_key(const Record& record, JsonValue key, std::string_view name) {
    const std::vector<std::string_view> known = names_of(record, ~FieldMask{0});
    const Word nearest = meant_name(name, known);
    fail(key, ErrorCode::unknown_key, fmt::format("unknown key {}", in_quotes(name)),
         nearest ? fmt::format("did you mean \"{}\"?", *nearest)
         : known.size() > few_choices
             ? fmt::format("remove it; `tidegate schema {} --format table` lists the known keys",
                           document_.kind)
             : fmt::format("remove it, or give {}", one_of(known)),
         shortened(name), nearest);
    return nearest ? std::optional(index_of(record, *nearest)) : std::nullopt;
  }

  void unknown_name(const Type& type, JsonValue value, std::string_view name) {
    const std::vector<std::string_view> known = words_of(type);
    const Word nearest = meant_name(name, known);
    const bool few = known.size() <= few_choices;
    fail(value, ErrorCode::unknown_name,
         few ? fmt::format("{} is not one of {}", in_quotes(name), one_of(known))
             : fmt::format("{} is not one of the {} known names", in_quotes(name), known.size()),
         nearest ? fmt::format("did you mean \"{}\"?", *nearest)
         : few   ? "give " + type_phrase(type)
                 : fmt::format("`tidegate schema {}` lists them", document_.kind),
         {}, nearest);
  }

  void wrong_type(const Type& type, JsonValue value) {
    const Kind item = type.kind == Kind::list ? type.items->element.kind : Kind::text;
    const bool of_numbers = item == Kind::f64 || item == Kind::number || item == Kind::integer;
    fail(value, ErrorCode::wrong_type, fmt::format("expected {}, got {}", type_phrase(type), found(value)),
         of_numbers && found(value) == "a number" ? fmt::format("put it into brackets: [{}]", value.text())
                                                  : fix_for_type(type));
  }

  // A key whose value is its default counts as left out.
  void check_rules(const Record& record, FieldMask seen, JsonValue text, const void* object) {
    FieldMask stated = 0;
    for (const Rule& rule : record.rules) {
      stated |= (rule.keys | rule.of) & seen;
    }
    for (std::size_t i = 0; stated >> i != 0; ++i) {
      const Field& field = record.fields[i];
      if ((stated >> i & 1U) != 0 && field.presence == Presence::defaulted &&
          is_default(record, field, object)) {
        stated &= ~(FieldMask{1} << i);
      }
    }
    for (const Rule& rule : record.rules) {
      const FieldMask given = stated & rule.keys;
      if (rule.of != 0 ? (stated & rule.of) == 0 || given != 0
                       : (given & (given - 1)) == 0 && (given != 0 || rule.or_none)) {
        continue;
      }
      const std::string names = one_of(names_of(record, rule.keys));
      if (rule.of != 0) {
        const std::string_view key = names_of(record, stated & rule.of).front();
        fail(member(text, key).value_or(text), ErrorCode::missing_key, // else it is misspelt
             fmt::format("\"{}\" needs {}", key, names), fmt::format("add it, or leave \"{}\" out", key));
      } else if (given != 0) {
        fail(text, ErrorCode::duplicate_key, fmt::format("more than one of {}", names),
             fmt::format("keep one of {}", one_of(names_of(record, given))));
      } else {
        fail(text, ErrorCode::missing_key, fmt::format("missing key: one of {}", names), "add one");
      }
    }
  }

  const Document& document_;
  const Record envelope_;
  std::string_view json_;
  JsonValue whole_;
  ErrorList errors_;

  const Field* parameters_field_ = nullptr; // of the document, if it may have some
  std::vector<Parameter> no_parameters_;
  std::vector<Parameter>* parameters_ = &no_parameters_; // of its object
  std::size_t known_ = 0;                                // those that are decoded
  std::span<const Parameter> given_;                     // in place of them
  bool trusted_ = true;                                  // no parameter was refused
};

} // namespace

Result<void> decode(const Document& document, std::string_view json, void* object,
                    std::span<const Parameter> parameters) {
  // A text that is not JSON, or is nested too deeply, gets this error alone: it may be the wrong file.
  JsonParser parser;
  return parser.parse(json).and_then(
      [&](JsonValue whole) { return Walk(document, json, whole).run(object, parameters); });
}

} // namespace tidegate::documents
