#include "device/session.hpp"
#include "engine/recommend.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "wave/hits_state.h"
#include "work/resolve.hpp"

namespace tidegate::engine {
namespace {

static_assert(most_hits == TG_HITS_LIMIT - 1);

using Bytes = std::span<const std::byte>;

// The form of a list's hits.
struct Shape {
  ElementType type = ElementType::u32;
  std::uint32_t width = 1;
  std::shared_ptr<const std::uint32_t> written = {}; // of ProgramHits

  [[nodiscard]] std::uint64_t hit_bytes() const { return std::uint64_t{width} * element_bytes(type); }
  // The first hit is element `header() / hit_bytes()` of an array of hits.
  [[nodiscard]] std::uint64_t header() const {
    return (TG_HITS_BYTES + hit_bytes() - 1) / hit_bytes() * hit_bytes();
  }
};

std::array<std::uint32_t, TG_HITS_BYTES / sizeof(std::uint32_t)> header_words(Bytes list) {
  std::array<std::uint32_t, TG_HITS_BYTES / sizeof(std::uint32_t)> words{};
  std::memcpy(words.data(), list.data(), sizeof words);
  return words;
}

// Returns how many hits were appended, those without room included.
std::uint64_t appended(Bytes list) {
  const auto words = header_words(list);
  return words[TG_HITS_COUNT] + words[TG_HITS_MORE] + (std::uint64_t{words[TG_HITS_MORE + 1]} << 32U);
}

// The hits that had room; 0 in elements that no kernel writes.
std::vector<std::byte> kept(Bytes list, const Shape& shape, std::uint64_t capacity) {
  const Bytes hits = list.subspan(shape.header(), std::min(appended(list), capacity) * shape.hit_bytes());
  std::vector<std::byte> result(hits.begin(), hits.end());
  const std::size_t size = element_bytes(shape.type);
  for (std::size_t i = 3 * size; shape.width == 4 && *shape.written == 3 && i < result.size();
       i += 4 * size) {
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(i), size, std::byte{});
  }
  return result;
}

// Integers whose order is that of the elements: signed integers start at the lowest, and floats are in their total
// order, as their bits without the sign are.
std::uint64_t key_of(std::uint64_t bits, ElementType type) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * element_bytes(type) - 1);
  const bool reversed = is_float(type) && (bits & sign) != 0;
  return reversed                                    ? bits ^ (sign | (sign - 1))
         : is_float(type) || is_signed_integer(type) ? bits ^ sign
                                                     : bits;
}

// Sorts hits by their elements, the first element first.
std::vector<std::byte> sorted(Bytes hits, const Shape& shape) {
  const std::size_t size = element_bytes(shape.type);
  std::vector<std::uint64_t> keys(hits.size() / size);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint64_t bits = 0; // little-endian, as .npy files are written
    std::memcpy(&bits, hits.data() + i * size, size);
    keys[i] = key_of(bits, shape.type);
  }
  std::vector<std::size_t> order(keys.size() / shape.width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto row = [&](std::size_t hit) { return std::span(keys).subspan(hit * shape.width, shape.width); };
    return std::ranges::lexicographical_compare(row(a), row(b));
  });
  std::vector<std::byte> result(hits.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::memcpy(result.data() + i * shape.hit_bytes(), hits.data() + order[i] * shape.hit_bytes(),
                shape.hit_bytes());
  }
  return result;
}

// Compares what had room, sorted, or only the numbers of hits if a list had no room for all.
UnorderedDifference compare(Bytes expected, Bytes found, const Shape& shape, std::uint64_t capacity) {
  const std::uint64_t all_expected = appended(expected);
  const std::uint64_t all_found = appended(found);
  const auto [less, more] = std::minmax(all_expected, all_found);
  if (more > capacity) { // which hits had room depends on the order in which they came
    return less == more ? UnorderedDifference()
                        : UnorderedDifference{.elements = more - less,
                                              .first = less,
                                              .expected = plural(all_expected, "hit"),
                                              .found = plural(all_found, "hit")};
  }
  const std::vector<std::byte> a = sorted(kept(expected, shape, capacity), shape);
  const std::vector<std::byte> b = sorted(kept(found, shape, capacity), shape);
  UnorderedDifference difference;
  for (std::size_t i = 0; i < more; ++i) {
    const auto hit = [&](const std::vector<std::byte>& hits) {
      const std::size_t at = std::min(i * shape.hit_bytes(), hits.size());
      return Bytes(hits).subspan(at, std::min(shape.hit_bytes(), hits.size() - at));
    };
    const auto hit_text = [&](Bytes bytes) -> std::string {
      std::vector<std::string> texts;
      for (std::size_t at = 0; at < bytes.size(); at += element_bytes(shape.type)) {
        texts.push_back(element_text(shape.type, bytes.data() + at));
      }
      return texts.empty()       ? "no hit"
             : texts.size() == 1 ? texts.front()
                                 : fmt::format("({})", fmt::join(texts, ", "));
    };
    if (!std::ranges::equal(hit(a), hit(b)) && difference.elements++ == 0) {
      difference.first = i;
      difference.expected = hit_text(hit(a));
      difference.found = hit_text(hit(b));
    }
  }
  return difference;
}

