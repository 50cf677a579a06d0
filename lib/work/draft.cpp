// Guesses sizes, arguments and buffers for kernels; the rule is in draft.hpp.
#include "work/draft.hpp"

#include "opencl_c/accesses.hpp"
#include "opencl_c/call_graph.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/arguments.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::engine {

// A kernel or queue op for the draft.
struct DraftKernel {
  std::size_t source = 0;
  const opencl_c::TranslationUnit* unit = nullptr;
  const opencl_c::Function* function = nullptr;
  opencl_c::KernelUses uses;
};

struct Sizes {
  std::uint64_t extent = 1; // work-items in each dimension, and the value of counts
  std::uint64_t items = 1;  // elements of a buffer
};

// True for an integer that looks like a count, by its uses or its name.
bool is_count(const DraftKernel& kernel, std::size_t parameter);

Sizes sizes_of(const DraftKernel& kernel);

// Work-group sizes, powers of two, that fit the kernel's local arrays; nothing if any size will do.
std::optional<std::vector<std::uint64_t>> local_size_of(const DraftKernel& kernel, std::uint64_t extent);

// Number for a scalar: the extent for counts, otherwise 1.
std::uint64_t draft_number(const DraftKernel& kernel, std::size_t index, ElementType type,
                           std::uint64_t extent);

// Value for a parameter: draft_number(), or zeros in structures.
ArgumentSpec draft_value(const DraftKernel& kernel, std::size_t index, std::uint64_t extent);

// Image for a parameter, without contents, in a format that the kernel's body can read.
ImageSpec draft_image(const opencl_c::Parameter& parameter, const DraftKernel& kernel, std::uint64_t extent);

namespace {

using opencl_c::Parameter;
using opencl_c::ParameterUse;

bool is_integer(std::string_view scalar) {
  const auto type = element_type_of(scalar);
  return type && !is_float(*type);
}

bool is_integer(const Parameter& parameter) {
  return !parameter.is_pointer && !parameter.is_enumeration && is_integer(parameter.type);
}

bool named_like_a_count(std::string_view name) {
  constexpr std::array<std::string_view, 27> names{
      "n",    "m",    "size",    "count", "len",    "length", "width",    "height",  "depth",
      "rows", "cols", "columns", "total", "limit",  "stride", "pitch",    "batch",   "nx",
      "ny",   "nz",   "w",       "h",     "points", "items",  "elements", "entries", "dim"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("num_") ||
         name.starts_with("n_") || name.ends_with("_count") || name.ends_with("_size") ||
         name.ends_with("_len");
}

std::uint64_t square_root(std::uint64_t value) {
  std::uint64_t root = 1;
  while ((root + 1) * (root + 1) <= value) {
    ++root;
  }
  return root;
}

} // namespace

bool is_count(const DraftKernel& kernel, std::size_t parameter) {
  const Parameter& declared = kernel.function->parameters[parameter];
  const ParameterUse& use = kernel.uses.parameters[parameter];
  return is_integer(declared) && (use.factor || use.bound || named_like_a_count(declared.name));
}

// An index may combine as many extents as dimensions, or one more than the kernel has integer factors.
Sizes sizes_of(const DraftKernel& kernel) {
  constexpr std::array<std::uint64_t, 4> extents{1024, 64, 16, 8};
  constexpr std::uint64_t most_items = std::uint64_t{1} << 20U;
  std::size_t factors = 0;
  for (std::size_t i = 0; i < kernel.function->parameters.size(); ++i) {
    factors += is_integer(kernel.function->parameters[i]) && kernel.uses.parameters[i].factor ? 1 : 0;
  }
  const std::size_t depth =
      std::clamp<std::size_t>(std::max<std::size_t>(kernel.uses.dimensions, factors + 1), 1, extents.size());
  Sizes sizes{.extent = extents[depth - 1]};
  for (std::size_t i = 0; i < depth; ++i) {
    sizes.items *= sizes.extent;
  }
  sizes.items = std::min(sizes.items * std::bit_ceil(std::min<std::uint64_t>(kernel.uses.largest_factor, 64)),
                         most_items);
  return sizes;
}

std::optional<std::vector<std::uint64_t>> local_size_of(const DraftKernel& kernel, std::uint64_t extent) {
  const std::size_t dimensions = kernel.uses.dimensions;
  if (const auto& required = kernel.function->required_local_size) {
    return std::vector<std::uint64_t>(required->begin(),
                                      required->begin() + static_cast<std::ptrdiff_t>(dimensions));
  }
  if (!kernel.uses.in_groups) {
    return {};
  }
  constexpr std::array<std::uint64_t, 3> largest{64, 16, 4};
  std::vector<std::uint64_t> local(dimensions, std::min(extent, largest[dimensions - 1]));
  for (const opencl_c::LocalArray& array : kernel.uses.arrays) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::uint64_t room = array.size() > 1 || dimensions == 1
                                     ? (d < array.size() ? array[array.size() - 1 - d] : local[d])
                                     : square_root(array.front());
      if (room > 1) { // a single element belongs to the group, not to work-items
        local[d] = std::min(local[d], std::bit_floor(room));
      }
    }
  }
  return local;
}

