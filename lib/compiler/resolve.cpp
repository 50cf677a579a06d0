#include <tidegate/compiler/arguments.hpp>
#include <tidegate/compiler/buffer_data.hpp>
#include <tidegate/compiler/buffer_files.hpp>
#include <tidegate/compiler/halos.hpp>
#include <tidegate/compiler/image_files.hpp>
#include <tidegate/compiler/nd_range.hpp>
#include <tidegate/compiler/program_error.hpp>
#include <tidegate/compiler/queue_wave.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/source_unit.hpp>
#include <tidegate/compiler/transfers.hpp>
#include <tidegate/compiler/wave_groups.hpp>
#include <tidegate/core/error_list.hpp>
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

// The index of what the program names but says something wrong of.
constexpr std::uint32_t unsound = std::numeric_limits<std::uint32_t>::max();

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

// The index of what has this name; told_elsewhere() where it is unsound.
Result<std::uint32_t> find(std::string_view what, std::string_view name, const Index& known,
                           const std::string& pointer) {
  const auto found = known.find(name);
  if (found == known.end()) {
    return tl::unexpected(unknown(what, name, known, pointer));
  }
  return found->second == unsound ? Result<std::uint32_t>(tl::unexpected(told_elsewhere())) : found->second;
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

// First contents that follow a rule are checked here, those in files where the files are.
Result<void> check_contents(const BufferSpec& spec, bool sound_count, const std::string& pointer) {
  if (!spec.init) {
    return {};
  }
  TIDEGATE_CHECK(check_init(*spec.init, pointer));
  auto checked = sound_count ? check_rule(spec) : Result<void>();
  if (!checked) {
    checked.error().pointer = pointer + "/init";
  }
  return checked;
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
  ErrorList errors;
  errors.check(check_contents(image.spec, true, pointer));
  errors.check(check_image_files(image, pointer));
  TIDEGATE_CHECK(errors.result());
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

Error other_memory(const std::string& name, std::string_view what, std::string fix, std::string pointer) {
  return invalid_program(fmt::format("{} is {}", in_quotes(name), what), std::move(fix), std::move(pointer));
}

// Pipes and whatever else no wave can give.
Result<void> check_parameters(const ProgramUnit& read, const opencl_c::Function& kernel) {
  const opencl_c::TranslationUnit& unit = read.unit;
  for (const opencl_c::Parameter& parameter : kernel.parameters) {
    for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
      const std::string& word = unit.source.tokens[i].text;
      if (opencl_c::is_unsupported(word)) {
        return tl::unexpected(with_line_of(
            read.files, opencl_c::error_at(unit, i, ErrorCode::unsupported_kernel,
                                           fmt::format("{} cannot be an argument of a wave", in_quotes(word)),
                                           fmt::format("write it without: {}", opencl_c::see_unsupported))));
      }
    }
  }
  return {};
}

class Resolver {
public:
  Resolver(const WaveProgram& program, const std::string& folder, const AnswerMacros& answer, PathScope scope,
           FileCheck files, const device::Tuning& tuning, const UnreadPlaces& unread)
      : program_(program), answer_(answer), scope_(scope), files_(files), tuning_(tuning), unread_(unread) {
    resolved_.folder = folder;
    resolved_.budget_bytes = program.device_memory_budget_bytes;
    resolved_.policy = program.policy;
    resolved_.iterations =
        program.repeat.value_or(program.until ? std::numeric_limits<std::uint32_t>::max() : 1);
  }

  // Each looks at all that it can, whether or not another has found something wrong. What was not wholly read
  // is known by its name and unsound; of its parts those are looked at that do not need the others.
  Result<ResolvedProgram> run() {
    buffers();
    images();
    swaps();
    errors_.check(until());
    ops();
    waves();
    dependencies();
    if (!errors_.result()) {
      errors_.check(check_order(resolved_)); // else cycles are found when waves are grouped
      return tl::unexpected(errors_.result().error());
    }
    spread_progressions();
    derive_halos(resolved_);
    if (!program_.dependencies) {
      resolved_.derived = true;
      resolved_.dependencies = derive_dependencies(resolved_.waves, resolved_.buffers.size());
    }
    return std::move(resolved_);
  }

private:
  // told_elsewhere() where something that is said of it could not be read.
  [[nodiscard]] Result<void> wholly_read(std::string_view pointer) const {
    return unread_.spare(pointer) ? Result<void>() : Result<void>(tl::unexpected(told_elsewhere()));
  }

  // As find(), of names in a part of the document that may not have been read.
  [[nodiscard]] Result<std::uint32_t> find_in(std::string_view part, std::string_view what,
                                              std::string_view name, const Index& known,
                                              const std::string& pointer) const {
    return unread_.cover(part) ? Result<std::uint32_t>(tl::unexpected(told_elsewhere()))
                               : find(what, name, known, pointer);
  }

  void buffers() {
    for (const auto& [name, spec] : program_.buffers) {
      add_memory(name, resolved_buffer(name, spec, "/buffers/" + pointer_token(name)), buffer_index_);
    }
  }

  [[nodiscard]] Result<ProgramBuffer> resolved_buffer(const std::string& name, const BufferSpec& spec,
                                                      const std::string& pointer) const {
    ErrorList errors;
    ProgramBuffer buffer{.name = name, .spec = spec};
    if (spec.count == 0 || __builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes)) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = fmt::format("the buffer {} has {} elements", in_quotes(name),
                                         spec.count == 0 ? "no" : "too many"),
                  .fix = "give a count from 1 on that the memory holds",
                  .pointer = pointer + "/count"});
    }
    errors.check(wholly_read(pointer));
    errors.check(check_contents(spec, errors.result().has_value(), pointer));
    // What is in a file can be compared with what is sound, and nothing outside of the scope is touched.
    const FileCheck files = errors.result() ? files_ : std::min(files_, FileCheck::reachable);
    if (errors.check(files_in_scope(spec, pointer))) {
      errors.check(check_data_files(buffer, resolved_.folder, pointer, files));
    }
    TIDEGATE_CHECK(errors.result());
    return buffer;
  }

  void add_memory(const std::string& name, Result<ProgramBuffer> memory, Index& index) {
    const bool sound = errors_.check(memory);
    index[name] = sound ? static_cast<std::uint32_t>(resolved_.buffers.size()) : unsound;
    if (sound) {
      resolved_.buffers.push_back(std::move(*memory));
    }
  }

  [[nodiscard]] Result<void> files_in_scope(const BufferSpec& spec, const std::string& pointer) const {
    ErrorList errors;
    const auto check = [&](const std::optional<std::string>& file, const std::string& at) {
      auto allowed =
          file ? check_scope(beside(resolved_.folder, *file), resolved_.folder, scope_) : Result<void>();
      if (!allowed) {
        allowed.error().pointer = at;
      }
      errors.check(allowed);
    };
    check(spec.init ? spec.init->file : std::nullopt, pointer + "/init/file");
    check(spec.output, pointer + "/output");
    return errors.result();
  }

  // An image has a place among the buffers, and the bytes that a file of it has.
  void images() {
    for (const auto& [name, spec] : program_.images) {
      add_memory(name, resolved_image(name, spec, "/images/" + pointer_token(name)), image_index_);
    }
  }

  [[nodiscard]] Result<ProgramBuffer> resolved_image(const std::string& name, const ImageSpec& spec,
                                                     const std::string& pointer) const {
    if (buffer_index_.contains(name)) {
      return tl::unexpected(
          Error{.code = ErrorCode::duplicate_name,
                .message = fmt::format("a buffer and an image are both called {}", in_quotes(name)),
                .fix = "rename one of them",
                .pointer = pointer});
    }
    TIDEGATE_CHECK(wholly_read(pointer));
    TIDEGATE_TRY(ProgramBuffer image, resolve_image(name, spec, pointer));
    TIDEGATE_CHECK(files_in_scope(image.spec, pointer));
    TIDEGATE_CHECK(check_data_files(image, resolved_.folder, pointer, files_));
    return image;
  }

  Result<std::uint32_t> image(const std::string& name, const std::string& pointer) const {
    if (!image_index_.contains(name) && buffer_index_.contains(name) && !unread_.cover("/images")) {
      return tl::unexpected(other_memory(name, "a buffer, and no image",
                                         "give the name of an image, or let the kernel take a pointer",
                                         pointer));
    }
    return find_in("/images", "image", name, image_index_, pointer);
  }

  // What a name in `swap` means: a buffer, or where there is an image of that name, the image.
  Result<std::uint32_t> swapped(const std::string& name, const std::string& pointer) const {
    return image_index_.contains(name) ? image(name, pointer) : buffer(name, pointer, "");
  }

  // `instead` is what to do where the name is that of an image.
  Result<std::uint32_t> buffer(const std::string& name, const std::string& pointer,
                               const std::string& instead) const {
    if (!buffer_index_.contains(name) && image_index_.contains(name) && !unread_.cover("/buffers")) {
      return tl::unexpected(other_memory(name, "an image, and no buffer", instead, pointer));
    }
    return find_in("/buffers", "buffer", name, buffer_index_, pointer);
  }

  Result<std::uint32_t> argument_buffer(const std::string& name, const std::string& pointer) const {
    return buffer(name, pointer,
                  fmt::format("for a parameter of an image type give {{\"image\": {}}}", in_quotes(name)));
  }

  void swaps() {
    for (std::size_t i = 0; i < program_.swap.size(); ++i) {
      errors_.check(swap(program_.swap[i], fmt::format("/swap/{}", i)));
    }
  }

  Result<void> swap(const std::array<std::string, 2>& names, const std::string& pointer) {
    ErrorList errors;
    const auto a = swapped(names[0], pointer + "/0");
    const auto b = swapped(names[1], pointer + "/1");
    errors.check(a);
    errors.check(b);
    TIDEGATE_CHECK(errors.result());
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
    return {};
  }

  Result<void> until() {
    if (!program_.until) {
      return {};
    }
    TIDEGATE_TRY(const std::uint32_t found,
                 buffer(program_.until->buffer, "/until/buffer",
                        "let a kernel write what ends the repetition into a buffer"));
    const ElementType type = resolved_.buffers[found].spec.type;
    ResolvedUntil until{.buffer = found, .value = std::vector<std::byte>(element_bytes(type))};
    if (auto stored = store_number(program_.until->equals, type, until.value.data()); !stored) {
      stored.error().pointer = "/until/equals";
      return tl::unexpected(std::move(stored.error()));
    }
    resolved_.until = std::move(until);
    return {};
  }

  void ops() {
    for (const auto& [name, spec] : program_.ops) {
      if (spec.queue) {
        add_queue_op(name, spec);
        continue;
      }
      errors_.check(no_queue_op(spec, "/ops/" + pointer_token(name)));
      auto made = op(name, spec);
      const bool sound = errors_.check(made);
      op_index_[name] = sound ? static_cast<std::uint32_t>(resolved_.ops.size()) : unsound;
      if (sound) {
        resolved_.ops.push_back(std::move(*made));
      }
    }
  }

  void add_queue_op(const std::string& name, const OpSpec& spec) {
    const std::string pointer = "/ops/" + pointer_token(name);
    auto made = wholly_read(pointer).and_then(
        [&] { return resolve_queue_op(name, spec, resolved_.folder, answer_, scope_, pointer); });
    errors_.check(made);
    op_index_[name] = unsound;
    queue_ops_.emplace(name, made ? std::optional(std::move(*made)) : std::nullopt);
  }

  [[nodiscard]] Result<void> no_queue_op(const OpSpec& spec, const std::string& pointer) const {
    if ((!spec.pure && !spec.priority) || !unread_.spare(pointer)) {
      return {};
    }
    const std::string key = spec.pure ? "pure" : "priority";
    return tl::unexpected(invalid_program(key + " is said of an op that is no queue op",
                                          "leave it out, or say \"queue\": true", pointer + "/" + key));
  }

  Result<ProgramOp> op(const std::string& name, const OpSpec& spec) {
    const std::string pointer = "/ops/" + pointer_token(name);
    TIDEGATE_CHECK(wholly_read(pointer + "/source"));
    TIDEGATE_CHECK(wholly_read(pointer + "/options"));
    TIDEGATE_TRY(const std::uint32_t unit, this->unit(spec, pointer));
    TIDEGATE_CHECK(wholly_read(pointer));
    const std::string kernel = spec.kernel.value_or(name);
    const auto& functions = resolved_.units[unit].unit.functions;
    Index kernels;
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].is_kernel && functions[i].body) {
        kernels[functions[i].name] = i;
      }
    }
    const auto found = kernels.find(kernel);
    if (found == kernels.end()) {
      if (const opencl_c::Function* const function = resolved_.units[unit].unit.definition(kernel)) {
        return tl::unexpected(no_kernel(resolved_.units[unit], *function));
      }
      Error error = unknown("kernel", kernel, kernels, spec.kernel ? pointer + "/kernel" : pointer);
      error.message += fmt::format(" in {}", spec.source);
      return tl::unexpected(std::move(error));
    }
    return ProgramOp{.name = name, .unit = unit, .function = found->second};
  }

  // The source with these options, read once.
  Result<std::uint32_t> unit(const OpSpec& spec, const std::string& pointer) {
    const std::string key = spec.source + '\n' + spec.options;
    if (unit_index_.contains(key)) {
      return find("source", key, unit_index_, pointer);
    }
    auto unit = read_unit(spec, resolved_.folder, answer_, scope_, pointer);
    unit_index_[key] = unit ? static_cast<std::uint32_t>(resolved_.units.size()) : unsound;
    if (!unit) {
      return tl::unexpected(std::move(unit.error()));
    }
    resolved_.units.push_back(std::move(*unit));
    return unit_index_[key];
  }

  void waves() {
    if (program_.waves.empty()) {
      errors_.add(invalid_program("the program has no waves", "add one: an op over an NDRange", "/waves"));
    } else if (std::ranges::none_of(program_.waves,
                                    [](const WaveSpec& wave) { return wave.phase == WavePhase::each; })) {
      errors_.add(invalid_program("every wave runs before or after the repetition, and nothing in it",
                                  "leave phase out", "/waves"));
    }
    for (std::size_t i = 0; i < program_.waves.size(); ++i) {
      const WaveSpec& spec = program_.waves[i];
      auto made = wave(spec, fmt::format("/waves/{}", i));
      sound_waves_.push_back(errors_.check(made));
      some_name_is_unread_ |= !unread_.empty() && unread_.cover(fmt::format("/waves/{}/name", i));
      const auto op = op_index_.find(spec.op.value_or("")); // what the wave is called by
      resolved_.waves.push_back(made ? std::move(*made)
                                     : ProgramWave{.op = op == op_index_.end() ? unsound : op->second});
      resolved_.waves.back().name = spec.name.value_or("");
      resolved_.waves.back().phase = spec.phase;
    }
  }

  Result<ProgramWave> wave(const WaveSpec& spec, const std::string& pointer) {
    ErrorList errors;
    Result<ProgramWave> wave = one_wave(spec, pointer);
    errors.check(wave);
    errors.check(wholly_read(pointer));
    errors.check(name_wave(spec, pointer));
    std::uint32_t rules = 0;
    for (std::size_t i = 0; i < spec.rules.size(); ++i) {
      const bool exists = spec.rules[i] < std::numeric_limits<std::uint32_t>::digits;
      if (!exists) {
        errors.add({.code = ErrorCode::out_of_range,
                    .message = fmt::format("there is no source rule {}", spec.rules[i]),
                    .fix = "rules are numbered from 0 to 31",
                    .pointer = fmt::format("{}/rules/{}", pointer, i)});
      }
      rules |= exists ? std::uint32_t{1} << spec.rules[i] : 0;
    }
    TIDEGATE_CHECK(errors.result());
    wave->rules = rules;
    wave->bytes = spec.bytes ? *spec.bytes : envelope(*wave);
    return wave;
  }

  Result<ProgramWave> one_wave(const WaveSpec& spec, const std::string& pointer) {
    const int said = int{spec.op.has_value()} + int{spec.fill.has_value()} + int{spec.copy.has_value()} +
                     int{spec.queue.has_value()};
    if (said == 0 && !unread_.spare(pointer)) { // all that can be said without knowing which
      const auto names = argument_names(spec, pointer);
      return tl::unexpected(names ? told_elsewhere() : names.error());
    }
    if (said != 1) {
      return tl::unexpected(invalid_program(
          fmt::format("a wave is one thing, and this says {} of op, fill, copy and queue", said),
          "give one of them", pointer));
    }
    return spec.op      ? op_wave(spec, pointer)
           : spec.queue ? queue_wave(spec, pointer)
                        : transfer_wave(spec, pointer);
  }

  Result<void> name_wave(const WaveSpec& spec, const std::string& pointer) {
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
    return {};
  }

  Result<ProgramWave> op_wave(const WaveSpec& spec, const std::string& pointer) const {
    ErrorList errors;
    if (queue_ops_.contains(*spec.op)) {
      return tl::unexpected(
          invalid_program(fmt::format("{} is a queue op, and no kernel", in_quotes(*spec.op)),
                          "give its items: \"queue\": {\"items\": [...]}", pointer + "/op"));
    }
    const auto op = find_in("/ops", "op", *spec.op, op_index_, pointer + "/op");
    if (!errors.check(op)) {
      errors.check(argument_names(spec, pointer)); // all that can be said without a kernel
      return tl::unexpected(errors.result().error());
    }
    ProgramWave wave{.op = *op};
    const opencl_c::Function& kernel = resolved_.function(wave.op);
    const auto range = sizes_read(pointer).and_then(
        [&] { return nd_range(spec, kernel, pointer, tuning_.open_workgroup_size); });
    errors.check(range);
    errors.check(arguments(spec, kernel, pointer, range ? &*range : nullptr, wave));
    TIDEGATE_CHECK(errors.result());
    wave.range = *range;
    return wave;
  }

  [[nodiscard]] Result<void> sizes_read(const std::string& pointer) const {
    for (const std::string_view key : {"/global_size", "/local_size", "/global_offset"}) {
      TIDEGATE_CHECK(wholly_read(fmt::format("{}{}", pointer, key)));
    }
    return {};
  }

  // Whether there is what the arguments name.
  [[nodiscard]] Result<void> argument_names(const WaveSpec& spec, const std::string& pointer) const {
    ErrorList errors;
    for (std::size_t i = 0; i < spec.args.size(); ++i) {
      if (spec.args[i].buffer) {
        errors.check(argument_buffer(*spec.args[i].buffer, fmt::format("{}/args/{}/buffer", pointer, i)));
      }
      if (spec.args[i].image) {
        errors.check(image(*spec.args[i].image, fmt::format("{}/args/{}/image", pointer, i)));
      }
    }
    return errors.result();
  }

  // The items' handles are places among the program's ops and buffers, as it has them.
  Result<ProgramWave> queue_wave(const WaveSpec& spec, const std::string& pointer) {
    TIDEGATE_CHECK(no_range(spec, "a wave with a queue", pointer));
    for (const std::string& part : {pointer, std::string("/ops"), std::string("/buffers")}) {
      TIDEGATE_CHECK(wholly_read(part));
    }
    std::vector<QueueOpHandle> ops;
    for (const auto& [name, op] : program_.ops) {
      const auto found = queue_ops_.find(name);
      if (found != queue_ops_.end() && !found->second) {
        return tl::unexpected(told_elsewhere());
      }
      ops.push_back({.name = name, .op = found == queue_ops_.end() ? nullptr : &*found->second});
    }
    std::vector<ProgramBuffer> buffers;
    std::vector<std::uint32_t> indices;
    for (const auto& [name, buffer] : program_.buffers) {
      TIDEGATE_TRY(const std::uint32_t index, find("buffer", name, buffer_index_, pointer));
      buffers.push_back(resolved_.buffers[index]);
      indices.push_back(index);
    }
    const std::string title = spec.name.value_or(fmt::format("wave {}", resolved_.waves.size()));
    TIDEGATE_TRY(QueueWave made, resolve_queue(*spec.queue, title, resolved_.folder, ops, buffers,
                                               resolved_.policy.priority_age_threshold, tuning_, answer_,
                                               scope_, pointer + "/queue"));
    ProgramWave wave{.op = static_cast<std::uint32_t>(resolved_.ops.size()), .range = made.range};
    for (std::size_t i = 0; i < made.own_buffers.size(); ++i) {
      wave.arguments.push_back({.kind = ProgramArgument::Kind::buffer,
                                .buffer = static_cast<std::uint32_t>(resolved_.buffers.size()),
                                .access = made.own_accesses[i],
                                .access_stated = true,
                                .value = {}});
      resolved_.buffers.push_back(std::move(made.own_buffers[i]));
    }
    made.queue.state_buffer = wave.arguments[queue_state_index].buffer;
    for (ProgramArgument& argument : made.arguments) {
      argument.buffer = indices[argument.buffer];
      wave.arguments.push_back(std::move(argument));
    }
    for (const std::string_view kernel : queue_kernels) {
      const auto& functions = made.unit.unit.functions;
      const auto found = std::ranges::find(functions, kernel, &opencl_c::Function::name);
      resolved_.ops.push_back({.name = made.op_name,
                               .unit = static_cast<std::uint32_t>(resolved_.units.size()),
                               .function = static_cast<std::uint32_t>(found - functions.begin())});
    }
    resolved_.units.push_back(std::move(made.unit));
    wave.queue = std::make_shared<const ProgramQueue>(std::move(made.queue));
    return wave;
  }

  Result<ProgramWave> transfer_wave(const WaveSpec& spec, const std::string& pointer) {
    const auto find = [this](const std::string& name, const std::string& at) {
      return buffer(
          name, at,
          fmt::format("give the image an init, or write it in a kernel: {}", opencl_c::see_unsupported));
    };
    auto wave = unread_.spare(pointer) ? resolve_transfer(spec, resolved_.buffers, find, pointer)
                                       : transferred_names(spec, find, pointer);
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

  // Whether there is what a wave names that is not wholly read.
  static Result<ProgramWave> transferred_names(const WaveSpec& spec, const FindBuffer& find,
                                               const std::string& pointer) {
    ErrorList errors;
    if (spec.fill) {
      errors.check(find(spec.fill->buffer, pointer + "/fill/buffer"));
    }
    if (spec.copy) {
      errors.check(find(spec.copy->from, pointer + "/copy/from"));
      errors.check(find(spec.copy->to, pointer + "/copy/to"));
    }
    errors.add(told_elsewhere());
    return tl::unexpected(errors.result().error());
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

  // The range is that of the wave, where it is sound.
  Result<void> arguments(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         const NdRange* range, ProgramWave& wave) const {
    const opencl_c::TranslationUnit& unit = resolved_.units[resolved_.ops[wave.op].unit].unit;
    TIDEGATE_CHECK(check_parameters(resolved_.units[resolved_.ops[wave.op].unit], kernel));
    ErrorList errors;
    if (spec.args.size() != kernel.parameters.size()) {
      std::string signature;
      for (const opencl_c::Parameter& parameter : kernel.parameters) {
        signature += (signature.empty() ? "" : ", ") + opencl_c::resolved_text(unit, parameter);
      }
      errors.add({.code = ErrorCode::argument_mismatch,
                  .message = fmt::format("{} given, the kernel takes {}: {}({})",
                                         plural(spec.args.size(), "argument"), kernel.parameters.size(),
                                         kernel.name, signature),
                  .fix = "give one argument for each parameter, in their order",
                  .pointer = pointer + "/args"});
      errors.check(argument_names(spec, pointer));
      return errors.result();
    }
    const auto find_image = [this](const std::string& name, const std::string& at) {
      return image(name, at);
    };
    const auto find = [this](const std::string& name, const std::string& at) {
      return argument_buffer(name, at);
    };
    for (std::size_t i = 0; i < spec.args.size(); ++i) {
      const opencl_c::Parameter& parameter = kernel.parameters[i];
      auto argument = resolve_argument(spec.args[i], parameter, unit, resolved_.buffers, find, find_image,
                                       fmt::format("{}/args/{}", pointer, i));
      if (spec.args[i].halo && argument && range) {
        errors.check(
            add_halo(*argument, *spec.args[i].halo, *range, fmt::format("{}/args/{}/halo", pointer, i)));
      }
      if (errors.check(argument)) {
        wave.arguments.push_back(std::move(*argument));
      }
    }
    TIDEGATE_CHECK(errors.result());
    TIDEGATE_CHECK(wholly_read(pointer + "/args"));
    return check_image_uses(wave.arguments, resolved_.buffers, pointer);
  }

  static Result<void> add_halo(ProgramArgument& argument, const std::vector<Number>& halo,
                               const NdRange& range, const std::string& pointer) {
    if (argument.kind != ProgramArgument::Kind::buffer) {
      return tl::unexpected(
          invalid_program("a halo is said of something that is no buffer", "leave it out", pointer));
    }
    TIDEGATE_TRY(argument.halo, stated_halo(halo, range, pointer));
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
      auto found = find("wave", *wave.name(), wave_index_, pointer);
      if (!found && some_name_is_unread_) {
        return tl::unexpected(told_elsewhere());
      }
      if (!found) {
        found.error().code = ErrorCode::invalid_wave; // as where it is counted
        found.error().fix = wave_index_.empty() ? "no wave has a name: give an index" : found.error().fix;
      }
      return found;
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

  void dependencies() {
    if (!program_.dependencies || resolved_.waves.empty() || unread_.cover("/waves")) {
      return;
    }
    for (std::size_t i = 0; i < program_.dependencies->size(); ++i) {
      errors_.check(dependency((*program_.dependencies)[i], i));
    }
  }

  Result<void> dependency(const ProgramDependency& dependency, std::size_t place) {
    const std::string pointer = fmt::format("/dependencies/{}", place);
    ErrorList errors;
    const auto before = wave_of(dependency.before, pointer + "/before");
    const auto after = wave_of(dependency.after, pointer + "/after");
    errors.check(before);
    errors.check(after);
    TIDEGATE_CHECK(errors.result());
    if (*before == *after) {
      return tl::unexpected(
          Error{.code = ErrorCode::self_dependency,
                .message = fmt::format("{} depends on itself", resolved_.wave_text(*before)),
                .fix = "remove the dependency",
                .pointer = pointer,
                .wave = *before});
    }
    if (dependency.tile_local && sound_waves_[*before] && sound_waves_[*after] &&
        resolved_.waves[*before].range.tiles() != resolved_.waves[*after].range.tiles()) {
      return tl::unexpected(invalid_program(
          fmt::format("a tile_local dependency between {} with {} and {} with {}",
                      resolved_.wave_text(*before), plural(resolved_.waves[*before].range.tiles(), "tile"),
                      resolved_.wave_text(*after), plural(resolved_.waves[*after].range.tiles(), "tile")),
          "both waves need the same number of work-groups", pointer));
    }
    if (!unread_.empty()) { // it may say more, and the waves too
      TIDEGATE_CHECK(wholly_read(pointer));
      TIDEGATE_CHECK(wholly_read(fmt::format("/waves/{}", *before)));
      TIDEGATE_CHECK(wholly_read(fmt::format("/waves/{}", *after)));
    }
    if (resolved_.waves[*before].phase > resolved_.waves[*after].phase) {
      const auto phase = [this](std::uint32_t wave) {
        return wave_phase_names[static_cast<std::size_t>(resolved_.waves[wave].phase)];
      };
      return tl::unexpected(invalid_program(
          fmt::format("{} of the phase \"{}\" waits for {} of the phase \"{}\"", resolved_.wave_text(*after),
                      phase(*after), resolved_.wave_text(*before), phase(*before)),
          "remove the dependency, or give the waves other phases", pointer));
    }
    ResolvedDependency resolved{.before = *before, .after = *after, .place = place};
    if (dependency.tile_local) {
      resolved.halo.emplace();
    }
    if (dependency.halo && sound_waves_[*before] && sound_waves_[*after]) {
      if (resolved_.waves[*before].range.groups != resolved_.waves[*after].range.groups) {
        return tl::unexpected(invalid_program(
            fmt::format("a dependency with a halo between {} and {}, which have other work-groups",
                        resolved_.wave_text(*before), resolved_.wave_text(*after)),
            "both waves need as many work-groups in each dimension", pointer + "/halo"));
      }
      TIDEGATE_TRY(resolved.halo,
                   stated_halo(*dependency.halo, resolved_.waves[*after].range, pointer + "/halo"));
    }
    resolved_.dependencies.push_back(resolved);
    return {};
  }

  const WaveProgram& program_;
  const AnswerMacros& answer_;
  const PathScope scope_;
  const FileCheck files_;
  const device::Tuning& tuning_;
  const UnreadPlaces& unread_;
  ResolvedProgram resolved_;
  ErrorList errors_;
  std::vector<bool> sound_waves_;
  bool some_name_is_unread_ = false; // of the waves'
  Index buffer_index_;
  Index image_index_;
  Index op_index_;
  std::map<std::string, std::optional<QueueOp>, std::less<>> queue_ops_; // without a value, an unsound one
  Index wave_index_;
  Index unit_index_;
  std::optional<std::uint32_t> transfer_ops_; // the first of transfer_kernels
};

} // namespace

std::string ResolvedProgram::wave_text(std::uint32_t wave) const {
  const ProgramWave& what = waves[wave];
  return !what.title.empty()    ? what.title
         : !what.name.empty()   ? in_quotes(what.name)
         : what.op < ops.size() ? fmt::format("wave {} ({})", wave, shortened(ops[what.op].name))
                                : fmt::format("wave {}", wave);
}

Result<ResolvedProgram> resolve(const WaveProgram& program, const std::string& folder,
                                const AnswerMacros& answer, PathScope scope, FileCheck files,
                                const device::Tuning& tuning, const UnreadPlaces& unread) {
  return Resolver(program, folder, answer, scope, files, tuning, unread).run();
}

} // namespace tidegate::compiler
