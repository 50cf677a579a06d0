"""tidegate run: mistakes that only a device or its compiler shows: outside of buffers, in an order that nothing demands, in sources.

What is named, and what a seed repeats, is tested in tests/engine/run_test.cpp on a stand-in for the device; tests/app/transcripts has the
errors that no device is needed for.
"""

import json

from support import IOTA, Document, Programs, Result, buffer, parse, program, wave

SHIFTED = """kernel void shifted(global int* a, int by) {
  int i = get_global_id(0);
  a[i + by] = i;
}
"""
COUNT = 64


def shifted(by: int, repeat: int = 1) -> Document:
    zeros = {"init": {"fill": 0}}
    return program({name: buffer("i32", COUNT, **zeros, output=f"{name}.npy") for name in "ab"},
                      wave("shifted", "a", {"i32": 0}, size=COUNT, local=8, name="first"),
                      wave("shifted", "b", {"i32": by}, size=COUNT, local=8, name="second"), repeat=repeat)


class Bounds(Programs):
    sources = {"ops.cl": SHIFTED}

    def checked(self, document: Document, rc: int, *args: str) -> tuple[Document, str]:
        result = self.run_document(document, "--check", "bounds", *args)
        self.assertEqual(result.rc, rc, result.stderr)
        self.assertEqual([path.name for path in self.folder.glob("*.npy")], [])
        return parse(result.stdout), result.stderr

    def test_nothing(self) -> None:
        report, _ = self.checked(shifted(0, repeat=3), 0)
        self.assertEqual(report["status"], "checked")
        self.assertEqual((report["bounds"]["checked_waves"], report["bounds"]["violations"]), (6, []))

    def test_after_and_before(self) -> None:
        """One byte that is written may equal what the guard held there, and is not counted then."""
        for by, side, distance, changed, text in (
                (1, "after", 0, 4, 'past the end of "b" (first byte at offset 256, {} bytes changed)'),
                (512, "after", 1792, 256, 'past the end of "b" (first byte at offset 2048, {} bytes changed)'),
                (-3, "before", 1, 12, 'before the start of "b" (last byte at offset -1, {} bytes changed)')):
            with self.subTest(by=by):
                report, told = self.checked(shifted(by), 1)
                self.assertEqual((report["status"], report["error"]["code"]), ("out_of_bounds", "out_of_bounds"))
                (violation,) = report["bounds"]["violations"]
                self.assertEqual(violation, {"wave": '"second"', "iteration": 0, "buffer": "b", "side": side, "distance_bytes": distance})
                self.assertTrue(any(f'"second" wrote {text.format(seen)}, in iteration 0' in told for seen in (changed - 1, changed)), told)

    def test_far_out_of_bounds(self) -> None:
        """Beyond all guards: the driver crashes, and the wave is named."""
        self.file("ops.cl", SHIFTED.replace("a[i + by] = i;", "a[(long)(i + 1) * 100000000 * by] = i;"))
        result = self.run_document(shifted(1000), "--check", "bounds")
        self.assertEqual((result.rc, result.stdout), (1, ""), result.stderr)
        self.assertRegex(result.stderr, r'error: "second", in iteration 0, wrote or read far out of bounds: the driver has '
                                        r'crashed \(.*\) \[out_of_bounds\]\n  fix: .*oclgrind tidegate run')

    def test_a_crash_names_the_option(self) -> None:
        """What crashes the driver is told with the option that finds it."""
        self.file("ops.cl", SHIFTED.replace("a[i + by] = i;", "a[(i + 1) * 100000000 * by] = i;"))
        result = self.run_document(shifted(0x7fffffff // 64))
        self.assertEqual(result.rc, 4, result.stderr)
        self.assertIn("a kernel may have written past the end of a buffer: --check bounds", result.stderr)


STEPS = """kernel void doubled(global const uint* x, global uint* t) { t[get_global_id(0)] = 2 * x[get_global_id(0)]; }
kernel void plus_one(global const uint* t, global uint* y) { y[get_global_id(0)] = t[get_global_id(0)] + 1; }
kernel void from_afar(global const uint* t, global uint* y) { y[get_global_id(0)] = t[(get_global_id(0) + 56) % 64]; }
"""


def steps(dependencies: list[Document], ops: tuple[str, str] = ("doubled", "plus_one"), count: int = 256, local: int = 4) -> Document:
    return program({"x": buffer(count=count, init=IOTA), "t": buffer(count=count), "y": buffer(count=count, output="y.npy")},
                   *(wave(op, *args, size=count, local=local, name=name) for op, args, name in zip(ops, ("xt", "ty"), ("first", "second"))),
                   dependencies=dependencies)


class Stress(Programs):
    sources = {"ops.cl": STEPS}

    def test_a_dependency_that_is_missing_is_found(self) -> None:
        racing = steps([])
        self.assertEqual(self.run_document(racing, "--strategy", "plain", "--verify").rc, 0)
        result = self.run_document(racing, "--strategy", "plain", "--stress", "8")
        self.assertEqual(result.rc, 1)
        failure = parse(result.stdout)["stress"]["failure"]
        self.assertEqual((failure["seed"], failure["waves"]), (1, ['"first"', '"second"']))
        for seed, kind in enumerate(("barrier", "counters", "launch"), start=2): # in kernels that share a launch
            result = self.run_document(racing, "--strategy", "plain", "--stress", "1", "--set", f"tuning.stress-seed={seed}")
            with self.subTest(kind=kind):
                self.assertEqual(result.rc, 1)
                failure = parse(result.stdout)["stress"]["failure"]
                self.assertEqual((kind in failure["variation"], failure["difference"]["first_difference"]["buffer"]), (True, "y"))

    def test_a_sound_program_is_equal_in_every_order(self) -> None:
        result = self.run_document(steps([{"before": "first", "after": "second"}]), "--stress", "8")
        self.assertEqual(result.rc, 0)
        stress = parse(result.stdout)["stress"]
        self.assertNotIn("failure", stress)
        self.assertEqual(len(stress["completed"]), 8)
        self.assertLessEqual({"barrier", "counters"}, set(stress["completed"]))

    def test_verify_finds_a_wrong_halo(self) -> None:
        """Stated tile-local, so that each tile runs through both waves before the next: what tile 0 reads of tile 7 is yet to be written."""
        document = steps([{"before": "first", "after": "second", "halo": [0]}], ("doubled", "from_afar"), 64, 8)
        result = self.run_document(document, "--verify", "--set", "tuning.promote=windows", "--strategy", "barrier", "--workers", "1")
        report = parse(result.stdout)
        self.assertEqual((result.rc, report["status"], report["promotion"]["promoted"]), (1, "outputs_differ", "windows"), result.stderr)
        self.assertEqual(report["output_parity"]["first_difference"]["element"], 0)


class Sources(Programs):
    def result_of(self, text: str, *args: str, local: int = 8, rc: int = 3, **op: str) -> Result:
        """Of a program of one wave over 8 work-items or more."""
        self.file("f.cl", text)
        document = program({"second": buffer(output="second.npy")}, wave("f", "second", size=max(local, 8), local=local))
        document["ops"]["f"] = {"source": "f.cl", **op}
        result = self.run_document(document, *args)
        self.assertEqual((result.rc, result.stdout, (self.folder / "second.npy").exists()), (rc, "", False), result.stderr)
        return result

    def at(self, text: str, code: str, pointer: str | None, *parts: str, source: str = "f.cl", line: int | None = None, **op: str) -> None:
        for strategy in ("launch", "barrier"):
            error: Document = json.loads(self.result_of(text, "--strategy", strategy, "--errors", "json", **op).stderr)
            self.assertEqual((error["code"], error.get("pointer"), error["source"]), (code, pointer, str(self.folder / source)), error)
            self.assertIn(line, (None, error.get("line")))
            for part in parts:
                self.assertIn(part, error["message"] + "\n" + error["fix"])

    def test_what_only_the_device_sees(self) -> None:
        """An error of the input, at the user's column."""
        text = "kernel void f(global uint* x) {\n  x[0] = 1u;\n\tx[1] = /* größe */ nothing_here;\n}\n"
        for strategy in ("launch", "barrier"):
            told = self.result_of(text, "--strategy", strategy).stderr.replace(str(self.folder), "FOLDER")
            self.assertEqual(told[:told.index("  log:\n")], """\
tidegate: FOLDER/f.cl:3:21: error: use of undeclared identifier 'nothing_here' [kernel_source]
  3 |  x[1] = /* größe */ nothing_here;
    |                     ^
  fix: correct the kernel
""")
        self.at(text, "kernel_source", None, "use of undeclared identifier", line=3)

    def test_elsewhere(self) -> None:
        """In an included file, a function without a body, and options that the compiler does not know."""
        self.file("f.h", "\nuint h(uint n) { return n + 1u }\n")
        self.at('#include "f.h"\nkernel void f(global uint* x) { x[0] = h(1u); }\n', "kernel_source", None, "expected ';'", source="f.h", line=2)
        self.at("uint h(uint n);\nkernel void f(global uint* x) { x[0] = h(1u); }\n", "kernel_source", None,
                "the compiler of the device refuses this source", "its log says why")
        self.at("kernel void f(global uint* x) { x[0] = 1u; }\n", "kernel_options", "/ops/f/options",
                'the compiler of the device refuses the options "-cl-foo"\nremove the options that it does not support',
                source="program.json", options="-cl-foo")

    def test_work_group_size(self) -> None:
        """PoCL takes 4096 work-items."""
        told = self.result_of("kernel void f(global uint* x) {}\n", "--strategy", "launch", local=2**20).stderr
        self.assertIn("[out_of_range]", told)
        self.assertIn("/waves/0/local_size", told)