// Returns the capacity that the policy derives. Errors have the place of the list, `pointer`.
Result<std::uint64_t> derived_capacity(const HitsSpec& spec, const HitSources& sources,
                                       const policy::LaunchPolicy& policy, const std::string& pointer) {
  if (sources.endless) {
    return invalid_program("its capacity cannot be derived: the program repeats without a bound",
                           "give it a capacity, or the program a repeat", pointer);
  }
  policy::LaunchRequest request;
  request.queue_len = sources.items;
  request.max_workgroup_size_x = request.max_compute_workgroups_per_dimension =
      request.max_compute_invocations_per_workgroup = 1; // its geometry does not matter here
  request.expected_hits_per_item = spec.expected_hits_per_item.value_or(1);
  request.memory_pressure_bps =
      static_cast<std::uint16_t>(pressure_bps(sources.memory_bytes, sources.budget_bytes));
  const auto decision = policy::decide(policy, request);
  if (decision && decision->recommendation.hit_capacity <= most_hits) {
    return decision->recommendation.hit_capacity;
  }
  Error error = decision ? Error{.code = ErrorCode::overflow,
                                 .message = fmt::format("the policy derives a capacity of {}",
                                                        decision->recommendation.hit_capacity)}
                         : decision.error();
  error.fix =
      "give it a capacity, or lower its expected_hits_per_item or the policy's hit_capacity_multiplier";
  error.pointer = pointer;
  return tl::unexpected(std::move(error));
}

} // namespace

ProgramBuffer resolve_hits(const std::string& name, const HitsSpec& spec, const std::string& folder,
                           const std::string& pointer) {
  ProgramHits hits{.width = spec.width};
  hits.report.list = name;
  hits.report.on_overflow = spec.on_overflow;
  ProgramBuffer list{.name = name,
                     .pointer = pointer,
                     .type = spec.type,
                     .hits = std::make_shared<const ProgramHits>(std::move(hits))};
  if (spec.output) {
    list.output = path_in(folder, *spec.output);
  }
  return list;
}

Result<void> size_list(ProgramBuffer& list, const HitsSpec& spec, const HitSources& sources,
                       const policy::LaunchPolicy& policy) {
  TIDEGATE_TRY(const std::uint64_t capacity, spec.capacity
                                                 ? Result<std::uint64_t>(*spec.capacity)
                                                 : derived_capacity(spec, sources, policy, list.pointer));
  ProgramHits hits = *list.hits;
  hits.report.derived = !spec.capacity;
  hits.report.capacity = capacity;
  const Shape shape{.type = spec.type, .width = spec.width, .written = hits.written};
  hits.count = [report = hits.report](Bytes contents) {
    if (header_words(contents)[TG_HITS_CAPACITY] != report.capacity) {
      throw device::Refused{
          {.code = ErrorCode::invalid_program,
           .message = fmt::format("a kernel has written over the first {} bytes of the list {}",
                                  TG_HITS_BYTES, in_quotes(report.list)),
           .fix = "append to it with TIDEGATE_HIT alone",
           .pointer = "/hits/" + pointer_token(report.list)}};
    }
    HitsReport counted = report;
    counted.hits = appended(contents);
    counted.dropped = *counted.hits - std::min(*counted.hits, counted.capacity);
    counted.needed_capacity = std::max<std::uint64_t>(*counted.hits, 1);
    return counted;
  };
  list.compare = [shape, capacity](Bytes expected, Bytes found) {
    return compare(expected, found, shape, capacity);
  };
  list.hits = std::make_shared<const ProgramHits>(std::move(hits));
  list.counted_bytes = TG_HITS_BYTES;
  list.bytes = shape.header() + (capacity + 1) * shape.hit_bytes(); // one more for hits without room
  list.count = list.bytes / element_bytes(shape.type);
  list.first = [capacity] {
    std::vector<std::byte> header(TG_HITS_BYTES);
    const auto words = static_cast<std::uint32_t>(capacity);
    std::memcpy(header.data() + TG_HITS_CAPACITY * sizeof words, &words, sizeof words);
    return Result<std::vector<std::byte>>(std::move(header));
  };
  if (list.output) {
    list.write = [shape, capacity, path = *list.output, sort = spec.sorted](Bytes contents) {
      const std::vector<std::byte> hits_found = kept(contents, shape, capacity);
      const std::vector<std::uint64_t> rows{hits_found.size() / element_bytes(shape.type) / shape.width,
                                            shape.width};
      return write_buffer(shape.type, sort ? sorted(hits_found, shape) : hits_found, path,
                          std::span(rows).first(shape.width == 1 ? 1 : 2));
    };
  }
  return {};
}

