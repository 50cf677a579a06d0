"""tidegate run --check bounds: which wave writes outside a buffer, on which side, how far and how much."""


from support import Document, Programs, buffer, parse, wave
from support import program as program_of

OPS = """kernel void shifted(global int* a, int by) {
  int i = get_global_id(0);
  a[i + by] = i;
}
"""
COUNT = 64


def program(by: int, repeat: int = 1) -> Document:
    zeros = {"init": {"fill": 0}}
    return program_of({name: buffer("i32", COUNT, **zeros, output=f"{name}.npy") for name in "ab"},
                      wave("shifted", "a", {"i32": 0}, size=COUNT, local=8, name="first"),
                      wave("shifted", "b", {"i32": by}, size=COUNT, local=8, name="second"), repeat=repeat)


class Bounds(Programs):
    sources = {"ops.cl": OPS}

    def checked(self, document: Document, rc: int, *args: str) -> tuple[Document, str]:
        result = self.run_document(document, "--check", "bounds", *args)
        self.assertEqual(result.rc, rc, result.stderr)
        self.assertEqual([path.name for path in self.folder.glob("*.npy")], [])
        return parse(result.stdout), result.stderr

    def test_nothing(self) -> None:
        report, _ = self.checked(program(0, repeat=3), 0)
        self.assertEqual(report["status"], "checked")
        self.assertEqual((report["bounds"]["checked_waves"], report["bounds"]["violations"]), (6, []))

    def test_after_and_before(self) -> None:
        """One byte that is written may equal what the guard held there, and is not counted then."""
        for by, side, distance, changed, text in (
                (1, "after", 0, 4, 'past the end of "b" (first byte at offset 256, {} bytes changed)'),
                (512, "after", 1792, 256, 'past the end of "b" (first byte at offset 2048, {} bytes changed)'),
                (-3, "before", 1, 12, 'before the start of "b" (last byte at offset -1, {} bytes changed)')):
            with self.subTest(by=by):
                report, told = self.checked(program(by), 1)
                self.assertEqual((report["status"], report["error"]["code"]), ("out_of_bounds", "out_of_bounds"))
                (violation,) = report["bounds"]["violations"]
                self.assertEqual(violation, {"wave": '"second"', "iteration": 0, "buffer": "b", "side": side, "distance_bytes": distance})
                self.assertTrue(any(f'"second" wrote {text.format(seen)}, in iteration 0' in told for seen in (changed - 1, changed)), told)

    def test_far_out_of_bounds(self) -> None:
        """Beyond all guards: the driver crashes, and the wave is named."""
        self.file("ops.cl", OPS.replace("a[i + by] = i;", "a[(long)(i + 1) * 100000000 * by] = i;"))
        result = self.run_document(program(1000), "--check", "bounds")
        self.assertEqual((result.rc, result.stdout), (1, ""), result.stderr)
        self.assertRegex(result.stderr, r'error: "second", in iteration 0, wrote or read far out of bounds: the driver has '
                                        r'crashed \(.*\) \[out_of_bounds\]\n  fix: .*oclgrind tidegate run')

    def test_a_crash_names_the_option(self) -> None:
        """What crashes the driver is told with the option that finds it."""
        self.file("ops.cl", OPS.replace("a[i + by] = i;", "a[(i + 1) * 100000000 * by] = i;"))
        result = self.run_document(program(0x7fffffff // 64))
        self.assertEqual(result.rc, 4, result.stderr)
        self.assertIn("a kernel may have written past the end of a buffer: --check bounds", result.stderr)
