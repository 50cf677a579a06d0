"""tidegate run: every kind of mistake in a program gets its exit code, its code, its place and a way out."""

from __future__ import annotations

import copy
import json
import os
import unittest
from collections.abc import Callable

from support import Document, Result, run, unplaced
from test_run import Programs, environment, npy

OPS = """kernel void twice(global const uint* a, global uint* b, uint n) {
  size_t i = get_global_id(0);
  if (i < n) b[i] = 2u * a[i];
}
kernel void summed(global uint* x, local uint* room, float4 weights) {}
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global uint* x) {}
kernel void picture(global uint* x, pipe int numbers) {}
"""

SOUND: Document = {
    "buffers": {"first": {"type": "u32", "count": 8, "init": {"iota": {}}},
                "second": {"type": "u32", "count": 8, "output": "second.npy"},
                "floats": {"type": "f32", "count": 8, "output": "floats.npy"},
                "bytes": {"type": "u8", "count": 6}},
    "ops": {name: {"source": "ops.cl"} for name in ("twice", "summed", "eight", "picture")},
    "waves": [{"name": "one", "op": "twice", "global_size": [8], "local_size": [8],
               "args": [{"buffer": "first"}, {"buffer": "second"}, {"u32": 8}]}]}

Change = Callable[[Document], object]


def at_top(**keys: object) -> Change:
    return lambda program: program.update(keys)


def in_wave(**keys: object) -> Change:
    return lambda program: program["waves"][0].update(keys)


def argument(number: int, given: Document) -> Change:
    return lambda program: program["waves"][0]["args"].__setitem__(number, given)


def in_buffer(**keys: object) -> Change:
    return lambda program: program["buffers"]["first"].update(keys)


def only(op: str, *args: Document, source: str = "ops.cl", options: str = "", local: int = 8) -> Change:
    """A program of one wave: `op` over 8 work-items."""
    return at_top(ops={op: {"source": source, "options": options}},
                  waves=[{"op": op, "global_size": [8], "local_size": [local], "args": list(args)}])


SECOND = {"buffer": "second"}
ON_DEVICE = ("--strategy", "launch")


class Mistakes(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)

    def result_of(self, change: Change, *args: str) -> Result:
        """Without arguments planned only: no device is touched."""
        program = copy.deepcopy(SOUND)
        change(program)
        result = self.run_document(program, *(args or ("--dry-run",)))
        self.assertEqual(result.stdout, "")
        self.assertFalse((self.folder / "second.npy").exists() and not args, "an output in spite of the error")
        return result

    def refused(self, change: Change, text: str, *args: str, rc: int = 3) -> None:
        """`text` is all of standard error, with FOLDER for the program's folder."""
        result = self.result_of(change, *args)
        self.assertEqual(unplaced(result.stderr).replace(str(self.folder), "FOLDER"), text)
        self.assertEqual(result.rc, rc)

    def at(self, change: Change, code: str, pointer: str | None, *parts: str, args: tuple[str, ...] = (),
           rc: int = 3, source: str = "program.json", line: int | None = None) -> None:
        """Code and place of the error; message and fix hold the parts."""
        result = self.result_of(change, *(args or ("--dry-run",)), "--errors", "json")
        error = json.loads(result.stderr)
        self.assertEqual((result.rc, error["code"], error.get("pointer"), error.get("source")),
                         (rc, code, pointer, str(self.folder / source)), result.stderr)
        if line is not None:
            self.assertEqual(error["line"], line, result.stderr)
        for part in parts:
            self.assertIn(part, error["message"] + "\n" + error["fix"])
        self.assertTrue(error["fix"])


