"""Runs the benchmarks of a build tree and prints one table.

The one idea: a figure that compares two programs comes from alternating runs of both in this process, so that
other load on the machine affects both alike; medians are printed.
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
PLAN_RUNS = 3
MINIMALLOC = os.environ.get("MINIMALLOC", "../shared/data/minimalloc")  # the instances of google/minimalloc

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


def wave_dag(path: Path, waves: int, dependencies: int) -> None:
    """A named DAG whose dependencies reach up to 20 000 waves back."""
    source = random.Random(1)
    with path.open("w") as file:
        file.write('{"waves": [')
        for i in range(waves):
            file.write(f'{", " if i else ""}{{"name": "wave_{i}", "frontier_bytes": {source.randrange(1 << 16)}, '
                       f'"scratch_bytes": {source.randrange(1 << 14)}, "output_bytes": {source.randrange(1 << 16)}}}')
        file.write('], "dependencies": [')
        for i in range(dependencies):
            after = source.randrange(1, waves)
            before = max(0, after - source.randrange(1, 20_000))
            file.write(f'{", " if i else ""}{{"before": {before}, "after": {after}}}')
        file.write('], "budget_bytes": 100000000}')


def peak_bytes(command: list[str]) -> int:
    child = os.posix_spawn(command[0], command, {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, _, usage = os.wait4(child, 0)
    return usage.ru_maxrss * 1024


def plan(build: Path) -> list[Row]:
    tidegate = str(build / "app" / "tidegate")
    with tempfile.TemporaryDirectory() as folder:
        dag = Path(folder) / "dag.json"
        wave_dag(dag, 1_000_000, 4_000_000)
        size = dag.stat().st_size
        median = alternating(PLAN_RUNS, {
            "tidegate": lambda: seconds([tidegate, "plan", str(dag)]),
            "jq": lambda: seconds(["jq", "-c", ".", str(dag)]),
        })
        return [(f"plan, 10^6 named waves, 4 * 10^6 dependencies, {size / 1e6:.0f} MB", f"{median['tidegate']:.2f} s", ""),
                ("jq -c . on the same file", f"{median['jq']:.2f} s", ""),
                ("ratio", f"{median['jq'] / median['tidegate']:.1f} times faster", "at least 10"),
                ("memory at its peak, the text included", f"{peak_bytes([tidegate, 'plan', str(dag)]) / 1e6:.0f} MB", "")]


def planning(build: Path) -> list[Row]:
    done = subprocess.run([str(build / "scripts" / "bench" / "planning_benchmark"), "--benchmark_format=json"],
                          capture_output=True, check=True)
    rows = []
    for result in json.loads(done.stdout)["benchmarks"]:
        if "per_wave_and_dependency" in result:
            rows.append((f"library: {result['name']}", f"{result['per_wave_and_dependency'] * 1e9:.1f} ns per wave and dependency",
                         "" if "textbook" in result["name"] else "below 3 to 20 ns, or a third of textbook"))
        else:
            rows.append((f"library: {result['name']}",
                         f"{result['real_time']:.0f} ms, {result['groups']:.0f} groups, at least {result['bound']:.0f}", ""))
    return rows


def quality(build: Path) -> list[Row]:
    done = subprocess.run([str(build / "scripts" / "bench" / "planning_quality")], capture_output=True, check=True, text=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def graphs(build: Path) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(build / "scripts" / "bench" / "graph_reading"), folder], capture_output=True, check=True,
                              text=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def arena(build: Path) -> list[Row]:
    tidegate = str(build / "app" / "tidegate")
    rows = []
    for instance in sorted(Path(MINIMALLOC).glob("*.csv")):
        lines = [line.split(",") for line in instance.read_text().split()[1:]]
        buffers = [{"id": name, "lower": int(lower), "upper": int(upper), "size": int(size)}
                   for name, lower, upper, size in lines]
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "lifetimes.json"
            document.write_text(json.dumps({"buffers": buffers, "capacity_bytes": 1_048_576}))
            elapsed = statistics.median(seconds([tidegate, "arena", str(document)]) for _ in range(3))
        rows.append((f"arena, minimalloc {instance.stem}, {len(buffers)} buffers", f"{elapsed:.2f} s", "below 10 s"))
    source = random.Random(1)
    together = [(source.randrange(100_000), source.randrange(1, 300)) for _ in range(100_000)]
    apart = [(i // 1000 * 2000 + source.randrange(1000), source.randrange(1, 100)) for i in range(100_000)]
    for what, lives in (("150 alive at a time", together), ("in components of 1000", apart)):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "lifetimes.json"
            buffers = [{"id": i, "lower": lower, "upper": lower + length, "size": source.randrange(1, 1 << 20)}
                       for i, (lower, length) in enumerate(lives)]
            document.write_text(json.dumps({"buffers": buffers}))
            start = time.perf_counter()
            done = subprocess.run([tidegate, "arena", str(document)], capture_output=True, check=True)
            elapsed = time.perf_counter() - start
        answer = json.loads(done.stdout)
        rows.append((f"arena, 100 000 buffers, {what}",
                     f"{elapsed:.2f} s, {answer['height_bytes'] / answer['lower_bound_bytes']:.3f} times the bound", "about 1 s"))
    instances = [str(path) for path in sorted(Path(MINIMALLOC).glob("*.csv"))]
    done = subprocess.run([str(build / "scripts" / "bench" / "arena_quality"), *instances], capture_output=True, check=True, text=True)
    return rows + [tuple(line.split("\t")) for line in done.stdout.splitlines()]


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


# A tile of `strided` and of `vector` is 1024 floats: four loads, each after the store before it, or one of four floats.
CHAIN_KERNELS = """
kernel void strided(global const float* in, global float* out, uint n) {
  const uint first = get_group_id(0) * 1024 + get_local_id(0);
  for (uint k = 0; k < 4; ++k) {
    const uint i = first + k * 256;
    out[i] = in[i + 256 < n ? i + 256 : i + 256 - n] * 0.5f + 1.0f;
  }
}
kernel void vector(global const float4* in, global float4* out, uint n) {
  const uint i = get_global_id(0);
  out[i] = in[i + 64 < n / 4 ? i + 64 : i + 64 - n / 4] * 0.5f + 1.0f;
}
kernel void single(global const float* in, global float* out, uint n) {
  const uint i = get_global_id(0);
  out[i] = in[i + 256 < n ? i + 256 : i + 256 - n] * 0.5f + 1.0f;
}
"""
CHAIN_WAVES = 1000


def chain(folder: Path, kernel: str, tiles: int, waves: int = CHAIN_WAVES) -> tuple[Path, int]:
    """Dependent waves of `tiles` work-groups of 256, and how many floats they work on."""
    (folder / "chain.cl").write_text(CHAIN_KERNELS)
    count = tiles * (256 if kernel == "single" else 1024)
    program = {
        "buffers": {"a": {"type": "f32", "count": count, "init": {"random": {"seed": 1}}, "output": "a.npy"},
                    "b": {"type": "f32", "count": count}},
        "ops": {kernel: {"source": "chain.cl"}},
        "waves": [{"op": kernel, "global_size": [tiles * 256], "local_size": [256],
                   "args": [{"buffer": "a"}, {"buffer": "b", "access": "write"}, {"u32": count}]}],
        "repeat": waves, "swap": [["a", "b"]]}
    path = folder / f"{kernel}_{tiles}.json"
    path.write_text(json.dumps(program))
    return path, count


def run_program(build: Path, program: Path, *options: str) -> dict:
    done = subprocess.run([str(build / "app" / "tidegate"), "run", str(program), "--max-wall-time", "600", *options],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def microseconds_a_wave(rounds_ns: list[int], waves: int = CHAIN_WAVES) -> float:
    return statistics.median(rounds_ns) / 1e3 / waves


def programs(build: Path) -> list[Row]:
    """Chains of waves on the device that the tool chooses, against plain launches: run --compare."""
    rows: list[Row] = []
    aims = {("vector", 132): "2.2 us, 2.0", ("strided", 132): "2.2 us, 2.0", ("vector", 8448): "0.95", ("strided", 8448): "0.95"}
    sizes = {"vector": (132, 1056, 8448), "strided": (132, 1056, 8448), "single": (528, 4224, 33792)}
    with tempfile.TemporaryDirectory() as folder:
        for kernel, tiles in ((kernel, tiles) for kernel, all_tiles in sizes.items() for tiles in all_tiles):
            program, _ = chain(Path(folder), kernel, tiles)
            report = run_program(build, program, "--compare", "9")
            comparison = report["comparison"]
            rows.append((f"{kernel} {tiles}: {report['strategy']}, {report['execution_mode']}, "
                         f"{report['effective_geometry']['worker_groups']} work-groups",
                         f"{microseconds_a_wave(comparison['run_rounds_ns']):.2f} us a wave, plain "
                         f"{microseconds_a_wave(comparison['plain_rounds_ns']):.2f}, ratio {comparison['speedup']:.2f}",
                         aims.get((kernel, tiles), "")))
        program, _ = chain(Path(folder), "vector", 132)
        again = run_program(build, program)
        rows.append(("a second start of vector 132, before its dispatch",
                     f"kernel {again['build_ns'] / 1e6:.1f} ms, buffers and tables "
                     f"{(again['queue_plan_ns'] + again['queue_publish_ns']) / 1e6:.1f} ms", "20 ms"))
    return rows


def by_hand(build: Path) -> list[Row]:
    """`--strategy launch` against the same launches written by hand, in turn."""
    rows: list[Row] = []
    waves = 200
    with tempfile.TemporaryDirectory() as folder:
        for tiles in (132, 1056):
            program, count = chain(Path(folder), "strided", tiles, waves)
            ours: list[int] = []
            hand: list[int] = []
            for _ in range(10):
                report = run_program(build, program, "--strategy", "launch", "--compare", "3")
                ours += report["comparison"]["run_rounds_ns"]
                done = subprocess.run(
                    [str(build / "scripts" / "bench" / "plain_chain"), report["device"]["name"],
                     str(Path(folder) / "chain.cl"), "strided", str(tiles), str(count), str(waves), "4"],
                    capture_output=True, text=True, check=True)
                hand += [int(line) for line in done.stdout.split()][1:]  # the first round warms up
            rows.append((f"strided {tiles}: launch on {report['device']['name']}",
                         f"{microseconds_a_wave(ours, waves):.1f} us a wave, by hand {microseconds_a_wave(hand, waves):.1f}, "
                         f"ratio {statistics.median(hand) / statistics.median(ours):.2f}", "0.9"))
    return rows


def main() -> None:
    parts = {"stream": stream, "library": library, "start": start, "plan": plan, "planning": planning, "quality": quality,
             "arena": arena, "graphs": graphs, "programs": programs, "by-hand": by_hand}
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
