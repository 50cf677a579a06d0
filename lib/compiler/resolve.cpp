#include <tidegate/compiler/arguments.hpp>
#include <tidegate/compiler/buffer_data.hpp>
#include <tidegate/compiler/buffer_files.hpp>
#include <tidegate/compiler/image_files.hpp>
#include <tidegate/compiler/nd_range.hpp>
#include <tidegate/compiler/program_error.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/source_unit.hpp>
#include <tidegate/compiler/transfers.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace tidegate::compiler {
namespace {

// Names with their indices, for programs that name thousands of things.
using Index = std::map<std::string, std::uint32_t, std::less<>>;

Error unknown(std::string_view what, std::string_view name, const Index& known, std::string pointer) {
  std::vector<std::string_view> names;
  for (const auto& [candidate, index] : known) {
    names.push_back(candidate);
  }
  const auto nearest = nearest_name(name, names);
  constexpr std::size_t few = 8;
  Error error{.code = ErrorCode::unknown_name,
              .message = fmt::format("there is no {} {}", what, in_quotes(name)),
              .fix = nearest               ? fmt::format("did you mean {}?", in_quotes(*nearest))
                     : names.empty()       ? fmt::format("add it: there is no {} at all", what)
                     : names.size() <= few ? fmt::format("give one of {}", one_of(names))
                                           : fmt::format("give the name of a {}", what),
              .pointer = std::move(pointer)};
  if (nearest) {
    error.nearest = *nearest;
  }
  return error;
}

Result<void> check_init(const BufferInit& init, const std::string& pointer) {
  const int said = int{init.fill.has_value()} + int{init.iota.has_value()} + int{init.random.has_value()} +
                   int{init.file.has_value()};
  if (said != 1) {
    return tl::unexpected(invalid_program(fmt::format("init says {} of fill, iota, random and file", said),
                                          "say one of them, or leave init out", pointer + "/init"));
  }
  return {};
}

Result<ProgramBuffer> resolve_image(const std::string& name, const ImageSpec& spec,
                                    const std::string& pointer) {
  TIDEGATE_TRY(const ImageShape shape, shape_of(spec, pointer));
  ProgramBuffer image{.name = name,
                      .spec = {.type = element_type(spec.format),
                               .count = elements_per_texel(spec.format),
                               .init = spec.init,
                               .output = spec.output},
                      .image = shape};
  bool overflow = false;
  for (const std::uint64_t size : {shape.width, shape.height, shape.depth, shape.layers}) {
    overflow |= __builtin_mul_overflow(image.spec.count, size, &image.spec.count);
  }
  overflow |= __builtin_mul_overflow(image.spec.count, element_bytes(image.spec.type), &image.bytes);
  if (overflow) {
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = fmt::format("the image {} has too many texels", in_quotes(name)),
                                .fix = "give a size that the memory holds",
                                .pointer = pointer + "/size"});
  }
  if (spec.init) {
    TIDEGATE_CHECK(check_init(*spec.init, pointer));
  }
  TIDEGATE_CHECK(check_image_files(image, pointer));
  return image;
}

Result<void> check_image_swap(const ProgramBuffer& first, const ProgramBuffer& second,
                              const std::string& pointer) {
  if (first.image == second.image) {
    return {};
  }
  const auto text = [](const ProgramBuffer& buffer) {
    return buffer.image ? describe(*buffer.image) : "a buffer";
  };
  return tl::unexpected(invalid_program(fmt::format("{} is {}, {} is {}", in_quotes(first.name), text(first),
                                                    in_quotes(second.name), text(second)),
                                        "swap two images of the same format and size", pointer));
}

class Resolver {
public:
  Resolver(const WaveProgram& program, const std::string& folder, const AnswerMacros& answer, PathScope scope)
      : program_(program), answer_(answer), scope_(scope) {
    resolved_.folder = folder;
    resolved_.budget_bytes = program.device_memory_budget_bytes;
    resolved_.policy = program.policy;
    resolved_.iterations =
        program.repeat.value_or(program.until ? std::numeric_limits<std::uint32_t>::max() : 1);
  }

