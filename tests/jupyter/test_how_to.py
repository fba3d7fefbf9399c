"""docs/how-to/notebook.md: its cells are executed by nbclient, and show what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "notebook.md"
BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.M | re.S)


def cells(language: str) -> list[tuple[str, str | None]]:
    """Each block of code, with the block of output that follows it."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    found = []
    for index, (kind, text) in enumerate(blocks):
        if kind == language:
            after = blocks[index + 1] if index + 1 < len(blocks) else ("", "")
            found.append((text.rstrip("\n"), after[1] if after[0] == "output" else None))
    assert found
    return found


def shown(cell: Any) -> str:
    """What a reader sees of a cell, in words."""
    text = ""
    for output in cell.outputs:
        if output.output_type == "stream":
            text += output.text
        elif output.output_type == "error":
            text += f"error: {output.ename}\n"
        elif "image/png" in output.data:
            text += "image/png\n"
        elif output.output_type == "execute_result":
            text += output.data["text/plain"] + "\n"
    return text


def execute(sources: list[str], kernel_name: str, kernels: Path, monkeypatch: Any) -> Any:
    monkeypatch.setenv("JUPYTER_PATH", str(kernels.parent))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )
    nbclient.NotebookClient(notebook, kernel_name=kernel_name, allow_errors=True).execute()
    return notebook


@pytest.mark.parametrize(("language", "name"), [("python", "csandbox"), ("ipython", "python3")])
def test_cells(language: str, name: str, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = cells(language)
    notebook = execute([source for source, _ in pairs], name, kernels, monkeypatch)
    for cell, (source, expected) in zip(notebook.cells, pairs, strict=True):
        if expected is None:
            assert not [o for o in cell.outputs if o.output_type == "error"], source
        else:
            assert shown(cell) == expected, source
    if language == "python":
        refused = notebook.cells[1].outputs[0].data
        assert "error[CSB101]" in refused["text/html"] and "^^^^^^" in refused["text/html"]


def test_script(
    kernels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(kernels.parent))
    ((source, _),) = cells("python-script")
    exec(compile(source, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == "42\n\n"


def test_the_picture_is_there_and_small() -> None:
    picture = PAGE.with_name("notebook.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) < 300_000
