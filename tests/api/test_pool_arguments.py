"""A caller's mistakes with pools, many runs and calls are told at once, by the argument's name."""

import asyncio

import pytest

import csandbox
from csandbox import Pool, ProfileError


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"workers": 0}, ValueError, "workers must be a whole number from 1"),
        ({"spares": True}, ValueError, "spares must be a whole number"),
        ({"preload": "json"}, TypeError, "preload must be a sequence"),
        ({"preload": [1]}, ValueError, "preload: 1 is not the name"),
        ({"preload": ["os; import sys"]}, ValueError, "not the name of a module"),
        ({"limits": 3}, TypeError, "limits must be"),
        ({"limits": {"cpu": 1}}, ProfileError, "did you mean cpu_s"),
        ({"renew_runs": 0}, ValueError, "renew_runs must be"),
        ({"renew_runs": "9"}, ValueError, "renew_runs must be"),
        ({"renew_s": -1}, ValueError, "renew_s must be"),
        ({"renew_s": float("nan")}, ValueError, "renew_s must be"),
        ({"startup_s": float("nan")}, ValueError, "startup_s must be"),
        ({"startup_s": float("inf")}, ValueError, "startup_s must be"),
        ({"startup_s": 10**400}, ValueError, "startup_s must be"),
    ],
)
def test_wrong_argument(keywords, error, words):
    with pytest.raises(error, match=words):
        Pool("open", **keywords)


async def _of_each(items):
    return [result async for result in csandbox.arun_many(items)]


@pytest.mark.parametrize("items", ["print(1)", b"print(1)", {"source": "print(1)"}, None, 3])
def test_one_source_is_not_many(items):
    """A string is an iterable of its characters: eight programs of one letter each."""
    with pytest.raises(TypeError, match="items must be an iterable of sources"):
        list(csandbox.run_many(items))
    with pytest.raises(TypeError, match="items must be an iterable of sources"):
        asyncio.run(_of_each(items))


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"adapters": 3}, "adapters must be a mapping"),
        ({"kwargs": [1]}, "kwargs must be a mapping"),
        ({"value_limits": 3}, "value_limits must be a ValueLimits"),
    ],
)
def test_wrong_argument_of_a_call(keywords, words):
    with pytest.raises(TypeError, match=words):
        csandbox.call("def f(): return 1", "f", **keywords)


class Silent:
    """Something whose repr fails, as a mock's may."""

    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "keywords",
    [
        {"profile": Silent()},
        {"filename": Silent()},
        {"allow_degraded": [Silent()]},
        {"namespaces": Silent()},
        {"limits": {"cpu_s": Silent()}},
        {"limits": {Silent(): 1}},
        {"env": {Silent(): "x"}},
        {"fresh": Silent()},
    ],
)
def test_what_cannot_be_shown_is_named_by_its_type(keywords):
    with pytest.raises((TypeError, ValueError), match="<Silent>"):
        csandbox.run("print(1)", **keywords)
