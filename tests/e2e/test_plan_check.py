"""tidegate check plan: a right plan passes, and what is changed in it is found and named.

The one idea: random changes are judged a second time, from the definition, in Python. tests/planning/plan_checker_test.cpp
has a corruption of every kind; here are those of fields that only the document has.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_plan_check.py
"""

from __future__ import annotations

import copy
import json
import random
import unittest

import support
from planning_support import (COMPACT, LAYERED, PEAK, SEED, Planning, dag, edges_of, figures, fused, groups_of,
                              random_dag, scaled, wave)
from support import Document, parse, run

# a -> b -> d -> e and a -> c -> d; f stands alone. Layered: [a f] [b c] [d] [e], which is the fewest.
DAG = dag([wave(10, 1, 2), wave(20, 2, 3), wave(30, 3, 4), wave(40, 4, 5), wave(50, 5, 6), wave(6, 0, 1, name="f")],
          [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], 100, resident_graph_bytes=10, readback_bytes=7)
GROUPS = [[0, 5], [1, 2], [3], [4]]


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


class Fields(PlanCheck):
    def test_the_document(self) -> None:
        compact = self.answer("plan", DAG, *COMPACT)
        for plan in (self.plan, compact, self.answer("plan", DAG, *PEAK)):
            self.assertEqual(self.check(plan).rc, 0)
        barriers = self.plan["barriers"]
        for change, message in (({"strategy": "compact"}, "the objective belongs to the strategy compact"),
                                ({"objective": "groups"}, "the objective belongs to the strategy compact"),
                                ({"barriers": {**barriers, "global_barriers": 9}}, "global_barriers is given as 9"),
                                ({"barriers": {**barriers, "groups": []}}, "wave 0 is in no group"),
                                ({"peak_output_bytes": 0}, "peak_output_bytes is 0")):
            self.found({**self.plan, **change}, message)
        self.found({**compact, "strategy": "layered"}, "the objective belongs to the strategy compact")
        self.found({key: value for key, value in compact.items() if key != "objective"}, "the objective belongs")

    def test_missing_and_unknown_keys_are_no_plan(self) -> None:
        for key in self.plan:
            result = self.check({name: value for name, value in self.plan.items() if name != key})
            self.assertEqual(result.rc, 3, key)
        self.assertEqual(self.check({**self.plan, "extra": 1}).rc, 3)


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
            got = [json.loads(line)["documents"][0]["verdict"] for line in result.stdout.splitlines()]
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
    """What plans are checked against: the DAG, its budget or the option, files or standard input."""

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
        self.assertEqual(run("check", "--dag", self.dag, input=json.dumps({**self.plan, "amortized_readback_bytes": 8})).rc, 1)
        self.assertEqual(run("check", input=json.dumps({**self.plan, "amortized_readback_bytes": 8})).rc, 0)
        for changed in ({"amortized_readback_bytes": 3}, {"max_group_width": 1000}, {"optimal": not self.plan["optimal"]}):
            self.assertEqual(run("check", input=json.dumps({**self.plan, **changed})).rc, 1, changed)


if __name__ == "__main__":
    unittest.main()
