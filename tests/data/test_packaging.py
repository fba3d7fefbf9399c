"""A source distribution has all that it needs to build without a network, and one abi3 wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import fetch_sources
import pytest

ROOT = Path(__file__).resolve().parents[2]

FOLDERS = [("ext", "*"), ("grading", "*"), ("guardrails", "*"), ("profiles", "*")]
FOLDERS += [("tools", "*.*"), ("docs", "*")]

pytestmark = pytest.mark.skipif(
    not (ROOT / "setup.py").exists(), reason="not a checkout with setup.py (the sanitizer's tree)"
)


def run(command: list[str], folder: Path) -> None:
    """Run with no package index: whoever tries to fetch something fails."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment.pop("PIP_FIND_LINKS", None)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(folder)]
    run([*command, "--formats", "tar"], ROOT)
    (archive,) = folder.iterdir()
    return archive


def names(archive: Path) -> set[str]:
    with tarfile.open(archive) as tar:
        return {member.name.partition("/")[2] for member in tar if member.isfile()}


def test_sdist_has_the_fetched_sources_and_what_is_made_from(sdist: Path) -> None:
    found = names(sdist)
    source = ROOT / "third_party" / "src"
    fetched = {str(p.relative_to(ROOT)) for p in source.rglob("*") if p.is_file()}
    assert "third_party/src/tree-sitter-python/src/scanner.c" in fetched
    for folder, pattern in FOLDERS:
        fetched |= {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob(pattern) if p.is_file()}
    fetched |= {"csandbox/_core.pyi", "csandbox/py.typed", "LICENSE"}
    assert {name for name in fetched if "__pycache__" not in name} <= found


def test_sdist_has_nothing_that_was_built(sdist: Path) -> None:
    built = {".so", ".o", ".pyc", ".whl"}
    assert [name for name in names(sdist) if Path(name).suffix in built] == []
    made = ("_builtin_profiles.py", "_rule_pages.py", "_attack_programs.py")
    assert not {f"csandbox/{name}" for name in made} & names(sdist)


OLD_SETUPTOOLS = """
import importlib.util, runpy, setuptools, sys
setuptools.__version__ = "65.5.0"
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "wheel" else found(name, *rest)
sys.argv = ["setup.py", "dist_info"]
runpy.run_path("setup.py")
"""


def test_a_package_that_old_setuptools_lack_is_named() -> None:
    """`pip install --no-build-isolation -e .` in a new environment of CPython 3.10 or 3.11."""
    done = subprocess.run(
        [sys.executable, "-c", OLD_SETUPTOOLS], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.endswith("pip install wheel\n")


@pytest.mark.slow
def test_sdist_builds_offline_into_one_wheel(sdist: Path, tmp_path: Path) -> None:
    run(["tar", "-xf", str(sdist)], tmp_path)
    (tree,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run([*command, "--no-build-isolation", "--wheel-dir", "wheels", "."], tree)
    (wheel,) = (tree / "wheels").iterdir()
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert wheel.name.split("-")[2:4] == ["cp310", "abi3"]
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    modules = {f"csandbox/{p.name}" for p in (ROOT / "csandbox").glob("*.py*") if p.is_file()}
    extensions = {name for name in found if name.endswith(".so")}
    assert modules <= found
    assert {name.partition(".")[0] for name in extensions} == {
        "csandbox/_child",
        "csandbox/_core",
        "csandbox/_janitor",
    }
    assert any(name.endswith("tree-sitter-python/LICENSE") for name in found)
    package = {name for name in found if name.startswith("csandbox/")}
    assert {Path(name).suffix for name in package} <= {".py", ".pyi", ".so", ".typed", ""}


def test_stamp_follows_the_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch_sources.complete()
    pins = tmp_path / "sources.txt"
    pins.write_text(fetch_sources.PINS.read_text() + "# another\n")
    monkeypatch.setattr(fetch_sources, "PINS", pins)
    assert not fetch_sources.complete()


def test_pins_and_what_is_taken_must_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pins = tmp_path / "sources.txt"
    pins.write_text(fetch_sources.PINS.read_text().replace("==0.25.2", "==0.25.1"))
    monkeypatch.setattr(fetch_sources, "PINS", pins)
    with pytest.raises(fetch_sources.FetchError, match="name different releases"):
        fetch_sources.pins()


def test_a_scanner_that_is_not_the_known_one_is_refused(tmp_path: Path) -> None:
    scanner = tmp_path / "scanner.c"
    scanner.write_bytes(b"int x;\n")
    with pytest.raises(fetch_sources.FetchError, match="not there once"):
        fetch_sources._edit_scanner(scanner)
    scanner.write_bytes(fetch_sources.SCANNER_EDIT[0] + b"\n")
    with pytest.raises(fetch_sources.FetchError, match="its SHA-256 is"):
        fetch_sources._edit_scanner(scanner)


@pytest.mark.parametrize("name", ["build", "test", "notebook", "lint"])
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / "tools" / f"requirements-{name}.txt").read_text()
    logical = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    pinned = [line for line in logical if not line.startswith("#")]
    assert pinned
    for line in pinned:
        assert "==" in line and "--hash=sha256:" in line, line
