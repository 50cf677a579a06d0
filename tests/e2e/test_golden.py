"""Every golden vector whose kind has a command, through the real binary.

The one idea: a vector is turned into the document a user would write and into the line tidegate
should answer with; one process per kind (and per set of options) answers them all as a stream.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_golden.py
"""

from __future__ import annotations

import json
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import support
from support import Case, Document, check_stream, load_vectors, parse

U64 = 2**64 - 1


def document_of(given: Document) -> Document:
    """The request of a vector as `recommend` reads it: flat, with what was null left out."""
    beside = ("policy", "previous_topology")
    return {**given["request"], **{key: given[key] for key in beside if given.get(key) is not None}}


def cases_of(kind: str, document: Callable[[Document], Document],
             line: Callable[[Document], Document]) -> list[Case]:
    """The vectors of a kind; an expected answer becomes a line, an expected error stays one."""
    return [Case(vector["id"], document(vector["input"]),
                 {"ok": line(vector["expect"]["ok"])} if "ok" in vector["expect"]
                 else vector["expect"])
            for vector in load_vectors(kind)]


def recommendation_line(made: Document) -> Document:
    return {"kind": "launch_recommendation", "schema_version": 1, "recommendation": made}


class Recommend(unittest.TestCase):
    """Vectors that `tidegate recommend` answers."""

    def test_recommend(self) -> None:
        check_stream(self, ["recommend"], cases_of("recommend", document_of, recommendation_line))

    def test_previous_topology_as_an_option(self) -> None:
        groups: dict[str, list[Case]] = {}
        for case in cases_of("recommend", document_of, recommendation_line):
            document = dict(case.document)
            if previous := document.pop("previous_topology", None):
                groups.setdefault(previous, []).append(Case(case.name, document, case.expect))
        self.assertEqual(len(groups), 6, "the vectors name every topology as the previous one")
        for previous, cases in groups.items():
            with self.subTest(previous):
                check_stream(self, ["recommend", "--previous-topology", previous], cases)

    def test_policy_as_a_file(self) -> None:
        groups: dict[str, list[Case]] = {}
        for case in cases_of("recommend", document_of, recommendation_line):
            document = dict(case.document)
            if policy := document.pop("policy", None):
                groups.setdefault(json.dumps(policy), []).append(
                    Case(case.name, document, case.expect))
        self.assertTrue(groups, "the vectors hold policies")
        largest = sorted(groups, key=lambda policy: -len(groups[policy]))[:5]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "policy.json")
            for policy in largest:
                path.write_text(policy, encoding="utf-8")
                with self.subTest(policy):
                    check_stream(self, ["recommend", "--policy", str(path)], groups[policy])

    def check_evidence(self, name: str, other: str) -> None:
        def line(expected: Document) -> Document:
            return {**recommendation_line(expected["recommendation"]),
                    "evidence": {name: expected["evidence"],
                                 "complete": {name: expected["is_complete"]}}}

        cases = cases_of(f"{name}_evidence", document_of, line)
        stream = check_stream(self, ["recommend", "--evidence", name], cases, extra_ok=True)
        for got in stream.lines:
            self.assertNotIn(other, got.get("evidence", {}), "evidence that was not asked for")

    def test_topology_evidence(self) -> None:
        self.check_evidence("topology", "promotion")

    def test_promotion_evidence(self) -> None:
        self.check_evidence("promotion", "topology")

    def test_grid(self) -> None:
        # With no graph and no telemetry no worker is shed, and one explicit hit keeps the capacity
        # out of the way: what is left of the recommendation is the grid.
        cases = cases_of("grid", lambda given: {**given, "requested_hit_capacity": 1},
                         recommendation_line)
        check_stream(self, ["recommend"], cases, extra_ok=True)


