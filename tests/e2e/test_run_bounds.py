"""tidegate run --check-bounds: who writes beside a buffer, on which side and how far, and Oclgrind's word with the line."""

from __future__ import annotations

import pathlib
import unittest

from support import Document, parse
from test_run import Programs

OPS = """kernel void shifted(global int* a, int by) {
  int i = get_global_id(0);
  a[i + by] = i;
}
kernel void reads(global const int* a, global int* b, int by) {
  b[get_global_id(0)] = a[get_global_id(0) + by];
}
kernel void below(global const uint* a, global uint* b, uint by) {
  uint x = a[get_global_id(0)];
  b[get_global_id(0) + by] = x > by ? x - by : 0;
}
kernel void spins(global int* a, int times) {
  for (int i = 0; i < times; ++i)
    a[get_global_id(0)] = a[get_global_id(0)] * 3 + i;
}
"""
COUNT = 64
WITHOUT = {"TIDEGATE_OCLGRIND": ""}
OCLGRIND = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")


def program(by: int, repeat: int = 1) -> Document:
    return {"buffers": {"a": {"type": "i32", "count": COUNT, "init": {"fill": 0}, "output": "a.npy"},
                        "b": {"type": "i32", "count": COUNT, "init": {"fill": 0}, "output": "b.npy"}},
            "ops": {"shifted": {"source": "ops.cl"}, "reads": {"source": "ops.cl"}},
            "waves": [{"name": "first", "op": "shifted", "global_size": [COUNT], "local_size": [8],
                       "args": [{"buffer": "a"}, {"i32": 0}]},
                      {"name": "second", "op": "shifted", "global_size": [COUNT], "local_size": [8],
                       "args": [{"buffer": "b"}, {"i32": by}]}],
            "repeat": repeat}


class Bounds(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)

    def checked(self, document: Document, rc: int, *args: str, env: dict = WITHOUT) -> tuple[Document, str]:
        result = self.run_document(document, "--check-bounds", *args, env=env)
        self.assertEqual(result.rc, rc, result.stderr)
        self.assertEqual([path.name for path in self.folder.glob("*.npy")], [])
        return parse(result.stdout), result.stderr

    def test_nothing(self) -> None:
        report, _ = self.checked(program(0, repeat=3), 0)
        self.assertEqual(report["status"], "checked")
        self.assertEqual((report["bounds"]["checked_waves"], report["bounds"]["violations"]), (6, []))
        self.assertTrue(report["bounds"]["complete"])

    def test_after_and_before(self) -> None:
        for by, side, distance, text in ((1, "after", 0, "1 byte past the end of"),
                                         (-3, "before", 1, "1 byte before the start of")):
            with self.subTest(by=by):
                report, told = self.checked(program(by), 1)
                self.assertEqual((report["status"], report["error"]["code"]), ("out_of_bounds", "out_of_bounds"))
                self.assertEqual(report["bounds"]["violations"], [
                    {"wave": '"second"', "iteration": 0, "buffer": "b", "side": side, "distance_bytes": distance}])
                self.assertIn(f'"second" writes {text} "b", in iteration 0', told)

    def test_oclgrind(self) -> None:
        """A read out of bounds leaves no trace; the simulator sees it and knows the line."""
        if not OCLGRIND.exists():
            self.skipTest("Oclgrind is not installed")
        document = program(0)
        document["waves"][1] = {"name": "second", "op": "reads", "global_size": [COUNT], "local_size": [8],
                                "args": [{"buffer": "a"}, {"buffer": "b"}, {"i32": 2}]}
        report, told = self.checked(document, 1, env={})
        self.assertEqual(report["bounds"]["violations"], [])
        finding, = report["bounds"]["findings"]
        self.assertEqual((finding["kernel"], finding["line"]), ("reads", 6))
        self.assertTrue(finding["message"].startswith("Invalid read of size 4"), finding)
        self.assertRegex(told, r'Oclgrind: Invalid read of size 4 at .* in the kernel "reads", at \S*ops.cl:6')
        self.assertEqual(self.checked(program(0), 0, env={})[0]["bounds"]["simulator"], str(OCLGRIND))

    def test_a_function_that_oclgrind_lacks(self) -> None:
        """clang's optimiser makes llvm.usub.sat.i32 of a difference that stops at 0."""
        if not OCLGRIND.exists():
            self.skipTest("Oclgrind is not installed")
        for by, rc in ((0, 0), (1, 1)):
            document = program(0)
            document["buffers"] = {name: {**buffer, "type": "u32"} for name, buffer in document["buffers"].items()}
            document["ops"] = {"below": {"source": "ops.cl"}}
            document["waves"] = [{"op": "below", "global_size": [COUNT], "local_size": [8],
                                  "args": [{"buffer": "a"}, {"buffer": "b"}, {"u32": by}]}]
            report, _ = self.checked(document, rc, env={})
            self.assertEqual(report["bounds"]["simulator"], str(OCLGRIND))
            self.assertEqual([finding["line"] for finding in report["bounds"]["findings"]], [10] * by)

    def test_the_wall_time_ends_oclgrind(self) -> None:
        if not OCLGRIND.exists():
            self.skipTest("Oclgrind is not installed")
        document = program(0)
        document["ops"] = {"spins": {"source": "ops.cl"}}
        document["waves"] = [{"op": "spins", "global_size": [COUNT], "local_size": [8],
                              "args": [{"buffer": "a"}, {"i32": 300000}]}]
        report, told = self.checked(document, 1, "--max-wall-time", "2s", env={})
        self.assertEqual((report["status"], report["bounds"]["complete"], report["bounds"]["checked_waves"]),
                         ("deadline", False, 1))
        self.assertEqual(report["error"]["message"], "the wall time of 2 s is over: Oclgrind, which interprets kernels, "
                                                     "has not run the whole program")
        self.assertEqual(told.count("error:"), 1, told)

    def test_a_crash_names_the_option(self) -> None:
        """What crashes the driver is told with the option that finds it."""
        self.file("ops.cl", OPS.replace("a[i + by] = i;", "a[(i + 1) * 100000000 * by] = i;"))
        result = self.run_document(program(0x7fffffff // 64))
        self.assertEqual(result.rc, 4, result.stderr)
        self.assertIn("a kernel may have written past the end of a buffer: --check-bounds", result.stderr)

    def test_a_crash_before_any_kernel_does_not(self) -> None:
        """PoCL 3.1 aborts when POCL_CACHE_DIR is set and empty."""
        self.file("ops.cl", OPS)
        result = self.run_document(program(0), env={"POCL_CACHE_DIR": ""})
        if result.rc == 0:
            self.skipTest("this PoCL does not crash")
        self.assertEqual(result.rc, 4, result.stderr)
        self.assertIn("[driver_crash]\n  fix: see what it says above", result.stderr)


if __name__ == "__main__":
    unittest.main()
