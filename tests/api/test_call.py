"""Calls by value: entries, arguments, adapters, and every way in which no value comes back."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

import csandbox
from csandbox import _core
from csandbox._value import ValueLimits, encode_call, open_reply

SOURCE = """
import sys

class Text(str):
    pass

def echo(*args, **kwargs):
    print("called")
    return [*args, kwargs] if kwargs else list(args)

def reverse(head: ListNode) -> ListNode:
    before = None
    while head:
        head.next, before, head = before, head, head.next
    return before

def mirror(root):
    if root:
        root.left, root.right = mirror(root.right), mirror(root.left)
    return root

def heads(lists):
    return [node.next for node in lists]

def sort(items):
    items.sort()

def fails():
    raise LookupError("no such thing")

def subclass():
    return {"groups": [Text("x")]}

def circle():
    node = ListNode(1)
    node.next = node
    return node

def large():
    return "x" * 100_000

def leave():
    sys.exit(0)

class Solution:
    made = 0
    def __init__(self):
        Solution.made += 1
    def number(self):
        return Solution.made
    @staticmethod
    def fixed():
        return Solution.made

class Needs:
    def __init__(self, thing):
        self.thing = thing
    def get(self):
        return self.thing
"""


def call(entry: str, *args: Any, **options: Any) -> csandbox.CallResult:
    return csandbox.call(SOURCE, entry, args, **{"profile": "open", **options})


def test_arguments_and_results_are_values() -> None:
    value = [None, True, 2**70, -0.5, "é\ud800", b"\xff", (1, {2}), {"a": [frozenset({1})]}]
    result = call("echo", *value, kwargs={"key": (1,)})
    assert result.ok and result.reason is None and result.stdout == "called\n"
    assert result.value == [*value, {"key": (1,)}]
    assert [type(item) for item in result.value[:-1]] == [type(item) for item in value]
    assert pickle.loads(pickle.dumps(result)).value == result.value
    assert "value" not in result.to_dict() and "frozenset" in result.to_dict()["value_repr"]
    assert call("echo", 1, "a").to_dict()["value"] == [1, "a"]


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("Solution().number", 1),
        ("Solution.number", 1),
        ("Solution.fixed", 0),
        ("Needs(5).get", 5),
        ("lambda: sorted({3, 1, 2})", [1, 2, 3]),
        ("len.__call__", None),
        ("sys.getrecursionlimit", 0),
    ],
)
def test_entries(entry: str, value: Any) -> None:
    result = call(entry, *(["abc"] if "len" in entry else []))
    assert result.ok, result.summary()
    assert result.value == (3 if "len" in entry else result.value if value == 0 else value)


def test_linked_lists_and_trees() -> None:
    node, tree = {0: "ListNode", "return": "ListNode"}, {0: "TreeNode", "return": "TreeNode"}
    assert call("reverse", [1, 2, 3], adapters=node).value == [3, 2, 1]
    assert call("reverse", [], adapters=node).value == []
    assert call("reverse", None, adapters=node).value == []
    assert call("reverse", list(range(100_000)), adapters=node).value[0] == 99_999
    assert call("mirror", [1, 2, 3, None, 4], adapters=tree).value == [1, 3, 2, None, None, 4]
    many = {0: "list[ListNode]", "return": "list[ListNode]"}
    assert call("heads", [[1, 2], [3], [4, 5]], adapters=many).value == [[2], [], [5]]
    assert call("sort", [3, 1, 2], adapters={"return": 0}).value == [1, 2, 3]
    ends = call("circle", adapters={"return": "ListNode"})
    assert ends.reason == "unencodable" and "circle of nodes" in ends.message


def test_a_class_of_the_submission_is_used() -> None:
    source = "class ListNode:\n    def __init__(self, x):\n"
    source += "        self.val = x\n        self.next = None\n"
    source += "def f(head):\n    return type(head) is ListNode and head.next.val\n"
    assert csandbox.call(source, "f", [[1, 2]], adapters={0: "ListNode"}).value == 2


@pytest.mark.parametrize(
    ("entry", "args", "reason", "words"),
    [
        ("fails", [], "raised", "LookupError: no such thing"),
        ("subclass", [], "unencodable", "at $.groups[0]: Text is a subclass of str"),
        ("large", [], "unencodable", "at $: the value is larger than 1000 bytes"),
        ("nothing", [], "no_entry", "name 'nothing' is not defined"),
        ("Solution.nothing", [], "no_entry", "no attribute 'nothing'"),
        ("echo)", [], "no_entry", "unmatched ')'"),
        ("__name__", [], "no_entry", "not callable"),
        ("Needs.get", [], "raised", "TypeError"),
        ("reverse", [1, 2], "raised", "TypeError"),
        ("leave", [], "raised", "SystemExit: 0"),
        ("__import__('os')._exit", [0], "no_reply", "ended without a reply"),
    ],
)
def test_without_a_value_nothing_is_accepted(
    entry: str, args: list[Any], reason: str, words: str
) -> None:
    result = call(entry, *args, value_limits=ValueLimits(bytes=1000))
    assert (result.verdict, result.reason) == ("runtime_error", reason)
    assert words in result.message and result.message in result.summary()
    assert result.value is None
    if entry == "fails":
        assert 'raise LookupError("no such thing")' in result.stderr
        assert "csandbox" not in result.stderr


def test_the_end_of_the_program_is_told_as_ever() -> None:
    def verdict(source: str, **options: Any) -> str:
        return csandbox.call(source, "f", profile="open", **options).verdict

    assert verdict("def f(:") == "compile_error"
    assert verdict("1 / 0") == "runtime_error"
    assert verdict("import os\nos._exit(0)") == "runtime_error"
    assert verdict("def f():\n    while True: pass", limits={"cpu_s": 0.1}) == "time_limit"
    assert csandbox.call("import os\ndef f(): 1", "f", profile="minimal").verdict == "rejected"
    with pytest.raises(csandbox.OutcomeError):
        csandbox.call("1 / 0", "f", check=True)


def test_the_callers_mistakes_are_exceptions() -> None:
    class Mine(int):
        pass

    for options, error, words in [
        ({"args": [[Mine(1)]]}, TypeError, "at $.args[0][0]: Mine is a subclass of int"),
        ({"args": "ab"}, TypeError, "args must be a list"),
        ({"kwargs": {1: 2}}, TypeError, "names as keys"),
        ({"entry": " "}, ValueError, "must name a function"),
        ({"adapters": {0: "ListNode"}}, ValueError, "neither the place"),
        ({"args": [[]], "adapters": {0: "Listnode"}}, ValueError, "none of ListNode"),
        ({"adapters": {"return": 0}}, ValueError, "not the place of an argument"),
        ({"args": ["x" * 10**7]}, ValueError, "larger"),
    ]:
        with pytest.raises(error) as caught:
            csandbox.call("def f(): 1", **{"entry": "f", **options})
        assert words in str(caught.value)


def test_call_has_the_keywords_of_run() -> None:
    run = set(inspect.signature(csandbox.run).parameters)
    own = set(inspect.signature(csandbox.call).parameters)
    assert run - own == set()
    assert own - run - {"pool"} == {"entry", "kwargs", "adapters", "value_limits", "argv"}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff" * 20, b"\xf6",
        _core.encode({"kind": "value"}, ValueLimits().core()),
        _core.encode({"kind": "value", "value": 1, "more": 2}, ValueLimits().core()),
        _core.encode({"value": 1, "kind": "value"}, ValueLimits().core()),
        _core.encode({"kind": "accepted", "message": ""}, ValueLimits().core()),
        _core.encode({"kind": "raised", "type": 1, "message": ""}, ValueLimits().core()),
        _core.encode({"kind": "value", "value": 1}, ValueLimits().core()) + b"\x00",
        _core.encode({"kind": "raised", "type": "x" * 10**6, "message": ""}, ValueLimits().core()),
    ],
)  # fmt: skip
def test_a_forged_reply_is_garbage(data: bytes) -> None:
    reply = open_reply({"bytes": data, "cpu_s": 0.0, "wall_s": 0.0}, ValueLimits())
    assert (reply.reason, bool(reply.message)) == ("garbage", True)


def test_a_request_may_be_as_large_as_its_limits() -> None:
    limits = ValueLimits(bytes=1000, items=10, depth=2)
    assert encode_call("f", [[1, 2, 3, (4,)]], limits=limits)
    with pytest.raises(ValueError, match="deep"):
        encode_call("f", [[[[[[1]]]]]], limits=limits)
