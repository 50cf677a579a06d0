"""Files: no command writes over what it reads, a program stays in its folder, and no name reaches a terminal raw."""

from __future__ import annotations

import copy
import functools
import json
import os
import shutil
import subprocess
import unittest

from support import EXAMPLES, Document, Result, binary, run
from test_run import Programs, environment

UNSAFE = [*map(chr, range(0x20)), "\x7f", *map(chr, range(0x80, 0xa0)), *"\u061c\u200e\u200f\u2028\u2029",
          *map(chr, range(0x202a, 0x202f)), *map(chr, range(0x2066, 0x206a))]


OPS = """kernel void twice(global const uint* a, global uint* b, uint n) {
  size_t i = get_global_id(0);
  if (i < n) b[i] = SPEED * 2u * a[i];
}
"""
PROGRAM: Document = {
    "buffers": {"a": {"type": "u32", "count": 8, "init": {"file": "a.bin"}},
                "b": {"type": "u32", "count": 8, "output": "b.npy"},
                "c": {"type": "u32", "count": 8, "output": "c.npy"}},
    "ops": {"twice": {"source": "ops.cl"}},
    "waves": [{"op": "twice", "global_size": [8], "local_size": [4],
               "args": [{"buffer": "a"}, {"buffer": name}, {"u32": 8}]} for name in "bc"]}


class Files(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("inner.h", "#define SPEED 1\n")
        self.file("ops.cl", '#include "inner.h"\n' + OPS)
        self.document = copy.deepcopy(PROGRAM)

    def refused(self, message: str, pointer: str | None, *args: str, document: Document | None = None,
                rc: int = 3, code: str = "invalid_program") -> None:
        """The run is refused before anything is read back or written: every file stays as it is."""
        self.file("program.json", json.dumps(document or self.document))
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        result = run("run", str(self.folder / "program.json"), *args, "--errors", "json", env=environment())
        error = json.loads(result.stderr)
        self.assertEqual((result.rc, result.stdout, error["code"], error.get("pointer")), (rc, "", code, pointer), error)
        self.assertEqual(error["message"].replace(str(self.folder), "FOLDER"), message)
        self.assertTrue(error["fix"])
        self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}, before)

    def here(self, *args: str, folder: str = ".") -> Result:
        before = os.getcwd()
        os.chdir(self.folder / folder)
        try:
            return run(*args, env=environment())
        finally:
            os.chdir(before)


