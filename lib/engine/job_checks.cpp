#include "engine/compile.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {

Error too_much_local_memory(std::uint64_t bytes, const device::DeviceInfo& device) {
  return {.code = ErrorCode::out_of_range,
          .message = fmt::format("the local arguments of a wave take {}; {} has {} of local memory",
                                 bytes_text(bytes), device.name, bytes_text(device.local_memory_bytes)),
          .fix = "give smaller local_bytes",
          .pointer = "/waves"};
}

static std::string argument_pointer(const Job& program, std::uint32_t wave, std::size_t argument) {
  return fmt::format("{}/args/{}", program.wave_pointer(wave), argument);
}

Result<void> check_device(const Job& program, const device::DeviceInfo& device) {
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.is_object() && !device.images) {
      return failure(ErrorCode::unsupported_kernel,
                     fmt::format("{} is an image, and {} has none", in_quotes(buffer.name), device.name),
                     "use buffers, or another device", "/images/" + pointer_token(buffer.name));
    }
  }
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const ProgramWave& spec = program.waves[wave];
    const std::uint32_t size = spec.range.group_size();
    if (size > device.max_workgroup_size) {
      return failure(ErrorCode::out_of_range,
                     fmt::format("work-groups of {} work-items; {} takes {} at most", size, device.name,
                                 device.max_workgroup_size),
                     "give a smaller local_size", program.wave_pointer(wave) + "/local_size");
    }
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      const ProgramArgument& argument = spec.arguments[i];
      if (argument.local_bytes > device.local_memory_bytes) {
        return tl::unexpected(too_much_local_memory(argument.local_bytes, device));
      }
      if (argument.kind == ProgramArgument::Kind::image && argument.access == Access::read_write &&
          device.max_read_write_images == 0) {
        return failure(
            ErrorCode::unsupported_kernel,
            fmt::format("{} takes a read_write image, and {} has none", program.wave_text(wave), device.name),
            "read one image and write another, or use another device", argument_pointer(program, wave, i));
      }
    }
  }
  return {};
}

namespace {

constexpr std::size_t most_warnings = 16;

std::string_view verb(const MemoryUse& use) {
  return !use.writes ? "reads" : use.reads ? "reads and writes" : "writes";
}

// Two waves, the first of the program order first.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// Returns the pairs of `asked` that no path of listed dependencies joins.
std::vector<Pair> without_path(const Job& program, const std::vector<std::uint32_t>& order,
                               const std::vector<Pair>& asked) {
  std::vector<std::vector<std::uint32_t>> before(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    before[dependency.after].push_back(dependency.before);
  }
  std::map<std::uint32_t, std::set<std::uint32_t>> targets;
  for (const auto& [source, target] : asked) {
    targets[source].insert(target);
  }
  std::vector<Pair> missing;
  for (auto& [source, left] : targets) {
    std::vector<bool> reached(program.waves.size());
    for (auto wave = std::ranges::find(order, source); !left.empty(); ++wave) {
      reached[*wave] = *wave == source || std::ranges::any_of(before[*wave], [&](std::uint32_t earlier) {
        return reached[earlier];
      });
      if (left.erase(*wave) != 0 && !reached[*wave]) {
        missing.emplace_back(source, *wave);
      }
    }
  }
  return missing;
}

// In an order that the list allows, a chain of the dependencies that would be derived for that order joins
// every two conflicting waves. So if each of those has a path in the list, every conflict has one.
void unordered_conflicts(const Job& program, std::vector<Warning>& warnings) {
  const std::vector<std::uint32_t> order = program_order(program);
  std::vector<ProgramWave> in_order;
  for (const std::uint32_t wave : order) {
    in_order.push_back(program.waves[wave]);
  }
  std::vector<Pair> needed;
  for (const ResolvedDependency& derived : derive_dependencies(in_order, program.buffers.size())) {
    const Pair pair(order[derived.before], order[derived.after]);
    if (program.waves[pair.first].section == program.waves[pair.second].section) { // others are ordered
      needed.push_back(pair);
    }
  }
  for (const auto& [before, after] : without_path(program, order, needed)) {
    const std::vector<MemoryUse> second = uses_of(program.waves[after].arguments);
    for (const MemoryUse& use : uses_of(program.waves[before].arguments)) {
      const auto other = std::ranges::find(second, use.buffer, &MemoryUse::buffer);
      if (other == second.end() || (!use.writes && !other->writes) || (use.stated && other->stated)) {
        continue;
      }
      warnings.push_back(
          {.message =
               fmt::format("no dependency orders {0}, which {1} {2}, and {3}, which {4} it",
                           program.wave_text(before), verb(use), in_quotes(program.buffers[use.buffer].name),
                           program.wave_text(after), verb(*other)),
           .fix = "list the dependency, leave dependencies out so that they are derived, or "
                  "state the \"access\" "
                  "of both arguments where the waves touch different parts",
           .pointer = "/dependencies"});
    }
  }
}

// Returns true if a wave reads an argument before it writes it, as atomic sums and additions to elements do.
bool reads_first(const Job& program, std::uint32_t wave, std::size_t i) {
  const ProgramArgument& argument = program.waves[wave].arguments[i];
  return argument.access == Access::read || argument.combine ||
         (!program.waves[wave].queue && argument.changed_first);
}

void undefined_reads(const Job& program, std::vector<Warning>& warnings) {
  std::vector<bool> written(program.buffers.size());
  for (const std::uint32_t wave : program_order(program)) {
    const auto& arguments = program.waves[wave].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ProgramArgument& argument = arguments[i];
      if (!argument.is_memory() || !program.buffers[argument.buffer].transient() ||
          written[argument.buffer] || !reads_first(program, wave, i)) {
        continue;
      }
      warnings.push_back(
          {.message = fmt::format("{} reads {} before any wave has written it: it has no init, and "
                                  "holds whatever lay there",
                                  program.wave_text(wave), in_quotes(program.buffers[argument.buffer].name)),
           .fix = fmt::format("give the {} an init, such as {{\"fill\": 0}}, or let a wave write it first",
                              program.buffers[argument.buffer].kind()),
           .pointer = argument_pointer(program, wave, i)});
      written[argument.buffer] = true; // reported once
    }
    for (const ProgramArgument& argument : arguments) {
      if (argument.writes()) {
        written[argument.buffer] = true;
      }
    }
  }
}

