"""tidegate init: drafts, and which placeholders they report."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from support import REPOSITORY, run
from test_run import environment

SOURCES = sorted((REPOSITORY / "tests" / "corpus" / "ops").glob("*.cl"))
OPTIONS = { # of sources that refuse to be without
    "opencl3": "-cl-std=CL3.0", "random_walk": "-I include",
    "options": "-I include -DNAME=k -DWIDTH=4 -DOPERATION=fmax -DBOUND=1 -DFLAG=1"}

class Init(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="tidegate-init-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def draft(self, *arguments: str, output: str = "program.json") -> Path:
        path = self.folder / output
        result = run("init", *arguments, "-o", str(path))
        self.assertEqual((result.rc, result.stdout), (0, ""), result.stderr)
        return path

    def test_paths(self) -> None:
        (self.folder / "k.cl").write_text("kernel void k(global int* a) { a[get_global_id(0)] = 1; }\n")
        (self.folder / "programs").mkdir()
        (self.folder / "programs" / "a.npy").write_bytes(b"precious")
        path = self.draft(str(self.folder / "k.cl"), output="programs/p.json")
        program = json.loads(path.read_text())
        self.assertEqual(program["ops"]["k"]["source"], "../k.cl")
        self.assertIn("outside of the program's folder", program["ops"]["k"]["note"])
        self.assertEqual(program["buffers"]["a"]["output"], "a_2.npy")
        self.assertEqual(run("run", "--dry-run", str(path)).rc, 3)
        self.assertEqual(run("run", "--dry-run", "--allow-outside", str(path)).rc, 0)

    def test_corpus_is_planned(self) -> None:
        """Every kernel of the corpus becomes a program without an error."""
        self.assertGreater(len(SOURCES), 25)
        shutil.copytree(REPOSITORY / "tests" / "corpus" / "ops", self.folder / "ops")
        for source in SOURCES:
            with self.subTest(source.name):
                options = [f"--options={OPTIONS[source.stem]}"] if source.stem in OPTIONS else []
                path = self.draft(*options, str(self.folder / "ops" / source.name), output=f"ops/{source.stem}.json")
                result = run("run", "--dry-run", str(path))
                self.assertEqual(result.rc, 0, result.stderr)

    def test_lists_of_hits(self) -> None:
        """A parameter that TIDEGATE_HIT appends to is a list, also if the source defines the macro for other compilers."""
        definition = "#ifndef TIDEGATE_HIT\n#define TIDEGATE_HIT(list, value) ((list)[16] = (value))\n#endif\n"
        for text in ("", definition):
            (self.folder / "odd.cl").write_text(text + "kernel void odd(global const uint* in, global ulong2* found) {\n"
                                                "  if (in[get_global_id(0)] % 2) TIDEGATE_HIT(found, (ulong2)(get_global_id(0), 1));\n}\n")
            path = self.draft(str(self.folder / "odd.cl"), output="odd.json")
            self.assertEqual(json.loads(path.read_text())["hits"],
                             {"found": {"type": "u64", "width": 2, "on_overflow": "grow", "sorted": True, "output": "found.npy"}})
            result = run("run", "--verify", "--strategy", "launch", str(path), env=environment())
            self.assertEqual(result.rc, 0, result.stderr)
            self.assertGreater(json.loads(result.stdout)["hits"][0]["hits"], 0)
            path.unlink()
            (self.folder / "found.npy").unlink()

if __name__ == "__main__":
    unittest.main()
