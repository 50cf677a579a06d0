// Reads the statements of a kernel's body; ExpressionReader (expressions.hpp) reads its expressions.
#include "opencl_c/accesses.hpp"

#include "opencl_c/call_graph.hpp"
#include "opencl_c/expressions.hpp"
#include "opencl_c/linear.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

class BodyReader : private ExpressionReader {
public:
  // With `setting`, launches and values of parameters are known.
  BodyReader(const TranslationUnit& unit, const Function& kernel, const KernelSetting* setting)
      : ExpressionReader(unit, setting), kernel_(kernel), body_(*kernel.body),
        statements_(unit.tree->body(kernel)) {
    const std::vector<const Name*> names = names_of(kernel);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Parameter& parameter = kernel.parameters[i];
      const bool plain = parameter.is_pointer && layout_of_pointee(unit, parameter.tokens);
      pointees_.push_back(plain ? parameter.type : "");
      if (names[i] == nullptr) {
        continue;
      }
      if (parameter.is_pointer) {
        pointers_[names[i]] = i;
      } else if (setting != nullptr && setting->values.contains(i)) {
        given_[names[i]] = {.kind = Known::Kind::number,
                            .number = constant_of(setting->values.at(i), parameter.type == "int")};
      } else if (is_image_type(parameter.type)) {
        images_[names[i]] = i;
      } else if (parameter.type == "sampler_t") {
        samplers_.insert(names[i]);
      }
      types_[names[i]] = parameter.type;
    }
  }

  // Reads a function that the body of `caller` calls.
  BodyReader(const BodyReader& caller, const Function& callee, const std::vector<Known>& arguments)
      : ExpressionReader(caller.unit_, caller.setting_), kernel_(caller.kernel_), body_(*callee.body),
        statements_(caller.unit_.tree->body(callee)), at_call_(caller.bounds_), calls_(caller.calls_),
        nesting_(caller.nesting_ + 1) {
    pointees_ = caller.pointees_;
    const std::vector<const Name*> names = names_of(callee);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Parameter& parameter = callee.parameters[i];
      const auto number = caller.as_type(parameter.type, caller.number_of(arguments[i]));
      if (names[i] == nullptr) {
        continue; // the body cannot use it
      }
      if (caller.is_same_pointer(arguments[i], *names[i]->type)) {
        given_[names[i]] = {.kind = Known::Kind::moved_pointer,
                            .number = arguments[i].number,
                            .parameter = arguments[i].parameter};
      } else if (holds_pointers(*names[i]->type)) {
        pointers_known_ = false;
      } else if (arguments[i].kind == Known::Kind::vector) {
        given_[names[i]] = arguments[i];
      } else if (number) {
        given_[names[i]] = {.kind = Known::Kind::number, .number = *number};
      }
      types_[names[i]] = parameter.is_pointer ? "" : parameter.type;
    }
  }

  // `known`: the device's compiler sees these same tokens.
  std::vector<PointerUses> run(bool known) {
    // Variables count as what their declarations say until a change of them is found: then all is read again.
    for (std::size_t changing = ~std::size_t{0}; changing != changing_.size();) {
      changing = changing_.size();
      read_body(known);
    }
    return found_;
  }

  // After run(): returns the rows of each parameter.
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
  [[nodiscard]] LaunchReach reach() const {
    LaunchReach reach{.parameters = std::vector<Reach>(found_.size()),
                      .others_known = read_ && others_known_};
    for (std::size_t i = 0; i < found_.size(); ++i) {
      reach.parameters[i] = {.last = touched_[i].last,
                             .known = read_ && (found_[i].understood || !kernel_.parameters[i].is_pointer) &&
                                      !touched_[i].anywhere && touched_[i].exact && touched_[i].first >= 0};
    }
    return reach;
  }

