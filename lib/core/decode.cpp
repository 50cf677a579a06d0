// Walks a parsed text along the description; then finds and recognises document types.
//
// After an error the walk continues after the invalid value, so that all errors are reported at once.
#include "core/json.hpp"

namespace tidegate::documents {
namespace {

// The way to a value, from the inside out. Its pointer is put together only for errors.
struct Place {
  const Place* outer = nullptr; // none of the document itself
  std::string_view key{};       // without data: the value is an item
  std::size_t index = 0;
};

std::string pointer(const Place& place) {
  if (place.outer == nullptr) {
    return "";
  }
  return pointer(*place.outer) + '/' +
         (place.key.data() == nullptr ? std::to_string(place.index) : pointer_token(shortened(place.key)));
}

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

// True for a number without a fraction and an exponent.
bool is_whole(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

// How a value is written: '0' for a number, 't' for true and false, else its first character.
char form_of(JsonValue value) {
  const char first = value.first();
  return first == '-' || (first >= '0' && first <= '9') ? '0' : first == 'f' ? 't' : first;
}

// How values of each Kind are written.
constexpr std::array<std::string_view, 13> forms_of{"t",   "0",  "0", "0", "0", "0",    "\"",
                                                    "0\"", "\"", "{", "[", "{", "0\"[{"};

std::string_view found(JsonValue value) {
  switch (value.first()) {
  case '{': return "an object";
  case '[': return "an array";
  case '"': return "a string";
  case 't': return "true";
  case 'f': return "false";
  case 'n': return "null";
  case '-': return is_whole(value.text()) ? "a negative number" : "a number";
  default: return "a number";
  }
}

bool is_integer(Kind kind) {
  return kind == Kind::u16 || kind == Kind::u32 || kind == Kind::u64 || kind == Kind::identifier;
}

// Phrases of error messages.

constexpr std::size_t few_choices = 12; // at most this many are listed in one line

// Returns "a, b, …": the choices that share the longest prefix with the word.
std::string choices_like(std::string_view word, std::span<const std::string_view> choices) {
  const auto common = [word](std::string_view choice) {
    return std::ranges::mismatch(word, choice).in1 - word.begin();
  };
  const auto most = common(*std::ranges::max_element(choices, {}, common));
  std::string text;
  std::size_t count = 0;
  for (const std::string_view choice : choices) {
    if (common(choice) == most && count++ < few_choices) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", choice);
    }
  }
  return text + (count > few_choices ? ", …" : "");
}

// "an integer from 0 to 65535"
std::string type_phrase(const Type& type) {
  switch (type.kind) {
  case Kind::boolean: return "true or false";
  case Kind::u16:
  case Kind::u32:
  case Kind::u64: return fmt::format("an integer from {} to {}", type.minimum, type.maximum);
  case Kind::f64: return type.or_null ? "a number or null" : "a number";
  case Kind::number: return "a number";
  case Kind::text: return "a string";
  case Kind::identifier: return fmt::format("an integer from {} to {} or a name", type.minimum, type.maximum);
  case Kind::choice:
    return type.choices.size() <= few_choices
               ? "one of the names " + one_of(words_of(type))
               : fmt::format("one of {} names, such as \"{}\"", type.choices.size(), type.choices.front());
  case Kind::record:
  case Kind::map: return "an object";
  case Kind::value: return "a number, a name, an array or an object";
  case Kind::list: break;
  }
  if (!type.left_out_word.empty()) {
    return fmt::format("an array or \"{}\"", type.left_out_word);
  }
  return type.or_single ? type_phrase(type.items->element) + " or an array of them" : "an array";
}

// Lists the required keys: "give an object" alone does not help a reader who has never seen one.
std::string fix_for_type(const Type& type) {
  std::string keys;
  if (type.kind == Kind::record) {
    for (const Field& field : type.record->fields) {
      if (field.presence == Presence::required) {
        keys += fmt::format("{}\"{}\": …", keys.empty() ? "" : ", ", field.name);
      }
    }
  }
  if (type.kind == Kind::record && keys.empty()) { // a record with several forms: show one
    return fmt::format("give {} such as {{\"{}\": …}}", type_phrase(type), type.record->fields.front().name);
  }
  return fmt::format("give {}{}", type_phrase(type), keys.empty() ? "" : fmt::format(": {{{}}}", keys));
}

class Walk {
public:
  Walk(const Document& document, std::string_view json) : document_(document), json_(json) {}

