"""`@pytest.mark.confined`: a test function that runs inside the sandbox.

The function's source (with what it uses of its module) and its arguments, as plain data, go in; an
outcome comes out. That it passed is the word of the process that it ran in, and so is an exception:
such a report carries ``("csandbox_trust", "weak")``. Limits, denied system calls and what the guard
refuses are seen from outside: "sound".

Only the function's body is confined. pytest imports the module outside, as it does all modules.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import csandbox
from csandbox_pytest.pools import POOLS, RESULTS, Pools, Sandbox, checked_limits, marked
from csandbox_pytest.report import describe, tail
from csandbox_pytest.slicing import sliced


def prepare(item: pytest.Item) -> None:
    """Make the session's pools known to the test, whichever fixtures it asks for."""
    if not isinstance(item, pytest.Function):
        raise pytest.UsageError("@pytest.mark.confined is for test functions")
    names = item.fixturenames
    if "_csandbox_pools" not in names:
        names.append("_csandbox_pools")


def _sandbox(item: pytest.Function) -> tuple[Sandbox, dict[str, Any]]:
    profile, words = marked(item, "confined")
    files = words.pop("files", None)
    pools = item.config.stash.get(POOLS, None) or Pools(item.config)
    results = item.stash.setdefault(RESULTS, [])
    limits = checked_limits("confined", words)
    return Sandbox(pools, profile, limits, results), {"files": files}


def _entry(item: pytest.Function) -> list[str]:
    names = item.obj.__qualname__.split(".")
    if "<locals>" in names or len(names) > 2:
        raise pytest.UsageError(
            f"@pytest.mark.confined: {item.obj.__qualname__} must be a function of a module, or a "
            "method of a class at its top"
        )
    if inspect.iscoroutinefunction(item.obj) or inspect.isgeneratorfunction(item.obj):
        raise pytest.UsageError("@pytest.mark.confined is for plain functions, not for coroutines")
    return list(names)


def _arguments(item: pytest.Function) -> dict[str, Any]:
    """What the test function takes. Fails the test for what is no plain data."""
    from csandbox._value import encode_call

    names = getattr(item, "_fixtureinfo").argnames  # noqa: B009  # private, so said by name
    given = {name: item.funcargs[name] for name in names}
    for name, value in given.items():
        try:
            encode_call("f", [value])
        except (TypeError, ValueError) as error:
            pytest.fail(
                f"@pytest.mark.confined: the argument {name} cannot go into the sandbox, which "
                f"takes plain data: {error}",
                pytrace=False,
            )
    return given


def _note(item: pytest.Item, trust: str) -> None:
    item.user_properties.append(("csandbox_trust", trust))


def run_confined(item: pytest.Function) -> None:
    """Run it inside; return when it passed, else fail (or skip) as the outcome says."""
    sandbox, more = _sandbox(item)
    entry, arguments = _entry(item), _arguments(item)
    path = Path(inspect.getsourcefile(item.obj) or item.path)
    source = path.read_text(encoding="utf-8")
    options = {"filename": path.name, **more}
    result = sandbox.call(sliced(source, entry), ".".join(entry), [], arguments, **options)
    if result.verdict in ("rejected", "compile_error"):
        # Say it of the text that its author knows.
        plain = sandbox.check(sliced(source, entry, telling=False), filename=path.name)
        _note(item, "sound")
        pytest.fail(f"{result.verdict}, nothing was run:\n{plain}", pytrace=False)
    if result.verdict == "internal_error":
        raise csandbox.SandboxError(f"the sandbox failed, not the test: {result.error}")
    if result.ok or result.reason == "unencodable":
        _note(item, "weak")  # what a test function returns is nobody's business
        return
    if result.reason == "raised":
        _note(item, "weak")
        _raised(result)
    _note(item, "sound" if result.limit_hit or result.violations else "weak")
    pytest.fail(describe(result), pytrace=False)


def _raised(result: csandbox.CallResult) -> None:
    """An exception inside. Its type and text are the child's word."""
    name, _, text = result.message.partition(": ")
    if name in ("Skipped", "SkipTest"):
        pytest.skip(f"by its own word: {tail(text)}")
    pytest.fail(f"{tail(result.stderr, 40) or tail(result.message)}", pytrace=False)
