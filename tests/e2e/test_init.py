"""tidegate init: drafts, and which placeholders they report."""

import json
from pathlib import Path

from support import Programs, copy_tracked, run

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
