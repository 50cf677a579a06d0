// The calls that the engine makes of a device: memory, programs, launches and waits, in one in-order queue. OpenCL
// implements it (opencl_session.cpp); tests put a stand-in in its place (tests/stand_in.hpp).
#pragma once
#include "device/image_format.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::device {

// The calls that a session makes of its device.
template <class Count>
struct CallsOf {
  Count launches{0};      // of kernels
  Count waits{0};         // calls that return when the device has done its part
  Count bytes_written{0}; // from the host's memory
  Count bytes_read{0};    // into the host's memory
  Count blocks{0};        // of device memory that are allocated now: buffers and images
  Count buffer_bytes{0};  // of the buffers among them
};

using CallCounts = CallsOf<std::uint64_t>;

// Counts that other threads may read.
struct Calls : CallsOf<std::atomic<std::uint64_t>> {
  [[nodiscard]] CallCounts now() const {
    return {launches, waits, bytes_written, bytes_read, blocks, buffer_bytes};
  }
  // Returns the calls after `before`, and the memory that is allocated now.
  [[nodiscard]] CallCounts since(const CallCounts& before) const {
    CallCounts counts = now();
    counts.launches -= before.launches;
    counts.waits -= before.waits;
    counts.bytes_written -= before.bytes_written;
    counts.bytes_read -= before.bytes_read;
    return counts;
  }
};

// 0 or an error code of OpenCL.
using Status = int;
inline constexpr Status success = 0;
inline constexpr Status out_of_resources = -5;
inline constexpr Status build_program_failure = -11;
inline constexpr Status invalid_work_group_size = -54;

// Returns the name of an OpenCL error code: "CL_OUT_OF_RESOURCES" for -5, "error -9999" for an unknown code.
std::string opencl_error_name(Status code);

// Returns the error for an operation `what` that failed with this code.
Error opencl_failure(std::string_view what, Status code);

// A step that the driver refused, thrown through nested calls; public functions convert it to a Result.
struct Refused {
  Error error;
  Status status = success; // the driver's code; success: tidegate has refused it
};

// Throws Refused with opencl_failure unless the status is `success`.
void require(Status status, std::string_view what);

// Calls, and names `what` where the driver refuses a step.
auto doing(std::string_view what, const auto& call) try { return call(); } catch (Refused& refused) {
  require(refused.status, what);
  throw;
}

// An object of a session, which its last copy releases; empty by default.
struct Object {
  std::shared_ptr<void> of;

  explicit operator bool() const { return of != nullptr; }
};
struct Buffer : Object {};
struct Image : Object {};
struct Sampler : Object {};
struct Program : Object {};
struct Kernel : Object {};
struct Event : Object {}; // a point of the queue

struct LaunchRange {
  std::uint32_t dimensions = 1;
  std::array<std::size_t, 3> offset{};
  std::array<std::size_t, 3> global{};
  std::array<std::size_t, 3> local{}; // 0: the driver chooses
};

// A launch of `groups` work-groups in one dimension.
constexpr LaunchRange work_groups(std::size_t groups, std::size_t work_items) {
  return {.global = {groups * work_items}, .local = {work_items}};
}

// Nanoseconds of the device's clock.
struct EventTimes {
  std::uint64_t queued = 0;
  std::uint64_t submitted = 0;
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
};

// The accesses of kernels to an image.
struct ImageUse {
  bool reads = false;
  bool writes = false;
  bool both = false; // by one parameter, which is read_write
};

// Completion of a transfer: when the call returns, or when the queue has finished.
enum class Transferred : std::uint8_t { now, later };

class Session : NotCopied {
public:
  virtual ~Session() = default;

  std::string device_name;
  // CPU drivers work in the host's memory and compile a kernel at its first launch.
  bool on_host = false;

  // All calls so far, which implementations count. Blocks of device memory count until they are released, which may be
  // after the session.
  [[nodiscard]] const std::shared_ptr<Calls>& calls() const { return calls_; }

  // All calls below throw Refused, unless they return what says that they failed.

