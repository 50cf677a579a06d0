"""tidegate run over tests/corpus: every program equals plain launches of its kernels, byte for byte.

Every fifth runs, under one of the combinations of strategy, mode and promotion in turn: a CPU's compiler takes seconds for
each. TIDEGATE_CORPUS=all runs every program under all of them, scripts/test-devices on every device.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import REPOSITORY, parse, run
from test_run import environment

CORPUS = REPOSITORY / "tests" / "corpus"
COMBINATIONS = tuple(itertools.product(("launch", "barrier", "counters"), ("interpreter", "jit"), ("all", "none")))

class Corpus(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="tidegate-corpus-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "corpus"
        shutil.copytree(CORPUS, self.folder)
        self.env = environment()
        # The self-test of the device, alone on the machine and once.
        self.assertEqual(run("devices", "--probe", env=self.env).rc, 0)

    def problem(self, path: Path, strategy: str, mode: str, promote: str) -> str | None:
        """What is wrong with a run of the program, or None."""
        result = run("run", str(path), "--verify", "--strategy", strategy, "--set", f"tuning.mode={mode}", "--set", f"tuning.promote={promote}",
                     env=self.env)
        if result.rc != 0:
            return f"exit code {result.rc}: {result.stderr[-1000:]}"
        report = parse(result.stdout)
        program = json.loads(path.read_text())
        outputs = [spec["output"] for spec in (*program["buffers"].values(), *program.get("images", {}).values())
                   if "output" in spec]
        expected = {"status": "done", "items_remaining": 0, "strategy": strategy, "execution_mode": mode,
                    "output_parity": {"checked": len(outputs), "equal": True, "differing_elements": 0}}
        found = {key: report.get(key) for key in expected}
        if found != expected:
            return f"expected {expected}, found {found}"
        missing = [output for output in outputs if not (path.parent / output).is_file()]
        return f"no file {', '.join(missing)}" if missing else None

    def test_programs(self) -> None:
        names = sorted(path.stem for path in self.folder.glob("*.json"))
        self.assertGreater(len(names), 60)
        combined = [(name, COMBINATIONS[number % len(COMBINATIONS)]) for number, name in enumerate(names[::5])]
        if os.environ.get("TIDEGATE_CORPUS") == "all":
            combined = list(itertools.product(names, COMBINATIONS))
        with ThreadPoolExecutor(2) as pool:
            # One program is never run twice at a time: both would write the same files.
            by_name = {name: [how for other, how in combined if other == name] for name, _ in combined}
            found = pool.map(lambda name: [(how, self.problem(self.folder / f"{name}.json", *how))
                                           for how in by_name[name]], by_name)
            problems = [f"{name} {' '.join(how)}: {problem}" for name, answers in zip(by_name, found)
                        for how, problem in answers if problem]
        self.assertFalse(problems, f"{len(problems)} of {len(combined)} runs are wrong:\n" + "\n".join(problems))


if __name__ == "__main__":
    unittest.main()
