// Checks one argument of a wave against the parameter of its kernel, and resolves it. Each form of argument has a
// function that compares it with the parameter.
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {

bool takes_object(const opencl_c::Parameter& parameter) {
  return !parameter.is_pointer && (parameter.type == "sampler_t" || opencl_c::is_image_type(parameter.type));
}

Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer) {
  using Form = Progression::Form;
  constexpr std::array<std::string_view, 4> keys{"add", "multiply", "shift_left", "shift_right"};
  const auto& [form, number] = *spec.step;
  Progression result{.type = type,
                     .form = form,
                     .first = constant_progression(type, first).first,
                     .every = spec.every,
                     .cycle = spec.cycle.value_or(0),
                     .modulo = spec.modulo.value_or(0)};
  if (type == ElementType::f16 || (is_float(type) && (form != Form::add || result.modulo != 0))) {
    return invalid_program(type == ElementType::f16 ? "a half cannot change from iteration to iteration"
                                                    : "floats can only be changed by add",
                           "give a buffer that a wave changes", pointer);
  }
  const std::string place = fmt::format("{}/{}", pointer, keys[static_cast<std::size_t>(form)]);
  std::vector<std::byte> by(element_bytes(type));
  TIDEGATE_CHECK(at_place(place, store_number(number, type, by.data())));
  result.by = constant_progression(type, by).first;
  if ((form == Form::shift_left || form == Form::shift_right) && result.by > 64) {
    return failure(ErrorCode::out_of_range, "a shift by more than 64 bits, or by less than 0",
                   "give a number from 0 to 64", place);
  }
  if (form == Form::shift_left && result.modulo != 0) { // a product, so that no bit is lost before the modulo
    __extension__ typedef unsigned __int128 Wide;
    result.form = Form::multiply;
    result.by = static_cast<std::uint64_t>((Wide{1} << result.by) % result.modulo);
  }
  if (is_signed_integer(type) && result.modulo > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return failure(ErrorCode::out_of_range, "the modulo of a signed value is above 2^63 - 1",
                   "give a smaller one", pointer + "/modulo");
  }
  return result;
}

namespace {

using opencl_c::AddressSpace;
using opencl_c::MemberLayout;
using opencl_c::Parameter;
using opencl_c::TranslationUnit;
using opencl_c::TypeLayout;

ProgramArgument value_argument(const TypeLayout& layout) {
  return {.kind = ProgramArgument::Kind::value,
          .value = std::vector<std::byte>(layout.bytes),
          .alignment = static_cast<std::uint32_t>(layout.alignment)};
}

// Stores numbers consecutively, each with the size of its type.
Result<void> store_numbers(std::span<const Number> numbers, ElementType type, std::byte* at,
                           const std::string& pointer) {
  for (const Number& number : numbers) {
    TIDEGATE_CHECK(at_place(pointer, store_number(number, type, at)));
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
      return argument_mismatch(fmt::format("the value of {} is not an object", in_quotes(type.name)),
                               "give each member by its name: " + member_list(type), pointer);
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
        return argument_mismatch(
            fmt::format("the member {} of {} has no value", in_quotes(member.name), in_quotes(type.name)),
            "give all of " + member_list(type), pointer);
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
      return argument_mismatch(items == nullptr
                                   ? fmt::format("an array of {} takes an array", dimensions.front())
                                   : fmt::format("{} given for an array of {}",
                                                 plural(items->size(), "value"), dimensions.front()),
                               fmt::format("give {}", plural(dimensions.front(), "value")), pointer);
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
      return width == 1
                 ? argument_mismatch(
                       fmt::format("{} takes a number", scalar),
                       fmt::format("give one number; one that changes is {{\"{}\": 0, \"iteration\": {{…}}}}",
                                   name(type)),
                       pointer)
                 : argument_mismatch(fmt::format("{}{} takes an array of {} numbers", scalar, width, width),
                                     fmt::format("give {} numbers", width), pointer);
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
    if (!stated.numbers || stated.numbers->numbers.size() != 1 || stated.numbers->type != type ||
        std::get<Value::Object>(value.is).size() != 2) {
      return argument_mismatch(fmt::format("a member that changes takes one {} and its iteration",
                                           scalar_names[static_cast<std::size_t>(type)]),
                               fmt::format("give {{\"{}\": 0, \"iteration\": {{…}}}}", name(type)), pointer);
    }
    if (offset % element_bytes(type) != 0) {
      return invalid_program("a member of a packed structure that is not aligned cannot change",
                             "leave iteration out, or give the structure another layout", pointer);
    }
    const std::span<std::byte> place = room_.subspan(offset, element_bytes(type));
    TIDEGATE_CHECK(store_numbers(stated.numbers->numbers, type, place.data(), pointer));
    TIDEGATE_TRY(const Progression progression,
                 progression_of(*stated.iteration, type, place, pointer + "/iteration"));
    changes.push_back({.offset = offset, .progression = progression, .by_round = stated.iteration->round});
    return {};
  }

  std::span<std::byte> room_;
};

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
    return invalid_program(fmt::format("{} are not bytes", in_quotes(text)),
                           "give two hexadecimal digits for each byte, such as \"0000803f\"", pointer);
  }
  return bytes;
}

} // namespace

