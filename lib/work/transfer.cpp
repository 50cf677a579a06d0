// Waves that fill and copy: built-in kernels (kernels/wave/transfers.cl) in a shared launch, OpenCL commands elsewhere.
// Converts elements to bytes, and refuses parts out of range and copies that overlap.
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

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

// Returns the wave of the built-in kernel that does what the command does, over this many bytes.
Result<ProgramWave> transfer(const WaveInput& in, TransferCommand command, std::uint64_t bytes,
                             std::vector<ProgramArgument> arguments) {
  constexpr std::uint32_t items = 64;                  // TG_ITEMS of kernels/wave/transfers.cl
  constexpr std::uint64_t group_bytes = items * 8 * 8; // and TG_WORDS of eight bytes
  const std::uint64_t groups = (bytes + group_bytes - 1) / group_bytes;
  if (groups > std::uint64_t{1} << 24U) {
    return failure(ErrorCode::out_of_range, "a wave fills or copies 64 GiB at most",
                   "give several, each with a part", in.pointer + (command.from ? "/copy" : "/fill"));
  }
  const auto count = static_cast<std::uint32_t>(groups);
  ProgramWave wave{.users_kernel = false, .arguments = std::move(arguments)};
  wave.range = {.global = {count * items, 1, 1}, .local = {items, 1, 1}, .groups = {count, 1, 1}};
  TIDEGATE_TRY(wave.op, built_in_op(in.ops, "wave/transfers.cl", command.from ? "copy_bytes" : "fill_bytes"));
  wave.command = std::move(command);
  return wave;
}

// Finds a buffer that the wave names, at its place in it.
Result<std::uint32_t> find_buffer(const WaveInput& in, const std::string& name, std::string_view place) {
  return in.memory.find(
      StorageKind::buffer, name, fmt::format("{}{}", in.pointer, place),
      fmt::format("give the image an init, or write it in a kernel: {}", opencl_c::see_unsupported));
}

} // namespace

Result<ProgramWave> fill_wave(const WaveInput& in) {
  const FillSpec& spec = *in.spec.fill;
  const std::string pointer = in.pointer + "/fill";
  TIDEGATE_TRY(const std::uint32_t to, find_buffer(in, spec.buffer, "/fill/buffer"));
  const std::vector<ProgramBuffer>& buffers = in.memory.buffers;
  TIDEGATE_TRY(const Extent extent, extent_of(buffers[to], spec.offset, spec.count, pointer));
  const ElementType type = buffers[to].type;
  std::vector<std::byte> pattern(element_bytes(type));
  TIDEGATE_CHECK(at_place(pointer + "/value", store_number(spec.value, type, pattern.data())));
  std::uint64_t word = 0; // the pattern, repeated to fill the word
  for (std::size_t at = 0; at < sizeof word; at += pattern.size()) {
    std::memcpy(reinterpret_cast<std::byte*>(&word) + at, pattern.data(), pattern.size());
  }
  const std::uint64_t first_word = extent.offset / sizeof word * sizeof word;
  const std::uint64_t end = extent.offset + extent.bytes;
  return transfer(
      in, {.to = to, .to_offset = extent.offset, .bytes = extent.bytes, .pattern = std::move(pattern)},
      end - first_word,
      {buffer_argument(to, Access::write, extent.bytes == buffers[to].bytes), number_argument(extent.offset),
       number_argument(end), number_argument(word)});
}

Result<ProgramWave> copy_wave(const WaveInput& in) {
  const CopySpec& spec = *in.spec.copy;
  const std::string pointer = in.pointer + "/copy";
  TIDEGATE_TRY(const std::uint32_t from, find_buffer(in, spec.from, "/copy/from"));
  TIDEGATE_TRY(const std::uint32_t to, find_buffer(in, spec.to, "/copy/to"));
  const std::vector<ProgramBuffer>& buffers = in.memory.buffers;
  TIDEGATE_TRY(const Extent extent, extent_of(buffers[from], spec.from_offset, spec.count, pointer));
  const std::uint64_t width = element_bytes(buffers[to].type);
  std::uint64_t to_offset = 0;
  const bool fits = !__builtin_mul_overflow(spec.to_offset, width, &to_offset) &&
                    to_offset <= buffers[to].bytes && extent.bytes <= buffers[to].bytes - to_offset;
  const Refusal refusals[] = {
      {!fits, "",
       fmt::format("{} bytes do not fit into {} from element {} on, which has {}", extent.bytes,
                   in_quotes(buffers[to].name), spec.to_offset, buffers[to].count),
       "give a smaller count, or a larger buffer", ErrorCode::out_of_range},
      {from == to && extent.offset < to_offset + extent.bytes && to_offset < extent.offset + extent.bytes, "",
       fmt::format("the parts of {} that are read and written overlap", in_quotes(buffers[to].name)),
       "copy by way of another buffer"}};
  TIDEGATE_CHECK(first_of(refusals, pointer));
  return transfer(in,
                  {.from = from,
                   .to = to,
                   .from_offset = extent.offset,
                   .to_offset = to_offset,
                   .bytes = extent.bytes,
                   .pattern = {}},
                  extent.bytes,
                  {buffer_argument(from, Access::read),
                   buffer_argument(to, Access::write, extent.bytes == buffers[to].bytes),
                   number_argument(extent.offset), number_argument(to_offset),
                   number_argument(extent.bytes)});
}

} // namespace tidegate::engine