namespace {

using opencl_c::AddressSpace;
using opencl_c::Parameter;
using opencl_c::ParameterUse;
using opencl_c::TranslationUnit;

// Combined uses of one buffer by all kernels.
struct Memory {
  std::string name;
  std::string type; // OpenCL C type of the pointee
  std::uint64_t element_bytes = 1;
  std::uint64_t width = 1; // elements of a vector
  bool read = false;
  bool written = false;
  bool atomic = false;
  std::optional<ElementType> element;
  std::string assumed;              // explanation where no element type fits the pointee
  std::uint64_t least_elements = 0; // that kernels are known to need
  std::string unknown;              // why they may need others

  [[nodiscard]] std::uint64_t bytes(std::uint64_t items) const {
    return std::max(items, least_elements) * element_bytes;
  }
};

// Every device can allocate as much at once. All buffers together are one allocation.
constexpr std::uint64_t most_draft_bytes = std::uint64_t{128} << 20U;

// Const pointers are only read.
void add_use(Memory& memory, const Parameter& parameter, const ParameterUse& use) {
  memory.read |= parameter.is_const || use.read;
  memory.written |= !parameter.is_const && use.written;
  memory.atomic |= use.atomic;
}

// Integers count up from 0, so that they are valid indices; floats are random. Atomic counters and buffers
// that are only written start at zero.
BufferInit draft_contents(const Memory& memory, std::uint64_t count, std::uint64_t extent) {
  BufferInit init;
  if (!memory.element || !memory.read || memory.atomic) {
    init.fill = Number(std::uint64_t{0});
  } else if (is_float(*memory.element)) {
    init.random = Random{.seed = 1};
  } else {
    const std::size_t bits = 8 * element_bytes(*memory.element);
    const std::uint64_t most = (std::uint64_t{1} << (std::min<std::size_t>(bits, 32) - 1)) - 1;
    if (memory.width == 1 && count - 1 <= most) {
      init.iota = Iota{};
    } else {
      init.random =
          Random{.seed = 1, .low = Number(std::uint64_t{0}), .high = Number(std::min(extent, most))};
    }
  }
  return init;
}

class Drafter {
public:
  Drafter(const DraftRequest& request, const AnswerMacros& answer) : request_(request), answer_(answer) {}