class Names(Mistakes):
    def test_buffer(self) -> None:
        self.refused(argument(1, {"buffer": "secund"}),
                     'tidegate: FOLDER/program.json: error: there is no buffer "secund" [unknown_name]\n'
                     "  at: /waves/0/args/1/buffer\n"
                     '  fix: did you mean "second"?\n')

    def test_op(self) -> None:
        self.refused(in_wave(op="twise"),
                     'tidegate: FOLDER/program.json: error: there is no op "twise" [unknown_name]\n'
                     "  at: /waves/0/op\n"
                     '  fix: did you mean "twice"?\n')

    def test_kernel(self) -> None:
        self.refused(lambda program: program["ops"]["twice"].update(kernel="twise"),
                     'tidegate: FOLDER/program.json: error: there is no kernel "twise" in ops.cl [unknown_name]\n'
                     "  at: /ops/twice/kernel\n"
                     '  fix: did you mean "twice"?\n')

    def test_wave(self) -> None:
        self.refused(at_top(dependencies=[{"before": "on", "after": 0}]),
                     'tidegate: FOLDER/program.json: error: there is no wave "on" [invalid_wave]\n'
                     "  at: /dependencies/0/before\n"
                     '  fix: did you mean "one"?\n', rc=1)

    def test_others(self) -> None:
        self.at(at_top(until={"buffer": "secnd"}), "unknown_name", "/until/buffer", '"second"')
        self.at(at_top(swap=[["second", "thrid"]]), "unknown_name", "/swap/0/1", '"thrid"')
        self.at(in_buffer(type="u33"), "unknown_name", "/buffers/first/type", '"u32"')
        self.at(argument(0, {"buffer": "first", "access": "reed"}), "unknown_name", "/waves/0/args/0/access", '"read"')
        self.at(at_top(waves=SOUND["waves"] * 2), "duplicate_name", "/waves/1/name", 'both called "one"')
        self.at(in_buffer(init={"files": "x"}), "unknown_key", "/buffers/first/init/files", '"file"')
        self.at(at_top(policy={"max_worker": 3}), "unknown_key", "/policy/max_worker")

    def test_wave_by_number(self) -> None:
        # Exit code 1, as `tidegate plan` has it.
        self.at(at_top(dependencies=[{"before": 0, "after": 7}]), "invalid_wave", "/dependencies/0/after", "no wave 7",
                rc=1)


class Arguments(Mistakes):
    def test_count(self) -> None:
        self.refused(in_wave(args=[{"buffer": "first"}]),
                     "tidegate: FOLDER/program.json: error: 1 argument given, the kernel takes 3: "
                     "twice(global const uint* a, global uint* b, uint n) [argument_mismatch]\n"
                     "  at: /waves/0/args\n"
                     "  fix: give one argument for each parameter, in their order\n")

    def test_element_type(self) -> None:
        """Any will do, as for clSetKernelArg, if the buffer holds a whole number of them."""
        self.refused(argument(0, {"buffer": "bytes"}),
                     'tidegate: FOLDER/program.json: error: the buffer "bytes" has 6 elements of u8, 6 bytes, the '
                     'kernel\'s parameter is "global const uint* a" with elements of 4 bytes [argument_mismatch]\n'
                     "  at: /waves/0/args/0\n"
                     "  fix: give a buffer of u32, or one that holds a whole number of them\n")

    def test_type_of_a_value(self) -> None:
        self.refused(argument(2, {"i32": 8}),
                     'tidegate: FOLDER/program.json: error: the argument is int, the kernel\'s parameter is "uint n" '
                     "[argument_mismatch]\n"
                     "  at: /waves/0/args/2\n"
                     '  fix: give {"u32": …}\n')

    def test_local_for_a_buffer(self) -> None:
        self.refused(argument(0, {"local_bytes": 8}),
                     "tidegate: FOLDER/program.json: error: the argument is local memory, the kernel's parameter is "
                     '"global const uint* a" [argument_mismatch]\n'
                     "  at: /waves/0/args/0\n"
                     '  fix: give {"buffer": …}\n')

    def test_buffer_for_local(self) -> None:
        self.refused(only("summed", SECOND, {"buffer": "first"}, {"f32": [1, 2, 3, 4]}),
                     'tidegate: FOLDER/program.json: error: the argument is the buffer "first", the kernel\'s '
                     'parameter is "local uint* room" [argument_mismatch]\n'
                     "  at: /waves/0/args/1\n"
                     '  fix: give {"local_bytes": …}\n')

    def test_width(self) -> None:
        self.refused(only("summed", SECOND, {"local_bytes": 8}, {"f32": [1, 2, 3]}),
                     "tidegate: FOLDER/program.json: error: the argument is float3, the kernel's parameter is "
                     '"float4 weights" [argument_mismatch]\n'
                     "  at: /waves/0/args/2\n"
                     '  fix: give {"f32": [… 4 values …]}\n')

    def test_access_of_const(self) -> None:
        self.refused(argument(0, {"buffer": "first", "access": "write"}),
                     "tidegate: FOLDER/program.json: error: the access is write, the kernel's parameter is "
                     '"global const uint* a" [argument_mismatch]\n'
                     "  at: /waves/0/args/0/access\n"
                     '  fix: leave access out, or say "read"\n')

    def test_others(self) -> None:
        self.at(argument(2, {"u32": -1}), "out_of_range", "/waves/0/args/2", "-1 is outside the range of u32")
        self.at(argument(2, {"u32": 8, "i32": 8}), "invalid_program", "/waves/0/args/2", "exactly one value", '{"u32": …}')
        self.at(argument(2, {}), "invalid_program", "/waves/0/args/2", "exactly one value", '"uint n"')
        self.at(argument(2, {"u32": 8, "access": "read"}), "invalid_program", "/waves/0/args/2/access")
        self.at(only("summed", SECOND, {"local_bytes": 0}, {"f32": [1, 2, 3, 4]}), "out_of_range",
                "/waves/0/args/1/local_bytes")


