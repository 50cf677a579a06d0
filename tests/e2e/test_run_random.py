"""tidegate run, random programs: every output is compared, byte for byte, with what plain_opencl.py makes of the same program.

That script shares no code with tidegate; --verify is never used. Each program has kernels of its own, which a CPU's compiler takes
seconds for, so a program has many waves and is run in several ways.
TIDEGATE_SEED=N draws others, TIDEGATE_RANDOM_PROGRAMS=N more of them.
"""

import array
import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from support import PATIENCE, SEED, Document, Programs, device, environment, parse, run

COUNT = int(os.environ.get("TIDEGATE_RANDOM_PROGRAMS") or 3)
WAYS = 3  # of each program
# How runs may be refused: at most a seventh of them, or all of two programs, so that enough is compared.
REFUSALS = {"invalid_usage": "--strategy counters and --set tuning.order=strided cannot be combined",
            "invalid_program": "has a local_size that does not divide its global_size"}

Draw = random.Random

# Each source file begins so, with another STEP: sources do not meet.
COMMON = """#define STEP {step}u
#define ID get_global_id(0)
#define NEXT(v) ((v)++)
#define SET(v, to) do {{ (v) = (to); }} while (0)
#define AT(p, k) ((p)[(k)])
typedef uint row[4];
typedef uint four __attribute__((ext_vector_type(4)));
static void bump(uint* v) {{ *v += STEP; }}
static uint get(global const uint* p, uint k) {{ return p[k] ^ STEP; }}
static void put(global uint* p, uint k, uint v) {{ p[k] = v; }}
"""

# From the id `i`, below m, to the element `j` that is read or `o` that is written: from each to another one.
MOVES = ["({v})++; if (({v}) == m) ({v}) = 0u;", "NEXT({v}); if (({v}) == m) SET({v}, 0u);", "SET({v}, m - 1u - ({v}));",
         "bump(&({v})); {v} %= m;", "uint* q{v} = &({v}); *q{v} = (*q{v} + by) % m;", "*&{v} = ({v} + 1u) % m;",
         "for (uint k = 0; k < by % 3u; k++, ({v}) = ({v} + 5u) % m) {{}}", "{{ uint i = 3u; {v} += i; }} {v} %= m;",
         "({v}) += by, {v} %= m;", "--({v}); {v} = {v} < m ? {v} : m - 1u;"]
# Several work-items may read the same element.
READ_MOVES = [*MOVES, "j = by % m; for (uint k = by; k < by; k++, j = i) {{}}", "j -= (j != 0u);", "j = min(j + 1u, m - 1u);",
              "j ^= j | 1u; j %= m;"]
READS = ["a[j]", "(a)[(j)]", "AT(a, j)", "*(a + j)", "j[a]", "get(a, j)", "*&a[j]", "(&(a[j]))[j + by < n ? by : 0u]",
         "(&a[j])[j != 0u ? -1 : 0]", "(a[j] + a[j + 1u < n ? j + 1u : j])", "((global const uint4*)a)[j / 4u].y",
         "(by & 1u ? a : a + 1)[j != n - 1u ? j : 0u]"]
ROW_READS = [("global const row* a", "a[j][by % 4u]"), ("global const uint (*a)[4]", "(a[j][1] + (*(a + j))[3])"),
             ("global const uint a[][4]", "AT(a[j], 2)"), ("global const four* a", "a[j].w"),
             ("global const uint4* a", "(a[j].x ^ a[j].s3)")]
WRITES = ["out[o] = v;", "out[o] += v;", "AT(out, o) = v;", "*(out + o) = v;", "(&(out[o]))[0] ^= v;", "put(out, o, v);", "o[out] = v;",
          "if (v & 1u) out[o] = v;", "(out[o])++; out[o] -= v;", "global uint* p = &(out[0]); p[o] = v;"]
ROW_WRITES = [("global row* out", "for (uint k = 0; k < 4u; ++k) out[o][k] = v + k;"), ("global uint (*out)[4]", "out[o][by % 4u] += v;"),
              ("global uint out[][4]", "out[o][3] = v; AT(out[o], 0) ^= v;"), ("global four* out", "out[o] = (four)(v, 1u, v, 2u);"),
              ("global uint4* out", "out[o].y = v; out[o].wx += v;")]
PLACES = ["get_group_id(0) * 3u", "get_local_id(0)", "get_local_size(0) + get_num_groups(0)", "(uint)get_global_size(0)"]

