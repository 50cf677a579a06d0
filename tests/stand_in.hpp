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

  Buffer allocate(std::uint64_t bytes) const override {
    called("allocate");
    (*counts)["allocated bytes"] += static_cast<int>(bytes);
    return counted(object<Buffer>(owned(std::vector<std::byte>(std::max<std::uint64_t>(bytes, 1)))), bytes);
  }
  Buffer share(std::span<std::byte> shared) const override {
    called("share");
    return counted(object<Buffer>(Memory{nullptr, shared}));
  }
  Buffer part_of(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) const override {
    called("part_of");
    return object<Buffer>(Memory{memory(buffer).owner, bytes_of(buffer, offset, bytes)});
  }
  void migrate(std::span<const Buffer> /*buffers*/) const override { called("migrate"); }
  void write(const Buffer& to, std::uint64_t offset, std::span<const std::byte> bytes,
             Transferred when) const override {
    count_transfer(&Calls::bytes_written, bytes.size(), when);
    called("write");
    std::ranges::copy(bytes, bytes_of(to, offset, bytes.size()).begin());
  }
  void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> bytes,
            Transferred when) const override {
    count_transfer(&Calls::bytes_read, bytes.size(), when);
    if (while_reading) {
      while_reading();
    }
    called("read");
    std::ranges::copy(bytes_of(from, offset, bytes.size()), bytes.begin());
  }
  void fill(const Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::span<const std::byte> pattern,
            Event* event) const override {
    called("fill");
    const std::span<std::byte> filled = bytes_of(to, offset, bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      filled[i] = pattern[i % pattern.size()];
    }
    note(event);
  }
  void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
            std::uint64_t bytes, Event* event) const override {
    called("copy");
    std::ranges::copy(bytes_of(from, from_offset, bytes), bytes_of(to, to_offset, bytes).begin());
    note(event);
  }
  std::shared_ptr<std::byte> pin(std::size_t /*bytes*/) const override { return {}; }

  std::vector<ImageFormat> image_formats(engine::ImageKind /*kind*/, ImageUse /*use*/) const override {
    std::vector<ImageFormat> all;
    for (std::size_t i = 0; i < image_format_names.size(); ++i) {
      all.push_back(static_cast<ImageFormat>(i));
    }
    return all;
  }
  engine::ImageShape largest_image(engine::ImageKind kind) const override {
    constexpr std::uint64_t most = 1024;
    return {.kind = kind, .width = most, .height = most, .depth = most, .layers = most};
  }
  Image make_image(const engine::ImageShape& /*shape*/, ImageUse /*use*/) const override { return {}; }
  void write_image(const Image& /*to*/, const engine::ImageShape& /*shape*/,
                   std::span<const std::byte> /*texels*/) const override {
    called("write_image");
  }
  void read_image(const Image& /*from*/, const engine::ImageShape& /*shape*/,
                  std::span<std::byte> /*texels*/) const override {
    called("read_image");
  }
  void copy_image(const Image& /*from*/, const Image& /*to*/,
                  const engine::ImageShape& /*shape*/) const override {
    called("copy_image");
  }
  Sampler make_sampler(const engine::SamplerSpec& /*spec*/) const override { return {}; }

  Result<Program> build(std::string_view source, const std::string& options) const override {
    if (const Status status = next("build"); status != success) {
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
    return next("load") == success ? object<Program>(options) : Program();
  }
  std::vector<unsigned char> binary_of(const Program& /*program*/) const override {
    (void)next("binary_of");
    return {binary_text.begin(), binary_text.end()};
  }
  Kernel make_kernel(const Program& program, const std::string& name) const override {
    called("make_kernel");
    const std::string options =
        program ? *static_cast<const std::string*>(program.of.get()) : std::string(); // none was built
    return object<Kernel>(KernelState{name, options, {}});
  }

  void set_object(const Kernel& kernel, std::uint32_t index, const Object& set) const override {
    called("set_object");
    state(kernel).arguments[index] = set ? *static_cast<const Memory*>(set.of.get()) : Memory();
  }
  void set_bytes(const Kernel& kernel, std::uint32_t index, std::span<const std::byte> value) const override {
    called("set_bytes");
    state(kernel).arguments[index] = owned({value.begin(), value.end()});
  }
  void set_local(const Kernel& kernel, std::uint32_t index, std::size_t /*bytes*/) const override {
    called("set_local");
    state(kernel).arguments[index] = {};
  }

  void launch(const Kernel& kernel, const LaunchRange& range, Event* event) const override {
    ++calls()->launches;
    called("launch");
    const KernelState& launched = state(kernel);
    const auto function = kernels.find(launched.name);
    if (function == kernels.end()) {
      throw std::logic_error("no function stands in for the kernel " + launched.name);
    }
    function->second(StandInLaunch(launched.arguments, range, launched.options));
    note(event);
  }
  Event mark() const override {
    called("mark");
    Event event;
    note(&event);
    return event;
  }
  void wait(const Event& /*event*/) const override {
    ++calls()->waits;
    called("wait");
  }
  bool has_ended(const Event& /*event*/) const override { return ended(); }
  void flush() const override { called("flush"); }
  void finish() const override {
    ++calls()->waits;
    called("finish");
  }
  EventTimes times_of(const Event& event) const override {
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
    if (bytes == 0) {
      return {};
    }
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

  void called(const std::string& call) const { require(next(call), "calling " + call); }

  // Counts a call; returns how it ends.
  Status next(const std::string& call) const {
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