class Shapes(Mistakes):
    def test_dimensions(self) -> None:
        for key, sizes, text in (
                ("global_size", [], "global_size is empty\ngive 1 to 3 sizes"),
                ("global_size", [1, 1, 1, 1], "global_size has 4 dimensions\n"
                                              "an NDRange has 1 to 3: fold the others into them"),
                ("local_size", [1, 1], "local_size has 2 dimensions, global_size has 1\ngive it 1 number"),
                ("global_offset", [], "global_offset has 0 dimensions, global_size has 1\ngive it 1 number")):
            self.at(in_wave(**{key: sizes}), "invalid_program", f"/waves/0/{key}", text)
        self.at(in_wave(rules=1), "wrong_type", "/waves/0/rules",
                "expected an array, got a number\nput it into brackets: [1]")

    def test_sizes(self) -> None:
        self.at(in_wave(global_size=[0]), "out_of_range", "/waves/0/global_size",
                "global_size[0] is 0\ngive a size from 1 on")
        self.at(in_wave(local_size=[0]), "out_of_range", "/waves/0/local_size",
                "local_size[0] is 0\ngive a size from 1 on")
        self.at(in_wave(global_size=[2**32]), "out_of_range", "/waves/0/global_size",
                "global_size[0] is 4294967296, more than 2^32 - 1\ncut the wave into several with global_offset")
        self.at(in_wave(local_size=[2**32]), "out_of_range", "/waves/0/local_size",
                "local_size[0] is 4294967296, more than 2^32 - 1\n"
                "give work-groups of the size that the device takes")
        self.at(in_wave(global_size=[2**20] * 3, local_size=[1] * 3), "out_of_range", "/waves/0/global_size",
                "2^31 - 1 work-groups")

    def test_required_work_group_size(self) -> None:
        self.refused(only("eight", SECOND, local=4),
                     "tidegate: FOLDER/program.json: error: the wave has work-groups of 4 x 1 x 1, the kernel "
                     '"eight" requires 8 x 1 x 1 (reqd_work_group_size) [unsupported_kernel]\n'
                     "  at: /waves/0/local_size\n"
                     "  fix: give the local_size that the kernel requires\n")

    def test_program(self) -> None:
        self.at(at_top(waves=[]), "invalid_program", "/waves")
        self.at(at_top(repeat=0), "out_of_range", "/repeat")
        self.at(in_wave(rules=[3, 32]), "out_of_range", "/waves/0/rules/1")
        self.at(at_top(dependencies="derived"), "wrong_type", "/dependencies", '"derive"')


