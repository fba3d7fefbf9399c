"""LaTeX that is only mathematics, by a list: MathJax has commands that make links."""

from __future__ import annotations

import re

_COMMANDS = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda "
        "mu nu xi pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega hbar ell Re Im aleph "
        "nabla partial infty emptyset forall exists frac dfrac tfrac sqrt binom left right "
        "big Big bigg Bigg cdot cdots ldots dots vdots ddots times div pm mp ast star circ "
        "bullet oplus otimes wedge vee cap cup setminus sum prod int iint iiint oint lim "
        "limsup liminf sup inf max min arg det dim exp gcd log ln lg sin cos tan cot sec csc "
        "sinh cosh tanh coth arcsin arccos arctan operatorname mathrm mathbf mathit mathcal "
        "mathbb mathsf mathtt text textrm boldsymbol overline underline hat widehat tilde "
        "widetilde bar vec dot ddot acute grave check breve prime le leq ge geq ne neq equiv "
        "approx sim simeq cong propto in ni notin subset supset subseteq supseteq to "
        "rightarrow leftarrow Rightarrow Leftarrow Leftrightarrow leftrightarrow mapsto mid "
        "parallel perp angle langle rangle lfloor rfloor lceil rceil lvert rvert lVert rVert "
        "vert Vert begin end quad qquad displaystyle textstyle scriptstyle limits nolimits "
        "not bmod pmod mod land lor lnot neg top bot stackrel overset underset substack"
    ).split()
)
_ENVIRONMENTS = frozenset(
    [
        "matrix",
        "pmatrix",
        "bmatrix",
        "Bmatrix",
        "vmatrix",
        "Vmatrix",
        "smallmatrix",
        "array",
        "cases",
        "equation",
        "equation*",
        "align",
        "align*",
        "aligned",
        "gather",
        "gather*",
        "split",
    ]
)
# One command at a time, so that the break of a line before a letter is no command.
_COMMAND = re.compile(r"\\([a-zA-Z]+|.)(?=(\s*\{[^{}]*\})?)", re.S)
_LIMIT = 50_000


def is_mathematics(text: str) -> bool:
    """Whether nothing is in it but symbols and layout of formulas."""
    if len(text) > _LIMIT or re.search(r"<[a-zA-Z/!?]", text):  # markup, for a page that takes it
        return False
    for found in _COMMAND.finditer(text):
        name, argument = found[1], (found[2] or "").strip()
        if name.isalpha() and name not in _COMMANDS:
            return False
        if name in ("begin", "end") and argument[1:-1].strip() not in _ENVIRONMENTS:
            return False
    return True
