"""Profiles: loading, extending, merging, and errors that say where and what instead."""

import copy
import importlib.util
import pickle
import sys
from pathlib import Path

import pytest

from csandbox import Limits, MiB, Profile, ProfileError

pytestmark = pytest.mark.filterwarnings("error")
needs_toml = pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("tomllib", "tomli")),
    reason="CPython 3.10 has no TOML reader of its own, and tomli is not installed",
)


@pytest.fixture
def write(tmp_path):
    """Write a profile file and return its path."""

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_builtin_names_from_strict_to_wide():
    assert Profile.builtin() == ("minimal", "contest", "compute", "agent", "open")


@pytest.mark.parametrize("name", Profile.builtin())
def test_builtin_round_trips(name):
    profile = Profile.load(name)
    assert profile.name == name
    assert profile.summary
    assert profile is Profile.load(name)
    for twin in (pickle.loads(pickle.dumps(profile)), copy.deepcopy(profile), profile.replace()):
        assert twin == profile
        assert hash(twin) == hash(profile)
        assert twin.digest() == profile.digest()
    assert pickle.loads(pickle.dumps(profile.guard)) == profile.guard
    assert profile.limits.complete()["wall_s"] == 3 * profile.limits.cpu_s + 1


def test_each_wider_profile_allows_what_the_stricter_does():
    stricter: set[str] = set()
    for name in Profile.builtin():
        allowed = set(Profile.load(name).guard.imports_allow)
        if name != "open":
            assert stricter <= allowed
            stricter = allowed


def test_kernel_layers_are_required_in_every_builtin():
    for name in Profile.builtin():
        isolation = Profile.load(name).isolation
        assert len(isolation.require) == 8
        assert isolation.allow_degraded == ()


def test_open_differs_from_compute_in_the_guard_only():
    wide, compute = Profile.load("open").to_dict(), Profile.load("compute").to_dict()
    assert wide.pop("guard") != compute.pop("guard")
    for tree in (wide, compute):
        tree.pop("name"), tree.pop("summary")
    assert wide == compute


def test_immutable():
    profile = Profile.load("compute")
    with pytest.raises(AttributeError):
        profile.name = "x"
    with pytest.raises(TypeError):
        profile.env["A"] = "b"
    with pytest.raises(AttributeError):
        profile.guard.enabled = False


def test_digest_changes_with_any_value():
    profile = Profile.load("compute")
    digests = {
        profile.digest(),
        profile.replace(limits={"cpu_s": 3}).digest(),
        profile.replace(env={"A": "b"}).digest(),
        profile.replace(guard={"imports": {"extend_allow": ["foo"]}}).digest(),
        profile.replace(name="other").digest(),
    }
    assert len(digests) == 5


def test_replace_reads_like_a_file():
    profile = Profile.load("contest").replace(
        name="mine",
        limits=Limits(cpu_s=2, memory_bytes=256 * MiB),
        guard={"imports": {"extend_allow": ["numpy"]}, "mode": "observe"},
        packages={"extend_names": ["numpy"]},
        env={"A": "b"},
    )
    assert profile.name == "mine"
    assert (profile.limits.cpu_s, profile.limits.memory_bytes) == (2.0, 256 * MiB)
    assert profile.limits.effective_wall_s() == 7.0
    assert "numpy" in profile.guard.imports_allow
    assert "sys" in profile.guard.imports_allow
    assert set(profile.guard.mode.values()) == {"observe"}
    assert profile.packages.names[-1] == "numpy"
    assert profile.env["A"] == "b"
    assert profile.env["LANG"] == "C.UTF-8"


def test_replace_a_list_without_extend_replaces_it():
    assert Profile.load("contest").replace(packages={"names": ["a"]}).packages.names == ("a",)