  // Fields named in `given` have a value already.
  void run(JsonValue value, void* object, std::span<const std::string_view> given) {
    const Place whole;
    if (value.first() != '{') {
      fail_alone(value, whole, ErrorCode::wrong_type, fmt::format("expected an object, got {}", found(value)),
                 fmt::format("a {} is one JSON object", document_.kind));
    } else {
      record(*document_.record, value, object, whole, given);
    }
  }

  // Returns all errors in document order.
  [[nodiscard]] Result<void> result() const { return errors_.result(); }

private:
  [[nodiscard]] bool stopped() const { return alone_ || errors_.full(); }

  void value(const Type& type, JsonValue value, const Target& target, const Place& place) {
    std::string room;
    const char form = form_of(value);
    const std::string_view text = form == '"' ? value.string(room) : std::string_view();
    if (text.find('\0') != text.npos) { // the system and OpenCL would take what is before it for the whole
      return nul(value, place, text);
    }
    if (!text.empty() && text == type.left_out_word) {
      return;
    }
    if (form == '0' && type.or_single) { // the list of a single number has no brackets
      void* const list = target.address();
      type.items->clear(list);
      return this->value(type.items->element, value, {type.items->append(list, 0, {})}, place);
    }
    if (form == 'n' && type.kind == Kind::f64 && (type.or_null || document_.direction == Direction::output)) {
      return target.store(std::numeric_limits<double>::quiet_NaN());
    }
    if (forms_of[static_cast<std::size_t>(type.kind)].find(form) == std::string_view::npos) {
      return wrong_type(type, value, place);
    }
    switch (type.kind) {
    case Kind::boolean: return target.store(value.first() == 't');
    case Kind::f64:
      return target.store(
          std::visit([](auto any) { return static_cast<double>(any); }, number_of(value.text())));
    case Kind::text: return target.store(std::string(text));
    case Kind::choice: {
      const auto chosen = std::ranges::find(type.choices, text);
      return chosen == type.choices.end()
                 ? unknown_name(type, value, place, text)
                 : target.store(static_cast<std::uint8_t>(chosen - type.choices.begin()));
    }
    case Kind::record: return record(*type.record, value, target.address(), place);
    case Kind::map:
    case Kind::list: return items(*type.items, value, target.address(), place);
    case Kind::number: return any_number(type, value, target, place);
    case Kind::value:
      if (value.is_container()) {
        auto& any = static_cast<Value*>(target.address())->is;
        return form == '{'
                   ? items(detail::sequence<Value::Object>, value, &any.emplace<Value::Object>(), place)
                   : items(detail::sequence<Value::List>, value, &any.emplace<Value::List>(), place);
      }
      return form == '"' ? target.store(Value{std::string(text)}) : any_number(type, value, target, place);
    default: return form == '"' ? target.store(Identifier(text)) : integer(type, value, target, place);
    }
  }

  void integer(const Type& type, JsonValue value, const Target& target, const Place& place) {
    const std::string_view text = value.text();
    if (!is_whole(text)) {
      return fail(value.begin(), place, ErrorCode::not_an_integer,
                  fmt::format("{} is not written as an integer", text),
                  fmt::format("give {}", type_phrase(type)));
    }
    const Number number = number_of(text == "-0" ? "0" : text);
    const auto* const natural = std::get_if<std::uint64_t>(&number);
    if (natural == nullptr || *natural < type.minimum || *natural > type.maximum) {
      return fail(value.begin(), place, ErrorCode::out_of_range,
                  fmt::format("{} is outside the range {} to {}", text, type.minimum, type.maximum),
                  fmt::format("give {}", type_phrase(type)));
    }
    switch (type.kind) {
    case Kind::u16: return target.store(static_cast<std::uint16_t>(*natural));
    case Kind::u32: return target.store(static_cast<std::uint32_t>(*natural));
    case Kind::identifier: return target.store(Identifier(*natural));
    default: target.store(*natural);
    }
  }

