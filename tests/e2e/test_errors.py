"""Wrong input and wrong usage: the exact text, the exit code, and nothing on standard output."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from pathlib import Path

from support import run, with_excerpts

REQUEST = '{"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256}'


class Folder(unittest.TestCase):
    """A test with a scratch folder as working directory of the binary."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def file(self, name: str, text: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)


class Input(Folder):
    def refused(self, text: str | bytes, stderr: str, rc: int = 3, command: tuple[str, ...] = ("recommend",),
                document: str | None = None) -> None:
        """`document` is what the errors stand in; left out, the text."""
        result = run(*command, input=text)
        shown = document or text
        self.assertEqual(result.stderr, with_excerpts(stderr, shown) if isinstance(shown, str) and len(shown) <= 4096 else stderr)
        self.assertEqual(result.rc, rc)
        self.assertEqual(result.stdout, "")

    def test_empty(self) -> None:
        for text in ("", " \n\t "):
            self.refused(text, "tidegate: standard input: error: the input is empty [empty_input]\n"
                               "  fix: pipe a JSON document in, or name a file that holds one\n")

    def test_comments(self) -> None:
        for text, place in (('// no\n{"waves": []}', "1:1"), ('{"waves": [], /* no */ "budget_bytes": 1}', "1:15"),
                            ('{"waves": [],\n# no\n"budget_bytes": 1}', "2:1")):
            result = run("plan", input=text)
            self.assertEqual(result.rc, 3)
            self.assertTrue(result.stderr.startswith(f"tidegate: standard input:{place}: error: not JSON: "), result.stderr)
            self.assertTrue(result.stderr.endswith("^\n  fix: JSON has no comments: remove it\n"), result.stderr)

    def test_utf_16(self) -> None:
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            result = run("plan", input='{"waves": [], "budget_bytes": 1}'.encode(encoding))
            self.assertEqual(result, (3, "", "tidegate: standard input:1:1: error: not JSON: the text is UTF-16 "
                                             "[syntax_error]\n  fix: save the file as UTF-8\n"))

    def test_text_behind_a_document(self) -> None:
        result = run("run", "--dry-run", input="{}\n{}")
        self.assertEqual(result, (3, "", "tidegate: standard input:2:1: error: not JSON: the document root must not be "
                                         'followed by other values at "{}" [syntax_error]\n'
                                         "  2 | {}\n"
                                         "    | ^\n"
                                         "  fix: remove the text after the document; commands with --stream take "
                                         "several, one per line\n"))

    def test_duplicate_key(self) -> None:
        self.refused(REQUEST[:-1] + ',\n "queue_len": 2}',
                     'tidegate: standard input:2:2: error: duplicate key "queue_len" [duplicate_key]\n'
                     "  at: /queue_len\n"
                     "  fix: keep one of the two values\n")

    def test_not_a_number(self) -> None:
        self.refused('{"queue_len": NaN}',
                     'tidegate: standard input:1:15: error: not JSON: invalid value at "NaN}" [syntax_error]\n'
                     "  fix: JSON has no NaN and no infinity: give a finite number or leave the key out\n")

    def test_two_to_the_64th(self) -> None:
        self.refused('{"requeue_count": 18446744073709551616, ' + REQUEST[1:],
                     "tidegate: standard input:1:19: error: 18446744073709551616 is outside the range 0 to "
                     "18446744073709551615 [out_of_range]\n"
                     "  at: /requeue_count\n"
                     "  fix: give an integer from 0 to 18446744073709551615\n")

    def test_unknown_key(self) -> None:
        self.refused(REQUEST.replace("queue_len", "quue_len"), # which is not missing then
                     'tidegate: standard input:1:2: error: unknown key "quue_len" [unknown_key]\n'
                     "  at: /quue_len\n"
                     '  fix: did you mean "queue_len"?\n')

    def test_another_type(self) -> None:
        """A document that says no kind and is of another type: said once, with the command that takes it."""
        dag = ("wave_dag", '{"waves": [], "budget_bytes": 1}', "plan")
        program = ("wave_program", '{"buffers": {}, "ops": {}, "waves": []}', "run")
        frontier = ("frontier_program", '{"graph": {"file": "a.mtx"}, "algorithm": "bfs", "outputs": {}}', "run")
        request = ("launch_request", REQUEST, "recommend")
        lifetimes = ("buffer_lifetimes", '{"buffers": []}', "arena")
        for command, wanted, others in ((["run"], "wave_program", (dag, request, lifetimes)),
                                        (["tune", "measure"], "wave_program", (dag, request)),
                                        (["plan"], "wave_dag", (frontier, request, lifetimes)),
                                        (["recommend"], "launch_request", (dag, program, frontier)),
                                        (["arena"], "buffer_lifetimes", (dag, program)),
                                        (["check", "wave_dag"], "wave_dag", (program,))):
            for kind, document, takes in others:
                result = run(*command, input=document)
                self.assertEqual(result.rc, 3)
                self.assertEqual(result.stderr, f"tidegate: standard input:1:1: error: this has the keys of {kind}, "
                                                f"not of {wanted} [wrong_kind]\n"
                                                f"  1 | {document[:60]}{'…' if len(document) > 60 else ''}\n    | ^\n"
                                                f"  fix: `tidegate {takes}` takes it\n")
        self.refused('{"kind": "wave_dag", "waves": []}',
                     'tidegate: standard input:1:10: error: this is a "wave_dag", not a wave_program [wrong_kind]\n'
                     "  at: /kind\n"
                     "  fix: `tidegate plan` takes it\n", command=("run",))

    def test_all_at_once(self) -> None:
        """Each error with its place, in the order of the document."""
        self.refused('{"queue_len": -1,\n "top": {"a": [1, 2]}, "policy": {"sizing": []},\n "max_workgroup_size_x": 1.5}',
                     "tidegate: standard input:1:15: error: -1 is outside the range 0 to 4294967295 [out_of_range]\n"
                     "  at: /queue_len\n"
                     "  fix: give an integer from 0 to 4294967295\n"
                     'tidegate: standard input:2:2: error: unknown key "top" [unknown_key]\n'
                     "  at: /top\n"
                     "  fix: remove it; `tidegate schema launch_request --format table` lists the known keys\n"
                     "tidegate: standard input:2:45: error: expected an object, got an array [wrong_type]\n"
                     "  at: /policy/sizing\n"
                     '  fix: give an object such as {"default_worker_count": …}\n'
                     "tidegate: standard input:3:26: error: 1.5 is not written as an integer [not_an_integer]\n"
                     "  at: /max_workgroup_size_x\n"
                     "  fix: give an integer from 0 to 4294967295\n"
                     'tidegate: standard input:3:29: error: missing key "requested_worker_groups" [missing_key]\n'
                     "  fix: add it\n")

    def test_more_than_a_hundred(self) -> None:
        result = run("tune", "choose", input='{"candidates": [' + "null, " * 200 + '1], "costs": [], "current": 1}')
        self.assertEqual(result.stderr.count("[wrong_type]"), 100)
        self.assertTrue(result.stderr.endswith("tidegate: there may be more errors: these are told at once\n"))

    def test_ten_thousand_nested_arrays(self) -> None:
        self.refused("[" * 10_000 + "]" * 10_000,
                     "tidegate: standard input:1:65: error: nesting deeper than 64 levels [too_deep]\n"
                     "  fix: no document of tidegate nests that deep; check that this is the right file\n")

    def test_garbage(self) -> None:
        """100 MB that are no JSON are refused at their first byte."""
        block = bytes(range(255, 127, -1)) * 8192
        path = self.folder / "garbage"
        with path.open("wb") as file:
            for _ in range(100):
                file.write(block)
        self.assertGreater(path.stat().st_size, 100_000_000)
        shown = "".join(f"\\x{byte:02x}" for byte in range(255, 243, -1))
        self.refused(b"", f'tidegate: {path}:1:1: error: not JSON: invalid value at "{shown}" [syntax_error]\n'
                          "  fix: correct the JSON at this place\n", command=("recommend", str(path)))

    def test_negative_answer(self) -> None:
        self.refused(REQUEST[:-1] + ', "device_memory_budget_bytes": 1000}',
                     "tidegate: standard input:1:110: error: the launch needs 16384 bytes at its peak and the device memory "
                     "budget is 1000 bytes [device_out_of_memory]\n"
                     "  at: /device_memory_budget_bytes\n"
                     "  fix: raise device_memory_budget_bytes, or lower requested_hit_capacity, queue_len or "
                     "resident_device_bytes\n", rc=1)

    def test_policy_file(self) -> None:
        policy = self.file("policy.json", '{"min_hit_capacity": "many"}')
        self.refused(REQUEST, f"tidegate: {policy}:1:22: error: expected an integer from 0 to 4294967295, got a string "
                              "[wrong_type]\n"
                              "  at: /min_hit_capacity\n"
                              "  fix: give an integer from 0 to 4294967295\n",
                     command=("recommend", "--policy", policy), document='{"min_hit_capacity": "many"}')

    def test_json(self) -> None:
        result = run("recommend", "--errors", "json", input=REQUEST[:-1] + ', "device_memory_budget_bytes": 1000}')
        self.assertEqual(result.rc, 1)
        error = json.loads(result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertEqual({key: error[key] for key in ("code", "requested", "available", "pointer")},
                         {"code": "device_out_of_memory", "requested": 16384, "available": 1000,
                          "pointer": "/device_memory_budget_bytes"})


class Files(Folder):
    def test_missing_input(self) -> None:
        result = run("recommend", str(self.folder / "none.json"))
        self.assertEqual(result.rc, 3)
        self.assertEqual(result.stderr,
                         f"tidegate: error: cannot read {self.folder}/none.json: No such file or directory "
                         "[cannot_read]\n"
                         "  fix: name a readable file, or pipe the document in and name no file\n")

    def test_missing_input_as_json(self) -> None:
        missing = str(self.folder / "none.json")
        for arguments in (["recommend"], ["recommend", "--stream"], ["run"], ["plan"], ["arena"], ["tune", "measure"],
                          ["check"], ["check", "graph"], ["recommend", "--policy", missing],
                          ["check", "plan", "--dag", missing]):
            with self.subTest(arguments):
                error = json.loads(run(*arguments, missing, "--errors", "json").stderr)
                self.assertEqual((error["code"], error["source"]), ("cannot_read", missing))

    def test_unwritable_output(self) -> None:
        result = run("recommend", "-o", str(self.folder / "no" / "out.json"), input=REQUEST)
        self.assertEqual(result.rc, 4)
        self.assertEqual(result.stderr,
                         f"tidegate: error: cannot write {self.folder}/no/out.json: No such file or directory "
                         "[cannot_write]\n"
                         "  fix: name a file in a folder that you may write to\n")

    def test_full_disk(self) -> None:
        for arguments in (["recommend"], ["recommend", "--stream"]):
            with open("/dev/full", "wb") as full:
                result = run(*arguments, input=REQUEST, stdout=full)
            self.assertEqual(result.rc, 4)
            self.assertEqual(result.stderr,
                             "tidegate: error: cannot write standard output: No space left on device [cannot_write]\n"
                             "  fix: free some space\n")

    def test_output_is_untouched_after_an_error(self) -> None:
        out = self.file("out.json", "old")
        result = run("recommend", "-o", out, input="{")
        self.assertEqual(result.rc, 3)
        self.assertEqual(Path(out).read_text(), "old")
        self.assertEqual(os.listdir(self.folder), ["out.json"])

    def test_output_is_replaced(self) -> None:
        out = self.file("out.json", "old")
        self.assertEqual(run("recommend", "-o", out, input=REQUEST).rc, 0)
        self.assertEqual(json.loads(Path(out).read_text())["kind"], "launch_recommendation")
        self.assertEqual(os.listdir(self.folder), ["out.json"])


class Usage(unittest.TestCase):
    def refused(self, arguments: list[str], stderr: str) -> None:
        result = run(*arguments, input="")
        self.assertEqual(result.stderr, stderr)
        self.assertEqual(result.rc, 2)
        self.assertEqual(result.stdout, "")

    def test_mistyped_command(self) -> None:
        self.refused(["recomend"], 'tidegate: error: tidegate has no command "recomend" [unknown_command]\n'
                                   '  fix: did you mean "recommend"?\n')
        self.refused(["priority", "drian"],
                     'tidegate: error: tidegate priority has no command "drian" [unknown_command]\n'
                     '  fix: did you mean "drain"?\n')

        self.refused(["recomend", "check"], 'tidegate: error: tidegate has no command "recomend" [unknown_command]\n'
                                            '  fix: did you mean "recommend"?\n')
        self.refused(["check", "launch_requst", "-"],
                     'tidegate: error: unknown document type "launch_requst" [invalid_usage]\n'
                     '  fix: did you mean "launch_request"?\n')

    def test_empty_words(self) -> None:
        self.refused(["recommend", "-o", ""],
                     "tidegate: error: the name of the output file is empty [invalid_usage]\n"
                     "  fix: name a file, or - for standard output\n")
        self.refused(["recommend", ""], "tidegate: error: the name of an input file is empty [invalid_usage]\n"
                                        "  fix: name a file, or - for standard input\n")
        self.refused(["recommend", "--output=", "file"],
                     'tidegate: error: "--output=" has no value [invalid_usage]\n'
                     "  fix: give a value behind the =, or leave the option out\n")

    def test_mistyped_option(self) -> None:
        self.refused(["recommend", "--polcy", "x"],
                     'tidegate: error: tidegate recommend has no option "--polcy" [unknown_option]\n'
                     '  fix: did you mean "--policy"?\n')
        self.refused(["recommend", "--polcy=x"],
                     'tidegate: error: tidegate recommend has no option "--polcy" [unknown_option]\n'
                     '  fix: did you mean "--policy"?\n')

    def test_no_command(self) -> None:
        result = run()
        self.assertEqual(result.rc, 2)
        self.assertIn("tidegate: error: tidegate needs a command: init, run, devices, plan, arena, recommend, check, ", result.stderr)
        self.assertIn("fix: `tidegate --help` shows the usage\n", result.stderr)

    def test_wrong_choice(self) -> None:
        self.refused(["recommend", "--previous-topology", "dense"],
                     'tidegate: error: --previous-topology: "dense" is not one of empty, sparse_frontier, '
                     "hybrid_frontier, dense_frontier, fused_dense or memory_constrained [invalid_usage]\n"
                     '  fix: did you mean "dense_frontier"?\n')
        self.refused(["recommend", "--format", "tabel"],
                     'tidegate: error: --format: "tabel" is not one of json or table [invalid_usage]\n'
                     '  fix: did you mean "table"?\n')
        self.refused(["recommend", "--evidence", "all,topologi"],
                     'tidegate: error: --evidence has no "topologi" [invalid_usage]\n'
                     '  fix: did you mean "topology"?\n')
        self.refused(["recommend", "--evidence", "topology,"],
                     'tidegate: error: --evidence has no "" [invalid_usage]\n'
                     "  fix: give topology, promotion, both with a comma, or all\n")
        self.refused(["recommend", "--stream", "--format", "table"],
                     "tidegate: error: --format table shows one answer, not a stream [invalid_usage]\n"
                     "  fix: leave --stream or --format out\n")

    def test_files_that_would_not_be_what_they_are_called(self) -> None:
        for arguments, option, name, ending in (
                (["plan", "-o"], "--output", "plan.pdf", ".json or .dot or .svg"),
                (["arena", "-o"], "--output", "arena.dot", ".json or .svg"),
                (["run", "-o"], "--output", "report.HTML", ".json"),
                (["run", "--report"], "--report", "report.json", ".html or .htm"),
                (["run", "--trace"], "--trace", "trace.svg", ".json")):
            self.refused([*arguments, f"a.b/{name}"],
                         f'tidegate: error: {option}: "a.b/{name}" would not be what it is called; let its name end '
                         f"in {ending} [invalid_usage]\n"
                         f"  fix: `tidegate {arguments[0]} --help` shows the usage\n")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "a.txt", "a.json", "a.tar.pdf.x"):
                path = Path(folder) / name
                self.assertEqual(run("recommend", "-o", str(path), input=REQUEST).rc, 0)
                self.assertIn("launch_recommendation", path.read_text())

    def test_too_many_files(self) -> None:
        self.refused(["recommend", "a.json", "b.json"],
                     'tidegate: error: tidegate recommend takes no further argument "b.json" [invalid_usage]\n'
                     "  fix: `tidegate recommend --help` shows the usage\n")

    def test_json(self) -> None:
        for arguments in (["--errors", "json", "recomend"], ["recomend", "--errors=json"]):
            result = run(*arguments)
            self.assertEqual(result.rc, 2)
            error = json.loads(result.stderr)
            self.assertEqual((error["code"], error["nearest"]), ("unknown_command", "recommend"))

    def test_unknown_schema(self) -> None:
        result = run("schema", "launch_reqest")
        self.assertEqual(result.rc, 2)
        self.assertEqual(result.stderr,
                         'tidegate: error: unknown document type "launch_reqest" [invalid_usage]\n'
                         '  fix: did you mean "launch_request"?\n')


if __name__ == "__main__":
    unittest.main()
