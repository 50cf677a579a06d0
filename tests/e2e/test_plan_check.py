"""tidegate check plan: a right plan passes, and whatever is changed in it is found and named.

The one idea: corruptions are made systematically (every leaf of the document, and every way to break the groups),
and random ones are judged a second time, from the definition, in Python.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_plan_check.py
"""

from __future__ import annotations

import copy
import json
import random
import unittest
from collections.abc import Callable, Iterator

import support
from planning_support import (COMPACT, LAYERED, PEAK, SEED, Planning, dag, edges_of, figures, fused, groups_of,
                              random_dag, scaled, wave)
from support import Document, parse, run

# a -> b -> d -> e and a -> c -> d; f stands alone. Layered: [a f] [b c] [d] [e], which is the fewest.
DAG = dag([wave(10, 1, 2), wave(20, 2, 3), wave(30, 3, 4), wave(40, 4, 5), wave(50, 5, 6), wave(6, 0, 1, name="f")],
          [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], 100, resident_graph_bytes=10, readback_bytes=7)
GROUPS = [[0, 5], [1, 2], [3], [4]]

# Next fit opens a third group for the last wave, and two would do.
LOOSE = dag([wave(5), wave(6), wave(5)], (), 10)

Corrupt = Callable[[Document], object]


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every scalar of a document with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def replaced(document: Document, path: tuple[str | int, ...], value: object) -> Document:
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]  # type: ignore[index]
    holder[path[-1]] = value  # type: ignore[index]
    return changed


class PlanCheck(Planning):
    def setUp(self) -> None:
        super().setUp()
        self.dag = self.file("dag.json", DAG)
        self.plan = self.answer("plan", DAG)
        self.assertEqual(groups_of(self.plan), GROUPS)

    def check(self, plan: Document, *options: str, given: str | None = None) -> support.Result:
        return run("check", "plan", "--dag", given or self.dag, *options, self.file("plan.json", plan))

    def found(self, plan: Document, message: str, given: str | None = None) -> None:
        with self.subTest(message):
            self.inconsistent(self.check(plan, given=given), message)

    def corrupted(self, corrupt: Corrupt, message: str) -> None:
        changed = copy.deepcopy(self.plan)
        corrupt(changed)
        self.assertNotEqual(changed, self.plan)
        self.found(changed, message)


class EveryField(PlanCheck):
    def message(self, path: tuple[str | int, ...], value: object) -> str:
        """What is said when the leaf at `path` is given as `value`."""
        if "waves" in path:
            return f"wave {value}"
        if path[-1] == "fused_bytes":
            return f"fused_bytes of group {path[2]} are stated as {value}, but the waves"
        return f"{path[-1]} is given as {value}" if path[-1] == "global_barriers" else f"{path[-1]} is {value}"

    def test_numbers(self) -> None:
        for plan in (self.plan, self.answer("plan", DAG, *COMPACT), self.answer("plan", DAG, *PEAK)):
            self.assertEqual(self.check(plan).rc, 0)
            numbers = 0
            for path, value in leaves(plan):
                if type(value) is int and path != ("schema_version",):
                    for other in {value + 1, value + 1000, max(value - 1, 0)} - {value}:
                        self.found(replaced(plan, path, other), self.message(path, other))
                        numbers += 1
            self.assertGreater(numbers, 30)

    def test_the_rest(self) -> None:
        """A leaf that is no number has its corruption here; one that has none is a new field to think of."""
        compact = self.answer("plan", DAG, *COMPACT)
        others = {"strategy": ("layered", "the objective belongs to the strategy compact"),
                  "optimal": (False, "optimal is false, with 4 groups and lower_bound_groups 4")}
        for path, value in leaves(compact):
            if type(value) is not int and path != ("kind",) and path != ("objective",):
                other, message = others.pop(str(path[-1]))
                self.found(replaced(compact, path, other), message)
        self.assertFalse(others)
        self.found({key: value for key, value in compact.items() if key != "objective"}, "the objective belongs")
        self.found({**self.plan, "objective": "groups"}, "the objective belongs to the strategy compact")
        self.found({**self.plan, "strategy": "compact"}, "the objective belongs to the strategy compact")

    def test_bounds_and_optimality(self) -> None:
        loose = self.file("loose.json", LOOSE)
        plan = self.answer("plan", LOOSE)
        self.assertEqual((groups_of(plan), plan["lower_bound_groups"], plan["optimal"]), ([[0], [1], [2]], 2, False))
        self.assertEqual(self.check(plan, given=loose).rc, 0)
        for change, message in (({"optimal": True}, "optimal is true, with 3 groups and lower_bound_groups 2"),
                                ({"lower_bound_groups": 3}, "optimal is false, with 3 groups and lower_bound_groups 3"),
                                ({"lower_bound_groups": 1}, "lower_bound_groups is 1 and the waves' bytes alone fill"),
                                ({"lower_bound_groups": 4}, "lower_bound_groups is 4 and the plan has only 3 groups")):
            self.found({**plan, **change}, message, loose)
        self.found({**self.plan, "lower_bound_groups": 3, "optimal": False},
                   "lower_bound_groups is 3 and the longest chain has 4 waves")

    def test_missing_and_unknown_keys_are_no_plan(self) -> None:
        for key in self.plan:
            result = self.check({name: value for name, value in self.plan.items() if name != key})
            self.assertEqual(result.rc, 3, key)
        self.assertEqual(self.check({**self.plan, "extra": 1}).rc, 3)


