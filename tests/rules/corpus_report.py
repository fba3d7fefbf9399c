"""How the guard does on a corpus: escapes refused, honest programs refused, HumanEval refused.

Usage: corpus_report.py DATA [--escapes PROFILE] [--lifted] [--legit PROFILE] [--json] [-v]

DATA holds ``corpus/escapes.jsonl``, ``corpus/legit.jsonl`` and ``datasets/humaneval.jsonl.gz`` in
the form that their README files describe. Rows marked "control" in the escapes are harmless
look-alikes and must be accepted; rows marked ``policy_dependent`` in the honest programs may be
refused. Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import csandbox

#: Modules whose import is the escape in many rows; some profiles allow them, because the kernel
#: layers make them harmless.
HOST_MODULES = [
    *("bdb", "builtins", "dbm", "fileinput", "glob", "linecache", "netrc", "os", "pathlib"),
    *("pickle", "pickletools", "shelve", "shutil", "tempfile"),
]
#: Rows of these classes ask for an answer without crash or hang, not for a refusal.
ANSWERED = ("parser-robustness",)
#: Share of the guard's escapes that must be refused.
GOAL = 0.98


@dataclass
class Tally:
    """Counts of one corpus and the ids that went wrong, with the codes that were reported."""

    name: str
    total: int = 0
    right: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def add(self, identity: str, right: bool, codes: list[str]) -> None:
        """One row."""
        self.total += 1
        self.right += right
        if not right:
            self.wrong[identity] = codes


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON-lines file, gzipped or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def source_of(row: dict[str, Any]) -> str | bytes:
    """The code of a row, byte for byte."""
    if "code_b64" in row:
        return base64.b64decode(row["code_b64"])
    return str(row["code"])


def errors(source: str | bytes, profile: csandbox.Profile) -> list[str]:
    """Codes of the findings that block."""
    found = csandbox.check(source, profile=profile)
    return sorted({one.code for one in found if one.severity == "error"})


def escapes(data: Path, profile: csandbox.Profile) -> tuple[Tally, Tally, Tally]:
    """Escapes that the guard is meant to refuse, and their harmless look-alikes."""
    refused = Tally("escapes refused")
    controls = Tally("controls accepted")
    answered = Tally("robustness rows answered")
    for row in rows(data / "corpus" / "escapes.jsonl"):
        if row["layer"] != "guardrail":
            continue
        codes = errors(source_of(row), profile)
        if row["class"] in ANSWERED:
            answered.add(row["id"], True, codes)
        elif "control" in row["should"] or "control" in row.get("note", ""):
            controls.add(row["id"], not codes, codes)
        else:
            refused.add(row["id"], bool(codes), codes)
    return refused, controls, answered


def legit(data: Path, profile: csandbox.Profile) -> tuple[Tally, Tally]:
    """Honest programs; those that a policy may refuse apart."""
    must = Tally("honest accepted")
    may = Tally("honest by policy accepted")
    for row in rows(data / "corpus" / "legit.jsonl"):
        codes = errors(source_of(row), profile)
        (may if row.get("policy_dependent") else must).add(row["id"], not codes, codes)
    return must, may


def humaneval(data: Path) -> Tally:
    """Prompt, canonical solution, tests and call of every task, under ``contest``."""
    tally = Tally("HumanEval accepted")
    profile = csandbox.Profile.load("contest")
    for row in rows(data / "datasets" / "humaneval.jsonl.gz"):
        source = row["prompt"] + row["canonical_solution"] + "\n" + row["test"]
        source += f"\ncheck({row['entry_point']})\n"
        codes = errors(source, profile)
        tally.add(row["task_id"], not codes, codes)
    return tally


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--escapes", default="compute", metavar="PROFILE")
    parser.add_argument(
        "--lifted",
        action="store_true",
        help="measure the escapes with the profile's builtins_allow and attributes_allow",
    )
    parser.add_argument("--legit", default="compute", metavar="PROFILE")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-v", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    profile = csandbox.Profile.load(options.escapes)
    if not options.lifted:
        profile = profile.replace(
            guard={
                "builtins_allow": [],
                "attributes_allow": [],
                "imports": {
                    "allow": [
                        name
                        for name in profile.guard.imports_allow
                        if name.partition(".")[0] not in HOST_MODULES
                    ]
                },
            }
        )
    refused, controls, answered = escapes(options.data, profile)
    must, may = legit(options.data, csandbox.Profile.load(options.legit))
    tallies = [refused, controls, answered, must, may, humaneval(options.data)]
    if options.json:
        print(json.dumps({tally.name: vars(tally) for tally in tallies}, indent=1))
    for tally in tallies if not options.json else ():
        print(f"{tally.name}: {tally.right} of {tally.total}")
        for identity, codes in tally.wrong.items() if options.v else ():
            print(f"    {identity} {' '.join(codes)}")
    reached = refused.right >= GOAL * refused.total
    return 0 if reached and not must.wrong and not tallies[-1].wrong else 1


if __name__ == "__main__":
    sys.exit(main())
