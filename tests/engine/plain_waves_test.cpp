// Waves as ordinary launches, on a stand-in for the device: batches, recordings, first launches, transfers, and
// queues in rounds.
#include "../opencl_c/source_support.hpp"
#include "../program_support.hpp"
#include "../stand_in.hpp"
#include "engine/arena_run.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;
using device::test::StandIn;
using device::test::StandInLaunch;
using std::chrono_literals::operator""h;

namespace {

constexpr const char* kernels = "kernel void work(global uint* x, uint by) { x[get_global_id(0)] += by; }"
                                "kernel void drain(global uint* state, global uint* x) { x[0] += state[0]; }"
                                "kernel void check(global uint* items) { items[0] = 0; }"
                                "kernel void turn(global uint* state) { state[0] = 0; }";

// A program of one wave with its memory.
struct Setup {
  StandIn session;
  Job program = program_of(4, {64, 64});
  std::vector<std::vector<std::uint32_t>> storage{{0, 1}};
  Arena arena;
  std::optional<PlainPrograms> programs;
  std::optional<PlainWaves> waves;
  std::vector<std::uint32_t> added; // by each launch of `work`
  SliceLoop::Clock::time_point deadline = SliceLoop::Clock::now() + 1h;

  Setup() {
    program.units[0].unit = opencl_c::test::parse(kernels);
    for (std::uint32_t op = 0; op < 4; ++op) {
      program.ops[op].function = op;
    }
    program.waves = {wave_of(0, {updates(0), value({1, 0, 0, 0})}, range_of(16, 4))};
    session.kernels["work"] = [this](const StandInLaunch& launch) {
      added.push_back(launch.value<std::uint32_t>(1));
      for (std::uint32_t& element : launch.buffer<std::uint32_t>(0)) {
        element += added.back();
      }
    };
  }

  void prepare(QueueWay way = QueueWay::check) {
    std::vector<std::uint32_t> all(program.waves.size());
    std::iota(all.begin(), all.end(), 0U);
    program.units[0].built_in = kernels;
    programs.emplace(session, program, all);
    for (const ProgramBuffer& buffer : program.buffers) {
      arena.views.push_back(session.allocate(buffer.bytes));
      arena.parts.push_back({.memory = arena.views.back()});
    }
    waves.emplace(*programs, WaveMemory{storage, arena}, way);
  }

  // Launches by themselves, each a stage.
  DispatchOutcome dispatch(std::uint32_t iterations, std::uint64_t trace_spans = 0) {
    Schedule schedule{
        .group_size = 4, .repeat_end = program.waves.size(), .tiles_per_pack = {}, .storage = storage};
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      schedule.stages.push_back({.waves = {wave}, .tiles = 4, .packs = 4, .plain = true});
    }
    program.iterations = iterations;
    const CompiledProgram compiled{
        .program = program, .strategy = {.strategy = Strategy::launch}, .schedule = std::move(schedule)};
    BuiltProgram built;
    Monitor monitor;
    return prepare_dispatch({session, {}, compiled, built, monitor, {}}, &*waves, arena,
                            {.deadline = deadline, .trace_spans = trace_spans})();
  }

  [[nodiscard]] std::string refusal() {
    try {
      waves->launch(0, 0, deadline);
    } catch (const device::Refused& refused) {
      return refused.error.message;
    }
    return "";
  }
};

} // namespace

TEST_CASE("the arena of plain launches alone is a block for each buffer, or for those that share memory") {
  StandIn session;
  const Job program = program_of(1, {64, 64, 32, 16});
  const MemoryLayout layout{.offsets = {0, 64, 64, 96}, .lifetimes = {}, .arena_bytes = 128};
  const auto offsets = [](const Arena& arena) {
    std::vector<std::uint64_t> all;
    for (const DevicePart& part : arena.parts) {
      all.push_back(part.offset);
    }
    return all;
  };
  const Arena plain = allocate_arena(session, program, layout, ArenaUse::plain_launches);
  CHECK(!plain.whole);
  CHECK(offsets(plain) == std::vector<std::uint64_t>{0, 0, 0, 32});
  CHECK(plain.parts[0].memory.of != plain.parts[1].memory.of);
  CHECK(plain.parts[1].memory.of == plain.parts[3].memory.of);
  CHECK(session.count("allocate") == 2);
  CHECK(session.count("part_of") == 1); // of the last buffer
  const Arena both = allocate_arena(session, program, layout, ArenaUse::both);
  CHECK(offsets(both) == layout.offsets);
  CHECK(both.parts[0].memory.of == both.whole.of);
  CHECK(session.count("allocate") == 3);
  CHECK(session.count("part_of") == 5);
  session.on_host = true;
  CHECK(allocate_arena(session, program, layout, ArenaUse::plain_launches).whole);
}

