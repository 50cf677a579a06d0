"""tidegate run --stress and --verify on a real compiler: dependencies that are wrong are found, by plain launches and by generated kernels.

What is named, and what a seed repeats, is tested in tests/engine/run_test.cpp on a stand-in for the device.
"""


from support import IOTA, Document, Programs, buffer, parse, wave
from support import program as program_of

OPS = """kernel void doubled(global const uint* x, global uint* t) { t[get_global_id(0)] = 2 * x[get_global_id(0)]; }
kernel void plus_one(global const uint* t, global uint* y) { y[get_global_id(0)] = t[get_global_id(0)] + 1; }
kernel void from_afar(global const uint* t, global uint* y) { y[get_global_id(0)] = t[(get_global_id(0) + 56) % 64]; }
"""
COUNT = 256


def program(dependencies: list[Document]) -> Document:
    return program_of({"x": buffer(count=COUNT, init=IOTA), "t": buffer(count=COUNT), "y": buffer(count=COUNT, output="y.npy")},
                      wave("doubled", "x", "t", size=COUNT, name="first"), wave("plus_one", "t", "y", size=COUNT, name="second"),
                      dependencies=dependencies)


class Stress(Programs):
    sources = {"ops.cl": OPS}

    def test_a_dependency_that_is_missing_is_found(self) -> None:
        racing = program([])
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
        result = self.run_document(program([{"before": "first", "after": "second"}]), "--stress", "8")
        self.assertEqual(result.rc, 0)
        stress = parse(result.stdout)["stress"]
        self.assertNotIn("failure", stress)
        self.assertEqual(len(stress["completed"]), 8)
        self.assertLessEqual({"barrier", "counters"}, set(stress["completed"]))

    def test_verify_finds_a_wrong_halo(self) -> None:
        """Stated tile-local, so that each tile runs through both waves before the next: what tile 0 reads of tile 7 is yet to be written."""
        document = program([{"before": "first", "after": "second", "halo": [0]}])
        for one, op in zip(document["waves"], ("doubled", "from_afar")):
            one.update(op=op, global_size=[64], local_size=[8])
        for one in document["buffers"].values():
            one["count"] = 64
        document["ops"] = {name: {"source": "ops.cl"} for name in ("doubled", "from_afar")}
        result = self.run_document(document, "--verify", "--set", "tuning.promote=windows", "--strategy", "barrier", "--workers", "1")
        report = parse(result.stdout)
        self.assertEqual((result.rc, report["status"], report["promotion"]["promoted"]), (1, "outputs_differ", "windows"), result.stderr)
        self.assertEqual(report["output_parity"]["first_difference"]["element"], 0)
