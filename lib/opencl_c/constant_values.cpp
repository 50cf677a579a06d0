#include <tidegate/opencl_c/condition.hpp>
#include <tidegate/opencl_c/constant_values.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {
namespace {

Token number(std::int64_t value, const Token& place) {
  Token token = place;
  token.kind = TokenKind::number;
  token.text = fmt::format("{}", value);
  return token;
}

std::int64_t bytes_of(const ArithmeticType& type) {
  const std::string_view scalar = type.scalar;
  const bool one = scalar.ends_with("char");
  const bool two = scalar.ends_with("short") || scalar == "half";
  const bool eight = scalar.ends_with("long") || scalar == "double";
  return (one ? 1 : two ? 2 : eight ? 8 : 4) * (type.width == 3 ? 4 : std::int64_t{type.width});
}

// Behind "enum", its attributes and its tag: the brace of its enumerators, or the number of tokens.
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
  std::optional<std::int64_t> next = 0;
  for (std::size_t i = brace + 1; i < end; ++i) {
    const std::size_t name = i;
    while (i < end && !tokens[i].is(",") && !tokens[i].is("=")) {
      ++i;
    }
    if (i < end && tokens[i].is("=")) {
      const std::size_t begin = ++i;
      while (i < end && !tokens[i].is(",")) {
        i = tokens[i].is("(") ? closing(tokens, i) + 1 : i + 1;
      }
      next = value({.begin = begin, .end = i});
    }
    if (!next) {
      return;
    }
    values_[name] = (*next)++;
  }
}

std::optional<std::int64_t> ConstantValues::value(TokenRange expression) const {
  const std::vector<Token>& tokens = unit_.source.tokens;
  std::vector<Token> numbers;
  const auto type_in = [&](std::size_t open) {
    std::vector<std::string_view> words;
    for (std::size_t i = open + 1; i < closing(tokens, open); ++i) {
      words.push_back(tokens[i].text);
    }
    return arithmetic_type(canonical_type(words, unit_.typedefs));
  };
  for (std::size_t i = expression.begin; i < expression.end; ++i) {
    const Token& token = tokens[i];
    if (token.is("sizeof") && i + 1 < expression.end && tokens[i + 1].is("(")) {
      const auto type = type_in(i + 1);
      if (!type) {
        return {};
      }
      numbers.push_back(number(bytes_of(*type), token));
      i = closing(tokens, i + 1);
    } else if (token.is("(") && i + 1 < expression.end && tokens[i + 1].kind == TokenKind::identifier) {
      const auto type = type_in(i); // of a cast
      const bool integer =
          type && type->width == 1 && (type->scalar.ends_with("int") || type->scalar.ends_with("long"));
      i = integer ? closing(tokens, i) : i;
      if (!integer) {
        numbers.push_back(token);
      }
    } else if (token.kind == TokenKind::identifier) {
      const Name* const name = unit_.meaning(i);
      const auto found = name == nullptr ? values_.end() : values_.find(name->token);
      if (found == values_.end()) {
        return {};
      }
      // The smallest number cannot be written as one.
      numbers.push_back(number(0, token));
      numbers.back().text = fmt::format("0x{:x}", static_cast<std::uint64_t>(found->second));
    } else {
      numbers.push_back(token);
    }
  }
  const Token nowhere;
  const auto value = evaluate_integer(numbers, nowhere, "");
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

// Compilers take the first of uint, int, ulong and long that holds every enumerator.
std::string ConstantValues::type_of(std::size_t brace) const {
  const auto first = values_.upper_bound(brace);
  const auto last = values_.lower_bound(closing(unit_.source.tokens, brace));
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (auto entry = first; entry != last; ++entry) {
    least = std::min(least, entry->second);
    most = std::max(most, entry->second);
  }
  const bool is_long = least < std::numeric_limits<std::int32_t>::min() ||
                       most > (least < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                         : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  return std::string(least < 0 ? "" : "u") + (is_long ? "long" : "int");
}

std::map<std::string, std::string> ConstantValues::enumeration_types() const {
  const std::vector<Token>& tokens = unit_.source.tokens;
  std::map<std::string, std::string> types;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t brace = tokens[i].is("enum") ? brace_of(tokens, i) : tokens.size();
    if (brace == tokens.size()) {
      continue;
    }
    const std::size_t end = closing(tokens, brace);
    // A packed one is as small as its enumerators let it be.
    const bool has_attribute = (i + 1 < tokens.size() && is_attribute(tokens[i + 1].text)) ||
                               (end + 1 < tokens.size() && is_attribute(tokens[end + 1].text));
    if (has_attribute) {
      continue;
    }
    if (tokens[brace - 1].kind == TokenKind::identifier && brace - 1 > i) {
      types["enum " + tokens[brace - 1].text] = type_of(brace);
    }
    for (const Name& name : unit_.names) { // "typedef enum {…} mode"
      if (name.kind == NameKind::type && name.specifiers.begin <= i && end < name.specifiers.end &&
          name.declarator.begin == name.token) {
        types[tokens[name.token].text] = type_of(brace);
      }
    }
  }
  return types;
}

} // namespace tidegate::opencl_c