class Groups(PlanCheck):
    def groups(self, plan: Document) -> list[Document]:
        return plan["barriers"]["groups"]

    def regrouped(self, groups: list[list[int]]) -> Document:
        """A plan with these groups in which every figure is right."""
        return {**self.plan, **figures(DAG, groups), "optimal": len(groups) == 4}

    def test_a_wave_across_its_dependency(self) -> None:
        self.found(self.regrouped([[5], [0, 1, 2], [3], [4]]),
                   "dependency 0: wave 0 must run before wave 1, and they are in groups 1 and 1")
        self.found(self.regrouped([[0, 5], [1], [2, 3], [4]]),
                   "dependency 3: wave 2 must run before wave 3, and they are in groups 2 and 2")
        self.found(self.regrouped([[0, 5], [1, 2], [4], [3]]),
                   "dependency 4: wave 3 must run before wave 4, and they are in groups 3 and 2")

    def test_a_wave_left_out_twice_or_unknown(self) -> None:
        self.corrupted(lambda plan: self.groups(plan)[1]["waves"].pop(), "wave 2 is in no group")
        self.corrupted(lambda plan: self.groups(plan)[0]["waves"].remove(0), "wave 0 is in no group")
        self.corrupted(lambda plan: self.groups(plan)[3]["waves"].append(5),
                       "wave 5 is in group 0 and again in group 3")
        self.corrupted(lambda plan: self.groups(plan)[1]["waves"].append(1),
                       "wave 1 is in group 1 and again in group 1")
        for unknown in (6, 7, 2**32 - 1):
            self.corrupted(lambda plan: self.groups(plan)[2]["waves"].append(unknown),
                           f"group 2 holds wave {unknown}, and the DAG has 6 waves")

    def test_an_empty_group(self) -> None:
        self.corrupted(lambda plan: self.groups(plan)[2]["waves"].clear(), "group 2 is empty")
        for place in range(5):
            self.corrupted(lambda plan: self.groups(plan).insert(place, {"waves": [], "fused_bytes": 0}),
                           f"group {place} is empty")

    def test_a_group_left_out(self) -> None:
        self.corrupted(lambda plan: self.groups(plan).pop(), "wave 4 is in no group")
        self.corrupted(lambda plan: plan["barriers"].update(groups=[]), "wave 0 is in no group")

    def test_a_group_over_budget(self) -> None:
        self.assertEqual([fused(one) for one in DAG["waves"]], [16, 31, 46, 61, 76, 7])
        self.assertEqual(self.check(self.regrouped([[0], [1, 2, 5], [3], [4]])).rc, 0)
        self.assertEqual(self.check(self.regrouped([[0], [1, 2], [3], [4, 5]])).rc, 0)
        loose = self.file("loose.json", LOOSE)
        plan = {**self.answer("plan", LOOSE), **figures(LOOSE, [[0], [1, 2]]), "optimal": True}
        self.found(plan, "group 1 needs 11 fused bytes and the budget leaves 10", loose)
        plan = {**plan, **figures(LOOSE, [[0, 2], [1]])}
        self.assertEqual(self.check(plan, given=loose).rc, 0)

    def test_sums_past_64_bits(self) -> None:
        huge = self.file("huge.json", dag([wave(2**63), wave(0, 0, 2**63)]))
        wrapped = {**self.plan, "barriers": {"groups": [{"waves": [0, 1], "fused_bytes": 0}], "global_barriers": 0}}
        self.found(wrapped, "group 0 needs more than 2^64 fused bytes", huge)

    def test_order_within_a_group_is_free(self) -> None:
        self.assertEqual(self.check(self.regrouped([[5, 0], [2, 1], [3], [4]])).rc, 0)


