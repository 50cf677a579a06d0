"""The first run of a program on a device: what it compares, times, keeps and says, and what it does about outputs that
are not those of plain launches. How fast anything is on a busy machine is no part of it."""

import json
import re
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

from support import (FAILING_DRIVER, IOTA, Document, Programs, buffer, cache_home, device, environment, parse, pocl_cache, program, run, wave,
                     wrong_reads)

OPS = """kernel void twice(global const int* in, global int* out) { out[get_global_id(0)] = 2 * in[get_global_id(0)]; }
kernel void sum(global const int* a, global const int* b, global int* out) { size_t i = get_global_id(0); out[i] = a[i] + b[i]; }
"""
ENOUGH = "--set", "measure-time=1200s"  # also on a busy machine


class FirstRun(Programs):
    sources = {"ops.cl": OPS}

    def setUp(self) -> None:
        super().setUp()
        self.forget()

    def forget(self) -> None:
        for kept in Path(cache_home(), "tidegate").glob("tuned-*"):
            kept.unlink()

    def waves(self, *waves: Document, output: str = "b", **more: object) -> Path:
        names = sorted({arg["buffer"] for one in waves for arg in one["args"]})
        buffers = {name: buffer("i32", count=64, **({"init": IOTA} if name == "a" else {"output": f"{name}.npy"} if name == output else {}))
                   for name in names}
        return Path(self.written(program(buffers, *waves, **more)))

    def two_side_by_side(self) -> Path:
        """Two waves that share a launch, and a third that waits for both."""
        return self.waves(wave("twice", "a", "b", size=64, local=32), wave("twice", "a", "c", size=64, local=32),
                          wave("sum", "b", "c", "d", size=64, local=32), output="d")

    def report(self, path: Path, *args: str, warned: bool = False, **env: str) -> Document:
        result = run("run", str(path), "--explain", *args, env=environment(**env))
        self.assertEqual(result.rc, 0, result.stderr)
        self.assertEqual("warning: outputs differ from those of plain launches" in result.stderr, warned, result.stderr)
        document: Document = parse(result.stdout)
        return document

    def kept(self, kind: str) -> list[Path]:
        return sorted(Path(cache_home(), "tidegate").glob(f"tuned-*.{kind}.json"))

    def settled(self, path: Path, *args: str) -> Document:
        """The report of the run that settles the choice. What it keeps is then plain launches: a persistent launch that a busy CPU makes
        far slower than them is forgotten, now or by a later run."""
        while True:
            report = self.report(path, *ENOUGH, *args)
            if report["first_run"]["settled"] and (report["first_run"]["kept"] or not report["first_run"]["measured"]):
                break
        for profile in self.kept("profile"):
            kept = parse(profile.read_text())
            kept["tuning"]["strategy"] = "plain"
            profile.write_text(json.dumps(kept))
        return report

    def test_measured_once(self) -> None:
        path = self.two_side_by_side()
        first = self.settled(path)["first_run"]
        self.assertEqual([first[key] for key in ("compared", "equal", "measured", "kept")], [True] * 4)
        self.assertIn("launch", [candidate["value"] for candidate in first["candidates"]])
        self.assertTrue(all(candidate["thrown_out"] != "" or "ratio" in candidate for candidate in first["candidates"]))
        self.assertGreater(first["runs"], len(first["candidates"]))
        self.assertGreater(first["plain_ns"], 0)
        again = self.report(path)
        self.assertEqual([again["first_run"][key] for key in ("compared", "equal", "measured", "kept", "settled", "runs")],
                         [True, True, False, True, True, 0])
        self.assertEqual(again["first_run"]["candidates"], first["candidates"])
        self.assertEqual(again["profile_file"], str(self.kept("profile")[0]))
        # A comment and another value are no new first run; another fixed choice and another kernel are.
        path.write_text(path.read_text() + "\n")
        self.assertFalse(self.report(path)["first_run"]["measured"])
        path.write_text(path.read_text().replace('"iota": {}', '"fill": 3'))
        last = [self.report(path)["first_run"]]
        self.assertFalse(last[0]["measured"])
        last.append(self.report(path, "--set", "tuning.mode=jit", *ENOUGH)["first_run"])
        self.file("ops.cl", OPS + "\n")
        last.append(self.report(path, *ENOUGH)["first_run"])
        self.assertTrue(last[1]["measured"] and last[2]["measured"])
        # Three, but for a launch that a busy machine made far slower than plain ones: that is forgotten, and the report says so.
        self.assertEqual(len(self.kept("profile")), sum(first["kept"] for first in last))

    def test_cache_that_cannot_be_written(self) -> None:
        read_only = self.file("file", "no folder")
        for args in ((), ("--strategy", "launch")):
            result = run("run", str(self.two_side_by_side()), *args, env=environment(XDG_CACHE_HOME=str(read_only), POCL_CACHE_DIR=pocl_cache()))
            self.assertEqual(result.rc, 0, result.stderr)
            self.assertIn(f'warning: cannot write in "{read_only}/tidegate", so nothing is kept for later runs', result.stderr)

    def test_single_launch(self) -> None:
        """Nothing shares it, so it takes plain launches, unless it repeats or candidates are asked for."""
        for repeat, args, measured in ((1, (), False), (2, (), True), (1, ("--set", "measure=yes"), True)):
            self.forget()
            report = self.report(self.waves(wave("twice", "a", "b", size=64, local=32), repeat=repeat), *args, *(ENOUGH if measured else ()))
            self.assertEqual(report["first_run"]["measured"], measured, report["first_run"])
            if not measured:
                self.assertEqual((report["strategy"], report["strategy_reason"], report["first_run"]["settled"], report["first_run"]["runs"]),
                                 ("plain", "plain launches: the program is a single launch", True, 0))

    def test_compared_and_not_timed(self) -> None:
        report = self.report(self.two_side_by_side(), "--set", "measure=no")
        first = report["first_run"]
        self.assertEqual([first[key] for key in ("compared", "equal", "measured", "kept")], [True, True, False, False])
        self.assertNotIn("candidates", first)
        self.assertEqual(report["strategy_reason"], "by the cost model")

    def test_choice_that_takes_too_long(self) -> None:
        """A persistent launch that takes far longer than plain launches did is ended, they run, and the next run measures again."""
        if device()["type"] != "cpu":
            self.skipTest("only a busy CPU does that to a launch")
        self.file("ops.cl", """kernel void churn(global const uint* in, global uint* out) {
            uint x = in[get_global_id(0)]; for (uint k = 0; k < 8000; ++k) x = x * 1664525u + 1013904223u; out[get_global_id(0)] = x; }""")
        path = self.waves(wave("churn", "a", "b", size=64, local=32), wave("churn", "b", "a", size=64, local=32), repeat=100)
        self.settled(path)
        right = self.output("b.npy", "i32")
        profile, = self.kept("profile")
        tuning = parse(profile.read_text())
        self.assertGreater(tuning["tuning"]["plain_iteration_ns"], 0)
        tuning["tuning"] |= {"strategy": "barrier", "plain_iteration_ns": 1}
        profile.write_text(json.dumps(tuning))
        report = self.report(path)
        self.assertEqual((report["status"], report["strategy"], report["first_run"]["kept"]), ("done", "plain", False))
        self.assertIn("the persistent launch took far longer than plain launches", report["strategy_reason"])
        self.assertIn("so the next run measures again", report["first_run"]["reason"])
        self.assertEqual(self.output("b.npy", "i32"), right)
        self.assertEqual(self.kept("profile"), [])

    def test_other_share_of_active_tiles(self) -> None:
        """What was fastest for few active tiles need not be for all: after a run with another share the next one measures again."""
        document = program({"a": buffer("i32", count=4096, init=IOTA), "b": buffer("i32", count=4096, output="b.npy"),
                            "flags": buffer("u8", count=128, init={"file": "flags.raw"})},
                           {**wave("twice", "a", "b", size=4096, local=32), "active": {"buffer": "flags"}}, repeat=4)
        path = Path(self.written(document))
        measured = []
        for active in (4, 5, 128, 128):
            self.file("flags.raw", bytes([1] * active + [0] * (128 - active)))
            first = self.settled(path)["first_run"]
            measured.append((first["measured"], first["kept"]))
            if not first["kept"]:
                self.assertRegex(first["reason"], "(3|100) % of its tiles were active and now (3|100) %, so the next run measures again")
        self.assertEqual(measured, [(True, True), (False, True), (False, False), (True, True)])

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_build_that_never_ends(self) -> None:
        """No run waits for a build that it does not use, not even where the driver builds under one lock."""
        path = self.two_side_by_side()
        with tempfile.TemporaryDirectory() as fresh:
            report = self.report(path, OPENCL_LAYERS=FAILING_DRIVER, TIDEGATE_ENDLESS_KERNEL="tidegate_", POCL_CACHE_DIR=fresh)
        first = report["first_run"]
        self.assertEqual([first[key] for key in ("compared", "equal", "measured", "kept", "settled")], [True] * 4 + [False])
        self.assertFalse(any("ratio" in candidate for candidate in first["candidates"]))
        self.assertEqual(report["strategy"], "plain")
        self.assertGreaterEqual(report["wall_time_ns"], first["elapsed_ns"])
        self.assertEqual(np.load(path.parent / "d.npy").tolist(), [4 * i for i in range(64)])

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_driver_that_crashes(self) -> None:
        """A driver that crashes when it builds a candidate costs that candidate, and the run a warning."""
        path, warned = self.two_side_by_side(), 0
        self.report(path, "--set", "measure=no")  # after which the device's self-test is kept
        for number in range(1, 9):  # the build that crashes: of the program as it is, of a candidate, of what was chosen
            factor = 2 + time.time_ns() % 100000  # no kernel is in the cache
            self.file("ops.cl", OPS.replace("2 *", f"{factor} *"))
            result = run("run", str(path), "--set", "measure=no", env=environment(
                OPENCL_LAYERS=FAILING_DRIVER, TIDEGATE_FAILING_CALL=f"clBuildProgram:{number}", TIDEGATE_FAILING_SIGNAL="6"))
            if result.rc != 0:
                self.assertEqual(result.rc, 4, result.stderr)
                self.assertIn("an OpenCL driver has crashed", result.stderr)
                if warned:
                    break
                continue
            report = parse(result.stdout)
            self.assertEqual(self.output("d.npy", "i32"), [2 * factor * i for i in range(64)])
            if not report["warnings"]:
                break
            warned += 1
            self.assertEqual(report["strategy"], "plain")
            self.assertEqual([warning["message"] for warning in report["warnings"]],
                             ["the OpenCL driver crashed, or did not come back, when it built or ran candidates of the first run, so they were left out"])
        self.assertGreater(warned, 0)

    def test_stated_strategy(self) -> None:
        """It is compared once for each kernel; a comparison that fails is a warning."""
        path = self.two_side_by_side()
        for args in (["--set", "verify-first=no"], ["--dry-run"], ["--strategy", "launch", "--verify"]):
            self.assertNotIn("first_run", self.report(path, *args))
        for of_before in (False, True):
            report = self.report(path, "--strategy", "launch", warned=True, **({} if of_before else wrong_reads(256, last=1)))
            first = report["first_run"]
            self.assertEqual((report["status"], report["strategy"], first["compared"], first["equal"], first["kept"], "difference" in first),
                             ("done", "launch", True, False, True, True))
            self.assertIn("with the stated strategy: ", report["warnings"][0]["message"])
        self.forget()
        for args, reason in (((), "first run"), ((), "earlier"), (("--set", "tuning.mode=jit"), "first run")):
            first = self.report(path, "--strategy", "launch", *args)["first_run"]
            self.assertEqual([first[key] for key in ("compared", "equal", "kept", "measured")], [True, True, True, False])
            self.assertIn(reason, first["reason"])

    def test_outputs_that_differ(self) -> None:
        path = self.two_side_by_side()
        wrong = wrong_reads(256, first=3)  # after those of the plain launches, by themselves and in the arena
        report = self.report(path, *ENOUGH, warned=True, **wrong)
        first = report["first_run"]
        self.assertEqual((report["status"], report["strategy"], first["compared"], first["equal"]), ("done", "plain", True, False))
        self.assertEqual((first["difference"]["first_difference"]["buffer"], first["difference"]["first_difference"]["element"]), ("d", 63))
        self.assertEqual(report["warnings"][0]["pointer"], "/waves/2")  # writes it last
        # It is said again as long as the program stays as it is.
        again = self.report(path, warned=True)
        self.assertEqual((again["strategy"], again["first_run"]["equal"]), ("plain", False))

    def test_nothing_to_compare(self) -> None:
        path = self.two_side_by_side()
        path.write_text(re.sub(r', "output": "\w+.npy"', "", path.read_text()))
        report = self.report(path)
        self.assertEqual((report["strategy"], report["strategy_reason"], report["first_run"]["compared"], report["first_run"]["settled"]),
                         ("plain", "the program has no output to compare", False, True))


