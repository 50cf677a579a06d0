"""tidegate run: lists of hits, whose contents Python computes again: exact room, too little of it in each of the three ways,
none found, several lists, queue ops, repetition. tests/app/transcripts/kinds.txt has what is refused.
"""

import json
from typing import Any

from support import IOTA, Document, Programs, buffer, parse, program, run, unplaced, wave

OPS = """
kernel void multiples(global const uint* in, uint of, global uint* found) {
  if (in[get_global_id(0)] % of == 0) TIDEGATE_HIT(found, in[get_global_id(0)]);
}
// Work-items leave at different times, and hits come from a helper, in a loop and from branches.
void put(global ulong* list, uint i) { TIDEGATE_HIT(list, (ulong)i << 32 | i); }
kernel void divisors(global const uint* in, global ulong* found, global float2* halves) {
  const size_t i = get_global_id(0);
  if (in[i] % 5 == 0) return;
  for (uint d = 2; d * d <= in[i]; ++d) {
    if (in[i] % d == 0) put(found, in[i] * 1000 + d);
  }
  if (in[i] % 2) { TIDEGATE_HIT(halves, (float2)(in[i] / 2.0f, -1)); }
  else TIDEGATE_HIT(halves, (float2)(in[i], 1));
}
"""
QUEUE = """
uint squares(global const uint* in, global uint* out, uint i) {
  if (in[i] % 3 == 0) TIDEGATE_HIT(out, in[i] * in[i]);
  return TIDEGATE_DONE;
}
uint twice(global const uint* in, global uint* out, uint i) {
  TIDEGATE_HIT(out, in[i]);
  return in[i] == i ? TIDEGATE_DONE : TIDEGATE_FAULT(1);
}
"""
# Tests of what no strategy decides take one or two of these: each kernel takes a CPU's compiler seconds.
WAYS = (("--strategy", "plain"), *(("--strategy", strategy, "--set", f"tuning.mode={mode}") for strategy, mode in
                                   (("launch", "interpreter"), ("barrier", "jit"), ("counters", "interpreter"))))


def hits(type_: str = "u32", **rest: Any) -> Document:
    return {"type": type_, "output": "found.npy", **rest}


class Hits(Programs):
    sources = {"ops.cl": OPS, "queue.cl": QUEUE}

    def multiples(self, of: int, n: int = 4096, **found: Any) -> Document:
        return program({"in": buffer(count=n, init=IOTA)},
                       wave("multiples", "in", of, {"hits": "found"}, size=n, local=64), hits={"found": hits(**found)})

    def row(self, report: Document, index: int = 0) -> tuple[int, int]:
        row = report["hits"][index]
        return row["capacity"], row["hits"]

    def sound(self, report: Document) -> None:
        """`check` finds nothing wrong with the report of a run that reached its end, or of a dry run."""
        path = self.file("report.json", json.dumps(report))
        self.assertEqual(run("check", str(path)).rc, 0 if report["status"] in ("done", "planned") else 1)

    def test_every_strategy(self) -> None:
        """The sorted output has the same bytes each time; the list has exactly the room that is needed."""
        written = set()
        for way in WAYS:
            report = self.right(self.multiples(7, capacity=586, sorted=True), "--verify", *way, found=list(range(0, 4096, 7)))
            self.assertEqual((self.row(report), report["output_parity"]["equal"]), ((586, 586), True))
            self.sound(report)
            written.add((self.folder / "found.npy").read_bytes())
        self.assertEqual(len(written), 1)

    def test_several_lists(self) -> None:
        """Two lists of one kernel, and hits in divergent control flow."""
        n = 512
        document = program({"in": buffer(count=n, init={"iota": {"start": 1}})},
                           wave("divisors", "in", {"hits": "found"}, {"hits": "halves"}, size=n, local=32),
                           hits={"found": hits("u64", sorted=True, expected_hits_per_item=200),
                                 "halves": hits("f32", width=2, sorted=True, output="halves.npy")})
        numbers = [i for i in range(1, n + 1) if i % 5]
        found = sorted(i * 1000 + d for i in numbers for d in range(2, n) if d * d <= i and i % d == 0)
        halves = sorted((i / 2, -1.0) if i % 2 else (float(i), 1.0) for i in numbers)
        for way in WAYS[1:3]:
            report = self.right(document, "--verify", *way, found=[hit << 32 | hit for hit in found],
                                halves=[value for pair in halves for value in pair])
            self.assertIn(f"'shape': ({len(halves)}, 2)".encode(), (self.folder / "halves.npy").read_bytes())
            self.assertEqual([row["list"] for row in report["hits"]], ["found", "halves"])
            self.assertEqual(report["telemetry"]["hit_capacity"], sum(row["capacity"] for row in report["hits"]))
            self.sound(report)

    def test_queues(self) -> None:
        """An op of a queue appends to its output."""
        n = 300
        items = [{"op_handle": i % 2, "input_handle": 0, "output_handle": 1 + i % 2, "param": i} for i in range(n)]
        document = {"buffers": {"in": buffer(count=n, init=IOTA)},
                    "hits": {"found": hits(sorted=True), "all": hits(output="all.npy", sorted=True)},
                    "ops": {name: {"source": "queue.cl", "queue": True} for name in ("squares", "twice")},
                    "waves": [{"queue": {"ops": ["squares", "twice"], "buffers": ["in", "found", "all"], "items": items}}]}
        for way in WAYS[1:3]:
            self.sound(self.right(document, "--verify", *way, found=[i * i for i in range(0, n, 2) if i % 3 == 0], all=list(range(1, n, 2))))

    def test_too_many(self) -> None:
        for way in WAYS[2:]:
            result = self.run_document(self.multiples(7, capacity=500), "--verify", *way)
            self.assertEqual(result.rc, 1)
            self.assertIn('error: the list "found" holds 500 of 586 hits [hits_overflow]\n  at: /hits/found\n', unplaced(result.stderr))
            report = parse(result.stdout)
            self.assertEqual((report["status"], report["items_remaining"]), ("hits_overflow", 0))
            self.assertEqual(self.row(report), (500, 586))
            self.assertFalse((self.folder / "found.npy").exists())
            self.sound(report)

    def test_grow(self) -> None:
        for way in WAYS[::3]:
            report = self.right(self.multiples(7, capacity=1, on_overflow="grow", sorted=True), "--verify", *way, found=list(range(0, 4096, 7)))
            self.assertEqual(self.row(report), (586, 586))
            self.sound(report)
