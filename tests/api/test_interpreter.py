"""Which paths a child needs: complete enough to start, and nothing of the caller's."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from csandbox._interpreter import elf_loader, interpreter, without
from csandbox._packages import normalise, resolve


def covered(path, grants):
    return any(path == grant or path.startswith(grant.rstrip("/") + "/") for grant in grants)


def test_own_interpreter():
    own = interpreter()
    assert own.version == sys.version_info[:3]
    assert own.executable == os.path.realpath(own.executable)
    assert os.access(own.executable, os.X_OK)
    assert own.execute[0] == own.executable
    assert os.path.dirname(os.path.realpath(os.__file__)) in own.module_path
    assert all(os.path.isabs(path) and os.path.exists(path) for path in own.read)
    assert interpreter() is own


def test_module_path_is_that_of_isolated_python_without_site():
    own = interpreter()
    code = "import sys; print(*sys.path, sep='\\n')"
    done = subprocess.run(
        [own.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, env={}
    )
    existing = [os.path.realpath(p) for p in done.stdout.splitlines() if os.path.exists(p)]
    assert list(own.module_path) == existing


def test_every_mapped_file_of_a_bare_interpreter_is_readable():
    own = interpreter()
    code = "import json, ctypes, zlib, hashlib, decimal; print(open('/proc/self/maps').read())"
    done = subprocess.run(
        [own.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, env={}
    )
    mapped = {line.split(None, 5)[5] for line in done.stdout.splitlines() if "/" in line}
    missing = [path for path in mapped if path.startswith("/") and not covered(path, own.read)]
    assert not missing


def test_packages_and_home_are_not_readable():
    own = interpreter()
    for site in own.sites:
        assert not covered(site, own.read)
    for path in (
        "/",
        "/etc",
        "/etc/passwd",
        "/proc/self/environ",
        "/root",
        "/home",
        "/tmp",
        "/usr",
    ):
        assert not covered(path, own.read), path


def test_loader_of_this_interpreter():
    loader = elf_loader(interpreter().executable)
    assert loader is None or (os.path.isfile(loader) and "ld" in os.path.basename(loader))


def test_loader_of_something_else(tmp_path):
    for content in (
        b"",
        b"#!/bin/sh\n",
        b"\x7fELF" + b"\xff" * 60,
        b"\x7fELF\x02\x01" + b"\0" * 58,
    ):
        path = tmp_path / "x"
        path.write_bytes(content)
        assert elf_loader(str(path)) is None


def test_without_replaces_a_folder_by_its_entries(tmp_path):
    for name in ("a/one.py", "a/site-packages/secret.py", "a/deep/x/in.py", "a/deep/y.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    root = str(tmp_path / "a")
    read, listable = without(root, [f"{root}/site-packages", f"{root}/deep/x"])
    assert sorted(read) == [f"{root}/deep/y.py", f"{root}/one.py"]
    assert listable == [root, f"{root}/deep"]
    assert without(root, ["/elsewhere"]) == ([root], [])


@pytest.mark.parametrize("symlinks", [True, False])
def test_virtual_environment_stands_for_its_base(tmp_path, symlinks):
    venv.create(tmp_path / "env", with_pip=False, symlinks=symlinks)
    other = interpreter(tmp_path / "env" / "bin" / "python")
    if symlinks or sys.version_info >= (3, 11):
        assert other.executable == interpreter().executable
    assert other.version == sys.version_info[:3]
    assert [Path(site).is_relative_to(tmp_path) for site in other.sites] == [True]


@pytest.mark.parametrize("name", ["/no/such/python", "/bin/true", "/bin/sh", "/"])
def test_no_interpreter(name):
    with pytest.raises(ValueError, match="python: "):
        interpreter(name)


@pytest.fixture
def site(tmp_path):
    """A site folder with packages in all the ways in which they come."""

    def add(name, text=""):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    add("alpha/__init__.py")
    add("alpha.libs/libx.so")
    add(
        "alpha-1.0.dist-info/METADATA",
        "Name: alpha\nRequires-Dist: Beta_Pkg (>=1)\n"
        "Requires-Dist: gamma; extra == 'test'\nRequires-Dist: absent\n\nRequires-Dist: not-this\n",
    )
    add(
        "alpha-1.0.dist-info/RECORD",
        "alpha/__init__.py,,\nalpha.libs/libx.so,,\n"
        "../../../bin/alpha,,\n/etc/passwd,,\nalpha-1.0.dist-info/RECORD,,\n",
    )
    add("beta.py")
    add("__pycache__/beta.cpython-311.pyc")
    add("__pycache__/secret.cpython-311.pyc")
    add("beta_pkg-2.dist-info/RECORD", "beta.py,,\n__pycache__/beta.cpython-311.pyc,,\n")
    add("gamma/__init__.py")
    add("gamma-1.dist-info/RECORD", "gamma/__init__.py,,\n")
    add("delta/__init__.py")
    add("delta-3.egg-info/top_level.txt", "delta\n_delta\n")
    add("delta-3.egg-info/requires.txt", "gamma>=1\n\n[extra]\nsecret\n")
    add("_delta.cpython-311-x86_64-linux-gnu.so")
    add("bare/__init__.py")
    add("secret/__init__.py")
    return tmp_path


def names(site, *wanted):
    found = resolve(tuple(wanted), (str(site),))
    return {os.path.relpath(path, site) for path in found.read}


def test_record_and_requirements(site):
    assert names(site, "Alpha") == {
        "alpha", "alpha.libs", "alpha-1.0.dist-info", "beta.py", "beta_pkg-2.dist-info",
        "__pycache__/beta.cpython-311.pyc",
    }  # fmt: skip


def test_egg_info(site):
    assert names(site, "delta") == {
        "delta", "delta-3.egg-info", "gamma", "gamma-1.dist-info",
    }  # fmt: skip


def test_a_name_without_metadata(site):
    assert names(site, "bare") == {"bare"}


def test_what_is_not_installed_is_skipped(site):
    found = resolve(("nothing", "bare"), (str(site), str(site / "no-such-folder")))
    assert found.found == ("bare",)
    assert found.list_folders == found.module_path == (str(site),)
    assert resolve(("nothing",), (str(site),)).module_path == ()


def test_the_first_site_folder_wins(site, tmp_path):
    other = tmp_path / "other"
    (other / "bare").mkdir(parents=True)
    found = resolve(("bare",), (str(other), str(site)))
    assert found.read == (str(other / "bare"),)


def test_metadata_cannot_name_what_lies_outside(site):
    (site / "evil-1.dist-info").mkdir()
    (site / "evil-1.dist-info" / "RECORD").write_text("../x,,\n..,,\n.,,\n/etc/passwd,,\n")
    (site / "evil-1.dist-info" / "top_level.txt").write_text("../../etc\n/etc\n..\n.\n")
    assert names(site, "evil") == {"evil-1.dist-info"}


def test_normalise():
    assert normalise("Foo._-Bar") == "foo-bar"
