// Each form of argument (numbers, structure, bytes, buffer, null) has a function that compares it with the
// parameter.
#include "work/arguments.hpp"

#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/contents.hpp"
#include "work/documents.hpp"
#include "work/hits.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace tidegate::engine {

bool takes_object(const opencl_c::Parameter& parameter) {
  return !parameter.is_pointer && (parameter.type == "sampler_t" || opencl_c::is_image_type(parameter.type));
}

namespace {

using opencl_c::AddressSpace;
using opencl_c::MemberLayout;
using opencl_c::Parameter;
using opencl_c::TranslationUnit;
using opencl_c::TypeLayout;

Access access_of(const Parameter& parameter) {
  switch (parameter.image_access.value_or(opencl_c::ImageAccess::read_only)) {
  case opencl_c::ImageAccess::read_only: return Access::read;
  case opencl_c::ImageAccess::write_only: return Access::write;
  case opencl_c::ImageAccess::read_write: break;
  }
  return Access::read_write;
}

Result<ProgramArgument> resolve_sampler(const SamplerSpec& sampler, const Parameter& parameter,
                                        const std::string& declaration, const std::string& wanted,
                                        const std::string& pointer) {
  if (parameter.type != "sampler_t") {
    return tl::unexpected(argument_mismatch(
        fmt::format("the argument is a sampler, the kernel's parameter is {}", in_quotes(declaration)),
        "give " + wanted, pointer));
  }
  const bool repeats =
      sampler.address == AddressMode::repeat || sampler.address == AddressMode::mirrored_repeat;
  if (repeats && !sampler.normalized) {
    return tl::unexpected(
        invalid_program(fmt::format("the address mode {} needs normalized coordinates",
                                    address_mode_names[static_cast<std::size_t>(sampler.address)]),
                        "say \"normalized\": true, or take another mode", pointer + "/sampler"));
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::sampler, .value = {}, .sampler = sampler};
}

Result<ProgramArgument> resolve_object(const WaveInput& in, const ArgumentSpec& argument,
                                       const Parameter& parameter, const TranslationUnit& unit,
                                       const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  const std::string wanted = wanted_argument(parameter, unit);
  if (argument.sampler) {
    return resolve_sampler(*argument.sampler, parameter, declaration, wanted, pointer);
  }
  TIDEGATE_TRY(const auto found, find_image(in.input, in.memory, *argument.image, pointer + "/image"));
  const ProgramBuffer& image = in.memory.buffers[found];
  if (!takes_object(parameter) || type_name(*image.image) != parameter.type) {
    return tl::unexpected(argument_mismatch(
        fmt::format("the argument is the image {}, an {}, the kernel's parameter is {}",
                    in_quotes(image.name), type_name(*image.image), in_quotes(declaration)),
        takes_object(parameter) && parameter.type != "sampler_t"
            ? fmt::format("give an {}: size, layers, texel_buffer and format say what an image is",
                          parameter.type)
            : "give " + wanted,
        pointer));
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::image,
                         .buffer = found,
                         .access = access_of(parameter),
                         .access_stated = false,
                         .value = {}};
}

struct StatedNumbers {
  ElementType type = ElementType::f32;
  const std::vector<Number>* numbers = nullptr;
};

std::vector<StatedNumbers> stated_numbers(const ArgumentSpec& argument) {
  const std::array<const std::optional<std::vector<Number>>*, element_type_names.size()> all{
      &argument.i8,  &argument.u8,  &argument.i16, &argument.u16, &argument.i32, &argument.u32,
      &argument.i64, &argument.u64, &argument.f16, &argument.f32, &argument.f64};
  std::vector<StatedNumbers> stated;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (*all[i]) {
      stated.push_back({.type = static_cast<ElementType>(i), .numbers = &**all[i]});
    }
  }
  return stated;
}

// Returns the number of values of any kind that an argument states.
std::size_t count_values(const ArgumentSpec& argument) {
  return stated_numbers(argument).size() + (argument.structure ? 1U : 0U) + (argument.enumeration ? 1U : 0U) +
         (argument.bytes ? 1U : 0U);
}

bool states_one_number(const ArgumentSpec& argument) {
  const auto numbers = stated_numbers(argument);
  return numbers.size() == 1 && numbers.front().numbers->size() == 1;
}

