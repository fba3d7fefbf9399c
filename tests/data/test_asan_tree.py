"""The tree in which `make asan` runs the API tests has what they read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "asan.sh"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="not a checkout with tools/")


def test_what_the_api_tests_read_is_copied() -> None:
    match = re.search(r"^for name in (.*); do$", SCRIPT.read_text(), re.MULTILINE)
    assert match is not None
    copied = {name for pattern in match[1].split() for name in map(str, ROOT.glob(pattern))}
    read = set()
    for path in (ROOT / "tests" / "api").glob("*.py"):
        for line in path.read_text().splitlines():
            if re.search(r"parents\[2\]|\bROOT\b", line):
                read |= {f"{ROOT}/{top}" for top in re.findall(r'"([\w.-]+)[/"]', line)}
    read = {name for name in read if Path(name).exists()}
    assert {f"{ROOT}/README.md", f"{ROOT}/ext", f"{ROOT}/profiles"} <= read
    assert read <= copied
