// Waves that run a kernel of the user over an NDRange: the range, and each argument against its parameter. Each form of
// argument has a function that compares it with the parameter.
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {

bool takes_object(const opencl_c::Parameter& parameter) {
  return !parameter.is_pointer && (parameter.type == "sampler_t" || opencl_c::is_image_type(parameter.type));
}

std::optional<ElementType> other_element(const opencl_c::Parameter& parameter, const ProgramBuffer& buffer) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  const auto wanted = type ? element_type_of(type->scalar) : std::nullopt;
  const bool same = !wanted || (element_bytes(*wanted) == element_bytes(buffer.type) &&
                                is_float(*wanted) == is_float(buffer.type));
  return same ? std::nullopt : wanted;
}

Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer) {
  const auto& [form, number] = *spec.step;
  const bool adds = form == Progression::Form::add;
  if (type == ElementType::f16 || (is_float(type) && !adds)) {
    return invalid_program(adds ? "a half cannot change from iteration to iteration"
                                : "floats can only be changed by add",
                           "give a buffer that a wave changes", pointer);
  }
  std::vector<std::byte> by(element_bytes(type));
  constexpr std::array<std::string_view, 3> places{"/add", "/multiply", "/divide"};
  const std::string place = fmt::format("{}{}", pointer, places[static_cast<std::size_t>(form)]);
  TIDEGATE_CHECK(at_place(place, store_number(number, type, by.data())));
  Progression result = constant_progression(type, first);
  result.form = form;
  result.by = constant_progression(type, by).first;
  const auto negative = [type](std::uint64_t bits) { return is_signed_integer(type) && bits >> 63U != 0; };
  if (form == Progression::Form::divide && (result.by < 2 || negative(result.by) || negative(result.first))) {
    return invalid_program("only numbers from 0 on are divided, by 2 or more",
                           "give a buffer that a wave changes", place);
  }
  return result;
}

namespace {

using opencl_c::AddressSpace;
using opencl_c::MemberLayout;
using opencl_c::Parameter;
using opencl_c::TranslationUnit;
using opencl_c::TypeLayout;

std::string_view scalar_name(ElementType type) {
  return scalar_names[static_cast<std::size_t>(type)];
}

// Writes values into the bytes of a type, member by member.
struct Filler {
  std::span<std::byte> room;
  std::vector<Change> changes = {}; // of members

  Result<void> fill(const TypeLayout& type, std::span<const std::uint64_t> dimensions, std::uint64_t offset,
                    const Value& value, const std::string& pointer) {
    if (!dimensions.empty()) {
      const std::uint64_t stride =
          std::accumulate(dimensions.begin() + 1, dimensions.end(), type.bytes, std::multiplies());
      return list(dimensions.front(), value, pointer,
                  [&](std::size_t i, const Value& item, const std::string& place) {
                    return fill(type, dimensions.subspan(1), offset + i * stride, item, place);
                  });
    }
    if (type.kind == TypeLayout::Kind::structure) {
      return structure(type, offset, value, pointer);
    }
    if (type.kind == TypeLayout::Kind::enumeration) {
      return enumerator(type, offset, value, pointer);
    }
    const auto arithmetic = *opencl_c::arithmetic_type(type.name);
    const ElementType element = *element_type_of(arithmetic.scalar);
    return arithmetic.width == 1
               ? number(element, offset, value, pointer)
               : list(arithmetic.width, value, pointer,
                      [&](std::size_t i, const Value& item, const std::string& place) {
                        return number(element, offset + i * element_bytes(element), item, place);
                      });
  }

  // Arrays and vectors take an array of values, each for `part`.
  static Result<void> list(std::uint64_t size, const Value& value, const std::string& pointer,
                           const auto& part) {
    const auto* const items = std::get_if<Value::List>(&value.is);
    if (items == nullptr || items->size() != size) {
      return argument_mismatch(fmt::format("an array of {} is needed", plural(size, "value")),
                               fmt::format("give {}", plural(size, "value")), pointer);
    }
    Result<void> filled;
    for (std::size_t i = 0; i < items->size() && filled; ++i) {
      filled = part(i, (*items)[i], fmt::format("{}/{}", pointer, i));
    }
    return filled;
  }