  Result<ResolvedProgram> run() {
    using Step = Result<void> (Resolver::*)();
    for (const Step step : {&Resolver::buffers, &Resolver::images, &Resolver::swaps, &Resolver::until,
                            &Resolver::ops, &Resolver::waves, &Resolver::dependencies}) {
      if (auto done = (this->*step)(); !done) {
        return tl::unexpected(std::move(done.error()));
      }
    }
    return std::move(resolved_);
  }

private:
  Result<void> buffers() {
    for (const auto& [name, spec] : program_.buffers) {
      const std::string pointer = "/buffers/" + pointer_token(name);
      ProgramBuffer buffer{.name = name, .spec = spec};
      if (spec.count == 0 || __builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes)) {
        return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                    .message = fmt::format("the buffer {} has {} elements", in_quotes(name),
                                                           spec.count == 0 ? "no" : "too many"),
                                    .fix = "give a count from 1 on that the memory holds",
                                    .pointer = pointer + "/count"});
      }
      if (spec.init) {
        TIDEGATE_CHECK(check_init(*spec.init, pointer));
      }
      if (auto allowed = files_in_scope(spec, pointer); !allowed) {
        return allowed;
      }
      buffer_index_[name] = static_cast<std::uint32_t>(resolved_.buffers.size());
      resolved_.buffers.push_back(std::move(buffer));
    }
    return {};
  }

  [[nodiscard]] Result<void> files_in_scope(const BufferSpec& spec, const std::string& pointer) const {
    const auto check = [this](const std::optional<std::string>& file, const std::string& at) -> Result<void> {
      auto allowed =
          file ? check_scope(beside(resolved_.folder, *file), resolved_.folder, scope_) : Result<void>();
      if (!allowed) {
        allowed.error().pointer = at;
      }
      return allowed;
    };
    return check(spec.init ? spec.init->file : std::nullopt, pointer + "/init/file").and_then([&] {
      return check(spec.output, pointer + "/output");
    });
  }

  // An image has a place among the buffers, and the bytes that a file of it has.
  Result<void> images() {
    for (const auto& [name, spec] : program_.images) {
      const std::string pointer = "/images/" + pointer_token(name);
      TIDEGATE_TRY(ProgramBuffer image, resolve_image(name, spec, pointer));
      TIDEGATE_CHECK(files_in_scope(image.spec, pointer));
      if (buffer_index_.contains(name)) {
        return tl::unexpected(
            Error{.code = ErrorCode::duplicate_name,
                  .message = fmt::format("a buffer and an image are both called {}", in_quotes(name)),
                  .fix = "rename one of them",
                  .pointer = pointer});
      }
      image_index_[name] = static_cast<std::uint32_t>(resolved_.buffers.size());
      resolved_.buffers.push_back(std::move(image));
    }
    return {};
  }

  Result<std::uint32_t> image(const std::string& name, const std::string& pointer) const {
    const auto found = image_index_.find(name);
    if (found == image_index_.end()) {
      return tl::unexpected(unknown("image", name, image_index_, pointer));
    }
    return found->second;
  }

  // What a name in `swap` means: a buffer, or where there is an image of that name, the image.
  Result<std::uint32_t> swapped(const std::string& name, const std::string& pointer) const {
    return image_index_.contains(name) ? image(name, pointer) : buffer(name, pointer);
  }

  Result<std::uint32_t> buffer(const std::string& name, const std::string& pointer) const {
    const auto found = buffer_index_.find(name);
    if (found == buffer_index_.end()) {
      return tl::unexpected(unknown("buffer", name, buffer_index_, pointer));
    }
    return found->second;
  }

  Result<void> swaps() {
    for (std::size_t i = 0; i < program_.swap.size(); ++i) {
      const std::string pointer = fmt::format("/swap/{}", i);
      const auto a = swapped(program_.swap[i][0], pointer + "/0");
      const auto b = a ? swapped(program_.swap[i][1], pointer + "/1") : a;
      if (!b) {
        return tl::unexpected(b.error());
      }
      ProgramBuffer& first = resolved_.buffers[*a];
      ProgramBuffer& second = resolved_.buffers[*b];
      if (*a != *b && (first.image || second.image)) {
        TIDEGATE_CHECK(check_image_swap(first, second, pointer));
      } else if (*a == *b || first.spec.type != second.spec.type || first.spec.count != second.spec.count) {
        return tl::unexpected(invalid_program(
            *a == *b ? fmt::format("the buffer {} is swapped with itself", in_quotes(first.name))
                     : fmt::format("{} has {} of {}, {} has {} of {}", in_quotes(first.name),
                                   plural(first.spec.count, "element"), name(first.spec.type),
                                   in_quotes(second.name), plural(second.spec.count, "element"),
                                   name(second.spec.type)),
            "swap two buffers of the same type and count", pointer));
      }
      first.swapped = second.swapped = true;
      resolved_.swaps.push_back({*a, *b});
    }
    return {};
  }

  Result<void> until() {
    if (!program_.until) {
      return {};
    }
    const auto found = buffer(program_.until->buffer, "/until/buffer");
    if (!found) {
      return tl::unexpected(found.error());
    }
    const ElementType type = resolved_.buffers[*found].spec.type;
    ResolvedUntil until{.buffer = *found, .value = std::vector<std::byte>(element_bytes(type))};
    if (auto stored = store_number(program_.until->equals, type, until.value.data()); !stored) {
      stored.error().pointer = "/until/equals";
      return tl::unexpected(std::move(stored.error()));
    }
    resolved_.until = std::move(until);
    return {};
  }

  Result<void> ops() {
    for (const auto& [name, spec] : program_.ops) {
      auto added = op(name, spec);
      if (!added) {
        return added;
      }
      op_index_[name] = static_cast<std::uint32_t>(resolved_.ops.size() - 1);
    }
    return {};
  }

  Result<void> op(const std::string& name, const OpSpec& spec) {
    const std::string pointer = "/ops/" + pointer_token(name);
    const auto unit = this->unit(spec, pointer);
    if (!unit) {
      return tl::unexpected(unit.error());
    }
    const std::string kernel = spec.kernel.value_or(name);
    const auto& functions = resolved_.units[*unit].unit.functions;
    Index kernels;
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].is_kernel && functions[i].body) {
        kernels[functions[i].name] = i;
      }
    }
    const auto found = kernels.find(kernel);
    if (found == kernels.end()) {
      if (const opencl_c::Function* const function = resolved_.units[*unit].unit.definition(kernel)) {
        return tl::unexpected(with_line_of(
            resolved_.units[*unit].files,
            opencl_c::error_at(resolved_.units[*unit].unit, function->begin, ErrorCode::kernel_source,
                               fmt::format("{} is a function and no kernel", in_quotes(kernel)),
                               "write kernel in front of it")));
      }
      Error error = unknown("kernel", kernel, kernels, spec.kernel ? pointer + "/kernel" : pointer);
      error.message += fmt::format(" in {}", spec.source);
      return tl::unexpected(std::move(error));
    }
    resolved_.ops.push_back({.name = name, .unit = *unit, .function = found->second});
    return {};
  }

  // The source with these options, read once.
  Result<std::uint32_t> unit(const OpSpec& spec, const std::string& pointer) {
    const std::string key = spec.source + '\n' + spec.options;
    if (const auto found = unit_index_.find(key); found != unit_index_.end()) {
      return found->second;
    }
    auto unit = read_unit(spec, resolved_.folder, answer_, scope_, pointer);
    if (!unit) {
      return tl::unexpected(std::move(unit.error()));
    }
    resolved_.units.push_back(std::move(*unit));
    const auto index = static_cast<std::uint32_t>(resolved_.units.size() - 1);
    unit_index_[key] = index;
    return index;
  }

  Result<void> waves() {
    if (program_.waves.empty()) {
      return tl::unexpected(
          invalid_program("the program has no waves", "add one: an op over an NDRange", "/waves"));
    }
    for (std::size_t i = 0; i < program_.waves.size(); ++i) {
      auto added = wave(program_.waves[i], fmt::format("/waves/{}", i));
      if (!added) {
        return added;
      }
    }
    if (std::ranges::none_of(resolved_.waves,
                             [](const ProgramWave& wave) { return wave.phase == WavePhase::each; })) {
      return tl::unexpected(invalid_program(
          "every wave runs before or after the repetition, and nothing in it", "leave phase out", "/waves"));
    }
    spread_progressions();
    return {};
  }

  Result<void> wave(const WaveSpec& spec, const std::string& pointer) {
    const int said = int{spec.op.has_value()} + int{spec.fill.has_value()} + int{spec.copy.has_value()};
    if (said != 1) {
      return tl::unexpected(
          invalid_program(fmt::format("a wave is one thing, and this says {} of op, fill and copy", said),
                          "give one of them", pointer));
    }
    auto resolved = spec.op ? op_wave(spec, pointer) : transfer_wave(spec, pointer);
    if (!resolved) {
      return tl::unexpected(std::move(resolved.error()));
    }
    ProgramWave& wave = *resolved;
    wave.name = spec.name.value_or("");
    wave.phase = spec.phase;
    const auto index = static_cast<std::uint32_t>(resolved_.waves.size());
    if (spec.name && (spec.name->empty() || !wave_index_.emplace(*spec.name, index).second)) {
      return tl::unexpected(Error{
          .code = ErrorCode::duplicate_name,
          .message = spec.name->empty() ? fmt::format("the name of wave {} is empty", index)
                                        : fmt::format("waves {} and {} are both called {}",
                                                      wave_index_[*spec.name], index, in_quotes(*spec.name)),
          .fix = "rename one of them, or leave the name out",
          .pointer = pointer + "/name"});
    }
    for (std::size_t i = 0; i < spec.rules.size(); ++i) {
      if (spec.rules[i] >= std::numeric_limits<std::uint32_t>::digits) {
        return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                    .message = fmt::format("there is no source rule {}", spec.rules[i]),
                                    .fix = "rules are numbered from 0 to 31",
                                    .pointer = fmt::format("{}/rules/{}", pointer, i)});
      }
      wave.rules |= std::uint32_t{1} << spec.rules[i];
    }
    wave.bytes = spec.bytes ? *spec.bytes : envelope(wave);
    resolved_.waves.push_back(std::move(wave));
    return {};
  }

  Result<ProgramWave> op_wave(const WaveSpec& spec, const std::string& pointer) const {
    ProgramWave wave;
    const auto op = op_index_.find(*spec.op);
    if (op == op_index_.end()) {
      return tl::unexpected(unknown("op", *spec.op, op_index_, pointer + "/op"));
    }
    wave.op = op->second;
    const opencl_c::Function& kernel = resolved_.function(wave.op);
    auto range = nd_range(spec, kernel, pointer);
    if (!range) {
      return tl::unexpected(std::move(range.error()));
    }
    wave.range = *range;
    if (auto done = arguments(spec, kernel, pointer, wave); !done) {
      return tl::unexpected(std::move(done.error()));
    }
    return wave;
  }

  Result<ProgramWave> transfer_wave(const WaveSpec& spec, const std::string& pointer) {
    const auto find = [this](const std::string& name, const std::string& at) { return buffer(name, at); };
    auto wave = resolve_transfer(spec, resolved_.buffers, find, pointer);
    if (!wave) {
      return wave;
    }
    if (!transfer_ops_) {
      auto unit = transfer_unit();
      if (!unit) {
        return tl::unexpected(std::move(unit.error()));
      }
      transfer_ops_ = static_cast<std::uint32_t>(resolved_.ops.size());
      for (const std::string_view kernel : transfer_kernels) {
        const auto found = std::ranges::find(unit->unit.functions, kernel, &opencl_c::Function::name);
        resolved_.ops.push_back(
            {.name = std::string(kernel),
             .unit = static_cast<std::uint32_t>(resolved_.units.size()),
             .function = static_cast<std::uint32_t>(found - unit->unit.functions.begin())});
      }
      resolved_.units.push_back(std::move(*unit));
    }
    wave->op = *transfer_ops_ + (spec.copy ? 1 : 0);
    return wave;
  }

  // One wave's value changes: the other waves of its op say that theirs stay.
  void spread_progressions() {
    std::map<std::pair<std::uint32_t, std::size_t>, ElementType> changing;
    for (const ProgramWave& wave : resolved_.waves) {
      for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
        if (wave.arguments[i].progression) {
          changing[{wave.op, i}] = wave.arguments[i].progression->type;
        }
      }
    }
    for (ProgramWave& wave : resolved_.waves) {
      for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
        const auto found = changing.find({wave.op, i});
        if (found != changing.end() && !wave.arguments[i].progression) {
          wave.arguments[i].progression = constant_progression(found->second, wave.arguments[i].value);
        }
      }
    }
  }

  Result<void> arguments(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         ProgramWave& wave) const {
    const opencl_c::TranslationUnit& unit = resolved_.units[resolved_.ops[wave.op].unit].unit;
    if (spec.args.size() != kernel.parameters.size()) {
      std::string signature;
      for (const opencl_c::Parameter& parameter : kernel.parameters) {
        signature += (signature.empty() ? "" : ", ") + opencl_c::resolved_text(unit, parameter);
      }
      return tl::unexpected(Error{.code = ErrorCode::argument_mismatch,
                                  .message = fmt::format("{} given, the kernel takes {}: {}({})",
                                                         plural(spec.args.size(), "argument"),
                                                         kernel.parameters.size(), kernel.name, signature),
                                  .fix = "give one argument for each parameter, in their order",
                                  .pointer = pointer + "/args"});
    }
    const auto find_image = [this](const std::string& name, const std::string& at) {
      return image(name, at);
    };
    const auto find = [this](const std::string& name, const std::string& at) { return buffer(name, at); };
    for (std::size_t i = 0; i < spec.args.size(); ++i) {
      const opencl_c::Parameter& parameter = kernel.parameters[i];
      for (std::size_t k = parameter.tokens.begin; k < parameter.tokens.end; ++k) {
        if (opencl_c::is_unsupported(unit.source.tokens[k].text)) {
          return tl::unexpected(opencl_c::error_at(
              unit, k, ErrorCode::unsupported_kernel,
              fmt::format("{} cannot be an argument of a wave", in_quotes(unit.source.tokens[k].text)),
              "write it without: `tidegate schema wave_program --format table` ends with what cannot be "
              "run"));
        }
      }
      auto argument = resolve_argument(spec.args[i], parameter, unit, resolved_.buffers, find, find_image,
                                       fmt::format("{}/args/{}", pointer, i));
      if (!argument) {
        return tl::unexpected(std::move(argument.error()));
      }
      wave.arguments.push_back(std::move(*argument));
    }
    return {};
  }

  // A buffer that is written counts as output, one that is only read as frontier.
  [[nodiscard]] planning::Wave envelope(const ProgramWave& wave) const {
    std::map<std::uint32_t, bool> written;
    for (const ProgramArgument& argument : wave.arguments) {
      if (argument.is_memory()) {
        written[argument.buffer] |= argument.access != Access::read;
      }
    }
    planning::Wave bytes;
    for (const auto& [buffer, is_written] : written) {
      (is_written ? bytes.output_bytes : bytes.frontier_bytes) += resolved_.buffers[buffer].bytes;
    }
    return bytes;
  }

  Result<std::uint32_t> wave_of(const Identifier& wave, const std::string& pointer) const {
    if (wave.name() != nullptr) {
      const auto found = wave_index_.find(*wave.name());
      if (found == wave_index_.end()) {
        Error error = unknown("wave", *wave.name(), wave_index_, pointer);
        error.code = ErrorCode::invalid_wave; // as where it is counted
        error.fix = wave_index_.empty() ? "no wave has a name: give an index" : error.fix;
        return tl::unexpected(std::move(error));
      }
      return found->second;
    }
    if (wave.number() >= resolved_.waves.size()) {
      return tl::unexpected(
          Error{.code = ErrorCode::invalid_wave,
                .message = fmt::format("there is no wave {}", wave.number()),
                .fix = fmt::format("waves are counted from 0 to {}", resolved_.waves.size() - 1),
                .pointer = pointer,
                .wave_count = resolved_.waves.size()});
    }
    return static_cast<std::uint32_t>(wave.number());
  }

  Result<void> dependencies() {
    if (!program_.dependencies) {
      resolved_.derived = true;
      resolved_.dependencies = derive_dependencies(resolved_.waves, resolved_.buffers.size());
      return {};
    }
    for (std::size_t i = 0; i < program_.dependencies->size(); ++i) {
      const ProgramDependency& dependency = (*program_.dependencies)[i];
      const std::string pointer = fmt::format("/dependencies/{}", i);
      const auto before = wave_of(dependency.before, pointer + "/before");
      const auto after = before ? wave_of(dependency.after, pointer + "/after") : before;
      if (!after) {
        return tl::unexpected(after.error());
      }
      if (dependency.tile_local &&
          resolved_.waves[*before].range.tiles() != resolved_.waves[*after].range.tiles()) {
        return tl::unexpected(invalid_program(
            fmt::format("a tile_local dependency between {} with {} and {} with {}",
                        resolved_.wave_text(*before), plural(resolved_.waves[*before].range.tiles(), "tile"),
                        resolved_.wave_text(*after), plural(resolved_.waves[*after].range.tiles(), "tile")),
            "both waves need the same number of work-groups", pointer));
      }
      if (resolved_.waves[*before].phase > resolved_.waves[*after].phase) {
        const auto phase = [this](std::uint32_t wave) {
          return wave_phase_names[static_cast<std::size_t>(resolved_.waves[wave].phase)];
        };
        return tl::unexpected(
            invalid_program(fmt::format("{} of the phase \"{}\" waits for {} of the phase \"{}\"",
                                        resolved_.wave_text(*after), phase(*after),
                                        resolved_.wave_text(*before), phase(*before)),
                            "remove the dependency, or give the waves other phases", pointer));
      }
      resolved_.dependencies.push_back(
          {.before = *before, .after = *after, .tile_local = dependency.tile_local});
    }
    return {};
  }

  const WaveProgram& program_;
  const AnswerMacros& answer_;
  const PathScope scope_;
  ResolvedProgram resolved_;
  Index buffer_index_;
  Index image_index_;
  Index op_index_;
  Index wave_index_;
  Index unit_index_;
  std::optional<std::uint32_t> transfer_ops_; // the first of transfer_kernels
};

} // namespace

std::string ResolvedProgram::wave_text(std::uint32_t wave) const {
  const ProgramWave& what = waves[wave];
  return !what.name.empty()     ? in_quotes(what.name)
         : what.op < ops.size() ? fmt::format("wave {} ({})", wave, shortened(ops[what.op].name))
                                : fmt::format("wave {}", wave);
}

Result<ResolvedProgram> resolve(const WaveProgram& program, const std::string& folder,
                                const AnswerMacros& answer, PathScope scope) {
  return Resolver(program, folder, answer, scope).run();
}

} // namespace tidegate::compiler
