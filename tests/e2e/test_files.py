"""Files and pipes of real processes: no command writes over what it reads, a program stays in its folder, no run waits for a pipe that
nobody opens, and no name reaches a terminal raw (tests/work/program_files_test.cpp has every kind of file)."""

import copy
import json
import os
import shutil
import subprocess

from support import EXAMPLES, PATIENCE, Document, Programs, Result, binary, buffer, environment, program, run, wave

UNSAFE = [*map(chr, range(0x20)), "\x7f", *map(chr, range(0x80, 0xa0)), *"\u061c\u200e\u200f\u2028\u2029",
          *map(chr, range(0x202a, 0x202f)), *map(chr, range(0x2066, 0x206a))]
OPS = "kernel void twice(global const uint* a, global uint* b) { b[get_global_id(0)] = SPEED * a[get_global_id(0)]; }\n"


class Files(Programs):
    sources = {"inner.h": "#define SPEED 2\n", "ops.cl": '#include "inner.h"\n' + OPS, "a.bin": "\0" * 32}

    def setUp(self) -> None:
        super().setUp()
        self.document = program({"a": buffer(init={"file": "a.bin"}), "b": buffer(output="b.npy"), "c": buffer(output="c.npy")},
                                wave("twice", "a", "b"), wave("twice", "a", "c"))

    def here(self, *args: str) -> Result:
        return run(*args, cwd=self.folder, env=environment())


class Overwriting(Files):
    def test_nothing_is_written_over_what_is_read(self) -> None:
        """Also not by way of another name; and every file stays as it is."""
        os.symlink("ops.cl", self.folder / "link")
        self.document["buffers"]["c"] |= {"output": "link", "raw": True}
        self.written(self.document)
        for example in ("bfs_wave", "launch_policy", "stereo_camera"):
            shutil.copy(EXAMPLES / f"{example}.json", self.folder)
        os.link(self.folder / "launch_policy.json", self.folder / "hard.json")
        before = {path: path.read_bytes() for path in self.folder.iterdir()}
        for args, rc, what in ((["run", "program.json", "--strategy", "launch"], 3, 'the source of op "twice", '),
                               (["recommend", "bfs_wave.json", "--stream", "-o", "./bfs_wave.json"], 2, "the input, "),
                               (["recommend", "bfs_wave.json", "--policy", "launch_policy.json", "-o", "hard.json"], 2, "the policy, "),
                               (["check", "plan", "--dag", "stereo_camera.json", "bfs_wave.json", "-o", "stereo_camera.json"], 2,
                                "the reference of the plans, ")):
            result = self.here(*args)
            self.assertEqual((result.rc, result.stdout), (rc, ""), args)
            self.assertIn(f" would overwrite {what}", result.stderr)
        with open(self.folder / "stereo_camera.json", "rb") as file:
            done = subprocess.run([binary(), "plan", "-o", file.name], stdin=file, capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"-o would overwrite the input, standard input", done.stderr)
        self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir()}, before)


class Pipes(Files):
    """A pipe with a name, whose other end nobody opens: no run waits for it."""

    def setUp(self) -> None:
        super().setUp()
        os.mkfifo(self.folder / "pipe")

    def test_in_place_of_a_file(self) -> None:
        def refused(rc: int, *args: str, text: str = "pipe: it is a named pipe") -> None:
            result = self.here(*args)
            self.assertEqual(result.rc, rc, (args, result.stderr))
            self.assertIn(text, result.stderr)

        buffers, op = self.document["buffers"], self.document["ops"]["twice"]
        for place, key, rc in ((buffers["a"]["init"], "file", 3), (buffers["b"], "output", 4), (op, "source", 3)):
            original = place[key]
            place[key] = "pipe"
            self.written(self.document)
            refused(rc, "run", "program.json", "--strategy", "launch")
            place[key] = original
        self.written(self.document)
        self.file("ops.cl", '#include "pipe"\n' + OPS)
        refused(3, "run", "program.json", text='cannot find the file "pipe" to include')
        self.file("ops.cl", "uint go(global const uint* a, global uint* b, uint i) { b[i] = a[i]; return TIDEGATE_DONE; }\n")
        self.document["ops"] = {"go": {"source": "ops.cl", "queue": True}}
        self.document["waves"] = [{"queue": {"ops": ["go"], "buffers": list(buffers), "file": "pipe"}}]
        self.written(self.document)
        graph = {"graph": {"file": "pipe"}, "algorithm": "bfs", "sources": [0], "outputs": {"levels": "levels.npy"}}
        self.written(graph, "graph.json")
        self.written({**graph, "graph": {"generate": {"grid": {"width": 4, "height": 4}}}, "outputs": {"levels": "pipe"}}, "levels.json")
        for rc, args in ((3, ["run", "program.json"]), (3, ["run", "graph.json"]), (4, ["run", "levels.json"]), (3, ["init", "pipe"])):
            refused(rc, *args)

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
                                  capture_output=True, check=False, timeout=PATIENCE, text=True)
            self.assertEqual((done.stdout, done.stderr), (direct.stdout, ""), script)


class Outside(Files):
    def test_a_program_stays_in_its_folder(self) -> None:
        """Wherever a link leads; standard input has its files in the current folder."""
        for name in ("home", "outside"):
            (self.folder / name).mkdir()
            for file in self.sources:
                shutil.copy(self.folder / file, self.folder / name)
        os.symlink("../outside", self.folder / "home" / "link")
        os.symlink("../outside/new.npy", self.folder / "home" / "dangling.npy")
        buffers, op = self.document["buffers"], self.document["ops"]["twice"]
        for place, key, path in ((buffers["a"]["init"], "file", "link/a.bin"), (buffers["b"], "output", "dangling.npy"),
                                 (op, "source", "link/ops.cl")):
            original = place[key]
            place[key] = path
            file = self.written(self.document, "home/program.json")
            for args, input_, folder in (([file], None, self.folder), (["-"], json.dumps(self.document), self.folder / "home")):
                for rc, allowed in ((3, []), (0, ["--allow-outside"])):
                    result = run("run", *args, "--dry-run", *allowed, input=input_, cwd=folder)
                    self.assertEqual((result.rc, "[outside_folder]" in result.stderr), (rc, rc == 3), (path, result.stderr))
            place[key] = original

    def test_a_name_of_the_document_is_no_stream(self) -> None:
        self.document["buffers"]["b"]["output"] = "-"
        self.assertEqual(self.here("run", self.written(self.document)).rc, 0)
        self.assertEqual((self.folder / "-").stat().st_size, 32)


class Terminals(Files):
    def test_names_everywhere(self) -> None:
        """Names with escapes: shown escaped to people, exact in JSON."""
        name = "x\x1b]0;title\x07\n  fix: rm"
        for change in (lambda d: d["waves"][0].update(op=name), lambda d: d["buffers"].update({name: {"count": 0}}),
                       lambda d: d["ops"].update({name: {"source": name}}), lambda d: d.update({name: 1}),
                       lambda d: d["waves"][0].update(name=name) or d["waves"][1].update(name=name)):
            document: Document = copy.deepcopy(self.document)
            change(document)
            path = self.written(document)
            for words in (["run", path, "--dry-run"], ["plan", path], ["check", "wave_program", path, "--format", "table"]):
                for errors in ("text", "json"):
                    result = run(*words, "--errors", errors)
                    for line in (result.stdout + result.stderr).split("\n"):
                        self.assertFalse([c for c in line if c in UNSAFE], repr(line))
                    self.assertNotIn("\n  fix: rm", result.stderr)
