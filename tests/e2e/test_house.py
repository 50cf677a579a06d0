"""The folders of the source tree depend on each other in one direction (lib/README.md has the map)."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]

ALLOWED = {
    "core": set(),
    "policy": {"core"},
    "planning": {"core"},
    "opencl_c": {"core"},
    "device": {"core", "policy"},
    "graph": {"core", "policy"},
    "ranks": {"core"},
    "work": {"core", "device", "engine", "opencl_c", "planning", "policy"},
    "engine": {"core", "device", "graph", "opencl_c", "planning", "policy", "ranks"},
    "tune": {"core", "device", "engine", "graph", "policy", "work"},
    "app": {"core", "device", "engine", "graph", "planning", "policy", "ranks", "tune", "work"},
}
FOLDERS = {name: ROOT / ("app" if name == "app" else f"lib/{name}") for name in ALLOWED}
INCLUDE = re.compile(r'^#include (?:"|<tidegate/)([\w/.]+)[">]', re.M)


class House(unittest.TestCase):
    def test_includes_follow_the_map(self):
        self.assertEqual({path.name for path in (ROOT / "lib").iterdir() if path.is_dir()}, set(ALLOWED) - {"app"})
        for name, folder in FOLDERS.items():
            for source in sorted(folder.rglob("*.[ch]pp")):
                for included in INCLUDE.findall(source.read_text()):
                    target = included.split("/")[0]
                    if target in FOLDERS:  # others are kernels' headers
                        with self.subTest(source=str(source.relative_to(ROOT)), includes=included):
                            self.assertTrue(target == name or target in ALLOWED[name])

    def test_only_the_device_folder_uses_opencl(self):
        """Everything else goes through device::Session, for which tests have a stand-in."""
        for name, folder in FOLDERS.items():
            for source in sorted(folder.rglob("*.[ch]pp")):
                if name != "device":
                    with self.subTest(source=str(source.relative_to(ROOT))):
                        self.assertNotRegex(source.read_text(), r'#include (<CL/|"device/opencl\.hpp")')

    def test_installed_headers_include_installed_headers_alone(self):
        listing = re.search(r"set\(public_headers([^)]*)\)", (ROOT / "lib/CMakeLists.txt").read_text())
        public = set(listing[1].split())
        self.assertLessEqual(len(public), 30)
        for header in sorted(public):
            for included in INCLUDE.findall((ROOT / "lib" / header).read_text()):
                with self.subTest(header=header):
                    self.assertIn(included, public)


if __name__ == "__main__":
    unittest.main()
