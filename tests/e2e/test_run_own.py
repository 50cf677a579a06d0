"""tidegate run, algorithms of a program's own: every result against a reference in Python that passes values along all edges until
none changes; --verify is never used. Then laws that do not hold, and errors with their places.

A kernel takes a driver seconds to compile: by default each algorithm has one, a single one two, and from TIDEGATE_RANDOM_GRAPHS=1000 on all.
"""

import json
import math
import random
import unittest
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from support import Document, Programs, npy, run
from test_run_random_graphs import COUNT, EVERY_KERNEL, SEED, TOPOLOGIES, draw_graph, f32, run_graph

MOST = 2**32 - 1


class Own(NamedTuple):
    value: str
    merge: str
    weights: str
    source: str
    nothing: Any
    along: Callable[[Any, Any], Any]
    together: Callable[[Any, Any], Any]
    at_source: Callable[[int], Any] | None = None
    initial: Callable[[int, int], Any] | None = None
    array: bool = False
    groups: Sequence[str] = ("1",)


ALGORITHMS = {
    "widest": Own("u32", "max", "u32", "uint along(uint a, uint w) { return min(a, w); } uint at_source(uint v, uint i) { return ~0u; }"
                  "bool settled(uint a) { return a == 0xffffffffu; }", 0, min, max, lambda i: MOST),
    "nearest": Own("u64", "min", "u32", "ulong along(ulong a, uint w) { return add_sat(a, (ulong)w << 32); }\n"
                   "ulong at_source(uint v, uint i) { return i; }", 2**64 - 1, lambda a, w: min(a + (w << 32), 2**64 - 1), min,
                   lambda i: i, groups=("32",)),
    "distances": Own("f32", "min", "f32", "float along(float a, float w) { return a + w; }\n"
                     "float at_source(uint v, uint i) { return 0.25f * i; }", math.inf, lambda a, w: f32(a + w), min,
                     lambda i: f32(0.25 * i)),
    "labels": Own("i32", "max", "none", "int along(int a, uint w) { return a; } int initial(uint v, uint d) { return d == 1 ? (int)v - 50 "
                  ": -2147483647 - 1; }", -2**31, lambda a, w: a, max, None, lambda v, d: v - 50 if d == 1 else -2**31),
    "bits": Own("u32", "or", "none", "uint along(uint a, uint w) { return a; } uint at_source(uint v, uint i) { return 1u << i % 32; }", 0,
                lambda a, w: a, lambda a, b: a | b, lambda i: 1 << i % 32, array=True),
    "divisors": Own("u32", "source", "none", """
#define ROUNDS 64
uint unreached(void) { return 0; }
uint merge(uint a, uint b) {
  for (uint i = 0; i < ROUNDS && b != 0; ++i) { const uint r = a % b; a = b; b = r; }
  return a;
}
uint along(uint a, uint w) { return a; }
uint at_source(uint v, uint i) { return 360 * (i + 1); }
""", 0, lambda a, w: a, math.gcd, lambda i: 360 * (i + 1)),
    "kcore": Own("i32", "add", "none", "int initial(uint v, uint d) { return (int)d; } bool fires(int a) { return a < K; }\n"
                 "int along(uint w) { return -1; }", 0, lambda a, w: -1, lambda a, b: a + b, None, lambda v, d: d,
                 groups=("32",)),
    "threshold": Own("u64", "add", "u32", "bool fires(ulong a) { return a >= K; } ulong along(uint w) { return w; }\n"
                     "ulong at_source(uint v, uint i) { return K; }", 0, lambda a, w: w, lambda a, b: a + b, lambda i: 3),
}
K = 3


def fires(own: Own, value: int) -> bool:
    return value < K if own.value == "i32" else value >= K


def values_of(own: Own, rows: list[list[tuple[int, Any]]], sources: Sequence[int], first: Sequence[Any]) -> list[Any]:
    values = list(first)
    for i, source in enumerate(sources):
        assert own.at_source is not None
        values[source] = own.together(values[source], own.at_source(i))
    if own.merge == "add":
        fired: set[int] = set()
        while new := [v for v, value in enumerate(values) if v not in fired and fires(own, value)]:
            fired.update(new)
            for v in new:
                for w, weight in rows[v]:
                    values[w] += own.along(None, weight)
        return values
    changed = True
    while changed:
        changed = False
        for v, row in enumerate(rows):
            for w, weight in row if values[v] != own.nothing else []:
                merged = own.together(values[w], own.along(values[v], weight))
                changed |= merged != values[w]
                values[w] = merged
    return values


