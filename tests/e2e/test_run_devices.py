"""tidegate run on further OpenCL implementations: Mesa's rusticl, and Oclgrind, which looks for data races, accesses out of
bounds and barriers that not all work-items reach."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import REPOSITORY, binary

ICDS = pathlib.Path("/etc/OpenCL/vendors")
OCLGRIND = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
SANITIZED = os.environ.get("TIDEGATE_SANITIZE") == "ON"

RUSTICL_PROGRAMS = ["bits", "helpers", "jacobi", "knapsack", "name_clash", "stencil_2d"]
OCLGRIND_PROGRAMS = ["early_returns", "helpers", "histogram", "name_clash", "pathfinder", "triangular_solve"]


@unittest.skipIf(SANITIZED, "the drivers are not built with sanitizers; Release runs this")
class FurtherDevices(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copytree(REPOSITORY / "tests" / "corpus", self.folder / "corpus")

    def verify(self, program: str, environment: dict, *options: str) -> str:
        """The standard error of a run whose outputs equal those of plain launches."""
        result = subprocess.run([binary(), "run", f"{program}.json", "--verify", "--strategy", "launch", *options],
                                cwd=self.folder / "corpus", text=True, capture_output=True, timeout=120,
                                env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **environment})
        self.assertEqual(result.returncode, 0, f"{program}: {result.stderr}")
        report = json.loads(result.stdout)
        self.assertTrue(report["output_parity"]["equal"], program)
        self.assertGreater(report["output_parity"]["checked"], 0)
        return result.stderr

    def test_rusticl(self) -> None:
        if not (ICDS / "rusticl.icd").exists():
            self.skipTest("rusticl (mesa-opencl-icd) is not installed")
        for program in RUSTICL_PROGRAMS:
            with self.subTest(program):
                self.verify(program, {"RUSTICL_ENABLE": "llvmpipe"}, "--device", "llvmpipe")

    def test_oclgrind_finds_nothing(self) -> None:
        if not OCLGRIND.exists():
            self.skipTest("Oclgrind is not installed")
        vendors = self.folder / "vendors"
        vendors.mkdir()
        (vendors / "oclgrind.icd").write_text(f"{OCLGRIND}\n")
        environment = {"OCL_ICD_VENDORS": f"{vendors}/", "OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "0"}
        for program in OCLGRIND_PROGRAMS:
            with self.subTest(program):
                said = self.verify(program, environment, "--mode", "interpreter")
                for finding in ("data race", "Invalid", "divergence", "FATAL"):
                    self.assertNotIn(finding, said)


if __name__ == "__main__":
    unittest.main()