  void any_number(const Type& type, JsonValue value, const Target& target, const Place& place) {
    const std::string_view text = value.text();
    const Number number = number_of(text);
    if (std::holds_alternative<double>(number) && is_whole(text) && text != "-0") {
      return fail(value.begin(), place, ErrorCode::out_of_range,
                  fmt::format("{} does not fit into 64 bits", text),
                  "give a smaller integer, or one with a decimal point");
    }
    type.kind == Kind::number ? target.store(number) : target.store(Value{number});
  }

  void record(const Record& record, JsonValue text, void* object, const Place& place,
              std::span<const std::string_view> given = {}) {
    const std::span<const Field> fields = record.fields;
    FieldMask seen = 0;
    FieldMask misspelt = 0; // fields that an unknown key most likely means
    bool guesses = false;   // an unknown key may mean any field
    std::size_t next = 0;
    std::string room;
    for (JsonValue key = text.inner(); key != text.next() && !stopped(); key = key.next().next()) {
      const std::string_view name = key.string(room);
      const Place inner{&place, name};
      // Documents mostly follow the order of the description: try the next field before searching.
      std::size_t index = next;
      if (index >= fields.size() || fields[index].name != name) {
        index = static_cast<std::size_t>(std::ranges::find(fields, name, &Field::name) - fields.begin());
      }
      if (index == fields.size()) {
        index += place.outer == nullptr ? envelope_key(name) : envelope_keys.size();
      } else {
        index -= index != 0 && fields[index - 1].name == name ? 1 : 0; // its first form
      }
      if (index == fields.size() + envelope_keys.size()) {
        const auto meant = unknown_key(record, key, inner);
        misspelt |= meant ? FieldMask{1} << *meant : 0;
        guesses = guesses || !meant;
        continue;
      }
      if ((seen >> index & 1U) != 0) {
        duplicate_key(key, inner, "keep one of the two values");
        continue;
      }
      seen |= FieldMask{1} << index;
      if (index >= fields.size()) {
        envelope(index - fields.size(), key.next(), inner);
        continue;
      }
      next = index + 1;
      const Field* const second = key.next().first() == '{' ? second_form(record, fields[index]) : nullptr;
      const Field& field = second != nullptr ? *second : fields[index];
      value(field.type, key.next(), {object, &field}, inner);
    }
    if (stopped()) {
      return;
    }
    for (std::size_t i = 0; i < fields.size() && !given.empty(); ++i) {
      seen |= FieldMask{std::ranges::find(given, fields[i].name) != given.end() ? 1U : 0U} << i;
    }
    const FieldMask missing = record.required_mask & ~seen & ~misspelt;
    if (missing != 0) {
      missing_keys(record, missing, text, place);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].fill != nullptr && (seen >> i & 1U) == 0) {
        fields[i].fill(object);
      }
    }
    if (!guesses) {
      check_rules(record, seen | misspelt, text, object, place);
    }
    if (place.outer == nullptr && document_.has_kind && document_.direction == Direction::output &&
        (seen >> fields.size() & 3U) != 3) {
      fail(text.end() - 1, place, ErrorCode::missing_key, "missing key \"kind\" or \"schema_version\"",
           "every output document carries both");
    }
  }

  // The items of a list or the members of a map.
  void items(const Sequence& items, JsonValue text, void* object, const Place& place) {
    items.clear(object);
    const bool is_map = items.key != nullptr;
    const std::size_t wanted = items.fixed_length;
    std::unordered_set<std::string> seen; // keys
    std::string room;
    Place inner{&place};
    for (JsonValue item = text.inner(); item != text.next() && !stopped();
         item = item.next(), ++inner.index) {
      if (is_map) {
        const JsonValue key = item;
        inner.key = key.string(room);
        item = key.next();
        if (inner.key.find('\0') != inner.key.npos) {
          nul(key, inner, inner.key);
          continue;
        }
        if (!seen.emplace(inner.key).second) {
          duplicate_key(key, inner, "rename or remove one of the two");
          continue;
        }
      }
      if (wanted == 0 || inner.index < wanted) {
        value(items.element, item, {items.append(object, inner.index, inner.key)}, inner);
      } else if (inner.index == wanted) {
        fail(item.begin(), inner, ErrorCode::wrong_length,
             fmt::format("expected an array of {} items, got more", wanted),
             "remove the items past the last");
      }
    }
    if (inner.index < wanted && !stopped()) {
      fail(text.end() - 1, place, ErrorCode::wrong_length,
           fmt::format("expected an array of {} items, got {}", wanted, inner.index),
           fmt::format("give {} items", wanted));
    }
  }

