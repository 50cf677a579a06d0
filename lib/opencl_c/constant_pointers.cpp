// Flow-insensitive analysis: a pointer's declaration changes to global memory if any value assigned to it may
// come from a constant argument.
#include "opencl_c/call_graph.hpp"
#include "opencl_c/rewriting.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// Queries about the constant address space in the declarations of a unit.
class ConstantTypes {
public:
  explicit ConstantTypes(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  // True for the constant qualifier and for a type that has it.
  [[nodiscard]] bool is_constant(std::size_t i) const {
    const Name* const type = used_type(i);
    return address_space(tokens_[i].text) == AddressSpace::constant ||
           (type != nullptr && in_constant(*type));
  }

  [[nodiscard]] bool in_constant(const Name& name) const {
    return any_specifier(name.specifiers, [this](std::size_t i) { return is_constant(i); });
  }

  [[nodiscard]] bool is_pointer(const Name& name) const {
    const bool star = unit_.contains({.begin = name.declarator.begin, .end = name.token}, "*");
    return star || any_specifier(name.specifiers, [this](std::size_t i) {
             const Name* const type = used_type(i);
             return type != nullptr && is_pointer(*type);
           });
  }

  [[nodiscard]] bool is_array(const Name& name) const {
    return tokens_[name.token + 1].is("[") || any_specifier(name.specifiers, [this](std::size_t i) {
             const Name* const type = used_type(i);
             return type != nullptr && is_array(*type);
           });
  }

  // True for a variable that is a pointer into constant memory.
  [[nodiscard]] bool points_to_constant(const Name& name) const {
    return name.kind == NameKind::variable && in_constant(name) && is_pointer(name);
  }

  // True if any structure has a member of this name that points into constant memory.
  [[nodiscard]] bool is_member_to_constant(const std::string& text) const {
    return std::ranges::any_of(unit_.names, [&text, this](const Name& name) {
      return name.kind == NameKind::member && tokens_[name.token].text == text && in_constant(name) &&
             is_pointer(name);
    });
  }

  // True for a function that returns a pointer into constant memory.
  [[nodiscard]] bool returns_constant(const Function& function) const {
    return any_specifier({.begin = function.begin, .end = function.name_token},
                         [this](std::size_t i) { return is_constant(i); });
  }

  // True if any of the specifiers has this property, members of structures excepted.
  template <class Property>
  [[nodiscard]] bool any_specifier(TokenRange specifiers, const Property& property) const {
    for (std::size_t i = specifiers.begin; i < specifiers.end; ++i) {
      if (tokens_[i].is("{")) {
        i = unit_.counterpart(i);
      } else if (property(i)) {
        return true;
      }
    }
    return false;
  }

  // True for a structure that has members but no tag: it cannot be named again.
  [[nodiscard]] bool has_unnamed_members(const Name& name) const {
    for (std::size_t i = name.specifiers.begin + 1; i < name.specifiers.end; ++i) {
      if (tokens_[i].is("{")) {
        const Name* const tag = unit_.meaning(i - 1);
        return tag == nullptr || tag->kind != NameKind::tag;
      }
    }
    return false;
  }

  // The type that token `i` uses by name, or nullptr.
  [[nodiscard]] const Name* used_type(std::size_t i) const {
    const Name* const name = unit_.meaning(i);
    return name != nullptr && name->kind == NameKind::type && name->token != i ? name : nullptr;
  }

  // True if the parenthesis at `close` ends a cast.
  [[nodiscard]] bool is_cast(std::size_t close) const {
    const std::size_t first = unit_.counterpart(close) + 1;
    return is_qualifier(tokens_[first].text) || is_type_word(tokens_[first].text) ||
           used_type(first) != nullptr;
  }

private:
  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
};

constexpr std::string_view global_qualifiers = "const global";
constexpr std::string_view typedef_prefix = "tg_typedef_";

// Name of the copy in global memory that add_global_typedefs() adds.
std::string global_typedef(std::string_view name) {
  return fmt::format("{}{}_global", typedef_prefix, name);
}

// Address spaces that a value may point into. No pointer can serve both.
struct Target {
  bool global = false;
  bool constant = false;