  Result<Draft> run() {
    TIDEGATE_CHECK(read());
    for (const DraftKernel& kernel : kernels_) {
      use_sizes_of(kernel);
      TIDEGATE_CHECK(add_wave(kernel));
    }
    for (const DraftKernel& op : queue_ops_) {
      use_sizes_of(op);
      add_items(op);
    }
    add_buffers();
    program_.note = "a draft: every note names placeholder values";
    return Draft{.program = std::move(program_), .runs = runs_};
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
        units_.push_back(std::make_unique<ProgramUnit>(std::move(*unit)));
      }
    }
    TIDEGATE_CHECK(errors.result());
    for (std::size_t i = 0; i < units_.size(); ++i) {
      for (const opencl_c::Function& function : units_[i]->unit.functions) {
        const bool is_kernel = function.is_kernel && function.body;
        if (is_kernel) {
          errors.check(check_kernel_name(*units_[i], function));
        }
        if (is_kernel || is_meant_for_queue(units_[i]->unit, function)) {
          (is_kernel ? kernels_ : queue_ops_)
              .push_back({.source = i,
                          .unit = &units_[i]->unit,
                          .function = &function,
                          .uses = opencl_c::uses_of(units_[i]->unit, function)});
        }
      }
    }
    // A plain launch compiles the kernel's file without the definitions that queue ops need.
    for (const DraftKernel& op : queue_ops_) {
      if (std::ranges::find(kernels_, op.source, &DraftKernel::source) != kernels_.end()) {
        errors.add(with_line_of(
            units_[op.source]->files,
            opencl_c::error_at(*op.unit, op.function->begin, ErrorCode::kernel_source,
                               in_quotes(op.function->name) + " is a queue op in a file with kernels",
                               "put queue ops in a separate file")));
      }
    }
    TIDEGATE_CHECK(errors.result());
    if (kernels_.empty() && queue_ops_.empty()) {
      for (const auto& unit : units_) {
        const auto& functions = unit->unit.functions;
        const auto found = std::ranges::find_if(functions, [&](const opencl_c::Function& each) {
          return each.body && unit->unit.is(each.name_token - 1, "void"); // as kernels do, it returns nothing
        });
        if (found != functions.end()) {
          return tl::unexpected(no_kernel(*unit, *found));
        }
      }
      return failure(ErrorCode::unknown_name,
                     fmt::format("there is no kernel in {}", fmt::join(request_.sources, ", ")),
                     "name an OpenCL C file with a function that begins with kernel void, or one that "
                     "returns TIDEGATE_DONE");
    }
    return {};
  }

  void use_sizes_of(const DraftKernel& kernel) {
    sizes_ = sizes_of(kernel);
    items_ = std::max(items_, sizes_.items);
    least_extent_ = std::min(least_extent_, sizes_.extent);
  }

  // Returns the index of the op in the program.
  std::uint32_t add_op(const DraftKernel& kernel, bool queue) {
    const std::string& function = kernel.function->name;
    const std::string op = unique_name(function, op_names_);
    program_.ops.emplace_back(op, OpSpec{.source = request_.sources[kernel.source],
                                         .kernel = op == function ? std::nullopt : std::optional(function),
                                         .options = request_.options,
                                         .queue = queue});
    return static_cast<std::uint32_t>(program_.ops.size() - 1);
  }

  // Adds items for the op to the previous wave if that has the same source: a queue has only one source.
  void add_items(const DraftKernel& op) {
    if (op.source != queue_source_) {
      queue_source_ = op.source;
      program_.waves.push_back(
          {.queue = QueueSpec{.items = std::vector<QueueItemSpec>()}, .note = "placeholder: items"});
    }
    QueueSpec& queue = *program_.waves.back().queue;
    const auto handle_of = [&](std::size_t parameter) {
      const std::size_t memory =
          memory_for(op.function->parameters[parameter], op, op.uses.parameters[parameter]);
      const std::string& name = memory_[memory].name;
      memory_[memory].unknown = unknown_indices;
      const auto found = std::ranges::find(queue.buffers, name);
      const auto handle = static_cast<std::uint32_t>(found - queue.buffers.begin());
      if (found == queue.buffers.end()) {
        queue.buffers.push_back(name);
      }
      return handle;
    };
    QueueItemSpec item{.op_handle = static_cast<std::uint32_t>(queue.ops.size()),
                       .input_handle = handle_of(0),
                       .output_handle = handle_of(1)};
    queue.ops.push_back(program_.ops[add_op(op, true)].first);
    constexpr std::uint32_t items = 4; // from param 1 on: integer buffers start with 0, which some ops reject
    for (item.param = 1; item.param <= items; ++item.param) {
      program_.waves.back().queue->items->push_back(item);
    }
  }

  Result<void> add_wave(const DraftKernel& kernel) {
    WaveSpec wave{.op = program_.ops[add_op(kernel, false)].first};
    // A kernel that never asks where it is does the same in every work-item.
    const opencl_c::Needs needs = opencl_c::CallGraph(*kernel.unit).needs(kernel.function->name);
    const bool many = needs.item || needs.whole_group || !needs.sub_group_functions.empty();
    const std::uint64_t extent = many ? sizes_.extent : 1;
    wave.local_size = local_size_of(kernel, extent);
    const auto& required = kernel.function->required_local_size;
    for (std::size_t d = kernel.uses.dimensions; required && d < required->size(); ++d) {
      runs_ = runs_ && (*required)[d] == 1; // the draft has the dimensions that the kernel asks for
    }
    for (std::size_t d = 0; d < kernel.uses.dimensions; ++d) {
      const std::uint64_t local = wave.local_size ? (*wave.local_size)[d] : 1;
      wave.global_size.push_back((extent + local - 1) / local * local);
    }
    wave.note = wave.local_size && !kernel.function->required_local_size
                    ? "placeholder: global_size, local_size"
                    : "placeholder: global_size";
    std::uint64_t group_items = 1;
    for (const std::uint64_t size : wave.local_size.value_or(std::vector<std::uint64_t>())) {
      group_items *= size;
    }
    const opencl_c::LaunchReach reach =
        opencl_c::reach_of(*kernel.unit, *kernel.function, setting_of(kernel, wave));
    for (std::size_t i = 0; i < kernel.function->parameters.size(); ++i) {
      TIDEGATE_TRY(ArgumentSpec argument, draft_argument(kernel, i, group_items, reach.parameters[i]));
      wave.args.push_back(std::move(argument));
    }
    if (!reach.others_known) {
      *wave.note += "; it may use arrays or pointers out of their bounds";
      runs_ = false;
    }
    program_.waves.push_back(std::move(wave));
    return {};
  }

  [[nodiscard]] opencl_c::KernelSetting setting_of(const DraftKernel& kernel, const WaveSpec& wave) const {
    opencl_c::KernelSetting setting{.dimensions = static_cast<std::uint32_t>(wave.global_size.size()),
                                    .is_whole = true};
    std::ranges::copy(wave.global_size, setting.size.begin());
    if (wave.local_size) {
      setting.local_size.fill(1);
      std::ranges::copy(*wave.local_size, setting.local_size.begin());
    }
    for (std::size_t i = 0; i < kernel.function->parameters.size(); ++i) {
      const Parameter& parameter = kernel.function->parameters[i];
      if (is_integer(parameter)) {
        setting.values[i] = static_cast<std::int64_t>(
            draft_number(kernel, i, *element_type_of(parameter.type), sizes_.extent));
      }
    }
    return setting;
  }

  Result<ArgumentSpec> draft_argument(const DraftKernel& kernel, std::size_t index, std::uint64_t group_items,
                                      const opencl_c::Reach& reach) {
    const Parameter& parameter = kernel.function->parameters[index];
    for (std::size_t k = parameter.tokens.begin; k < parameter.tokens.end; ++k) {
      if (opencl_c::is_unsupported(kernel.unit->source.tokens[k].text)) {
        return tl::unexpected(
            with_line_of(units_[kernel.source]->files,
                         opencl_c::error_at(*kernel.unit, k, ErrorCode::unsupported_kernel,
                                            fmt::format("{} cannot be an argument of a wave",
                                                        in_quotes(kernel.unit->source.tokens[k].text)),
                                            fmt::format("write it without: {}", opencl_c::see_unsupported))));
      }
    }
    ArgumentSpec argument;
    if (takes_object(parameter)) {
      if (parameter.type == "sampler_t") {
        argument.sampler = SamplerSpec{};
        argument.note = parameter.name + ": placeholder";
      } else {
        argument.image = image_for(parameter, kernel, reach);
      }
    } else if (parameter.is_pointer && parameter.space == AddressSpace::local) {
      const std::uint64_t elements =
          std::max(group_items, sizes_.extent) * (kernel.uses.largest_factor > 1 ? 2 : 1);
      const Memory memory = pointee(parameter, *kernel.unit);
      argument.local_bytes = elements * memory.element_bytes;
      argument.note = parameter.name + ": placeholder";
      if (!reach.known || !memory.unknown.empty() || reach.last >= static_cast<std::int64_t>(elements)) {
        *argument.note += unknown_indices;
        runs_ = false;
      }
    } else if (parameter.is_pointer && appends_to(kernel, parameter)) {
      argument.hits = list_for(parameter, kernel);
    } else if (parameter.is_pointer) {
      const ParameterUse& use = kernel.uses.parameters[index];
      Memory& memory = memory_[memory_for(parameter, kernel, use)];
      argument.buffer = memory.name;
      if (!reach.known && memory.unknown.empty()) {
        memory.unknown = unknown_indices;
      }
      memory.least_elements = std::max(memory.least_elements, static_cast<std::uint64_t>(reach.last + 1));
      if (!parameter.is_const && !use.written) {
        argument.access = Access::read; // for certain
      }
    } else {
      argument = draft_value(kernel, index, sizes_.extent);
      runs_ = runs_ && !argument.bytes; // of a type without a certain layout
    }
    return argument;
  }

  // The element that a pointer points to, without a name.
  static Memory pointee(const Parameter& parameter, const TranslationUnit& unit) {
    Memory memory{.type = parameter.type};
    const auto layout = opencl_c::layout_of_pointee(unit, parameter.tokens);
    memory.unknown = layout ? "" : unknown_indices;
    const auto arithmetic = opencl_c::arithmetic_type(parameter.type);
    const auto element = element_type_of(arithmetic ? arithmetic->scalar : atomic_scalar(parameter.type));
    if (element) {
      memory.element = element;
      memory.width = arithmetic ? (arithmetic->width == 3 ? 4 : arithmetic->width) : 1;
      memory.element_bytes = element_bytes(*element) * memory.width;
      return memory;
    }
    constexpr std::uint64_t enough = 64; // bytes, for a type without a certain layout
    memory.element_bytes = layout ? layout->bytes : enough;
    memory.assumed = fmt::format("u8 for {}, {} bytes each", parameter.type, memory.element_bytes);
    if (!layout && parameter.type != "void") {
      const bool declared = std::ranges::any_of(unit.names, [&](const opencl_c::Name& name) {
        return (name.kind == opencl_c::NameKind::type || name.kind == opencl_c::NameKind::tag) &&
               parameter.type.ends_with(unit.source.tokens[name.token].text);
      });
      memory.assumed +=
          fmt::format(" at a guess: {}", declared ? layout.error() : "nothing declares that type or macro");
    }
    return memory;
  }

  // "int" for "atomic_int".
  static std::string_view atomic_scalar(std::string_view type) {
    return type.starts_with("atomic_") ? type.substr(std::string_view("atomic_").size()) : "";
  }

  static std::string unique_name(const std::string& name, std::set<std::string>& taken) {
    std::string unique = name.empty() ? "unnamed" : name;
    for (std::size_t i = 2; !taken.insert(unique).second; ++i) {
      unique = fmt::format("{}_{}", name, i);
    }
    return unique;
  }

  // Returns the buffer of this name and type, adding it if new.
  std::size_t memory_for(const Parameter& parameter, const DraftKernel& kernel, const ParameterUse& use) {
    Memory memory = pointee(parameter, *kernel.unit); // another file may declare another type of that name
    const auto key = std::pair(parameter.name,
                               fmt::format("{} {} {}", parameter.type, memory.element_bytes, memory.unknown));
    auto found = memory_index_.find(key);
    if (found == memory_index_.end()) {
      memory.name = unique_name(parameter.name, memory_names_);
      found = memory_index_.emplace(key, memory_.size()).first;
      memory_.push_back(std::move(memory));
    }
    add_use(memory_[found->second], parameter, use);
    return found->second;
  }

  void add_buffers() {
    std::uint64_t bytes = 0;
    for (Memory& memory : memory_) {
      if (bytes + memory.bytes(items_) > most_draft_bytes) {
        memory.unknown = fmt::format(
            "; a kernel reaches element {}, which would make the buffers too large for some devices",
            memory.least_elements - 1);
        memory.least_elements = 0;
      }
      bytes += memory.bytes(items_);
      BufferSpec buffer{.type = memory.element.value_or(ElementType::u8)};
      buffer.count =
          std::max(items_, memory.least_elements) * (memory.element ? memory.width : memory.element_bytes);
      buffer.init = draft_contents(memory, buffer.count, least_extent_);
      buffer.output = memory.written ? std::optional(memory.name + ".npy") : std::nullopt;
      buffer.note = fmt::format("placeholder: count, init{}{}{}", memory.assumed.empty() ? "" : "; ",
                                memory.assumed, memory.unknown);
      runs_ = runs_ && memory.unknown.empty();
      program_.buffers.emplace_back(memory.name, std::move(buffer));
    }
  }

  std::string image_for(const Parameter& parameter, const DraftKernel& kernel, const opencl_c::Reach& reach) {
    const auto key = std::pair(parameter.name, parameter.type);
    auto found = image_index_.find(key);
    if (found == image_index_.end()) {
      const std::string name = unique_name(parameter.name, memory_names_);
      ImageSpec image = draft_image(parameter, kernel, sizes_.extent);
      image.init = BufferInit{.random = Random{.seed = 1}};
      image.note = "placeholder: format, size, init";
      found = image_index_.emplace(key, program_.images.size()).first;
      program_.images.emplace_back(name, std::move(image));
    }
    auto& [name, image] = program_.images[found->second];
    if (parameter.image_access != opencl_c::ImageAccess::read_only) {
      image.output = name + ".npy";
    }
    const std::uint64_t extent = std::min(image.size.front(), image.layers.value_or(image.size.front()));
    if (!reach.known || reach.last >= static_cast<std::int64_t>(extent)) {
      image.note = "placeholder: format, size, init; not all coordinates are known";
      runs_ = false;
    }
    return name;
  }

  static bool appends_to(const DraftKernel& kernel, const Parameter& parameter) {
    const auto& tokens = kernel.unit->source.tokens;
    const opencl_c::TokenRange body = *kernel.function->body;
    for (std::size_t i = body.begin; i + 2 < body.end; ++i) {
      if (tokens[i].text == hit_call && tokens[i + 1].is("(") && tokens[i + 2].text == parameter.name) {
        return true;
      }
    }
    return false;
  }

  // Returns the list of hits of this name and type, adding it if new.
  std::string list_for(const Parameter& parameter, const DraftKernel& kernel) {
    const auto key = std::pair(parameter.name, parameter.type);
    auto found = list_index_.find(key);
    if (found == list_index_.end()) {
      const Memory memory = pointee(parameter, *kernel.unit);
      const std::string name = unique_name(parameter.name, memory_names_);
      HitsSpec list{.type = memory.element.value_or(ElementType::u8),
                    .on_overflow = HitOverflow::grow,
                    .sorted = true,
                    .output = name + ".npy"};
      list.width = static_cast<std::uint32_t>(memory.element_bytes / element_bytes(list.type));
      list.note = memory.assumed.empty() ? std::nullopt : std::optional("placeholder: " + memory.assumed);
      found = list_index_.emplace(key, program_.hits.size()).first;
      program_.hits.emplace_back(name, std::move(list));
    }
    return program_.hits[found->second].first;
  }

  static constexpr std::string_view hit_call = "tidegate_hit";
  static constexpr std::string_view unknown_indices = "; not all indices are known";

  const DraftRequest& request_;
  const AnswerMacros& answer_;
  std::vector<std::unique_ptr<ProgramUnit>> units_;
  std::vector<DraftKernel> kernels_;
  std::vector<DraftKernel> queue_ops_;
  std::optional<std::size_t> queue_source_; // of the last queue
  Sizes sizes_;                             // of the current kernel
  std::uint64_t items_ = 1;                 // of every buffer: one kernel's output may be another's indices
  std::uint64_t least_extent_ = std::numeric_limits<std::uint64_t>::max();
  WaveProgram program_;
  bool runs_ = true;
  std::set<std::string> op_names_;
  std::set<std::string> memory_names_;
  std::vector<Memory> memory_;
  std::map<std::pair<std::string, std::string>, std::size_t> memory_index_; // by name and type
  std::map<std::pair<std::string, std::string>, std::size_t> image_index_;
  std::map<std::pair<std::string, std::string>, std::size_t> list_index_;
};

} // namespace

