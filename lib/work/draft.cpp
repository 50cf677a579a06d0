// Guesses sizes, arguments and buffers for kernels; the rule is in draft.hpp.
#include "work/draft.hpp"

#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {

namespace {

using opencl_c::AddressSpace;
using opencl_c::Parameter;
using opencl_c::TranslationUnit;
using opencl_c::TypeLayout;

// A kernel for the draft.
struct DraftKernel {
  const ProgramUnit& source;
  const opencl_c::Function& function;
  const opencl_c::Needs& needs = source.unit.facts->needs(function.name);
  const TranslationUnit& unit = source.unit;
  // Work-items in each dimension, and the value of counts.
  const std::uint64_t extent = needs.dimensions == 3 ? 16 : 64;
};

constexpr std::uint64_t elements = 4096; // of every buffer: one kernel's output may be another's indices

// True for an integer whose name is that of a count.
bool is_count(const Parameter& parameter) {
  constexpr std::string_view counts =
      " n m size count len length width height depth rows cols columns total limit stride pitch batch nx ny nz w h "
      "points items elements entries dim ";
  const auto type = element_type_of(parameter.type);
  const std::string_view name = parameter.name;
  return !parameter.is_pointer && parameter.decl->type->record == nullptr && type && !is_float(*type) &&
         (counts.find(fmt::format(" {} ", name)) != std::string_view::npos || name.starts_with("num_") ||
          name.starts_with("n_") || name.ends_with("_count") || name.ends_with("_size") ||
          name.ends_with("_len"));
}

// A work-group size; nothing if any will do.
std::optional<std::vector<std::uint64_t>> local_size_of(const DraftKernel& kernel) {
  const std::size_t dimensions = kernel.needs.dimensions;
  if (const auto& required = kernel.function.required_local_size) {
    return std::vector(required->begin(), required->begin() + static_cast<std::ptrdiff_t>(dimensions));
  }
  constexpr std::array<std::uint64_t, 3> sizes{64, 16, 4};
  return kernel.needs.groups ? std::optional(std::vector(dimensions, sizes[dimensions - 1])) : std::nullopt;
}

// The elements that a pointer points to.
struct Pointee {
  ElementType type = ElementType::u8;
  std::uint64_t elements = 1;
  std::string assumed; // explanation where no element type fits

