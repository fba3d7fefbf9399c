"""The kernel, driven by jupyter_client as a frontend does."""

from __future__ import annotations

import time
from typing import Any

import pytest


def texts(published: list[tuple[str, dict[str, Any]]], name: str) -> str:
    return "".join(c["text"] for kind, c in published if kind == "stream" and c["name"] == name)


def bundles(published: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [c["data"] for kind, c in published if kind in ("display_data", "execute_result")]


def test_state_values_and_streams(kernel: Any) -> None:
    reply, published = kernel.run(
        "import sys\nx = 20\nprint('out ä')\nprint('err', file=sys.stderr)"
    )
    assert reply["status"] == "ok"
    assert texts(published, "stdout") == "out ä\n"
    assert texts(published, "stderr") == "err\n"
    reply, published = kernel.run("x + 22")
    assert bundles(published) == [{"text/plain": "42"}]
    assert reply["execution_count"] == 2


def test_output_comes_while_the_cell_runs(kernel: Any) -> None:
    """The cell waits for an interrupt that is sent only when its first line was seen."""
    ended: list[bool] = []

    def seen(kind: str, content: dict[str, Any]) -> None:
        if kind == "stream" and "begun" in content["text"]:
            assert not ended
            kernel.manager.interrupt_kernel()

    code = "import time\nkept = 1\nprint('begun')\nwhile True: time.sleep(0.05)"
    reply, published = kernel.run(code, seen)
    ended.append(True)
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert texts(published, "stdout") == "begun\n"
    assert bundles(kernel.run("kept")[1]) == [{"text/plain": "1"}]  # its state survived


def test_signal_interrupts_too(kernel: Any) -> None:
    """A frontend that sends SIGINT to the process instead of a message."""
    import signal

    def seen(kind: str, content: dict[str, Any]) -> None:
        if kind == "stream" and "begun" in content["text"]:
            kernel.manager.signal_kernel(signal.SIGINT)

    reply, _ = kernel.run("print('begun')\nwhile True: pass", seen)
    assert reply["ename"] == "KeyboardInterrupt"
    assert bundles(kernel.run("kept")[1]) == [{"text/plain": "1"}]


def test_findings_are_shown_with_carets(kernel: Any) -> None:
    reply, published = kernel.run("x = 1\nimport socket  # <b>&")
    assert reply["ename"] == "Rejected"
    (shown,) = bundles(published)
    assert "error[CSB101]" in shown["text/html"] and ">socket</b>" in shown["text/html"]
    assert "^^^^^^" in shown["text/html"] and "&lt;b&gt;" in shown["text/html"]
    assert "error[CSB101]" in shown["text/plain"]


def test_exceptions_name_the_notebooks_cells(kernel: Any) -> None:
    reply, _ = kernel.run("def f():\n    1 / 0")
    number = reply["execution_count"]
    kernel.run("import socket")  # the child does not count this one
    reply, _ = kernel.run("f()")
    assert reply["ename"] == "ZeroDivisionError"
    assert f'File "<cell {number}>", line 2, in f' in "\n".join(reply["traceback"])
    assert f'File "<cell {number + 2}>", line 1' in "\n".join(reply["traceback"])


def test_rich_display_is_made_harmless(kernel: Any) -> None:
    code = """
class Evil:
    def _repr_html_(self):
        return "<b onclick='x()'>bold</b><script>steal()</script><img src='http://x/y'>"
    def _repr_mimebundle_(self, **more):
        return {"application/javascript": "steal()", "text/plain": "evil"}
Evil()
"""
    reply, published = kernel.run(code)
    assert reply["status"] == "ok"
    assert bundles(published) == [{"text/html": "<b>bold</b><img>", "text/plain": "evil"}]


def test_plots_are_inline(kernel: Any) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('t')\nplt.show()"
    reply, published = kernel.run(code)
    assert reply["status"] == "ok", reply
    pictures = [b["image/png"] for b in bundles(published) if "image/png" in b]
    assert len(pictures) == 1 and pictures[0].startswith("iVBOR")
    assert texts(published, "stderr") == ""


def test_what_is_displayed_comes_in_its_place(kernel: Any) -> None:
    code = "print('a')\ndisplay(1)\nprint('b')\ndisplay(2)\nprint('c')"
    reply, published = kernel.run(code)
    assert reply["status"] == "ok"
    order = [c.get("text") or c["data"]["text/plain"] for _, c in published]
    assert "".join(order) == "a\n1b\n2c\n"


def test_input_asks_the_frontend(kernel: Any) -> None:
    asked: list[str] = []

    def answer(message: dict[str, Any]) -> None:
        asked.append(message["content"]["prompt"])
        kernel.client.input("Ada")

    reply, published = kernel.run("input('Name? ').upper()", stdin=answer)
    assert (reply["status"], asked) == ("ok", ["Name? "])
    assert bundles(published) == [{"text/plain": "'ADA'"}]


def test_input_without_a_frontend_that_answers_says_what_to_do(kernel: Any) -> None:
    reply, _ = kernel.run("input('Name? ')")
    assert reply["ename"] == "EOFError" and "put the text into a variable" in reply["evalue"]


@pytest.mark.parametrize("how", ["message", "signal"])
def test_an_interrupt_while_input_waits(kernel: Any, how: str) -> None:
    import signal

    def interrupt(message: dict[str, Any]) -> None:
        if how == "message":
            kernel.manager.interrupt_kernel()
        else:
            kernel.manager.signal_kernel(signal.SIGINT)

    reply, _ = kernel.run("kept = 7\ninput()", stdin=interrupt)
    assert reply["ename"] == "KeyboardInterrupt"
    assert bundles(kernel.run("kept")[1]) == [{"text/plain": "7"}]


def test_completion_offers_what_the_guard_lets_through(kernel: Any) -> None:
    kernel.run("import math, os\nspam_eggs = [1]")

    def offered(code: str) -> list[str]:
        matches: list[str] = kernel.ask("complete", code)["matches"]
        return matches

    assert offered("spam_e") == ["spam_eggs"]
    assert offered("math.sq") == ["sqrt"]
    assert "append" in offered("spam_eggs.")
    assert offered("os.syst") == []  # denied by the profile
    assert "getcwd" in offered("os.getc")
    assert offered("import jso") == ["json"]
    assert offered("import sock") == []
    assert "sin" in offered("from math import si")
    assert offered("brea") == ["break"]  # and not breakpoint
    reply = kernel.ask("complete", "y = math.sq + 1", 11)
    assert (reply["matches"], reply["cursor_start"], reply["cursor_end"]) == (["sqrt"], 9, 11)


def test_completion_survives_hostile_attributes(kernel: Any) -> None:
    kernel.run(
        "class Slow:\n    @property\n    def deep(self):\n        while True: pass\nslow = Slow()"
    )
    assert kernel.ask("complete", "slow.deep.x")["matches"] == []
    assert bundles(kernel.run("spam_eggs")[1]) == [{"text/plain": "[1]"}]


def test_inspection(kernel: Any) -> None:
    kernel.run('def area(a: int, b: int = 2) -> int:\n    "Width by height."\n    return a * b')
    reply = kernel.ask("inspect", "area(1", 6)
    assert reply["found"]
    text = reply["data"]["text/plain"]
    assert "Signature: area(a: int, b: int = 2) -> int" in text and "Width by height." in text
    assert "return a * b" in kernel.ask("inspect", "area", 2, detail_level=1)["data"]["text/plain"]
    assert not kernel.ask("inspect", "nothing_here", 3)["found"]
    reply, _ = kernel.run("area?")
    assert "Width by height." in reply["payload"][0]["data"]["text/plain"]


def test_is_complete(kernel: Any) -> None:
    assert kernel.ask("is_complete", "x = 1")["status"] == "complete"
    assert kernel.ask("is_complete", "x = = 1")["status"] == "invalid"
    reply = kernel.ask("is_complete", "for x in y:")
    assert (reply["status"], reply["indent"]) == ("incomplete", "    ")


def test_a_session_that_ended_is_told_and_begun_anew(kernel: Any) -> None:
    reply, published = kernel.run("x = bytearray(3_000_000_000)\nx[0] = 1")
    if reply["ename"] == "MemoryError":  # refused by the kernel before it was touched
        reply, published = kernel.run("raise SystemExit(3)")
    assert reply["status"] == "error"
    assert "its variables are lost" in bundles(published)[-1]["text/html"]
    reply, _ = kernel.run("spam_eggs")
    assert reply["ename"] == "NameError"


def test_restart(kernel: Any) -> None:
    kernel.run("before = 1")
    kernel.manager.restart_kernel(now=False)
    kernel.client.wait_for_ready(timeout=120)
    reply, _ = kernel.run("before")
    assert reply["ename"] == "NameError" and reply["execution_count"] == 1


def test_nothing_of_a_kernel_survives_it(kernel: Any) -> None:
    """Killed with SIGKILL while a cell runs, as frontends do that lost patience."""
    kernel.client.execute("while True: pass")
    time.sleep(0.2)
    processes = kernel.processes()
    assert processes
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=120)
    assert kernel.gone(processes)
