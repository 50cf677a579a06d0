// Converts elements to bytes, and refuses parts out of range and copies that overlap.
#include "work/transfer.hpp"

#include "opencl_c/words.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// Elements of a buffer, in bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

Result<Extent> extent_of(const ProgramBuffer& buffer, std::uint64_t offset,
                         std::optional<std::uint64_t> count, const std::string& pointer) {
  const std::uint64_t all = buffer.count;
  const std::uint64_t wanted = count.value_or(offset < all ? all - offset : 0);
  if (offset > all || wanted > all - offset || wanted == 0) {
    return failure(ErrorCode::out_of_range,
                   fmt::format("{} from element {} on, {} has {}", plural(wanted, "element"), offset,
                               in_quotes(buffer.name), all),
                   "give a part of the buffer, of one element at least", pointer);
  }
  const std::uint64_t width = element_bytes(buffer.type);
  return Extent{.offset = offset * width, .bytes = wanted * width};
}

// An NDRange whose work-groups cover this many bytes.
Result<NdRange> range_over(std::uint64_t bytes, const std::string& pointer) {
  constexpr std::uint32_t items = 64;                  // TG_ITEMS of kernels/wave/transfers.cl
  constexpr std::uint64_t group_bytes = items * 8 * 8; // and TG_WORDS of eight bytes
  const std::uint64_t groups = (bytes + group_bytes - 1) / group_bytes;
  if (groups > std::uint64_t{1} << 24U) {
    return failure(ErrorCode::out_of_range, "a wave fills or copies 64 GiB at most",
                   "give several, each with a part", pointer);
  }
  const auto count = static_cast<std::uint32_t>(groups);
  return NdRange{.global = {count * items, 1, 1}, .local = {items, 1, 1}, .groups = {count, 1, 1}};
}

// Finds the buffers that a wave names, at their places in it. Errors: the first; of a wave that was not wholly read,
// all.
Result<std::vector<std::uint32_t>>
find_buffers(const WaveInput& in, std::initializer_list<std::pair<std::string_view, std::string>> names) {
  const bool intact = in.input.unread.intact(in.pointer);
  if (intact) {
    TIDEGATE_CHECK(no_kernel_keys(in, "a wave that fills or copies"));
  }
  ErrorList errors;
  std::vector<std::uint32_t> found;
  for (const auto& [place, name] : names) {
    const auto buffer = find_buffer(
        in.input, in.memory, name, fmt::format("{}{}", in.pointer, place),
        fmt::format("give the image an init, or write it in a kernel: {}", opencl_c::see_unsupported));
    errors.check(buffer);
    if (intact) {
      TIDEGATE_CHECK(buffer);
    }
    found.push_back(buffer.value_or(invalid_index));
  }
  errors.check(in.input.wholly_read(in.pointer));
  TIDEGATE_CHECK(errors.result());
  return found;
}

} // namespace

Result<ProgramWave> fill_wave(const WaveInput& in) {
  const FillSpec& spec = *in.spec.fill;
  const std::string pointer = in.pointer + "/fill";
  TIDEGATE_TRY(const auto named, find_buffers(in, {{"/fill/buffer", spec.buffer}}));
  const std::vector<ProgramBuffer>& buffers = in.memory.buffers;
  const std::uint32_t to = named[0];
  TIDEGATE_TRY(const Extent extent, extent_of(buffers[to], spec.offset, spec.count, pointer));
  const ElementType type = buffers[to].type;
  TransferCommand transfer{.to = to,
                           .to_offset = extent.offset,
                           .bytes = extent.bytes,
                           .pattern = std::vector<std::byte>(element_bytes(type))};
  if (auto stored = store_number(spec.value, type, transfer.pattern.data()); !stored) {
    stored.error().pointer = pointer + "/value";
    return tl::unexpected(std::move(stored.error()));
  }
  std::uint64_t word = 0; // the pattern, repeated to fill the word
  for (std::size_t at = 0; at < sizeof word; at += transfer.pattern.size()) {
    std::memcpy(reinterpret_cast<std::byte*>(&word) + at, transfer.pattern.data(), transfer.pattern.size());
  }
  const std::uint64_t first_word = extent.offset / sizeof word * sizeof word;
  ProgramWave wave{.users_kernel = false};
  TIDEGATE_TRY(wave.range, range_over(extent.offset + extent.bytes - first_word, pointer));
  wave.arguments = {buffer_argument(to, Access::write, extent.bytes == buffers[to].bytes),
                    number_argument(extent.offset), number_argument(extent.offset + extent.bytes),
                    number_argument(word)};
  wave.command = std::move(transfer);
  TIDEGATE_TRY(wave.op, built_in_op(in.ops, "wave/transfers.cl", "fill_bytes"));
  return wave;
}

