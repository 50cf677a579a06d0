"""tidegate run: structures, enumerations and null pointers as arguments, and buffers that kernels take for others.

One program has them all, in both strategies and modes; what it leaves is worked out by hand.
"""

import itertools
from typing import Any

from support import IOTA, Programs, buffer, program, unplaced, wave

KERNELS = """
enum shape { ROUND, SQUARE = 5, FLAT };
typedef struct { uchar kind; float3 at; struct { short n[3]; enum shape of; } in; } thing;
struct __attribute__((packed)) tight { uchar first; uint second; };
union either { uint whole; ushort halves[2]; };

kernel void spread(global float* out, const thing t, struct tight p, enum shape s) {
  size_t i = get_global_id(0);
  float values[8] = {t.kind, t.at.x, t.at.y, t.at.z, t.in.n[2], t.in.of, p.second, s};
  out[i] += values[i];
}
kernel void halves_of(global uint* out, union either e) {
  out[get_global_id(0)] += e.halves[0] * 100u + e.halves[1];
}
kernel void maybe(global uint* out, global const uint* more, constant uint* table) {
  size_t i = get_global_id(0);
  out[i] += (more ? more[i] : 1000u) + (table ? table[0] : 7u);
}
kernel void wide(global const ulong* a, global uint* out) {
  size_t i = get_global_id(0);
  out[i] += (uint)(a[i / 2] >> 32 * (i & 1));
}
"""
THING = {"kind": 3, "at": [1.5, -2, 4], "in": {"n": [1, 2, -9], "of": "FLAT"}}


def arguments_program() -> dict[str, Any]:
    buffers = {"f": buffer("f32", init={"fill": 0.5}, output="f.npy"),
               "u": buffer("i32", init=IOTA, output="u.npy"), "a": buffer(init=IOTA)}
    waves = [wave("spread", "f", {"struct": THING}, {"struct": {"first": 1, "second": 2**31}}, {"enum": "SQUARE"}),
             wave("spread", "f", {"bytes": "03" + "00" * 47}, {"bytes": "01 05000000"}, {"i32": 2}),
             wave("halves_of", "u", {"bytes": "01000200"}),
             wave("maybe", "u", "a", {"null": True}), wave("maybe", "u", {"null": True}, "a"),
             wave("wide", {"buffer": "a", "reinterpret": True}, "u")]
    return program(buffers, *waves)


class Arguments(Programs):
    sources = {"ops.cl": KERNELS}

    def test_every_way(self) -> None:
        first = [3, 1.5, -2, 4, -9, 6, 2.0**31, 5]
        second = [3, 0, 0, 0, 0, 0, 5, 2]
        for strategy, mode in itertools.product(("launch", "barrier"), ("interpreter", "jit")):
            self.right(arguments_program(), "--strategy", strategy, "--set", f"tuning.mode={mode}", "--verify",
                       f=[0.5 + a + b if a < 2**31 else 2.0**31 for a, b in zip(first, second)],
                       u=[i + (1 * 100 + 2) + (i + 7) + (1000 + 0) + i for i in range(8)])

    def test_layout_that_the_compiler_denies(self) -> None:
        """Bytes of a type whose layout is not known are checked by the compiler, whichever way the program is launched."""
        document = arguments_program()
        document["waves"][2]["args"][1] = {"bytes": "0000"}
        modes = [("--set", f"tuning.mode={mode}") for mode in ("interpreter", "jit")]
        for strategy, mode in (("plain", ()), *itertools.product(("launch", "barrier", "auto"), modes)):
            result = self.run_document(document, "--strategy", strategy, *mode)
            self.assertEqual((result.rc, unplaced(result.stderr).replace(str(self.folder), "F")), (
                3, 'tidegate: F/program.json: error: the argument has 2 bytes, "union either e" has another size on this device '
                   "[argument_mismatch]\n"
                   "  at: /waves/2/args/1\n"
                   '  fix: give {"bytes": …}, as many as sizeof says there, padding included\n'))