class FirstTraversal(Programs):
    """Frontier programs have no plain launches: the result of the first run is checked by the serial algorithm."""

    def setUp(self) -> None:
        super().setUp()
        for kept in Path(cache_home(), "tidegate").glob("checked-*"):
            kept.unlink()
        self.file("path.el", "0 1\n1 2\n2 3\n")
        self.path = Path(self.written({"graph": {"file": "path.el"}, "algorithm": "bfs", "sources": [0], "outputs": {"levels": "levels.bin"}}))

    def first(self, *args: str) -> Document:
        result = run("run", str(self.path), *args, env=environment())
        self.assertEqual((result.rc, result.stderr), (0, ""))
        report = parse(result.stdout)
        first: Document = report["first_run"]
        return first | {"checked_now": "verification" in report}

    def test_checked_once(self) -> None:
        first = self.first()
        self.assertEqual([first[key] for key in ("compared", "equal", "checked_now", "reason")],
                         [True, True, True, "right by the serial algorithm"])
        again = self.first()
        self.assertEqual([again[key] for key in ("compared", "equal", "checked_now", "reason")],
                         [True, True, False, "checked on an earlier run here, right by the serial algorithm"])
        # Another way to run it is checked by itself; so is a graph that was written since, and a program that was edited.
        self.assertEqual(self.first("--set", "tuning.alone-up-to=3")["checked_now"], True)
        self.file("path.el", "0 1\n1 2\n2 4\n")
        self.assertTrue(self.first()["checked_now"])
        self.path.write_text(self.path.read_text() + "\n")
        self.assertTrue(self.first()["checked_now"])
        self.assertFalse(self.first()["checked_now"])
        # What is left out is said.
        first = self.first("--set", "verify-first=no")
        self.assertEqual([first[key] for key in ("compared", "equal", "reason")], [False, False, "not checked: --set verify-first=no"])
        self.assertEqual(self.first("--set", "verify-first=no", "--verify")["equal"], True)
        self.assertNotIn("first_run", parse(run("run", str(self.path), "--dry-run", env=environment()).stdout))

    def test_a_wrong_result(self) -> None:
        for _ in range(2):  # it is never kept
            result = run("run", str(self.path), env=environment(**wrong_reads(16)))
            found = "result_differs: the levels differ at vertex 3: 2 instead of 3"
            self.assertEqual((result.rc, result.stderr.count(found)), (1, 2), result.stderr)
            report = parse(result.stdout)
            first = report["first_run"]
            self.assertEqual((report["status"], report["verification"]["right"], first["compared"], first["equal"], first["reason"]),
                             ("outputs_differ", False, True, False, found))
            self.assertFalse(self.path.with_name("levels.bin").exists())
