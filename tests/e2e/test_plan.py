"""tidegate plan and arena draw pictures (tests/planning holds the planners, tests/app/transcripts the documents)."""

import json
import xml.etree.ElementTree
from typing import Any

from support import Programs, run


class Planning(Programs):
    def test_pictures(self) -> None:
        """Names show as they are; what no picture can hold shows as its bytes."""
        shown = {'"': '"', "two\nlines": "two\\x0alines", "波 😀": "波 😀", "<b>": "<b>", "\t\u001b[31m": "\\x09\\x1b[31m", "&amp;": "&amp;",
                 "\uffff": "\ufffd", "x" * 20 + "y" * 20: "x" * 16 + "…" + "y" * 15}
        given: Any = {"waves": [{"name": name, "frontier_bytes": i, "scratch_bytes": 0, "output_bytes": 0} for i, name in enumerate(shown)], "budget_bytes": 1000, "dependencies": []}
        arena: Any = {"buffers": [{"id": "a<b", "lower": 0, "upper": 2**63, "size": 2**61}, {"id": 7, "lower": 0, "upper": 2**64 - 1, "size": 2**62}]}
        for command, document, texts in (("plan", given, list(shown.values())), ("arena", arena, ["a<b", "7  4 EiB"])):
            result = run(command, "-o", str(self.folder / "picture.svg"), input=json.dumps(document))
            self.assertEqual(result, (0, "", ""))
            svg = xml.etree.ElementTree.parse(self.folder / "picture.svg")
            found = [element.text or "" for element in svg.iter() if element.tag.endswith("text")]
            for text in texts:
                self.assertEqual(sum(text in one for one in found) if command == "arena" else found.count(text), 1, f"{text!r} in {found}")
