"""Runs the benchmarks of a build tree and prints one table.

The one idea: a figure that compares two programs comes from alternating runs of both in this process, so that
whatever else the machine does meets both alike; medians are printed.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

REQUESTS = 200_000
STREAM_RUNS = 7
START_RUNS = 1000

Row = tuple[str, str, str]


def cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def mixed_requests(path: Path) -> None:
    """Launch requests of all kinds, about 300 bytes each: some bare, some with telemetry, a graph, a policy."""
    source = random.Random(1)
    optional = ("requested_hit_capacity", "expected_hits_per_item", "hot_opcode_count", "hot_window_count",
                "requeue_count", "max_priority_age", "graph_node_count", "graph_edge_count", "frontier_density_bps",
                "memory_pressure_bps", "resident_device_bytes")
    topologies = ("empty", "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense")
    with path.open("w") as file:
        for _ in range(REQUESTS):
            request: dict[str, object] = {
                "queue_len": source.randrange(1_000_000),
                "requested_worker_groups": source.randrange(1, 2000),
                "max_workgroup_size_x": 32 << source.randrange(6),
                "max_compute_workgroups_per_dimension": 65535,
            }
            for name in optional:
                if source.random() < 0.5:
                    request[name] = source.randrange(10_000)
            if source.random() < 0.3:
                request["previous_topology"] = source.choice(topologies)
            if source.random() < 0.3:
                request["policy"] = {"sparse_frontier_threshold_bps": source.randrange(1000),
                                     "sizing": {"max_dispatch_workgroups": 4096}}
            file.write(json.dumps(request) + "\n")


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command} ended with {done.returncode}")
    return elapsed


def alternating(runs: int, measures: dict[str, Callable[[], float]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            times[name].append(measure())
    return {name: statistics.median(values) for name, values in times.items()}


def stream(build: Path) -> list[Row]:
    tidegate = str(build / "app" / "tidegate")
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests.ndjson"
        mixed_requests(requests)
        size = requests.stat().st_size
        median = alternating(STREAM_RUNS, {
            "tidegate": lambda: seconds([tidegate, "recommend", "--stream", str(requests)]),
            "jq": lambda: seconds(["jq", "-c", ".", str(requests)]),
        })
        return [(f"recommend --stream, {REQUESTS} requests, {size / 1e6:.0f} MB",
                 f"{median['tidegate']:.3f} s, {size / median['tidegate'] / 1e6:.0f} MB/s", ""),
                ("jq -c . on the same file", f"{median['jq']:.3f} s", ""),
                ("ratio", f"{median['jq'] / median['tidegate']:.1f} times faster", "at least 10")]


def library(build: Path) -> list[Row]:
    done = subprocess.run([str(build / "scripts" / "bench" / "policy_benchmark"), "--benchmark_format=json",
                           "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"],
                          capture_output=True, check=True)
    rows = []
    for result in json.loads(done.stdout)["benchmarks"]:
        if result["aggregate_name"] == "median":
            name = result["run_name"].replace("_", " ")
            rows.append((f"library: {name}", f"{result['cpu_time']:.1f} ns", "below 60 ns" if "uncached" in name else ""))
    return rows


def spawned(command: list[str]) -> float:
    actions = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, {}, file_actions=actions)
    _, status = os.waitpid(child, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        raise RuntimeError(f"{command} ended with {status}")
    return elapsed


def instructions(command: list[str]) -> int:
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                          capture_output=True, check=True)
    return int(done.stderr.decode().split("Collected :")[1].split()[0])


def start(build: Path) -> list[Row]:
    empty = [str(build / "scripts" / "bench" / "empty_program")]
    request = "examples/bfs_wave.json"
    tidegate = [str(build / "app" / "tidegate"), "recommend", request]
    median = alternating(START_RUNS, {"empty": lambda: spawned(empty), "tidegate": lambda: spawned(tidegate)})
    rows = [("an empty C++ program, start to finish", f"{median['empty'] * 1e6:.0f} us", ""),
            (f"tidegate recommend {request}", f"{median['tidegate'] * 1e6:.0f} us", ""),
            ("ratio", f"{median['tidegate'] / median['empty']:.2f} times", "at most 1.5")]
    if shutil.which("valgrind"):
        rows.append(("instructions (callgrind)",
                     f"{instructions(empty) / 1e3:.0f} k empty, {instructions(tidegate) / 1e3:.0f} k tidegate", ""))
    return rows


def main() -> None:
    parts = {"stream": stream, "library": library, "start": start}
    build, chosen = Path(sys.argv[1]), sys.argv[2:] or list(parts)
    if unknown := set(chosen) - set(parts):
        sys.exit(f"bench: no benchmark {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    print(f"{cpu()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    rows: list[Row] = [("what", "measured", "aim")]
    for name in chosen:
        rows += parts[name](build)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
