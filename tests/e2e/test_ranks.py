"""Programs under mpirun: the same bytes as one process alone, halos alone on the wire, and one error for all.

Random programs, and what is cut and why, are tested on threads in tests/engine/rank_run_test.cpp.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

from support import EXAMPLES, PATIENCE, Document, Result, binary, parse
import test_run_queues
from test_run import FAILING_DRIVER, Programs, environment, npy

SEED = int(os.environ.get("TIDEGATE_SEED") or random.randrange(10**6))
STENCILS = """
uint value(global const uint* a, uint x, uint y, uint width, uint height, uint reach, uint salt) {
  uint v = salt + 3 * a[y * width + x];
  for (uint k = 1; k <= reach; ++k)
    v += (y >= k ? k * a[(y - k) * width + x] : salt) ^ (y + k < height ? a[(y + k) * width + x] : k);
  return v;
}
#define STENCIL(NAME, X, D, OLD) \\
  kernel void NAME(global const uint* a, global uint* b, uint nx, uint width, uint height, uint reach, uint salt) { \\
    const uint x = X, y = get_global_id(D); \\
    if (x < width && y < height) b[y * width + x] = OLD * b[y * width + x] + value(a, x, y, width, height, reach, salt); \\
  }
STENCIL(line, 0, 0, 0)
STENCIL(plane, get_global_id(0), 1, 0)
STENCIL(cube, get_global_id(0) + nx * get_global_id(1), 2, 0)
STENCIL(line_on, 0, 0, 5)
STENCIL(plane_on, get_global_id(0), 1, 5)
STENCIL(cube_on, get_global_id(0) + nx * get_global_id(1), 2, 5)
"""
QUEUES = int(os.environ.get("TIDEGATE_RANDOM_PROGRAMS") or 3)
MPIRUN = ("mpirun", "--oversubscribe", "--allow-run-as-root")


def processes_of(folder: Path) -> list[int]:
    """Those of tidegate whose command names a file of this folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes()
                if command.startswith(binary().encode() + b"\0") and str(folder).encode() in command:
                    found.append(int(process.name))
            except OSError:
                pass  # it has ended
    return found


