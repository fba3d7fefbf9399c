"""The arrow lint finds each kind of fault, and is silent about what only looks like one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lint_c
import pytest

ROOT = Path(__file__).resolve().parents[2]

HACKING = """
| folder | holds | may include |
|---|---|---|
| `ext/` base: `csb.h error fd` | attributes | libc |
| `ext/` policy: `policy syscall_filter landlock` | what is allowed; `<seccomp.h>` | base |
| `ext/` launch: `plan spawn` | starts a child | base |
| `ext/` child: `confine.c` (between), `child_*.c` (extension `_child`) | order | `csb.h` |
"""

OPENING = "/* Theory of operation: a test. */\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "HACKING.md").write_text(HACKING)
    for name in ("csb", "error", "fd", "policy", "plan", "confine"):
        put(tmp_path, f"ext/{name}.h", "/* Contract. */\n")
    for name in ("source", "rules/rule"):
        put(tmp_path, f"guardrails/{name}.h", "/* Contract. */\n")
    put(tmp_path, "guardrails/rules.def", "/* Table. */\n")
    return tmp_path


def put(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def findings(tree: Path, name: str, body: str) -> list[str]:
    put(tree, name, OPENING + body)
    return [line.removeprefix(f"{name}:") for line in lint_c.lint(tree)]


ARROWS = [
    # file, what it includes, allowed
    ("ext/error.c", '"csb.h"', True),
    ("ext/error.c", '"policy.h"', False),
    ("ext/error.c", '"plan.h"', False),
    ("ext/policy.c", '"error.h"', True),
    ("ext/policy.c", '"plan.h"', False),
    ("ext/policy.c", '"source.h"', False),
    ("ext/spawn.c", '"policy.h"', True),
    ("ext/spawn.c", '"confine.h"', True),
    ("ext/spawn.c", '"source.h"', False),
    ("ext/confine.c", '"plan.h"', True),
    ("ext/confine.c", '"policy.h"', False),
    ("ext/child_module.c", '"confine.h"', True),
    ("ext/child_module.c", '"policy.h"', False),
    ("guardrails/engine.c", '"source.h"', True),
    ("guardrails/engine.c", '"error.h"', True),
    ("guardrails/engine.c", '"plan.h"', False),
    ("guardrails/registry.c", '"rules.def"', True),
    ("guardrails/rules/csb101_x.c", '"rule.h"', True),
    ("guardrails/rules/csb101_x.c", '"spawn_missing.h"', False),
    ("ext/py_run.c", '"plan.h"', True),
    ("ext/py_run.c", '"source.h"', True),
    ("ext/error.c", "<Python.h>", False),
    ("ext/spawn.c", "<Python.h>", False),
    ("ext/confine.c", "<stdio.h>", True),
    ("ext/py_run.c", "<Python.h>", True),
    ("ext/child_module.c", "<Python.h>", True),
    ("guardrails/engine.c", "<Python.h>", False),
    ("ext/syscall_filter.c", "<seccomp.h>", True),
    ("ext/policy.c", "<seccomp.h>", False),
    ("ext/py_run.c", "<seccomp.h>", False),
    ("ext/policy.c", "<linux/seccomp.h>", True),
    ("ext/landlock.c", "<linux/landlock.h>", True),
    ("ext/confine.c", "<linux/landlock.h>", False),
    ("guardrails/engine.c", "<tree_sitter/api.h>", True),
    ("ext/spawn.c", "<tree_sitter/api.h>", False),
    ("guardrails/engine.c", "<utf8proc.h>", True),
    ("ext/policy.c", "<utf8proc.h>", False),
]


@pytest.mark.parametrize(("name", "header", "allowed"), ARROWS)
def test_arrow(tree: Path, name: str, header: str, allowed: bool) -> None:
    found = findings(tree, name, f"#include {header}\n")
    assert len(found) == (0 if allowed else 1), found
    if not allowed:
        assert found[0].startswith("2: ")


def test_a_confined_file_includes_what_lies_between_the_clone_and_it(tree: Path) -> None:
    # The exec layer is "child" in the table, although its name does not start with child_.
    layers = lint_c.read_layers(HACKING)
    assert lint_c.layer_of(Path("ext/confine.c"), layers) == "child"
    assert lint_c.layer_of(Path("ext/child_exec.c"), layers) == "child"
    assert lint_c.layer_of(Path("ext/error.h"), layers) == "base"


def test_file_without_a_layer(tree: Path) -> None:
    (found,) = findings(tree, "ext/novel.c", "")
    assert found == "1: belongs to no layer: name it in the table of HACKING.md"


def test_python_h_comes_first(tree: Path) -> None:
    body = '#include "error.h"\n#include <Python.h>\n'
    (found,) = findings(tree, "ext/py_run.c", body)
    assert found.startswith("3: Python.h must be the first include")


@pytest.mark.parametrize(
    "body",
    [
        "int x; // why not\n",
        'const char *a = "//"; // here\n',
        "/* block */ // line\n",
        "char quote = '\"'; // after a quote\n",
    ],
)
def test_line_comment(tree: Path, body: str) -> None:
    assert findings(tree, "ext/error.c", body) == ["2: // comment: only /* */ is committed"]


@pytest.mark.parametrize(
    "body",
    [
        'const char *a = "http://example";\n',
        "/* see http://example */\n",
        'const char *a = "\\"//";\n',
        "char slash = '/', quote = '\\'';\n/* it's // fine */\n",
        'const char *a = "/* no comment";\nint b;\n',
    ],
)
def test_no_line_comment(tree: Path, body: str) -> None:
    assert findings(tree, "ext/error.c", body) == []


@pytest.mark.parametrize(
    "call",
    ["strcpy(a, b)", "strcat (a, b)", "sprintf(a, b)", "strtok(a, b)", "gets(a)", "alloca(8)"],
)
def test_banned_call(tree: Path, call: str) -> None:
    (found,) = findings(tree, "guardrails/engine.c", f"int\nf(void)\n{{\n    {call};\n}}\n")
    assert found.startswith(f"5: {call.partition('(')[0].strip()}() is banned: ")


@pytest.mark.parametrize(
    "text",
    [
        "snprintf(a, 1, b);",
        "/* strcpy(a, b) */",
        'puts("system(x)");',
        "my_system(a);",
        "popens(a);",
    ],
)
def test_call_that_is_not_banned(tree: Path, text: str) -> None:
    assert findings(tree, "ext/error.c", text + "\n") == []


def test_only_a_test_may_start_a_shell(tree: Path) -> None:
    body = 'int\nf(void)\n{\n    return system("ls");\n}\n'
    assert findings(tree, "tests/c/test_x.c", body) == []
    (found,) = findings(tree, "ext/error.c", body)
    assert found.startswith("5: system() is banned: ")


def function(lines: int) -> str:
    return "static int\nlong_one(void)\n{\n" + "    ;\n" * (lines - 3) + "}\n"


def test_function_length(tree: Path) -> None:
    assert findings(tree, "ext/error.c", function(59)) == []
    (found,) = findings(tree, "ext/error.c", function(60))
    assert found == "3: long_one() has 60 lines: fewer than 60"


def test_a_long_table_is_no_function(tree: Path) -> None:
    table = "static int\nf(void)\n{\n}\n\nstatic const int t[] = {\n" + "    1,\n" * 90 + "};\n"
    assert findings(tree, "ext/error.c", table) == []


def test_file_length(tree: Path) -> None:
    assert findings(tree, "ext/error.c", "int x;\n" * 499) == []
    (found,) = findings(tree, "ext/error.c", "int x;\n" * 500)
    assert found.startswith("501: 501 lines: a file has at most 500")


def test_opening_comment(tree: Path) -> None:
    put(tree, "ext/error.c", "#include <errno.h>\n")
    put(tree, "ext/fd.c", "/* Descriptors. */\n#include <errno.h>\n")
    put(tree, "ext/fd.h", "#ifndef FD_H\n#endif\n")
    assert [line.partition(" ")[0] for line in lint_c.lint(tree)] == [
        "ext/error.c:1:",
        "ext/fd.c:1:",
        "ext/fd.h:1:",
    ]


def test_an_include_in_a_comment_does_not_count(tree: Path) -> None:
    body = "/*\n#include <Python.h>\n*/\n"
    assert findings(tree, "ext/error.c", body) == []


def test_exit_status_and_output(tree: Path) -> None:
    def lint() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "tools" / "lint_c.py"), str(tree)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert (lint().returncode, lint().stdout) == (0, "")
    put(tree, "ext/error.c", OPENING + "int x; // bad\n")
    done = lint()
    assert done.returncode == 1
    assert done.stdout == "ext/error.c:2: // comment: only /* */ is committed\n"


def test_this_tree_has_a_layer_for_every_file() -> None:
    assert [line for line in lint_c.lint(ROOT) if "belongs to no layer" in line] == []