  void operator|=(const Target& other) {
    global |= other.global;
    constant |= other.constant;
  }
  friend bool operator==(const Target&, const Target&) = default;
};

bool moves(const Function& function, std::size_t parameter, ParameterSet moved) {
  return is_constant_pointer(function.parameters[parameter]) &&
         (parameter >= 64 || (moved >> parameter & 1) != 0);
}

// Finds the declarations of a function that must change where the parameters in `moved` point into global memory, from
// all assignments in any order. Declarators of one declaration share its address space and count as one.
class ConstantPointers {
public:
  ConstantPointers(const TranslationUnit& unit, const Function& function, ParameterSet moved, int depth = 0)
      : unit_(unit), tokens_(unit.source.tokens), types_(unit), function_(function), moved_(moved),
        depth_(depth) {
    for (const Name& name : unit.names) {
      if (name.token > function.name_token && name.token < function.end) {
        names_.push_back(&name);
      }
    }
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
      const Parameter& parameter = function.parameters[p];
      for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
        const Name* const name = moves(function, p, moved) ? unit.meaning(i) : nullptr;
        if (name != nullptr && name->token == i) {
          targets_[name->specifiers.begin].global = true;
        }
      }
    }
    if (function.body) {
      find_assignments();
      for (bool changed = true; changed;) {
        changed = false;
        for (const Assignment& assignment : assignments_) {
          Target& target = targets_[assignment.declaration];
          const Target before = target;
          target |= target_of(assignment.value);
          changed |= !(target == before);
        }
      }
    }
  }

  [[nodiscard]] bool returns_global() const {
    const auto found = targets_.find(function_.begin);
    return found != targets_.end() && found->second.global;
  }

  // Adds which parameters of other functions get addresses in global memory.
  Result<void> find_calls(std::set<std::pair<std::string, ParameterSet>>& calls) const {
    for (std::size_t i = function_.body->begin; i < function_.body->end; ++i) {
      const Function* const called = unit_.is_call(i) ? with_constants(i) : nullptr;
      if (called == nullptr) {
        continue;
      }
      const std::vector<TokenRange> values = arguments(i);
      for (std::size_t p = 0; p < std::min(values.size(), called->parameters.size()); ++p) {
        const Target target = is_constant_pointer(called->parameters[p]) ? target_of(values[p]) : Target{};
        if (target.global && target.constant) {
          return tl::unexpected(error_at(
              unit_, values[p].begin, ErrorCode::unsupported_kernel,
              "this argument may point into constant memory or to a constant argument, which is in global "
              "memory in a persistent kernel",
              "use a separate call for each"));
        }
      }
      calls.emplace(called->name, global_arguments(*called, i));
    }
    return {};
  }

  Result<void> edit(Edits& edits) const {
    for (const Assignment& assignment : assignments_) {
      const Target target = targets_.at(assignment.declaration);
      if (target.global && target.constant && target_of(assignment.value).constant) {
        return tl::unexpected(error_at(
            unit_, assignment.value.begin, ErrorCode::unsupported_kernel,
            "this pointer gets addresses of constant memory here and those of a constant argument elsewhere, "
            "which is in global memory in a persistent kernel",
            "use a separate pointer for each"));
      }
    }
    for (const TokenRange& value : member_values_) {
      if (target_of(value).global) {
        return tl::unexpected(
            error_at(unit_, value.begin, ErrorCode::unsupported_kernel,
                     "this member points into constant memory and gets an address from a constant argument, "
                     "which is in global memory in a persistent kernel",
                     "keep such pointers in variables"));
      }
    }
    std::vector<TokenRange> changed;
    for (const Name* const name : names_) {
      const auto found = targets_.find(name->specifiers.begin);
      if (name->token >= function_.parameter_list.end && name->kind == NameKind::variable &&
          found != targets_.end() && found->second.global) {
        changed.push_back(name->specifiers);
      }
    }
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      if (moves(function_, i, moved_)) {
        changed.push_back(function_.parameters[i].tokens); // its name may be missing
      }
    }
    casts(changed);
    for (const TokenRange& range : changed) {
      TIDEGATE_CHECK(replace(range, edits));
    }
    return {};
  }

  Result<void> replace(TokenRange range, Edits& edits) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (is(i, "{") || !types_.is_constant(i)) {
        i = is(i, "{") ? unit_.counterpart(i) : i;
        continue;
      }
      Edit& edit = edits[i];
      const Name* const type = types_.used_type(i);
      if (type == nullptr) {
        edit.text = global_qualifiers;
      } else if (types_.has_unnamed_members(*type)) {
        return tl::unexpected(error_at(
            unit_, i, ErrorCode::unsupported_kernel,
            fmt::format("{} points to a structure without a name in constant memory, and arguments are in "
                        "global memory in a persistent kernel",
                        in_quotes(tokens_[i].text)),
            "give the structure a name"));
      } else if (!edit.text.starts_with(typedef_prefix)) {
        edit.text = global_typedef(edit.replaced ? edit.text : tokens_[i].text);
      }
      edit.replaced = true;
    }
    return {};
  }

