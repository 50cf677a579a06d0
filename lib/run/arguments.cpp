#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/words.hpp>
#include <tidegate/run/arguments.hpp>
#include <tidegate/run/buffer_data.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tidegate::run {
namespace {

using opencl_c::AddressSpace;
using opencl_c::Parameter;

constexpr std::array<std::string_view, 11> scalar_names{"char", "uchar", "short", "ushort", "int",   "uint",
                                                        "long", "ulong", "half",  "float",  "double"};

struct StatedValue {
  ElementType type = ElementType::f32;
  const std::vector<Number>* numbers = nullptr;
};

std::vector<StatedValue> stated_values(const ArgumentSpec& argument) {
  const std::array<const std::optional<std::vector<Number>>*, element_type_names.size()> all{
      &argument.i8,  &argument.u8,  &argument.i16, &argument.u16, &argument.i32, &argument.u32,
      &argument.i64, &argument.u64, &argument.f16, &argument.f32, &argument.f64};
  std::vector<StatedValue> stated;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (*all[i]) {
      stated.push_back({.type = static_cast<ElementType>(i), .numbers = &**all[i]});
    }
  }
  return stated;
}

std::string scalar_name(ElementType type, std::size_t width) {
  return fmt::format("{}{}", scalar_names[static_cast<std::size_t>(type)],
                     width == 1 ? "" : std::to_string(width));
}

Error mismatch(std::string message, std::string fix, const std::string& pointer) {
  return {.code = ErrorCode::argument_mismatch,
          .message = std::move(message),
          .fix = std::move(fix),
          .pointer = pointer};
}

// What the program would have to say for this parameter.
std::string wanted(const Parameter& parameter) {
  if (parameter.is_pointer) {
    return parameter.space == AddressSpace::local ? "{\"local_bytes\": …}" : "{\"buffer\": …}";
  }
  const auto type = opencl_c::arithmetic_type(parameter.type);
  const auto element = type ? element_type_of(type->scalar) : std::nullopt;
  if (!element) {
    return "a kernel with other parameters: values of this type cannot be given";
  }
  return type->width == 1 ? fmt::format("{{\"{}\": …}}", name(*element))
                          : fmt::format("{{\"{}\": [… {} values …]}}", name(*element), type->width);
}

// A number for an enumeration may have a sign or not: C leaves it to the compiler.
bool takes(const Parameter& parameter, std::string_view scalar, ElementType given) {
  const auto element = element_type_of(scalar);
  const auto is_integer = [](ElementType type) { return type < ElementType::f16; };
  return element == given || (parameter.is_enumeration && element && is_integer(given) &&
                              element_bytes(given) == element_bytes(*element));
}

Result<ProgramArgument> resolve_value(const StatedValue& stated, const Parameter& parameter,
                                      const std::string& declaration, const std::string& pointer) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  const bool fits = !parameter.is_pointer && type && takes(parameter, type->scalar, stated.type) &&
                    type->width == stated.numbers->size();
  if (!fits) {
    return tl::unexpected(
        mismatch(fmt::format("the argument is {}, the kernel's parameter is {}",
                             scalar_name(stated.type, stated.numbers->size()), in_quotes(declaration)),
                 "give " + wanted(parameter), pointer));
  }
  const std::size_t size = element_bytes(stated.type);
  ProgramArgument result{.kind = ProgramArgument::Kind::value};
  result.value.resize(size * (type->width == 3 ? 4 : type->width));
  for (std::size_t i = 0; i < stated.numbers->size(); ++i) {
    if (auto stored = store_number((*stated.numbers)[i], stated.type, result.value.data() + i * size);
        !stored) {
      stored.error().pointer = pointer;
      return tl::unexpected(std::move(stored.error()));
    }
  }
  return result;
}

Result<ProgramArgument> resolve_buffer(const ArgumentSpec& argument, const Parameter& parameter,
                                       const std::string& declaration, std::span<const ProgramBuffer> buffers,
                                       const FindBuffer& find_buffer, const std::string& pointer) {
  const auto found = find_buffer(*argument.buffer, pointer + "/buffer");
  if (!found) {
    return tl::unexpected(found.error());
  }
  const ProgramBuffer& buffer = buffers[*found];
  if (!parameter.is_pointer || parameter.space == AddressSpace::local) {
    return tl::unexpected(mismatch(fmt::format("the argument is the buffer {}, the kernel's parameter is {}",
                                               in_quotes(buffer.name), in_quotes(declaration)),
                                   "give " + wanted(parameter), pointer));
  }
  // Of arithmetic types the scalar must agree; structures and void may be made of anything.
  const auto type = opencl_c::arithmetic_type(parameter.type);
  if (type && !takes(parameter, type->scalar, buffer.spec.type)) {
    return tl::unexpected(mismatch(
        fmt::format("the buffer {} has elements of type {}, the kernel's parameter is {}",
                    in_quotes(buffer.name), name(buffer.spec.type), in_quotes(declaration)),
        fmt::format("make it a buffer of {}, or give another one", name(*element_type_of(type->scalar))),
        pointer));
  }
  const Access stated = argument.access.value_or(parameter.is_const ? Access::read : Access::read_write);
  if (parameter.is_const && stated != Access::read) {
    return tl::unexpected(
        mismatch(fmt::format("the access is {}, the kernel's parameter is {}",
                             access_names[static_cast<std::size_t>(stated)], in_quotes(declaration)),
                 "leave access out, or say \"read\"", pointer + "/access"));
  }
  return ProgramArgument{.kind = ProgramArgument::Kind::buffer,
                         .buffer = *found,
                         .access = stated,
                         .access_stated = argument.access.has_value(),
                         .value = {}};
}

} // namespace

std::optional<ElementType> element_type_of(std::string_view scalar) {
  const auto found = std::ranges::find(scalar_names, scalar);
  if (found == scalar_names.end()) {
    return {};
  }
  return static_cast<ElementType>(found - scalar_names.begin());
}

Result<ProgramArgument> resolve_argument(const ArgumentSpec& argument, const Parameter& parameter,
                                         const std::string& declaration,
                                         std::span<const ProgramBuffer> buffers,
                                         const FindBuffer& find_buffer, const std::string& pointer) {
  const std::vector<StatedValue> values = stated_values(argument);
  const std::size_t said = values.size() + (argument.buffer ? 1U : 0U) + (argument.local_bytes ? 1U : 0U);
  if (said != 1) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_program,
              .message = fmt::format("an argument is one thing, and this says {}", said),
              .fix = fmt::format("for {} give {}", in_quotes(declaration), wanted(parameter)),
              .pointer = pointer});
  }
  if (argument.access && !argument.buffer) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = "access is said of something that is no buffer",
                                .fix = "leave it out",
                                .pointer = pointer + "/access"});
  }
  if (argument.buffer) {
    return resolve_buffer(argument, parameter, declaration, buffers, find_buffer, pointer);
  }
  if (!values.empty()) {
    return resolve_value(values.front(), parameter, declaration, pointer);
  }
  if (!parameter.is_pointer || parameter.space != AddressSpace::local) {
    return tl::unexpected(mismatch(
        fmt::format("the argument is local memory, the kernel's parameter is {}", in_quotes(declaration)),
        "give " + wanted(parameter), pointer));
  }
  if (*argument.local_bytes == 0) {
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = "local memory of 0 bytes",
                                .fix = "give the bytes that a work-group needs",
                                .pointer = pointer + "/local_bytes"});
  }
  return ProgramArgument{
      .kind = ProgramArgument::Kind::local, .local_bytes = *argument.local_bytes, .value = {}};
}

} // namespace tidegate::run
