"""tidegate run --trace: the timeline is read back and must be one that the schedule allows.

So it is one more check of the schedule itself: nothing overlaps in a lane, and no tile begins before those have ended
that it depends on.
"""

import collections
import itertools
import json
from typing import Any

from support import Document, Programs, buffer, program, wave

OPS = """kernel void spread(global const uint* a, global uint* b) {
  const uint i = get_global_id(0);
  b[i] = (i == 0 ? 0u : a[i - 1]) + a[i];
}
kernel void total(global const uint* b, global uint* sum) {
  if (get_global_id(0) == 0) {
    uint all = 0;
    for (uint i = 0; i < 64; ++i) all += b[i];
    sum[0] = all;
  }
}
"""
SIZE = 64
LOCAL = 8
Span = dict[str, Any]


def chain(repeat: int, **rest: Any) -> Document:
    """A stencil that turns two buffers over, and a sum of what it made, behind the repetition."""
    return program({"a": buffer(count=SIZE, init={"fill": 1}), "b": buffer(count=SIZE, init={"fill": 0}),
                    "sum": buffer(count=1, output="sum.npy")},
                   wave("spread", "a", "b", size=SIZE, local=LOCAL, name="spread"),
                   wave("total", "b", "sum", size=SIZE, local=LOCAL, name="total"), swap=[["a", "b"]], repeat=repeat, **rest)


