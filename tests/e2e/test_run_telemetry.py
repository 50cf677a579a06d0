"""The counts of reports, held to account by a layer between tidegate and the driver (tests/failing_driver) that logs every call.

A stream answers a request for the second time with all kernels built, so each call between two answers belongs to the run. The
kernel launches, waits and bytes of the log are those of the report, and so are the blocks of memory, as many as there were at a launch.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

from support import PATIENCE, binary, run
from test_run import FAILING_DRIVER, environment, pocl_cache

N = 1024
KERNELS = """kernel void advance(global const uint* x, global uint* y) { y[get_global_id(0)] = x[get_global_id(0)] + 1u; }
kernel void left(global const uint* x, global uint* none) { if (get_global_id(0) == 0) none[0] = x[0] < 9u; }
kernel void spread(global uint* x, global uchar* wake) {
  x[get_global_id(0)] += 1u;
  if (get_local_id(0) == 0 && get_group_id(0) + 1 < get_num_groups(0)) wake[get_group_id(0) + 1] = 1;
}
"""
WAVES = {"buffers": {"x": {"type": "u32", "count": N, "init": {"fill": 1}}, "y": {"type": "u32", "count": N, "output": "y.raw"},
                     "none": {"type": "u32", "count": 1, "output": "none.raw"}},
         "ops": {"advance": {"source": "ops.cl"}, "left": {"source": "ops.cl"}},
         "waves": [{"op": "advance", "global_size": [N], "local_size": [64], "args": [{"buffer": "x"}, {"buffer": "y"}], "rules": [2]},
                   {"op": "left", "global_size": [64], "local_size": [64], "args": [{"buffer": "y"}, {"buffer": "none"}]}],
         "repeat": 20, "swap": [["x", "y"]], "until": {"buffer": "none", "equals": 0}}
QUEUE_OP = """uint halve(global const uint* in, global uint* out, uint i) {
  out[i] = (out[i] == 0u ? in[i] : out[i]) / 2u;
  return out[i] > 1u ? TIDEGATE_REQUEUE : TIDEGATE_DONE;
}
"""
ITEMS = 100
QUEUE = {"buffers": {"in": {"type": "u32", "count": ITEMS, "init": {"iota": {"start": 2}}},
                     "out": {"type": "u32", "count": ITEMS, "output": "out.raw"}},
         "ops": {"halve": {"source": "queue.cl", "queue": True}},
         "waves": [{"queue": {"ops": ["halve"], "buffers": ["in", "out"], "file": "items.raw"}}]}
IMAGE = {"buffers": {}, "images": {"a": {"format": "r_uint8", "size": [40, 24], "init": {"random": {"seed": 1}}},
                    "b": {"format": "r_uint8", "size": [40, 24], "output": "b.npy"}},
         "ops": {"flip": {"source": "image.cl"}},
         "waves": [{"op": "flip", "global_size": [40, 24], "local_size": [8, 8], "args": [{"image": "a"}, {"image": "b"}]}]}
IMAGE_OP = """kernel void flip(read_only image2d_t a, write_only image2d_t b) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(b, at, 255u - read_imageui(a, at));
}
"""
PUBLISHING = {"buffers": {"in": {"type": "u32", "count": 1}, "out": {"type": "u32", "count": ITEMS, "output": "out.raw"}},
              "ops": {"tree": {"source": "tree.cl", "queue": True}},
              "waves": [{"queue": {"ops": ["tree"], "buffers": ["in", "out"], "capacity": 200,
                                   "items": [{"op": "tree", "input": "in", "output": "out", "param": 1}]}}]}
PUBLISHING_OP = f"""uint tree(global const uint* in, global uint* out, uint i, tidegate_publisher publisher) {{
  out[i - 1] = in[0] + i;
  for (uint child = 2 * i; child <= 2 * i + 1; ++child) {{
    if (child <= {ITEMS}u) {{
      TIDEGATE_PUBLISH(tree, in, out, child);
    }}
  }}
  return TIDEGATE_DONE;
}}
"""
TILES, STEPS = 16, 6
ACTIVE = {"buffers": {"x": {"type": "u32", "count": N, "output": "x.raw"}, "flags": {"type": "u8", "count": TILES, "init": {"fill": 1}},
                      "wake": {"type": "u8", "count": TILES}},
          "ops": {"spread": {"source": "ops.cl"}},
          "waves": [{"fill": {"buffer": "wake"}},
                    {"op": "spread", "global_size": [N], "local_size": [N // TILES], "active": {"buffer": "flags"},
                     "args": [{"buffer": "x"}, {"buffer": "wake"}]}],
          "repeat": STEPS, "swap": [["flags", "wake"]]}
MOVES = {"buffers": {"x": {"type": "u32", "count": N, "init": {"random": {"seed": 2}}}, "y": {"type": "u32", "count": N, "output": "y.raw"},
                     "z": {"type": "u32", "count": N, "output": "z.npy"}},
         "ops": {"advance": {"source": "ops.cl"}},
         "waves": [{"fill": {"buffer": "z", "value": 7}},
                   {"op": "advance", "global_size": [N], "local_size": [64], "args": [{"buffer": "x"}, {"buffer": "y"}]},
                   {"phase": "after", "copy": {"from": "y", "count": N // 2, "to": "z", "to_offset": N // 4}}],
         "repeat": 3, "swap": [["x", "y"]]}
OWN = {"graph": {"generate": {"grid": {"width": 30, "height": 20, "seed": 1, "max_weight": 100}}},
       "algorithm": {"source": "widest.cl", "value": "u32", "merge": "max"}, "sources": [0], "outputs": {"values": "widths.npy"}}
OWN_SOURCE = """uint at_source(uint vertex, uint index) { return 0xffffffffu; }
uint along(uint width, uint weight) { return min(width, weight); }
"""
GRAPH = {"graph": {"generate": {"grid": {"width": 30, "height": 20}}}, "algorithm": "bfs", "sources": [0], "rules": [1, 3],
         "outputs": {"levels": "levels.npy"}}
PROGRAMS = {"waves": WAVES, "queue": QUEUE, "image": IMAGE, "graph": GRAPH,
            "publishing": PUBLISHING, "active": ACTIVE, "moves": MOVES, "own": OWN}


@unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
class Telemetry(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        for name, text in (("ops.cl", KERNELS), ("queue.cl", QUEUE_OP), ("image.cl", IMAGE_OP), ("tree.cl", PUBLISHING_OP),
                           ("widest.cl", OWN_SOURCE)):
            (self.folder / name).write_text(text)
        for name, program in PROGRAMS.items():
            (self.folder / f"{name}.json").write_text(json.dumps(program))
        items = [value for i in range(ITEMS) for value in (0, 0, 1, i)]
        (self.folder / "items.raw").write_bytes(b"".join(value.to_bytes(4, "little") for value in items))

    def answers(self, requests: list[dict[str, Any]], *options: str) -> list[tuple[dict[str, Any], list[str]]]:
        """The answer to each request, and the calls that were made for it."""
        log = self.folder / "calls"
        log.write_text("")
        process = subprocess.Popen(
            [binary(), "run", "--stream", "--device", "cpu", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment(), "OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_LOGGED_CALLS": str(log),
                 "POCL_CACHE_DIR": pocl_cache()})
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        answers = []
        assert process.stdin and process.stdout
        with process, log.open() as calls:
            for request in requests:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                answers.append((answer, calls.read().splitlines()))
            process.stdin.close()
        timer.cancel()
        self.assertEqual(process.returncode, 0, [answer.get("error") for answer, _ in answers])
        if all(not calls for _, calls in answers):
            self.skipTest("the OpenCL loader takes no layers")
        return answers

    def hold(self, requests: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
        """Asks everything twice, and compares the second report with the log."""
        asked = [each for request in requests for each in (request, request)]
        references: dict[str, int] = {}  # by address of a block
        reports = []
        for number, (report, calls) in enumerate(self.answers(asked, *options)):
            self.assertEqual(report.get("status"), "done", report)
            counted = {"launch": 0, "wait": 0, "read": 0, "write": 0}
            blocks = 0
            for line in calls:
                what, *rest = line.split()
                if what in ("allocate", "retain"):
                    references[rest[0]] = references.get(rest[0], 0) + (1 if what == "allocate" or rest[0] in references else 0)
                elif what == "release" and rest[0] in references:
                    references[rest[0]] -= 1
                    if references[rest[0]] == 0:
                        del references[rest[0]]
                elif what in ("read", "write"):
                    counted[what] += int(rest[0])
                    counted["wait"] += int(rest[1])
                elif what in counted:
                    counted[what] += 1
                    blocks = max(blocks, len([count for count in references.values() if count > 0])) if what == "launch" else blocks
            if number % 2 == 0:
                continue
            told = report["telemetry"]
            with self.subTest(options=options, number=number):
                self.assertEqual((told["kernel_launches"] + told["filling_launches"] - told["recorded_launches"], told["sync_points"],
                                  told["bytes_read_back"], told["bytes_uploaded"], told["resident_allocations"]),
                                 (counted["launch"], counted["wait"], counted["read"], counted["write"], blocks))
                self.assertEqual(run("check", "-", input=json.dumps(report)).rc, 0)
            reports.append(report)
        return reports

    def test_all_kinds_of_programs(self) -> None:
        requests = [{"program": str(self.folder / f"{name}.json")} for name in PROGRAMS]
        for strategy in ("launch", "barrier"):
            reports = dict(zip(PROGRAMS, self.hold(requests, "--strategy", strategy)))
            of_waves, of_queue, of_image, of_graph = (reports[name] for name in ("waves", "queue", "image", "graph"))
            # 1 + 8 is 9: the first wave derives from rule 2, and so does the second one.
            self.assertEqual((of_waves["iterations"], of_waves["items_processed"], of_waves["items_in_all"]),
                             (8, 8 * (N + 64), 20 * (N + 64)))
            self.assertEqual((of_waves["lineage_items"], set(of_waves["region_lineage"])), (8 * (N + 64), {4}))
            self.assertEqual((of_queue["items_processed"], of_queue["queues"][0]["items_processed"], of_queue["items_remaining"]),
                             (ITEMS, ITEMS, 0))
            self.assertEqual((of_image["items_processed"], of_image["region_lineage"]), (40 * 24, []))
            self.assertEqual((of_graph["items_processed"], of_graph["published_items"], of_graph["items_remaining"]), (600, 600, 0))
            self.assertEqual((of_graph["region_lineage"], of_graph["lineage_items"]), ([10], 600))
            published = reports["publishing"]["queues"][0]
            self.assertEqual((published["items_processed"], published["publishing"]["published_items"]), (ITEMS, ITEMS - 1))
            front = sum(TILES - step for step in range(STEPS))  # one tile less in each step
            self.assertEqual([wave["active_tiles"] for wave in reports["active"]["active"]], [front])
            self.assertEqual(reports["active"]["telemetry"]["frontier_density_bps"], 10000 * front // (TILES * STEPS))
            self.assertEqual(reports["own"]["verification"]["checks"], ["laws", "fix_point"])
        for more in (("--strategy", "counters"), ("--strategy", "plain"), ("--strategy", "barrier", "--by-wave")):
            self.hold([request for request, program in zip(requests, PROGRAMS.values()) if more[-1] == "--by-wave" or "graph" not in program], *more)
        self.assertEqual(set(of_graph["effective_geometry"]), set(of_waves["effective_geometry"]))


if __name__ == "__main__":
    unittest.main()
