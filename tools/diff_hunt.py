"""Made-up programs for ``differential.py``: real ones mutated, and ones from a small grammar.

The mutator works on tokens, with the pieces at which the two readers are known to part. The
grammar is hypothesis's: it prefers odd spellings of ordinary code, and shrinks what it finds.
"""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

#: True when a source shows something that nobody has explained.
Interesting = Callable[[bytes], bool]

TOKEN = re.compile(r"\w+|[^\S\n]+|\n[^\S\n]*|[^\w\s]")
#: What made the readers part before, and what is spelled in more than one way.
PIECES = [
    *"()[]{}:;,.\\#@*=!'\"\n\t\f\r",
    *(
        "**",
        ":=",
        "->",
        "...",
        "!r",
        "!r}",
        "{x}",
        "{x!r:>{y}}",
        "{{",
        "\\\n",
        ";\n",
        ",\n",
        "\r\n",
    ),
    *(
        "'''",
        '"""',
        "b'\\u'",
        'b"\\N"',
        "f'{x:=+8d}'",
        "f'{",
        'rb"',
        "'\\\n'",
        "u'x'",
        "'a' f'{b}'",
    ),
    *(" type ", "type(x).y = z\n", "type X = y\n", "type", "match x:\n case y:\n  z\n", " match "),
    *(" case ", " print ", "print(x)", " exec ", " async ", " await ", " lambda: ", " lambda x: "),
    *(
        " not ",
        " in ",
        " is ",
        " if ",
        " else ",
        " for ",
        " and ",
        " yield ",
        "yield from ",
        " as ",
    ),
    *(" from ", " import ", "from . import x\n", "import a.b as c\n", "global x\n", "nonlocal x\n"),
    *("del x\n", "x: y = z\n", "x: y[z][w]", "-> a[b].c:", "*x, ", "**x", "_", "__class__", "0x_f"),
    *(
        "1_0",
        "1if x else y",
        "0or x",
        "1.",
        ".5j",
        "\u00e9",
        "\uff43",
        "\u00b7",
        "\ufeff",
        "  ",
        "0",
    ),
    *("eval", "open", "getattr(x, 'y')", "except* E:", "with (x as y, z): ...\n", "@x\n", "\x0c"),
]
#: A statement that is small enough to be read by a person who is told about it.
MOST_CHARS = 1500


def fragments(source: bytes, chance: random.Random) -> str:
    """Some consecutive lines of a file, cut at the indentation of the first."""
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    at = chance.randrange(len(lines) or 1)
    while at > 0 and (not lines[at].strip() or lines[at][0].isspace()):
        at -= 1
    return "".join(lines[at : at + chance.randrange(1, 25)])[:MOST_CHARS]


def mutated(text: str, other: str, chance: random.Random) -> str:
    """The text with a few tokens inserted, dropped, doubled, swapped or taken from another."""
    tokens = TOKEN.findall(text)
    donors = TOKEN.findall(other)
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        at = chance.randrange(len(tokens) + 1)
        to = min(len(tokens), at + chance.choice((1, 1, 2, 4)))
        what = chance.randrange(6)
        if what <= 1:
            tokens[at:at] = [chance.choice(PIECES)]
        elif what == 2:
            tokens[at:to] = []
        elif what == 3:
            tokens[at:at] = tokens[at:to]
        elif what == 4:
            tokens[at:to] = [chance.choice(PIECES)]
        elif donors:
            take = chance.randrange(len(donors))
            tokens[at:to] = donors[take : take + chance.choice((1, 3, 8))]
    return "".join(tokens)


