"""tidegate plan: names, refusals and their fixes, budgets, sizes; and plans that are right and as good as promised.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_plan.py; TIDEGATE_SEED=N draws other DAGs.
"""

from __future__ import annotations

import json
import random
import unittest

import support
from planning_support import (COMPACT, DATA, LAYERED, PEAK, SEED, STRATEGIES, U64, Planning, dag, groups_of,
                              random_dag, scaled, wave)
from support import EXAMPLES, Document, parse, run, unplaced

MIB = 2**20

# a -> b -> d and a -> c -> d, each of 10 bytes; b and c may run together.
DIAMOND = dag([wave(10, name=name) for name in "abcd"], [(0, 1), (0, 2), (1, 3), (2, 3)], 20)


class Names(Planning):
    def test_names_and_indices_are_the_same(self) -> None:
        expected = self.answer("plan", DIAMOND)
        self.assertEqual(groups_of(expected), [[0], [1, 2], [3]])
        for edges in ([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], [("a", 1), (0, "c"), (1, "d"), ("c", 3)]):
            for options in STRATEGIES:
                self.assertEqual(self.answer("plan", dag(DIAMOND["waves"], edges, 20), *options),
                                 self.answer("plan", DIAMOND, *options))

    def test_digits_may_be_a_name(self) -> None:
        swapped = dag([wave(1, name="1"), wave(1, name="0")], [("1", "0")])
        self.assertEqual(groups_of(self.answer("plan", swapped)), [[0], [1]])
        self.assertEqual(groups_of(self.answer("plan", dag(swapped["waves"], [(1, 0)]))), [[1], [0]])

    def test_any_text_is_a_name(self) -> None:
        names = ["größe", "größe ", "GRÖSSE", "a\nb", "a\\nb", '"', "😀", "x" * 10_000, "x" * 9_999]
        given = dag([wave(1, name=name) for name in names], list(zip(names, names[1:])))
        self.assertEqual(groups_of(self.answer("plan", given)), [[i] for i in range(len(names))])



class Refusals(Planning):
    def test_every_named_cycle_is_one(self) -> None:
        """Whatever the DAG, the cycle consists of dependencies, and its last one stands at the pointer."""
        rng = random.Random(SEED)
        cycles = 0
        for _ in range(scaled(60, 20)):
            count = rng.randint(2, 30)
            edges = [tuple(rng.sample(range(count), 2)) for _ in range(rng.randint(1, 2 * count))]
            given = dag([wave(1)] * count, edges)
            for options in (LAYERED, COMPACT):
                result = run("plan", "--errors", "json", *options, input=json.dumps(given))
                if result.rc != 0:
                    error = parse(result.stderr)
                    ring = error["cycle"]
                    self.assertEqual(error["code"], "cycle")
                    self.assertEqual(len(set(ring)), len(ring))
                    for edge in zip(ring, ring[1:] + ring[:1]):
                        self.assertIn(edge, edges, f"TIDEGATE_SEED={SEED} {given}")
                    self.assertEqual(edges[int(error["pointer"].removeprefix("/dependencies/"))], (ring[-1], ring[0]))
                    cycles += 1
        self.assertGreater(cycles, 10, "a test that cannot fail")

    def test_index_out_of_range(self) -> None:
        for before, after in ((0, 2), (2, 0), (7, 7), (2**32 - 1, 0), (2**32, 0), (0, 2**32 + 1), (U64, U64)):
            for options in STRATEGIES:
                result = run("plan", "--errors", "json", *options,
                             input=json.dumps(dag([wave(1), wave(1)], [(0, 1), (before, after)])))
                self.assertEqual((result.rc, result.stdout), (1, ""))
                errors = [[error[key] for key in ("code", "message", "wave_count", "before", "after", "pointer", "fix")]
                          for error in map(parse, result.stderr.splitlines())]
                self.assertEqual(errors, [["invalid_wave", f"there is no wave {index}", 2, before, after,
                                           f"/dependencies/1/{end}", "waves are counted from 0 to 1"]
                                          for end, index in (("before", before), ("after", after)) if index > 1])
        result = run("plan", "--errors", "json", input=json.dumps(dag([], [(0, 0)])))
        self.assertEqual([(error["code"], error["pointer"], error["fix"])
                          for error in map(parse, result.stderr.splitlines())],
                         [("invalid_wave", f"/dependencies/0/{end}", "add the waves, or leave the dependencies out")
                          for end in ("before", "after")])
        for index in (2**64, -1):
            error = self.error("plan", dag([wave(1)], [(0, index)]), rc=3)
            self.assertEqual((error["code"], error["pointer"]), ("out_of_range", "/dependencies/0/after"))

    def test_wave_over_budget_and_its_fix(self) -> None:
        given = dag([wave(1), wave(10, 5, 3, name="big")], [(0, 1)], 100, resident_graph_bytes=70)
        for options in STRATEGIES:
            error = self.error("plan", given, *options)
            self.assertEqual(error, {
                "code": "group_over_budget", "message": '"big" alone needs 33 bytes and a group may have 30',
                "fix": "raise the budget to 103 bytes or more, or make the wave smaller", "source": "standard input",
                "pointer": "/waves/1", "line": 1, "column": 74, "field": "single fused frontier wave bytes", "required_bytes": 33,
                "budget_bytes": 30, "excerpt": json.dumps(given)})
            self.answer("plan", given, *options, "--budget", "103")
            self.error("plan", given, *options, "--budget", "102")
        no_budget_helps = dag([wave(U64)], (), U64, resident_graph_bytes=1)
        self.assertEqual(self.error("plan", no_budget_helps)["fix"], "make the wave smaller")

    def test_overflow(self) -> None:
        half = 2**63
        for waves, field in (([wave(0, 2**62)], "fused wave scratch bytes"),
                             ([wave(1, 0, U64)], "fused wave bytes"),
                             ([wave(4, 2**62 - 1)], "fused wave bytes"),
                             ([wave(half), wave(0, 0, half)], "barrier group fused wave budget bytes")):
            for options in (LAYERED, COMPACT):
                error = self.error("plan", dag(waves), *options)
                self.assertEqual((error["code"], error["field"], error["pointer"]),
                                 ("byte_count_overflow", field, f"/waves/{len(waves) - 1}"))


