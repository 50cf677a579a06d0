"""tidegate plan --format table and svg: everything is in the picture, also names that quote and escape.

The one idea: the picture is read back; its lines join waves by their places.

Run with TIDEGATE=/absolute/path/to/tidegate python3 test_plan_pictures.py
"""

from __future__ import annotations

import itertools
import json
import random
import re
import unittest
import xml.etree.ElementTree

from planning_support import SEED, STRATEGIES, U64, Planning, dag, edges_of, groups_of, random_dag, wave
from support import REPOSITORY, Document, parse, run

DIAMOND = dag([wave(10, 1, 2, name=name) for name in ("scan", "sort", "merge")] + [wave(2048)],
              [("scan", 1), (0, "merge"), (1, 3), (2, 3), (0, 3)], 4096)


SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """What stands in an SVG: waves by group, and dependencies by the places that their lines join."""

    def __init__(self, text: str) -> None:
        svg = xml.etree.ElementTree.fromstring(text)
        self.texts = [element.text or "" for element in svg.iter(f"{SVG}text")]
        self.groups = [self.place(box) for box in svg.iter(f"{SVG}rect") if box.get("class") == "group"]
        self.boxes: dict[str, tuple[float, ...]] = {}  # by the label of the first wave
        self.red_waves = set()
        for element in svg.iter(f"{SVG}g"):
            title, box = element.find(f"{SVG}title"), element.find(f"{SVG}rect")
            if title is not None and title.text and box is not None:
                name = title.text.split(": ")[0].split(", ")[0]
                self.boxes[name] = self.place(box)
                if box.get("class") == "box critical":
                    self.red_waves.add(name)
        bottoms = {name: (x + width / 2, y + height) for name, (x, y, width, height) in self.boxes.items()}
        tops = {name: (x + width / 2, y) for name, (x, y, width, height) in self.boxes.items()}
        self.edges, self.path = [], []
        for line in svg.iter(f"{SVG}path"):
            if line.get("class", "").startswith("edge"):
                numbers = [float(number) for number in re.findall(r"-?[\d.]+", line.attrib["d"])]
                edge = self.nearest(bottoms, numbers[:2]), self.nearest(tops, numbers[-2:])
                self.edges.append(edge)
                if line.get("class") == "edge critical":
                    self.path.append(edge)

    @staticmethod
    def place(box: xml.etree.ElementTree.Element) -> tuple[float, ...]:
        return tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))

    @staticmethod
    def nearest(places: dict[str, tuple[float, float]], point: list[float]) -> str:
        return next(name for name, (x, y) in places.items() if abs(x - point[0]) <= 1 and abs(y - point[1]) <= 1)

    def clusters(self) -> list[list[str]]:
        """The boxes that lie in each group; all lie in one."""
        inside = [[name for name, (x, y, width, height) in self.boxes.items()
                   if gx <= x and gy <= y and x + width <= gx + gw and y + height <= gy + gh] for gx, gy, gw, gh in self.groups]
        assert sorted(sum(inside, [])) == sorted(self.boxes)
        return [sorted(each) for each in inside]


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


