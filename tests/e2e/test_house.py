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
    "runtime": {"core", "device", "policy", "ranks"},
    "work": {"core", "device", "engine", "opencl_c", "planning", "policy", "runtime"},
    "engine": {"core", "device", "opencl_c", "planning", "policy", "ranks", "runtime"},
    "traversal": {"core", "device", "graph", "opencl_c", "policy", "ranks", "runtime"},
    "tune": {"core", "device", "engine", "graph", "policy", "runtime", "traversal", "work"},
    "app": {"core", "device", "engine", "graph", "planning", "policy", "ranks", "runtime", "traversal", "tune", "work"},
}
FOLDERS = {name: ROOT / ("app" if name == "app" else f"lib/{name}") for name in ALLOWED}
INCLUDE = re.compile(r'^#include (?:"|<tidegate/)([\w/.]+)[">]', re.M)
KERNELS = ROOT / "kernels"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STEPS = {"all_vertices", "choice", "edges", "exchange", "few_edges", "pull", "push", "ranks", "shares", "sums", "traversal"}
PUBLIC = set(re.search(r"set\(public_headers([^)]*)\)", (ROOT / "lib/CMakeLists.txt").read_text())[1].split())
FREE_OF_CYCLES = {"runtime", "engine", "traversal", "graph", "planning", "policy", "ranks", "tune"}
REPORT_WRITERS = {"engine/report", "engine/progress", "engine/run", "app/run", "app/tune", "tune/measure",
                  "tune/workbench"}  # the last four: texts of fixes