// Calls `look` with each argument: its wave, its index and itself.
template <class Look>
void for_each_argument(const Job& program, const Look& look) {
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    for (std::size_t i = 0; i < program.waves[wave].arguments.size(); ++i) {
      look(wave, i, program.waves[wave].arguments[i]);
    }
  }
}

// Warns of buffers that a kernel reinterprets as another type, which is often a mistake.
void reinterpreted_buffers(const Job& program, std::vector<Warning>& warnings) {
  std::set<std::pair<std::uint32_t, std::string>> reported;
  for_each_argument(program, [&](std::uint32_t wave, std::size_t i, const ProgramArgument& argument) {
    if (!argument.reinterpreted.empty() && reported.emplace(argument.buffer, argument.reinterpreted).second) {
      const ProgramBuffer& buffer = program.buffers[argument.buffer];
      warnings.push_back(
          {.message = fmt::format("{} takes {}, a buffer of {}, for one of {}", program.wave_text(wave),
                                  in_quotes(buffer.name), name(buffer.type), argument.reinterpreted),
           .fix = "give another buffer, or say \"reinterpret\": true where it is meant",
           .pointer = argument_pointer(program, wave, i)});
    }
  });
}

std::int64_t element(const ProgramBuffer& buffer, std::int64_t byte) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(buffer.type));
  return byte / bytes - (byte % bytes < 0 ? 1 : 0);
}

// The accesses of an argument by the footprint of its kernel. A possible access depends on conditions; a certain one does not.

std::optional<Warning> out_of_bounds(const Job& program, std::uint32_t wave,
                                     const ProgramArgument& argument) {
  const ProgramWave& spec = program.waves[wave];
  const ProgramBuffer& buffer = program.buffers[argument.buffer];
  const auto bytes = static_cast<std::int64_t>(buffer.bytes);
  if (!argument.certain || spec.active || spec.prepared || buffer.hits ||
      (argument.certain->begin >= 0 && argument.certain->end <= bytes)) {
    return {};
  }
  const std::int64_t byte =
      argument.certain->end > bytes ? argument.certain->end - 1 : argument.certain->begin;
  const std::string_view does = argument.access == Access::read                               ? "reads"
                                : argument.access == Access::write || argument.assigned_first ? "writes"
                                                                                              : "touches";
  return Warning{.message =
                     fmt::format("{} {} element {} of {}, which has {}", program.wave_text(wave), does,
                                 element(buffer, byte), in_quotes(buffer.name), element(buffer, bytes)),
                 .fix = "give the buffer more elements, or the wave a smaller global_size"};
}