  // Keys of a document in addition to those of its record. Their bits in `seen` follow the bits of the fields.
  static constexpr std::array<std::string_view, 3> envelope_keys{"kind", "schema_version", "$schema"};

  [[nodiscard]] std::size_t envelope_key(std::string_view name) const {
    const auto found = std::ranges::find(envelope_keys, name);
    const bool is_schema = found == envelope_keys.end() - 1;
    return static_cast<std::size_t>((is_schema ? document_.direction == Direction::input : document_.has_kind)
                                        ? found - envelope_keys.begin()
                                        : envelope_keys.size());
  }

  void envelope(std::size_t which, JsonValue value, const Place& place) {
    const std::string version = std::to_string(document_.schema_version);
    if (which == 1 ? found(value) != "a number" : value.first() != '"') {
      const std::string wanted = which == 2   ? "a string"
                                 : which == 0 ? fmt::format("the string \"{}\"", document_.kind)
                                              : version;
      return fail(value.begin(), place, ErrorCode::wrong_type,
                  fmt::format("expected {}, got {}", wanted, found(value)), "give it, or leave the key out");
    }
    std::string room;
    if (const std::string_view kind = which == 0 ? value.string(room) : document_.kind;
        kind != document_.kind) {
      const auto other = find_document(kind);
      fail_alone(value, place, ErrorCode::wrong_kind,
                 fmt::format("this is a {}, not a {}", in_quotes(kind), document_.kind),
                 other ? fix_for_kind(document_, **other) : other.error().fix);
    } else if (which == 1 && value.text() != version) {
      fail_alone(value, place, ErrorCode::unsupported_version,
                 fmt::format("schema_version {} of {} is not supported", value.text(), document_.kind),
                 fmt::format("this version of tidegate reads schema_version {}", version));
    }
  }

  // The errors. Those of a value or a key leave the value out.

  struct Words { // of an error, for programs
    std::optional<std::string_view> field, nearest;
  };

  void fail(std::size_t at, const Place& place, ErrorCode code, std::string message, std::string fix,
            const Words& words = {}) {
    Error error = error_at(
        json_, at,
        {.code = code, .message = std::move(message), .fix = std::move(fix), .pointer = pointer(place)});
    error.field = words.field;
    error.nearest = words.nearest;
    errors_.add(std::move(error));
  }

  // Discards all other errors, which follow from this one.
  void fail_alone(JsonValue value, const Place& place, ErrorCode code, std::string message, std::string fix) {
    errors_ = {};
    fail(value.begin(), place, code, std::move(message), std::move(fix));
    alone_ = true;
  }

  void nul(JsonValue value, const Place& place, std::string_view text) {
    fail(value.begin(), place, ErrorCode::unknown_name,
         fmt::format("{} has a NUL character", in_quotes(text)), "remove \\u0000");
  }

