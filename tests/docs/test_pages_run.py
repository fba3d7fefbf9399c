"""What README.md and every page of docs/ shows is what happens; `pages.py` says how.

Pages whose blocks need a client or a rule around them are executed by tests of their own, which are
named here, so that no block is left to itself. How many run is counted, and may not fall unnoticed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import KINDS, ROOT, Block, Sitting, blocks, commands, same

#: Pages (a glob) -> the test that executes them.
ELSEWHERE = {
    "docs/rules/CSB*.md": "tests/rules/test_pages.py",
    "docs/explanation/what-the-guard-cannot-see.md": "tests/rules/test_cannot_see.py",
    "docs/how-to/rl-reward.md": "tests/rl/test_howto_pages.py",
    "docs/how-to/ray.md": "tests/ray/cluster.py",
    "docs/how-to/notebook.md": "tests/jupyter/test_how_to.py",
    "docs/how-to/pytest-course.md": "tests/pytest_plugin/test_how_to.py",
}
#: Languages of which each block does something that can fail.
PROVE = ("pycon", "python", "console", "toml", "yaml")
LEAST = 54


def elsewhere(page: str) -> str | None:
    """The test that executes the page, when it is not this one."""
    found = (test for pages, test in ELSEWHERE.items() if Path(page).match(pages))
    return next(found, None)


PAGES = {
    name: list(blocks(name, (ROOT / name).read_text("utf-8")))
    for name in (
        "README.md",
        *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")),
    )
    if elsewhere(name) is None
}
WITH_BLOCKS = [name for name, found in PAGES.items() if found]
EXECUTED: dict[str, int] = {}


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_page(page: str, tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.run(PAGES[page])
    proved = sum(sitting.ran.get(kind, 0) for kind in PROVE)
    wanted = [b for b in PAGES[page] if b.language in PROVE and not b.title]
    assert proved == len(wanted)
    EXECUTED[page] = proved


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    kinds = {"python", *KINDS}
    for page in PAGES.values():
        for block in page:
            assert block.language.startswith("{") or block.language in kinds or block.title, block


def test_how_many_blocks_prove_themselves(record_property: pytest.RecordProperty) -> None:
    wanted = sum(b.language in PROVE and not b.title for page in PAGES.values() for b in page)
    record_property("blocks", wanted)
    assert wanted >= LEAST


@pytest.mark.parametrize(("pages", "test"), ELSEWHERE.items())
def test_the_other_pages_are_there_and_their_tests_name_them(pages: str, test: str) -> None:
    assert list(ROOT.glob(pages))
    text = (ROOT / test).read_text("utf-8")
    last = pages.rpartition("/")[2]
    assert (last if "*" not in last else "docs") in text


def test_shown_output_may_leave_lines_out() -> None:
    assert same("a\nb\nc\n", "a\n...\nc\n") and same("a\nc\n", "a\n...\nc\n")
    assert not same("a\nb\nc\n", "a\nc\n") and not same("a\nb\n", "a\n...\nc\n")


def page_of(text: str) -> list[Block]:
    return list(blocks("page.md", text))


@pytest.mark.parametrize(
    "text",
    [
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```python\nassert 1 == 2\n```\n",
        "```python\nprint(1)\n```\n```output\n2\n```\n",
        "```console\n$ echo a\nb\n```\n",
        "```toml\nname = 1\n```\n",
        "```sh\nif then\n```\n",
        "```sh\nmake nothing-of-the-kind\n```\n",
        "```sh\ncsandbox fly away\n```\n",
        "```sh\ncsandbox doctor --fly\n```\n",
    ],
)
def test_a_block_that_is_wrong_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError)):
        Sitting(tmp_path).run(page_of(text))


def test_blocks_end_as_commonmark_says() -> None:
    (block,) = page_of("````python title=a.py\n```\nx\n```\n````\n")
    assert (block.line, block.title, block.text) == (1, "a.py", "```\nx\n```\n")
    for text in ("```python\nx\n", "- a\n  ```python\n  x\n  ```\n"):
        with pytest.raises(ValueError, match=r"page\.md:[12]"):
            page_of(text)


def test_a_command_may_go_on() -> None:
    assert commands("$ a \\\n  b\nc\n$ d\n") == [("a \\\n  b", "c\n"), ("d", "")]


def test_no_page_names_a_file_that_is_not_there() -> None:
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        text = re.sub(r"(?ms)^(`{3,}).*?^\1`*$|`[^`\n]*`", "", path.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}"
