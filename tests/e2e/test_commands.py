"""Commands as processes: wrong input and output files, pictures of plans, drafts. tests/app/transcripts has the texts that they print,
tests/planning the planners.
"""

import json
import os
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

from support import Programs, Result, copy_tracked, run

REQUEST = '{"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256}'


class Errors(Programs):
    def test_streams_and_exit_codes(self) -> None:
        """Errors go to standard error alone, and the exit code is that of the worst one."""
        for arguments, input, rc, text in ((["recomend"], "", 2, "no command"), (["recommend"], "{", 3, "not JSON"),
                                           (["recommend"], REQUEST[:-1] + ', "device_memory_budget_bytes": 1}', 1, "at its peak"),
                                           (["recommend", "-o", f"{self.folder}/no/x.json"], REQUEST, 4, "cannot write")):
            result = run(*arguments, input=input)
            self.assertEqual((result.rc, result.stdout), (rc, ""))
            self.assertIn(text, result.stderr)

    def test_garbage(self) -> None:
        """100 MB that are no JSON are refused at their first byte."""
        result = run("recommend", str(self.file("garbage", bytes(range(255, 127, -1)) * 819200)))
        self.assertEqual((result.rc, result.stdout), (3, ""))
        self.assertIn(":1:1: error: not JSON: ", result.stderr)

    def test_full_disk(self) -> None:
        for arguments in (["recommend"], ["recommend", "--stream"]):
            with open("/dev/full", "wb") as full:
                result = run(*arguments, input=REQUEST, stdout=full)
            self.assertEqual(result, Result(
                4, "", "tidegate: error: cannot write standard output: No space left on device [cannot_write]\n"
                       "  fix: free some space\n"))

    def test_output_is_replaced_by_an_answer_alone(self) -> None:
        out = self.file("out.json", "old")
        self.assertEqual((run("recommend", "-o", str(out), input="{").rc, out.read_text()), (3, "old"))
        self.assertEqual(run("recommend", "-o", str(out), input=REQUEST).rc, 0)
        self.assertEqual(json.loads(out.read_text())["kind"], "launch_recommendation")
        self.assertEqual(os.listdir(self.folder), ["out.json"])


class Planning(Programs):
    def test_pictures(self) -> None:
        """Names show as they are; what no picture can hold shows as its bytes."""
        shown = {'"': '"', "two\nlines": "two\\x0alines", "波 😀": "波 😀", "<b>": "<b>", "\t\u001b[31m": "\\x09\\x1b[31m", "&amp;": "&amp;",
                 "\uffff": "\\uffff", "x" * 20 + "y" * 20: "x" * 16 + "…" + "y" * 15}
        given: Any = {"waves": [{"name": name, "frontier_bytes": i, "scratch_bytes": 0, "output_bytes": 0} for i, name in enumerate(shown)], "budget_bytes": 1000, "dependencies": []}
        arena: Any = {"buffers": [{"id": "a<b", "lower": 0, "upper": 2**63, "size": 2**61}, {"id": 7, "lower": 0, "upper": 2**64 - 1, "size": 2**62}]}
        for command, document, texts in (("plan", given, list(shown.values())), ("arena", arena, ["a<b", "7  4 EiB"])):
            result = run(command, "-o", str(self.folder / "picture.svg"), input=json.dumps(document))
            self.assertEqual(result, (0, "", ""))
            svg = xml.etree.ElementTree.parse(self.folder / "picture.svg")
            found = [element.text or "" for element in svg.iter() if element.tag.endswith("text")]
            for text in texts:
                self.assertEqual(sum(text in one for one in found) if command == "arena" else found.count(text), 1, f"{text!r} in {found}")


OPTIONS = { # of sources that refuse to be without
    "opencl3": "-cl-std=CL3.0", "random_walk": "-I include",
    "options": "-I include -DNAME=k -DWIDTH=4 -DOPERATION=fmax -DBOUND=1 -DFLAG=1"}


class Init(Programs):
    def draft(self, *arguments: str, output: str = "program.json") -> Path:
        path = self.folder / output
        result = run("init", *arguments, "-o", str(path))
        self.assertEqual((result.rc, result.stdout), (0, ""), result.stderr)
        return path

    def test_paths(self) -> None:
        self.file("k.cl", "kernel void k(global int* a) { a[get_global_id(0)] = 1; }\n")
        (self.folder / "programs").mkdir()
        self.file("programs/a.npy", "precious")
        path = self.draft(str(self.folder / "k.cl"), output="programs/p.json")
        program = json.loads(path.read_text())
        self.assertEqual(program["ops"]["k"]["source"], "../k.cl")
        self.assertIn("outside of the program's folder", program["ops"]["k"]["note"])
        self.assertEqual(program["buffers"]["a"]["output"], "a_2.npy")
        self.assertEqual(run("run", "--dry-run", str(path)).rc, 3)
        self.assertEqual(run("run", "--dry-run", "--allow-outside", str(path)).rc, 0)

    def test_corpus_is_planned(self) -> None:
        """Every kernel of the corpus becomes a program without an error."""
        sources = sorted((copy_tracked("tests/corpus", self.folder) / "ops").glob("*.cl"))
        self.assertGreater(len(sources), 20)
        for source in sources:
            with self.subTest(source.name):
                options = [f"--options={OPTIONS[source.stem]}"] if source.stem in OPTIONS else []
                path = self.draft(*options, str(source), output=f"tests/corpus/ops/{source.stem}.json")
                result = run("run", "--dry-run", str(path))
                self.assertEqual(result.rc, 0, result.stderr)