class Random(PlanCheck):
    def test_moved_waves(self) -> None:
        """Waves change groups, all figures follow; only dependencies and budget can be wrong, and are judged here."""
        rng = random.Random(SEED + 3)
        verdicts = {"valid": 0, "inconsistent": 0}
        for number in range(scaled(40, 12)):
            given = random_dag(rng, 20)
            plan = self.answer("plan", given, *LAYERED)
            tries, expected = [], []
            for _ in range(30):
                groups = copy.deepcopy(groups_of(plan))
                for _ in range(rng.choice((1, 1, 2))):
                    source = rng.choice([group for group in groups if group])
                    rng.choice(groups).append(source.pop(rng.randrange(len(source))))
                groups = [group for group in groups if group]
                tries.append({**plan, **figures(given, groups), "optimal": len(groups) == plan["lower_bound_groups"]})
                expected.append("valid" if self.right(given, groups) else "inconsistent")
            result = run("check", "plan", "--stream", "--dag", self.file("random.json", given),
                         self.file("plans.ndjson", "".join(json.dumps(one) + "\n" for one in tries)))
            got = [checked["verdict"] for checked in parse(result.stdout)["documents"]]
            self.assertEqual(got, expected, f"TIDEGATE_SEED={SEED}, DAG {number}")
            for verdict in got:
                verdicts[verdict] += 1
        self.assertGreater(min(verdicts.values()), 50, verdicts)

    def right(self, given: Document, groups: list[list[int]]) -> bool:
        place = {i: number for number, group in enumerate(groups) for i in group}
        room = given["budget_bytes"] - given["resident_graph_bytes"]
        return (all(place[before] < place[after] for before, after in edges_of(given))
                and all(sum(fused(given["waves"][i]) for i in group) <= room for group in groups))


class Premises(PlanCheck):
    """What plans are held against: the DAG, its budget or the option, files or standard input."""

    def test_budget(self) -> None:
        self.assertEqual(self.check(self.plan, "--budget", "87").rc, 0)
        for budget, message in (("86", "group 1 needs 77 fused bytes and the budget leaves 76"),
                                ("9", "the resident graph needs 10 bytes and the budget is 9 bytes")):
            self.inconsistent(self.check(self.plan, "--budget", budget), message)
        for text in ("x", "-1", "1.5"):
            self.assertEqual(self.check(self.plan, "--budget", text).rc, 2)
        wider = self.answer("plan", DAG, "--budget", "1kB")
        self.assertEqual(self.check(wider, "--budget", "1kB").rc, 0)

    def test_another_dag(self) -> None:
        more = self.file("more.json", {**DAG, "waves": [*DAG["waves"], wave(0)]})
        self.inconsistent(self.check(self.plan, given=more), "wave 6 is in no group")
        reader = self.file("reader.json", {**DAG, "readback_bytes": 8})
        self.inconsistent(self.check(self.plan, given=reader), "amortized_readback_bytes is 7, but the groups have 8")

    def test_pipes(self) -> None:
        for words, input in ((["--dag", self.dag], self.plan), (["--dag", self.dag, "-"], self.plan),
                             (["--dag", "-", self.file("plan.json", self.plan)], DAG)):
            self.assertEqual(run("check", "plan", *words, input=json.dumps(input)).rc, 0, words)
        self.assertEqual(run("check", "--dag", self.dag, input=json.dumps({**self.plan, "amortized_readback_bytes": 3})).rc, 1)
        self.assertEqual(run("check", input=json.dumps({**self.plan, "amortized_readback_bytes": 3})).rc, 0)
        self.assertEqual(run("check", input=json.dumps({**self.plan, "max_group_width": 1000})).rc, 1)



if __name__ == "__main__":
    unittest.main()