class Buffers(Mistakes):
    def test_swap(self) -> None:
        self.refused(at_top(swap=[["second", "floats"]]),
                     'tidegate: FOLDER/program.json: error: "second" has 8 elements of u32, "floats" has 8 elements '
                     "of f32 [invalid_program]\n"
                     "  at: /swap/0\n"
                     "  fix: swap two buffers of the same type and count\n")
        self.at(at_top(swap=[["second", "second"]]), "invalid_program", "/swap/0", "with itself")
        self.at(at_top(swap=[["second", "first", "floats"]]), "wrong_length", "/swap/0/2")

    def test_until(self) -> None:
        for value, text in ((-1, "-1 is outside the range of u32"), (1.5, "1.5 is no integer")):
            self.at(at_top(until={"buffer": "second", "equals": value}), "out_of_range", "/until/equals", text)
        self.at(at_top(until={"buffer": "second", "equals": "1"}), "wrong_type", "/until/equals", "got a string")

    def test_init(self) -> None:
        self.refused(in_buffer(init={"fill": 1, "iota": {}}),
                     "tidegate: FOLDER/program.json: error: init needs exactly one of fill, iota, random and file, this one has 2 "
                     "[invalid_program]\n"
                     "  at: /buffers/first/init\n"
                     "  fix: give one of them, or leave init out\n")
        self.at(in_buffer(init={}), "invalid_program", "/buffers/first/init")

    def test_count(self) -> None:
        self.at(in_buffer(count=0), "out_of_range", "/buffers/first/count", "no elements")
        self.at(in_buffer(count=2**63), "out_of_range", "/buffers/first/count", "too many elements")

    def test_values(self) -> None:
        for init in ({"fill": -1}, {"fill": 1.5}, {"iota": {"start": 2**32 - 3}},
                     {"random": {"seed": 1, "low": 5, "high": 5}}):
            self.at(in_buffer(init=init), "out_of_range", "/buffers/first/init", args=ON_DEVICE)

    def test_files(self) -> None:
        place = "/buffers/first/init"
        self.file("other_type.npy", npy("i32", [1] * 8))
        self.file("short.npy", npy("u32", [1] * 7))
        self.file("garbage.npy", b"not an array at all")
        self.file("short.bin", b"123")
        self.file("long.bin", bytes(33))
        for name, *parts in (("other_type.npy", "the array holds i32, the buffer u32"),
                             ("short.npy", "shape (7,) has 7 elements, the buffer 8"),
                             ("garbage.npy", "not a NumPy array"),
                             ("short.bin", "the file holds 3 bytes, 8 elements of u32 are 32"),
                             ("long.bin", "more than 32 bytes")):
            self.at(in_buffer(init={"file": name}), "bad_array", place, *parts, args=ON_DEVICE, source=name)
        self.at(in_buffer(init={"file": "none.npy"}), "cannot_read", place + "/file", "none.npy: No such file", args=ON_DEVICE)


class Words(Mistakes):
    """What a person writes who does not know our words."""

    def test_types_by_their_names_in_c(self) -> None:
        for word, ours in (("int", "i32"), ("uchar", "u8"), ("float32", "f32")):
            self.at(in_buffer(type=word), "unknown_name", "/buffers/first/type", f'did you mean "{ours}"?')
        self.at(argument(2, {"uint": 8}), "unknown_key", "/waves/0/args/2/uint", 'unknown key "uint"\ndid you mean "u32"?')

    def test_no_wave_has_a_name(self) -> None:
        def change(program: Document) -> None:
            del program["waves"][0]["name"]
            program["dependencies"] = [{"before": "one", "after": 0}]
        self.at(change, "invalid_wave", "/dependencies/0/before",
                'there is no wave "one"\nno wave has a name: give an index', rc=1)

    def test_unnamed_waves_are_called_by_their_ops(self) -> None:
        def change(program: Document) -> None:
            del program["waves"][0]["name"]
            program["dependencies"] = [{"before": 0, "after": 0}]
        self.at(change, "self_dependency", "/dependencies/0", "wave 0 (twice) depends on itself\nremove the dependency",
                rc=1)

    def test_more_than_the_device_holds(self) -> None:
        result = self.result_of(in_buffer(count=2**40, init={"fill": 1}), *ON_DEVICE)
        self.assertRegex(result.stderr, r'error: "one" alone needs 4 TiB and a group may have [0-9.]+ [GM]iB; its largest '
                                        r'buffer is "first", 4 TiB \[group_over_budget\]\n')
        self.assertIn("  fix: make the wave's buffers smaller: the budget is all that the device has\n", result.stderr)
        self.assertEqual(result.rc, 1)

    def test_local_size_that_does_not_divide(self) -> None:
        self.file("f.cl", "kernel void f(global uint* x) { x[get_global_id(0)] = 1u; }\n")

        def change(program: Document) -> None:
            only("f", SECOND, source="f.cl")(program)
            program["waves"][0]["local_size"] = [3]
        result = self.result_of_any(change, "--strategy", "launch")
        if result.rc != 0:  # a device that takes them says nothing
            self.assertEqual((result.rc, unplaced(result.stderr.replace(str(self.folder), "FOLDER"))), (3, """\
tidegate: FOLDER/program.json: error: wave 0 (f) has a local_size that does not divide its global_size: its kernel would \
be launched with work-groups of different sizes, which this device does not take [invalid_program]
  at: /waves/0/local_size
  fix: make global_size a multiple of local_size, or give -cl-std=CL2.0 among the op's options where the device has it
"""))

    def result_of_any(self, change: Change, *args: str) -> Result:
        program = copy.deepcopy(SOUND)
        change(program)
        return self.run_document(program, *args)


