"""tidegate init: programs that run as they are written, and which placeholders they report."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from support import EXAMPLES, REPOSITORY, run
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

    def test_text(self) -> None:
        (self.folder / "add.cl").write_text("""kernel void add(global const float* a, global float* b, float by, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] + by;
}
kernel void twice(global float* b) { b[get_global_id(0)] *= 2; }
""")
        result = run("init", str(self.folder / "add.cl"), "-o", str(self.folder / "p.json"))
        self.assertEqual((result.rc, result.stdout), (0, ""))
        self.assertEqual(result.stderr, f"""tidegate: {self.folder}/p.json runs as it is; to fill in:
  /buffers/a: placeholder: count, init
  /buffers/b: placeholder: count, init
  /waves/0: placeholder: global_size
  /waves/0/args/2: by: placeholder
  /waves/0/args/3: n: placeholder, the extent of the range
  /waves/1: placeholder: global_size
""")
        quiet = run("init", "-q", str(self.folder / "add.cl"), "-o", str(self.folder / "q.json"))
        self.assertEqual((quiet.rc, quiet.stdout, quiet.stderr), (0, "", ""))
        self.assertEqual((self.folder / "q.json").read_text(), (self.folder / "p.json").read_text())
        self.assertEqual((self.folder / "p.json").read_text(), """{
  "kind": "wave_program",
  "schema_version": 1,
  "buffers": {
    "a": {"type": "f32", "count": 2048, "init": {"random": {"seed": 1}}, "note": "placeholder: count, init"},
    "b": {
      "type": "f32",
      "count": 2048,
      "init": {"random": {"seed": 1}},
      "output": "b.npy",
      "note": "placeholder: count, init"
    }
  },
  "ops": {"add": {"source": "add.cl"}, "twice": {"source": "add.cl"}},
  "waves": [
    {
      "op": "add",
      "global_size": 1024,
      "args": [
        {"buffer": "a"},
        {"buffer": "b"},
        {"f32": 1, "note": "by: placeholder"},
        {"i32": 1024, "note": "n: placeholder, the extent of the range"}
      ],
      "note": "placeholder: global_size"
    },
    {"op": "twice", "global_size": 1024, "args": [{"buffer": "b"}], "note": "placeholder: global_size"}
  ],
  "note": "a draft: every note names placeholder values"
}
""")
        self.assertEqual(run("check", str(self.folder / "p.json")).rc, 0)

    def test_a_program_is_replaced_by_force_alone(self) -> None:
        source = str(self.folder / "one.cl")
        Path(source).write_text("kernel void one(global float* a) { a[get_global_id(0)] = 1; }")
        program = self.folder / "p.json"
        program.write_text("mine")
        refused = run("init", source, "-o", str(program))
        self.assertEqual((refused.rc, refused.stdout), (2, ""))
        self.assertIn("p.json\" is there already [invalid_usage]\n  fix: name another file, or give --force", refused.stderr)
        self.assertEqual(program.read_text(), "mine")
        self.assertEqual(run("init", "-q", "--force", source, "-o", str(program)).rc, 0)
        self.assertIn("one", json.loads(program.read_text())["ops"])

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
        kernel = str(self.folder / "k.cl")
        kept = run("init", kernel, "-o", kernel)
        self.assertEqual(kept.rc, 2)
        self.assertIn("kernel void k", (self.folder / "k.cl").read_text())
        missing = run("init", *(str(self.folder / name) for name in ("none.cl", "no.cl")), "-o", str(self.folder / "p"))
        self.assertEqual((missing.rc, missing.stderr), (3, "".join(
            f"tidegate: error: cannot read {self.folder}/{name}: No such file or directory [cannot_read]\n"
            "  fix: name a file of OpenCL C\n" for name in ("none.cl", "no.cl"))))
        told = run("init", str(self.folder / "none.cl"), "-o", str(self.folder / "p"), "--errors", "json")
        self.assertEqual(json.loads(told.stderr)["source"], str(self.folder / "none.cl"))
        # A source where a program is expected.
        mistaken = run("run", kernel)
        self.assertEqual(mistaken.rc, 3)
        self.assertIn(f"  fix: `tidegate init {kernel}` writes a program for the kernels of a source\n", mistaken.stderr)

    def test_corpus_is_planned(self) -> None:
        """Every kernel of the corpus becomes a program without an error."""
        self.assertGreater(len(SOURCES), 50)
        shutil.copytree(REPOSITORY / "tests" / "corpus" / "ops", self.folder / "ops")
        for source in SOURCES:
            with self.subTest(source.name):
                options = [f"--options={OPTIONS[source.stem]}"] if source.stem in OPTIONS else []
                path = self.draft(*options, str(self.folder / "ops" / source.name), output=f"ops/{source.stem}.json")
                result = run("run", "--dry-run", str(path))
                self.assertEqual(result.rc, 0, result.stderr)

    def test_some_run(self) -> None:
        for source in (EXAMPLES / "programs" / "life" / "life.cl", EXAMPLES / "programs" / "queue" / "queue.cl", EXAMPLES / "programs" / "mlp" / "mlp.cl",
                       REPOSITORY / "tests" / "corpus" / "ops" / "saxpy.cl",
                       REPOSITORY / "tests" / "corpus" / "ops" / "scan.cl"):
            with self.subTest(source.name):
                shutil.copy(source, self.folder)
                path = self.draft(str(self.folder / source.name), output=f"{source.stem}.json")
                result = run("run", "--verify", "--strategy", "launch", str(path), env=environment())
                self.assertEqual(result.rc, 0, result.stderr)
                self.assertTrue(json.loads(result.stdout)["output_parity"]["equal"])


if __name__ == "__main__":
    unittest.main()
