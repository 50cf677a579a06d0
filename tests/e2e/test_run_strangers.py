"""tidegate run over scripts/bench/suites: programs in the manner of public suites, their outputs as numpy has them.

Every second runs in its small size, as launches, by default or persistently, under one strategy and mode in turn, and the others are
planned: a CPU's compiler takes seconds for each. TIDEGATE_STRANGERS=all runs every program under all of them.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import REPOSITORY, parse, run
from test_run import environment

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
from suites import PROGRAMS  # noqa: E402

EVERY_WAY = os.environ.get("TIDEGATE_STRANGERS") == "all"
DEFAULT = ("auto", "auto")
LAUNCHES = list(itertools.product(("launch",), ("interpreter", "jit")))
PERSISTENT = list(itertools.product(("barrier", "counters"), ("interpreter", "jit")))


def ways(number: int) -> list[tuple[str, str]]:
    if EVERY_WAY:
        return [DEFAULT, *LAUNCHES, *PERSISTENT]
    turn = number // 2
    return [] if number % 2 else [(LAUNCHES[turn // 3 % 2], PERSISTENT[turn // 3 % 4], DEFAULT)[turn % 3]]


class Strangers(unittest.TestCase):
    def problems(self, name: str, ways: list[tuple[str, str]]) -> list[str]:
        program = PROGRAMS[name](True)
        path = program.write(self.folder / name)
        found = []
        if not ways and (planned := run("run", str(path), "--dry-run", env=environment())).rc != 0:
            found.append(f"{name} --dry-run: exit code {planned.rc}: {planned.stderr[-1000:]}")
        for strategy, mode in ways:
            for output in program.expected:
                (path.parent / f"{output}.out.npy").unlink(missing_ok=True)
            # A first run that measures compiles every candidate.
            unmeasured = ["--set", "measure=no"] if strategy == "auto" and not EVERY_WAY else []
            result = run("run", str(path), "--strategy", strategy, "--set", f"tuning.mode={mode}", *unmeasured, env=environment())
            if result.rc != 0:
                problem = f"exit code {result.rc}: {result.stderr[-1000:]}"
            elif strategy != "auto" and parse(result.stdout)["strategy"] != strategy:
                problem = f"ran as {parse(result.stdout)['strategy']}"
            else:
                problem = program.wrong(path.parent)
            if problem:
                found.append(f"{name} {strategy} {mode}: {problem}")
        return found

    def test_programs(self) -> None:
        self.assertGreaterEqual(len(PROGRAMS), 24)
        with tempfile.TemporaryDirectory(prefix="tidegate-strangers-") as folder, ThreadPoolExecutor(2) as pool:
            self.folder = Path(folder)
            found = list(itertools.chain(*pool.map(self.problems, PROGRAMS, map(ways, range(len(PROGRAMS))))))
        self.assertFalse(found, "\n".join(found))


if __name__ == "__main__":
    unittest.main()
