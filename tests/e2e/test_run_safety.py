"""tidegate run when something goes wrong: it ends, says why, leaves no process behind and no output half-written.

How a dispatch ends is tested in tests/engine/dispatch_test.cpp and run_test.cpp, on a stand-in for the device.
"""

import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

from support import (IOTA, MOMENTS, PATIENCE, SEED, Document, Programs, binary, buffer, cache_home, catches_interrupts, device, environment, npy, parse,
                     read_array, run, wave)
from support import program as program_of

# Of several work-groups on a busy CPU each waits for one whose core is taken; one alone runs on.
ONE = ("--workers", "1")

OPS = """kernel void advance(global uint* x) { x[get_global_id(0)] += 1u; }
kernel void copied(global const uint* x, global uint* y) { y[get_global_id(0)] = x[get_global_id(0)]; }
kernel void endless(global uint* x) {
  volatile uint turns = 0;
  while (x[get_global_id(0)] < 1000000u) turns += 1u; // nobody changes x
}
"""
COUNT = 64
OLD = b"what was there before"


def program(repeat: int = 1, op: str = "advance") -> Document:
    """x counts the iterations, y is its copy: two groups of waves, so that a barrier lies between them."""
    return program_of({"x": buffer(count=COUNT, init=IOTA, output="x.npy"), "y": buffer(count=COUNT, output="y.npy")},
                      wave(op, "x", size=COUNT, local=8, name="turn"), wave("copied", "x", "y", size=COUNT, local=8, name="copy"), repeat=repeat)