TEST_CASE("views are released in the reverse order of their creation") {
  std::vector<int> released;
  {
    Arena arena;
    for (int view = 0; view < 3; ++view) {
      arena.views.push_back(
          {{std::shared_ptr<void>(nullptr, [&released, view](void*) { released.push_back(view); })}});
    }
  }
  CHECK(released == std::vector{2, 1, 0});
}

TEST_CASE("launches are waited for in batches, the one before the last") {
  Setup setup;
  setup.prepare();
  const DispatchOutcome outcome = setup.dispatch(1000);
  CHECK(outcome.status == RunStatus::done);
  CHECK(outcome.calls.launches == 1000);
  CHECK(outcome.iterations == 1000);
  CHECK(outcome.reached.iteration == 1000);
  CHECK(setup.session.contents<std::uint32_t>(setup.arena.views[0])[15] == 1000);
  const int batches = setup.session.count("mark");
  CHECK(batches > 2);
  CHECK(batches <= 1000 / 64);
  CHECK(setup.session.count("flush") == batches);
  CHECK(setup.session.count("wait") == batches - 1);
  CHECK(setup.session.count("finish") == 1);
  CHECK(outcome.calls.waits == static_cast<std::uint64_t>(batches));
}

TEST_CASE("a value that changes is set for each launch") {
  Setup setup;
  setup.program.waves[0].arguments[1].changes = {
      {.progression = {.type = ElementType::u32, .first = 1, .by = 2}}};
  setup.prepare();
  setup.dispatch(4);
  CHECK(setup.added == std::vector<std::uint32_t>{1, 3, 5, 7});
}

TEST_CASE("the time that a driver compiles in first launches is no part of the dispatch") {
  Setup setup;
  setup.session.on_host = true;
  setup.session.clock = [] { return device::EventTimes{.submitted = 1'000'000, .started = 31'000'000}; };
  setup.prepare();
  setup.deadline = SliceLoop::Clock::now(); // over at once, but for what the driver compiles
  const DispatchOutcome outcome = setup.dispatch(100);
  CHECK(outcome.compile_ns == 30'000'000);
  CHECK(outcome.status == RunStatus::done);
  CHECK(setup.session.count("finish") == 3); // before and after the first launch, and at the end
}

TEST_CASE("a device that does not take work-groups of different sizes is not to blame") {
  Setup setup;
  setup.program.waves[0].range = range_of(18, 4);
  setup.session.failures = {{.call = "launch", .status = device::invalid_work_group_size},
                            {.call = "launch", .number = 2}};
  setup.prepare();
  CHECK(setup.refusal() ==
        "wave 0 (op0) has a local_size that does not divide its global_size: its kernel would be launched "
        "with work-groups of different sizes, which this device does not take");
  CHECK(setup.refusal() == "launching wave 0 (op0) failed: CL_OUT_OF_RESOURCES");
  Setup even;
  even.session.failures = {{.call = "launch", .status = device::invalid_work_group_size}};
  even.prepare();
  CHECK(even.refusal() == "launching wave 0 (op0) failed: CL_INVALID_WORK_GROUP_SIZE");
}

TEST_CASE("fills and copies are commands") {
  Setup setup;
  setup.program.waves = {wave_of(0, {}), wave_of(0, {})};
  setup.program.waves[0].command = TransferCommand{
      .from = {}, .to = 0, .to_offset = 4, .bytes = 8, .pattern = {std::byte{7}, std::byte{0}}};
  setup.program.waves[1].command =
      TransferCommand{.from = 0, .to = 1, .from_offset = 2, .to_offset = 10, .bytes = 6};
  setup.prepare();
  CHECK(setup.dispatch(1).calls.launches == 0);
  const auto to = setup.session.contents<std::uint8_t>(setup.arena.views[1]);
  CHECK(std::vector<std::uint8_t>(to.begin() + 8, to.begin() + 18) ==
        std::vector<std::uint8_t>{0, 0, 0, 0, 7, 0, 7, 0, 0, 0});
}

namespace {

#include "wave/queue_state.h"

// A wave of three items. Each round of the drain kernel ends one, unless a test says otherwise.
struct Queue : Setup {
  std::function<void(std::span<std::uint32_t> state, int round)> round{}; // replaces the end of a round
  int rounds = 0;

