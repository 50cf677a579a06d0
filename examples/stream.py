#!/usr/bin/env python3
"""Many runs of one program in one `tidegate run --stream`: a large input stays on the device, a small one changes."""
import json
import pathlib
import subprocess
import tempfile

import numpy

KERNEL = "kernel void scale(global const float* x, global const float* by, global float* y) {" \
         " y[get_global_id(0)] = by[0] * x[get_global_id(0)]; }"
X = numpy.arange(1 << 20, dtype=numpy.float32)
PROGRAM = {"buffers": {"x": {"type": "f32", "count": X.size, "init": {"file": "x.npy"}}, "by": {"type": "f32", "count": 1, "init": {"fill": 0}},
                       "y": {"type": "f32", "count": X.size, "output": "y.npy"}},
           "ops": {"scale": {"source": "scale.cl"}},
           "waves": [{"op": "scale", "global_size": [X.size], "args": [{"buffer": "x"}, {"buffer": "by"}, {"buffer": "y"}]}]}

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    numpy.save(folder / "x.npy", X)
    (folder / "scale.cl").write_text(KERNEL)
    (folder / "program.json").write_text(json.dumps(PROGRAM))
    with subprocess.Popen(["tidegate", "run", "--stream", "-q", folder / "program.json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stream:
        for by in (2, 3, 4):
            stream.stdin.write(json.dumps({"id": by, "set": {"/buffers/by/init/fill": by}}).encode() + b"\n")
            stream.stdin.flush()
            answer = json.loads(stream.stdout.readline())
            assert (numpy.load(folder / "y.npy") == by * X).all(), answer.get("error")
            print(f"request {answer['id']}: {answer['telemetry']['bytes_uploaded']} bytes uploaded")