class Sources(Mistakes):
    def source(self, text: str) -> Change:
        self.file("f.cl", text)
        return only("f", SECOND, source="f.cl")

    def test_missing(self) -> None:
        self.at(only("f", SECOND, source="none.cl"), "cannot_read", "/ops/f/source", "none.cl: No such file")

    def test_no_such_kernel(self) -> None:
        self.at(only("tvice", SECOND), "unknown_name", "/ops/tvice", '"twice"')

    def test_file_scope(self) -> None:
        self.refused(self.source("\nglobal uint counter = 0;\nkernel void f(global uint* x) { x[0] = counter; }\n"),
                     'tidegate: FOLDER/f.cl:2:13: error: "counter" is a variable of file scope outside constant '
                     "memory [unsupported_kernel]\n"
                     "  2 | global uint counter = 0;\n"
                     "    |             ^\n"
                     "  fix: pass it as a buffer: a persistent kernel and a plain one would each have a separate "
                     "copy; `tidegate schema wave_program --format table` ends with what cannot be run\n")

    def test_include(self) -> None:
        self.refused(self.source('\n#include "none.h"\nkernel void f(global uint* x) {}\n'),
                     'tidegate: FOLDER/f.cl:2:2: error: cannot find the file "none.h" to include [kernel_source]\n'
                     '  2 | #include "none.h"\n'
                     "    |  ^\n"
                     "  fix: looked in FOLDER; name its folder with -I\n")

    def test_hash_error(self) -> None:
        self.refused(self.source("#ifndef N\n#error give -DN\n#endif\nkernel void f(global uint* x) {}\n"),
                     "tidegate: FOLDER/f.cl:2:2: error: #error give -DN [kernel_source]\n"
                     "  2 | #error give -DN\n"
                     "    |  ^\n"
                     "  fix: the program refuses these options; change them as it says\n")

    def test_pipe(self) -> None:
        self.refused(only("picture", SECOND, {"buffer": "first"}),
                     'tidegate: FOLDER/ops.cl:7:37: error: "pipe" cannot be an argument of a wave '
                     "[unsupported_kernel]\n"
                     "  7 | kernel void picture(global uint* x, pipe int numbers) {}\n"
                     "    |                                     ^\n"
                     "  fix: write it without: `tidegate schema wave_program --format table` ends with what cannot "
                     "be run\n")

    def test_open_brace(self) -> None:
        self.at(self.source("\nkernel void f(global uint* x) {\n  x[0] = 1;\n"), "kernel_source", None,
                '"{" has no counterpart', source="f.cl", line=2)

    def test_what_only_the_device_sees(self) -> None:
        """An error of the input, at the user's column, whichever kernel was built."""
        change = self.source("kernel void f(global uint* x) {\n  x[0] = 1u;\n\tx[1] = /* größe */ nothing_here;\n}\n")
        for strategy in ("launch", "barrier"):
            result = self.result_of(change, "--strategy", strategy)
            self.assertEqual(result.rc, 3)
            text = result.stderr.replace(str(self.folder), "FOLDER")
            self.assertEqual(text[:text.index("  log:\n")], """\
tidegate: FOLDER/f.cl:3:21: error: use of undeclared identifier 'nothing_here' [kernel_source]
  3 |  x[1] = /* größe */ nothing_here;
    |                     ^
  fix: correct the kernel
""")
            error = json.loads(self.result_of(change, "--strategy", strategy, "--errors", "json").stderr)
            log = error.pop("log")
            self.assertEqual(error, {
                "code": "kernel_source", "message": "use of undeclared identifier 'nothing_here'",
                "fix": "correct the kernel", "source": str(self.folder / "f.cl"), "line": 3, "column": 21,
                "excerpt": "\tx[1] = /* größe */ nothing_here;"})
            self.assertIn("undeclared identifier 'nothing_here'", log)
            self.assertFalse((self.folder / "second.npy").exists())

    def test_in_an_included_file(self) -> None:
        self.file("f.h", "\nuint h(uint n) { return n + 1u }\n")
        change = self.source('#include "f.h"\nkernel void f(global uint* x) { x[0] = h(1u); }\n')
        for strategy in ("launch", "barrier"):
            self.at(change, "kernel_source", None, "expected ';'", args=("--strategy", strategy), source="f.h", line=2)

    def test_function_without_a_body(self) -> None:
        change = self.source("uint h(uint n);\nkernel void f(global uint* x) { x[0] = h(1u); }\n")
        for strategy in ("launch", "barrier"):
            self.at(change, "kernel_source", None, "the compiler of the device refuses this source", "its log says why",
                    args=("--strategy", strategy), source="f.cl")

    def test_options_that_the_compiler_does_not_know(self) -> None:
        self.file("f.cl", "kernel void f(global uint* x) { x[0] = 1u; }\n")
        for strategy in ("launch", "barrier"):
            self.at(only("f", SECOND, source="f.cl", options="-cl-foo"), "kernel_options", "/ops/f/options",
                    'the compiler of the device refuses the options "-cl-foo"\nremove the options that it does not support',
                    args=("--strategy", strategy))

    def test_function_that_is_no_kernel(self) -> None:
        self.refused(self.source("\n  void f(global uint* x) {}\n"), """\
tidegate: FOLDER/f.cl:2:3: error: "f" is a function and no kernel [kernel_source]
  2 |   void f(global uint* x) {}
    |   ^
  fix: write kernel in front of it; an op that works on a queue says "queue": true
""")

    def test_what_is_no_text(self) -> None:
        kernel = "kernel void f(global uint* x) { x[0] = 1u; }\n"
        for data, what, fix in (
                (kernel.encode("utf-16"), "is UTF-16, which OpenCL compilers do not read", "save it as UTF-8"),
                (b"\x7fELF\0\0", "is no text: it holds a byte of 0", "name a file of OpenCL C")):
            self.file("f.cl", data)
            self.refused(only("f", SECOND, source="f.cl"),
                         f'tidegate: FOLDER/f.cl:1:1: error: "f.cl" {what} [kernel_source]\n'
                         f"  fix: {fix}\n")


