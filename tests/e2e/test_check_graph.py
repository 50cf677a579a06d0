"""tidegate check graph, and frontier programs as documents."""

from __future__ import annotations

import gzip
import json
import tempfile
import unittest
from pathlib import Path

import jsonschema

from support import run

TRIANGLE = b"%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 0.5\n3 1 -2\n3 2 7\n3 3 1\n"


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name).resolve()

    def file(self, name: str, data: bytes | str) -> str:
        path = self.folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)


class CheckGraph(Scratch):
    def test_contents(self) -> None:
        for name, data in (("a.mtx", TRIANGLE), ("a.mtx.gz", gzip.compress(TRIANGLE))):
            path = self.file(name, data)
            result = run("check", "graph", path)
            self.assertEqual((result.rc, result.stderr), (0, ""))
            report = json.loads(result.stdout)
            self.assertEqual(report, {
                "kind": "graph_report", "schema_version": 1, "checked": 1, "valid": 1, "failed": 0,
                "graphs": [{"file": path, "verdict": "valid", "graph": {
                    "format": "matrix_market", "compressed": name.endswith(".gz"), "lines": 6, "entries": 4,
                    "both_directions": True, "vertices": 4, "edges": 7, "symmetric": True,
                    "out_degree": {"min": 0, "median": 2, "max": 3}, "in_degree": {"min": 0, "median": 2, "max": 3},
                    "isolated_vertices": 1, "self_loops": 1, "repeated_edges": 0, "components": 2,
                    "largest_component": 3,
                    "values": {"type": "real", "least": -2.0, "greatest": 7.0, "negative": 1}}}]})
            schema = json.loads(run("schema", "graph_report").stdout)
            jsonschema.Draft202012Validator(schema).validate(report)

    def test_table(self) -> None:
        path = self.file("a.mtx", TRIANGLE)
        broken = self.file("b.gr", "p sp 2 1\na 1 3 5\n")
        result = run("check", "graph", "--format", "table", path, broken)
        self.assertEqual(result.rc, 3)
        self.assertEqual(result.stdout, f"""{path}: Matrix Market, 6 lines

vertices        4     1 of them without a neighbour
edges           7     of 4 entries, each in both directions; each has its opposite
out degree      3     at least 0, in the median 2
in degree       3     at least 0, in the median 2
self-loops      1
repeated edges  0
components      2     3 vertices in the largest
values          real  -2 to 7, 1 below 0: no weights for sssp

{broken}: no graph

the head is 3, and vertices are 1 to 2

2 checked, 1 valid, 1 not
""")
        self.assertEqual(result.stderr, f"tidegate: {broken}:2:5: error: the head is 3, and vertices are 1 to 2 "
                                        "[bad_graph]\n  fix: correct it, or the size that the file states\n")

    def test_standard_input_and_errors(self) -> None:
        self.assertEqual(json.loads(run("check", "graph", input="0 1\n").stdout)["graphs"][0]["graph"]["edges"], 1)
        result = run("check", "graph", "--errors", "json", "-", input=b"\x00\x01\x1b[31m\n")
        self.assertEqual(result.rc, 3)
        error = json.loads(result.stderr)
        self.assertEqual((error["code"], error["source"], error["line"]), ("bad_graph", "standard input", 1))
        self.assertEqual(run("check", "graph", str(self.folder / "nowhere")).rc, 3)
        for option in (["--stream"], ["--dag", "x"]):
            self.assertEqual(run("check", "graph", *option, input="0 1\n").rc, 2)
        path = self.file("a.el", "0 1\n")
        self.assertEqual(run("check", "graph", path, "-o", path).rc, 2)
        self.assertEqual(run("check", "graph", "-", "-", input="0 1\n").rc, 2)


