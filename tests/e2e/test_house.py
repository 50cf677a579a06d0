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
# Members of buffers and waves that keep what they once were in a document, and who may ask for them.
OWNERS = {
    # The text of walks of lists of tiles; check warns of no write past a buffer where it cannot tell which tiles run.
    "active": {"active.cpp", "generate.cpp", "job_checks.cpp"},
    "hits": {"hits.cpp", "job_checks.cpp"},
    "image": {"device_images.cpp", "kernel_objects.cpp"},
    "queue": {"queue_rounds.cpp", "recommend.cpp"},  # the ops of its items, of which some are hot
}
MEMBER = re.compile(rf"(\w+|\]|\))(?:\.|->)({'|'.join(OWNERS)})\b")
REPORTS = {"executed", "hits", "report"}  # have members of these names
# The files that may name the struct and the function of a kind of wave, next to the two that list kinds, if not KIND.cpp and KIND.hpp.
KIND_FILES = {
    "kernel": {"kernel_wave.cpp"},
    "fill": {"transfer.cpp"},
    "copy": {"transfer.cpp"},
    "queue": {"queue.cpp", "queue.hpp", "queue_items.cpp", "draft.cpp"},  # a draft may have a queue
}
INCLUDE = re.compile(r'^#include (?:"|<tidegate/)([\w/.]+)[">]', re.M)


# Modules (a source with its header) that still include each other.
KNOWN_CYCLES = [
    {"engine/kernel_objects", "engine/schedule"},
    {"engine/active", "engine/compile", "engine/generate"},
    {f"engine/traversal/{name}" for name in
     ("checks", "dispatch", "execute", "memory", "own", "rank_run", "report", "resident", "run")},
]
FREE_OF_CYCLES = {"engine", "planning", "policy", "ranks", "tune"}
REPORT_WRITERS = {"engine/report", "engine/run", "app/run", "app/tune", "tune/measure"}  # the last three: texts of fixes


MOST_PARAMETERS = 6
FUNCTION = re.compile(r"\b(\w+)\(((?:[^(){};]|\([^(){};]*\))*)\)(?= (?:const )?[;{:]| const;|;)")


def parameters(text):
    """Returns the number of commas between parameters, plus one."""
    depth, count = 0, 1
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        count += character == "," and depth == 0
    return count


def modules():
    """Returns what each module includes."""
    edges = {}
    for name, folder in FOLDERS.items():
        for source in folder.rglob("*.[ch]pp"):
            module = f"{name}/{source.relative_to(folder).with_suffix('')}"
            edges.setdefault(module, set()).update(
                target for target in (included.rpartition(".")[0] for included in INCLUDE.findall(source.read_text()))
                if target != module)
    return {module: targets & edges.keys() for module, targets in edges.items()}


def cycles(edges):
    """Returns the sets of modules that reach each other."""
    reached = {}
    for module in edges:
        found, open_ends = set(), [module]
        while open_ends:
            new = edges[open_ends.pop()] - found
            found |= new
            open_ends += new
        reached[module] = found
    return {frozenset(other for other in found if module in reached[other]) for module, found in reached.items()
            if module in found}


class House(unittest.TestCase):
    def test_no_module_includes_itself_through_others(self):
        for cycle in cycles(modules()):
            if any(module.split("/")[0] in FREE_OF_CYCLES for module in cycle):
                with self.subTest(cycle=sorted(cycle)):
                    self.assertTrue(any(cycle <= known for known in KNOWN_CYCLES))

    def test_no_function_of_a_header_has_many_parameters(self):
        known = {"find_candidates"}
        for folder in FOLDERS.values():
            for header in folder.rglob("*.hpp"):
                for name, text in FUNCTION.findall(re.sub(r"//.*", "", header.read_text())):
                    with self.subTest(header=header.name, function=name):
                        self.assertTrue(parameters(text) <= MOST_PARAMETERS or name in known)

    def test_only_who_writes_a_report_includes_it(self):
        """What a pass found out is in the pass's own header; the report collects it."""
        includers = {module for module, targets in modules().items() if "engine/report" in targets}
        self.assertLessEqual(includers, REPORT_WRITERS)
        for module, targets in modules().items():
            if module.startswith("engine/") and "engine/run_report" in targets:
                self.assertIn(module, {"engine/report", "engine/run", "engine/documents"})

    def test_includes_follow_the_map(self):
        self.assertEqual({path.name for path in (ROOT / "lib").iterdir() if path.is_dir()}, set(ALLOWED) - {"app"})
        for name, folder in FOLDERS.items():
            for source in sorted(folder.rglob("*.[ch]pp")):
                for included in INCLUDE.findall(source.read_text()):
                    target = included.split("/")[0]
                    if target in FOLDERS:  # others are kernels' headers
                        with self.subTest(source=str(source.relative_to(ROOT)), includes=included):
                            self.assertTrue(target == name or target in ALLOWED[name])

    def test_passes_of_the_engine_ask_for_properties(self):
        """A new kind of work reaches them as properties of buffers and waves (engine/job.hpp)."""
        found = {kind: set() for kind in OWNERS}
        for source in sorted((ROOT / "lib/engine").glob("*.[ch]pp")):
            for owner, kind in MEMBER.findall(source.read_text()):
                if owner not in REPORTS and source.name != "job.hpp":
                    found[kind].add(source.name)
        self.assertEqual(found, OWNERS)

    def test_a_kind_of_wave_has_files_of_its_own(self):
        """Elsewhere it is a member of WaveSpec and a row of the table of kinds."""
        kinds = set(re.findall(r"\b(\w+)_wave\b[,}]", (ROOT / "lib/work/resolve_waves.cpp").read_text()))
        self.assertLessEqual(set(KIND_FILES), kinds)
        texts = [(source.name, source.read_text()) for folder in FOLDERS.values() for source in folder.rglob("*.[ch]pp")
                 if source.name not in ("program.hpp", "documents.cpp", "resolve.hpp", "resolve_waves.cpp")]
        for kind in kinds:
            names = re.compile(rf"\b({kind.capitalize()}(Item)?Spec|{kind}_wave)\b")
            with self.subTest(kind=kind):
                self.assertEqual({name for name, text in texts if names.search(text)},
                                 KIND_FILES.get(kind, {f"{kind}.cpp"}))

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

    def test_golden_vectors_are_the_shared_ones(self):
        own, shared = ROOT / "tests/golden", ROOT.parent / "shared/golden"
        if shared.is_dir():
            self.assertEqual({path.name: path.read_bytes() for path in own.iterdir()}, {path.name: path.read_bytes() for path in shared.iterdir()})


if __name__ == "__main__":
    unittest.main()