# Kernels with barriers: work-item `l` of `g` has element `i` in `t`.
TREE = """for (uint s = 64; s > 0; s /= 2) {{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s && l + s < g) t[l] = {joined};
  }}
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) out[{place}] = t[0];"""
JOINED = ["t[l] + t[l + s]", "max(t[l], t[l + s])", "t[l] ^ (t[l + s] << 1)", "min(t[l], t[l + s])"]
TOGETHER = [TREE, TREE, TREE, TREE,
            """barrier(CLK_LOCAL_MEM_FENCE);
  u[g - 1 - l] = t[(l + {k}) % g];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = t[g - 1 - l] {operator} u[l];""",
            "barrier(CLK_LOCAL_MEM_FENCE);\n  if (l >= {k}) return;\n  out[i] = t[g - 1 - l];",
            "barrier(CLK_LOCAL_MEM_FENCE);\n  if (i < n) out[i] {operator}= t[g - 1 - l];",
            """uint sum = 0;
  for (uint round = 0; round < 3; ++round) {{
    t[l] = a[i] + round;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = sum {operator} t[(l + round) % g];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[0] % 2 == round) break;
  }}
  out[i] = sum;""",
            """barrier(CLK_LOCAL_MEM_FENCE);
  if (l & 1u) {{ u[l] = t[l - 1]; }} else {{ u[l] = t[l] {operator} {k}u; }}
  barrier(CLK_LOCAL_MEM_FENCE);
  if (u[g - 1 - l] % 3u == 0u) {{ out[i] = u[l]; return; }}
  out[i] += u[g / 2];"""]


class Op(NamedTuple):
    text: str                # what follows the kernel's name
    args: str                # the keys of its arguments in Program.wave
    any_group: bool = False  # nothing depends on the work-group
    whole_groups: bool = False


CARRY = Op("(global const uint* a, global uint* out, uint by) {\n  size_t i = ID;\n  out[i] = a[i] * 5u + by;\n}", "acb")
IN_PLACE = Op("""(global uint* x, uint by, uint n) {
  uint j = ID;
  if (j >= n) return;
  x[j] = x[j] * 3u + (uint)get_local_id(0) + by;
}""", "obn")
SCATTERED = Op("""(global const uint* a, global uint* out, uint by, uint n) {
  if (ID < n) atomic_add(&(out[a[ID] % n]), (uint)ID + by);
}""", "aobn", any_group=True)
TRANSPOSED = Op("""(global const uint* a, global uint* out, uint2 size) {
  local uint t[8][8];
  uint x = ID, y = get_global_id(1), k = get_local_id(0), l = get_local_id(1);
  t[l][k] = x < size.x && y < size.y ? a[y * size.x + x] : 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(0) * 8 + l, y = get_group_id(1) * 8 + k;
  if (x < size.x && y < size.y) out[x * size.y + y] = t[k][l] + (uint)get_num_groups(1);
}""", "aos", whole_groups=True)
VOLUME = Op("""(global const uint* a, global uint* out, uint n) {
  uint i = ID + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  if (i < n) out[i] += a[n - 1 - i] + get_group_id(0) + 3u * get_local_id(1) + 7u * get_group_id(2);
}""", "aon")
# Powers of two: it changes nothing where a compiler joins a product and a sum.
FLOATS = {"to_float": Op("""(global const uint* a, global float* out, uint n) {
  if (ID < n) out[ID] = (float)(a[ID] & 1023u) * 0.125f + (float)get_global_offset(0);
}""", "agn"), "smooth": Op("""(global const float* x, global float* out, uint n) {
  int i = get_global_id(0);
  if (i < n) out[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, (int)n - 1)];
}""", "fgn", any_group=True), "to_uint": Op("""(global const float* x, global uint* out, uint n) {
  if (ID < n) out[ID] += convert_uint_sat(x[ID] * 16.0f);
}""", "fon", any_group=True)}
UNTIL = Op("(global int* counter) {\n  if (get_global_id(0) == 0) counter[0] += 1;\n}", "u")


def element_wise(draw: Draw) -> Op:
    """With one thing that is hard to see through, or two: what it hides must decide."""
    odd = draw.choices(("nothing", "rows of a", "rows of out", "read", "write", "move", "move", "move to write"), k=draw.choice((1, 1, 2)))
    from_rows, to_rows = "rows of a" in odd, "rows of out" in odd
    a, read = draw.choice(ROW_READS) if from_rows else ("global const uint* a", draw.choice(READS) if "read" in odd else "a[j]")
    out, write = draw.choice(ROW_WRITES) if to_rows else ("global uint* out", draw.choice(WRITES) if "write" in odd else "out[o] = v;")
    place = draw.choice(PLACES) if draw.random() < 0.2 else "0u"
    return Op(f"""({a}, {out}, uint by, uint n) {{
  uint i = {draw.choice(("ID", "get_global_id((0))", "get_global_id(0)"))}, m = n / {4 if from_rows or to_rows else 1}u;
  {"if (i >= m) return;" if draw.random() < 0.5 else "if (i < m)"} {{
    uint j = i, o = i;
    {draw.choice(READ_MOVES).format(v="j") if "move" in odd else ""}
    {draw.choice(MOVES).format(v="o") if "move to write" in odd else ""}
    uint v = {read} * 5u + {place};
    {write}
  }}
}}""", "aobn", any_group=place == "0u")


