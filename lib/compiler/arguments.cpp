#include <tidegate/compiler/argument_values.hpp>
#include <tidegate/compiler/arguments.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <utility>

namespace tidegate::compiler {
namespace {

using opencl_c::AddressSpace;
using opencl_c::Parameter;

// What the kernel takes a buffer for, where that is more than another sign: "double". Empty otherwise.
Result<std::string> other_type(const ProgramBuffer& buffer, const Parameter& parameter,
                               const std::string& declaration, const std::string& pointer) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  if (!type) { // structures and void may be made of anything
    return std::string();
  }
  const ElementType wanted = *element_type_of(type->scalar);
  const std::size_t width = element_bytes(wanted);
  const bool same_width = width == element_bytes(buffer.spec.type);
  if (same_width && is_float(wanted) == is_float(buffer.spec.type)) {
    return std::string();
  }
  if (buffer.bytes % width != 0) {
    return tl::unexpected(argument_mismatch(
        fmt::format(
            "the buffer {} has {} of {}, {} bytes, the kernel's parameter is {} with elements of {} bytes",
            in_quotes(buffer.name), plural(buffer.spec.count, "element"), name(buffer.spec.type),
            buffer.bytes, in_quotes(declaration), width),
        fmt::format("give a buffer of {}, or one that holds a whole number of them", name(wanted)), pointer));
  }
  return std::string(name(wanted));
}

Result<ProgramArgument> resolve_buffer(const ArgumentSpec& argument, const Parameter& parameter,
                                       const opencl_c::TranslationUnit& unit,
                                       std::span<const ProgramBuffer> buffers, const FindBuffer& find_buffer,
                                       const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  const auto found = find_buffer(*argument.buffer, pointer + "/buffer");
  if (!found) {
    return tl::unexpected(found.error());
  }
  const ProgramBuffer& buffer = buffers[*found];
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
                         .buffer = *found,
                         .access = stated,
                         .access_stated = argument.access.has_value(),
                         .reinterpreted = argument.reinterpret ? "" : std::move(reinterpreted),
                         .value = {}};
}

Result<ProgramArgument> resolve_null(const Parameter& parameter, const opencl_c::TranslationUnit& unit,
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

Result<ProgramArgument> resolve_argument(const ArgumentSpec& argument, const Parameter& parameter,
                                         const opencl_c::TranslationUnit& unit,
                                         std::span<const ProgramBuffer> buffers,
                                         const FindBuffer& find_buffer, const FindImage& find_image,
                                         const std::string& pointer) {
  const std::string declaration = opencl_c::resolved_text(unit, parameter);
  const std::size_t values = count_values(argument);
  const std::size_t said = values + (argument.buffer ? 1U : 0U) + (argument.image ? 1U : 0U) +
                           (argument.sampler ? 1U : 0U) + (argument.local_bytes ? 1U : 0U) +
                           (argument.null ? 1U : 0U);
  if (said != 1) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_program,
              .message = fmt::format("an argument is one thing, and this says {}", said),
              .fix = fmt::format("for {} give {}", in_quotes(declaration), wanted_argument(parameter, unit)),
              .pointer = pointer});
  }
  if (argument.iteration && !states_one_number(argument)) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = "iteration is said of something that is no single number",
                                .fix = "leave it out, or give one number such as {\"u32\": 0}",
                                .pointer = pointer + "/iteration"});
  }
  if ((argument.access || argument.reinterpret) && !argument.buffer) {
    const std::string key = argument.access ? "access" : "reinterpret";
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = key + " is said of something that is no buffer",
                                .fix = "leave it out",
                                .pointer = pointer + "/" + key});
  }
  if (argument.null) {
    return resolve_null(parameter, unit, pointer);
  }
  if (argument.image || argument.sampler) {
    return resolve_object(argument, parameter, declaration, wanted_argument(parameter, unit), buffers,
                          find_image, pointer);
  }
  if (argument.buffer) {
    return resolve_buffer(argument, parameter, unit, buffers, find_buffer, pointer);
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
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = "local memory of 0 bytes",
                                .fix = "give the bytes that a work-group needs",
                                .pointer = pointer + "/local_bytes"});
  }
  return ProgramArgument{
      .kind = ProgramArgument::Kind::local, .local_bytes = *argument.local_bytes, .value = {}};
}

} // namespace tidegate::compiler
