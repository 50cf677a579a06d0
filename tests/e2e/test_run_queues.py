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

from support import EXAMPLES, Document, parse, run, unplaced
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

    def test_without_requeues(self) -> None:
        """Such a wave is one launch; its items come from lines or bytes, and are the same."""
        n = 3000
        items = [(0, 0, 1, i) for i in range(n)] + [(0, 0, 2, i) for i in range(0, n, 7)]
        document = {"buffers": {"in": buffer(count=n, init={"iota": {}}), "a": buffer(count=n, output="a.npy"),
                                "b": buffer(count=n, output="b.npy")},
                    "ops": {"square": queue_op(), "plain": {"source": "plain.cl"}},
                    "waves": [{"queue": {"ops": ["square"], "buffers": ["in", "a", "b"], "file": ""}, "rules": [4]}, wave("plain", "a", size=n, local=50, rules=[1])]}
        self.file("plain.cl", "kernel void plain(global uint* a) { a[get_global_id(0)] += 1; }")
        self.file("items.bin", b"".join(struct.pack("<4I", *item) for item in items))
        self.file("items.ndjson", "".join(json.dumps(item) + "\n" for item in objects(items)) + "\n")
        for file in ("items.bin", "items.ndjson"):
            document["waves"][0]["queue"]["file"] = file
            report = self.report_of(document, "--verify", "--strategy", "launch")
            self.assertEqual(self.output("a.npy"), [i * i % 2**32 + 1 for i in range(n)])
            self.assertEqual(self.output("b.npy"), [0 if i % 7 else i * i % 2**32 for i in range(n)])
            queue = report["queues"][0]
            self.assertEqual((queue["items"], queue["rounds"]), (len(items), 0))
            self.assertEqual(report["published_items"], len(items) + n)
            self.assertEqual(report["region_lineage"], [16, 18])
            self.assertEqual(report["telemetry"]["kernel_launches"], 2)

    def test_dealt_out_by_the_profile(self) -> None:
        """How many items a work-group has are constants of the device's profile."""
        n = 3000
        document = queue_program({"count": queue_op(), "square": queue_op()},
                                 {"in": buffer(count=n, init={"fill": 2}), "seen": buffer(count=n, output="seen.npy"),
                                  "out": buffer(count=n, output="out.npy")},
                                 [(i % 2, 0, 1 + i % 2, i) for i in reversed(range(n))])
        profile = {"kind": "device_profile", "schema_version": 1, "device": device()["name"], "driver_version": "",
                   "tidegate": "", "workgroup_size": 1, "co_resident_groups": 1, "trials": [], "launch_ns": 1,
                   "launch_round_trip_ns": 1, "claimed_items_per_second": 1}
        others = set()
        for tuning, lanes, tiles in (({}, 256, 2 * 6), ({"queue_lanes": 64, "queue_items_per_lane": 32, "queue_many_items": n}, 64, 2),
                                     ({"queue_lanes": 64, "queue_items_per_lane": 32, "queue_many_items": n + 1}, 64, 2 * 24)):
            with self.subTest(tuning=tuning):
                file = str(self.file("profile.json", json.dumps({**profile, "tuning": tuning})))
                report = self.report_of(document, "--verify", "--strategy", "launch", "--set", f"profile={file}")
                self.assertEqual(report["items_processed"], n)
                # Memory has 8 words for each tile, in blocks of 256 bytes, and one for each of its lanes; the rest is alike.
                others.add(report["memory"]["sum_bytes"] - (tiles * 32 + 255) // 256 * 256 - tiles * lanes * 4)
                self.assertEqual(len(others), 1)
                self.assertEqual(self.output("seen.npy"), [0 if i % 2 else 2 for i in range(n)])
                self.assertEqual(self.output("out.npy"), [4 if i % 2 else 0 for i in range(n)])
                self.assertEqual((report["queues"][0]["rounds"], report["queues"][0]["requeue_count"]), (2, n // 2))

    def test_several(self) -> None:
        """Queues before, in and after a repetition with swaps share one launch with each other and with kernels."""
        def items(op: int, source: int, to: int) -> Document:
            return {"queue": {"ops": ["count", "move"], "buffers": ["in", "seen", "a", "b"],
                              "items": objects([(op, source, to, i) for i in range(8)])}}

        self.file("queue.cl", OPS + "uint move(global const uint* from, global uint* to, uint i) {\n"
                  "  to[i] = from[i] + 1;\n  return TIDEGATE_DONE;\n}\n")
        self.file("plain.cl", "kernel void plain(global uint* a) { a[get_global_id(0)] += 1; }")
        document = {"buffers": {"in": buffer(init={"iota": {"start": 1}}), "seen": buffer(output="seen.npy"),
                                "a": buffer(output="a.npy"), "b": buffer(output="b.npy")},
                    "ops": {"count": queue_op(), "move": queue_op(), "plain": {"source": "plain.cl"}},
                    "waves": [{**items(0, 0, 1), "phase": "before"}, wave("plain", "seen", phase="before"),
                              items(1, 2, 3), wave("plain", "a"), items(0, 0, 2), {**items(1, 3, 1), "phase": "after"}],
                    "swap": [["a", "b"]], "repeat": 3}
        report = self.report_of(document, "--verify", "--strategy", "counters", "--set", "tuning.mode=interpreter")
        a, b = [0] * 8, [0] * 8
        for _ in range(3):
            b = [value + 1 for value in a]
            a = [max(value + 2, i + 1) for i, value in enumerate(a)]
            a, b = b, a
        self.assertEqual((self.output("a.npy"), self.output("b.npy")), (a, b))
        self.assertEqual(self.output("seen.npy"), [value + 1 for value in b])
        self.assertEqual((report["telemetry"]["kernel_launches"], report["queues"][0]["rounds"]), (1, 8))

    def test_with_barriers(self) -> None:
        """A queue that requeues shares a launch with a kernel that has barriers: only one work-item ends a round."""
        self.file("turn.cl", "kernel void turn(global uint* a) {\n  local uint t[64];\n  t[get_local_id(0)] = a[get_global_id(0)];\n"
                  "  barrier(CLK_LOCAL_MEM_FENCE);\n  a[get_global_id(0)] = t[63 - get_local_id(0)];\n}\n")
        document = queue_program({"count": queue_op(), "turn": {"source": "turn.cl"}},
                                 {"in": buffer(count=64, init={"fill": 3}), "seen": buffer(count=64, output="seen.npy"),
                                  "a": buffer(count=64, init={"iota": {}}, output="a.npy")}, [(0, 0, 1, i) for i in range(64)])
        document["waves"].append(wave("turn", "a", size=64, local=64))
        report = self.report_of(document, "--strategy", "barrier", "--workers", "2")
        self.assertEqual((report["fallbacks"], report["queues"][0]["rounds"]), ([], 3))
        self.assertEqual((self.output("seen.npy"), self.output("a.npy")), ([3] * 64, list(reversed(range(64)))))

    def test_order_of_keys(self) -> None:
        """Handles are places in lists: the same program with its keys in another order gives the same outputs."""
        document = {"buffers": {"in": buffer(init={"iota": {"start": 1}}), "seen": buffer(output="seen.npy"), "a": buffer(output="a.npy")},
                    "ops": {"square": queue_op(), "count": queue_op()},
                    "waves": [{"queue": {"ops": ["square", "count"], "buffers": ["in", "seen", "a"],
                                         "items": objects([(i % 2, 0, 1 + i % 2, i) for i in range(8)])}}]}
        for keys_sorted in (False, True):
            self.report_of(json.loads(json.dumps(document, sort_keys=keys_sorted)), "--strategy", "launch")
            self.assertEqual(self.output("seen.npy"), [0 if i % 2 else (i + 1) ** 2 for i in range(8)])
            self.assertEqual(self.output("a.npy"), [i + 1 if i % 2 else 0 for i in range(8)])

    def test_names(self) -> None:
        """Items name ops and buffers, in a program and in a file, beside others with numbers."""
        self.file("named.cl", "uint add(global const uint* in, global uint* out, uint i) { out[i] += in[i]; return TIDEGATE_DONE; }\n"
                  "uint square(global const uint* in, global uint* out, uint i) { out[i] += in[i] * in[i]; return TIDEGATE_DONE; }\n")
        values = buffer(count=6, init={"iota": {"start": 3}})
        items = [{"op": "add", "input": "a", "output": "sum", "param": 0}, {"op": "square", "input": "b", "output": "sum", "param": 1},
                 {"op_handle": 1, "input_handle": 1, "output": "sum", "param": 2}, {"op": "add", "input": "b", "output_handle": 2, "param": 3}]
        document = {"buffers": {"a": values, "b": values, "sum": buffer(count=6, init={"fill": 0}, output="out.npy")},
                    "ops": {name: queue_op("named.cl") for name in ("square", "add")}, # in another order than the queue lists
                    "waves": [{"queue": {"ops": ["add", "square"], "buffers": ["a", "b", "sum"], "items": items}}]}
        self.file("items.ndjson", "".join(json.dumps(item) + "\n" for item in items).encode())
        for where in ({"items": items}, {"file": "items.ndjson"}):
            document["waves"][0]["queue"] = {"ops": ["add", "square"], "buffers": ["a", "b", "sum"], **where}
            self.report_of(document, "--strategy", "launch")
            self.assertEqual(self.output("out.npy"), [3, 16, 25, 6, 0, 0])
            (self.folder / "out.npy").unlink()
        for at, change, place, message, fix in (
                (1, {"op": "sqare"}, "/op", 'there is no op of the queue "sqare" [unknown_name]', 'did you mean "square"'),
                (2, {"output": "total"}, "/output", 'there is no buffer of the queue "total" [unknown_name]', "sum"),
                (0, {"op_handle": 0}, "", "an item has both op and op_handle [bad_queue]", 'write {"op": "NAME", "input": "NAME", "output": "NAME"'),
                (3, {"input": None}, "", "an item has no input [bad_queue]", 'write {"op": "NAME", "input": "NAME", "output": "NAME"')):
            wrong = [dict(item) for item in items]
            wrong[at].update(change)
            wrong[at] = {key: value for key, value in wrong[at].items() if value is not None}
            document["waves"][0]["queue"] = {"ops": ["add", "square"], "buffers": ["a", "b", "sum"], "items": wrong}
            result = self.run_document(document, "--strategy", "launch")
            self.assertEqual(result.rc, 3, result.stderr)
            self.assertIn(message, result.stderr)
            self.assertIn(f"/waves/0/queue/items/{at}{place}", result.stderr)
            self.assertIn(fix, result.stderr)
            self.file("items.ndjson", "".join(json.dumps(item) + "\n" for item in wrong).encode())
            document["waves"][0]["queue"] = {"ops": ["add", "square"], "buffers": ["a", "b", "sum"], "file": "items.ndjson"}
            result = self.run_document(document, "--strategy", "launch")
            self.assertIn(message, result.stderr)
            self.assertIn(f"items.ndjson:{at + 1}:", result.stderr)

    def test_empty(self) -> None:
        """A queue without items runs nothing, and the program all else."""
        self.file("empty.cl", "uint once(global const uint* in, global uint* out, uint i) { out[i] = in[i]; return TIDEGATE_DONE; }\n"
                  "uint again(global const uint* in, global uint* out, uint i) { return in[i] ? TIDEGATE_DONE : TIDEGATE_REQUEUE; }\n"
                  "uint more(global const uint* in, global uint* out, uint i, tidegate_publisher publisher) {\n"
                  "  TIDEGATE_PUBLISH(once, in, out, i + 1);\n  return TIDEGATE_DONE;\n}\n")
        self.file("plain.cl", "kernel void plain(global uint* a) { a[get_global_id(0)] += 1; }")
        self.file("none.ndjson", "\n")
        for ops, strategies in ((["once"], ("plain", "barrier")), (["again", "once"], ("launch", "counters")),
                                (["more", "once"], ("launch", "barrier"))):
            for strategy in strategies:
                where: Document = {"items": []} if strategy != "launch" else {"file": "none.ndjson"}
                document = {"buffers": {"in": buffer(count=8, init={"iota": {}}), "out": buffer(count=8, init={"fill": 5}, output="out.npy")},
                            "ops": {**{op: queue_op("empty.cl") for op in ops}, "plain": {"source": "plain.cl"}},
                            "waves": [{"queue": {"ops": ops, "buffers": ["in", "out"], **where}}, wave("plain", "out", size=8, local=8)], "repeat": 2}
                with self.subTest(ops=ops, where=where, strategy=strategy):
                    report = self.report_of(document, "--strategy", strategy, *(("--verify",) if strategy != "plain" else ()))
                    self.assertEqual(self.output("out.npy"), [7] * 8)
                    queue = report["queues"][0]
                    self.assertEqual([queue[key] for key in ("items", "published_items", "items_processed", "items_remaining")], [0] * 4)
                    checked = run("check", "-", input=json.dumps(report))
                    self.assertEqual((checked.rc, checked.stderr), (0, ""))

    def test_example(self) -> None:
        program = str(EXAMPLES / "programs" / "queue" / "program.json")
        plan = run("plan", program)
        self.assertEqual((plan.rc, plan.stderr), (0, ""))
        checked = run("check", program)
        self.assertEqual(checked.rc, 0, checked.stdout + checked.stderr)
        planned = run("run", program, "--dry-run")
        report = parse(planned.stdout)
        self.assertEqual((report["queues"][0]["items"], report["deduped_items"]), (288, 32))


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

    def test_full(self) -> None:
        report = self.failed(
            self.waiting(capacity=2), 1,
            'tidegate: error: item {ITEM} of wave 0 (wait), op "wait" from buffer 0 to 1 with param {ITEM}, is one of more than 2 '
            "items that wait requeued [requeue_queue_full]", "  at: /waves/0/queue",
            "  fix: give the queue more capacity, or leave it out; no output was written")
        self.assertEqual(report["items_remaining"], 3)

    def test_wall_time(self) -> None:
        for strategy in ("plain", "launch", "barrier"):
            result = self.run_document(self.waiting(most_stalled_rounds=2**32 - 1), "--strategy", strategy,
                                       "--max-wall-time", "300ms")
            self.assertEqual(result.rc, 1, result.stderr)
            self.assertIn(": error: the wall time of 0.3 s is over: 3 of 3 items are left, after 0 iterations [wall_time_exceeded]\n", result.stderr)
            report = parse(result.stdout)
            self.assertEqual((report["status"], report["items_remaining"], report["queues"][0]["items_remaining"]), ("deadline", 3, 3))


class Sources(Queues):
    def test_source(self) -> None:
        """What only the device's compiler sees stands in the user's file, or in one that it includes."""
        document = queue_program({"square": queue_op()}, {"in": buffer(), "out": buffer(output="out.npy")}, [(0, 0, 1, 0)])
        signature = "uint square(global const uint* in, global uint* out, uint i)"
        undeclared = "use of undeclared identifier 'unknown'"
        for text, place, message in (
                (f"{signature} {{\n  return unknown;\n}}\n", "queue.cl:2:10", undeclared),
                (f"{signature} {{\n  return unknown(i);\n}}", "queue.cl:2:10", ".*'unknown'.*"),
                (f'#include "part.h"\n{signature} {{ return part(); }}\n', "part.h:1:27", undeclared)):
            self.file("queue.cl", text)
            self.file("part.h", "uint part(void) { return  unknown; }\n")
            for strategy in ("launch", "barrier"):
                with self.subTest(text, strategy=strategy):
                    result = self.run_document(document, "--strategy", strategy)
                    self.assertEqual(result.rc, 3, result.stderr)
                    self.assertRegex(result.stderr, f"^tidegate: {self.folder}/{place}: error: {message} \\[kernel_source\\]")


if __name__ == "__main__":
    unittest.main()