class FrontierPrograms(Scratch):
    def setUp(self) -> None:
        super().setUp()
        self.file("road.mtx", TRIANGLE)

    def check(self, change: dict, *options: str) -> tuple[int, dict]:
        document = {"graph": {"file": "road.mtx"}, "algorithm": "bfs", "sources": [0],
                    "outputs": {"levels": "levels.npy"}, **change}
        result = run("check", "frontier_program", "--errors", "json", *options,
                     self.file("program.json", json.dumps(document)))
        schema = json.loads(run("schema", "frontier_program").stdout)
        if result.rc == 0:
            jsonschema.Draft202012Validator(schema).validate(document)
        return result.rc, json.loads(result.stderr) if result.stderr else {}

    def test_what_is_sound(self) -> None:
        rmat = {"rmat": {"scale": 20, "edge_factor": 8, "a": 0.5, "b": 0.2, "c": 0.2, "seed": 1, "max_weight": 9}}
        for change in ({}, {"policy": {"switch_rule": "edges", "dense_frontier_threshold_bps": 3000}},
                       {"graph": {"generate": rmat, "weights": "f32"}, "algorithm": "sssp",
                        "outputs": {"distances": "d.npy"}},
                       {"algorithm": "pagerank", "sources": [], "outputs": {"ranks": "r.npy"},
                        "pagerank": {"damping": 0.9, "tolerance": 1e-8}, "device_memory_budget_bytes": 1 << 30},
                       {"graph": {"file": "road.mtx", "undirected": True}}):
            self.assertEqual(self.check(change), (0, {}), change)

    def test_what_is_not(self) -> None:
        for change, code, pointer in (
                ({"algorithm": "dfs"}, "unknown_name", "/algorithm"),
                ({"policy": {"switch_rule": "edge"}}, "unknown_name", "/policy/switch_rule"),
                ({"graph": {"file": "a", "generate": {}}}, "invalid_program", "/graph"),
                ({"graph": {"generate": {"grid": {"width": 3}}}}, "missing_key", "/graph/generate/grid"),
                ({"graph": {"generate": {"grid": {"width": 3, "height": 2}}}, "sources": [6]}, "out_of_range", "/sources/0"),
                ({"sources": []}, "invalid_program", "/sources"),
                ({"outputs": {"ranks": "r.npy"}}, "invalid_program", "/outputs/ranks"),
                ({"outputs": {"levels": "a.npy", "parents": "./a.npy"}}, "invalid_program", "/outputs/parents"),
                ({"outputs": {"levels": "road.mtx"}}, "invalid_program", "/outputs/levels")):
            rc, error = self.check(change)
            self.assertEqual((rc, error["code"], error["pointer"]), (3, code, pointer), change)

    def test_what_the_files_say(self) -> None:
        """All that a run would refuse for what a graph's file holds, or for where outputs go."""
        self.file("words.el", "once upon a time")
        for change, refused in (
                ({"graph": {"file": "no.mtx"}}, (3, "cannot_read", "/graph/file", f"cannot read {self.folder}/no.mtx: No such file or directory")),
                ({"sources": [0, 4]}, (3, "out_of_range", "/sources/1", "the source is 4, and the vertices of the graph are 0 to 3")),
                ({"outputs": {"levels": "no/levels.npy"}},
                 (4, "cannot_write", "/outputs/levels", f"cannot write {self.folder}/no/levels.npy: No such file or directory")),
                ({"algorithm": "sssp", "outputs": {"distances": "d.npy"}},
                 (3, "bad_graph", None, "the edge from 3 to 1 has the weight -2; weights must not be negative")),
                ({"graph": {"file": "words.el"}}, (3, "bad_graph", None, 'unknown graph format; the first line is "once upon a time"'))):
            rc, error = self.check(change)
            self.assertEqual((rc, error["code"], error.get("pointer"), error["message"]), refused)
        self.assertEqual(self.check({"graph": {"file": "road.mtx"}}), (0, {}))
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["program.json", "road.mtx", "words.el"])

    def test_paths_stay_in_the_folder(self) -> None:
        elsewhere = tempfile.NamedTemporaryFile(suffix=".mtx")
        self.addCleanup(elsewhere.close)
        Path(elsewhere.name).write_bytes(TRIANGLE)
        for change, pointer in (({"graph": {"file": elsewhere.name}}, "/graph/file"),
                                ({"outputs": {"levels": "/tmp/levels.npy"}}, "/outputs/levels")):
            rc, error = self.check(change)
            self.assertEqual((rc, error["code"], error["pointer"]), (3, "outside_folder", pointer))
            self.assertEqual(self.check(change, "--allow-outside"), (0, {}))


if __name__ == "__main__":
    unittest.main()
