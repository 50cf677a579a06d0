"""tidegate devices: what there is, which one is meant, and clear answers where there is nothing.

PoCL, which scripts/setup installs for the tests, is the device that is always there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import jsonschema

from support import PATIENCE, binary, run
from test_run import FAILING_DRIVER, pocl_cache


def devices(*args: str, env: dict[str, str] | None = None) -> dict:
    result = run("devices", *args, env=env)
    if result.rc != 0:
        raise AssertionError(f"devices {args}: exit code {result.rc}: {result.stderr}")
    return json.loads(result.stdout)


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.list = devices()
        cls.pocl = next(device for device in cls.list["devices"] if device["platform"] == "Portable Computing Language")

    def test_schema(self) -> None:
        schema = json.loads(run("schema", "device_list").stdout)
        jsonschema.Draft202012Validator(schema).validate(self.list)
        self.assertEqual(run("check", input=json.dumps(self.list)).rc, 0)

    def test_selection(self) -> None:
        for selector in (str(self.pocl["index"]), self.pocl["name"], self.pocl["name"][2:12].upper()):
            self.assertEqual([device["name"] for device in devices("--device", selector)["devices"]],
                             [self.pocl["name"]], selector)
        self.assertEqual(devices("--device", "cpu")["devices"][0]["type"], "cpu")
        unknown = run("devices", "--device", "abacus", "--errors", "json")
        self.assertEqual((unknown.rc, unknown.stdout), (4, ""))
        error = json.loads(unknown.stderr)
        self.assertEqual(error["code"], "no_device")
        self.assertIn(self.pocl["name"], error["fix"])

    def test_table(self) -> None:
        table = run("devices", "--format", "table").stdout
        self.assertIn(self.pocl["name"], table)
        self.assertIn(f"{os.cpu_count()} at ", table)
        self.assertRegex(table, r"persistent launch +possible, up to \d+ work-groups?: ")
        self.assertRegex(table, r"(?m)^\d+ devices?$")


class Recommend(unittest.TestCase):
    """recommend --device: what the request leaves out comes from the device, what it says stands."""

    BARE = {"queue_len": 100000, "requested_worker_groups": 300}

    def answer(self, request: dict, *args: str) -> dict:
        result = run("recommend", *args, input=json.dumps(request))
        self.assertEqual(result.rc, 0, result.stderr)
        return json.loads(result.stdout)

    def test_limits_and_budget(self) -> None:
        cpu = devices("--device", "cpu")["devices"][0]
        made = self.answer(self.BARE, "--device", "cpu")
        same = self.answer({**self.BARE, "max_workgroup_size_x": cpu["max_workgroup_size"],
                            "max_compute_workgroups_per_dimension": 2**31 - 1,
                            "device_memory_budget_bytes": cpu["global_memory_bytes"]})
        self.assertEqual(made.pop("device"), cpu["name"])
        self.assertEqual(made, same)

class Probe(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def env(self, cache: str) -> dict[str, str]:
        return {"XDG_CACHE_HOME": str(self.folder / cache), "POCL_CACHE_DIR": pocl_cache()}

    def probed(self, *args: str, cache: str = "cache") -> dict:
        answer = devices("--probe", "--device", "cpu", *args, env=self.env(cache))
        # Other drivers may be installed that find no device of theirs.
        self.assertEqual([note for note in answer["notes"] if "has no devices" not in note], [])
        return answer["devices"][0]

    def kept(self) -> Path:
        files = list((self.folder / "cache" / "tidegate").iterdir())
        self.assertEqual(len(files), 1, "one entry for one device, and nothing unfinished")
        return files[0]

    def test_self_test(self) -> None:
        device = self.probed()
        profile = device["profile"]
        self.assertEqual(profile["device"], device["name"])
        self.assertEqual(profile["co_resident_groups"], device["compute_units"])
        verdicts = {trial["ordering"]: trial["verdict"] for trial in profile["trials"]}
        self.assertEqual(list(verdicts), ["ptx", "c11", "fence", "classic"])
        self.assertEqual(verdicts["ptx"], "not_built")  # only NVIDIA's devices have it
        passed = [trial for trial in profile["trials"] if trial["verdict"] == "passed"]
        self.assertTrue(all("barrier_ns" in trial for trial in passed))
        fastest = min(passed, key=lambda trial: trial["barrier_ns"])
        self.assertEqual(profile["ordering"], fastest["ordering"])
        self.assertEqual(device["megakernel"], {
            "supported": True, "max_worker_count": device["compute_units"],
            "reason": f"the self-test passed with the memory ordering {fastest['ordering']}"})
        self.assertIs(profile["barrier_kernels_share"], True)
        for key in ("launch_ns", "launch_round_trip_ns", "claimed_items_per_second"):
            self.assertGreater(profile[key], 0, key)
        for key, value in profile["costs"].items():
            self.assertGreaterEqual(value, 0, key)
        for key in ("persistent_start_ns", "wait_ns", "cached_bytes_per_ns", "memory_bytes_per_ns"):
            self.assertGreater(profile["costs"][key], 0, key)
        schema = json.loads(run("schema", "device_profile").stdout)
        jsonschema.Draft202012Validator(schema).validate(json.loads(self.kept().read_text()))

    def test_kept_and_repeated(self) -> None:
        first = self.probed()["profile"]
        self.assertEqual(self.probed()["profile"], first, "measured values are never twice the same by chance")
        self.assertNotEqual(self.probed("--fresh")["profile"], first)
        self.assertNotEqual(json.loads(self.kept().read_text())["launch_ns"], first["launch_ns"])

class Crash(unittest.TestCase):
    """A driver that ends the process: PoCL 3.1 aborts when POCL_CACHE_DIR is set and empty."""

    def test_is_an_error(self) -> None:
        text = run("devices", env={"POCL_CACHE_DIR": ""})
        if text.rc == 0:
            self.skipTest("this PoCL does not crash")
        self.assertEqual((text.rc, text.stdout), (4, ""))
        self.assertIn("tidegate: error: an OpenCL driver has crashed (Aborted) [driver_crash]\n  fix: ", text.stderr)
        error = json.loads(run("devices", "--errors", "json", env={"POCL_CACHE_DIR": ""}).stderr.splitlines()[-1])
        schema = json.loads(run("schema", "error").stdout)
        jsonschema.Draft202012Validator(schema).validate(error)

    def test_under_a_limit_of_memory(self) -> None:
        """What aborts may have found no memory, so far as is known."""
        limited = subprocess.run(["prlimit", f"--as={2**50}", binary(), "devices"], env={**os.environ, "POCL_CACHE_DIR": ""},
                                 capture_output=True, text=True, timeout=PATIENCE, check=False)
        if limited.returncode == 0:
            self.skipTest("this PoCL does not crash")
        self.assertIn("  fix: it may have run out of memory: ulimit -v leaves it 1 PiB; otherwise see what it prints; ",
                      limited.stderr)

    def test_in_the_middle_of_a_self_test(self) -> None:
        """PoCL 3.1 aborts when it finds no linker for what it has compiled."""
        with tempfile.TemporaryDirectory() as cache:
            result = run("devices", "--device", "cpu", "--fresh",
                         env={"PATH": "/nonexistent", "POCL_CACHE_DIR": cache, "XDG_CACHE_HOME": cache})
        if result.rc == 0:
            self.skipTest("this PoCL needs no linker")
        self.assertEqual((result.rc, result.stdout), (4, ""), result.stderr)
        self.assertRegex(result.stderr, r"\[(driver_crash|opencl_failure)\]\n  fix: ")

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_the_others_are_listed(self) -> None:
        """A driver that aborts when it is loaded, next to one that does not."""
        with tempfile.TemporaryDirectory() as vendors:
            Path(vendors, "a.icd").write_text(f"{FAILING_DRIVER}\n")
            Path(vendors, "b.icd").write_text("libpocl.so.2\n")
            env = {"OCL_ICD_VENDORS": f"{vendors}/", "OCL_ICD_FILENAMES": ""}
            answer = devices(env=env)
            self.assertEqual(len(answer["devices"]), 1)
            self.assertEqual([(Path(driver["file"]).name, driver["problem"]) for driver in answer["broken_drivers"]],
                             [("a.icd", "it crashes when it is loaded (Aborted)")])
            Path(vendors, "b.icd").unlink()
            self.assertIn("[driver_crash]", run("devices", env=env).stderr)

    def test_an_interrupt_ends_the_self_test(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            program = Path(cache, "p.json")
            program.write_text('{"buffers": {"a": {"type": "u32", "count": 1, "init": {"iota": {}}, "output": "a.npy"}}, "ops": {}, '
                               '"waves": [{"fill": {"buffer": "a", "value": 1}}]}')
            process = subprocess.Popen([binary(), "run", str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "POCL_CACHE_DIR": f"{cache}/pocl", "XDG_CACHE_HOME": cache})
            deadline = time.monotonic() + PATIENCE
            while not list(Path(cache).glob("pocl/*/*")) and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.01)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)

    def test_an_ignored_child_is_waited_for_all_the_same(self) -> None:
        done = subprocess.run(["/bin/sh", "-c", 'trap "" CHLD; exec "$0" devices --device abacus', binary()],
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 4)


class Nothing(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def refused(self) -> str:
        result = run("devices", env={"OCL_ICD_VENDORS": f"{self.folder}/", "OCL_ICD_FILENAMES": ""})
        self.assertEqual((result.rc, result.stdout), (4, ""), result.stderr)
        self.assertIn("there is no OpenCL device", result.stderr)
        self.assertIn("[no_device]", result.stderr)
        self.assertIn("fix: install a driver", result.stderr)
        return result.stderr

    def test_broken_drivers(self) -> None:
        (self.folder / "gone.icd").write_text("libnowhere.so.1\n")
        (self.folder / "empty.icd").write_text("")
        (self.folder / "other.icd").write_text("libc.so.6\n")  # a library that is not a driver
        self.assertRegex(self.refused(), r"empty\.icd: the file names no library; .*gone\.icd: libnowhere\.so\.1: ")

    def test_a_broken_driver_beside_a_good_one(self) -> None:
        (self.folder / "a.icd").write_text("libnowhere.so.1\n")
        (self.folder / "b.icd").write_text("libpocl.so.2\n")
        answer = devices(env={"OCL_ICD_VENDORS": f"{self.folder}/", "OCL_ICD_FILENAMES": ""})
        self.assertEqual([Path(driver["file"]).name for driver in answer["broken_drivers"]], ["a.icd"])
        self.assertEqual(len(answer["devices"]), 1)

    def test_unwritable_cache(self) -> None:
        (self.folder / "file").write_text("a file where PoCL wants a folder")
        (self.folder / "pocl.icd").write_text("libpocl.so.2\n")
        result = run("devices", env={"XDG_CACHE_HOME": str(self.folder / "file"),
                                     "POCL_CACHE_DIR": str(self.folder / "file" / "kcache"),
                                     "OCL_ICD_VENDORS": f"{self.folder}/", "OCL_ICD_FILENAMES": ""})
        if result.rc == 0:
            self.skipTest("this PoCL does without its cache folder")
        self.assertEqual(result.rc, 4)
        self.assertIn("PoCL needs a cache folder it can write to", result.stderr)


if __name__ == "__main__":
    unittest.main()
