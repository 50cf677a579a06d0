"""tidegate run: mistakes that only a device shows, and what cannot be read or written (tests/app/transcripts/programs.txt has the others)."""

from __future__ import annotations

import copy
import json
import unittest
from collections.abc import Callable

from support import Document, Result, run, unplaced
from test_run import Programs, npy

OPS = """kernel void twice(global const uint* a, global uint* b, uint n) {
  size_t i = get_global_id(0);
  if (i < n) b[i] = 2u * a[i];
}
kernel void summed(global uint* x, local uint* room, float4 weights) {}
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global uint* x) {}
kernel void picture(global uint* x, pipe int numbers) {}
"""

SOUND: Document = {
    "buffers": {"first": {"type": "u32", "count": 8, "init": {"iota": {}}},
                "second": {"type": "u32", "count": 8, "output": "second.npy"},
                "floats": {"type": "f32", "count": 8, "output": "floats.npy"},
                "bytes": {"type": "u8", "count": 6}},
    "ops": {name: {"source": "ops.cl"} for name in ("twice", "summed", "eight", "picture")},
    "waves": [{"name": "one", "op": "twice", "global_size": [8], "local_size": [8],
               "args": [{"buffer": "first"}, {"buffer": "second"}, {"u32": 8}]}]}

Change = Callable[[Document], object]


def at_top(**keys: object) -> Change:
    return lambda program: program.update(keys)


def in_wave(**keys: object) -> Change:
    return lambda program: program["waves"][0].update(keys)


def only(op: str, *args: Document, source: str = "ops.cl", options: str = "", local: int = 8) -> Change:
    """A program of one wave: `op` over 8 work-items."""
    return at_top(ops={op: {"source": source, "options": options}},
                  waves=[{"op": op, "global_size": [8], "local_size": [local], "args": list(args)}])


SECOND = {"buffer": "second"}
ON_DEVICE = ("--strategy", "launch")


class Mistakes(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)

    def result_of(self, change: Change, *args: str) -> Result:
        """Without arguments planned only: no device is touched."""
        program = copy.deepcopy(SOUND)
        change(program)
        result = self.run_document(program, *(args or ("--dry-run",)))
        self.assertEqual(result.stdout, "")
        self.assertFalse((self.folder / "second.npy").exists() and not args, "an output in spite of the error")
        return result

    def refused(self, change: Change, text: str, *args: str, rc: int = 3) -> None:
        """`text` is all of standard error, with FOLDER for the program's folder."""
        result = self.result_of(change, *args)
        self.assertEqual(unplaced(result.stderr).replace(str(self.folder), "FOLDER"), text)
        self.assertEqual(result.rc, rc)

    def at(self, change: Change, code: str, pointer: str | None, *parts: str, args: tuple[str, ...] = (),
           rc: int = 3, source: str = "program.json", line: int | None = None) -> None:
        """Code and place of the error; message and fix hold the parts."""
        result = self.result_of(change, *(args or ("--dry-run",)), "--errors", "json")
        error = json.loads(result.stderr)
        self.assertEqual((result.rc, error["code"], error.get("pointer"), error.get("source")),
                         (rc, code, pointer, str(self.folder / source)), result.stderr)
        if line is not None:
            self.assertEqual(error["line"], line, result.stderr)
        for part in parts:
            self.assertIn(part, error["message"] + "\n" + error["fix"])
        self.assertTrue(error["fix"])


class Sources(Mistakes):
    def source(self, text: str) -> Change:
        self.file("f.cl", text)
        return only("f", SECOND, source="f.cl")

    def test_what_only_the_device_sees(self) -> None:
        """An error of the input, at the user's column, whichever kernel was built."""
        change = self.source("kernel void f(global uint* x) {\n  x[0] = 1u;\n\tx[1] = /* größe */ nothing_here;\n}\n")
        for strategy in ("launch", "barrier"):
            result = self.result_of(change, "--strategy", strategy)
            self.assertEqual(result.rc, 3)
            text = result.stderr.replace(str(self.folder), "FOLDER")
            self.assertEqual(text[:text.index("  log:\n")], """\
tidegate: FOLDER/f.cl:3:21: error: use of undeclared identifier 'nothing_here' [kernel_source]
  3 |  x[1] = /* größe */ nothing_here;
    |                     ^
  fix: correct the kernel
""")
            error = json.loads(self.result_of(change, "--strategy", strategy, "--errors", "json").stderr)
            log = error.pop("log")
            self.assertEqual(error, {
                "code": "kernel_source", "message": "use of undeclared identifier 'nothing_here'",
                "fix": "correct the kernel", "source": str(self.folder / "f.cl"), "line": 3, "column": 21,
                "excerpt": "\tx[1] = /* größe */ nothing_here;"})
            self.assertIn("undeclared identifier 'nothing_here'", log)
            self.assertFalse((self.folder / "second.npy").exists())

    def test_in_an_included_file(self) -> None:
        self.file("f.h", "\nuint h(uint n) { return n + 1u }\n")
        change = self.source('#include "f.h"\nkernel void f(global uint* x) { x[0] = h(1u); }\n')
        for strategy in ("launch", "barrier"):
            self.at(change, "kernel_source", None, "expected ';'", args=("--strategy", strategy), source="f.h", line=2)

    def test_function_without_a_body(self) -> None:
        change = self.source("uint h(uint n);\nkernel void f(global uint* x) { x[0] = h(1u); }\n")
        for strategy in ("launch", "barrier"):
            self.at(change, "kernel_source", None, "the compiler of the device refuses this source", "its log says why",
                    args=("--strategy", strategy), source="f.cl")

    def test_options_that_the_compiler_does_not_know(self) -> None:
        self.file("f.cl", "kernel void f(global uint* x) { x[0] = 1u; }\n")
        for strategy in ("launch", "barrier"):
            self.at(only("f", SECOND, source="f.cl", options="-cl-foo"), "kernel_options", "/ops/f/options",
                    'the compiler of the device refuses the options "-cl-foo"\nremove the options that it does not support',
                    args=("--strategy", strategy))

class Limits(Mistakes):
    def test_local_memory(self) -> None:
        """More than the device has is an error of the wave, not of the driver."""
        result = self.result_of(only("summed", SECOND, {"local_bytes": 2**33}, {"f32": [1, 2, 3, 4]}), *ON_DEVICE)
        self.assertIn(result.rc, (1, 3, 4))
        self.assertNotIn("driver_crash", result.stderr)

    def test_work_group_size(self) -> None:
        """PoCL takes 4096 work-items."""
        result = self.result_of(in_wave(global_size=[2**20], local_size=[2**20]), *ON_DEVICE)
        self.assertEqual(result.rc, 3)
        self.assertIn("[out_of_range]", result.stderr)
        self.assertIn("/waves/0/local_size", result.stderr)


class Outputs(Mistakes):
    def test_no_folder(self) -> None:
        self.refused(lambda program: program["buffers"]["second"].update(output="no/such/x.npy"),
                     "tidegate: FOLDER/program.json: error: cannot write FOLDER/no/such/x.npy: No such file or "
                     "directory [cannot_write]\n"
                     "  at: /buffers/second/output\n"
                     "  fix: name a file in a folder that you may write to\n", *ON_DEVICE, rc=4)

if __name__ == "__main__":
    unittest.main()