class Overwriting(Files):
    def setUp(self) -> None:
        super().setUp()
        self.file("a.bin", bytes(32))
        os.symlink("ops.cl", self.folder / "link")
        os.link(self.folder / "inner.h", self.folder / "hard")
        os.symlink(".", self.folder / "here")

    def test_output_of_a_buffer(self) -> None:
        self.document["buffers"]["c"]["raw"] = True  # any name
        for output, what in (("ops.cl", 'the source of op "twice", FOLDER/ops.cl'),
                             ("./here/../" + self.folder.name + "/ops.cl", 'the source of op "twice", FOLDER/ops.cl'),
                             ("link", 'the source of op "twice", FOLDER/ops.cl'),
                             ("inner.h", "an included file, FOLDER/inner.h"),
                             ("hard", "an included file, FOLDER/inner.h"),
                             ("here/a.bin", 'the input of buffer "a", FOLDER/a.bin'),
                             ("program.json", "the program, FOLDER/program.json"),
                             ("here/b.npy", 'the output of buffer "b", FOLDER/b.npy')):
            self.document["buffers"]["c"]["output"] = output
            self.refused(f'the output of buffer "c" would overwrite {what}', "/buffers/c/output", "--dry-run")
        self.refused(f'the output of buffer "c" would overwrite {what}', "/buffers/c/output", "--strategy", "launch")

    def test_command_line(self) -> None:
        planned = run("plan", str(self.file("program.json", json.dumps(PROGRAM))))
        self.assertEqual((planned.rc, planned.stderr), (0, ""))
        plan = str(self.file("plan.json", planned.stdout))
        for option in ("-o", "--emit-kernel"):
            for file, what in (("ops.cl", 'the source of op "twice"'), ("inner.h", "an included file"),
                               ("a.bin", 'the input of buffer "a"'), ("program.json", "the program"),
                               ("plan.json", "the plan")):
                self.refused(f"{option} would overwrite {what}, FOLDER/{file}", None, option, str(self.folder / file),
                             "--set", f"plan={plan}", "--dry-run", rc=2, code="invalid_usage")
        self.refused("--emit-kernel would overwrite -o, FOLDER/new", None, "-o", str(self.folder / "new"),
                     "--emit-kernel", str(self.folder / "new"), "--dry-run", rc=2, code="invalid_usage")
        self.refused('the output of buffer "b" would overwrite -o, FOLDER/b.npy', "/buffers/b/output",
                     "-o", str(self.folder / "b.npy"), "--dry-run")

    def test_a_missing_folder_is_not_normalised_away(self) -> None:
        """"nosuch/../ops.cl" is no file, whatever lies at "ops.cl"."""
        no_file = "cannot write FOLDER/nosuch/../ops.cl: No such file or directory"
        self.document["buffers"]["c"] |= {"output": "nosuch/../ops.cl", "raw": True}
        for args in (("--dry-run",), ("--verify", "--strategy", "launch")):
            self.refused(no_file, "/buffers/c/output", *args, rc=4, code="cannot_write")
        self.file("page.html", "precious")
        for option, name in (("-o", "plan.json"), ("--emit-kernel", "ops.cl"), ("--trace", "program.json"), ("--report", "page.html")):
            self.refused(f"cannot write FOLDER/nosuch/../{name}: No such file or directory", None, option,
                         f"{self.folder}/nosuch/../{name}", "--dry-run", rc=4, code="cannot_write", document=PROGRAM)

    def test_other_commands(self) -> None:
        inputs = {"request.json": "bfs_wave", "policy.json": "launch_policy", "dag.json": "stereo_camera",
                  "buffers.json": "stereo_buffers", "accounting.json": "requeue_accounting",
                  "costs.json": "measured_costs"}
        for name, example in inputs.items():
            shutil.copy(EXAMPLES / f"{example}.json", self.folder / name)
            os.symlink(name, self.folder / f"link_to_{name}")
        document = "the input"
        for args, output, what in (
                (["recommend", "request.json"], "request.json", document),
                (["recommend", "request.json", "--stream"], "request.json", document),
                (["recommend", "request.json", "--format", "table"], "./request.json", document),
                (["recommend", "request.json", "--policy", "policy.json"], "policy.json", "the policy"),
                (["plan", "dag.json"], "link_to_dag.json", document),
                (["plan", "link_to_dag.json"], "dag.json", document),
                (["plan", "dag.json", "--format", "svg"], "dag.json", document),
                (["arena", "buffers.json"], "buffers.json", document),
                (["priority", "drain", "accounting.json"], "accounting.json", document),
                (["tune", "choose", "costs.json"], "costs.json", document),
                (["check", "launch_request", "request.json"], "request.json", "a document that is checked"),
                (["check", "plan", "--dag", "dag.json", "plan.json"], "dag.json", "the reference of the plans")):
            before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
            result = self.here(*args, "-o", output)
            self.assertEqual((result.rc, result.stdout), (2, ""), args)
            self.assertIn(f"error: -o would overwrite {what}, ", result.stderr)
            self.assertIn("[invalid_usage]\n  fix: name another file\n", result.stderr)
            self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}, before)

    def test_standard_input_is_a_file_too(self) -> None:
        path = shutil.copy(EXAMPLES / "stereo_camera.json", self.folder)
        with open(path, "rb") as file:
            done = subprocess.run([binary(), "plan", "-o", path], stdin=file, capture_output=True,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"-o would overwrite the input, standard input", done.stderr)


