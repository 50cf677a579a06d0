// Reads specifiers and declarators recursively; the first uncertain part ends the reading with its reason.
#include "opencl_c/type_layout.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

template <class T>
using Certain = tl::expected<T, std::string>;

tl::unexpected<std::string> uncertain(std::string reason) {
  return tl::unexpected(std::move(reason));
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Attributes that affect a layout.
struct Attributes {
  bool packed = false;
  std::uint64_t aligned = 1;
};

class Reader {
public:
  explicit Reader(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  // A type and the end of its specifiers. Qualifiers may occur between the words of the type.
  struct Specified {
    TypeLayout type;
    std::vector<std::uint64_t> dimensions; // of a typedef of an array
    std::size_t end = 0;
  };
  Certain<Specified> specifiers(TokenRange range) {
    Specified found{.end = range.begin};
    std::vector<std::string_view> words;
    bool complete = false;
    for (std::size_t& i = found.end; i < range.end; ++i) {
      const Token& token = tokens_[i];
      if (const std::size_t after = unit_.after_attributes(i); after != i) {
        if (!says_unused({.begin = i, .end = after})) {
          return uncertain("it has a type with attributes");
        }
        i = after - 1;
        continue;
      } else if (token.is("struct") || token.is("enum")) {
        TIDEGATE_TRY(found.type, token.is("enum") ? enumeration(i, range.end) : structure(i, range.end));
        complete = true;
      } else if (token.is("union")) {
        return uncertain("it has a union");
      } else if (token.kind != TokenKind::identifier) {
        break;
      } else if (is_qualifier(token.text) || token.is("typedef")) {
        continue;
      } else if (!complete && is_type_word(token.text)) {
        words.push_back(token.text);
      } else if (const Name* name = unit_.meaning(i);
                 !complete && words.empty() && name != nullptr && name->kind == NameKind::type) {
        TIDEGATE_TRY(found.type, named(*name, found.dimensions));
        complete = true;
      } else {
        break;
      }
    }
    if (!complete) {
      TIDEGATE_TRY(found.type, arithmetic(words));
    }
    return found;
  }

  Certain<std::uint64_t> bytes_of(const Name& variable) {
    TIDEGATE_TRY(const Specified specified, specifiers(variable.specifiers));
    TIDEGATE_TRY(const Declarator declarator, this->declarator(variable.declarator));
    std::uint64_t bytes = specified.type.bytes;
    for (const auto& dimensions : {declarator.dimensions, specified.dimensions}) {
      for (const std::uint64_t count : dimensions) {
        if (__builtin_mul_overflow(bytes, count, &bytes)) {
          return uncertain("it is larger than any memory");
        }
      }
    }
    return bytes;
  }

private:
  // True for attributes that say that a variable may be unused, and nothing else.
  [[nodiscard]] bool says_unused(TokenRange attributes) const {
    for (std::size_t i = attributes.begin; i < attributes.end; ++i) {
      const Token& token = tokens_[i];
      if (!is_attribute(token.text) && !token.is("(") && !token.is(")") && !token.is(",") &&
          !says(token, "unused")) {
        return false;
      }
    }
    return true;
  }

  static bool says(const Token& token, std::string_view word) {
    std::string_view text = token.text;
    if (text.starts_with("__") && text.ends_with("__") && text.size() > 4) {
      text = text.substr(2, text.size() - 4);
    }
    return text == word;
  }

  static Certain<TypeLayout> arithmetic(const std::vector<std::string_view>& words) {
    static const std::map<std::string, std::string> no_typedefs;
    const std::string name = canonical_type(words, no_typedefs);
    const auto type = arithmetic_type(name);
    if (!type) {
      return uncertain(fmt::format("it has a member of type {}", name.empty() ? "int" : name));
    }
    return TypeLayout{
        .name = name, .bytes = type->bytes(), .alignment = type->bytes(), .members = {}, .enumerators = {}};
  }

  // Resolves a typedef.
  Certain<TypeLayout> named(const Name& name, std::vector<std::uint64_t>& dimensions) {
    TIDEGATE_TRY(Specified specified, specifiers(name.specifiers));
    TIDEGATE_TRY(const Declarator declarator, this->declarator(name.declarator));
    dimensions = declarator.dimensions;
    dimensions.insert(dimensions.end(), specified.dimensions.begin(), specified.dimensions.end());
    if (specified.type.kind == TypeLayout::Kind::structure && specified.type.name == "struct") {
      specified.type.name = declarator.name; // an unnamed structure takes the typedef's name
    }
    return std::move(specified.type);
  }

  struct Declarator {
    std::string name;
    std::vector<std::uint64_t> dimensions;
  };
  Certain<Declarator> declarator(TokenRange range) {
    Declarator found;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (is_attribute(tokens_[i].text)) {
        return uncertain("it has a member with attributes");
      }
      if (tokens_[i].is("*") || tokens_[i].is("(")) {
        return uncertain("it has a pointer");
      }
      if (tokens_[i].is(":")) {
        return uncertain("it has bit-fields");
      }
      if (tokens_[i].is("[")) {
        const std::size_t close = unit_.counterpart(i);
        const auto bound = constant({.begin = i + 1, .end = close});
        if (!bound || *bound <= 0) {
          return uncertain("it has an array whose bound is not a plain constant");
        }
        found.dimensions.push_back(static_cast<std::uint64_t>(*bound));
        i = close;
      } else if (tokens_[i].kind == TokenKind::identifier && !is_qualifier(tokens_[i].text)) {
        found.name = tokens_[i].text;
      }
    }
    return found;
  }

  // Value of an expression of numbers, enumerators and sizes.
  [[nodiscard]] std::optional<std::int64_t> constant(TokenRange range) { return constants().value(range); }

  const ConstantValues& constants() { // built on first use
    if (!constants_) {
      constants_.emplace(unit_);
    }
    return *constants_;
  }

  // At struct or enum: passes attributes and tag, and finds the body here or at the tag's definition.
  struct Tagged {
    std::string tag;
    std::optional<TokenRange> body;
    Attributes attributes;
  };
  Certain<Tagged> tagged(std::size_t& i, std::size_t end) {
    const std::string& keyword = tokens_[i].text;
    Tagged found;
    std::size_t next = i + 1;
    TIDEGATE_CHECK(attributes(next, found.attributes));
    const std::size_t tag = next;
    if (next < end && tokens_[next].kind == TokenKind::identifier) {
      found.tag = tokens_[next++].text;
    }
    TIDEGATE_CHECK(attributes(next, found.attributes));
    if (next < end && tokens_[next].is("{")) {
      TIDEGATE_TRY(next, body(next, found));
    } else {
      std::size_t there = found.tag.empty() ? tokens_.size() : after_keyword(*unit_.meaning(tag));
      if (there == tokens_.size()) {
        return uncertain(fmt::format("{} {} is declared nowhere", keyword, found.tag));
      }
      TIDEGATE_CHECK(attributes(there, found.attributes));
      ++there; // the tag
      TIDEGATE_CHECK(attributes(there, found.attributes));
      TIDEGATE_CHECK(body(there, found));
    }
    i = next - 1;
    return found;
  }

  // Reads from the opening brace past the attributes after the closing one.
  Certain<std::size_t> body(std::size_t open, Tagged& found) {
    const std::size_t close = unit_.counterpart(open);
    found.body = TokenRange{.begin = open + 1, .end = close};
    std::size_t next = close + 1;
    TIDEGATE_CHECK(attributes(next, found.attributes));
    return next;
  }

  // Index after the keyword of the tag's definition; the number of tokens if there is none at file scope.
  [[nodiscard]] std::size_t after_keyword(const Name& tag) const {
    for (std::size_t i = tag.is_file_scope ? tag.token : tokens_.size(); i < tokens_.size(); ++i) {
      if (unit_.meaning(i) == &tag && unit_.is(unit_.after_attributes(i + 1), "{")) {
        while (unit_.is(i - 1, ")")) { // attributes before the tag
          i = unit_.counterpart(i - 1) - 1;
        }
        return i;
      }
    }
    return tokens_.size();
  }

  Certain<bool> attributes(std::size_t& i, Attributes& found) {
    const std::size_t end = unit_.after_attributes(i);
    for (; i < end; ++i) {
      if (says(tokens_[i], "packed")) {
        found.packed = true;
      } else if (says(tokens_[i], "aligned")) {
        const auto value = tokens_[i + 1].is("(")
                               ? constant({.begin = i + 2, .end = unit_.counterpart(i + 1)})
                               : std::nullopt;
        if (!value || *value <= 0 || (*value & (*value - 1)) != 0) {
          return uncertain("it has an alignment that is not a plain constant");
        }
        found.aligned = std::max(found.aligned, static_cast<std::uint64_t>(*value));
      }
    }
    return true;
  }

  Certain<TypeLayout> enumeration(std::size_t& i, std::size_t end) {
    TIDEGATE_TRY(const Tagged found, tagged(i, end));
    auto values = constants().enumerators_of(found.body->begin - 1);
    if (!values || values->empty()) {
      return uncertain("it has enumerators whose values are not plain constants");
    }
    const IntegerType type = constants().type_of(found.body->begin - 1);
    if (type.bits != 32 || found.attributes.packed || found.attributes.aligned != 1) {
      return uncertain("it has an enumeration that is not an int");
    }
    return TypeLayout{.kind = TypeLayout::Kind::enumeration,
                      .name = type.is_unsigned ? "uint" : "int",
                      .bytes = 4,
                      .alignment = 4,
                      .members = {},
                      .enumerators = std::move(*values)};
  }

  Certain<TypeLayout> structure(std::size_t& i, std::size_t end) {
    if (++depth_ > most_depth) {
      return uncertain("it is nested too deeply");
    }
    TIDEGATE_TRY(const Tagged found, tagged(i, end));
    if (has_pragma({.begin = 0, .end = found.body->begin}, "pack")) {
      return uncertain("a #pragma pack precedes it");
    }
    TypeLayout type{.kind = TypeLayout::Kind::structure,
                    .name = found.tag.empty() ? "struct" : "struct " + found.tag,
                    .alignment = found.attributes.aligned,
                    .members = {},
                    .enumerators = {}};
    for (std::size_t at = found.body->begin; at < found.body->end; ++at) {
      const std::size_t stop = unit_.find({.begin = at, .end = found.body->end}, ";");
      if (stop == found.body->end || has_pragma({.begin = at, .end = stop}, "")) {
        return uncertain("it contains a pragma or lacks a semicolon");
      }
      TIDEGATE_CHECK(members({.begin = at, .end = stop}, found.attributes.packed, type));
      at = stop;
    }
    if (type.members.empty()) {
      return uncertain("it has no members");
    }
    type.bytes = round_up(type.bytes, type.alignment);
    --depth_;
    return type;
  }

  // Adds the members of one declaration.
  Certain<bool> members(TokenRange range, bool packed, TypeLayout& structure) {
    TIDEGATE_TRY(const Specified specified, specifiers(range));
    if (specified.end == range.end) {
      return uncertain("it has members without a name");
    }
    for (const TokenRange part : unit_.split({.begin = specified.end, .end = range.end})) {
      TIDEGATE_TRY(Declarator declarator, this->declarator(part));
      MemberLayout member{.name = std::move(declarator.name),
                          .dimensions = std::move(declarator.dimensions),
                          .type = specified.type};
      member.dimensions.insert(member.dimensions.end(), specified.dimensions.begin(),
                               specified.dimensions.end());
      std::uint64_t bytes = member.type.bytes;
      for (const std::uint64_t count : member.dimensions) {
        if (__builtin_mul_overflow(bytes, count, &bytes) || bytes > most_bytes) {
          return uncertain("it is larger than an argument can be");
        }
      }
      const std::uint64_t alignment = packed ? 1 : member.type.alignment;
      member.offset = round_up(structure.bytes, alignment);
      structure.bytes = member.offset + bytes;
      structure.alignment = std::max(structure.alignment, alignment);
      structure.members.push_back(std::move(member));
    }
    return true;
  }

  [[nodiscard]] bool has_pragma(TokenRange range, std::string_view word) const {
    return std::ranges::any_of(unit_.tokens(range), [word](const Token& token) {
      return token.kind == TokenKind::pragma && token.text.find(word) != std::string::npos;
    });
  }

  static constexpr std::size_t most_depth = 32;
  static constexpr std::uint64_t most_bytes = 1U << 16U;

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  std::size_t depth_ = 0;
  std::optional<ConstantValues> constants_;
};

} // namespace

