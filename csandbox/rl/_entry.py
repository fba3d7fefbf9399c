"""Which name is called: data sets say ``twoSum``, submissions write ``class Solution``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from csandbox._grade_tests import AnyTest, CallTest

_CLASS = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)


def with_class(tests: Sequence[AnyTest], code: str) -> Sequence[AnyTest]:
    """The tests, calling ``Solution().f`` where the code has that class and no function ``f``.

    Only calls of a plain name are changed. It is the text that is looked at; a submission that
    misleads this only has another of its own functions called.
    """
    if not _CLASS.search(code):
        return tests
    return [
        replace(test, entry=f"Solution().{test.entry}")
        if isinstance(test, CallTest) and "." not in test.entry and not _defines(code, test.entry)
        else test
        for test in tests
    ]


def _defines(code: str, name: str) -> bool:
    if not name.isidentifier():
        return True
    return re.search(rf"^(?:async[ \t]+)?def[ \t]+{name}\b", code, re.MULTILINE) is not None