  Queue() {
    auto queue = std::make_shared<ProgramQueue>();
    queue->items = {{.param = 10}, {.param = 11}, {.param = 12}};
    queue->op_names = {"step"};
    queue->requeues = true;
    program.buffers[0].bytes = TG_QUEUE_WORDS * sizeof(std::uint32_t);
    program.waves = {wave_of(1, {updates(0), updates(1)}, range_of(256, 64))};
    program.waves[0].queue = queue;
    program.waves[0].listed_items = 3;
    program.waves[0].state = 0;
    program.waves[0].own_arguments = 1;
    program.waves[0].rounds = Rounds{.age_threshold = 4, .most_stalled_rounds = 6, .capacity = 5};
    session.kernels["drain"] = [](const StandInLaunch& launch) {
      CHECK(launch.range.global[0] == 256);
      ++launch.buffer<std::uint32_t>(1)[0];
    };
    session.kernels["turn"] = [this](const StandInLaunch& launch) {
      CHECK(launch.value<std::uint32_t>(1) == 4);
      CHECK(launch.value<std::uint32_t>(2) == 6);
      CHECK(launch.value<std::uint32_t>(3) == 5);
      end_round(launch.buffer<std::uint32_t>(0));
    };
    session.kernels["check"] = [this](const StandInLaunch& launch) {
      CHECK(launch.buffer<std::uint32_t>(0)[5] == 12);
      CHECK(launch.value<std::uint32_t>(1) == 3);
      CHECK(launch.value<std::uint32_t>(2) == 0);
      end_round(launch.buffer<std::uint32_t>(4));
    };
  }

  void end_round(std::span<std::uint32_t> state) {
    state[TG_QUEUE_MORE] = ++rounds < 3 ? 1 : 0;
    if (round) {
      round(state, rounds);
    }
  }

  bool drained() { return waves->launch(0, 0, deadline); }
};

} // namespace

TEST_CASE("a queue runs in rounds until none is left") {
  Queue queue;
  queue.prepare(QueueWay::drain);
  CHECK(queue.drained());
  CHECK(queue.rounds == 3);
  CHECK(queue.session.calls()->launches == 6);
  queue.rounds = 0;
  const DispatchOutcome traced = queue.dispatch(1, 100);
  REQUIRE(traced.trace);
  CHECK(traced.trace->launches.size() == 6); // of every round
}

TEST_CASE("a queue ends where an item fails, where none makes progress, and at the deadline") {
  for (const std::uint32_t end : {TG_QUEUE_FAILED, TG_QUEUE_NO_PROGRESS, TG_QUEUE_FULL}) {
    Queue queue;
    queue.round = [end](std::span<std::uint32_t> state, int rounds) {
      state[TG_QUEUE_MORE] = rounds < 2 ? 1 : 0;
      state[TG_QUEUE_END] = rounds < 2 ? std::uint32_t{TG_QUEUE_DRAINED} : end;
    };
    queue.prepare(QueueWay::drain);
    CHECK(!queue.drained());
    CHECK(queue.rounds == 2);
  }
  Queue late;
  late.deadline = SliceLoop::Clock::now();
  late.prepare(QueueWay::drain);
  CHECK(!late.drained());
  CHECK(late.rounds == 1);
  const device::test::Interruptible interruptible;
  Queue interrupted;
  interrupted.round = [](std::span<std::uint32_t> state, int rounds) {
    state[TG_QUEUE_MORE] = 1;
    if (rounds == 4) {
      std::raise(SIGINT);
    }
  };
  interrupted.prepare(QueueWay::drain);
  CHECK(!interrupted.drained());
  CHECK(interrupted.rounds == 4);
}

TEST_CASE("items in the order that was given are the reference") {
  Queue queue;
  queue.prepare(QueueWay::check);
  CHECK(queue.drained());
  CHECK(queue.rounds == 3);
  Queue stalled;
  stalled.round = [](std::span<std::uint32_t> state, int) { state[TG_QUEUE_MORE] = 1; };
  stalled.prepare(QueueWay::check);
  CHECK(!stalled.drained());
  CHECK(stalled.rounds == 7); // one more than may stall
  Queue failed;
  failed.round = [](std::span<std::uint32_t> state, int) {
    state[TG_QUEUE_FAULT] = 1;
    state[TG_QUEUE_FAULT_PARAM] = 11;
    state[TG_QUEUE_FAULT_RESULT] = 0x80000005U;
  };
  failed.prepare(QueueWay::check);
  CHECK(failed.refusal() ==
        "item 1 of wave 0 (op1), op \"step\" from buffer 0 to 0 with param 11, failed with code 5");
}