  // Memory. 0 bytes become 1.
  [[nodiscard]] virtual Buffer allocate(std::uint64_t bytes) const = 0;
  // Memory of the host that the device uses in place.
  [[nodiscard]] virtual Buffer share(std::span<std::byte> memory) const = 0;
  [[nodiscard]] virtual Buffer part_of(const Buffer& buffer, std::uint64_t offset,
                                       std::uint64_t bytes) const = 0;
  // Moves buffers to the device before their first use.
  virtual void migrate(std::span<const Buffer> buffers) const = 0;
  // A transfer of 0 bytes does nothing, and its buffer may be empty.
  virtual void write(const Buffer& to, std::uint64_t offset, std::span<const std::byte> bytes,
                     Transferred when = Transferred::now) const = 0;
  virtual void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> bytes,
                    Transferred when = Transferred::now) const = 0;
  // `bytes` and `offset` are multiples of the pattern's size; `event` may be null, here and below.
  virtual void fill(const Buffer& to, std::uint64_t offset, std::uint64_t bytes,
                    std::span<const std::byte> pattern, Event* event = nullptr) const = 0;
  virtual void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
                    std::uint64_t bytes, Event* event = nullptr) const = 0;
  // Host memory that a GPU accesses directly, at the full rate of the bus. The driver copies other memory of
  // a process into such pages first, which takes several times as long as the transfer. Null if the driver
  // has none left. Its release waits in the queue for transfers before it.
  [[nodiscard]] virtual std::shared_ptr<std::byte> pin(std::size_t bytes) const = 0;

  // Images and samplers.
  [[nodiscard]] virtual std::vector<ImageFormat> image_formats(engine::ImageKind kind,
                                                               ImageUse use) const = 0;
  // Returns the most texels that an image of this kind can have, by dimension.
  [[nodiscard]] virtual engine::ImageShape largest_image(engine::ImageKind kind) const = 0;
  [[nodiscard]] virtual Image make_image(const engine::ImageShape& shape, ImageUse use) const = 0;
  // Both wait for the transfer of the whole image.
  virtual void write_image(const Image& to, const engine::ImageShape& shape,
                           std::span<const std::byte> texels) const = 0;
  virtual void read_image(const Image& from, const engine::ImageShape& shape,
                          std::span<std::byte> texels) const = 0;
  // Copies a whole image to another one of this shape.
  virtual void copy_image(const Image& from, const Image& to, const engine::ImageShape& shape) const = 0;
  [[nodiscard]] virtual Sampler make_sampler(const engine::SamplerSpec& spec) const = 0;

  // Programs. Errors of build(): build_failure with the log and its first error's location (columns count
  // bytes); kernel_options if the compiler does not know an option.
  [[nodiscard]] virtual Result<Program> build(std::string_view source, const std::string& options) const = 0;
  // Returns nothing if the driver does not take the binary.
  [[nodiscard]] virtual Program load(std::span<const unsigned char> binary,
                                     const std::string& options) const = 0;
  // Returns nothing if the driver has no binary.
  [[nodiscard]] virtual std::vector<unsigned char> binary_of(const Program& program) const = 0;
  [[nodiscard]] virtual Kernel make_kernel(const Program& program, const std::string& name) const = 0;

  // Arguments: a buffer, an image or a sampler (an empty one is a null pointer), a value, local memory.
  virtual void set_object(const Kernel& kernel, std::uint32_t index, const Object& object) const = 0;
  virtual void set_bytes(const Kernel& kernel, std::uint32_t index,
                         std::span<const std::byte> value) const = 0;
  virtual void set_local(const Kernel& kernel, std::uint32_t index, std::size_t bytes) const = 0;
  // Sets arguments from `index` on, objects and values; returns the index after them.
  std::uint32_t set(const Kernel& kernel, std::uint32_t index, const auto&... arguments) const {
    const auto set_one = [&](const auto& argument) {
      if constexpr (std::is_base_of_v<Object, std::decay_t<decltype(argument)>>) {
        set_object(kernel, index++, argument);
      } else {
        set_bytes(kernel, index++, std::as_bytes(std::span(&argument, 1)));
      }
    };
    (set_one(arguments), ...);
    return index;
  }

  // Launches and waits.
  virtual void launch(const Kernel& kernel, const LaunchRange& range, Event* event = nullptr) const = 0;
  [[nodiscard]] virtual Event mark() const = 0; // the end of the queue
  virtual void wait(const Event& event) const = 0;
  [[nodiscard]] virtual bool has_ended(const Event& event) const = 0; // does not wait
  [[nodiscard]] virtual bool has_started(const Event& /*event*/) const { return true; }
  virtual void flush() const = 0;
  virtual void finish() const = 0;
  // Returns the times of a launch that has ended, if the session profiles.
  [[nodiscard]] virtual EventTimes times_of(const Event& event) const = 0;

  // Clears words of 4 bytes.
  void clear(const Buffer& to, std::uint64_t bytes) const {
    constexpr std::array<std::byte, 4> zero{};
    fill(to, 0, bytes, zero);
  }

protected:
  // Counts a block of memory until its last copy is gone.
  template <class Kind>
  [[nodiscard]] Kind counted(Kind made, std::uint64_t bytes = 0) const {
    ++calls_->blocks;
    calls_->buffer_bytes += bytes;
    void* const object = made.of.get();
    made.of =
        std::shared_ptr<void>(object, [calls = calls_, bytes, held = std::move(made.of)](void*) mutable {
          held.reset();
          --calls->blocks;
          calls->buffer_bytes -= bytes;
        });
    return made;
  }
  void count_transfer(std::atomic<std::uint64_t> Calls::*direction, std::size_t bytes,
                      Transferred when) const {
    *calls_.*direction += bytes;
    calls_->waits += when == Transferred::now ? 1 : 0;
  }

private:
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
};

// Selects event profiling. CPUs always profile, because it shows how long a first launch compiled.
enum class Profiling : std::uint8_t { as_needed, always };

// Opens the device with OpenCL. Errors: opencl_failure; no_device if the device list has changed.
Result<std::unique_ptr<Session>> open_session(const DeviceInfo& device,
                                              Profiling profiling = Profiling::as_needed);

// open_session(), or a stand-in of a test.
using OpenSession =
    std::function<Result<std::shared_ptr<Session>>(const DeviceInfo& device, Profiling profiling)>;

// The self-test of probe() in this session, timed by this clock. Throws Refused.
using Now = std::function<std::chrono::steady_clock::time_point()>;
DeviceProfile self_test(const DeviceInfo& device, const Session& session, const Now& now);

// Waits for the queue. Returns nanoseconds between submission and start of a kernel's first launch, which is
// the time the driver compiled; 0 if the driver does not measure it. The queue was empty before. Throws Refused.
std::uint64_t time_before_start(const Session& session, const Event& launched);

} // namespace tidegate::device
