"""What the tests of plan, arena and their checks share: DAGs by hand and from a seed, plans worked out again.

The one idea: `figures` says from the definition what a plan with given groups must state, so a plan is held
against it, against `tidegate check plan`, and both against each other.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support import REPOSITORY, SANITIZED, Document, Result, parse, run, same

U64 = 2**64 - 1
DATA = REPOSITORY.parent / "shared" / "data"
SEED = int(os.environ.get("TIDEGATE_SEED") or 20261121)

LAYERED = ("--strategy", "layered")
COMPACT = ("--strategy", "compact")
PEAK = ("--objective", "peak")
STRATEGIES = (LAYERED, COMPACT, PEAK)


def scaled(full: int, sanitized: int) -> int:
    return sanitized if SANITIZED else full


# Wave DAGs.

def wave(frontier: int, scratch: int = 0, output: int = 0, name: str | None = None) -> Document:
    named = {} if name is None else {"name": name}
    return {**named, "frontier_bytes": frontier, "scratch_bytes": scratch, "output_bytes": output}


def dag(waves: Sequence[Document], dependencies: Sequence[tuple[Any, Any]] = (), budget: int = U64,
        **rest: int) -> Document:
    return {"waves": list(waves), "budget_bytes": budget, **rest,
            "dependencies": [{"before": before, "after": after} for before, after in dependencies]}


def fused(one: Document) -> int:
    return one["frontier_bytes"] + 4 * one["scratch_bytes"] + one["output_bytes"]


def random_dag(rng: random.Random, most_waves: int = 40) -> Document:
    """Waves in no order of their dependencies, some with names; a budget of one to four largest waves."""
    count = rng.randint(1, most_waves)
    largest = rng.choice((1, 10, 1000, 2**40))
    waves = [wave(rng.randint(0, largest), rng.randint(0, largest // 4), rng.randint(0, largest),
                  name=f"wave {i}" if rng.random() < 0.3 else None) for i in range(count)]
    order = rng.sample(range(count), count)
    density = rng.choice((0.0, 0.03, 0.1, 0.4))
    edges = [(order[i], order[j]) for j in range(count) for i in range(j) if rng.random() < density]
    edges += rng.choices(edges, k=len(edges) // 8)  # a repeated dependency counts each time
    rng.shuffle(edges)

    def end(index: int) -> int | str:
        return waves[index]["name"] if "name" in waves[index] and rng.random() < 0.5 else index

    resident = rng.choice((0, 0, 7, 2**33))
    budget = resident + int(max(map(fused, waves)) * rng.uniform(1, 4))
    return dag(waves, [(end(before), end(after)) for before, after in edges], budget,
               resident_graph_bytes=resident, readback_bytes=rng.choice((0, largest)))


def edges_of(given: Document) -> list[tuple[int, int]]:
    """The dependencies by wave indices."""
    index = {one["name"]: i for i, one in enumerate(given["waves"]) if "name" in one}
    return [(index.get(edge["before"], edge["before"]), index.get(edge["after"], edge["after"]))
            for edge in given["dependencies"]]


# Plans.

def groups_of(plan: Document) -> list[list[int]]:
    return [group["waves"] for group in plan["barriers"]["groups"]]


def figures(given: Document, groups: Sequence[Sequence[int]]) -> Document:
    """What a plan with these groups must state."""
    def peak(key: str) -> int:
        return max((sum(given["waves"][i][key] for i in group) for group in groups), default=0)

    output = peak("output_bytes")
    return {"barriers": {"groups": [{"waves": list(group), "fused_bytes": sum(fused(given["waves"][i]) for i in group)}
                                    for group in groups], "global_barriers": max(len(groups) - 1, 0)},
            "peak_frontier_bytes": peak("frontier_bytes"), "peak_scratch_bytes": peak("scratch_bytes"),
            "peak_output_bytes": output, "amortized_readback_bytes": max(given.get("readback_bytes", 0), output),
            "max_group_width": max(map(len, groups), default=0)}


class Planning(unittest.TestCase):
    """A test with a scratch folder that plans and checks."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def file(self, name: str, data: Document | str) -> str:
        (self.folder / name).write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return str(self.folder / name)

    def answer(self, command: str, given: Document | str, *options: str) -> Any:
        """The document that the command answers `given` with, in any format but JSON its text."""
        result = run(command, *options, input=given if isinstance(given, str) else json.dumps(given))
        self.assertEqual((result.rc, result.stderr), (0, ""))
        return result.stdout if "--format" in options else parse(result.stdout)

    def error(self, command: str, given: Document | str, *options: str, rc: int = 1) -> Document:
        """The error that the command refuses `given` with."""
        result = run(command, "--errors", "json", *options,
                     input=given if isinstance(given, str) else json.dumps(given))
        self.assertEqual((result.rc, result.stdout), (rc, ""), result.stderr[-500:])
        return parse(result.stderr)

    def sound(self, given: Document, plan: Document) -> None:
        """The plan is right: worked out again here, and for `tidegate check plan`."""
        groups = groups_of(plan)
        self.assertEqual(sorted(i for group in groups for i in group), list(range(len(given["waves"]))))
        place = {i: number for number, group in enumerate(groups) for i in group}
        for before, after in edges_of(given):
            self.assertLess(place[before], place[after], f"dependency of wave {after} on wave {before}")
        verdict = same(figures(given, groups), plan, extra_ok=True)
        self.assertTrue(verdict, verdict)
        room = given["budget_bytes"] - given.get("resident_graph_bytes", 0)
        self.assertTrue(all(group["fused_bytes"] <= room for group in plan["barriers"]["groups"]), "over budget")
        self.assertLessEqual(plan["lower_bound_groups"], len(groups))
        self.assertIs(plan["optimal"], plan["lower_bound_groups"] == len(groups))
        checked = run("check", "plan", "--dag", self.file("dag.json", given), self.file("plan.json", plan))
        self.assertEqual((checked.rc, checked.stderr), (0, ""))

    def inconsistent(self, result: Result, message: str) -> None:
        """`check` found one document inconsistent, and these words say why."""
        self.assertEqual(result.rc, 1, result.stderr[-500:])
        report = parse(result.stdout)
        self.assertEqual((report["checked"], report["failed"]), (1, 1))
        [checked] = report["documents"]
        self.assertEqual((checked["verdict"], checked["error"]["code"]), ("inconsistent", "invalid_plan"))
        self.assertIn(message, checked["error"]["message"])
        self.assertIn(message, result.stderr)