  Result<void> structure(const TypeLayout& type, std::uint64_t offset, const Value& value,
                         const std::string& pointer) {
    std::vector<std::string_view> names;
    std::ranges::transform(type.members, std::back_inserter(names), &MemberLayout::name);
    const std::string fix = fmt::format("give each member by its name: {}", fmt::join(names, ", "));
    const auto* const given = std::get_if<Value::Object>(&value.is);
    if (given == nullptr) {
      return argument_mismatch(fmt::format("the value of {} is not an object", in_quotes(type.name)), fix,
                               pointer);
    }
    for (const auto& [name, member] : *given) {
      if (std::ranges::find(names, name) == names.end()) {
        return failure(ErrorCode::unknown_name,
                       fmt::format("{} has no member {}", in_quotes(type.name), in_quotes(name)), fix,
                       pointer + "/" + pointer_token(name));
      }
    }
    for (const MemberLayout& member : type.members) {
      const auto found = std::ranges::find(*given, member.name, &Value::Member::first);
      if (found == given->end()) {
        return argument_mismatch(
            fmt::format("the member {} of {} has no value", in_quotes(member.name), in_quotes(type.name)),
            fix, pointer);
      }
      TIDEGATE_CHECK(fill(member.type, member.dimensions, offset + member.offset, found->second,
                          pointer + "/" + pointer_token(member.name)));
    }
    return {};
  }

  Result<void> enumerator(const TypeLayout& type, std::uint64_t offset, const Value& value,
                          const std::string& pointer) {
    const auto* const name = std::get_if<std::string>(&value.is);
    if (name == nullptr) {
      return number(*element_type_of(type.name), offset, value, pointer);
    }
    std::vector<std::string_view> names;
    for (const auto& [known, number] : type.enumerators) {
      if (known == *name) {
        const Number value_of_it = number < 0 ? Number(number) : Number(static_cast<std::uint64_t>(number));
        return put({*element_type_of(type.name), {value_of_it}}, {}, offset, pointer);
      }
      names.push_back(known);
    }
    return failure(ErrorCode::unknown_name, fmt::format("there is no enumerator {}", in_quotes(*name)),
                   fmt::format("give one of {}, or a number", one_of(names)), pointer);
  }

  // A number that changes with the iteration is stated as if it were an argument.
  Result<void> number(ElementType type, std::uint64_t offset, const Value& value,
                      const std::string& pointer) {
    if (const auto* const stated = std::get_if<Number>(&value.is)) {
      return put({type, {*stated}}, {}, offset, pointer);
    }
    TIDEGATE_TRY(const ArgumentSpec stated, documents::argument_of(value, pointer));
    if (!stated.numbers || stated.numbers->numbers.size() != 1 || stated.numbers->type != type ||
        !stated.iteration || std::get<Value::Object>(value.is).size() != 2) {
      return argument_mismatch(
          fmt::format("a member that changes takes one {} and its iteration", scalar_name(type)),
          fmt::format("give {{\"{}\": 0, \"iteration\": {{…}}}}", name(type)), pointer);
    }
    if (offset % element_bytes(type) != 0) {
      return invalid_program("a member of a packed structure that is not aligned cannot change",
                             "leave iteration out, or give the structure another layout", pointer);
    }
    return put(*stated.numbers, stated.iteration, offset, pointer);
  }

  // Stores numbers consecutively, each with the size of its type; a single one may change with the iteration.
  Result<void> put(const TypedNumbers& stated, const std::optional<IterationSpec>& iteration,
                   std::uint64_t offset, const std::string& pointer) {
    std::byte* at = room.data() + offset;
    for (const Number& number : stated.numbers) {
      TIDEGATE_CHECK(at_place(pointer, store_number(number, stated.type, at)));
      at += element_bytes(stated.type);
    }
    if (iteration) {
      TIDEGATE_TRY(const Progression progression,
                   progression_of(*iteration, stated.type, room.subspan(offset), pointer + "/iteration"));
      changes.push_back({.offset = offset, .progression = progression, .by_round = iteration->round});
    }
    return {};
  }
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
                       in_quotes(opencl_c::text_of(unit, parameter.tokens)), layout.error());
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
    return in_quotes(opencl_c::text_of(unit, parameter.tokens));
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
                         .access = static_cast<Access>(access), // in the same order
                         .value = {}};
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
    return fmt::format("{}{}", scalar_name(stated->type), width == 1 ? "" : std::to_string(width));
  }
  return argument.structure ? "a structure" : argument.enumeration ? "an enumerator" : "a value";
}

