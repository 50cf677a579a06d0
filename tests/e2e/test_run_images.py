"""tidegate run on images: what comes from PNG files and goes to .npy files, samplers, and what is refused."""

import struct
import zlib

from support import STRATEGIES, Document, Programs

KERNELS = """constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void mirror(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(to, at, read_imageui(from, exact, (int2)(get_image_width(from) - 1 - at.x, at.y)));
}
kernel void sample(read_only image2d_t from, sampler_t how, global float* out, float x) {
  out[get_global_id(0)] = read_imagef(from, how, (float2)(x * get_global_id(0), 0.5f)).x;
}
"""
READERS = """
kernel void push(read_only image2d_t force, global const float* from, global float* to) {
  const int i = get_global_id(0);
  to[i] = 0.5f * from[i] + read_imagef(force, exact, (int2)(i % 4, 0)).x;
}
kernel void shift(read_only image2d_t force, sampler_t how, global const float* from, global float* to) {
  const int i = get_global_id(0);
  to[i] = 0.25f * from[(i + 1) % 64] + read_imagef(force, how, (float2)(i % 4 + 0.5f, 0.5f)).x;
}
"""
ALONE = 'it uses the image "b", which waves write: that reaches other work-groups when a launch ends'


def png(width: int, height: int, rows: list[bytes]) -> bytes:
    """RGBA, 8 bits."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def mirror(images: Document, **rest: object) -> Document:
    return {"buffers": {}, "images": images, "ops": {"mirror": {"source": "k.cl"}},
            "waves": [{"name": "once", "op": "mirror", "global_size": [6, 2], "local_size": [3, 1],
                       "args": [{"image": "a"}, {"image": "b"}]},
                      {"name": "again", "op": "mirror", "global_size": [6, 2], "local_size": [3, 1],
                       "args": [{"image": "b"}, {"image": "c"}]}], **rest}


def image(**rest: object) -> Document:
    return {"format": "rgba_uint8", "size": [6, 2], **rest}


class Images(Programs):
    sources = {"k.cl": KERNELS + READERS}

    def setUp(self) -> None:
        super().setUp()
        self.rows = [bytes(range(24)), bytes(range(100, 124))]
        self.file("in.png", png(6, 2, self.rows))

    def test_pictures(self) -> None:
        """There and back: mirrored in "b", itself in "c"."""
        document = mirror({"a": image(init={"file": "in.png"}), "b": image(output="b.npy"),
                           "c": image(output="c.npy")})
        mirrored = [value for row in self.rows for i in range(20, -4, -4) for value in row[i:i + 4]]
        for strategy, mode in zip(STRATEGIES, ("interpreter", "jit")):
            with self.subTest(strategy=strategy, mode=mode):
                report = self.report_of(document, "--strategy", strategy, "--set", f"tuning.mode={mode}", "--verify")
                self.assertEqual((report["output_parity"]["checked"], report["output_parity"]["equal"]), (2, True))
                self.assertEqual(report["memory"]["image_bytes"], 3 * 48)
                self.assertEqual(report["fallbacks"], [{"wave": f'"{wave}"', "reason": ALONE} for wave in ("once", "again")])
                self.assertEqual(report["telemetry"]["kernel_launches"], 2)
                self.assertEqual((self.output("b.npy", "u8"), self.output("c.npy", "u8")), (mirrored, list(b"".join(self.rows))))

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
        report = self.right(document, "--strategy", "barrier", "--verify",
                            **{f"out{number}": expected for number, (_, _, expected) in enumerate(samplers)})
        self.assertEqual((report["fallbacks"], report["telemetry"]["kernel_launches"]), ([], 1))

    def test_read_by_waves_of_one_launch(self) -> None:
        """Images that no wave writes, and samplers, in a repetition: a launch for each slice, and the same bytes."""
        buffer = {"type": "f32", "count": 64}
        texels = {"format": "r_float32", "size": [4, 1], "init": {"iota": {"step": 8}}}
        document: Document = {
            "buffers": {"a": {**buffer, "init": {"iota": {}}, "output": "a.npy"}, "b": buffer},
            "images": {"force": texels, "other": {**texels, "init": {"fill": 3}}},
            "ops": {"push": {"source": "k.cl"}, "shift": {"source": "k.cl"}}, "repeat": 200,
            "waves": [{"op": op, "global_size": [64], "local_size": [8], "args": [*args, {"buffer": a}, {"buffer": b}]}
                      for op, args, a, b in (("push", [{"image": "force"}], "a", "b"),
                                             ("shift", [{"image": "other"}, {"sampler": {}}], "b", "a"),
                                             ("push", [{"image": "other"}], "a", "b"),
                                             ("shift", [{"image": "force"}, {"sampler": {"filter": "linear"}}], "b", "a"))]}
        expected = None
        for strategy, mode in (("plain", "jit"), ("barrier", "jit"), ("barrier", "interpreter"), ("counters", "jit")):
            with self.subTest(strategy=strategy, mode=mode):
                how = () if strategy == "plain" else ("--set", f"tuning.mode={mode}", "--set", "tuning.slice=60000")
                report = self.report_of(document, "--strategy", strategy, *how, "--verify")
                self.assertEqual((report["fallbacks"], report["output_parity"]["equal"]), ([], True))
                self.assertEqual(report["telemetry"]["kernel_launches"] < 200, strategy != "plain")
                expected = expected or self.output("a.npy", "f32")
                self.assertEqual(self.output("a.npy", "f32"), expected)
