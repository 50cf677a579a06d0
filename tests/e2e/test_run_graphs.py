"""tidegate run on frontier programs: the examples, waves, and algorithms of a program's own that break a law.

Kernels of traversals take a CPU's driver seconds to compile, once for an algorithm and its options: the tests share them.
"""

import json
import shutil
from typing import Any

from support import EXAMPLES, Document, Programs, run

RMAT: Document = {"rmat": {"scale": 9, "edge_factor": 8, "seed": 3}}


def bfs(**rest: Any) -> Document:
    return {"graph": {"generate": RMAT}, "algorithm": "bfs", "sources": [5],
            "outputs": {"levels": "levels.bin", "parents": "parents.bin"}, **rest}


class Runs(Programs):
    def traverse(self, program: Document, *options: str) -> Any:
        strategy = [] if "--strategy" in options else ["--strategy", "launch"]
        done = run("run", self.written(program), *strategy, *options)
        self.assertEqual(done.rc, 0, done.stderr)
        return json.loads(done.stdout)

    def test_examples(self) -> None:
        for example in sorted((EXAMPLES / "graphs").glob("*.json")):
            with self.subTest(example=example.name):
                program = json.loads(example.read_text())
                if isinstance(program["algorithm"], dict):
                    shutil.copy(EXAMPLES / "graphs" / program["algorithm"]["source"], self.folder)
                report = self.traverse(program, "--verify")
                self.assertEqual((report["status"], report["verification"]["right"]), ("done", True))
                for name, output in program["outputs"].items():
                    self.assertTrue((self.folder / output).read_bytes().startswith(b"\x93NUMPY"))
                    self.assertIn({"file": str(self.folder / output), "what": name}, report["files_written"])

    def test_all_groups_work_waves_in_a_row(self) -> None:
        """Groups of several work-items that meet between waves of few edges, in one launch: bfs as launch by launch. The waves of sssp
        are as its atomics fall."""
        grid: Document = {"grid": {"width": 40, "height": 60}}
        weighted: Document = {"grid": {"width": 40, "height": 60, "seed": 1, "max_weight": 9}}
        for program in (bfs(graph={"generate": grid}),
                        {"graph": {"generate": weighted, "weights": "u32"}, "algorithm": "sssp", "sources": [7],
                         "outputs": {"distances": "levels.bin"}}):
            with self.subTest(algorithm=program["algorithm"]):
                options = ["--set", "tuning.group-size=32", "--set", "tuning.alone-up-to=6", "--verify"]
                together = self.traverse(program, *options, "--strategy", "barrier")
                self.assertEqual(together["telemetry"]["kernel_launches"], 1)
                self.assertLess(together["summary"]["alone_waves"], len(together["waves"]) / 2)
                if program["algorithm"] == "bfs":
                    self.assertEqual(self.traverse(program, *options)["waves"], together["waves"])

    def test_ranks_that_have_not_converged(self) -> None:
        """Three iterations do not do: the result is what was asked for, and the report and a warning say so."""
        program: Document = {"graph": {"generate": RMAT}, "algorithm": "pagerank", "outputs": {"ranks": "ranks.bin"}}
        report = self.traverse(program, "--verify")
        self.assertEqual((report["converged"], report["warnings"]), (True, []))
        self.assertLess(report["rank_change"], 1e-6)
        ranks = self.output("ranks.bin", "f32")
        self.assertEqual(report["answer"]["top"][0], {"vertex": ranks.index(max(ranks)), "rank": max(ranks)})
        report = self.traverse({**program, "pagerank": {"max_iterations": 3}}, "--verify")
        self.assertEqual((report["converged"], len(report["waves"])), (False, 3))
        self.assertGreater(report["verification"]["allowed_change"], report["rank_change"])
        self.assertIn("the ranks have not converged after 3 iterations", report["warnings"][0]["message"])
        table = run("run", str(self.folder / "program.json"), "--strategy", "launch", "--format", "table", "--set", "require-convergence=yes")
        self.assertEqual((table.rc, "[not_converged]" in table.stderr), (1, True))
        self.assertIn("converged  NO: the last iteration changed the PageRank values by", table.stdout)

    def test_an_algorithm_and_a_graph(self) -> None:
        """They need no document; the vertices are counted as the file counts."""
        graph = self.folder / "path.txt"
        graph.write_text("0 1\n1 2\n")
        done = run("run", "bfs", str(graph), "--set", "source=1", "--strategy", "launch")
        self.assertEqual(json.loads(done.stdout)["answer"], {"reached": 2, "distance": 1.0, "farthest": 2}, done.stderr)
        done = run("run", "bfs", str(graph), "--set", "source=1", "--strategy", "launch", "--set", "undirected=yes")
        self.assertEqual(json.loads(done.stdout)["answer"], {"reached": 3, "distance": 1.0, "farthest": 0}, done.stderr)

    def test_vertices_as_the_file_counts(self) -> None:
        """A path from 5 down to 1, in a format that counts from 1: the outputs begin with the file's first vertex all the same."""
        (self.folder / "path.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n5 5 4\n5 4\n4 3\n3 2\n2 1\n")
        (self.folder / "path.graph").write_text("5 4\n2\n1 3\n2 4\n3 5\n4\n")
        for name, directed in (("path.mtx", True), ("path.graph", False)):
            answer = {"reached": 4 if directed else 5, "distance": 3.0, "farthest": 1}
            done = run("run", "bfs", str(self.folder / name), "--set", "source=4", "--strategy", "launch", "--verify")
            report = json.loads(done.stdout)
            self.assertEqual((report["answer"], report["graph"]["ids"], report["graph"]["first_id"]), (answer, "file", 1), done.stderr)
            done = run("run", "bfs", str(self.folder / name), "--set", "source=4", "--strategy", "launch", "--format", "table")
            self.assertIn(f"{answer['reached']} of 5 vertices reached, the farthest at 3: vertex 1 (as the file counts, from 1)", done.stdout)
            program = {"graph": {"file": name, "ids": "file"}, "algorithm": "bfs", "sources": [4], "outputs": {"levels": "levels.bin"}}
            self.written(program)
            requests = [{"id": 1}, {"id": 2, "set": {"/graph/ids": "position"}}, {"id": 3, "set": {"/sources": [5]}}, {"id": 4, "set": {"/sources": [6]}}]
            done = run("run", "--stream", str(self.folder / "program.json"), "--strategy", "launch", input="".join(json.dumps(r) + "\n" for r in requests))
            first, second, third, fourth = (json.loads(line) for line in done.stdout.splitlines())
            self.assertEqual(first["answer"], answer)
            by_position = {"reached": 5, "distance": 4.0, "farthest": 0}
            self.assertEqual((second["answer"], second["graph"]["ids"], second["graph"]["first_id"]), (by_position, "position", 0))
            self.assertEqual(third["answer"], {**by_position, "farthest": 1})
            self.assertEqual(fourth["error"]["message"], "the source is 6, and the vertices of the graph are 1 to 5")
            self.assertEqual(self.output("levels.bin"), [4, 3, 2, 1, 0])