class CacheStatistics(unittest.TestCase):
    """launch_cache vectors: the counts that `--cache-stats` prints when the stream ends."""

    def document(self, op: Document, queue_len: int) -> Document:
        kept = ("requested_worker_groups", "max_workgroup_size_x", "previous_topology")
        return {"queue_len": queue_len, **{key: op[key] for key in kept if key in op}}

    def documents(self, op: Document) -> list[Document]:
        if op["op"] == "recommend":
            return [op["request"]]
        first, last = (op.get(key, op.get("queue_len")) for key in
                       ("first_queue_len", "last_queue_len"))
        return [self.document(op, queue_len) for queue_len in range(first, last + 1)]

    def test_launch_cache(self) -> None:
        checked = 0
        for vector in load_vectors("launch_cache"):
            sent: list[Document] = []
            for op, expected in zip(vector["input"]["ops"], vector["expect"]["ok"]["stats"]):
                if op["op"] == "reset":  # a new process starts with an empty cache
                    sent = []
                    continue
                if op["op"].endswith("_evidence"):  # another option: not in the same stream
                    break
                sent += self.documents(op)
                with self.subTest(vector["id"], lines=len(sent)):
                    stream = support.run_stream(["recommend", "--cache-stats"], sent)
                    self.assertEqual(len(stream.lines), len(sent))
                    self.assertEqual(parse(stream.stderr.strip().splitlines()[-1]), expected)
                    checked += 1
        self.assertGreater(checked, 0, "no vectors: a test that cannot fail")


class PriorityAndTuning(unittest.TestCase):
    """Vectors of the small commands; their lines may say more than the vectors do."""

    def check(self, args: list[str], out: str, cases: list[Case]) -> list[Document]:
        typed = [case._replace(expect={"ok": {"kind": out, "schema_version": 1,
                                              **case.expect["ok"]}}) for case in cases]
        return check_stream(self, args, typed, extra_ok=True).lines

    def test_priority_drain(self) -> None:
        cases = cases_of("priority_drain", dict, dict)
        for got in self.check(["priority", "drain"], "drain_recommendation", cases):
            self.assertRegex(got["fix"], r"\A[^\n]*\S[^\n]*\Z", "one line of advice")

    def test_priority_diffuse(self) -> None:
        cases = cases_of("diffuse_priority", dict, dict)
        self.check(["priority", "diffuse"], "diffused_priorities", cases)

    def test_tune_choose_hit_capacity_multiplier(self) -> None:
        cases = cases_of("autotune_hit_capacity_multiplier", lambda given: {
            "candidates": given["candidate_multipliers"], "costs": given["costs"],
            "current": (given["policy"] or {"hit_capacity_multiplier": 2})[
                "hit_capacity_multiplier"]}, dict)
        self.check(["tune", "choose"], "tuning_choice", cases)

    def test_tune_choose_workgroup_size(self) -> None:
        cases = cases_of("autotune_workgroup_size", lambda given: {
            "candidates": given["candidate_sizes"], "costs": given["costs"],
            "current": given["current_size"]}, dict)
        self.check(["tune", "choose"], "tuning_choice", cases)

    def test_tune_step(self) -> None:
        cases = cases_of("natural_gradient_step", dict, dict)
        self.check(["tune", "step"], "natural_gradient_step", cases)


class Plan(unittest.TestCase):
    """Vectors of the layered strategy; its lines may say more than the vectors do, also of each group."""

    def check(self, cases: list[Case]) -> None:
        check_stream(self, ["plan", "--strategy", "layered"], cases, extra_ok=True)

    def line(self, expected: Document) -> Document:
        return {"kind": "frontier_memory_plan", "schema_version": 1, **expected}

    def test_frontier_memory_plan(self) -> None:
        self.check(cases_of("frontier_memory_plan", dict, self.line))

    def test_barrier_plan(self) -> None:
        weightless = {"frontier_bytes": 0, "scratch_bytes": 0, "output_bytes": 0}
        self.check(cases_of("barrier_plan", lambda given: {
            "waves": [weightless] * given["wave_count"], "dependencies": given["dependencies"],
            "budget_bytes": U64}, lambda expected: self.line({"barriers": expected})))


