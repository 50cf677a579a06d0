// Facts about arguments that follow from footprints: halos, rows, and whether ranks may combine a buffer. Halos count tiles:
// distances in elements are rounded up to whole work-groups.
#include "opencl_c/footprint.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {
namespace {

// Vectors of 3 take the space of 4.
bool has_gaps(const opencl_c::Parameter& parameter) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  return !type || type->width == 3;
}

// The whole number in these bytes, if they are one of this type.
std::optional<std::int64_t> number_of(const opencl_c::TypeLayout& layout, std::span<const std::byte> bytes) {
  const auto type = layout.kind == opencl_c::TypeLayout::Kind::arithmetic
                        ? opencl_c::arithmetic_type(layout.name)
                        : std::nullopt;
  const auto element = type && type->width == 1 ? element_type_of(type->scalar) : std::nullopt;
  return element && !is_float(*element) && element_bytes(*element) <= bytes.size()
             ? std::optional(static_cast<std::int64_t>(constant_progression(*element, bytes).first))
             : std::nullopt;
}

// The range of the wave, and the numbers among its arguments that do not change with the iteration.
opencl_c::LaunchSetting setting_of(const ProgramWave& wave, const opencl_c::TranslationUnit& unit,
                                   const opencl_c::Function& kernel) {
  opencl_c::LaunchSetting setting{.dimensions = wave.range.dimensions};
  for (std::size_t d = 0; d < 3; ++d) {
    setting.begin[d] = static_cast<std::int64_t>(wave.range.offset[d]);
    setting.size[d] = wave.range.global[d];
    setting.local[d] = wave.range.local[d];
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ProgramArgument& argument = wave.arguments[i];
    if (argument.kind != ProgramArgument::Kind::value || !argument.changes.empty()) {
      continue;
    }
    const auto layout = opencl_c::layout_of(unit, kernel.parameters[i]);
    if (!layout || layout->bytes != argument.value.size()) {
      continue;
    }
    const std::span<const std::byte> bytes(argument.value);
    if (const auto number = number_of(*layout, bytes)) {
      setting.values[i] = *number;
    }
    for (const opencl_c::MemberLayout& member : layout->members) {
      const auto number = member.dimensions.empty() && member.offset < bytes.size()
                              ? number_of(member.type, bytes.subspan(member.offset))
                              : std::nullopt;
      if (number) {
        setting.members[{i, member.name}] = *number;
      }
    }
  }
  return setting;
}

RowReach reach_of(const opencl_c::RowElements& rows, std::uint32_t element_bytes) {
  const auto per_id = static_cast<std::uint64_t>(rows.per_id);
  const auto excess =
      static_cast<std::uint64_t>(std::max({-rows.low, rows.high - (rows.per_id - 1), std::int64_t{0}}));
  RowReach reach{.row_bytes = per_id * element_bytes,
                 .reach = excess / per_id,
                 .beyond = excess % per_id * element_bytes,
                 .wraps = static_cast<std::uint64_t>(rows.wraps)};
  if (reach.wraps != 0 && reach.beyond != 0) {
    reach.beyond = 0;
    ++reach.reach;
  }
  return reach;
}

// True if ranks can combine a buffer of integers of 32 or 64 bits that the kernel takes as this; atomic_int is an int.
// A sum is the same for signed and unsigned integers.
bool combines(const opencl_c::Parameter& parameter, ElementType buffer, Combine how) {
  constexpr std::string_view atomic = "atomic_";
  const bool is_atomic = parameter.type.starts_with(atomic);
  const auto type =
      opencl_c::arithmetic_type(std::string_view(parameter.type).substr(is_atomic ? atomic.size() : 0));
  const auto pointee = type && type->width == 1 ? element_type_of(type->scalar) : std::nullopt;
  return pointee && !is_float(*pointee) && !is_float(buffer) && element_bytes(buffer) >= 4 &&
         element_bytes(*pointee) == element_bytes(buffer) && (pointee == buffer || how == Combine::sum);
}

} // namespace

Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<std::uint32_t>& halo, const NdRange& range,
                                                 const std::string& pointer) {
  if (halo.size() != 1 && halo.size() != range.dimensions) {
    return invalid_program(fmt::format("a halo of {} for waves of {}", plural(halo.size(), "number"),
                                       plural(range.dimensions, "dimension")),
                           "give one number, or one for each dimension of global_size", pointer);
  }
  std::array<std::uint32_t, 3> tiles{};
  for (std::uint32_t dimension = 0; dimension < range.dimensions; ++dimension) {
    tiles[dimension] = halo[halo.size() == 1 ? 0 : dimension];
  }
  return tiles;
}