Result<Draft> draft_program(const DraftRequest& request, const AnswerMacros& answer) {
  return Drafter(request, answer).run();
}

std::vector<DraftNote> notes_of(const WaveProgram& program) {
  std::vector<DraftNote> notes;
  const auto add = [&notes](std::string pointer, const std::optional<std::string>& note) {
    if (note) {
      notes.push_back({std::move(pointer), *note});
    }
  };
  for (const auto& [name, buffer] : program.buffers) {
    add("/buffers/" + pointer_token(name), buffer.note);
  }
  for (const auto& [name, image] : program.images) {
    add("/images/" + pointer_token(name), image.note);
  }
  for (const auto& [name, list] : program.hits) {
    add("/hits/" + pointer_token(name), list.note);
  }
  for (const auto& [name, op] : program.ops) {
    add("/ops/" + pointer_token(name), op.note);
  }
  for (std::size_t i = 0; i < program.waves.size(); ++i) {
    add(fmt::format("/waves/{}", i), program.waves[i].note);
    for (std::size_t k = 0; k < program.waves[i].args.size(); ++k) {
      add(fmt::format("/waves/{}/args/{}", i, k), program.waves[i].args[k].note);
    }
  }
  return notes;
}

namespace {

using opencl_c::Parameter;
using opencl_c::TypeLayout;

Value zero_of(const TypeLayout& type, std::span<const std::uint64_t> dimensions);

Value zero_of(const TypeLayout& type) {
  if (type.kind == TypeLayout::Kind::structure) {
    Value::Object members;
    for (const opencl_c::MemberLayout& member : type.members) {
      members.emplace_back(member.name, zero_of(member.type, member.dimensions));
    }
    return Value{std::move(members)};
  }
  if (type.kind == TypeLayout::Kind::enumeration && !type.enumerators.empty()) {
    return Value{type.enumerators.front().first};
  }
  const auto arithmetic = opencl_c::arithmetic_type(type.name);
  if (arithmetic && arithmetic->width > 1) {
    return Value{Value::List(arithmetic->width, Value{Number(std::uint64_t{0})})};
  }
  return Value{Number(std::uint64_t{0})};
}

Value zero_of(const TypeLayout& type, std::span<const std::uint64_t> dimensions) {
  if (dimensions.empty()) {
    return zero_of(type);
  }
  return Value{Value::List(dimensions.front(), zero_of(type, dimensions.subspan(1)))};
}

void set_numbers(ArgumentSpec& argument, ElementType type, std::vector<Number> numbers) {
  const std::array<std::optional<std::vector<Number>>*, element_type_names.size()> all{
      &argument.i8,  &argument.u8,  &argument.i16, &argument.u16, &argument.i32, &argument.u32,
      &argument.i64, &argument.u64, &argument.f16, &argument.f32, &argument.f64};
  *all[static_cast<std::size_t>(type)] = std::move(numbers);
}

} // namespace

