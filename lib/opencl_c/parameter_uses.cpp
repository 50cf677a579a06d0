// Combines pointer_uses() with patterns of tokens around scalars, and follows calls.
#include "opencl_c/accesses.hpp"
#include "opencl_c/call_graph.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

// Value of a small integer literal: 4, 16u.
std::optional<std::uint64_t> number_of(const Token& token) {
  std::uint64_t value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto parsed = std::from_chars(token.text.data(), end, value);
  const std::string_view suffix(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  const bool is_integer = suffix.find_first_not_of("uUlL") == std::string_view::npos;
  return token.kind == TokenKind::number && parsed.ec == std::errc() && is_integer ? std::optional(value)
                                                                                   : std::nullopt;
}

constexpr ParameterUse anything{.read = true, .written = true};

class Observer {
public:
  explicit Observer(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens), values_(unit) {}

  // Uses of each parameter of the function.
  const std::vector<ParameterUse>& parameters(const Function& function) {
    const auto [found, is_new] = known_.try_emplace(function.name, function.parameters.size());
    if (!is_new || !function.body) { // also while under analysis: OpenCL C has no recursion
      return found->second;
    }
    std::vector<ParameterUse> uses(function.parameters.size());
    for (std::size_t i = function.body->begin; i < function.body->end; ++i) {
      if (const auto parameter = parameter_at(function, i);
          parameter && !function.parameters[*parameter].is_pointer) {
        const auto handed_on = use_in_call(i);
        add(handed_on ? *handed_on : ParameterUse{.factor = is_factor(i), .bound = is_compared(i)},
            uses[*parameter]);
      }
    }
    const std::vector<PointerUses> pointers = pointer_uses(unit_, function);
    for (std::size_t k = 0; k < uses.size(); ++k) {
      if (function.parameters[k].is_pointer && !pointers[k].understood) {
        add(anything, uses[k]);
      }
      for (const PointerUse& use : pointers[k].uses) {
        add(use_of(use), uses[k]);
      }
    }
    return known_[function.name] = std::move(uses);
  }

  void look_around(const Function& function, KernelUses& uses) const {
    for (std::size_t i = function.body->begin; i < function.body->end; ++i) {
      const Token& token = tokens_[i];
      if (is_work_item_function(token.text) && is(i + 1, "(")) {
        if (const auto dimension = number_of(tokens_[i + 2]); dimension && *dimension < 3) {
          uses.dimensions = std::max(uses.dimensions, static_cast<std::uint32_t>(*dimension) + 1);
        }
      }
      if (const auto factor = number_of(token); factor && is_factor(i)) {
        uses.largest_factor = std::max(uses.largest_factor, *factor);
      }
      uses.in_groups |= is_collective(token.text) || address_space(token.text) == AddressSpace::local ||
                        token.text.starts_with("get_local_") || token.text == "get_group_id" ||
                        token.text == "get_num_groups";
      if (address_space(token.text) == AddressSpace::local) {
        add_arrays(i, function.body->end, uses);
      }
      if (const std::uint64_t width = vector_access(token.text)) {
        uses.largest_factor = std::max(uses.largest_factor, width);
      }
    }
  }

private:
  [[nodiscard]] bool is(std::size_t i, const char* text) const { return unit_.is(i, text); }

  [[nodiscard]] std::optional<std::size_t> parameter_at(const Function& function, std::size_t i) const {
    const Name* const name = tokens_[i].kind == TokenKind::identifier ? unit_.meaning(i) : nullptr;
    for (std::size_t k = 0; name != nullptr && k < function.parameters.size(); ++k) {
      const TokenRange& range = function.parameters[k].tokens;
      if (name->token >= range.begin && name->token < range.end) {
        return k;
      }
    }
    return {};
  }

  // True if an operand ends at token `i`, so that a following * multiplies.
  [[nodiscard]] bool ends_operand(std::size_t i) const {
    const Token& token = tokens_[i];
    return (token.kind == TokenKind::identifier && !is_type_word(token.text) && !token.is("return")) ||
           token.kind == TokenKind::number || token.is(")") || token.is("]");
  }

  [[nodiscard]] bool is_factor(std::size_t i) const {
    return is(i + 1, "*") || is(i + 1, "*=") || (is(i - 1, "*") && ends_operand(i - 2)) || is(i - 1, "*=");
  }

  [[nodiscard]] bool is_compared(std::size_t i) const {
    for (const char* const sign : {"<", ">", "<=", ">="}) {
      if (is(i - 1, sign) || is(i + 1, sign)) {
        return true;
      }
    }
    return false;
  }

  // Use of token `i` as an argument of a function of this file.
  std::optional<ParameterUse> use_in_call(std::size_t i) {
    const auto argument = unit_.argument(i);
    const Function* const callee = argument ? unit_.definition(tokens_[argument->function].text) : nullptr;
    const bool known =
        callee != nullptr && !callee->is_overloadable && argument->index < callee->parameters.size();
    return known ? std::optional(parameters(*callee)[argument->index]) : std::nullopt;
  }

  ParameterUse use_of(const PointerUse& use) {
    const bool atomic = is(use.token - 1, "&") && tokens_[use.token - 3].text.starts_with("atom");
    switch (use.kind) {
    case PointerUse::Kind::reads: return {.read = true};
    case PointerUse::Kind::writes: return {.written = true};
    case PointerUse::Kind::updates: return {.read = true, .written = true, .atomic = atomic};
    case PointerUse::Kind::escapes: break;
    }
    if (const auto handed_on = use_in_call(use.token)) {
      return *handed_on;
    }
    const auto argument = unit_.argument(use.token);
    const std::string_view called = argument ? std::string_view(tokens_[argument->function].text) : "";
    const std::string_view function = unit_.definition(called) == nullptr ? called : "";
    return function.starts_with("vload")    ? ParameterUse{.read = true}
           : function.starts_with("vstore") ? ParameterUse{.written = true}
           : function.starts_with("atom")   ? ParameterUse{.read = true, .written = true, .atomic = true}
                                            : anything;
  }

  static void add(const ParameterUse& found, ParameterUse& use) {
    use.read |= found.read;
    use.written |= found.written;
    use.atomic |= found.atomic;
    use.factor |= found.factor;
    use.bound |= found.bound;
  }

  // Adds the arrays of a declaration: "local float tile[16][17], row[16];".
  void add_arrays(std::size_t i, std::size_t end, KernelUses& uses) const {
    for (; i < end && !is(i, ";"); ++i) {
      LocalArray array;
      bool certain = true;
      while (is(i, "[")) {
        const std::size_t close = unit_.counterpart(i);
        const auto value = values_.value({i + 1, close});
        certain &= value && *value > 0;
        array.push_back(certain ? static_cast<std::uint64_t>(*value) : 0);
        i = close + 1;
      }
      if (certain && !array.empty()) {
        uses.arrays.push_back(std::move(array));
      }
    }
  }

  // Number of elements of vload4 or vstore4.
  static std::uint64_t vector_access(std::string_view word) {
    for (const std::string_view name : {"vload", "vstore"}) {
      std::uint64_t width = 0;
      if (word.starts_with(name) &&
          std::from_chars(word.data() + name.size(), word.data() + word.size(), width).ec == std::errc()) {
        return width;
      }
    }
    return 0;
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  ConstantValues values_;
  std::map<std::string, std::vector<ParameterUse>> known_; // by function
};

} // namespace

KernelUses uses_of(const TranslationUnit& unit, const Function& kernel) {
  Observer observer(unit);
  KernelUses uses{.parameters = observer.parameters(kernel)};
  for (const std::string& name : CallGraph(unit).reachable({kernel.name})) {
    if (const Function* const function = unit.definition(name); function != nullptr && function->body) {
      observer.look_around(*function, uses);
    }
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    uses.in_groups |= kernel.parameters[i].is_pointer && kernel.parameters[i].space == AddressSpace::local;
  }
  return uses;
}

} // namespace tidegate::opencl_c