  [[nodiscard]] std::uint64_t bytes() const { return elements * element_bytes(type); }
};

Pointee pointee(const Parameter& parameter, const TranslationUnit& unit) {
  constexpr std::string_view atomic = "atomic_"; // an int for atomic_int
  const std::string_view type = parameter.type;
  const auto arithmetic = opencl_c::arithmetic_type(type);
  const auto element = element_type_of(arithmetic                 ? arithmetic->scalar
                                       : type.starts_with(atomic) ? type.substr(atomic.size())
                                                                  : "");
  if (element) {
    const std::uint64_t width = arithmetic ? arithmetic->width : 1;
    return {.type = *element, .elements = width == 3 ? 4 : width, .assumed = {}};
  }
  constexpr std::uint64_t enough = 64; // bytes, for a type without a certain layout
  const auto layout = opencl_c::layout_of_pointee(unit, parameter);
  Pointee found{.elements = layout ? layout->bytes : enough, .assumed = {}};
  found.assumed = fmt::format("u8 for {}, {} bytes each", type, found.elements);
  found.assumed += layout || type == "void" ? "" : " at a guess";
  return found;
}

// Integers count up from 0, so that they are valid indices; floats are random.
BufferSpec draft_buffer(const Pointee& of) {
  BufferInit init;
  if (!of.assumed.empty()) {
    init.fill = Number(std::uint64_t{0});
  } else if (is_float(of.type)) {
    init.random = Random{.seed = 1};
  } else if (of.elements == 1 && element_bytes(of.type) > 1) {
    init.iota = Iota{};
  } else {
    init.random = Random{.seed = 1, .low = Number(std::uint64_t{0}), .high = Number(std::uint64_t{63})};
  }
  return {.type = of.type,
          .count = elements * of.elements,
          .init = std::move(init),
          .output = {},
          .note = fmt::format("placeholder: count, init{}{}", of.assumed.empty() ? "" : "; ", of.assumed)};
}

HitsSpec draft_list(const Pointee& of) {
  return {.type = of.type,
          .width = static_cast<std::uint32_t>(of.elements),
          .on_overflow = HitOverflow::grow,
          .sorted = true,
          .note = of.assumed.empty() ? std::nullopt : std::optional("placeholder: " + of.assumed)};
}

Value zero_of(const TypeLayout& type, std::span<const std::uint64_t> dimensions = {}) {
  if (!dimensions.empty()) {
    return Value{Value::List(dimensions.front(), zero_of(type, dimensions.subspan(1)))};
  }
  if (type.kind == TypeLayout::Kind::structure) {
    Value::Object members;
    for (const opencl_c::MemberLayout& member : type.members) {
      members.push_back({member.name, zero_of(member.type, member.dimensions)});
    }
    return Value{std::move(members)};
  }
  if (type.kind == TypeLayout::Kind::enumeration) {
    return Value{type.enumerators.front().first};
  }
  const auto arithmetic = opencl_c::arithmetic_type(type.name);
  const Value zero{Number(std::uint64_t{0})};
  return arithmetic && arithmetic->width > 1 ? Value{Value::List(arithmetic->width, zero)} : zero;
}

// A count is the extent, another number 1; structures are zeros.
ArgumentSpec draft_value(const DraftKernel& kernel, const Parameter& parameter) {
  ArgumentSpec argument{.note = parameter.name + ": placeholder"};
  const auto layout = opencl_c::layout_of(kernel.unit, parameter);
  if (!layout) {
    argument.bytes = std::string(32, '0');
    argument.note = fmt::format("{}: give as many bytes as it has ({})", parameter.name, layout.error());
  } else if (layout->kind != TypeLayout::Kind::arithmetic) {
    (layout->kind == TypeLayout::Kind::structure ? argument.structure : argument.enumeration) =
        zero_of(*layout);
  } else {
    const auto type = *opencl_c::arithmetic_type(layout->name);
    const bool counts = is_count(parameter);
    argument.numbers = {*element_type_of(type.scalar),
                        std::vector<Number>(type.width, Number(counts ? kernel.extent : 1))};
    *argument.note += counts ? ", the extent of the range" : "";
  }
  return argument;
}

// An image in a format that the kernel's body can read.
ImageSpec draft_image(const Parameter& parameter, const DraftKernel& kernel) {
  const std::string_view type = parameter.type;
  const auto calls = [&](std::string_view ending) {
    return std::ranges::any_of(kernel.needs.special,
                               [ending](std::string_view name) { return name.ends_with(ending); });
  };
  const std::size_t dimensions = type.starts_with("image1d") ? 1 : type.starts_with("image3d") ? 3 : 2;
  ImageSpec image{.size = std::vector<std::uint64_t>(dimensions, kernel.extent)};
  const std::string_view format = type.find("depth") != std::string_view::npos ? "depth_float32"
                                  : calls("imageui")                           ? "rgba_uint8"
                                  : calls("imagei")                            ? "rgba_sint32"
                                                                               : "rgba_unorm8";
  const auto* const row = std::ranges::find(image_format_names, format);
  image.format = static_cast<ImageFormat>(row - image_format_names.begin());
  image.layers =
      type.find("array") != std::string_view::npos ? std::optional<std::uint64_t>(4) : std::nullopt;
  image.texel_buffer = type.find("buffer") != std::string_view::npos;
  image.init = BufferInit{.random = Random{.seed = 1}};
  image.note = "placeholder: format, size, init";
  return image;
}

class Drafter {
public:
  Drafter(const DraftRequest& request, const AnswerMacros& answer) : request_(request), answer_(answer) {}

  Result<WaveProgram> run() {
    TIDEGATE_CHECK(read());
    ErrorList errors;
    for (const ProgramUnit& unit : units_) {
      for (const opencl_c::Function& function : unit.unit.functions) {
        if (function.is_kernel && function.body) {
          errors.check(add_wave({unit, function}));
        }
      }
    }
    TIDEGATE_CHECK(errors.result());
    if (program_.waves.empty()) {
      return no_kernels();
    }
    program_.note = "a draft: every note names placeholder values";
    return std::move(program_);
  }

private:
  Result<void> read() {
    ErrorList errors;
    for (const std::string& source : request_.sources) {
      // TIDEGATE_HIT becomes a call, also if the source has a definition for other compilers.
      const std::string options = fmt::format("-DTIDEGATE_HIT={} {}", hit_call, request_.options);
      auto unit = read_unit({.source = source, .kernel = {}, .options = options}, request_.folder, answer_,
                            PathScope::anywhere, "");
      if (!unit) {
        unit.error().pointer.reset(); // no program exists yet that it could point into
        if (unit.error().code == ErrorCode::cannot_read && !unit.error().line) {
          unit.error().source = path_in(request_.folder, source);
          unit.error().fix = "name a file of OpenCL C";
        }
      }
      if (errors.check(unit)) {
        units_.push_back(std::move(*unit));
      }
    }
    return errors.result();
  }

  [[nodiscard]] tl::unexpected<Error> no_kernels() const {
    for (const ProgramUnit& unit : units_) {
      for (const opencl_c::Function& each : unit.unit.functions) {
        if (each.body && each.result == "void") { // as kernels do
          return no_kernel(unit, each);
        }
      }
    }
    return failure(ErrorCode::unknown_name,
                   fmt::format("there is no kernel in {}", fmt::join(request_.sources, ", ")),
                   "name an OpenCL C file with a function that begins with kernel void");
  }