// Names the kind of the argument for a sentence: "float4", "a structure".
std::string stated_text(const ArgumentSpec& argument) {
  if (const auto numbers = stated_numbers(argument); !numbers.empty()) {
    const std::size_t width = numbers.front().numbers->size();
    return fmt::format("{}{}", scalar_names[static_cast<std::size_t>(numbers.front().type)],
                       width == 1 ? "" : std::to_string(width));
  }
  return argument.structure ? "a structure" : argument.enumeration ? "an enumerator" : "a value";
}

Error at_pointer(Error error, const std::string& pointer) {
  if (!error.pointer) {
    error.pointer = pointer;
  }
  return error;
}

ProgramArgument value_argument(const TypeLayout& layout) {
  return {.kind = ProgramArgument::Kind::value,
          .value = std::vector<std::byte>(layout.bytes),
          .alignment = static_cast<std::uint32_t>(layout.alignment)};
}

// Stores numbers consecutively, each with the size of its type.
Result<void> store_numbers(std::span<const Number> numbers, ElementType type, std::byte* at,
                           const std::string& pointer) {
  for (const Number& number : numbers) {
    if (auto stored = store_number(number, type, at); !stored) {
      return tl::unexpected(at_pointer(std::move(stored.error()), pointer));
    }
    at += element_bytes(type);
  }
  return {};
}

// Writes values into the bytes of a type, member by member.
class Filler {
public:
  explicit Filler(std::span<std::byte> room) : room_(room) {}

  std::vector<Change> changes; // of members

  Result<void> fill(const TypeLayout& type, std::span<const std::uint64_t> dimensions, std::uint64_t offset,
                    const Value& value, const std::string& pointer) {
    if (!dimensions.empty()) {
      return array(type, dimensions, offset, value, pointer);
    }
    switch (type.kind) {
    case TypeLayout::Kind::structure: return structure(type, offset, value, pointer);
    case TypeLayout::Kind::enumeration: return enumerator(type, offset, value, pointer);
    case TypeLayout::Kind::arithmetic: break;
    }
    const auto arithmetic = *opencl_c::arithmetic_type(type.name);
    return numbers(*element_type_of(arithmetic.scalar), arithmetic.width, offset, value, pointer);
  }

private:
  Result<void> structure(const TypeLayout& type, std::uint64_t offset, const Value& value,
                         const std::string& pointer) {
    const auto* members = std::get_if<Value::Object>(&value.is);
    if (members == nullptr) {
      return tl::unexpected(
          argument_mismatch(fmt::format("the value of {} is not an object", in_quotes(type.name)),
                            "give each member by its name: " + member_list(type), pointer));
    }
    for (const auto& [name, member] : *members) {
      const auto found = std::ranges::find(type.members, name, &MemberLayout::name);
      const std::string place = pointer + "/" + pointer_token(name);
      if (found == type.members.end()) {
        return failure(ErrorCode::unknown_name,
                       fmt::format("{} has no member {}", in_quotes(type.name), in_quotes(name)),
                       "its members are " + member_list(type), place);
      }
      TIDEGATE_CHECK(fill(found->type, found->dimensions, offset + found->offset, member, place));
    }
    for (const MemberLayout& member : type.members) {
      const bool given = std::ranges::any_of(
          *members, [&](const auto& candidate) { return candidate.first == member.name; });
      if (!given) {
        return tl::unexpected(argument_mismatch(
            fmt::format("the member {} of {} has no value", in_quotes(member.name), in_quotes(type.name)),
            "give all of " + member_list(type), pointer));
      }
    }
    return {};
  }

  static std::string member_list(const TypeLayout& type) {
    std::string text;
    for (const MemberLayout& member : type.members) {
      text += (text.empty() ? "" : ", ") + in_quotes(member.name);
    }
    return text;
  }

