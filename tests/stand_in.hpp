// A session that stands in for a device: its memory is the host's, and a launch calls a function of the test in
// place of the kernel.
#pragma once
#include "core/interrupt.hpp"
#include "device/session.hpp"

#include <doctest/doctest.h>

namespace tidegate::device::test {

// Lets a test raise SIGINT; afterwards nothing is interrupted.
class Interruptible {
public:
  Interruptible() {
    handle_interrupts("", "");
    watch_.emplace();
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    watch_.reset();
    const InterruptWatch forgets;
  }

private:
  std::optional<InterruptWatch> watch_;
};

// A launch, as the function that stands in for its kernel sees it. Arguments are bytes: values by copy, the
// memory of buffers in place, nothing for local memory and null pointers.
class StandInLaunch {
public:
  struct Memory {
    std::shared_ptr<std::vector<std::byte>> owner; // empty if it is shared with the host
    std::span<std::byte> bytes;
  };

  StandInLaunch(const std::map<std::uint32_t, Memory>& arguments, const LaunchRange& launched,
                const std::string& built_with)
      : range(launched), options(built_with), arguments_(arguments) {}

  const LaunchRange& range;
  const std::string& options; // of the program

  [[nodiscard]] std::size_t work_groups() const { return range.global[0] / range.local[0]; }

  // A buffer as elements of this type.
  template <class T>
  [[nodiscard]] std::span<T> buffer(std::uint32_t index) const {
    const std::span<std::byte> bytes = arguments_.at(index).bytes;
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  template <class T>
  [[nodiscard]] T value(std::uint32_t index) const {
    T value{};
    REQUIRE(arguments_.at(index).bytes.size() == sizeof value);
    std::memcpy(&value, arguments_.at(index).bytes.data(), sizeof value);
    return value;
  }

private:
  const std::map<std::uint32_t, Memory>& arguments_;
};

class StandIn final : public Session {
public:
  using Memory = StandInLaunch::Memory;
  using KernelFunction = std::function<void(const StandInLaunch&)>;

  StandIn() { device_name = "stand-in"; }

  // Kernels by name; a program has all of them.
  std::map<std::string, KernelFunction> kernels;

  // Lets the Nth call of one kind, counted from 1, end with an error. Kinds are named like the functions.
  struct Failure {
    std::string call;
    int number = 1;
    Status status = out_of_resources;
  };
  std::vector<Failure> failures;

  // Times of a launch by the device's clock; those of a launch are asked for when it has run.
  std::function<EventTimes()> clock = [] { return EventTimes(); };

  std::function<bool()> ended = [] { return true; }; // of every launch, for who asks without waiting

  std::string binary_text = "binary";   // of every program
  std::function<void()> while_building; // a generated kernel; may be empty
  std::function<void()> while_reading;  // memory; may be empty

  // Calls so far, by kind; several sessions can share them.
  std::shared_ptr<std::map<std::string, int>> counts = std::make_shared<std::map<std::string, int>>();

  std::shared_ptr<std::mutex> calling =
      std::make_shared<std::mutex>(); // candidates are built in another thread

  [[nodiscard]] int count(const std::string& call) const {
    const auto found = counts->find(call);
    return found == counts->end() ? 0 : found->second;
  }

  Made<Buffer> allocate(std::uint64_t bytes) const override {
    if (const Status status = called("allocate"); status != success) {
      return tl::unexpected(status);
    }
    (*counts)["allocated bytes"] += static_cast<int>(bytes);
    return counted<Buffer>(object<Buffer>(owned(std::vector<std::byte>(bytes))), bytes);
  }
  Made<Buffer> share(std::span<std::byte> shared) const override {
    const Status status = called("share");
    return status == success ? counted<Buffer>(object<Buffer>(Memory{nullptr, shared}))
                             : tl::unexpected(status);
  }
  Made<Buffer> part_of(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) const override {
    if (const Status status = called("part_of"); status != success) {
      return tl::unexpected(status);
    }
    return object<Buffer>(Memory{memory(buffer).owner, bytes_of(buffer, offset, bytes)});
  }
  Status migrate(std::span<const Buffer> /*buffers*/) const override { return called("migrate"); }
  Status write(const Buffer& to, std::uint64_t offset, std::span<const std::byte> bytes,
               Transferred when) const override {
    count_transfer(&Calls::bytes_written, bytes.size(), when);
    const Status status = called("write");
    if (status == success) {
      std::ranges::copy(bytes, bytes_of(to, offset, bytes.size()).begin());
    }
    return status;
  }
  Status read(const Buffer& from, std::uint64_t offset, std::span<std::byte> bytes,
              Transferred when) const override {
    count_transfer(&Calls::bytes_read, bytes.size(), when);
    const Status status = called("read");
    if (while_reading) {
      while_reading();
    }
    if (status == success) {
      std::ranges::copy(bytes_of(from, offset, bytes.size()), bytes.begin());
    }
    return status;
  }
  Status fill(const Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::span<const std::byte> pattern,
              Event* event) const override {
    const Status status = called("fill");
    if (status == success) {
      const std::span<std::byte> filled = bytes_of(to, offset, bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        filled[i] = pattern[i % pattern.size()];
      }
      note(event);
    }
    return status;
  }
  Status copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
              std::uint64_t bytes, Event* event) const override {
    const Status status = called("copy");
    if (status == success) {
      std::ranges::copy(bytes_of(from, from_offset, bytes), bytes_of(to, to_offset, bytes).begin());
      note(event);
    }
    return status;
  }
  std::shared_ptr<std::byte> pin(std::size_t /*bytes*/) const override { return {}; }