  Result<void> add_wave(const DraftKernel& kernel) {
    const std::string& function = kernel.function.name;
    const std::string op = unique_name(function, op_names_);
    const std::size_t source = static_cast<std::size_t>(&kernel.source - units_.data());
    program_.ops.emplace_back(op, OpSpec{.source = request_.sources[source],
                                         .kernel = op == function ? std::nullopt : std::optional(function),
                                         .options = request_.options});
    WaveSpec wave{.op = op};
    // A kernel that never asks where it is does the same in every work-item.
    const std::uint64_t extent = kernel.needs.item || kernel.needs.whole_group ? kernel.extent : 1;
    wave.local_size = local_size_of(kernel);
    std::uint64_t group_items = 1;
    for (std::size_t d = 0; d < kernel.needs.dimensions; ++d) {
      const std::uint64_t local = wave.local_size ? (*wave.local_size)[d] : 1;
      wave.global_size.push_back((extent + local - 1) / local * local);
      group_items *= local;
    }
    wave.note = wave.local_size && !kernel.function.required_local_size
                    ? "placeholder: global_size, local_size"
                    : "placeholder: global_size";
    for (const Parameter& parameter : kernel.function.parameters) {
      TIDEGATE_CHECK(check_parameter(kernel.source, parameter));
      wave.args.push_back(draft_argument(kernel, parameter, group_items));
    }
    program_.waves.push_back(std::move(wave));
    return {};
  }

  ArgumentSpec draft_argument(const DraftKernel& kernel, const Parameter& parameter,
                              std::uint64_t group_items) {
    ArgumentSpec argument;
    if (parameter.type == "sampler_t" && !parameter.is_pointer) {
      argument.sampler = SamplerSpec{};
      argument.note = parameter.name + ": placeholder";
    } else if (takes_object(parameter)) {
      argument.image = memory_for(program_.images, parameter, parameter.type,
                                  parameter.image_access != opencl_c::ImageAccess::read_only,
                                  [&] { return draft_image(parameter, kernel); });
    } else if (!parameter.is_pointer) {
      argument = draft_value(kernel, parameter);
    } else if (const Pointee of = pointee(parameter, kernel.unit); parameter.space == AddressSpace::local) {
      argument.local_bytes = std::max(group_items, kernel.extent) * of.bytes();
      argument.note = parameter.name + ": placeholder";
    } else if (appends_to(kernel, parameter)) {
      argument.hits =
          memory_for(program_.hits, parameter, parameter.type, true, [&] { return draft_list(of); });
    } else { // another file may declare another type of that name
      argument.buffer =
          memory_for(program_.buffers, parameter, fmt::format("{} {}", parameter.type, of.bytes()),
                     !parameter.is_const, [&] { return draft_buffer(of); });
    }
    return argument;
  }

  static std::string unique_name(const std::string& name, std::set<std::string>& taken) {
    std::string unique = name.empty() ? "unnamed" : name;
    for (std::size_t i = 2; !taken.insert(unique).second; ++i) {
      unique = fmt::format("{}_{}", name, i);
    }
    return unique;
  }

  // Returns the name of the buffer, image or list for parameters of this name and type; `make` makes a new one.
  template <class Spec>
  std::string memory_for(std::vector<std::pair<std::string, Spec>>& specs, const Parameter& parameter,
                         std::string type, bool written, auto make) {
    const auto [found, is_new] = known_.try_emplace({&specs, parameter.name, std::move(type)}, specs.size());
    if (is_new) {
      specs.emplace_back(unique_name(parameter.name, memory_names_), make());
    }
    auto& [name, spec] = specs[found->second];
    if (written) {
      spec.output = name + ".npy";
    }
    return name;
  }

  static bool appends_to(const DraftKernel& kernel, const Parameter& parameter) {
    return std::ranges::any_of(
        opencl_c::calls_of(kernel.unit, {hit_call}), [&](const opencl_c::NamedCall& call) {
          const auto list = call.by == &kernel.function && !call.arguments.empty()
                                ? opencl_c::names_in(kernel.unit, *call.arguments[0])
                                : std::vector<std::pair<std::size_t, std::string_view>>();
          return list.size() == 1 && list[0].second == parameter.name;
        });
  }

  static constexpr std::string_view hit_call = "tidegate_hit";

  const DraftRequest& request_;
  const AnswerMacros& answer_;
  std::vector<ProgramUnit> units_;
  WaveProgram program_;
  std::set<std::string> op_names_;
  std::set<std::string> memory_names_;
  // Indices by list of the program, name and type.
  std::map<std::tuple<const void*, std::string, std::string>, std::size_t> known_;
};

} // namespace

Result<WaveProgram> draft_program(const DraftRequest& request, const AnswerMacros& answer) {
  return Drafter(request, answer).run();
}

} // namespace tidegate::engine
