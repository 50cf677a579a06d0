"""tidegate run --stress on a real compiler: what one run hides is found, by plain launches and by generated kernels.

What is named, and what a seed repeats, is tested in tests/engine/run_test.cpp on a stand-in for the device.
"""

from __future__ import annotations

import unittest

from support import Document, parse
from test_run import Programs

OPS = """kernel void doubled(global const uint* x, global uint* t) { t[get_global_id(0)] = 2 * x[get_global_id(0)]; }
kernel void plus_one(global const uint* t, global uint* y) { y[get_global_id(0)] = t[get_global_id(0)] + 1; }
"""
COUNT = 256


def program(dependencies: list[Document]) -> Document:
    sizes = {"global_size": [COUNT], "local_size": [4]}
    return {"buffers": {"x": {"type": "u32", "count": COUNT, "init": {"iota": {}}},
                        "t": {"type": "u32", "count": COUNT},
                        "y": {"type": "u32", "count": COUNT, "output": "y.npy"}},
            "ops": {name: {"source": "ops.cl"} for name in ("doubled", "plus_one")},
            "waves": [{"name": "first", "op": "doubled", "args": [{"buffer": "x"}, {"buffer": "t"}], **sizes},
                      {"name": "second", "op": "plus_one", "args": [{"buffer": "t"}, {"buffer": "y"}], **sizes}],
            "dependencies": dependencies}


class Stress(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)

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
        self.assertEqual(sum(of["runs"] for of in stress["completed"]), 8)
        self.assertLessEqual({"barrier", "counters"}, {of["kind"] for of in stress["completed"]})

    def test_kernels_that_wait_inside_are_equal_in_every_order(self) -> None:
        # Each wave reads what all of the wave before wrote, and weights that a wave has made before the iterations.
        self.file("ops.cl", """kernel void make(global uint* w) { w[get_global_id(0)] = get_global_id(0) * 2654435761u; }
kernel void stir(global const uint* w, global const uint* x, global uint* y) {
  local uint all[64];
  const uint i = get_global_id(0);
  uint weight = w[i];
  all[get_local_id(0)] = x[(i * 7 + 13) % get_global_size(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < get_local_size(0); ++k) weight = weight * 31 + all[k];
  y[i] = weight;
}
""")
        sizes = {"global_size": [1024], "local_size": [64]}
        buffers = {name: {"type": "u32", "count": 1024} for name in ("w", "a", "b", "c")}
        buffers["a"] |= {"init": {"iota": {}}, "output": "a.npy"}
        stirs = [{"op": "stir", "args": [{"buffer": "w"}, {"buffer": x}, {"buffer": y}], **sizes} for x, y in ("ab", "bc", "ca")]
        waves = [{"op": "make", "args": [{"buffer": "w"}], "phase": "before", **sizes}, *stirs]
        document = {"buffers": buffers, "ops": {name: {"source": "ops.cl"} for name in ("make", "stir")}, "waves": waves, "repeat": 20}
        kernel = self.folder / "kernel.cl"
        result = self.run_document(document, "--strategy", "barrier", "--stress", "1", "--set", "tuning.stress-seed=4",
                                   "--emit-kernel", str(kernel))
        self.assertEqual(result.rc, 0, result.stdout + result.stderr)
        self.assertIn("uint weight = w[i];\nTG_PASS(tg_self)", kernel.read_text())
        self.assertEqual([of["kind"] for of in parse(result.stdout)["stress"]["completed"]], ["barrier"])


if __name__ == "__main__":
    unittest.main()
