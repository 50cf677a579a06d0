"""What a run tells while it runs: nothing where nobody looks, a line on a terminal, lines with --verbose."""
import re
import tempfile

from support import buffer, environment, no_ordering, program, wave
from test_options import on_a_terminal
from test_run import CHAIN, Small

LAUNCH = ("--strategy", "launch", "--set", "tuning.mode=interpreter")
# Ends at the wall time, however fast the machine is.
ENDLESS = program({"a": buffer(), "b": buffer(output="b.npy")}, wave("plus", "a", "b", 1), repeat=4_000_000_000)
UNORDERED = {**CHAIN, "dependencies": []}


class Progress(Small):
    def test_verbose(self) -> None:
        result = self.run_document(CHAIN, "-v", "--set", "verify-first=no", *LAUNCH)
        self.assertEqual(result.rc, 0)
        lines = result.stderr.splitlines()
        for line in lines:
            self.assertRegex(line, r"^tidegate: [a-z ]+, [0-9]+\.[0-9] s$")
        told = [re.sub(r"tidegate: (.*), .*", r"\1", line) for line in lines]
        # A busy machine takes longer, and what takes long is told again.
        self.assertEqual(list(dict.fromkeys(told)), ["asking the device", "compiling the program", "building kernels",
                                                     "filling device memory", "running the waves",
                                                     "reading the outputs back", "writing the outputs"])

    def test_a_first_run_says_that_it_tests_the_device(self) -> None:
        with tempfile.TemporaryDirectory(prefix="tidegate-cache-") as folder:
            told = []
            for env in ({**no_ordering(), "XDG_CACHE_HOME": folder}, environment()):
                result = self.run_document(CHAIN, "-v", "--set", "verify-first=no", env=env)
                self.assertEqual(result.rc, 0, result.stderr)
                told.append(re.findall(r"^tidegate: a first run here tests .+, once; later runs take the result$", result.stderr, re.M))
        self.assertEqual([len(lines) for lines in told], [1, 0])

    def test_nobody_looks(self) -> None:
        self.assertEqual(self.run_document(CHAIN, *LAUNCH).stderr, "")

    def test_quiet(self) -> None:
        self.assertIn("warning: ", self.run_document(UNORDERED, *LAUNCH).stderr)
        for verbose in ((), ("--verbose",)):
            result = self.run_document(UNORDERED, "--quiet", *verbose, *LAUNCH)
            self.assertEqual((result.rc, result.stderr), (0, ""))
        self.assertIn("error: ", self.run_document({**UNORDERED, "swap": [["a", "z"]]}, "-q", *LAUNCH).stderr)

    def on_terminal(self, *args: str, wall_time: str, **variables: str) -> str:
        path = self.written(ENDLESS)
        return on_a_terminal("run", path, *LAUNCH, "--max-wall-time", wall_time, "-o", str(self.folder / "report.json"),
                             *args, **environment(), **variables)

    def test_on_a_terminal(self) -> None:
        """The line is written again and gone when the answer comes."""
        running = re.compile(r"^tidegate: running the waves, iteration \d+ of 4000000000, \d+\.\d s$")
        for wall_time in ("3s", "20s", "100s"):  # a busy machine takes longer until the waves run
            text = self.on_terminal(wall_time=wall_time)
            told = text.split("\r\x1b[K")
            if any(running.match(line) for line in told):
                break
        else:
            self.fail(text)
        self.assertEqual(told[0], "")
        self.assertIn("[wall_time_exceeded]", told[-1])
        self.assertNotIn(" s\n", told[-1])

    def test_on_a_terminal_that_cannot(self) -> None:
        for args, variables in ((("-q",), {}), ((), {"TERM": "dumb"})):
            text = self.on_terminal(*args, wall_time="1500ms", **variables)
            self.assertNotIn("running the waves,", text)
            self.assertIn("[wall_time_exceeded]", text)
