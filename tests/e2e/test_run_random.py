"""tidegate run, random programs: each against plain launches (--verify) and, where all is integers, against Python.

The generated interpreter depends on the ops, the work-group size and `until`, not on the program: so programs are drawn
over a few families of ops, and after the first of a family its kernel is kept.
TIDEGATE_SEED=N|random draws others, TIDEGATE_RANDOM_PROGRAMS=N more of them, TIDEGATE_RANDOM_EVERY_WAY=N programs that are
run in every mode and strategy.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import unittest
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from support import Document
from test_run import SANITIZED, Programs, read_array

SEED = {"": 20261121, "random": random.SystemRandom().getrandbits(32)}.get(
    text := os.environ.get("TIDEGATE_SEED", ""), int(text) if text.isdigit() else 0)
COUNT = int(os.environ.get("TIDEGATE_RANDOM_PROGRAMS") or (24 if SANITIZED else 32))
EVERY_WAY = int(os.environ.get("TIDEGATE_RANDOM_EVERY_WAY") or 0)
PROMOTED_COUNT = 2 if SANITIZED else max(3, COUNT // 10)
JIT_COUNT = 2 if SANITIZED else max(4, COUNT // 17)

KERNELS = """
#define AT get_global_id(0)

static uint turned(uint x, uint by) { return (x << (by & 31u)) | (x >> ((32u - by) & 31u)); }