class Dependencies(Mistakes):
    """Negative answers, exit code 1, as those of `tidegate plan`."""

    def test_cycle(self) -> None:
        two = {**SOUND["waves"][0], "name": "two"}
        self.refused(at_top(waves=[SOUND["waves"][0], two],
                            dependencies=[{"before": 0, "after": 1}, {"before": "two", "after": "one"}]),
                     'tidegate: FOLDER/program.json: error: the dependencies form a cycle, "one" -> "two" -> "one", '
                     'and keep 2 waves from running; removing the dependency of "one" on "two" breaks this cycle '
                     "[cycle]\n"
                     "  at: /dependencies/1\n"
                     "  fix: remove one of these dependencies\n", rc=1)

    def test_self(self) -> None:
        self.at(at_top(dependencies=[{"before": "one", "after": 0}]), "self_dependency", "/dependencies/0",
                '"one" depends on itself', rc=1)

    def test_tile_local(self) -> None:
        two = {**SOUND["waves"][0], "name": "two", "local_size": [4]}
        self.at(at_top(waves=[SOUND["waves"][0], two],
                       dependencies=[{"before": 0, "after": 1, "tile_local": True}]),
                "invalid_program", "/dependencies/0", "1 tile", "2 tiles")


class Limits(Mistakes):
    def test_budget(self) -> None:
        self.at(at_top(device_memory_budget_bytes=100), "arena_over_capacity", None, "device_memory_budget_bytes",
                rc=1)

    def test_one_wave_over_the_budget(self) -> None:
        program = copy.deepcopy(SOUND)
        for buffer in program["buffers"].values():
            buffer["count"] = 2**20
        program["device_memory_budget_bytes"] = 2**22
        result = self.run_document(program, "--dry-run", "--errors", "json")
        error = json.loads(result.stderr)
        self.assertEqual((result.rc, error["code"], error["pointer"], error["required_bytes"], error["budget_bytes"]),
                         (1, "group_over_budget", "/waves/0", 2**23, 2**22))

    def test_too_large_for_the_device(self) -> None:
        """Of the device's memory there is less, with init or without; nothing of it is made on the host first."""
        for rest in ({"output": "big.bin"}, {"init": {"fill": 1}}, {}):
            big = {"type": "u32", "count": 2**40, **rest}
            self.at(lambda program, big=big: program["buffers"].update(big=big), "arena_over_capacity", None,
                    "4 TiB", args=ON_DEVICE, rc=1)

    def test_local_memory(self) -> None:
        """More than the device has is an error of the wave, not of the driver."""
        result = self.result_of(only("summed", SECOND, {"local_bytes": 2**33}, {"f32": [1, 2, 3, 4]}), *ON_DEVICE)
        self.assertIn(result.rc, (1, 3, 4))
        self.assertNotIn("driver_crash", result.stderr)

    def test_work_group_size(self) -> None:
        """PoCL takes 4096 work-items."""
        result = self.result_of(in_wave(global_size=[2**20], local_size=[2**20]), *ON_DEVICE)
        self.assertEqual(result.rc, 3)
        self.assertIn("[out_of_range]", result.stderr)
        self.assertIn("/waves/0/local_size", result.stderr)


