"""Runs tests as `python3 -m unittest -v NAMES` does. In CI a skip for a reason that is not listed here fails: a test that cannot run
must not pass for one that has."""

import os
import re
import sys
import unittest

REASONS = (
    "the rest needs a GPU",
    "no tmpfs can be mounted: .*",  # in a container
    "chromium does not start",  # nor may Chromium
    "another driver, or restricted cores",
    "the device allocates 2 GiB at most",
    # Under sanitizers:
    "the address sanitizer reserves more than any limit",
)

if __name__ == "__main__":
    result = unittest.main(module=None, argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False).result
    surprising = [f"{test}: {reason}" for test, reason in result.skipped if not re.fullmatch("|".join(REASONS), reason)]
    if surprising and os.environ.get("TIDEGATE_CI"):
        sys.exit("skipped for a reason that tests/e2e/suite.py does not list:\n" + "\n".join(surprising))
    sys.exit(not result.wasSuccessful() or result.testsRun == 0)