class Safety(Programs):
    sources = {"ops.cl": OPS, "x.npy": OLD.decode(), "y.npy": OLD.decode()}

    def built(self, document: Document, *args: str) -> None:
        """Runs it once, so that its kernels are in the cache and later runs get to work at once."""
        self.assertEqual(self.run_document(document, *args).rc, 0)
        self.restore()

    def restore(self) -> None:
        for name in ("x.npy", "y.npy"):
            self.file(name, OLD)

    def assert_withheld(self) -> None:
        """The old output files are as they were, and nothing lies beside them."""
        for name in ("x.npy", "y.npy"):
            self.assertEqual((self.folder / name).read_bytes(), OLD)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["ops.cl", "program.json", "x.npy", "y.npy"])

    def assert_right(self, repeat: int = 1) -> None:
        for name in ("x.npy", "y.npy"):
            self.assertEqual(read_array(self.folder / name, "u32"), [i + repeat for i in range(COUNT)])

    def started(self, *command: str) -> subprocess.Popen[str]:
        """A process in a group of its own, which ends with the test."""
        process = subprocess.Popen([binary(), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                   start_new_session=True, env={**os.environ, **environment()})

        def end() -> None:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

        self.addCleanup(end)
        return process

    def assert_no_process(self) -> None:
        """No process has the program's folder in its command line."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if self.names_folder(path)]
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"processes are left: {left}")

    def names_folder(self, path: Path) -> bool:
        try:
            return str(self.folder).encode() in path.read_bytes()
        except OSError:
            return False  # it has just ended


def cpu_seconds(group: int) -> float:
    """What the processes of a group have used."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Cores(Safety):
    def test_a_core_for_each_thread(self) -> None:
        """The threads of PoCL stay on a core each, unless the user has restricted the cores."""
        if "Portable Computing Language" not in device()["platform"] or os.sched_getaffinity(0) != set(range(os.cpu_count() or 0)):
            self.skipTest("another driver, or restricted cores")
        process = self.started("run", self.written(program(2**32 - 1)), "--strategy", "launch", "--max-wall-time", "1200s")
        cores: list[set[int]] = []
        while process.poll() is None and not all({core} in cores for core in os.sched_getaffinity(0)):
            try:
                child, = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                cores = [os.sched_getaffinity(int(task.name)) for task in Path(f"/proc/{child}/task").iterdir()]
            except (OSError, ValueError):
                pass  # not there yet, or ended meanwhile
            time.sleep(0.01)
        process.terminate()
        self.assertLessEqual({frozenset({core}) for core in os.sched_getaffinity(0)}, set(map(frozenset, cores)))


class WallTime(Safety):
    def test_an_op_that_never_returns(self) -> None:
        document = program(op="endless")
        returns = json.loads(json.dumps(document).replace('{"iota": {}}', '{"fill": 1000000}'))
        self.built(returns, "--strategy", "barrier", *ONE)  # launches that do not return are in Signals, and in test_ranks
        for seconds in ("1", "10", "100"):  # until its kernel has begun, however slow this machine is
            result = self.run_document(document, "--strategy", "barrier", "--max-wall-time", seconds, *ONE)
            self.assertEqual(result.rc, 1, result.stderr)
            report = parse(result.stdout)
            if "does not return" in report["error"]["message"]:
                break
        self.assertEqual((report["status"], report["error"]["code"]), ("deadline", "wall_time_exceeded"))
        self.assertIn("does not return", report["error"]["message"])
        self.assertIn(report["error"]["message"], result.stderr)
        self.assertGreater(report["items_remaining"], 0)
        self.assertEqual(run("check", input=result.stdout).rc, 1)
        self.assert_withheld()
        self.assert_no_process()


class Signals(Safety):
    def interrupted(self, document: Document, *args: str, group: bool, cores: float) -> Document | None:
        """The report of a run that gets the signal once it has used so many seconds of a core; none before it can start."""
        process = self.started("run", self.written(document), *args)
        while cpu_seconds(process.pid) < cores:
            self.assertIsNone(process.poll(), "it has ended by itself")
            time.sleep(0.1)
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("[interrupted]", err)
        self.assert_withheld()
        self.assert_no_process()
        if not out:  # or its compiler was at work, which fails then
            self.assertTrue(err == self.INTERRUPTED or self.INTERRUPTED_RUN.fullmatch(err), err)
            return None
        report = parse(out)
        self.assertEqual((report["status"], report["error"]["code"]), ("interrupted", "interrupted"))
        self.assertGreater(report["items_remaining"], 0)
        return report

    def test_a_long_run(self) -> None:
        for way, group in ((("--strategy", "launch"), False), (("--strategy", "barrier", *ONE), True)):
            self.built(program(), *way)
            report = self.interrupted_at_work(program(2**32 - 1), *way, group=group)
            self.assertGreater(report["items_processed"], 0)

    def interrupted_at_work(self, document: Document, *args: str, group: bool) -> Document:
        """Interrupted once its kernel runs, however much this machine needs until it does."""
        for cores in (1, 5, 25):
            report = self.interrupted(document, *args, group=group, cores=cores)
            if report and (report["items_processed"] != 0 or "does not return" in report["error"]["message"]):
                return report
        self.fail("its kernel never began")

    def test_an_op_that_never_returns(self) -> None:
        report = self.interrupted_at_work(program(op="endless"), "--strategy", "launch", group=True)
        self.assertIn("does not return", report["error"]["message"])

    INTERRUPTED = ("tidegate: error: interrupted [interrupted]\n"
                   "  fix: run it again; a file that was not complete is removed\n")
    INTERRUPTED_RUN = re.compile(r"tidegate: .*program\.json: error: .*\[interrupted\]\n  fix: .*\n")

    def test_whatever_a_command_is_doing(self) -> None:
        """Ctrl-C ends it with its message, or what it answers is complete: as soon as it is heard, and at random moments of the first second."""
        draw = random.Random(SEED)
        path = self.written(program(1000))
        commands = [["run", path], ["run", path, "--set", "cache=no"], ["check", path], ["devices"]]
        moments = [(command, 0.0) for command in commands] + [(draw.choice(commands), draw.random()) for _ in range(MOMENTS)]
        for command, moment in moments:
            with self.subTest(seed=SEED, command=command, moment=moment):
                self.interrupt_at(command, moment)

    # One process gets the signal: the second one, which the parent passes on after that of a group, may come so late on a busy
    # machine that it counts as the wish to end at once.
    def interrupt_at(self, command: list[str], moment: float) -> None:
        self.restore()
        process = self.started(*command)
        while process.poll() is None and not catches_interrupts(process.pid):
            pass  # main() has not begun
        time.sleep(moment)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        answer = parse(out) if out else None
        if process.returncode == 130:
            self.assertTrue(err == self.INTERRUPTED or self.INTERRUPTED_RUN.fullmatch(err), err)
            self.assertTrue(answer is None or command[0] == "devices" or answer["status"] == "interrupted", out)
            self.assert_withheld()
        else:
            self.assertEqual((process.returncode, err), (0, ""), err)
            self.assertIsNotNone(answer)
            if command[0] == "run":
                self.assertEqual(answer["status"], "done")
                self.assertEqual(read_array(self.folder / "y.npy", "u32"), [i + 1000 for i in range(COUNT)])
        unfinished = [path for folder in (self.folder, Path(cache_home(), "tidegate")) for path in folder.iterdir()
                      if re.fullmatch(r".*\.\w{6}", path.name) and path.suffix != ".kernel"]
        self.assertEqual(unfinished, [])
        self.assert_no_process()


class FullDisk(Safety):
    def small_disk(self, kib: int) -> Path:
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(small)], check=False,
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        return small

    def test_output(self) -> None:
        small = self.small_disk(64)
        old = npy("u32", [7] * COUNT)
        (small / "large.npy").write_bytes(old)
        document = program()
        document["buffers"]["large"] = {"type": "u32", "count": 2**16, "init": {"fill": 1},
                                        "output": "small/large.npy"}
        result = self.run_document(document, "--strategy", "launch", "--errors", "json")
        error = json.loads(result.stderr)
        self.assertEqual((result.rc, result.stdout, error["code"]), (4, "", "cannot_write"))
        self.assertIn("No space left on device", error["message"])
        self.assertEqual((small / "large.npy").read_bytes(), old)
        self.assertEqual([path.name for path in small.iterdir()], ["large.npy"])
