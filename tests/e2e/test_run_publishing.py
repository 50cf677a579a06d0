"""tidegate run: queues whose ops publish items, next to a serial queue in Python that runs the same items one after another;
identical items, priorities and requeues, rings that are exactly long enough or full.
"""

import json
import random
from collections import deque
from typing import Any

from support import Document, Programs, buffer, parse, raw, run, unplaced
from test_run_queues import queue_op, queue_program

# A random tree: what an item makes is a function of its param.
OPS = """
uint mixed(uint x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16); }
void count(global uint* seen, uint i, uint more) { atomic_add(&seen[i % SIZE], more); }
uint tree(global const uint* rules, global uint* seen, uint i, tidegate_publisher publisher) {
  count(seen, i, 1);
  const uint depth = i >> 24;
  for (uint c = 0; depth < rules[0] && c < mixed(i) % 4; ++c) {
    const uint child = (depth + 1) << 24 | (mixed(i + c) & 0xffffff);
    if (mixed(child) % 3 == 0) {
      TIDEGATE_PUBLISH(leaf, rules, leaves, child);
    } else if (mixed(child) % 3 == 1) {
      TIDEGATE_PUBLISH_AT(c, tree, rules, seen, child);
    } else {
      TIDEGATE_PUBLISH(pure_leaf, rules, pure, child % rules[1]);
    }
  }
  return TIDEGATE_DONE;
}
uint leaf(global const uint* rules, global uint* leaves, uint i) {
  const uint before = atomic_add(&leaves[i % SIZE], 1);
  return before % 4 == 3 || i % 5 != 0 ? TIDEGATE_DONE : TIDEGATE_REQUEUE;
}
uint pure(global const uint* rules, global uint* out, uint i, tidegate_publisher publisher) {
  out[i] += i + 1;
  if (i + 7 < rules[1]) TIDEGATE_PUBLISH(pure_leaf, rules, pure, i + 7);
  if (i % 2 == 0 && i / 2 > 3) TIDEGATE_PUBLISH(pure_leaf, rules, pure, i / 2);
  return TIDEGATE_DONE;
}
"""
SIZE = 64
WORD = 2**32


def mixed(x: int) -> int:
    x ^= x >> 16
    x = x * 0x7feb352d % WORD
    x ^= x >> 15
    x = x * 0x846ca68b % WORD
    return x ^ (x >> 16)


