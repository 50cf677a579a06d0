"""tidegate plan --format table, dot and svg: everything is in the picture, also names that quote and escape.

The one idea: the picture is read back, as the text for Graphviz and as an SVG.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_plan_pictures.py; without Graphviz its drawings are not read.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree
from collections.abc import Callable

from planning_support import (COMPACT, LAYERED, SEED, STRATEGIES, U64, Planning, dag, edges_of, groups_of,
                              random_dag, wave)
from support import REPOSITORY, Document, parse, run

DIAMOND = dag([wave(10, 1, 2, name=name) for name in ("scan", "sort", "merge")] + [wave(2048)],
              [("scan", 1), (0, "merge"), (1, 3), (2, 3), (0, 3)], 4096)


class Picture:
    """What stands in the text that dot draws."""

    def __init__(self, text: str) -> None:
        self.text = text
        title, body = re.fullmatch(r'digraph tidegate \{\n.*?label="((?:[^"\\]|\\.)*)"; labelloc=t;[^\n]*\n(.*)\}\n',
                                   text, re.DOTALL).groups()
        self.title = title.split(r"\l")
        self.clusters = {int(number): [int(wave) for wave in re.findall(r"^    w(\d+) \[label=", inside, re.MULTILINE)]
                         for number, inside in re.findall(r"^  subgraph cluster_(\d+) \{\n(.*?)^  \}\n", body,
                                                          re.DOTALL | re.MULTILINE)}
        edges = re.findall(r"^  w(\d+) -> w(\d+)( \[color=[^\n]*\])?;$", body, re.MULTILINE)
        self.edges = [(int(before), int(after)) for before, after, _ in edges]
        self.path = sorted((int(before), int(after)) for before, after, red in edges if "#c0392b" in red)
        red_waves = re.findall(r'^    w(\d+) \[[^\n]*, color="#c0392b"', body, re.MULTILINE)
        self.red_waves = {int(wave) for wave in red_waves}


def not_implied(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The edges that no way of two or more others stands for."""
    after: dict[int, set[int]] = {}
    for one, other in edges:
        after.setdefault(one, set()).add(other)

    def reached(wave: int, seen: set[int]) -> set[int]:
        for other in after.get(wave, set()) - seen:
            seen.add(other)
            reached(other, seen)
        return seen

    return {(one, other) for one, other in edges
            if not any(other in reached(between, set()) for between in after[one] - {other})}


def longest_chain(given: Document) -> int:
    length = [1] * len(given["waves"])
    for _ in length:
        for before, after in edges_of(given):
            length[after] = max(length[after], length[before] + 1)
    return max(length)


