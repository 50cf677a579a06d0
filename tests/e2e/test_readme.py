"""Every command in the README does what is said there.

A fenced block `console` holds commands behind "$ ", each with what it prints, or nothing where that does not matter; then it
has to succeed. "…" stands for whatever is there, and a time for any time. A block `c` begins with the name of its file, a block
`json` stands behind one. Commands for a shell that installs and builds (`sh`) are those of scripts and of other tests.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import PATIENCE, EXAMPLES, binary
from test_run import environment

REPOSITORY = EXAMPLES.parent
README = (REPOSITORY / "README.md").read_text()
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", README)
ELSEWHERE = ["./scripts/demo", "./scripts/test", 'PATH="$PWD/build/release/app:$PATH"', "./scripts/setup build",
             "cmake -S . -B build -G Ninja && cmake --build build",
             "cmake --install build --prefix ~/.local", "cpack --config build/CPackConfig.cmake"]


def commands(block: str) -> list[tuple[str, str]]:
    """Each command with the output that is shown; a line that ends in | or \\ goes on in the next."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"(?m)^\$ ", block)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith(("|", "\\")):
            line, _, output = output.partition("\n")
            command += "\n" + line
        found.append((command, output))
    return found


def pattern(output: str) -> str:
    text = re.escape(output).replace("…", ".*")
    return re.sub(r"\d+(\\\.\d+)?\\ (ns|us|ms|s)\b", r"[0-9.]+ (ns|us|ms|s)", text)


class Readme(unittest.TestCase):
    def test_commands(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            installed, folder = Path(name) / "share" / "doc" / "tidegate", Path(name) / "home"
            shutil.copytree(EXAMPLES, installed / "examples")
            folder.mkdir()
            (Path(name) / "bin").mkdir()
            os.symlink(binary(), Path(name) / "bin" / "tidegate")
            env = {**os.environ, **environment(), "PATH": f"{name}/bin:{os.environ['PATH']}", "TMPDIR": str(folder)}
            before = sorted(installed.rglob("*"))
            run = 0
            for language, text in BLOCKS:
                if language == "c":
                    (folder / text.splitlines()[0].removeprefix("// ")).write_text(text)
                elif language == "json" and (file := re.search(rf"`(\w+\.json)`:\n\n```json\n{re.escape(text)}", README)):
                    (folder / file[1]).write_text(text)
                for command, output in commands(text) if language == "console" else []:
                    if command.startswith('cd "$(mktemp -d)"'):
                        moved = subprocess.run(["bash", "-c", f"{command} && pwd"], cwd=installed, env=env, text=True,
                                               stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
                        folder = Path(moved.stdout.strip())
                        continue
                    with self.subTest(command):
                        done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, env=env, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
                        self.assertEqual(done.returncode == 0, "error: " not in output, done.stdout)
                        if output:
                            self.assertRegex(done.stdout, f"^{pattern(output)}$")
                        run += 1
            self.assertGreater(run, 10)
            self.assertEqual(sorted(installed.rglob("*")), before, "trying the README has left something in the installation")
            self.assertGreater(len(list((folder / "examples").rglob("*"))), len(before))

    def test_what_is_run_elsewhere(self) -> None:
        lines = [line.split("  #")[0].strip() for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
        self.assertEqual(lines, ELSEWHERE)

    def test_commands_are_all_there(self) -> None:
        told = subprocess.run([binary(), "--help"], capture_output=True, text=True, check=True).stdout
        for command in re.findall(r"(?m)^  ([a-z]+) +[A-Z]", told):
            self.assertIn(f"| `tidegate {command}", README)

    def test_every_folder_has_a_line(self) -> None:
        hidden_or_built = re.compile(r"[._]|build|lib$")
        _, _, section = README.partition("## Where things are")
        folders = [path.name for path in REPOSITORY.iterdir() if path.is_dir() and not hidden_or_built.match(path.name)]
        table = (REPOSITORY / "lib/README.md").read_text()
        libraries = [path.name for path in (REPOSITORY / "lib").iterdir() if path.is_dir()]
        self.assertGreater(min(len(folders), len(libraries)), 4)
        for folder in folders:
            self.assertIn(f"`{folder}/`", section + table.replace("../", ""))
        for folder in libraries:
            self.assertRegex(table, rf"(?m)^\| `{folder}/` \|")

    def test_links_lead_somewhere(self) -> None:
        for link in re.findall(r"\]\(([^)#]+)\)", README):
            self.assertTrue(link.startswith("https://") or (REPOSITORY / link).exists(), link)

    def test_figures_are_measured(self) -> None:
        """Those of the table are of RESULTS.md."""
        results = (REPOSITORY / "scripts" / "bench" / "RESULTS.md").read_text()
        rows = re.findall(r"(?m)^\|.*work-groups \|(.*)\|$", README)
        self.assertEqual(len(rows), 5)
        for figure in re.findall(r"\d+\.\d+", "".join(rows)):
            self.assertRegex(results, rf"\b{re.escape(figure)}\b")


if __name__ == "__main__":
    unittest.main()
