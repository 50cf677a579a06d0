"""What programs of the corpus compute, by numpy from the definitions: for each a function from the contents of its buffers to those of
outputs. test_run_corpus.py replaces random contents by numpy's own, so that nothing here comes from tidegate.
"""

import hashlib
from typing import Any

import numpy as np

Arrays = dict[str, Any]


def windows(image: Any, size: int, **pad: Any) -> Any:
    """The size * size values around each pixel, in rows."""
    padded = np.pad(image, size // 2, **pad) if pad else image
    return np.lib.stride_tricks.sliding_window_view(padded, (size, size))


def gather(a: Arrays) -> Arrays:
    y = np.zeros(640, np.uint32)
    y[(np.arange(640) * 7 + 3) % 640] = a["x"]
    groups = [group[group < 2000] for group in y.reshape(10, 64)]
    return {"y": y, "counts": list(map(len, groups)), "kept": np.concatenate([np.pad(group, (0, 64 - len(group))) for group in groups])}


def kernel_calls(a: Arrays) -> Arrays:
    return {"x": ((a["x"]**2 + 0.25)**2 + 0.5)**2 - 0.5}


def many_sizes(a: Arrays) -> Arrays:
    y = a["y"] + (0.5 - 2 + 0.125) * a["x"]
    z = np.zeros(64)
    z[:10] += 3 * y[:10]
    z[0] += 100 * a["x"][0]
    return {"y": y, "z": 2 * z}


def hashes(a: Arrays) -> Arrays:
    def digests(name: str, order: str) -> Any:
        return [np.frombuffer(hashlib.new(name, message.astype(f"{order}u4").tobytes()).digest(), f"{order}u4")
                for message in a["messages"].reshape(128, 8)]

    return {"sha": digests("sha256", ">"), "md5": digests("md5", "<")}


def convolutional_layers(a: Arrays) -> Arrays:
    def convolved(image: Any, filters: Any) -> Any:
        around = np.stack([windows(channel, 3) for channel in image])
        return np.einsum("cyxij,ocij->oyx", around, filters) + a["bias"][:len(filters), None, None]

    maps = np.maximum(convolved(a["image"].reshape(2, 18, 18), a["filters_1"].reshape(3, 2, 3, 3)), 0)
    blocks = maps.reshape(3, 8, 2, 8, 2).transpose(0, 1, 3, 2, 4).reshape(3, 8, 8, 4)
    pooled = blocks.max(axis=3)
    return {"pooled": pooled, "places": blocks.argmax(axis=3), "maps_2": 1 / (1 + np.exp(-convolved(pooled, a["filters_2"].reshape(4, 3, 3, 3))))}


def image_filters(a: Arrays) -> Arrays:
    image = a["image"].reshape(30, 45)
    smooth = np.einsum("yxij,ij->yx", windows(image, 5, mode="edge"), a["weights"].reshape(5, 5))
    near = windows(image, 5, mode="edge")
    dy, dx = np.mgrid[-2:3, -2:3]
    weights = np.exp(-(dx * dx + dy * dy) * 0.1 - 4 * (near - image[:, :, None, None])**2)
    return {"quiet": np.median(windows(smooth, 3, mode="edge"), axis=(2, 3)), "kept": (weights * near).sum(axis=(2, 3)) / weights.sum(axis=(2, 3))}


def macro_kernels(a: Arrays) -> Arrays:
    one, other, x = a["a"], a["b"], a["x"]
    folded = np.full(60, 8, np.int32)
    for i in range(10):
        folded = folded * np.int32(31) + (one + other).reshape(60, 10)[:, i] + np.int32(b"int_int"[i % 7])
    return {"add": one + other, "sub": one - other, "and": one & other, "less": one < other, "folded": folded, "y": 1 + 0.5 * x - 0.25 * x**2 + 2 * x**3}


def pipeline(a: Arrays) -> Arrays:
    quantised = np.rint(np.clip(a["x"] * np.float32(1.5) + np.float32(0.25), -1, 1) * 16) / 16
    sums = quantised.reshape(-1, 2).sum(axis=1)
    return {"sums": sums, "sums_of_sums": sums.reshape(-1, 2).sum(axis=1)}


def double_precision(_: Arrays) -> Arrays:
    return {"pi": [np.pi]}


def half_storage(a: Arrays) -> Arrays:
    scaled = (a["x"].astype(np.float32) * np.float32(0.3)).astype(np.float16)
    return {"scaled": scaled, "wide": scaled, "packed": scaled.reshape(-1, 4)[:, ::-1]}


def group_walk(a: Arrays) -> Arrays:
    def walked(count: int, steps: int) -> Any:
        at = np.arange(count)
        for _ in range(steps):
            at = a["next"][at]
        return at

    return {"warps": walked(300, 7), "groups": walked(200, 9)}


def async_copy(a: Arrays) -> Arrays:
    groups = a["x"].reshape(4, 64)
    return {"y": groups[:, ::-1] * 2 + np.roll(groups, -1, axis=1)}


def bits(a: Arrays) -> Arrays:
    def spread(x: int) -> int:
        return int("".join(f"0{bit}" for bit in f"{x:032b}"), 2)

    return {"codes": np.array([spread(int(x)) | spread(int(y)) << 1 for x, y in a["points"].reshape(200, 2)], np.uint64)}


ORACLES = {function.__name__: function for function in (
    async_copy, bits, convolutional_layers, double_precision, gather, group_walk, half_storage, hashes, image_filters, kernel_calls,
    macro_kernels, many_sizes, pipeline)}
