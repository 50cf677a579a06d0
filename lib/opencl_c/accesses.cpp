// Recursive descent over a kernel's body. Each expression returns what is known of its value, so that a
// subscript can be recognised as the global id plus a constant.
#include "opencl_c/accesses.hpp"

#include "opencl_c/call_graph.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_distance = std::int64_t{1} << 30U;

// Abstract value of an expression. Sums hold modulo 2^32, as in 32-bit types.
struct Known {
  enum class Kind : std::uint8_t {
    unknown,
    constant,
    id,
    pointer,
    moved_pointer,
    element,
    address,
    assignment
  };
  Kind kind = Kind::unknown;
  std::int64_t number = 0;        // constant: its value; id: the constant added to it
  const Name* origin = nullptr;   // id: the variable or parameter it was read from; null: get_global_id()
  const Name* variable = nullptr; // id: the variable that the expression denotes
  std::size_t parameter = 0;      // pointer, moved_pointer, element, address, assignment: the parameter
  std::size_t use = 0;            // pointer: its token; otherwise index into the parameter's uses
  bool part = false;              // element: a member, or the result of a further subscript
};

constexpr std::array<std::string_view, 11> assignments{
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="};

// The reduction that a call stands for if its result is not used.
std::optional<Reduction> reduction_of(std::string_view function) {
  static constexpr std::array<std::pair<std::string_view, Reduction>, 10> known{
      {{"add", Reduction::sum},
       {"sub", Reduction::sum},
       {"inc", Reduction::sum},
       {"dec", Reduction::sum},
       {"min", Reduction::min},
       {"max", Reduction::max},
       {"fetch_add", Reduction::sum},
       {"fetch_sub", Reduction::sum},
       {"fetch_min", Reduction::min},
       {"fetch_max", Reduction::max}}};
  for (const std::string_view prefix : {"atomic_", "atom_"}) {
    for (const auto& [name, reduction] : known) {
      if (function.starts_with(prefix) && function.substr(prefix.size()) == name) {
        return reduction;
      }
    }
  }
  return {};
}

class BodyReader {
public:
  BodyReader(const TranslationUnit& unit, const Function& kernel, std::optional<std::size_t> id)
      : unit_(unit), tokens_(unit.source.tokens), body_(*kernel.body), at_(body_.begin), end_(body_.end),
        by_parameter_(id.has_value()), found_(kernel.parameters.size()) {
    for (const Name& name : unit.names) {
      for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const TokenRange& range = kernel.parameters[i].tokens;
        if (name.token < range.begin || name.token >= range.end ||
            !tokens_[name.token].is(kernel.parameters[i].name.c_str())) {
          continue;
        }
        if (kernel.parameters[i].is_pointer) {
          pointers_[&name] = i;
        } else if (id == i) {
          ids_[&name] = {};
        }
      }
    }
  }

  // `known`: the device's compiler sees these same tokens.
  std::vector<PointerUses> run(bool known) {
    if (known) {
      expect("{");
      block();
    }
    const bool read = known && understood_ && at_ == end_;
    if (!read) {
      found_.assign(found_.size(), {});
    }
    for (const auto& [name, parameter] : pointers_) {
      found_[parameter].understood = read && !is_type_word(tokens_[name->token].text);
    }
    check_names();
    for (PointerUses& pointer : found_) {
      for (PointerUse& use : pointer.uses) {
        if (!pointer.understood) {
          use = escaping(use.token);
        } else if (!is_constant(origins_[use.token])) {
          use.offset.reset();
        }
      }
      std::ranges::sort(pointer.uses, {}, &PointerUse::token);
    }
    return std::move(found_);
  }

private:
  using Kind = PointerUse::Kind;

  struct IdVariable {
    const Name* origin = nullptr; // the variable that its value comes from
    std::int64_t number = 0;
    bool changes = false;
  };

  class Deeper { // bounds the recursion
  public:
    explicit Deeper(BodyReader& reader) : reader_(reader) {
      if (++reader_.depth_ > most_depth) {
        reader_.fail();
      }
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    BodyReader& reader_;
  };

  // Stops reading: no further token comes.
  void fail() {
    understood_ = false;
    at_ = end_;
  }
  [[nodiscard]] bool next_is(std::string_view text) const { return at_ < end_ && tokens_[at_].text == text; }
  [[nodiscard]] bool next_is_word() const { return at_ < end_ && tokens_[at_].kind == TokenKind::identifier; }
  bool take(std::string_view text) {
    const bool found = next_is(text);
    at_ += found ? 1 : 0;
    return found;
  }
  void expect(std::string_view text) {
    if (!take(text)) {
      fail();
    }
  }
  void skip_brackets() {
    if (at_ < end_ && tokens_[at_].opens()) {
      at_ = unit_.counterpart(at_) + 1;
    } else {
      fail();
    }
  }

  void block() {
    while (at_ < end_ && !next_is("}")) {
      statement();
    }
    expect("}");
  }

  void statement() {
    const Deeper deeper(*this);
    while (at_ < end_) {
      if (tokens_[at_].kind == TokenKind::pragma) {
        ++at_;
      } else if (take("case")) {
        consume(conditional());
        expect(":");
      } else if (take("default")) {
        expect(":");
      } else {
        break;
      }
    }
    while (next_is_word() && is_attribute(tokens_[at_].text)) { // the attributes of a loop
      ++at_;
      skip_brackets();
      if (!next_is("for") && !next_is("while") && !next_is("do")) {
        fail();
      }
    }
    if (take(";") || next_is("}")) {
      return;
    }
    if (take("{")) {
      block();
    } else if (take("if")) {
      condition();
      statement();
      if (take("else")) {
        statement();
      }
    } else if (take("while")) {
      condition();
      statement();
    } else if (take("do")) {
      statement();
      expect("while");
      condition();
      expect(";");
    } else if (take("for")) {
      for_loop();
    } else if (take("switch")) {
      ++switches_;
      condition();
      statement();
      --switches_;
    } else if (take("break") || take("continue")) {
      expect(";");
    } else if (take("return")) {
      returned_ = true;
      if (!next_is(";")) {
        consume(expression());
      }
      expect(";");
    } else if (starts_type(at_) || next_is("typedef")) {
      declaration();
    } else {
      expression_statement();
    }
  }

  void condition() {
    expect("(");
    consume(expression());
    expect(")");
  }

  void for_loop() {
    expect("(");
    if (starts_type(at_)) {
      declaration();
    } else if (!take(";")) {
      consume(expression());
      expect(";");
    }
    if (!next_is(";")) {
      consume(expression());
    }
    expect(";");
    if (!next_is(")")) {
      consume(expression());
    }
    expect(")");
    statement();
  }

  void expression_statement() {
    statement_ = at_;
    const Known value = expression();
    consume(value);
    expect(";");
    if (value.kind == Known::Kind::assignment && depth_ == 1 && !returned_) {
      PointerUses& pointer = found_[value.parameter];
      pointer.assigned_first |= pointer.uses.size() == 1; // no use before it or in its value
    }
  }

  // True at a keyword that starts or qualifies a type, and at the name of a type.
  [[nodiscard]] bool starts_type(std::size_t i) const {
    if (i >= end_ || tokens_[i].kind != TokenKind::identifier) {
      return false;
    }
    const Name* const name = unit_.meaning(i);
    return name == nullptr ? is_qualifier(tokens_[i].text) || is_type_word(tokens_[i].text)
                           : name->kind == NameKind::type;
  }

  // Returns true for a type that can hold any id and has no qualifiers but const and private.
  bool specifiers() {
    static constexpr std::array<std::string_view, 6> joined{"unsigned", "signed", "char",
                                                            "short",    "int",    "long"};
    static constexpr std::array<std::string_view, 4> of_pointers{"size_t", "ptrdiff_t", "intptr_t",
                                                                 "uintptr_t"};
    static constexpr std::array<std::string_view, 4> wide{"int", "uint", "long", "ulong"};
    const std::size_t begin = at_;
    bool plain = true;
    std::size_t types = 0;
    std::size_t words = 0;      // of a type that may consist of several, such as "unsigned int"
    std::string_view last_word; // the last word of the type
    while (true) {
      const std::string_view word = at_ < end_ ? std::string_view(tokens_[at_].text) : "";
      if (word == "typedef" || (next_is_word() && is_qualifier(word))) {
        plain &= word == "const" || word == "private" || word == "__private";
        ++at_;
      } else if (next_is_word() && is_attribute(word)) {
        plain = false;
        ++at_;
        skip_brackets();
      } else if (word == "struct" || word == "union" || word == "enum") {
        plain = false;
        ++types;
        ++at_;
        at_ += next_is_word() && !is_attribute(tokens_[at_].text) ? 1 : 0;
        if (next_is("{")) {
          skip_brackets();
        }
      } else if (starts_type(at_) && (types == 0 || is_type_word(word))) {
        words += std::ranges::find(joined, word) != joined.end() ? 1 : 0;
        last_word = word;
        ++types;
        ++at_;
      } else {
        break;
      }
    }
    if (types == 0 || (types > 1 && words != types)) {
      fail();
      return false;
    }
    if (types == 1 && std::ranges::find(of_pointers, last_word) != of_pointers.end()) {
      return plain;
    }
    const auto layout = layout_of(unit_, {.begin = begin, .end = at_});
    return plain && layout && layout->kind == TypeLayout::Kind::arithmetic &&
           std::ranges::find(wide, layout->name) != wide.end();
  }

  void declaration() {
    const bool holds_ids = specifiers();
    if (take(";")) {
      return;
    }
    do {
      const std::size_t first = at_;
      const std::size_t name = declarator();
      const bool plain = holds_ids && name == first && at_ == name + 1;
      if (!take("=")) {
        continue;
      }
      const Known value = initializer();
      consume(value);
      const Name* const declared = name < end_ ? unit_.meaning(name) : nullptr;
      if (plain && value.kind == Known::Kind::id && declared != nullptr && declared->token == name &&
          switches_ == 0) { // a case label may jump over the declaration
        ids_[declared] = {.origin = value.origin, .number = value.number};
      }
    } while (take(","));
    expect(";");
  }

  // Returns the token of the name.
  std::size_t declarator() {
    const Deeper deeper(*this);
    while (next_is("*") || (next_is_word() && is_qualifier(tokens_[at_].text))) {
      ++at_;
    }
    std::size_t name = end_;
    if (take("(")) {
      name = declarator();
      expect(")");
    } else if (next_is_word() && !is_type_word(tokens_[at_].text)) {
      name = at_++;
    } else {
      fail();
    }
    bounds();
    while (next_is_word() && is_attribute(tokens_[at_].text)) {
      ++at_;
      skip_brackets();
    }
    return name;
  }

  void bounds() {
    while (take("[")) {
      if (!next_is("]")) {
        consume(expression());
      }
      expect("]");
    }
  }

  Known initializer() {
    const Deeper deeper(*this);
    if (!take("{")) {
      return assignment();
    }
    while (at_ < end_ && !next_is("}")) {
      const bool designated = next_is(".") || next_is("[");
      while (next_is(".") || next_is("[")) {
        if (take(".")) {
          ++at_;
        } else {
          bounds();
        }
      }
      if (designated) {
        expect("=");
      }
      consume(initializer());
      if (!take(",")) {
        break;
      }
    }
    expect("}");
    return {};
  }

  // Reads from after an opening parenthesis to past the closing one. Returns true for a type that keeps ids.
  bool type_name() {
    bool holds_ids = specifiers();
    for (std::size_t open = 0; at_ < end_ && (open > 0 || !next_is(")"));) {
      holds_ids = false;
      if (next_is("[")) {
        bounds();
      } else if (take("(")) {
        ++open;
      } else if (take(")")) {
        --open;
      } else if (!take("*") && !(next_is_word() && is_qualifier(tokens_[at_++].text))) {
        fail();
      }
    }
    expect(")");
    return holds_ids;
  }

  Known expression() {
    Known value = assignment();
    while (take(",")) {
      consume(value);
      consume(assignment());
      value = {};
    }
    return value;
  }

  Known assignment() {
    const Deeper deeper(*this);
    Known left = conditional();
    if (at_ >= end_ || std::ranges::find(assignments, tokens_[at_].text) == assignments.end()) {
      return left;
    }
    const bool whole = tokens_[at_++].is("=") && left.kind == Known::Kind::element && !left.part;
    change(left);
    consume(assignment());
    if (!whole) {
      return {};
    }
    found_[left.parameter].uses[left.use].kind = Kind::writes;
    left.kind = Known::Kind::assignment;
    return left;
  }

  Known conditional() {
    const Known value = binary(1);
    if (!take("?")) {
      return value;
    }
    consume(value);
    consume(expression());
    expect(":");
    const Deeper deeper(*this);
    consume(conditional());
    return {};
  }

  // Precedence climbing: reads operators of at least this rank.
  Known binary(int least_rank) {
    Known left = unary();
    while (at_ < end_) {
      const std::string& name = tokens_[at_].text;
      const int rank = binary_rank(name);
      if (rank < least_rank) {
        break;
      }
      ++at_;
      left = combined(name, left, binary(rank + 1));
    }
    return left;
  }

  Known combined(std::string_view name, const Known& left, const Known& right) {
    consume(left);
    if (name == "+" && (left.kind == Known::Kind::pointer || left.kind == Known::Kind::moved_pointer)) {
      const std::size_t use =
          left.kind == Known::Kind::pointer ? found_[left.parameter].uses.size() - 1 : left.use;
      consume(right);
      return {.kind = Known::Kind::moved_pointer, .parameter = left.parameter, .use = use};
    }
    consume(right);
    const bool constants = left.kind == Known::Kind::constant && right.kind == Known::Kind::constant;
    Known result{.kind = left.kind, .number = left.number, .origin = left.origin};
    if (name == "*" && constants) {
      result.number *= right.number;
    } else if (name == "-" && right.kind == Known::Kind::constant &&
               (constants || left.kind == Known::Kind::id)) {
      result.number -= right.number;
    } else if (name == "+" &&
               (constants || (left.kind == Known::Kind::id && right.kind == Known::Kind::constant))) {
      result.number += right.number;
    } else if (name == "+" && left.kind == Known::Kind::constant && right.kind == Known::Kind::id) {
      result = {.kind = Known::Kind::id, .number = left.number + right.number, .origin = right.origin};
    } else {
      return {};
    }
    return std::abs(result.number) <= most_distance ? result : Known{};
  }

  Known unary() {
    const Deeper deeper(*this);
    if (take("++") || take("--")) {
      change(unary());
      return {};
    }
    if (take("&")) {
      Known value = unary();
      if (value.kind == Known::Kind::element) {
        value.kind = Known::Kind::address;
        return value;
      }
      change(value);
      return {};
    }
    if (next_is("+") || next_is("-") || next_is("~") || next_is("!") || next_is("*")) {
      const std::string& sign = tokens_[at_++].text;
      Known value = unary();
      if (sign == "*" && value.kind == Known::Kind::pointer) {
        value.use = add_use(value.parameter,
                            {.kind = Kind::reads, .token = value.use, .subscript = {}, .offset = {}});
        value.kind = Known::Kind::element;
        return value;
      }
      consume(value);
      if (value.kind != Known::Kind::constant || (sign != "+" && sign != "-")) {
        return {};
      }
      value.number = sign == "-" ? -value.number : value.number;
      return value;
    }
    if (take("sizeof")) {
      if (next_is("(") && starts_type(at_ + 1)) {
        ++at_;
        type_name();
      } else {
        consume(unary());
      }
      return {};
    }
    if (next_is("(") && starts_type(at_ + 1)) {
      ++at_;
      const bool holds_ids = type_name();
      if (next_is("{")) { // a compound literal
        consume(initializer());
        return postfix({});
      }
      const Known value = unary();
      consume(value);
      const bool number = value.kind == Known::Kind::id || value.kind == Known::Kind::constant;
      return holds_ids && number ? Known{.kind = value.kind, .number = value.number, .origin = value.origin}
                                 : Known{};
    }
    return postfix(primary());
  }

  Known postfix(Known value) {
    while (at_ < end_) {
      if (next_is("[")) {
        value = subscripted(value);
      } else if (take(".")) {
        value.part = true;
        if (value.kind != Known::Kind::element) {
          consume(value);
          value = {};
        }
        member();
      } else if (take("->")) {
        consume(value);
        value = {};
        member();
      } else if (take("++") || take("--")) {
        change(value);
        value = {};
      } else {
        break;
      }
    }
    return value;
  }

  void member() {
    if (next_is_word()) {
      ++at_;
    } else {
      fail();
    }
  }

  Known subscripted(Known value) {
    const std::size_t begin = ++at_;
    const Known subscript = expression();
    const TokenRange range{.begin = begin, .end = at_};
    expect("]");
    consume(subscript);
    if (value.kind == Known::Kind::pointer) {
      const bool known = subscript.kind == Known::Kind::id;
      origins_[value.use] = known ? subscript.origin : nullptr;
      value.use =
          add_use(value.parameter, {.kind = Kind::reads,
                                    .token = value.use,
                                    .subscript = range,
                                    .offset = known ? std::optional(subscript.number) : std::nullopt});
      value.kind = Known::Kind::element;
    } else if (value.kind == Known::Kind::element) { // a row of an array, or a component of a vector
      found_[value.parameter].uses[value.use].offset.reset();
      update(value);
      value.part = true;
    } else {
      consume(value);
      value = {};
    }
    return value;
  }

  Known primary() {
    if (take("(")) {
      const Known value = expression();
      expect(")");
      return value;
    }
    if (at_ >= end_) {
      fail();
      return {};
    }
    const std::size_t token = at_++;
    switch (tokens_[token].kind) {
    case TokenKind::number: return number(tokens_[token]);
    case TokenKind::character: return {};
    case TokenKind::string:
      while (at_ < end_ && tokens_[at_].kind == TokenKind::string) {
        ++at_;
      }
      return {};
    case TokenKind::identifier: return named(token);
    default: fail(); return {};
    }
  }

  static Known number(const Token& token) {
    const auto constant = evaluate_constant(std::span(&token, 1));
    const auto value = constant ? constant->number() : std::nullopt;
    return value && *value <= most_distance ? Known{.kind = Known::Kind::constant, .number = *value}
                                            : Known{};
  }

  Known named(std::size_t token) {
    const std::string& text = tokens_[token].text;
    const Name* const name = unit_.meaning(token);
    const bool called = next_is("(");
    if (called && (name == nullptr ? is_built_in_function(text) : name->kind == NameKind::function)) {
      Known argument;
      std::size_t arguments = 0;
      const std::size_t after = unit_.counterpart(at_) + 1;
      const bool statement = name == nullptr && token == statement_ && after < end_ && tokens_[after].is(";");
      const auto reduction = statement ? reduction_of(text) : std::nullopt;
      ++at_;
      if (!next_is(")")) {
        do {
          argument = assignment();
          const bool atomic = name == nullptr && (text.starts_with("atomic_") || text.starts_with("atom_"));
          if (atomic && arguments == 0 && argument.kind == Known::Kind::address) {
            found_[argument.parameter].uses[argument.use].offset.reset(); // atomics need memory
            update(argument);
          } else {
            consume(argument);
          }
          if (reduction && arguments == 0) {
            reduce(argument, *reduction);
          }
          ++arguments;
        } while (take(","));
      }
      expect(")");
      const bool id = !by_parameter_ && name == nullptr && text == "get_global_id" && arguments == 1 &&
                      argument.kind == Known::Kind::constant && argument.number == 0;
      return id ? Known{.kind = Known::Kind::id} : Known{};
    }
    if (called ||
        (name == nullptr && text != "true" && text != "false" && !standard_macros().contains(text)) ||
        (name != nullptr && name->kind != NameKind::variable && name->kind != NameKind::enumerator)) {
      fail();
      return {};
    }
    if (const auto pointer = pointers_.find(name); name != nullptr && pointer != pointers_.end()) {
      return {.kind = Known::Kind::pointer, .parameter = pointer->second, .use = token};
    }
    if (const auto id = ids_.find(name); name != nullptr && id != ids_.end()) {
      return {.kind = Known::Kind::id, .number = id->second.number, .origin = name, .variable = name};
    }
    return {};
  }

  std::size_t add_use(std::size_t parameter, const PointerUse& use) {
    found_[parameter].uses.push_back(use);
    return found_[parameter].uses.size() - 1;
  }

  static PointerUse escaping(std::size_t token) {
    return {.kind = Kind::escapes, .token = token, .subscript = {}, .offset = {}};
  }

  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value) {
    if (value.kind == Known::Kind::pointer) {
      add_use(value.parameter, escaping(value.use));
    } else if (value.kind == Known::Kind::element && value.part) {
      update(value); // a member that is an array decays to an address
    } else if (value.kind == Known::Kind::address) {
      PointerUse& use = found_[value.parameter].uses[value.use];
      use = escaping(use.token);
    }
  }

  // The argument has been used just now.
  void reduce(const Known& argument, Reduction reduction) {
    if (argument.kind == Known::Kind::pointer) {
      found_[argument.parameter].uses.back().reduction = reduction;
    } else if (argument.kind == Known::Kind::moved_pointer ||
               (argument.kind == Known::Kind::address && !argument.part)) {
      found_[argument.parameter].uses[argument.use].reduction = reduction;
    }
  }

  void change(const Known& value) {
    if (value.kind == Known::Kind::element) {
      update(value);
    } else if (value.variable != nullptr) {
      ids_[value.variable].changes = true;
    } else {
      consume(value);
    }
  }

  void update(const Known& value) {
    Kind& kind = found_[value.parameter].uses[value.use].kind;
    kind = kind == Kind::escapes ? kind : Kind::updates;
  }

  // True if the id and every variable that it derives from are set by their declarations alone.
  [[nodiscard]] bool is_constant(const Name* origin) const {
    for (; origin != nullptr; origin = ids_.at(origin).origin) {
      if (ids_.at(origin).changes) {
        return false;
      }
    }
    return true;
  }

  // Safeguard that does not rely on scopes: nothing is known of a name that means two things in the body, and
  // a pointer escapes at each occurrence that the reader did not visit.
  void check_names() {
    std::multimap<std::string_view, const Name*> names;
    std::set<std::size_t> seen;
    for (const auto& [name, parameter] : pointers_) {
      names.emplace(tokens_[name->token].text, name);
      for (const PointerUse& use : found_[parameter].uses) {
        seen.insert(use.token);
      }
    }
    for (const auto& [name, id] : ids_) {
      names.emplace(tokens_[name->token].text, name);
    }
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      const auto [first, last] = names.equal_range(tokens_[i].text);
      for (auto entry = first; entry != last && !unit_.is_member(i); ++entry) {
        const Name* const name = entry->second;
        const auto pointer = pointers_.find(name);
        if (pointer == pointers_.end()) {
          ids_[name].changes |= unit_.meaning(i) != name;
        } else if (unit_.meaning(i) != name) {
          found_[pointer->second].understood = false;
        } else if (!seen.contains(i)) {
          consume({.kind = Known::Kind::pointer, .parameter = pointer->second, .use = i});
        }
      }
    }
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const TokenRange body_;
  std::size_t at_;
  const std::size_t end_;
  const bool by_parameter_; // the id is one
  bool understood_ = true;
  bool returned_ = false;
  std::size_t depth_ = 0;
  std::size_t statement_ = 0; // first token of the last expression statement
  std::size_t switches_ = 0;  // around the statement being read
  std::map<const Name*, std::size_t> pointers_;
  std::map<const Name*, IdVariable> ids_;
  std::map<std::size_t, const Name*> origins_; // by token of a use: the variable of its id
  std::vector<PointerUses> found_;
};

} // namespace

