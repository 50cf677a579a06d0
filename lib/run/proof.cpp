#include <tidegate/core/interrupt.hpp>
#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/proof.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
std::string number_text(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof(T) == 1) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

std::string element_text(ElementType type, const std::byte* at) {
  switch (type) {
  case ElementType::i8: return number_text<std::int8_t>(at);
  case ElementType::u8: return number_text<std::uint8_t>(at);
  case ElementType::i16: return number_text<std::int16_t>(at);
  case ElementType::u16: return number_text<std::uint16_t>(at);
  case ElementType::i32: return number_text<std::int32_t>(at);
  case ElementType::u32: return number_text<std::uint32_t>(at);
  case ElementType::i64: return number_text<std::int64_t>(at);
  case ElementType::u64: return number_text<std::uint64_t>(at);
  case ElementType::f16: {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return fmt::format("0x{:04x}", bits);
  }
  case ElementType::f32: return number_text<float>(at);
  case ElementType::f64: break;
  }
  return number_text<double>(at);
}

} // namespace

std::vector<std::uint32_t> program_order(const ResolvedProgram& program) {
  std::vector<std::vector<std::uint32_t>> after(program.waves.size());
  std::vector<std::uint32_t> waits(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    after[dependency.before].push_back(dependency.after);
    ++waits[dependency.after];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t wave = 0; wave < waits.size(); ++wave) {
    if (waits[wave] == 0) {
      ready.push(wave);
    }
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const std::uint32_t wave = ready.top();
    ready.pop();
    order.push_back(wave);
    for (const std::uint32_t next : after[wave]) {
      if (--waits[next] == 0) {
        ready.push(next);
      }
    }
  }
  return order;
}

Reference::Reference(const device::Session& session, const ResolvedProgram& program,
                     const std::vector<std::vector<std::uint32_t>>& places, const BufferContents& first)
    : session_(session), program_(program), places_(places), first_(first), waves_(program_order(program)),
      programs_(session, program, waves_) {}

PlainRun Reference::run(Clock::time_point deadline) {
  std::vector<cl::Buffer> memory = allocate_apart(session_, program_);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (!first_[i].empty()) {
      upload(session_, memory[i], 0, first_[i]);
    } else {
      const cl_uchar zero = 0;
      device::require(session_.queue.enqueueFillBuffer(memory[i], zero, 0, program_.buffers[i].bytes),
                      "clearing a buffer");
    }
  }
  PlainWaves waves(session_, programs_, program_, waves_, places_, memory);
  device::require(session_.queue.finish(), "clearing the buffers");

  PlainRun result;
  constexpr std::uint64_t launches_between_looks = 4096;
  std::uint64_t launches = 0;
  std::uint32_t iteration = 0;
  bool finished = false;
  const auto start = Clock::now();
  for (; iteration < program_.iterations && !finished && result.in_time; ++iteration) {
    for (const std::uint32_t wave : waves_) {
      waves.launch(wave, iteration % static_cast<std::uint32_t>(places_.size()));
      if (++launches % launches_between_looks == 0) {
        device::require(session_.queue.finish(), "running the plain launches");
        if (Clock::now() >= deadline || InterruptWatch::interrupted()) {
          result.in_time = false;
          break;
        }
      }
    }
    if (program_.until) {
      std::vector<std::byte> value(program_.until->value.size());
      download(session_, memory[places_[(iteration + 1) % places_.size()][program_.until->buffer]], 0, value);
      finished = same_value(program_, value);
      result.in_time &= Clock::now() < deadline && !InterruptWatch::interrupted();
    }
  }
  device::require(session_.queue.finish(), "running the plain launches");
  result.dispatch_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());

  result.outputs.resize(program_.buffers.size());
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    if (program_.buffers[i].spec.output) {
      result.outputs[i].resize(program_.buffers[i].bytes);
      download(session_, memory[places_[iteration % places_.size()][i]], 0, result.outputs[i]);
    }
  }
  return result;
}

OutputParity compare_outputs(const ResolvedProgram& program, const BufferContents& expected,
                             const BufferContents& found) {
  OutputParity parity{.equal = true};
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].spec.output) {
      continue;
    }
    ++parity.checked;
    const auto [a, b] = std::ranges::mismatch(expected[i], found[i]);
    if (a == expected[i].end() && b == found[i].end()) {
      continue;
    }
    const ElementType type = program.buffers[i].spec.type;
    const std::uint64_t element = static_cast<std::uint64_t>(a - expected[i].begin()) / element_bytes(type);
    parity.equal = false;
    if (!parity.first_difference) {
      const std::uint64_t at = element * element_bytes(type);
      parity.first_difference = Difference{.buffer = program.buffers[i].name,
                                           .element = element,
                                           .expected = element_text(type, expected[i].data() + at),
                                           .found = element_text(type, found[i].data() + at)};
    }
  }
  return parity;
}

} // namespace tidegate::run