class Budgets(Planning):
    def test_ends_of_the_range(self) -> None:
        empty = [wave(0)] * 3
        for options in STRATEGIES:
            for given in (dag(empty, [(0, 2)], 0), dag(empty, [(0, 2)], U64, resident_graph_bytes=U64)):
                self.sound(given, self.answer("plan", given, *options))
            full = dag([wave(U64), wave(0, 0, U64), wave(3, 2**62 - 1)], [(0, 1), (1, 2)], U64, readback_bytes=U64)
            self.sound(full, self.answer("plan", full, *options))
        self.assertEqual(self.error("plan", dag([wave(1)], (), 0))["required_bytes"], 1)

    def test_empty_dag(self) -> None:
        for options in STRATEGIES:
            for given in (dag([]), dag([], (), 0, readback_bytes=5), {"waves": [], "budget_bytes": 0}):
                plan = self.answer("plan", given, *options)
                self.assertEqual((groups_of(plan), plan["optimal"], plan["lower_bound_groups"]), ([], True, 0))
                self.sound({"dependencies": [], **given}, plan)

    def test_option(self) -> None:
        """A wave of 2^64 - 1 bytes fits nothing, so the refusal tells the budget."""
        given = dag([wave(U64)], (), 1)
        for text, count in (("64MiB", 64 * MIB), ("64 mib", 64 * MIB), ("1.5GB", 1_500_000_000), ("131072", 131072),
                            ("0", 0), ("0.5Ki", 512), ("15.5EiB", 31 * 2**59)):
            self.assertEqual(self.error("plan", given, "--budget", text)["budget_bytes"], count, text)
        self.answer("plan", given, "--budget", str(U64))



class Options(Planning):
    def test_strategies_say_what_they_are(self) -> None:
        self.assertEqual(self.answer("plan", DIAMOND), self.answer("plan", DIAMOND, "--strategy", "layered"))
        for options, strategy, objective in (((), "layered", None), (("--strategy", "compact"), "compact", "groups"),
                                             (("--objective", "peak"), "compact", "peak"),
                                             (("--objective", "groups"), "compact", "groups"),
                                             (("--strategy", "compact", "--objective", "peak"), "compact", "peak")):
            plan = self.answer("plan", DIAMOND, *options)
            self.assertEqual((plan["strategy"], plan.get("objective")), (strategy, objective), options)

    def test_contradictions(self) -> None:
        for options in (("--objective", "peak"), ("--objective", "groups")):
            error = self.error("plan", DIAMOND, "--strategy", "layered", *options, rc=2)
            self.assertEqual((error["code"], error["message"]),
                             ("invalid_usage", "--objective is for --strategy compact"))

    def test_wrong_words(self) -> None:
        for options, nearest in ((("--strategy", "compct"), "compact"), (("--objective", "peaks"), "peak"),
                                 (("--format", "tabel"), "table"), (("--objectiv", "peak"), "--objective")):
            error = self.error("plan", DIAMOND, *options, rc=2)
            self.assertEqual(error.get("nearest"), nearest, options)

    def test_streams_carry_json_only(self) -> None:
        for format in ("table", "svg"):
            error = self.error("plan", DIAMOND, "--stream", "--format", format, rc=2)
            self.assertEqual(error["code"], "invalid_usage")


