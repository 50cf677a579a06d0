"""tidegate check: no error is reported that follows from another one (tests/app/transcripts/check.txt has the texts)."""

import json
import shutil
import xml.etree.ElementTree
from typing import Any

from support import EXAMPLES, REPOSITORY, Programs, run


class Check(Programs):
    def test_formats_of_ci(self) -> None:
        """Each service gets the place, the code and the fix; the exit code stays."""
        path = self.file("a,b.json", '{"buffers": {"x": {"type": "f32", "count": 8, "outputs": "x.npy"}},\n "ops": {}, "waves": []}\n')
        told = {name: run("check", "wave_program", "--format", name, str(path)) for name in ("github", "sarif", "junit")}
        self.assertEqual({result.rc for result in told.values()}, {3})
        place = str(path).replace(",", "%2C")
        self.assertIn(f"::error file={place},line=1,col=47,title=unknown_key::unknown key \"outputs\"%0Afix: did you mean \"output\"?\n",
                      told["github"].stdout)
        found, *_ = json.loads(told["sarif"].stdout)["runs"][0]["results"]
        self.assertEqual((found["ruleId"], found["level"]), ("unknown_key", "error"))
        self.assertEqual(found["locations"][0]["physicalLocation"],
                         {"artifactLocation": {"uri": str(path)}, "region": {"startLine": 1, "startColumn": 47}})
        suite = xml.etree.ElementTree.fromstring(told["junit"].stdout)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        failure = suite.find("testcase/failure")
        assert failure is not None
        self.assertEqual(failure.get("message"), 'unknown key "outputs"')

    def test_nothing_is_told_that_follows(self) -> None:
        """Every key and value of the examples wrong in turn, of elements of lists and named ones the first: each time only errors of form are told."""
        def mistakes(value: Any, named: frozenset[str], path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], str]]:
            """Places below `value` with what is done there; the keys of objects in `named` are free."""
            found: list[tuple[tuple[Any, ...], str]] = []
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
            for key, item in items:
                here = (*path, key)
                found.append((here, "null"))
                if isinstance(value, dict) and not (path and path[-1] in named):
                    found += [(here, "misspelt"), (here, "renamed")]
                found += mistakes(item, named, here)
            return found

        def changed(document: Any, path: tuple[Any, ...], change: str) -> str:
            copy = json.loads(json.dumps(document))
            holder = copy
            for key in path[:-1]:
                holder = holder[key]
            if change == "null":
                holder[path[-1]] = None
            else:
                holder[path[-1] + "q" if change == "misspelt" else "zz"] = holder.pop(path[-1])
            return json.dumps(copy)

        documents = [("wave_program", path) for path in sorted(EXAMPLES.glob("programs/*/program.json"))
                     if '"parameters"' not in path.read_text()]  # they are replaced before anything is looked at
        documents.append(("wave_program", REPOSITORY / "tests" / "corpus" / "image_filters.json"))
        documents += [("frontier_program", path) for path in sorted(EXAMPLES.glob("graphs/*.json"))]
        documents += [("wave_dag", EXAMPLES / "stereo_camera.json"), ("buffer_lifetimes", EXAMPLES / "stereo_buffers.json")]
        for kind, path in documents:
            folder = self.folder / path.parent.name
            if not folder.exists():
                shutil.copytree(path.parent, folder)
            document = json.loads(path.read_text())
            named = frozenset(("buffers", "images", "hits", "ops", "struct") if kind == "wave_program" else ())
            alike = set[Any]()
            lines = []
            for where, change in mistakes(document, named):
                kind_of_place = (change, *(0 if isinstance(key, int) or above in named else key for above, key in zip(("", *where), where)))
                if kind_of_place not in alike:
                    lines.append(changed(document, where, change))
                alike.add(kind_of_place)
            stream = folder / "wrong.ndjson"
            stream.write_text("\n".join(lines))
            reports = [json.loads(line) for line in run("check", kind, "--stream", str(stream)).stdout.splitlines()]
            self.assertEqual([report["checked"] for report in reports], [1] * len(lines))
            for line, told in zip(lines, (report["documents"][0] for report in reports)):
                self.assertIn("error", told, line)
                codes = {error["code"] for error in [told["error"], *told.get("others", [])]}
                self.assertLessEqual(codes, {"wrong_type", "unknown_key", "missing_key"}, (path.name, line, told))