class Drawn(Planning):
    def picture(self, given: Document, *options: str) -> Picture:
        return Picture(self.answer("plan", given, *options, "--format", "svg"))

    def test_every_group_wave_and_dependency(self) -> None:
        """Waves of one letter each are not alike."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        rng = random.Random(SEED + 4)
        for options in STRATEGIES:
            for given in (random_dag(rng, 15) for _ in range(5)):
                given["dependencies"] = [{"before": before, "after": after} for before, after in edges_of(given)]
                for each, letter in zip(given["waves"], letters, strict=False):
                    each["name"] = letter
                picture = self.picture(given, *options)
                self.assertEqual(picture.clusters(), [sorted(letters[wave] for wave in group)
                                                      for group in groups_of(self.answer("plan", given, *options))])
                direct = not_implied(set(edges_of(given)))
                self.assertEqual(sorted(picture.edges), sorted((letters[before], letters[after]) for before, after in direct))
                left_out = len(set(edges_of(given))) - len(direct)
                self.assertEqual(f"{left_out} arrow{'s' if left_out > 1 else ''} that others imply left out" in
                                 picture.texts, left_out > 0)
                length = longest_chain(given)
                self.assertEqual((len(picture.red_waves), len(picture.path)), (length, length - 1))
                befores, afters = ({edge[end] for edge in picture.path} for end in (0, 1))
                self.assertEqual((len(befores), len(afters)), (length - 1, length - 1), "one way through its waves")
                self.assertLessEqual(befores | afters, picture.red_waves)

    def test_waves_that_are_alike(self) -> None:
        """28 of a kind are one box, and each is counted in one box."""
        given = dag([wave(i + 1, name=f"part_{i}") for i in range(28)] + [wave(5), wave(5), wave(6), wave(1, name="join")],
                    [(i, 31) for i in range(31)])
        picture = self.picture(given)
        for text in ("part ×28", "1 byte to 28 bytes", "waves ×2", "5 bytes each", "30", "6 bytes"):
            self.assertEqual(picture.texts.count(text), 1, text)
        self.assertEqual(len(picture.boxes), 4)

    def test_text(self) -> None:
        texts = self.picture(DIAMOND).texts
        for text in ("layered: 4 waves in 3 groups, 2 barriers, proved to be the fewest",
                     "budget of a group 4 KiB, critical path of 3 waves in red", "1 arrow that others imply left out",
                     "group 1", "32 bytes, 0.7%", "scan", "2 KiB"):
            self.assertIn(text, texts)
        texts = self.picture(dag([wave(3)])).texts
        self.assertIn("no budget, critical path of 1 wave in red", texts)
        self.assertFalse([text for text in texts if "EiB" in text])

    def test_ends_of_the_range(self) -> None:
        self.assertEqual(self.picture(dag([], (), 0)).groups, [])
        self.assertEqual(self.picture(dag([wave(0)], (), 0)).clusters(), [["0"]])
        self.assertIn("15.9 EiB, 100.0%", self.picture(dag([wave(U64 - 1)], (), U64 - 1)).texts)

    def test_names(self) -> None:
        """Names show as they are; what no picture can hold shows as its bytes."""
        shown = {'"': '"', "\\": "\\", "two\nlines": "two\\x0alines", "größe": "größe", "波 😀": "波 😀", "<b>": "<b>",
                 "\t\u001b[31m": "\\x09\\x1b[31m", "%s {}": "%s {}", "a&lt;b": "a&lt;b", "&amp;": "&amp;", "&#1;": "&#1;",
                 "\uffff": "\ufffd", "x" * 20 + "y" * 20: "x" * 16 + "…" + "y" * 15}
        texts = self.picture(dag([wave(i, name=name) for i, name in enumerate(shown)], (), 1000)).texts
        for text in shown.values():
            self.assertEqual(texts.count(text), 1, f"{text!r} in {texts}")

    def test_boxes_lie_in_their_group_and_apart(self) -> None:
        given = dag([wave(i + 1, name=f"a longer name of wave {chr(97 + i)}") for i in range(20)], [(i, 19) for i in range(19)])
        picture = self.picture(given)
        self.assertEqual([len(names) for names in picture.clusters()], [19, 1])
        for (x1, y1, w1, h1), (x2, y2, w2, h2) in itertools.combinations(picture.boxes.values(), 2):
            self.assertTrue(x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1)

    def test_overview(self) -> None:
        """Of many groups all are in the overview, and those that are drawn in another colour."""
        given = dag([wave(i + 1) for i in range(500)], [(i, i + 1) for i in range(499)])
        svg = xml.etree.ElementTree.fromstring(self.answer("plan", given, "--format", "svg"))
        texts = [element.text or "" for element in svg.iter(f"{SVG}text")]
        self.assertIn("all 500 groups, the largest of 500 bytes", texts)
        self.assertIn("200 groups more", texts)
        self.assertIn("300 of 500 waves are drawn", texts)
        bars = [bar.get("class") for bar in svg.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
        self.assertEqual((bars.count("full"), bars.count("soft")), (240, 160))

    def test_program(self) -> None:
        svg = run("plan", str(REPOSITORY / "examples/programs/heat/program.json"), "--format", "svg").stdout
        self.assertIn(">500 iterations</text>", svg)

    def test_name_of_the_output_means_its_format(self) -> None:
        for name, format in (("plan.svg", "svg"), ("plan.json", "json"), ("svg", "json")):
            path = self.folder / name
            self.assertEqual(run("plan", "-o", str(path), input=json.dumps(DIAMOND)), (0, "", ""))
            self.assertEqual(path.read_text(encoding="utf-8"),
                             run("plan", "--format", format, input=json.dumps(DIAMOND)).stdout, name)
        path = self.folder / "table.svg"
        run("plan", "--format", "table", "-o", str(path), input=json.dumps(DIAMOND))
        self.assertTrue(path.read_text(encoding="utf-8").startswith("layered: "), "what is said counts")

    def test_a_refused_dag_is_not_drawn(self) -> None:
        for format in ("table", "svg"):
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
