#include <tidegate/core/text.hpp>
#include <tidegate/documents/type_names.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace tidegate::documents {
namespace {

struct TypeName {
  std::string_view name;
  std::array<std::string_view, 4> also;
};
constexpr std::array names{TypeName{"i8", {"char", "int8", "int8_t", "schar"}},
                           TypeName{"u8", {"uchar", "uint8", "uint8_t", "byte"}},
                           TypeName{"i16", {"short", "int16", "int16_t", ""}},
                           TypeName{"u16", {"ushort", "uint16", "uint16_t", ""}},
                           TypeName{"i32", {"int", "int32", "int32_t", "signed"}},
                           TypeName{"u32", {"uint", "uint32", "uint32_t", "unsigned"}},
                           TypeName{"i64", {"long", "int64", "int64_t", ""}},
                           TypeName{"u64", {"ulong", "uint64", "uint64_t", "size_t"}},
                           TypeName{"f16", {"half", "float16", "", ""}},
                           TypeName{"f32", {"float", "float32", "single", ""}},
                           TypeName{"f64", {"double", "float64", "", ""}}};

// float of float4, f32 of f32x4.
std::string_view scalar_of(std::string_view vector) {
  for (const std::string_view width : {"16", "2", "3", "4", "8"}) {
    if (vector.ends_with("x" + std::string(width))) {
      return vector.substr(0, vector.size() - width.size() - 1);
    }
    if (vector.ends_with(width)) {
      return vector.substr(0, vector.size() - width.size());
    }
  }
  return vector;
}

} // namespace

std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known) {
  for (const std::string_view type : {word, scalar_of(word)}) {
    const auto* const found = std::ranges::find_if(names, [type](const TypeName& names_of) {
      return names_of.name == type || std::ranges::find(names_of.also, type) != names_of.also.end();
    });
    if (!type.empty() && found != names.end() && std::ranges::find(known, found->name) != known.end()) {
      return found->name;
    }
  }
  return nearest_name(word, known);
}

} // namespace tidegate::documents
