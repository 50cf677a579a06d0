"""tidegate check: verdicts, several files, summaries, exit codes."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import EXAMPLES, REPOSITORY, run, unplaced, with_excerpts

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
        self.assertIn('the document has no "kind" [missing_kind]', unnamed.stderr)
        recognised = run("check", input='{"queue_len": 1}')
        self.assertIn('error: missing keys "requested_worker_groups", "max_workgroup_size_x" [missing_key]', recognised.stderr)

    def test_incomplete_evidence(self) -> None:
        policy = self.file("policy.json", b'{"jit_queue_len_threshold": 0}')
        answer = run("recommend", "--evidence", "all", "--policy", policy, input=REQUEST)
        self.assertEqual(json.loads(answer.stdout)["evidence"]["complete"], {"topology": True, "promotion": False})
        result = run("check", input=answer.stdout)
        self.assertEqual(result.rc, 1)
        self.assertEqual(result.stderr, with_excerpts(
            "tidegate: standard input:36:34: error: the promotion evidence is not complete: "
            "jit_queue_len_threshold is not as it must be [incomplete_evidence]\n"
            "  at: /evidence/promotion/jit_queue_len_threshold\n"
            "  fix: `tidegate schema launch_recommendation --format table` says what completes each field\n",
            answer.stdout))

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
        self.assertEqual(result.stderr, with_excerpts((
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
            '  fix: did you mean "changed"?\n'), Path(program).read_text()))
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
        warning, = json.loads(warned.stdout)["documents"][0]["warnings"]
        as_json = run("check", path, "--errors", "json")
        self.assertEqual([json.loads(line) for line in as_json.stderr.splitlines()], [{"warning": warning, "source": path}])
        quiet = run("check", "-q", path)
        self.assertEqual((quiet.rc, quiet.stdout, quiet.stderr), (0, warned.stdout, ""))

    def test_all_errors_of_a_dag(self) -> None:
        waves = [{"name": name, "frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 0} for name in "abc"]
        dag = {"resident_graph_bytes": 0, "budget_bytes": 10, "readback_bytes": 1, "waves": waves,
               "dependencies": [{"before": "a", "after": "b"}, {"before": "b", "after": "c"},
                                {"before": "c", "after": "a"}]}
        cycle = run("check", self.file("dag.json", json.dumps(dag).encode()))
        self.assertEqual(cycle.rc, 1)
        self.assertIn("[cycle]\n  at: /dependencies/2\n", unplaced(cycle.stderr))
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
                              ("invalid_wave", "/dependencies/2/after", path),
                              ("invalid_wave", "/dependencies/3/before", path)])

    def test_meaning_is_told_beside_form(self) -> None:
        """A mistake of form hides no mistake of meaning, and nothing is told that follows from it."""
        self.file("k.cl", b"kernel void add(global int* a, global const int* b, int n) {}\n")
        program = self.file("program.json", b"""{
  "buffers": {"a": {"type": "int", "count": 64},
              "b": {"type": "i32", "cuont": 64},
              "c": {"type": "i32", "count": 64, "init": {"fill": 1, "iota": {}}}},
  "ops": {"add": {"source": "k.cl"}, "sub": {"source": "k.cl"}, "mul": {"source": 1}},
  "waves": [
    {"name": "one", "op": "add", "globl_size": [64], "args": [{"buffer": "a"}, {"bufer": "b"}, {"f32": 1}]},
    {"op": "add", "global_size": [64, 64, 64, 64], "args": [{"buffer": "a"}, {"buffer": "d"}]},
    {"op": "mul", "global_size": [64], "args": [{"buffer": "e"}]},
    17
  ],
  "dependencies": [{"before": "one", "after": 4}, {"before": 3, "after": 3}],
  "swap": [["a", "b"], ["c", "f"]],
  "untill": {"buffer": "a"}
}""")
        for command in (["check"], ["plan"], ["run", "--dry-run"]):
            result = run(*command, program, "--errors", "json")
            self.assertEqual(result.rc, 3)
            errors = [json.loads(line) for line in result.stderr.splitlines()]
            self.assertEqual([(error["code"], error["pointer"]) for error in errors], [
                ("unknown_name", "/buffers/a/type"),
                ("unknown_key", "/buffers/b/cuont"),
                ("invalid_program", "/buffers/c/init"),
                ("unknown_name", "/ops/sub"),
                ("wrong_type", "/ops/mul/source"),
                ("unknown_key", "/waves/0/globl_size"),
                ("unknown_key", "/waves/0/args/1/bufer"),
                ("argument_mismatch", "/waves/0/args/2"),
                ("invalid_program", "/waves/1/global_size"),
                ("argument_mismatch", "/waves/1/args"),
                ("unknown_name", "/waves/1/args/1/buffer"),
                ("unknown_name", "/waves/2/args/0/buffer"),
                ("wrong_type", "/waves/3"),
                ("invalid_wave", "/dependencies/0/after"),
                ("self_dependency", "/dependencies/1"),
                ("unknown_name", "/swap/1/1"),
                ("unknown_key", "/untill")])
            places = [(error["line"], error["column"]) for error in errors]
            self.assertEqual(places, sorted(places))

    def test_meaning_beside_form_in_other_documents(self) -> None:
        def told(document: object) -> list[tuple[str, str]]:
            result = run("check", self.file("document.json", json.dumps(document).encode()), "--errors", "json")
            return [(error["code"], error["pointer"]) for error in map(json.loads, result.stderr.splitlines())]

        wave = {"frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 1}
        dag = {"waves": [dict(wave, name="a"), dict(wave, name="b", output_bytes="x"), dict(wave, name="a")],
               "dependencies": [{"before": "a", "after": "b"}, {"before": 0, "after": 9}, {"before": 7}],
               "resident_graph_bytes": 0, "budget_bytes": 100, "readback_bytes": 0}
        self.assertEqual(told(dag), [("wrong_type", "/waves/1/output_bytes"), ("duplicate_name", "/waves/2/name"),
                                     ("invalid_wave", "/dependencies/1/after"), ("missing_key", "/dependencies/2")])
        lifetimes = {"buffers": [{"id": True, "lower": 0, "upper": 1, "size": 1}, {"id": 0, "lower": 4, "upper": 2, "size": 1},
                                 {"id": 0, "lower": 0, "upper": 1, "size": "x"}]}
        self.assertEqual(told(lifetimes), [("wrong_type", "/buffers/0/id"), ("empty_lifetime", "/buffers/1/upper"),
                                           ("duplicate_name", "/buffers/2/id"), ("wrong_type", "/buffers/2/size")])
        graph = {"graph": {"generate": {"grid": {"width": 3, "height": 3}}}, "algorithm": "bfs", "sources": [9, "x", 10],
                 "outputs": {"ranks": "r.npy", "distances": "d.npy"}, "policy": {"sizing": 3}}
        self.assertEqual(told(graph), [("out_of_range", "/sources/0"), ("wrong_type", "/sources/1"),
                                       ("out_of_range", "/sources/2"), ("invalid_program", "/outputs/ranks"),
                                       ("invalid_program", "/outputs/distances"), ("wrong_type", "/policy/sizing")])

    def test_cycles_are_told_beside_other_errors(self) -> None:
        self.file("k.cl", b"kernel void k(global int* a) { a[0] = 1; }\n")
        turns = [{"before": 0, "after": 1}, {"before": 1, "after": 0}]
        wave = {"op": "k", "global_size": [4], "args": [{"buffer": "b"}]}
        program = {"buffers": {"a": {"type": "i32", "count": 4}}, "ops": {"k": {"source": "k.cl"}},
                   "waves": [wave, dict(wave, args=[{"buffer": "a"}])], "dependencies": turns}
        dag = {"waves": [{"name": "x", "frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 1}] * 2, "dependencies": turns,
               "resident_graph_bytes": 0, "budget_bytes": 100, "readback_bytes": 0}
        for document, first in ((program, "/waves/0/args/0/buffer"), (dag, "/waves/1/name")):
            result = run("check", self.file("document.json", json.dumps(document).encode()), "--errors", "json")
            self.assertEqual([(error["code"], error["pointer"]) for error in map(json.loads, result.stderr.splitlines())],
                             [("unknown_name" if document is program else "duplicate_name", first),
                              ("cycle", "/dependencies/1")])

    def test_cycles_are_told_beside_dependencies_that_are_wrong(self) -> None:
        self.file("k.cl", b"kernel void k(global int* a) { a[0] = 1; }\n")
        wrong = [{"before": 2, "after": 2}, {"before": "none", "after": 0}, {"before": 0, "after": 1}, {"before": 7, "after": 0},
                 {"before": 1, "after": 0}]
        program = {"buffers": {"a": {"type": "i32", "count": 4}}, "ops": {"k": {"source": "k.cl"}},
                   "waves": [{"op": "k", "global_size": [4], "args": [{"buffer": "a"}]}] * 3, "dependencies": wrong}
        dag = {"waves": [{"frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 1}] * 3, "dependencies": wrong,
               "resident_graph_bytes": 0, "budget_bytes": 100, "readback_bytes": 0}
        for document in (program, dag):
            result = run("check", self.file("document.json", json.dumps(document).encode()), "--errors", "json")
            self.assertEqual([(error["code"], error["pointer"]) for error in map(json.loads, result.stderr.splitlines())],
                             [("self_dependency", "/dependencies/0"), ("invalid_wave", "/dependencies/1/before"),
                              ("invalid_wave", "/dependencies/3/before"), ("cycle", "/dependencies/4")])

    def test_a_wave_that_is_wrong_is_called_by_its_op(self) -> None:
        self.file("k.cl", b"kernel void k(global int* a) { a[0] = 1; }\n")
        program = {"buffers": {"a": {"type": "i32", "count": 4}}, "ops": {"k": {"source": "k.cl"}},
                   "waves": [{"op": "k", "global_size": [4], "args": []}], "dependencies": [{"before": 0, "after": 0}]}
        result = run("check", self.file("document.json", json.dumps(program).encode()))
        self.assertIn("error: wave 0 (k) depends on itself", result.stderr)

    def test_nothing_is_told_that_follows(self) -> None:
        """Every key and value of the examples wrong in turn: each time only errors of form are told."""
        def mistakes(value: Any, named: frozenset[str], path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], str]]:
            """Places below `value` with what is done there; the keys of objects in `named` are free."""
            found: list[tuple[tuple[Any, ...], str]] = []
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
            for key, item in items:
                here = (*path, key)
                found.append((here, "null"))
                if isinstance(value, dict) and not (path and path[-1] in named):
                    found += [(here, "misspelt"), (here, "renamed")]
                found += mistakes(item, named, here)
            return found

        def changed(document: Any, path: tuple[Any, ...], change: str) -> str:
            copy = json.loads(json.dumps(document))
            holder = copy
            for key in path[:-1]:
                holder = holder[key]
            if change == "null":
                holder[path[-1]] = None
            else:
                holder[path[-1] + "q" if change == "misspelt" else "zz"] = holder.pop(path[-1])
            return json.dumps(copy)

        documents = [("wave_program", path) for path in sorted(EXAMPLES.glob("programs/*/program.json"))]
        documents.append(("wave_program", REPOSITORY / "tests" / "corpus" / "image_filters.json"))
        documents += [("frontier_program", path) for path in sorted(EXAMPLES.glob("graphs/*.json"))]
        documents += [("wave_dag", EXAMPLES / "stereo_camera.json"), ("buffer_lifetimes", EXAMPLES / "stereo_buffers.json")]
        for kind, path in documents:
            folder = self.folder / path.parent.name
            if not folder.exists():
                shutil.copytree(path.parent, folder)
            document = json.loads(path.read_text())
            named = frozenset(("buffers", "images", "ops", "struct") if kind == "wave_program" else ())
            lines = [changed(document, *mistake) for mistake in mistakes(document, named)]
            stream = folder / "wrong.ndjson"
            stream.write_text("\n".join(lines))
            report = json.loads(run("check", kind, "--stream", str(stream)).stdout)
            self.assertEqual(report["checked"], len(lines))
            for line, told in zip(lines, report["documents"]):
                self.assertIn("error", told, line)
                codes = {error["code"] for error in [told["error"], *told.get("others", [])]}
                self.assertLessEqual(codes, {"wrong_type", "unknown_key", "missing_key"}, (path.name, line, told))

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
