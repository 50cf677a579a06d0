"""tidegate run on frontier programs: the examples, all topologies alike, waves, and what is refused.

Kernels of traversals take a CPU's driver seconds to compile, once for an algorithm and its options: the tests share them.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from support import EXAMPLES, PATIENCE, Document, binary, catches_interrupts, run

TOPOLOGIES = ["sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"]
RMAT: Document = {"rmat": {"scale": 9, "edge_factor": 8, "seed": 3}}


class Graphs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tidegate-graphs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, program: Document) -> str:
        path = self.folder / "program.json"
        path.write_text(json.dumps(program))
        return str(path)

    def traverse(self, program: Document, *options: str, code: int = 0, env: dict[str, str] | None = None) -> Any:
        strategy = [] if "--strategy" in options else ["--strategy", "launch"]
        done = run("run", self.write(program), *strategy, *options, env=env)
        self.assertEqual(done.rc, code, done.stderr)
        return json.loads(done.stdout)

    def refused(self, program: Document, *options: str, code: int, env: dict[str, str] | None = None) -> Any:
        done = run("run", self.write(program), "--errors", "json", "-o", str(self.folder / "report.json"), *options,
                   env=env)
        self.assertEqual(done.rc, code, done.stderr)
        return json.loads(done.stderr)

    def words(self, name: str) -> tuple[int, ...]:
        """Words of an output that is raw bytes."""
        data = (self.folder / name).read_bytes()
        return struct.unpack(f"<{len(data) // 4}I", data)


def bfs(**rest: Any) -> Document:
    return {"graph": {"generate": RMAT}, "algorithm": "bfs", "sources": [5],
            "outputs": {"levels": "levels.bin", "parents": "parents.bin"}, **rest}


class Runs(Graphs):
    def test_examples(self) -> None:
        for example in sorted((EXAMPLES / "graphs").glob("*.json")):
            with self.subTest(example=example.name):
                program = json.loads(example.read_text())
                if isinstance(program["algorithm"], dict):
                    shutil.copy(EXAMPLES / "graphs" / program["algorithm"]["source"], self.folder)
                report = self.traverse(program, "--verify")
                self.assertEqual(report["status"], "done")
                self.assertTrue(report["verification"]["right"])
                for output in program["outputs"].values():
                    self.assertTrue((self.folder / output).read_bytes().startswith(b"\x93NUMPY"))
                self.assertEqual(report["files_written"], [
                    {"file": str(self.folder / output), "what": name, "bytes": (self.folder / output).stat().st_size}
                    for name, output in program["outputs"].items()])

    def test_long_rows(self) -> None:
        """A hub that is the source, one that is found, and one with a run more; groups of several work-items take them."""
        edges = [(0, v) for v in range(1, 1500)] + [(3, v) for v in range(1500, 2600)] + [(1400, v) for v in range(2600, 7000)]
        (self.folder / "hubs.el").write_text("".join(f"{u} {v}\n" for u, v in edges))
        program = bfs(graph={"file": "hubs.el", "undirected": True}, sources=[0])
        for topology in [None, "sparse_frontier", "hybrid_frontier"]:
            forced = ["--set", f"tuning.force-topology={topology}"] if topology else []
            report = self.traverse(program, "--strategy", "barrier", "--set", "tuning.group-size=32", "--verify", *forced)
            self.assertTrue(report["verification"]["right"])
            self.assertEqual([wave["vertices"] for wave in report["waves"]], [1, 1499, 5500])

    def test_topologies_are_alike(self) -> None:
        levels = set()
        for topology in [None, *TOPOLOGIES]:
            report = self.traverse(bfs(), *(["--set", f"tuning.force-topology={topology}"] if topology else []), "--verify")
            if topology:
                self.assertEqual({wave["topology"] for wave in report["waves"]}, {topology})
                self.assertEqual({wave["rule"] for wave in report["waves"]}, {"forced"})
            levels.add(self.words("levels.bin"))
            self.assertEqual(report["verification"]["checks"],
                             ["levels_by_serial", "parents_by_property"])
        self.assertEqual(len(levels), 1)

    def test_numbers_of_each_wave(self) -> None:
        report = self.traverse(bfs(policy={"switch_rule": "density"}))
        waves = report["waves"]
        self.assertEqual(report["switch_rule"], "density")
        self.assertEqual(report["semiring"], "any_secondi")
        self.assertEqual([wave["wave"] for wave in waves], list(range(len(waves))))
        self.assertEqual(waves[0]["vertices"], 1)
        self.assertEqual(waves[0]["density_bps"], 10000 // 512)
        self.assertEqual(waves[0]["unexplored_edges"], report["graph"]["edges"])
        for before, wave in zip(waves, waves[1:]):
            self.assertEqual(wave["unexplored_edges"], before["unexplored_edges"] - before["frontier_edges"])
        reached = sum(level != 2**32 - 1 for level in self.words("levels.bin"))
        self.assertEqual(sum(wave["vertices"] for wave in waves), reached)

    def test_far_vertices_outlast_refills_that_find_nothing(self) -> None:
        """Of 1, 2 and 3, put off at 100, 110 and 200, the first is worked on before its turn: the first refill finds nothing, the
        second finds 2 and puts 3 off for a third. Many short edges elsewhere keep the bound of the near narrow."""
        edges = [(0, 1, 100), (0, 2, 110), (0, 3, 200), (0, 4, 0), (4, 1, 0), (3, 5, 1)]
        edges += [(a, b, 1) for a in range(6, 96) for b in range(6, 96) if a != b]
        (self.folder / "far.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n96 96 " + f"{len(edges)}\n" +
                                             "".join(f"{a + 1} {b + 1} {w}\n" for a, b, w in edges))
        self.traverse({"graph": {"file": "far.mtx"}, "algorithm": "sssp", "sources": [0],
                       "outputs": {"distances": "distances.bin"}}, "--set", "tuning.force-topology=sparse_frontier", "--verify")
        self.assertEqual(self.words("distances.bin")[:6], (0, 0, 110, 200, 0, 201))

    def test_one_launch_makes_the_same_choices(self) -> None:
        launches = self.traverse(bfs())["waves"]
        persistent = self.traverse(bfs(), "--strategy", "barrier", "--workers", "1", "--verify")
        self.assertEqual(persistent["strategy"], "barrier")
        self.assertEqual(persistent["telemetry"]["kernel_launches"], 1)
        self.assertEqual(persistent["waves"], launches)

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
        ranks = [rank for rank, in struct.iter_unpack("f", (self.folder / "ranks.bin").read_bytes())]
        self.assertEqual(report["answer"]["top"][0], {"vertex": ranks.index(max(ranks)), "rank": max(ranks)})
        report = self.traverse({**program, "pagerank": {"max_iterations": 3}}, "--verify")
        self.assertEqual((report["converged"], len(report["waves"])), (False, 3))
        self.assertGreater(report["verification"]["allowed_change"], report["rank_change"])
        self.assertEqual(report["warnings"], [{
            "message": f"the ranks have not converged after 3 iterations: the last changed them by {report['rank_change']:.3g} in sum, "
                       "and the tolerance is 1e-06",
            "fix": "raise max_iterations, or the tolerance: ranks have 24 bits", "pointer": "/pagerank"}])
        done = run("run", str(self.folder / "program.json"), "--strategy", "launch", "--errors", "json")
        self.assertIn("the ranks have not converged after 3 iterations", json.loads(done.stderr)["message"])
        table = run("run", str(self.folder / "program.json"), "--strategy", "launch", "--format", "table", "--set", "require-convergence=yes")
        self.assertEqual((table.rc, "[not_converged]" in table.stderr), (1, True))
        self.assertIn("converged  NO: the last iteration changed the PageRank values by", table.stdout)

    def test_an_algorithm_and_a_graph(self) -> None:
        """They need no document; the vertices are counted as the file counts."""
        graph = self.folder / "path.txt"
        graph.write_text("0 1\n1 2\n")
        done = run("run", "bfs", str(graph), "--set", "source=1", "--strategy", "launch")
        self.assertEqual(json.loads(done.stdout)["answer"], {"reached": 2, "distance": 1.0, "farthest": 2}, done.stderr)
        for words in (["bfx", str(graph)], ["bfs", str(graph)], ["bfs", str(graph), "--set", "source=3"], ["p.json", "--set", "source=1"]):
            self.assertIn(run("run", *words, "--dry-run").rc, (2, 3))
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
            (self.folder / "program.json").write_text(json.dumps(program))
            requests = [{"id": 1}, {"id": 2, "set": {"/graph/ids": "position"}}, {"id": 3, "set": {"/sources": [5]}}, {"id": 4, "set": {"/sources": [6]}}]
            done = run("run", "--stream", str(self.folder / "program.json"), "--strategy", "launch", input="".join(json.dumps(r) + "\n" for r in requests))
            first, second, third, fourth = (json.loads(line) for line in done.stdout.splitlines())
            self.assertEqual(first["answer"], answer)
            by_position = {"reached": 5, "distance": 4.0, "farthest": 0}
            self.assertEqual((second["answer"], second["graph"]["ids"], second["graph"]["first_id"]), (by_position, "position", 0))
            self.assertEqual(third["answer"], {**by_position, "farthest": 1})
            self.assertEqual(fourth["error"]["message"], "the source is 6, and the vertices of the graph are 1 to 5")
            self.assertEqual(struct.unpack("<5I", (self.folder / "levels.bin").read_bytes()), (4, 3, 2, 1, 0))

    def test_compact_ids(self) -> None:
        """Sources, report and the output `ids` have the file's numbers; a list that counts from 1 is not compacted without a word."""
        (self.folder / "far.txt").write_text("7000000000 1\n1 40\n9 9\n")
        program = {"graph": {"file": "far.txt", "ids": "compact"}, "algorithm": "bfs", "sources": [7000000000],
                   "outputs": {"levels": "levels.bin", "ids": "ids.bin"}}
        report = self.traverse(program, "--verify")
        self.assertEqual(report["answer"], {"reached": 3, "distance": 2.0, "farthest": 40})
        self.assertEqual((report["graph"]["vertices"], report["graph"]["ids"], report["warnings"]), (4, "compact", []))
        self.assertEqual(self.words("levels.bin"), (1, 2**32 - 1, 2, 0))
        self.assertEqual(struct.unpack("<4Q", (self.folder / "ids.bin").read_bytes()), (1, 9, 40, 7000000000))
        self.assertEqual(self.refused({**program, "sources": [2]}, code=3)["message"], "the source is 2, which is in no edge of the file")
        (self.folder / "one.txt").write_text("1 2\n2 3\n")
        report = self.traverse({"graph": {"file": "one.txt"}, "algorithm": "cc"})
        self.assertEqual(report["answer"]["components"], 2)
        self.assertEqual([warning["message"] for warning in report["warnings"]],
                         ["the list of edges counts its vertices from 1; a vertex without edges, 0, is part of the graph"])

    def test_table(self) -> None:
        done = run("run", self.write(bfs()), "--strategy", "launch", "--format", "table", "--verify", "--compare", "2")
        self.assertEqual(done.rc, 0, done.stderr)
        for word in ["(counted from 0)", "the same launches as a launch for each step", "bfs of 512 vertices and 4096 edges", "edges a second", "the widest is wave ", "result    verified by ", "answer    ", " of 512 vertices reached, the farthest at ",
                     f"{self.folder}/levels.bin: levels, 2 KiB"]:
            self.assertIn(word, done.stdout)

    def test_verbose(self) -> None:
        done = run("run", self.write(bfs()), "--strategy", "launch", "--verify", "-v")
        self.assertEqual(done.rc, 0, done.stderr)
        told = [re.sub("^tidegate: |(, wave [0-9]+)?, [0-9.]+ s$", "", line) for line in done.stderr.splitlines()]
        self.assertEqual(list(dict.fromkeys(told)),  # a busy machine takes longer, and what takes long is told again
                         ["asking the device", "loading the graph", "building kernels", "filling device memory",
                          "running the waves", "reading the outputs back", "verifying the result", "writing the outputs"])

    def test_dry_run_tells_the_memory(self) -> None:
        report = json.loads(run("run", self.write(bfs()), "--dry-run").stdout)
        self.assertEqual(report["status"], "planned")
        self.assertEqual(sum(part["bytes"] for part in report["memory"]["parts"]), report["memory"]["bytes"])
        self.assertFalse((self.folder / "levels.bin").exists())

    def test_memory_decides(self) -> None:
        memory = json.loads(run("run", self.write(bfs()), "--dry-run").stdout)["memory"]
        report = self.traverse(bfs(device_memory_budget_bytes=memory["full_bytes"]), "--verify")
        self.assertEqual({wave["rule"] for wave in report["waves"]}, {"memory_pressure"})
        self.assertTrue(report["memory"]["constrained"])


