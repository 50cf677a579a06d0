"""Programs under mpirun: the same bytes as one process alone, halos alone on the wire, and one error for all.

Random programs, and what is cut and why, are tested on threads in tests/engine/rank_run_test.cpp.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import EXAMPLES, FAILING_DRIVER, MOMENTS, PATIENCE, SEED, Document, Programs, Result, binary, buffer, catches_interrupts, environment, parse, run

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
        """When all ranks have ended, mpirun has 30 s to end, too: Debian's libpmix 4.2.2 now and then waits for itself there."""
        end = time.monotonic() + PATIENCE
        had_children = False
        while True:
            try:
                stdout, stderr = started.communicate(timeout=0.5)
                return Result(started.returncode, stdout.decode(), stderr.decode())
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                if Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text():
                    had_children, end_without = True, now + 30
                if now > end or had_children and now > end_without:
                    started.kill()

    def all_ended(self) -> None:
        end = time.monotonic() + PATIENCE
        while (left := processes_of(self.folder)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, [])

    def check(self, result: Result, rc: int) -> Result:
        self.assertIn(result.rc, (rc, -signal.SIGKILL), result.stderr)
        return result

    def whole(self, ranks: int, *command: str) -> Result:
        """Again where processes that compile one source with PoCL at once have disturbed each other, as they do now and then."""
        for _ in range(5):
            result = self.ended(self.start(ranks, *command))
            if "failed to build the program" not in result.stderr:
                break
        return result

    def mpirun(self, ranks: int, *args: str, rc: int = 0) -> Result:
        return self.check(self.whole(ranks, binary(), *args), rc)

    def one_error(self, result: Result) -> str:
        """All ranks together report one."""
        errors = [line for line in result.stderr.splitlines() if line.startswith("tidegate: ") and "warning" not in line]
        self.assertEqual(len(errors), 1, result.stderr)
        return errors[0]

    def only_one_rank_fails(self, rank: int, command: str, rc: int, why: str) -> None:
        """On that rank a line of bash comes first."""
        self.file("own", f'#!/bin/bash\n[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && {command}\nexec {binary()} run ${{PROGRAM:-program.json}} '
                         "--set verify-first=no\n").chmod(0o755)
        given = set(self.folder.iterdir())
        result = self.check(self.whole(3, "./own"), rc)
        self.assertEqual(result.stdout, "")
        self.assertRegex(self.one_error(result), f"error: rank {rank} of 3: .*{why}")
        self.assertEqual(set(self.folder.iterdir()), given)

    def example(self, name: str, repeat: int | None = None) -> Document:
        for file in (EXAMPLES / "programs" / name).iterdir():
            shutil.copy(file, self.folder)
        program = parse((self.folder / "program.json").read_text())
        if repeat:
            program["repeat"] = repeat
        self.written(program)
        return program

    def test_examples_make_the_same_bytes(self) -> None:
        for name, repeat, ranks, output, row in (("heat", 40, 2, "heat.npy", 240 * 4), ("life", 20, 3, "life.raw", 200)):
            with self.subTest(name=name, ranks=ranks):
                self.example(name, repeat)
                alone = run("run", "program.json", "--strategy", "plain", cwd=self.folder, env=environment())
                self.assertNotIn("ranks", parse(alone.stdout))
                right = (self.folder / output).read_bytes()
                (self.folder / output).unlink()
                verified = name == "heat"  # without --verify rank 0 writes the rows of each rank
                report = parse(self.mpirun(ranks, "run", "program.json", *(("--verify",) if verified else ())).stdout)  # of rank 0 alone
                self.assertTrue(not verified or report["output_parity"]["equal"])
                self.assertEqual((len(report["ranks"]["ranks"]), report["strategy_reason"]), (ranks, "several ranks run plain launches"))
                self.assertEqual((self.folder / output).read_bytes(), right)
                # A row over each border, in both directions, and over that of the torus, before all iterations but the first.
                self.assertEqual(sum(rank["bytes_sent"] for rank in report["ranks"]["ranks"]), (repeat - 1) * (ranks - verified) * 2 * row)

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
        self.written({"graph": {"file": "rows.graph", "weights": "f32"}, "algorithm": "sssp", "sources": [7],
                      "outputs": {"distances": "values.npy"}}, "graph.json")
        made = []
        for ranks, args in ((3, ("--verify",)), (2, ("--set", "verify-first=no"))):
            report = parse(self.mpirun(ranks, "run", "graph.json", *args).stdout)
            made.append(((self.folder / "values.npy").read_bytes(), report["answer"]))
            self.assertEqual(sum(rank["edges"] for rank in report["ranks"]["ranks"]), report["graph"]["edges"])
        self.assertEqual(made[0], made[1])
        self.file("rows.graph", "\n".join([head, *lines[:-1], f"{lines[-1]} 4 1" if "4 " not in lines[-1] else lines[-1][:-4], ""]))
        self.mpirun(3, "run", "graph.json", "--set", "verify-first=no", rc=3)

    def test_a_kernel_that_loops_is_reported_by_its_rank_alone(self) -> None:
        self.file("loops.cl", """kernel void loops(global const uint* in, global uint* out, uint step, uint from, uint end) {
          const uint i = get_global_id(0);
          while (step == 3u && i >= from && i < end && ((volatile global const uint*)in)[i] != 77u) { }
          out[i] = in[i] % 5u + (i > 0 ? in[i - 1] % 3u : 0u) + (i < 63u ? in[i + 1] % 3u : 0u);
        }""")
        # Others wait for its rows.
        for seconds in (2, 20, 200):  # until its ranks are in iteration 3, however slow this machine is
            report = self.late(seconds, "loops", 10, {"u32": 0, "iteration": {"add": 1}}, {"u32": 16}, {"u32": 32})
            if "iteration 3" in report["error"]["message"]:
                break
        said = f"rank 1 of 4: the wall time of {seconds} s is over, and the device has not come back since: a kernel does not return"
        self.assertEqual(report["error"]["message"], said + "; before that it had come to wave 0 (loops) of iteration 3")

    def late(self, seconds: int, op: str, repeat: int, *args: Document) -> Document:
        """The report of a run on four ranks that the wall time ends."""
        state = buffer(count=64, shape=[64], init={"fill": 1})
        self.written({"buffers": {"in": {**state, "output": "in.npy"}, "out": state}, "ops": {op: {"source": f"{op}.cl"}},
                      "waves": [{"op": op, "global_size": [64], "local_size": [8],
                                 "args": [{"buffer": "in", "rows": 1}, {"buffer": "out", "rows": 0}, *args]}], "repeat": repeat, "swap": [["in", "out"]]})
        result = self.mpirun(4, "run", "program.json", "-o", "report.json", "--max-wall-time", f"{seconds}s", "--set", "verify-first=no", rc=1)
        self.assertIn(f"the wall time of {seconds} s is over", self.one_error(result))
        self.assertEqual(list(self.folder.glob("*.npy")), [])
        report = parse((self.folder / "report.json").read_text())
        self.assertEqual(report["status"], "deadline")
        self.assertEqual(run("check", str(self.folder / "report.json")).rc, 1)
        return report

    def test_a_rank_whose_launches_take_long_reports_the_wall_time(self) -> None:
        self.file("slow.cl", """kernel void slow(global const uint* in, global uint* out) {
          const uint i = get_global_id(0);
          uint v = in[i];
          for (uint k = 0; k < (i >= 32u && i < 48u ? 100000u : 1u); ++k) v = v * 3u + k;
          out[i] = v + (i > 0 ? in[i - 1] % 3u : 0u);
        }""")
        report = self.late(2, "slow", 10**7)
        self.assertEqual(report["ranks"]["waves"], [])
        (rank,) = report["ranks"]["ranks"]
        self.assertLess(rank["waiting_ns"], rank["dispatch_ns"])
        if rank["rank"] != 0:
            self.assertTrue(report["error"]["message"].startswith(f'rank {rank["rank"]} of 4: '))

    def test_one_rank_with_an_error_ends_all(self) -> None:
        self.example("heat", 10**8)
        self.file("bad.json", '{"buffers": 1}')
        self.only_one_rank_fails(2, "PROGRAM=bad.json", 3, "not of wave_program")

    def test_wrong_usage_is_reported_once(self) -> None:
        self.assertIn("rank 0 of 3: ", self.one_error(self.mpirun(3, "run", "program.json", "--nosuch", rc=2)))

    def test_a_disk_that_is_full_for_rank_0_ends_all(self) -> None:
        """Its files may have 8 MiB."""
        self.file("rows.cl", "kernel void rows(global uint* out) { const uint i = get_global_id(0); out[i] = 3u * i; }")
        self.written({"buffers": {"out": {"type": "u32", "shape": [3 << 20], "output": "out.npy"}}, "ops": {"rows": {"source": "rows.cl"}},
                      "waves": [{"op": "rows", "global_size": [3 << 20], "local_size": [256], "args": [{"buffer": "out", "rows": 0}]}]})
        self.only_one_rank_fails(0, "ulimit -f 8192", 4, "cannot write out.npy: File too large")

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_a_device_that_one_rank_loses_ends_all(self) -> None:
        self.example("heat", 200)
        self.only_one_rank_fails(2, f"export OPENCL_LAYERS={FAILING_DRIVER} TIDEGATE_FAILING_CALL=clEnqueueNDRangeKernel:50", 4, "CL_OUT_OF_RESOURCES")

    def test_a_killed_process_ends_all(self) -> None:
        """mpirun, a rank's process and the one that works for it, once all of them run; any of them at random moments of a whole run."""
        self.example("heat", 300)
        given = {path.name for path in self.folder.iterdir()}
        self.mpirun(3, "run", "program.json")  # later runs do not compile
        whole = self.taken(given)
        self.example("heat", 10**8)
        for victim in (0, 1, -1):
            with self.subTest(victim=victim):
                running = self.start_by_path(3)
                self.wait_until_all_work(running, 6)
                self.kill(running, sorted([running.pid, *processes_of(self.folder)])[victim])
                self.assertLessEqual(self.taken(given).keys(), {"report.json"})
        self.example("heat", 300)
        chance = random.Random(SEED)
        for number in range(MOMENTS):
            with self.subTest(seed=SEED, number=number):
                running = self.start_by_path(3)
                time.sleep(chance.random())
                self.kill(running, chance.choice([running.pid, *processes_of(self.folder)]))
                for name, contents in self.taken(given).items():
                    self.assertTrue(name == "report.json" or contents == whole[name], name)

    def taken(self, given: set[str]) -> dict[str, bytes]:
        """The files that a run has added, which go."""
        found = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name not in given}
        for name in found:
            (self.folder / name).unlink()
        return found

    def kill(self, running: subprocess.Popen[bytes], victim: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # a rank may have ended; mpirun stays a zombie
            os.kill(victim, signal.SIGKILL)
        self.all_ended()
        try:
            running.wait(60)
        except subprocess.TimeoutExpired:  # Open MPI's own: no process of tidegate is left
            running.kill()
        result = self.ended(running)
        if result.rc > 0:
            self.assertRegex(result.stderr, "error: |exited on signal 9|non-zero exit code")

    def start_by_path(self, ranks: int) -> subprocess.Popen[bytes]:
        """By the name of the folder its processes are found."""
        return self.start(ranks, binary(), "run", str(self.folder / "program.json"), "--set", "verify-first=no", "-o", str(self.folder / "report.json"))

    def wait_until_all_work(self, running: subprocess.Popen[bytes], processes: int) -> None:
        end = time.monotonic() + PATIENCE
        while len(found := processes_of(self.folder)) < processes or not all(map(catches_interrupts, found)):
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(running.poll())
            time.sleep(0.05)

    def test_what_does_not_work_is_refused_by_name(self) -> None:
        self.example("heat")
        given = set(self.folder.iterdir())
        self.assertIn("--compare does not work on several ranks yet", self.mpirun(2, "run", "program.json", "--compare", "3", rc=2).stderr)
        self.assertEqual(set(self.folder.iterdir()), given)
        self.example("blur")
        result = self.mpirun(2, "run", "program.json", rc=3)
        self.assertIn('the image "photo" cannot run on several ranks yet', result.stderr)

    def test_an_interrupt_ends_all(self) -> None:
        """Ctrl-C reaches mpirun, which passes it on."""
        self.example("heat", 10**8)
        given = {path.name for path in self.folder.iterdir()}
        running = self.start_by_path(2)
        self.wait_until_all_work(running, 2)
        running.send_signal(signal.SIGINT)
        result = self.ended(running)
        self.assertNotEqual(result.rc, 0, result.stderr)
        self.all_ended()
        self.assertLessEqual(self.taken(given).keys(), {"report.json"})

    def test_without_the_module_the_error_says_how_to_build_it(self) -> None:
        self.example("heat")
        shutil.copy(binary(), self.folder / "tidegate")
        result = self.check(self.ended(self.start(2, "./tidegate", "run", "program.json")), 4)
        self.assertIn(f"the module for MPI is missing: there is neither {self.folder.parent}/", result.stderr)
        self.assertIn(f"/libtidegate_mpi.so nor {self.folder}/libtidegate_mpi.so", result.stderr)
        self.assertIn("-DTIDEGATE_MPI=ON", result.stderr)

    def test_processes_of_a_launcher_are_never_copies_of_one(self) -> None:
        """Without MPI they would each run the whole program, and write the same files."""
        self.example("heat", 2)
        given = set(self.folder.iterdir())
        shutil.copy(binary(), self.folder / "tidegate")

        def alone(program: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
            return subprocess.run([program, "run", "program.json", "--strategy", "plain", "-q"], cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, **environment(), **variables}, timeout=PATIENCE, check=False)

        for program in ("./tidegate", binary()):
            for variables in ({"PMI_RANK": "0", "PMI_SIZE": "2"}, {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, {"PMIX_RANK": "1"}):
                with self.subTest(program=program, variables=variables):
                    result = alone(program, variables)
                    self.assertEqual(result.returncode, 4, result.stderr)
                    self.assertRegex(result.stderr, "module for MPI is missing" if program == "./tidegate" else "and MPI knows of 1")
        self.assertEqual(set(self.folder.iterdir()), given | {self.folder / "tidegate"})
        shell = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0"}  # of salloc, and the script of sbatch
        result = alone(binary(), shell)
        self.assertEqual(result.returncode, 0, result.stderr)
