// Waves that run a kernel of the user over an NDRange: the range, and each argument against its parameter.
#include "opencl_c/words.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using namespace std::string_view_literals;

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
  const std::string& pointer = in.pointer;
  NdRange range;
  const std::size_t dimensions = spec.global_size.size();
  if (dimensions == 0 || dimensions > range.global.size()) {
    return invalid_program(
        dimensions == 0 ? "global_size is empty" : fmt::format("global_size has {} dimensions", dimensions),
        dimensions == 0 ? "give 1 to 3 sizes" : "an NDRange has 1 to 3: fold the others into them",
        pointer + "/global_size");
  }
  for (const auto& [list, key] :
       {std::pair(&spec.local_size, "local_size"), std::pair(&spec.global_offset, "global_offset")}) {
    if (*list && (*list)->size() != dimensions) {
      return invalid_program(
          fmt::format("{} has {}, global_size has {}", key, plural((*list)->size(), "dimension"), dimensions),
          fmt::format("give it {}", plural(dimensions, "number")), pointer + "/" + key);
    }
  }
  range.dimensions = static_cast<std::uint32_t>(dimensions);
  std::uint64_t tiles = 1;
  std::uint64_t items = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint64_t global = spec.global_size[d];
    const std::uint64_t local = spec.local_size              ? (*spec.local_size)[d]
                                : kernel.required_local_size ? (*kernel.required_local_size)[d]
                                : d == 0 ? largest_divisor(global, in.input.tuning.open_workgroup_size)
                                         : 1;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    for (const auto& [size, key] : {std::pair(global, "global_size"), std::pair(local, "local_size")}) {
      if (size == 0 || size > most) {
        return failure(ErrorCode::out_of_range,
                       fmt::format("{}[{}] is {}{}", key, d, size, size == 0 ? "" : ", more than 2^32 - 1"),
                       size == 0                ? "give a size from 1 on"
                       : key == "global_size"sv ? "cut the wave into several with global_offset"
                                                : "give work-groups of the size that the device takes",
                       fmt::format("{}/{}", pointer, key));
      }
    }
    range.global[d] = static_cast<std::uint32_t>(global);
    range.local[d] = static_cast<std::uint32_t>(local);
    range.groups[d] = static_cast<std::uint32_t>((global + local - 1) / local);
    range.offset[d] = spec.global_offset ? (*spec.global_offset)[d] : 0;
    tiles *= range.groups[d];
    items *= local;
    if (items > most) {
      return failure(ErrorCode::out_of_range, "a work-group of more than 2^32 - 1 work-items",
                     "give work-groups of the size that the device takes", pointer + "/local_size");
    }
    if (tiles > std::numeric_limits<std::int32_t>::max()) {
      return failure(ErrorCode::out_of_range, "the NDRange has more than 2^31 - 1 work-groups",
                     "cut the wave into several with global_offset", pointer + "/global_size");
    }
  }
  if (kernel.required_local_size) {
    const auto& required = *kernel.required_local_size;
    if (required[0] != range.local[0] || required[1] != range.local[1] || required[2] != range.local[2]) {
      return failure(ErrorCode::unsupported_kernel,
                     fmt::format("the wave has work-groups of {} x {} x {}, the kernel {} requires "
                                 "{} x {} x {} (reqd_work_group_size)",
                                 range.local[0], range.local[1], range.local[2], in_quotes(kernel.name),
                                 required[0], required[1], required[2]),
                     "give the local_size that the kernel requires", pointer + "/local_size");
    }
  }
  return range;
}

// Checks only that the named buffers, images and lists exist.
Result<void> argument_names(const WaveInput& in) {
  ErrorList errors;
  for (std::size_t i = 0; i < in.spec.args.size(); ++i) {
    const auto check = [&](StorageKind kind, const std::optional<std::string>& name, std::string_view key) {
      if (name) {
        errors.check(in.memory.find(kind, *name, fmt::format("{}/args/{}/{}", in.pointer, i, key)));
      }
    };
    check(StorageKind::buffer, in.spec.args[i].buffer, "buffer");
    check(StorageKind::image, in.spec.args[i].image, "image");
    check(StorageKind::list, in.spec.args[i].hits, "hits");
  }
  return errors.result();
}

