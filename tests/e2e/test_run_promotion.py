"""tidegate run --set tuning.promote: what becomes one wave, what stays in registers, and what a wrong halo does."""

from __future__ import annotations

import json
import unittest
from typing import Any

from support import EXAMPLES, Document, parse, run
from test_run import Programs, buffer, wave

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


def chain(**rest: Any) -> Document:
    """x to y by scale, guarded, turned and first_of_tile; what is between is transient."""
    waves = [step("scale", "x", {"buffer": "t", "access": "write"}, 3), step("guarded", "t", "u", N),
             step("turned", "u", "v"), step("first_of_tile", {"buffer": "v", "halo": [0]}, {"buffer": "y"})]
    buffers = {"x": buffer(count=N, init={"iota": {}}), "t": buffer(count=N), "u": buffer(count=N, init={"fill": 5}),
               "v": buffer(count=N), "y": buffer(count=N, output="y.npy")}
    return {"buffers": buffers, "waves": waves,
            "ops": {name["op"]: {"source": "k.cl"} for name in waves}, **rest}


def evaluated() -> list[int]:
    v = [5 + 3 * (i // LOCAL * LOCAL + LOCAL - 1 - i % LOCAL) for i in range(N)]
    return [v[i // LOCAL * LOCAL] + i for i in range(N)]


class Promotion(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("k.cl", KERNELS)

    def test_a_chain_is_one_window(self) -> None:
        for strategy, mode in (("launch", "jit"), ("counters", "interpreter")):
            with self.subTest(strategy=strategy, mode=mode):
                report = self.report_of(chain(), "--verify", "--set", "tuning.promote=windows", "--strategy", strategy, "--set", f"tuning.mode={mode}")
                self.assertEqual(report["promotion"], {
                    "promoted": "windows", "reason": "requested", "ops": [],
                    "windows": [{"waves": ["wave 0 (scale)", "wave 1 (guarded)", "wave 2 (turned)", "wave 3 (first_of_tile)"],
                                 "register_buffers": ["t"]}]})
                self.assertTrue(report["output_parity"]["equal"])
                self.assertEqual(self.output("y.npy"), evaluated())
                self.assertEqual(report["telemetry"]["kernel_launches"], 1)
                self.assertEqual([group["waves"] for group in report["plan"]["barriers"]["groups"]], [[0, 1, 2, 3]])
                # Items count for each of the waves, and what is in registers lies nowhere.
                self.assertEqual(report["items_processed"], 4 * N)
                self.assertEqual(sorted(place["buffer"] for place in report["memory"]["offsets"]), ["u", "v", "x", "y"])

    def test_what_a_wave_may_reach_is_never_fused(self) -> None:
        """Each second wave reads elements that other work-items of the first have written, in a form that a reader of
        tokens may take for the own element; the last first wave leaves its elements alone in the second iteration."""
        mirror, rows = f"{N - 1}", f"if (g < {N // 4}) for (uint k = 0; k < 4; ++k) b[4 * g + k] = a[g][k] + 1;"
        forms = {
            "parentheses": ("global const uint* a", f"(i) = {mirror} - i; b[g] = a[i] + 1;"),
            "a_macro": ("global const uint* a", "MIRROR(i); b[g] = a[i] + 1;"),
            "an_address": ("global const uint* a", f"uint* p = &(i); *p = {mirror} - g; b[g] = a[i] + 1;"),
            "an_element": ("global const uint* a", f"global const uint* q = &(a[g]); b[g] = q[{mirror} - 2 * (int)g] + 1;"),
            "an_alias": ("global const uint* a", f"global const uint* q = g ? a : (a); b[g] = ({mirror} - g)[q] + 1;"),
            "an_array_type": ("global const row* a", rows),
            "a_vector_type": ("global const four* a", rows),
            "a_pointer_to_rows": ("global const uint (*a)[4]", rows),
            "an_array_of_rows": ("global const uint a[][4]", rows)}
        text = ["typedef uint row[4];\ntypedef uint four __attribute__((ext_vector_type(4)));\n"
                f"#define MIRROR(x) do {{ (x) = {mirror} - (x); }} while (0)\n" + KERNELS +
                "kernel void now_and_then(global const uint* a, global uint* b, uint by) {\n"
                "  const uint i = get_global_id(0);\n"
                "  for (uint k = by; k < 5; b[i] = a[i] * by) ++k;\n}\n"
                "kernel void next(global const uint* a, global uint* b) {\n"
                "  b[get_global_id(0)] = a[get_global_id(0)] + 1;\n}\n"]
        buffers = {"x": buffer(count=N, init={"iota": {}})}
        ops, waves = [*forms, "scale", "now_and_then", "next"], []
        by = {"u32": 3, "iteration": {"shift_left": 1}}
        for name, (parameter, body) in forms.items():
            text.append(f"kernel void {name}({parameter}, global uint* b) {{\n"
                        f"  const uint g = get_global_id(0);\n  uint i = get_global_id(0);\n  {body}\n}}\n")
            waves += [step("scale", "x", "t_" + name, by), step(name, "t_" + name, "y_" + name)]
        waves += [step("now_and_then", "x", "t_next", by), step("next", "t_next", "y_next")]
        for name in (*forms, "next"):
            buffers |= {"t_" + name: buffer(count=N), "y_" + name: buffer(count=N, output=f"{name}.npy")}
        self.file("k.cl", "".join(text))
        program = {"buffers": buffers, "waves": waves, "ops": {op: {"source": "k.cl"} for op in ops}, "repeat": 2}
        for options in (("--strategy", "launch", "--set", "tuning.promote=windows"), ("--strategy", "counters", "--set", "tuning.promote=none")):
            self.report_of(program, *options)
            for name, (_, body) in forms.items():
                with self.subTest(form=name, options=options):
                    self.assertEqual(self.output(f"{name}.npy"), [6 * (i if body is rows else N - 1 - i) + 1 for i in range(N)])
            with self.subTest(form="the third clause of a loop", options=options):
                self.assertEqual(self.output("next.npy"), [3 * i + 1 for i in range(N)])

class Halos(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("k.cl", KERNELS)

    @staticmethod
    def document(by: int, halo: int, op: str = "from_afar") -> Document:
        first, second = step("scale", "x", "t", 3, name="first"), step(op, "t", "y", *([by] if op == "from_afar" else []))
        return {"buffers": {"x": buffer(count=N, init={"iota": {}}), "t": buffer(count=N),
                            "y": buffer(count=N, output="y.npy")},
                "ops": {name: {"source": "k.cl"} for name in ("scale", op)},
                "waves": [first, {**second, "name": "second"}],
                "dependencies": [{"before": "first", "after": "second", "halo": [halo]}]}

    def test_a_stated_halo_that_is_too_small(self) -> None:
        """The program of the README: a tile reads the cells around it, through a helper function, also in 2 dimensions."""
        self.file("heat.cl", (EXAMPLES / "programs/heat/heat.cl").read_text())
        for halo, rc in ((0, 3), ([1, 0], 3), (1, 0), (None, 0)):
            args: list[Document] = [{"buffer": name, **({} if halo is None else {"halo": halo})} for name in ("plate", "next")]
            program = {"buffers": {"plate": buffer("f32", 38400, init={"random": {"seed": 1}}, output="heat.npy"),
                                   "next": buffer("f32", 38400)},
                       "ops": {"diffuse": {"source": "heat.cl"}},
                       "waves": [{"op": "diffuse", "global_size": [240, 160], "local_size": [16, 16],
                                  "args": [*args, {"i32": 240}, {"i32": 160}, {"f32": 0.2}, {"f32": 100}]}],
                       "repeat": 5, "swap": [["plate", "next"]]}
            with self.subTest(halo=halo):
                result = self.run_document(program, "--dry-run")
                self.assertEqual(result.rc, rc, result.stderr)
                if rc:
                    self.assertIn(f'a halo of 0 work-groups in dimension {int(halo != 0)} for "plate", and the kernel reaches 1 '
                                  "[invalid_program]", result.stderr)
                    self.assertIn("fix: leave the halo out: it is derived from the kernel", result.stderr)

    def test_verify_finds_a_wrong_halo(self) -> None:
        """Stated tile-local, so that each tile is run through both waves before the next: what tile 0 reads of tile 7
        nobody has written yet."""
        document = self.document(56, 0)
        result = self.run_document(document, "--verify", "--set", "tuning.promote=windows", "--strategy", "barrier", "--workers", "1")
        self.assertEqual(result.rc, 1, result.stderr)
        report = parse(result.stdout)
        self.assertEqual((report["status"], report["promotion"]["promoted"]), ("outputs_differ", "windows"))
        self.assertEqual(report["output_parity"]["first_difference"]["element"], 0)


if __name__ == "__main__":
    unittest.main()