  Made<std::vector<ImageFormat>> image_formats(engine::ImageKind /*kind*/, ImageUse /*use*/) const override {
    std::vector<ImageFormat> all;
    for (std::size_t i = 0; i < image_format_names.size(); ++i) {
      all.push_back(static_cast<ImageFormat>(i));
    }
    return all;
  }
  Made<engine::ImageShape> largest_image(engine::ImageKind kind) const override {
    constexpr std::uint64_t most = 1024;
    return engine::ImageShape{.kind = kind, .width = most, .height = most, .depth = most, .layers = most};
  }
  Made<Image> make_image(const engine::ImageShape& /*shape*/, ImageUse /*use*/) const override {
    return Image();
  }
  Status write_image(const Image& /*to*/, const engine::ImageShape& /*shape*/,
                     std::span<const std::byte> /*texels*/) const override {
    return called("write_image");
  }
  Status read_image(const Image& /*from*/, const engine::ImageShape& /*shape*/,
                    std::span<std::byte> /*texels*/) const override {
    return called("read_image");
  }
  Status copy_image(const Image& /*from*/, const Image& /*to*/,
                    const engine::ImageShape& /*shape*/) const override {
    return called("copy_image");
  }
  Made<Sampler> make_sampler(const engine::SamplerSpec& /*spec*/) const override { return Sampler(); }

  Result<Program> build(std::string_view source, const std::string& options) const override {
    if (const Status status = called("build"); status != success) {
      return tl::unexpected(opencl_failure("building a kernel", status));
    }
    if (while_building && (source.find("tidegate_persistent") != std::string_view::npos ||
                           source.find("tidegate_stage") != std::string_view::npos)) {
      while_building();
    }
    const std::scoped_lock lock(*calling);
    sources->push_back(options + "\n" + std::string(source));
    return object<Program>(options);
  }
  Program load(std::span<const unsigned char> binary, const std::string& options) const override {
    loaded->emplace_back(binary.begin(), binary.end());
    return called("load") == success ? object<Program>(options) : Program();
  }
  std::vector<unsigned char> binary_of(const Program& /*program*/) const override {
    (void)called("binary_of");
    return {binary_text.begin(), binary_text.end()};
  }
  Made<Kernel> make_kernel(const Program& program, const std::string& name) const override {
    const Status status = called("make_kernel");
    const std::string options =
        program ? *static_cast<const std::string*>(program.of.get()) : std::string(); // none was built
    return status == success ? Made<Kernel>(object<Kernel>(KernelState{name, options, {}}))
                             : tl::unexpected(status);
  }

  Status set_object(const Kernel& kernel, std::uint32_t index, const Object& set) const override {
    state(kernel).arguments[index] = set ? *static_cast<const Memory*>(set.of.get()) : Memory();
    return called("set_object");
  }
  Status set_bytes(const Kernel& kernel, std::uint32_t index,
                   std::span<const std::byte> value) const override {
    state(kernel).arguments[index] = owned({value.begin(), value.end()});
    return called("set_bytes");
  }
  Status set_local(const Kernel& kernel, std::uint32_t index, std::size_t /*bytes*/) const override {
    state(kernel).arguments[index] = {};
    return called("set_local");
  }

  Status launch(const Kernel& kernel, const LaunchRange& range, Event* event) const override {
    ++calls()->launches;
    const Status status = called("launch");
    if (status == success) {
      const KernelState& launched = state(kernel);
      const auto function = kernels.find(launched.name);
      if (function == kernels.end()) {
        throw std::logic_error("no function stands in for the kernel " + launched.name);
      }
      function->second(StandInLaunch(launched.arguments, range, launched.options));
      note(event);
    }
    return status;
  }
  Status mark(Event& event) const override {
    note(&event);
    return called("mark");
  }
  Status wait(const Event& /*event*/) const override {
    ++calls()->waits;
    return called("wait");
  }
  bool has_ended(const Event& /*event*/) const override { return ended(); }
  Status flush() const override { return called("flush"); }
  Status finish() const override {
    ++calls()->waits;
    return called("finish");
  }
  Made<EventTimes> times_of(const Event& event) const override {
    return *static_cast<const EventTimes*>(event.of.get());
  }

  // Contents of a buffer, for checks.
  template <class T>
  [[nodiscard]] std::span<T> contents(const Buffer& buffer) const {
    const std::span<std::byte> bytes = memory(buffer).bytes;
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Options and texts of what was built, and binaries that were loaded.
  std::shared_ptr<std::vector<std::string>> sources = std::make_shared<std::vector<std::string>>();
  std::shared_ptr<std::vector<std::string>> loaded = std::make_shared<std::vector<std::string>>();

private:
  struct KernelState {
    std::string name;
    std::string options;
    std::map<std::uint32_t, Memory> arguments;
  };

  template <class Kind, class State>
  static Kind object(State state) {
    return Kind{{std::make_shared<State>(std::move(state))}};
  }
  static Memory owned(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return {owner, *owner};
  }
  static const Memory& memory(const Buffer& buffer) { return *static_cast<const Memory*>(buffer.of.get()); }
  static KernelState& state(const Kernel& kernel) { return *static_cast<KernelState*>(kernel.of.get()); }

  static std::span<std::byte> bytes_of(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
    const std::span<std::byte> all = memory(buffer).bytes;
    if (offset + bytes > all.size()) {
      throw std::logic_error("an access past the end of a buffer");
    }
    return all.subspan(offset, bytes);
  }

  void note(Event* event) const {
    if (event != nullptr) {
      *event = object<Event>(clock());
    }
  }

  Status called(const std::string& call) const {
    const std::scoped_lock lock(*calling);
    const int number = ++(*counts)[call];
    for (const Failure& failure : failures) {
      if (failure.call == call && failure.number == number) {
        return failure.status;
      }
    }
    return success;
  }
};

} // namespace tidegate::device::test
