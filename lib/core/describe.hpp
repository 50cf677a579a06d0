// Describes a document type by one constexpr table of fields; decoding, encoding, range checks, defaults,
// JSON Schema and reference text all follow from it.
//
//   TIDEGATE_HAS_RECORD(SizingPolicy);                   // header, if other files describe its users
//   constexpr Field sizing_fields[] = {                  // source, the parts of a struct before the struct
//       defaulted<&SizingPolicy::default_worker_count>("workers when …"), …};
//   TIDEGATE_RECORD(SizingPolicy, sizing_fields);
//
// The key of a field is the name of its C++ member, its JSON type follows from the member's type and its default
// from the member's initialiser, so the table and the struct always agree.
#pragma once
#include <tidegate/core/text.hpp>

#include <limits>
#include <tuple>
#include <type_traits>

namespace tidegate {

// A structured value as the document states it; code that knows its type interprets the parts.
struct Value {
  struct Member; // as std::pair, of which clang does not accept an incomplete type
  using List = std::vector<Value>;
  using Object = std::vector<Member>; // in document order

  std::variant<Number, std::string, List, Object> is;
};

struct Value::Member {
  std::string first;
  Value second;
};

} // namespace tidegate

namespace tidegate::documents {

enum class Kind { boolean, integer, f64, number, text, identifier, choice, record, list, map, value };

// How a kind is written, by its number.
struct KindWords {
  std::string_view forms; // '0' for a number, 't' for true and false, else the first characters of its values
  std::string_view phrase; // of messages; an integer adds its range
  std::string_view type;   // of tables; empty if it depends on the field
};
inline constexpr std::array<KindWords, 11> kind_words{{
    {"t", "true or false", "bool"},
    {"0", "an integer from {} to {}", ""}, // unsigned
    {"0", "a number", "f64"},
    {"0", "a number", "number"}, // exact for integers
    {"\"", "a string", "string"},
    {"0\"", "an integer from {} to {} or a name", "u64|string"},
    {"\"", "a name", "name"},
    {"{", "an object", "object"},
    {"[", "an array", ""},
    {"{", "an object", ""}, // with arbitrary keys
    {"0\"[{", "a number, a name, an array or an object", "value"},
}};

struct Record;
struct Sequence;

struct Type {
  Kind kind = Kind::boolean;
  std::size_t bytes = 0;     // of an integer
  std::uint64_t minimum = 0; // range of an integer or identifier
  std::uint64_t maximum = 0;
  std::span<const std::string_view> choices{}; // choice only; the value is the index in one byte
  const Record* record = nullptr;              // record only
  const Sequence* items = nullptr;             // list and map only
  bool or_single = false;                      // list only: an item without brackets means a list of one
  std::string_view left_out_word{};            // lists and choices: a string that means "left out"
  bool or_null = false;                        // f64 only: null is NaN
};

// Type-erased access to a std::vector or std::array, or to a std::vector of pairs of a name and a value: a map.
struct Sequence {
  Type element;
  std::size_t fixed_length = 0; // 0: any length
  std::size_t (*size)(const void* items) = nullptr;
  const void* (*at)(const void* items, std::size_t index) = nullptr;
  const std::string& (*key)(const void* map, std::size_t index) = nullptr;
  void (*clear)(void* items) = nullptr;
  // Returns the address of new item `index`, of a map with this key.
  void* (*append)(void* items, std::size_t index, std::string_view key) = nullptr;
};

enum class Presence : std::uint8_t {
  required,
  defaulted, // if missing, the member keeps its initialiser
  optional,  // a std::optional member
};

struct Field {
  std::string_view name;
  std::string_view meaning; // one line, with the unit if the name has none
  Type type;
  Presence presence = Presence::required;
  std::string_view same_as{}; // integers only: the field whose value is the default
  // Returns the member's address; nullptr for an empty std::optional, which `engage` fills.
  void* (*access)(void* object, bool engage) = nullptr;

  void* write(void* object) const { return access(object, true); }
  const void* read(const void* object) const { return access(const_cast<void*>(object), false); }

