"""tidegate run: programs of OpenCL kernels on PoCL, their results worked out by hand, and what the report says."""

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import jsonschema

from support import (IOTA, STRATEGIES, Document, Programs, buffer, cache_home, device, environment, npy, parse, program, raw, read_array, run,
                     wave)

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
CHAIN = program({"a": buffer(init=IOTA), "b": buffer(output="b.npy"), "c": buffer(output="c.bin")},
                wave("twice", "a", "b", 8, name="first", rules=[3]),
                wave("plus", "b", "c", 100, name="second", rules=[0, 31]),
                wave("twice", "a", "a2", 8, name="aside", rules=[5]))
CHAIN["buffers"]["a2"] = buffer()


class Small(Programs):
    sources = {"ops.cl": OPS}


class Results(Small):
    """Worked out by hand, under both strategies; most programs use the same kernels, which are then kept."""

    def both(self, document: Document, warnings: int = 0, **expected: list[Any]) -> list[Document]:
        reports = [self.right(document, "--strategy", strategy, "--set", "tuning.mode=interpreter", "--verify", warnings=warnings, **expected)
                   for strategy in STRATEGIES]
        self.assertEqual([report["strategy"] for report in reports], list(STRATEGIES))
        return reports

    def test_chain(self) -> None:
        for report in self.both(CHAIN, b=[0, 2, 4, 6, 8, 10, 12, 14],
                                c=[100, 102, 104, 106, 108, 110, 112, 114]):
            self.assertEqual((report["status"], report["items_processed"], report["iterations"]), ("done", 24, 1))
            self.assertEqual([group["waves"] for group in report["plan"]["barriers"]["groups"]], [[0, 2], [1]])
            # Of every group its waves' rules and their ancestors'.
            self.assertEqual(report["region_lineage"], [1 << 3 | 1 << 5, 1 << 0 | 1 << 31 | 1 << 3])
            self.assertEqual(report["telemetry"]["readback_buffers"], 2)

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
  local uint t[128], u[128];
  uint l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
  t[l] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  u[n - 1 - l] = t[(l + 3) % n];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = t[n - 1 - l] {operator} u[l];
}}
""" for name, operator in (("crossed", "^"), ("added", "+"))) + """
kernel void copied(global const uint* a, global uint* out) {
  if (get_local_id(0) % 3 == 0) return;
  out[get_global_id(0)] = a[get_global_id(0)];
}
"""


class KernelsWithBarriers(Programs):
    """Several of them in one generated kernel, where what follows a barrier is for some work-items only."""

    sources = {"ops.cl": BARRIERS}

    def test_many_waves(self) -> None:
        """Work-groups of another size in the midst, and each kernel with barriers in several waves."""
        values = [i * 2654435761 % 2**32 for i in range(1024)]
        state = {"b0": [0] * 1024, "b1": values, "b2": [x ^ 0xffff for x in values], "b3": [0] * 1024}
        steps = (("crossed", "b1", "b0", 128), ("crossed", "b0", "b3", 128), ("crossed", "b3", "b1", 32), ("added", "b2", "b3", 128),
                 ("added", "b2", "b0", 128), ("copied", "b0", "b1", 128), ("crossed", "b2", "b0", 128))
        for name, first in state.items():
            self.file(f"{name}.bin", raw("u32", first))
        document = program({name: buffer(count=1024, init={"file": f"{name}.bin"}, output=f"{name}.npy") for name in state},
                           *(wave(op, a, out, size=1024, local=local) for op, a, out, local in steps))
        for op, a, out, local in steps:
            if op == "copied":
                state[out] = [x if i % local % 3 else old for i, (x, old) in enumerate(zip(state[a], state[out]))]
                continue
            state[out] = [(t[-1 - l] ^ u if op == "crossed" else t[-1 - l] + u) % 2**32
                          for t in (state[a][i:i + local] for i in range(0, 1024, local))
                          for l, u in enumerate(t[(local - 1 - l + 3) % local] for l in range(local))]
        for strategy, mode in (("barrier", "jit"), ("counters", "interpreter")):
            self.right(document, "--strategy", strategy, "--set", f"tuning.mode={mode}", **state)

    def test_where_the_self_test_found_them_wrong(self) -> None:
        self.file("ops.cl", OPS)
        document = program({"a": buffer(init=IOTA), "b": buffer(output="b.npy")}, wave("turned", "a", "b"))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(f"{cache_home()}/tidegate", f"{folder}/tidegate")
            for kept in Path(folder, "tidegate").glob("device-*"):
                self.assertIn('"barrier_kernels_share": true', kept.read_text())
                kept.write_text(kept.read_text().replace('"barrier_kernels_share": true', '"barrier_kernels_share": false'))
            report = self.report_of(document, "--strategy", "barrier", env={"XDG_CACHE_HOME": folder})
        self.assertEqual(self.output("b.npy"), [3, 2, 1, 0, 7, 6, 5, 4])
        self.assertIn("no self-test has found such kernels right on this device", report["fallbacks"][0]["reason"])


class LargeBuffers(Small):
    def test_fills_beyond_two_gib(self) -> None:
        """Only the pages that are filled exist."""
        if device()["max_allocation_bytes"] <= 1 << 31:  # PoCL's part of the memory of the first NUMA node
            self.skipTest("the device allocates 2 GiB at most")
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
        """The same input gives the same plan, and the same report, measured values aside."""
        measured = re.compile(r'"(\w+_ns|compiled_pipeline_cache_hit|kernel_launches|sync_points|bytes_read_back|bytes_moved)": (\[[^]]*\]|[\w.+-]+)')
        self.assertEqual(*(measured.sub("", self.run_document(CHAIN, "--strategy", "launch", "--verify").stdout) for _ in range(2)))
        self.assertEqual(*(self.run_document(CHAIN, "--dry-run").stdout for _ in range(2)))


class Report(Small):
    def test_schema(self) -> None:
        """Small unless it explains."""
        schema = json.loads(run("schema", "run_report").stdout)
        for explains, options in ((True, ("--dry-run",)), (False, ("--strategy", "launch", "--verify", "--compare", "3")),
                                  (True, ("--strategy", "launch", "--explain"))):
            result = run("run", self.written(CHAIN), *options, env=environment())
            self.assertEqual((result.rc, result.stderr), (0, ""))
            report = parse(result.stdout)
            jsonschema.Draft202012Validator(schema).validate(report)
            self.assertEqual(("groups" in report["plan"]["barriers"], "offsets" in report["memory"]), (explains, explains))
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
        """Two reports, of which the test makes one a thousand times as slow, of other work, without times, or of another minor version."""
        first = self.report_of(CHAIN, "--strategy", "launch", "--compare", "6", "--by-wave")
        stored = {name: json.loads(json.dumps(first)) for name in ("slow", "fast", "other", "own", "few", "earlier", "near", "far")}
        stored["slow"]["comparison"]["run_rounds_ns"] = [1000 * ns for ns in stored["slow"]["comparison"]["run_rounds_ns"]]
        stored["slow"]["backend_dispatch_ns"] = 2 * first["backend_dispatch_ns"]
        stored["other"]["items_in_all"] += 1
        stored["own"]["source"] = "own.cl"
        stored["near"]["program"], stored["far"]["program"] = "program.json", "elsewhere/program.json"
        del stored["earlier"]["program"]
        del stored["few"]["comparison"]
        stored["earlier"] |= {"unknown": {"a": [1]}, "memory": {**stored["earlier"]["memory"], "unknown": 1}}
        del stored["earlier"]["evidence"], stored["earlier"]["telemetry"]["sync_points"]
        files = {name: self.written(document, f"{name}.json") for name, document in stored.items()}
        for a, b, rc, message in (("fast", "slow", 1, "[slower_than_baseline]"), ("slow", "fast", 0, ""), ("earlier", "fast", 0, ""),
                                  ("other", "slow", 2, "the baseline timed other work"), ("own", "slow", 2, "other work"), ("near", "fast", 0, ""), ("far", "fast", 2, "other work: elsewhere"), ("few", "slow", 2, "needs two reports")):
            compared = run("compare", files[a], files[b], "--fail-slower", "5%")
            self.assertEqual((compared.rc, message in compared.stderr), (rc, True), compared.stderr)
        self.assertIn("unknown key", run("check", files["earlier"]).stderr)
        made = parse(run("compare", files["fast"], files["slow"]).stdout)
        self.assertEqual({pair["name"]: pair.get("ratio") for pair in made["numbers"]}["backend_dispatch_ns"], 2)
        self.assertEqual({wave["name"]: (wave["a"], wave["b"]) for wave in made["waves"]},
                         {row["waves"]: (row["time_ns"], row["time_ns"]) for row in first["wave_times"]["waves"]})
        self.assertEqual(run("compare", files["fast"]).rc, 2)


class DryRun(Small):
    def test_without_a_device(self) -> None:
        no_device = {"OCL_ICD_VENDORS": "/nonexistent/", "OCL_ICD_FILENAMES": ""}
        report = self.report_of(CHAIN, "--dry-run", env=no_device)
        self.assertEqual((report["status"], "device" in report, (self.folder / "b.npy").exists()), ("planned", False, False))
        self.assertTrue(report["strategy_reason"].startswith("planned for a device whose self-test passes: launch "))


class Places(Small):
    def test_paths(self) -> None:
        """Files lie relative to the program, wherever it is run from; from standard input, relative to here."""
        path = Path(self.written(CHAIN))
        for name, folder, input_ in ((str(path), "/", None), ("program.json", self.folder, None),
                                     (f"../{self.folder.name}/program.json", self.folder, None),
                                     ("-", self.folder, path.read_bytes())):
            for output in ("b.npy", "c.bin"):
                (self.folder / output).unlink(missing_ok=True)
            done = run("run", name, "--strategy", "launch", cwd=Path(folder), input=input_, env=environment())
            self.assertEqual((done.rc, done.stderr), (0, ""), name)
            self.assertEqual(self.output("b.npy"), [0, 2, 4, 6, 8, 10, 12, 14], name)