Result<void> add_rows(ProgramArgument& argument, std::uint64_t reach, const ProgramMemory& memory,
                      const NdRange* range, const std::string& pointer) {
  const ProgramBuffer& buffer = memory.buffers[argument.buffer];
  if (buffer.row_bytes == 0) {
    return invalid_program("rows need a buffer with a shape, whose first number counts them",
                           "give the buffer a shape, or leave rows out", pointer);
  }
  const std::uint64_t rows = buffer.bytes / buffer.row_bytes;
  const std::uint32_t d = range == nullptr ? 0 : range->dimensions - 1;
  if (range != nullptr && rows + range->local[d] <= range->global[d]) {
    return invalid_program(fmt::format("{} has {}, the wave {} in its outermost dimension",
                                       in_quotes(buffer.name), plural(rows, "row"),
                                       plural(range->global[d], "work-item")),
                           "leave rows out where work-items share a row", pointer);
  }
  argument.rows = {.row_bytes = buffer.row_bytes, .reach = reach};
  return {};
}

Result<void> add_combine(ProgramArgument& argument, Combine combine, const ProgramMemory& memory,
                         const std::string& pointer) {
  if (argument.access != Access::read_write) {
    return invalid_program("combine needs a buffer that the kernel reads and writes", "leave it out",
                           pointer);
  }
  const ElementType type = memory.buffers[argument.buffer].type;
  if (is_float(type) || element_bytes(type) < 4) {
    return invalid_program(
        fmt::format("combine needs integers of 32 or 64 bits, and the buffer has {}", name(type)),
        "leave it out: ranks then run all of the wave", pointer);
  }
  argument.combine = combine;
  return {};
}

// Refuses a wave that reads an image by one argument and writes it by another, which OpenCL leaves undefined.
Result<void> check_image_uses(std::span<const ProgramArgument> arguments,
                              std::span<const ProgramBuffer> buffers, const std::string& pointer) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const bool same = i != k && arguments[i].kind == ProgramArgument::Kind::image &&
                        arguments[k].kind == ProgramArgument::Kind::image &&
                        arguments[i].buffer == arguments[k].buffer;
      if (same && arguments[i].access != Access::write && arguments[k].access != Access::read) {
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
  const WaveSpec& spec = in.spec;
  const ProgramMemory& memory = in.memory;
  const opencl_c::TranslationUnit& unit = in.ops.unit(wave.op).unit;
  for (const opencl_c::Parameter& parameter : kernel.parameters) {
    TIDEGATE_CHECK(check_parameter(in.ops.unit(wave.op), parameter));
  }
  ErrorList errors;
  if (spec.args.size() != kernel.parameters.size()) {
    std::string signature;
    for (const opencl_c::Parameter& parameter : kernel.parameters) {
      signature += (signature.empty() ? "" : ", ") + opencl_c::resolved_text(unit, parameter);
    }
    errors.add(argument_mismatch(
        fmt::format("{} given, the kernel takes {}: {}({})", plural(spec.args.size(), "argument"),
                    kernel.parameters.size(), kernel.name, signature),
        "give one argument for each parameter, in their order", in.pointer + "/args"));
    errors.check(argument_names(in));
    return errors.result();
  }
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    const std::string pointer = fmt::format("{}/args/{}", in.pointer, i);
    auto argument = resolve_argument(in, spec.args[i], kernel.parameters[i], unit, pointer);
    const ArgumentSpec& stated = spec.args[i];
    if (stated.halo && argument && range != nullptr) {
      const auto halo = stated_halo(*stated.halo, *range, pointer + "/halo");
      errors.check(halo);
      argument->halo = halo ? std::optional(*halo) : std::nullopt;
    }
    if (stated.combine && argument) {
      errors.check(add_combine(*argument, *stated.combine, memory, pointer + "/combine"));
    }
    if (stated.rows && argument) {
      errors.check(add_rows(*argument, *stated.rows, memory, range, pointer + "/rows"));
    }
    if (errors.check(argument)) {
      wave.arguments.push_back(std::move(*argument));
    }
  }
  TIDEGATE_CHECK(errors.result());
  return check_image_uses(wave.arguments, memory.buffers, in.pointer);
}

} // namespace

Result<ProgramWave> kernel_wave(const WaveInput& in) {
  const WaveSpec& spec = in.spec;
  ErrorList errors;
  if (in.ops.queue_ops.contains(*spec.op)) {
    return invalid_program(fmt::format("{} is a queue op, not a kernel", in_quotes(*spec.op)),
                           "give it to a queue: \"queue\": {\"ops\": …}", in.pointer + "/op");
  }
  const auto op = find_name("op", *spec.op, in.ops.op_index, in.pointer + "/op");
  if (!errors.check(op)) {
    errors.check(argument_names(in)); // all that can be checked without a kernel
    return tl::unexpected(errors.result().error());
  }
  ProgramWave wave{.op = *op};
  const opencl_c::Function& kernel = in.ops.function(wave.op);
  const auto range = nd_range(in, kernel);
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