def test_allow_degraded_takes_out_of_require():
    profile = Profile.load("compute").replace(isolation={"allow_degraded": ["landlock"]})
    assert "landlock" not in profile.isolation.require
    assert profile.isolation.allow_degraded == ("landlock",)
    again = profile.replace(isolation={"extend_require": ["landlock"]})
    assert "landlock" in again.isolation.require
    assert again.isolation.allow_degraded == ()


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"limits": {"cpu": 3}}, "limits.cpu", "did you mean limits.cpu_s"),
        ({"limit": {}}, "limit", "did you mean limits"),
        ({"gard": {}}, "gard", "did you mean guard"),
        ({"cpu_s": 3}, "cpu_s", "did you mean limits.cpu_s"),
        ({"guard": {"imports": {"alow": []}}}, "guard.imports.alow", "guard.imports.allow"),
        ({"guard": {"imports": {"extend_alow": []}}}, "guard.imports.extend_alow", "extend_allow"),
        ({"guard": 3}, "guard", "must be a table"),
        ({"guard": {"enabled": 1}}, "guard.enabled", "true or false"),
        ({"guard": {"mode": "warn"}}, "guard.mode.imports", '"enforce" or "observe"'),
        ({"guard": {"mode": {"integrity": "observe"}}}, "guard.mode.integrity", "unknown key"),
        ({"guard": {"select": ["E501"]}}, "guard.select", "'E501' is not a code"),
        ({"guard": {"ignore": ["CSB"]}}, "guard.ignore", "integrity"),
        ({"guard": {"ignore": ["CSB001"]}}, "guard.ignore", "integrity"),
        ({"guard": {"imports": {"allow": ["a b"]}}}, "guard.imports.allow", "module name"),
        ({"guard": {"imports": {"allow": "os"}}}, "guard.imports.allow", "list of strings"),
        ({"guard": {"imports": {"deny": ["math"]}}}, "guard.imports.deny", "allowed and denied"),
        ({"guard": {"limits": {"depth": 0}}}, "guard.limits.depth", "above 0"),
        ({"guard": {"limits": {"depth": True}}}, "guard.limits.depth", "whole number"),
        ({"limits": {"cpu_s": "3"}}, "limits.cpu_s", "seconds"),
        ({"limits": {"memory_bytes": 1}}, "limits.memory_bytes", "at least"),
        ({"files": {"scratch": "r"}}, "files.scratch", "did you mean 'rw'"),
        ({"files": {"read": ["data"]}}, "files.read", "absolute"),
        ({"syscalls": {"sets": ["core"]}}, "syscalls.sets", "read-files"),
        ({"syscalls": {"sets": ["kore"]}}, "syscalls.sets", "did you mean 'core'"),
        ({"syscalls": {"on_denied": "log"}}, "syscalls.on_denied", '"errno" or "kill"'),
        ({"syscalls": {"sets": ["core", "read-files", "threads"]}}, "files.scratch", "write-files"),
        ({"env": {"A B": "x"}}, "env", "variable name"),
        ({"env": {"A": 1}}, "env", "must be a string"),
        ({"env": {"A": "x\0y"}}, "env", "NUL"),
        ({"isolation": {"require": ["landlok"]}}, "isolation.require", "did you mean 'landlock'"),
        (
            {"isolation": {"require": ["fds"], "allow_degraded": ["fds"]}},
            "isolation.allow_degraded",
            "choose",
        ),
        ({"packages": {"names": ["../x"]}}, "packages.names", "distribution"),
        ({"name": "a b"}, "name", "letters"),
        ({"extends": "open"}, "extends", "only a file"),
    ],
)
def test_wrong_values_name_key_and_remedy(changes, key, words):
    with pytest.raises(ProfileError) as caught:
        Profile.load("compute").replace(**changes)
    assert caught.value.key == key
    assert words in str(caught.value)
    assert key in str(caught.value)


def test_unknown_builtin():
    with pytest.raises(ProfileError, match="did you mean 'compute'"):
        Profile.load("computer")
    with pytest.raises(ProfileError, match="minimal, contest"):
        Profile.load("zzz")


@pytest.mark.parametrize("wrong", [None, 3, ["compute"]])
def test_not_a_name_at_all(wrong):
    with pytest.raises(TypeError, match="profile must be"):
        Profile.load(wrong)