  void duplicate_key(JsonValue key, const Place& place, std::string fix) {
    fail(key.begin(), place, ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(place.key)),
         std::move(fix));
  }

  // Returns the field that the key most likely means: correcting the key supplies it, so it is not missing.
  std::optional<std::size_t> unknown_key(const Record& record, JsonValue key, const Place& place) {
    std::vector<std::string_view> known;
    std::ranges::transform(record.fields, std::back_inserter(known), &Field::name);
    const auto nearest = meant_name(place.key, known);
    fail(key.begin(), place, ErrorCode::unknown_key, fmt::format("unknown key {}", in_quotes(place.key)),
         nearest ? fmt::format("did you mean \"{}\"?", *nearest)
         : known.size() > few_choices
             ? fmt::format("remove it; `tidegate schema {} --format table` lists the known keys",
                           document_.kind)
             : fmt::format("remove it, or give {}", one_of(known)),
         {shortened(place.key), nearest});
    return nearest ? std::optional<std::size_t>(std::ranges::find(known, *nearest) - known.begin())
                   : std::nullopt;
  }

  void wrong_type(const Type& type, JsonValue value, const Place& place) {
    const Kind item = type.kind == Kind::list ? type.items->element.kind : Kind::text;
    const bool is_list_of_numbers =
        item == Kind::f64 || item == Kind::number || (is_integer(item) && item != Kind::identifier);
    fail(value.begin(), place, ErrorCode::wrong_type,
         fmt::format("expected {}, got {}", type_phrase(type), found(value)),
         is_list_of_numbers && found(value) == "a number"
             ? fmt::format("put it into brackets: [{}]", value.text())
             : fix_for_type(type));
  }

  void unknown_name(const Type& type, JsonValue value, const Place& place, std::string_view name) {
    const std::vector<std::string_view> words = words_of(type);
    const auto nearest = meant_name(name, words);
    const bool few = words.size() <= few_choices;
    fail(value.begin(), place, ErrorCode::unknown_name,
         few ? fmt::format("{} is not one of {}", in_quotes(name), one_of(words))
             : fmt::format("{} is not one of the {} known names", in_quotes(name), words.size()),
         nearest ? fmt::format("did you mean \"{}\"?", *nearest)
         : few   ? fmt::format("give {}", type_phrase(type))
                 : fmt::format("give one such as {}; `tidegate schema {}` has all", choices_like(name, words),
                               document_.kind),
         {{}, nearest});
  }

  void missing_keys(const Record& record, FieldMask missing, JsonValue text, const Place& place) {
    const std::vector<std::string_view> names = names_of(record, missing);
    const bool one = names.size() == 1;
    fail(text.end() - 1, place, ErrorCode::missing_key,
         fmt::format("missing {} \"{}\"", one ? "key" : "keys", fmt::join(names, "\", \"")),
         one ? "add it" : "add them", {names.front(), {}});
  }

  // A key whose value is its default counts as left out.
  void check_rules(const Record& record, FieldMask seen, JsonValue text, const void* object,
                   const Place& place) {
    FieldMask stated = seen & record.rule_mask;
    for (std::size_t i = 0; stated >> i != 0; ++i) {
      const Field& field = record.fields[i];
      if ((stated >> i & 1U) != 0 && field.presence == Presence::defaulted &&
          json_of(field, object) == default_json(record, field)) {
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
        const auto stated_at =
            find_inner(text, [key](std::string_view name, JsonValue) { return name == key; });
        fail(stated_at.value_or(text).begin(), {&place, key}, ErrorCode::missing_key, // else it is misspelt
             fmt::format("\"{}\" needs {}", key, names), fmt::format("add it, or leave \"{}\" out", key));
      } else if (given != 0) {
        fail(text.begin(), place, ErrorCode::duplicate_key, fmt::format("more than one of {}", names),
             fmt::format("keep one of {}", one_of(names_of(record, given))));
      } else {
        fail(text.begin(), place, ErrorCode::missing_key, fmt::format("missing key: one of {}", names),
             "add one");
      }
    }
  }

  const Document& document_;
  std::string_view json_;
  ErrorList errors_;
  bool alone_ = false; // no other error counts
};

} // namespace

Result<void> decode(const Document& document, std::string_view json, void* object,
                    std::span<const std::string_view> given) {
  // A text that is not JSON, or is nested too deeply, gets this error alone: it may be the wrong file.
  JsonParser parser;
  const auto value = parser.parse(json);
  if (!value) {
    return tl::unexpected(value.error());
  }
  Walk walk(document, json);
  walk.run(*value, object, given);
  auto read = walk.result();
  if (!read && read.error().code != ErrorCode::wrong_kind) {
    if (const Document* const other = mistaken_type(document, *value)) {
      return tl::unexpected(
          error_at(json, value->begin(),
                   {.code = ErrorCode::wrong_kind,
                    .message = fmt::format("this has the keys of {}, not of {}", other->kind, document.kind),
                    .fix = fix_for_kind(document, *other),
                    .pointer = ""}));
    }
  }
  return read;
}

// Finds document types by name, recognises documents without a kind by their keys, and says what a value should be.