  Result<void> array(const TypeLayout& type, std::span<const std::uint64_t> dimensions, std::uint64_t offset,
                     const Value& value, const std::string& pointer) {
    const auto* items = std::get_if<Value::List>(&value.is);
    if (items == nullptr || items->size() != dimensions.front()) {
      return tl::unexpected(argument_mismatch(
          items == nullptr ? fmt::format("an array of {} takes an array", dimensions.front())
                           : fmt::format("{} given for an array of {}", plural(items->size(), "value"),
                                         dimensions.front()),
          fmt::format("give {}", plural(dimensions.front(), "value")), pointer));
    }
    std::uint64_t stride = type.bytes;
    for (const std::uint64_t inner : dimensions.subspan(1)) {
      stride *= inner;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
      TIDEGATE_CHECK(fill(type, dimensions.subspan(1), offset + i * stride, (*items)[i],
                          fmt::format("{}/{}", pointer, i)));
    }
    return {};
  }

  Result<void> enumerator(const TypeLayout& type, std::uint64_t offset, const Value& value,
                          const std::string& pointer) {
    if (const auto* name = std::get_if<std::string>(&value.is)) {
      const auto found =
          std::ranges::find(type.enumerators, *name, [](const auto& pair) { return pair.first; });
      if (found == type.enumerators.end()) {
        std::vector<std::string_view> names;
        for (const auto& [known, number] : type.enumerators) {
          names.push_back(known);
        }
        return failure(ErrorCode::unknown_name, fmt::format("there is no enumerator {}", in_quotes(*name)),
                       fmt::format("give one of {}, or a number", one_of(names)), pointer);
      }
      const Number number =
          found->second < 0 ? Number(found->second) : Number(static_cast<std::uint64_t>(found->second));
      return store_numbers(std::array{number}, *element_type_of(type.name), room_.data() + offset, pointer);
    }
    return numbers(*element_type_of(type.name), 1, offset, value, pointer);
  }

  Result<void> numbers(ElementType type, std::uint32_t width, std::uint64_t offset, const Value& value,
                       const std::string& pointer) {
    std::vector<Number> found;
    if (const auto* stated = std::get_if<Value::Object>(&value.is);
        stated != nullptr && width == 1 && member_of(*stated, "iteration")) {
      return changing(type, offset, value, pointer);
    }
    if (const auto* single = std::get_if<Number>(&value.is)) {
      found.push_back(*single);
    } else if (const auto* items = std::get_if<Value::List>(&value.is); items != nullptr && width != 1) {
      for (const Value& item : *items) {
        if (const auto* number = std::get_if<Number>(&item.is)) {
          found.push_back(*number);
        }
      }
    }
    if (found.size() != width) {
      const std::string scalar(scalar_names[static_cast<std::size_t>(type)]);
      return tl::unexpected(
          width == 1
              ? argument_mismatch(
                    fmt::format("{} takes a number", scalar),
                    fmt::format("give one number; one that changes is {{\"{}\": 0, \"iteration\": {{…}}}}",
                                name(type)),
                    pointer)
              : argument_mismatch(fmt::format("{}{} takes an array of {} numbers", scalar, width, width),
                                  fmt::format("give {} numbers", width), pointer));
    }
    return store_numbers(found, type, room_.data() + offset, pointer);
  }

  static bool member_of(const Value::Object& object, std::string_view name) {
    return std::ranges::any_of(object, [&](const ValueMember& member) { return member.first == name; });
  }

  // A number that changes with the iteration is stated as if it were an argument.
  Result<void> changing(ElementType type, std::uint64_t offset, const Value& value,
                        const std::string& pointer) {
    TIDEGATE_TRY(const ArgumentSpec stated, documents::argument_of(value, pointer));
    const auto numbers = stated_numbers(stated);
    if (!states_one_number(stated) || numbers.front().type != type ||
        std::get<Value::Object>(value.is).size() != 2) {
      return tl::unexpected(
          argument_mismatch(fmt::format("a member that changes takes one {} and its iteration",
                                        scalar_names[static_cast<std::size_t>(type)]),
                            fmt::format("give {{\"{}\": 0, \"iteration\": {{…}}}}", name(type)), pointer));
    }
    if (offset % element_bytes(type) != 0) {
      return tl::unexpected(
          invalid_program("a member of a packed structure that is not aligned cannot change",
                          "leave iteration out, or give the structure another layout", pointer));
    }
    const std::span<std::byte> place = room_.subspan(offset, element_bytes(type));
    TIDEGATE_CHECK(store_numbers(*numbers.front().numbers, type, place.data(), pointer));
    TIDEGATE_TRY(const Progression progression,
                 progression_of(*stated.iteration, type, place, pointer + "/iteration"));
    changes.push_back({.offset = offset, .progression = progression, .by_round = stated.iteration->round});
    return {};
  }

