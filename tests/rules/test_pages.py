"""The pages of docs/rules are the tests of the rules.

A block of "Rejected" must be reported on exactly the lines that carry ``# CSBnnn`` (one code or
more), a block of "Accepted" on none. The fence's words choose how: ``profile=NAME`` (otherwise
minimal), ``build`` when the block is an expression that makes the source, whose codes alone count.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import csandbox
from csandbox import _core

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs" / "rules"
SECTIONS = ["What it does", "Why", "Rejected", "Accepted", "Configuration", "Limits"]
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RULES = {rule["code"]: rule for rule in _core.rules()}


def sections(code):
    """Heading -> text of a rule's page."""
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))


def cases():
    """(code, section, words, block) of every page."""
    for code in RULES:
        _, parts = sections(code)
        for section in ("Rejected", "Accepted"):
            for number, (words, block) in enumerate(BLOCK.findall(parts[section])):
                yield pytest.param(
                    code, section, words.split(), block, id=f"{code}-{section}-{number}"
                )


def marked(block):
    """Line -> codes that its comment names."""
    lines = {}
    for number, line in enumerate(block.split("\n"), 1):
        comment = re.search(r"#.*?\b(CSB\d{3}\b.*)", line)
        if comment:
            lines[number] = set(re.findall(r"CSB\d{3}", comment[1]))
    return lines


def reported(source, profile):
    """Line -> codes that the guard reports."""
    lines = {}
    for found in csandbox.check(source, profile=profile):
        lines.setdefault(found.line, set()).add(found.code)
    return lines


@pytest.mark.parametrize(("code", "section", "words", "block"), list(cases()))
def test_block(code, section, words, block):
    profile = next((w[len("profile=") :] for w in words if w.startswith("profile=")), "minimal")
    wanted = marked(block)
    if "build" in words:
        source = eval(block)  # our own page
        codes = set().union(*reported(source, profile).values())
        assert codes == set().union(*wanted.values())
        assert code in codes
        return
    assert reported(block, profile) == wanted
    if section == "Rejected":
        assert code in set().union(*wanted.values())


@pytest.mark.parametrize("code", list(RULES))
def test_page_is_complete(code):
    head, parts = sections(code)
    heading, _, summary = head.partition("\n\n")
    assert heading == f"# {code} {RULES[code]['name']}"
    assert summary.strip() == RULES[code]["summary"]
    assert list(parts) == SECTIONS
    assert all(text.strip() for text in parts.values())
    assert BLOCK.search(parts["Rejected"])
    assert BLOCK.search(parts["Accepted"])


@pytest.mark.parametrize("code", list(RULES))
def test_one_file_for_each_rule(code):
    name = RULES[code]["name"].replace("-", "_")
    assert (ROOT / "guardrails" / "rules" / f"{code.lower()}_{name}.c").exists()


def test_nothing_but_rules_has_a_file():
    files = list((ROOT / "guardrails" / "rules").glob("*.c"))
    assert len(files) == len(RULES)
    assert len(list(PAGES.glob("CSB*.md"))) == len(RULES)


def test_index_is_current():
    tool = ROOT / "tools" / "gen_rule_index.py"
    subprocess.run([sys.executable, str(tool), "--check"], check=True)


def test_codes_are_unique_and_in_order():
    codes = [rule["code"] for rule in _core.rules()]
    assert codes == sorted(set(codes))


def test_integrity_rules_cannot_be_switched_off():
    for rule in RULES.values():
        assert rule["selectable"] == (rule["family"] != "integrity")