class Trace(Programs):
    sources = {"ops.cl": OPS}

    def traced(self, document: Document, *args: str) -> tuple[Document, Document]:
        report = self.report_of(document, "--trace", str(self.folder / "trace.json"), *args)
        trace = json.loads((self.folder / "trace.json").read_text())
        return report, trace

    def lanes(self, trace: Document) -> dict[str, list[Span]]:
        """By name. Nothing overlaps in a lane."""
        names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"]
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        lanes: dict[str, list[Span]] = {name: [] for name in names.values()}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                begin = round(event["ts"] * 1000)
                span = {**event, "begin": begin, "end": begin + round(event["dur"] * 1000)}
                lanes[names[event["tid"]]].append(span)
        for name, spans in lanes.items():
            for one, other in itertools.pairwise(spans):
                self.assertLessEqual(one["end"], other["begin"], f"{name}: {one} {other}")
        return lanes

    def assert_ordered(self, spans: list[Span], earlier: str, later: str) -> None:
        """No tile of the later wave begins in an iteration before those of the earlier one have ended."""
        pairs = [(one, other) for one in spans if earlier in one["name"] for other in spans
                 if later in other["name"] and one["args"]["iteration"] == other["args"]["iteration"]]
        self.assertTrue(pairs)
        for one, other in pairs:
            self.assertLessEqual(one["end"], other["begin"], f"{one} {other}")

    @staticmethod
    def tiles(span: Span) -> list[int]:
        args = span["args"]
        return [args["first_tile"] + i * args["tile_step"] for i in range(args["tiles"])]

    def test_work_groups(self) -> None:
        for strategy, workers in (("barrier", "1"), ("barrier", "2"), ("counters", "2")):
            with self.subTest(strategy=strategy, workers=workers):
                report, trace = self.traced(chain(6), "--strategy", strategy, "--workers", workers)
                self.assertEqual(self.output("sum.npy"), [self.expected(6)])
                lanes = self.lanes(trace)
                self.assertEqual(set(lanes), {"launches", "iterations",
                                              *(f"work-group {i}" for i in range(int(workers)))})
                work = [s for name, spans in lanes.items() if name.startswith("work-group") for s in spans
                        if s["cat"] == "work"]
                # Every tile of every wave, once in each iteration.
                ran = collections.Counter((s["name"], s["args"]["iteration"], t) for s in work for t in self.tiles(s))
                self.assertEqual(set(ran.values()), {1})
                self.assertEqual(len(ran) * LOCAL, report["items_processed"])
                self.assertEqual(len(ran), 2 * 6 * (SIZE // LOCAL))
                self.assert_ordered(work, '"spread"', '"total"')
                self.assert_wave_times(report, work)
                self.assertEqual([s["args"]["iteration"] for s in lanes["iterations"]], list(range(6)))
                # Work and waits lie within the slices.
                slices = lanes["launches"]
                self.assertEqual({s["cat"] for s in slices}, {"slice"})
                for span in work:
                    self.assertTrue(any(s["begin"] <= span["begin"] and span["end"] <= s["end"] for s in slices), span)

    def assert_wave_times(self, report: Document, work: list[Span]) -> None:
        """The sums by wave are those of the spans, and the critical path, which must lead through one span of each step
        where all wait for all, is that of a walk over them."""
        times = report["wave_times"]
        found = {row["waves"]: row for row in times["waves"]}
        self.assertEqual(set(found), {'"spread"', '"total"'})
        steps: dict[tuple[int, bool], list[Span]] = collections.defaultdict(list)
        for name, buffer_bytes in (('"spread"', 8 * SIZE), ('"total"', 4 * SIZE + 4)):
            spans = [s for s in work if s["name"] == name]
            by_iteration = collections.defaultdict(list)
            for span in spans:
                by_iteration[span["args"]["iteration"]].append(span)
                steps[span["args"]["iteration"], name == '"total"'].append(span)
            row = found[name]
            self.assertEqual((row["executions"], row["buffer_bytes"]), (len(by_iteration), buffer_bytes))
            self.assertEqual(row["work_ns"], sum(s["end"] - s["begin"] for s in spans))
            self.assertEqual(row["time_ns"], sum(max(s["end"] for s in of) - min(s["begin"] for s in of)
                                                 for of in by_iteration.values()))
        critical = {name: row["critical_ns"] for name, row in found.items()}
        self.assertEqual(sum(critical.values()) + times["synchronization_ns"], times["critical_path_ns"])
        if report["strategy"] != "counters":
            walked: collections.Counter[str] = collections.Counter()
            end = begin = max(s["end"] for s in work)
            for _, spans in sorted(steps.items(), reverse=True):
                last = max(spans, key=lambda s: s["end"])
                if sum(s["end"] == last["end"] for s in spans) > 1:
                    return  # the path may lead through either
                walked[last["name"]] += min(last["end"], begin) - min(last["begin"], begin)
                begin = min(last["begin"], begin)
            self.assertEqual((critical, times["critical_path_ns"]), (dict(walked), end - begin))

    def expected(self, repeat: int) -> int:
        values = [1] * SIZE
        for _ in range(repeat):
            values = [values[i] + (values[i - 1] if i else 0) for i in range(SIZE)]
        return sum(values) % 2**32

    def test_launches(self) -> None:
        report, trace = self.traced(chain(3), "--strategy", "launch")
        lanes = self.lanes(trace)
        self.assertEqual([(s["name"], s["args"]["iteration"]) for s in lanes["launches"]],
                         [(name, i) for i in range(3) for name in ('"spread"', '"total"')])
        self.assertEqual(trace["otherData"]["clock"], "none")
        self.assertEqual(set(lanes), {"launches", "iterations"})
        self.assert_wave_times(report, lanes["launches"])

    def test_traversal(self) -> None:
        """A graph program: a span and two points of curves for each wave, in order, and its time in the report."""
        document = {"graph": {"generate": {"grid": {"width": 60, "height": 50}}}, "algorithm": "bfs", "sources": [0]}
        for strategy in ("launch", "barrier"):
            with self.subTest(strategy=strategy):
                report, trace = self.traced(document, "--strategy", strategy)
                lanes = self.lanes(trace)
                waves = report["waves"]
                self.assertEqual(len(waves), 109)
                self.assertEqual([(s["name"], s["args"]["iteration"], s["end"] - s["begin"]) for s in lanes["waves"]],
                                 [(w["topology"], w["wave"], w["time_ns"]) for w in waves])
                self.assertLessEqual(sum(w["time_ns"] for w in waves), lanes["launches"][-1]["end"])
                frontier = [e["args"]["value"] for e in trace["traceEvents"] if e["ph"] == "C" and e["name"].startswith("vertices")]
                self.assertEqual(frontier, [*(w["vertices"] for w in waves), 0])
