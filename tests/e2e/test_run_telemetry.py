"""The counts of reports, held to account by a layer between tidegate and the driver (tests/failing_driver) that logs every call.

A stream answers a request for the second time with all kernels built, so each call between two answers belongs to the run. The
kernel launches, waits and bytes of the log are those of the report, and so are the blocks of memory, as many as there were at a launch.
"""

import json
import os
import subprocess
import threading
import unittest

from support import FAILING_DRIVER, PATIENCE, Document, Programs, binary, copy_tracked, environment, pocl_cache, run
from test_run_phases import KERNELS, phases_program

# A condition, items, images, items that ops publish, active tiles, lists of hits; fills, copies and phases; graphs.
WAVES: dict[str, Document] = {**{f"examples/programs/{name}/program.json": {} for name in ("queue", "blur", "queens", "search")},
                              "examples/programs/jacobi/program.json": {"/waves/6/args/4/f32": 0.01},  # ends sooner, after several slices
                              "examples/programs/fire/program.json": {"/repeat": 10}, "phases.json": {}}
GRAPHS: dict[str, Document] = {"examples/graphs/bfs.json": {}, "examples/graphs/widest.json": {}}


@unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
class Telemetry(Programs):
    sources = {"phases.cl": KERNELS}

    def answers(self, requests: list[Document], *options: str) -> list[tuple[Document, list[str]]]:
        """The answer to each request, and the calls that were made for it."""
        log = self.folder / "calls"
        log.write_text("")
        process = subprocess.Popen(
            [binary(), "run", "--stream", "--device", "cpu", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment(), "OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_LOGGED_CALLS": str(log),
                 "POCL_CACHE_DIR": pocl_cache()})
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        answers = []
        assert process.stdin and process.stdout
        with process, log.open() as calls:
            for request in requests:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                answers.append((answer, calls.read().splitlines()))
            process.stdin.close()
        timer.cancel()
        self.assertEqual(process.returncode, 0, [answer.get("error") for answer, _ in answers])
        if all(not calls for _, calls in answers):
            self.skipTest("the OpenCL loader takes no layers")
        return answers

    def hold(self, requests: list[Document], *options: str) -> None:
        """Asks everything twice, and compares the second report with the log."""
        asked = [each for request in requests for each in (request, request)]
        references: dict[str, int] = {}  # by address of a block
        for number, (report, calls) in enumerate(self.answers(asked, *options)):
            self.assertEqual(report.get("status"), "done", report)
            counted = {"launch": 0, "wait": 0, "read": 0, "write": 0}
            blocks = 0
            for line in calls:
                what, *rest = line.split()
                if what in ("allocate", "retain"):
                    references[rest[0]] = references.get(rest[0], 0) + (1 if what == "allocate" or rest[0] in references else 0)
                elif what == "release" and rest[0] in references:
                    references[rest[0]] -= 1
                    if references[rest[0]] == 0:
                        del references[rest[0]]
                elif what in ("read", "write"):
                    counted[what] += int(rest[0])
                    counted["wait"] += int(rest[1])
                elif what in counted:
                    counted[what] += 1
                    blocks = max(blocks, len([count for count in references.values() if count > 0])) if what == "launch" else blocks
            if number % 2 == 0:
                continue
            told = report["telemetry"]
            with self.subTest(options=options, number=number):
                self.assertEqual((told["kernel_launches"] + told["filling_launches"], told["sync_points"],
                                  told["bytes_read_back"], told["bytes_uploaded"], told["resident_allocations"]),
                                 (counted["launch"], counted["wait"], counted["read"], counted["write"], blocks))
                self.assertEqual(run("check", "-", input=json.dumps(report)).rc, 0)

    def test_all_kinds_of_programs(self) -> None:
        copy_tracked("examples", self.folder)
        self.written(phases_program(5), "phases.json")
        waves, graphs = ([{"program": str(self.folder / path), "set": changes} for path, changes in programs.items()] for programs in (WAVES, GRAPHS))
        for strategy, requests, *more in (("launch", waves + graphs), ("barrier", waves + graphs, "--by-wave"), ("counters", waves), ("plain", waves)):
            self.hold(requests, "--strategy", strategy, *more)
