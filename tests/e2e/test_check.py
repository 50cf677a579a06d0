"""tidegate check: verdicts, several files, summaries, exit codes."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from support import EXAMPLES, run

REQUEST = (EXAMPLES / "bfs_wave.json").read_text()


class Check(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def file(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def test_valid(self) -> None:
        answer = run("recommend", "--evidence", "all", input=REQUEST).stdout
        result = run("check", "-", input=answer)
        self.assertEqual((result.rc, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout), {
            "kind": "check_report", "schema_version": 1, "checked": 1, "valid": 1, "failed": 0,
            "documents": [{"file": "-", "document": "launch_recommendation", "verdict": "valid"}]})

    def test_named_type(self) -> None:
        result = run("check", "measured_costs", str(EXAMPLES / "measured_costs.json"))
        self.assertEqual(result.rc, 0)
        everything = run("check", *map(str, sorted(EXAMPLES.glob("*.json"))))
        self.assertEqual((everything.rc, everything.stderr), (0, ""))
        unnamed = run("check", input="{}")
        self.assertEqual(unnamed.rc, 3)
        self.assertIn('the document does not say its "kind" [missing_kind]', unnamed.stderr)
        recognised = run("check", input='{"queue_len": 1}')
        self.assertIn('error: missing keys "requested_worker_groups", "max_workgroup_size_x" [missing_key]', recognised.stderr)

    def test_incomplete_evidence(self) -> None:
        policy = self.file("policy.json", b'{"jit_queue_len_threshold": 0}')
        answer = run("recommend", "--evidence", "all", "--policy", policy, input=REQUEST)
        self.assertEqual(json.loads(answer.stdout)["evidence"]["complete"], {"topology": True, "promotion": False})
        result = run("check", input=answer.stdout)
        self.assertEqual(result.rc, 1)
        self.assertEqual(result.stderr,
                         "tidegate: standard input:36:34: error: the promotion evidence is not complete: "
                         "jit_queue_len_threshold is not as it must be [incomplete_evidence]\n"
                         "  at: /evidence/promotion/jit_queue_len_threshold\n"
                         "  fix: `tidegate schema launch_recommendation --format table` says what completes each "
                         "field\n")

    def test_several_files(self) -> None:
        good = self.file("good.json", REQUEST.encode())
        broken = self.file("broken.json", b'{"kind": "launch_request",\n "queue_len": }')
        missing = str(self.folder / "missing.json")
        result = run("check", good, broken, missing)
        self.assertEqual(result.rc, 3)
        report = json.loads(result.stdout)
        self.assertEqual([report[key] for key in ("checked", "valid", "failed")], [3, 1, 2])
        self.assertEqual([entry["verdict"] for entry in report["documents"]], ["valid", "invalid", "invalid"])
        self.assertIn(f"tidegate: {broken}:2:15: error: not JSON", result.stderr)
        table = run("check", "--format", "table", good, broken).stdout
        self.assertIn("2 checked, 1 valid, 1 not\n", table)

    def test_json_errors(self) -> None:
        broken = self.file("broken.json", b"{")
        result = run("check", "--errors", "json", broken, broken)
        errors = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual([(error["code"], error["source"]) for error in errors], [("syntax_error", broken)] * 2)

    def test_streams(self) -> None:
        requests = (EXAMPLES / "waves.ndjson").read_bytes()
        self.assertEqual(run("check", "--stream", "launch_request", input=requests).rc, 0)
        answers = run("recommend", "--stream", input=requests).stdout
        result = run("check", "--stream", input=answers + "\n{}\n")
        self.assertEqual(result.rc, 3)
        report = json.loads(result.stdout)
        self.assertEqual((report["checked"], report["valid"]), (6, 5))
        self.assertEqual(report["documents"][-1]["line"], 7)

    def test_tampering(self) -> None:
        answer = json.loads(run("recommend", "--evidence", "all", input=REQUEST).stdout)
        answer["recommendation"]["topology"] = "dense_frontier"
        result = run("check", input=json.dumps(answer))
        self.assertEqual(result.rc, 1)
        self.assertIn("selected_topology contradicts the rest of the document [inconsistent_evidence]", result.stderr)

    def test_all_errors_of_a_program(self) -> None:
        """A connected-components program with a mistake in every part: one look finds them all."""
        self.file("cc.cl", b"kernel void spread(global int* labels, global const int2* edges, int n) {}\n")
        program = self.file("program.json", b"""{
  "buffers": {
    "labels": {"type": "i32", "count": 0, "output": "none/labels.npy"},
    "edges": {"type": "i32", "count": 64, "init": {"file": "edges.npy"}},
    "changed": {"type": "u8", "count": 1, "init": {"fill": 256}}
  },
  "ops": {"spread": {"source": "cc.cl"}, "jump": {"source": "cc.cl"}},
  "waves": [
    {"op": "spread", "global_size": [64], "args": [{"buffer": "labels"}, {"buffer": "edge"}, {"f32": 64}]},
    {"op": "spread", "global_size": [64], "rules": [40], "args": [{"buffer": "labels"}]}
  ],
  "dependencies": [{"before": 0, "after": 2}],
  "until": {"buffer": "change"}
}""")
        result = run("check", program)
        self.assertEqual(result.rc, 4) # the worst: an output cannot be written
        at = f"tidegate: {program}"
        self.assertEqual(result.stderr, (
            f'{at}:3:40: error: the buffer "labels" has no elements [out_of_range]\n'
            "  at: /buffers/labels/count\n"
            "  fix: give a count from 1 on that the memory holds\n"
            f"{at}:3:53: error: cannot write {self.folder}/none/labels.npy: No such file or directory [cannot_write]\n"
            "  at: /buffers/labels/output\n"
            "  fix: name a file in a folder that you may write to\n"
            f"{at}:4:60: error: cannot read {self.folder}/edges.npy: No such file or directory [cannot_read]\n"
            "  at: /buffers/edges/init/file\n"
            "  fix: name an .npy or raw file, relative to the program's folder\n"
            f"{at}:5:51: error: 256 is outside the range of u8, 0 to 255 [out_of_range]\n"
            "  at: /buffers/changed/init\n"
            "  fix: give an integer from 0 to 255\n"
            f'{at}:7:50: error: there is no kernel "jump" in cc.cl [unknown_name]\n'
            "  at: /ops/jump\n"
            '  fix: give one of spread\n'
            f'{at}:9:85: error: there is no buffer "edge" [unknown_name]\n'
            "  at: /waves/0/args/1/buffer\n"
            '  fix: did you mean "edges"?\n'
            f'{at}:9:94: error: the argument is float, the kernel\'s parameter is "int n" [argument_mismatch]\n'
            "  at: /waves/0/args/2\n"
            '  fix: give {"i32": …}\n'
            f"{at}:10:53: error: there is no source rule 40 [out_of_range]\n"
            "  at: /waves/1/rules/0\n"
            "  fix: rules are numbered from 0 to 31\n"
            f"{at}:10:66: error: 1 argument given, the kernel takes 3: spread(global int* labels, global const int2* edges, "
            "int n) [argument_mismatch]\n"
            "  at: /waves/1/args\n"
            "  fix: give one argument for each parameter, in their order\n"
            f"{at}:12:43: error: there is no wave 2 [invalid_wave]\n"
            "  at: /dependencies/0/after\n"
            "  fix: waves are counted from 0 to 1\n"
            f'{at}:13:23: error: there is no buffer "change" [unknown_name]\n'
            "  at: /until/buffer\n"
            '  fix: did you mean "changed"?\n'))
        report = json.loads(result.stdout)["documents"][0]
        self.assertEqual((report["document"], report["verdict"], report["error"]["line"], len(report["others"])),
                         ("wave_program", "invalid", 3, 10))
        table = run("check", "--format", "table", program).stdout
        self.assertIn("has no elements (and 10 more errors)", table)
        # The other commands say the same, but for what only a run asks of files.
        told = [json.loads(line) for line in run("check", "--errors", "json", program).stderr.splitlines()]
        for command in (["plan"], ["run", "--dry-run"]):
            answer = run(*command, program, "--errors", "json")
            self.assertEqual((answer.rc, answer.stdout), (3, ""))
            self.assertEqual([json.loads(line) for line in answer.stderr.splitlines()],
                             [error for error in told if not error["pointer"].endswith(("/file", "/output"))])

    def test_what_only_a_sound_program_shows(self) -> None:
        self.file("k.cl", b"int shared;\nkernel void k(global int* a) { a[0] = 1; }\n")
        self.file("ok.cl", b"kernel void k(global int* a) { a[0] = 1; }\n")
        program = {"buffers": {"a": {"type": "i32", "count": 4, "init": {"file": "a.bin"}, "output": "a.bin"}},
                   "ops": {"k": {"source": "ok.cl"}},
                   "waves": [{"op": "k", "global_size": [4], "args": [{"buffer": "a"}]}] * 2,
                   "dependencies": [{"before": 0, "after": 1}, {"before": 1, "after": 0}]}
        self.file("a.bin", bytes(16))
        result = run("check", self.file("p.json", json.dumps(program).encode()))
        self.assertEqual(result.rc, 3)
        self.assertEqual([line.split("[")[-1] for line in result.stderr.splitlines() if ": error:" in line],
                         ["invalid_program]", "cycle]"])
        self.assertIn("  at: /dependencies/1\n", result.stderr)
        program["dependencies"] = [{"before": 0, "after": 1}]
        program["buffers"]["a"]["output"] = "b.bin"
        path = self.file("p.json", json.dumps(program).encode())
        self.assertEqual(run("check", path).rc, 0)
        self.assertFalse((self.folder / "b.bin").exists())
        del program["dependencies"][0]
        warned = run("check", self.file("p.json", json.dumps(program).encode()))
        self.assertEqual(warned.rc, 0)
        self.assertIn("warning: ", warned.stderr)
        self.assertEqual(len(json.loads(warned.stdout)["documents"][0]["warnings"]), 1)

    def test_all_errors_of_a_dag(self) -> None:
        waves = [{"name": name, "frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 0} for name in "abc"]
        dag = {"resident_graph_bytes": 0, "budget_bytes": 10, "readback_bytes": 1, "waves": waves,
               "dependencies": [{"before": "a", "after": "b"}, {"before": "b", "after": "c"},
                                {"before": "c", "after": "a"}]}
        cycle = run("check", self.file("dag.json", json.dumps(dag).encode()))
        self.assertEqual(cycle.rc, 1)
        self.assertIn("[cycle]\n  at: /dependencies/2\n", cycle.stderr)
        waves[2]["name"] = "a"
        dag["dependencies"] += [{"before": 0, "after": 0}, {"before": "x", "after": 9}, {"before": 3, "after": 1}]
        del dag["dependencies"][1:3]
        path = self.file("dag.json", json.dumps(dag).encode())
        for command in ("check", "plan"):
            result = run(command, path, "--errors", "json")
            self.assertEqual(result.rc, 3)
            self.assertEqual([(error["code"], error["pointer"], error["source"]) for error in
                              map(json.loads, result.stderr.splitlines())],
                             [("duplicate_name", "/waves/2/name", path),
                              ("self_dependency", "/dependencies/1", path),
                              ("invalid_wave", "/dependencies/2/before", path),
                              ("invalid_wave", "/dependencies/3", path)])

    def test_plans_of_programs(self) -> None:
        program = EXAMPLES / "programs" / "reduction" / "program.json"
        plan = self.file("plan.json", run("plan", str(program)).stdout.encode())
        self.assertEqual(run("check", "plan", "--dag", str(program), plan).rc, 0)
        other = EXAMPLES / "programs" / "mlp" / "program.json"
        wrong = run("check", "plan", "--dag", str(other), plan)
        self.assertEqual(wrong.rc, 1)
        self.assertIn("[invalid_plan]", wrong.stderr)

    def test_all_errors_of_a_line(self) -> None:
        """A stream answers a line with its first error; check tells all of them."""
        wrong = '{"queue_len": "x", "top": 1}\n'
        result = run("recommend", "--stream", input=wrong)
        line = json.loads(result.stdout)
        self.assertEqual((result.rc, list(line), line["error"]["code"], line["line"]), (3, ["error", "line"], "wrong_type", 1))
        report = json.loads(run("check", "launch_request", "--stream", "-", input=wrong).stdout)["documents"][0]
        self.assertEqual([(error["code"], error["column"]) for error in [report["error"], *report["others"]]],
                         [("wrong_type", 15), ("unknown_key", 20), ("missing_key", 28)])


if __name__ == "__main__":
    unittest.main()