class Pipes(Files):
    """A pipe with a name, whose other end nobody opens: no run waits for it."""

    def setUp(self) -> None:
        super().setUp()
        self.file("a.bin", bytes(32))
        os.mkfifo(self.folder / "pipe")

    def test_in_a_program(self) -> None:
        buffers, op = self.document["buffers"], self.document["ops"]["twice"]
        for place, key, pointer, verb in ((buffers["a"]["init"], "file", "/buffers/a/init/file", "read"),
                                          (buffers["b"], "output", "/buffers/b/output", "write"),
                                          (op, "source", "/ops/twice/source", "read")):
            original = place[key]
            place[key] = "pipe"
            self.refused(f"cannot {verb} FOLDER/pipe: it is a named pipe", pointer, "--strategy", "launch",
                         rc=4 if verb == "write" else 3, code=f"cannot_{verb}")
            place[key] = original
        self.file("ops.cl", '#include "pipe"\n' + OPS)
        result = self.here("run", "program.json")
        self.assertEqual(result.rc, 3)
        self.assertIn("pipe: it is a named pipe", result.stderr)

    def test_elsewhere(self) -> None:
        self.document["ops"] = {"go": {"source": "ops.cl", "queue": True}}
        self.document["waves"] = [{"queue": {"ops": list(self.document["ops"]), "buffers": list(self.document["buffers"]), "file": "pipe"}}]
        self.file("ops.cl", "uint go(global const uint* a, global uint* b, uint i) { b[i] = a[i]; return TIDEGATE_DONE; }\n")
        self.file("program.json", json.dumps(self.document))
        graph = {"graph": {"file": "pipe"}, "algorithm": "bfs", "sources": [0], "outputs": {"levels": "levels.npy"}}
        self.file("graph.json", json.dumps(graph))
        self.file("levels.json", json.dumps({**graph, "graph": {"generate": {"grid": {"width": 4, "height": 4}}},
                                             "outputs": {"levels": "pipe"}}))
        for args, rc in ((["run", "program.json"], 3), (["run", "graph.json"], 3), (["run", "levels.json"], 4),
                         (["check", "graph", "pipe"], 3), (["init", "pipe"], 3)):
            result = self.here(*args)
            self.assertEqual(result.rc, rc, (args, result.stderr))
            self.assertIn("pipe: it is a named pipe", result.stderr)

    def test_documents_may_come_and_go_through_pipes(self) -> None:
        shutil.copy(EXAMPLES / "stereo_camera.json", self.folder)
        result = self.here("plan", "stereo_camera.json", "-o", "pipe")
        self.assertEqual((result.rc, result.stderr),
                         (4, "tidegate: error: cannot write pipe: no process reads from this pipe [cannot_write]\n"
                             "  fix: start the reader first\n"))
        direct = self.here("plan", "stereo_camera.json")
        self.assertEqual(direct.rc, 0)
        for script in ('cat pipe & "$T" plan stereo_camera.json -o pipe; wait',
                       'cat stereo_camera.json > pipe & "$T" plan pipe; wait',
                       '"$T" plan <(cat stereo_camera.json) -o >(cat); wait $!',
                       'cat stereo_camera.json | "$T" plan /dev/stdin -o /dev/stdout'):
            done = subprocess.run(["bash", "-c", script], cwd=self.folder, env={**os.environ, "T": binary()},
                                  capture_output=True, check=False, timeout=60, text=True)
            self.assertEqual((done.stdout, done.stderr), (direct.stdout, ""), script)


