"""Runs tests as `python3 -m unittest -v NAMES` does. In CI a skip for a reason that skip_reasons.txt does not list fails."""

import fnmatch
import os
import sys
import unittest
from pathlib import Path

REASONS = Path(__file__).parents[1].joinpath("skip_reasons.txt").read_text(encoding="utf-8").splitlines()

if __name__ == "__main__":
    result = unittest.main(module=None, argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False).result
    surprising = [f"{test}: {reason}" for test, reason in result.skipped if not any(fnmatch.fnmatchcase(reason, listed) for listed in REASONS)]
    if surprising and os.environ.get("TIDEGATE_CI"):
        sys.exit("skipped for a reason that tests/skip_reasons.txt does not list:\n" + "\n".join(surprising))
    sys.exit(not result.wasSuccessful() or result.testsRun == 0)