class Ranks(Programs):
    def start(self, ranks: int, *command: str) -> subprocess.Popen[bytes]:
        started = subprocess.Popen([*MPIRUN, "-n", str(ranks), *command], cwd=self.folder, env={**os.environ, **environment()},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(started.kill)
        return started

    def ended(self, started: subprocess.Popen[bytes]) -> Result:
        """When all ranks have ended, mpirun has 4 s to end, too: Debian's libpmix 4.2.2 now and then waits for itself there."""
        begin = had_children = time.monotonic()
        while True:
            try:
                stdout, stderr = started.communicate(timeout=0.5)
                return Result(started.returncode, stdout.decode(), stderr.decode())
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                if Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text():
                    had_children = now
                if now - had_children > 4 or now - begin > PATIENCE:
                    started.kill()

    def check(self, result: Result, rc: int) -> None:
        self.assertIn(result.rc, (rc, -signal.SIGKILL), result.stderr)

    def mpirun(self, ranks: int, *args: str) -> Result:
        return self.ended(self.start(ranks, binary(), *args))

    def own_command(self, first: str, *args: str) -> None:
        """Writes ./own, which runs the program after this line of bash on each rank."""
        self.file("own", f"#!/bin/bash\n{first}\nexec {binary()} run program.json --set verify-first=no {' '.join(args)}\n").chmod(0o755)

    def only_one_rank_fails(self, rank: int, command: str, why: str) -> None:
        self.own_command(f'[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && {command}')
        given = set(self.folder.iterdir())
        result = self.ended(self.start(3, "./own"))
        self.check(result, 4)
        errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertRegex(errors[0], f"error: rank {rank} of 3: .*{why}")
        self.assertEqual(set(self.folder.iterdir()), given)

    def example(self, name: str, repeat: int | None = None) -> Document:
        for file in (EXAMPLES / "programs" / name).iterdir():
            shutil.copy(file, self.folder)
        program = parse((self.folder / "program.json").read_text())
        if repeat:
            program["repeat"] = repeat
        self.file("program.json", json.dumps(program))
        return program

    def outputs(self, program: Document) -> dict[str, bytes]:
        names = [spec["output"] for spec in program["buffers"].values() if "output" in spec]
        found = {name: (self.folder / name).read_bytes() for name in names}
        for name in names:
            (self.folder / name).unlink()
        return found

    def test_examples_make_the_same_bytes(self) -> None:
        for name, repeat in (("heat", 40), ("life", 20), ("jacobi", None)):
            program = self.example(name, repeat)
            self.check(self.mpirun(1, "run", "program.json", "--strategy", "plain", "-o", "report.json"), 0)
            self.assertNotIn("ranks", parse((self.folder / "report.json").read_text()))
            alone = self.outputs(program)
            for ranks in (2, 4):
                verified = (ranks == 2) == (name != "life")
                with self.subTest(name=name, ranks=ranks, verified=verified):  # without --verify rank 0 writes the rows of each rank
                    result = self.mpirun(ranks, "run", "program.json", *(("--verify",) if verified else ()))
                    self.check(result, 0)
                    report = parse(result.stdout)  # of rank 0 alone
                    if verified:
                        self.assertTrue(report["output_parity"]["equal"])
                    self.assertEqual(len(report["ranks"]["ranks"]), ranks)
                    self.assertEqual(report["strategy_reason"], "several ranks run plain launches")
                    self.assertEqual(self.outputs(program), alone)
                    if name == "jacobi":  # the fills, the sweep and the force
                        self.assertEqual([wave["wave"] for wave in report["ranks"]["waves"] if wave["runs_on"] == "parts"],
                                         [*(f"wave {wave} (fill_bytes)" for wave in (0, 1, 2, 5)), '"sweep"', "wave 7 (gradient)"])
                    if name == "life":  # a row over each border, in both directions, and over that of the torus
                        self.assertEqual(report["ranks"]["bytes_sent"], (20 - 1) * ranks * 2 * 200)
                    if name == "heat":  # a row over each border, in both directions, before all iterations but the first
                        self.assertEqual(report["ranks"]["bytes_sent"], (40 - 1) * (ranks - 1) * 2 * 240 * 4)
                        self.assertEqual(report["ranks"]["messages"], (40 - 1) * (ranks - 1) * 2)

    def random_stencils(self, chance: random.Random) -> tuple[Document, dict[str, bytes]]:
        """A program whose buffers are all in parts, and its outputs by a simulation."""
        dimensions = chance.randint(1, 3)
        inner = [chance.randint(1, 7) for _ in range(dimensions - 1)]
        height, width = chance.randint(5, 70), math.prod(inner)
        count = height * width
        state = {}
        document: Document = {"buffers": {}, "ops": {}, "waves": [], "repeat": chance.randint(1, 14)}
        for number, name in enumerate("pqr"):
            made = [chance.randrange(2**32) for _ in range(count)]
            raw = struct.pack(f"<{count}I", *made)
            kind = chance.choice(("raw", "npy", "fill", "iota", "none"))
            if kind in ("raw", "npy"):
                self.file(f"{name}.{kind}", npy("u32", made) if kind == "npy" else raw)
                init: Document = {"init": {"file": f"{name}.{kind}"}}
            elif kind == "fill":
                made, init = [7] * count, {"init": {"fill": 7}}
            elif kind == "iota":
                made, init = [3 + 2 * i for i in range(count)], {"init": {"iota": {"start": 3, "step": 2}}}
            else:
                made, init = [0] * count, {}
            state[name] = made
            document["buffers"][name] = {"type": "u32", "shape": [height, width], "output": f"out_{name}.npy", **init}
        waves = []
        rows_of_groups = chance.randint(1, 4)  # of all waves, so that each is cut at the same rows
        for number in range(chance.randint(1, 4)):
            a, b = chance.sample("pqr", 2)
            kept = chance.random() < 0.3
            kernel = ("line", "plane", "cube")[dimensions - 1] + ("_on" if kept else "")
            reach, salt = chance.randint(0, 3), chance.randrange(1000)
            local = [*(chance.randint(1, 4) for _ in inner), rows_of_groups]
            sizes = [(size + own - 1) // own * own for size, own in zip([*inner, height], local)]
            sizes[0] = inner[0] if dimensions > 1 else sizes[0]
            local[0] = chance.choice([size for size in range(1, inner[0] + 1) if inner[0] % size == 0]) if dimensions > 1 else local[0]
            phase = "each" if number == 0 else chance.choice(("before", "each", "each", "after"))
            if chance.random() < 0.3:  # each rank fills or copies what it has
                if chance.random() < 0.5:
                    document["waves"].append({"phase": phase, "fill": {"buffer": b, "value": salt}})
                    waves.append((phase, None, b, 0, 0, salt))
                else:
                    document["waves"].append({"phase": phase, "copy": {"from": a, "to": b}})
                    waves.append((phase, a, b, None, 0, 0))
            document["ops"][kernel] = {"source": "stencils.cl"}
            document["waves"].append({"op": kernel, "phase": phase, "global_size": sizes, "local_size": local, "args": [
                {"buffer": a, "rows": reach}, {"buffer": b, "rows": 0},
                *({"u32": number} for number in (sizes[0], width, height, reach, salt))]})
            waves.append((phase, a, b, 5 if kept else 0, reach, salt))
        swap = chance.choice(([], [["p", "q"]], [["p", "q"], ["q", "r"]]))
        if swap:
            document["swap"] = swap

        def run(phase: str) -> None:
            for own, a, b, old, reach, salt in waves:
                if own == phase and (a is None or old is None):
                    state[b][:] = state[a] if a else [salt] * count
                elif own == phase:
                    before, after = state[a], state[b]
                    for i in range(count):
                        y = i // width
                        value = salt + 3 * before[i]
                        for k in range(1, reach + 1):
                            above = k * before[i - k * width] if y >= k else salt
                            value += (above % 2**32) ^ (before[i + k * width] if y + k < height else k)
                        after[i] = (old * after[i] + value) % 2**32

        run("before")
        for _ in range(document["repeat"]):
            run("each")
            for one, other in swap:
                state[one], state[other] = state[other], state[one]
        run("after")
        return document, {f"out_{name}.npy": struct.pack(f"<{count}I", *state[name]) for name in "pqr"}

    def test_random_stencils_in_parts_have_the_oracles_bytes(self) -> None:
        self.file("stencils.cl", STENCILS)
        seed = random.randrange(10**6)
        in_parts = 0
        for number in range(2 * QUEUES):
            chance = random.Random(seed + number)
            ranks = chance.randint(1, 4)
            with self.subTest(seed=seed, number=number, ranks=ranks):
                document, outputs = self.random_stencils(chance)
                self.file("program.json", json.dumps(document))
                result = self.mpirun(ranks, "run", "program.json", *(("--verify",) if number == 0 else ()),
                                     *(("--set", "measure=no") if ranks == 1 else ()))
                self.check(result, 0)
                for name, data in outputs.items():
                    self.assertEqual((self.folder / name).read_bytes()[-len(data):], data, name)
                for buffer in parse(result.stdout).get("ranks", {}).get("buffers", []):
                    self.assertEqual(buffer["in_parts"], buffer["split"], buffer)
                    in_parts += buffer["in_parts"]
        self.assertGreater(in_parts, 0, seed)

    def test_a_plate_that_no_rank_has_memory_for_alone(self) -> None:
        program = self.example("heat", 30)
        program["buffers"]["plate"]["shape"] = program["buffers"]["next"]["shape"] = [1600, 240]
        program["waves"][0]["global_size"] = [240, 1600]
        program["waves"][0]["args"][3] = {"i32": 1600}
        self.file("program.json", json.dumps(program))
        result = self.mpirun(1, "run", "program.json", "--strategy", "plain")
        self.check(result, 0)
        alone = self.outputs(program)
        whole = 2 * 4 * 1600 * 240
        budget = program["device_memory_budget_bytes"] = whole * 3 // 10
        self.file("program.json", json.dumps(program))
        result = self.mpirun(1, "run", "program.json", "--strategy", "plain")
        self.check(result, 1)
        self.assertIn("[group_over_budget]", result.stderr)
        result = self.mpirun(2, "run", "program.json")
        self.check(result, 1)
        self.assertIn("all buffers together may take", result.stderr)
        self.assertIn("start more ranks", result.stderr)
        result = self.mpirun(4, "run", "program.json")
        self.check(result, 0)
        self.assertEqual(self.outputs(program), alone)
        for rank in parse(result.stdout)["ranks"]["ranks"]:
            self.assertLessEqual(rank["device_bytes"], budget)
            halos = 2 * 2 * 4 * 240 * 17  # of two plates, to both sides, at most with a whole work-group
            self.assertLess(abs(rank["device_bytes"] - whole / 4), halos)

    def test_rows_are_derived_from_kernels_as_they_are_usually_written(self) -> None:
        self.file("stencils.cl", """
          kernel void plane(global const uint* a, global uint* b, int w, int h) {
            const int x = get_global_id(0), y = get_global_id(1);
            if (x >= w || y >= h) return;
            const int i = y * w + x;
            uint sum = 3u * a[i] + (y >= 2 ? a[i - 2 * w] : 1u);
            for (int d = -1; d <= 1; ++d) if (x + d >= 0 && x + d < w && y + 1 < h) sum += a[(y + 1) * w + x + d];
            b[i] = sum;
          }
          kernel void torus(global const uint* a, global uint* b, int w, int h) {
            const int x = get_global_id(0), y = get_global_id(1);
            if (x < w && y < h) {
              global const uint* south = a + (y + 1) % h * w;
              b[y * w + x] = 5u * a[(y + h - 1) % h * w + (x + 1) % w] + south[x] + 1u;
            }
          }
          kernel void edge(global const uint* a, global uint* b, int w, int h) {
            const int x = get_global_id(0), y = get_global_id(1);
            if (x < w && y < h)
              b[y * w + x] = a[clamp(y - 1, 0, h - 1) * w + max(x - 1, 0)] * 7u + a[min(y + 1, h - 1) * w + x];
          }
          uint read(global const uint* a, int x, int y, int w, int h) { return y >= 0 && y < h ? a[y * w + x] : 9u; }
          kernel void hidden(global const uint* a, global uint* b, int w, int h) {
            const int x = get_global_id(0), y = get_global_id(1);
            if (x < w && y < h) b[y * w + x] = read(a, x, y - 1, w, h) + 2u * read(a, x, y + 1, w, h);
          }
          kernel void space(global const uint* a, global uint* b) {
            const size_t plane = get_global_size(0) * get_global_size(1);
            const size_t i = get_global_id(2) * plane + get_global_id(1) * get_global_size(0) + get_global_id(0);
            b[i] = 3u * a[i] + (get_global_id(2) > 0 ? a[i - plane] : 4u);
          }""")

        def plane(a: list[int], w: int, h: int, x: int, y: int) -> int:
            return (3 * a[y * w + x] + (a[(y - 2) * w + x] if y >= 2 else 1)
                    + sum(a[(y + 1) * w + x + d] for d in (-1, 0, 1) if 0 <= x + d < w and y + 1 < h))

        def torus(a: list[int], w: int, h: int, x: int, y: int) -> int:
            return 5 * a[(y - 1) % h * w + (x + 1) % w] + a[(y + 1) % h * w + x] + 1

        def edge(a: list[int], w: int, h: int, x: int, y: int) -> int:
            return a[max(y - 1, 0) * w + max(x - 1, 0)] * 7 + a[min(y + 1, h - 1) * w + x]

        def hidden(a: list[int], w: int, h: int, x: int, y: int) -> int:
            return (a[(y - 1) * w + x] if y > 0 else 9) + 2 * (a[(y + 1) * w + x] if y + 1 < h else 9)

        def space(a: list[int], w: int, h: int, x: int, y: int) -> int:  # 2 rows of w / 2 are a plane
            return 3 * a[y * w + x] + (a[(y - 1) * w + x] if y > 0 else 4)

        chance = random.Random(SEED)
        repeat = chance.randrange(2, 7)
        document: Document = {"buffers": {}, "ops": {}, "waves": [], "repeat": repeat, "swap": []}
        right, most_sent = {}, {}
        for op in (plane, torus, edge, hidden, space):
            name, w, h, group = op.__name__, 2 * chance.randrange(4, 20), chance.randrange(12, 50), chance.randrange(1, 4)
            values = [chance.randrange(2**32) for _ in range(w * h)]
            self.file(f"{name}.raw", struct.pack(f"<{w * h}I", *values))
            a, b, in_space = f"{name} a", f"{name} b", name == "space"
            args: list[Document] = [{"buffer": a}, {"buffer": b}] + ([] if in_space else [{"i32": w}, {"i32": h}])
            if name == "hidden":
                args[0]["rows"], args[1]["rows"] = 1, 0
            buffer = {"type": "u32", "shape": [h, w]}
            document["buffers"] |= {a: {**buffer, "init": {"file": f"{name}.raw"}, "output": f"{name}_out.raw"}, b: buffer}
            document["ops"][name] = {"source": "stencils.cl"}
            document["waves"].append(
                {"op": name, "args": args, "global_size": [w // 2, 2, h] if in_space else [w, (h + group - 1) // group * group],
                 "local_size": [1, 1, 1] if in_space else [w, group]})
            document["swap"].append([a, b])
            for _ in range(repeat):
                values = [op(values, w, h, x, y) % 2**32 for y in range(h) for x in range(w)]
            right[name], most_sent[name] = struct.pack(f"<{w * h}I", *values), repeat * 2 * 4 * w * (2 + group)
        self.file("program.json", json.dumps(document))
        for ranks in (1, 2, 3, 4):
            with self.subTest(seed=SEED, ranks=ranks, document=document):
                result = self.mpirun(ranks, "run", "program.json", *(("--strategy", "plain") if ranks == 1 else ()))
                self.check(result, 0)
                for name, data in right.items():
                    self.assertEqual((self.folder / f"{name}_out.raw").read_bytes(), data, name)
                if ranks > 1:
                    report = parse(result.stdout)["ranks"]
                    self.assertEqual([wave["runs_on"] for wave in report["waves"]], ["parts"] * 5, report)
                    sent = {buffer["buffer"]: buffer["bytes_sent"] for buffer in report["buffers"]}
                    for name, most in most_sent.items():
                        self.assertLess(sent[f"{name} a"] + sent[f"{name} b"], ranks * most, name)

    def test_a_stated_halo_makes_no_rows(self) -> None:
        """It counts work-groups; here the first id counts the rows of the buffer, and the last one its columns."""
        self.file("columns.cl", "void put(global uint* p, uint at, uint value) { p[at] = value; }\n"
                  "uint get(global const uint* p, uint at) { return p[at]; }\n"
                  "kernel void add(global const uint* a, global uint* b) {\n  const uint n = 24, y = get_global_id(0), x = get_global_id(1);\n"
                  "  put(b, y * n + x, get(a, y * n + x) + (y > 0 ? get(a, (y - 1) * n + x) : 7));\n}\n")
        values = list(range(24 * 24))
        buffer = {"type": "u32", "shape": [24, 24]}
        document = {"buffers": {"a": {**buffer, "init": {"iota": {}}, "output": "a.raw"}, "b": buffer}, "ops": {"add": {"source": "columns.cl"}},
                    "waves": [{"op": "add", "global_size": [24, 24], "local_size": [4, 4], "args": [{"buffer": "a", "halo": 1}, {"buffer": "b", "halo": 0}]}],
                    "repeat": 5, "swap": [["a", "b"]]}
        self.file("program.json", json.dumps(document))
        for _ in range(5):
            values = [value + (values[i - 24] if i >= 24 else 7) for i, value in enumerate(values)]
        for ranks in (2, 3):
            result = self.mpirun(ranks, "run", "program.json")
            self.check(result, 0)
            self.assertEqual([wave["runs_on"] for wave in parse(result.stdout)["ranks"]["waves"]], ["one"])
            self.assertEqual((self.folder / "a.raw").read_bytes(), struct.pack("<576I", *(value % 2**32 for value in values)))

    def test_rows_of_one_op_in_one_and_two_dimensions(self) -> None:
        self.file("key.cl", """kernel void key(global float* out, uint w) {
          const uint x = get_global_id(0), y = get_global_id(1);
          out[y * w + x] = x + 1;
        }""")
        self.file("program.json", json.dumps({
            "buffers": {"wide": {"type": "f32", "shape": [1, 8], "output": "wide.raw"}, "line": {"type": "f32", "shape": [8], "output": "line.raw"}},
            "ops": {"key": {"source": "key.cl"}},
            "waves": [{"op": "key", "global_size": size, "local_size": [4] + [1] * (len(size) - 1), "args": [{"buffer": name}, {"u32": 8}]}
                      for name, size in (("wide", [8, 1]), ("line", [8]))]}))
        for ranks in (1, 2):
            result = self.mpirun(ranks, "run", "program.json", *(("--strategy", "plain") if ranks == 1 else ()))
            self.check(result, 0)
            for name in ("wide", "line"):
                self.assertEqual(struct.unpack("<8f", (self.folder / f"{name}.raw").read_bytes()), tuple(range(1, 9)))
        self.assertEqual([wave["runs_on"] for wave in parse(result.stdout)["ranks"]["waves"]], ["one", "parts"])

    def test_atomics_are_combined_or_run_on_one_rank(self) -> None:
        chance = random.Random(SEED)
        values = [chance.randrange(1000) for _ in range(500)]
        self.file("values.raw", struct.pack("<500I", *values))
        self.file("counts.cl", """
          kernel void counts(global const uint* a, global uint* bins, global long* low, volatile global int* high) {
            const uint i = get_global_id(0);
            if (i >= 500) return;
            atomic_inc(&bins[a[i] % 16]);
            atom_min(low, (long)a[i] - 500);
            atomic_max(high + a[i] % 3, (int)a[i]);
          }
          kernel void claims(global const uint* a, global uint* slots, global uint* next, global uint* sum) {
            const uint i = get_global_id(0);
            if (i >= 500) return;
            atomic_add(sum, a[i]);
            slots[atomic_inc(next)] = a[i];
          }""")
        document: Document = {
            "buffers": {"a": {"type": "u32", "count": 500, "init": {"file": "values.raw"}}, "bins": {"type": "u32", "count": 16, "init": {"fill": 3}, "output": "bins.raw"},
                        "low": {"type": "i64", "count": 1, "init": {"fill": 400}, "output": "low.raw"}, "high": {"type": "i32", "count": 3, "init": {"fill": -9}, "output": "high.raw"},
                        "slots": {"type": "u32", "count": 1000, "output": "slots.raw"}, "next": {"type": "u32", "count": 1, "init": {"fill": 0}, "output": "next.raw"},
                        "sum": {"type": "u32", "count": 1, "init": {"fill": 0}, "output": "sum.raw"}},
            "ops": {"counts": {"source": "counts.cl"}, "claims": {"source": "counts.cl"}},
            "waves": [{"op": "counts", "global_size": [512], "local_size": [16], "args": [{"buffer": name} for name in ("a", "bins", "low", "high")]},
                      {"op": "claims", "global_size": [512], "local_size": [16], "args": [{"buffer": name} for name in ("a", "slots", "next", "sum")]}],
            "repeat": 2}
        self.file("counts.json", json.dumps(document))

        def raw(name: str) -> bytes:
            return (self.folder / name).read_bytes()

        bins = [3 + 2 * sum(value % 16 == bin for value in values) for bin in range(16)]
        for ranks in (1, 2, 3, 4):
            with self.subTest(seed=SEED, ranks=ranks):
                result = self.mpirun(ranks, "run", "counts.json", *(("--strategy", "plain") if ranks == 1 else ()))
                self.check(result, 0)
                self.assertEqual(struct.unpack("<16I", raw("bins.raw")), tuple(bins))
                self.assertEqual(struct.unpack("<q", raw("low.raw")), (min(min(values) - 500, 400),))
                self.assertEqual(struct.unpack("<3i", raw("high.raw")), tuple(max(v for v in values if v % 3 == k) for k in range(3)))
                self.assertEqual(struct.unpack("<II", raw("next.raw") + raw("sum.raw")), (1000, 2 * sum(values)))
                slots = struct.unpack("<1000I", raw("slots.raw"))
                self.assertEqual((sorted(slots[:500]), sorted(slots[500:])), (sorted(values), sorted(values)))
                if ranks > 1:
                    report = parse(result.stdout)["ranks"]
                    self.assertEqual([(wave["runs_on"], wave["reason"]) for wave in report["waves"]],
                                     [("parts", ""), ("one", 'which elements of "slots" a work-item writes is not known')])
                    sent = {buffer["buffer"]: buffer["bytes_sent"] for buffer in report["buffers"]}
                    self.assertEqual((sent["slots"], sent["next"]), (2 * 4000 * (ranks - 1), 2 * 4 * (ranks - 1)))
                    why = {buffer["buffer"]: (buffer["split"], buffer["reason"]) for buffer in report["buffers"]}
                    self.assertEqual(why["bins"], (False, "ranks combine theirs after wave 0 (counts)"))
                    self.assertEqual(why["slots"], (False, "rank 0 runs all of wave 1 (claims), which writes it"))
        document["waves"][0]["args"][1]["combine"] = "max"
        self.file("counts.json", json.dumps(document))
        result = self.mpirun(1, "check", "counts.json")
        self.check(result, 3)
        self.assertIn('combine is "max", and the kernel adds to "bins" with atomics', result.stderr)

    def test_queues_make_the_same_bytes_and_counts(self) -> None:
        counted = ("items_processed", "items_remaining", "deduped_items", "published_items", "lineage_items", "region_lineage", "queues")
        for name, sizes in (("queue", (2, 4)), ("quadrature", (2,)), ("queens", (4,))):
            program = self.example(name)
            self.check(self.mpirun(1, "run", "program.json", "--strategy", "plain", "-o", "report.json"), 0)
            alone, report_alone = self.outputs(program), parse((self.folder / "report.json").read_text())
            for ranks in sizes:
                with self.subTest(name=name, ranks=ranks):
                    result = self.mpirun(ranks, "run", "program.json", "--verify")
                    self.check(result, 0)
                    report = parse(result.stdout)
                    self.assertTrue(report["output_parity"]["equal"])
                    self.assertEqual(self.outputs(program), alone)
                    self.assertEqual({key: report.get(key) for key in counted}, {key: report_alone.get(key) for key in counted})
                    self.assertEqual([(wave["runs_on"], wave["reason"]) for wave in report["ranks"]["waves"]],
                                     [("one", "it is a queue, whose items run in any order")])

    def test_a_queue_that_fails_is_reported_once_as_by_one_process(self) -> None:
        self.file("queue.cl", test_run_queues.OPS)
        self.file("wanted.raw", struct.pack("<6I", 1, 2, 1, 1, 99, 1))
        stalls = test_run_queues.queue_program(  # item 4 alone, of another rank than the first
            {"count": test_run_queues.queue_op()},
            {"wanted": {"type": "u32", "count": 6, "init": {"file": "wanted.raw"}}, "seen": {"type": "u32", "count": 6, "output": "out.npy"}},
            [(0, 0, 1, i) for i in range(6)], queue={"most_stalled_rounds": 3})
        fails = test_run_queues.Ends.checked_program(self, [0, 1, 2, 9, 0, 0])
        every_rank = test_run_queues.queue_program(
            {"wait": test_run_queues.queue_op()}, {"in": {"type": "u32", "count": 1, "init": {"fill": 0}}, "out": {"type": "u32", "count": 1, "output": "out.npy"}},
            [(0, 0, 1, 0)], queue={"most_stalled_rounds": 6})
        for document in (fails, stalls, every_rank):
            self.file("program.json", json.dumps(document))
            alone = self.mpirun(1, "run", "program.json", "--strategy", "plain")
            self.check(alone, 1)
            result = self.mpirun(3, "run", "program.json")
            self.check(result, 1)
            errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
            self.assertEqual(errors[0], alone.stderr.splitlines()[0])
            self.assertEqual(len(errors), 1, result.stderr)
            self.assertFalse((self.folder / "out.npy").exists())
            counted = ("status", "items_processed", "items_remaining", "queues")
            self.assertEqual({key: parse(result.stdout)[key] for key in counted}, {key: parse(alone.stdout)[key] for key in counted})

    def test_ranks_of_vertices_have_the_same_bytes(self) -> None:
        self.file("graph.json", json.dumps({"graph": {"generate": {"rmat": {"scale": 10, "edge_factor": 8, "seed": 3}}, "undirected": True},
                                            "algorithm": "pagerank", "outputs": {"ranks": "ranks.npy"}}))
        made = []
        # Whole on rank 0, which checks it; in parts, as it was checked; whole again.
        for ranks, args, compared in ((1, (), True), (3, ("--set", "cache=no",), True), (3, (), True), (3, ("--set", "verify-first=no"), False),
                                      (3, ("--verify",), True)):
            result = self.mpirun(ranks, "run", "graph.json", *args)
            self.check(result, 0)
            self.assertEqual(parse(result.stdout)["first_run"]["compared"], compared)
            made.append((self.folder / "ranks.npy").read_bytes())
        self.assertEqual(made, [made[0]] * 5)
        report = parse(result.stdout)
        self.assertTrue(report["verification"]["right"])
        self.assertEqual(report["warnings"][-1]["message"], "3 ranks of this host share 1 device")
        self.assertEqual(sum(rank["edges"] for rank in report["ranks"]["ranks"]), report["graph"]["edges"])
        iterations = len(report["waves"])  # in each of them a rank sends its part to every other, and sums
        self.assertGreaterEqual(report["ranks"]["bytes_sent"], iterations * 2 * 1024 * 4)
        self.assertLess(report["ranks"]["bytes_sent"], iterations * (2 * 1024 * 4 + 600))

    def test_results_in_parts_are_those_that_rank_0_verifies(self) -> None:
        for algorithm, outputs, more in (("bfs", ("levels", "parents"), {}), ("reach", ("reached",), {}),
                                         ("sssp", ("distances",), {"weights": "u32"}),
                                         ("sssp", ("distances",), {"generate": {"grid": {"width": 40, "height": 30, "seed": 1,
                                                                                         "max_weight": 2**32 - 1}}})):
            with self.subTest(algorithm=algorithm):
                graph = {"generate": {"rmat": {"scale": 9, "edge_factor": 3, "seed": 5}}, "undirected": True, **more}
                self.file("graph.json", json.dumps({"graph": graph, "algorithm": algorithm, "sources": [1],
                                                    "outputs": {name: f"{name}.npy" for name in outputs}}))
                made, answers = [], []
                for args in (("--verify",), ("--set", "verify-first=no")):
                    result = self.mpirun(3, "run", "graph.json", *args)
                    self.check(result, 0)
                    answers.append(parse(result.stdout)["answer"])
                    made.append([(self.folder / f"{name}.npy").read_bytes() for name in outputs])
                    for name in outputs:
                        (self.folder / f"{name}.npy").unlink()
                self.assertEqual(made[0], made[1])
                self.assertEqual(answers[0], answers[1])

    def test_files_are_read_in_parts(self) -> None:
        rows: list[set[int]] = [set() for _ in range(500)]
        chance = random.Random(3)
        for _ in range(2500):
            one, other = chance.sample(range(500), 2)
            rows[one].add(other)
            rows[other].add(one)
        lines = [" ".join(f"{neighbour + 1} {(neighbour * one + neighbour + one) % 6}" for neighbour in sorted(row)) for one, row in enumerate(rows)]
        head = f"500 {sum(map(len, rows)) // 2} 001"
        self.file("rows.graph", "\n".join([head, *lines, ""]))
        for algorithm, output, more in (("sssp", "distances", {"sources": [7]}), ("pagerank", "ranks", {}), ("cc", "components", {})):
            weights = {} if algorithm == "cc" else {"weights": "f32"}
            self.file("graph.json", json.dumps({"graph": {"file": "rows.graph", **weights}, "algorithm": algorithm,
                                                "outputs": {output: "values.npy"}, **more}))
            made = []
            for ranks, args in ((3, ("--verify",)), (2, ("--set", "verify-first=no")), (4, ("--set", "verify-first=no"))):
                result = self.mpirun(ranks, "run", "graph.json", *args)
                self.check(result, 0)
                made.append(((self.folder / "values.npy").read_bytes(), parse(result.stdout)["answer"]))
            self.assertEqual(made, [made[0]] * 3, algorithm)
            self.assertEqual(sum(rank["edges"] for rank in parse(result.stdout)["ranks"]["ranks"]), parse(result.stdout)["graph"]["edges"])
        self.file("rows.graph", "\n".join([head, *lines[:-1], f"{lines[-1]} 4 1" if "4 " not in lines[-1] else lines[-1][:-4], ""]))
        result = self.mpirun(3, "run", "graph.json", "--set", "verify-first=no")
        self.check(result, 3)

    def test_traces_and_pages_have_the_work_and_the_messages_of_each_rank(self) -> None:
        self.example("heat", 5)
        self.file("graph.json", json.dumps({"graph": {"generate": {"grid": {"width": 40, "height": 4}}}, "algorithm": "bfs", "sources": [0]}))
        for program, work in (("program.json", '"diffuse"'), ("graph.json", "sparse_frontier")):
            self.check(self.mpirun(2, "run", program, "--trace", "trace.json", "--report", "page.html", "-o", "report.json"), 0)
            report = parse((self.folder / "report.json").read_text())
            self.assertEqual([file["what"] for file in report["files_written"]][-2:], ["trace", "page"])
            events = parse((self.folder / "trace.json").read_text())["traceEvents"]
            lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            self.assertEqual(list(lanes.values()), ["rank 0", "rank 0, sends", "rank 1", "rank 1, sends"])
            for rank in (0, 1):
                own = sorted((event for event in events if event["ph"] == "X" and lanes[event["tid"]].startswith(f"rank {rank}")),
                             key=lambda event: event["ts"])
                self.assertIn((f"rank {rank}", work), {(lanes[event["tid"]], event["name"]) for event in own})
                self.assertIn((f"rank {rank}, sends", "messages"), {(lanes[event["tid"]], event["name"]) for event in own})
                for one, after in zip(own, own[1:]):  # one after the other
                    self.assertLessEqual(one["ts"] + one["dur"], after["ts"] + 0.002)
            sent = [event["args"]["value"] for event in events if event["name"] == "bytes sent by rank 0"]
            self.assertGreaterEqual(sent[-1], report["ranks"]["ranks"][0]["bytes_sent"])
            self.assertIn('"rank 1, sends"', (self.folder / "page.html").read_text())

    def test_a_kernel_that_loops_is_reported_by_its_rank_alone(self) -> None:
        self.file("loops.cl", """kernel void loops(global const uint* in, global uint* out, uint step, uint from, uint end) {
          const uint i = get_global_id(0);
          while (step == 3u && i >= from && i < end && ((volatile global const uint*)in)[i] != 77u) { }
          out[i] = in[i] % 5u + (i > 0 ? in[i - 1] % 3u : 0u) + (i < 63u ? in[i + 1] % 3u : 0u);
        }""")
        buffer = {"type": "u32", "shape": [64], "init": {"fill": 1}}
        for rank, repeat in ((3, 4), (1, 10)):  # in the last wave, and with others waiting for its rows
            with self.subTest(rank=rank, repeat=repeat):
                self.file("program.json", json.dumps({
                    "buffers": {"in": {**buffer, "output": "out.npy"}, "out": buffer}, "ops": {"loops": {"source": "loops.cl"}},
                    "waves": [{"op": "loops", "global_size": [64], "local_size": [8],
                               "args": [{"buffer": "in", "rows": 1}, {"buffer": "out", "rows": 0}, {"u32": 0, "iteration": {"add": 1}},
                                        {"u32": 16 * rank}, {"u32": 16 * rank + 16}]}],
                    "repeat": repeat, "swap": [["in", "out"]]}))
                begin = time.monotonic()
                result = self.mpirun(4, "run", "program.json", "-o", "report.json", "--max-wall-time", "2s", "--set", "verify-first=no")
                self.check(result, 1)
                self.assertLess(time.monotonic() - begin, 60)
                errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
                self.assertEqual(len(errors), 1, result.stderr)
                said = f"rank {rank} of 4: the wall time of 2 s is over, and the device has not come back since: a kernel does not return"
                said += "; before that it had come to wave 0 (loops) of iteration 3"
                self.assertIn(said, errors[0])
                report = parse((self.folder / "report.json").read_text())
                self.assertEqual((report["status"], report["error"]["message"]), ("deadline", said))
                self.assertFalse((self.folder / "out.npy").exists())

    def test_a_rank_whose_launches_take_long_reports_the_wall_time(self) -> None:
        self.file("slow.cl", """kernel void slow(global const uint* in, global uint* out) {
          const uint i = get_global_id(0);
          uint v = in[i];
          for (uint k = 0; k < (i >= 32u && i < 48u ? 100000u : 1u); ++k) v = v * 3u + k;
          out[i] = v + (i > 0 ? in[i - 1] % 3u : 0u);
        }""")
        buffer = {"type": "u32", "shape": [64], "init": {"fill": 1}}
        for swap in ([["in", "out"]], []):
            with self.subTest(swap=swap):  # with others waiting for its rows, and alone
                self.file("program.json", json.dumps({
                    "buffers": {"in": {**buffer, "output": "in.npy"}, "out": {**buffer, "output": "out.npy"}}, "ops": {"slow": {"source": "slow.cl"}},
                    "waves": [{"op": "slow", "global_size": [64], "local_size": [8],
                               "args": [{"buffer": "in", "rows": 1}, {"buffer": "out", "rows": 0}]}], "repeat": 10**7, "swap": swap}))
                (self.folder / "report.json").unlink(missing_ok=True)
                result = self.mpirun(4, "run", "program.json", "-o", "report.json", "--max-wall-time", "2s")
                self.check(result, 1)
                errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
                self.assertEqual(len(errors), 1, result.stderr)
                self.assertIn("the wall time of 2 s is over: ", errors[0])
                self.assertEqual([path.name for path in self.folder.glob("*.npy")], [])
                report = parse((self.folder / "report.json").read_text())
                self.assertEqual(report["status"], "deadline")
                self.assertEqual(report["ranks"]["waves"][0]["runs_on"], "parts")
                (rank,) = report["ranks"]["ranks"]
                self.assertLess(rank["waiting_ns"], rank["dispatch_ns"])
                if rank["rank"] != 0:
                    self.assertTrue(report["error"]["message"].startswith(f'rank {rank["rank"]} of 4: '))
                self.check(self.mpirun(1, "check", "report.json"), 1)

    def test_a_traversal_that_ends_early_has_the_numbers_of_the_rank_that_reports(self) -> None:
        self.file("graph.json", json.dumps({"graph": {"generate": {"grid": {"width": 900, "height": 9}}}, "algorithm": "bfs", "sources": [0]}))
        result = self.mpirun(3, "run", "graph.json", "-o", "report.json", "--max-wall-time", "1us", "--set", "verify-first=no")
        self.check(result, 1)
        report = parse((self.folder / "report.json").read_text())
        self.assertEqual(report["status"], "deadline")
        (rank,) = report["ranks"]["ranks"]
        self.assertLess(rank["edges"], report["graph"]["edges"])
        self.check(self.mpirun(1, "check", "report.json"), 1)

    def test_an_algorithm_that_loops_is_reported_by_its_rank_alone(self) -> None:
        self.file("path.txt", "".join(f"{v} {v + 1}\n" for v in range(400)))
        self.file("hops.cl", """uint at_source(uint vertex, uint index) { return 0u; }
          uint along(uint hops, uint weight) { volatile uint looked_at = hops; while (looked_at == 250u) { } return hops + 1u; }""")
        self.file("graph.json", json.dumps({"graph": {"file": "path.txt"}, "algorithm": {"source": "hops.cl", "value": "u32", "merge": "min"},
                                            "sources": [0], "outputs": {"values": "hops.raw"}}))
        result = self.mpirun(4, "run", "graph.json", "-o", "report.json", "--max-wall-time", "3s", "--set", "verify-first=no")
        self.check(result, 1)
        errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertIn("rank 2 of 4: the wall time of 3 s is over", errors[0])
        report = parse((self.folder / "report.json").read_text())
        self.assertTrue(report["error"]["message"].startswith("rank 2 of 4: "))
        self.assertEqual([rank["rank"] for rank in report["ranks"]["ranks"]], [2])
        self.check(self.mpirun(1, "check", "report.json"), 1)
        self.assertFalse((self.folder / "hops.raw").exists())

    def test_one_rank_with_an_error_ends_all(self) -> None:
        self.example("heat", 10**8)
        self.file("bad.json", '{"buffers": 1}')
        self.file("own", f'#!/bin/sh\nexec {binary()} run $([ $OMPI_COMM_WORLD_RANK = 2 ] && echo bad || echo program).json\n').chmod(0o755)
        result = self.ended(self.start(3, "./own"))
        self.check(result, 3)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("tidegate: "), 1, result.stderr)
        self.assertIn("error: rank 2 of 3: ", result.stderr)
        self.assertFalse((self.folder / "heat.npy").exists())

    def test_wrong_usage_is_reported_once(self) -> None:
        for args in (("--nosuch",), ("--baseline", "report.json")):
            result = self.mpirun(3, "run", "program.json", *args)
            self.check(result, 2)
            self.assertEqual(result.stderr.count("tidegate: "), 1, result.stderr)
            self.assertIn("rank 0 of 3: ", result.stderr)

    def test_a_file_beyond_the_limit_of_ulimit_is_an_error_of_writing(self) -> None:
        limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "limited", binary(), "schema", "run_report", "-o", "schema.json"]
        result = subprocess.run(limited, cwd=self.folder, capture_output=True, check=False, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("cannot write schema.json: File too large", result.stderr)
        self.assertFalse((self.folder / "schema.json").exists())

    def test_a_disk_that_is_full_for_rank_0_ends_all(self) -> None:
        """Its files may have 8 MiB."""
        self.file("rows.cl", "kernel void rows(global uint* out) { const uint i = get_global_id(0); out[i] = 3u * i; }")
        self.file("program.json", json.dumps({
            "buffers": {"out": {"type": "u32", "shape": [3 << 20], "output": "out.npy"}}, "ops": {"rows": {"source": "rows.cl"}},
            "waves": [{"op": "rows", "global_size": [3 << 20], "local_size": [256], "args": [{"buffer": "out", "rows": 0}]}]}))
        self.only_one_rank_fails(0, "ulimit -f 8192", "cannot write out.npy: File too large")

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_a_device_that_one_rank_loses_ends_all(self) -> None:
        self.example("heat", 200)
        self.only_one_rank_fails(2, f"export OPENCL_LAYERS={FAILING_DRIVER} TIDEGATE_FAILING_CALL=clEnqueueNDRangeKernel:50", "CL_OUT_OF_RESOURCES")

    def test_an_error_of_all_ranks_is_reported_once(self) -> None:
        self.file("bad.json", '{"buffers": 1}')
        result = self.mpirun(3, "run", "bad.json")
        self.check(result, 3)
        self.assertEqual(result.stderr.count("error: rank 0 of 3: "), 1, result.stderr)
        self.assertNotIn("rank 1", result.stderr)

    def test_a_process_killed_at_a_random_moment_ends_all(self) -> None:
        """A rank, the process that waits for it, or mpirun; TIDEGATE_KILLS=100 kills as many."""
        self.example("heat", 300)
        self.file("graph.json", json.dumps({"graph": {"generate": {"rmat": {"scale": 12, "edge_factor": 8, "seed": 3}}, "undirected": True},
                                            "algorithm": "bfs", "sources": [1], "outputs": {"levels": "levels.npy", "parents": "parents.npy"}}))
        given = {path.name for path in self.folder.iterdir()}

        def results() -> dict[str, bytes]:
            found = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name not in given}
            for name in found:
                (self.folder / name).unlink()
            return found

        def started(program: str) -> subprocess.Popen[bytes]:
            return self.start(3, binary(), "run", str(self.folder / program), "-o", str(self.folder / "report.json"))

        whole, seconds = {}, {}
        for program in ("program.json", "graph.json") * 2:  # the second time without compiling
            for _ in range(3):  # processes that compile one source with PoCL at once disturb each other now and then
                begin = time.monotonic()
                result = self.ended(started(program))
                if "failed to build the program" not in result.stderr:
                    break
            self.check(result, 0)
            seconds[program] = time.monotonic() - begin
            whole[program] = results()
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        for number in range(int(os.environ.get("TIDEGATE_KILLS", "4"))):
            program = chance.choice(("program.json", "graph.json"))
            with self.subTest(seed=seed, number=number, program=program):
                running = started(program)
                time.sleep(chance.uniform(0, 0.9 * seconds[program]))
                victim = chance.choice([running.pid, *processes_of(self.folder)])
                with contextlib.suppress(ProcessLookupError):  # a rank may have ended; mpirun stays a zombie
                    os.kill(victim, signal.SIGKILL)
                begin = time.monotonic()
                while processes_of(self.folder) and time.monotonic() - begin < 30:
                    time.sleep(0.05)
                self.assertEqual(processes_of(self.folder), [])
                try:
                    running.wait(60)
                except subprocess.TimeoutExpired:  # Open MPI's own: no process of tidegate is left
                    running.kill()
                result = self.ended(running)
                if result.rc > 0:
                    self.assertRegex(result.stderr, "error: |exited on signal 9|non-zero exit code")
                for name, contents in results().items():
                    self.assertIn(name, set(whole[program]))
                    if name != "report.json":
                        self.assertEqual(contents, whole[program][name])

    def test_what_does_not_work_is_refused_by_name(self) -> None:
        self.example("heat")
        given = set(self.folder.iterdir())
        for args, what in ((("--compare", "3"), "--compare"), (("--stress", "3"), "--stress"), (("--stream",), "--stream"),
                           (("--by-wave", "--report", "page.html"), "--by-wave"),
                           (("--strategy", "barrier"), "a --strategy other than plain")):
            self.assertIn(f"{what} does not work on several ranks yet", self.mpirun(2, "run", "program.json", *args).stderr)
        self.assertEqual(set(self.folder.iterdir()), given)
        self.file("graph.json", json.dumps({"graph": {"generate": {"grid": {"width": 3, "height": 3}}}, "algorithm": "bfs", "sources": [0]}))
        self.assertIn("--set tuning.force-topology does not work on several ranks yet",
                      self.mpirun(2, "run", "graph.json", "--set", "tuning.force-topology=sparse_frontier").stderr)
        for name, what in (("fire", "wave 2 (burn) with active tiles "), ("blur", 'the image "photo" '),
                           ("search", 'the list of hits "found" ')):
            self.example(name)
            result = self.mpirun(2, "run", "program.json")
            self.check(result, 3)
            self.assertIn(f"{what}cannot run on several ranks yet", result.stderr)

    def test_without_the_module_the_error_says_how_to_build_it(self) -> None:
        self.example("heat")
        shutil.copy(binary(), self.folder / "tidegate")
        result = self.ended(self.start(2, "./tidegate", "run", "program.json"))
        self.check(result, 4)
        self.assertIn(f"the module for MPI is missing: there is neither {self.folder.parent}/", result.stderr)
        self.assertIn(f"/libtidegate_mpi.so nor {self.folder}/libtidegate_mpi.so", result.stderr)
        self.assertIn("-DTIDEGATE_MPI=ON", result.stderr)

    def test_processes_of_a_launcher_are_never_copies_of_one(self) -> None:
        """Without MPI they would each run the whole program, and write the same files."""
        self.example("heat", 2)
        given = set(self.folder.iterdir())
        shutil.copy(binary(), self.folder / "tidegate")
        for program in ("./tidegate", binary()):
            for variables in ({"PMI_RANK": "0", "PMI_SIZE": "2"}, {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, {"PMIX_RANK": "1"}):
                with self.subTest(program=program, variables=variables):
                    result = subprocess.run([program, "run", "program.json"], cwd=self.folder, env={**os.environ, **environment(), **variables},
                                            capture_output=True, text=True, timeout=PATIENCE, check=False)
                    self.assertEqual(result.returncode, 4, result.stderr)
                    self.assertRegex(result.stderr, "module for MPI is missing" if program == "./tidegate" else "and MPI knows of 1")
        self.assertEqual(set(self.folder.iterdir()), given | {self.folder / "tidegate"})
        shell = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0"}  # of salloc, and the script of sbatch
        result = subprocess.run([binary(), "run", "program.json", "--strategy", "plain", "-q"], cwd=self.folder,
                                env={**os.environ, **environment(), **shell}, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_drivers_that_mpirun_has_replaced_are_named(self) -> None:
        self.example("heat", 2)
        begin = ("env", "OCL_ICD_FILENAMES=libother.so", *MPIRUN, "-n", "2", "env", "OCL_ICD_FILENAMES=libpocl.so.2")
        ran = subprocess.run([*begin, binary(), "run", "program.json"], cwd=self.folder, env={**os.environ, **environment()},
                             capture_output=True, text=True, timeout=60)
        warning = parse(ran.stdout)["warnings"][-1]
        self.assertEqual(warning["message"], "mpirun has replaced OCL_ICD_FILENAMES=libother.so, so its devices are missing")
        self.assertIn("mpirun -n 2 env OCL_ICD_FILENAMES=libother.so tidegate run", warning["fix"])

    def test_devices_lists_each_rank_once(self) -> None:
        result = self.mpirun(3, "devices")
        self.check(result, 0)
        ranks = parse(result.stdout)["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1, 2])
        listed = self.mpirun(2, "devices", "--device", "cpu,cpu")
        self.assertEqual(len({rank["index"] for rank in parse(listed.stdout)["ranks"]}), 1)

    def test_other_commands_answer_once(self) -> None:
        self.assertRegex(self.mpirun(3, "--version").stdout, r"\Atidegate [\d.]+\n\Z")


if __name__ == "__main__":
    unittest.main()