Result<ProgramArgument> take_value(const Pairing& pair) {
  const auto& [in, argument, parameter, unit, pointer] = pair;
  if (argument.bytes && !parameter.is_pointer) {
    return take_bytes(pair);
  }
  using Kind = TypeLayout::Kind;
  const auto& stated = argument.numbers;
  const auto layout =
      parameter.is_pointer ? tl::make_unexpected(std::string()) : opencl_c::layout_of(unit, parameter);
  const auto type =
      layout && layout->kind == Kind::arithmetic ? opencl_c::arithmetic_type(layout->name) : std::nullopt;
  ProgramArgument result{.kind = ProgramArgument::Kind::value, .value = {}};
  if (layout) {
    result.value.resize(layout->bytes);
    result.alignment = static_cast<std::uint32_t>(layout->alignment);
  }
  Filler filler{result.value};
  if (argument.structure && layout && layout->kind == Kind::structure) {
    TIDEGATE_CHECK(filler.fill(*layout, {}, 0, *argument.structure, pointer + "/struct"));
  } else if (argument.enumeration && layout && layout->kind == Kind::enumeration) {
    TIDEGATE_CHECK(filler.fill(*layout, {}, 0, *argument.enumeration, pointer + "/enum"));
  } else if (stated && layout &&
             (layout->kind == Kind::enumeration // of which the program states whether it is int or uint
                  ? (stated->type == ElementType::i32 || stated->type == ElementType::u32) &&
                        stated->numbers.size() == 1
                  : type && element_type_of(type->scalar) == stated->type &&
                        type->width == stated->numbers.size())) {
    TIDEGATE_CHECK(filler.put(*stated, argument.iteration, 0, pointer));
  } else {
    const std::string_view instead = parameter.is_pointer ? "" : instead_of(parameter.type);
    return pair.refuse(value_text(argument),
                       instead.empty()
                           ? ""
                           : fmt::format("make the parameter {}: kernels of OpenCL C take none of type {}",
                                         instead, parameter.type));
  }
  result.changes = std::move(filler.changes);
  return result;
}

Result<ProgramArgument> take_buffer(const Pairing& pair) {
  const auto& [in, argument, parameter, unit, pointer] = pair;
  TIDEGATE_TRY(const auto found, in.memory.find(StorageKind::buffer, *argument.buffer, pointer + "/buffer"));
  const ProgramBuffer& buffer = in.memory.buffers[found];
  if (!pair.is_global_pointer()) {
    return pair.refuse("the buffer " + in_quotes(buffer.name));
  }
  const auto other = other_element(parameter, buffer);
  if (other && buffer.bytes % element_bytes(*other) != 0) {
    return argument_mismatch(
        fmt::format(
            "the buffer {} has {} of {}, {} bytes, the kernel's parameter is {} with elements of {} bytes",
            in_quotes(buffer.name), plural(buffer.count, "element"), name(buffer.type), buffer.bytes,
            pair.declaration(), element_bytes(*other)),
        fmt::format("give a buffer of {}, or one that holds a whole number of them", name(*other)), pointer);
  }
  const Access stated = argument.access.value_or(parameter.is_const ? Access::read : Access::read_write);
  if (parameter.is_const && stated != Access::read) {
    return argument_mismatch(fmt::format("the access is {}, the kernel's parameter is {}",
                                         access_names[static_cast<std::size_t>(stated)], pair.declaration()),
                             "leave access out, or say \"read\"", pointer + "/access");
  }
  ProgramArgument result = buffer_argument(found, stated, false, argument.access.has_value());
  result.reinterpreted = other && !argument.reinterpret ? name(*other) : "";
  return result;
}

// Errors: argument_mismatch with both types when argument and parameter differ, or the parameter takes another type;
// out_of_range for numbers that its type cannot hold; invalid_program for a sampler that OpenCL does not have.
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
  using Kind = ProgramArgument::Kind;
  if (argument.null) {
    return pair.is_global_pointer() ? ProgramArgument{.kind = Kind::null, .value = {}}
                                    : Result<ProgramArgument>(pair.refuse("a null pointer"));
  }
  if (argument.hits) {
    TIDEGATE_TRY(const auto list, in.memory.find(StorageKind::list, *argument.hits, pointer + "/hits"));
    TIDEGATE_CHECK(check_hits_parameter(in.memory.buffers[list], parameter, unit, pointer));
    return buffer_argument(list, Access::read_write);
  }
  if (argument.local_bytes) {
    return parameter.is_pointer && parameter.space == AddressSpace::local
               ? ProgramArgument{.kind = Kind::local, .local_bytes = *argument.local_bytes, .value = {}}
               : Result<ProgramArgument>(pair.refuse("local memory"));
  }
  if (const auto& sampler = argument.sampler) {
    if (parameter.type != "sampler_t") {
      return pair.refuse("a sampler");
    }
    if (!sampler->normalized &&
        (sampler->address == AddressMode::repeat || sampler->address == AddressMode::mirrored_repeat)) {
      return invalid_program(fmt::format("the address mode {} needs normalized coordinates",
                                         address_mode_names[static_cast<std::size_t>(sampler->address)]),
                             "say \"normalized\": true, or take another mode", pointer + "/sampler");
    }
    return ProgramArgument{.kind = Kind::sampler, .value = {}, .sampler = *sampler};
  }
  if (argument.image || argument.buffer) {
    return argument.image ? take_image(pair) : take_buffer(pair);
  }
  if (argument.numbers || argument.structure || argument.enumeration || argument.bytes) {
    return take_value(pair);
  }
  return invalid_program("the argument has no value",
                         fmt::format("for {} give {}", pair.declaration(), wanted_argument(parameter, unit)),
                         pointer);
}