def flaw_of(number: int) -> str | None:
    """Runs a random case; what is wrong."""
    draw = random.Random(f"own {SEED}/{number}")
    name = list(ALGORITHMS)[number % len(ALGORITHMS)]
    own = ALGORITHMS[name]
    graph = draw_graph(draw, own.weights, undirected=name == "kcore" or draw.random() < 0.5)
    sources = [draw.randrange(graph.vertices) for _ in range(draw.choice([1, 1, 2, 5, 40]))] if own.at_source else []
    rows = graph.rows()
    first: list[Any] = [own.initial(v, len(rows[v])) if own.initial else own.nothing for v in range(graph.vertices)]
    algorithm = {"source": "own.cl", "options": f"-DK={K}", "value": own.value, "merge": own.merge}
    options = ["--strategy", draw.choice(["launch", "launch", "barrier"]) if EVERY_KERNEL or name == "widest" else "launch" if own.groups == ("1",) else "barrier",
               "--set", "tuning.group-size=" + draw.choice(own.groups if not EVERY_KERNEL else ["1", "8", "32", "128"])]
    if draw.random() < 0.7:
        options += ["--set", "tuning.force-topology=" + draw.choice([t for t in TOPOLOGIES if own.merge != "add" or t != "fused_dense"])]
    options += ["--set", "tuning.alone-up-to=" + draw.choice(["0", "1", "10", "300", "5000"])]
    program: Document = {"graph": {"file": "graph.mtx", "undirected": graph.undirected}, "algorithm": algorithm, "sources": sources,
                         "outputs": {"values": "values.bin"},
                         "policy": {"switch_rule": draw.choice(["density", "edges"]), "hot_window_threshold": draw.choice([0, 2]),
                                    "fusion_edge_threshold": draw.choice([1, 100_000])}}
    if own.weights != "none":
        program["graph"]["weights"] = own.weights
    if own.array:
        first = [draw.choice([0, 0, 0, 1 << draw.randrange(32)]) for _ in first]
        algorithm["initial"] = "first.npy"
    answer = run_graph(graph, program, [*options, "--set", "verify-first=no"], own.value,
                       **{"own.cl": own.source, "first.npy": npy("u32", first) if own.array else b""})
    if answer.rc != 0:
        return f"case {number}, {name} {options}: exit code {answer.rc}: {answer.errors}"
    (found,), report = answer.results, answer.report
    right = values_of(own, rows, sources, first)
    if found != right:
        v = next(v for v, (a, b) in enumerate(zip(found, right)) if a != b)
        return f"case {number}, {name} {options}: vertex {v} has {found[v]} and should have {right[v]}"
    reached = sum(fires(own, value) if own.merge == "add" else value != own.nothing for value in right)
    if (report["answer"]["reached"], report["verification"]["checks"]) != (reached, ["laws", "fix_point"]):
        return f"case {number}, {name}: {report['answer']} {report['verification']}, and {reached} are reached"
    return None


class RandomGraphs(unittest.TestCase):
    def test_results(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            for flaw in pool.map(flaw_of, range(COUNT if COUNT > 64 else COUNT // 3)):
                self.assertIsNone(flaw)


class Errors(Programs):
    """What breaks a law is found, before the run or after it, and never a result without a word."""

    def refused(self, source: str, code: str, message: str, merge: str = "min", edges: str = "0 1 3\n1 2 4\n0 2 5\n2 0 1\n") -> None:
        self.file("graph.el", edges)
        self.file("own.cl", source)
        done = run("run", self.written({"graph": {"file": "graph.el"}, "algorithm": {"source": "own.cl", "value": "u32", "merge": merge},
                                        "sources": [0], "outputs": {"values": "values.npy"}}), "--errors", "json", "-q")
        error = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual(error["code"], code)
        self.assertRegex(error["message"], message)
        self.assertFalse((self.folder / "values.npy").exists())

    def test_laws_that_trials_break(self) -> None:
        self.refused("uint at_source(uint v, uint i) { return 8; }\nuint along(uint a, uint w) { return a ^ 5; }\n", "kernel_source",
                     r"^along is not monotone: the better of \d+ and \d+ leads to \d+ over the weight \d, and \d+ to \d+, ")
        self.refused("uint at_source(uint v, uint i) { return 8; }\nuint along(uint a, uint w) { return a + w; }\n"
                     "uint unreached(void) { return 0; }\nuint merge(uint a, uint b) { return a + b; }\n", "kernel_source",
                     "^merge is not idempotent:", merge="source")
        self.refused("uint at_source(uint v, uint i) { return 3; }\nbool fires(uint a) { return a % 2 == 1; }\n"
                     "uint along(uint w) { return 1; }\n", "kernel_source", r"^a vertex that fires at \d+ does not at \d+, ", merge="add")

    def test_a_law_that_no_trial_breaks_is_found_by_the_result(self) -> None:
        # Trials walk 31 edges at most. Vertex 100 first has 990 along 40 edges, which leads to 100, and then 70, which leads to 200.
        routes = [[0, *range(1, 40), 100], [0, *range(40, 99), 100]]
        weights = [[951] + [1] * 39, [1] * 59 + [11]]
        edges = "".join(f"{u} {v} {w}\n" for route, row in zip(routes, weights) for u, v, w in zip(route, route[1:], row))
        self.refused("uint at_source(uint v, uint i) { return 0; }\nuint along(uint a, uint w) { return a == 70 ? 200 : a == 990 ? 100 : a + w; }\n",
                     "outputs_differ", "^fix_point: the value of vertex 101 is 100, and from its first value and along its edges it is 200$",
                     edges=edges + "100 101 1\n")
