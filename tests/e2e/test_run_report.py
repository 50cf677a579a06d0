"""tidegate run --report: the page in headless Chromium. No script fails and nothing is fetched, its numbers are the
report's, it fits wide and narrow windows, light and dark, and the timeline obeys the keyboard.

A copy of the page gets two scripts of the test: one that hears of errors before anything else runs, one that works the
page and leaves what it found in the document, which Chromium then prints.
"""

from __future__ import annotations

import functools
import html.parser
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from support import PATIENCE, Document, parse, run
from test_run import Programs, buffer, program, wave, wrong_reads
from test_run_trace import OPS, chain

CHROMIUM = shutil.which("chromium")
HOSTILE = "</script><img src=x onerror=alert(1)><!-- \u202e\u2028"

LISTEN = """<script>
const failures = [];
addEventListener("error", (event) => failures.push(event.message));
addEventListener("securitypolicyviolation", (event) => failures.push(event.blockedURI));
</script>"""
WORK = """<script>{
  const found = {failures, width: innerWidth, overflow: document.documentElement.scrollWidth - innerWidth,
    fetched: performance.getEntriesByType("resource").map((entry) => entry.name),
    images: document.images.length};
  const lanes = document.getElementById("lanes");
  if (lanes) {
    const press = (key) => {
      lanes.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
      const {from, to} = document.getElementById("range").dataset;
      return {from: Number(from), to: Number(to)};
    };
    lanes.focus();
    found.focused = document.activeElement === lanes;
    found.outline = getComputedStyle(lanes).outlineStyle;
    found.keys = Object.fromEntries(["0", "+", "ArrowRight", "-"].map((key) => [key, press(key)]));
    found.keys.whole = press("0");
    found.drawn = [...new Set([...lanes.querySelectorAll("rect")].map((span) => span.getAttribute("fill")))].filter((fill) => fill);
  }
  const left = document.createElement("script");
  left.type = "application/json";
  left.id = "found";
  left.textContent = JSON.stringify(found).replaceAll("<", "\\\\u003c");
  document.body.append(left);
  if (parent !== window) parent.postMessage(document.documentElement.outerHTML, "*");
}</script>"""
# No window of Chromium's is narrower; what is lies in a frame.
LEAST_WIDTH = 500
FRAME = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="inner"></pre>
<script>addEventListener("message", (event) => { document.getElementById("inner").textContent = event.data; });</script>
<iframe src="copy.html" style="width:{width}px;height:1200px;border:0"></iframe>"""


class Elements(html.parser.HTMLParser):
    """Texts of elements with an id, values of <data>, and how often there is which tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.tags: dict[str, int] = {}
        self.open: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        given = dict(attrs)
        if tag == "data":
            self.fields[given["data-field"] or ""] = given["value"] or ""
        if tag not in ("meta", "link", "input", "br", "img"):
            self.open.append((tag, given.get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data


@functools.cache
def chromium_starts() -> bool:
    """Whether there is one, and it starts here: in a container it may lack what it needs."""
    if CHROMIUM is None:
        return False
    with tempfile.TemporaryDirectory(prefix="tidegate-chromium-") as profile:
        try:
            done = dump_dom("about:blank", profile, 500)
        except (OSError, subprocess.SubprocessError):
            return False
    return b"<html>" in done


def dump_dom(url: str, profile: str, width: int, *args: str) -> bytes:
    return subprocess.run(
        [str(CHROMIUM), "--no-sandbox", "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         f"--user-data-dir={profile}", f"--window-size={width},1200", *args, "--dump-dom", url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=True).stdout


class Page(Programs):
    def setUp(self) -> None:
        super().setUp()
        self.file("ops.cl", OPS)

    def page_of(self, document: Document, *args: str, rc: int = 0, **env: str) -> tuple[Document, Path]:
        page = self.folder / "page.html"
        result = self.run_document(document, "--report", str(page), *args, env=env)
        self.assertEqual(result.rc, rc, result.stderr)
        return parse(result.stdout), page

    def require_chromium(self) -> None:
        if not chromium_starts():
            self.skipTest("chromium does not start" if CHROMIUM else "chromium is not installed")

    def browse(self, page: Path, width: int, dark: bool) -> tuple[Document, Elements]:
        text = page.read_text(encoding="utf-8")
        copy = page.with_name("copy.html")
        copy.write_text(text.replace("<head>", "<head>" + LISTEN, 1).replace("</body>", WORK + "</body>", 1), encoding="utf-8")
        framed = width < LEAST_WIDTH
        shown = copy
        if framed:
            shown = self.file("frame.html", FRAME.replace("{width}", str(width)))
        with tempfile.TemporaryDirectory(prefix="tidegate-chromium-") as profile:
            done = dump_dom(shown.as_uri(), profile, width, "--virtual-time-budget=3000",
                            f"--blink-settings=preferredColorScheme={0 if dark else 1}")
        elements = Elements(done.decode())
        if framed:
            elements = Elements(elements.texts["inner"])
        found = json.loads(elements.texts["found"])
        self.assertEqual(found["failures"], [])
        self.assertEqual(found["fetched"], [])
        self.assertEqual(found["width"], width)
        self.assertLessEqual(found["overflow"], 0)
        self.assertEqual(found["images"], 0)
        return found, elements

    def assert_numbers(self, elements: Elements, report: Document) -> None:
        """Every number that says where it is from is the one that is there."""
        for field, value in elements.fields.items():
            self.assertEqual(float(value), functools.reduce(lambda inner, key: inner[key], field.split("."), report), field)

    def test_command_line(self) -> None:
        page = self.folder / "page.html"
        path = self.file("program.json", json.dumps(chain(1)))
        result = run("run", str(path), "--dry-run", "--report", str(page), "--trace", str(self.folder / "no.json"))
        self.assertEqual(result.rc, 0, result.stderr)
        text = page.read_text()
        report = parse(result.stdout)
        self.assertEqual(block(page) | {"files_written": report["files_written"]}, report)
        self.assertEqual(block(page)["files_written"], [])
        self.assertIn(f"tidegate run {path} --dry-run --report {page} --trace {self.folder / 'no.json'}</pre>", text)
        self.assertNotIn('id="lanes"', text)
        self.assertEqual(report["files_written"], [{"file": str(page), "what": "page", "bytes": page.stat().st_size}])
        self.assertFalse((self.folder / "no.json").exists())

    def test_a_run(self) -> None:
        """Wide and light: numbers, and the timeline by keyboard."""
        self.require_chromium()
        trace = self.folder / "trace.json"
        report, page = self.page_of(chain(4), "--strategy", "counters", "--workers", "2", "--compare", "3", "--trace", str(trace))
        self.assertEqual(block(page)["files_written"], report["files_written"][:-1])
        self.assertEqual([(file["what"], file["bytes"]) for file in report["files_written"]],
                         [('buffer "sum"', (self.folder / "sum.npy").stat().st_size), ("trace", trace.stat().st_size),
                          ("page", page.stat().st_size)])
        found, elements = self.browse(page, 1280, dark=False)
        self.assert_numbers(elements, report)
        for field in ("comparison.speedup", "backend_dispatch_ns", "wall_time_ns"):
            self.assertIn(field, elements.fields)
        self.assertEqual(elements.texts["status"], "done")
        self.assertIn(f"done: {report['items_processed']} of {report['items_processed']} items", elements.texts["lead"])
        for text in ("2 waves in 2 groups, 4 iterations", report["strategy_reason"], report["mode_reason"], "1 output equal to plain launches"):
            self.assertIn(text, elements.texts["how-body"])
        self.assertIn("execution_mode", elements.texts["policy-body"])
        self.assertIn("layered: 2 waves in 2 groups", elements.texts["plan-body"])
        self.assertIn("trace.json", elements.texts["again-body"])
        self.assertEqual(len(found["drawn"]), 2, found["drawn"])  # both waves, in their colours
        keys = found["keys"]
        self.assertTrue(found["focused"])
        self.assertEqual(found["outline"], "solid")
        whole = keys["0"]
        self.assertEqual(whole["from"], 0)
        self.assertAlmostEqual(keys["+"]["to"] - keys["+"]["from"], whole["to"] / 2, delta=1)
        self.assertGreater(keys["ArrowRight"]["from"], keys["+"]["from"])
        self.assertEqual((keys["whole"]["from"], keys["whole"]["to"]), (0, whole["to"]))

    def test_outputs_that_differ(self) -> None:
        """Narrow and dark, and every name is hostile."""
        self.require_chromium()
        document = program({HOSTILE: buffer(count=8, init={"iota": {}}), "sum": buffer(count=8, output="sum.npy")},
                           wave("spread", HOSTILE, "sum", size=8, local=4, name=HOSTILE))
        report, page = self.page_of(document, "--strategy", "launch", "--verify", rc=1, **wrong_reads(32, last=1))
        _, elements = self.browse(page, 390, dark=True)
        self.assert_numbers(elements, report)
        self.assertEqual(elements.texts["status"], "outputs differ")
        self.assertIn(report["error"]["message"], elements.texts["error"])
        self.assertIn("DIFFERENT", elements.texts["how-body"])
        self.assertIn("</script><img src=x onerror=alert(1)><!-- \\u202e\\u2028", elements.texts["plan-body"])
        self.assertNotIn("\u202e", elements.texts["plan-body"])
        self.assertEqual([file["what"] for file in report["files_written"]], ["page"])

def block(page: Path) -> Any:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    if not found:
        raise AssertionError("the page has no data")
    return parse(found[1])
