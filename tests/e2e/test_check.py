"""tidegate check: verdicts, several files, summaries, exit codes."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from support import EXAMPLES, run

REQUEST = (EXAMPLES / "bfs_wave.json").read_text()


class Check(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def file(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def test_valid(self) -> None:
        answer = run("recommend", "--evidence", "all", input=REQUEST).stdout
        result = run("check", "-", input=answer)
        self.assertEqual((result.rc, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout), {
            "kind": "check_report", "schema_version": 1, "checked": 1, "valid": 1, "failed": 0,
            "documents": [{"file": "-", "document": "launch_recommendation", "verdict": "valid"}]})

    def test_named_type(self) -> None:
        result = run("check", "measured_costs", str(EXAMPLES / "measured_costs.json"))
        self.assertEqual(result.rc, 0)
        everything = run("check", *map(str, sorted(EXAMPLES.glob("*.json"))))
        self.assertEqual((everything.rc, everything.stderr), (0, ""))
        unnamed = run("check", input='{"queue_len": 1}')
        self.assertEqual(unnamed.rc, 3)
        self.assertIn('the document does not say its "kind" [missing_kind]', unnamed.stderr)

    def test_incomplete_evidence(self) -> None:
        policy = self.file("policy.json", b'{"jit_queue_len_threshold": 0}')
        answer = run("recommend", "--evidence", "all", "--policy", policy, input=REQUEST)
        self.assertEqual(json.loads(answer.stdout)["evidence"]["complete"], {"topology": True, "promotion": False})
        result = run("check", input=answer.stdout)
        self.assertEqual(result.rc, 1)
        self.assertEqual(result.stderr,
                         "tidegate: standard input: error: the promotion evidence is not complete: "
                         "jit_queue_len_threshold is not as it must be [incomplete_evidence]\n"
                         "  at: /evidence/promotion/jit_queue_len_threshold\n"
                         "  fix: `tidegate schema launch_recommendation --format table` says what completes each "
                         "field\n")

    def test_several_files(self) -> None:
        good = self.file("good.json", REQUEST.encode())
        broken = self.file("broken.json", b'{"kind": "launch_request",\n "queue_len": }')
        missing = str(self.folder / "missing.json")
        result = run("check", good, broken, missing)
        self.assertEqual(result.rc, 3)
        report = json.loads(result.stdout)
        self.assertEqual([report[key] for key in ("checked", "valid", "failed")], [3, 1, 2])
        self.assertEqual([entry["verdict"] for entry in report["documents"]], ["valid", "invalid", "invalid"])
        self.assertIn(f"tidegate: {broken}:2:15: error: not JSON", result.stderr)
        table = run("check", "--format", "table", good, broken).stdout
        self.assertIn("2 checked, 1 valid, 1 not\n", table)

    def test_json_errors(self) -> None:
        broken = self.file("broken.json", b"{")
        result = run("check", "--errors", "json", broken, broken)
        errors = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual([(error["code"], error["source"]) for error in errors], [("syntax_error", broken)] * 2)

    def test_streams(self) -> None:
        requests = (EXAMPLES / "waves.ndjson").read_bytes()
        self.assertEqual(run("check", "--stream", "launch_request", input=requests).rc, 0)
        answers = run("recommend", "--stream", input=requests).stdout
        result = run("check", "--stream", input=answers + "\n{}\n")
        self.assertEqual(result.rc, 3)
        report = json.loads(result.stdout)
        self.assertEqual((report["checked"], report["valid"]), (6, 5))
        self.assertEqual(report["documents"][-1]["line"], 7)

    def test_tampering(self) -> None:
        answer = json.loads(run("recommend", "--evidence", "all", input=REQUEST).stdout)
        answer["recommendation"]["topology"] = "dense_frontier"
        result = run("check", input=json.dumps(answer))
        self.assertEqual(result.rc, 1)
        self.assertIn("selected_topology contradicts the rest of the document [inconsistent_evidence]", result.stderr)


if __name__ == "__main__":
    unittest.main()
