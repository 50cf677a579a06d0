"""tidegate tune measure: what the report says holds together, what was measured is what a run takes, and nothing
is tuned that is not right or not safe. How fast anything is on a busy machine is no part of it."""

import json
from pathlib import Path

import jsonschema

from support import IOTA, REPOSITORY, Document, Programs, buffer, cache_home, device, environment, no_ordering, parse, program, run, wave

OPS = """kernel void twice(global const int* in, global int* out) { out[get_global_id(0)] = 2 * in[get_global_id(0)]; }
kernel void sizes(global const int* in, global int* out) { out[get_global_id(0)] = in[0] + (int)get_local_size(0); }
"""
STRATEGIES = {"launch", "barrier", "counters", "plain"}
KNOBS = ["workgroup_size", "strategy", "route", "work_items_per_unit", "side_by_side", "workers", "order"]
FRONTIER_KNOBS = ["strategy", "workers", "alone_up_to", "switch_rule"]


class TuneMeasure(Programs):
    sources = {"ops.cl": OPS}

    def two_waves(self, op: str = "twice", local: int | None = None) -> Path:
        document = program({"a": buffer("i32", count=64, init=IOTA), "b": buffer("i32", count=64), "c": buffer("i32", count=64, output="c.npy")},
                           wave(op, "a", "b", size=64, local=local or 0), wave(op, "b", "c", size=64, local=local or 0), repeat=3)
        if local is None:
            for one in document["waves"]:
                del one["local_size"]
        return Path(self.written(document))

    def tune(self, path: Path, *args: str, rc: int = 0, knobs: list[str] = KNOBS, **env: str) -> Document:
        result = run("tune", "measure", str(path), "--time", "10m", *args, env=environment(**env))
        self.assertEqual(result.rc, rc, result.stderr)
        for line in result.stderr.splitlines():  # one a second
            self.assertRegex(line, r"^tidegate: measuring: [a-z_0-9, ]+, at most \d+ s$")
        report: Document = parse(result.stdout)
        schema = parse((REPOSITORY / "schemas" / "tuning_report.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(report, schema)
        self.assertEqual([knob["knob"] for knob in report["knobs"]], knobs)
        for knob in report["knobs"]:
            if duel := knob.get("duel"):
                self.assertTrue(duel["ratio_low"] <= duel["ratio"] <= duel["ratio_high"], knob)
            won = duel is not None and duel["confidence"] >= 0.99 and duel["ratio"] <= 0.99
            self.assertEqual([one["taken"] for one in knob["candidates"]].count(True), 1 if won else 0, knob)
        return report

    def tried(self, knob: Document) -> int:
        """How many candidates a knob had. Those that a busy machine made too slow are thrown out, and no others."""
        reasons = {one["thrown_out"] for one in knob["candidates"]}
        self.assertLessEqual(reasons, {"", "the run takes many times as long as the best so far"})
        return len(knob["candidates"])

    def run_it(self, path: Path, *args: str, **env: str) -> Document:
        result = run("run", str(path), "--verify", *args, env=environment(**env))
        self.assertEqual(result.rc, 0, result.stderr)
        report: Document = parse(result.stdout)
        return report

    def test_measured_and_taken(self) -> None:
        path = self.two_waves(local=32)
        profile, policy = self.folder / "profile.json", self.folder / "policy.json"
        report = self.tune(path, "--write-profile", str(profile), "--write-policy", str(policy), "-v")
        self.assertFalse((self.folder / "c.npy").exists())
        self.assertGreater(report["runs"], 3)
        self.assertEqual({knob["knob"]: knob["candidates"] for knob in report["knobs"]}["workgroup_size"], [])
        strategy = report["knobs"][1]
        self.assertIn(strategy["before"], STRATEGIES)
        self.assertEqual(self.tried(strategy), 2)
        self.assertLessEqual({one["value"] for one in strategy["candidates"]}, STRATEGIES - {strategy["before"]})
        # The documents are those of the report, and the run takes them.
        written = parse(profile.read_text())
        self.assertEqual(written["tuning"], report["profile"]["tuning"])
        self.assertEqual(written["tuned_for"], str(path))
        self.assertEqual({key: parse(policy.read_text())[key] for key in report["policy"]}, report["policy"])
        taken = self.run_it(path, "--set", f"profile={profile}", "--set", f"policy={policy}")
        self.assertEqual((taken["profile_file"], taken["policy_file"]), (str(profile), str(policy)))
        self.assertTrue(taken["output_parity"]["equal"])
        # Also by itself, for these kernels and no others.
        kept = self.run_it(path)
        self.assertEqual(Path(kept["profile_file"]).parent, Path(cache_home()) / "tidegate")
        self.assertNotIn("profile_file", self.run_it(path, "--set", "profile=none"))
        self.file("ops.cl", OPS + "\n")
        self.assertNotEqual(self.run_it(path)["first_run"]["reason"], kept["first_run"]["reason"])

    def test_profiles_decide(self) -> None:
        """Constants and choices of a profile change what runs; nothing makes an unsafe device wait."""
        path = self.two_waves(local=32)  # as the other test, whose kernels are kept
        name = device()["name"]
        profile = {"kind": "device_profile", "schema_version": 1, "device": name, "driver_version": "", "tidegate": "", "workgroup_size": 1, "co_resident_groups": 1, "trials": [],
                   "launch_ns": 1, "launch_round_trip_ns": 1,
                   "tuning": {"strategy": "barrier", "workers": 1, "slice_ns": 100000000}}
        file = str(self.file("profile.json", json.dumps(profile)))
        report = self.run_it(path, "--set", f"profile={file}")
        self.assertEqual((report["strategy"], report["strategy_reason"], report["effective_geometry"]["worker_groups"]),
                         ("barrier", "measured as the fastest, by the profile", 1))
        self.assertEqual(self.run_it(path, "--set", f"profile={file}", "--strategy", "launch")["strategy_reason"], "requested")
        unsafe = run("run", str(path), "--set", f"profile={file}", env=environment(**no_ordering()))
        self.assertEqual(parse(unsafe.stdout)["strategy"], "plain")  # as one launch for each wave would be
        profile["device"] = "another"
        self.file("profile.json", json.dumps(profile))
        refused = run("run", str(path), "--set", f"profile={file}", env=environment())
        self.assertEqual((refused.rc, refused.stdout), (2, ""))
        self.assertIn(f'the profile "{file}" is of "another", this is "{name[:20]}', refused.stderr)

    def test_wrong_outputs_are_thrown_out(self) -> None:
        """The outputs depend on the size of work-groups, which the program leaves open; nothing persistent without a litmus."""
        report = self.tune(self.two_waves("sizes"), "--cache", "no", **no_ordering())
        size, strategy, _, *persistent = report["knobs"]
        self.assertEqual(size["before"], "256")
        self.assertEqual(size["candidates"], [{"value": "32", "taken": False, "thrown_out": 'element 0 of "c" is 64, plain launches make it 128'}])
        self.assertEqual([knob["candidates"] for knob in (strategy, *persistent)], [[]] * 5)

    def test_sources_that_do_not_compile(self) -> None:
        """They are the user's, with a place, as of `run`."""
        self.file("own.cl", "uint at_source(uint vertex, uint index) { return nowhere; }\nuint along(uint a, uint b) { return min(a, b); }\n")
        self.file("path.el", "0 1\n")
        graph = self.written({"graph": {"file": "path.el"}, "algorithm": {"source": "own.cl", "value": "u32", "merge": "max"}, "sources": [0],
                              "outputs": {"values": "values.npy"}}, "graph.json")
        self.file("ops.cl", "kernel void twice(global int* a) { a[0] = nowhere; }")
        waves = self.written(program({"a": buffer("i32", count=64, output="a.npy")}, wave("twice", "a", size=64, local=32)))
        for path in (graph, waves):
            errors = [run(*command, path, "-q", env=environment()) for command in (["run"], ["tune", "measure", "--time", "2s", "--cache", "no"])]
            self.assertEqual([result.rc for result in errors], [3, 3], errors)
            self.assertIn("use of undeclared identifier 'nowhere'", errors[0].stderr)
            self.assertEqual(errors[0].stderr, errors[1].stderr)

    def test_traversals(self) -> None:
        """What is found for a graph is written, and taken by a run of it; nothing persistent without a litmus."""
        path = Path(self.written({"graph": {"generate": {"grid": {"width": 6, "height": 4}}}, "algorithm": "bfs", "sources": [0],
                                  "outputs": {"levels": "levels.npy", "parents": "parents.npy"}}, "graph.json"))
        profile, policy = self.folder / "profile.json", self.folder / "policy.json"
        report = self.tune(path, "--write-profile", str(profile), "--write-policy", str(policy), knobs=FRONTIER_KNOBS, **no_ordering())
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["graph.json", "ops.cl", "policy.json", "profile.json"])
        strategy, workers, alone, rule = report["knobs"]
        self.assertEqual((strategy["before"], strategy["candidates"]), ("launch", []))
        self.assertEqual(rule["before"], "edges")
        for knob in (workers, alone):
            self.assertGreater(self.tried(knob), 2)
        written = parse(profile.read_text())
        self.assertEqual(written.get("traversal"), report["profile"].get("traversal"))
        taken = self.run_it(path, "--set", f"profile={profile}", "--set", f"policy={policy}")
        self.assertEqual((taken["profile_file"], taken["policy_file"]), (str(profile), str(policy)))
        # Also by itself, for this program and no other.
        self.assertEqual(Path(self.run_it(path, **no_ordering())["profile_file"]).parent, Path(no_ordering()["XDG_CACHE_HOME"]) / "tidegate")
        path.write_text(path.read_text() + "\n")
        self.assertNotIn("profile_file", self.run_it(path, **no_ordering()))
        # What a profile says is done, but for what is not safe.
        profile.write_text(json.dumps({**written, "traversal": {"strategy": "launch", "workers": 2, "alone_up_to": 64}}))
        done = self.run_it(path, "--set", f"profile={profile}")
        self.assertEqual((done["strategy_reason"], done["effective_geometry"]["worker_groups"], done["summary"]["alone_waves"]),
                         ("measured as the fastest, by the profile", 2, 9))
        profile.write_text(json.dumps({**written, "traversal": {"strategy": "barrier", "workers": 1}}))
        unsafe = run("run", str(path), "--set", f"profile={profile}", env=environment(**no_ordering()))
        self.assertEqual(parse(unsafe.stdout)["strategy"], "launch")
