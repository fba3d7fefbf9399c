"""What no compiler says about our C: who includes whom, sizes, banned calls, opening comments.

Which file is in which layer is read from the table of HACKING.md; a file of ext/ that no row
names is an error, so that the page and the tree cannot drift apart.

Usage: lint_c.py [ROOT]; exit status 1 when it found something, as `file:line: sentence`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60  # a function is shorter than this

#: layer -> layers that its files may include from
MAY_INCLUDE: dict[str, set[str]] = {
    "base": {"base"},
    "policy": {"base", "policy"},
    "launch": {"base", "policy", "launch"},
    "child": {"base", "value", "child"},
    "value": {"base", "value"},
    "guardrails": {"base", "guardrails"},
    "grading": {"base", "value", "grading"},
    "glue": {"base", "policy", "launch", "child", "value", "guardrails", "grading", "glue"},
}

#: layer -> single headers that it may include besides: plain data, frozen before the clone,
#: and for the launcher (and a trial of it) the one function that runs between clone and exec
MAY_ALSO_INCLUDE: dict[str, set[str]] = {
    "child": {
        *("bpf.h", "feature.h", "namespaces.h", "plan.h", "run_limits.h", "syscalls.h", "wire.h"),
        "zygote_wire.h",  # as wire.h: what the caller and the child's side say to each other
        # the codec, linked into both extensions
        *("py_value_decode.h", "py_value_encode.h", "py_value_path.h"),
    },
    "policy": {"confine.h"},
    "launch": {"confine.h"},
}

#: system header -> (who may include it, as layers or files; why)
RESTRICTED: dict[str, tuple[set[str], str]] = {
    "Python.h": ({"glue", "child"}, "only the glue and the _child extension know Python"),
    "seccomp.h": (
        {"ext/syscall_filter.c"},
        "libseccomp allocates: only ext/syscall_filter.c, before the clone",
    ),
    "cbor.h": ({"ext/value_item.c"}, "only ext/value_item.c, which reads one item at a time"),
    "linux/landlock.h": ({"ext/landlock.c"}, "the table of Landlock versions is ext/landlock.c"),
    "tree_sitter/*": ({"guardrails", "glue"}, "only the guard knows tree-sitter"),
    "utf8proc.h": ({"guardrails", "glue"}, "only the guard knows Unicode tables"),
}

BANNED: dict[str, str] = {
    "alloca": "the stack has no error return; use a bounded array or the heap",
    "gets": "it knows no size; use fgets or read",
    "popen": "no shell is ever started",
    "sprintf": "it knows no size; use snprintf",
    "strcat": "it knows no size; use snprintf or buf.h",
    "strcpy": "it knows no size; use snprintf or memcpy with the length",
    "strtok": "it keeps hidden state; use strchr or strsep",
    "system": "no shell is ever started",
    "vsprintf": "it knows no size; use vsnprintf",
}

#: banned calls that a test may make: it is no hostile program's neighbour
IN_TESTS = {"popen", "system"}

# One alternative each for a block comment, a line comment, a string and a character constant:
# what comes first wins, so that quotes in comments and comment signs in strings are harmless.
TOKEN = re.compile(
    r"""(?P<block>/\*.*?(?:\*/|\Z))|(?P<line>//[^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)

Finding = tuple[int, str]  # line, sentence
Layers = dict[str, tuple[str, ...]]  # layer -> patterns of the stems of its files in ext/


@dataclass(frozen=True)
class Tree:
    """What a check needs to know of the other files."""

    layers: Layers
    headers: dict[str, list[Path]]  # name -> where headers of ours of that name are


def read_layers(page: str) -> Layers:
    """The layers of ext/ from the first column of HACKING.md's table.

    A row is "| `ext/` NAME: `stem stem.h` … |"; every word in backticks is a pattern.
    """
    layers: Layers = {"glue": ("py_*",)}
    for name, cell in re.findall(r"^\| `ext/` (\w+): ([^|]*)\|", page, re.MULTILINE):
        words = " ".join(re.findall(r"`([^`]*)`", cell)).split()
        layers[name] = tuple(re.sub(r"\.[ch]$", "", word) for word in words)
    return layers


def blank(text: str) -> str:
    """The text with comments and the inside of quotes turned into spaces, line by line."""
    return TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def line_of(text: str, offset: int) -> int:
    """1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def layer_of(path: Path, layers: Layers) -> str | None:
    """Layer of a file given relative to the root, None when no row of the table names it."""
    if path.parts[0] in ("guardrails", "grading"):
        return path.parts[0]
    for layer, patterns in layers.items():
        if any(fnmatch(path.stem, pattern) for pattern in patterns):
            return layer
    return None


def includes(text: str) -> Iterator[tuple[int, str, str]]:
    """Each #include as (line, quote or bracket, name); those in comments do not count."""
    for match in re.finditer(
        r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', text, re.MULTILINE
    ):
        if blank(text)[match.start() : match.end()].lstrip()[:1] == "#":
            yield line_of(text, match.start()), match[1], match[2]


def check_includes(path: Path, text: str, tree: Tree) -> Iterator[Finding]:
    """The arrows, the restricted system headers, and Python.h first."""
    layer = layer_of(path, tree.layers)
    if layer not in MAY_INCLUDE:
        yield 1, "belongs to no layer: name it in the table of HACKING.md"
        return
    found = list(includes(text))
    for line, kind, name in found:
        if kind == '"':
            yield from ((line, s) for s in _arrow(path, layer, name, tree))
            continue
        for pattern, (allowed, why) in RESTRICTED.items():
            if fnmatch(name, pattern) and not allowed & {layer, path.as_posix()}:
                yield line, f"must not include <{name}>: {why}"
    for line, _, name in found[1:]:
        if name == "Python.h" and path.suffix == ".c":
            yield line, "Python.h must be the first include: it sets feature macros"


def _arrow(path: Path, layer: str, name: str, tree: Tree) -> Iterator[str]:
    candidates = tree.headers.get(Path(name).name, [])
    if not candidates:
        yield f'"{name}" is no header of ours: write <{name}>'
        return
    here = [other for other in candidates if other.parent == path.parent]
    target = (here or candidates)[0]
    other = layer_of(target, tree.layers)
    if other is None or other in MAY_INCLUDE[layer]:
        return
    if target.name in MAY_ALSO_INCLUDE.get(layer, set()):
        return
    yield f'layer {layer} must not include "{name}" (layer {other}); see HACKING.md'


def check_text(path: Path, text: str) -> Iterator[Finding]:
    """Comments and banned calls."""
    for match in TOKEN.finditer(text):
        if match["line"] is not None:
            yield line_of(text, match.start()), "// comment: only /* */ is committed"
    code = blank(text)
    for match in re.finditer(r"\b([a-z]+)\s*\(", code):
        reason = BANNED.get(match[1])
        if reason is not None and not (path.parts[0] == "tests" and match[1] in IN_TESTS):
            yield line_of(code, match.start()), f"{match[1]}() is banned: {reason}"


def check_sizes(path: Path, text: str) -> Iterator[Finding]:
    """Length of the file and of each function.

    The layout that clang-format makes is the parser: a function's brace stands alone in
    column 1, its name is on the last line before it that starts in column 1.
    """
    lines = blank(text).splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield (
            len(lines),
            f"{len(lines)} lines: a file has at most {MAX_FILE_LINES}; split it by idea",
        )
    start = 0
    name = "?"
    for number, line in enumerate(lines, 1):
        heading = re.match(r"(\w+)\(", line)
        if heading:
            start, name = number, heading[1]
        elif line.startswith("}") and start:
            length = number - start + 1
            if line.rstrip() == "}" and length >= MAX_FUNCTION_LINES:
                yield start, f"{name}() has {length} lines: fewer than {MAX_FUNCTION_LINES}"
            start = 0


def check_opening(path: Path, text: str) -> Iterator[Finding]:
    """Every file opens with a comment: a theory of operation in a .c, a contract in a .h."""
    match = TOKEN.match(text)
    if match is None or match["block"] is None:
        yield 1, "must open with a comment that says what it is for"
    elif path.suffix == ".c" and "Theory of operation" not in match["block"]:
        yield (
            1,
            'its opening comment must be a "Theory of operation": which process, what it trusts',
        )


def check_file(path: Path, text: str, tree: Tree) -> list[Finding]:
    """All findings of one file; `path` is relative to the root."""
    findings = [*check_text(path, text), *check_sizes(path, text)]
    if path.parts[0] in ("ext", "guardrails", "grading"):
        findings += [*check_includes(path, text, tree), *check_opening(path, text)]
    return sorted(findings)


def lint(root: Path) -> list[str]:
    """All findings of a tree, one line each."""
    patterns = ("ext/*.[ch]", "grading/*.[ch]", "guardrails/**/*.[ch]")
    patterns += ("guardrails/**/*.def", "tests/**/*.[ch]")
    files = sorted(path.relative_to(root) for pattern in patterns for path in root.glob(pattern))
    own: dict[str, list[Path]] = {}
    for path in files:
        if path.suffix in (".h", ".def"):
            own.setdefault(path.name, []).append(path)
    tree = Tree(read_layers((root / "HACKING.md").read_text(encoding="utf-8")), own)
    return [
        f"{path}:{line}: {sentence}"
        for path in files
        for line, sentence in check_file(path, (root / path).read_text(encoding="utf-8"), tree)
    ]


if __name__ == "__main__":
    problems = lint(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