  template <class T>
  constexpr Field with(T Field::*member, std::type_identity_t<T> value) const {
    Field changed = *this;
    changed.*member = value;
    return changed;
  }
  template <class T>
  constexpr Field with(T Type::*member, std::type_identity_t<T> value) const {
    Field changed = *this;
    changed.type.*member = value;
    return changed;
  }
  // A key that differs from the member's name.
  constexpr Field named(std::string_view key) const { return with(&Field::name, key); }
  // Narrows an integer's range below that of its C++ type.
  constexpr Field between(std::uint64_t minimum, std::uint64_t maximum) const {
    return with(&Type::minimum, minimum).with(&Type::maximum, maximum);
  }
  // Allows a list of one without brackets.
  constexpr Field or_single() const { return with(&Type::or_single, true); }
  // `word` stands for an empty std::optional of a list or choice.
  constexpr Field or_word(std::string_view word) const {
    return with(&Type::left_out_word, word).with(&Field::presence, Presence::defaulted);
  }
  // Describes a struct by another of its records, with fewer fields.
  constexpr Field described_by(const Record& record) const { return with(&Type::record, &record); }
  // Narrows the elements of a list: see `ranged`.
  constexpr Field of(const Sequence& items) const { return with(&Type::items, &items); }
  // If missing, an integer takes the value of another one.
  constexpr Field or_value_of(std::string_view key) const {
    return with(&Field::same_as, key).with(&Field::presence, Presence::defaulted);
  }
};

__extension__ using FieldMask = unsigned __int128; // a bit for each field of a record

// A rule on the keys of an object: of `keys` exactly one (or none), or, if `of` is a key, this one needs one of them.
struct Rule {
  FieldMask keys = 0;
  FieldMask of = 0;
  bool or_none = false; // a later check refuses an object with none of them, and can say what it needs
};

// A field may have a second form: a field of the same name right after it, for an object in place of its value.
struct Record {
  std::span<const Field> fields; // at most 125
  std::span<const Rule> rules{};
  std::shared_ptr<void> (*create)() = nullptr; // returns a default-constructed object
};

// Specialise the member for every enumeration, struct and document.
using Names = std::span<const std::string_view>;
template <class E>
struct Choices {
  static const Names names;
};

template <class T>
struct Description {
  static const Record record;
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr std::size_t length_of_array = 0;
template <class T, std::size_t N>
inline constexpr std::size_t length_of_array<std::array<T, N>> = N;

template <class Items>
concept IsMap = requires(Items map) {
  map.front().second;
};

template <class T>
constexpr Type type_of();

template <class Items>
inline constexpr Sequence sequence = [] {
  using Item = typename Items::value_type;
  Sequence made{.fixed_length = length_of_array<Items>};
  made.size = [](const void* items) { return static_cast<const Items*>(items)->size(); };
  made.at = [](const void* items, std::size_t index) -> const void* {
    const Item& item = (*static_cast<const Items*>(items))[index];
    if constexpr (IsMap<Items>) {
      return &item.second;
    } else {
      return &item;
    }
  };
  made.clear = [](void* items) { *static_cast<Items*>(items) = Items{}; };
  made.append = [](void* items, std::size_t index, std::string_view key) -> void* {
    Items& all = *static_cast<Items*>(items);
    if constexpr (IsMap<Items>) {
      return &all.emplace_back(Item{std::string(key), {}}).second;
    } else if constexpr (length_of_array<Items> == 0) {
      return &all.emplace_back();
    } else {
      return &all[index];
    }
  };
  if constexpr (IsMap<Items>) {
    made.element = type_of<decltype(Item::second)>();
    made.key = [](const void* map, std::size_t index) -> const std::string& {
      return (*static_cast<const Items*>(map))[index].first;
    };
  } else {
    made.element = type_of<Item>();
  }
  return made;
}();

template <class T>
constexpr Type type_of() {
  if constexpr (is_optional<T>) {
    return type_of<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return {.kind = Kind::boolean};
  } else if constexpr (std::is_unsigned_v<T>) {
    return {.kind = Kind::integer, .bytes = sizeof(T), .maximum = std::numeric_limits<T>::max()};
  } else if constexpr (std::is_same_v<T, double>) {
    return {.kind = Kind::f64};
  } else if constexpr (std::is_same_v<T, Number>) {
    return {.kind = Kind::number};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {.kind = Kind::text};
  } else if constexpr (std::is_same_v<T, tidegate::Value>) {
    return {.kind = Kind::value};
  } else if constexpr (std::is_same_v<T, Identifier>) {
    return {.kind = Kind::identifier, .maximum = std::numeric_limits<std::uint64_t>::max()};
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(sizeof(T) == 1);
    return {.kind = Kind::choice, .choices = Choices<T>::names};
  } else if constexpr (requires { typename T::value_type; }) {
    return {.kind = IsMap<T> ? Kind::map : Kind::list, .items = &sequence<T>};
  } else {
    return {.kind = Kind::record, .record = &Description<T>::record};
  }
}

template <class C, class T>
C object_of(T C::*);
template <class C, class T>
T member_of(T C::*);

// The name of a member, cut out of the compiler's spelling of this function: "… [with auto Member =
// &tidegate::Error::code; …]".
template <auto Member>
constexpr std::string_view spelled_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(0, text.find_first_of(";]", text.find("Member = ")));
  return text.substr(text.rfind(':') + 1);
}
template <auto Member>
inline constexpr auto member_name = [] { // a copy, so that the spelling stays out of binaries
  std::array<char, spelled_name<Member>().size()> name{};
  spelled_name<Member>().copy(name.data(), name.size());
  return name;
}();

// A path of member pointers to a nested member, so that a flat JSON object can fill nested structs.
template <auto... Members>
struct Path {
  static constexpr std::tuple members{Members...};
  static constexpr auto last = std::get<sizeof...(Members) - 1>(members);
  using Object = decltype(object_of(std::get<0>(members)));
  using Member = decltype(member_of(last));
  static constexpr std::string_view name{member_name<last>.data(), member_name<last>.size()};
  static constexpr auto& follow(auto& object) { return (object.*....*Members); }
};

} // namespace detail