class Outputs(Mistakes):
    def test_no_folder(self) -> None:
        self.refused(lambda program: program["buffers"]["second"].update(output="no/such/x.npy"),
                     "tidegate: FOLDER/program.json: error: cannot write FOLDER/no/such/x.npy: No such file or "
                     "directory [cannot_write]\n"
                     "  at: /buffers/second/output\n"
                     "  fix: name a file in a folder that you may write to\n", *ON_DEVICE, rc=4)

    def test_a_folder(self) -> None:
        (self.folder / "there").mkdir()
        self.at(lambda program: program["buffers"]["second"].update(output="there"), "cannot_write",
                "/buffers/second/output",
                "Is a directory", args=ON_DEVICE, rc=4)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_not_allowed(self) -> None:
        (self.folder / "shut").mkdir(mode=0o500)
        self.at(lambda program: program["buffers"]["second"].update(output="shut/x.npy"), "cannot_write",
                "/buffers/second/output",
                args=ON_DEVICE, rc=4)

    def test_kernel_and_report(self) -> None:
        self.at(lambda program: None, "cannot_write", None, "/nonexistent/k.cl", rc=4,
                args=("--dry-run", "--emit-kernel", "/nonexistent/k.cl"))
        result = self.result_of(lambda program: None, "--dry-run", "-o", "/nonexistent/report.json")
        self.assertEqual(result.rc, 4)
        self.assertIn("cannot write /nonexistent/report.json", result.stderr)


class Plans(Mistakes):
    def plan_of(self, change: Change) -> Document:
        program = copy.deepcopy(SOUND)
        change(program)
        result = self.run_document(program, "--dry-run")
        self.assertEqual(result.rc, 0, result.stderr)
        return {"kind": "frontier_memory_plan", "schema_version": 1, **json.loads(result.stdout)["plan"]}

    def test_of_another_program(self) -> None:
        two = {**SOUND["waves"][0], "name": "two"}
        plan = self.plan_of(at_top(waves=[SOUND["waves"][0], two]))
        path = self.file("plan.json", json.dumps(plan))
        result = self.result_of(lambda program: None, "--dry-run", "--plan", str(path))
        self.assertIn("the plan does not fit this program: ", result.stderr)
        self.assertIn("[invalid_plan]", result.stderr)
        self.assertEqual(result.rc, 1)

    def test_against_a_dependency(self) -> None:
        two = {**SOUND["waves"][0], "name": "two", "args": [SECOND, {"buffer": "first"}, {"u32": 8}]}
        change = at_top(waves=[SOUND["waves"][0], two])
        plan = self.plan_of(change)
        self.assertEqual([group["waves"] for group in plan["barriers"]["groups"]], [[0], [1]])
        plan["barriers"]["groups"].reverse()
        path = self.file("plan.json", json.dumps(plan))
        result = self.result_of(change, "--dry-run", "--plan", str(path))
        self.assertIn("[invalid_plan]", result.stderr)

    def test_its_own(self) -> None:
        path = self.file("plan.json", json.dumps(self.plan_of(lambda program: None)))
        result = self.run_document(SOUND, "--dry-run", "--plan", str(path))
        self.assertEqual((result.rc, result.stderr), (0, ""))

    def test_malformed(self) -> None:
        for text, code in (('{"barriers": ', "syntax_error"), ("[]", "wrong_type"), ("", "empty_input")):
            path = self.file("plan.json", text)
            result = self.result_of(lambda program: None, "--dry-run", "--plan", str(path))
            self.assertEqual(result.rc, 3)
            self.assertTrue(result.stderr.startswith(f"tidegate: {path}"), result.stderr)
            self.assertIn(f"[{code}]", result.stderr)

    def test_stdin_twice(self) -> None:
        result = run("run", "-", "--plan", "-", input="{}")
        self.assertEqual(result, Result(2, "", "tidegate: error: standard input cannot be the plan and the program "
                                               "[invalid_usage]\n"
                                               "  fix: name a file for one of them\n"))


