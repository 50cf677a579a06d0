// What the footprints of kernels say of arguments: halos, rows, and whether ranks may combine a buffer. Halos count tiles:
// distances in elements are rounded up to whole work-groups.
#include "core/npy.hpp"
#include "opencl_c/footprint.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/text.hpp>

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
  std::optional<std::int64_t> number;
  if (element && element_bytes(*element) <= bytes.size()) {
    with_type(*element, [&]<class T>(T value) {
      if constexpr (std::is_integral_v<T>) {
        std::memcpy(&value, bytes.data(), sizeof value);
        number = static_cast<std::int64_t>(value);
      }
    });
  }
  return number;
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

// Integers of 32 or 64 bits; atomic_int is an int.
std::optional<ElementType> integer_pointee(const opencl_c::TranslationUnit& unit,
                                           const opencl_c::Parameter& parameter) {
  constexpr std::string_view atomic = "atomic_";
  std::string scalar = parameter.type.starts_with(atomic) ? parameter.type.substr(atomic.size()) : "";
  if (const auto layout = opencl_c::layout_of_pointee(unit, parameter);
      layout && layout->kind == opencl_c::TypeLayout::Kind::arithmetic) {
    scalar = layout->name;
  }
  const auto type = opencl_c::arithmetic_type(scalar);
  const auto element = type && type->width == 1 ? element_type_of(type->scalar) : std::nullopt;
  return element && !is_float(*element) && element_bytes(*element) >= 4 ? element : std::nullopt;
}

// A sum is the same for signed and unsigned integers.
bool combines_as(ElementType pointee, ElementType buffer, Combine how) {
  return pointee == buffer ||
         (how == Combine::sum && !is_float(buffer) && element_bytes(pointee) == element_bytes(buffer));
}

} // namespace

Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  if (halo.size() != 1 && halo.size() != range.dimensions) {
    return invalid_program(fmt::format("a halo of {} for waves of {}", plural(halo.size(), "number"),
                                       plural(range.dimensions, "dimension")),
                           "give one number, or one for each dimension of global_size", pointer);
  }
  std::array<std::uint32_t, 3> tiles{};
  for (std::uint32_t dimension = 0; dimension < range.dimensions; ++dimension) {
    const Number& number = halo[halo.size() == 1 ? 0 : dimension];
    const auto* const whole = std::get_if<std::uint64_t>(&number);
    if (whole == nullptr || *whole > most) {
      return invalid_program("a halo is a number of tiles, from 0 to 1048576",
                             "leave it out where a tile may touch anything", pointer);
    }
    tiles[dimension] = static_cast<std::uint32_t>(*whole);
  }
  return tiles;
}

namespace {

constexpr std::uint64_t most_ids = std::uint64_t{1}
                                   << 31U; // limit for ids and elements, see opencl_c::Footprint

// The ids whose elements an argument touches, and how far away in work-groups.
struct Derived {
  const opencl_c::Footprint* footprint = nullptr;
  std::array<opencl_c::Interval, 3> offset{};
  std::array<std::uint64_t, 3> id_bytes{};
  std::array<std::uint32_t, 3> halo{};
};

std::uint32_t whole_tiles(std::int64_t ids, std::uint32_t local) {
  return static_cast<std::uint32_t>((ids + local - 1) / local);
}

Derived derived_from(const opencl_c::Footprint& footprint, const NdRange& range) {
  Derived derived{.footprint = &footprint, .offset = footprint.by_id->offset};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& [low, high] = derived.offset[d];
    derived.id_bytes[d] = static_cast<std::uint64_t>(footprint.by_id->per_id[d]) * footprint.element_bytes;
    derived.halo[d] = whole_tiles(std::max(std::abs(low), std::abs(high)), range.local[d]);
  }
  return derived;
}

Touched bytes_of(const opencl_c::Interval& of, std::int64_t element_bytes) {
  return {of.low * element_bytes, (of.high + 1) * element_bytes};
}