std::string wanted_argument(const Parameter& parameter, const TranslationUnit& unit) {
  if (takes_object(parameter)) {
    return parameter.type == "sampler_t" ? "{\"sampler\": {}}" : "{\"image\": …}";
  }
  if (parameter.is_pointer) {
    return parameter.space == AddressSpace::local ? "{\"local_bytes\": …}" : "{\"buffer\": …}";
  }
  const auto layout = opencl_c::layout_of(unit, parameter);
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

// An argument and its parameter.
struct Pairing {
  const WaveInput& in;
  const ArgumentSpec& argument;
  const Parameter& parameter;
  const TranslationUnit& unit;
  const std::string& pointer;

  [[nodiscard]] std::string declaration() const {
    return in_quotes(opencl_c::resolved_text(unit, parameter));
  }
  [[nodiscard]] bool is_global_pointer() const {
    return parameter.is_pointer && parameter.space != AddressSpace::local;
  }
  // Refuses the argument, which is `what`.
  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& what, std::string fix = {}) const {
    return argument_mismatch(
        fmt::format("the argument is {}, the kernel's parameter is {}", what, declaration()),
        fix.empty() ? "give " + wanted_argument(parameter, unit) : std::move(fix), pointer);
  }
};

Result<ProgramArgument> take_sampler(const Pairing& pair) {
  const SamplerSpec& sampler = *pair.argument.sampler;
  if (pair.parameter.type != "sampler_t") {
    return pair.refuse("a sampler");
  }
  const bool repeats =
      sampler.address == AddressMode::repeat || sampler.address == AddressMode::mirrored_repeat;
  if (repeats && !sampler.normalized) {
    return invalid_program(fmt::format("the address mode {} needs normalized coordinates",
                                       address_mode_names[static_cast<std::size_t>(sampler.address)]),
                           "say \"normalized\": true, or take another mode", pair.pointer + "/sampler");
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::sampler, .value = {}, .sampler = sampler};
}

Result<ProgramArgument> take_image(const Pairing& pair) {
  TIDEGATE_TRY(const auto found,
               pair.in.memory.find(StorageKind::image, *pair.argument.image, pair.pointer + "/image"));
  const ProgramBuffer& image = pair.in.memory.buffers[found];
  const Parameter& parameter = pair.parameter;
  if (!takes_object(parameter) || type_name(*image.image) != parameter.type) {
    return pair.refuse(
        fmt::format("the image {}, an {}", in_quotes(image.name), type_name(*image.image)),
        takes_object(parameter) && parameter.type != "sampler_t"
            ? fmt::format("give an {}: size, layers, texel_buffer and format say what an image is",
                          parameter.type)
            : "");
  }
  const auto access = parameter.image_access.value_or(opencl_c::ImageAccess::read_only);
  return ProgramArgument{.kind = ProgramArgument::Kind::image,
                         .buffer = found,
                         .access = access == opencl_c::ImageAccess::read_only    ? Access::read
                                   : access == opencl_c::ImageAccess::write_only ? Access::write
                                                                                 : Access::read_write,
                         .value = {}};
}