private:
  // The name of each parameter.
  [[nodiscard]] std::vector<const Name*> names_of(const Function& function) const {
    std::vector<const Name*> names(function.parameters.size());
    const Decl* const decl = unit_.tree->declaration(function.name_token);
    for (std::size_t i = 0; decl != nullptr && i < std::min(names.size(), decl->parameters.size()); ++i) {
      const std::size_t name = decl->parameters[i]->name;
      names[i] = name == no_name ? nullptr : &unit_.names[name];
    }
    return names;
  }

  void read_body(bool known) {
    understood_ = true;
    returned_ = false;
    switches_ = 0;
    values_ = given_;
    for (const Name* const name : changing_) {
      values_.erase(name);
    }
    bounds_ = at_call_;
    others_known_ = pointers_known_;
    results_ = 0;
    found_.assign(kernel_.parameters.size(), {});
    touched_.assign(kernel_.parameters.size(), {});
    if (known && statements_ != nullptr) {
      block(*statements_);
    }
    read_ = known && statements_ != nullptr && understood_;
    if (!read_) {
      found_.assign(found_.size(), {});
    }
    for (const auto& [name, parameter] : pointers_) {
      found_[parameter].understood = read_ && !is_type_word(tokens_[name->token].text);
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
  bool block(const Stmt& stmt) {
    const Bounds before = bounds_;
    bool leaves = false;
    for (const Stmt* const part : stmt.parts) {
      leaves = statement(*part) || leaves;
    }
    bounds_ = before;
    return leaves;
  }

  // Returns true if nothing runs after it.
  bool statement(const Stmt& stmt) {
    const Deeper deeper(*this);
    if (!understood_ || (stmt.has_attributes && !stmt.is_loop())) { // a loop may have some
      fail();
      return false;
    }
    switch (stmt.kind) {
    case Stmt::Kind::nothing: return false;
    case Stmt::Kind::block: return block(stmt);
    case Stmt::Kind::expression: expression_statement(*stmt.values[0]); return false;
    case Stmt::Kind::declaration: declaration(stmt); return false;
    case Stmt::Kind::if_else: {
      const Known holds = condition(*stmt.values[0]);
      const bool leaves = where(holds.if_true, [&] { return statement(*stmt.parts[0]); });
      const bool else_leaves =
          stmt.parts.size() > 1 && where(holds.if_false, [&] { return statement(*stmt.parts[1]); });
      if (leaves && switches_ == 0) {
        bounds_ = tighter(bounds_, holds.if_false);
      }
      return leaves && else_leaves;
    }
    case Stmt::Kind::return_value:
      returned_ = true;
      if (!stmt.values.empty()) {
        ++results_;
        result_ = read(*stmt.values[0]);
        consume(result_);
      }
      return true;
    case Stmt::Kind::while_loop: {
      const Known holds = condition(*stmt.values[0]);
      where(holds.if_true, [&] { return loop_body(*stmt.parts[0]); });
      return false;
    }
    case Stmt::Kind::do_loop:
      loop_body(*stmt.parts[0]);
      condition(*stmt.values[0]);
      return false;
    case Stmt::Kind::for_loop: for_loop(stmt); return false;
    case Stmt::Kind::switch_block:
      ++switches_;
      condition(*stmt.values[0]);
      statement(*stmt.parts[0]);
      --switches_;
      return false;
    case Stmt::Kind::case_label: consume(read(*stmt.values[0])); [[fallthrough]];
    case Stmt::Kind::default_label: return !stmt.parts.empty() && statement(*stmt.parts[0]);
    case Stmt::Kind::break_out:
    case Stmt::Kind::continue_loop: return true; // of the loop's body
    case Stmt::Kind::opaque:
    case Stmt::Kind::label:
    case Stmt::Kind::goto_label: break;
    }
    fail();
    return false;
  }

  Known condition(const Expr& expr) {
    const Known value = read(expr);
    consume(value);
    return value;
  }

  void for_loop(const Stmt& stmt) {
    const Stmt& begin = *stmt.parts[0];
    const Expr* const step = stmt.values[1];
    const Expr* const start = begin.values.empty() ? nullptr : begin.values[0];
    const Name* const stepped = step == nullptr ? nullptr : stepped_variable(*step);
    const Name* counter = nullptr;
    if (begin.kind == Stmt::Kind::declaration) {
      counter = declaration(begin);
    } else if (stepped != nullptr && start != nullptr && start->kind == Expr::Kind::assignment &&
               unit_.is(start->token, "=") && start->operands[0]->kind == Expr::Kind::name &&
               unit_.meaning(start->operands[0]->token) == stepped && unset_.contains(stepped) &&
               !changing_.contains(stepped) && !values_.contains(stepped) && // no outer loop counts it
               switches_ == 0) {
      const Known first = condition(*start->operands[1]);
      if (const auto number = as_type(types_[stepped], number_of(first))) {
        values_[stepped] = {.kind = Known::Kind::number, .number = *number};
      }
      counter = stepped;
    } else if (start != nullptr) {
      condition(*start);
    }
    const bool counts = counter != nullptr && counter == stepped && start_count(*counter, *step);
    const Known holds = stmt.values[0] == nullptr ? Known() : condition(*stmt.values[0]);
    if (counts) {
      count(*counter, holds, *step);
    } else if (counter != nullptr && counter == stepped) {
      changing_.insert(counter);
    } else if (step != nullptr) {
      condition(*step);
    }
    where(holds.if_true, [&] { return loop_body(*stmt.parts[1]); });
    if (counts) {
      values_.erase(counter);
    }
  }

  // Returns the variable that ++i, i-- or i += … changes; null for another step.
  [[nodiscard]] const Name* stepped_variable(const Expr& step) const {
    static constexpr std::array<std::string_view, 8> steps{"++", "--", "+=", "-=", "*=", "/=", "<<=", ">>="};
    const bool changes = step.kind == Expr::Kind::unary || step.kind == Expr::Kind::postfix ||
                         step.kind == Expr::Kind::assignment;
    return changes && std::ranges::find(steps, tokens_[step.token].text) != steps.end() &&
                   step.operands[0]->kind == Expr::Kind::name
               ? unit_.meaning(step.operands[0]->token)
               : nullptr;
  }

  // Called before the condition is read: assumes that the variable stays on one side of its first value. Returns false if
  // that value is not known.
  bool start_count(const Name& variable, const Expr& step) {
    const auto value = values_.find(&variable);
    if (value == values_.end() || !value->second.number.exact || !is_wide(types_[&variable])) {
      return false;
    }
    const Linear first = value->second.number;
    const auto [low, high] = range_of(first, ids());
    static constexpr std::array<std::string_view, 4> downwards{"--", "-=", "/=", ">>="};
    const bool down = std::ranges::find(downwards, tokens_[step.token].text) != downwards.end();
    value->second.number = down ? between(first.is_int ? -most_count : 0, high, first.is_int)
                                : between(low, most_count, first.is_int);
    bounds_.variables.erase(&variable); // it was another number before
    return high <= most_count;
  }

  // Reads the step, after the condition. If it may overflow, what start_count() has assumed does not hold.
  void count(const Name& variable, const Known& holds, const Expr& step_by) {
    const std::string& sign = tokens_[step_by.token].text;
    const Known one{.kind = Known::Kind::number, .number = constant_of(1, true)};
    const Known by = step_by.kind == Expr::Kind::assignment ? read(*step_by.operands[1]) : one;
    consume(by);
    const Linear& number = values_[&variable].number;
    const auto found = holds.if_true.variables.find(&variable);
    const Interval in_body = found == holds.if_true.variables.end() ? Interval() : found->second;
    const auto step = number_of(by);
    const auto [least, greatest] =
        step && step->exact ? range_of(*step, ids()) : std::array<std::int64_t, 2>{-1, 0};
    const bool below = in_body.high <= most_count && greatest <= most_count;
    const bool stays =
        least >= (sign == "*=" || sign == "/=" ? 1 : 0) &&
        (sign == "++" || sign == "+=" ? below && in_body.high + greatest <= most_count
         : sign == "*="               ? below && number.low >= 0 && in_body.high * greatest <= most_count
         : sign == "<<="
             ? below && number.low >= 0 && in_body.high <= most_count >> std::min(greatest, std::int64_t{31})
         : sign == "--" || sign == "-=" ? in_body.low - greatest >= (number.is_int ? -most_count : 0)
                                        : in_body.low >= 0);
    if (!stays) {
      values_.erase(&variable);
      changing_.insert(&variable);
    }
  }

  // After the loop nothing is known from its early returns: it may not run, or end earlier.
  bool loop_body(const Stmt& stmt) {
    const Bounds before = bounds_;
    statement(stmt);
    bounds_ = before;
    return false;
  }

  void expression_statement(const Expr& expr) {
    statement_ = &expr;
    const Known value = read(expr);
    consume(value);
    if (value.kind == Known::Kind::assignment && depth_ == 1 && !returned_) {
      PointerUses& pointer = found_[value.parameter];
      pointer.assigned_first |= pointer.uses.size() == 1; // no use before it or in its value
    }
  }

  // Returns the last variable if its value is known.
  const Name* declaration(const Stmt& stmt) {
    const Name* known = nullptr;
    for (const Decl* const decl : stmt.declared) {
      known = decl->is_typedef ? nullptr : declared(*decl);
    }
    return known;
  }

  const Name* declared(const Decl& decl) {
    if (decl.name == no_name || decl.type->is(Type::Kind::function) || decl.type->is(Type::Kind::opaque)) {
      fail();
      return nullptr;
    }
    const Name& name = unit_.names[decl.name];
    const bool is_new = unit_.tree->declaration(name.token) == &decl;
    const std::string type = text_of(*decl.type);
    const bool plain = is_new && !type.empty() && !decl.type->is_volatile && !decl.has_attributes &&
                       decl.type->space == AddressSpace::none;
    if (plain) {
      types_[&name] = type;
    }
    const bool others_known = others_known_ && !holds_pointers(*decl.type);
    if (decl.value == nullptr) {
      others_known_ = others_known;
      if (plain) {
        unset_.insert(&name);
      }
      return nullptr;
    }
    Known value = read(*decl.value);
    const bool keeps =
        is_new && !changing_.contains(&name) && switches_ == 0; // a case label may jump over the declaration
    if (keeps && is_same_pointer(value, *decl.type)) {
      escape(value);
      values_[&name] = {
          .kind = Known::Kind::moved_pointer, .number = value.number, .parameter = value.parameter};
      return nullptr;
    }
    consume(value);
    others_known_ = others_known_ && others_known;
    const auto number = number_of(value);
    const auto kept = number ? as_type(type, number) : std::nullopt;
    if (plain && keeps && (kept || value.kind == Known::Kind::vector)) {
      values_[&name] = kept ? Known{.kind = Known::Kind::number, .number = *kept} : value;
      return kept ? &name : nullptr;
    }
    return nullptr;
  }

  // Returns true if the value is a pointer parameter, moved or not, and the type a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, const Type& type) const {
    if (setting_ == nullptr || !type.is(Type::Kind::pointer) ||
        (value.kind != Known::Kind::pointer && value.kind != Known::Kind::moved_pointer)) {
      return false;
    }
    const Name* const parameter = names_of(kernel_)[value.parameter];
    const Type* const pointee = parameter == nullptr ? nullptr : parameter->type->inner;
    return pointee != nullptr && arithmetic_type(text_of(*pointee)) &&
           text_of(*type.inner) == text_of(*pointee);
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

  Known call(const Function* callee, const std::vector<Known>& arguments) override {
    constexpr std::size_t most_calls = 1000;
    constexpr std::size_t most_nested = 3;
    const bool follows = is_whole() && callee != nullptr && callee->body && !callee->is_overloadable &&
                         callee->parameters.size() == arguments.size() && nesting_ < most_nested &&
                         ++*calls_ < most_calls;
    std::vector<Known> given = arguments;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (follows && names_of(*callee)[i] != nullptr &&
          is_same_pointer(given[i], *names_of(*callee)[i]->type)) {
        escape(given[i]);
      } else {
        consume(given[i]);
      }
    }
    if (!follows) {
      others_known_ = false;
      return {};
    }
    BodyReader reader(*this, *callee, given);
    reader.run(true);
    others_known_ = others_known_ && reader.read_ && reader.others_known_;
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const Touched& inner = reader.touched_[i];
      touched_[i].anywhere |= inner.anywhere || !reader.read_;
      touched_[i].exact &= inner.exact;
      touched_[i].first = std::min(touched_[i].first, inner.first);
      touched_[i].last = std::max(touched_[i].last, inner.last);
    }
    return reader.result(*callee);
  }

  // After run(): returns what is known of the value that the called function returns.
  Known result(const Function& callee) {
    if (results_ != 1 || result_.kind == Known::Kind::vector) {
      return results_ == 1 ? result_ : Known{};
    }
    const auto number = number_of(result_);
    const Decl* const decl = unit_.tree->declaration(callee.name_token);
    const auto value = number && decl != nullptr && decl->type->is(Type::Kind::function)
                           ? as_type(text_of(*decl->type->inner), number)
                           : std::nullopt;
    return value ? Known{.kind = Known::Kind::number, .number = *value} : Known{};
  }

  static constexpr std::int64_t most_count = (std::int64_t{1} << 31U) - 1;

  const Function& kernel_;
  const TokenRange body_; // of it, or of a function that it calls
  const Stmt* const statements_;
  const Bounds at_call_;
  bool returned_ = false;
  bool read_ = false;                                                     // all of the body
  std::size_t results_ = 0;                                               // return statements with a value
  Known result_;                                                          // of the last
  std::map<const Name*, Known> given_;                                    // parameters
  std::shared_ptr<std::size_t> calls_ = std::make_shared<std::size_t>(0); // that were followed
  std::size_t nesting_ = 0;
  bool pointers_known_ = true; // those that a called function is given
};