// The largest divisor of `global` up to `most`, so that all work-groups have one size.
std::uint64_t largest_divisor(std::uint64_t global, std::uint32_t most) {
  for (std::uint64_t size = most; size > 1; --size) {
    if (global % size == 0) {
      return size;
    }
  }
  return 1;
}

// Returns the NDRange of a wave. The default local size is the kernel's reqd_work_group_size, otherwise in x the largest divisor of
// the global size up to the device's default, and 1 in the other dimensions. Errors: invalid_program, out_of_range, unsupported_kernel.
Result<NdRange> nd_range(const WaveInput& in, const opencl_c::Function& kernel) {
  const WaveSpec& spec = in.spec;
  NdRange range;
  const std::size_t dimensions = spec.global_size.size();
  const auto other = [dimensions](const auto& list, std::string_view key) {
    const std::size_t size = list ? list->size() : dimensions;
    return Refusal{size != dimensions, key == "local_size" ? "/local_size" : "/global_offset",
                   fmt::format("{} has {}, global_size has {}", key, plural(size, "dimension"), dimensions),
                   fmt::format("give it {}", plural(dimensions, "number"))};
  };
  const Refusal refusals[] = {{dimensions == 0 || dimensions > 3, "/global_size",
                               fmt::format("global_size has {} dimensions", dimensions),
                               "an NDRange has 1 to 3: fold others into them"},
                              other(spec.local_size, "local_size"),
                              other(spec.global_offset, "global_offset")};
  TIDEGATE_CHECK(first_of(refusals, in.pointer));
  range.dimensions = static_cast<std::uint32_t>(dimensions);
  const auto& required = kernel.required_local_size;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t tiles = 1;
  std::uint64_t items = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint64_t global = spec.global_size[d];
    const std::uint64_t local = spec.local_size ? (*spec.local_size)[d]
                                : required      ? (*required)[d]
                                : d == 0        ? largest_divisor(global, in.input.tuning.open_workgroup_size)
                                                : 1;
    range.global[d] = static_cast<std::uint32_t>(global);
    range.local[d] = static_cast<std::uint32_t>(local);
    range.groups[d] = static_cast<std::uint32_t>((global + local - 1) / local);
    range.offset[d] = spec.global_offset ? (*spec.global_offset)[d] : 0;
    tiles *= range.groups[d];
    items *= local;
    const Refusal too_large[] = {
        {items > most, "/local_size", "a work-group of more than 2^32 - 1 work-items",
         "give work-groups of the size that the device takes", ErrorCode::out_of_range},
        {tiles > std::numeric_limits<std::int32_t>::max(), "/global_size",
         "the NDRange has more than 2^31 - 1 work-groups", "cut the wave into several with global_offset",
         ErrorCode::out_of_range}};
    TIDEGATE_CHECK(first_of(too_large, in.pointer));
  }
  if (required && !std::ranges::equal(*required, range.local)) {
    return failure(
        ErrorCode::unsupported_kernel,
        fmt::format("the wave has work-groups of {}, the kernel {} requires {} (reqd_work_group_size)",
                    fmt::join(range.local, " x "), in_quotes(kernel.name), fmt::join(*required, " x ")),
        "give the local_size that the kernel requires", in.pointer + "/local_size");
  }
  return range;
}