# Those of the document: work/run adds up the runs of a program that grows, and app/run prints it.
DOCUMENT_WRITERS = {"engine/report", "engine/run", "engine/documents", "work/run", "app/run"}


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
                self.fail(f"{sorted(cycle)} include each other")

    def test_only_who_writes_a_report_includes_it(self):
        """What a pass found out is in the pass's own header; the report collects it."""
        for report, writers in (("engine/report", REPORT_WRITERS), ("engine/run_report", DOCUMENT_WRITERS)):
            self.assertLessEqual({module for module, targets in modules().items() if report in targets}, writers)

    def test_includes_follow_the_map(self):
        self.assertEqual({path.name for path in (ROOT / "lib").iterdir() if path.is_dir()}, set(ALLOWED) - {"app"})
        for name, folder in FOLDERS.items():
            for source in sorted(folder.rglob("*.[ch]pp")):
                for included in INCLUDE.findall(source.read_text()):
                    target = included.split("/")[0]
                    if target in FOLDERS:  # others are kernels' headers
                        with self.subTest(source=str(source.relative_to(ROOT)), includes=included):
                            self.assertTrue(target == name or target in ALLOWED[name])

    def test_headers_include_what_they_name(self):
        """Each compiles alone: types and macros of the project stand in a header that it includes, and standard ones in
        core/prelude.hpp. `scripts/test --more` asks a compiler; installed headers are compiled alone in tests/consumer."""
        headers = {str(path.relative_to(ROOT)).removeprefix("lib/"): COMMENT.sub("", path.read_text())
                   for folder in FOLDERS.values() for path in folder.rglob("*.hpp")}
        includes = {header: {name for name in INCLUDE.findall(text) if name in headers} for header, text in headers.items()}
        declared = {}
        for header, text in headers.items():
            for name in re.findall(r"^(?:struct|(?:enum )?class|using|#define) ([A-Z]\w{3,})(?= *[{(:=]| final)", text, re.M):
                declared.setdefault(name, set()).add(header)
        for header, text in headers.items():
            seen, open_ends = {header}, [header]
            while open_ends:
                new = includes[open_ends.pop()] - seen
                seen |= new
                open_ends += new
            forward = {name for each in seen for name in re.findall(r"^(?:struct|class|enum class) (\w+).*;", headers[each], re.M)}
            lacking = {name: declared[name] for name in set(re.findall(r"\w+", text)) & declared.keys() - forward if not declared[name] & seen}
            elsewhere = {name for name, by in lacking.items()  # words of one part may be a template's
                         if re.fullmatch("[A-Z][a-z]+", name) and not any(each.split("/")[0] == header.split("/")[0] for each in by)}
            with self.subTest(header=header):
                self.assertEqual(lacking.keys() - elsewhere, set())
                self.assertTrue("core/prelude.hpp" in seen or header == "device/opencl.hpp" or header in PUBLIC)

    def test_only_the_device_folder_uses_opencl(self):
        """Everything else goes through device::Session, for which tests have a stand-in."""
        for name, folder in FOLDERS.items():
            for source in sorted(folder.rglob("*.[ch]pp")):
                if name != "device":
                    with self.subTest(source=str(source.relative_to(ROOT))):
                        self.assertNotRegex(source.read_text(), r'#include (<CL/|"device/opencl\.hpp")')

    def test_installed_headers_include_installed_headers_alone(self):
        self.assertLessEqual(len(PUBLIC), 30)
        for header in sorted(PUBLIC):
            for included in INCLUDE.findall((ROOT / "lib" / header).read_text()):
                with self.subTest(header=header):
                    self.assertIn(included, PUBLIC)

    def test_steps_of_traversals_have_no_conditional_on_the_algorithm(self):
        """algorithm.cl alone chooses between files and functions; steps test constants with `if`."""
        files = {file.stem for file in (KERNELS / "frontier").glob("*.cl")}
        algorithms = {"bfs", "cc", "own", "own_check", "pagerank", "reach", "sssp", "sssp64"}
        self.assertEqual(files - algorithms - {"algorithm", "job", "rows"}, STEPS)
        for step in sorted(STEPS):
            for line in re.findall(r"^ *#(?:if|elif).*", (KERNELS / f"frontier/{step}.cl").read_text(), re.M):
                with self.subTest(step=step):  # what a device is, or does
                    self.assertRegex(line, r"^#if TG_(GROUP_SIZE == 1|SHUFFLES|EAGER)$")

    def test_comments_begin_with_their_subject(self):
        for folder in (*FOLDERS.values(), KERNELS):
            for file in sorted(each for each in folder.rglob("*.*") if each.suffix in (".cpp", ".hpp", ".cl", ".h", ".c")):
                with self.subTest(file=file.name):
                    self.assertEqual(re.findall(r"// (?:What|Of|Who|Whether) .*", file.read_text()), [])

    def test_only_kernels_have_many_parameters(self):
        for file in sorted(KERNELS.rglob("*.cl")):
            text = COMMENT.sub("", file.read_text())
            for head, name, parameters in re.findall(r"^(\w[^;{}#]*?)\b(\w+)\(([^(){};]*)\)\s*\{", text, re.M):
                if not head.startswith("kernel "):
                    with self.subTest(file=file.name, function=name):
                        self.assertLessEqual(parameters.count(",") + 1, 6)

    def test_a_name_has_one_meaning_in_wave_programs_and_traversals(self):
        def names(folder):
            text = "".join(COMMENT.sub("", file.read_text()) for file in sorted((KERNELS / folder).glob("*.*")))
            macros, types = re.findall(r"#define (\w+)", text), re.findall(r"^\} (\w+);", text, re.M)
            return {*macros, *types, *re.findall(r"^\w[^;{}#()]*?\b(tg_\w+)\([^;{}]*\)\s*\{", text, re.M)}
        self.assertEqual(names("wave") & names("frontier"), set())

    def test_golden_vectors_are_the_shared_ones(self):
        own, shared = ROOT / "tests/golden", ROOT.parent / "shared/golden"
        if not shared.is_dir():
            self.skipTest("../shared/golden is not there")
        self.assertEqual({path.name: path.read_bytes() for path in own.iterdir()}, {path.name: path.read_bytes() for path in shared.iterdir()})