std::uint64_t draft_number(const DraftKernel& kernel, std::size_t index, ElementType type,
                           std::uint64_t extent) {
  if (!is_count(kernel, index)) {
    return 1;
  }
  const std::uint64_t most = type == ElementType::i8   ? std::numeric_limits<std::int8_t>::max()
                             : type == ElementType::u8 ? std::numeric_limits<std::uint8_t>::max()
                                                       : extent;
  return std::min(extent, most);
}

ArgumentSpec draft_value(const DraftKernel& kernel, std::size_t index, std::uint64_t extent) {
  const Parameter& parameter = kernel.function->parameters[index];
  ArgumentSpec argument;
  const auto layout = opencl_c::layout_of(*kernel.unit, parameter.tokens);
  if (!layout) {
    constexpr std::size_t bytes = 16;
    argument.bytes = std::string(2 * bytes, '0');
    argument.note = fmt::format("{}: give as many bytes as it has ({})", parameter.name, layout.error());
  } else if (layout->kind == TypeLayout::Kind::structure) {
    argument.structure = zero_of(*layout);
    argument.note = parameter.name + ": placeholder";
  } else if (layout->kind == TypeLayout::Kind::enumeration) {
    argument.enumeration = layout->enumerators.empty() ? Identifier(std::uint64_t{0})
                                                       : Identifier(layout->enumerators.front().first);
    argument.note = parameter.name + ": placeholder";
  } else {
    const auto type = *opencl_c::arithmetic_type(layout->name);
    const ElementType element = *element_type_of(type.scalar);
    const std::uint64_t value = draft_number(kernel, index, element, extent);
    set_numbers(argument, element, std::vector<Number>(type.width, Number(value)));
    argument.note = parameter.name +
                    (is_count(kernel, index) ? ": placeholder, the extent of the range" : ": placeholder");
  }
  return argument;
}

