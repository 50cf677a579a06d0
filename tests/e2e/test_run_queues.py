"""tidegate run: waves of work items, beside a serial queue in Python that knows every item by itself; from the program,
from lines of JSON and from 16 bytes an item; and every way in which a queue ends early.
"""

from __future__ import annotations

import json
import random
import re
import struct
import unittest
from typing import Any

from support import Document, parse, run, unplaced
from test_run import Programs, buffer, device, wave

OPS = """
uint count(global const uint* wanted, global uint* seen, uint i) {
  seen[i] += 1;
  return seen[i] < wanted[i] ? TIDEGATE_REQUEUE : TIDEGATE_DONE;
}
uint count_late(global const uint* wanted, global uint* seen, uint i) { return count(wanted, seen, i); }
uint square(global const uint* in, global uint* out, uint i) {
  out[i] = in[i] * in[i];
  return TIDEGATE_DONE;
}
uint checked(global const uint* in, global uint* out, uint i) {
  out[i] = in[i];
  return in[i] > 5 ? TIDEGATE_FAULT(in[i] + 100) : in[i] == 5 ? 7 : in[i] == 4 ? 1 : TIDEGATE_DONE;
}
// Waits until another item has put down a flag.
uint wait(global const uint* in, global uint* flags, uint i) { return flags[0] ? TIDEGATE_DONE : TIDEGATE_REQUEUE; }
uint raise(global const uint* in, global uint* flags, uint i) {
  flags[0] = 1;
  return TIDEGATE_DONE;
}
"""
Item = tuple[int, int, int, int]
KEYS = ("op_handle", "input_handle", "output_handle", "param")


def objects(items: list[Item]) -> list[Document]:
    return [dict(zip(KEYS, item)) for item in items]


def queue_op(source: str = "queue.cl", **rest: Any) -> Document:
    return {"source": source, "queue": True, **rest}


def queue_program(ops: Document, buffers: Document, items: list[Item], **rest: Any) -> Document:
    return {"buffers": buffers, "ops": ops,
            "waves": [{"queue": {"ops": list(ops), "buffers": list(buffers), "items": objects(items), **rest.pop("queue", {})}}], **rest}


