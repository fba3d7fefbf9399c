"""What a notebook's page is protected from: nothing that a browser executes gets through."""

from __future__ import annotations

import base64
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csandbox.jupyter.safe import safe_bundle
from csandbox.jupyter.safe_html import _ATTRIBUTES, _ELEMENTS, rebuilt
from csandbox.jupyter.safe_latex import is_mathematics

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
ATTACKS = (
    "<script>x()</script>",
    "<SCRIPT/x>x()</SCRIPT\n>",
    "<img src=x onerror=x()>",
    '<img src="javascript:x()">',
    '<a href="javascript:x()">a</a>',
    "<svg onload=x()><script>x()</script></svg>",
    "<iframe srcdoc='<script>x()</script>'></iframe>",
    "<math><mtext><table><mglyph><style><img src=x onerror=x()>",
    "<noscript><p title='</noscript><img src=x onerror=x()>'>",
    "<div style='background:url(http://x/y)'>a</div>",
    "<div style='position:fixed;width:100%'>a</div>",
    "<form action=http://x><input name=a></form>",
    "<!--><img src=x onerror=x()>-->",
    "<![CDATA[><script>x()</script>]]>",
    "<b/onclick=x()>a",
    "<meta http-equiv=refresh content='0;url=http://x'>",
    "<base href=http://x>",
    "<object data=x></object><embed src=x>",
    "<b title='\"><script>x()</script>'>a</b>",
    "<scr<script>ipt>x()</scr</script>ipt>",
    "&lt;script&gt;x()&lt;/script&gt;",
)


class Strict(HTMLParser):
    """Fails for anything that the lists do not have."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ELEMENTS, tag
        for name, value in attrs:
            assert name in _ATTRIBUTES | {"style", "src"}, name
            if name == "src":
                assert value is not None and value.startswith("data:image/")
            if name == "style":
                assert value is not None and "url" not in value and "position" not in value

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def assert_harmless(text: str) -> None:
    parser = Strict()
    parser.feed(text)
    parser.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_rebuilt_into_nothing(attack: str) -> None:
    for text in (attack, f"<table><tr><td>{attack}</td></tr></table>", f"{attack}<p>behind</p>"):
        made = rebuilt(text)
        assert_harmless(made)
        assert rebuilt(made) == made  # and is stable: a second reading finds nothing new


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([*ATTACKS, "<", ">", "</", "&", '"', "'", "=", "--", "script", "\0", " "]),
        max_size=8,
    ).map("".join)
)
def test_any_mixture_is_harmless(text: str) -> None:
    assert_harmless(rebuilt(text))


def test_tables_of_pandas_survive() -> None:
    import pandas

    made = rebuilt(pandas.DataFrame({"a": [1, 2], "b<": ["x", "&"]})._repr_html_())
    assert made.count("<tr") == 3 and "<td>x</td>" in made and "b&lt;" in made
    assert "<style" not in made and ".dataframe" not in made


def test_bundles_by_kind() -> None:
    made = safe_bundle(
        {
            "text/plain": "p",
            "image/png": PNG,
            "image/jpeg": b"not a picture",
            "application/javascript": "x()",
            "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
            "text/markdown": "[a](javascript:x())",
            "application/json": {"a": [1]},
        }
    )
    assert made == {
        "text/plain": "p",
        "image/png": base64.b64encode(PNG).decode(),
        "application/json": {"a": [1]},
    }
    svg = safe_bundle({"image/svg+xml": "<svg onload='x()'/>", "text/plain": ""})
    assert svg["text/html"].startswith('<img alt="SVG" src="data:image/svg+xml;base64,')
    assert "image/svg+xml" not in svg
    alone = safe_bundle({"application/javascript": "x()"})
    assert alone == {"text/plain": "(not shown: application/javascript)"}


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (r"$\displaystyle \frac{x^{2}}{\sqrt{2}} + \int\limits_{0}^{1} e^{x}\, dx$", True),
        (r"$\left[\begin{matrix}1 & 2\\3 & 4\end{matrix}\right]$", True),
        (r"$\href{javascript:x()}{a}$", False),
        (r"$\begin {href}$", False),
        (r"$\def\a#1{#1}\a{b}$", False),
        (r"$\require{html}\style{position:fixed}{a}$", False),
        (r"$x$<script>x()</script>", False),
        (r"$a < b$", True),
    ],
)
def test_latex_is_mathematics_or_left_out(text: str, fine: bool) -> None:
    assert is_mathematics(text) is fine
    assert ("text/latex" in safe_bundle({"text/latex": text})) is fine


def test_sympy_is_mathematics() -> None:
    import sympy

    x = sympy.Symbol("x")
    formula = sympy.Integral(sympy.sin(x) ** 2 / sympy.sqrt(x + 1), (x, 0, sympy.oo))
    matrix = sympy.Matrix([[1, x], [x**2, sympy.pi]])
    for value in (formula, matrix, sympy.Piecewise((x, x > 0), (0, True))):
        assert is_mathematics(value._repr_latex_()), value._repr_latex_()