@needs_toml
class TestFiles:
    """Profiles in files of their own."""

    def test_a_file_extends_a_builtin(self, write):
        path = write('extends = "contest"\n[limits]\ncpu_s = 1.5\n[env]\nA = "b"\n')
        profile = Profile.load(path)
        assert profile.name == "mine"
        assert profile.limits.cpu_s == 1.5
        assert profile.env["A"] == "b"
        assert profile.guard.imports_allow == Profile.load("contest").guard.imports_allow
        assert Profile.load(str(path)) == profile

    def test_chain_by_relative_path(self, write, tmp_path):
        (tmp_path / "sub").mkdir()
        write(
            'extends = "minimal"\nname = "base"\nsummary = "b"\n[limits]\ncpu_s = 3\n', "base.toml"
        )
        path = write(
            'extends = "../base.toml"\n[limits]\nmemory_bytes = 33554432\n', "sub/top.toml"
        )
        profile = Profile.load(path)
        assert profile.name == "top"
        assert (profile.limits.cpu_s, profile.limits.memory_bytes) == (3.0, 32 * MiB)

    def test_cycles_are_named(self, write):
        write('extends = "./b.toml"\n', "a.toml")
        path = write('extends = "./a.toml"\n', "b.toml")
        with pytest.raises(ProfileError, match=r"b\.toml → .*a\.toml → .*b\.toml") as caught:
            Profile.load(path)
        assert caught.value.key == "extends"

    def test_self_extension(self, write):
        path = write('extends = "./mine.toml"\n')
        with pytest.raises(ProfileError, match="extends itself"):
            Profile.load(path)

    def test_errors_name_file_key_and_nearest(self, write):
        path = write('extends = "contest"\n[limits]\ncpu = 1\n')
        with pytest.raises(ProfileError) as caught:
            Profile.load(path)
        assert caught.value.path == str(path)
        assert caught.value.key == "limits.cpu"
        assert str(path) in str(caught.value)
        assert "limits.cpu_s" in str(caught.value)

    def test_an_error_in_the_extended_file_names_that_file(self, write):
        base = write("name = 3\n", "base.toml")
        path = write('extends = "./base.toml"\n')
        with pytest.raises(ProfileError) as caught:
            Profile.load(path)
        assert caught.value.path == str(base)

    def test_nothing_extended_means_everything_is_needed(self, write):
        with pytest.raises(ProfileError, match="no value"):
            Profile.load(write("[limits]\ncpu_s = 1\n"))

    def test_unknown_extends(self, write):
        with pytest.raises(ProfileError, match="did you mean 'contest'") as caught:
            Profile.load(write('extends = "contests"\n'))
        assert caught.value.key == "extends"

    @pytest.mark.parametrize("value", ["3", "[]", '""', "true"])
    def test_extends_of_a_wrong_type(self, write, value):
        with pytest.raises(ProfileError, match="extends"):
            Profile.load(write(f"extends = {value}\n"))

    @pytest.mark.parametrize("text", ["[limits\n", "a = \n", "\xff", "a = 1\na = 2\n"])
    def test_not_toml(self, tmp_path, text):
        path = tmp_path / "x.toml"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(ProfileError, match="not valid TOML") as caught:
            Profile.load(path)
        assert caught.value.path == str(path)

    def test_missing_folder_and_huge(self, tmp_path):
        with pytest.raises(ProfileError, match="cannot read"):
            Profile.load(tmp_path / "none.toml")
        with pytest.raises(ProfileError, match="cannot read"):
            Profile.load(tmp_path)
        big = tmp_path / "big.toml"
        big.write_bytes(b"#" * (2 << 20))
        with pytest.raises(ProfileError, match="not a profile"):
            Profile.load(big)

    def test_a_path_without_toml_suffix(self, write):
        path = write('extends = "minimal"\n', "profile")
        assert Profile.load(str(path)).name == "profile"

    def test_printed_profile_loads_to_the_same(self, write):
        from csandbox._cli.profiles import toml_lines

        for name in Profile.builtin():
            text = "\n".join(toml_lines(Profile.load(name).to_dict()))
            assert Profile.load(write(text, f"{name}.toml")) == Profile.load(name)


def test_without_a_toml_reader_the_error_says_what_to_install(monkeypatch, tmp_path):
    for name in ("tomllib", "tomli"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "x.toml"
    path.write_text('extends = "minimal"\n')
    with pytest.raises(ProfileError, match="pip install tomli"):
        Profile.load(path)
    assert Profile.load("minimal").name == "minimal"


def test_the_files_are_what_was_built_in():
    tomllib = pytest.importorskip("tomllib")
    from csandbox._builtin_profiles import PROFILES

    folder = Path(__file__).resolve().parents[2] / "profiles"
    files = {path.stem: tomllib.loads(path.read_text()) for path in folder.glob("*.toml")}
    assert files == PROFILES
