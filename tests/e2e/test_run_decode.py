"""The language model of examples/programs/decode against a reference in numpy, with made-up weights and with those of a file."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import shutil
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
from support import Document, run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "programs" / "decode"


def generator() -> Any:
    """scripts/bench/decode as a module."""
    loader = importlib.machinery.SourceFileLoader("decode_generator", str(ROOT / "scripts" / "bench" / "decode"))
    spec = importlib.util.spec_from_loader("decode_generator", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["decode_generator"] = module
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = keep
    return module


DECODE = generator()
SHAPE = DECODE.SMALL
Words = Any  # an array of bf16 as u16


def made_up(count: int, seed: int, center: float, spread: float) -> Words:
    """What the kernel of that name makes."""
    mask = np.uint64(0xffffffff)
    bits = (np.arange(count, dtype=np.uint64) * np.uint64(0x9e3779b9) & mask) ^ np.uint64(seed * 0x85ebca6b & 0xffffffff)
    bits = ((bits ^ bits >> np.uint64(16)) * np.uint64(0x7feb352d)) & mask
    bits = ((bits ^ bits >> np.uint64(15)) * np.uint64(0x846ca68b)) & mask
    bits ^= bits >> np.uint64(16)
    even = (bits >> np.uint64(8)).astype(np.float32) * np.float32(1 / 8388608) - np.float32(1)
    value = (np.float32(center) + even * np.float32(spread)).astype(np.float32)
    return ((value.view(np.uint32) + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint16)


def weights(first_seed: int = 0) -> dict[str, Words]:
    def of(number: int, name: str, elements: int) -> Words:
        center, spread = (1.0, 0.1) if "norm" in name else (0.0, 2 * (3 / SHAPE.hidden) ** 0.5)
        return made_up(elements, first_seed + number, center, spread)

    return {name: of(number, name, elements) for number, (name, (_, elements)) in enumerate(SHAPE.weights().items())}


def decoded(words: dict[str, Words], prompt: list[int], count: int) -> list[int]:
    """Tokens as the model's description makes them, in double precision."""
    exact = {name: (values.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64) for name, values in words.items()}
    embedding = exact["embedding"].reshape(SHAPE.vocabulary, SHAPE.hidden)
    half, share = DECODE.HEAD // 2, SHAPE.heads // SHAPE.kv_heads

    def normal(x: Any, weight: str) -> Any:
        return x / np.sqrt((x * x).mean() + 1e-5) * exact[weight]

    def times(weight: str, x: Any) -> Any:
        return exact[weight].reshape(-1, len(x)) @ x

    keys: list[list[Any]] = [[] for _ in range(SHAPE.layers)]
    values: list[list[Any]] = [[] for _ in range(SHAPE.layers)]
    token, tokens = prompt[0], []
    for position in range(count):
        angle = position * SHAPE.theta ** (-np.arange(half) / half)

        def turned(heads: Any) -> Any:
            a, b = heads[:, :half], heads[:, half:]
            return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], axis=1)

        x = embedding[token].copy()
        for i in range(SHAPE.layers):
            n = normal(x, f"norm1_{i}")
            query = turned(times(f"query_{i}", n).reshape(SHAPE.heads, -1))
            keys[i].append(turned(times(f"key_{i}", n).reshape(SHAPE.kv_heads, -1)))
            values[i].append(times(f"value_{i}", n).reshape(SHAPE.kv_heads, -1))
            k, v = np.array(keys[i]), np.array(values[i])
            attended = []
            for head in range(SHAPE.heads):
                score = k[:, head // share] @ query[head] / DECODE.HEAD ** 0.5
                weight = np.exp(score - score.max())
                attended.append(weight @ v[:, head // share] / weight.sum())
            x += times(f"output_{i}", np.concatenate(attended))
            n = normal(x, f"norm2_{i}")
            gate = times(f"gate_{i}", n)
            x += times(f"down_{i}", gate / (1 + np.exp(-gate)) * times(f"up_{i}", n))
        likely = embedding @ normal(x, "norm")
        token = prompt[position + 1] if position + 1 < len(prompt) else int(likely.argmax())
        tokens.append(token)
    return tokens


def safetensors(words: dict[str, Words]) -> bytes:
    header: Document = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, (tensor, _) in SHAPE.weights().items():
        values = words[name].tobytes()
        header[tensor] = {"dtype": "BF16", "shape": [len(words[name])], "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Decode(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def tokens(self, *args: str) -> list[int]:
        result = run("run", str(self.folder / "program.json"), "--set", "verify-first=no", *args)
        self.assertEqual(result.rc, 0, result.stderr)
        return [int(token) for token in np.load(self.folder / "tokens.npy")]

    def write(self, document: Document, prompt: list[int]) -> None:
        DECODE.write(self.folder, document, prompt)

    def test_the_example(self) -> None:
        document = DECODE.program(SHAPE, 16, [1], None)
        self.assertEqual((EXAMPLE / "program.json").read_text(), DECODE.text_of(document), "scripts/bench/decode examples/programs/decode --small")
        self.write(document, [1])
        expected = decoded(weights(), [1], 16)
        self.assertGreater(len(set(expected)), 10)
        self.assertEqual(self.tokens("--strategy", "barrier", "--workers", "1"), expected)

    def test_weights_of_a_file_and_a_prompt(self) -> None:
        words = weights(100)
        prompt = [5, 1999, 77]
        (self.folder / "model.safetensors").write_bytes(safetensors(words))
        self.write(DECODE.program(SHAPE, 6, prompt, "model.safetensors"), prompt)
        self.assertEqual(self.tokens("--strategy", "launch"), decoded(words, prompt, 6))
        self.assertEqual(run("check", str(self.folder / "program.json")).rc, 0)

if __name__ == "__main__":
    unittest.main()