kernel void mix_in(global uint* a, global uint* out, uint k, uint n) {
  if (AT < n) out[AT] = a[AT] * 5u + turned(k, (uint)AT);
}
kernel void accumulate(global const uint* a, global uint* out, uint n) {
  if (AT < n) out[AT] += a[AT] ^ (uint)get_group_id(0);
}
kernel void rotate_by(global const uint* restrict a, global uint* out, uint by, uint n) {
  if (AT < n) out[AT] = a[(AT + by) % n] + (uint)get_local_size(0);
}
kernel void in_place(global uint* x, uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  x[i] = x[i] * 3u + (uint)get_local_id(0);
}
kernel void scattered(global const uint* a, global uint* out, uint n) {
  if (AT < n) atomic_add(&out[a[AT] % n], (uint)AT + 1u);
}
kernel void backwards(global const uint* a, global uint* out, uint n) {
  local uint kept[32];
  uint l = get_local_id(0), last = get_local_size(0) - 1;
  kept[l] = AT < n ? a[AT] : 7u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (AT < n) out[AT] = kept[last - l] + out[AT];
}
kernel void group_sum(global const uint* a, global uint* out, local uint* sums, uint n) {
  uint l = get_local_id(0);
  sums[l] = AT < n ? a[AT] : 0u;
  for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step) sums[l] += sums[l + step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (AT < n) out[AT] = a[AT] - sums[0];
}
kernel void transposed(global const uint* a, global uint* out, uint2 size) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x < size.x && y < size.y) out[x * size.y + y] = a[y * size.x + x] + (uint)get_num_groups(1);
}
kernel void volume(global const uint* a, global uint* out, uint n) {
  uint i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  if (i < n) out[i] += a[n - 1 - i] + get_group_id(0) + 3u * get_local_id(1) + 7u * get_group_id(2)
                     + 11u * (uint)get_global_offset(0);
}
kernel void step_on(global int* counter) { if (get_global_id(0) == 0) counter[0] += 1; }
kernel void axpy(global const float* x, global float* y, float alpha, uint n) {
  if (AT < n) y[AT] = alpha * x[AT] + 0.5f * y[AT];
}
kernel void smooth(global float* x, global float* out, uint n) {
  uint i = get_global_id(0);
  if (i < n) out[i] = 0.25f * x[i == 0 ? 0 : i - 1] + 0.5f * x[i] + 0.25f * x[i + 1 == n ? i : i + 1];
}
kernel void to_float(global const uint* a, global float* out, uint n) {
  if (AT < n) out[AT] = (float)(a[AT] & 1023u) / 3.0f;
}
kernel void to_uint(global const float* x, global uint* out, uint n) {
  if (AT < n) out[AT] += convert_uint_sat(fabs(x[AT]) * 16.0f);
}
"""


# The kernels in Python: what one work-group does, from the definition.

class Item(NamedTuple):
    at: tuple[int, int, int]
    local: tuple[int, int, int]
    group: tuple[int, int, int]


class Range(NamedTuple):
    size: list[int]
    local: list[int]
    offset: list[int]

    def groups(self) -> Iterator[list[Item]]:
        counts = [size // local for size, local in zip(self.size, self.local)]
        for group in itertools.product(*(range(count) for count in counts)):
            yield [Item(tuple(o + g * l + i for o, g, l, i in zip(self.offset, group, self.local, item)), item, group)
                   for item in itertools.product(*(range(local) for local in self.local))]


M = 2**32 - 1
List = list[int]


def turned(x: int, by: int) -> int:
    return (x << (by & 31) | x >> ((32 - by) & 31)) & M


def elementwise(element: Callable[..., None]) -> Callable[..., None]:
    def run(range_: Range, *args: Any) -> None:
        for group in range_.groups():
            for item in group:
                if item.at[0] < args[-1]:
                    element(range_, item, item.at[0], *args)
    return run


@elementwise
def mix_in(_: Range, item: Item, i: int, a: List, out: List, k: int, n: int) -> None:
    out[i] = (a[i] * 5 + turned(k, i)) & M


@elementwise
def accumulate(_: Range, item: Item, i: int, a: List, out: List, n: int) -> None:
    out[i] = (out[i] + (a[i] ^ item.group[0])) & M


@elementwise
def rotate_by(range_: Range, item: Item, i: int, a: List, out: List, by: int, n: int) -> None:
    out[i] = (a[(i + by) % n] + range_.local[0]) & M


@elementwise
def in_place(_: Range, item: Item, i: int, x: List, n: int) -> None:
    x[i] = (x[i] * 3 + item.local[0]) & M


@elementwise
def scattered(_: Range, item: Item, i: int, a: List, out: List, n: int) -> None:
    out[a[i] % n] = (out[a[i] % n] + i + 1) & M


def backwards(range_: Range, a: List, out: List, n: int) -> None:
    for group in range_.groups():
        kept = [a[item.at[0]] if item.at[0] < n else 7 for item in group]
        for item, value in zip(group, reversed(kept)):
            if item.at[0] < n:
                out[item.at[0]] = (out[item.at[0]] + value) & M


def group_sum(range_: Range, a: List, out: List, _: None, n: int) -> None:
    for group in range_.groups():
        total = sum(a[item.at[0]] for item in group if item.at[0] < n)
        for item in group:
            if item.at[0] < n:
                out[item.at[0]] = (a[item.at[0]] - total) & M


def transposed(range_: Range, a: List, out: List, size: List) -> None:
    groups = range_.size[1] // range_.local[1]
    for x in range(size[0]):
        for y in range(size[1]):
            out[x * size[1] + y] = (a[y * size[0] + x] + groups) & M


def volume(range_: Range, a: List, out: List, n: int) -> None:
    width, height, _ = range_.size
    for group in range_.groups():
        for (x, y, z), local, number in group:
            if (i := x + width * (y + height * z)) < n:
                out[i] = (out[i] + a[n - 1 - i] + number[0] + 3 * local[1] + 7 * number[2]
                          + 11 * range_.offset[0]) & M


def step_on(_: Range, counter: List) -> None:
    counter[0] += 1


INTEGERS: dict[str, Callable[..., None]] = {
    kernel.__name__: kernel for kernel in (backwards, group_sum, transposed, volume, step_on)}
INTEGERS |= {"mix_in": mix_in, "accumulate": accumulate, "rotate_by": rotate_by, "in_place": in_place,
             "scattered": scattered}


class Family(NamedTuple):
    """Ops that share generated kernels; each has a wave in the first group, in this order."""
    ops: tuple[str, ...]
    local: int              # of 1-dimensional kernels with barriers; others take it or the other size
    other: int
    until: bool = False

    @property
    def name(self) -> str:
        return "+".join(self.ops)


FAMILIES = (Family(("backwards", "mix_in", "rotate_by", "in_place"), 32, 24),
            Family(("group_sum", "transposed", "volume", "accumulate"), 64, 10),
            Family(("axpy", "smooth", "to_float", "to_uint"), 64, 64))
# Where the value lies is part of the generated source: few programs of this family share one.
UNTIL = Family(("step_on", "backwards", "scattered", "mix_in"), 32, 24, until=True)
WITH_BARRIERS = {"backwards", "group_sum"}
FLOATS_OUT = {"axpy", "smooth", "to_float"}
FLOATS_IN = {"axpy", "smooth", "to_uint"}


class Draw:
    """One random program of a family."""

    def __init__(self, rng: random.Random, family: Family) -> None:
        self.rng, self.family = rng, family
        self.n = rng.choice((1, 31, 33, 64, 100, 128, 200, 257))
        self.uints = [f"u{i}" for i in range(rng.randint(4, 5))]
        self.floats = [f"f{i}" for i in range(rng.randint(4, 5))] if set(family.ops) & FLOATS_OUT else []
        self.source = "source"       # never written: the first group reads it
        self.float_source = "float_source"
        self.transient: str | None = None

    def document(self) -> Document:
        waves = [self.wave(op, first=number) for number, op in enumerate(self.family.ops)]
        if self.rng.random() < 0.5 and "mix_in" in self.family.ops:
            self.transient = "passing"
            waves.append(self.wave("mix_in", out=self.transient))
        few = [op for op in self.family.ops if op != "step_on"]
        waves += [self.wave(self.rng.choice(few)) for _ in range(self.rng.randint(0, 12 - len(waves)))]
        own = len(self.family.ops) + (self.transient is not None)
        for wave in waves[own:]:  # the first group keeps every kernel in use
            if self.rng.random() < 0.3:
                wave["phase"] = self.rng.choice(("before", "after"))
                if self.transient in uses_of(wave):
                    wave["phase"] = "after"
        for number, wave in enumerate(waves):
            if self.rng.random() < 0.5:
                wave["name"] = f"wave {number}"
            if self.rng.random() < 0.2:
                wave["rules"] = self.rng.sample(range(32), 2)
        program = {"buffers": self.buffers(), "waves": waves,
                   "ops": {op: {"source": "pool.cl"} for op in self.family.ops}}
        if self.rng.random() < 0.5:
            program["dependencies"] = self.dependencies(waves)
        elif self.rng.random() < 0.5:
            program["dependencies"] = "derive"
        if self.rng.random() < 0.7:
            program["repeat"] = self.rng.randint(1, 7)
        if self.rng.random() < 0.4:
            pool = self.rng.choice([group for group in (self.uints, self.floats) if len(group) > 1])
            pairs = self.rng.sample(pool, min(len(pool), self.rng.choice((2, 3, 4))))
            program["swap"] = ([pairs[:2], pairs[1:]] if len(pairs) == 3 else
                               [pairs[i:i + 2] for i in range(0, len(pairs), 2)])
        if self.family.until:
            program["until"] = {"buffer": "counter", "equals": 4}
        if self.rng.random() < 0.2:
            program["device_memory_budget_bytes"] = self.rng.choice((1 << 17, 1 << 20, 1 << 30))
        return program

    def buffers(self) -> Document:
        rng, buffers = self.rng, {}
        for name in [self.source, *self.uints]:
            init = rng.choice(({"fill": rng.randint(0, M)}, {"iota": {"start": rng.randint(0, 99), "step": 3}},
                               {"iota": {}}))
            buffers[name] = {"type": "u32", "count": self.n, "init": init}
            if name != self.source and rng.random() < 0.3:
                del buffers[name]["init"]  # an output without init begins as zeros
            buffers[name]["output"] = f"{name}{rng.choice(('.npy', '.bin'))}"
        if self.floats:
            for name in [self.float_source, *self.floats]:
                buffers[name] = {"type": "f32", "count": self.n, "output": f"{name}.npy",
                                 "init": {"random": {"seed": rng.randint(0, 99), "low": -3, "high": 5.5}}}
        if self.family.until:
            buffers["counter"] = {"type": "i32", "count": 1, "init": {"fill": rng.randint(-3, 3)},
                                  "output": "counter.npy"}
        if self.transient:
            buffers[self.transient] = {"type": "u32", "count": self.n}
        names = list(buffers)
        rng.shuffle(names)
        return {name: buffers[name] for name in names}

    def wave(self, op: str, first: int | None = None, out: str | None = None) -> Document:
        """`first`: the number of a wave of the first group, which writes a buffer of its own and reads the source;
        `out`: written whole."""
        rng, n = self.rng, self.n
        if op == "step_on":
            return {"op": op, "global_size": [8], "local_size": [8], "args": [{"buffer": "counter"}]}
        outs = self.floats if op in FLOATS_OUT else self.uints
        ins = [*self.floats, self.float_source] if op in FLOATS_IN else [*self.uints, self.source]
        if self.transient and op not in FLOATS_IN and out is None:
            ins = [*ins, self.transient]
        whole = out is not None
        out = out or (outs[first % len(outs)] if first is not None else rng.choice(outs))
        given = [name for name in ins if name != out]
        a = ((self.float_source if op in FLOATS_IN else self.source) if first is not None else rng.choice(given))
        source: Document = {"buffer": a, **({"access": "read"} if first is not None or rng.random() < 0.7 else {})}
        target: Document = {"buffer": out, **({"access": "read_write"} if rng.random() < 0.2 else {})}
        place = self.range_of(op, plain=first is not None or whole)
        if op in ("mix_in", "rotate_by") and place["covers"] and (whole or rng.random() < 0.5):
            target["access"] = "write"
        size = {"u32": n}
        args = {"mix_in": [source, target, {"u32": rng.randint(0, M)}, size],
                "accumulate": [source, target, size],
                "rotate_by": [source, target, {"u32": rng.randint(0, 1000)}, size],
                "in_place": [{"buffer": out}, size],
                "scattered": [source, target, size],
                "backwards": [source, target, size],
                "group_sum": [source, target, {"local_bytes": 4 * self.family.local}, size],
                "transposed": [source, target, {"u32": place["rectangle"]}],
                "volume": [source, target, size],
                "axpy": [source, target, {"f32": rng.uniform(-1, 1)}, size],
                "smooth": [source, target, size],
                "to_float": [source, target, size],
                "to_uint": [source, target, size]}[op]
        return {"op": op, **place["range"], "args": args}

    def range_of(self, op: str, plain: bool) -> Document:
        rng, n = self.rng, self.n
        rectangle = [1, 1]
        if op == "transposed":
            width = rng.randint(1, min(n, 20))
            rectangle = [width, rng.randint(1, n // width)]
            local = [8, 8]
            least = rectangle
        elif op == "volume":
            local = [2, 3, 5]
            least = [rng.randint(1, 9), rng.randint(1, 7), rng.randint(1, 6)]
        else:
            local = [self.family.local if op in WITH_BARRIERS or rng.random() < 0.6 else self.family.other]
            least = [n if plain or rng.random() < 0.7 else rng.randint(1, n)]
        size = [-(-wanted // one) * one for wanted, one in zip(least, local)]
        if not plain and rng.random() < 0.1:
            size[0] += local[0]  # a work-group too many
        made: Document = {"global_size": size, "local_size": local}
        offset = [0] * len(size)
        if not plain and local == [self.family.local] and rng.random() < 0.4:
            offset[0] = rng.randint(1, 40)
            made["global_offset"] = offset
        return {"range": made, "rectangle": rectangle, "covers": offset[0] == 0 and size[0] >= n}

    def dependencies(self, waves: list[Document]) -> list[Document]:
        """What follows from the order and the arguments, and some that follow from nothing."""
        uses = [uses_of(wave) for wave in waves]
        made = []
        order = in_phases(waves)
        for after, before in ((order[j], order[i]) for j in range(len(waves)) for i in range(j)):
            clash = any(name in uses[before] and (uses[before][name] or written)
                        for name, written in uses[after].items())
            redundant = before >= len(self.family.ops) and self.rng.random() < 0.1
            if clash or redundant:
                named = waves[before].get("name") if self.rng.random() < 0.5 else None
                made.append({"before": named or before, "after": after})
        self.rng.shuffle(made)
        return made


def chain_of(rng: random.Random) -> Document:
    """Element-wise waves from buffer to buffer, now and then one that reaches further; what is between may be transient."""
    n, local = rng.choice((64, 128, 256)), 32
    names = [f"b{i}" for i in range(rng.randint(4, 7))]
    transient = set(rng.sample(names[1:-1], rng.randint(1, len(names) - 2)))
    buffers = {name: {"type": "u32", "count": n} if name in transient else
               {"type": "u32", "count": n, "init": {"iota": {"step": rng.randint(1, 9)}}, "output": f"{name}.npy"}
               for name in names}
    waves: list[Document] = []
    written = {name for name in names if name not in transient}
    for source, target in zip(names, names[1:]):
        a = rng.choice([source, source, rng.choice(sorted(written))])
        op = "mix_in" if target in transient else rng.choice(("mix_in", "accumulate", "in_place", "rotate_by"))
        a = a if a != target else names[0]
        to: Document = {"buffer": target, **({"access": "write"} if op == "mix_in" else {})}
        args = {"mix_in": [{"buffer": a, "access": "read"}, to, {"u32": rng.randint(0, M)}],
                "accumulate": [{"buffer": a}, to], "in_place": [to],
                "rotate_by": [{"buffer": a}, to, {"u32": rng.randint(0, 99)}]}[op]
        waves.append({"op": op, "global_size": [n], "local_size": [local], "args": [*args, {"u32": n}]})
        written.add(target)
    return {"buffers": buffers, "waves": waves, "repeat": rng.randint(1, 3),
            "ops": {op: {"source": "pool.cl"} for op in sorted({wave["op"] for wave in waves})}}


CONST = {"accumulate", "rotate_by", "scattered", "backwards", "group_sum", "transposed", "volume", "axpy", "to_float",
         "to_uint"}  # whose first parameter is const


PHASES = ("before", "each", "after")


def in_phases(waves: list[Document]) -> list[int]:
    """The waves in the order in which they are meant."""
    return sorted(range(len(waves)), key=lambda number: PHASES.index(waves[number].get("phase", "each")))


def uses_of(wave: Document) -> dict[str, bool]:
    """The buffers that a wave touches, and whether it may write them."""
    uses: dict[str, bool] = {}
    for number, arg in enumerate(wave["args"]):
        if "buffer" in arg:
            reads = arg.get("access") == "read" or (number == 0 and wave["op"] in CONST)
            uses[arg["buffer"]] = uses.get(arg["buffer"], False) or not reads
    return uses


def evaluated(program: Document) -> dict[str, List]:
    """The buffers at the end, one wave after another; integers only."""
    memory: dict[str, List] = {}
    for name, buffer in program["buffers"].items():
        init = buffer.get("init", {"fill": 0})
        iota = {"start": 0, "step": 1, **init.get("iota", {})}
        memory[name] = [init["fill"] if "fill" in init else iota["start"] + i * iota["step"]
                        for i in range(buffer["count"])]
    until = program.get("until")

    def run_waves(phase: str) -> None:
        for wave in program["waves"]:
            if wave.get("phase", "each") != phase:
                continue
            rest = [0] * (3 - len(wave["global_size"]))
            range_ = Range(wave["global_size"] + [1] * len(rest), wave["local_size"] + [1] * len(rest),
                           wave.get("global_offset", [0] * len(wave["global_size"])) + rest)
            args = [memory[arg["buffer"]] if "buffer" in arg else arg.get("u32") for arg in wave["args"]]
            INTEGERS[wave["op"]](range_, *args)

    run_waves("before")
    for _ in range(program.get("repeat", 10**6 if until else 1)):
        run_waves("each")
        for one, other in program.get("swap", []):
            memory[one], memory[other] = memory[other], memory[one]
        if until and memory[until["buffer"]][0] == until["equals"]:
            break
    run_waves("after")
    return memory


class Random(Programs):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        print(f"TIDEGATE_SEED={SEED}", flush=True)

    def setUp(self) -> None:
        super().setUp()
        self.file("pool.cl", KERNELS)

    def checked(self, program: Document, *options: str) -> Document:
        """Runs it; what it reports and leaves must be right."""
        told = f"TIDEGATE_SEED={SEED} {' '.join(options)}\n{json.dumps(program)}"
        result = self.run_document(program, "--verify", *options)
        # Some repetitions end before what they wait for has come, which is no flaw.
        warned = re.sub(r"tidegate: .*: warning: until was not reached .*\n  at: /until\n  fix: .*\n", "", result.stderr)
        self.assertEqual((result.rc, warned), (0, ""), told)
        report = json.loads(result.stdout)
        outputs = {name: buffer for name, buffer in program["buffers"].items() if "output" in buffer}
        self.assertEqual(report["output_parity"], {"checked": len(outputs), "equal": True, "differing_elements": 0}, told)
        self.assertEqual((report["status"], report["items_remaining"]), ("done", 0), told)
        if all(wave["op"] in INTEGERS for wave in program["waves"]):
            expected = evaluated(program)
            for name, buffer in outputs.items():
                found = read_array(self.folder / buffer["output"], buffer["type"])
                if found != expected[name]:
                    at = next(i for i, pair in enumerate(zip(found, expected[name])) if pair[0] != pair[1])
                    self.fail(f"{name}[{at}] is {found[at]}, Python makes it {expected[name][at]}\n{told}")
        return report

    def test_interpreter(self) -> None:
        rng = random.Random(SEED)
        kept: dict[tuple[str, str], list[bool]] = {}
        fallbacks = checked_by_python = 0
        for number in range(COUNT):
            family = UNTIL if number % 13 == 2 else FAMILIES[number % len(FAMILIES)]
            strategy = ("launch", "barrier", "counters")[number // len(FAMILIES) % 3]
            program = Draw(rng, family).document()
            extra = rng.choice(((), ("--order", "blocked"), ("--order", "serpentine"), ("--workers", "1"), ("--slice", "1")))
            report = self.checked(program, "--mode", "interpreter", "--strategy", strategy, "--promote", "none", *extra)
            self.assertEqual((report["strategy"], report["execution_mode"]), (strategy, "interpreter"))
            kept.setdefault((family.name, strategy), []).append(report["telemetry"]["compiled_pipeline_cache_hit"])
            fallbacks += len(report["fallbacks"])
            checked_by_python += all(wave["op"] in INTEGERS for wave in program["waves"])
        for (name, strategy), hits in kept.items():
            if name != UNTIL.name:
                self.assertGreaterEqual(sum(hits), len(hits) - 3, f"TIDEGATE_SEED={SEED} {name} {strategy}: {hits}")
        self.assertGreater(checked_by_python, COUNT // 2)

    def test_jit(self) -> None:
        """With waves as windows and hot ops in cases of their own: each such program has a kernel of its own anyway."""
        rng = random.Random(SEED + 1)
        for number in range(JIT_COUNT):
            family = (*FAMILIES, UNTIL)[number % 4]
            strategy = ("counters", "barrier")[number // 4 % 2]
            promote = ("all", "windows", "all", "opcodes")[number % 4]
            report = self.checked(Draw(rng, family).document(), "--mode", "jit", "--strategy", strategy, "--promote", promote)
            self.assertEqual((report["strategy"], report["execution_mode"]), (strategy, "jit"))

    def test_promotion(self) -> None:
        """Chains of waves that go on with each other's tiles, in windows of every length."""
        rng = random.Random(SEED + 3)
        fused = in_registers = 0
        for number in range(PROMOTED_COUNT):
            strategy, mode = (("launch", "jit"), ("counters", "interpreter"), ("barrier", "jit"))[number % 3]
            report = self.checked(chain_of(rng), "--mode", mode, "--strategy", strategy, "--promote",
                                  ("windows", "all")[number % 2])
            fused += sum(len(window["waves"]) for window in report["promotion"]["windows"])
            in_registers += sum(len(window["register_buffers"]) for window in report["promotion"]["windows"])
        self.assertGreater(fused, 2 * PROMOTED_COUNT)
        self.assertGreater(in_registers, 0)

    @unittest.skipIf(EVERY_WAY == 0, "minutes of compiling on a CPU: TIDEGATE_RANDOM_EVERY_WAY=N draws N programs for it")
    def test_every_way(self) -> None:
        """Each program in every mode and strategy, promoted and not."""
        rng = random.Random(SEED + 2)
        for number in range(EVERY_WAY):
            document = Draw(rng, (*FAMILIES, UNTIL)[number % (len(FAMILIES) + 1)]).document()
            for way in itertools.product(("launch", "barrier", "counters"), ("interpreter", "jit"), ("none", "all")):
                report = self.checked(document, "--strategy", way[0], "--mode", way[1], "--promote", way[2])
                self.assertEqual((report["strategy"], report["execution_mode"]), way[:2])


if __name__ == "__main__":
    unittest.main()
