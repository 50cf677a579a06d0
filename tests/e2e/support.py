"""What the end-to-end tests share: where things are, and how the binary is run."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

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
