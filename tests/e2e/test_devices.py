"""tidegate devices: what there is, which one is meant, and clear answers where there is nothing.

PoCL, which scripts/setup installs for the tests, is the device that is always there."""

import json
import os
import signal
import subprocess
import time
import unittest
from math import inf
from pathlib import Path

import jsonschema

from support import FAILING_DRIVER, PATIENCE, Programs, binary, pocl_cache, run


def devices(*args: str, env: dict[str, str] | None = None) -> dict:
    result = run("devices", *args, env=env)
    if result.rc != 0:
        raise AssertionError(f"devices {args}: exit code {result.rc}: {result.stderr}")
    return json.loads(result.stdout)


def only(vendors: Path) -> dict[str, str]:
    """The environment in which the drivers that a folder names are all there are."""
    return {"OCL_ICD_VENDORS": f"{vendors}/", "OCL_ICD_FILENAMES": ""}


class Devices(unittest.TestCase):
    def test_list(self) -> None:
        listed = devices()
        jsonschema.Draft202012Validator(json.loads(run("schema", "device_list").stdout)).validate(listed)
        self.assertEqual(run("check", input=json.dumps(listed)).rc, 0)
        pocl = next(device for device in listed["devices"] if device["platform"] == "Portable Computing Language")
        self.assertEqual([device["name"] for device in devices("--device", pocl["name"][2:12].upper())["devices"]], [pocl["name"]])
        unknown = run("devices", "--device", "abacus")
        self.assertEqual((unknown.rc, unknown.stdout), (4, ""))
        self.assertIn(pocl["name"], unknown.stderr)
        self.assertIn(pocl["name"], run("devices", "--format", "table").stdout)

    def test_recommend_asks_the_device(self) -> None:
        """What the request leaves out comes from the device."""
        request = {"queue_len": 100000, "requested_worker_groups": 300}
        cpu = devices("--device", "cpu")["devices"][0]
        made = json.loads(run("recommend", "--device", "cpu", input=json.dumps(request)).stdout)
        limits = {"max_workgroup_size_x": cpu["max_workgroup_size"], "max_compute_workgroups_per_dimension": 2**31 - 1,
                  "device_memory_budget_bytes": cpu["global_memory_bytes"]}
        self.assertEqual(made.pop("device"), cpu["name"])
        self.assertEqual(made, json.loads(run("recommend", input=json.dumps(request | limits)).stdout))


class Probe(Programs):
    def probed(self, *args: str) -> dict:
        answer = devices("--probe", "--device", "cpu", *args, env={"XDG_CACHE_HOME": str(self.folder / "cache"), "POCL_CACHE_DIR": pocl_cache()})
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
        passed = {trial["ordering"]: trial["barrier_ns"] for trial in profile["trials"] if trial["verdict"] == "passed"}
        preferred = next(one for one in ("ptx", "c11", "fence", "classic") if 0.8 * passed.get(one, inf) <= min(passed.values()))
        self.assertEqual(profile["ordering"], preferred, passed)
        self.assertEqual(device["megakernel"], {"supported": True, "max_worker_count": device["compute_units"],
                                                "reason": f"the self-test passed with the memory ordering {profile['ordering']}"})
        self.assertIs(profile["barrier_kernels_share"], True)
        for key in ("launch_ns", "launch_round_trip_ns"):
            self.assertGreater(profile[key], 0, key)
        for key in ("persistent_start_ns", "wait_ns", "cached_bytes_per_ns", "memory_bytes_per_ns"):
            self.assertGreater(profile["costs"][key], 0, key)
        schema = json.loads(run("schema", "device_profile").stdout)
        jsonschema.Draft202012Validator(schema).validate(json.loads(self.kept().read_text()))

    def test_kept_and_repeated(self) -> None:
        first = self.probed()["profile"]
        self.assertEqual(self.probed()["profile"], first, "measured values are never twice the same by chance")
        self.assertNotEqual(self.probed("--fresh")["profile"], first)
        self.assertNotEqual(json.loads(self.kept().read_text())["launch_ns"], first["launch_ns"])

