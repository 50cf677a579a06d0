// A stream of runs keeps from one run to the next: the session, compiled programs, and memory of the device with
// arenas, inputs and graphs. When a budget is full, the memory that was not used for the longest time goes first.
#pragma once
#include "device/session.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {

struct Prepared;

// A place in device memory, or an image.
struct DevicePart {
  device::Buffer memory;
  std::uint64_t offset = 0; // bytes
  device::Image object = {};
};

// Memory of the device that stays after a run.
struct Holding {
  std::uint64_t bytes = 0;
  std::uint64_t last_run = 0; // that used it

  Holding() = default;
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  virtual ~Holding() = default;

  // Returns where it has contents of this name (ProgramBuffer::content), if it has them.
  [[nodiscard]] virtual std::optional<DevicePart> find(const std::string& /*content*/) const { return {}; }
};

// An input outside of all arenas, whose contents runs change.
struct KeptInput final : Holding {
  std::string content;
  DevicePart part;

  [[nodiscard]] std::optional<DevicePart> find(const std::string& name) const override {
    return name == content ? std::optional(part) : std::nullopt;
  }
};

struct Kept {
  static constexpr std::size_t most_programs = 64;

  std::shared_ptr<device::Session> session; // released after the memory
  std::vector<std::shared_ptr<Holding>> holdings;
  struct Program {
    std::shared_ptr<Prepared> prepared;
    std::uint64_t last_run = 0; // that used it
  };
  std::map<std::string, Program> programs; // by all but their inputs' contents
  std::uint64_t run = 0;                   // counts runs

  // Marks it as used by this run and holds it, if it is not held yet.
  void use(const std::shared_ptr<Holding>& holding);

  // Returns where the device has these contents, and marks them as used; an empty name is unknown.
  std::optional<DevicePart> find(const std::string& content);

  // Drops what the current run does not use, the least recently used first, until `bytes` more are within the budget
  // (0: none). Returns false if they are not.
  bool make_room(std::uint64_t bytes, std::uint64_t budget_bytes);

  // Drops everything.
  void forget();

  // Keeps a program; of too many, drops the least recently used.
  void keep(const std::string& key, std::shared_ptr<Prepared> program);
};

} // namespace tidegate::engine
