// Compares images and samplers with the types and access qualifiers of parameters.
#include "work/image_arguments.hpp"

#include "opencl_c/words.hpp"
#include "work/arguments.hpp"
#include "work/program.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::engine {
namespace {

Access access_of(const opencl_c::Parameter& parameter) {
  switch (parameter.image_access.value_or(opencl_c::ImageAccess::read_only)) {
  case opencl_c::ImageAccess::read_only: return Access::read;
  case opencl_c::ImageAccess::write_only: return Access::write;
  case opencl_c::ImageAccess::read_write: break;
  }
  return Access::read_write;
}

Result<ProgramArgument> resolve_sampler(const SamplerSpec& sampler, const opencl_c::Parameter& parameter,
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

} // namespace

bool takes_object(const opencl_c::Parameter& parameter) {
  return !parameter.is_pointer && (parameter.type == "sampler_t" || opencl_c::is_image_type(parameter.type));
}

Result<ProgramArgument> resolve_object(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                       const std::string& declaration, const std::string& wanted,
                                       std::span<const ProgramBuffer> buffers, const FindImage& find_image,
                                       const std::string& pointer) {
  if (argument.sampler) {
    return resolve_sampler(*argument.sampler, parameter, declaration, wanted, pointer);
  }
  const auto found = find_image(*argument.image, pointer + "/image");
  if (!found) {
    return tl::unexpected(found.error());
  }
  const ProgramBuffer& image = buffers[*found];
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
                         .buffer = *found,
                         .access = access_of(parameter),
                         .access_stated = false,
                         .value = {}};
}

Result<void> check_image_uses(std::span<const ProgramArgument> arguments,
                              std::span<const ProgramBuffer> buffers, const std::string& pointer) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const bool same = i != k && arguments[i].kind == ProgramArgument::Kind::image &&
                        arguments[k].kind == ProgramArgument::Kind::image &&
                        arguments[i].buffer == arguments[k].buffer;
      if (same && arguments[i].access != Access::write && arguments[k].access != Access::read) {
        return tl::unexpected(invalid_program(
            fmt::format("argument {} reads the image {} and argument {} writes it, which OpenCL leaves "
                        "undefined",
                        i, in_quotes(buffers[arguments[i].buffer].name), k),
            "write another image, or let one parameter be read_write",
            fmt::format("{}/args/{}", pointer, std::max(i, k))));
      }
    }
  }
  return {};
}

} // namespace tidegate::engine
