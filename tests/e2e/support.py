"""What the end-to-end tests share: where things are, programs, and how the binary is run.

The self-test of the device and every build take a while, so all tests of a process share one cache folder (TIDEGATE_TEST_CACHE=FOLDER
keeps it from one process to the next), which begins with the profiles of devices that lie in XDG_CACHE_HOME, and `Programs` empties one
folder for the program of each of them: where a kernel lies is part of what is compiled.
"""

import atexit
import functools
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

Document = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("TIDEGATE_SEED") or 20261121)  # of all that tests draw; a failure prints it
MOMENTS = int(os.environ.get("TIDEGATE_RANDOM_MOMENTS") or 0)  # of signals; chance does not gate
SANITIZED = os.environ.get("TIDEGATE_SANITIZE") == "ON"  # some five to ten times slower


def tracked(folder: str) -> list[str]:
    """The files of the project in a folder; in a copy without git all that are there."""
    found = subprocess.run(["git", "ls-files", "-z", "--", folder], cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout
    return found.split("\0")[:-1] or [str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / folder).rglob("*") if path.is_file()]


def copy_tracked(folder: str, root: Path) -> Path:
    """A folder as it came: who tries programs in the clone leaves outputs and programs of their own there."""
    for file in tracked(folder):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, root / file)
    return root / folder


def temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tidegate-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


EXAMPLES = copy_tracked("examples", temporary_folder())


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


def run(*args: str, input: bytes | str | None = None, env: dict[str, str] | None = None,
        stdout: IO[bytes] | None = None, cwd: Path | None = None) -> Result:
    """Run the binary in the folder `cwd`; `env` is laid over the present environment. A signal gives a negative rc.
    With `stdout` the output goes to that file instead of the result."""
    data = input.encode() if isinstance(input, str) else input
    done = subprocess.run([binary(), *args], input=b"" if data is None else data,
                          stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(env or {})}, timeout=PATIENCE, check=False, cwd=cwd)
    return Result(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())


@functools.cache
def program_folder(module: str) -> Path:
    """Of the same name in every process that runs these tests, as long as no other does: PoCL has then compiled its kernels."""
    for number in itertools.count():
        folder = Path(tempfile.gettempdir(), f"tg-{module.removeprefix('test_')}-{number}")  # short: messages cut paths
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    raise AssertionError


@functools.cache
def cache_home() -> str:
    if given := os.environ.get("TIDEGATE_TEST_CACHE"):
        return given
    folder = str(temporary_folder())
    if found := os.environ.get("XDG_CACHE_HOME"):
        os.mkdir(f"{folder}/tidegate")
        for profile in Path(found, "tidegate").glob("device-*"):
            shutil.copy(profile, f"{folder}/tidegate")
    else:  # what launches only takes what a self-test has found, and does not run one
        run("devices", "--probe", env={"XDG_CACHE_HOME": folder})
    return folder


def pocl_cache() -> str:
    """Where PoCL keeps what it has compiled, for tests with a cache of their own: that tidegate compiles is what they look at, not
    what this takes the driver."""
    return os.environ.get("POCL_CACHE_DIR") or f"{cache_home()}/pocl/kcache"


def environment(**more: str) -> dict[str, str]:
    return {"XDG_CACHE_HOME": cache_home(), **more}


FAILING_DRIVER = os.environ.get("TIDEGATE_FAILING_DRIVER", "")  # tests/failing_driver


def wrong_reads(size: int, first: int = 1, last: int = 2**31, after: str | None = None) -> dict[str, str]:
    """The environment in which reads of so many bytes are wrong, those from the first to the last, after kernels of such a name."""
    if FAILING_DRIVER == "":
        raise unittest.SkipTest("TIDEGATE_FAILING_DRIVER does not name the layer")
    return {"OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_WRONG_READS": f"{size}:{first}:{last}",
            **({} if after is None else {"TIDEGATE_WRONG_AFTER": after})}


@functools.cache
def no_ordering() -> dict[str, str]:
    """The environment in which the self-tests of devices find that no memory ordering is right."""
    return {**wrong_reads(4, after="litmus"), "XDG_CACHE_HOME": str(temporary_folder()), "POCL_CACHE_DIR": pocl_cache()}


@functools.cache
def device() -> Document:
    """What `tidegate devices` says of the device that runs take: the one of TIDEGATE_DEVICE, the first GPU, or the first."""
    named = os.environ.get("TIDEGATE_DEVICE")
    devices = parse(run("devices", *(["--device", named] if named else []), env=environment()).stdout)["devices"]
    return next((one for one in devices if one["type"] == "gpu"), devices[0])


def dtype(type_: str) -> np.dtype[Any]:
    return np.dtype(f"<{type_[0]}{int(type_[1:]) // 8}")


def read_array(path: Path, type_: str) -> list[Any]:
    """The elements of a .npy or raw file."""
    found = np.load(path) if path.suffix == ".npy" else np.fromfile(path, dtype(type_))
    if found.dtype != dtype(type_):
        raise AssertionError(f"{path} holds {found.dtype}, not {type_}")
    return list(found.ravel().tolist())


def npy(type_: str, values: Sequence[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(values, dtype(type_)))
    return file.getvalue()


def raw(type_: str, values: Sequence[Any]) -> bytes:
    return np.array(values, dtype(type_)).tobytes()


class Programs(unittest.TestCase):
    """A test with a folder for its program, which holds `sources` alone."""

    sources: dict[str, str] = {}

    def setUp(self) -> None:
        self.folder = program_folder(type(self).__module__)
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, text in self.sources.items():
            self.file(name, text)

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def written(self, program: Document, name: str = "program.json") -> str:
        return str(self.file(name, json.dumps(program)))

    def run_document(self, program: Document, *args: str, env: dict[str, str] | None = None) -> Result:
        return run("run", self.written(program), "--explain", *args, env={**environment(), **(env or {})})

    def report_of(self, program: Document, *args: str, env: dict[str, str] | None = None, warnings: int = 0) -> Document:
        result = self.run_document(program, *args, env=env)
        self.assertEqual((result.rc, result.stderr.count("tidegate:")), (0, warnings), result.stderr)
        report = parse(result.stdout)
        self.assertEqual(len(report["warnings"]), warnings, report["warnings"])
        return report

    def right(self, document: Document, *args: str, warnings: int = 0, **outputs: list[Any]) -> Document:
        """The report of a run, whose outputs of these buffers and lists have these elements."""
        report = self.report_of(document, *args, warnings=warnings)
        for name, values in outputs.items():
            spec = (document["buffers"] | document.get("hits", {}))[name]
            self.assertEqual(self.output(spec["output"], spec["type"]), values, f"{name}, {args}")
        return report

    def output(self, name: str, type_: str = "u32") -> list[Any]:
        return read_array(self.folder / name, type_)


STRATEGIES = ("launch", "barrier")
IOTA = {"iota": {}}


def buffer(type_: str = "u32", count: int = 8, **rest: Any) -> Document:
    return {"type": type_, "count": count, **rest}


def wave(op: str, *args: Any, size: int = 8, local: int = 4, **rest: Any) -> Document:
    """A string is the name of a buffer, a number a u32."""
    given = [{"buffer": arg} if isinstance(arg, str) else {"u32": arg} if isinstance(arg, int) else arg
             for arg in args]
    return {"op": op, "global_size": [size], "local_size": [local], "args": given, **rest}


def program(buffers: Document, *waves: Document, **rest: Any) -> Document:
    return {"buffers": buffers, "ops": {name: {"source": "ops.cl"} for name in sorted({w["op"] for w in waves})},
            "waves": list(waves), **rest}
