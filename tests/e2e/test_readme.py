"""Every command in the README and in the guides does what they say there.

A fenced block `console` holds commands after "$ ", each with its output, or without one; then the command has to succeed. "…" stands
for any text, and a time for any time. A block `c` begins with the name of its file; the name of a block `json` stands just before it,
or the block is a fragment. Blocks `sh` install and build: scripts and other tests run their commands.
"""
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import EXAMPLES, PATIENCE, REPOSITORY, binary, environment, program_folder

GUIDES = {name: (REPOSITORY / name).read_text()
          for name in ("README.md", "examples/README.md", "examples/graphs/README.md", "schemas/README.md", "lib/README.md")}
README = GUIDES["README.md"]
ELSEWHERE = ["./scripts/demo", 'PATH="$PWD/build/release/app:$PATH"', "./scripts/setup build",
             "cmake -S . -B build -G Ninja && cmake --build build",
             "cmake --install build --prefix ~/.local", "cpack --config build/CPackConfig.cmake", "./scripts/test", "./scripts/test --more"]


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", text)


def anchors(text: str) -> set[str]:
    """Those that GitHub gives to headings."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


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
        for number, (name, text) in enumerate(GUIDES.items()):
            folder = program_folder("test_readme") / str(number)
            folder.mkdir()
            with self.subTest(name):
                self.follow(text, folder)

    def follow(self, text: str, root: Path) -> None:
        installed, folder = root / "share" / "doc" / "tidegate", root / "home"
        shutil.copytree(EXAMPLES, installed / "examples")
        before = sorted(installed.rglob("*"))
        moves = text == README  # it says how to copy the examples; the guides begin in a copy
        folder.mkdir()
        if not moves:
            shutil.copytree(EXAMPLES, folder / "examples")
            heat = folder / "examples" / "programs" / "heat" / "program.json"
            heat.write_text(heat.read_text().replace('"repeat": 500', '"repeat": 50'))
        (root / "bin").mkdir()
        os.symlink(binary(), root / "bin" / "tidegate")
        mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        env = {**os.environ, **environment(), **mpi, "PATH": f"{root}/bin:{os.environ['PATH']}", "TMPDIR": str(folder)}
        run = 0
        for language, block in blocks(text):
            if language == "c":
                (folder / block.splitlines()[0].removeprefix("// ")).write_text(block)
            elif language == "json" and (file := re.search(rf"`(\w+\.json)`:\n\n```json\n{re.escape(block)}", text)):
                (folder / file[1]).write_text(block.replace('"repeat": 500', '"repeat": 50'))  # a first run tries candidates many times
            for command, output in commands(block) if language == "console" else []:
                if command.startswith('cd "$(mktemp -d)"'):
                    moved = subprocess.run(["bash", "-c", f"{command} && pwd"], cwd=installed, env=env, text=True,
                                           stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
                    folder = Path(moved.stdout.strip())
                    continue
                with self.subTest(command):
                    dropped = "POCL_EXTRA_BUILD_FLAGS" if re.search("heat|matrix_chain", command) else ""  # they run longer than they compile
                    for _ in range(5 if "mpirun" in command else 1):  # ranks that compile with PoCL at once disturb each other now and then
                        done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, text=True,
                                              env={name: value for name, value in env.items() if name != dropped},
                                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
                        if "failed to build the program" not in done.stdout:
                            break
                    self.assertEqual(done.returncode == 0, "error: " not in output, done.stdout)
                    if output:
                        self.assertRegex(done.stdout, f"^{pattern(output)}$")
                    run += 1
        self.assertEqual(run, len(re.findall(r"(?m)^\$ ", text)) - moves)
        if moves:
            self.assertGreater(run, 8)
            self.assertEqual(sorted(installed.rglob("*")), before, "trying the README has left something in the installation")
            self.assertGreater(len(list((folder / "examples").rglob("*"))), len(before))

    def test_what_is_run_elsewhere(self) -> None:
        lines = [line.split("  #")[0].strip() for language, text in blocks(README) if language == "sh" for line in text.splitlines()]
        self.assertEqual(lines, ELSEWHERE)

    def test_links_lead_somewhere(self) -> None:
        for name, text in GUIDES.items():
            links = re.findall(r"\]\(([^)]+)\)", text)
            self.assertTrue(links, name)
            for link in links:
                with self.subTest(name, link=link):
                    if not link.startswith("https://"):
                        target, _, anchor = link.partition("#")
                        path = (REPOSITORY / name).parent / (target or Path(name).name)
                        self.assertTrue(path.exists())
                        if anchor:
                            self.assertIn(anchor, anchors(path.read_text()))

    def test_the_map_names_files_that_are_there(self) -> None:
        files = re.findall(r"`([\w/]+\.(?:cpp|hpp|cl|h|py))`", GUIDES["lib/README.md"])
        self.assertGreater(len(files), 15)
        for file in files:
            if "/" in file:
                self.assertTrue((REPOSITORY / "lib" / file).exists() or (REPOSITORY / file).exists(), file)