ImageSpec draft_image(const Parameter& parameter, const DraftKernel& kernel, std::uint64_t extent) {
  const std::string_view type = parameter.type;
  const auto calls = [&](std::string_view ending) {
    const auto& tokens = kernel.unit->source.tokens;
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(kernel.function->begin),
                       tokens.begin() + static_cast<std::ptrdiff_t>(kernel.function->end),
                       [&](const opencl_c::Token& token) {
                         return token.text.starts_with("read_image") || token.text.starts_with("write_image")
                                    ? token.text.ends_with(ending)
                                    : false;
                       });
  };
  const std::size_t dimensions = type.starts_with("image1d") ? 1 : type.starts_with("image3d") ? 3 : 2;
  ImageSpec image{.size = std::vector<std::uint64_t>(dimensions, extent)};
  const std::string_view format = type.find("depth") != std::string_view::npos ? "depth_float32"
                                  : calls("imageui")                           ? "rgba_uint8"
                                  : calls("imagei")                            ? "rgba_sint32"
                                                                               : "rgba_unorm8";
  const auto* const row = std::ranges::find(image_format_names, format);
  image.format = static_cast<ImageFormat>(row - image_format_names.begin());
  if (type.find("array") != std::string_view::npos) {
    constexpr std::uint64_t layers = 4;
    image.layers = layers;
  }
  image.texel_buffer = type.find("buffer") != std::string_view::npos;
  return image;
}

} // namespace tidegate::engine
