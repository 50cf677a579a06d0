"""The language model of examples/programs/decode against a reference in numpy, with made-up weights."""

import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
from support import EXAMPLES, REPOSITORY, Programs, run

DECODE = SimpleNamespace(**runpy.run_path(str(REPOSITORY / "scripts" / "bench" / "decode"), run_name="decode"))
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


def weights() -> dict[str, Words]:
    def of(number: int, name: str, elements: int) -> Words:
        center, spread = (1.0, 0.1) if "norm" in name else (0.0, 2 * (3 / SHAPE.hidden) ** 0.5)
        return made_up(elements, number, center, spread)

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


class Decode(Programs):
    def test_the_example(self) -> None:
        document = DECODE.program(SHAPE, 16, [1], None)
        self.assertEqual((EXAMPLES / "programs" / "decode" / "program.json").read_text(), DECODE.text_of(document),
                         "scripts/bench/decode examples/programs/decode --small")
        DECODE.write(self.folder, document, [1])
        right = decoded(weights(), [1], 16)
        self.assertGreater(len(set(right)), 10)
        result = run("run", str(self.folder / "program.json"), "--set", "verify-first=no", "--strategy", "barrier", "--workers", "1")
        self.assertEqual(result.rc, 0, result.stderr)
        self.assertEqual(np.load(self.folder / "tokens.npy").tolist(), right)