Result<ProgramArgument> filled(const TypeLayout& layout, const Value& value, const std::string& pointer) {
  ProgramArgument result = value_argument(layout);
  Filler filler(result.value);
  TIDEGATE_CHECK(filler.fill(layout, {}, 0, value, pointer));
  result.changes = std::move(filler.changes);
  return result;
}

Result<ProgramArgument> take_bytes(const Pairing& pair) {
  TIDEGATE_TRY(std::vector<std::byte> bytes, parsed_bytes(*pair.argument.bytes, pair.pointer + "/bytes"));
  const auto layout = opencl_c::layout_of(pair.unit, pair.parameter);
  constexpr std::uint32_t largest = 128;         // alignment that is safe
  if (layout && bytes.size() != layout->bytes) { // otherwise the device's compiler compares the size
    return argument_mismatch(
        fmt::format("{} given, {} has {}", plural(bytes.size(), "byte"), pair.declaration(), layout->bytes),
        fmt::format("give {}, padding included", plural(layout->bytes, "byte")), pair.pointer + "/bytes");
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::value,
                         .value = std::move(bytes),
                         .alignment = layout ? static_cast<std::uint32_t>(layout->alignment) : largest};
}

// Names the kind of the value for a sentence: "float4", "a structure".
std::string value_text(const ArgumentSpec& argument) {
  if (const auto& stated = argument.numbers) {
    const std::size_t width = stated->numbers.size();
    return fmt::format("{}{}", scalar_names[static_cast<std::size_t>(stated->type)],
                       width == 1 ? "" : std::to_string(width));
  }
  return argument.structure ? "a structure" : argument.enumeration ? "an enumerator" : "a value";
}

Result<ProgramArgument> take_value(const Pairing& pair) {
  const auto& [in, argument, parameter, unit, pointer] = pair;
  if (argument.bytes && !parameter.is_pointer) {
    return take_bytes(pair);
  }
  using Kind = TypeLayout::Kind;
  const auto layout = opencl_c::layout_of(unit, parameter);
  const bool by_value = layout && !parameter.is_pointer;
  if (by_value && argument.structure && layout->kind == Kind::structure) {
    return filled(*layout, *argument.structure, pointer + "/struct");
  }
  if (by_value && argument.enumeration && layout->kind == Kind::enumeration) {
    const Identifier& given = *argument.enumeration;
    return filled(*layout, given.name() != nullptr ? Value{*given.name()} : Value{Number(given.number())},
                  pointer + "/enum");
  }
  // Numbers must have the parameter's own type. An enumeration is int or uint, whichever the program states.
  const auto& stated = argument.numbers;
  const auto type = layout ? opencl_c::arithmetic_type(layout->name) : std::nullopt;
  const bool fits =
      by_value && stated &&
      (layout->kind == Kind::enumeration
           ? (stated->type == ElementType::i32 || stated->type == ElementType::u32) &&
                 stated->numbers.size() == 1
           : type && element_type_of(type->scalar) == stated->type && type->width == stated->numbers.size());
  if (!fits) {
    const std::string_view instead = parameter.is_pointer ? "" : instead_of(parameter.type);
    return pair.refuse(value_text(argument),
                       instead.empty()
                           ? ""
                           : fmt::format("make the parameter {}: kernels of OpenCL C take none of type {}",
                                         instead, parameter.type));
  }
  ProgramArgument result = value_argument(*layout);
  TIDEGATE_CHECK(store_numbers(stated->numbers, stated->type, result.value.data(), pointer));
  if (argument.iteration) {
    TIDEGATE_TRY(const Progression progression,
                 progression_of(*argument.iteration, stated->type, result.value, pointer + "/iteration"));
    result.changes = {{.progression = progression, .by_round = argument.iteration->round}};
  }
  return result;
}