class Dot(Planning):
    def test_every_group_wave_and_dependency(self) -> None:
        rng = random.Random(SEED + 4)
        for options in STRATEGIES:
            for given in (DIAMOND, *(random_dag(rng, 15) for _ in range(10))):
                picture = Picture(self.answer("plan", given, *options, "--format", "dot", "--each-wave"))
                groups = groups_of(self.answer("plan", given, *options))
                self.assertEqual(picture.clusters, dict(enumerate(groups)))
                direct = not_implied(set(edges_of(given)))
                self.assertEqual(sorted(picture.edges), sorted(direct))
                left_out = len(set(edges_of(given))) - len(direct)
                self.assertEqual(f"{left_out} arrow{'s' if left_out > 1 else ''} that others imply left out" in
                                 picture.title, left_out > 0)
                self.assertNotIn("are drawn", picture.text)

    def test_waves_that_are_alike(self) -> None:
        """28 of a kind are one box, and each is counted in one box."""
        given = dag([wave(i + 1, name=f"part_{i}") for i in range(28)] + [wave(5), wave(5), wave(6), wave(1, name="join")],
                    [(i, 31) for i in range(31)])
        text = self.answer("plan", given, "--format", "dot")
        self.assertIn('label="part ×28\\n1 byte to 28 bytes", color=', text)
        self.assertIn('label="waves ×2\\n5 bytes each"]', text)
        self.assertIn('label="30\\n6 bytes"]', text)
        self.assertEqual(len(re.findall(r"^  w", text, re.MULTILINE)), 3)

    def test_no_limit_is_no_number(self) -> None:
        text = self.answer("plan", dag([wave(3)]), "--format", "dot")
        self.assertNotIn("EiB", text)
        self.assertIn("no budget, critical path", text)
        self.assertIn('label="group 0\\l3 bytes\\l"', text)

    def test_critical_path(self) -> None:
        rng = random.Random(SEED + 5)
        for given in (DIAMOND, *(random_dag(rng, 15) for _ in range(20))):
            picture = Picture(self.answer("plan", given, "--format", "dot", "--each-wave"))
            length = longest_chain(given)
            self.assertEqual(len(picture.red_waves), length)
            self.assertEqual(len(picture.path), length - 1)
            self.assertLessEqual(set(picture.path), set(edges_of(given)))
            befores, afters = ({edge[end] for edge in picture.path} for end in (0, 1))
            self.assertEqual((len(befores), len(afters)), (length - 1, length - 1), "one way through its waves")
            self.assertLessEqual(befores | afters, picture.red_waves)
            self.assertIn(f"critical path of {length} wave{'' if length == 1 else 's'} in red", picture.title[1])

    def test_text(self) -> None:
        text = self.answer("plan", DIAMOND, "--format", "dot")
        picture = Picture(text)
        self.assertEqual(picture.title, ["layered: 4 waves in 3 groups, 2 barriers, proved to be the fewest",
                                         "budget of a group 4 KiB, critical path of 3 waves in red",
                                         "1 arrow that others imply left out", ""])
        self.assertIn(', label="group 1\\l32 bytes, 0.7%\\l"];', text)
        self.assertIn('    w0 [label="scan\\n16 bytes", color=', text)
        self.assertIn('    w3 [label="3\\n2 KiB", color=', text)
        self.assertIn("  w0 -> w2;\n", text)

    def test_fuller_groups_are_darker(self) -> None:
        given = dag([wave(0), wave(50), wave(100)], [(0, 1), (1, 2)], 100)
        colours = [int(colour, 16) for colour in re.findall(r'fillcolor="#([0-9a-f]{6})";', self.answer(
            "plan", given, "--format", "dot"))]
        self.assertEqual(colours[0], 0xf4f8fc)
        self.assertEqual(colours[2], 0x7fb2dd)
        self.assertEqual(sorted(colours, reverse=True), colours)

    def test_most_waves(self) -> None:
        given = dag([wave(1)] * 10, [(i, i + 1) for i in range(4)], 3)
        groups = groups_of(self.answer("plan", given))
        self.assertEqual([len(group) for group in groups], [3, 3, 1, 1, 1, 1])
        for most in range(1, 11):
            picture = Picture(self.answer("plan", given, "--format", "dot", "--each-wave", "--most-waves", str(most)))
            drawn = sum(groups, [])[:most]
            self.assertEqual(sum(picture.clusters.values(), []), drawn)
            self.assertEqual(sorted(picture.edges), [edge for edge in edges_of(given) if set(edge) <= set(drawn)])
            notice = f"{most} of 10 waves are drawn; --most-waves draws more"
            self.assertEqual(notice in picture.title, most < 10)
            left = len(groups) - len(picture.clusters)
            self.assertEqual(f'label="{left} group{"s" if left > 1 else ""} more"' in picture.text, left > 0)
            cut = sum(map(len, groups[:len(picture.clusters)])) - most
            self.assertEqual(f'label="{cut} wave{"s" if cut > 1 else ""} more"' in picture.text, cut > 0)

    def test_most_waves_unless_told(self) -> None:
        given = dag([wave(1)] * 301)
        text = self.answer("plan", given, "--format", "dot", "--each-wave")
        self.assertIn("300 of 301 waves are drawn", text)
        self.assertEqual(len(Picture(text).clusters[0]), 300)
        for most in ("0", "301", "1000000"):
            text = self.answer("plan", given, "--format", "dot", "--each-wave", "--most-waves", most)
            self.assertEqual(len(Picture(text).clusters[0]), 301)
            self.assertNotIn("are drawn", text)

    def test_ends_of_the_range(self) -> None:
        self.assertEqual(Picture(self.answer("plan", dag([], (), 0), "--format", "dot")).clusters, {})
        self.assertEqual(Picture(self.answer("plan", dag([wave(0)], (), 0), "--format", "dot")).clusters, {0: [0]})
        text = self.answer("plan", dag([wave(U64 - 1)], (), U64 - 1), "--format", "dot")
        self.assertIn('label="group 0\\l15.9 EiB, 100.0%\\l"', text)
        self.assertIn('fillcolor="#7fb2dd";', text)