  std::span<std::byte> room_;
};

Result<ProgramArgument> filled(const TypeLayout& layout, const Value& value, const std::string& pointer) {
  ProgramArgument result = value_argument(layout);
  Filler filler(result.value);
  TIDEGATE_CHECK(filler.fill(layout, {}, 0, value, pointer));
  result.changes = std::move(filler.changes);
  return result;
}

Result<std::vector<std::byte>> parsed_bytes(const std::string& text, const std::string& pointer) {
  std::vector<std::byte> bytes;
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != ' '; });
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, value, 16).ptr != end) {
      break;
    }
    bytes.push_back(static_cast<std::byte>(value));
  }
  if (digits.empty() || bytes.size() * 2 != digits.size()) {
    return failure(ErrorCode::invalid_program, fmt::format("{} are not bytes", in_quotes(text)),
                   "give two hexadecimal digits for each byte, such as \"0000803f\"", pointer);
  }
  return bytes;
}

Result<ProgramArgument> resolve_bytes(const std::string& text, const Parameter& parameter,
                                      const TranslationUnit& unit, const std::string& pointer) {
  TIDEGATE_TRY(std::vector<std::byte> bytes, parsed_bytes(text, pointer + "/bytes"));
  const auto layout = opencl_c::layout_of(unit, parameter.tokens);
  if (!layout) { // the device's compiler compares the size; the largest alignment is safe
    constexpr std::uint32_t largest = 128;
    return ProgramArgument{
        .kind = ProgramArgument::Kind::value, .value = std::move(bytes), .alignment = largest};
  }
  if (bytes.size() != layout->bytes) {
    return tl::unexpected(argument_mismatch(
        fmt::format("{} given, {} has {}", plural(bytes.size(), "byte"),
                    in_quotes(opencl_c::resolved_text(unit, parameter)), layout->bytes),
        fmt::format("give {}, padding included", plural(layout->bytes, "byte")), pointer + "/bytes"));
  }
  ProgramArgument result = value_argument(*layout);
  result.value = std::move(bytes);
  return result;
}

} // namespace

Error argument_mismatch(std::string message, std::string fix, const std::string& pointer) {
  return {.code = ErrorCode::argument_mismatch,
          .message = std::move(message),
          .fix = std::move(fix),
          .pointer = pointer};
}

std::string wanted_argument(const Parameter& parameter, const TranslationUnit& unit) {
  if (takes_object(parameter)) {
    return parameter.type == "sampler_t" ? "{\"sampler\": {}}" : "{\"image\": …}";
  }
  if (parameter.is_pointer) {
    return parameter.space == AddressSpace::local ? "{\"local_bytes\": …}" : "{\"buffer\": …}";
  }
  const auto layout = opencl_c::layout_of(unit, parameter.tokens);
  if (!layout) {
    return fmt::format("{{\"bytes\": …}}: the layout of {} is not certain, {}",
                       in_quotes(opencl_c::resolved_text(unit, parameter)), layout.error());
  }
  if (layout->kind == TypeLayout::Kind::structure) {
    return "{\"struct\": {…}} or {\"bytes\": …}";
  }
  if (layout->kind == TypeLayout::Kind::enumeration) {
    return fmt::format("{{\"enum\": …}} or {{\"{}\": …}}", name(*element_type_of(layout->name)));
  }
  const auto type = *opencl_c::arithmetic_type(layout->name);
  const std::string_view element = name(*element_type_of(type.scalar));
  return type.width == 1 ? fmt::format("{{\"{}\": …}}", element)
                         : fmt::format("{{\"{}\": [… {} values …]}}", element, type.width);
}