// `Object` is the struct at the path's start, or one that derives from it.
template <class Object, auto... Members>
constexpr Field field_of(std::string_view meaning, Presence presence) {
  using Path = detail::Path<Members...>;
  using Member = typename Path::Member;
  constexpr bool may_lack = detail::is_optional<Member>;
  return {.name = Path::name,
          .meaning = meaning,
          .type = detail::type_of<Member>(),
          .presence = may_lack ? Presence::optional : presence,
          .access = [](void* object, [[maybe_unused]] bool engage) -> void* {
            Member& member = Path::follow(*static_cast<Object*>(object));
            if constexpr (may_lack) {
              return engage ? &member.emplace() : member ? &*member : nullptr;
            } else {
              return &member;
            }
          }};
}

// A list of integers in a range.
template <class T, std::uint64_t Minimum, std::uint64_t Maximum>
inline constexpr Sequence ranged = [] {
  Sequence list = detail::sequence<std::vector<T>>;
  list.element.minimum = Minimum;
  list.element.maximum = Maximum;
  return list;
}();

template <auto... Members>
constexpr Field required(std::string_view meaning) {
  return field_of<typename detail::Path<Members...>::Object, Members...>(meaning, Presence::required);
}

template <auto... Members>
constexpr Field defaulted(std::string_view meaning) {
  return field_of<typename detail::Path<Members...>::Object, Members...>(meaning, Presence::defaulted);
}

template <auto... Members>
constexpr Field optional(std::string_view meaning) {
  return field_of<typename detail::Path<Members...>::Object, Members...>(meaning, Presence::optional);
}

// One of several keys of an optional struct of a choice and a value: the key states the choice.
template <auto Member, auto Choice, auto Chosen, auto Content>
constexpr Field keyed(std::string_view key, std::string_view meaning) {
  using Object = typename detail::Path<Member>::Object;
  return {.name = key,
          .meaning = meaning,
          .type = detail::type_of<typename detail::Path<Content>::Member>(),
          .presence = Presence::optional,
          .access = [](void* object, bool engage) -> void* {
            auto& pair = static_cast<Object*>(object)->*Member;
            if (engage) {
              pair.emplace().*Choice = Chosen;
            }
            return pair && (*pair).*Choice == Chosen ? &((*pair).*Content) : nullptr;
          }};
}

// The second form of a field; null if it has none.
constexpr const Field* second_form(const Record& record, const Field& field) {
  const Field* const next = &field + 1;
  return next != record.fields.data() + record.fields.size() && next->name == field.name ? next : nullptr;
}

// Returns the names of these fields.
inline std::vector<std::string_view> names_of(const Record& record, FieldMask fields) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if ((fields >> i & 1U) != 0) {
      names.push_back(record.fields[i].name);
    }
  }
  return names;
}

// The fields with these names, which blanks separate.
consteval FieldMask fields_named(std::span<const Field> fields, std::string_view names) {
  FieldMask mask = 0;
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end + 1) {
    end = std::min(names.find(' ', begin), names.size());
    std::size_t index = 0;
    while (fields[index].name != names.substr(begin, end - begin)) { // an unknown name does not compile
      ++index;
    }
    mask |= FieldMask{1} << index;
  }
  return mask;
}

