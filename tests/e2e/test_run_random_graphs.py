"""tidegate run, random graphs: the results of built-in algorithms and of a program's own against a reference in Python, which passes
values along all edges until none changes; --verify is never used.

A kernel of a traversal takes a driver seconds to compile, and a run a twentieth of one: by default cases are drawn over the kernels
that test_run_graphs compiles as well, and an algorithm of one's own has one, a single one two.
TIDEGATE_SEED=N draws others, TIDEGATE_RANDOM_GRAPHS=N more of them, and from 1000 on over every kernel.
"""

import json
import math
import os
import random
import struct
import tempfile
import unittest
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from support import SEED, Document, npy, read_array, run

COUNT = int(os.environ.get("TIDEGATE_RANDOM_GRAPHS") or 64)
EVERY_KERNEL = COUNT >= 1000

NONE = 2**32 - 1
INF = math.inf
TOPOLOGIES = ["sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"]

Edge = tuple[int, int, float]
Rows = list[list[tuple[int, Any]]]


class Graph(NamedTuple):
    vertices: int
    edges: list[Edge]  # as the file has them
    undirected: bool
    weights: str  # "none", "u32" or "f32"

    def rows(self, both_ways: bool = False) -> Rows:
        rows: Rows = [[] for _ in range(self.vertices)]
        for u, v, weight in self.edges:
            rows[u].append((v, weight))
            if (self.undirected or both_ways) and u != v:  # a loop stands in one row
                rows[v].append((u, weight))
        return rows

    def text(self) -> str:
        kind = {"none": "pattern", "u32": "integer", "f32": "real"}[self.weights]
        values = ["" if kind == "pattern" else f" {weight!r}" for _, _, weight in self.edges]
        return (f"%%MatrixMarket matrix coordinate {kind} general\n{self.vertices} {self.vertices} {len(self.edges)}\n"
                + "".join(f"{u + 1} {v + 1}{value}\n" for (u, v, _), value in zip(self.edges, values)))


# The reference.

def f32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return INF


class Rules(NamedTuple):
    """What a vertex has at first, what an edge passes on, and how values merge; of an algorithm of one's own also its source."""
    nothing: Any
    along: Callable[[Any, Any], Any]
    together: Callable[[Any, Any], Any]
    at_source: Callable[[int], Any] | None = None
    initial: Callable[[int, int], Any] | None = None  # by vertex and degree
    value: str = "u32"
    merge: str = ""
    weights: str = "none"
    source: str = ""
    array: bool = False
    groups: Sequence[str] = ("1",)

    def fires(self, value: Any) -> bool:
        return (value < K if self.value == "i32" else value >= K) if self.merge == "add" else value != self.nothing


def values_of(rules: Rules, rows: Rows, sources: Sequence[int], given: Sequence[Any] = ()) -> list[Any]:
    values = list(given) or [rules.initial(v, len(row)) if rules.initial else rules.nothing for v, row in enumerate(rows)]
    for i, source in enumerate(sources):
        assert rules.at_source is not None
        values[source] = rules.together(values[source], rules.at_source(i))
    fired: set[int] = set()
    changed = set(range(len(rows)))
    while changed := {v for v in changed - fired if rules.fires(values[v])}:
        fired |= changed if rules.merge == "add" else set()  # each vertex once
        following = set()
        for v in changed:
            for w, weight in rows[v]:
                merged = rules.together(values[w], rules.along(values[v], weight))
                if merged != values[w]:
                    values[w] = merged
                    following.add(w)
        changed = following
    return values


