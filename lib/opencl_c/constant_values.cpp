// Evaluates the lists of enumerators in source order: later values may use earlier ones.
#include "opencl_c/constant_values.hpp"

#include "opencl_c/words.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// Index of the opening brace of the enumerators at "enum", past its attributes and tag; or the number of
// tokens.
std::size_t brace_of(const std::vector<Token>& tokens, std::size_t keyword) {
  std::size_t i = keyword + 1;
  while (i + 1 < tokens.size() && is_attribute(tokens[i].text)) {
    i = closing(tokens, i + 1) + 1;
  }
  i += i < tokens.size() && tokens[i].kind == TokenKind::identifier ? 1U : 0U;
  return i < tokens.size() && tokens[i].is("{") ? i : tokens.size();
}

} // namespace

ConstantValues::ConstantValues(const TranslationUnit& unit) : unit_(unit) {
  const std::vector<Token>& tokens = unit.source.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("enum")) {
      enumerators(brace_of(tokens, i));
    }
  }
}

void ConstantValues::enumerators(std::size_t brace) {
  const std::vector<Token>& tokens = unit_.source.tokens;
  if (brace == tokens.size()) {
    return;
  }
  const std::size_t end = closing(tokens, brace);
  std::optional<Constant> next = Constant{};
  bool nested = false; // a nested list in a value
  for (std::size_t i = brace + 1; i < end; ++i) {
    const std::size_t name = i;
    while (i < end && !tokens[i].is(",") && !tokens[i].is("=")) {
      ++i;
    }
    if (i < end && tokens[i].is("=")) {
      const std::size_t begin = ++i;
      for (; i < end && !tokens[i].is(","); ++i) {
        i = tokens[i].is("(") ? closing(tokens, i) : i;
        nested |= tokens[i].is("{");
      }
      next = constant({.begin = begin, .end = i});
    }
    if (!next || !next->number() || nested) {
      return;
    }
    values_[name] = *next;
    const Constant greater{.bits = next->bits + 1, .type = next->type};
    next = converted(greater, greater.type).bits == greater.bits ? std::optional(greater) : std::nullopt;
  }
  // After the list all enumerators are int, or have the enumeration's type if int cannot hold them.
  const auto type = type_of(brace);
  for (auto entry = values_.upper_bound(brace); entry != values_.end() && entry->first < end; ++entry) {
    const Constant as_int = converted(entry->second, {});
    entry->second = as_int.number() == entry->second.number() ? as_int : converted(entry->second, type);
  }
  complete_.insert(brace);
}

std::optional<Constant> ConstantValues::constant(TokenRange expression) const {
  const std::vector<Token>& tokens = unit_.source.tokens;
  // The arithmetic type in the parentheses that open there.
  const auto type_in = [&](std::size_t open) -> std::optional<ArithmeticType> {
    std::vector<std::string_view> words;
    for (std::size_t i = open + 1; i < closing(tokens, open); ++i) {
      const Name* const name = unit_.meaning(i);
      if (tokens[i].kind != TokenKind::identifier || (name != nullptr && !name->is_file_scope)) {
        return {};
      }
      words.push_back(tokens[i].text);
    }
    return arithmetic_type(canonical_type(words, unit_.typedefs));
  };
  const ConstantWords words{
      .value = [&](std::size_t& at) -> std::optional<Constant> {
        const std::size_t token = expression.begin + at++;
        if (tokens[token].is("sizeof") && token + 1 < expression.end && tokens[token + 1].is("(")) {
          const auto type = type_in(token + 1);
          at = closing(tokens, token + 1) + 1 - expression.begin;
          return type ? std::optional(
                            Constant{.bits = type->bytes(), .type = {.bits = 64, .is_unsigned = true}})
                      : std::nullopt;
        }
        const Name* const name = unit_.meaning(token);
        const auto found = name == nullptr ? values_.end() : values_.find(name->token);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
      },
      .cast = [&](std::size_t& at) -> std::optional<IntegerType> {
        const std::size_t open = expression.begin + at;
        const auto type = type_in(open);
        const bool is_integer = type && type->width == 1 && type->scalar != "half" &&
                                type->scalar != "float" && type->scalar != "double";
        if (!is_integer) {
          return {};
        }
        at = closing(tokens, open) + 1 - expression.begin;
        return IntegerType{.bits = 8 * type->scalar_bytes, .is_unsigned = type->scalar.starts_with('u')};
      }};
  return evaluate_constant(std::span(tokens).subspan(expression.begin, expression.end - expression.begin),
                           words);
}

std::optional<std::int64_t> ConstantValues::value(TokenRange expression) const {
  const auto found = constant(expression);
  return found ? found->number() : std::nullopt;
}

std::optional<std::vector<std::pair<std::string, std::int64_t>>>
ConstantValues::enumerators_of(std::size_t brace) const {
  if (!complete_.contains(brace)) {
    return {};
  }
  std::vector<std::pair<std::string, std::int64_t>> found;
  const std::size_t end = closing(unit_.source.tokens, brace);
  for (auto entry = values_.upper_bound(brace); entry != values_.end() && entry->first < end; ++entry) {
    found.emplace_back(unit_.source.tokens[entry->first].text, *entry->second.number());
  }
  return found;
}

// Compilers take the first of uint, int, ulong and long that holds every enumerator.
IntegerType ConstantValues::type_of(std::size_t brace) const {
  const auto first = values_.upper_bound(brace);
  const auto last = values_.lower_bound(closing(unit_.source.tokens, brace));
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (auto entry = first; entry != last; ++entry) {
    least = std::min(least, *entry->second.number());
    most = std::max(most, *entry->second.number());
  }
  const bool is_long = least < std::numeric_limits<std::int32_t>::min() ||
                       most > (least < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                         : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  return {.bits = is_long ? 64U : 32U, .is_unsigned = least >= 0};
}

std::map<std::string, std::string> ConstantValues::enumeration_types() const {
  const std::vector<Token>& tokens = unit_.source.tokens;
  std::map<std::string, std::string> types;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t brace = tokens[i].is("enum") ? brace_of(tokens, i) : tokens.size();
    if (!complete_.contains(brace)) {
      continue;
    }
    const IntegerType type = type_of(brace);
    const std::string name_of_type =
        std::string(type.is_unsigned ? "u" : "") + (type.bits == 64 ? "long" : "int");
    const std::size_t end = closing(tokens, brace);
    // A packed enumeration is as small as its enumerators allow.
    const bool has_attribute = (i + 1 < tokens.size() && is_attribute(tokens[i + 1].text)) ||
                               (end + 1 < tokens.size() && is_attribute(tokens[end + 1].text));
    if (has_attribute) {
      continue;
    }
    if (tokens[brace - 1].kind == TokenKind::identifier && brace - 1 > i) {
      types["enum " + tokens[brace - 1].text] = name_of_type;
    }
    for (const Name& name : unit_.names) { // "typedef enum {…} mode", not an enumeration in a structure
      const bool own = name.kind == NameKind::type && name.specifiers.begin <= i &&
                       end < name.specifiers.end && name.declarator.begin == name.token &&
                       std::none_of(tokens.begin() + static_cast<std::ptrdiff_t>(name.specifiers.begin),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(i),
                                    [](const Token& token) { return token.is("{"); });
      if (own) {
        types[tokens[name.token].text] = name_of_type;
      }
    }
  }
  return types;
}

} // namespace tidegate::opencl_c
