"""tidegate run over one corpus: the programs of tests/corpus, whose outputs are those of plain launches byte for byte, and those of
scripts/bench/suites, whose outputs are those of numpy.

Each runs in one way, and in a second one that rotates with the commits of the project. TIDEGATE_CORPUS=all runs every program in every
way; scripts/test-devices does so on every device.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import REPOSITORY, parse, run
from test_run import environment

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
from suites import PROGRAMS  # noqa: E402

CORPUS = REPOSITORY / "tests" / "corpus"
# Strategy, mode and promotion. The last way measures nothing: a first run that does compiles every candidate.
WAYS = (*itertools.product(("launch", "barrier", "counters"), ("interpreter", "jit"), ("all", "none")), ("auto", "auto", "auto"))
Way = tuple[str, str, str]


class Corpus(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="tidegate-corpus-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "corpus"
        shutil.copytree(CORPUS, self.folder)

    def problem(self, path: Path, outputs: list[str], way: Way, *args: str) -> str | None:
        """What is wrong with a run of the program, or None."""
        for output in outputs:
            (path.parent / output).unlink(missing_ok=True)
        strategy, mode, promote = way
        result = run("run", str(path), *args, "--strategy", strategy, "--set", f"tuning.mode={mode}", "--set", f"tuning.promote={promote}",
                     "--set", "measure=no", env=environment())
        if result.rc != 0:
            return f"exit code {result.rc}: {result.stderr[-1000:]}"
        report = parse(result.stdout)
        expected = {"status": "done", "items_remaining": 0} | ({} if strategy == "auto" else {"strategy": strategy, "execution_mode": mode})
        if args:
            expected["output_parity"] = {"checked": len(outputs), "equal": True, "differing_elements": 0}
        found = {key: report.get(key) for key in expected}
        missing = [output for output in outputs if not (path.parent / output).is_file()]
        return None if found == expected and not missing else f"expected {expected}, found {found}; no file {missing}"

    def problems(self, name: str, ways: list[Way]) -> list[str]:
        """One program is never run twice at a time: both would write the same files."""
        if name in PROGRAMS:
            program = PROGRAMS[name](True)
            path = program.write(self.folder / name)
            found = [(way, self.problem(path, [f"{output}.out.npy" for output in program.expected], way) or program.wrong(path.parent))
                     for way in ways]
        else:
            path = self.folder / f"{name}.json"
            document = json.loads(path.read_text())
            outputs = [spec["output"] for spec in (*document["buffers"].values(), *document.get("images", {}).values()) if "output" in spec]
            found = [(way, self.problem(path, outputs, way, "--verify")) for way in ways]
        return [f"{name} {' '.join(way)}: {problem}" for way, problem in found if problem]

    def test_programs(self) -> None:
        names = [*sorted(path.stem for path in self.folder.glob("*.json")), *PROGRAMS]
        self.assertGreaterEqual(len(names), 60)
        self.assertEqual(len(set(names)), len(names))
        commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout
        turn = int(os.environ.get("TIDEGATE_TURN") or commits or 0)
        print(f"TIDEGATE_TURN={turn}", flush=True)
        ways = [list(WAYS) if os.environ.get("TIDEGATE_CORPUS") == "all" else
                [WAYS[number % len(WAYS)], WAYS[(number + 1 + turn % (len(WAYS) - 1)) % len(WAYS)]] for number in range(len(names))]
        with ThreadPoolExecutor(2) as pool:
            found = list(itertools.chain(*pool.map(self.problems, names, ways)))
        self.assertFalse(found, f"{len(found)} runs are wrong:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