private:
  [[nodiscard]] bool is(std::size_t i, const char* text) const { return unit_.is(i, text); }

  struct Assignment {
    std::size_t declaration = 0; // first token of the specifiers
    TokenRange value;
  };

  void find_assignments() {
    for (const Name* const name : names_) {
      if (!types_.points_to_constant(*name)) {
        continue;
      }
      const std::size_t end = name->declarator.end;
      const std::size_t equals = unit_.find({.begin = name->token, .end = end}, "=");
      if (equals != end) {
        add(*name, {.begin = equals + 1, .end = end});
      }
    }
    const bool result = types_.returns_constant(function_);
    for (std::size_t i = function_.body->begin; i < function_.body->end; ++i) {
      const Name* const name = is(i, "return") ? nullptr : unit_.meaning(i);
      if (unit_.is_member(i) && is(i + 1, "=") && types_.is_member_to_constant(tokens_[i].text)) {
        member_values_.push_back(value_at(i + 2));
      } else if (is(i, "return") && result) {
        assignments_.push_back({.declaration = function_.begin, .value = value_at(i + 1)});
      } else if (name != nullptr && name->token != i && types_.points_to_constant(*name)) {
        std::size_t next = i + 1;
        while (is(next, "[")) { // an array of pointers
          next = unit_.counterpart(next) + 1;
        }
        if (is(next, "=")) {
          add(*name, value_at(next + 1));
        }
      }
    }
  }

  void add(const Name& name, TokenRange value) {
    assignments_.push_back({.declaration = name.specifiers.begin, .value = value});
  }

  // The expression from token `begin` to a comma, a semicolon or the end of the enclosing brackets.
  [[nodiscard]] TokenRange value_at(std::size_t begin) const {
    return {.begin = begin, .end = unit_.find({.begin = begin, .end = tokens_.size()}, ",;)]}")};
  }

  // Adds the tokens between the parentheses of each cast whose pointer type changes.
  void casts(std::vector<TokenRange>& changed) const {
    if (!function_.body) {
      return;
    }
    std::vector<std::size_t> open; // brackets
    for (std::size_t i = function_.body->begin; i < function_.body->end; ++i) {
      if (tokens_[i].opens()) {
        open.push_back(i);
      } else if (tokens_[i].closes()) {
        open.pop_back();
      } else if (types_.is_constant(i) && is(open.back(), "(") && !is_specifier(i)) {
        const std::size_t close = unit_.counterpart(open.back());
        if (target_of(operand(close + 1)).global) {
          changed.push_back({.begin = open.back() + 1, .end = close});
        }
      }
    }
  }

  [[nodiscard]] bool is_specifier(std::size_t i) const {
    return std::ranges::any_of(
        names_, [i](const Name* name) { return name->specifiers.begin <= i && i < name->specifiers.end; });
  }

  // The operand of a cast that ends before token `begin`.
  [[nodiscard]] TokenRange operand(std::size_t begin) const {
    std::size_t i = begin;
    while (is(i, "&") || is(i, "*") || is(i, "++") || is(i, "--")) {
      ++i;
    }
    for (std::size_t first = i;;) {
      if (is(i, "(") || is(i, "[")) {
        i = unit_.counterpart(i) + 1;
      } else if (is(i, ".") || is(i, "->")) {
        i += 2;
      } else if (i < tokens_.size() && tokens_[i].kind != TokenKind::punctuator &&
                 (i == first || is(i - 1, ")"))) {
        ++i; // the first token, or one after another cast
      } else {
        return {.begin = begin, .end = i};
      }
    }
  }

  // Address spaces of a value, by the addresses that it is computed from. Without any, it was read from
  // memory and points where that memory is: a member that is an array looks like a read.
  [[nodiscard]] Target target_of(TokenRange value) const {
    const Target target = target_of(value, false);
    return target == Target{} ? target_of(value, true) : target;
  }

  // Values read from memory, and operands of brackets and other functions, are not addresses; with `reads`,
  // the values read are.
  [[nodiscard]] Target target_of(TokenRange value, bool reads) const {
    Target target;
    for (std::size_t i = value.begin; i < value.end; ++i) {
      const bool in_parentheses = !reads && is(i, "(") && is_read(i, unit_.counterpart(i));
      if (is(i, "[") || in_parentheses) {
        i = unit_.counterpart(i);
      } else if (is(i, "sizeof")) {
        i = is(i + 1, "(") ? unit_.counterpart(i + 1) : i + 1;
      } else if (tokens_[i].kind == TokenKind::string) {
        target.constant = true;
      } else if (unit_.is_call(i)) {
        target |= target_of_call(i);
        i = unit_.counterpart(i + 1);
      } else {
        target |= target_of_name(i, reads);
      }
    }
    return target;
  }

  // A function that returns such a pointer has versions, chosen by its arguments.
  [[nodiscard]] Target target_of_call(std::size_t i) const {
    const Function* called = with_constants(i);
    if (called == nullptr || !types_.returns_constant(*called)) {
      return {.constant = called == nullptr && returns_constant(i)};
    }
    called = unit_.definition(called->name) == nullptr ? called : unit_.definition(called->name);
    const ParameterSet moved = global_arguments(*called, i);
    constexpr int most_calls = 8; // a function might call itself
    const bool global = moved != 0 && (depth_ == most_calls || !called->body ||
                                       ConstantPointers(unit_, *called, moved, depth_ + 1).returns_global());
    return {.global = global, .constant = !global};
  }

  // The function with pointers into constant memory that is called at token `i`, or nullptr.
  [[nodiscard]] const Function* with_constants(std::size_t i) const {
    const auto called = std::ranges::find_if(unit_.functions, [&](const Function& function) {
      return function.name == tokens_[i].text &&
             std::ranges::any_of(function.parameters, is_constant_pointer);
    });
    return called == unit_.functions.end() ? nullptr : &*called;
  }

  [[nodiscard]] bool returns_constant(std::size_t i) const {
    return std::ranges::any_of(unit_.functions, [&](const Function& function) {
      return function.name == tokens_[i].text && types_.returns_constant(function);
    });
  }

  [[nodiscard]] std::vector<TokenRange> arguments(std::size_t call) const {
    std::vector<TokenRange> found;
    for (std::size_t begin = call + 2; !is(begin - 1, ")") && !is(begin, ")"); begin = found.back().end + 1) {
      found.push_back(value_at(begin));
    }
    return found;
  }

  // The parameters that get addresses in global memory from a call.
  [[nodiscard]] ParameterSet global_arguments(const Function& called, std::size_t call) const {
    ParameterSet moved = 0;
    const std::vector<TokenRange> values = arguments(call);
    for (std::size_t i = 0; i < std::min<std::size_t>({values.size(), called.parameters.size(), 64}); ++i) {
      const bool moves = is_constant_pointer(called.parameters[i]) && target_of(values[i]).global;
      moved |= ParameterSet{moves} << i;
    }
    return moved;
  }

  [[nodiscard]] Target target_of_name(std::size_t i, bool reads) const {
    const Name* const name = unit_.meaning(i);
    if (name == nullptr || name->kind != NameKind::variable || !types_.in_constant(*name)) {
      return {};
    }
    const bool array = types_.is_array(*name);
    const bool parameter = !name->is_file_scope && name->token < function_.parameter_list.end;
    if (!types_.is_pointer(*name) && !parameter) { // a table or a single value
      return {.constant = reads || (array ? !is_read(i, i) : has_address(i))};
    }
    if (is_read(i, i) && !reads && (!array || parameter)) {
      return {};
    }
    const auto found = targets_.find(name->specifiers.begin);
    return found == targets_.end() ? Target{.constant = name->is_file_scope} : found->second;
  }

  // True if the program dereferences the tokens from `first` to `last`.
  [[nodiscard]] bool is_read(std::size_t first, std::size_t last) const {
    const bool reads =
        is(last + 1, "[") || is(last + 1, ".") || is(last + 1, "->") || is_unary(first - 1, "*");
    return reads && !has_address(first);
  }

  [[nodiscard]] bool has_address(std::size_t i) const {
    while (is(i - 1, "(")) {
      --i;
    }
    return is_unary(i - 1, "&");
  }

  [[nodiscard]] bool is_unary(std::size_t i, const char* text) const {
    const Token& before = tokens_[i - 1];
    const bool operand = (before.is(")") && !types_.is_cast(i - 1)) || before.is("]") ||
                         (before.kind != TokenKind::punctuator && !before.is("return"));
    return is(i, text) && !operand;
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const ConstantTypes types_;
  const Function& function_;
  const ParameterSet moved_;
  const int depth_;                       // of calls that are looked into
  std::vector<const Name*> names_;        // declared by the function
  std::vector<Assignment> assignments_;   // to pointers into constant memory, and returned ones
  std::vector<TokenRange> member_values_; // values assigned to members that are such pointers
  std::map<std::size_t, Target> targets_; // by first token of the specifiers
};

} // namespace

