// Reads the statements of a kernel's body; its expressions say what is known of their values (expressions.hpp).
#include "opencl_c/accesses.hpp"

#include "opencl_c/call_graph.hpp"
#include "opencl_c/expressions.hpp"
#include "opencl_c/linear.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

class BodyReader : private ExpressionReader {
public:
  // With `setting`, launches and values of parameters are known.
  BodyReader(const TranslationUnit& unit, const Function& kernel, std::optional<std::size_t> id,
             const KernelSetting* setting)
      : ExpressionReader(unit, *kernel.body, id.has_value(), setting), kernel_(kernel), body_(*kernel.body) {
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
      if (found_[i].understood && !touched_[i].anywhere && touched_[i].in_rows &&
          touched_[i].rows.per_id > 0) {
        rows[i] = touched_[i].rows;
      }
    }
    return rows;
  }
  [[nodiscard]] std::vector<Reach> reach() const {
    std::vector<Reach> reach(found_.size());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      reach[i] = {.last = touched_[i].last,
                  .known = found_[i].understood && !touched_[i].anywhere && touched_[i].exact &&
                           touched_[i].first >= 0};
    }
    return reach;
  }

private:
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

  // After the loop nothing is known from its early returns: it may not run, or end earlier.
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

  const Function& kernel_;
  const TokenRange body_;
  bool returned_ = false;
  std::map<const Name*, Known> given_; // parameters
};

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

std::vector<Reach> reach_of(const TranslationUnit& unit, const Function& kernel,
                            const KernelSetting& setting) {
  BodyReader reader(unit, kernel, {}, &setting);
  reader.run(is_known(unit, kernel));
  return reader.reach();
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

// Prefixes of functions whose result may depend on an order, and of assembler, which may contain any.
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