class StreamOfMixedLines(unittest.TestCase):
    """The exit code is that of the worst line, and no line stops the ones after it."""

    GOOD = {"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256}
    REFUSED = {**GOOD, "max_workgroup_size_x": 0}
    UNREADABLE = ("{\"queue_len\": 300,", "[]", "null", "not json", json.dumps({"queue_len": 300}),
                  json.dumps({**GOOD, "queue_len": 2**32}), json.dumps({**GOOD, "queue_len": -1}),
                  json.dumps({**GOOD, "queue_len": 1.5}), json.dumps({**GOOD, "queue_len": "300"}),
                  json.dumps({**GOOD, "queue_length": 300}),
                  json.dumps(GOOD)[:-1] + ", \"queue_len\": 300}",
                  json.dumps({**GOOD, "policy": {"hit_capacity": 1}}),
                  json.dumps({**GOOD, "policy": {"dense_frontier_threshold_bps": 2**16}}),
                  json.dumps({**GOOD, "previous_topology": "sparse"}))

    def codes(self, stream: support.Stream) -> list[str | None]:
        return [got.get("error", {}).get("code") for got in stream.lines]

    def test_all_answered(self) -> None:
        stream = support.run_stream(["recommend"], [self.GOOD] * 3)
        self.assertEqual((stream.rc, self.codes(stream)), (0, [None] * 3))
        self.assertTrue(all("evidence" not in got for got in stream.lines))

    def test_refused(self) -> None:
        stream = support.run_stream(["recommend"], [self.GOOD, self.REFUSED, self.GOOD])
        self.assertEqual((stream.rc, self.codes(stream)), (1, [None, "zero_adapter_limit", None]))

    def test_unreadable(self) -> None:
        for text in self.UNREADABLE:
            with self.subTest(text):
                stream = support.run_stream(["recommend"], [self.REFUSED, text, self.GOOD])
                first, code, *rest = self.codes(stream)
                self.assertEqual((stream.rc, first, rest), (3, "zero_adapter_limit", [None]))
                problem = support.line_problem(stream.lines[1], 2, {"error": {}}, extra_ok=True)
                self.assertIsNone(problem)
                self.assertTrue(code, "an error has a code")

    def test_nothing_sent(self) -> None:
        stream = support.run_stream(["recommend"], [])
        self.assertEqual((stream.rc, stream.lines), (0, []))


class Vectors(unittest.TestCase):
    """The vectors themselves, and the comparison they are held to."""

    def test_equal_to_the_shared_ones(self) -> None:
        if not (support.OWN_GOLDEN.is_dir() and support.SHARED_GOLDEN.is_dir()):
            self.skipTest("only one of tests/golden and ../shared/golden is here")
        own, shared = ({path.name: path.read_bytes() for path in folder.iterdir()}
                       for folder in (support.OWN_GOLDEN, support.SHARED_GOLDEN))
        self.assertEqual(sorted(own), sorted(shared))
        self.assertGreater(len(own), 0)
        different = [name for name in own if own[name] != shared[name]]
        self.assertEqual(different, [], "files that differ from ../shared/golden")

    def test_no_vectors_is_a_failure(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "recommend.jsonl").touch()
            with self.assertRaises(ValueError):
                load_vectors("recommend", Path(folder))

    def test_same_is_strict(self) -> None:
        for left, right, pointer in ((1, 1.0, ""), (True, 1, ""), (0.0, -0.0, ""),
                                     ({"a": [1, 2]}, {"a": [1, 3]}, "/a/1"), ([1], [1, 2], ""),
                                     ({"a/b": 1}, {"a/b": 2}, "/a~1b"), ({}, {"b": 1}, ""),
                                     ({"a": None}, {}, "/a"), (None, False, ""),
                                     (U64, U64 - 1, ""), (0.1 + 0.2, 0.3, "")):
            with self.subTest(left=left, right=right):
                self.assertEqual(support.same(left, right).pointer, pointer)
                self.assertTrue(support.same(left, left))
        self.assertTrue(support.same({"a": 1}, {"a": 1, "b": 2}, extra_ok=True))


if __name__ == "__main__":
    unittest.main()
