// Which declarations speak of constant memory.
#pragma once

#include <tidegate/opencl_c/translation_unit.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// What the declarations of a unit say of constant memory.
class ConstantTypes {
public:
  explicit ConstantTypes(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  // The qualifier, or the name of a type that has it.
  [[nodiscard]] bool is_constant(std::size_t i) const {
    const Name* const type = used_type(i);
    return address_space(tokens_[i].text) == AddressSpace::constant ||
           (type != nullptr && in_constant(*type));
  }

  [[nodiscard]] bool in_constant(const Name& name) const {
    return any_specifier(name, [this](std::size_t i) { return is_constant(i); });
  }

  [[nodiscard]] bool is_pointer(const Name& name) const {
    const bool star = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(name.declarator.begin),
                                  tokens_.begin() + static_cast<std::ptrdiff_t>(name.token),
                                  [](const Token& token) { return token.is("*"); });
    return star || any_specifier(name, [this](std::size_t i) {
             const Name* const type = used_type(i);
             return type != nullptr && is_pointer(*type);
           });
  }

  [[nodiscard]] bool is_array(const Name& name) const {
    return tokens_[name.token + 1].is("[") || any_specifier(name, [this](std::size_t i) {
             const Name* const type = used_type(i);
             return type != nullptr && is_array(*type);
           });
  }

  // A variable that holds such a pointer.
  [[nodiscard]] bool points_to_constant(const Name& name) const {
    return name.kind == NameKind::variable && in_constant(name) && is_pointer(name);
  }

  // Whether any structure has a member of this name that points into constant memory.
  [[nodiscard]] bool is_member_to_constant(const std::string& text) const {
    return std::ranges::any_of(unit_.names, [&text, this](const Name& name) {
      return name.kind == NameKind::member && tokens_[name.token].text == text && in_constant(name) &&
             is_pointer(name);
    });
  }

  // A function that returns one.
  [[nodiscard]] bool returns_constant(const Function& function) const {
    for (std::size_t i = function.begin; i < function.name_token; ++i) {
      if (is_attribute(tokens_[i].text)) {
        i = closing(tokens_, i + 1);
      } else if (is_constant(i)) {
        return true;
      }
    }
    return false;
  }

  // Whether any token of the specifiers has this property, members of structures aside.
  template <class Property>
  [[nodiscard]] bool any_specifier(const Name& name, const Property& property) const {
    for (std::size_t i = name.specifiers.begin; i < name.specifiers.end; ++i) {
      if (tokens_[i].is("{")) {
        i = closing(tokens_, i);
      } else if (property(i)) {
        return true;
      }
    }
    return false;
  }

  // Whether members stand in the specifiers of a structure without a tag: it cannot be named again.
  [[nodiscard]] bool has_unnamed_members(const Name& name) const {
    for (std::size_t i = name.specifiers.begin + 1; i < name.specifiers.end; ++i) {
      if (tokens_[i].is("{")) {
        const Name* const tag = unit_.meaning(i - 1);
        return tag == nullptr || tag->kind != NameKind::tag;
      }
    }
    return false;
  }

  // The type that token `i` uses by its name, or nullptr.
  [[nodiscard]] const Name* used_type(std::size_t i) const {
    const Name* const name = unit_.meaning(i);
    return name != nullptr && name->kind == NameKind::type && name->token != i ? name : nullptr;
  }

  // Whether the parenthesis at `close` ends a cast: a type stands between the two.
  [[nodiscard]] bool is_cast(std::size_t close) const {
    std::size_t depth = 1;
    std::size_t open = close;
    while (depth > 0) {
      --open;
      depth += tokens_[open].is(")") ? 1U : 0U;
      depth -= tokens_[open].is("(") ? 1U : 0U;
    }
    const std::string& first = tokens_[open + 1].text;
    return is_qualifier(first) || is_type_word(first) || used_type(open + 1) != nullptr;
  }

private:
  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
};

} // namespace tidegate::opencl_c
