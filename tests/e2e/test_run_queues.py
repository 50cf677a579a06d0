"""tidegate run: waves of work items, beside a serial queue in Python that knows every item by itself; from the program,
and every way in which a queue ends early.
"""

import json
import random
from typing import Any

from support import Document, Programs, buffer, parse, raw, run, unplaced, wave

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


def queue_op(source: str = "queue.cl", **rest: Any) -> Document:
    return {"source": source, "queue": True, **rest}


def queue_program(ops: Document, buffers: Document, items: list[Item], **rest: Any) -> Document:
    given = [dict(zip(("op_handle", "input_handle", "output_handle", "param"), item)) for item in items]
    return {"buffers": buffers, "ops": ops,
            "waves": [{"queue": {"ops": list(ops), "buffers": list(buffers), "items": given, **rest.pop("queue", {})}}], **rest}


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
    sources = {"queue.cl": OPS}

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
        self.file("wanted.raw", raw("u32", wanted))
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
        queue = {"published_items": len(published), "rounds": serial.rounds,
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
                report = self.right(document, "--verify", *options, seen=seen, squares=answers)
                self.assertEqual({key: report["queues"][0][key] for key in queue}, queue)
                self.assertEqual((report["deduped_items"], report["items_remaining"]), (queue["deduped_items"], 0))
                self.assertEqual(report["output_parity"]["equal"], True)
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

    def test_ends(self) -> None:
        """A fault, a stall or the wall time: the run says which, counts what is left, and writes nothing."""
        self.file("in.raw", raw("u32", [0, 1, 2, 9, 0, 0]))
        buffers = {"in": buffer(count=6, init={"file": "in.raw"}), "out": buffer(count=6, output="out.npy")}

        def waiting(**queue: Any) -> Document:
            return queue_program({"wait": queue_op()}, buffers | {"out": buffer(count=1, output="out.npy")}, [(0, 0, 1, i) for i in range(3)],
                                 queue=queue)

        fault = (queue_program({"checked": queue_op()}, buffers, [(0, 0, 1, i) for i in reversed(range(6))]), "queue_failed", 1,
                 'item 2 of wave 0 (checked), op "checked" from buffer 0 to 1 with param 3, failed with code 109 [queue_fault]\n  at: /waves/0/queue')
        stalled = (waiting(most_stalled_rounds=6), "queue_failed", 3, "waits for what does not come: no item was done in 6 rounds [queue_stalled]")
        late = (waiting(most_stalled_rounds=2**32 - 1), "deadline", 3,
                "the wall time of 0.3 s is over: 3 of 3 items are left, after 0 iterations [wall_time_exceeded]")
        for strategy, (document, status, left, text), options in (
                ("launch", fault, ()), ("launch", stalled, ()), ("barrier", stalled, ()), *((strategy, late, ("--max-wall-time", "300ms"))
                                                                                         for strategy in ("plain", "launch", "barrier"))):
            with self.subTest(strategy=strategy, text=text):
                result = self.run_document(document, "--strategy", strategy, *options)
                self.assertEqual(result.rc, 1, result.stderr)
                self.assertIn(text, unplaced(result.stderr))
                report = parse(result.stdout)
                self.assertEqual((report["status"], report["items_remaining"], report["queues"][0]["items_remaining"]), (status, left, left))
                self.assertFalse((self.folder / "out.npy").exists())
