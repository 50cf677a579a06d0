"""The golden vectors of `recommend` through the real binary; tests/policy and tests/planning have the other kinds.

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
from support import Case, Document, check_stream, load_vectors

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

    def test_options_in_place_of_keys(self) -> None:
        """The policy and the previous topology of a vector that has both, given as options."""
        case = next(case for case in cases_of("recommend", document_of, recommendation_line)
                    if {"policy", "previous_topology"} <= case.document.keys())
        document = dict(case.document)
        previous, policy = document.pop("previous_topology"), json.dumps(document.pop("policy"))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(policy)
            file.flush()
            check_stream(self, ["recommend", "--previous-topology", previous, "--policy", file.name],
                         [Case(case.name, document, case.expect)])


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