K = 3
BUILT_IN = {
    "bfs": Rules(NONE, lambda a, w: a + 1, min, lambda i: 0),
    "reach": Rules(0, lambda a, w: a, lambda a, b: a | b, lambda i: 1 << i),
    "sssp": Rules(INF, lambda a, w: a + w, min, lambda i: 0),  # integers of any size
    "cc": Rules(NONE, lambda a, w: a, min, None, lambda v, d: v),
    "pagerank": Rules(0, lambda a, w: a, max),
}
OUTPUTS = {"bfs": "levels", "reach": "reached", "sssp": "distances", "cc": "components", "pagerank": "ranks"}
OWN = {
    "widest": Rules(0, min, max, lambda i: NONE, merge="max", weights="u32", source="""
uint along(uint a, uint w) { return min(a, w); } uint at_source(uint v, uint i) { return ~0u; } bool settled(uint a) { return a == 0xffffffffu; }"""),
    "nearest": Rules(2**64 - 1, lambda a, w: min(a + (w << 32), 2**64 - 1), min, lambda i: i, None, "u64", "min", "u32", groups=("32",), source="""
ulong along(ulong a, uint w) { return add_sat(a, (ulong)w << 32); } ulong at_source(uint v, uint i) { return i; }"""),
    "distances": Rules(INF, lambda a, w: f32(a + w), min, lambda i: f32(0.25 * i), None, "f32", "min", "f32", """
float along(float a, float w) { return a + w; } float at_source(uint v, uint i) { return 0.25f * i; }"""),
    "labels": Rules(-2**31, lambda a, w: a, max, None, lambda v, d: v - 50 if d == 1 else -2**31, "i32", "max", source="""
int along(int a, uint w) { return a; } int initial(uint v, uint d) { return d == 1 ? (int)v - 50 : -2147483647 - 1; }"""),
    "bits": Rules(0, lambda a, w: a, lambda a, b: a | b, lambda i: 1 << i % 32, merge="or", array=True, source="""
uint along(uint a, uint w) { return a; } uint at_source(uint v, uint i) { return 1u << i % 32; }"""),
    "divisors": Rules(0, lambda a, w: a, math.gcd, lambda i: 360 * (i + 1), merge="source", source="""
#define ROUNDS 64
uint unreached(void) { return 0; }
uint merge(uint a, uint b) {
  for (uint i = 0; i < ROUNDS && b != 0; ++i) { const uint r = a % b; a = b; b = r; }
  return a;
}
uint along(uint a, uint w) { return a; }
uint at_source(uint v, uint i) { return 360 * (i + 1); }
"""),
    "kcore": Rules(0, lambda a, w: -1, lambda a, b: a + b, None, lambda v, d: d, "i32", "add", groups=("32",), source="""
int initial(uint v, uint d) { return (int)d; } bool fires(int a) { return a < K; } int along(uint w) { return -1; }"""),
    "threshold": Rules(0, lambda a, w: w, lambda a, b: a + b, lambda i: 3, None, "u64", "add", "u32", """
bool fires(ulong a) { return a >= K; } ulong along(uint w) { return w; } ulong at_source(uint v, uint i) { return K; }"""),
}


def parents_flaw(rows: Rows, sources: Sequence[int], levels: list[int], parents: Sequence[int]) -> str | None:
    edges = {(v, w) for v, row in enumerate(rows) for w, _ in row}
    for v, parent in enumerate(parents):
        if levels[v] == NONE or v in sources:
            right = parent == (v if v in sources else NONE)
        else:
            right = (parent, v) in edges and levels[parent] == levels[v] - 1
        if not right:
            return f"the parent of {v} at level {levels[v]} is {parent}"
    return None


def ranks_flaw(rows: Rows, ranks: Sequence[float], damping: float, tolerance: float) -> str | None:
    """They are ranks if one more iteration, in doubles, leaves them as they are but for the tolerance and rounding: a float holds 24
    bits, and each term of a sum may cost half a unit in the last place."""
    n = len(rows)
    sums = [sum(weight for _, weight in row) for row in rows]
    following = [(1 - damping + damping * sum(rank for rank, total in zip(ranks, sums) if total == 0)) / n] * n
    terms = [8] * n
    for rank, row, total in zip(ranks, rows, sums):
        for w, weight in row:
            following[w] += damping * rank * weight / total if weight else 0
            terms[w] += 1
    allowed = tolerance + sum(rank * count for rank, count in zip(following, terms)) * 2.0**-24
    off = sum(abs(a - b) for a, b in zip(following, ranks))
    total = sum(ranks)
    right = off <= allowed and abs(total - 1) <= allowed / (1 - damping)
    return None if right else f"one more iteration changes the ranks by {off}, and {allowed} is allowed; their sum is {total}"