SVG = "{http://www.w3.org/2000/svg}"


class Drawn(Planning):
    """The SVG, which is drawn without Graphviz, and what Graphviz makes of the text for it."""

    def texts(self, given: Document, *options: str) -> list[str]:
        svg = self.answer("plan", given, *options, "--format", "svg")
        return [element.text or "" for element in xml.etree.ElementTree.fromstring(svg).iter(f"{SVG}text")]

    def texts_of_dot(self, given: Document, *options: str) -> list[str]:
        dot = self.answer("plan", given, *options, "--format", "dot")
        drawn = subprocess.run(["dot", "-Tsvg"], input=dot.encode(), capture_output=True, check=True)
        self.assertEqual(drawn.stderr, b"", "dot complains")
        return [(element.text or "").replace("\u00a0", " ")
                for element in xml.etree.ElementTree.fromstring(drawn.stdout.decode()).iter(f"{SVG}text")]

    def both(self) -> list[Callable[..., list[str]]]:
        return [self.texts, self.texts_of_dot] if shutil.which("dot") else [self.texts]

    def test_groups_and_waves(self) -> None:
        for options in (LAYERED, COMPACT):
            for texts_of in self.both():
                texts = texts_of(DIAMOND, *options)
                for text in ("group 0", "group 1", "group 2", "scan", "sort", "merge", "3", "2 KiB"):
                    self.assertGreaterEqual(texts.count(text), 1, text)

    def test_names(self) -> None:
        """Names show as they are; what no picture can hold shows as its bytes."""
        shown = {'"': '"', "\\": "\\", "a\\nb": "a\\nb", 'end\\"': 'end\\"', "two\nlines": "two\\x0alines",
                 "\\N \\G \\l": "\\N \\G \\l", "größe": "größe", "波 😀": "波 😀", "a;b}{c]": "a;b}{c]", "<b>": "<b>",
                 "a -> b": "a -> b", "\t\u0000\u001b[31m": "\\x09\\x00\\x1b[31m", "%s {}": "%s {}", "node": "node",
                 "x" * 20 + "y" * 20: "x" * 16 + "…" + "y" * 15}
        given = dag([wave(i, name=name) for i, name in enumerate(shown)], (), 1000)
        for texts_of in self.both():
            texts = texts_of(given)
            for text in shown.values():
                self.assertEqual(texts.count(text), 1, f"{text!r} in {texts}")

    def test_names_like_entities(self) -> None:
        names = ["a&lt;b", "&amp;", "R&D"]
        for texts_of in self.both():
            texts = texts_of(dag([wave(i, name=name) for i, name in enumerate(names)], (), 1000))
            for name in names:
                self.assertEqual(texts.count(name), 1, f"{name!r} in {texts}")

    def test_names_that_xml_forbids(self) -> None:
        for texts_of in self.both():
            texts_of(dag([wave(1, name="&#1;"), wave(1, name="\uffff")], (), 1000))

    def test_random_dags(self) -> None:
        """Every group; a path for each arrow, and as many in red as in the text for Graphviz."""
        rng = random.Random(SEED + 6)
        for _ in range(10):
            given = random_dag(rng, 15)
            svg = xml.etree.ElementTree.fromstring(self.answer("plan", given, "--format", "svg", "--each-wave"))
            picture = Picture(self.answer("plan", given, "--format", "dot", "--each-wave"))
            texts = [element.text or "" for element in svg.iter(f"{SVG}text")]
            self.assertEqual(sum(text.startswith("group ") for text in texts), len(picture.clusters))
            paths = [path.get("class", "") for path in svg.iter(f"{SVG}path")]
            self.assertEqual((paths.count("edge"), paths.count("edge critical")),
                             (len(picture.edges) - len(picture.path), len(picture.path)))
            boxes = [box.get("class", "") for box in svg.iter(f"{SVG}rect")]
            self.assertEqual(boxes.count("box critical"), len(picture.red_waves))

    def test_boxes_lie_in_their_group_and_apart(self) -> None:
        given = dag([wave(i + 1, name=f"a longer name of wave {chr(97 + i)}") for i in range(20)], [(i, 19) for i in range(19)])
        svg = xml.etree.ElementTree.fromstring(self.answer("plan", given, "--format", "svg", "--each-wave"))

        def places(kind: str) -> list[tuple[float, ...]]:
            return [tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
                    for box in svg.iter(f"{SVG}rect") if box.get("class", "").split(" ")[0] == kind]
        groups, boxes = places("group"), places("box")
        self.assertEqual((len(groups), len(boxes)), (2, 20))
        for x, y, width, height in boxes:
            self.assertTrue(any(gx <= x and gy <= y and x + width <= gx + gw and y + height <= gy + gh for gx, gy, gw, gh in groups))
        for (x1, y1, w1, h1), (x2, y2, w2, h2) in itertools.combinations(boxes, 2):
            self.assertTrue(x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1)

    def test_overview(self) -> None:
        """Of many groups all are in the overview, and those that are drawn in another colour."""
        given = dag([wave(i + 1) for i in range(500)], [(i, i + 1) for i in range(499)])
        svg = xml.etree.ElementTree.fromstring(self.answer("plan", given, "--format", "svg"))
        texts = [element.text or "" for element in svg.iter(f"{SVG}text")]
        self.assertIn("all 500 groups, the largest of 500 bytes", texts)
        self.assertIn("200 groups more", texts)
        self.assertIn("300 of 500 waves are drawn; --most-waves draws more", texts)
        bars = [bar.get("class") for bar in svg.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
        self.assertEqual((bars.count("full"), bars.count("soft")), (240, 160))

    def test_program(self) -> None:
        svg = run("plan", str(REPOSITORY / "examples/programs/heat/program.json"), "--format", "svg").stdout
        self.assertIn(">500 iterations</text>", svg)

    def test_name_of_the_output_means_its_format(self) -> None:
        for name, format in (("plan.svg", "svg"), ("plan.dot", "dot"), ("plan.json", "json"), ("svg", "json")):
            path = self.folder / name
            self.assertEqual(run("plan", "-o", str(path), input=json.dumps(DIAMOND)), (0, "", ""))
            self.assertEqual(path.read_text(encoding="utf-8"),
                             run("plan", "--format", format, input=json.dumps(DIAMOND)).stdout, name)
        path = self.folder / "table.svg"
        run("plan", "--format", "table", "-o", str(path), input=json.dumps(DIAMOND))
        self.assertTrue(path.read_text(encoding="utf-8").startswith("layered: "), "what is said counts")

    def test_a_refused_dag_is_not_drawn(self) -> None:
        for format in ("table", "dot", "svg"):
            error = self.error("plan", dag([wave(1)] * 2, [(0, 1), (1, 0)]), "--format", format)
            self.assertEqual(error["code"], "cycle")


class Arena(Planning):
    """tidegate arena --format svg: each buffer at its time and offset."""

    BUFFERS: Document = {"buffers": [
        {"id": "a<b", "lower": 0, "upper": 10, "size": 1024}, {"id": 7, "lower": 0, "upper": 5, "size": 1024},
        {"id": "none", "lower": 2, "upper": 3, "size": 0}], "capacity_bytes": 4096}

    def test_boxes(self) -> None:
        result = run("arena", "--format", "svg", input=json.dumps(self.BUFFERS))
        self.assertEqual((result.rc, result.stderr), (0, ""))
        svg = xml.etree.ElementTree.fromstring(result.stdout)
        name = "{http://www.w3.org/2000/svg}"
        boxes = {group.find(f"{name}title").text: group.find(f"{name}rect").attrib for group in svg.iter(f"{name}g")}
        plan = parse(run("arena", input=json.dumps(self.BUFFERS)).stdout)
        offsets = {buffer["id"]: buffer["offset"] for buffer in plan["buffers"]}
        self.assertEqual(set(boxes), {f"a<b: 1 KiB at {offsets['a<b']}, alive in [0, 10)",
                                      f"7: 1 KiB at {offsets[7]}, alive in [0, 5)"})
        for buffer in self.BUFFERS["buffers"][:2]:
            box, = (box for title, box in boxes.items() if title.startswith(f"{buffer['id']}:"))
            # 860 pixels are 10 units of time, 490 are 2 KiB
            self.assertEqual([float(box[key]) for key in ("x", "width", "y", "height")],
                             [80, 86 * buffer["upper"], 70 + 245 * (offsets[buffer["id"]] == 0), 245])
        texts = [element.text for element in svg.iter(f"{name}text")]
        for text in ("arena of 2 KiB (2048 bytes) for 3 buffers, which is the least possible",
                     "lower bound 2 KiB, capacity 4 KiB", "0 bytes", "1 KiB", "2 KiB", "10", "time"):
            self.assertIn(text, texts)

    def test_ends_of_the_range(self) -> None:
        for buffers in ([], [{"id": 0, "lower": U64 - 1, "upper": U64, "size": 1}],
                        [{"id": "\uffff\u001b&", "lower": 0, "upper": U64, "size": 2**62}]):
            xml.etree.ElementTree.fromstring(
                run("arena", "--format", "svg", input=json.dumps({"buffers": buffers})).stdout)

    def test_name_of_the_output_means_its_format(self) -> None:
        path = self.folder / "arena.svg"
        self.assertEqual(run("arena", "-o", str(path), input=json.dumps(self.BUFFERS)), (0, "", ""))
        self.assertTrue(path.read_text(encoding="utf-8").startswith("<svg "))


class Table(Planning):
    def test_text(self) -> None:
        self.assertEqual(self.answer("plan", {**DIAMOND, "resident_graph_bytes": 1024}, "--format", "table"), """\
layered: 4 waves in 3 groups, 2 barriers, proved to be the fewest

group  waves  fused bytes  of budget             left  which
    0      1     16 bytes       0.5%          2.9 KiB  scan
    1      2     32 bytes       1.0%          2.9 KiB  sort, merge
    2      1        2 KiB      66.6%  █████▎    1 KiB  3

budget of a group  3 KiB: 4 KiB less the resident graph's 1 KiB
largest group      2 KiB 66.6%
peaks              2 KiB frontier, 2 bytes scratch, 4 bytes output
readback           4 bytes
widest group       2 waves
lower bound        3 groups
""")

    def test_every_group_and_the_bound(self) -> None:
        rng = random.Random(SEED + 7)
        for options in STRATEGIES:
            for given in (random_dag(rng, 40) for _ in range(10)):
                plan = self.answer("plan", given, *options)
                lines = self.answer("plan", given, *options, "--format", "table").splitlines()
                rows = [line.split() for line in lines[3:lines.index("", 3)]]
                sizes = [(int(row[0]), int(row[1])) for row in rows if row[0].isdigit() and row[1].isdigit()]
                self.assertEqual(sizes, [(i, len(group)) for i, group in enumerate(groups_of(plan))])
                bound = plan["lower_bound_groups"]
                self.assertRegex(lines[-1], rf"^lower bound +{bound} group{'' if bound == 1 else 's'}$")
                self.assertTrue(lines[0].endswith("proved to be the fewest" if plan["optimal"] else
                                                  f"at least {bound} needed"), lines[0])

    def test_long_plans_are_cut_in_the_middle(self) -> None:
        def table(count: int) -> list[str]:
            given = dag([wave(1)] * count, [(i, i + 1) for i in range(count - 1)])
            return self.answer("plan", given, "--format", "table").splitlines()

        rows = table(100)[3:103]
        self.assertEqual([row.split()[0] for row in rows], [str(i) for i in range(100)])
        rows = table(250)[3:104]
        self.assertEqual([row.split()[0] for row in rows],
                         [*map(str, range(90)), "…", *map(str, range(240, 250))])
        self.assertRegex(rows[90], "150 groups not shown$")

    def test_names_do_not_break_lines(self) -> None:
        given = dag([wave(1, name="a\nb\u001b[31m"), wave(1, name="größe" * 20), *[wave(1)] * 8])
        table = self.answer("plan", given, "--format", "table")
        self.assertIn("a\\x0ab\\x1b[31m, größegrößegrößeg…größegrößegröße, 2, 3, 4, 5 and 4 more\n",
                      re.sub(r"\n +", " ", table))


if __name__ == "__main__":
    unittest.main()