namespace {

constexpr std::uint64_t most_ids = std::uint64_t{1}
                                   << 31U; // limit for ids and elements, see opencl_c::Footprint

std::uint32_t whole_tiles(std::int64_t ids, std::uint32_t local) {
  return static_cast<std::uint32_t>((ids + local - 1) / local);
}

// Bytes from the element of one id to that of the next, in each dimension.
std::array<std::uint64_t, 3> id_bytes(const opencl_c::Footprint& footprint) {
  std::array<std::uint64_t, 3> bytes{};
  std::ranges::transform(footprint.by_id->per_id, bytes.begin(), [&](std::int64_t per_id) {
    return static_cast<std::uint64_t>(per_id) * footprint.element_bytes;
  });
  return bytes;
}

Touched bytes_of(const opencl_c::Interval& of, std::int64_t element_bytes) {
  return {of.low * element_bytes, (of.high + 1) * element_bytes};
}

// Each work-item has one element, and together they have all of the buffer.
bool has_every_element(const ProgramArgument& argument, const NdRange& range, std::uint32_t element,
                       std::uint64_t buffer_bytes) {
  std::uint64_t bytes = element;
  bool all = !argument.neighbours;
  for (std::size_t d = 0; d < 3; ++d) {
    all = all && range.offset[d] == 0 && (range.global[d] == 1 || argument.id_bytes[d] == bytes);
    bytes *= range.global[d];
  }
  return all && bytes == buffer_bytes;
}

class Footprints {
public:
  explicit Footprints(Job& program) : program_(program) {}

  Result<void> run() {
    for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
      const NdRange& range = program_.waves[wave].range;
      const auto fits = [&](std::size_t d) { return range.offset[d] + range.global[d] <= most_ids; };
      if (program_.waves[wave].users_kernel && fits(0) && fits(1) && fits(2)) {
        TIDEGATE_CHECK(derive(wave));
      }
    }
    for (const ResolvedDependency& dependency : program_.dependencies) {
      if (dependency.halo) {
        TIDEGATE_CHECK(check(dependency));
      }
    }
    return {};
  }

private:
  Result<void> derive(std::uint32_t index) {
    ProgramWave& wave = program_.waves[index];
    const opencl_c::TranslationUnit& unit = program_.unit(wave.op).unit;
    const opencl_c::Function& kernel = program_.function(wave.op);
    const auto [found, is_new] = known_.try_emplace({wave.op, setting_of(wave, unit, kernel)});
    if (is_new) {
      found->second = opencl_c::footprints(unit, kernel, found->first.second);
    }
    const auto place = [&unit](std::size_t token) {
      return opencl_c::error_at(unit, token, ErrorCode::unsupported_kernel, "", "");
    };
    for (const opencl_c::EarlyReturn& early : found->second.returns) {
      wave.early_returns.push_back(
          fmt::format("work-items from {} on return in line {} of the kernel's file, and others of their "
                      "work-group of {} wait at a barrier after it",
                      early.first, place(early.token).line.value_or(0), wave.range.local[early.dimension]));
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const opencl_c::Footprint& footprint = found->second.parameters[i];
      if (wave.arguments[i].kind != ProgramArgument::Kind::buffer) {
        continue;
      }
      if (footprint.obstacle) {
        const Error at = place(footprint.obstacle->token);
        wave.arguments[i].any_element = fmt::format("{} ({}:{})", footprint.obstacle->reason,
                                                    at.source.value_or(""), at.line.value_or(0));
      }
      auto added = add(wave, i, kernel.parameters[i], footprint);
      if (!added) {
        added.error().pointer =
            fmt::format("{}/args/{}{}", program_.wave_pointer(index), i, *added.error().pointer);
        return added;
      }
      if (wave.arguments[i].reach && footprint.by_id) {
        by_id_[{index, i}] = &footprint;
      }
    }
    return {};
  }