# Random graphs.

Draw = random.Random


def uniform(draw: Draw, n: int) -> list[tuple[int, int]]:
    return [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randrange(4 * n + 1))]


def star(draw: Draw, n: int) -> list[tuple[int, int]]:
    hub = draw.randrange(n)
    return [(hub, v) if draw.random() < 0.9 else (v, hub) for v in range(n)]


def path(draw: Draw, n: int) -> list[tuple[int, int]]:
    order = draw.sample(range(n), n)
    return list(zip(order, order[1:] + order[:draw.randrange(2)]))


def grid(draw: Draw, n: int) -> list[tuple[int, int]]:
    width = draw.randrange(1, n + 1)
    steps = [(v, w) for v in range(n) for w in (v + 1, v + width) if w < n and (w != v + 1 or w % width)]
    return [each for u, v in steps for each in ((u, v), (v, u))]


def hubs(draw: Draw, n: int) -> list[tuple[int, int]]:
    """Few vertices with most of the edges, in either direction."""
    few = draw.choices(range(n), k=3)
    ends = [(draw.choice(few), draw.randrange(n)) for _ in range(3 * n)]
    return [(u, v) if draw.random() < 0.5 else (v, u) for u, v in ends]


def layers(draw: Draw, n: int) -> list[tuple[int, int]]:
    """Edges lead forward, so the last vertices have none that leave them."""
    return [(min(u, v), max(u, v)) for u, v in uniform(draw, n)]


SHAPES: list[Callable[[Draw, int], list[tuple[int, int]]]] = [uniform, star, lambda draw, n: [(v, u) for u, v in star(draw, n)], path, grid, hubs, layers]

U32_WEIGHTS: list[Callable[[Draw], float]] = [
    lambda draw: 0, lambda draw: draw.randrange(2), lambda draw: draw.choice([0, 0, 0, 7]), lambda draw: draw.randrange(1000),
    lambda draw: draw.choice([0, 1, 2**16, 2**24]), lambda draw: draw.choice([0, 1, 2**31, NONE]), lambda draw: draw.randrange(2**32)]
F32_WEIGHTS: list[Callable[[Draw], float]] = [
    lambda draw: 0.0, lambda draw: f32(draw.random()), lambda draw: draw.choice([0.0, 0.5, 2.0**-20, 2.0**20]),
    lambda draw: f32(draw.choice([0.0, 2e-38, 1e10, 1e30])), lambda draw: f32(draw.choice([0.0, 1e38, 3e38]))]