TEST_CASE("items that are published run one after another in the reference") {
  Queue queue;
  auto publishing = std::make_shared<ProgramQueue>(*queue.program.waves[0].queue);
  publishing->publishes = true;
  publishing->seeds = {0, 10, 0, 11, 0, 12};
  publishing->seen_bytes = 8;
  queue.program.waves[0].queue = publishing;
  std::uint32_t fault = 0;
  std::uint32_t end = TG_QUEUE_DRAINED;
  queue.session.kernels["check"] = [&](const StandInLaunch& launch) {
    CHECK(launch.range.global[0] == 1);
    CHECK(launch.buffer<std::uint32_t>(0)[5] == 12);
    CHECK(launch.value<std::uint32_t>(1) == 32); // four times the capacity, as a power of two
    CHECK(launch.buffer<std::uint32_t>(0).size() == 2 * 32);
    CHECK(launch.value<std::uint32_t>(2) == 0);
    CHECK(launch.buffer<std::uint32_t>(4).size() == 2);
    const auto state = launch.buffer<std::uint32_t>(3);
    CHECK(state[TG_QUEUE_TAILS + 2] == 3);
    ++queue.rounds;
    state[TG_QUEUE_MORE] = queue.rounds < 3 ? 1 : 0;
    state[TG_QUEUE_FAULT] = fault;
    state[TG_QUEUE_FAULT_PARAM] = 77;
    state[TG_QUEUE_FAULT_RESULT] = 0x80000005U;
    state[TG_QUEUE_END] = end;
    state[TG_QUEUE_DEEPEST] = 40;
  };
  queue.prepare(QueueWay::check);
  CHECK(queue.drained());
  CHECK(queue.rounds == 3);
  fault = 1;
  CHECK(queue.refusal() ==
        "an item of wave 0 (op1), op \"step\" from buffer 0 to 0 with param 77, failed with code 5");
  fault = 0;
  end = TG_QUEUE_FULL;
  CHECK(queue.refusal() == "the queue of wave 0 (op1) has a capacity of 5 items and needed 10 when it ended");
}

TEST_CASE("what the device has counted of a queue, what is left of it and why it ended") {
  Queue queue;
  std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
  constexpr std::uint64_t more = std::uint64_t{1} << 32U;
  for (const std::uint32_t counter :
       {TG_QUEUE_REQUEUES, TG_QUEUE_PUBLISHED, TG_QUEUE_EXECUTED, TG_QUEUE_DEDUPED}) { // of 64 bits
    state[counter] = counter;
    state[counter + 1] = 1;
  }
  state[TG_QUEUE_REMAINING] = 3;
  state[TG_QUEUE_WAITING] = state[TG_QUEUE_WAITING + 4] = 1;
  state[TG_QUEUE_DEEPEST] = 7;
  state[TG_QUEUE_MOST_KEPT] = 6;
  QueueOutcome outcome = queue_outcome(queue.program, 0, state);
  CHECK(outcome.accounting.requeue_count == more + TG_QUEUE_REQUEUES);
  CHECK(outcome.items_remaining == 3);
  CHECK(!outcome.failure);
  state[TG_QUEUE_MORE] = 1; // it was not ended by itself
  CHECK(queue_outcome(queue.program, 0, state).items_remaining == 5);
  state[TG_QUEUE_END] = TG_QUEUE_FULL;
  state[TG_QUEUE_LAST_REQUEUED] = packed_handles({.op_handle = 0, .input_handle = 5, .output_handle = 1023});
  state[TG_QUEUE_LAST_PARAM] = 9;
  outcome = queue_outcome(queue.program, 0, state);
  CHECK(
      queue_error(queue.program, 0, *outcome.failure).message ==
      "an item of wave 0 (op1), op \"step\" from buffer 5 to 1023 with param 9, is one of more than 5 items "
      "that wait requeued");
  state[TG_QUEUE_LAST_REQUEUED] = packed_handles({.op_handle = 100}); // no op has this number
  CHECK_THROWS_AS(queue_outcome(queue.program, 0, state), device::Refused);
  state[TG_QUEUE_LAST_REQUEUED] = 0;

  auto publishing = std::make_shared<ProgramQueue>(*queue.program.waves[0].queue);
  publishing->publishes = true;
  queue.program.waves[0].queue = publishing;
  outcome = queue_outcome(queue.program, 0, state);
  CHECK(std::array{outcome.counts->published, outcome.counts->executed, outcome.counts->deduped} ==
        std::array{more + TG_QUEUE_PUBLISHED, more + TG_QUEUE_EXECUTED, more + TG_QUEUE_DEDUPED});
  CHECK(outcome.counts->needed_capacity == 7);
  CHECK(outcome.failure->code == ErrorCode::publish_queue_full);
}