class Laws(Programs):
    """What breaks a law is found, before the run or after it, and never a result without a word."""

    def refused(self, source: str, code: str, message: str, merge: str = "min", edges: str = "0 1 3\n1 2 4\n0 2 5\n2 0 1\n") -> None:
        self.file("graph.el", edges)
        self.file("own.cl", source)
        done = run("run", self.written({"graph": {"file": "graph.el"}, "algorithm": {"source": "own.cl", "value": "u32", "merge": merge},
                                        "sources": [0], "outputs": {"values": "values.npy"}}), "--errors", "json", "-q")
        error = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual(error["code"], code)
        self.assertRegex(error["message"], message)
        self.assertFalse((self.folder / "values.npy").exists())

    def test_laws_that_trials_break(self) -> None:
        self.refused("uint at_source(uint v, uint i) { return 8; }\nuint along(uint a, uint w) { return a ^ 5; }\n", "kernel_source",
                     r"^along is not monotone: the better of \d+ and \d+ leads to \d+ over the weight \d, and \d+ to \d+, ")
        self.refused("uint at_source(uint v, uint i) { return 8; }\nuint along(uint a, uint w) { return a + w; }\n"
                     "uint unreached(void) { return 0; }\nuint merge(uint a, uint b) { return a + b; }\n", "kernel_source",
                     "^merge is not idempotent:", merge="source")
        self.refused("uint at_source(uint v, uint i) { return 3; }\nbool fires(uint a) { return a % 2 == 1; }\n"
                     "uint along(uint w) { return 1; }\n", "kernel_source", r"^a vertex that fires at \d+ does not at \d+, ", merge="add")

    def test_a_law_that_no_trial_breaks_is_found_by_the_result(self) -> None:
        # Trials walk 31 edges at most. Vertex 100 first has 990 along 40 edges, which leads to 100, and then 70, which leads to 200.
        routes = [[0, *range(1, 40), 100], [0, *range(40, 99), 100]]
        weights = [[951] + [1] * 39, [1] * 59 + [11]]
        edges = "".join(f"{u} {v} {w}\n" for route, row in zip(routes, weights) for u, v, w in zip(route, route[1:], row))
        self.refused("uint at_source(uint v, uint i) { return 0; }\nuint along(uint a, uint w) { return a == 70 ? 200 : a == 990 ? 100 : a + w; }\n",
                     "outputs_differ", "^fix_point: the value of vertex 101 is 100, and from its first value and along its edges it is 200$",
                     edges=edges + "100 101 1\n")