# Buffers and when they are alive.

def buffer(id: int | str, lower: int, upper: int, size: int, alignment: int | None = None) -> Document:
    aligned = {} if alignment is None else {"alignment": alignment}
    return {"id": id, "lower": lower, "upper": upper, "size": size, **aligned}


def lifetimes(*buffers: Document, capacity: int | None = None) -> Document:
    return {"buffers": list(buffers), **({} if capacity is None else {"capacity_bytes": capacity})}


def alive_bytes(buffers: Sequence[Document]) -> int:
    """The largest sum of sizes alive at one moment."""
    return max((sum(other["size"] for other in buffers if other["lower"] <= one["lower"] < other["upper"])
                for one in buffers), default=0)


def layout_problem(buffers: Sequence[Document], offsets: Sequence[int]) -> str | None:
    """What is wrong with these offsets, from the definition, or None."""
    for i, (one, at) in enumerate(zip(buffers, offsets)):
        if at % one.get("alignment", 1) != 0:
            return f"buffer {i} is not aligned"
        for j in range(i):
            other, below = buffers[j], offsets[j]
            if (one["lower"] < other["upper"] and other["lower"] < one["upper"]
                    and at < below + other["size"] and below < at + one["size"] and one["size"] and other["size"]):
                return f"buffers {j} and {i} overlap"
    return None


def arena_figures(given: Document, offsets: Sequence[int]) -> Document:
    """What an arena plan with these offsets must state, if no search has proved more."""
    buffers = given["buffers"]
    height = max((at + one["size"] for one, at in zip(buffers, offsets) if one["size"]), default=0)
    # All alive at one moment but the topmost take their size rounded up to the least alignment.
    least = min((one.get("alignment", 1) for one in buffers if one["size"]), default=1)
    rounded = [{**one, "size": -(-one["size"] // least) * least} for one in buffers]
    rounding = max((up["size"] - one["size"] for up, one in zip(rounded, buffers)), default=0)
    bound = max(alive_bytes(buffers), alive_bytes(rounded) - rounding)
    return {"height_bytes": height, "lower_bound_bytes": bound, "optimal": height == bound,
            "proof": "meets_bound" if height == bound else "none",
            "gave_up": height != bound and "capacity_bytes" not in given,
            "buffers": [{"id": one["id"], "offset": at} for one, at in zip(buffers, offsets)]}
