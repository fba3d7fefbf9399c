"""The kernelspec and `csandbox jupyter install`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from csandbox._cli import main


def test_install_writes_a_kernelspec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["jupyter", "install", "--prefix", str(tmp_path), "--name", "mine", "-p", "minimal"]
    assert main([*words, "--cpu", "2s", "--memory", "64MiB", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    folder = tmp_path / "share" / "jupyter" / "kernels" / "mine"
    assert said == {"kernel": "mine", "folder": str(folder)}
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["argv"][:4] == [sys.executable, "-m", "csandbox.jupyter", "-f"]
    assert spec["argv"][5:7] == ["--profile", "minimal"]
    assert json.loads(spec["argv"][8]) == {"cpu_s": 2.0, "memory_bytes": 64 * 2**20}
    assert spec["interrupt_mode"] == "message"
    assert spec["display_name"] == "Python (csandbox minimal)"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "computer"], "computer"),
        (["--name", "a/b"], "the name of a kernel"),
        (["--cpu", "0s"], "cpu_s"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jupyter", "install", "--prefix", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_client.kernelspec", None)
    assert main(["jupyter", "install", "--prefix", str(tmp_path)]) == 2
    assert "pip install 'csandbox[jupyter]'" in capsys.readouterr().err
