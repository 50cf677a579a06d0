"""What the end-to-end tests share: where things are, how the binary is run, when answers are equal.

The one idea: two documents are the same only if they agree in type and in every bit, so the
comparison here is strict (1 is not 1.0, 0.0 is not -0.0) and says where the first difference is.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from unittest import TestCase

Document = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("TIDEGATE_SEED") or 20261121)  # of all that tests draw; a failure prints it
SANITIZED = os.environ.get("TIDEGATE_SANITIZE") == "ON"  # some five to ten times slower


def tracked(folder: str) -> list[str]:
    """The files of the project in a folder; in a copy without git all that are there."""
    found = subprocess.run(["git", "ls-files", "-z", "--", folder], cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout
    return found.split("\0")[:-1] or [str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / folder).rglob("*") if path.is_file()]


def copy_of_examples() -> Path:
    """The examples as they came: who tries them in the clone leaves outputs and programs of their own there."""
    root = Path(tempfile.mkdtemp(prefix="tidegate-examples-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for file in tracked("examples"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, root / file)
    return root / "examples"


EXAMPLES = copy_of_examples()


def binary() -> str:
    """The tidegate under test, from the environment variable TIDEGATE."""
    path = os.environ.get("TIDEGATE", "")
    if not os.path.isabs(path) or not os.access(path, os.X_OK):
        raise RuntimeError(f"TIDEGATE must be the absolute path of the binary, not {path!r}")
    return path


def unplaced(text: str) -> str:
    """Errors without the line and column of their place in a document and that line, which test_check minds."""
    return re.sub(r"(\.json|standard input):\d+:\d+: (error.*\n)(  \d+ \| .*\n +\| +\^\n)?", r"\1: \2", text)


def catches_interrupts(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)


def parse(text: str) -> Any:
    """Strict JSON: no duplicate keys, no NaN and no Infinity."""
    def unique(pairs: list[tuple[str, Any]]) -> Document:
        document = dict(pairs)
        if len(document) != len(pairs):
            raise ValueError(f"duplicate key among {[key for key, _ in pairs]}")
        return document

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def load_vectors(kind: str, folder: Path) -> list[Document]:
    """The golden vectors of one kind; a file without any is an error, never an empty success."""
    path = folder / f"{kind}.jsonl"
    vectors = [parse(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if not vectors or any(vector["kind"] != kind for vector in vectors):
        raise ValueError(f"{path} holds no vectors, or vectors of another kind")
    return vectors


# Running the binary.

# Seconds after which a process is taken for one that hangs: a busy machine takes minutes for what takes a second.
PATIENCE = 1200.0

class Result(NamedTuple):
    rc: int
    stdout: str
    stderr: str


class Stream(NamedTuple):
    rc: int
    lines: list[Any]
    stderr: str


def run(*args: str, input: bytes | str | None = None, env: dict[str, str] | None = None,
        stdout: IO[bytes] | None = None, cwd: Path | None = None) -> Result:
    """Run the binary in the folder `cwd`; `env` is laid over the present environment. A signal gives a negative rc.
    With `stdout` the output goes to that file instead of the result."""
    data = input.encode() if isinstance(input, str) else input
    done = subprocess.run([binary(), *args], input=b"" if data is None else data,
                          stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(env or {})}, timeout=PATIENCE, check=False, cwd=cwd)
    return Result(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())


def run_stream(args: Sequence[str], documents: Iterable[Any]) -> Stream:
    """Send documents as NDJSON (a string goes as it is) and parse the lines that come back."""
    sent = "".join((document if isinstance(document, str) else
                    json.dumps(document, allow_nan=False, separators=(",", ":"))) + "\n"
                   for document in documents)
    done = run(*args, "--stream", input=sent)
    *lines, rest = done.stdout.split("\n")
    if rest:
        raise AssertionError(f"the last line of the stream does not end: {rest[-200:]!r}")
    return Stream(done.rc, [parse(line) for line in lines], done.stderr)


# Comparing.

class Same(NamedTuple):
    """True when nothing differs; else `pointer` is the JSON pointer of the first difference."""
    pointer: str | None = None
    text: str = "the same"

    def __bool__(self) -> bool:
        return self.pointer is None

    def __str__(self) -> str:
        return self.text if self else f"at {self.pointer or 'the root'!r}: {self.text}"


SAME = Same()


def same(expected: Any, actual: Any, extra_ok: bool = False, pointer: str = "") -> Same:
    """Exact comparison; with `extra_ok` the actual objects may have more keys."""
    if type(expected) is not type(actual):
        return Same(pointer, f"expected {show(expected)}, got {show(actual)}")
    if isinstance(expected, dict):
        for key, value in expected.items():
            place = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in actual:
                return Same(place, f"expected {show(value)}, got nothing")
            if not (verdict := same(value, actual[key], extra_ok, place)):
                return verdict
        surplus = [key for key in actual if key not in expected]
        if surplus and not extra_ok:
            return Same(pointer, f"keys that nobody expects: {', '.join(surplus)}")
        return SAME
    if isinstance(expected, list):
        for index, (left, right) in enumerate(zip(expected, actual)):
            if not (verdict := same(left, right, extra_ok, f"{pointer}/{index}")):
                return verdict
        if len(expected) != len(actual):
            return Same(pointer, f"expected {len(expected)} elements, got {len(actual)}")
        return SAME
    if isinstance(expected, float):
        equal = struct.pack("<d", expected) == struct.pack("<d", actual)
    else:
        equal = expected == actual
    return SAME if equal else Same(pointer, f"expected {show(expected)}, got {show(actual)}")


def show(value: Any, limit: int = 300) -> str:
    text = json.dumps(value)
    shown = text if len(text) <= limit else text[:limit] + "…"
    return f"{type(value).__name__} {shown}"


# Checking a whole stream against what a checker or a golden vector expects.

class Case(NamedTuple):
    """One line sent, with its name and the answer: {"ok": document} or {"error": {...}}."""
    name: str
    document: Any
    expect: Document


def line_problem(got: Any, number: int, expect: Document, extra_ok: bool) -> str | None:
    """What is wrong with one output line, or None."""
    if not isinstance(got, dict):
        return f"the line is not an object: {show(got)}"
    if "ok" in expect:
        if list(got)[:2] != ["kind", "schema_version"]:
            return f"the line does not start with kind and schema_version: {show(got)}"
        verdict = same(expect["ok"], got, extra_ok)
        return None if verdict else str(verdict)
    if not (verdict := same({**expect, "line": number}, got, extra_ok=True)):
        return str(verdict)
    if set(got) != {"error", "line"}:
        return f"an error line holds only error and line, not {', '.join(got)}"
    silent = [key for key in ("message", "fix")
              if not isinstance(got["error"].get(key), str) or not got["error"][key].strip()]
    return f"the error has no {' and no '.join(silent)}" if silent else None


def check_stream(test: TestCase, args: Sequence[str], cases: Sequence[Case], *,
                 extra_ok: bool = False) -> Stream:
    """Send every case through one process and fail with the first wrong lines and their input."""
    test.assertTrue(cases, "no cases: a test that cannot fail")
    stream = run_stream(args, [case.document for case in cases])
    problems = [f"{case.name}: {problem}\n  input {json.dumps(case.document)}"
                for number, (case, got) in enumerate(zip(cases, stream.lines), start=1)
                if (problem := line_problem(got, number, case.expect, extra_ok))]
    command = " ".join(["tidegate", *args, "--stream"])
    if problems:
        test.fail(f"{command}: {len(problems)} of {len(cases)} lines are wrong, the first:\n"
                  + "\n".join(problems[:3]))
    test.assertEqual(len(stream.lines), len(cases), f"{command}: lines out; {stream.stderr[-500:]}")
    worst = 1 if any("error" in case.expect for case in cases) else 0
    test.assertEqual(stream.rc, worst, f"{command}: exit code; {stream.stderr[-500:]}")
    return stream
