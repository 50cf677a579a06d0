"""Help, versions, terminals and colour of real processes; tests/app/transcripts has what commands print."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from support import PATIENCE, binary, EXAMPLES, parse, run
from test_run import environment

REQUEST = '{"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256, "graph_node_count": 10000}'


def document(*arguments: str, input: str = REQUEST) -> dict:
    result = run(*arguments, input=input)
    assert result.rc == 0, result.stderr
    return json.loads(result.stdout)


def on_a_terminal(*arguments: str, columns: int = 0, **variables: str) -> str:
    """What a person sees: standard output and error are a terminal, by default one that does not know its width."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, columns))
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **variables}
    process = subprocess.Popen([binary(), *arguments], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env=environment)
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


class Recommend(unittest.TestCase):
    def test_file_and_standard_input(self) -> None:
        request = EXAMPLES / "bfs_wave.json"
        from_file = run("recommend", str(request))
        self.assertEqual(from_file.rc, 0)
        for arguments in (["recommend"], ["recommend", "-"]):
            self.assertEqual(run(*arguments, input=request.read_bytes()).stdout, from_file.stdout)


class Documents(unittest.TestCase):
    def test_version(self) -> None:
        report = document("version")
        self.assertEqual(list(report)[:3], ["kind", "schema_version", "tidegate"])
        self.assertEqual(run("--version").stdout, f"tidegate {report['tidegate']}\n")
        self.assertEqual(run("-V").stdout, f"tidegate {report['tidegate']}\n")
        self.assertIn(f"tidegate       {report['tidegate']} (", run("version", "--format", "table").stdout)

    def test_version_holds_what_a_report_of_a_bug_needs(self) -> None:
        env = {"TIDEGATE_DEVICE": "cpu", "OCL_ICD_VENDORS": "/nowhere"}
        report = parse(run("version", env=env).stdout)
        self.assertIn(f"{os.uname().sysname} {os.uname().release} {os.uname().machine}", report["system"])
        self.assertEqual(report["environment"][:2], ["TIDEGATE_DEVICE=cpu", "OCL_ICD_VENDORS=/nowhere"])
        listed = run("devices", env=env)
        names = [device["name"] for device in parse(listed.stdout)["devices"]] if listed.rc == 0 else []
        self.assertEqual([device["name"] for device in report["devices"]], names)
        table = run("version", "--format", "table", env=env).stdout
        self.assertIn("environment    TIDEGATE_DEVICE=cpu\n", table)

    def test_examples_of_the_help_texts(self) -> None:
        """Each command has one, the manual has them too, and each does what it says, in the repository's folder."""
        commands = ["init", "run", "export", "devices", "plan", "arena", "recommend", "check", "compare", "schema", "priority drain",
                    "priority diffuse", "tune choose", "tune step", "completion", "version"]
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLES, Path(folder) / "examples", dirs_exist_ok=True)
            heat = Path(folder, "examples/programs/heat/program.json")
            heat.write_text(re.sub(r'"repeat": \d+', '"repeat": 20', heat.read_text()))  # 500 show no more
            os.symlink(binary(), Path(folder) / "tidegate")
            env = {**os.environ, **environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
            for command in commands:
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
                    told = "; to fill in:" in done.stderr if command == "init" else done.stderr == ""
                    self.assertEqual((done.returncode, told), (0, True), line)

    def test_help_is_grouped_by_what_one_wants(self) -> None:
        text = run("--help").stdout
        groups = re.findall(r"(?m)^([A-Z][a-z ]+):$", text)
        self.assertEqual(groups, ["Options", "Run kernels", "Plan launches and memory", "Look at documents",
                                  "Parts of the launch policy", "Set up and report"])

    def test_help_of_run_fits_on_a_screen(self) -> None:
        lines = run("run", "--help").stdout.splitlines()
        self.assertLessEqual((len(lines), max(map(len, lines))), (50, 100))
        self.assertLessEqual(sum(line.startswith("  -") for line in lines), 25)  # 24 and --help
        settings = run("schema", "run_settings", "--format", "table")
        self.assertEqual((settings.rc, settings.stderr), (0, ""))
        self.assertIn("\n  tuning.slice=TIME\n       How long one persistent launch should take at most: 150ms,", settings.stdout)
        self.assertLessEqual(max(map(len, settings.stdout.splitlines())), 101)

    def test_help(self) -> None:
        result = run("--help")
        self.assertEqual(result.rc, 0)
        for command in ("recommend", "priority", "tune", "check", "schema", "completion", "version"):
            self.assertIn(f"  {command}", result.stdout)
            own = run(command, "--help")
            self.assertEqual((own.rc, own.stderr), (0, ""))
            self.assertIn(f"tidegate {command} ", own.stdout)


class Terminal(unittest.TestCase):
    BOLD = "\x1b[1m"
    TABLE = ("recommend", "--format", "table", str(EXAMPLES / "bfs_wave.json"))

    def test_colour_on_a_terminal_only(self) -> None:
        self.assertIn(self.BOLD, on_a_terminal(*self.TABLE))
        self.assertNotIn(self.BOLD, on_a_terminal(*self.TABLE, NO_COLOR="1"))
        self.assertNotIn(self.BOLD, on_a_terminal(*self.TABLE, TERM="dumb"))
        self.assertNotIn(self.BOLD, run(*self.TABLE).stdout)
        self.assertIn(self.BOLD, run(*self.TABLE, env={"CLICOLOR_FORCE": "1"}).stdout)

    def test_text_wraps_to_the_width_of_the_terminal(self) -> None:
        for arguments in (["run", "--help"], ["plan", str(EXAMPLES / "stereo_camera.json"), "--format", "table"]):
            wide, narrow = (on_a_terminal(*arguments, columns=columns, NO_COLOR="1") for columns in (200, 90))
            self.assertEqual(wide.split(), narrow.split())
            self.assertGreater(max(map(len, wide.splitlines())), 94)
            self.assertEqual([line for line in narrow.splitlines() if len(line) > 90 and not line.startswith("      tidegate")], [])

    def test_errors_are_coloured_alike(self) -> None:
        self.assertIn("\x1b[1;31merror:\x1b[0m", on_a_terminal("recommend", "/does/not/exist"))
        self.assertNotIn("\x1b", run("recommend", "/does/not/exist").stderr)


if __name__ == "__main__":
    unittest.main()