  // Adds what is known to the argument. A stated halo and stated rows are at least what the kernel needs, and a stated
  // operation is the kernel's. Errors have places below the argument.
  Result<void> add(ProgramWave& wave, std::size_t index, const opencl_c::Parameter& parameter,
                   const opencl_c::Footprint& footprint) {
    ProgramArgument& argument = wave.arguments[index];
    const ProgramBuffer& buffer = program_.buffers[argument.buffer];
    if (footprint.reduction) {
      constexpr std::array<std::string_view, 3> does{"adds to", "takes minima in", "takes maxima in"};
      const auto kind = static_cast<std::size_t>(*footprint.reduction); // those of Combine, in the same order
      const auto derived = static_cast<Combine>(kind);
      if (argument.combine && argument.combine != derived) {
        return invalid_program(
            fmt::format("combine is {}, and the kernel {} {} with atomics",
                        in_quotes(combine_names[static_cast<std::size_t>(*argument.combine)]), does[kind],
                        in_quotes(buffer.name)),
            fmt::format(R"(state "combine": "{}", or leave it out)", combine_names[kind]), "/combine");
      }
      if (argument.access == Access::read_write && !buffer.hits &&
          combines(parameter, buffer.type, derived)) {
        argument.combine = derived; // ranks may combine it after the wave
      }
    }
    argument.changed_first = footprint.changed_first;
    if (footprint.element_bytes == 0 || buffer.bytes / footprint.element_bytes > most_ids) {
      return {};
    }
    argument.reach = bytes_of(*footprint.elements, footprint.element_bytes);
    if (footprint.certain) {
      argument.certain = bytes_of(*footprint.certain, footprint.element_bytes);
    }
    if (footprint.rows) {
      const RowReach rows = reach_of(*footprint.rows, footprint.element_bytes);
      const bool counts_like = !argument.rows || argument.rows->row_bytes == rows.row_bytes;
      const std::uint64_t touched = rows.reach + (rows.beyond != 0 ? 1 : 0); // the last one in part
      if (argument.rows && counts_like && argument.rows->reach < touched) {
        return invalid_program(
            fmt::format("rows is {}, and the kernel touches {} of {} to one side of a work-item's own",
                        argument.rows->reach, plural(touched, "row"), in_quotes(buffer.name)),
            "leave rows out: the kernel says it", "/rows");
      }
      argument.rows = counts_like ? rows : argument.rows;
    }
    if (!footprint.by_id) {
      return {};
    }
    const bool stated = argument.halo.has_value();
    argument.neighbours = footprint.by_id->offset != opencl_c::ElementsById{}.offset;
    Tiles halo{};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto& [low, high] = footprint.by_id->offset[d];
      halo[d] = whole_tiles(std::max(std::abs(low), std::abs(high)), wave.range.local[d]);
      if (stated && (*argument.halo)[d] < halo[d]) {
        return invalid_program(fmt::format("a halo of {} in dimension {} for {}, and the kernel reaches {}",
                                           plural((*argument.halo)[d], "work-group"), d,
                                           in_quotes(buffer.name), halo[d]),
                               "leave the halo out: it is derived from the kernel", "/halo");
      }
    }
    if (!stated) {
      argument.halo = halo;
      argument.id_bytes = id_bytes(footprint);
      argument.assigned_first = footprint.assigned_first;
      argument.overwrites = footprint.assigned_first && !has_gaps(parameter) &&
                            has_every_element(argument, wave.range, footprint.element_bytes, buffer.bytes);
    }
    return {};
  }

  // The halo that a dependency states is at least how far apart tiles are that touch the same elements, one of them
  // writing, where that is known.
  [[nodiscard]] Result<void> check(const ResolvedDependency& dependency) const {
    const ProgramWave& before = program_.waves[dependency.before];
    const ProgramWave& after = program_.waves[dependency.after];
    const auto first_of_wave = [this](std::uint32_t wave) { return by_id_.lower_bound({wave, 0}); };
    for (auto x = first_of_wave(dependency.before); x != first_of_wave(dependency.before + 1); ++x) {
      for (auto y = first_of_wave(dependency.after); y != first_of_wave(dependency.after + 1); ++y) {
        const ProgramArgument& one = before.arguments[x->first.second];
        const ProgramArgument& other = after.arguments[y->first.second];
        if (one.buffer != other.buffer || id_bytes(*x->second) != id_bytes(*y->second) ||
            !(before.range == after.range) || (one.access == Access::read && other.access == Access::read)) {
          continue;
        }
        for (std::size_t d = 0; d < 3; ++d) {
          const opencl_c::Interval& a = x->second->by_id->offset[d];
          const opencl_c::Interval& b = y->second->by_id->offset[d];
          const std::uint32_t away = whole_tiles(std::max(std::abs(a.high - b.low), std::abs(b.high - a.low)),
                                                 before.range.local[d]);
          if (away > (*dependency.halo)[d]) {
            return invalid_program(
                fmt::format("a halo of {} in dimension {}, and through {} the kernels reach {}",
                            plural((*dependency.halo)[d], "work-group"), d,
                            in_quotes(program_.buffers[one.buffer].name), away),
                "leave the halo out: it is derived from the kernels",
                fmt::format("/dependencies/{}/halo", dependency.index.value_or(0)));
          }
        }
      }
    }
    return {};
  }

  Job& program_;
  std::map<std::pair<std::uint32_t, opencl_c::LaunchSetting>, opencl_c::Footprints> known_; // by op
  // Those whose elements belong to ids, by wave and argument.
  std::map<std::pair<std::uint32_t, std::size_t>, const opencl_c::Footprint*> by_id_;
};

} // namespace

Result<void> derive_footprints(Job& program) {
  return Footprints(program).run();
}

} // namespace tidegate::engine
