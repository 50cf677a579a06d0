"""tidegate plan, arena and check of their answers, through the real binary: random problems, judged a second time from the definition.

tests/planning holds the planners against brute force; this holds the documents: what is read, stated, checked and drawn.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
import unittest
import xml.etree.ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support import SEED, Document, run, run_stream

STRATEGIES = (("--strategy", "layered"), ("--strategy", "compact"), ("--objective", "peak"))


def wave(frontier: int, scratch: int = 0, output: int = 0, name: str | None = None) -> Document:
    return {**({} if name is None else {"name": name}), "frontier_bytes": frontier, "scratch_bytes": scratch, "output_bytes": output}


def fused(one: Document) -> int:
    return one["frontier_bytes"] + 4 * one["scratch_bytes"] + one["output_bytes"]


def random_dag(rng: random.Random, most_waves: int) -> Document:
    """Waves in no order of their dependencies, some with names; a budget of one to four largest waves."""
    count, largest = rng.randint(1, most_waves), rng.choice((1, 10, 1000, 2**40))
    waves = [wave(rng.randint(0, largest), rng.randint(0, largest // 4), rng.randint(0, largest),
                  name=f"wave {i}" if rng.random() < 0.3 else None) for i in range(count)]
    order, density = rng.sample(range(count), count), rng.choice((0.0, 0.03, 0.1, 0.4))
    edges = [(order[i], order[j]) for j in range(count) for i in range(j) if rng.random() < density]
    edges += rng.choices(edges, k=len(edges) // 8)  # a repeated dependency counts each time
    rng.shuffle(edges)

    def end(index: int) -> int | str:
        return waves[index]["name"] if "name" in waves[index] and rng.random() < 0.5 else index

    resident = rng.choice((0, 0, 7, 2**33))
    return {"waves": waves, "dependencies": [{"before": end(before), "after": end(after)} for before, after in edges],
            "budget_bytes": resident + int(max(map(fused, waves)) * rng.uniform(1, 4)), "resident_graph_bytes": resident,
            "readback_bytes": rng.choice((0, largest))}


def edges_of(given: Document) -> list[tuple[int, int]]:
    index = {one["name"]: i for i, one in enumerate(given["waves"]) if "name" in one}
    return [(index.get(edge["before"], edge["before"]), index.get(edge["after"], edge["after"])) for edge in given["dependencies"]]


def groups_of(plan: Document) -> list[list[int]]:
    return [group["waves"] for group in plan["barriers"]["groups"]]


def right(given: Document, groups: Sequence[Sequence[int]]) -> bool:
    place = {i: number for number, group in enumerate(groups) for i in group}
    room = given["budget_bytes"] - given["resident_graph_bytes"]
    return (sorted(place) == list(range(len(given["waves"]))) and all(place[before] < place[after] for before, after in edges_of(given))
            and all(sum(fused(given["waves"][i]) for i in group) <= room for group in groups))


def figures(given: Document, groups: Sequence[Sequence[int]]) -> Document:
    """What a plan with these groups must state."""
    def peak(key: str) -> int:
        return max((sum(given["waves"][i][key] for i in group) for group in groups), default=0)

    output = peak("output_bytes")
    return {"barriers": {"groups": [{"waves": list(group), "fused_bytes": sum(fused(given["waves"][i]) for i in group)}
                                    for group in groups], "global_barriers": max(len(groups) - 1, 0)},
            "peak_frontier_bytes": peak("frontier_bytes"), "peak_scratch_bytes": peak("scratch_bytes"), "peak_output_bytes": output,
            "amortized_readback_bytes": max(given["readback_bytes"], output), "max_group_width": max(map(len, groups), default=0)}


def random_buffers(rng: random.Random, most: int) -> Document:
    end, largest, alignments = rng.choice((3, 6, 1000)), rng.choice((8, 100, 2**30)), rng.choice(((1,), (1, 1, 2, 8), (64,)))
    buffers = []
    for i in range(rng.randint(1, most)):
        lower = rng.randrange(end)
        buffers.append({"id": rng.choice((i, f"buffer {i}")), "lower": lower, "upper": rng.randint(lower + 1, end),
                        "size": rng.choice((0, largest, rng.randint(0, largest))), "alignment": rng.choice(alignments)})
    return {"buffers": buffers}


def flawed(buffers: Sequence[Document], offsets: Sequence[int]) -> bool:
    return any(at % one["alignment"] for one, at in zip(buffers, offsets)) or any(
        one["lower"] < other["upper"] and other["lower"] < one["upper"] and at < below + other["size"] and below < at + one["size"]
        and one["size"] and other["size"]
        for i, (one, at) in enumerate(zip(buffers, offsets)) for other, below in zip(buffers[:i], offsets))


def alive_bytes(buffers: Sequence[Document]) -> int:
    """The largest sum of sizes alive at one moment."""
    return max((sum(other["size"] for other in buffers if other["lower"] <= one["lower"] < other["upper"]) for one in buffers), default=0)


def arena_figures(buffers: Sequence[Document], offsets: Sequence[int]) -> Document:
    """What an arena plan with these offsets must state, if no search has proved more."""
    height = max((at + one["size"] for one, at in zip(buffers, offsets) if one["size"]), default=0)
    # All alive at one moment but the topmost take their size rounded up to the least alignment.
    least = min((one["alignment"] for one in buffers if one["size"]), default=1)
    rounded = [{**one, "size": -(-one["size"] // least) * least} for one in buffers]
    rounding = max((up["size"] - one["size"] for up, one in zip(rounded, buffers)), default=0)
    bound = max(alive_bytes(buffers), alive_bytes(rounded) - rounding)
    return {"height_bytes": height, "lower_bound_bytes": bound, "optimal": height == bound,
            "proof": "meets_bound" if height == bound else "none", "gave_up": height != bound,
            "buffers": [{"id": one["id"], "offset": at} for one, at in zip(buffers, offsets)]}


class Planning(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.rng = random.Random(SEED)

    def file(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def checked(self, kind: str, option: str, given: Document, answers: Sequence[Document]) -> list[bool]:
        """Which of the answers to one problem `tidegate check` finds right."""
        result = run("check", kind, "--stream", option, self.file("given.json", json.dumps(given)),
                     self.file("answers.ndjson", "".join(json.dumps(one) + "\n" for one in answers)))
        verdicts = [json.loads(line)["documents"][0]["verdict"] for line in result.stdout.splitlines()]
        self.assertLessEqual(set(verdicts), {"valid", "inconsistent"}, result.stdout[-500:])
        return [verdict == "valid" for verdict in verdicts]

    def test_plans(self) -> None:
        """Every plan is right and states what follows from its groups; compact has no more groups than layered."""
        dags = [random_dag(self.rng, 25) for _ in range(40)]
        plans = [run_stream(["plan", *options], dags).lines for options in STRATEGIES]
        for number, given in enumerate(dags):
            with self.subTest(seed=SEED, number=number):
                layered, compact, peak = (of[number] for of in plans)
                for plan in (layered, compact, peak):
                    groups = groups_of(plan)
                    self.assertTrue(right(given, groups), plan)
                    self.assertEqual({**plan, **figures(given, groups)}, plan)
                    self.assertIs(plan["optimal"], plan["lower_bound_groups"] == len(groups))
                self.assertLessEqual(len(groups_of(compact)), len(groups_of(layered)))
                self.assertEqual(len(groups_of(peak)), len(groups_of(compact)))
        self.assertLess(sum(len(groups_of(plan)) for plan in plans[1]), sum(len(groups_of(plan)) for plan in plans[0]))

    def test_changed_plans(self) -> None:
        """Waves change groups and all figures follow: only dependencies and budget can be wrong."""
        found: list[bool] = []
        for given in (random_dag(self.rng, 20) for _ in range(15)):
            plan, tries = run_stream(["plan"], [given]).lines[0], []
            for _ in range(30):
                groups = copy.deepcopy(groups_of(plan))
                for _ in range(self.rng.choice((1, 1, 2))):
                    source = self.rng.choice([group for group in groups if group])
                    self.rng.choice(groups).append(source.pop(self.rng.randrange(len(source))))
                groups = [group for group in groups if group]
                tries.append({**plan, **figures(given, groups), "optimal": len(groups) == plan["lower_bound_groups"]})
            expected = [right(given, groups_of(one)) for one in tries]
            self.assertEqual(self.checked("plan", "--dag", given, tries), expected, f"TIDEGATE_SEED={SEED}")
            found += expected
        self.assertGreater(min(found.count(True), found.count(False)), 20)

    def test_layouts(self) -> None:
        problems = [random_buffers(self.rng, 12) for _ in range(60)]
        proofs = set()
        for number, (given, plan) in enumerate(zip(problems, run_stream(["arena"], problems).lines)):
            with self.subTest(seed=SEED, number=number):
                offsets = [placed["offset"] for placed in plan["buffers"]]
                self.assertFalse(flawed(given["buffers"], offsets), plan)
                expected = arena_figures(given["buffers"], offsets)
                if plan["proof"] == "exhausted_search":
                    expected.update(optimal=True, proof="exhausted_search", gave_up=False)
                self.assertEqual({**plan, **expected}, plan)
                proofs.add(plan["proof"])
        self.assertLessEqual({"meets_bound", "exhausted_search"}, proofs)

    def test_changed_layouts(self) -> None:
        found: list[bool] = []
        for given in (random_buffers(self.rng, 8) for _ in range(15)):
            buffers = [{**one, "size": one["size"] % 8 + 1, "alignment": self.rng.choice((1, 1, 2))} for one in given["buffers"]]
            given, tries = {"buffers": buffers}, []
            plan, = run_stream(["arena"], [given]).lines
            for _ in range(30):
                offsets = [placed["offset"] for placed in plan["buffers"]]
                for _ in range(self.rng.choice((0, 1, 2))):
                    offsets[self.rng.randrange(len(offsets))] = self.rng.randrange(30)
                tries.append({**plan, **arena_figures(buffers, offsets)})
            expected = [not flawed(buffers, [placed["offset"] for placed in one["buffers"]]) for one in tries]
            self.assertEqual(self.checked("arena", "--lifetimes", given, tries), expected, f"TIDEGATE_SEED={SEED}")
            found += expected
        self.assertGreater(min(found.count(True), found.count(False)), 20)

    def test_pictures(self) -> None:
        """Names show as they are; what no picture can hold shows as its bytes."""
        shown = {'"': '"', "two\nlines": "two\\x0alines", "波 😀": "波 😀", "<b>": "<b>", "\t\u001b[31m": "\\x09\\x1b[31m", "&amp;": "&amp;",
                 "\uffff": "\ufffd", "x" * 20 + "y" * 20: "x" * 16 + "…" + "y" * 15}
        given: Any = {"waves": [wave(i, name=name) for i, name in enumerate(shown)], "budget_bytes": 1000, "dependencies": []}
        arena: Any = {"buffers": [{"id": "a<b", "lower": 0, "upper": 2**63, "size": 2**61}, {"id": 7, "lower": 0, "upper": 2**64 - 1, "size": 2**62}]}
        for command, document, texts in (("plan", given, list(shown.values())), ("arena", arena, ["a<b", "7  4 EiB"])):
            result = run(command, "-o", str(self.folder / "picture.svg"), input=json.dumps(document))
            self.assertEqual(result, (0, "", ""))
            svg = xml.etree.ElementTree.parse(self.folder / "picture.svg")
            found = [element.text or "" for element in svg.iter() if element.tag.endswith("text")]
            for text in texts:
                self.assertEqual(sum(text in one for one in found) if command == "arena" else found.count(text), 1, f"{text!r} in {found}")


if __name__ == "__main__":
    unittest.main()
