"""Write docs/rules/README.md: one row for each rule of the guard, from guardrails/rules.def.

Usage: gen_rule_index.py [--check]; with --check nothing is written and exit status 1 means that
the file is not what it would become.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "rules"
INDEX = PAGES / "README.md"

RULE = re.compile(
    r'CSB_RULE\((\d+),\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*"((?:[^"\\]|\\.)*)"\)'
)

HEAD = """# Rules

Made by `tools/gen_rule_index.py` from `guardrails/rules.def`; the code blocks of a page are its
tests. *error* blocks a run (in a family whose mode is `enforce`), *advice* never does. Integrity
rules cannot be deselected.

| code | name | family | severity | what |
|---|---|---|---|---|
"""


def index(definitions: str) -> str:
    """The page's text from the text of rules.def."""
    rows = [
        f"| [CSB{code}](CSB{code}.md) | {name} | {family.lower()} | {severity.lower()} "
        f"| {summary} |"
        for code, name, family, severity, _, summary in RULE.findall(definitions)
    ]
    return HEAD + "\n".join(rows) + "\n"


def main() -> int:
    """Write or compare."""
    text = index((ROOT / "guardrails" / "rules.def").read_text(encoding="utf-8"))
    if "--check" in sys.argv[1:]:
        if not INDEX.exists() or INDEX.read_text(encoding="utf-8") != text:
            print(f"{INDEX.relative_to(ROOT)}: run tools/gen_rule_index.py", file=sys.stderr)
            return 1
        return 0
    INDEX.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