class Serial:
    """A queue with a list of items, each with its own age: what kernels/wave/queue.cl does for whole priorities at once."""

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold
        self.requeues = self.aged = self.oldest = self.rounds = 0

    def drain(self, priorities: list[int], runs: list[int]) -> None:
        """`runs[i]` is how often item i runs until it is done."""
        left = list(runs)
        since = [0] * len(runs)
        now = 0
        while any(left):
            standing = {i: max(0, priorities[i] - (now - since[i]) // self.threshold)
                        for i, times in enumerate(left) if times}
            best = min(standing.values())
            for i in [i for i, value in standing.items() if value == best]:
                self.oldest = max(self.oldest, now - since[i])
                self.aged += best < priorities[i]
                left[i] -= 1
                since[i] = now + 1
                self.requeues += left[i] > 0
            now += 1
        self.rounds += now

    def accounting(self) -> Document:
        return {"requeue_count": self.requeues, "aged_promotions": self.aged, "max_priority_age": self.oldest}


class Queues(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("queue.cl", OPS)


class Drain(Queues):
    def random_program(self, rng: random.Random) -> tuple[Document, list[int], list[int], Document]:
        n = rng.choice([40, 700])
        threshold = rng.choice([1, 2, 3])
        wanted = [rng.choice([1, 1, 1, 2, 3, rng.randrange(1, 12)]) for _ in range(n)]
        squares = [(2, 0, 2, rng.randrange(n)) for _ in range(rng.randrange(1, 2 * n))]
        first = [(0, 0, 1, i) for i in range(n) if i % 3]
        late = [(3, 0, 1, i) for i in range(n) if i % 3 == 0]
        items = squares + first + late
        if rng.randrange(2):
            rng.shuffle(items)
        order = ("count", "plain", "square", "count_late")
        own = {"options": "-Dlane=1 -D state=2 -Dtile(x)=x"}  # names of tidegate's code, which is compiled with the ops'
        ops = {"count": queue_op(priority=rng.randrange(2), **own), "plain": {"source": "plain.cl"},
               "square": queue_op(pure=True, **own), "count_late": queue_op(priority=rng.randrange(2, 5), **own)}
        self.file("plain.cl", "kernel void plain(global uint* a) { a[get_global_id(0)] += 1; }")
        self.file("wanted.raw", struct.pack(f"<{n}I", *wanted))
        buffers = {"wanted": buffer(count=n, init={"file": "wanted.raw"}), "seen": buffer(count=n, output="seen.npy"),
                   "squares": buffer(count=n, output="squares.npy")}
        repeat = rng.choice([1, 3])
        document = queue_program({name: ops[name] for name in order}, buffers, items, repeat=repeat,
                                 policy={"priority_age_threshold": threshold})
        document["waves"].append(wave("plain", "squares", size=n, local=1))
        serial = Serial(threshold)
        published = list(dict.fromkeys(squares)) + first + late
        priorities = [ops[order[item[0]]].get("priority", 2) for item in published]
        for iteration in range(repeat):  # what was counted stays
            runs = [1 if item[0] == 2 or iteration else wanted[item[3]] for item in published]
            serial.drain(priorities, runs)
        seen = [times + repeat - 1 for times in wanted]
        answers = [wanted[i]**2 + 1 if (2, 0, 2, i) in set(squares) else repeat for i in range(n)]
        queue = {"items": len(items), "published_items": len(published), "rounds": serial.rounds,
                 "deduped_items": len(items) - len(published), "items_remaining": 0,
                 **serial.accounting()}
        return document, seen, answers, queue

    def test_random(self) -> None:
        """Outputs and the whole accounting, in launches and in a persistent launch, in every mode."""
        slices = ("--set", "tuning.slice=1", "--workers", "1")  # rounds go on where the last slice ended
        for seed, *options in ((12, "--strategy", "launch"),
                               (11, "--strategy", "barrier", "--set", "tuning.mode=interpreter", *slices),
                               (10, "--strategy", "counters", "--set", "tuning.mode=jit")):
            with self.subTest(seed=seed, options=options):
                document, seen, answers, queue = self.random_program(random.Random(seed))
                report = self.report_of(document, "--verify", *options)
                self.assertEqual(self.output("seen.npy"), seen)
                self.assertEqual(self.output("squares.npy"), answers)
                self.assertEqual({key: report["queues"][0][key] for key in queue}, queue)
                self.assertEqual((report["deduped_items"], report["items_remaining"]), (queue["deduped_items"], 0))
                self.assertEqual(report["output_parity"]["equal"], True)
                accounting = {key: queue[key] for key in Serial(1).accounting()}
                self.assertEqual(run("priority", "drain", input=json.dumps(report)).stdout,
                                 run("priority", "drain", input=json.dumps(accounting)).stdout)
                self.assertEqual(report["fallbacks"], [])
                if "counters" in options:
                    self.assertEqual(report["telemetry"]["kernel_launches"], 1)
                if "slice=1" in options:
                    self.assertGreater(report["telemetry"]["kernel_launches"], 1)

    def test_ageing_ends_a_wait(self) -> None:
        """Items of priority 0 wait for one of priority 4, which gets its turn once it has aged."""
        document = queue_program({"wait": queue_op(priority=0), "raise": queue_op(priority=4)},
                                 {"in": buffer(count=1, init={"fill": 0}), "flags": buffer(count=1, output="flags.npy")},
                                 [(0, 0, 1, i) for i in range(300)] + [(1, 0, 1, 0)],
                                 policy={"priority_age_threshold": 2})
        queue = self.report_of(document, "--verify", "--strategy", "launch")["queues"][0]
        self.assertEqual((queue["aged_promotions"], queue["max_priority_age"]), (1, 8))  # 4 classes of 2 rounds
        # In its round the others run too, and who comes first is the device's affair: those wait for one round more.
        once_more = queue["requeue_count"] - 8 * 300
        self.assertIn(once_more, range(301))
        self.assertEqual((queue["rounds"], queue["items_remaining"]), (10 if once_more else 9, 0))

class Ends(Queues):
    def failed(self, document: Document, code: int, *words: str, strategy: str = "launch") -> Document:
        """The run fails with exactly this text, and nothing is written. `{ITEM}` is any one item, and its param."""
        result = self.run_document(document, "--strategy", strategy)
        self.assertEqual(result.rc, code, result.stderr)
        first, *rest = unplaced(result.stderr).split("\n")
        first = re.sub(r"^tidegate: .*\.json: ", "tidegate: ", first)
        if "{ITEM}" in words[0]:
            first = re.sub(r"item ([012]) (.*) param \1,", r"item {ITEM} \2 param {ITEM},", first)
        self.assertEqual([first, *rest[:len(words) - 1]], list(words))
        self.assertFalse((self.folder / "out.npy").exists())
        return parse(result.stdout) if result.stdout else {}

    def checked_program(self, values: list[int], **rest: Any) -> Document:
        self.file("in.raw", struct.pack(f"<{len(values)}I", *values))
        n = len(values)
        return queue_program({"checked": queue_op()},
                             {"in": buffer(count=n, init={"file": "in.raw"}), "out": buffer(count=n, output="out.npy")},
                             [(0, 0, 1, i) for i in reversed(range(n))], **rest)

    def test_faults(self) -> None:
        """A fault names item, op and code; the other items are done, outputs are not written."""
        for value, what, fix in (
                (9, "failed with code 109", "look at where the op returns that TIDEGATE_FAULT; no output was written"),
                (5, "returned 7, which is not a result of a queue op",
                 "return TIDEGATE_DONE, TIDEGATE_REQUEUE or TIDEGATE_FAULT(code); no output was written"),
                (4, "returned 1, which is TIDEGATE_REQUEUE without its name",
                 "return TIDEGATE_DONE, TIDEGATE_REQUEUE or TIDEGATE_FAULT(code); no output was written")):
            report = self.failed(
                self.checked_program([0, 1, 2, value, 0, 0]), 1,
                f'tidegate: error: item 2 of wave 0 (checked), op "checked" from buffer 0 to 1 with param 3, {what} '
                '[queue_fault]', "  at: /waves/0/queue", f"  fix: {fix}")
            self.assertEqual(report["status"], "queue_failed")
            self.assertEqual((report["items_remaining"], report["queues"][0]["items_remaining"]), (1, 1))

    def waiting(self, **queue: Any) -> Document:
        return queue_program({"wait": queue_op()},
                             {"in": buffer(count=1, init={"fill": 0}), "out": buffer(count=1, output="out.npy")},
                             [(0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 1, 2)], queue=queue)

    def test_stalled(self) -> None:
        for strategy in ("launch", "barrier"):
            report = self.failed(
                self.waiting(most_stalled_rounds=6), 1,
                'tidegate: error: item {ITEM} of wave 0 (wait), op "wait" from buffer 0 to 1 with param {ITEM}, waits for what does '
                "not come: no item was done in 6 rounds [queue_stalled]", "  at: /waves/0/queue",
                "  fix: look at what the op waits for, or give the queue more most_stalled_rounds; no output was written",
                strategy=strategy)
            self.assertEqual((report["items_remaining"], report["queues"][0]["rounds"]), (3, 6))
            self.assertEqual(report["queues"][0]["requeue_count"], 18)

    def test_wall_time(self) -> None:
        for strategy in ("plain", "launch", "barrier"):
            result = self.run_document(self.waiting(most_stalled_rounds=2**32 - 1), "--strategy", strategy,
                                       "--max-wall-time", "300ms")
            self.assertEqual(result.rc, 1, result.stderr)
            self.assertIn(": error: the wall time of 0.3 s is over: 3 of 3 items are left, after 0 iterations [wall_time_exceeded]\n", result.stderr)
            report = parse(result.stdout)
            self.assertEqual((report["status"], report["items_remaining"], report["queues"][0]["items_remaining"]), ("deadline", 3, 3))


if __name__ == "__main__":
    unittest.main()
