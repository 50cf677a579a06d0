"""tidegate run: programs of OpenCL kernels on PoCL, their results worked out by hand, and what the report says.

What the other tests of run share is here too. The self-test of the device and every build take a while, so all tests of a
process share one cache folder (TIDEGATE_TEST_CACHE=FOLDER keeps it from one process to the next), which begins with the
profiles of devices that lie in XDG_CACHE_HOME, and `Programs` empties one folder for the program of each of them: where a
kernel lies is part of what is compiled.
"""

from __future__ import annotations

import array
import ast
import atexit
import functools
import itertools
import json
import math
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema

from support import PATIENCE, SANITIZED, Document, Result, binary, parse, run

CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f",
         "f64": "d"}
NPY_TYPES = {"i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8",
             "u64": "<u8", "f32": "<f4", "f64": "<f8"}


@functools.cache
def program_folder(module: str) -> Path:
    """Of the same name in every process that runs these tests, as long as no other does: PoCL has then compiled its kernels."""
    for number in itertools.count():
        folder = Path(tempfile.gettempdir(), f"tg-{module.removeprefix('test_')}-{number}")  # short: messages cut paths
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    raise AssertionError


@functools.cache
def cache_home() -> str:
    if given := os.environ.get("TIDEGATE_TEST_CACHE"):
        return given
    folder = tempfile.mkdtemp(prefix="tidegate-cache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if found := os.environ.get("XDG_CACHE_HOME"):
        os.mkdir(f"{folder}/tidegate")
        for profile in Path(found, "tidegate").glob("device-*"):
            shutil.copy(profile, f"{folder}/tidegate")
    else:  # what launches only takes what a self-test has found, and does not run one
        run("devices", "--probe", env={"XDG_CACHE_HOME": folder})
    return folder


def pocl_cache() -> str:
    """Where PoCL keeps what it has compiled, for tests with a cache of their own: that tidegate compiles is what they look at, not
    what this takes the driver."""
    return os.environ.get("POCL_CACHE_DIR") or f"{cache_home()}/pocl/kcache"


def environment(**more: str) -> dict[str, str]:
    return {"XDG_CACHE_HOME": cache_home(), **more}


FAILING_DRIVER = os.environ.get("TIDEGATE_FAILING_DRIVER", "")  # tests/failing_driver


def wrong_reads(size: int, first: int = 1, last: int = 2**31, after: str | None = None) -> dict[str, str]:
    """The environment in which reads of so many bytes are wrong, those from the first to the last, after kernels of such a name."""
    if FAILING_DRIVER == "":
        raise unittest.SkipTest("TIDEGATE_FAILING_DRIVER does not name the layer")
    return {"OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_WRONG_READS": f"{size}:{first}:{last}",
            **({} if after is None else {"TIDEGATE_WRONG_AFTER": after})}


@functools.cache
def no_ordering() -> dict[str, str]:
    """The environment in which the self-tests of devices find that no memory ordering is right."""
    folder = tempfile.mkdtemp(prefix="tidegate-cache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {**wrong_reads(4, after="litmus"), "XDG_CACHE_HOME": folder, "POCL_CACHE_DIR": pocl_cache()}


@functools.cache
def device() -> Document:
    """What `tidegate devices` says of the device that runs take: the one of TIDEGATE_DEVICE, the first GPU, or the first."""
    named = os.environ.get("TIDEGATE_DEVICE")
    devices = parse(run("devices", *(["--device", named] if named else []), env=environment()).stdout)["devices"]
    return next((one for one in devices if one["type"] == "gpu"), devices[0])


def read_array(path: Path, type_: str) -> list[Any]:
    """The elements of a .npy or raw file."""
    data = path.read_bytes()
    if path.suffix == ".npy":
        if data[:8] != b"\x93NUMPY\x01\x00":
            raise AssertionError(f"{path} is no .npy file of version 1: {data[:8]!r}")
        end = 10 + struct.unpack("<H", data[8:10])[0]
        header = ast.literal_eval(data[10:end].decode())
        if header["descr"] != NPY_TYPES[type_] or header["fortran_order"] or end % 64:
            raise AssertionError(f"{path}: {header}, {end} bytes")
        data = data[end:]
        if len(data) != math.prod(header["shape"]) * array.array(CODES[type_]).itemsize:
            raise AssertionError(f"{path}: {header} but {len(data)} bytes")
    return array.array(CODES[type_], data).tolist()


def npy(type_: str, values: Sequence[Any]) -> bytes:
    """As numpy.save writes it."""
    header = f"{{'descr': '{NPY_TYPES[type_]}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + raw(type_, values)


def raw(type_: str, values: Sequence[Any]) -> bytes:
    return array.array(CODES[type_], values).tobytes()


class Programs(unittest.TestCase):
    """A test with an empty folder for its program."""

    def setUp(self) -> None:
        self.folder = program_folder(type(self).__module__)
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def run_document(self, program: Document | str, *args: str, env: dict[str, str] | None = None) -> Result:
        text = program if isinstance(program, str) else json.dumps(program)
        path = self.file("program.json", text)
        return run("run", str(path), "--explain", *args, env={**environment(), **(env or {})})

    def report_of(self, program: Document, *args: str, env: dict[str, str] | None = None,
                  warnings: int = 0) -> Document:
        result = self.run_document(program, *args, env=env)
        self.assertEqual((result.rc, result.stderr.count("tidegate:")), (0, warnings), result.stderr)
        report = parse(result.stdout)
        self.assertEqual(len(report["warnings"]), warnings, report["warnings"])
        return report

    def output(self, name: str, type_: str = "u32") -> list[Any]:
        return read_array(self.folder / name, type_)


OPS = """kernel void twice(global const uint* a, global uint* b, uint n) {
  size_t i = get_global_id(0);
  if (i < n) b[i] = 2u * a[i];
}
kernel void plus(global const uint* a, global uint* b, uint by) { b[get_global_id(0)] = a[get_global_id(0)] + by; }
kernel void count_down(global int* counter) { if (get_global_id(0) == 0) counter[0] -= 1; }
kernel void turned(global const uint* a, global uint* b) {
  local uint kept[64];
  size_t l = get_local_id(0);
  kept[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = kept[get_local_size(0) - 1 - l];
}
"""
STRATEGIES = ("launch", "barrier")


def buffer(type_: str = "u32", count: int = 8, **rest: Any) -> Document:
    return {"type": type_, "count": count, **rest}


def wave(op: str, *args: Any, size: int = 8, local: int = 4, **rest: Any) -> Document:
    """A string is the name of a buffer, a number a u32."""
    given = [{"buffer": arg} if isinstance(arg, str) else {"u32": arg} if isinstance(arg, int) else arg
             for arg in args]
    return {"op": op, "global_size": [size], "local_size": [local], "args": given, **rest}


def program(buffers: Document, *waves: Document, **rest: Any) -> Document:
    return {"buffers": buffers, "ops": {name: {"source": "ops.cl"} for name in sorted({w["op"] for w in waves})},
            "waves": list(waves), **rest}


IOTA = {"iota": {}}
CHAIN = program({"a": buffer(init=IOTA), "b": buffer(output="b.npy"), "c": buffer(output="c.bin")},
                wave("twice", "a", "b", 8, name="first", rules=[3]),
                wave("plus", "b", "c", 100, name="second", rules=[0, 31]),
                wave("twice", "a", "a2", 8, name="aside", rules=[5]))
CHAIN["buffers"]["a2"] = buffer()


class Small(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)


class Results(Small):
    """Worked out by hand, under both strategies; most programs use the same kernels, which are then kept."""

    def both(self, document: Document, warnings: int = 0, **expected: list[Any]) -> list[Document]:
        reports = []
        for strategy in STRATEGIES:
            report = self.report_of(document, "--strategy", strategy, "--set", "tuning.mode=interpreter", "--verify", warnings=warnings)
            self.assertEqual(report["strategy"], strategy)
            for name, values in expected.items():
                spec = document["buffers"][name]
                self.assertEqual(self.output(spec["output"], spec["type"]), values, f"{name}, {strategy}")
            reports.append(report)
        return reports

    def test_chain(self) -> None:
        for report in self.both(CHAIN, b=[0, 2, 4, 6, 8, 10, 12, 14],
                                c=[100, 102, 104, 106, 108, 110, 112, 114]):
            self.assertEqual((report["status"], report["items_processed"], report["iterations"]), ("done", 24, 1))
            self.assertEqual([group["waves"] for group in report["plan"]["barriers"]["groups"]], [[0, 2], [1]])
            # Of every group its waves' rules and their ancestors'.
            self.assertEqual(report["region_lineage"], [1 << 3 | 1 << 5, 1 << 0 | 1 << 31 | 1 << 3])
            self.assertEqual(report["telemetry"]["readback_buffers"], 2)

    def test_repeat_and_swap(self) -> None:
        """b = a + 5, then they change places: a is the last result, b the one before."""
        buffers = {"a": buffer(init=IOTA, output="a.npy"), "b": buffer(init={"fill": 1000}, output="b.npy")}
        for repeat in (1, 2, 3):
            document = program(buffers, wave("plus", "a", "b", 5), repeat=repeat, swap=[["a", "b"]])
            for report in self.both(document, a=[i + 5 * repeat for i in range(8)],
                                    b=[i + 5 * (repeat - 1) for i in range(8)]):
                self.assertEqual((report["iterations"], report["items_processed"]), (repeat, 8 * repeat))

    def test_until(self) -> None:
        """5, 4, 3, 2 are four turns; with repeat 3 it ends before."""
        buffers = {"a": buffer(init=IOTA), "b": buffer(output="b.npy"),
                   "left": buffer("i32", 1, init={"fill": 6}, output="left.npy")}
        waves = (wave("count_down", "left"), wave("plus", "a", "b", 1), wave("twice", "b", "a", 8))
        # a = 2 * (a + 1), so after n turns b = 2^(n - 1) * i + 2^n - 1.
        for repeat, turns in ((None, 4), (3, 3), (9, 4)):
            document = program(buffers, *waves, until={"buffer": "left", "equals": 2},
                               **({} if repeat is None else {"repeat": repeat}))
            for report in self.both(document, warnings=0 if turns == 4 else 1, left=[6 - turns],
                                    b=[2**(turns - 1) * i + 2**turns - 1 for i in range(8)]):
                self.assertEqual((report["iterations"], report["items_remaining"]), (turns, 0))
                self.assertIs(report["converged"], turns == 4)

    def test_work_groups_of_different_sizes(self) -> None:
        """A wave that cannot ride with the others is left behind, with a reason, and right all the same. Where barriers
        have names, as on NVIDIA's devices, smaller work-groups ride side by side in larger ones."""
        document = program({"a": buffer(count=64, init=IOTA), "b": buffer(count=64, output="b.npy"),
                            "c": buffer(count=64, output="c.npy")},
                           wave("turned", "a", "b", size=64, local=8), wave("turned", "b", "c", size=64, local=16,
                                                                           name="wide"))
        turned = [8 * (i // 8) + 7 - i % 8 for i in range(64)]
        reports = self.both(document, b=turned, c=[turned[16 * (i // 16) + 15 - i % 16] for i in range(64)])
        self.assertEqual(reports[1]["fallbacks"], [] if "NVIDIA" in device()["platform"] else [
            {"wave": '"wide"', "reason": "its kernel has barriers or local memory and work-groups of 16, the others "
                                         "of 8"}])

    def test_ragged(self) -> None:
        """13 work-items in work-groups of 4: the last has one. PoCL 3.1 launches no such NDRange itself, so this is
        not verified against it."""
        document = program({"a": buffer(count=13, init=IOTA), "b": buffer(count=13, output="b.npy")},
                           wave("plus", "a", "b", 7, size=13, local=4))
        report = self.report_of(document, "--strategy", "barrier", "--set", "tuning.mode=interpreter")
        self.assertEqual((report["items_processed"], report["fallbacks"]), (13, []))
        self.assertEqual(self.output("b.npy"), [i + 7 for i in range(13)])
        result = self.run_document(document, "--strategy", "launch")
        if result.rc != 0:
            self.assertEqual(result.rc, 3)
            self.assertIn("make global_size a multiple of local_size", result.stderr)

    def test_files(self) -> None:
        """.npy and raw, in and out."""
        values = [2**31, 7, 0, 9, 1, 2, 3, 4]
        self.file("in.npy", npy("u32", values))
        self.file("in.bin", raw("u32", values))
        for source in ("in.npy", "in.bin"):
            document = program({"a": buffer(init={"file": source}), "b": buffer(output="b.npy"),
                                "c": buffer(output="c.bin")},
                               wave("twice", "a", "b", 8), wave("plus", "a", "c", 1))
            self.report_of(document, "--strategy", "launch")
            self.assertEqual(self.output("b.npy"), [2 * x % 2**32 for x in values])
            self.assertEqual((self.folder / "b.npy").read_bytes(), npy("u32", [2 * x % 2**32 for x in values]))
            self.assertEqual((self.folder / "c.bin").read_bytes(), raw("u32", [x + 1 for x in values]))


BARRIERS = "".join(f"""kernel void {name}(global const uint* a, global uint* out) {{
  local uint t[64];
  uint l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  for (uint s = 32; s > 0; s /= 2) {{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] = {joined};
  }}
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) out[get_global_id(0)] = t[0];
}}
""" for name, joined in (("total", "t[l] + t[l + s]"), ("most", "max(t[l], t[l + s])"))) + "".join(
    f"""kernel void {name}(global const uint* a, global uint* out) {{
  local uint t[128], u[128];
  uint l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
  t[l] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  u[n - 1 - l] = t[(l + 3) % n];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = t[n - 1 - l] {operator} u[l];
}}
""" for name, operator in (("crossed", "^"), ("added", "+"))) + """
kernel void few(global const uint* a, global uint* out) {
  local uint t[64];
  uint l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l >= 5) return;
  out[get_global_id(0)] = t[63 - l];
}
kernel void copied(global const uint* a, global uint* out) {
  if (get_local_id(0) % 3 == 0) return;
  out[get_global_id(0)] = a[get_global_id(0)];
}
"""
WAYS = [("--strategy", strategy, "--set", f"tuning.mode={mode}")
        for strategy, mode in (("launch", "interpreter"), ("barrier", "jit"), ("counters", "interpreter"))]


def groups_of(values: list[int], size: int) -> list[list[int]]:
    return [values[i:i + size] for i in range(0, len(values), size)]


class KernelsWithBarriers(Programs):
    """Several of them in one generated kernel, where what follows a barrier is for some work-items only."""

    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", BARRIERS)
        self.values = [i * 2654435761 % 2**32 for i in range(1024)]
        self.file("a.npy", npy("u32", self.values))

    def buffers(self, *names: str) -> Document:
        return {"a": buffer(count=1024, init={"file": "a.npy"}),
                **{name: buffer(count=1024, output=f"{name}.npy") for name in names}}

    def reductions(self, *more: tuple[str, str]) -> tuple[Document, dict[str, list[int]]]:
        """As many programs have them: two independent reductions, of which the first work-item writes the result."""
        waves = (("total", "sums"), ("most", "most"), *more)
        document = program(self.buffers(*(out for _, out in waves)),
                           *(wave(op, "a", out, size=1024, local=64) for op, out in waves))
        tiles = groups_of(self.values, 64)
        expected = {"sums": [x for tile in tiles for x in [sum(tile) % 2**32, *[0] * 63]],
                    "most": [x for tile in tiles for x in [max(tile), *[0] * 63]],
                    "few": [x for tile in tiles for x in [*tile[:-6:-1], *[0] * 59]],
                    "copies": [x if i % 64 % 3 else 0 for i, x in enumerate(self.values)]}
        return document, {out: expected[out] for _, out in waves}

    def check(self, document: Document, expected: dict[str, list[int]], *args: str, **rest: Any) -> Document:
        report = self.report_of(document, *args, **rest)
        for name, values in expected.items():
            self.assertEqual(self.output(f"{name}.npy"), values, f"{name}, {args}")
        return report

    @unittest.skipIf(SANITIZED, "by line coverage, the other tests reach what it does; Release runs it")
    def test_reductions(self) -> None:
        for way in WAYS:
            self.check(*self.reductions(("few", "few"), ("copied", "copies")), *way)

    def test_many_waves(self) -> None:
        """Work-groups of another size in the midst, and each kernel with barriers in several waves."""
        state = {"b0": [0] * 1024, "b1": list(self.values), "b2": [x ^ 0xffff for x in self.values], "b3": [0] * 1024}
        self.file("b1.bin", raw("u32", state["b1"]))
        self.file("b2.bin", raw("u32", state["b2"]))
        steps = (("crossed", "b1", "b0", 128), ("crossed", "b0", "b3", 128), ("crossed", "b3", "b1", 32),
                 ("added", "b2", "b3", 128), ("added", "b2", "b0", 128), ("copied", "b0", "b1", 128),
                 ("crossed", "b2", "b0", 128))
        document = program(self.buffers(*state), *(wave(op, a, out, size=1024, local=local)
                                                   for op, a, out, local in steps))
        for name in ("b1", "b2"):
            document["buffers"][name]["init"] = {"file": f"{name}.bin"}
        for op, a, out, local in steps:
            if op == "copied":
                state[out] = [x if i % local % 3 else old for i, (x, old) in enumerate(zip(state[a], state[out]))]
                continue
            state[out] = [(t[-1 - l] ^ u if op == "crossed" else t[-1 - l] + u) % 2**32
                          for t in groups_of(state[a], local)
                          for l, u in enumerate(t[(local - 1 - l + 3) % local] for l in range(local))]
        for way in WAYS[1:]:
            self.check(document, state, *way)

    def test_where_the_self_test_found_them_wrong(self) -> None:
        document, expected = self.reductions()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(f"{cache_home()}/tidegate", f"{folder}/tidegate")
            for kept in Path(folder, "tidegate").glob("device-*"):
                self.assertIn('"barrier_kernels_share": true', kept.read_text())
                kept.write_text(kept.read_text().replace('"barrier_kernels_share": true', '"barrier_kernels_share": false'))
            for strategy in ("launch", "barrier"):
                report = self.check(document, expected, "--strategy", strategy, env={"XDG_CACHE_HOME": folder})
                self.assertEqual(report["fallbacks"], [
                    {"wave": f"wave {number} ({op})",
                     "reason": "its kernel has barriers or local memory, and no self-test has found such kernels "
                               "right on this device as cases of one kernel"} for number, op in enumerate(("total", "most"))])


class LargeBuffers(Small):
    def test_fills_beyond_two_gib(self) -> None:
        """Only the pages that are filled exist."""
        across, count = (1 << 29) - 1000, 700_000_000
        report = self.report_of({
            "buffers": {"huge": buffer(count=count), "out": buffer(count=3000, output="out.bin")}, "ops": {}, "waves": [
                {"fill": {"buffer": "huge", "value": 7, "offset": across, "count": 2000}},
                {"fill": {"buffer": "huge", "value": 9, "offset": count - 1000}},
                {"copy": {"from": "huge", "to": "out", "from_offset": across, "count": 2000}},
                {"copy": {"from": "huge", "to": "out", "from_offset": count - 1000, "to_offset": 2000}}]}, "--strategy", "launch")
        self.assertGreater(report["memory"]["arena_bytes"], 1 << 31)
        self.assertEqual(read_array(self.folder / "out.bin", "i32"), [7] * 2000 + [9] * 1000)


class Kept(Small):
    def test_same_bytes(self) -> None:
        """The same input gives the same report, measured values aside."""
        def measured(name: str) -> bool:
            return name.endswith("_ns") or name in ("compiled_pipeline_cache_hit", "kernel_launches", "sync_points",
                                                    "bytes_read_back", "bytes_moved")

        def stripped(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: stripped(item) for key, item in value.items() if not measured(key)}
            return [stripped(item) for item in value] if isinstance(value, list) else value

        reports = [stripped(self.report_of(CHAIN, "--strategy", "launch", "--verify")) for _ in range(2)]
        self.assertEqual(json.dumps(reports[0]), json.dumps(reports[1]))
        planned = [self.run_document(CHAIN, "--dry-run").stdout for _ in range(2)]
        self.assertEqual(*planned)  # a plan has no measured times


class Report(Small):
    def test_schema(self) -> None:
        schema = json.loads(run("schema", "run_report").stdout)
        for options in (("--dry-run",), ("--strategy", "launch", "--verify", "--compare", "3")):
            result = self.run_document(CHAIN, *options)
            self.assertEqual((result.rc, result.stderr), (0, ""))
            report = parse(result.stdout)
            jsonschema.Draft202012Validator(schema).validate(report)
            self.assertEqual(list(report)[:2], ["kind", "schema_version"])
            checked = run("check", "-", input=result.stdout)
            self.assertEqual((checked.rc, checked.stderr), (0, ""))

    def test_kernels_print_to_standard_error(self) -> None:
        self.file("print.cl", 'kernel void talk(global uint* x) { x[get_global_id(0)] = 1u; printf("here\\n"); }\n')
        document = program({"x": buffer(output="x.npy")}, wave("talk", {"buffer": "x"}))
        document["ops"] = {"talk": {"source": "print.cl"}}
        for options in (("--strategy", "barrier", "--verify"), ("--check", "bounds",)):
            result = self.run_document(document, *options)
            self.assertEqual(result.rc, 0, result.stderr)
            self.assertEqual(parse(result.stdout)["kind"], "run_report")
            self.assertIn("here\n", result.stderr, options)

    def test_device_of_the_environment(self) -> None:
        nowhere = {"TIDEGATE_DEVICE": "nowhere"}
        result = self.run_document(CHAIN, "--strategy", "launch", env=nowhere)
        self.assertEqual(result.rc, 4)
        self.assertIn('error: no device is "nowhere", as TIDEGATE_DEVICE says [no_device]\n', result.stderr)
        for options in (("--device", "cpu", "--strategy", "launch"), ("--dry-run",)):
            self.assertEqual(self.run_document(CHAIN, *options, env=nowhere).rc, 0, "what is said counts")
        self.assertEqual(self.run_document(CHAIN, "--strategy", "launch", env={"TIDEGATE_DEVICE": "cpu"}).rc, 0)

    def test_compare_stored_reports(self) -> None:
        """Next to those of an earlier report, which the test makes a thousand times as fast, or as slow, or of another minor version."""
        first = self.run_document(CHAIN, "--strategy", "launch", "--compare", "6").stdout
        stored = {name: json.loads(first) for name in ("slow", "fast", "other", "few", "earlier")}
        stored["slow"]["comparison"]["run_rounds_ns"] = [1000 * ns for ns in stored["slow"]["comparison"]["run_rounds_ns"]]
        stored["other"]["items_in_all"] += 1
        del stored["few"]["comparison"]
        stored["earlier"] |= {"unknown": {"a": [1]}, "memory": {**stored["earlier"]["memory"], "unknown": 1}}
        del stored["earlier"]["evidence"], stored["earlier"]["telemetry"]["sync_points"]
        for name, document in stored.items():
            (self.folder / f"{name}.json").write_text(json.dumps(document))
        for a, b, rc, message in (("fast", "slow", 1, "[slower_than_baseline]"), ("slow", "fast", 0, ""), ("earlier", "fast", 0, ""),
                                  ("other", "slow", 2, "the baseline timed other work"), ("few", "slow", 2, "needs two reports")):
            compared = run("compare", *(str(self.folder / f"{name}.json") for name in (a, b)), "--fail-slower", "5%")
            self.assertEqual((compared.rc, message in compared.stderr), (rc, True), compared.stderr)
        self.assertIn("unknown key", run("check", str(self.folder / "earlier.json")).stderr)

    def test_a_report_is_small_unless_it_explains(self) -> None:
        path = self.file("program.json", json.dumps(CHAIN))
        brief, whole, planned = (parse(run("run", str(path), *options, env=environment()).stdout)
                                 for options in (("--strategy", "launch"), ("--strategy", "launch", "--explain"), ("--dry-run",)))
        for report, explains in ((brief, False), (whole, True), (planned, True)):
            self.assertEqual(("groups" in report["plan"]["barriers"], "offsets" in report["memory"]), (explains, explains))
            self.assertIn("topology", report["evidence"])
            self.assertIn("sync_points", report["telemetry"])

    def test_times(self) -> None:
        files = {kind: self.folder / f"times.{kind}" for kind in ("md", "csv")}
        for file in files.values():
            report = parse(self.run_document(CHAIN, "--strategy", "launch", "--compare", "2", "--times", str(file)).stdout)
        self.assertEqual(files["md"].read_text().count("\n"), 4)
        rows = [line.split(",") for line in files["csv"].read_text().splitlines()]
        self.assertEqual(rows[0], ["round", "run_ns", "other_ns"])
        self.assertEqual([float(row[1]) for row in rows[1:]], report["comparison"]["run_rounds_ns"])
        self.assertEqual([float(row[2]) for row in rows[1:]], report["comparison"]["plain_rounds_ns"])


class DryRun(Small):
    @property
    def no_device(self) -> dict[str, str]:
        (self.folder / "vendors").mkdir(exist_ok=True)
        return {"OCL_ICD_VENDORS": f"{self.folder}/vendors/", "OCL_ICD_FILENAMES": ""}

    def test_without_a_device(self) -> None:
        report = self.report_of(CHAIN, "--dry-run", env=self.no_device)
        self.assertEqual(report["status"], "planned")
        self.assertEqual(report["recommendation"]["topology"], report["evidence"]["topology"]["selected_topology"])
        self.assertEqual(report["evidence"]["complete"], {"topology": True, "promotion": True})
        self.assertEqual([offset["buffer"] for offset in report["memory"]["offsets"]], ["a", "b", "c", "a2"])
        self.assertEqual(report["plan"]["barriers"]["global_barriers"], 1)
        self.assertNotIn("device", report)
        self.assertNotIn("output_parity", report)
        self.assertTrue(report["strategy_reason"].startswith("planned for a device whose self-test passes: launch "))
        self.assertEqual({candidate["strategy"] for candidate in report["candidates"] if candidate["estimated_ns"] > 0},
                         {"launch", "barrier", "counters", "plain"})
        self.assertFalse(any("measured_ns" in candidate for candidate in report["candidates"]))
        self.assertFalse((self.folder / "b.npy").exists())
        table = self.run_document(CHAIN, "--dry-run", "--format", "table", env=self.no_device)
        self.assertTrue(table.stdout.startswith("planned: "), table.stdout)

    def test_a_run_needs_one(self) -> None:
        result = self.run_document(CHAIN, "--errors", "json", env=self.no_device)
        self.assertEqual((result.rc, result.stdout), (4, ""))
        self.assertEqual(json.loads(result.stderr)["code"], "no_device")

class Places(Small):
    def test_paths(self) -> None:
        """Files lie relative to the program, wherever it is run from; from standard input, relative to here."""
        path = self.file("program.json", json.dumps(CHAIN))
        for name, folder, input_ in ((str(path), "/", None), ("program.json", self.folder, None),
                                     (f"../{self.folder.name}/program.json", self.folder, None),
                                     ("-", self.folder, path.read_bytes())):
            for output in ("b.npy", "c.bin"):
                (self.folder / output).unlink(missing_ok=True)
            done = subprocess.run([binary(), "run", name, "--strategy", "launch"], cwd=folder, input=input_,
                                  capture_output=True, check=False, timeout=PATIENCE,
                                  env={**os.environ, **environment()})
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)
            self.assertEqual(self.output("b.npy"), [0, 2, 4, 6, 8, 10, 12, 14], name)

if __name__ == "__main__":
    unittest.main()
