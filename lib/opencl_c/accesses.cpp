// Recursive descent over a kernel's body. Each expression returns what is known of its value, so that a
// subscript can be recognised as the global id plus a constant.
#include "opencl_c/accesses.hpp"

#include "opencl_c/call_graph.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/linear.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_distance = std::int64_t{1} << 30U;

// By dimension: every id is less.
using IdBounds = std::array<std::int64_t, 3>;
constexpr IdBounds no_bounds{std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::max()};

IdBounds tighter(const IdBounds& a, const IdBounds& b) {
  return {std::min(a[0], b[0]), std::min(a[1], b[1]), std::min(a[2], b[2])};
}

// Abstract value of an expression.
struct Known {
  enum class Kind : std::uint8_t {
    unknown,
    number,
    pointer,
    moved_pointer,
    element,
    moved_element,
    address,
    assignment
  };
  static constexpr std::size_t no_use = ~std::size_t{0};
  Kind kind = Kind::unknown;
  Linear number = {};             // number: its value; moved_pointer: elements added to the parameter
  const Name* variable = nullptr; // number, moved_pointer: the variable that the expression denotes
  std::size_t parameter = 0;      // pointer and what is made of it: the parameter
  std::size_t use = no_use;       // pointer: its token; otherwise index into the parameter's uses
  bool part = false;              // element: a member, or the result of a further subscript
  IdBounds if_true = no_bounds;   // what a condition says of the ids
  IdBounds if_false = no_bounds;
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
  // With `setting`, launches and values of parameters are known.
  BodyReader(const TranslationUnit& unit, const Function& kernel, std::optional<std::size_t> id,
             const KernelSetting* setting)
      : unit_(unit), kernel_(kernel), tokens_(unit.source.tokens), body_(*kernel.body), end_(body_.end),
        by_parameter_(id.has_value()), setting_(setting) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      ids_.begin[d] = setting == nullptr ? 0 : setting->begin[d];
      ids_.end[d] = setting == nullptr ? most_ids : setting->begin[d] + setting->size[d];
    }
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
          given_[&name] = {.kind = Known::Kind::number, .number = id_of(0)};
        } else if (setting != nullptr && setting->values.contains(i)) {
          given_[&name] = {.kind = Known::Kind::number,
                           .number = constant_of(setting->values.at(i), kernel.parameters[i].type == "int")};
        }
      }
    }
  }

  // `known`: the device's compiler sees these same tokens.
  std::vector<PointerUses> run(bool known) {
    // Variables count as what their declarations say until a change of them is found: then all is read again.
    for (std::size_t changing = ~std::size_t{0}; changing != changing_.size();) {
      changing = changing_.size();
      read(known);
    }
    return found_;
  }

  // After run(): by parameter.
  [[nodiscard]] std::vector<std::optional<RowElements>> rows() const {
    std::vector<std::optional<RowElements>> rows(found_.size());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].understood && !touched_[i].anywhere && touched_[i].rows.per_id > 0) {
        rows[i] = touched_[i].rows;
      }
    }
    return rows;
  }

