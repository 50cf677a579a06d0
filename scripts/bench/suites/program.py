"""A wave program under construction: source, buffers, waves, and the expected outputs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64",
         "uint64": "u64", "float32": "f32", "float64": "f64"}

PROGRAMS: dict[str, Callable[[bool], Program]] = {}


def program(function: Callable[[bool], Program]) -> Callable[[bool], Program]:
    PROGRAMS[function.__name__] = function
    return function


def stepping(start: np.generic, **step: int) -> dict[str, Any]:
    """A number that changes with the iteration."""
    return {TYPES[start.dtype.name]: start.item(), "iteration": step}


def blocks(items: int, size: int) -> int:
    return -(-items // size)


class Program:
    def __init__(self, source: str, options: str = "") -> None:
        self.source, self.options = source, options
        self.arrays: dict[str, np.ndarray] = {}
        self.document: dict[str, Any] = {"buffers": {}, "ops": {}, "waves": []}
        self.expected: dict[str, Callable[[], np.ndarray]] = {}
        self.tolerance = 0.0

    def array(self, name: str, contents: np.ndarray) -> str:
        """A buffer with these contents."""
        self.arrays[name] = np.ascontiguousarray(contents).reshape(-1)
        self.document["buffers"][name] = {"type": TYPES[contents.dtype.name], "count": contents.size,
                                          "init": {"file": f"{name}.npy"}}
        return name

    def room(self, name: str, type_: str, count: int, fill: float | None = None) -> str:
        """A buffer whose contents the program makes, or of one value."""
        self.document["buffers"][name] = {"type": type_, "count": int(count),
                                          **({} if fill is None else {"init": {"fill": fill}})}
        return name

    def expect(self, name: str, oracle: Callable[[], np.ndarray], tolerance: float = 0.0) -> None:
        """States the buffer's contents at the end: exactly, or up to `tolerance` times the largest element."""
        self.document["buffers"][name]["output"] = f"{name}.out.npy"
        self.expected[name] = functools.cache(oracle)
        self.tolerance = max(self.tolerance, tolerance)

    def wave(self, kernel: str, global_size: tuple[int, ...] | int, local_size: tuple[int, ...] | int, *args: Any,
             **more: Any) -> None:
        """Arguments are names of buffers, numpy numbers, and objects as they stand in the document."""
        self.document["ops"].setdefault(kernel, {"source": "kernels.cl", "options": self.options})
        sizes = [[size] if isinstance(size, int) else list(size) for size in (global_size, local_size)]
        self.document["waves"].append({"op": kernel, "global_size": sizes[0], "local_size": sizes[1],
                                       "args": [self._argument(arg) for arg in args], **more})

    @staticmethod
    def _argument(arg: Any) -> dict[str, Any]:
        if isinstance(arg, str):
            return {"buffer": arg}
        return arg if isinstance(arg, dict) else {TYPES[arg.dtype.name]: arg.item()}

    def repeat(self, times: int, **more: Any) -> None:
        """`swap` and `until` as in the document."""
        self.document |= {"repeat": times, **more}

    def write(self, folder: Path) -> Path:
        """The program and its files, in a folder; returns the path of the program."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernels.cl").write_text(self.source)
        for name, contents in self.arrays.items():
            np.save(folder / f"{name}.npy", contents)
        path = folder / "program.json"
        path.write_text(json.dumps(self.document))
        return path

    def wrong(self, folder: Path) -> str | None:
        """Returns the first output in the folder that differs from numpy's, or None."""
        for name, oracle in self.expected.items():
            got = np.load(folder / f"{name}.out.npy").reshape(-1)
            want = np.asarray(oracle()).reshape(-1)
            room = self.tolerance * max(float(np.abs(want).max()), 1e-30) if self.tolerance else 0
            # A difference that is not a number is wrong, too.
            bad = np.flatnonzero(~(np.abs(got.astype(np.float64) - want) <= room)) if got.shape == want.shape else [0]
            if len(bad):
                return f"{name}[{bad[0]}] is {got[bad[0]]}, expected {want[bad[0]]}; {len(bad)} of {want.size} differ"
        return None
