"""tidegate run on images: what comes from PNG and .npy files and goes to them, samplers, and what is refused."""

from __future__ import annotations

import shutil
import struct
import unittest
import zlib
from pathlib import Path

from support import EXAMPLES, Document, parse, run
from test_run import STRATEGIES, Programs, environment

KERNELS = """constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void mirror(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(to, at, read_imageui(from, exact, (int2)(get_image_width(from) - 1 - at.x, at.y)));
}
kernel void invert(read_write image2d_t picture) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(picture, at, 255 - read_imageui(picture, at));
}
kernel void red(read_only image2d_t from, global int* sum) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  sum[at.y * get_global_size(0) + at.x] += read_imageui(from, exact, at).x;
}
kernel void less(global int* left) { --left[0]; }
kernel void sample(read_only image2d_t from, sampler_t how, global float* out, float x) {
  out[get_global_id(0)] = read_imagef(from, how, (float2)(x * get_global_id(0), 0.5f)).x;
}
"""
ARRIVAL = "what is written to an image reaches other work-groups when the launch ends"


def png(width: int, height: int, rows: list[bytes]) -> bytes:
    """RGBA, 8 bits."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def rows_of(path: Path, width: int) -> list[bytes]:
    """The rows of an RGBA picture; of libpng's filters those that take one pixel or row."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(4 * width)
    for start in range(0, len(raw), 4 * width + 1):
        row = bytearray(raw[start + 1:start + 1 + 4 * width])
        for i in range(len(row)):
            left, up, corner = (row[i - 4] if i > 3 else 0), before[i], (before[i - 4] if i > 3 else 0)
            near = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, near)[raw[start]]) & 255
        before = bytes(row)
        rows.append(before)
    return rows


def mirror(images: Document, **rest: object) -> Document:
    return {"buffers": {}, "images": images, "ops": {"mirror": {"source": "k.cl"}},
            "waves": [{"name": "once", "op": "mirror", "global_size": [6, 2], "local_size": [3, 1],
                       "args": [{"image": "a"}, {"image": "b"}]},
                      {"name": "again", "op": "mirror", "global_size": [6, 2], "local_size": [3, 1],
                       "args": [{"image": "b"}, {"image": "c"}]}], **rest}


def image(**rest: object) -> Document:
    return {"format": "rgba_uint8", "size": [6, 2], **rest}


class Images(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("k.cl", KERNELS)
        self.rows = [bytes(range(24)), bytes(range(100, 124))]
        self.file("in.png", png(6, 2, self.rows))

    def test_pictures(self) -> None:
        """There and back: mirrored in "b", itself in "c"."""
        document = mirror({"a": image(init={"file": "in.png"}), "b": image(output="b.png"),
                           "c": image(output="c.png")})
        mirrored = [b"".join(row[i:i + 4] for i in range(20, -4, -4)) for row in self.rows]
        for strategy, mode in zip(STRATEGIES, ("interpreter", "jit")):
            with self.subTest(strategy=strategy, mode=mode):
                report = self.report_of(document, "--strategy", strategy, "--set", f"tuning.mode={mode}", "--verify")
                self.assertEqual((report["output_parity"]["checked"], report["output_parity"]["equal"]), (2, True))
                self.assertEqual(report["memory"]["image_bytes"], 3 * 48)
                self.assertEqual(report["fallbacks"], [])
                self.assertEqual(report.get("new_launches", []), [] if strategy == "launch" else [{
                    "wave": '"again"', "reason": 'it reads the image "b", which "once" writes: ' + ARRIVAL}])
                self.assertEqual(report["telemetry"]["kernel_launches"], 2)
                self.assertEqual(rows_of(self.folder / "b.png", 6), mirrored)
                self.assertEqual(rows_of(self.folder / "c.png", 6), self.rows)

    def test_samplers(self) -> None:
        """Of the texels 0, 8, 16, 24: beyond the edge, and half-way between two."""
        samplers = (({}, 1.5, [0, 8, 24, 24]), ({"address": "clamp"}, 1.5, [0, 8, 24, 0]),
                    ({"filter": "linear"}, 1, [0, 4, 12, 20]),
                    ({"address": "repeat", "normalized": True}, 0.375, [0, 8, 24, 0]))
        document: Document = {
            "buffers": {}, "images": {"a": {"format": "r_float32", "size": [4, 1], "init": {"iota": {"step": 8}}}},
            "ops": {"sample": {"source": "k.cl"}}, "waves": []}
        for number, (spec, step, _) in enumerate(samplers):
            document["buffers"][f"out{number}"] = {"type": "f32", "count": 4, "output": f"{number}.npy"}
            document["waves"].append({"op": "sample", "global_size": [4], "local_size": [2], "args": [
                {"image": "a"}, {"sampler": spec}, {"buffer": f"out{number}"}, {"f32": step}]})
        report = self.report_of(document, "--strategy", "barrier", "--verify")
        self.assertEqual(report["fallbacks"], [])
        for number, (spec, _, expected) in enumerate(samplers):
            self.assertEqual(self.output(f"{number}.npy", "f32"), expected, spec)

    def test_iterations_share_a_launch(self) -> None:
        """"once" writes before the repetition and "again" after it: one launch for the seven iterations between."""
        document = mirror({"a": image(init={"file": "in.png"}), "b": image(), "c": image(output="c.png")}, repeat=9)
        document["buffers"] = {"sum": {"type": "i32", "count": 12, "init": {"fill": 0}, "output": "sum.npy"},
                               "left": {"type": "i32", "count": 1, "init": {"fill": 7}, "output": "left.npy"}}
        document["ops"].update(red={"source": "k.cl"}, less={"source": "k.cl"})
        once, again = document["waves"]
        document["waves"] = [
            {**once, "phase": "before"},
            {"op": "red", "global_size": [6, 2], "local_size": [3, 1], "args": [{"image": "b"}, {"buffer": "sum"}]},
            {"op": "less", "global_size": [1], "local_size": [1], "args": [{"buffer": "left"}]},
            {**again, "phase": "after"}]
        document["until"] = {"buffer": "left", "equals": 0}
        red = [row[4 * (5 - x)] for row in self.rows for x in range(6)]
        for strategy, launches in (("barrier", 3), ("counters", 3), ("launch", 9)):
            with self.subTest(strategy=strategy):
                report = self.report_of(document, "--strategy", strategy, "--set", "tuning.mode=interpreter", "--verify")
                self.assertEqual((report["iterations"], report["output_parity"]["equal"]), (7, True))
                self.assertEqual(report["telemetry"]["kernel_launches"], launches)
                self.assertEqual(self.output("sum.npy", "i32"), [7 * value for value in red])
                self.assertEqual(rows_of(self.folder / "c.png", 6), self.rows)

    def test_example(self) -> None:
        folder = self.folder / "blur"
        shutil.copytree(EXAMPLES / "programs" / "blur", folder)
        result = run("run", str(folder / "program.json"), "--verify", env=environment())
        self.assertEqual(result.rc, 0, result.stderr)
        self.assertTrue(parse(result.stdout)["output_parity"]["equal"])
        self.assertEqual(len(rows_of(folder / "small.png", 80)), 60)


if __name__ == "__main__":
    unittest.main()