Result<ProgramWave> copy_wave(const WaveInput& in) {
  const CopySpec& spec = *in.spec.copy;
  const std::string pointer = in.pointer + "/copy";
  TIDEGATE_TRY(const auto named, find_buffers(in, {{"/copy/from", spec.from}, {"/copy/to", spec.to}}));
  const std::vector<ProgramBuffer>& buffers = in.memory.buffers;
  const std::uint32_t from = named[0];
  const std::uint32_t to = named[1];
  TIDEGATE_TRY(const Extent extent, extent_of(buffers[from], spec.from_offset, spec.count, pointer));
  const std::uint64_t width = element_bytes(buffers[to].type);
  std::uint64_t to_offset = 0;
  if (__builtin_mul_overflow(spec.to_offset, width, &to_offset) || to_offset > buffers[to].bytes ||
      extent.bytes > buffers[to].bytes - to_offset) {
    return failure(ErrorCode::out_of_range,
                   fmt::format("{} bytes do not fit into {} from element {} on, which has {}", extent.bytes,
                               in_quotes(buffers[to].name), spec.to_offset, buffers[to].count),
                   "give a smaller count, or a larger buffer", pointer);
  }
  if (from == to && extent.offset < to_offset + extent.bytes && to_offset < extent.offset + extent.bytes) {
    return failure(
        ErrorCode::invalid_program,
        fmt::format("the parts of {} that are read and written overlap", in_quotes(buffers[to].name)),
        "copy by way of another buffer", pointer);
  }
  ProgramWave wave{.users_kernel = false};
  TIDEGATE_TRY(wave.range, range_over(extent.bytes, pointer));
  wave.arguments = {buffer_argument(from, Access::read),
                    buffer_argument(to, Access::write, extent.bytes == buffers[to].bytes),
                    number_argument(extent.offset), number_argument(to_offset),
                    number_argument(extent.bytes)};
  wave.command = TransferCommand{.from = from,
                                 .to = to,
                                 .from_offset = extent.offset,
                                 .to_offset = to_offset,
                                 .bytes = extent.bytes,
                                 .pattern = {}};
  TIDEGATE_TRY(wave.op, built_in_op(in.ops, "wave/transfers.cl", "copy_bytes"));
  return wave;
}

} // namespace tidegate::engine

namespace tidegate::documents {

constexpr Field fill_fields[] = {
    required<&engine::FillSpec::buffer>("name of the buffer"),
    defaulted<&engine::FillSpec::value>("value of every element"),
    defaulted<&engine::FillSpec::offset>("elements before the first one"),
    optional<&engine::FillSpec::count>("elements; left out, up to the end"),
};
TIDEGATE_RECORD(engine::FillSpec, fill_fields);

constexpr Field copy_fields[] = {
    required<&engine::CopySpec::from>("name of the buffer that is read"),
    required<&engine::CopySpec::to>("name of the buffer that is written"),
    defaulted<&engine::CopySpec::from_offset>("elements before the first one that is read"),
    defaulted<&engine::CopySpec::to_offset>("elements before the first one that is written"),
    optional<&engine::CopySpec::count>("elements that are read; left out, up to the end"),
};
TIDEGATE_RECORD(engine::CopySpec, copy_fields);

} // namespace tidegate::documents