namespace {

// A type for a parameter, in place of one that kernels cannot have (OpenCL C, 6.9); otherwise empty.
std::string_view instead_of(std::string_view type) {
  return type == "bool"                              ? "an int or a uint"
         : type == "size_t" || type == "uintptr_t"   ? "a uint or a ulong"
         : type == "ptrdiff_t" || type == "intptr_t" ? "an int or a long"
                                                     : "";
}

Result<ProgramArgument> resolve_value(const ArgumentSpec& argument, const Parameter& parameter,
                                      const TranslationUnit& unit, const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  const auto refused = [&] {
    const std::string_view instead = instead_of(parameter.type);
    return tl::unexpected(
        argument_mismatch(fmt::format("the argument is {}, the kernel's parameter is {}",
                                      stated_text(argument), in_quotes(declaration)),
                          instead.empty() || parameter.is_pointer
                              ? "give " + wanted_argument(parameter, unit)
                              : fmt::format("make the parameter {}: kernels of OpenCL C take none of type {}",
                                            instead, parameter.type),
                          pointer));
  };
  if (parameter.is_pointer) {
    return refused();
  }
  if (argument.bytes) {
    return resolve_bytes(*argument.bytes, parameter, unit, pointer);
  }
  const auto layout = opencl_c::layout_of(unit, parameter.tokens);
  if (!layout) {
    return refused();
  }
  if (argument.structure) {
    return layout->kind == TypeLayout::Kind::structure
               ? filled(*layout, *argument.structure, pointer + "/struct")
               : Result<ProgramArgument>(refused());
  }
  if (argument.enumeration) {
    const Identifier& given = *argument.enumeration;
    return layout->kind == TypeLayout::Kind::enumeration
               ? filled(*layout,
                        given.name() != nullptr ? Value{*given.name()} : Value{Number(given.number())},
                        pointer + "/enum")
               : Result<ProgramArgument>(refused());
  }
  // Numbers must have the parameter's own type. An enumeration is int or uint, whichever the program states.
  const StatedNumbers stated = stated_numbers(argument).front();
  const auto type = opencl_c::arithmetic_type(layout->name);
  const bool integer = stated.type == ElementType::i32 || stated.type == ElementType::u32;
  const bool fits =
      layout->kind == TypeLayout::Kind::enumeration
          ? integer && stated.numbers->size() == 1
          : type && element_type_of(type->scalar) == stated.type && type->width == stated.numbers->size();
  if (!fits) {
    return refused();
  }
  ProgramArgument result = value_argument(*layout);
  TIDEGATE_CHECK(store_numbers(*stated.numbers, stated.type, result.value.data(), pointer));
  if (argument.iteration) {
    TIDEGATE_TRY(const Progression progression,
                 progression_of(*argument.iteration, stated.type, result.value, pointer + "/iteration"));
    result.changes = {{.progression = progression, .by_round = argument.iteration->round}};
  }
  return result;
}

// Returns the element type that the kernel expects if it differs by more than its sign: "double"; else
// nothing.
Result<std::string> other_type(const ProgramBuffer& buffer, const Parameter& parameter,
                               const std::string& declaration, const std::string& pointer) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  if (!type) { // structures and void accept any elements
    return std::string();
  }
  const ElementType wanted = *element_type_of(type->scalar);
  const std::size_t width = element_bytes(wanted);
  const bool same_width = width == element_bytes(buffer.type);
  if (same_width && is_float(wanted) == is_float(buffer.type)) {
    return std::string();
  }
  if (buffer.bytes % width != 0) {
    return tl::unexpected(argument_mismatch(
        fmt::format(
            "the buffer {} has {} of {}, {} bytes, the kernel's parameter is {} with elements of {} bytes",
            in_quotes(buffer.name), plural(buffer.count, "element"), name(buffer.type), buffer.bytes,
            in_quotes(declaration), width),
        fmt::format("give a buffer of {}, or one that holds a whole number of them", name(wanted)), pointer));
  }
  return std::string(name(wanted));
}