consteval Rule exactly_one(std::span<const Field> fields, std::string_view names, bool or_none = false) {
  return {.keys = fields_named(fields, names), .or_none = or_none};
}
consteval Rule needs(std::span<const Field> fields, std::string_view key, std::string_view others) {
  return {.keys = fields_named(fields, others), .of = fields_named(fields, key)};
}

template <class T>
constexpr Record record_of(std::span<const Field> fields, std::span<const Rule> rules = {}) {
  return {fields, rules, []() -> std::shared_ptr<void> { return std::make_shared<T>(); }};
}

enum class Direction : std::uint8_t { input, output };

// A document type: a record with a kind and a version. Inputs may omit both; outputs encode a non-finite
// number as null.
struct Document {
  std::string_view kind;  // the name in "kind", on the command line and of the schema file
  std::string_view title; // one line
  Direction direction = Direction::input;
  const Record* record = nullptr;
  std::uint32_t schema_version = 1;
  bool has_kind = true;                      // has "kind" and "schema_version"
  std::span<const std::string_view> notes{}; // lines after the reference
};

template <class T>
struct DocumentOf {
  static const Document document;
};

// The specialisations above. Headers say that a type has them, sources define them; names of enumerations are in headers.
#define TIDEGATE_CHOICES(E, list)                                                                            \
  template <>                                                                                                \
  inline constexpr Names Choices<E>::names = list
#define TIDEGATE_HAS_RECORD(T)                                                                               \
  template <>                                                                                                \
  const Record Description<T>::record
#define TIDEGATE_RECORD(T, ...)                                                                              \
  template <>                                                                                                \
  constinit const Record Description<T>::record = record_of<T>(__VA_ARGS__)
#define TIDEGATE_HAS_DOCUMENT(T)                                                                             \
  template <>                                                                                                \
  const Document DocumentOf<T>::document
#define TIDEGATE_DOCUMENT(T, ...)                                                                            \
  template <>                                                                                                \
  constinit const Document DocumentOf<T>::document = {__VA_ARGS__, &Description<T>::record}

inline constexpr std::string_view parameters_meaning =
    "numbers by name; {\"parameter\": \"n * 4\"} stands for a number, with + - * / and brackets";

// Decodes JSON strictly, without building a tree. Every error has its own code and its location: JSON pointer, line and
// column. All errors of a document are reported at once, as `others` of the first one; only a text that is not JSON
// and a document of another kind yield a single error.

inline constexpr std::size_t nesting_limit = 64;
inline constexpr std::size_t document_bytes_limit = std::size_t{2} << 30U; // 2 GiB

// A number of a program by its name.
using Parameter = std::pair<std::string, Number>;

// Decodes `json` into `object`, a struct that `document.record` describes. Missing fields keep the object's value. `parameters`
// stand in place of the document's values of them.
//
// In a document that may have "parameters", {"parameter": "n * 4 + 1"} stands for a number: see evaluate() in json.hpp.
Result<void> decode(const Document& document, std::string_view json, void* object,
                    std::span<const Parameter> parameters = {});

template <class T>
Result<T> decode(std::string_view json, std::span<const Parameter> parameters = {}) {
  T object{};
  return decode(DocumentOf<T>::document, json, &object, parameters).map([&] { return std::move(object); });
}

// Encodes as JSON: fixed key order, exact integers, shortest floats. Equal objects yield equal bytes.
enum class Style : std::uint8_t {
  compact, // one line
  pretty,  // indented by two spaces, lists of scalars on one line
  brief,   // for people to edit: omits defaults, and puts on one line what fits
};

// Appends the document without a trailing newline.
void encode(const Document& document, const void* object, Style style, std::string& json);

// Appends a record without kind and version.
void encode(const Record& record, const void* object, Style style, std::string& json);

template <class T>
std::string encode(const T& object, Style style = Style::pretty) {
  std::string json;
  encode(DocumentOf<T>::document, &object, style, json);
  return json;
}

// Returns the value that the field of this object has as compact JSON; of none, the word for it.
std::string json_of(const Field& field, const void* object);

// Returns true if the object has the value of a default-constructed one.
inline bool is_default(const Record& record, const Field& field, const void* object) {
  return json_of(field, object) == json_of(field, record.create().get());
}

} // namespace tidegate::documents
