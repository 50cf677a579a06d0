#include "opencl_c/type_layout.hpp"

#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

struct Uncertain { // thrown by the first uncertain part of a type
  std::string reason;
};

void require(bool holds, std::string_view otherwise) {
  if (!holds) {
    throw Uncertain{std::string(otherwise)};
  }
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class LayoutReader {
public:
  explicit LayoutReader(const TranslationUnit& unit) : unit_(unit) {}

  TypeLayout layout(const Type& type) {
    require(!type.has_attributes, "it has a type with attributes");
    require(!type.is(Type::Kind::pointer) && !type.is(Type::Kind::function), "it has a pointer");
    require(!type.is(Type::Kind::array), "it is an array");
    if (type.record != nullptr) {
      require(type.record->body.end != 0, name_of(unit_, *type.record) + " is declared nowhere");
      return type.is(Type::Kind::record) ? structure(*type.record) : enumeration(*type.record);
    }
    const auto arithmetic = arithmetic_type(type.name);
    require(arithmetic.has_value(),
            fmt::format("it has a member of type {}", type.name.empty() ? "void" : type.name));
    const std::uint32_t bytes = arithmetic->bytes();
    return {.name = type.name, .bytes = bytes, .alignment = bytes};
  }

  // A variable without its name and place, which may be an array.
  MemberLayout variable(const Type* type) {
    MemberLayout found;
    for (; type->is(Type::Kind::array); type = type->inner) {
      const auto bound = type->extent == nullptr ? std::nullopt : value_of(unit_, *type->extent);
      require(bound.value_or(0) > 0, "it has an array whose bound is not a plain constant");
      found.dimensions.push_back(static_cast<std::uint64_t>(*bound));
    }
    found.type = layout(*type);
    return found;
  }

  static std::uint64_t bytes_of(const MemberLayout& variable, std::uint64_t most,
                                std::string_view otherwise) {
    std::uint64_t bytes = variable.type.bytes;
    for (const std::uint64_t count : variable.dimensions) {
      require(!__builtin_mul_overflow(bytes, count, &bytes) && bytes <= most, otherwise);
    }
    return bytes;
  }

private:
  TypeLayout enumeration(const Record& record) {
    require(!record.integer.empty() && !record.members.empty(),
            "it has enumerators whose values are not plain constants of 32 bits");
    require(!record.attributes.packed && record.attributes.aligned.empty(),
            "it has an enumeration that is not an int");
    TypeLayout type{.kind = TypeLayout::Kind::enumeration,
                    .name = std::string(record.integer),
                    .bytes = 4,
                    .alignment = 4};
    for (const Decl* const enumerator : record.members) {
      type.enumerators.emplace_back(unit_.source.tokens[enumerator->token].text, enumerator->constant->value);
    }
    return type;
  }

  TypeLayout structure(const Record& record) {
    const Nested nested(depth_);
    require(depth_ <= 32, "it is nested too deeply");
    require(record.kind != Record::Kind::union_type, "it has a union");
    require(!has_pragma({.begin = 0, .end = record.body.begin}, "pack"), "a #pragma pack precedes it");
    require(!has_pragma(record.body, ""), "it contains a pragma");
    TypeLayout type{.kind = TypeLayout::Kind::structure, .name = name_of(unit_, record)};
    for (const Expr* const expr : record.attributes.aligned) {
      const std::int64_t value = expr == nullptr ? 0 : value_of(unit_, *expr).value_or(0);
      require(value > 0 && (value & (value - 1)) == 0, "it has an alignment that is not a plain constant");
      type.alignment = std::max(type.alignment, static_cast<std::uint64_t>(value));
    }
    for (const Decl* const decl : record.members) {
      require(decl->token != no_token, "it has members without a name");
      require(!decl->has_attributes, "it has a member with attributes");
      require(!decl->is_bit_field, "it has bit-fields");
      MemberLayout member = variable(decl->type);
      member.name = unit_.source.tokens[decl->token].text;
      const std::uint64_t alignment = record.attributes.packed ? 1 : member.type.alignment;
      member.offset = round_up(type.bytes, alignment);
      type.bytes = member.offset + bytes_of(member, 1U << 16U, "it is larger than an argument can be");
      type.alignment = std::max(type.alignment, alignment);
      type.members.push_back(std::move(member));
    }
    require(!type.members.empty(), "it has no members");
    type.bytes = round_up(type.bytes, type.alignment);
    return type;
  }

  [[nodiscard]] bool has_pragma(TokenRange range, std::string_view word) const {
    return std::ranges::any_of(unit_.tokens(range), [word](const Token& token) {
      return token.kind == TokenKind::pragma && token.text.find(word) != std::string::npos;
    });
  }

  const TranslationUnit& unit_;
  std::size_t depth_ = 0; // of structures
};

// The result of `read`, or why it is uncertain.
template <class Read>
auto certain(const Read& read) -> tl::expected<decltype(read()), std::string> {
  try {
    return read();
  } catch (Uncertain& uncertain) {
    return tl::unexpected(std::move(uncertain.reason));
  }
}

} // namespace

tl::expected<TypeLayout, std::string> layout_of(const TranslationUnit& unit, const Parameter& parameter) {
  return certain([&] { return LayoutReader(unit).layout(*parameter.decl->type); });
}

tl::expected<std::uint64_t, std::string> bytes_of(const TranslationUnit& unit, const Decl& variable) {
  return certain([&] {
    return LayoutReader::bytes_of(LayoutReader(unit).variable(variable.type), ~std::uint64_t{0},
                                  "it is larger than any memory");
  });
}

tl::expected<TypeLayout, std::string> layout_of_pointee(const TranslationUnit& unit,
                                                        const Parameter& parameter) {
  return certain([&] {
    const Type& type = *parameter.decl->type;
    require(type.is(Type::Kind::pointer), "it is no pointer");
    return LayoutReader(unit).layout(*type.inner);
  });
}

} // namespace tidegate::opencl_c
