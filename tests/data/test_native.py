"""The compiler cache makes again what has changed, all of it, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import layout
import native
import pytest


class Project:
    """A C file, a header, and a program made of them with the cache."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.said: list[str] = []
        self.flags = ["-Iinc", "-O0"]
        monkeypatch.setattr(native, "ROOT", root)
        monkeypatch.setattr(native, "OBJECTS", root / "obj")
        monkeypatch.setattr(native, "say", self.said.append)
        (root / "inc").mkdir()
        self.write("inc/answer.h", "#define ANSWER 1\n")
        self.write("main.c", '#include "answer.h"\nint main(void) { return ANSWER; }\n')
        self.write("other.c", "int other(void) { return 7; }\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.write_text(text)
        # Older than any object, as in a checkout that somebody works in.
        past = time.time() - 60
        os.utime(path, (past, past))

    def edit(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def build(self) -> list[str]:
        self.said.clear()
        sources = [self.root / "main.c", self.root / "other.c"]
        objects = native.compile_all(sources, lambda source: self.flags)
        native.link(self.root / "program", objects, [])
        return list(self.said)

    def run(self) -> int:
        return os.waitstatus_to_exitcode(os.system(str(self.root / "program")))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def test_second_build_does_nothing(project: Project) -> None:
    assert sorted(project.build()) == ["cc main.c", "cc other.c", "make program"]
    assert project.build() == []
    assert project.run() == 1


def test_a_changed_header_reaches_who_includes_it(project: Project) -> None:
    project.build()
    project.edit("inc/answer.h", "#define ANSWER 2\n")
    assert project.build() == ["cc main.c", "make program"]
    assert project.run() == 2


def test_a_header_that_is_gone_is_an_error_not_an_old_object(project: Project) -> None:
    project.build()
    (project.root / "inc" / "answer.h").unlink()
    with pytest.raises(native.BuildError, match=r"answer\.h"):
        project.build()


def test_other_flags_are_another_object_and_the_first_is_kept(project: Project) -> None:
    project.build()
    project.flags = ["-Iinc", "-O0", "-DUNUSED"]
    assert len(project.build()) == 3
    project.flags = ["-Iinc", "-O0"]
    assert project.build() == ["make program"]


def test_a_file_saved_while_the_compiler_ran_is_compiled_again(project: Project) -> None:
    project.build()
    made = next((project.root / "obj").rglob("main.o")).stat().st_mtime
    os.utime(project.root / "main.c", (made + 0.001, made + 0.001))
    assert "cc main.c" in project.build()


def test_every_failing_file_is_reported(project: Project) -> None:
    project.edit("main.c", "int main(void) { return first_fault; }\n")
    project.edit("other.c", "int other(void) { return second_fault; }\n")
    with pytest.raises(native.BuildError) as failure:
        project.build()
    for word in ("first_fault", "second_fault", "main.c", "other.c"):
        assert word in str(failure.value)


def test_a_folder_with_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "my projects"
    root.mkdir()
    project = Project(root, monkeypatch)
    project.flags = ["-Iinc", f"-I{root}/inc", "-O0"]
    assert len(project.build()) == 3
    assert project.build() == []


def test_missing_library_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(native.LIBRARIES, "no-such-library", ("1.0", "libnone-dev"))
    with pytest.raises(native.BuildError, match=r"(?s)no-such-library >= 1\.0 .*libnone-dev"):
        native.pkg_config(("no-such-library",), "--libs")


def test_missing_compiler_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(native.BuildError, match=r"no-such-compiler is not on PATH\nhint: .*CC"):
        native.compiler()


def test_only_glue_sees_python_and_only_the_guard_sees_tree_sitter() -> None:
    for source in layout.own_sources():
        flags = " ".join(native.own_flags(source, native.Mode(), "0"))
        assert ("Py_LIMITED_API" in flags) == (layout.is_glue(source) and native.limited_api())
        guard = "guardrails" in source.parts or source.name.startswith("py_")
        assert ("tree-sitter" in flags) == guard, source


def test_an_extension_has_what_it_needs_and_no_more() -> None:
    core = {path.name for path in layout.core_sources()}
    child = {path.name for path in layout.child_sources()}
    shared = {Path(name).name for name in layout.CHILD_SHARED}
    assert child - core == {name for name in child if name.startswith("child_")}
    assert core & child <= shared
    codec = {"py_value_decode.c", "py_value_encode.c", "py_value_path.c"}
    assert {name for name in child if name.startswith("py_")} == codec