class Sizes(Planning):
    """Many waves, one after the other."""

    COUNT = scaled(300_000, 100_000)

    def chain(self, *more: str) -> str:
        waves = ",".join(['{"frontier_bytes":2,"scratch_bytes":0,"output_bytes":1}'] * self.COUNT)
        edges = [f'{{"before":{i},"after":{i + 1}}}' for i in range(self.COUNT - 1)]
        return f'{{"waves":[{waves}],"dependencies":[{",".join([*edges, *more])}],"budget_bytes":4}}'

    def test_chain(self) -> None:
        path = self.file("chain.json", self.chain())
        for number, options in enumerate(STRATEGIES):
            plan = self.folder / f"{number}.json"
            self.assertEqual(run("plan", *options, "-o", str(plan), path).rc, 0)
            text = plan.read_text()
            self.assertEqual(text.count('"fused_bytes": 3\n'), self.COUNT)
            self.assertTrue(text.endswith('"max_group_width": 1,\n'
                                          f'  "lower_bound_groups": {self.COUNT},\n  "optimal": true\n}}\n'))
            self.assertEqual(run("check", "plan", "--dag", path, str(plan)).rc, 0)
            plan.unlink()

    def test_cycle(self) -> None:
        path = self.file("cycle.json", self.chain(f'{{"before":{self.COUNT - 1},"after":0}}'))
        last = self.COUNT - 1
        ends = [f"wave {i}" for i in range(7)], [f"wave {i}" for i in range(self.COUNT - 7, self.COUNT)]
        result = run("plan", path)
        self.assertEqual(result.rc, 1)
        self.assertEqual(unplaced(result.stderr).splitlines()[0],
                         f"tidegate: {path}: error: the dependencies form a cycle, {' -> '.join(ends[0])} -> "
                         f"({self.COUNT - 14} more) -> {' -> '.join(ends[1])} -> wave 0, and keep {self.COUNT} waves "
                         f"from running; removing the dependency of wave 0 on wave {last} breaks this cycle [cycle]")


class Quality(Planning):
    """Every plan is right, and compact keeps its promises."""

    def plans(self, given: Document) -> None:
        layered, compact, peak = (self.answer("plan", given, *options) for options in STRATEGIES)
        for plan in (layered, compact, peak):
            self.sound(given, plan)
        counts = [len(groups_of(plan)) for plan in (layered, compact, peak)]
        self.assertLessEqual(counts[1], counts[0], "compact has more groups than layered")
        self.assertEqual(counts[2], counts[1], "--objective peak changes the number of groups")
        if layered["optimal"]:
            self.assertTrue(compact["optimal"], "layered is proved to be the best, and compact is not")
        largest = [max((group["fused_bytes"] for group in plan["barriers"]["groups"]), default=0)
                   for plan in (compact, peak)]
        self.assertLessEqual(largest[1], largest[0], "--objective peak has a higher peak")
        self.saved += counts[0] - counts[1]
        self.lowered += largest[0] - largest[1]

    def setUp(self) -> None:
        super().setUp()
        self.saved = self.lowered = 0

    def test_generated_dags(self) -> None:
        rng = random.Random(SEED)
        for number in range(scaled(100, 12)):
            given = random_dag(rng)
            with self.subTest(f"TIDEGATE_SEED={SEED}, DAG {number}"):
                self.plans(given)
        self.assertGreater(self.saved, 0, "compact never saves a group: the DAGs tell nothing")
        self.assertGreater(self.lowered, 0, "--objective peak never lowers a peak: the DAGs tell nothing")

    def test_workflows(self) -> None:
        files = sorted((DATA / "workflows").glob("*.json"))
        if not files:
            self.skipTest("../shared/data/workflows is not here")
        for path in files:
            with self.subTest(path.name):
                self.plans(parse(path.read_text(encoding="utf-8")))
        self.assertGreater(self.saved, 0)

    def test_examples(self) -> None:
        dags = [path for path in EXAMPLES.glob("*.json") if '"budget_bytes"' in path.read_text(encoding="utf-8")
                and '"waves"' in path.read_text(encoding="utf-8")]
        self.assertTrue(dags, "no example for plan")
        for path in dags:
            given = parse(path.read_text(encoding="utf-8"))
            self.plans({"dependencies": [], **given})


class Determinism(Planning):
    def setUp(self) -> None:
        super().setUp()
        rng = random.Random(SEED + 2)
        self.dags = [random_dag(rng, 60) for _ in range(scaled(12, 6))]

    def test_same_input_same_bytes(self) -> None:
        for given in self.dags:
            for options in (*STRATEGIES, (*PEAK, "--format", "svg"), (*COMPACT, "--format", "table")):
                first, second = (run("plan", *options, input=json.dumps(given)).stdout for _ in range(2))
                self.assertTrue(first)
                self.assertEqual(first, second)

    def test_streams_are_single_runs(self) -> None:
        for options in STRATEGIES:
            stream = support.run_stream(["plan", *options], [*self.dags, "{}", dag([wave(2)], (), 1)])
            self.assertEqual(stream.lines[:-2], [self.answer("plan", given, *options) for given in self.dags])
            self.assertEqual([line["error"]["code"] for line in stream.lines[-2:]],
                             ["missing_key", "group_over_budget"])
            self.assertEqual(stream.rc, 3)


if __name__ == "__main__":
    unittest.main()
