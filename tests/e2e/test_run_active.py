"""tidegate run: waves that run only the tiles whose flag is set, beside an evaluation in Python: flags of both types in one to
three dimensions, and flags that other waves write in each iteration.
"""

import json
import random

from support import IOTA, Document, Programs, buffer, device, parse, program, raw, run, wave
from test_run_hits import WAYS

OPS = """
kernel void reverse(global uint* out, uint by); // the prototype and a call elsewhere are those of the kernel alone
kernel void reverse(global uint* out, uint by) {
  local uint lanes[64];
  const uint lane = get_local_id(0), last = get_local_size(0) - 1;
  const size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  lanes[lane] = out[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane % 2) return;
  out[at] = lanes[last - lane] + by;
}
kernel void add(global uint* out, uint by) { out[get_global_id(0)] += by; }
kernel void pick(global const uchar* all, global uchar* flags, uint first) { flags[get_global_id(0)] = all[first + get_global_id(0)]; }
kernel void choose(global uint* flags, uint iteration, global const uint* shares) {
  const uint tile = get_global_id(0), mixed = (tile * 2654435761u ^ iteration * 40503u) * 2246822519u >> 8;
  flags[tile] = mixed % 1000 < shares[iteration] ? tile + 1 : 0;
}
"""
M = 0xffffffff