class Crash(Programs):
    """A driver that ends the process: PoCL 3.1 aborts when POCL_CACHE_DIR is set and empty."""

    def test_is_an_error(self) -> None:
        text = run("devices", env={"POCL_CACHE_DIR": ""})
        if text.rc == 0:
            self.skipTest("this PoCL does not crash")
        self.assertEqual((text.rc, text.stdout), (4, ""))
        self.assertIn("tidegate: error: an OpenCL driver has crashed (Aborted) [driver_crash]\n  fix: ", text.stderr)
        # What aborts may have found no memory, so far as is known.
        limited = subprocess.run(["prlimit", f"--as={2**50}", binary(), "devices"], env={**os.environ, "POCL_CACHE_DIR": ""},
                                 capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertIn("  fix: it may have run out of memory: ulimit -v leaves it 1 PiB; otherwise see what it prints; ",
                      limited.stderr)

    def test_in_the_middle_of_a_self_test(self) -> None:
        """PoCL 3.1 aborts when it finds no linker for what it has compiled."""
        result = run("devices", "--device", "cpu", "--fresh",
                     env={"PATH": "/nonexistent", "POCL_CACHE_DIR": str(self.folder), "XDG_CACHE_HOME": str(self.folder)})
        if result.rc == 0:
            self.skipTest("this PoCL needs no linker")
        self.assertEqual((result.rc, result.stdout), (4, ""), result.stderr)
        self.assertRegex(result.stderr, r"\[(driver_crash|opencl_failure)\]\n  fix: ")

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_a_self_test_that_crashes_costs_its_device_alone(self) -> None:
        """The process begins again without this self-test, so that it can tell of the other devices."""
        result = run("devices", "--device", "cpu", "--fresh",
                     env={"OPENCL_LAYERS": FAILING_DRIVER, "TIDEGATE_FAILING_CALL": "clEnqueueNDRangeKernel:1",
                          "TIDEGATE_FAILING_SIGNAL": "6", "XDG_CACHE_HOME": str(self.folder)})
        self.assertEqual(result.rc, 4, result.stderr)
        self.assertIn("its driver has crashed in the self-test (Aborted) [driver_crash]", result.stderr)

    @unittest.skipIf(FAILING_DRIVER == "", "TIDEGATE_FAILING_DRIVER does not name the layer")
    def test_the_others_are_listed(self) -> None:
        """A driver that aborts when it is loaded, next to one that does not."""
        self.file("a.icd", f"{FAILING_DRIVER}\n")
        self.file("b.icd", "libpocl.so.2\n")
        answer = devices(env=only(self.folder))
        self.assertEqual(len(answer["devices"]), 1)
        self.assertEqual([(Path(driver["file"]).name, driver["problem"]) for driver in answer["broken_drivers"]],
                         [("a.icd", "it crashes when it is loaded (Aborted)")])
        (self.folder / "b.icd").unlink()
        self.assertIn("[driver_crash]", run("devices", env=only(self.folder)).stderr)

    def test_an_interrupt_ends_the_self_test(self) -> None:
        program = self.written({"buffers": {"a": {"type": "u32", "count": 1, "init": {"iota": {}}, "output": "a.npy"}}, "ops": {},
                                "waves": [{"fill": {"buffer": "a", "value": 1}}]})
        process = subprocess.Popen([binary(), "run", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "POCL_CACHE_DIR": f"{self.folder}/pocl", "XDG_CACHE_HOME": str(self.folder)})
        deadline = time.monotonic() + PATIENCE
        while not list(self.folder.glob("pocl/*/*")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)

    def test_an_ignored_child_is_waited_for_all_the_same(self) -> None:
        done = subprocess.run(["/bin/sh", "-c", 'trap "" CHLD; exec "$0" devices --device abacus', binary()],
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 4)


class Nothing(Programs):
    def test_broken_drivers(self) -> None:
        """By themselves, and next to a good one."""
        self.file("gone.icd", "libnowhere.so.1\n")
        self.file("empty.icd", "")
        self.file("other.icd", "libc.so.6\n")  # a library that is not a driver
        result = run("devices", env=only(self.folder))
        self.assertEqual((result.rc, result.stdout), (4, ""), result.stderr)
        self.assertRegex(result.stderr, r"there is no OpenCL device.*empty\.icd: the file names no library; .*gone\.icd: libnowhere\.so\.1: "
                                        r"[\s\S]*\[no_device\]\n  fix: install a driver")
        for name in ("empty.icd", "other.icd"):
            (self.folder / name).unlink()
        self.file("pocl.icd", "libpocl.so.2\n")
        answer = devices(env=only(self.folder))
        self.assertEqual([Path(driver["file"]).name for driver in answer["broken_drivers"]], ["gone.icd"])
        self.assertEqual(len(answer["devices"]), 1)

    def test_unwritable_cache(self) -> None:
        file = self.file("file", "a file where PoCL wants a folder")
        self.file("pocl.icd", "libpocl.so.2\n")
        result = run("devices", env={"XDG_CACHE_HOME": str(file), "POCL_CACHE_DIR": f"{file}/kcache", **only(self.folder)})
        if result.rc == 0:
            self.skipTest("this PoCL does without its cache folder")
        self.assertEqual(result.rc, 4)
        self.assertIn("PoCL needs a cache folder it can write to", result.stderr)
