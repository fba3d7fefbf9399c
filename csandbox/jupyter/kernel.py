"""The kernel ``csandbox``: ipykernel speaks the protocol, a `csandbox.Session` runs the cells.

Nothing of a cell is executed in this process. What the child shows goes through `safe_bundle`.
"""

from __future__ import annotations

import codecs
import re
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ipykernel.kernelbase import Kernel

import csandbox
from csandbox.jupyter.completion import Completer, Names, described
from csandbox.jupyter.findings import ending_html, folded_violations_html, report_html
from csandbox.jupyter.safe import safe_bundle

_HELP = re.compile(r"\s*(?:(\?{1,2})\s*([\w.]+)|([\w.]+)\s*(\?{1,2}))\s*")


class CsandboxKernel(Kernel):
    """One session; made anew, and said so, when it ended."""

    implementation = "csandbox"
    implementation_version = csandbox.__version__
    language_info = {  # noqa: RUF012  # as ipykernel has it
        "name": "python",
        "mimetype": "text/x-python",
        "file_extension": ".py",
        "pygments_lexer": "ipython3",
        "codemirror_mode": {"name": "python", "version": 3},
    }
    profile_name = "compute"
    limits: dict[str, Any] | None = None

    def __init__(self, **more: Any) -> None:
        """Begin the session; what is wrong with the profile or this machine ends the kernel."""
        super().__init__(**more)
        self.asking = False
        self.profile = csandbox.Profile.load(self.profile_name)
        self.pool = csandbox.Pool(self.profile, workers=1, spares=1, limits=self.limits)
        self._new_session()

    def _new_session(self) -> None:
        self.child = self.pool.session()
        self.completer = Completer(self.child, self.profile)
        self.numbers: dict[int, int] = {}  # the child's number of a cell -> the notebook's

    @property
    def banner(self) -> str:
        """For consoles."""
        return (
            f"csandbox {csandbox.__version__}: cells run confined, profile {self.profile.name} "
            f"({self.profile.summary})"
        )

    # ---- interrupts ---------------------------------------------------------------------

    def pre_handler_hook(self) -> None:
        """SIGINT while a request is handled is for the cell, not for this process."""
        self.saved_sigint_handler = signal.signal(signal.SIGINT, self._on_sigint)

    def post_handler_hook(self) -> None:
        """As it was."""
        signal.signal(signal.SIGINT, self.saved_sigint_handler)

    def _on_sigint(self, number: int, frame: object) -> None:
        self.child.interrupt()
        if self.asking:
            raise KeyboardInterrupt

    def _send_interrupt_children(self) -> None:
        """An interrupt_request, in the control thread."""
        self.child.interrupt()
        if self.asking:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """End child and pool, also while a cell runs."""
        self.child.close()
        self.pool.close()
        return {"status": "ok", "restart": restart}

    # ---- cells --------------------------------------------------------------------------

    def _show(self, bundle: dict[str, Any]) -> None:
        content = {"data": bundle, "metadata": {}, "transient": {}}
        self.send_response(self.iopub_socket, "display_data", content)

    def _show_html(self, html: str, plain: str) -> None:
        self._show({"text/html": html, "text/plain": plain})

    def _stream(self, name: str) -> Callable[[bytes], None]:
        """Bytes of a stream as they come, as text, never half a character."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode

        def tell(data: bytes) -> None:
            text = decode(data)
            if text:
                content = {"name": name, "text": text}
                self.send_response(self.iopub_socket, "stream", content)

        return tell

    def _line(self, prompt: str) -> str:
        """The frontend's answer to input(). An interrupt is the cell's, which then goes on."""
        try:
            self.asking = True
            return str(self.raw_input(prompt))
        except KeyboardInterrupt:
            return ""
        finally:
            self.asking = False

    def _help(self, code: str) -> dict[str, Any] | None:
        """``name?`` and ``name??``, as notebooks have it."""
        found = _HELP.fullmatch(code)
        if found is None:
            return None
        path, marks = found[2] or found[3], found[1] or found[4]
        about = self.completer.about(path, len(path), len(marks) - 1)
        text = f"Object `{path}` not found." if about is None else described(about)
        page = {"source": "page", "data": {"text/plain": text}, "start": 0}
        return {"status": "ok", "payload": [page], "user_expressions": {}}

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict[str, str] | None = None,
        allow_stdin: bool = False,
        *,
        cell_meta: object = None,
        cell_id: object = None,
    ) -> dict[str, Any]:
        """Run one cell in the session and publish what comes of it."""
        reply: dict[str, Any] = {"execution_count": self.execution_count}
        if not code.strip():
            return {**reply, "status": "ok", "payload": [], "user_expressions": {}}
        if not self.child.alive:
            self._new_session()
        asked = self._help(code)
        if asked is not None:
            return {**reply, **asked}
        in_place: list[object] = []

        def show(bundle: Mapping[str, Any]) -> None:
            in_place.append(bundle)
            self._show(safe_bundle(bundle))

        listeners: dict[str, Any] = {} if silent else {
            "on_stdout": self._stream("stdout"), "on_stderr": self._stream("stderr"),
            "on_display": show,
        }  # fmt: skip
        self._allow_stdin = allow_stdin
        if allow_stdin:
            listeners["on_input"] = self._line
        try:
            result = self.child.run(code, filename=f"<cell {self.execution_count}>", **listeners)
        except csandbox.SandboxError as error:
            return {**reply, **self._failed("SandboxError", str(error), [str(error)], silent)}
        return {**reply, **self._publish(result, len(in_place), silent)}

    def _renumbered(self, text: str) -> str:
        """The child's text with the notebook's numbers: the child does not count refused cells."""

        def number(match: re.Match[str]) -> str:
            return f"<cell {self.numbers.get(int(match[1]), match[1])}>"

        return re.sub(r"<cell (\d{1,9})>", number, text)

    def _publish(self, result: csandbox.CellResult, shown: int, silent: bool) -> dict[str, Any]:
        """What comes of a cell, without the first displays, which were `shown` in their place."""
        if result.count:
            self.numbers[result.count] = self.execution_count
        if not silent:
            for bundle in result.displays[shown:]:
                self._show(safe_bundle(bundle))
            if result.value_repr is not None:
                data = safe_bundle(result.value or {"text/plain": result.value_repr})
                content = {
                    "execution_count": self.execution_count, "data": data, "metadata": {},
                }  # fmt: skip
                self.send_response(self.iopub_socket, "execute_result", content)
            self._notes(result)
        if result.ok:
            return {"status": "ok", "payload": [], "user_expressions": {}}
        if result.raised is not None:
            text, trace = map(self._renumbered, (result.raised.text, result.raised.traceback))
            return self._failed(result.raised.name, text, trace.rstrip("\n").split("\n"), silent)
        name = "".join(word.capitalize() for word in result.verdict.split("_"))
        return self._failed(name, result.summary(), [result.summary()], silent)

    def _notes(self, result: csandbox.CellResult) -> None:
        """Findings, denied calls, and an end that is not the code's own."""
        report = result.report
        if report is not None and len(report):
            self._show_html(report_html(report), report.render())
        ended = result.raised is None and not result.ok
        if ended and result.verdict not in ("rejected", "compile_error"):
            self._show_html(ending_html(result, result.alive), result.summary())
        elif result.violations:
            self._show_html(folded_violations_html(result), "system calls were denied")

    def _failed(self, name: str, text: str, trace: list[str], silent: bool) -> dict[str, Any]:
        error = {"ename": name, "evalue": text, "traceback": trace}
        if not silent:
            self.send_response(self.iopub_socket, "error", error)
        return {"status": "error", **error, "payload": [], "user_expressions": {}}

    # ---- questions ----------------------------------------------------------------------

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        """Names of the session that the guard lets through."""
        start, names = cursor_pos, Names()
        if self.child.alive:
            start, names = self.completer.complete(code, cursor_pos)
        types = [
            {"start": start, "end": cursor_pos, "text": name, "type": kind} for name, kind in names
        ]
        return {
            "status": "ok",
            "matches": [name for name, _ in names],
            "cursor_start": start,
            "cursor_end": cursor_pos,
            "metadata": {"_jupyter_types_experimental": types},
        }

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: object = ()
    ) -> dict[str, Any]:
        """What the child says of the name at the cursor."""
        about = None
        if self.child.alive:
            about = self.completer.about(code, cursor_pos, detail_level)
        data = {} if about is None else {"text/plain": described(about)}
        return {"status": "ok", "found": about is not None, "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> dict[str, Any]:
        """For consoles: whether Enter should run it. Compiled here, executed nowhere."""
        import codeop

        try:
            compiled = codeop.compile_command(code, "<cell>", "exec")
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
            return {"status": "invalid"}
        if compiled is None or (len(code.split("\n")) > 1 and code.split("\n")[-1].strip()
                                and code.split("\n")[-1][:1] in " \t"):  # fmt: skip
            return {"status": "incomplete", "indent": _indent(code)}
        return {"status": "complete"}


def _indent(code: str) -> str:
    last = code.rstrip("\n").rpartition("\n")[2]
    own = last[: len(last) - len(last.lstrip())]
    return own + ("    " if last.rstrip().endswith(":") else "")
