"""The counts of reports, held to account by a layer between tidegate and the driver (tests/failing_driver) that logs every call.

A stream answers a request for the second time with all kernels built, so each call between two answers belongs to the run. The
kernel launches, waits and bytes of the log are those of the report, and so are the blocks of memory, as many as there were at a launch.
"""

from __future__ import annotations

import functools
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

NAMES = ("what", "flags", "list", "wave", "buffer", "semiring", "algorithm", "status", "strategy")
# What `check` cannot hold to account. Settings of the policy and of the first run, and what is known of the device:
NOT_RECOMPUTED = """
active/#/memory_bps active/#/pressure_bps active/#/sparse_bps waves/#/threshold
evidence/promotion/hot_opcode_count evidence/promotion/hot_opcode_threshold evidence/promotion/hot_window_threshold
evidence/promotion/jit_queue_len_threshold evidence/topology/resident_device_bytes recommendation/estimated_peak_device_bytes
next_request/policy/dense_frontier_threshold_bps next_request/policy/fusion_edge_threshold next_request/policy/hit_capacity_multiplier
next_request/policy/memory_pressure_threshold_bps next_request/policy/min_hit_capacity next_request/policy/priority_age_threshold
next_request/policy/saturated_waves next_request/policy/scratch_bytes_per_hit next_request/policy/sizing/default_worker_count
next_request/policy/sizing/max_dispatch_workgroups next_request/policy/sizing/occupancy_worker_divisor
next_request/policy/sizing/powerful_invocation_threshold next_request/policy/sizing/powerful_min_worker_groups
next_request/policy/sparse_frontier_threshold_bps next_request/max_compute_invocations_per_workgroup
next_request/max_compute_workgroups_per_dimension next_request/max_workgroup_size_x next_request/memory_pressure_bps
next_request/requested_hit_capacity next_request/expected_hits_per_item next_request/graph_edge_count next_request/graph_node_count
next_request/hot_opcode_count next_request/hot_window_count next_request/frontier_density_bps promotion_evidence/schema_version
first_run/budget_ns first_run/iterations first_run/runs
candidates/#/side_by_side candidates/#/worker_groups candidates/#/workgroup_size
"""
# Times, which are parts of others:
NOT_RECOMPUTED += """
wall_time_ns queue_plan_ns queue_publish_ns upload_ns load_ns build_ns read_back_ns lineage_ns verify_ns slices_ns/# first_run/elapsed_ns
"""
# Sizes and names of memory and of images, of which the report has no second account, and groups by the bytes of their waves:
NOT_RECOMPUTED += """
memory/table_bytes memory/image_bytes memory/constrained_bytes memory/offsets/#/buffer memory/offsets/#/alive/alignment memory/offsets/#/alive/upper
files_written/#/bytes files_written/#/what
plan/amortized_readback_bytes plan/barriers/groups/#/fused_bytes plan/max_group_width plan/peak_frontier_bytes plan/peak_scratch_bytes
"""
# Counts of the session and of the device: only bounds follow from the others. Only the graph knows what is reached, where no search
# has waves for it, and waves do not tell their rules, names and items in an iteration.
NOT_RECOMPUTED += """
telemetry/kernel_launches telemetry/filling_launches telemetry/recorded_launches telemetry/sync_points telemetry/resident_allocations
telemetry/readback_buffers telemetry/occupancy_proxy_bps
queues/#/rounds queues/#/wave queues/#/publishing/capacity queues/#/publishing/needed_capacity queues/#/publishing/deduped_items
published_items items_in_all lineage_iterations region_lineage/# graph/first_id answer/reached answer/farthest
"""


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
        every = []
        for strategy in ("launch", "barrier"):
            reports = dict(zip(PROGRAMS, self.hold(requests, "--strategy", strategy)))
            every += reports.values()
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
        self.assertEqual((of_graph["items_in_all"], of_graph["execution_mode"]), (600, "jit"))
        self.assertEqual(set(of_graph["effective_geometry"]), set(of_waves["effective_geometry"]))
        self.assertEqual(json.loads(run("priority", "drain", input=json.dumps(of_graph)).stdout)["reason"], "none")
        self.contradictions(of_graph)
        self.changes(every)

    def test_check_accepts_what_runs_leave_out(self) -> None:
        """Buffers in registers, a fill next to waves, and files about a run."""
        (self.folder / "rest.cl").write_text("kernel void copy(global const uint* a, global uint* b) { b[get_global_id(0)] = a[get_global_id(0)]; }")
        wave = {"op": "copy", "global_size": [640], "local_size": [64]}
        program = {"buffers": {name: {"type": "u32", "count": 640} for name in "xyz"}, "ops": {"copy": {"source": "rest.cl"}},
                   "waves": [{"fill": {"buffer": "x", "value": 3}, "phase": "before"},
                             *({**wave, "args": [{"buffer": a}, {"buffer": b}]} for a, b in ("xy", "yz"))]}
        program["buffers"]["z"]["output"] = "z.npy"
        (self.folder / "rest.json").write_text(json.dumps(program))
        for options in (("--strategy", "barrier", "--set", "promote=windows"), ("--strategy", "launch"),
                        ("--compare", "2", "--export-csv", str(self.folder / "times.csv"), "--export-markdown", str(self.folder / "times.md"))):
            report = run("run", str(self.folder / "rest.json"), "-q", *options)
            self.assertEqual(report.rc, 0, report.stderr)
            checked = run("check", "-", input=report.stdout)
            self.assertEqual(checked.rc, 0, checked.stderr)

    def test_the_next_request_of_a_traversal_that_cannot_be_fused(self) -> None:
        graph = {"generate": {"rmat": {"scale": 14, "edge_factor": 8, "seed": 1}}}
        path = self.folder / "ranks.json"
        path.write_text(json.dumps({"graph": graph, "algorithm": "pagerank", "outputs": {"ranks": "ranks.npy"}}))
        report = run("run", str(path), "-q")
        self.assertEqual(report.rc, 0, report.stderr)
        self.assertEqual(json.loads(report.stdout)["next_request"]["hot_window_count"], 0)
        advice = json.loads(run("recommend", "--from", "-", input=report.stdout).stdout)["recommendation"]
        self.assertEqual((advice["topology"] == "fused_dense", advice["promote_hot_windows"]), (False, False))

    def changes(self, reports: list[dict[str, Any]]) -> None:
        """`check` accepts no other number in place of one that the report holds enough to recompute, and no other name."""
        def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
            if isinstance(value, dict):
                return [place for key, item in value.items() for place in places(item, (*path, key))]
            if isinstance(value, list):
                return [place for index in sorted({0, len(value) - 1}) if value for place in places(value[index], (*path, index))]
            named = isinstance(value, str) and path[-1] in NAMES
            return [path] if named or (isinstance(value, (int, float)) and not isinstance(value, bool)) else []

        accepted = set[str]()
        for report in reports:
            lines, changed = [], []
            for place in places(report):
                holder = functools.reduce(lambda node, key: node[key], place[:-1], report)
                value = holder[place[-1]]
                for holder[place[-1]] in (value + "x",) if isinstance(value, str) else (2 * value + 7, value // 2):
                    if holder[place[-1]] != value:
                        lines.append(json.dumps(report))
                        changed.append(place)
                holder[place[-1]] = value
            told = [json.loads(line) for line in run("check", "--stream", "-", input="\n".join(lines)).stdout.splitlines()]
            self.assertEqual(len(told), len(changed))
            for place, answer in zip(changed, told):
                if answer["documents"][0]["verdict"] == "valid":
                    accepted.add("/".join("#" if isinstance(key, int) else key for key in place))
        self.assertEqual(accepted - set(NOT_RECOMPUTED.split()), set())

    def contradictions(self, report: dict[str, Any]) -> None:
        """`check` adds up what a traversal reports, too."""
        for path, value, message in (
                ("items_processed", 1, "items_processed is 1, and vertices of the waves are 600"),
                ("items_remaining", 2, "items_remaining is 2, and of a run that is done it is 0"),
                ("summary/scanned_edges", 3, "scanned_edges is 3, and of the waves it is"),
                ("telemetry/bytes_moved", 4, "bytes_moved is 4, and bytes_uploaded and bytes_read_back are together"),
                ("kernel_launches", 5000, "the report has this figure in two places, with different values"),
                ("memory/bytes", 8, "bytes is 8, and the parts have together"),
                ("summary/edges_per_second", 1, "edges_per_second is not frontier_edges divided by backend_dispatch_ns"),
                ("waves/1/previous_edges", 1 << 30, "previous_edges is 1073741824, and frontier_edges before it are"),
                ("lineage_items", 601, "lineage_items is 601, and items_processed only 600"),
                ("verification", {"checks": [], "right": False}, "the result is not what the serial algorithm computes")):
            changed = json.loads(json.dumps(report))
            *outer, last = path.split("/")
            holder = changed
            for key in outer:
                holder = holder[int(key) if isinstance(holder, list) else key]
            holder[last] = value
            checked = run("check", "-", input=json.dumps(changed))
            self.assertEqual(checked.rc, 1, checked.stdout)
            self.assertIn(message, checked.stderr)


if __name__ == "__main__":
    unittest.main()