Result<ProgramArgument> resolve_buffer(const WaveInput& in, const ArgumentSpec& argument,
                                       const Parameter& parameter, const TranslationUnit& unit,
                                       const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  TIDEGATE_TRY(const auto found,
               find_argument_buffer(in.input, in.memory, *argument.buffer, pointer + "/buffer"));
  const ProgramBuffer& buffer = in.memory.buffers[found];
  if (!parameter.is_pointer || parameter.space == AddressSpace::local) {
    return tl::unexpected(
        argument_mismatch(fmt::format("the argument is the buffer {}, the kernel's parameter is {}",
                                      in_quotes(buffer.name), in_quotes(declaration)),
                          "give " + wanted_argument(parameter, unit), pointer));
  }
  TIDEGATE_TRY(std::string reinterpreted, other_type(buffer, parameter, declaration, pointer));
  const Access stated = argument.access.value_or(parameter.is_const ? Access::read : Access::read_write);
  if (parameter.is_const && stated != Access::read) {
    return tl::unexpected(
        argument_mismatch(fmt::format("the access is {}, the kernel's parameter is {}",
                                      access_names[static_cast<std::size_t>(stated)], in_quotes(declaration)),
                          "leave access out, or say \"read\"", pointer + "/access"));
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::buffer,
                         .buffer = found,
                         .access = stated,
                         .access_stated = argument.access.has_value(),
                         .reinterpreted = argument.reinterpret ? "" : std::move(reinterpreted),
                         .value = {}};
}

Result<ProgramArgument> resolve_null(const Parameter& parameter, const TranslationUnit& unit,
                                     const std::string& pointer) {
  if (!parameter.is_pointer || parameter.space == AddressSpace::local) {
    return tl::unexpected(
        argument_mismatch(fmt::format("the argument is a null pointer, the kernel's parameter is {}",
                                      in_quotes(opencl_c::resolved_text(unit, parameter))),
                          "give " + wanted_argument(parameter, unit), pointer));
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::null, .value = {}};
}

} // namespace

Result<ProgramArgument> resolve_argument(const WaveInput& in, const ArgumentSpec& argument,
                                         const Parameter& parameter, const TranslationUnit& unit,
                                         const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  const std::size_t values = count_values(argument);
  const std::size_t said = values + (argument.buffer ? 1U : 0U) + (argument.hits ? 1U : 0U) +
                           (argument.image ? 1U : 0U) + (argument.sampler ? 1U : 0U) +
                           (argument.local_bytes ? 1U : 0U) + (argument.null ? 1U : 0U);
  if (said != 1) {
    return failure(
        ErrorCode::invalid_program, fmt::format("an argument needs exactly one value, this one has {}", said),
        fmt::format("for {} give {}", in_quotes(declaration), wanted_argument(parameter, unit)), pointer);
  }
  if (argument.iteration && !states_one_number(argument)) {
    return failure(
        ErrorCode::invalid_program, "iteration needs an argument that is a single number",
        "leave it out, or give one number such as {\"u32\": 0}; members of a structure have their own",
        pointer + "/iteration");
  }
  if ((argument.access || argument.reinterpret) && !argument.buffer) {
    const std::string key = argument.access ? "access" : "reinterpret";
    return failure(ErrorCode::invalid_program, key + " needs a buffer", "leave it out", pointer + "/" + key);
  }
  if (argument.null) {
    return resolve_null(parameter, unit, pointer);
  }
  if (argument.image || argument.sampler) {
    return resolve_object(in, argument, parameter, unit, pointer);
  }
  if (argument.buffer) {
    return resolve_buffer(in, argument, parameter, unit, pointer);
  }
  if (argument.hits) {
    TIDEGATE_TRY(const std::uint32_t list, find_hits(in.input, in.memory, *argument.hits, pointer + "/hits"));
    TIDEGATE_CHECK(check_hits_parameter(in.memory.buffers[list], parameter, unit, pointer));
    return ProgramArgument{
        .kind = ProgramArgument::Kind::buffer, .buffer = list, .access = Access::read_write, .value = {}};
  }
  if (values != 0) {
    return resolve_value(argument, parameter, unit, pointer);
  }
  if (!parameter.is_pointer || parameter.space != AddressSpace::local) {
    return tl::unexpected(argument_mismatch(
        fmt::format("the argument is local memory, the kernel's parameter is {}", in_quotes(declaration)),
        "give " + wanted_argument(parameter, unit), pointer));
  }
  if (*argument.local_bytes == 0) {
    return failure(ErrorCode::out_of_range, "local memory of 0 bytes",
                   "give the bytes that a work-group needs", pointer + "/local_bytes");
  }
  return ProgramArgument{
      .kind = ProgramArgument::Kind::local, .local_bytes = *argument.local_bytes, .value = {}};
}

} // namespace tidegate::engine