tl::expected<TypeLayout, std::string> layout_of(const TranslationUnit& unit, TokenRange declaration) {
  TIDEGATE_TRY(auto found, Reader(unit).specifiers(declaration));
  if (!found.dimensions.empty()) {
    return tl::unexpected(std::string("it is an array"));
  }
  return std::move(found.type);
}

tl::expected<std::uint64_t, std::string> bytes_of(const TranslationUnit& unit, const Name& variable) {
  return Reader(unit).bytes_of(variable);
}

tl::expected<TypeLayout, std::string> layout_of_pointee(const TranslationUnit& unit, TokenRange parameter) {
  const std::vector<Token>& tokens = unit.source.tokens;
  TIDEGATE_TRY(auto found, Reader(unit).specifiers(parameter));
  std::size_t name = found.end;
  const bool star = name < parameter.end && tokens[name].is("*");
  for (name += star ? 1 : 0; name < parameter.end && is_qualifier(tokens[name].text);) {
    ++name;
  }
  const std::size_t next = name + 1;
  const bool plain =
      star ? next == parameter.end : unit.is(next, "[") && unit.counterpart(next) + 1 == parameter.end;
  if (!plain || tokens[name].kind != TokenKind::identifier || !found.dimensions.empty()) {
    return tl::unexpected(std::string("it does not point to a plain type"));
  }
  return std::move(found.type);
}

} // namespace tidegate::opencl_c
