"""Seeds of the fuzzer: what earlier runs found worth keeping, the corpus of differences, our files.

Usage: seeds.py unpack FOLDER | seeds.py pack FOLDER [MOST_BYTES]

``unpack`` writes each seed as a file of FOLDER. ``pack`` writes the smaller ones of a minimised
corpus into tests/fuzz/corpus.b64, one input a line in base64.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "fuzz" / "corpus.b64"
#: What once crashed or broke a promise; added by hand.
FOUND = ROOT / "tests" / "fuzz" / "found.b64"
#: What the fuzzer reads of one input (its -max_len).
MOST_BYTES = 8192


def seeds() -> Iterator[bytes]:
    """Every seed."""
    for kept in (FOUND, KEPT):
        yield from map(base64.b64decode, kept.read_text().split())
    for line in (ROOT / "tests" / "rules" / "differentials.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "code_b64_zlib" in row:
            yield zlib.decompress(base64.b64decode(row["code_b64_zlib"]))
        elif "code_b64" in row:
            yield base64.b64decode(row["code_b64"])
        else:
            yield row["code"].encode("utf-8", "surrogatepass")
    for page in sorted((ROOT / "docs" / "rules").glob("CSB*.md")):
        for block in re.findall(r"^```python.*?\n(.*?)^```", page.read_text(), re.M | re.S):
            yield block.encode()
    for file in sorted((ROOT / "csandbox").glob("*.py")):
        yield file.read_bytes()[:MOST_BYTES]


def main() -> None:
    """Unpack or pack."""
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for seed in seeds():
            if len(seed) <= MOST_BYTES:
                (folder / hashlib.sha256(seed).hexdigest()[:20]).write_bytes(seed)
        return
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    found = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda b: (len(b), b))
    lines = [base64.b64encode(one).decode() for one in found if 0 < len(one) <= most]
    KEPT.write_text("\n".join(lines) + "\n")
    print(f"kept {len(lines)} of {len(found)} inputs, {KEPT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