std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel,
                                      std::optional<std::size_t> id) {
  const bool named = std::ranges::none_of(kernel.parameters,
                                          [](const Parameter& parameter) { return parameter.name.empty(); });
  // Redefined macros and pragmas can change the meaning of the text.
  const bool known = named && unit.source.own_macros.empty() && pragma_scope(unit).obstacle.empty();
  return kernel.body ? BodyReader(unit, kernel, id).run(known)
                     : std::vector<PointerUses>(kernel.parameters.size());
}

std::vector<std::optional<OwnElements>> own_elements(const TranslationUnit& unit, const Function& kernel,
                                                     std::optional<std::size_t> id) {
  const std::vector<PointerUses> pointers = pointer_uses(unit, kernel, id);
  std::vector<std::optional<OwnElements>> found(pointers.size());
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const auto is_known = [](const PointerUse& use) { return use.offset.has_value(); };
    if (!pointers[i].understood || parameter.space != AddressSpace::global ||
        !std::ranges::all_of(pointers[i].uses, is_known)) {
      continue;
    }
    const auto element = layout_of_pointee(unit, parameter.tokens);
    if (!element || element->kind != TypeLayout::Kind::arithmetic) {
      continue;
    }
    OwnElements own{.element_bytes = static_cast<std::uint32_t>(element->bytes),
                    .assigned_first = pointers[i].assigned_first};
    if (!pointers[i].uses.empty()) {
      const auto [low, high] = std::ranges::minmax(pointers[i].uses, {}, &PointerUse::offset);
      own.low = *low.offset;
      own.high = *high.offset;
    }
    found[i] = own;
  }
  return found;
}