void size_lists(const ResolveInput& input, ProgramMemory& memory, const std::vector<ProgramWave>& waves,
                ErrorList& errors) {
  const WaveProgram& program = input.program;
  const auto items =
      program.hits.empty() ? Result<std::uint32_t>(0) : queued_items(waves, program.repeat.value_or(1));
  if (!errors.check(items)) {
    return;
  }
  HitSources sources{.items = *items,
                     .endless = program.until && !program.repeat,
                     .budget_bytes = program.device_memory_budget_bytes};
  for (const ProgramBuffer& buffer : memory.buffers) {
    sources.memory_bytes += buffer.hits ? 0 : buffer.bytes;
  }
  for (const auto& [name, spec] : program.hits) {
    errors.check(size_list(memory.buffers[memory.names.at(name).index], spec, sources, program.policy));
  }
}

Result<void> check_hits_parameter(const ProgramBuffer& list, const opencl_c::Parameter& parameter,
                                  const opencl_c::TranslationUnit& unit, const std::string& pointer) {
  const std::string declaration = opencl_c::text_of(unit, parameter.tokens);
  if (!parameter.is_pointer || parameter.space != opencl_c::AddressSpace::global || parameter.is_const) {
    return argument_mismatch(fmt::format("the argument is the list of hits {}, the kernel's parameter is {}",
                                         in_quotes(list.name), in_quotes(declaration)),
                             parameter.is_pointer && parameter.is_const
                                 ? "let the kernel take a pointer to what it may change"
                                 : "give " + wanted_argument(parameter, unit),
                             pointer);
  }
  const auto layout = opencl_c::layout_of_pointee(unit, parameter);
  if (!layout) {
    return argument_mismatch(
        fmt::format("the size of a hit in {} is not certain: {}", in_quotes(declaration), layout.error()),
        "let the kernel take a pointer to a number, a vector or a structure of numbers", pointer);
  }
  const Shape shape{.type = list.type, .width = list.hits->width};
  const auto arithmetic = opencl_c::arithmetic_type(layout->name);
  if (layout->bytes == shape.hit_bytes() &&
      (!arithmetic || element_type_of(arithmetic->scalar) == shape.type)) {
    std::uint32_t& written = *list.hits->written;
    written = std::max(written, arithmetic ? arithmetic->width : shape.width);
    return {};
  }
  return argument_mismatch(
      fmt::format("a hit of the list {} is {}, {}, the parameter is {} with elements of {}",
                  in_quotes(list.name),
                  shape.width == 1 ? std::string(name(shape.type))
                                   : fmt::format("{} of {}", shape.width, name(shape.type)),
                  plural(shape.hit_bytes(), "byte"), in_quotes(declaration), plural(layout->bytes, "byte")),
      "give the list the type of the parameter, and its width", pointer);
}

std::uint32_t pressure_bps(std::uint64_t bytes, std::uint64_t budget) {
  const double part = budget == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(budget);
  return static_cast<std::uint32_t>(std::min(part, 1.0) * 10'000);
}

} // namespace tidegate::engine
