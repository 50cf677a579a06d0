"""tidegate run on a driver of which one call fails, whichever it is: tests/failing_driver lets the Nth call of a function fail.

The one idea: a run either ends as if nothing had been, with the right outputs, or it says what failed and leaves everything as
it was; and what it keeps for later runs is never the worse for it. tests/engine/run_test.cpp lets every call of a session fail;
here the first calls of each function of OpenCL do.
"""

import json
import signal
import tempfile
import unittest
from pathlib import Path

from support import FAILING_DRIVER, Result, pocl_cache
from test_run_safety import Safety, program

OPTIONS = ("--strategy", "barrier", "--workers", "1", "--verify", "--errors", "json")
REPEAT = 3

# What a run calls with everything in the cache, and what only the first one calls.
ALWAYS = ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateSubBuffer", "clCreateProgramWithBinary",
          "clCreateKernel", "clSetKernelArg", "clEnqueueNDRangeKernel", "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
          "clEnqueueFillBuffer", "clEnqueueMapBuffer", "clEnqueueUnmapMemObject", "clFlush", "clFinish")
FIRST = ("clCreateProgramWithSource", "clBuildProgram", "clCreateKernel")


@unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
class FailingDriver(Safety):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = Path(folder.name)
        if not self.attempt("clCreateContext:1", self.cache):
            self.skipTest("the OpenCL loader takes no layers")

    def run_failing(self, call: str, cache: Path, **env: str) -> Result:
        self.restore()
        return self.run_document(program(REPEAT), *OPTIONS, env={
            "OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_FAILING_CALL": call, "XDG_CACHE_HOME": str(cache), "POCL_CACHE_DIR": pocl_cache(), **env})

    def attempt(self, call: str, cache: Path) -> bool:
        """Runs with that call failing; whether it came at all."""
        result = self.run_failing(call, cache)
        self.assert_no_process()
        if result.rc == 0:
            self.assert_right(REPEAT)
        else:
            error = json.loads(result.stderr.splitlines()[-1])
            self.assertEqual(result.rc, 4, error)
            self.assertIn(error["code"], ("opencl_failure", "build_failure"), error)
            self.assertNotEqual(error["fix"], "", error)
            self.assert_withheld()
        return f"failing_driver: {call}" in result.stderr

    def count(self, function: str, most: int, cache: Path | None) -> int:
        """How many of the numbers 1, 2, 4, 8, … up to `most` were tried before one never came."""
        number, tried = 1, 0
        while number <= most:
            with self.subTest(f"{function} {number}"):
                if cache is not None:
                    came = self.attempt(f"{function}:{number}", cache)
                else:
                    with tempfile.TemporaryDirectory() as fresh:
                        came = self.attempt(f"{function}:{number}", Path(fresh))
                if not came:
                    return tried
            tried += 1
            number *= 2
        return tried

    def test_a_driver_that_exits(self) -> None:
        """As LLVM does when it cannot write its output: what it printed is in the error."""
        result = self.run_failing("clBuildProgram:1", self.cache, TIDEGATE_FAILING_SIGNAL="0")
        error = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual((result.rc, error["code"]), (4, "driver_crash"), error)
        self.assertIn("an OpenCL driver has ended the process (exit code 1)", error["message"])
        self.assertIn("failing_driver: clBuildProgram:1", error["log"])
        self.assert_withheld()

    def test_a_signal_that_no_handler_saw(self) -> None:
        """LLVM's handler is away for a moment when a second signal comes, and ours with it."""
        self.assertFalse(self.attempt("none:1", self.cache))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            result = self.run_failing("clFinish:1", self.cache, TIDEGATE_FAILING_SIGNAL=str(int(number)))
            self.assertEqual((result.rc, json.loads(result.stderr.splitlines()[-1])), (130, {
                "code": "interrupted", "message": "interrupted", "fix": "run it again; a file that was not complete is removed"}))
            self.assert_withheld()
            self.assert_no_process()

    def test_with_everything_kept(self) -> None:
        self.assertFalse(self.attempt("none:1", self.cache))
        tried = {function: self.count(function, 2, self.cache) for function in ALWAYS}
        for function in ("clCreateContext", "clCreateBuffer", "clCreateKernel", "clEnqueueNDRangeKernel", "clFinish"):
            self.assertGreater(tried[function], 0, tried)
        # Nothing that was kept meanwhile keeps a later run from its strategy.
        self.assertFalse(self.attempt("none:1", self.cache))
        report = self.run_failing("none:1", self.cache)
        self.assertEqual((report.rc, json.loads(report.stdout)["strategy"]), (0, "barrier"))

    def test_from_nothing(self) -> None:
        tried = {function: self.count(function, 1, None) for function in FIRST}
        self.assertGreater(min(tried.values()), 0, tried)


del Safety  # its own tests are elsewhere
