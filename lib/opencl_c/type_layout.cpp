// The first uncertain part of a type ends the reading with its reason.
#include "opencl_c/type_layout.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>

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

class Reader {
public:
  explicit Reader(const TranslationUnit& unit) : unit_(unit) {}

  Certain<TypeLayout> layout(const Type& type) {
    if (type.has_attributes) {
      return uncertain("it has a type with attributes");
    }
    switch (type.kind) {
    case Type::Kind::record: return structure(*type.record);
    case Type::Kind::pointer:
    case Type::Kind::function: return uncertain("it has a pointer");
    case Type::Kind::array: return uncertain("it is an array");
    default: break;
    }
    if (type.record != nullptr) {
      return enumeration(*type.record);
    }
    const auto arithmetic = arithmetic_type(type.name);
    if (!arithmetic) {
      return uncertain(fmt::format("it has a member of type {}", !type.name.empty()             ? type.name
                                                                 : type.is(Type::Kind::nothing) ? "void"
                                                                                                : "int"));
    }
    return TypeLayout{.name = type.name,
                      .bytes = arithmetic->bytes(),
                      .alignment = arithmetic->bytes(),
                      .members = {},
                      .enumerators = {}};
  }

  // Passes the dimensions of an array, and returns the type of its elements.
  Certain<const Type*> elements(const Type* type, std::vector<std::uint64_t>& dimensions) {
    for (; type->is(Type::Kind::array); type = type->inner) {
      const auto bound = type->extent == nullptr ? std::nullopt : value_of(unit_, *type->extent);
      if (!bound || *bound <= 0) {
        return uncertain("it has an array whose bound is not a plain constant");
      }
      dimensions.push_back(static_cast<std::uint64_t>(*bound));
    }
    return type;
  }

  Certain<std::uint64_t> bytes_of(const Type& type) {
    std::vector<std::uint64_t> dimensions;
    TIDEGATE_TRY(const Type* const element, elements(&type, dimensions));
    TIDEGATE_TRY(const TypeLayout found, layout(*element));
    std::uint64_t bytes = found.bytes;
    for (const std::uint64_t count : dimensions) {
      if (__builtin_mul_overflow(bytes, count, &bytes)) {
        return uncertain("it is larger than any memory");
      }
    }
    return bytes;
  }

private:
  Certain<std::uint64_t> alignment_of(const Attributes& attributes) {
    std::uint64_t aligned = 1;
    for (const Expr* const expr : attributes.aligned) {
      const auto value = expr == nullptr ? std::nullopt : value_of(unit_, *expr);
      if (!value || *value <= 0 || (*value & (*value - 1)) != 0) {
        return uncertain("it has an alignment that is not a plain constant");
      }
      aligned = std::max(aligned, static_cast<std::uint64_t>(*value));
    }
    return aligned;
  }

  Certain<TypeLayout> enumeration(const Record& record) {
    TIDEGATE_CHECK(is_complete(record));
    const auto values = enumerators_of(unit_, record);
    if (!values || values->empty()) {
      return uncertain("it has enumerators whose values are not plain constants");
    }
    const IntegerType type = integer_type_of(*values);
    if (type.bits != 32 || record.attributes.packed || !record.attributes.aligned.empty()) {
      return uncertain("it has an enumeration that is not an int");
    }
    return TypeLayout{.kind = TypeLayout::Kind::enumeration,
                      .name = type.is_unsigned ? "uint" : "int",
                      .bytes = 4,
                      .alignment = 4,
                      .members = {},
                      .enumerators = *values};
  }

  Certain<bool> is_complete(const Record& record) const {
    return record.body.end != 0 ? Certain<bool>(true)
                                : uncertain(fmt::format("{} is declared nowhere", name_of(unit_, record)));
  }

  Certain<TypeLayout> structure(const Record& record) {
    if (++depth_ > most_depth) {
      return uncertain("it is nested too deeply");
    }
    if (record.kind == Record::Kind::union_type) {
      return uncertain("it has a union");
    }
    TIDEGATE_CHECK(is_complete(record));
    if (has_pragma({.begin = 0, .end = record.body.begin}, "pack")) {
      return uncertain("a #pragma pack precedes it");
    }
    if (has_pragma(record.body, "")) {
      return uncertain("it contains a pragma");
    }
    TIDEGATE_TRY(const std::uint64_t aligned, alignment_of(record.attributes));
    TypeLayout type{.kind = TypeLayout::Kind::structure,
                    .name = name_of(unit_, record),
                    .alignment = aligned,
                    .members = {},
                    .enumerators = {}};
    for (const Decl* const member : record.members) {
      TIDEGATE_CHECK(add(*member, record.attributes.packed, type));
    }
    if (type.members.empty()) {
      return uncertain("it has no members");
    }
    type.bytes = round_up(type.bytes, type.alignment);
    --depth_;
    return type;
  }

  Certain<bool> add(const Decl& decl, bool packed, TypeLayout& structure) {
    if (decl.token == no_token) {
      return uncertain("it has members without a name");
    }
    if (decl.has_attributes) {
      return uncertain("it has a member with attributes");
    }
    if (decl.is_bit_field) {
      return uncertain("it has bit-fields");
    }
    MemberLayout member{.name = unit_.source.tokens[decl.token].text, .dimensions = {}, .type = {}};
    TIDEGATE_TRY(const Type* const element, elements(decl.type, member.dimensions));
    TIDEGATE_TRY(member.type, layout(*element));
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
  std::size_t depth_ = 0;
};

} // namespace

tl::expected<TypeLayout, std::string> layout_of(const TranslationUnit& unit, const Parameter& parameter) {
  return Reader(unit).layout(*parameter.decl->type);
}

tl::expected<std::uint64_t, std::string> bytes_of(const TranslationUnit& unit, const Decl& variable) {
  return Reader(unit).bytes_of(*variable.type);
}

tl::expected<TypeLayout, std::string> layout_of_pointee(const TranslationUnit& unit,
                                                        const Parameter& parameter) {
  const Type& type = *parameter.decl->type;
  if (!type.is(Type::Kind::pointer) || type.inner->is(Type::Kind::array) ||
      type.inner->is(Type::Kind::pointer) || type.inner->is(Type::Kind::function)) {
    return uncertain("it does not point to a plain type");
  }
  return Reader(unit).layout(*type.inner);
}

} // namespace tidegate::opencl_c
