"""The built extensions export one symbol each and are hardened; the lint notices when not."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import lint_binary
import native
import pytest


@pytest.mark.parametrize("name", ["_core", "_child"])
@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf (binutils) is not here")
def test_extension(name: str) -> None:
    module = importlib.util.find_spec(f"csandbox.{name}")
    assert module is not None and module.origin is not None, f"csandbox.{name} is not built"
    assert lint_binary.check(Path(module.origin)) == []
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert module.origin.endswith(f"{name}.abi3.so")


def test_a_second_exported_symbol_is_found(tmp_path: Path) -> None:
    source = tmp_path / "leak.c"
    source.write_text("int PyInit__child(void) { return 0; }\nint leaked(void) { return 1; }\n")
    target = tmp_path / "_child.abi3.so"
    command = [*native.compiler(), "-shared", "-fPIC", str(source), "-o", str(target)]
    subprocess.run([*command, "-Wl,-z,lazy", "-lm", "-Wl,--no-as-needed"], check=True)
    complaints = "\n".join(lint_binary.check(target))
    assert "exports PyInit__child, leaked" in complaints
    assert "lacks BIND_NOW" in complaints


def test_no_path_of_the_build_is_inside() -> None:
    root = str(Path(__file__).resolve().parents[2]).encode()
    for name in ("_core", "_child"):
        module = importlib.util.find_spec(f"csandbox.{name}")
        assert module is not None and module.origin is not None
        assert root not in Path(module.origin).read_bytes(), name


def test_usage_without_arguments_is_an_error() -> None:
    assert subprocess.run([sys.executable, lint_binary.__file__], check=False).returncode == 1
