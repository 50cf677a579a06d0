"""`tidegate run --stream`: requests of all kinds, failures among them, and its Python example."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from support import EXAMPLES, PATIENCE, Document, Programs, binary, buffer, program, run, wave

KERNEL = "kernel void copied(global const uint* x, global uint* y, uint plus) {\n" \
         "  y[get_global_id(0)] = x[get_global_id(0)] + plus;\n}\n"
PROGRAM = program({"x": buffer(count=64, init={"fill": 1}), "y": buffer(count=64, output="y.raw")}, wave("copied", "x", "y", 5, size=64, local=64))
GRAPH = {"graph": {"generate": {"grid": {"width": 30, "height": 20}}}, "algorithm": "bfs", "sources": [0], "outputs": {"levels": "levels.npy"}}


class RunStream(Programs):
    sources = {"ops.cl": KERNEL}

    def setUp(self) -> None:
        super().setUp()
        self.program, self.graph = self.written(PROGRAM), self.written(GRAPH, "graph.json")
        while time.time() < (self.folder / "ops.cl").stat().st_ctime + 0.03:  # sources that have just changed are not kept
            pass

    def test_requests_and_failures(self) -> None:
        requests: list[object] = [
            {"id": 1},
            {"id": "two", "set": {"/buffers/x/init/fill": 7}},
            {"id": 3, "set": {"/waves/0/args/2/u32": 6, "/buffers/y/output": "z.raw"}},
            {"id": 4, "set": {"/buffers/nothing/count": 6}},
            {"id": 5, "set": {"/buffers/y/output": "../y.raw"}},
            {"id": 6, "program": "missing.json"},
            {"id": 7, "sett": {}},
            {"id": 8, "program": self.graph, "set": {"/sources": [600]}},
            {"id": 9, "program": self.graph},
            {"program": self.graph, "set": {"/sources": [7]}},
            {"id": 11, "set": {"/buffers/x/count": "many"}},
            {"id": 12},
            {"id": 13, "program": 5},
            {"id": [14]},
        ]
        answers = self.ask(requests, rc=3, told="tidegate: 14 lines, 8 failed\n")
        self.assertEqual([answer.get("id") for answer in answers], [1, "two", 3, 4, 5, 6, 7, 8, 9, None, 11, 12, 13, None])
        self.assertEqual([answer["error"]["code"] if "error" in answer else answer["kind"] for answer in answers],
                         ["run_report"] * 3 + ["unknown_name", "outside_folder", "cannot_read", "unknown_key", "out_of_range"]
                         + ["frontier_report"] * 2 + ["wrong_type", "run_report"] + ["wrong_type"] * 2)
        self.assertEqual(answers[3]["error"]["pointer"], "/set/~1buffers~1nothing~1count")
        self.assertEqual(answers[4]["error"]["pointer"], "/buffers/y/output")
        hits = [(answer["telemetry"]["compiled_pipeline_cache_hit"], answer["telemetry"]["resident_input_cache_hit"])
                for answer in answers if answer.get("kind") == "run_report"]
        self.assertEqual(hits[1:2] + hits[3:], [(True, False), (True, True)])
        self.assertEqual([answer["telemetry"]["resident_input_cache_hit"] for answer in answers if answer.get("kind") == "frontier_report"], [False, True])
        self.assertEqual((self.folder / "z.raw").read_bytes(), (7).to_bytes(4, "little") * 64)
        self.assertEqual((self.folder / "y.raw").read_bytes(), (6).to_bytes(4, "little") * 64)
        for answer in answers:
            name = answer.get("kind", "stream_error")
            check = run("check", name, input=json.dumps(answer))
            self.assertEqual(check.rc, 0, check.stdout)

    def test_parameters(self) -> None:
        """A request may set them, and what is made of them follows; one that is not there is an error."""
        self.written({**PROGRAM, "parameters": {"add": 4, "twice": {"parameter": "add * 2"}},
                      "waves": [wave("copied", "x", "y", {"u32": {"parameter": "twice"}}, size=64, local=64)]})
        requests = [{"set": {"/parameters/add": 5, "/buffers/y/output": "z.raw"}}, {}, {"set": {"/parameters/sub": 5}}, {"set": {"/parameters/add": "5"}}]
        answers = self.ask(requests, rc=3, told="tidegate: 4 lines, 2 failed\n")
        self.assertEqual((self.output("z.raw"), self.output("y.raw")), ([11] * 64, [9] * 64))
        self.assertEqual([answer["error"]["code"] for answer in answers[2:]], ["unknown_name", "wrong_type"])

    def test_an_error_of_the_program_has_its_line_there(self) -> None:
        """And none if the request has changed the program."""
        text = json.dumps(PROGRAM, indent=1)
        lines = text.splitlines()
        good, wrong = self.file("good.json", text), self.file("bad.json", text.replace('"u32"', '"u33"', 1))
        bad = next(i for i, line in enumerate(lines, 1) if '"u32"' in line)
        answers = self.ask([{"program": str(wrong)}, {"program": str(good), "set": {"/buffers/x/type": "u33"}}, {"program": 1}], rc=3)
        self.assertEqual([(answer["line"], answer["error"].get("line"), "column" in answer["error"],
                           answer["error"].get("source", "").rpartition("/")[2], answer["error"]["pointer"])
                          for answer in answers],
                         [(1, bad, True, "bad.json", "/buffers/x/type"), (2, None, False, "good.json", "/buffers/x/type"),
                          (3, None, True, "", "/program")])

    def ask(self, requests: list[Any], rc: int, told: str | None = None) -> list[Document]:
        result = run("run", "--stream", "--device", "cpu", "--strategy", "launch", self.program,
                     input="".join(json.dumps(request) + "\n" for request in requests))
        self.assertEqual((result.rc, result.stderr), (rc, told or result.stderr))
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_laws_are_tried_once_for_a_source(self) -> None:
        """A source that has changed is tried again."""
        good = "uint along(uint value, uint weight) { return min(value, weight + 1u); }\nuint at_source(uint vertex, uint i) { return 9u; }\n"
        source = self.file("widest.cl", good)
        graph = {**GRAPH, "algorithm": {"source": "widest.cl", "value": "u32", "merge": "max"}, "outputs": {"values": "values.npy"}}
        stream = subprocess.Popen([binary(), "run", "--stream", "-q", "--device", "cpu", self.written(graph, "own.json")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(stream.communicate)

        def ask() -> dict[str, object]:
            print("{}", file=stream.stdin, flush=True)
            return json.loads(stream.stdout.readline())

        answers = [ask(), ask()]
        self.assertEqual([answer["answer"] for answer in answers[1:]], [answers[0]["answer"]])
        source.write_text(good.replace("min(value, weight + 1u)", "~value"))
        self.assertEqual(ask()["error"]["code"], "kernel_source")
        source.write_text(good)
        self.assertEqual(ask()["answer"], answers[0]["answer"])

    def test_options_of_one_run_are_refused(self) -> None:
        for options in (["--trace", "trace.json"], ["--format", "table"], ["--dry-run"], ["--set", "require-convergence=yes"], ["bfs", "graph.mtx"]):
            self.assertEqual(run("run", "--stream", *options, input="").rc, 2, options)
        self.assertEqual(json.loads(run("run", "--stream", "--device", "cpu", input="{}\n").stdout)["error"]["code"], "missing_key")

    def test_the_example(self) -> None:
        path = os.pathsep.join([str(Path(binary()).parent), os.environ["PATH"]])
        done = subprocess.run([sys.executable, EXAMPLES / "stream.py"], env={**os.environ, "PATH": path, "TIDEGATE_DEVICE": "cpu"},
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        uploaded = [int(line.split()[2]) for line in done.stdout.splitlines()]
        self.assertEqual(len(uploaded), 3)
        self.assertLess(max(uploaded[1:]), 4096)
