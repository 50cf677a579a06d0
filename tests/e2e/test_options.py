"""Help, versions, terminals and colour of real processes; tests/app/transcripts has what commands print."""

import os
import pty
import re
import shutil
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from support import EXAMPLES, PATIENCE, binary, environment, run


def on_a_terminal(*arguments: str, columns: int = 0, **variables: str) -> str:
    """What a person sees: standard output and error are a terminal, by default one that does not know its width."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, columns))
    process = subprocess.Popen([binary(), *arguments], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env={"PATH": os.environ["PATH"], "TERM": "xterm", **variables})
    os.close(follower)
    text = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:
            break
        if not block:
            break
        text += block
    process.wait(timeout=PATIENCE)
    os.close(leader)
    return text.decode().replace("\r\n", "\n")


class Documents(unittest.TestCase):
    def test_examples_of_the_help_texts(self) -> None:
        """Each command has one, and each does what it says, in the repository's folder."""
        commands = {*re.findall(r"(?m)^  ([a-z]+) +[A-Z]", run("--help").stdout), "priority drain", "priority diffuse", "tune choose", "tune step"}
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLES, Path(folder) / "examples", dirs_exist_ok=True)
            heat = Path(folder, "examples/programs/heat/program.json")
            heat.write_text(re.sub(r'"repeat": \d+', '"repeat": 20', heat.read_text()))  # 500 show no more
            os.symlink(binary(), Path(folder) / "tidegate")
            env = {**os.environ, **environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
            for command in sorted(commands - {"priority", "tune"}):
                text = run(*command.split(), "--help").stdout
                _, found, examples = text.partition("\nExamples:\n")
                lines = [line.strip() for line in examples.splitlines()][1::2]
                self.assertTrue(found and lines, command)
                for line in lines:
                    self.assertIn(f"tidegate {command}", line)
                    if "--compare" in line or "--check bounds" in line or "--probe" in line or "svg" in line or "make" in line:
                        continue  # run by other tests, and slow
                    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=folder, env=env, capture_output=True,
                                          text=True, check=False)
                    told = "; to fill in:" in done.stderr if command == "init" else re.sub(r"tidegate: \d+ lines?, 0 failed\n", "", done.stderr) == ""
                    self.assertEqual((done.returncode, told), (0, True), line)


class Terminal(unittest.TestCase):
    BOLD = "\x1b[1m"
    TABLE = ("recommend", "--format", "table", str(EXAMPLES / "bfs_wave.json"))

    def test_colour_on_a_terminal_only(self) -> None:
        self.assertIn(self.BOLD, on_a_terminal(*self.TABLE))
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn(self.BOLD, on_a_terminal(*self.TABLE, **variables))
        self.assertNotIn(self.BOLD, run(*self.TABLE).stdout)
        self.assertIn(self.BOLD, run(*self.TABLE, env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertIn("\x1b[1;31merror:\x1b[0m", on_a_terminal("recommend", "/does/not/exist"))
        wide, narrow = (on_a_terminal("run", "--help", columns=columns, NO_COLOR="1") for columns in (200, 90))
        self.assertEqual(wide.split(), narrow.split())
        self.assertLessEqual(max(len(line) for line in narrow.splitlines() if "  tidegate " not in line), 90)
