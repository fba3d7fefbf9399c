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
        ({"args": None}, TypeError, "args must be a sequence"),
        ({"args": [1]}, TypeError, r"args\[0\] must be a string"),
        ({"args": ["a\0b"]}, ValueError, "NUL"),
        ({"args": ["\udcff"]}, ValueError, "surrogate"),
        ({"env": {"A": 1}}, TypeError, r"env\['A'\]"),
        ({"env": {"A=B": "x"}}, ValueError, "name of a variable"),
        ({"env": {str(n): "x" for n in range(1001)}}, ValueError, "env has 1,001 variables"),
        ({"env": {str(n): "x" * 10**5 for n in range(11)}}, ValueError, "at most 1,000 and"),
        ({"env": {"": "x"}}, ValueError, "name of a variable"),
        ({"env": {"A": "\0"}}, ValueError, "NUL"),
        ({"files": ["a"]}, TypeError, "map names to contents"),
        ({"files": {1: b""}}, TypeError, "a name in files"),
        ({"files": {b"a": b""}}, TypeError, "a name in files"),
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
        ({"limits": {"cpu_s": -(10**5000)}}, ProfileError, "cpu_s must be"),
        ({"collect": None}, TypeError, "collect must be"),
        ({"collect": "*.csv"}, TypeError, "collect must be"),
        ({"allow_degraded": "landlock"}, TypeError, "allow_degraded must be"),
        ({"allow_degraded": None}, TypeError, "allow_degraded must be"),
        ({"allow_degraded": [["landlock"]]}, ValueError, "is no layer"),
        ({"allow_degraded": {"landlok"}}, ValueError, "did you mean 'landlock'"),
        ({"allow_degraded": {"walls"}}, ValueError, "is no layer"),
        ({"filename": ""}, ValueError, "filename"),
        ({"filename": "a\0"}, ValueError, "filename"),
        ({"filename": 3}, TypeError, "filename must be"),
        ({"filename": b"a"}, TypeError, "filename must be"),
        ({"filename": "a" * 10**7}, ValueError, "file name, args, env"),
        ({"profile": "computer"}, ProfileError, "did you mean 'compute'"),
        ({"profile": None}, TypeError, "profile must be"),
        ({"profile": "a\0.toml"}, ProfileError, "profile must not hold a NUL"),
        ({"profile": "./a\ud800"}, ProfileError, "profile holds a lone surrogate"),
        ({"python": "/no/such/python"}, ValueError, "does not exist"),
        ({"python": ""}, ValueError, "python must be"),
        ({"python": 3}, TypeError, "python must be"),
        ({"python": b"/usr/bin/python3"}, TypeError, "python must be"),
        ({"python": "/a\0"}, ValueError, "python must not hold a NUL"),
        ({"python": "/bin/true"}, ValueError, "no CPython"),
        ({"audit_log": 3}, TypeError, "audit_log must be"),
        ({"audit_log": "a\0"}, ValueError, "audit_log must not hold a NUL"),
        ({"fresh": "yes"}, TypeError, "fresh must be True or False"),
        ({"check": "no"}, TypeError, "check must be True or False"),
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


def test_a_value_is_shown_only_in_part():
    with pytest.raises(TypeError) as caught:
        csandbox.run(SOURCE, filename=["x" * 10**6])
    assert len(str(caught.value)) < 400


def test_an_option_is_no_word():
    with pytest.raises(TypeError, match="confirm must be True or False"):
        csandbox.check(SOURCE, confirm="no")
    with pytest.raises(TypeError, match="check must be True or False"):
        csandbox.call("def f(): return 1", "f", check="no")


def test_as_many_variables_as_are_taken_cost_the_program_little():
    env = {f"V{n}": "x" for n in range(1000)}
    source = "import os; print(sum(name[1:].isdigit() for name in os.environ))"
    for fresh in (False, True):
        result = csandbox.run(source, env=env, fresh=fresh)
        assert result.stdout == "1000\n"


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
