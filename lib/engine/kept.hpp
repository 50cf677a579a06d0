// A stream of runs keeps from one run to the next: the session, compiled programs, and memory of the device with
// arenas, inputs and graphs. When a budget is full, the memory that was not used for the longest time goes first.
#pragma once
#include "engine/device_memory.hpp"

namespace tidegate::engine {

struct Prepared;

// Memory of the device that stays after a run: a program's arena, an input outside of all arenas whose contents runs
// change, or a graph.
struct Holding {
  std::uint64_t bytes = 0;
  std::uint64_t last_run = 0; // that used it
  Arena arena;
  std::vector<std::string>
      contents;         // by part, the name of what it holds (ProgramBuffer::content); empty: unknown
  HostContents outputs; // of a program: room for them, between two runs

  Holding() = default;
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  explicit Holding(Arena made) : arena(std::move(made)), contents(arena.parts.size()) {}
  virtual ~Holding() = default;
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
