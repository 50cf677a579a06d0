#!/usr/bin/env python3
"""Many runs of one program in one `tidegate run --stream`: a large input stays on the device, a small one changes."""
import json
import pathlib
import subprocess
import tempfile

import numpy

KERNEL = "kernel void scale(global const float* x, global const float* by, global float* y) {" \
         " y[get_global_id(0)] = by[0] * x[get_global_id(0)]; }"
COUNT = 1 << 20
PROGRAM = {"buffers": {"x": {"type": "f32", "count": COUNT, "init": {"file": "x.npy"}},
                       "by": {"type": "f32", "count": 1, "init": {"fill": 0}},
                       "y": {"type": "f32", "count": COUNT, "output": "y.npy"}},
           "ops": {"scale": {"source": "scale.cl"}},
           "waves": [{"op": "scale", "global_size": [COUNT],
                      "args": [{"buffer": "x"}, {"buffer": "by"}, {"buffer": "y"}]}]}

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    x = numpy.arange(COUNT, dtype=numpy.float32)
    numpy.save(folder / "x.npy", x)
    (folder / "scale.cl").write_text(KERNEL)
    (folder / "program.json").write_text(json.dumps(PROGRAM))
    with subprocess.Popen(["tidegate", "run", "--stream", "-q", folder / "program.json"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stream:
        for by in (2, 3, 4):
            print(json.dumps({"id": by, "set": {"/buffers/by/init/fill": by}}), file=stream.stdin, flush=True)
            answer = json.loads(stream.stdout.readline())
            assert "error" not in answer, answer["error"]["message"]
            assert (numpy.load(folder / "y.npy") == by * x).all()
            print(f"request {answer['id']}: {answer['telemetry']['bytes_uploaded']} bytes uploaded")
        stream.stdin.close()