std::optional<Warning> read_while_written(const Job& program, std::uint32_t wave,
                                          const ProgramArgument& argument) {
  constexpr std::array<std::uint64_t, 3> unknown{};
  if (argument.access != Access::read || argument.id_bytes == unknown || !argument.reach ||
      argument.reach->empty() ||
      std::ranges::none_of(program.waves[wave].arguments, [&](const ProgramArgument& other) {
        return other.is_of(argument.buffer) && other.writes() && other.id_bytes != unknown &&
               !other.neighbours && (argument.neighbours || argument.id_bytes != other.id_bytes);
      })) {
    return {};
  }
  return Warning{
      .message = fmt::format(
          "{} reads elements of {} that its other work-items write: the buffer is an input and an output",
          program.wave_text(wave), in_quotes(program.buffers[argument.buffer].name)),
      .fix = "write another buffer, and swap both if the wave repeats"};
}

std::optional<Warning> transposed(const Job& program, std::uint32_t wave, const ProgramArgument& argument) {
  const ProgramBuffer& buffer = program.buffers[argument.buffer];
  const std::uint64_t taken = argument.rows ? argument.rows->row_bytes : 0;
  const std::size_t bytes = element_bytes(buffer.type);
  if (buffer.row_bytes <= bytes || program.waves[wave].range.dimensions != 2 || taken == buffer.row_bytes ||
      taken != buffer.bytes / buffer.row_bytes * bytes) {
    return {};
  }
  return Warning{
      .message = fmt::format("{} takes {} for rows of {} elements, and its shape has {} rows of {}",
                             program.wave_text(wave), in_quotes(buffer.name), taken / bytes,
                             buffer.bytes / buffer.row_bytes, buffer.row_bytes / bytes),
      .fix =
          "width and height look transposed: exchange them in the arguments, the global_size or the shape"};
}

// A result that starts without contents.
std::optional<Warning> partly_written(const Job& program, std::uint32_t index) {
  const ProgramBuffer& buffer = program.buffers[index];
  if (!buffer.output || buffer.first || buffer.swapped || buffer.is_unordered() || buffer.is_object()) {
    return {};
  }
  const auto bytes = static_cast<std::int64_t>(buffer.bytes);
  Touched all;
  for_each_argument(program, [&](std::uint32_t wave, std::size_t, const ProgramArgument& argument) {
    if (argument.is_of(index) && argument.writes()) {
      const bool known = program.waves[wave].users_kernel && argument.reach;
      all = all.hull(known ? *argument.reach : Touched{0, bytes});
    }
  });
  if (all.empty() || (all.begin <= 0 && all.end >= bytes)) {
    return {};
  }
  return Warning{.message = fmt::format(
                     "no wave writes the {} {} of {} elements of {}", all.begin > 0 ? "first" : "last",
                     all.begin > 0 ? element(buffer, all.begin) : element(buffer, bytes - all.end),
                     element(buffer, bytes), in_quotes(buffer.name)),
                 .fix = "give a wave a larger global_size, the buffer fewer elements, or an init",
                 .pointer = buffer.pointer};
}

void wrong_footprints(const Job& program, std::vector<Warning>& warnings) {
  for_each_argument(program, [&](std::uint32_t wave, std::size_t i, const ProgramArgument& argument) {
    for (const auto& look : {out_of_bounds, read_while_written, transposed}) {
      if (program.waves[wave].users_kernel && argument.kind == ProgramArgument::Kind::buffer) {
        if (auto found = look(program, wave, argument)) {
          found->pointer = argument_pointer(program, wave, i);
          warnings.push_back(*std::move(found));
        }
      }
    }
  });
  for (std::uint32_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
    if (auto found = partly_written(program, buffer)) {
      warnings.push_back(*std::move(found));
    }
  }
}

// Work-items that return where others of their work-group wait at a barrier.
void early_returns(const Job& program, std::vector<Warning>& warnings) {
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    for (const std::string& found : program.waves[wave].early_returns) {
      warnings.push_back(
          {.message = fmt::format("{}: {}", program.wave_text(wave), found),
           .fix = "let all work-items of a group come to the barrier: put what follows the test into an if",
           .pointer = program.wave_pointer(wave)});
    }
  }
}

} // namespace

std::vector<Warning> find_hazards(const Job& program) {
  std::vector<Warning> warnings;
  if (!program.derived) {
    unordered_conflicts(program, warnings);
  }
  undefined_reads(program, warnings);
  reinterpreted_buffers(program, warnings);
  wrong_footprints(program, warnings);
  early_returns(program, warnings);
  if (std::ranges::none_of(program.buffers, &ProgramBuffer::is_result)) {
    warnings.push_back({.message = "the program keeps none of its results",
                        .fix = "give a buffer an output, such as \"output\": \"result.npy\"",
                        .pointer = "/buffers"});
  }
  if (warnings.size() > most_warnings) {
    const std::size_t more = warnings.size() - most_warnings;
    warnings.resize(most_warnings);
    warnings.push_back(
        {.message = fmt::format("there are {} more warnings", more), .fix = "correct these first"});
  }
  return warnings;
}

} // namespace tidegate::engine
