"""tidegate export: the folder is built by `make` and gives the bytes that a run gave, without tidegate."""

import json
import subprocess
from pathlib import Path
from typing import Any

from support import PATIENCE, Document, run, unplaced, wave
from test_run_phases import Small, phases_program


class Export(Small):
    def exported(self, document: Document, *options: str) -> Path:
        program = self.written(document)
        folder = self.folder / "exported folder"
        result = run("export", program, "-o", str(folder), "--force", *options)
        self.assertEqual((result.rc, result.stderr), (0, ""))
        written = {Path(file["file"]).name for file in json.loads(result.stdout)["files_written"]}
        self.assertLessEqual({"kernel.cl", "program.h", "main.c", "Makefile"}, written)
        return folder

    def test_same_bytes(self) -> None:
        """Waves before, in and after the repetition, a swap, a condition, progressions, fills and copies."""
        ways = ((phases_program(5), "barrier", 5), (phases_program(4), "counters", 4), (phases_program(None), "barrier", 5))
        for document, strategy, iterations in ways:
            folder = self.exported(document, "--strategy", strategy)
            built = subprocess.run(["make", "-s", "CFLAGS=-O1 -Wall -Wextra -Werror"], cwd=folder, capture_output=True,
                                   text=True, timeout=PATIENCE)
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            ran = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertIn(f"exported folder: {iterations} iterations", ran.stdout)
            for made in sorted(folder.glob("*.npy")):
                self.assertEqual(made.read_bytes(), (self.folder / made.name).read_bytes(), (strategy, made.name))
            self.assertEqual(len(list(folder.glob("*.npy"))), len(document["buffers"]) - 1)

    def test_other_device(self) -> None:
        folder = self.exported(phases_program(5))
        subprocess.run(["make", "-s"], cwd=folder, check=True, timeout=PATIENCE)
        ran = subprocess.run(["./program", "99"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("no such device: --list shows what there is", ran.stderr)

    def refused(self, document: Document, text: str, *options: str, code: int) -> None:
        program = self.written(document)
        result = run("export", program, *options)
        self.assertEqual((result.rc, result.stdout), (code, ""))
        self.assertEqual(unplaced(result.stderr).replace(str(self.folder), "F"), text)

    def test_errors(self) -> None:
        """"new/.." is the folder itself, also where "new" is yet to be made."""
        self.refused(phases_program(5), "tidegate: error: export writes a folder, and none is named [invalid_usage]\n"
                     "  fix: give -o FOLDER\n", code=2)
        for folder in ("", "/new/.."):
            self.refused(phases_program(5), f'tidegate: error: "F{folder}" is not empty [invalid_usage]\n'
                         "  fix: name another folder, or give --force to replace an earlier export\n", "-o", f"{self.folder}{folder}", code=2)
        self.file("picture.cl", "kernel void paint(write_only image2d_t p) "
                  "{ write_imagef(p, (int2)(get_global_id(0), 0), (float4)(0.5f)); }")
        images: dict[str, Any] = {"p": {"format": "rgba_unorm8", "size": [8, 1], "output": "p.npy"}}
        self.refused({"buffers": {}, "images": images, "ops": {"paint": {"source": "picture.cl"}}, "waves": [wave("paint", {"image": "p"}, size=8, local=8)]},
                     'tidegate: F/program.json: error: "p" is an image [cannot_export]\n'
                     "  fix: export a program whose waves use buffers alone\n", "-o", str(self.folder / "new"), code=1)
        self.assertFalse((self.folder / "new").exists())