class Refusals(Graphs):
    def test_budget(self) -> None:
        error = self.refused(bfs(device_memory_budget_bytes=1000), code=1)
        self.assertEqual(error["code"], "device_out_of_memory")
        self.assertEqual(error["available"], 1000)
        self.assertIn("the budget is 1000 bytes: graph ", error["message"])

    def test_source_out_of_range(self) -> None:
        error = self.refused(bfs(sources=[512]), code=3)
        self.assertEqual((error["code"], error["pointer"]), ("out_of_range", "/sources/0"))

    def test_unwritable_output(self) -> None:
        error = self.refused(bfs(outputs={"levels": "nowhere/levels.npy"}), code=4)
        self.assertEqual((error["code"], error["pointer"]), ("cannot_write", "/outputs/levels"))

    def test_paths_stay_in_the_folder(self) -> None:
        error = self.refused(bfs(outputs={"levels": "../levels.npy"}), code=3)
        self.assertEqual((error["code"], error["pointer"]), ("outside_folder", "/outputs/levels"))

    def test_options_of_the_other_kind(self) -> None:
        for option in (("--set", "tuning.mode=jit"), ("--set", "tuning.promote=all"), ("--check", "halos")):
            error = self.refused(bfs(), *option, code=2)
            self.assertIn(f"{' '.join(option[:2]).split('=')[0]} does not apply to frontier programs: ", error["message"])
        done = run("run", "-", "--set", "tuning.force-topology=fused_dense", input="{}")
        self.assertEqual(done.rc, 2)
        self.assertIn("--set tuning.force-topology does not apply to wave programs: only graphs have topologies", done.stderr)

    ENDLESS: Document = {"graph": {"generate": RMAT}, "algorithm": "pagerank", "outputs": {"ranks": "ranks.bin"},
                         "pagerank": {"tolerance": 1e-30, "max_iterations": 2**32 - 1}}

    def test_wall_time(self) -> None:
        error = self.refused(self.ENDLESS, "--strategy", "launch", "--max-wall-time", "1", code=1)
        self.assertEqual(error["code"], "wall_time_exceeded")
        self.assertFalse((self.folder / "ranks.bin").exists())

    def test_interrupt(self) -> None:
        command = [binary(), "run", self.write(self.ENDLESS), "--strategy", "launch", "--max-wall-time", "300"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while not catches_interrupts(process.pid):  # from then on, whatever it is doing, it ends in order
                self.assertIsNone(process.poll())
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, errors)
        self.assertFalse((self.folder / "ranks.bin").exists())


if __name__ == "__main__":
    unittest.main()