// Each work-item has one element, and together they have all of the buffer.
bool has_every_element(const Derived& derived, const NdRange& range, std::uint32_t element,
                       std::uint64_t buffer_bytes) {
  std::uint64_t bytes = element;
  bool all = true;
  for (std::size_t d = 0; d < 3; ++d) {
    all = all && range.offset[d] == 0 && derived.offset[d] == opencl_c::Interval{0, 0} &&
          (range.global[d] == 1 || derived.id_bytes[d] == bytes);
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
    return check_stated();
  }

private:
  Result<void> derive(std::uint32_t index) {
    ProgramWave& wave = program_.waves[index];
    const opencl_c::TranslationUnit& unit = program_.units[program_.ops[wave.op].unit].unit;
    const opencl_c::Function& kernel = program_.function(wave.op);
    const auto [found, is_new] = known_.try_emplace({wave.op, setting_of(wave, unit, kernel)});
    if (is_new) {
      found->second = opencl_c::footprints(unit, kernel, found->first.second);
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      ProgramArgument& argument = wave.arguments[i];
      const opencl_c::Footprint& footprint = found->second[i];
      if (argument.kind != ProgramArgument::Kind::buffer) {
        continue;
      }
      TIDEGATE_CHECK(combine(index, i, footprint));
      if (footprint.obstacle) {
        const Error at =
            opencl_c::error_at(unit, footprint.obstacle->token, ErrorCode::unsupported_kernel, "", "");
        argument.any_element = fmt::format("{} ({}:{})", footprint.obstacle->reason, at.source.value_or(""),
                                           at.line.value_or(0));
      }
      const std::uint64_t bytes = program_.buffers[argument.buffer].bytes;
      if (footprint.element_bytes == 0 || bytes / footprint.element_bytes > most_ids) {
        continue;
      }
      argument.reach = bytes_of(*footprint.elements, footprint.element_bytes);
      if (footprint.certain) {
        argument.certain = bytes_of(*footprint.certain, footprint.element_bytes);
      }
      if (footprint.rows) {
        TIDEGATE_CHECK(add_rows(index, i, reach_of(*footprint.rows, footprint.element_bytes)));
      }
      if (footprint.by_id) {
        const Derived derived = derived_from(footprint, wave.range);
        derived_[{index, i}] = derived;
        argument.neighbours = derived.offset != opencl_c::ElementsById{}.offset;
        if (!argument.halo) {
          argument.halo = derived.halo;
          argument.id_bytes = derived.id_bytes;
          argument.own = footprint.own;
          argument.assigned_first = footprint.assigned_first;
          argument.overwrites = footprint.assigned_first && !has_gaps(kernel.parameters[i]) &&
                                has_every_element(derived, wave.range, footprint.element_bytes, bytes);
        }
      }
    }
    return {};
  }

  Result<void> add_rows(std::uint32_t wave, std::size_t index, const RowReach& rows) {
    ProgramArgument& argument = program_.waves[wave].arguments[index];
    if (argument.rows && argument.rows->row_bytes == rows.row_bytes && argument.rows->reach < rows.reach) {
      return failure(
          ErrorCode::invalid_program,
          fmt::format("rows is {}, and the kernel touches {} of {} to one side of a work-item's own",
                      argument.rows->reach, plural(rows.reach, "row"),
                      in_quotes(program_.buffers[argument.buffer].name)),
          "leave rows out: the kernel says it",
          fmt::format("{}/args/{}/rows", program_.wave_pointer(wave), index));
    }
    if (!argument.rows || argument.rows->row_bytes == rows.row_bytes) {
      argument.rows = rows;
    }
    return {};
  }

  // Ranks may combine a buffer after a wave that changes it by one kind of atomic functions alone.
  Result<void> combine(std::uint32_t wave, std::size_t index, const opencl_c::Footprint& footprint) {
    constexpr std::array<std::string_view, 3> does{"adds to", "takes minima in", "takes maxima in"};
    const ProgramWave& spec = program_.waves[wave];
    ProgramArgument& argument = program_.waves[wave].arguments[index];
    if (!footprint.reduction) {
      return {};
    }
    const auto derived = static_cast<Combine>(*footprint.reduction); // in the same order
    const ProgramBuffer& buffer = program_.buffers[argument.buffer];
    if (argument.combine && argument.combine != derived) {
      const std::string_view name = combine_names[static_cast<std::size_t>(derived)];
      return failure(ErrorCode::invalid_program,
                     fmt::format("combine is {}, and the kernel {} {} with atomics",
                                 in_quotes(combine_names[static_cast<std::size_t>(*argument.combine)]),
                                 does[static_cast<std::size_t>(derived)], in_quotes(buffer.name)),
                     fmt::format(R"(state "combine": "{}", or leave it out)", name),
                     fmt::format("{}/args/{}/combine", program_.wave_pointer(wave), index));
    }
    const auto pointee = integer_pointee(program_.units[program_.ops[spec.op].unit].unit,
                                         program_.function(spec.op).parameters[index]);
    if (pointee && combines_as(*pointee, buffer.type, derived) && argument.access == Access::read_write &&
        !buffer.hits) {
      argument.combine = derived;
    }
    return {};
  }

  // A stated halo is at least what the kernels need, where that is derived.
  Result<void> check_stated() {
    std::vector<std::uint32_t> sets(program_.buffers.size()); // of buffers that exchange their memory
    std::iota(sets.begin(), sets.end(), 0U);
    for (const auto& [first, second] : program_.swaps) {
      std::ranges::replace(sets, sets[first], sets[second]);
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>>
        by_dependency; // waves whose relation a dependency states
    for (const ResolvedDependency& dependency : program_.dependencies) {
      if (dependency.halo) {
        by_dependency.emplace(dependency.before, dependency.after);
        by_dependency.emplace(dependency.after, dependency.before);
        TIDEGATE_CHECK(check(dependency));
      }
    }
    // Waves with the same footprint and the same halo need one check.
    using Class = std::tuple<const opencl_c::Footprint*, std::array<std::uint32_t, 3>, bool>;
    std::map<std::uint32_t, std::map<Class, Place>> by_set;
    for (const auto& [place, derived] : derived_) {
      const ProgramArgument& argument = argument_at(place);
      by_set[sets[argument.buffer]].try_emplace(
          {derived.footprint, *argument.halo, argument.access == Access::read}, place);
    }
    for (const auto& [set, places] : by_set) {
      for (const auto& [of_x, x] : places) {
        const bool stated = argument_at(x).id_bytes != derived_.at(x).id_bytes;
        for (const auto& [of_y, y] : stated ? places : std::map<Class, Place>()) {
          if (!by_dependency.contains({x.first, y.first})) {
            TIDEGATE_CHECK(check(x, y));
          }
        }
      }
    }
    return {};
  }

  using Place = std::pair<std::uint32_t, std::size_t>; // wave and argument

  [[nodiscard]] const ProgramArgument& argument_at(const Place& place) const {
    return program_.waves[place.first].arguments[place.second];
  }

  // Refuses a halo if tiles of x and y that touch the same elements, one of them writing, are further apart than
  // `allowed`, where that is known.
  [[nodiscard]] Result<void> check(const Place& x, const Place& y, const std::array<std::uint32_t, 3>& halo,
                                   const std::array<std::uint64_t, 3>& allowed,
                                   const std::string& pointer) const {
    const Derived& a = derived_.at(x);
    const Derived& b = derived_.at(y);
    const NdRange& range = program_.waves[x.first].range;
    if (a.id_bytes != b.id_bytes || !(range == program_.waves[y.first].range) ||
        (argument_at(x).access == Access::read && argument_at(y).access == Access::read)) {
      return {};
    }
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t away = whole_tiles(std::max(std::abs(a.offset[d].high - b.offset[d].low),
                                                      std::abs(b.offset[d].high - a.offset[d].low)),
                                             range.local[d]);
      if (away > allowed[d]) {
        return invalid_program(
            fmt::format("a halo of {} in dimension {}, and through {} the kernels reach {}",
                        plural(halo[d], "work-group"), d,
                        in_quotes(program_.buffers[argument_at(x).buffer].name), away),
            "leave the halo out: it is derived from the kernels", pointer);
      }
    }
    return {};
  }

  // Checks the halos of two arguments. One that is at least what its kernel reaches is enough.
  [[nodiscard]] Result<void> check(const Place& x, const Place& y) const {
    const auto& own = argument_at(x).halo;
    const auto& other = argument_at(y).halo;
    std::array<std::uint64_t, 3> allowed{};
    for (std::size_t d = 0; own && other && d < 3; ++d) {
      allowed[d] = (*own)[d] < derived_.at(x).halo[d] ? std::uint64_t{(*own)[d]} + (*other)[d]
                                                      : std::numeric_limits<std::uint64_t>::max();
    }
    return own && other ? check(x, y, *own, allowed,
                                fmt::format("{}/args/{}/halo", program_.wave_pointer(x.first), x.second))
                        : Result<void>();
  }

  [[nodiscard]] Result<void> check(const ResolvedDependency& dependency) const {
    const auto& halo = *dependency.halo;
    for (std::size_t i = 0; i < program_.waves[dependency.before].arguments.size(); ++i) {
      for (std::size_t k = 0; k < program_.waves[dependency.after].arguments.size(); ++k) {
        const Place x{dependency.before, i};
        const Place y{dependency.after, k};
        if (derived_.contains(x) && derived_.contains(y) && argument_at(x).buffer == argument_at(y).buffer) {
          TIDEGATE_CHECK(check(x, y, halo, {halo[0], halo[1], halo[2]},
                               fmt::format("/dependencies/{}/halo", dependency.index.value_or(0))));
        }
      }
    }
    return {};
  }

  Job& program_;
  std::map<std::pair<std::uint32_t, opencl_c::LaunchSetting>, std::vector<opencl_c::Footprint>>
      known_; // by op
  std::map<Place, Derived> derived_;
};

} // namespace

Result<void> derive_footprints(Job& program) {
  return Footprints(program).run();
}

} // namespace tidegate::engine
