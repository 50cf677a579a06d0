"""tidegate run --stress on a real compiler: what one run hides is found, by plain launches and by generated kernels.

What is named, and what a seed repeats, is tested in tests/engine/run_test.cpp on a stand-in for the device.
"""


from support import IOTA, Document, Programs, buffer, parse, wave
from support import program as program_of

OPS = """kernel void doubled(global const uint* x, global uint* t) { t[get_global_id(0)] = 2 * x[get_global_id(0)]; }
kernel void plus_one(global const uint* t, global uint* y) { y[get_global_id(0)] = t[get_global_id(0)] + 1; }
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
