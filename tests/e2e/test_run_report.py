"""tidegate run --html: the page in headless Chromium. No script fails and nothing is fetched, its numbers are the
report's, it fits wide and narrow windows, light and dark, and the timeline can be wider.

A copy of the page lies in a frame of the width that is wanted: no window of Chromium's is narrower than 500. It gets two scripts of the
test: one that hears of errors before anything else runs, one that works the page and sends what it found, which Chromium then prints.
"""

import functools
import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from support import PATIENCE, Document, Programs, buffer, parse, program, run, wave, wrong_reads
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
    images: document.images.length, texts: Object.fromEntries([...document.querySelectorAll("[id]")].map((one) => [one.id, one.textContent])),
    fields: Object.fromEntries([...document.querySelectorAll("data")].map((one) => [one.dataset.field, Number(one.value)]))};
  const lanes = document.getElementById("lanes");
  if (lanes) {
    found.widths = ["wide4", "wide16"].map((id) => { document.getElementById(id).checked = true; return lanes.getBoundingClientRect().width; });
    found.drawn = [...new Set([...lanes.querySelectorAll("rect")].map((span) => span.getAttribute("fill")))].filter((fill) => fill);
  }
  parent.postMessage(JSON.stringify(found), "*");
}</script>"""
FRAME = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="found"></pre>
<script>addEventListener("message", (event) => { document.getElementById("found").textContent = event.data; });</script>
<iframe src="copy.html" style="width:{width}px;height:1200px;border:0"></iframe>"""


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
    sources = {"ops.cl": OPS}

    def page_of(self, document: Document, *args: str, rc: int = 0, **env: str) -> tuple[Document, Path]:
        page = self.folder / "page.html"
        result = self.run_document(document, "--html", str(page), *args, env=env)
        self.assertEqual(result.rc, rc, result.stderr)
        return parse(result.stdout), page

    def require_chromium(self) -> None:
        if not chromium_starts():
            self.skipTest("chromium does not start" if CHROMIUM else "chromium is not installed")

    def browse(self, page: Path, report: Document, width: int, dark: bool) -> Document:
        """What is found on it; every number that says where it is from is the one that is there."""
        text = page.read_text(encoding="utf-8")
        page.with_name("copy.html").write_text(text.replace("<head>", "<head>" + LISTEN, 1).replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'").replace("</body>", WORK + "</body>", 1), encoding="utf-8")
        frame = self.file("frame.html", FRAME.replace("{width}", str(width)))
        with tempfile.TemporaryDirectory(prefix="tidegate-chromium-") as profile:
            shown = dump_dom(frame.as_uri(), profile, max(width, 500), "--virtual-time-budget=3000",
                             f"--blink-settings=preferredColorScheme={0 if dark else 1}").decode()
        found: Document = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', shown, re.S)[1]))  # type: ignore[index]
        self.assertEqual([found[key] for key in ("failures", "fetched", "width", "images")], [[], [], width, 0])
        self.assertLessEqual(found["overflow"], 0)
        for field, value in found["fields"].items():
            self.assertEqual(value, functools.reduce(lambda inner, key: inner[key], field.split("."), report), field)
        return found

    def test_command_line(self) -> None:
        page = self.folder / "page.html"
        path = self.written(chain(1))
        result = run("run", path, "--dry-run", "--html", str(page))
        self.assertEqual(result.rc, 0, result.stderr)
        text = page.read_text()
        report = parse(result.stdout)
        self.assertEqual(block(page) | {"files_written": report["files_written"]}, report)
        self.assertEqual(block(page)["files_written"], [])
        self.assertIn(f"tidegate run {path} --dry-run --html {page}</pre>", text)
        self.assertNotIn('id="lanes"', text)
        self.assertEqual(report["files_written"], [{"file": str(page), "what": "page"}])

    def test_a_run(self) -> None:
        """Wide and light: numbers, and the timeline."""
        self.require_chromium()
        trace = self.folder / "trace.json"
        report, page = self.page_of(chain(4), "--strategy", "counters", "--workers", "2", "--compare", "3", "--trace", str(trace))
        self.assertEqual(block(page)["files_written"], report["files_written"][:-1])
        self.assertEqual([file["what"] for file in report["files_written"]], ['buffer "sum"', "trace", "page"])
        found = self.browse(page, report, 1280, dark=False)
        self.assertLessEqual({"comparison.speedup", "backend_dispatch_ns", "wall_time_ns"}, set(found["fields"]))
        for place, text in (("status", "done"), ("lead", f"done: {report['items_processed']} of {report['items_processed']} items"),
                            ("how-body", report["strategy_reason"]), ("how-body", "1 output equal to plain launches"),
                            ("policy-body", "execution_mode"), ("plan-body", "layered: 2 waves in 2 groups"), ("again-body", "trace.json")):
            self.assertIn(text, found["texts"][place])
        self.assertEqual(len(found["drawn"]), 2, found["drawn"])  # both waves
        self.assertAlmostEqual(found["widths"][1], 4 * found["widths"][0], delta=2)

    def test_outputs_that_differ(self) -> None:
        """Narrow and dark, and every name is hostile."""
        self.require_chromium()
        document = program({HOSTILE: buffer(count=8, init={"iota": {}}), "sum": buffer(count=8, output="sum.npy")},
                           wave("spread", HOSTILE, "sum", size=8, local=4, name=HOSTILE))
        report, page = self.page_of(document, "--strategy", "launch", "--verify", rc=1, **wrong_reads(32, last=1))
        texts = self.browse(page, report, 390, dark=True)["texts"]
        for place, text in (("status", "outputs differ"), ("error", report["error"]["message"]), ("how-body", "DIFFERENT"),
                            ("plan-body", "</script><img sr…lert(1)><!-- \\u202e\\u2028")):
            self.assertIn(text, texts[place])
        self.assertNotIn("\u202e", texts["plan-body"])


def block(page: Path) -> Any:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    if not found:
        raise AssertionError("the page has no data")
    return parse(found[1])