Result<void> constants_to_global(const TranslationUnit& unit, const Function& function, ParameterSet moved,
                                 Edits& edits) {
  if (moved == 0 || std::ranges::none_of(function.parameters, is_constant_pointer)) {
    return {};
  }
  if (function.body) {
    add_global_typedefs(unit, *function.body, edits);
  }
  const ConstantPointers pointers(unit, function, moved);
  TIDEGATE_CHECK(pointers.edit(edits));
  // Only the definition shows what a prototype returns.
  const Function* const definition = function.body ? nullptr : unit.definition(function.name);
  const bool returns_global = definition == nullptr
                                  ? pointers.returns_global()
                                  : ConstantPointers(unit, *definition, moved).returns_global();
  return returns_global ? pointers.replace({.begin = function.begin, .end = function.name_token}, edits)
                        : Result<void>();
}

Result<std::set<std::pair<std::string, ParameterSet>>> global_versions(const TranslationUnit& unit,
                                                                       const std::set<std::string>& kernels) {
  std::set<std::pair<std::string, ParameterSet>> found;
  std::set<std::pair<std::string, ParameterSet>> left;
  for (const std::string& kernel : kernels) {
    left.emplace(kernel, all_parameters);
  }
  while (!left.empty()) {
    const auto [name, moved] = *left.begin();
    left.erase(left.begin());
    if (!found.emplace(name, moved).second) {
      continue;
    }
    for (const Function& function : unit.functions) { // an overloaded one has several
      if (function.name == name && function.body) {
        TIDEGATE_CHECK(ConstantPointers(unit, function, moved).find_calls(left));
      }
    }
  }
  return found;
}

void add_global_typedefs(const TranslationUnit& unit, TokenRange range, Edits& edits) {
  const std::vector<Token>& tokens = unit.source.tokens;
  const ConstantTypes types(unit);
  for (const Name& name : unit.names) {
    if (name.kind != NameKind::type || name.token < range.begin || name.token >= range.end ||
        !types.in_constant(name) || types.has_unnamed_members(name)) {
      continue;
    }
    std::string text;
    for (const TokenRange part : {name.specifiers, name.declarator}) {
      for (std::size_t i = part.begin; i < part.end; ++i) {
        const auto edit = edits.find(i);
        const bool edited = edit != edits.end() && edit->second.replaced;
        const std::string& word = edited ? edit->second.text : tokens[i].text;
        if (tokens[i].is("{")) { // the original typedef declares the members
          i = unit.counterpart(i);
        } else if (address_space(word) == AddressSpace::constant) {
          text += fmt::format(" {}", global_qualifiers);
        } else {
          const bool of_type = i == name.token || types.is_constant(i);
          text += " " + (of_type ? global_typedef(word) : word);
        }
      }
    }
    edits[unit.find({.begin = name.declarator.end, .end = range.end}, ";")].after += text + ";";
  }
}

} // namespace tidegate::opencl_c