private:
  using Kind = PointerUse::Kind;

  struct Touched {
    RowElements rows;
    bool anywhere = false; // it may touch any element
  };

  void read(bool known) {
    at_ = body_.begin;
    understood_ = true;
    returned_ = false;
    switches_ = 0;
    values_ = given_;
    for (const Name* const name : changing_) {
      values_.erase(name);
    }
    bounds_ = no_bounds;
    found_.assign(kernel_.parameters.size(), {});
    touched_.assign(kernel_.parameters.size(), {});
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
        }
      }
      std::ranges::sort(pointer.uses, {}, &PointerUse::token);
    }
  }

  // Where the ids are at this point of the body.
  [[nodiscard]] IdRanges ids() const {
    IdRanges ids = ids_;
    for (std::size_t d = 0; d < 3; ++d) {
      ids.end[d] = std::min(ids.end[d], bounds_[d]);
    }
    return ids;
  }

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

  // Returns true if nothing runs after it.
  bool block() {
    const IdBounds before = bounds_;
    bool leaves = false;
    while (at_ < end_ && !next_is("}")) {
      leaves = statement() || leaves;
    }
    expect("}");
    bounds_ = before;
    return leaves;
  }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const IdBounds& holds, const Read& read) {
    const IdBounds before = bounds_;
    bounds_ = switches_ == 0 ? tighter(bounds_, holds) : bounds_;
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Returns true if nothing runs after it.
  bool statement() {
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
      return false;
    }
    if (take("{")) {
      return block();
    }
    if (take("if")) {
      const Known holds = condition();
      const bool leaves = where(holds.if_true, [this] { return statement(); });
      const bool else_leaves = take("else") && where(holds.if_false, [this] { return statement(); });
      if (leaves && switches_ == 0) {
        bounds_ = tighter(bounds_, holds.if_false);
      }
      return leaves && else_leaves;
    }
    if (take("return")) {
      returned_ = true;
      if (!next_is(";")) {
        consume(expression());
      }
      expect(";");
      return true;
    }
    if (take("while")) {
      condition();
      loop_body();
    } else if (take("do")) {
      loop_body();
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
    } else if (starts_type(at_) || next_is("typedef")) {
      declaration();
    } else {
      expression_statement();
    }
    return false;
  }

  Known condition() {
    expect("(");
    const Known value = expression();
    consume(value);
    expect(")");
    return value;
  }

  void for_loop() {
    expect("(");
    const Name* counter = nullptr;
    if (starts_type(at_)) {
      counter = declaration();
    } else if (!take(";")) {
      consume(expression());
      expect(";");
    }
    if (counter == nullptr || !counts(*counter)) {
      if (!next_is(";")) {
        consume(expression());
      }
      expect(";");
      if (!next_is(")")) {
        consume(expression());
      }
    }
    expect(")");
    loop_body();
  }

  // What an early return in it says of ids is not known after the loop, which may not run, or end before.
  void loop_body() {
    const IdBounds before = bounds_;
    statement();
    bounds_ = before;
  }

  // Reads `i < 3; ++i` of a loop whose variable has a constant number first: it counts up, if the body does not change it.
  bool counts(const Name& variable) {
    const std::string& name = tokens_[variable.token].text;
    const auto value = values_.find(&variable);
    if (value == values_.end() || value->second.kind != Known::Kind::number ||
        !value->second.number.is_constant() || !next_is(name) || unit_.meaning(at_) != &variable ||
        at_ + 1 >= end_ || (!tokens_[at_ + 1].is("<") && !tokens_[at_ + 1].is("<="))) {
      return false;
    }
    const std::size_t semicolon = unit_.find({.begin = at_, .end = end_}, ";");
    const auto plain = [](const Token& token) {
      return token.kind == TokenKind::identifier || token.kind == TokenKind::number || token.is("+") ||
             token.is("-") || token.is("*");
    };
    const std::span<const Token> bound =
        std::span(tokens_).subspan(at_ + 2, std::max(semicolon, at_ + 2) - at_ - 2);
    const bool bound_by_itself =
        std::ranges::any_of(bound, [&name](const Token& token) { return token.is(name.c_str()); });
    const std::size_t step = semicolon + 1;
    if (step + 2 >= end_ || bound_by_itself || !std::ranges::all_of(bound, plain) ||
        !tokens_[step + 2].is(")") ||
        !((tokens_[step].is("++") && tokens_[step + 1].is(name.c_str())) ||
          (tokens_[step].is(name.c_str()) && tokens_[step + 1].is("++")))) {
      return false;
    }
    const bool includes_bound = tokens_[at_ + 1].is("<=");
    at_ += 2;
    const Known end = expression();
    consume(end);
    expect(";");
    at_ += 2;
    Linear& counted = value->second.number;
    const std::int64_t last = end.number.high - (includes_bound ? 0 : 1);
    if (end.kind == Known::Kind::number && end.number.is_constant() && end.number.exact && counted.exact &&
        (counted.is_int || counted.low >= 0) && last >= counted.low) {
      counted.high = last;
    } else {
      values_.erase(value);
    }
    return true;
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
    specified_int_ = false;
    if (types == 0 || (types > 1 && words != types)) {
      fail();
      return false;
    }
    if (types == 1 && std::ranges::find(of_pointers, last_word) != of_pointers.end()) {
      return plain;
    }
    const auto layout = layout_of(unit_, {.begin = begin, .end = at_});
    specified_int_ = layout && layout->name == "int";
    return plain && layout && layout->kind == TypeLayout::Kind::arithmetic &&
           std::ranges::find(wide, layout->name) != wide.end();
  }

  // Returns the last variable if its value is known.
  const Name* declaration() {
    const std::size_t begin = at_;
    const bool holds_ids = specifiers();
    const bool is_int = specified_int_;
    const Name* known = nullptr;
    if (take(";")) {
      return known;
    }
    do {
      const std::size_t first = at_;
      const std::size_t name = declarator();
      const bool plain = holds_ids && name == first && at_ == name + 1;
      const bool points = name < end_ && tokens_[first].is("*") && at_ == name + 1 &&
                          std::ranges::all_of(std::span(tokens_).subspan(first + 1, name - first - 1),
                                              [](const Token& token) { return is_qualifier(token.text); });
      known = nullptr;
      if (!take("=")) {
        continue;
      }
      Known value = initializer();
      const Name* const declared = name < end_ ? unit_.meaning(name) : nullptr;
      const bool keeps = declared != nullptr && declared->token == name && !changing_.contains(declared) &&
                         switches_ == 0; // a case label may jump over the declaration
      if (points && keeps && is_same_pointer(value, {.begin = begin, .end = name + 1})) {
        escape(value);
        values_[declared] = {
            .kind = Known::Kind::moved_pointer, .number = value.number, .parameter = value.parameter};
        continue;
      }
      consume(value);
      if (plain && keeps && value.kind == Known::Kind::number) {
        values_[declared] = {.kind = Known::Kind::number, .number = converted(value.number, is_int, ids())};
        known = declared;
      }
    } while (take(","));
    expect(";");
    return known;
  }

  // True for a parameter, or an element of it, in a variable that is declared as a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, TokenRange declared) const {
    if (setting_ == nullptr ||
        (value.kind != Known::Kind::pointer && value.kind != Known::Kind::moved_pointer)) {
      return false;
    }
    const auto of_variable = layout_of_pointee(unit_, declared);
    const auto of_parameter = layout_of_pointee(unit_, kernel_.parameters[value.parameter].tokens);
    return of_variable && of_parameter && of_variable->kind == TypeLayout::Kind::arithmetic &&
           of_parameter->kind == TypeLayout::Kind::arithmetic && of_variable->name == of_parameter->name;
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
    consume(where(value.if_true, [this] { return expression(); }));
    expect(":");
    const Deeper deeper(*this);
    consume(where(value.if_false, [this] { return conditional(); }));
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
      const IdBounds& holds = name == "&&" ? left.if_true : name == "||" ? left.if_false : no_bounds;
      left = combined(name, left, where(holds, [this, rank] { return binary(rank + 1); }));
    }
    return left;
  }

  Known combined(std::string_view name, const Known& left, const Known& right) {
    if (name == "+" && (left.kind == Known::Kind::pointer || left.kind == Known::Kind::moved_pointer)) {
      consume(right);
      return moved(left, right);
    }
    consume(left);
    consume(right);
    if (name == "&&") {
      return {.if_true = tighter(left.if_true, right.if_true)};
    }
    if (name == "||") {
      return {.if_false = tighter(left.if_false, right.if_false)};
    }
    if (left.kind != Known::Kind::number || right.kind != Known::Kind::number) {
      return {};
    }
    const IdRanges at = ids();
    return of_number(name == "+"   ? sum(left.number, right.number, at)
                     : name == "-" ? difference(left.number, right.number, at)
                     : name == "*" ? product(left.number, right.number, at)
                     : name == "%" ? remainder(left.number, right.number, at,
                                               setting_ == nullptr ? 3 : setting_->dimensions - 1)
                                   : std::nullopt,
                     compared(name, left.number, right.number));
  }

  static Known of_number(const std::optional<Linear>& number, Known otherwise = {}) {
    return number ? Known{.kind = Known::Kind::number, .number = *number} : otherwise;
  }

  // A pointer plus elements.
  Known moved(const Known& pointer, const Known& by) {
    const auto number = by.kind == Known::Kind::number ? sum(pointer.number, by.number, ids()) : std::nullopt;
    Known result{.kind = Known::Kind::moved_pointer,
                 .number = number.value_or(Linear()),
                 .parameter = pointer.parameter,
                 .use = pointer.use};
    if (pointer.kind == Known::Kind::pointer) {
      result.use = add_use(pointer.parameter, escaping(pointer.use));
    }
    if (!number) {
      touched_[pointer.parameter].anywhere = true;
    }
    return result;
  }

  // What a comparison of an id with a number says.
  static Known compared(std::string_view name, const Linear& left, const Linear& right) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> turned{
        {{"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}, {"==", "=="}, {"!=", "!="}}};
    const auto id = left.id();
    if (!id && right.id()) {
      for (const auto& [one, other] : turned) {
        if (name == one) {
          return compared(other, right, left);
        }
      }
    }
    Known result;
    if (id && left.exact && left.low == 0 && left.high == 0 && right.is_constant() && right.exact &&
        right.low >= 0) {
      if (name == "<" || name == ">=") {
        (name == "<" ? result.if_true : result.if_false)[*id] = right.low;
      } else if (name == "<=" || name == ">" || name == "==" || name == "!=") {
        (name == "<=" || name == "==" ? result.if_true : result.if_false)[*id] = right.low + 1;
      }
    }
    return result;
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
      if (value.kind == Known::Kind::moved_element) {
        touched_[value.parameter].anywhere = true;
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
        touch(value, Linear());
        return value;
      }
      if (sign == "*" && value.kind == Known::Kind::moved_pointer) {
        touch(value, Linear());
        return {.kind = Known::Kind::moved_element, .parameter = value.parameter};
      }
      consume(value);
      if (sign == "!") {
        return {.if_true = value.if_false, .if_false = value.if_true};
      }
      if (value.kind != Known::Kind::number || (sign != "+" && sign != "-")) {
        return {};
      }
      return of_number(sign == "-" ? difference(constant_of(0, true), value.number, ids()) : value.number);
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
      const bool is_int = specified_int_;
      const Known value = unary();
      consume(value);
      return holds_ids && value.kind == Known::Kind::number
                 ? of_number(converted(value.number, is_int, ids()))
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
        if (value.kind != Known::Kind::element && value.kind != Known::Kind::moved_element) {
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
    const bool number = subscript.kind == Known::Kind::number;
    if (value.kind == Known::Kind::pointer) {
      const bool known =
          number && subscript.number.id() == 0U && subscript.number.low == subscript.number.high;
      value.use =
          add_use(value.parameter, {.kind = Kind::reads,
                                    .token = value.use,
                                    .subscript = range,
                                    .offset = known ? std::optional(subscript.number.low) : std::nullopt});
      value.kind = Known::Kind::element;
      touch(value, number ? std::optional(subscript.number) : std::nullopt);
    } else if (value.kind == Known::Kind::moved_pointer) {
      touch(value, number ? std::optional(subscript.number) : std::nullopt);
      value = {.kind = Known::Kind::moved_element, .parameter = value.parameter};
    } else if (value.kind == Known::Kind::moved_element) {
      value.part = true;
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
    const bool is_int =
        value && *value < (std::int64_t{1} << 31U) && token.text.find_first_of("uUlL") == std::string::npos;
    return value && *value <= most_distance ? of_number(constant_of(*value, is_int)) : Known{};
  }

  Known named(std::size_t token) {
    const std::string& text = tokens_[token].text;
    const Name* const name = unit_.meaning(token);
    const bool called = next_is("(");
    if (called && (name == nullptr ? is_built_in_function(text) : name->kind == NameKind::function)) {
      Known argument;
      std::vector<Known> given;
      const std::size_t after = unit_.counterpart(at_) + 1;
      const bool statement = name == nullptr && token == statement_ && after < end_ && tokens_[after].is(";");
      const auto reduction = statement ? reduction_of(text) : std::nullopt;
      ++at_;
      if (!next_is(")")) {
        do {
          argument = assignment();
          const bool atomic = name == nullptr && (text.starts_with("atomic_") || text.starts_with("atom_"));
          if (atomic && given.empty() && argument.kind == Known::Kind::address) {
            found_[argument.parameter].uses[argument.use].offset.reset(); // atomics need memory
            update(argument);
          } else {
            consume(argument);
          }
          if (reduction && given.empty()) {
            reduce(argument, *reduction);
          }
          given.push_back(argument);
        } while (take(","));
      }
      expect(")");
      return name == nullptr ? built_in(text, given) : Known{};
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
    if (const auto value = values_.find(name); name != nullptr && value != values_.end()) {
      Known known = value->second;
      known.variable = name;
      return known;
    }
    return {};
  }

  // The value of a built-in function, if all arguments are numbers.
  Known built_in(const std::string& function, const std::vector<Known>& arguments) const {
    if (arguments.empty() || !std::ranges::all_of(arguments, [](const Known& argument) {
          return argument.kind == Known::Kind::number;
        })) {
      return {};
    }
    const Linear& first = arguments[0].number;
    if (arguments.size() == 1 && first.is_constant() && first.low >= 0 && first.low < 3) {
      const auto d = static_cast<std::uint32_t>(first.low);
      const bool same_for_parts = setting_ != nullptr && d + 1 < setting_->dimensions;
      return function == "get_global_id" && !by_parameter_ ? of_number(id_of(d))
             : function == "get_global_size" && same_for_parts
                 ? of_number(constant_of(setting_->size[d], false))
                 : Known{};
    }
    const IdRanges at = ids();
    if (arguments.size() == 2 && (function == "min" || function == "max")) {
      return of_number((function == "min" ? least : greatest)(first, arguments[1].number, at));
    }
    if (arguments.size() == 3 && function == "clamp") {
      const auto raised = greatest(first, arguments[1].number, at);
      return of_number(raised ? least(*raised, arguments[2].number, at) : std::nullopt);
    }
    return {};
  }

  // An access to the element with this subscript after the pointer, or to any element.
  void touch(const Known& pointer, const std::optional<Linear>& subscript) {
    Touched& touched = touched_[pointer.parameter];
    const IdRanges at = ids();
    const auto element =
        subscript && setting_ != nullptr ? sum(pointer.number, *subscript, at) : std::nullopt;
    touched.anywhere = touched.anywhere || !element || !add_rows(touched.rows, *element, at);
  }

  // Returns false where the element is none of a known row.
  bool add_rows(RowElements& rows, Linear element, IdRanges at) const {
    const std::uint32_t outermost = setting_->dimensions - 1;
    const std::int64_t wraps = element.wrapped.factor == 0 ? 0 : element.wrapped.modulus;
    const std::int64_t per_id = wraps == 0 ? element.factors[outermost] : element.wrapped.factor;
    const auto [first, last] = range_of(element, at);
    if (per_id <= 0 || first <= -most_elements || last >= most_elements ||
        (wraps != 0 && (element.factors[outermost] != 0 || element.wrapped.dimension != outermost)) ||
        (rows.per_id != 0 && rows.per_id != per_id) ||
        (rows.wraps != 0 && wraps != 0 && rows.wraps != wraps)) {
      return false;
    }
    const Wrapped by = element.wrapped;
    element.factors[outermost] = 0;
    element.wrapped = {};
    auto [low, high] = range_of(element, at);
    if (wraps != 0 && (low < 0 || high >= per_id)) {
      return false;
    }
    low += by.low * per_id;
    high += by.high * per_id;
    rows.per_id = per_id;
    rows.wraps = std::max(rows.wraps, wraps);
    rows.low = std::min(rows.low, low);
    rows.high = std::max(rows.high, high);
    return true;
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
    if (value.kind == Known::Kind::element && value.part) {
      update(value); // a member that is an array decays to an address
    } else if (value.kind == Known::Kind::pointer || value.kind == Known::Kind::moved_pointer ||
               value.kind == Known::Kind::address) {
      escape(value);
      touched_[value.parameter].anywhere = true;
    }
  }

  void escape(const Known& value) {
    if (value.kind == Known::Kind::pointer) {
      add_use(value.parameter, escaping(value.use));
    } else if (value.kind == Known::Kind::address) {
      PointerUse& use = found_[value.parameter].uses[value.use];
      use = escaping(use.token);
    }
  }

  // The argument has been used just now.
  void reduce(const Known& argument, Reduction reduction) {
    if (argument.kind == Known::Kind::pointer) {
      found_[argument.parameter].uses.back().reduction = reduction;
    } else if (argument.use != Known::no_use && (argument.kind == Known::Kind::moved_pointer ||
                                                 (argument.kind == Known::Kind::address && !argument.part))) {
      found_[argument.parameter].uses[argument.use].reduction = reduction;
    }
  }

  void change(const Known& value) {
    if (value.kind == Known::Kind::element) {
      update(value);
    } else if (value.variable != nullptr) {
      changing_.insert(value.variable);
      consume(value);
    } else {
      consume(value);
    }
  }

  void update(const Known& value) {
    Kind& kind = found_[value.parameter].uses[value.use].kind;
    kind = kind == Kind::escapes ? kind : Kind::updates;
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
    for (const auto& [name, value] : values_) {
      names.emplace(tokens_[name->token].text, name);
    }
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      const auto [first, last] = names.equal_range(tokens_[i].text);
      for (auto entry = first; entry != last && !unit_.is_member(i); ++entry) {
        const Name* const name = entry->second;
        const auto pointer = pointers_.find(name);
        if (pointer == pointers_.end()) {
          if (unit_.meaning(i) != name) {
            changing_.insert(name);
          }
        } else if (unit_.meaning(i) != name) {
          found_[pointer->second].understood = false;
        } else if (!seen.contains(i)) {
          consume({.kind = Known::Kind::pointer, .parameter = pointer->second, .use = i});
        }
      }
    }
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions
  static constexpr std::int64_t most_ids = std::int64_t{1} << 31U;
  static constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see own_elements()

  const TranslationUnit& unit_;
  const Function& kernel_;
  const std::vector<Token>& tokens_;
  const TokenRange body_;
  std::size_t at_ = 0;
  const std::size_t end_;
  const bool by_parameter_; // the id is one
  const KernelSetting* const setting_;
  IdRanges ids_;
  IdBounds bounds_ = no_bounds; // of the ids where the reader is
  bool specified_int_ = false;  // the last specifiers said int
  bool understood_ = true;
  bool returned_ = false;
  std::size_t depth_ = 0;
  std::size_t statement_ = 0; // first token of the last expression statement
  std::size_t switches_ = 0;  // around the statement being read
  std::map<const Name*, std::size_t> pointers_;
  std::map<const Name*, Known> given_;  // parameters
  std::map<const Name*, Known> values_; // of variables that only their declarations set
  std::set<const Name*> changing_;      // other variables
  std::vector<PointerUses> found_;
  std::vector<Touched> touched_;
};

} // namespace

namespace {

// Redefined macros and pragmas can change the meaning of the text.
bool is_known(const TranslationUnit& unit, const Function& kernel) {
  const bool named = std::ranges::none_of(kernel.parameters,
                                          [](const Parameter& parameter) { return parameter.name.empty(); });
  return named && unit.source.own_macros.empty() && pragma_scope(unit).obstacle.empty();
}

} // namespace

std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel,
                                      std::optional<std::size_t> id) {
  return kernel.body ? BodyReader(unit, kernel, id, nullptr).run(is_known(unit, kernel))
                     : std::vector<PointerUses>(kernel.parameters.size());
}

std::vector<std::optional<RowElements>> row_elements(const TranslationUnit& unit, const Function& kernel,
                                                     const KernelSetting& setting) {
  std::vector<std::optional<RowElements>> rows(kernel.parameters.size());
  if (!kernel.body) {
    return rows;
  }
  BodyReader reader(unit, kernel, {}, &setting);
  reader.run(is_known(unit, kernel));
  rows = reader.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto element = layout_of_pointee(unit, kernel.parameters[i].tokens);
    if (!rows[i] || kernel.parameters[i].space != AddressSpace::global || !element ||
        element->kind != TypeLayout::Kind::arithmetic) {
      rows[i].reset();
    } else {
      rows[i]->element_bytes = static_cast<std::uint32_t>(element->bytes);
    }
  }
  return rows;
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

// Of functions whose result may depend on an order, and of assembler, which may hold any.
static constexpr std::array<std::string_view, 9> atomic_prefixes{
    "atomic_",          "atom_", "__sync_", "__atomic_",       "__c11_atomic_",
    "__opencl_atomic_", "asm",   "__asm",   "__scoped_atomic_"};

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
      // By any name and in any place: (atomic_inc)(p) and a compiler's own __sync_fetch_and_add, too.
      const bool counts = std::ranges::any_of(
          atomic_prefixes, [&text](std::string_view prefix) { return text.starts_with(prefix); });
      atomics += counts ? 1 : 0;
    }
  }
  return atomics != known;
}

} // namespace tidegate::opencl_c