class Active(Programs):
    sources = {"ops.cl": OPS}

    def active(self, flags: list[int], type_: str = "u8", op: str = "add", size: int = 256) -> Document:
        self.file("flags.raw", raw(type_, flags))
        return program({"out": buffer(count=size, init=IOTA, output="out.npy"),
                        "flags": buffer(type_, len(flags), init={"file": "flags.raw"})},
                       wave(op, "out", 7, size=size, local=16, active={"buffer": "flags"}))

    def test_random_flags(self) -> None:
        """Every strategy leaves the elements of tiles without a flag as they were."""
        chance = random.Random(7)
        for way, type_, share in zip((*WAYS, WAYS[2]), ("u8", "u32", "u8", "u32", "u32"), (0.1, 0.6, 0.3, 1, 0)):
            with self.subTest(way=way, type=type_, share=share):
                flags = [chance.randrange(1, 256) if chance.random() < share else 0 for _ in range(16)]
                self.right(self.active(flags, type_), "--verify", *way, out=[i + 7 if flags[i // 16] else i for i in range(256)])

    def test_barriers_in_three_dimensions(self) -> None:
        """Tiles are counted with x first; work-groups that meet at barriers do not run, or all of them do."""
        chance = random.Random(11)
        flags = [chance.randrange(2) for _ in range(4 * 3 * 2)]
        expected = list(range(32 * 3 * 2))
        for tile, flag in enumerate(flags):
            for lane in range(0, 8 * flag, 2):
                expected[tile * 8 + lane] = tile * 8 + 7 - lane + 7
        document = self.active(flags, op="reverse", size=192)
        document["waves"][0].update(global_size=[32, 3, 2], local_size=[8, 1, 1])
        if device()["type"] == "cpu":  # PoCL 3.1 makes wrong code of some such kernels
            self.assertIn("which compilers for CPUs get wrong [unsupported_kernel]", self.run_document(document).stderr)
            self.skipTest("the rest needs a GPU")
        for way in WAYS[1:3]:
            self.right(document, "--verify", *way, out=expected)

    def test_flags_of_each_iteration(self) -> None:
        """Another wave writes the flags again in each iteration, and few, some, many or no tiles run."""
        tiles, local, shares = 500, 8, [1000, 700, 400, 100, 50, 20, 0, 1000]
        self.file("shares.raw", raw("u32", shares))

        def chosen(tile: int, iteration: int) -> bool:
            mixed = ((tile * 2654435761 & M) ^ iteration * 40503) * 2246822519 & M
            return (mixed >> 8) % 1000 < shares[iteration]
        runs = [sum(chosen(tile, i) for i in range(len(shares))) for tile in range(tiles)]
        document = program(
            {"out": buffer(count=tiles * local, init={"fill": 0}, output="out.npy"), "flags": buffer(count=tiles),
             "shares": buffer(count=len(shares), init={"file": "shares.raw"}),
             "other": buffer(count=tiles * local, init={"fill": 0}, output="other.npy")},
            wave("choose", "flags", {"u32": 0, "iteration": {"add": 1}}, "shares", size=tiles, local=4),
            wave("add", "out", 1, size=tiles * local, local=local, active={"buffer": "flags"}),
            wave("add", "other", 2, size=tiles * local, local=local, active={"buffer": "flags"}),
            wave("add", "other", 1, size=tiles * local, local=local), repeat=len(shares))
        for way in (*WAYS[1:], ("--strategy", "barrier", "--workers", "1")):
            self.right(document, "--verify", *way, out=[runs[i // local] for i in range(tiles * local)],
                       other=[2 * runs[i // local] + len(shares) for i in range(tiles * local)])

    def test_choices(self) -> None:
        """The topologies that `recommend` takes, with hysteresis; `check` makes the choices again."""
        tiles, shares = 2003, [1000, 20, 300, 300, 60, 40, 80, 20, 0, 410, 390, 30, 30, 0, 20]
        self.file("flags.raw", bytes(int((tile * 7919 + 13) % 1000 < share) for share in shares for tile in range(tiles)))
        document = program({"out": buffer(count=tiles * 4, init={"fill": 0}, output="out.npy"), "flags": buffer("u8", tiles),
                            "all": buffer("u8", tiles * len(shares), init={"file": "flags.raw"})},
                           wave("pick", "all", "flags", {"u32": 0, "iteration": {"add": tiles}}, size=tiles, local=1),
                           wave("add", "out", 1, size=tiles * 4, local=4, active={"buffer": "flags"}), repeat=len(shares))
        counts = [sum((tile * 7919 + 13) % 1000 < share for tile in range(tiles)) for share in shares]
        expected, previous = [], "empty"
        for count in counts:
            request = {"queue_len": count, "frontier_density_bps": min(max(count * 10000 // tiles, 1 if count else 0), 10000),
                       "requested_worker_groups": 1, "max_workgroup_size_x": 1, **({} if previous == "empty" else {"previous_topology": previous})}
            topology = parse(run("recommend", input=json.dumps(request)).stdout)["recommendation"]["topology"]
            lists = previous not in ("dense_frontier", "memory_constrained")
            walk = {"empty": "nothing", "sparse_frontier": "list" if lists else "all", "hybrid_frontier": "blocks" if lists else "all"}
            expected.append((count, topology, walk.get(topology, "all")))
            previous = topology
        self.assertEqual({row[2] for row in expected}, {"nothing", "list", "blocks", "all"})
        self.assertEqual(len({row[1] for row in expected}), 4)
        for way in (("--strategy", "barrier", "--set", "tuning.mode=interpreter"), ("--strategy", "launch")):
            runs = [sum((tile * 7919 + 13) % 1000 < share for share in shares) for tile in range(tiles)]
            report = self.right(document, "--verify", *way, out=[runs[i // 4] for i in range(tiles * 4)])
            active, = report["active"]
            device = "barrier" in way
            self.assertEqual((active["wave"], active["tiles"], active["iterations"],
                              active["active_tiles"]), (1, tiles, len(shares), sum(counts)))
            self.assertEqual([(row["active_tiles"], row["topology"], row["walk"])
                              for row in active["choices"]], [(*row[:2], row[2] if device else "all") for row in expected])
            self.assertEqual(report["telemetry"]["frontier_density_bps"], sum(counts) * 10000 // (tiles * len(shares)))
            self.assertEqual(run("check", self.written(report, "report.json")).rc, 0)