namespace {

// Returns the top-level "kind", and stores the keys.
std::string head_of(JsonValue document, std::vector<std::string>& keys) {
  std::string kind, room;
  if (document.first() == '{') {
    (void)find_inner(document, [&](const std::string& name, JsonValue value) {
      keys.push_back(name);
      kind = name == "kind" && value.first() == '"' ? value.string(room) : kind;
      return false;
    });
  }
  return kind;
}

std::span<const CatalogueEntry> entries;

// How well keys fit a document type: the keys that it knows, and minus the required keys that are missing.
using Fit = std::pair<std::size_t, std::ptrdiff_t>;

Fit fit_of(const Document& document, const std::vector<std::string>& keys) {
  Fit fit;
  for (const Field& field : document.record->fields) {
    const bool given = std::ranges::find(keys, field.name) != keys.end();
    fit.first += given ? 1 : 0;
    fit.second -= !given && field.presence == Presence::required ? 1 : 0;
  }
  return fit;
}

// Returns the type that fits best and knows at least half of the keys; nullptr if there is none or a tie.
const Document* find_by_keys(const std::vector<std::string>& keys) {
  const Document* best = nullptr;
  Fit best_fit;
  for (const auto& [document, command] : entries) {
    const Fit fit = fit_of(*document, keys);
    if (fit >= best_fit) {
      best = fit == best_fit ? nullptr : document;
      best_fit = fit;
    }
  }
  return best_fit.first * 2 >= keys.size() ? best : nullptr;
}

} // namespace

std::span<const CatalogueEntry> catalogue() {
  return entries;
}

void set_catalogue(std::span<const CatalogueEntry> all) {
  entries = all;
}

Result<const Document*> find_document(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [document, command] : entries) {
    if (document->kind == name) {
      return document;
    }
    names.push_back(document->kind);
  }
  const auto nearest = nearest_name(name, names);
  auto error = failure(ErrorCode::unknown_name, fmt::format("unknown document type {}", in_quotes(name)),
                       nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                               : "`tidegate schema --format table` lists them");
  error.value().nearest = nearest;
  return error;
}

Result<const Document*> recognise(std::string_view json) {
  std::vector<std::string> keys;
  TIDEGATE_TRY(auto kind, kind_of(json, &keys));
  if (kind.empty()) {
    if (const Document* found = find_by_keys(keys)) {
      return found;
    }
    return failure(ErrorCode::missing_kind, "the document has no \"kind\"",
                   "name its type on the command line, for example `tidegate check launch_request FILE`");
  }
  return at_place("/kind", find_document(kind).map_error([](Error error) {
    error.code = ErrorCode::wrong_kind;
    return error;
  }));
}

const Document* mistaken_type(const Document& wanted, JsonValue document) {
  std::vector<std::string> keys;
  const Document* const found = head_of(document, keys).empty() ? find_by_keys(keys) : nullptr;
  if (found == nullptr || found == &wanted) {
    return nullptr;
  }
  // `found` knows at least as many keys. If it knows no more, require it to be complete: a document that
  // lacks keys of both types is more likely of type `wanted`.
  const Fit fit = fit_of(*found, keys);
  return fit.first > fit_of(wanted, keys).first || fit.second == 0 ? found : nullptr;
}

std::string fix_for_kind(const Document& wanted, const Document& found) {
  const auto entry = std::ranges::find(entries, &found, &CatalogueEntry::document);
  return entry != entries.end() && !entry->command.empty()
             ? fmt::format("`tidegate {}` takes it", entry->command)
             : fmt::format("give a document of kind \"{}\"", wanted.kind);
}

Result<std::string> kind_of(std::string_view json, std::vector<std::string>* keys) {
  JsonParser parser;
  std::vector<std::string> unused;
  return parser.parse(json).map(
      [&](JsonValue document) { return head_of(document, keys != nullptr ? *keys : unused); });
}

std::vector<std::string_view> words_of(const Type& type) {
  std::vector<std::string_view> words(type.left_out_word.empty() ? 0 : 1, type.left_out_word);
  words.insert(words.end(), type.choices.begin(), type.choices.end());
  return words;
}

} // namespace tidegate::documents