// Returns false if a redefined macro or a pragma may change the meaning of the text, or a parameter has no name.
bool is_known(const TranslationUnit& unit, const Function& kernel) {
  const bool named = std::ranges::none_of(kernel.parameters,
                                          [](const Parameter& parameter) { return parameter.name.empty(); });
  return named && unit.source.own_macros.empty() && pragma_scope(unit).obstacle.empty();
}

} // namespace

std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel) {
  return kernel.body ? BodyReader(unit, kernel, nullptr).run(is_known(unit, kernel))
                     : std::vector<PointerUses>(kernel.parameters.size());
}

LaunchReach reach_of(const TranslationUnit& unit, const Function& kernel, const KernelSetting& setting) {
  BodyReader reader(unit, kernel, &setting);
  reader.run(is_known(unit, kernel));
  return reader.reach();
}

std::vector<std::optional<RowElements>> row_elements(const TranslationUnit& unit, const Function& kernel,
                                                     const KernelSetting& setting) {
  std::vector<std::optional<RowElements>> rows(kernel.parameters.size());
  if (!kernel.body) {
    return rows;
  }
  BodyReader reader(unit, kernel, &setting);
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

std::vector<std::optional<OwnElements>> own_elements(const TranslationUnit& unit, const Function& kernel) {
  const std::vector<PointerUses> pointers = pointer_uses(unit, kernel);
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

} // namespace tidegate::opencl_c