// Returns the element type that the kernel expects if it differs by more than its sign: "double"; else nothing.
Result<std::string> other_type(const Pairing& pair, const ProgramBuffer& buffer) {
  const auto type = opencl_c::arithmetic_type(pair.parameter.type);
  if (!type) { // structures and void accept any elements
    return std::string();
  }
  const ElementType wanted = *element_type_of(type->scalar);
  const std::size_t width = element_bytes(wanted);
  if (width == element_bytes(buffer.type) && is_float(wanted) == is_float(buffer.type)) {
    return std::string();
  }
  if (buffer.bytes % width != 0) {
    return argument_mismatch(
        fmt::format(
            "the buffer {} has {} of {}, {} bytes, the kernel's parameter is {} with elements of {} bytes",
            in_quotes(buffer.name), plural(buffer.count, "element"), name(buffer.type), buffer.bytes,
            pair.declaration(), width),
        fmt::format("give a buffer of {}, or one that holds a whole number of them", name(wanted)),
        pair.pointer);
  }
  return std::string(name(wanted));
}

Result<ProgramArgument> take_buffer(const Pairing& pair) {
  const auto& [in, argument, parameter, unit, pointer] = pair;
  TIDEGATE_TRY(const auto found, in.memory.find(StorageKind::buffer, *argument.buffer, pointer + "/buffer"));
  const ProgramBuffer& buffer = in.memory.buffers[found];
  if (!pair.is_global_pointer()) {
    return pair.refuse("the buffer " + in_quotes(buffer.name));
  }
  TIDEGATE_TRY(std::string reinterpreted, other_type(pair, buffer));
  const Access stated = argument.access.value_or(parameter.is_const ? Access::read : Access::read_write);
  if (parameter.is_const && stated != Access::read) {
    return argument_mismatch(fmt::format("the access is {}, the kernel's parameter is {}",
                                         access_names[static_cast<std::size_t>(stated)], pair.declaration()),
                             "leave access out, or say \"read\"", pointer + "/access");
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::buffer,
                         .buffer = found,
                         .access = stated,
                         .access_stated = argument.access.has_value(),
                         .reinterpreted = argument.reinterpret ? "" : std::move(reinterpreted),
                         .value = {}};
}

Result<ProgramArgument> take_local(const Pairing& pair) {
  if (!pair.parameter.is_pointer || pair.parameter.space != AddressSpace::local) {
    return pair.refuse("local memory");
  }
  if (*pair.argument.local_bytes == 0) {
    return failure(ErrorCode::out_of_range, "local memory of 0 bytes",
                   "give the bytes that a work-group needs", pair.pointer + "/local_bytes");
  }
  return ProgramArgument{
      .kind = ProgramArgument::Kind::local, .local_bytes = *pair.argument.local_bytes, .value = {}};
}

} // namespace

Result<ProgramArgument> resolve_argument(const WaveInput& in, const ArgumentSpec& argument,
                                         const Parameter& parameter, const TranslationUnit& unit,
                                         const std::string& pointer) {
  const Pairing pair{in, argument, parameter, unit, pointer};
  if (argument.iteration && argument.numbers->numbers.size() != 1) {
    return invalid_program(
        "iteration needs an argument that is a single number",
        "leave it out, or give one number such as {\"u32\": 0}; members of a structure have their own",
        pointer + "/iteration");
  }
  if (argument.null) {
    return pair.is_global_pointer() ? ProgramArgument{.kind = ProgramArgument::Kind::null, .value = {}}
                                    : Result<ProgramArgument>(pair.refuse("a null pointer"));
  }
  if (argument.hits) {
    TIDEGATE_TRY(const std::uint32_t list,
                 in.memory.find(StorageKind::list, *argument.hits, pointer + "/hits"));
    TIDEGATE_CHECK(check_hits_parameter(in.memory.buffers[list], parameter, unit, pointer));
    return ProgramArgument{
        .kind = ProgramArgument::Kind::buffer, .buffer = list, .access = Access::read_write, .value = {}};
  }
  if (!argument.numbers && !argument.structure && !argument.enumeration && !argument.bytes &&
      !argument.buffer && !argument.image && !argument.sampler && !argument.local_bytes) {
    return invalid_program(
        "the argument has no value",
        fmt::format("for {} give {}", pair.declaration(), wanted_argument(parameter, unit)), pointer);
  }
  return argument.image         ? take_image(pair)
         : argument.sampler     ? take_sampler(pair)
         : argument.buffer      ? take_buffer(pair)
         : argument.local_bytes ? take_local(pair)
                                : take_value(pair);
}

} // namespace tidegate::engine