std::vector<std::optional<Reduction>> reductions(const TranslationUnit& unit, const Function& kernel) {
  std::vector<std::optional<Reduction>> found;
  for (const PointerUses& pointer : pointer_uses(unit, kernel)) {
    const auto first = pointer.uses.empty() ? std::nullopt : pointer.uses.front().reduction;
    const bool all = pointer.understood && std::ranges::all_of(pointer.uses, [&](const PointerUse& use) {
                       return use.reduction == first;
                     });
    found.push_back(all ? first : std::nullopt);
  }
  return found;
}

bool depends_on_order(const TranslationUnit& unit, const Function& kernel) {
  const std::vector<PointerUses> pointers = pointer_uses(unit, kernel);
  const auto reduced = reductions(unit, kernel);
  std::size_t known = 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    known += reduced[i] ? pointers[i].uses.size() : 0;
  }
  std::size_t atomics = 0;
  const std::vector<Token>& tokens = unit.source.tokens;
  const std::set<std::string> called = CallGraph(unit).reachable({kernel.name});
  for (const Function& function : unit.functions) {
    const bool runs = function.body && called.contains(function.name);
    for (std::size_t i = runs ? function.body->begin : 0; runs && i < function.body->end; ++i) {
      const std::string& text = tokens[i].text;
      const bool assembler = text == "asm" || text == "__asm" || text == "__asm__";
      atomics +=
          assembler || ((text.starts_with("atomic_") || text.starts_with("atom_")) && tokens[i + 1].is("("))
              ? 1
              : 0;
    }
  }
  return atomics != known;
}

} // namespace tidegate::opencl_c