// Adds the halo, rows and combine that the program states of a buffer.
Result<void> add_stated(ProgramArgument& argument, const ArgumentSpec& stated, const ProgramMemory& memory,
                        const NdRange& range, const std::string& pointer) {
  if (stated.halo) {
    TIDEGATE_TRY(argument.halo, stated_halo(*stated.halo, range, pointer + "/halo"));
  }
  if (!stated.rows && !stated.combine) {
    return {};
  }
  const ProgramBuffer& buffer = memory.buffers[argument.buffer];
  const std::uint64_t rows = buffer.row_bytes == 0 ? 0 : buffer.bytes / buffer.row_bytes;
  const std::uint32_t d = range.dimensions - 1;
  const Refusal refusals[] = {
      {stated.rows && rows == 0, "/rows", "rows need a buffer with a shape, whose first number counts them",
       "give the buffer a shape, or leave rows out"},
      {stated.rows && rows + range.local[d] <= range.global[d], "/rows",
       fmt::format("{} has {}, the wave {} in its outermost dimension", in_quotes(buffer.name),
                   plural(rows, "row"), plural(range.global[d], "work-item")),
       "leave rows out where work-items share a row"},
      {stated.combine && argument.access != Access::read_write, "/combine",
       "combine needs a buffer that the kernel reads and writes", "leave it out"},
      {stated.combine && (is_float(buffer.type) || element_bytes(buffer.type) < 4), "/combine",
       fmt::format("combine needs integers of 32 or 64 bits, and the buffer has {}", name(buffer.type)),
       "leave it out: ranks then run all of the wave"}};
  TIDEGATE_CHECK(first_of(refusals, pointer));
  argument.combine = stated.combine;
  if (stated.rows) {
    argument.rows = {.row_bytes = buffer.row_bytes, .reach = *stated.rows};
  }
  return {};
}

// Refuses a wave that reads an image by one argument and writes it by another, which OpenCL leaves undefined.
Result<void> check_image_uses(std::span<const ProgramArgument> arguments,
                              std::span<const ProgramBuffer> buffers, const std::string& pointer) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (i != k && arguments[i].kind == ProgramArgument::Kind::image &&
          arguments[k].kind == ProgramArgument::Kind::image && arguments[i].buffer == arguments[k].buffer &&
          arguments[i].access != Access::write && arguments[k].access != Access::read) {
        return invalid_program(
            fmt::format("argument {} reads the image {} and argument {} writes it, which OpenCL leaves "
                        "undefined",
                        i, in_quotes(buffers[arguments[i].buffer].name), k),
            "write another image, or let one parameter be read_write",
            fmt::format("{}/args/{}", pointer, std::max(i, k)));
      }
    }
  }
  return {};
}

// `range` is that of the wave, or null if it is invalid.
Result<void> add_arguments(const WaveInput& in, const opencl_c::Function& kernel, const NdRange* range,
                           ProgramWave& wave) {
  const std::vector<ArgumentSpec>& args = in.spec.args;
  const opencl_c::TranslationUnit& unit = in.ops.unit(wave.op).unit;
  for (const opencl_c::Parameter& parameter : kernel.parameters) {
    TIDEGATE_CHECK(check_parameter(in.ops.unit(wave.op), parameter));
  }
  if (args.size() != kernel.parameters.size()) {
    std::vector<std::string> signature;
    for (const opencl_c::Parameter& parameter : kernel.parameters) {
      signature.push_back(opencl_c::text_of(unit, parameter.tokens));
    }
    return argument_mismatch(fmt::format("{} given, the kernel takes {}: {}({})",
                                         plural(args.size(), "argument"), kernel.parameters.size(),
                                         kernel.name, fmt::join(signature, ", ")),
                             "give one argument for each parameter, in their order", in.pointer + "/args");
  }
  ErrorList errors;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string pointer = fmt::format("{}/args/{}", in.pointer, i);
    auto argument = resolve_argument(in, args[i], kernel.parameters[i], unit, pointer);
    if (errors.check(argument)) {
      if (range != nullptr) {
        errors.check(add_stated(*argument, args[i], in.memory, *range, pointer));
      }
      wave.arguments.push_back(std::move(*argument));
    }
  }
  TIDEGATE_CHECK(errors.result());
  return check_image_uses(wave.arguments, in.memory.buffers, in.pointer);
}

} // namespace

Result<ProgramWave> kernel_wave(const WaveInput& in) {
  const WaveSpec& spec = in.spec;
  if (in.ops.queue_ops.contains(*spec.op)) {
    return invalid_program(fmt::format("{} is a queue op, not a kernel", in_quotes(*spec.op)),
                           "give it to a queue: \"queue\": {\"ops\": …}", in.pointer + "/op");
  }
  ProgramWave wave;
  TIDEGATE_TRY(wave.op, find_name("op", *spec.op, in.ops.op_index, in.pointer + "/op"));
  const opencl_c::Function& kernel = in.ops.function(wave.op);
  const auto range = nd_range(in, kernel);
  ErrorList errors;
  errors.check(range);
  errors.check(add_arguments(in, kernel, range ? &*range : nullptr, wave));
  TIDEGATE_CHECK(errors.result());
  wave.range = *range;
  if (spec.active) {
    TIDEGATE_CHECK(add_active(in, wave));
  }
  return wave;
}

} // namespace tidegate::engine
