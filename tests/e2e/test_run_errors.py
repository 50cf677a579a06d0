"""tidegate run: mistakes that only a device shows (tests/app/transcripts/programs.txt has the others)."""

import json

from support import Document, Programs, Result, buffer, program, wave


class Sources(Programs):
    def result_of(self, text: str, *args: str, local: int = 8, rc: int = 3, **op: str) -> Result:
        """Of a program of one wave over 8 work-items or more."""
        self.file("f.cl", text)
        document = program({"second": buffer(output="second.npy")}, wave("f", "second", size=max(local, 8), local=local))
        document["ops"]["f"] = {"source": "f.cl", **op}
        result = self.run_document(document, *args)
        self.assertEqual((result.rc, result.stdout, (self.folder / "second.npy").exists()), (rc, "", False), result.stderr)
        return result

    def at(self, text: str, code: str, pointer: str | None, *parts: str, source: str = "f.cl", line: int | None = None, **op: str) -> None:
        """Code and place of the error, whichever kernel was built; message and fix hold the parts."""
        for strategy in ("launch", "barrier"):
            error: Document = json.loads(self.result_of(text, "--strategy", strategy, "--errors", "json", **op).stderr)
            self.assertEqual((error["code"], error.get("pointer"), error["source"]), (code, pointer, str(self.folder / source)), error)
            self.assertIn(line, (None, error.get("line")))
            for part in parts:
                self.assertIn(part, error["message"] + "\n" + error["fix"])

    def test_what_only_the_device_sees(self) -> None:
        """An error of the input, at the user's column."""
        text = "kernel void f(global uint* x) {\n  x[0] = 1u;\n\tx[1] = /* größe */ nothing_here;\n}\n"
        for strategy in ("launch", "barrier"):
            told = self.result_of(text, "--strategy", strategy).stderr.replace(str(self.folder), "FOLDER")
            self.assertEqual(told[:told.index("  log:\n")], """\
tidegate: FOLDER/f.cl:3:21: error: use of undeclared identifier 'nothing_here' [kernel_source]
  3 |  x[1] = /* größe */ nothing_here;
    |                     ^
  fix: correct the kernel
""")
        self.at(text, "kernel_source", None, "use of undeclared identifier", line=3)

    def test_elsewhere(self) -> None:
        """In an included file, a function without a body, and options that the compiler does not know."""
        self.file("f.h", "\nuint h(uint n) { return n + 1u }\n")
        self.at('#include "f.h"\nkernel void f(global uint* x) { x[0] = h(1u); }\n', "kernel_source", None, "expected ';'", source="f.h", line=2)
        self.at("uint h(uint n);\nkernel void f(global uint* x) { x[0] = h(1u); }\n", "kernel_source", None,
                "the compiler of the device refuses this source", "its log says why")
        self.at("kernel void f(global uint* x) { x[0] = 1u; }\n", "kernel_options", "/ops/f/options",
                'the compiler of the device refuses the options "-cl-foo"\nremove the options that it does not support',
                source="program.json", options="-cl-foo")

    def test_work_group_size(self) -> None:
        """PoCL takes 4096 work-items."""
        told = self.result_of("kernel void f(global uint* x) {}\n", "--strategy", "launch", local=2**20).stderr
        self.assertIn("[out_of_range]", told)
        self.assertIn("/waves/0/local_size", told)