def minimised(source: bytes, interesting: Interesting, until: float) -> bytes:
    """The source without any token run that is not needed to stay interesting."""
    tokens = TOKEN.findall(source.decode("utf-8", "surrogatepass"))
    run = max(len(tokens) // 2, 1)
    while run >= 1:
        at = 0
        while at < len(tokens) and time.monotonic() < until:
            less = tokens[:at] + tokens[at + run :]
            if interesting("".join(less).encode("utf-8", "surrogatepass")):
                tokens = less
            else:
                at += run
        run //= 2
    return "".join(tokens).encode("utf-8", "surrogatepass")


def mutants(files: list[bytes], chance: random.Random, until: float) -> Iterator[bytes]:
    """Mutated fragments, until the clock says stop."""
    while time.monotonic() < until:
        text = fragments(chance.choice(files), chance)
        other = fragments(chance.choice(files), chance)
        for _ in range(8):
            yield mutated(text, other, chance).encode("utf-8", "surrogatepass")


NAMES = st.sampled_from(["x", "y", "type", "match", "case", "print", "_", "eval", "exec", "é", "𝐱"])
ATOMS = st.one_of(
    NAMES,
    st.sampled_from(["1", "1.", "0x1f", "1_0j", "...", "None", "()", "[]", "{}", "yield_"]),
    st.sampled_from(
        ["'a'", "b'\\u'", "b'\\N{x}'", 'r"\\""', "'\\N{LATIN SMALL LETTER A}'", "u'b'"]
    ),
    st.sampled_from(["f'{x:=+8d}'", "f'{x!r:>{y}}'", "f'{x = }'", "f'{{{x}}}'", "'a' f'{y}' 'b'"]),
    st.sampled_from(["'''a\nb'''", "'\\\n'", "rb'\\x'", "f'\\{x}'", "f'''{\nx}'''", "Rb'\\''"]),
)
GAPS = st.sampled_from(["", " ", "  ", "\t", "\\\n", "\f"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, GAPS, inner)
    return st.one_of(
        two.map(lambda t: f"{t[0]}{t[1]}({t[2]})"),
        two.map(lambda t: f"{t[0]}{t[1]}[{t[2]}]"),
        two.map(lambda t: f"({t[0]}{t[1]} + {t[2]})"),
        two.map(lambda t: f"({t[0]},\n{t[2]})"),
        two.map(lambda t: f"[*{t[0]}{t[1]}, {t[2]}]"),
        two.map(lambda t: f"({t[0]} if {t[2]} else{t[1] or ' '}x)"),
        two.map(lambda t: f"[{t[0]} for x in {t[2]}]"),
        two.map(lambda t: f"(lambda{t[1] or ' '}y={t[0]}: {t[2]})"),
        two.map(lambda t: f"(y{t[1]}:={t[1]}{t[0]})"),
        two.map(lambda t: f"f'{{{t[0]}{t[1]}}}'"),
        st.tuples(inner, GAPS, NAMES).map(lambda t: f"{t[0]}{t[1]}.{t[1]}{t[2]}"),
        st.tuples(NAMES, inner).map(lambda t: f"({t[0]})({t[0]}={t[1]}, **{t[1]})"),
        inner.map(lambda one: f"(not {one})"),
        inner.map(lambda one: f"-{one}"),
    )


EXPRESSIONS = st.recursive(ATOMS, _grown, max_leaves=6)


def _statement(parts: tuple[str, str, str, str]) -> st.SearchStrategy[str]:
    a, b, gap, name = parts
    return st.sampled_from(
        [
            *(f"{a}\n", f"{a} = {b}\n", f"{a}: {b}\n", f"{name}: {a} = {b}\n", f"{name} += {a}\n"),
            *(f"{a},\n{b}, {name} = x\n", f"{name}{gap}({a}).y = {b}\n", f"del {name}{gap}\n"),
            *(
                f"for {name} in *{a}, {b}: {a}\n",
                f"if {a}:\n\t{b}\nelse:{gap}{a}\n",
                f"# {a}\r{b}\n",
            ),
            *(
                f"def {name}(x={a}, *y: {b}) -> {a}:\n  return {b}\n",
                f"@{a}\nclass C({b}): y = {a}\n",
            ),
            *(f"match {a}:\n case {b}:\n  {a}\n", f"match {a}:\n case C(y=z) if {b}: pass\n"),
            *(
                f"with {a} as {name}, {b}: {gap}{a}\n",
                f"with ({a} as {name}): {b}\n",
                f"{a};{gap}{b};\n",
            ),
            *(
                f"try: {a}\nexcept {b} as e: {name}\n",
                f"assert {a}, {b}\n",
                f"raise {a} from {b}\n",
            ),
            *(
                f"import {name}{gap}.{gap}y as z\n",
                f"from .{gap}{name} import x as y\n",
                f"{a}\\\n\n",
            ),
            *(
                f"while {a}: {b}; break\n",
                f"lambda: (yield {a})\n",
                f"global {name}\n",
                f"print {gap}({a})\n",
            ),
            *(
                f"return_ = {a}{gap}\n",
                f"if 1:\n        {a}\n\t{b}\n",
                f"x = ({a}\n{b})\n",
                f"type{gap}({a})\n",
            ),
        ]
    )


STATEMENTS = st.tuples(EXPRESSIONS, EXPRESSIONS, GAPS, NAMES).flatmap(_statement)
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=3).map("".join)


def from_grammar(interesting: Interesting, number: int, until: float) -> tuple[bytes | None, int]:
    """The smallest interesting program that hypothesis found, and how many it tried."""
    tried = 0
    best: bytes | None = None

    @seed(number)
    @settings(
        max_examples=500,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(PROGRAMS)
    def nothing_new(program: str) -> None:
        nonlocal tried, best
        if time.monotonic() > until:
            return
        tried += 1
        source = program.encode("utf-8", "surrogatepass")
        if interesting(source):
            best = source
            raise AssertionError("found one")

    # Flaky: the clock ran out between two looks at the same program.
    with contextlib.suppress(AssertionError, Flaky):
        nothing_new()
    return best, tried
