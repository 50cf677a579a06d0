"""tidegate run --set tuning.promote: what becomes one wave, what stays in registers, and what a wrong halo does."""

from typing import Any

from support import IOTA, Document, Programs, buffer, parse, program, wave

KERNELS = """
kernel void scale(global const uint* a, global uint* b, uint by) {
  const uint i = get_global_id(0);
  b[i] = a[i] * by;
}
kernel void guarded(global const uint* restrict a, global uint* restrict b, uint n) {
  if (get_global_id(0) < n) b[get_global_id(0)] += a[get_global_id(0)];
}
kernel void turned(global const uint* a, global uint* b) {
  local uint kept[8];
  size_t l = get_local_id(0);
  kept[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = kept[7 - l];
}
kernel void first_of_tile(global const uint* a, global uint* b) {
  b[get_global_id(0)] = a[get_group_id(0) * 8] + (uint)get_global_id(0);
}
kernel void from_afar(global const uint* a, global uint* b, uint by) {
  const uint i = get_global_id(0);
  b[i] = a[(i + by) % 64];
}
"""
N, LOCAL = 64, 8


def step(op: str, *args: Any, **rest: Any) -> Document:
    return wave(op, *args, size=N, local=LOCAL, **rest)


def chain() -> Document:
    """x to y by scale, guarded, turned and first_of_tile; what is between is transient."""
    waves = [step("scale", "x", {"buffer": "t", "access": "write"}, 3), step("guarded", "t", "u", N),
             step("turned", "u", "v"), step("first_of_tile", {"buffer": "v", "halo": [0]}, {"buffer": "y"})]
    return program({"x": buffer(count=N, init=IOTA), "t": buffer(count=N), "u": buffer(count=N, init={"fill": 5}), "v": buffer(count=N),
                    "y": buffer(count=N, output="y.npy")}, *waves)


def evaluated() -> list[int]:
    v = [5 + 3 * (i // LOCAL * LOCAL + LOCAL - 1 - i % LOCAL) for i in range(N)]
    return [v[i // LOCAL * LOCAL] + i for i in range(N)]


class Promotion(Programs):
    sources = {"ops.cl": KERNELS}

    def test_a_chain_is_one_window(self) -> None:
        for strategy, mode in (("launch", "jit"), ("counters", "interpreter")):
            with self.subTest(strategy=strategy, mode=mode):
                report = self.report_of(chain(), "--verify", "--set", "tuning.promote=windows", "--strategy", strategy, "--set", f"tuning.mode={mode}")
                self.assertEqual(report["promotion"], {
                    "promoted": "windows", "ops": [],
                    "windows": [{"waves": ["wave 0 (scale)", "wave 1 (guarded)", "wave 2 (turned)", "wave 3 (first_of_tile)"],
                                 "register_buffers": ["t"]}]})
                self.assertTrue(report["output_parity"]["equal"])
                self.assertEqual(self.output("y.npy"), evaluated())
                self.assertEqual(report["telemetry"]["kernel_launches"], 1)
                self.assertEqual([group["waves"] for group in report["plan"]["barriers"]["groups"]], [[0, 1, 2, 3]])
                # Items count for each of the waves, and what is in registers lies nowhere.
                self.assertEqual(report["items_processed"], 4 * N)
                self.assertEqual(sorted(place["buffer"] for place in report["memory"]["offsets"]), ["u", "v", "x", "y"])

    def test_verify_finds_a_wrong_halo(self) -> None:
        """Stated tile-local, so that each tile is run through both waves before the next: what tile 0 reads of tile 7 is yet to be
        written."""
        document = program({"x": buffer(count=N, init=IOTA), "t": buffer(count=N), "y": buffer(count=N, output="y.npy")},
                           step("scale", "x", "t", 3, name="first"), step("from_afar", "t", "y", 56, name="second"),
                           dependencies=[{"before": "first", "after": "second", "halo": [0]}])
        result = self.run_document(document, "--verify", "--set", "tuning.promote=windows", "--strategy", "barrier", "--workers", "1")
        self.assertEqual(result.rc, 1, result.stderr)
        report = parse(result.stdout)
        self.assertEqual((report["status"], report["promotion"]["promoted"]), ("outputs_differ", "windows"))
        self.assertEqual(report["output_parity"]["first_difference"]["element"], 0)