class Usage(unittest.TestCase):
    def refused(self, *args: str, stderr: str, rc: int = 2) -> None:
        result = run("run", *args, input="{}", env=environment())
        self.assertEqual(result, Result(rc, "", stderr))

    def test_choices(self) -> None:
        usage = "  fix: `tidegate run --help` shows the usage\n"
        self.refused("--mode", "jitt", stderr='tidegate: error: --mode: "jitt" is not one of auto, interpreter or jit '
                                              '[invalid_usage]\n  fix: did you mean "jit"?\n')
        self.refused("--workers", "-1", stderr='tidegate: error: --workers: "-1" is no whole number from 0 to '
                                               "2^64 - 1 [invalid_usage]\n" + usage)
        for option, place in (("--max-wall-time=", "--max-wall-time"), ("--set=slice=", "--set: slice")):
            self.refused(option + "2 weeks", stderr=f'tidegate: error: {place}: "2 weeks" is not a duration '
                                                    "[invalid_usage]\n  fix: write a duration such as 10s, 2m, 1.5h or 150ms\n")
        self.refused("a", "b", stderr='tidegate: error: tidegate run takes no further argument "b" '
                                      "[invalid_usage]\n" + usage)
        for option in ("--strategy", "--format"):
            result = run("run", option, "sideways", input="{}")
            self.assertEqual((result.rc, result.stdout), (2, ""))
            self.assertIn(f'{option}: "sideways" is not one of ', result.stderr)

    def test_settings(self) -> None:
        for args, message, fix in (
                (("--set", "ordr=blocked"), '--set: there is no setting "ordr" [invalid_usage]', 'did you mean "order"?'),
                (("--set", "weather=fine"), '--set: there is no setting "weather" [invalid_usage]',
                 "`tidegate run --help-settings` lists the settings"),
                (("--set", "slice"), '--set: "slice" has no value [invalid_usage]', "give --set slice=TIME"),
                (("--set", "slice=1", "--set", "order=stridd"),
                 '--set: order: "stridd" is not one of auto, strided, blocked or serpentine [invalid_usage]',
                 'did you mean "strided"?'),
                (("--slice", "1"), 'tidegate run has no option "--slice" [unknown_option]', "give --set slice=TIME"),
                (("--no-measure",), 'tidegate run has no option "--no-measure" [unknown_option]', "give --set measure=no")):
            with self.subTest(args):
                self.refused(*args, stderr=f"tidegate: error: {message}\n  fix: {fix}\n")

    def test_missing_program(self) -> None:
        self.refused("/nonexistent.json", rc=3,
                     stderr="tidegate: error: cannot read /nonexistent.json: No such file or directory "
                            "[cannot_read]\n"
                            "  fix: name a readable file, or pipe the document in and name no file\n")

    def test_not_json(self) -> None:
        for text, code in (("", "empty_input"), ('{"buffers": {,}}', "syntax_error"), ("[]", "wrong_type"),
                           ("{}", "missing_key")):
            result = run("run", "--errors", "json", input=text)
            self.assertEqual((result.rc, json.loads(result.stderr)["code"]), (3, code))

    def test_device(self) -> None:
        result = run("run", "--device", "abacus", "--dry-run", "--errors", "json", env=environment(),
                     input=json.dumps(SOUND))
        self.assertEqual((result.rc, json.loads(result.stderr)["code"]), (4, "no_device"))


if __name__ == "__main__":
    unittest.main()