class Outside(Files):
    """self.folder / "home" holds the program, self.folder / "outside" what it should not reach."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("home", "outside"):
            (self.folder / name).mkdir()
        for name in ("ops.cl", "inner.h"):
            shutil.copy(self.folder / name, self.folder / "home")
            shutil.copy(self.folder / name, self.folder / "outside")
        (self.folder / "home" / "a.bin").write_bytes(bytes(32))
        (self.folder / "outside" / "a.bin").write_bytes(bytes(32))
        os.symlink("../outside", self.folder / "home" / "link")
        os.symlink("../outside/new.npy", self.folder / "home" / "dangling.npy")

    def result_of(self, *args: str, command: str = "run", input: str | None = None) -> Result:
        (self.folder / "home" / "program.json").write_text(json.dumps(self.document))
        return run(command, *(["-"] if input else [str(self.folder / "home" / "program.json")]), *args, input=input)

    def test_paths_of_the_document(self) -> None:
        buffers = self.document["buffers"]
        for place, key, path, pointer in (
                (buffers["a"]["init"], "file", "../outside/a.bin", "/buffers/a/init/file"),
                (buffers["a"]["init"], "file", "link/a.bin", "/buffers/a/init/file"),
                (buffers["a"]["init"], "file", "/etc/shadow", "/buffers/a/init/file"),
                (buffers["b"], "output", "../b.npy", "/buffers/b/output"),
                (buffers["b"], "output", "dangling.npy", "/buffers/b/output"),
                (buffers["b"], "output", f"{self.folder}/b.npy", "/buffers/b/output"),
                (self.document["ops"]["twice"], "source", "link/ops.cl", "/ops/twice/source")):
            original = place[key]
            place[key] = path
            for command in ("run", "plan"):
                result = self.result_of(*(("--dry-run",) if command == "run" else ()), "--errors", "json", command=command)
                error = json.loads(result.stderr)
                self.assertEqual((result.rc, error["code"], error["pointer"]), (3, "outside_folder", pointer), path)
                self.assertIn(path, error["message"])
                self.assertIn(f"outside the program's folder, {self.folder}/home", error["message"])
                self.assertIn("--allow-outside", error["fix"])
                if not path.startswith("/etc"):
                    allowed = self.result_of(*(("--dry-run",) if command == "run" else ()), "--allow-outside",
                                             command=command)
                    self.assertEqual((allowed.rc, allowed.stderr), (0, ""))
            place[key] = original
        self.assertEqual(self.result_of("--dry-run").rc, 0)

    def test_a_name_of_the_document_is_neither_empty_nor_a_stream(self) -> None:
        wave = copy.deepcopy(self.document)
        wave["buffers"]["b"]["expect"] = {"file": "a.bin"}
        graph = {"graph": {"file": "a.mtx"}, "sources": [0], "outputs": {"values": "values.npy"}, "algorithm":
                 {"source": "own.cl", "value": "u32", "merge": "min", "initial": "initial.npy"}}
        for document, pointer in ((wave, "/ops/twice/source"), (wave, "/buffers/a/init/file"), (wave, "/buffers/b/output"),
                                  (wave, "/buffers/b/expect/file"), (graph, "/graph/file"), (graph, "/algorithm/source"),
                                  (graph, "/algorithm/initial"), (graph, "/outputs/values")):
            self.document = copy.deepcopy(document)
            *places, key = pointer[1:].split("/")
            functools.reduce(lambda part, place: part[place], places, self.document)[key] = ""
            result = self.result_of("--errors", "json")
            error = json.loads(result.stderr.splitlines()[0])
            self.assertEqual((result.rc, error["code"], error.get("pointer"), "line" in error),
                             (3, "invalid_program", pointer, True), error)
            self.assertRegex(error["message"], "the name of (a file|the source) is empty")
            here = self.here("run", "program.json", "--errors", "json", folder="home")
            self.assertEqual((here.rc, json.loads(here.stderr.splitlines()[0])["message"]), (3, error["message"]))
        self.document = copy.deepcopy(PROGRAM)
        self.document["buffers"]["b"]["output"] = "-"
        (self.folder / "home" / "program.json").write_text(json.dumps(self.document))
        self.assertEqual(self.here("run", "program.json", folder="home").rc, 0)
        self.assertEqual((self.folder / "home" / "-").stat().st_size, 32)

    def test_includes(self) -> None:
        for text, options in (('#include "link/inner.h"\n', ""), ('#include "../outside/inner.h"\n', ""),
                              (f'#include "{self.folder}/outside/inner.h"\n', ""), ("#include <inner.h>\n", "-I../outside")):
            (self.folder / "home" / "ops.cl").write_text(text + OPS)
            self.document["ops"]["twice"]["options"] = options
            result = self.result_of("--dry-run", "--errors", "json")
            error = json.loads(result.stderr)
            self.assertEqual((result.rc, error["code"], error["source"], error["line"]),
                             (3, "outside_folder", f"{self.folder}/home/ops.cl", 1), text)
            self.assertIn("--allow-outside", error["fix"])
            self.assertEqual(self.result_of("--dry-run", "--allow-outside").rc, 0)

    def test_standard_input_resolves_paths_in_the_current_folder(self) -> None:
        before = os.getcwd()
        os.chdir(self.folder / "home")
        try:
            self.assertEqual(self.result_of("--dry-run", input=json.dumps(self.document)).rc, 0)
            self.document["buffers"]["b"]["output"] = "../b.npy"
            refused = self.result_of("--dry-run", input=json.dumps(self.document))
        finally:
            os.chdir(before)
        self.assertEqual(refused.rc, 3)
        self.assertIn("[outside_folder]", refused.stderr)


class Terminals(Files):
    """Names with escapes: shown escaped to people, exact in JSON."""

    def safe(self, text: str) -> None:
        for line in text.split("\n"):
            self.assertFalse([c for c in line if c in UNSAFE], repr(line))

    def test_names_everywhere(self) -> None:
        name = "x\x1b]0;title\x07\n  fix: rm"
        for change in (lambda d: d["waves"][0].update(op=name), lambda d: d["buffers"].update({name: {"count": 0}}),
                       lambda d: d["ops"].update({name: {"source": name}}), lambda d: d.update({name: 1}),
                       lambda d: d["waves"][0].update(name=name) or d["waves"][1].update(name=name)):
            document = copy.deepcopy(self.document)
            change(document)
            for command in ("run", "plan", "check"):
                self.file("program.json", json.dumps(document))
                args = {"run": ["--dry-run"], "plan": [], "check": ["--format", "table"]}[command]
                words = [command, *(["wave_program"] if command == "check" else []), str(self.folder / "program.json")]
                for errors in ("text", "json"):
                    result = run(*words, *args, "--errors", errors)
                    self.safe(result.stderr)
                    self.safe(result.stdout)
                    self.assertNotIn("\n  fix: rm", result.stderr)

if __name__ == "__main__":
    unittest.main()
