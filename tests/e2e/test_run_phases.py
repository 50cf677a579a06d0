"""tidegate run: waves before, in and after the repetition, fills and copies, and values that change from iteration to
iteration, in both strategies and modes, beside an evaluation in Python.
"""

import itertools
from typing import Any

from support import IOTA, Document, Programs, buffer, wave

KERNELS = """
kernel void add(global uint* a, uint by) { a[get_global_id(0)] += by; }
kernel void blend(global const uint* a, global uint* b, long by, float scale) {
  size_t i = get_global_id(0);
  b[i] = a[i] * 3u + (uint)by + (uint)(scale * 8.0f);
}
kernel void count(global int* counter, int by) { if (get_global_id(0) == 0) counter[0] += by; }
"""
N = 600
M = 2**32


def phases_program(repeat: int | None) -> Document:
    """The waves stand in another order than they run in: that of the phases counts."""
    def add(name: str, value: int, **rest: Any) -> Document:
        by: Document = {"u32": value}
        if "iteration" in rest:
            by["iteration"] = rest.pop("iteration")
        return wave("add", name, by, size=N, local=1, **rest)

    waves = [
        add("kept", 100, iteration={"add": 1}, phase="after"),
        {"copy": {"from": "passing", "to": "kept", "from_offset": 500, "to_offset": 1, "count": 99}, "phase": "after"},
        add("x", 1, iteration={"add": 3}),
        wave("blend", "x", "y", {"i64": -1, "iteration": {"multiply": -3}}, {"f32": 0.5, "iteration": {"add": 0.25}},
             size=N, local=4),
        add("passing", 1, iteration={"multiply": 2}),
        add("passing", 1000, iteration={"divide": 3}),
        {"copy": {"from": "y", "to": "kept", "from_offset": 3, "to_offset": 7, "count": 400}},
        wave("count", "counter", {"i32": 1}, size=4, local=4),
        {"fill": {"buffer": "bytes", "value": 7, "offset": 3, "count": 18}, "phase": "before"},
        {"copy": {"from": "x", "to": "passing"}, "phase": "before"},
        add("passing", 40, iteration={"add": 9}, phase="before"),
        {"fill": {"buffer": "counter", "value": -3}, "phase": "before"},
    ]
    buffers = {"x": buffer(count=N, init=IOTA, output="x.npy"),
               "y": buffer(count=N, init={"iota": {"step": 5}}, output="y.npy"),
               "passing": buffer(count=N), "kept": buffer(count=N, output="kept.npy"),
               "bytes": buffer("u8", 29, init={"fill": 1}, output="bytes.npy"),
               "counter": buffer("i32", 1, output="counter.npy")}
    return {"buffers": buffers, "waves": waves, "swap": [["x", "y"]],
            "ops": {name: {"source": "phases.cl"} for name in ("add", "blend", "count")},
            **({"until": {"buffer": "counter", "equals": 2}} if repeat is None else {"repeat": repeat})}


def evaluated(iterations: int) -> dict[str, list[int]]:
    x, y = list(range(N)), [5 * i for i in range(N)]
    kept, passing = [0] * N, [value + 40 for value in x]
    for i in range(iterations):
        x = [value + 1 + 3 * i for value in x]
        y = [(3 * value - (-3)**i + int(8 * (0.5 + 0.25 * i))) % M for value in x]
        passing = [value + (1 << i) + 1000 // 3**i for value in passing]
        kept[7:407] = y[3:403]
        x, y = y, x
    kept = [value + 100 + iterations for value in kept]
    kept[1:100] = passing[500:599]
    return {"x": x, "y": y, "kept": kept, "bytes": [1] * 3 + [7] * 18 + [1] * 8, "counter": [iterations - 3]}


class Small(Programs):
    sources = {"phases.cl": KERNELS}


class Phases(Small):
    def checked(self, document: Document, iterations: int, *options: str) -> Document:
        report = self.right(document, "--verify", "--max-wall-time", "100", *options, **evaluated(iterations))
        self.assertEqual((report["iterations"], report["items_remaining"]), (iterations, 0))
        # 2 copies and 2 fills of 64 work-items each, and what is added; in an iteration 3 kernels of N, one of 4 and a copy.
        self.assertEqual(report["items_processed"], 4 * 64 + 2 * N + iterations * (4 * N + 4 + 64))
        return report

    def test_every_way(self) -> None:
        for strategy, mode in itertools.product(("launch", "barrier"), ("interpreter", "jit")):
            report = self.checked(phases_program(5), 5, "--strategy", strategy, "--set", f"tuning.mode={mode}")
            groups = [group["waves"] for group in report["plan"]["barriers"]["groups"]]
            phase = [{8, 9, 10, 11}, {2, 3, 4, 5, 6, 7}, {0, 1}]
            self.assertTrue(all(any(set(group) <= waves for waves in phase) for group in groups), groups)

    def test_until(self) -> None:
        """The repetition ends and what comes after it runs, in both strategies."""
        for strategy in ("launch", "barrier"):
            report = self.checked(phases_program(None), 5, "--strategy", strategy, "--set", "tuning.mode=interpreter")
            self.assertTrue(report["converged"])

    def test_slices(self) -> None:
        """Slices end and begin anywhere, also before and after the repetition."""
        report = self.checked(phases_program(5), 5, "--strategy", "barrier", "--set", "tuning.mode=interpreter", "--workers", "1",
                              "--set", "tuning.slice=1")
        self.assertGreater(len(report["slices_ns"]), 1)