def draw_graph(draw: Draw, weights: str, undirected: bool) -> Graph:
    """A few shapes side by side, some vertices without any neighbour, loops and repeated edges, shuffled numbers."""
    edges: list[tuple[int, int]] = []
    n = 0
    most = draw.choice([1, 3, 40, 130, 300, 300, 3000])
    for _ in range(draw.choice([1, 1, 2, 5])):
        size = draw.randrange(1, most + 1)
        edges += [(n + u, n + v) for u, v in draw.choice(SHAPES)(draw, size)]
        n += size
    n += draw.choice([0, 0, 1, 40])
    if draw.random() < 0.5:
        edges += [(v, v) for v in draw.choices(range(n), k=1 + n // 20)]
    if edges and draw.random() < 0.5:
        edges += draw.choices(edges, k=1 + len(edges) // 10)
    if n > 1 and draw.random() < 0.7:  # the shapes are joined
        edges += [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.choice([1, 3, 10]))]
    numbers = draw.sample(range(n), n) if draw.random() < 0.7 else range(n)
    weigh = draw.choice({"none": [lambda _: 1], "u32": U32_WEIGHTS, "f32": F32_WEIGHTS}[weights])
    return Graph(n, [(numbers[u], numbers[v], weigh(draw)) for u, v in edges], undirected, weights)


class Case(NamedTuple):
    name: str
    graph: Graph
    program: Document
    options: list[str]
    rules: Rules
    first: Sequence[Any] = ()  # an array of initial values


def force(draw: Draw, fused: bool) -> list[str]:
    return ["--set", "tuning.force-topology=" + draw.choice([t for t in TOPOLOGIES if fused or t != "fused_dense"])]


def draw_case(number: int) -> Case:
    draw = random.Random(f"{SEED}/{number}")
    algorithm = list(OUTPUTS)[number % len(OUTPUTS)]
    weights = ("none" if algorithm not in ("sssp", "pagerank") or not EVERY_KERNEL and algorithm == "pagerank"
               else draw.choice(["none", "u32", "u32", "f32"]) if EVERY_KERNEL else "u32")
    graph = draw_graph(draw, weights, undirected=draw.random() < 0.5)
    outputs = {OUTPUTS[algorithm]: "values.bin"}
    if algorithm == "bfs" and (not EVERY_KERNEL or draw.random() < 0.5):
        outputs["parents"] = "parents.bin"
    program: Document = {"graph": {"file": "graph.mtx", "undirected": graph.undirected}, "algorithm": algorithm, "outputs": outputs}
    if weights != "none":
        program["graph"]["weights"] = weights
    if algorithm in ("bfs", "reach", "sssp"):
        count = draw.choice([1, 1, 2, 5, 32 if algorithm == "reach" else 40])
        program["sources"] = [draw.randrange(graph.vertices) for _ in range(count)]
    if algorithm == "pagerank":
        program["pagerank"] = draw.choice([{}, {"tolerance": 1e-5}, {"damping": 0.5}, {"damping": 0.99, "tolerance": 1e-4}])
    program["policy"] = {"switch_rule": draw.choice(["density", "edges"]), "hot_window_threshold": draw.choice([0, 1, 2, 8]),
                         "fusion_edge_threshold": draw.choice([1, 1, 100_000])}
    if draw.random() < 0.3:
        sparse = draw.randrange(0, 3000)
        program["policy"] |= {"sparse_frontier_threshold_bps": sparse, "dense_frontier_threshold_bps": draw.randrange(sparse + 1, 9000)}
    strategy, several = draw.choice(["launch", "launch", "barrier"]), not EVERY_KERNEL and algorithm in ("bfs", "sssp") and draw.random() < 0.6
    options = ["--strategy", "barrier" if several else strategy]  # test_run_graphs compiles such kernels
    if draw.random() < 0.6:
        options += force(draw, algorithm != "pagerank")
    if EVERY_KERNEL:
        options += ["--set", "tuning.group-size=" + draw.choice(["1", "1", "8", "16", "32", "64", "128", "256"])]
    elif several:
        options += ["--set", "tuning.group-size=32"]
    if algorithm not in ("cc", "pagerank") and draw.random() < 0.8:
        options += ["--set", "tuning.alone-up-to=" + draw.choice(["0", "1", "3", "10", "40", "300", "5000"])]
    if draw.random() < 0.3:
        options += ["--workers", draw.choice(["1", "2"] if "barrier" in options else ["1", "3", "40"])]
    if draw.random() < 0.2:
        options += ["--set", "tuning.slice=1"]
    return Case(f"case {number}, seed {SEED}", graph, program, options, BUILT_IN[algorithm])


def draw_own(number: int) -> Case:
    draw = random.Random(f"own {SEED}/{number}")
    name, rules = list(OWN.items())[number % len(OWN)]
    graph = draw_graph(draw, rules.weights, undirected=name == "kcore" or draw.random() < 0.5)
    sources = [draw.randrange(graph.vertices) for _ in range(draw.choice([1, 1, 2, 5, 40]))] if rules.at_source else []
    options = ["--strategy", draw.choice(["launch", "launch", "barrier"]) if EVERY_KERNEL or name == "widest" else "launch" if rules.groups == ("1",) else "barrier",
               "--set", "tuning.group-size=" + draw.choice(["1", "8", "32", "128"] if EVERY_KERNEL else rules.groups),
               "--set", "tuning.alone-up-to=" + draw.choice(["0", "1", "10", "300", "5000"]), "--set", "verify-first=no"]
    if draw.random() < 0.7:
        options += force(draw, rules.merge != "add")
    program: Document = {"graph": {"file": "graph.mtx", "undirected": graph.undirected, **({"weights": rules.weights} if rules.weights != "none" else {})},
                         "algorithm": {"source": "own.cl", "options": f"-DK={K}", "value": rules.value, "merge": rules.merge}, "sources": sources,
                         "outputs": {"values": "values.bin"},
                         "policy": {"switch_rule": draw.choice(["density", "edges"]), "hot_window_threshold": draw.choice([0, 2]),
                                    "fusion_edge_threshold": draw.choice([1, 100_000])}}
    first = [draw.choice([0, 0, 0, 1 << draw.randrange(32)]) for _ in range(graph.vertices)] if rules.array else []
    if rules.array:
        program["algorithm"]["initial"] = "first.npy"
    return Case(f"{name}, case {number}, seed {SEED}", graph, program, options, rules, first)


class Answer(NamedTuple):
    rc: int
    errors: str
    report: Document
    results: list[list[Any]]


def answer_of(case: Case) -> Answer:
    """Runs in the program's folder: where a kernel lies is part of what is compiled, and is so the same for all."""
    with tempfile.TemporaryDirectory(prefix="tidegate-random-graphs-") as name:
        folder = Path(name)
        (folder / "first.npy").write_bytes(npy("u32", case.first))
        for file, text in {"graph.mtx": case.graph.text(), "program.json": json.dumps(case.program), "own.cl": case.rules.source}.items():
            (folder / file).write_text(text)
        done = run("run", "program.json", *case.options, "--errors", "json", "-q", "-o", "report.json", cwd=folder)
        report: Document = json.loads((folder / "report.json").read_text()) if done.rc == 0 else {}
        floats = case.program["algorithm"] == "pagerank" or case.program["algorithm"] == "sssp" and case.graph.weights == "f32"
        type_ = "u64" if report.get("distances") == "u64" else "f32" if floats else case.rules.value
        return Answer(done.rc, done.stderr, report, [read_array(folder / file, type_ if file == "values.bin" else "u32")
                                                     for file in case.program["outputs"].values() if done.rc == 0])


def flaw_of(case: Case, answer: Answer | None = None) -> str | None:
    """What is wrong with its answer; without one, the case runs."""
    rc, errors, report, results = answer or answer_of(case)
    algorithm, sources, rules = case.program["algorithm"], case.program.get("sources", []), case.rules
    rows = case.graph.rows(both_ways=algorithm == "cc")
    floats = algorithm == "sssp" and case.graph.weights == "f32"
    right = values_of(rules._replace(along=lambda a, w: f32(a + w)) if floats else rules, rows, sources, case.first)
    if algorithm == "sssp":
        far = [level != NONE and (distance == INF if floats else distance >= NONE)
               for level, distance in zip(values_of(BUILT_IN["bfs"], rows, sources), right)]
        if floats and any(far):
            code = json.loads(errors)["code"] if errors else None
            return None if (rc, code) == (1, "overflow") else f"distances overflow, and the answer is {rc}: {errors}"
        none = 2**64 - 1 if any(far) else NONE  # distances of 64 bits where 32 do not hold them
        right = right if floats else [none if distance == INF else distance for distance in right]
    if rc != 0:
        return f"exit code {rc}: {errors}"
    if algorithm == "pagerank":
        settings = {"damping": 0.85, "tolerance": 1e-6, **case.program.get("pagerank", {})}
        return ranks_flaw(rows, results[0], **settings)
    wrong = [v for v, (a, b) in enumerate(zip(right, results[0], strict=True)) if a != b]
    if wrong:
        return f"of {len(wrong)} vertices wrong the first, {wrong[0]}, has {results[0][wrong[0]]} and should have {right[wrong[0]]}"
    if rules.source:
        told, reached = (report["answer"]["reached"], report["verification"]["checks"]), sum(map(rules.fires, right))
        return None if told == (reached, ["laws", "fix_point"]) else f"the report says {told}, and {reached} are reached"
    return parents_flaw(rows, sources, right, results[1]) if len(results) > 1 else None


def forced(topology: str) -> tuple[str, str]:
    return "--set", f"tuning.force-topology={topology}"


class Found(unittest.TestCase):
    """Graphs on which runs were wrong once, or a person thought that they might be."""

    def holds(self, name: str, edges: Sequence[Edge], n: int, algorithm: str, *options: str, weights: str = "none", undirected: bool = False,
              **program: Any) -> Answer:
        graph: Document = {"file": "graph.mtx", "undirected": undirected, **({} if weights == "none" else {"weights": weights})}
        strategy = "barrier" if "tuning.group-size=32" in options else "launch"  # as in draw_case
        case = Case(f"{name}, {options}, seed {SEED}", Graph(n, list(edges), undirected, weights),
                    {"graph": graph, "algorithm": algorithm, "outputs": {OUTPUTS[algorithm]: "values.bin"}, **program},
                    ["--strategy", strategy, *options], BUILT_IN[algorithm])
        answer = answer_of(case)
        self.assertIsNone(flaw_of(case, answer), case.name)
        return answer

    def test_distances(self) -> None:
        # A pull of several work-items looks at four neighbours at a time: 0 gives vertex 1 all that it can get, and more follow.
        edges: list[Edge] = [(0, 1, 0), *((v, 1, 0) for v in range(2, 8)), (1, 8, 3)]
        for topology in ("dense_frontier", "fused_dense"):
            self.holds("settled early", edges, 9, "sssp", "--set", "tuning.group-size=32", *forced(topology), weights="u32", sources=[0])
        # When one group leaves a frontier to all of them, it writes what there is, not an entry for each of its work-items.
        for n in (4, 8, 16, 40):
            self.holds("small frontiers", [(0, v, 1) for v in range(1, n)], n, "sssp", "--set", "tuning.group-size=32",
                       "--set", "tuning.alone-up-to=1", weights="u32", undirected=True, sources=[n - 1])
        # Many edges of weight 0 make the bound of the near move on by 1e-6 of what a float of 1e10 can.
        self.holds("far", [(0, 0, 0.0)] * 100_000 + [(0, 1, 1e10), (1, 2, 1e10), (0, 3, 1.0)], 4, "sssp", *forced("sparse_frontier"),
                   "--max-wall-time", "1200", weights="f32", sources=[0])
        # Of 1, 2 and 3, put off at 100, 110 and 200, the first is worked on before its turn: the first refill finds nothing, the second
        # finds 2 and puts 3 off for a third. Many short edges elsewhere keep the bound of the near narrow.
        edges = [(0, 1, 100), (0, 2, 110), (0, 3, 200), (0, 4, 0), (4, 1, 0), (3, 5, 1)]
        edges += [(a, b, 1) for a in range(6, 96) for b in range(6, 96) if a != b]
        self.holds("refills", edges, 96, "sssp", *forced("sparse_frontier"), weights="u32", sources=[0])

    def test_distances_that_do_not_fit(self) -> None:
        """2^32 - 1 says that nothing leads to a vertex; a way of that length has 64 bits, unless there is a shorter one. Floats are refused."""
        for weights in ([NONE - 1, 0], [NONE, 0], [NONE - 1, 1], [NONE - 1, 2, 5], [NONE, NONE]):
            edges: list[Edge] = [(v, v + 1, weight) for v, weight in enumerate(weights[:2])] + [(0, 2, 5)] * (len(weights) - 2)
            self.holds(f"{weights}", edges, 4, "sssp", weights="u32", sources=[0])
        error = json.loads(self.holds("floats", [(0, 1, 3e38), (1, 2, 3e38)], 3, "sssp", weights="f32", sources=[0]).errors)
        self.assertEqual(error["message"], "the distance of vertex 2 does not fit 32 bits: over vertex 1 at 3e+38 and an edge of 3e+38 it is inf")

    def test_ranks(self) -> None:
        # What vertices without edges hold goes to all.
        self.holds("tree", [(v, 3 * v + k, 1) for v in range(100) for k in range(1, 4)], 301, "pagerank")
        # Sums of floats lose so much that ranks of a damping of 0.99 go on swinging; the order of sums must not matter either.
        hub: list[Edge] = [*((v, 0, 1) for v in range(1, 5_000)), *((0, v, 1) for v in range(1, 5_000, 100))]
        answers = [self.holds("hub", hub, 5_000, "pagerank", *forced(topology), pagerank={"damping": 0.99})
                   for topology in ("dense_frontier", "sparse_frontier", "hybrid_frontier", "memory_constrained")]
        self.assertTrue(all(answer.results == answers[0].results for answer in answers))
        # In proportion to weights, of which some vertices have none but 0; opposite edges have different parts. Pulls by shares read them, too.
        draw, n = Draw(f"{SEED} weights"), 400
        edges: list[Edge] = [(draw.randrange(n), draw.randrange(n), draw.choice([0, 1, 2, 1000, 2**31])) for _ in range(1500)]
        edges += [(v, 0, draw.choice([0, 5])) for v in range(n)]
        for options in [*(forced(topology) for topology in TOPOLOGIES if topology != "fused_dense"), ("--set", "tuning.group-size=32")]:
            self.holds("weights", edges, n, "pagerank", *options, weights="u32", undirected=options[1].endswith("32"))

    def test_pulls_by_shares(self) -> None:
        """Groups of several work-items pull 2048 edges and ends of rows at a time: rows longer than that, many empty ones, ends at the
        bounds of shares."""
        draw, n = Draw(f"{SEED} shares"), 9_000
        long_rows = [(draw.randrange(n), v, 1) for v in (0, 1, 4_000, n - 1) for _ in range(draw.choice([2_047, 2_048, 5_000]))]
        short_rows = [(draw.randrange(n), v, 1) for v in range(4_001, 6_000) for _ in range(draw.choice([0, 1, 1, 3, 17, 40]) // 2)]
        in_step = [(v % 7, v, 1) for v in range(n)]  # with its end, a row has two places
        for edges in (long_rows + short_rows, in_step):
            for algorithm, more in (("reach", {"sources": [0, 3, 4_500, n - 1]}), ("pagerank", {}), ("cc", {})):
                self.holds("shares", edges, n, algorithm, "--set", "tuning.group-size=32", *forced("dense_frontier"), undirected=algorithm == "cc", **more)


class RandomGraphs(unittest.TestCase):
    def test_against_the_definitions(self) -> None:
        print(f"seed {SEED}, {COUNT} graphs", flush=True)
        cases = [*map(draw_case, range(COUNT)), *map(draw_own, range(COUNT if COUNT > 64 else COUNT // 3))]
        with ThreadPoolExecutor(max_workers=2) as pool:
            for case, flaw in zip(cases, pool.map(flaw_of, cases)):
                with self.subTest(case.name):
                    self.assertIsNone(flaw, f"{json.dumps(case.program)} {' '.join(case.options)}; {case.graph.vertices} vertices")
