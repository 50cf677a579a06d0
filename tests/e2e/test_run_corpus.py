"""tidegate run over one corpus: the programs of tests/corpus and those of the examples, whose outputs are those of plain launches byte
for byte, and those of scripts/bench/suites. Numpy computes the outputs of these, and of many of tests/corpus, from their definitions.

Each runs in one way, and all but the examples in a second one that rotates with the commits of the project. TIDEGATE_CORPUS=all runs
every program in every way; scripts/test-devices does so on every device.
"""

import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from support import REPOSITORY, SEED, Document, Programs, copy_tracked, dtype, environment, parse, run

sys.path += [str(REPOSITORY / "scripts" / "bench"), str(REPOSITORY / "tests" / "corpus")]
from oracles import ORACLES  # noqa: E402
from suites import PROGRAMS  # noqa: E402

# Strategy, mode and promotion. The last way measures nothing: a first run that does compiles every candidate.
WAYS = (*itertools.product(("launch", "barrier", "counters"), ("interpreter", "jit"), ("all", "none")), ("auto", "auto", "auto"))
Way = tuple[str, str, str]


def wrong(path: Path, document: Document) -> str | None:
    """Which output differs from numpy's. Sums of floats may have another order."""
    inputs = {name: np.load(file) for name in document["buffers"] if (file := path.with_name(f"{path.stem}_{name}.in.npy")).exists()}
    for name, expected in ORACLES[path.stem](inputs).items() if path.stem in ORACLES else ():
        found, right = np.load(path.with_name(document["buffers"][name]["output"])), np.asarray(expected).ravel()
        floats = found.dtype.kind == "f"
        if found.shape != right.shape or not (np.allclose(found, right, 1e-4, 1e-5) if floats else np.array_equal(found, right)):
            return f"{name} is {found}, and numpy computes {right}"
    return None


class Corpus(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.corpus = copy_tracked("tests/corpus", self.folder)
        self.examples = copy_tracked("examples", self.folder)

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
        found = {key: (report["telemetry"] | report).get(key) for key in expected}
        missing = [output for output in outputs if not (path.parent / output).is_file()]
        if args and not report["output_parity"]["equal"]:
            return f"{report['output_parity']}"
        return None if found == expected and not missing else f"expected {expected}, found {found}; no file {missing}"

    def problems(self, name: str, ways: list[Way]) -> list[str]:
        """One program is never run twice at a time: both would write the same files."""
        if name in PROGRAMS:
            program = PROGRAMS[name](True)
            path = program.write(self.folder / "suites" / name)
            found = [(way, self.problem(path, [f"{output}.out.npy" for output in program.expected], way) or program.wrong(path.parent))
                     for way in ways]
        else:
            path = self.folder / f"{name}.json" if "/" in name else self.corpus / f"{name}.json"
            document = json.loads(path.read_text())
            if name in ORACLES:
                self.draw(path, document)
            elif isinstance(document.get("repeat"), int):
                document["repeat"] = min(document["repeat"], 20)  # of examples, which more would show no better
            path.write_text(json.dumps(document))
            specs = [spec for kind in ("buffers", "images", "hits") for spec in document.get(kind, {}).values()]
            outputs = [spec["output"] for spec in specs if "output" in spec]
            found = [(way, self.problem(path, outputs, way, "--verify") or wrong(path, document)) for way in ways]
        return [f"{name} {' '.join(way)}: {problem}" for way, problem in found if problem]

    def draw(self, path: Path, document: Document) -> None:
        """Contents by numpy in place of those by tidegate."""
        for name, spec in document["buffers"].items():
            type_, count, init = dtype(spec["type"]), spec["count"], spec.get("init", {})
            if "random" in init:
                draw, bounds = np.random.default_rng(SEED + init["random"]["seed"]), init["random"]
                contents = (draw.uniform(bounds.get("low", 0), bounds.get("high", 1), count) if type_.kind == "f" else
                            draw.integers(bounds.get("low", np.iinfo(type_).min), bounds.get("high", 2**(8 * type_.itemsize)), count))
            elif init:
                contents = init["iota"].get("start", 0) + np.arange(count) * init["iota"].get("step", 1) if "iota" in init else np.full(count, init["fill"])
            else:
                continue
            np.save(path.with_name(f"{path.stem}_{name}.in.npy"), contents.astype(type_))
            spec["init"] = {"file": f"{path.stem}_{name}.in.npy"}

    def test_programs(self) -> None:
        names = [*sorted(path.stem for path in self.corpus.glob("*.json")), *PROGRAMS]
        examples = sorted(f"examples/programs/{path.parent.name}/program" for path in self.examples.glob("programs/*/program.json"))
        self.assertGreaterEqual(len(names), 55)
        self.assertLessEqual(set(ORACLES), set(names))
        commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout
        turn = int(os.environ.get("TIDEGATE_TURN") or commits or 0)
        print(f"TIDEGATE_TURN={turn} TIDEGATE_SEED={SEED}", flush=True)
        ways = [list(WAYS) if os.environ.get("TIDEGATE_CORPUS") == "all" else
                [WAYS[number % len(WAYS)], WAYS[(number + 1 + turn % (len(WAYS) - 1)) % len(WAYS)]] for number in range(len(names))]
        with ThreadPoolExecutor(2) as pool:
            found = list(itertools.chain(*pool.map(self.problems, names + examples, ways + [[("auto", "auto", "auto")]] * len(examples))))
        self.assertFalse(found, f"{len(found)} runs are wrong:\n" + "\n".join(found))
