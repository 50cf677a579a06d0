"""Wrong input and wrong output files of real processes; tests/app/transcripts holds the texts of errors."""

import json
import os

from support import Programs, Result, run

REQUEST = '{"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256}'


class Errors(Programs):
    def test_streams_and_exit_codes(self) -> None:
        """Errors go to standard error alone, and the exit code is that of the worst one."""
        for arguments, input, rc, text in ((["recomend"], "", 2, "no command"), (["recommend"], "{", 3, "not JSON"),
                                           (["recommend"], REQUEST[:-1] + ', "device_memory_budget_bytes": 1}', 1, "at its peak"),
                                           (["recommend", "-o", f"{self.folder}/no/x.json"], REQUEST, 4, "cannot write")):
            result = run(*arguments, input=input)
            self.assertEqual((result.rc, result.stdout), (rc, ""))
            self.assertIn(text, result.stderr)

    def test_garbage(self) -> None:
        """100 MB that are no JSON are refused at their first byte."""
        result = run("recommend", str(self.file("garbage", bytes(range(255, 127, -1)) * 819200)))
        self.assertEqual((result.rc, result.stdout), (3, ""))
        self.assertIn(":1:1: error: not JSON: ", result.stderr)

    def test_full_disk(self) -> None:
        for arguments in (["recommend"], ["recommend", "--stream"]):
            with open("/dev/full", "wb") as full:
                result = run(*arguments, input=REQUEST, stdout=full)
            self.assertEqual(result, Result(
                4, "", "tidegate: error: cannot write standard output: No space left on device [cannot_write]\n"
                       "  fix: free some space\n"))

    def test_output_is_replaced_by_an_answer_alone(self) -> None:
        out = self.file("out.json", "old")
        self.assertEqual((run("recommend", "-o", str(out), input="{").rc, out.read_text()), (3, "old"))
        self.assertEqual(run("recommend", "-o", str(out), input=REQUEST).rc, 0)
        self.assertEqual(json.loads(out.read_text())["kind"], "launch_recommendation")
        self.assertEqual(os.listdir(self.folder), ["out.json"])
