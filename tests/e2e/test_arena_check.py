"""tidegate check arena: a right layout passes, and what is changed in it is found and named.

tests/planning/arena_check_test.cpp has a corruption of every kind; here are those of fields that only the document has.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_arena_check.py
"""

from __future__ import annotations

import json
import random
import unittest

import support
from planning_support import SEED, Planning, arena_figures, buffer, layout_problem, lifetimes, scaled
from support import Document, parse, run

# Alive together: a and 7, 7 and "7". The empty one overlaps nothing.
FULL = lifetimes(buffer("a", 0, 2, 3), buffer(7, 1, 3, 4), buffer("7", 2, 4, 2, 2), buffer("none", 1, 3, 0))
# The bound is 16 and every layout needs 17: only a search proves that.
TIGHT = lifetimes(*(buffer(name, *lifetime) for name, lifetime in zip("abcdefg", (
    (0, 4, 7), (3, 5, 7), (4, 6, 4), (4, 7, 5), (5, 7, 4), (6, 10, 6), (8, 9, 7)))))


class ArenaCheck(Planning):
    def setUp(self) -> None:
        super().setUp()
        self.plan = self.answer("arena", FULL)
        self.assertEqual([self.plan[key] for key in ("height_bytes", "lower_bound_bytes", "optimal", "proof")],
                         [7, 7, True, "meets_bound"])
        self.searched = self.answer("arena", TIGHT)
        self.assertEqual([self.searched[key] for key in ("height_bytes", "lower_bound_bytes", "optimal", "proof")],
                         [17, 16, True, "exhausted_search"])

    def check(self, plan: Document, given: Document = FULL, *options: str) -> support.Result:
        return run("check", "arena", "--lifetimes", self.file("lifetimes.json", given), *options,
                   self.file("plan.json", plan))

    def found(self, plan: Document, message: str, given: Document = FULL, *options: str) -> None:
        with self.subTest(message):
            self.inconsistent(self.check(plan, given, *options), message)


class EveryField(ArenaCheck):
    def test_right_plans(self) -> None:
        for plan, given in ((self.plan, FULL), (self.searched, TIGHT)):
            self.assertEqual(self.check(plan, given).rc, 0)
        self.found({**self.plan, "height_bytes": 8}, "the stated height is 8 bytes, but the topmost buffer ends at 7")
        self.found({**self.searched, "proof": "none"}, "the plan is called optimal, but its height of 17 bytes", TIGHT)

    def test_every_key_counts(self) -> None:
        for key in self.plan:
            self.assertEqual(self.check({name: value for name, value in self.plan.items() if name != key}).rc, 3, key)
        self.assertEqual(list(self.plan), ["kind", "schema_version", "height_bytes", "lower_bound_bytes", "optimal",
                                           "proof", "gave_up", "search_nodes", "buffers"])


class Buffers(ArenaCheck):
    def test_ids(self) -> None:
        placed = self.plan["buffers"]
        for i, shown in enumerate(('"a"', "7", '"7"', '"none"')):
            self.found({**self.plan, "buffers": placed[:i] + placed[i + 1:]}, f"buffer {shown} has no offset")
            self.found({**self.plan, "buffers": [*placed, placed[i]]}, f"buffer {shown} has two offsets")
        for id, shown in ((8, "8"), ("b", '"b"'), ("0", '"0"'), ("", '""')):
            renamed = [{**placed[0], "id": id}, *placed[1:]]
            self.found({**self.plan, "buffers": renamed}, f"the lifetimes have no buffer {shown}")
        self.found({**self.plan, "buffers": []}, 'buffer "a" has no offset')

    def test_order_is_free(self) -> None:
        self.assertEqual(self.check({**self.plan, "buffers": self.plan["buffers"][::-1]}).rc, 0)

    def test_random_layouts(self) -> None:
        """Offsets change at random and all figures follow; what overlaps or is not aligned is judged here too."""
        rng = random.Random(SEED + 8)
        verdicts = {"valid": 0, "inconsistent": 0}
        for number in range(scaled(40, 12)):
            buffers = []
            for i in range(rng.randint(1, 8)):
                lower = rng.randrange(6)
                buffers.append(buffer(i, lower, rng.randint(lower + 1, 6), rng.randint(1, 8), rng.choice((1, 1, 2))))
            given = lifetimes(*buffers)
            plan = self.answer("arena", given)
            tries, expected = [], []
            for _ in range(30):
                offsets = [placed["offset"] for placed in plan["buffers"]]
                for _ in range(rng.choice((0, 1, 2))):
                    offsets[rng.randrange(len(offsets))] = rng.randrange(30)
                tries.append({**plan, **arena_figures(given, offsets)})
                expected.append("inconsistent" if layout_problem(buffers, offsets) else "valid")
            result = run("check", "arena", "--stream", "--lifetimes", self.file("random.json", given),
                         self.file("plans.ndjson", "".join(json.dumps(one) + "\n" for one in tries)))
            got = [json.loads(line)["documents"][0]["verdict"] for line in result.stdout.splitlines()]
            self.assertEqual(got, expected, f"TIDEGATE_SEED={SEED}, problem {number}")
            for verdict in got:
                verdicts[verdict] += 1
        self.assertGreater(min(verdicts.values()), 50, verdicts)


class Premises(ArenaCheck):
    def test_capacity(self) -> None:
        self.assertEqual(self.check(self.plan, FULL, "--capacity", "7").rc, 0)
        self.found(self.plan, "the height of 7 bytes is above the capacity of 6 bytes", FULL, "--capacity", "6")
        self.found(self.plan, "the height of 7 bytes is above the capacity of 6 bytes", {**FULL, "capacity_bytes": 6})
        self.assertEqual(self.check(self.plan, {**FULL, "capacity_bytes": 6}, "--capacity", "1KiB").rc, 0)
        self.assertEqual(self.check(self.plan, FULL, "--capacity", "x").rc, 2)

    def test_pipes(self) -> None:
        file = self.file("lifetimes.json", FULL)
        answer = run("arena", file).stdout
        self.assertEqual(run("check", "arena", "--lifetimes", file, input=answer).rc, 0)
        self.assertEqual(run("check", "--lifetimes", file, input=answer).rc, 0)
        self.assertEqual(run("check", "arena", "--lifetimes", "-", self.file("plan.json", answer),
                             input=json.dumps(FULL)).rc, 0)
        tampered = json.dumps({**parse(answer), "height_bytes": 6})
        self.assertEqual(run("check", "--lifetimes", file, input=tampered).rc, 1)
        self.assertEqual(run("check", input=tampered).rc, 0)


if __name__ == "__main__":
    unittest.main()
