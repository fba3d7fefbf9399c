"""Which C file belongs to which extension, and which headers it may see.

The one place that knows: setup.py, the C test build and the lints all read it. Files are found
by pattern, so that adding one needs no change here.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THIRD_PARTY = ROOT / "third_party" / "src"
TREE_SITTER = THIRD_PARTY / "tree-sitter"
GRAMMAR = THIRD_PARTY / "tree-sitter-python"

#: Run between clone and exec, so they are part of `_core`, although they are "the child".
LAUNCH_CHILD = ()
#: Compiled into `_child` besides ext/child_*.c; `_core` has them too.
CHILD_SHARED = (
    "ext/bpf.c",
    "ext/confine.c",
    "ext/py_value_decode.c",
    "ext/py_value_encode.c",
    "ext/py_value_path.c",
    "ext/value_reader.c",
    "ext/value_utf8.c",
    "ext/value_writer.c",
)
#: The program `csandbox/_janitor*`: its main, and of `_core` what it needs.
JANITOR_MAIN = "janitor_main.c"
JANITOR = (
    *(JANITOR_MAIN, "cgroup.c", "cgroup_place.c", "error.c", "fd.c", "scratch.c", "sweep.c"),
    "trial.c",
)
#: Ours, and tree-sitter's single unit: it includes lib.c, and is compiled as that is.
PARSER_UNIT = ROOT / "guardrails" / "recovery.c"


def core_sources() -> list[Path]:
    """Our C files of `csandbox._core`."""
    ext = [path for path in _c("ext") if not _child_only(path) and path.name != JANITOR_MAIN]
    guard = [path for path in sorted((ROOT / "guardrails").rglob("*.c")) if path != PARSER_UNIT]
    return ext + _c("grading") + guard


def child_sources() -> list[Path]:
    """Our C files of `csandbox._child`, which the confined interpreter imports."""
    shared = [ROOT / name for name in CHILD_SHARED if (ROOT / name).exists()]
    return [path for path in _c("ext") if _child_only(path)] + shared


def janitor_sources() -> list[Path]:
    """Our C files of the program that cleans up behind a host that was killed."""
    return [ROOT / "ext" / name for name in JANITOR]


def third_party_sources() -> list[Path]:
    """tree-sitter's core (a single unit) and its Python grammar."""
    grammar = [GRAMMAR / "src" / "parser.c", GRAMMAR / "src" / "scanner.c"]
    return [PARSER_UNIT, *grammar]


def own_sources() -> list[Path]:
    """Every C file of ours, once."""
    return sorted({*core_sources(), *child_sources(), *janitor_sources()})


def headers() -> list[Path]:
    """Every header and X-macro table of ours."""
    guard = [*(ROOT / "guardrails").rglob("*.h"), *(ROOT / "guardrails").rglob("*.def")]
    ours = [*(ROOT / "ext").glob("*.h"), *(ROOT / "grading").glob("*.h")]
    return sorted([*ours, *(ROOT / "ext").glob("*.def"), *guard])


def is_glue(path: Path) -> bool:
    """Whether this file may include Python.h: ext/py_*.c, and what only `_child` holds."""
    return path.parent.name == "ext" and (path.name.startswith("py_") or _child_only(path))


def pure_sources() -> list[Path]:
    """Our C files without Python.h: what the C tests can link."""
    return [p for p in own_sources() if not is_glue(p) and p.name != JANITOR_MAIN]


def include_flags(path: Path) -> list[str]:
    """The folders that this file's layer may include from: the arrows, held by the compiler."""
    flags = ["-Iext"]
    if "guardrails" in path.relative_to(ROOT).parts or path.name.startswith("py_"):
        flags += ["-Iguardrails", "-isystem", inside(TREE_SITTER / "include")]
    if path.name.startswith("py_"):
        flags.append("-Igrading")
    return flags


def inside(path: Path) -> str:
    """The path relative to ROOT, where the compiler runs."""
    return str(path.relative_to(ROOT))


def _c(folder: str) -> list[Path]:
    return sorted((ROOT / folder).glob("*.c"))


def _child_only(path: Path) -> bool:
    return path.name.startswith("child_") and path.name not in LAUNCH_CHILD
