"""Streams and pipes of the real binary: order, pauses, closed pipes, interrupts, bounded memory."""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import PATIENCE, SANITIZED, binary

REQUEST = '{"queue_len": %d, "requested_worker_groups": 64, "max_workgroup_size_x": 256}\n'


class Stream(unittest.TestCase):
    def test_memory_does_not_grow_with_the_stream(self) -> None:
        def peak_kilobytes(lines: int) -> int:
            # Written in pieces: a child's peak counts from its parent's memory at the fork.
            with tempfile.TemporaryFile() as file:
                for _ in range(lines // 1000):
                    file.write((REQUEST % 300).encode() * 1000)
                file.seek(0)
                process = subprocess.Popen([binary(), "recommend", "--stream"], stdin=file, stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_maxrss
        short, long = peak_kilobytes(50_000), peak_kilobytes(500_000)
        self.assertLess(long, short * 1.5 + 8192)


class Pipes(unittest.TestCase):
    def shell(self, command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["bash", "-c", command], capture_output=True, timeout=PATIENCE,
                              env={**os.environ, "T": binary(), "REQUEST": REQUEST % 300})

    def test_a_closed_pipe_is_no_error(self) -> None:
        for command in ('"$T" recommend <<<"$REQUEST" | head -1', 'yes "$REQUEST" | "$T" recommend --stream | head -1',
                        '"$T" schema launch_request | head -1', '"$T" --help | head -1'):
            result = self.shell(command + '; echo "${PIPESTATUS[@]: -2:1}" >&2')
            self.assertEqual(result.stderr, b"0\n", command)
            self.assertEqual(result.stdout.count(b"\n"), 1)

    def test_a_stream_ends_when_its_output_fails(self) -> None:
        """Or when its reader has gone, even while it waits for input that does not come."""
        process = subprocess.Popen([binary(), "recommend", "--stream", "-o", "/dev/full"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdin
        process.stdin.write((REQUEST % 1).encode())
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=PATIENCE), 4)
        process.stdin.close()
        read_end, write_end = os.pipe()
        process = subprocess.Popen([binary(), "recommend", "--stream"], stdin=subprocess.PIPE, stdout=write_end)
        os.close(write_end)
        assert process.stdin
        process.stdin.write((REQUEST % 1).encode())
        process.stdin.flush()
        self.assertTrue(os.read(read_end, 2**16).endswith(b"\n"))  # then it waits
        os.close(read_end)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        process.stdin.close()

    def test_closed_standard_streams_are_not_mistaken_for_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            closed_input = self.shell(f'"$T" recommend --stream -o {out} <&-; echo $?')
            self.assertEqual(closed_input.stdout, b"3\n")
            closed_errors = self.shell(f'"$T" recommend --stream -o {out} 2>&- <<<"$REQUEST"; echo $?')
            self.assertEqual(closed_errors.stdout, b"0\n")
            self.assertEqual(len(out.read_bytes().splitlines()), 1)
            self.assertEqual(self.shell('"$T" --version >&-; echo $? >&2').stderr.splitlines()[-1], b"4")

def has_open(descriptors: Path, folder: str) -> bool:
    """Whether one of a process's files is in the folder; files may be closed meanwhile."""
    for file in descriptors.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(file).startswith(folder):
                return True
    return False


class Interrupts(unittest.TestCase):
    def test_an_interrupt_leaves_no_file(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen([binary(), "recommend", "--stream", "-o", str(Path(folder) / "out")],
                                           stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                assert process.stdin and process.stderr
                descriptors = Path(f"/proc/{process.pid}/fd")
                end = time.monotonic() + PATIENCE
                while not has_open(descriptors, folder):
                    self.assertLess(time.monotonic(), end, "the output is not open")
                    time.sleep(0.05)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=PATIENCE), 130)
                self.assertEqual(os.listdir(folder), [])
                self.assertEqual(process.stderr.read(), b"tidegate: error: interrupted [interrupted]\n"
                                                        b"  fix: run it again; a file that was not complete is removed\n")
                process.stdin.close()
                process.stderr.close()

    def test_too_little_memory_is_an_error(self) -> None:
        if SANITIZED:
            self.skipTest("the address sanitizer reserves more than any limit")
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(600_000_000)
            process = subprocess.run(
                [binary(), "recommend", file.name], capture_output=True, timeout=PATIENCE,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (300_000_000, 300_000_000)))
        self.assertEqual(process.returncode, 4)
        self.assertEqual(process.stderr, b"tidegate: error: the host has no memory left [host_out_of_memory]\n"
                                         b"  fix: give the process more memory, or the program smaller buffers\n")
