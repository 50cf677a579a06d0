"""tidegate run on further OpenCL implementations: Mesa's rusticl, and Oclgrind, which looks for data races, accesses out of
bounds and barriers that not all work-items reach."""

import json
import os
import pathlib
import re
import subprocess

from support import PATIENCE, Programs, binary, copy_tracked

ICDS = pathlib.Path("/etc/OpenCL/vendors")
OCLGRIND = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")

RUSTICL_PROGRAMS = ["helpers", "many_sizes", "name_clash"]
# Oclgrind 21.10 lacks an intrinsic that `restrict` leaves behind when its function is inlined: none of these has one there.
OCLGRIND_PERSISTENT = ["constant_tables", "convolutional_layers", "gather", "helpers", "local_memory", "random_walk"]
FINDINGS = ("Invalid", "divergence", "FATAL")


class FurtherDevices(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.corpus = copy_tracked("tests/corpus", self.folder)

    def verify(self, program: str, environment: dict[str, str], *options: str) -> str:
        """The standard error of a run whose outputs equal those of plain launches."""
        result = subprocess.run([binary(), "run", f"{program}.json", "--verify", *options],
                                cwd=self.corpus, text=True, capture_output=True, timeout=PATIENCE,
                                env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **environment})
        self.assertEqual(result.returncode, 0, f"{program}: {result.stderr}")
        report = json.loads(result.stdout)
        self.assertEqual(report["strategy"], options[options.index("--strategy") + 1])
        self.assertTrue(report["output_parity"]["equal"], program)
        self.assertGreater(report["output_parity"]["checked"], 0)
        return result.stderr

    def test_rusticl(self) -> None:
        if not (ICDS / "rusticl.icd").exists():
            self.skipTest("rusticl (mesa-opencl-icd) is not installed")
        for program in RUSTICL_PROGRAMS:
            with self.subTest(program):
                self.verify(program, {"RUSTICL_ENABLE": "llvmpipe"}, "--device", "llvmpipe", "--strategy", "launch")

    def test_oclgrind_and_persistent_kernels(self) -> None:
        """Oclgrind takes what one work-group reads and another wrote for a race, whatever counters order the two, so every
        stage of a persistent kernel looks like one; in a work-group there must be none."""
        if not OCLGRIND.exists():
            self.skipTest("Oclgrind is not installed")
        self.file("oclgrind.icd", f"{OCLGRIND}\n")
        environment = {"OCL_ICD_VENDORS": f"{self.folder}/", "OCL_ICD_FILENAMES": "", "OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "0"}
        # Once without the detector, for the device's self-test: its litmus test is nothing else.
        self.verify("gather", {**environment, "OCLGRIND_DATA_RACES": "0"}, "--strategy", "barrier")
        for index, program in enumerate(OCLGRIND_PERSISTENT):
            with self.subTest(program):
                said = self.verify(program, environment, "--strategy", "barrier",
                                   "--set", f"tuning.mode={('interpreter', 'jit')[index % 2]}")
                for finding in FINDINGS:
                    self.assertNotIn(finding, said)
                for race in said.split("data race")[1:]:
                    groups = re.findall(r"Group\((\d+),", race)
                    self.assertEqual(len(groups), 2, race)
                    self.assertNotEqual(groups[0], groups[1], race)
