// Converts elements to bytes, and refuses parts out of range and copies that overlap.
#include "device/kernels.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

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

ProgramArgument buffer_argument(std::uint32_t buffer, Access access, bool overwrites = false) {
  return {.kind = ProgramArgument::Kind::buffer,
          .buffer = buffer,
          .access = access,
          .overwrites = overwrites,
          .value = {}};
}

ProgramArgument word_argument(std::uint64_t word) {
  ProgramArgument argument{.kind = ProgramArgument::Kind::value,
                           .value = std::vector<std::byte>(sizeof word)};
  std::memcpy(argument.value.data(), &word, sizeof word);
  return argument;
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

Result<ProgramWave> resolve_fill(const FillSpec& spec, std::span<const ProgramBuffer> buffers,
                                 const FindBuffer& find_buffer, const std::string& pointer) {
  TIDEGATE_TRY(const std::uint32_t to, find_buffer(spec.buffer, pointer + "/buffer"));
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
                    word_argument(extent.offset), word_argument(extent.offset + extent.bytes),
                    word_argument(word)};
  wave.command = std::move(transfer);
  return wave;
}

Result<ProgramWave> resolve_copy(const CopySpec& spec, std::span<const ProgramBuffer> buffers,
                                 const FindBuffer& find_buffer, const std::string& pointer) {
  TIDEGATE_TRY(const std::uint32_t from, find_buffer(spec.from, pointer + "/from"));
  TIDEGATE_TRY(const std::uint32_t to, find_buffer(spec.to, pointer + "/to"));
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
                    word_argument(extent.offset), word_argument(to_offset), word_argument(extent.bytes)};
  wave.command = TransferCommand{.from = from,
                                 .to = to,
                                 .from_offset = extent.offset,
                                 .to_offset = to_offset,
                                 .bytes = extent.bytes,
                                 .pattern = {}};
  return wave;
}

} // namespace

Result<std::uint32_t> built_in_op(ProgramOps& ops, const char* file, std::string_view kernel) {
  for (std::uint32_t op = 0; op < ops.ops.size(); ++op) {
    if (ops.ops[op].name == kernel && !ops.unit(op).built_in.empty()) {
      return op;
    }
  }
  const std::string path = fmt::format("tidegate/kernels/{}", file);
  const opencl_c::PreprocessorOptions options{
      .definitions = {}, .undefinitions = {}, .include_folders = {}, .read = [file](const std::string&) {
        return Result<std::string>(device::kernel_source(file));
      }};
  TIDEGATE_TRY(opencl_c::TranslationUnit unit,
               opencl_c::preprocess(path, options).and_then(opencl_c::parse_translation_unit));
  for (std::uint32_t i = 0; i < unit.functions.size(); ++i) {
    if (unit.functions[i].is_kernel) {
      ops.ops.push_back({.name = unit.functions[i].name,
                         .unit = static_cast<std::uint32_t>(ops.units.size()),
                         .function = i});
    }
  }
  ops.units.push_back({.path = path,
                       .options = "",
                       .parsed_options = {},
                       .unit = std::move(unit),
                       .built_in = device::kernel_source(file)});
  return built_in_op(ops, file, kernel);
}

Result<void> no_range(const WaveSpec& spec, std::string_view what, const std::string& pointer) {
  const std::string_view key = !spec.global_size.empty() ? "global_size"
                               : spec.local_size         ? "local_size"
                               : spec.global_offset      ? "global_offset"
                               : !spec.args.empty()      ? "args"
                               : spec.active             ? "active"
                                                         : "";
  if (!key.empty()) {
    return failure(ErrorCode::invalid_program, fmt::format("{} has no {}", what, key), "leave it out",
                   fmt::format("{}/{}", pointer, key));
  }
  return {};
}

Result<ProgramWave> resolve_transfer(const WaveSpec& spec, std::span<const ProgramBuffer> buffers,
                                     const FindBuffer& find_buffer, const std::string& pointer) {
  TIDEGATE_CHECK(no_range(spec, "a wave that fills or copies", pointer));
  return spec.fill ? resolve_fill(*spec.fill, buffers, find_buffer, pointer + "/fill")
                   : resolve_copy(*spec.copy, buffers, find_buffer, pointer + "/copy");
}

} // namespace tidegate::engine