def together(draw: Draw) -> Op:
    lent = draw.random() < 0.4
    body = draw.choice(TOGETHER).format(joined=draw.choice(JOINED), place=draw.choice(("i", "i", "i", "get_group_id(0)")),
                                        k=draw.randint(1, 9), operator=draw.choice("^+-|"))
    return Op(f"""(global const uint* a, global uint* out, {"local uint* t, " if lent else ""}uint n) {{
  local uint {"" if lent else "t[128], "}u[128];
  uint l = get_local_id(0), g = get_local_size(0), i = ID;
  u[l] = t[l] = i < n ? a[i] : 7u;
  {body}
}}""", "aoln" if lent else "aon", whole_groups=True)


class Program:
    """One random program; `files` are its sources and data."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.group = draw.choice((8, 32, 32, 64, 128, 24))  # of kernels with barriers
        self.count = self.group * draw.randint(1, 6)
        self.alike = draw.random() < 0.35  # in size, so that waves go on with each other's work-groups
        self.ragged = draw.random() < 0.15
        self.ops = {f"e{number}": element_wise(draw) for number in range(draw.randint(2, 3) if self.alike else 1)}
        if self.alike:
            self.ops["carry"] = CARRY
        else:
            self.ops |= {f"t{number}": together(draw) for number in range(draw.choice((1, 2, 3)))}
            self.ops |= draw.choice(({}, {}, {"in_place": IN_PLACE}, {"scattered": SCATTERED}, {"transposed": TRANSPOSED},
                                     {"volume": VOLUME}, FLOATS))
        self.ops |= {"until": UNTIL} if draw.random() < 0.1 else {}
        self.uints = [f"u{i}" for i in range(draw.randint(4, 7))]
        self.carried = ["c0", "c1", "c2"]  # written whole, then read
        self.floats = ["f0", "f1", "f2"]
        self.last = "passing"  # what was written last; most waves go on with it
        self.files: dict[str, bytes] = {}

    def document(self) -> Document:
        draw = self.draw
        for number in range(2):
            kernels = [f"kernel void {name}{op.text}\n" for name, op in list(self.ops.items())[number::2]]
            self.files[f"ops{number}.cl"] = "".join([COMMON.format(step=number + 1), *kernels]).encode()
        first: Document = draw.choice(({"copy": {"from": "source", "to": "passing"}}, {"fill": {"buffer": "passing", "value": 9}}))
        waves = [first | draw.choice(({"phase": "before"}, {})), *map(self.wave, self.ops)]
        waves += [self.wave(draw.choice([op for op in self.ops if op != "until"])) for _ in range(draw.randint(3, 7))]
        for number, wave in enumerate(waves):
            uses = uses_of(self.ops, wave)
            if number > 0 and wave.get("op") != "until" and not set(self.carried) & set(uses) and draw.random() < 0.15:
                wave["phase"] = "after" if "passing" in uses else draw.choice(("before", "after"))
            if draw.random() < 0.3:
                wave["name"] = f"wave {number}"
        document = {"buffers": self.buffers(), "waves": waves, "repeat": draw.choice((1, 1, 2, 3, 7)),
                    "ops": {op: {"source": f"ops{number % 2}.cl"} for number, op in enumerate(self.ops)}}
        if draw.random() < 0.3:
            document["dependencies"] = self.dependencies(waves)
        if draw.random() < 0.5:
            names = draw.sample([*self.uints, "passing"], 4)
            document["swap"] = draw.choice(([names[:2]], [names[:2], names[2:]], [names[:2], names[1:3]]))
        if "until" in self.ops:
            document["until"] = {"buffer": "counter", "equals": 4}
        if draw.random() < 0.2:
            document["device_memory_budget_bytes"] = draw.choice((1 << 17, 1 << 20, 1 << 30))
        return document

    def buffers(self) -> Document:
        draw = self.draw
        buffers: Document = {name: {"type": "u32"} for name in ("passing", *(self.carried if self.alike else ()))}
        for name in [*self.uints, "source"]:
            init = draw.choice(({"fill": draw.getrandbits(32)}, {"iota": {"start": draw.randint(0, 99)}}, {"file": f"{name}.in.raw"}))
            self.files[f"{name}.in.raw"] = array.array("I", (draw.getrandbits(32) for _ in range(self.count))).tobytes()
            buffers[name] = {"type": "u32", "init": init, "output": f"{name}.bin"}
        for name in self.floats if "smooth" in self.ops else ():
            buffers[name] = {"type": "f32", "init": {"iota": {"step": 0.5}}, "output": f"{name}.bin"}
        if "until" in self.ops:
            buffers["counter"] = {"type": "i32", "count": 1, "init": {"fill": draw.randint(-3, 3)}, "output": "counter.bin"}
        return {name: {"count": self.count, **buffers[name]} for name in draw.sample(list(buffers), len(buffers))}

    def wave(self, name: str) -> Document:
        draw, op, n = self.draw, self.ops[name], self.count
        made: Document = {"op": name}
        local = [self.group]
        rectangle = [draw.randint(1, min(n, 20)), 1]
        if name == "until":
            size, local = [8], [8]
        elif name == "transposed":
            rectangle[1] = draw.randint(1, n // rectangle[0])
            size, local = rectangle, [8, 8]
        elif name == "volume":
            size, local = [draw.randint(1, 9), draw.randint(1, 7), draw.randint(1, 6)], [2, 3, 5]
        elif op is CARRY or draw.random() < (0.95 if self.alike else 0.5):
            size = [n]
        else:
            n = draw.randint(4, n)
            size = [draw.choice((n, self.count))]
            if not op.whole_groups:
                local = [draw.choice((self.group, 10, 64))]
                made |= draw.choice(({}, {}, {"global_offset": [draw.randint(1, 40)]}))
        if not (self.ragged and op.any_group and draw.random() < 0.5):
            size = [-(-wanted // one) * one for wanted, one in zip(size, local)]
        a = self.last if draw.random() < 0.6 else draw.choice([*self.uints, "source", "passing"])
        out = draw.choice([one for one in [*self.uints, "passing"] if one != a])
        carried = draw.choice([one for one in self.carried if one != a])
        self.last = carried if "c" in op.args else out if "o" in op.args else self.last
        only_written = "a" in op.args and not re.search(r"[-+^|]=|\+\+|atomic", op.text) and draw.random() < 0.5
        f, g = draw.sample(self.floats, 2)
        args = {"a": {"buffer": a}, "o": {"buffer": out, **({"access": "write"} if only_written else {})}, "c": {"buffer": carried},
                "f": {"buffer": f}, "g": {"buffer": g}, "u": {"buffer": "counter"}, "l": {"local_bytes": 512},
                "b": {"u32": draw.randint(0, 100)}, "n": {"u32": n}, "s": {"u32": rectangle}}
        return made | {"global_size": size, "local_size": local, "args": [args[letter] for letter in op.args]}

    def dependencies(self, waves: list[Document]) -> list[Document]:
        """What follows from the order and the arguments, and some that follow from nothing; then the waves in another order."""
        draw, uses = self.draw, [uses_of(self.ops, wave) for wave in waves]
        order = sorted(range(len(waves)), key=lambda number: ("before", "each", "after").index(waves[number].get("phase", "each")))
        mixed = draw.sample(range(len(waves)), len(waves))
        waves[:] = [waves[number] for number in mixed]
        made = []
        for one, other in itertools.combinations(order, 2):
            clash = any(name in uses[one] and (uses[one][name] or written) for name, written in uses[other].items())
            if clash or draw.random() < 0.03:
                before = mixed.index(one)
                made.append({"before": draw.choice((before, waves[before].get("name", before))), "after": mixed.index(other)})
        return made


def uses_of(ops: dict[str, Op], wave: Document) -> dict[str, bool]:
    """The buffers that a wave touches, and whether it writes them."""
    if copy := wave.get("copy"):
        return {copy["from"]: False, copy["to"]: True}
    if "fill" in wave:
        return {wave["fill"]["buffer"]: True}
    return {arg["buffer"]: letter not in "af" for letter, arg in zip(ops[wave["op"]].args, wave["args"]) if "buffer" in arg}


def draw_way(draw: Draw, number: int) -> list[str]:
    strategy = ("default", "barrier", "launch", "counters", "barrier", "counters", "plain")[number % 7]
    if strategy == "default":
        return draw.choice((["--set", "measure=no"], ["--set", "measure=no"], ["--set", "verify-first=no"], ["--set", "measure-time=1s"]))
    way = ["--strategy", strategy]
    if strategy != "plain":
        way += ["--set", "tuning.mode=" + draw.choice(("interpreter", "jit")),
                "--set", "tuning.promote=" + draw.choice(("auto", "none", "opcodes", "windows", "windows", "all", "all"))]
    if strategy in ("barrier", "counters"):
        way += draw.choice(([], [], ["--set", "tuning.order=strided"], ["--set", "tuning.order=blocked"], ["--set", "tuning.order=serpentine"], ["--workers", "1"],
                            ["--set", "tuning.slice=1"]))
    return way


class Random(Programs):
    def problem(self, folder: Path, program: Document, way: list[str], optimised: bool, counts: Counter[str]) -> str | None:
        """What is wrong with a run, or None, also where it is refused with a reason. PoCL's optimiser takes two thirds of the time."""
        outputs = [buffer["output"] for buffer in program["buffers"].values() if "output" in buffer]
        for output in outputs:
            (folder / output).unlink(missing_ok=True)
        plain = {} if optimised else {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
        result = run("run", str(folder / "program.json"), *way, "--errors", "json", "-q", env={**environment(), **plain})
        if result.rc != 0:
            error = parse(result.stderr.splitlines()[0]) if result.stderr.startswith("{") else {}
            refused = error.get("code") in REFUSALS and REFUSALS[error["code"]] in error["message"]
            counts["refused"] += refused
            return None if refused else f"exit code {result.rc}: {result.stderr}"
        report = parse(result.stdout)
        for key in ("strategy", "execution_mode"):
            ran = ((report["telemetry"] | report)[key], f"tuning.mode={report['telemetry']['execution_mode']}")
            if any(word.startswith("tuning.mode=") if key == "execution_mode" else word == "--strategy" for word in way) and not set(ran) & set(way):
                return f"ran as {ran[0]}"
        first = report.get("first_run", {"equal": True})
        left_out = "--strategy" in way and not first.get("compared", True)  # plain launches cannot have all work-group sizes
        if (report["status"], report["items_remaining"], first["equal"] or left_out) != ("done", 0, True):
            return f"{report['status']}, {report['items_remaining']} left, {report.get('first_run')}"
        for output in outputs:
            found, right = (array.array("I", (folder / name).read_bytes()) for name in (output, f"{output}.plain"))
            wrong = [i for i, pair in enumerate(itertools.zip_longest(found, right)) if pair[0] != pair[1]]
            if wrong:
                return f"{output}: {len(wrong)} of {len(right)} elements wrong; {wrong[0]} is {found[wrong[0]]}, not {right[wrong[0]]}"
        windows = report["promotion"]["windows"]
        counts["fused waves"] += sum(len(window["waves"]) for window in windows)
        return None

    def problems(self, number: int) -> tuple[str, Counter[str]]:
        draw, counts = random.Random(f"{SEED}/{number}"), Counter[str]()
        folder = self.folder / str(number)
        folder.mkdir()
        drawn = Program(draw)
        program = drawn.document()
        for name, data in {**drawn.files, "program.json": json.dumps(program).encode()}.items():
            (folder / name).write_bytes(data)
        plain = subprocess.run([sys.executable, str(Path(__file__).with_name("plain_opencl.py")), str(folder / "program.json"),
                                device()["name"]], env={**os.environ, **environment()}, capture_output=True, timeout=PATIENCE, check=False)
        if plain.returncode != 0:
            return plain.stderr.decode(), counts
        ways = [draw_way(draw, WAYS * number + i) for i in range(WAYS)]
        found = [f"{' '.join(way)}: {problem}" for i, way in enumerate(ways)
                 if (problem := self.problem(folder, program, way, i == number % WAYS, counts))]
        return "\n".join(found), counts

    def test_against_plain_launches(self) -> None:
        print(f"TIDEGATE_SEED={SEED}, {COUNT} programs in {WAYS} ways each", flush=True)
        counts: Counter[str] = Counter()
        with ThreadPoolExecutor(2) as pool:
            for number, (problems, more) in enumerate(pool.map(self.problems, range(COUNT))):
                counts += more
                with self.subTest(f"program {number} of seed {SEED}"):
                    self.assertEqual(problems, "", problems)
        print(", ".join(f"{count} {what}" for what, count in counts.items()), flush=True)
        self.assertLessEqual(counts["refused"], max(2 * WAYS, COUNT * WAYS // 7))
        if COUNT >= 20:
            self.assertGreater(counts["fused waves"], COUNT // 2)
