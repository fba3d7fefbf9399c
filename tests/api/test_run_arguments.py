"""A caller's mistakes are exceptions that say which argument, and nothing is started for them."""

import pytest

import csandbox
from csandbox import Limits, ProfileError

SOURCE = "print(1)"


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"stdin": 3}, TypeError, "stdin must be str or bytes"),
        ({"stdin": "\ud800"}, ValueError, "stdin holds a lone surrogate at position 0"),
        ({"args": "abc"}, TypeError, "args must be a sequence"),
        ({"args": [1]}, TypeError, r"args\[0\] must be a string"),
        ({"args": ["a\0b"]}, ValueError, "NUL"),
        ({"args": ["\udcff"]}, ValueError, "surrogate"),
        ({"env": {"A": 1}}, TypeError, r"env\['A'\]"),
        ({"env": {"A=B": "x"}}, ValueError, "name of a variable"),
        ({"env": {"": "x"}}, ValueError, "name of a variable"),
        ({"env": {"A": "\0"}}, ValueError, "NUL"),
        ({"files": ["a"]}, TypeError, "map names to contents"),
        ({"files": {"a": 1}}, TypeError, r"files\['a'\]"),
        ({"files": {"/etc/x": b""}}, ValueError, "relative path"),
        ({"files": {"../x": b""}}, ValueError, "relative path"),
        ({"files": {"a/../../x": b""}}, ValueError, "relative path"),
        ({"files": {"": b""}}, ValueError, "relative path"),
        ({"files": {".": b""}}, ValueError, "relative path"),
        ({"files": {"a/": b""}}, ValueError, "relative path"),
        ({"files": {"a\0": b""}}, ValueError, "NUL"),
        ({"files": {"a": b"", "./a": b""}}, ValueError, "given twice"),
        ({"files": {"a": b"", "a/b": b""}}, ValueError, "a file and the folder"),
        ({"limits": 3}, TypeError, "limits must be"),
        ({"limits": {"cpu": 3}}, ProfileError, "did you mean cpu_s"),
        ({"limits": {"cpu_s": 0}}, ProfileError, "cpu_s must be"),
        ({"allow_degraded": "landlock"}, TypeError, "not a string"),
        ({"allow_degraded": {"landlok"}}, ValueError, "did you mean 'landlock'"),
        ({"allow_degraded": {"walls"}}, ValueError, "is no layer"),
        ({"filename": ""}, ValueError, "filename"),
        ({"filename": "a\0"}, ValueError, "filename"),
        ({"filename": 3}, TypeError, "str"),
        ({"profile": "computer"}, ProfileError, "did you mean 'compute'"),
        ({"profile": None}, TypeError, "profile must be"),
        ({"python": "/no/such/python"}, ValueError, "does not exist"),
        ({"python": "/bin/true"}, ValueError, "no CPython"),
        ({"fresh": "yes"}, TypeError, "fresh"),
    ],
)
def test_wrong_argument(keywords, error, words):
    with pytest.raises(error, match=words):
        csandbox.run(SOURCE, **keywords)


@pytest.mark.parametrize("source", [None, 3, ["print(1)"]])
def test_wrong_source(source):
    with pytest.raises(TypeError, match="source must be str or bytes"):
        csandbox.run(source)
    with pytest.raises(TypeError, match="source must be str or bytes"):
        csandbox.check(source)


def test_everything_after_the_source_is_by_keyword():
    with pytest.raises(TypeError):
        csandbox.run(SOURCE, "input")
    with pytest.raises(TypeError):
        csandbox.check(SOURCE, "contest")


def test_mistakes_are_found_before_the_source_is_judged():
    with pytest.raises(ProfileError):
        csandbox.run("1 +", limits={"cpu_s": -1})


def test_limits_may_be_an_object_or_a_mapping():
    for limits in (Limits(cpu_s=3), {"cpu_s": 3}, None, {}):
        assert csandbox.run(SOURCE, limits=limits).ok