class Serial:
    """Runs items one after another, in the order of their arrival. Ops: 0 tree, 1 leaf, 2 pure."""

    def __init__(self, depth: int, size: int) -> None:
        self.rules = (depth, size)
        self.seen, self.leaves, self.pure = [0] * SIZE, [0] * SIZE, [0] * size
        self.published = self.executed = self.requeues = self.deduped = 0
        self.known: set[int] = set()
        self.waiting: deque[tuple[int, int]] = deque()

    def publish(self, op: int, param: int) -> None:
        if op == 2 and param in self.known:
            self.deduped += 1
            return
        self.published += 1
        self.begin(op, param)

    def begin(self, op: int, param: int) -> None:
        if op == 2:
            self.known.add(param)
        self.waiting.append((op, param))

    def run(self) -> None:
        depth_limit, size = self.rules
        while self.waiting:
            op, i = self.waiting.popleft()
            if op == 0:
                self.seen[i % SIZE] += 1
                for c in range(mixed(i) % 4 if i >> 24 < depth_limit else 0):
                    child = ((i >> 24) + 1) << 24 | (mixed((i + c) % WORD) & 0xffffff)
                    kind = mixed(child) % 3
                    self.publish(*((1, child) if kind == 0 else (0, child) if kind == 1 else (2, child % size)))
            elif op == 1:
                self.leaves[i % SIZE] += 1
                if i % 5 == 0 and self.leaves[i % SIZE] % 4 != 0:
                    self.requeues += 1
                    self.waiting.append((op, i))
                    continue
            else:
                self.pure[i] += i + 1
                if i + 7 < size:
                    self.publish(2, i + 7)
                if i % 2 == 0 and i // 2 > 3:
                    self.publish(2, i // 2)
            self.executed += 1


class Random(Programs):
    sources = {"queue.cl": OPS}

    def program(self, seed: int, ahead: bool) -> tuple[Document, Serial, int]:
        rng = random.Random(seed)
        depth, size, repeat = rng.randrange(3, 9), rng.choice([50, 1000]), rng.choice([1, 1, 2])
        items = [(0, 0, 1, rng.randrange(2**24)) for _ in range(rng.choice([1, 40, 700]))]
        items += [(2, 0, 3, rng.randrange(size)) for _ in range(rng.choice([0, 30]))]
        rng.shuffle(items)
        ops = {"tree": queue_op(options=f"-DSIZE={SIZE}", priority=rng.randrange(5)),
               "leaf": queue_op(options=f"-DSIZE={SIZE}"),
               "pure-leaf": queue_op(options=f"-DSIZE={SIZE}", kernel="pure", pure=True, priority=rng.randrange(5))}
        if ahead:  # items have one priority
            self.file("queue.cl", OPS.replace("_AT(c, ", "("))
            ops = {name: {**op, "priority": 1} for name, op in ops.items()}
        self.file("rules.raw", raw("u32", [depth, size]))
        buffers = {"rules": buffer(count=2, init={"file": "rules.raw"}), "seen": buffer(count=SIZE, output="seen.npy"),
                   "leaves": buffer(count=SIZE), "pure": buffer(count=size, output="pure.npy")}
        document = queue_program(ops, buffers, items, repeat=repeat)
        document["waves"][0]["queue"]["runs_ahead"] = ahead
        serial = Serial(depth, size)
        given = [item for i, item in enumerate(items) if item[0] != 2 or item not in items[:i]]
        for _ in range(repeat):
            serial.known.clear()
            for op, _, _, param in given:
                serial.begin(op, param)
            serial.run()
        return document, serial, len(given) * repeat

    def test_random(self) -> None:
        """Outputs and counts in every strategy. How often a leaf runs depends on the order, so only its items are counted."""
        slices = ("--set", "tuning.slice=1", "--workers", "1")
        for seed, ahead, *options in ((1, False, "plain"), (3, False, "launch"), (4, False, "barrier", "--set", "tuning.mode=interpreter", *slices),
                                      (5, False, "counters", "--set", "tuning.mode=jit"), (6, True, "launch"), (7, True, "barrier", "--set", "tuning.mode=jit")):
            with self.subTest(seed=seed, ahead=ahead, options=options):
                document, serial, _ = self.program(seed, ahead)
                report = self.right(document, "--verify", "--strategy", *options, seen=serial.seen, pure=serial.pure)
                queue = report["queues"][0]
                self.assertEqual((queue["publishing"]["published_items"], queue["items_processed"], queue["publishing"]["deduped_items"]),
                                 (serial.published, serial.executed, serial.deduped))
                self.assertEqual((queue["items_remaining"], report["fallbacks"]), (0, []))
                self.assertEqual(queue["requeue_count"] > 0, serial.requeues > 0)
                self.assertEqual(report["output_parity"]["equal"], True)
                if "counters" in options:
                    self.assertEqual(report["telemetry"]["kernel_launches"], 1)
                checked = run("check", "-", input=json.dumps(report))
                self.assertEqual(checked.rc, 0, checked.stdout + checked.stderr)

# A full binary tree, and a chain.
SMALL = """
uint twice(global const uint* limit, global uint* seen, uint i, tidegate_publisher publisher) {
  seen[i] += 1;
  if (2 * i + 2 < limit[0]) {
    TIDEGATE_PUBLISH(0, 0, 1, 2 * i + 1);
    TIDEGATE_PUBLISH(twice, limit, seen, 2 * i + 2);
  }
  return TIDEGATE_DONE;
}
uint next(global const uint* limit, global uint* seen, uint i, tidegate_publisher publisher) {
  seen[0] = i;
  TIDEGATE_PUBLISH(next, limit, seen, i + 1);
  return TIDEGATE_DONE;
}
"""
NAMES = ("twice", "next")


class Ends(Programs):
    sources = {"queue.cl": SMALL}

    def program(self, op: str, limit: int = 0, **queue: Any) -> Document:
        return queue_program({name: queue_op() for name in NAMES},
                             {"limit": buffer(count=1, init={"fill": limit}), "seen": buffer(count=max(limit, 1), output="seen.npy")},
                             [(NAMES.index(op), 0, 1, 0)], queue=queue)

    def failed(self, document: Document, message: str, *options: str) -> Document:
        result = self.run_document(document, *options)
        self.assertEqual(result.rc, 1, result.stderr)
        self.assertIn(message, unplaced(result.stderr))
        self.assertFalse((self.folder / "seen.npy").exists())
        return parse(result.stdout)["queues"][0]

    def test_capacity(self) -> None:
        """A level and the next one are in the ring: 2^9 + 2^10 of 2^11 - 1 items. One place less ends the run by name."""
        queue = self.right(self.program("twice", 2047, capacity=1536), "--strategy", "launch", seen=[1] * 2047)["queues"][0]
        self.assertEqual((queue["publishing"], queue["items_processed"], queue["rounds"]),
                         ({"published_items": 2046, "deduped_items": 0, "needed_capacity": 1536}, 2047, 11))
        (self.folder / "seen.npy").unlink()
        queue = self.failed(self.program("twice", 2047, capacity=1535),
                            "the queue of wave 0 (twice) has a capacity of 1535 items and needed 1536 when it ended "
                            "[publish_queue_full]\n  at: /waves/0/queue\n  fix: give it a capacity of 1536 or more, or \"on_full\": \"grow\"; no "
                            "output was written", "--strategy", "launch")
        self.assertEqual((queue["publishing"]["needed_capacity"], queue["items_remaining"]), (1536, 1024))
        for strategy in ("launch", "barrier"):  # rings are powers of two; items that find no room there are counted all the same
            queue = self.failed(self.program("twice", 2047, capacity=4), "capacity of 4 items and needed 6 when", "--strategy", strategy)
            self.assertEqual((queue["publishing"]["published_items"], queue["items_processed"], queue["items_remaining"]),
                             (6, 3, 4))

    def test_grow(self) -> None:
        """A full queue runs again with at least twice the room, until all items of a level and the next one have some."""
        limit = 101
        # A persistent kernel, which is also tried by `auto`, is compiled for each size.
        for strategy, first in (("launch", 1), ("barrier", 47), ("auto", 47)):
            with self.subTest(strategy=strategy):
                report = self.right(self.program("twice", limit, capacity=first, on_full="grow"), "--strategy", strategy, seen=[1] * limit)
                queue = report["queues"][0]
                self.assertEqual((queue["publishing"]["needed_capacity"], queue["items_processed"]), (32 + limit - 63, limit))
                if strategy == "auto": # a first run compares candidates with the room that the run needs
                    self.assertEqual((report["first_run"]["compared"], report["first_run"]["equal"]), (True, True), report["first_run"])
                (self.folder / "seen.npy").unlink()
        checked = self.report_of(self.program("twice", limit, capacity=1, on_full="grow"), "--check", "bounds")
        self.assertEqual((checked["status"], checked["bounds"]["violations"]), ("checked", []))
        document = self.program("twice", limit, capacity=1, on_full="grow")
        document["device_memory_budget_bytes"] = 4_900  # `seen` and a ring of 64 items take more
        result = self.run_document(document, "--strategy", "launch")
        self.assertEqual(result.rc, 1, result.stderr)
        self.assertIn("[arena_over_capacity]", result.stderr)
        self.assertFalse((self.folder / "seen.npy").exists())

    def test_without_end(self) -> None:
        for strategy in ("launch", "barrier"):
            queue = self.failed(self.program("next"), "[wall_time_exceeded]", "--strategy", strategy, "--max-wall-time", "300ms")
            self.assertEqual(queue["items_processed"] + queue["items_remaining"],
                             queue["publishing"]["published_items"] + 1)
            self.assertLessEqual(queue["publishing"]["needed_capacity"], 2)
