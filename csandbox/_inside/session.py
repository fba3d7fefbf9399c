"""The inside of a session: compiles a cell, executes it, tells what it showed.

Runs in the confined child in a namespace of its own, beside untrusted code that may change
anything here; what it says is data for the caller, and nothing more. The answers are JSON.
"""

import _thread as _threads
import ast as _ast
import base64 as _base64
import builtins as _builtins
import inspect as _inspect
import json as _json
import linecache as _linecache
import signal as _signal
import sys as _sys
import traceback as _traceback

_TEXT_LIMIT = 100_000
_BUNDLE_LIMIT = 8_000_000
_DISPLAYS_LIMIT = 64
_REPRS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_latex_", "text/latex"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_json_", "application/json"),
)
_state = {"count": 0, "displays": [], "shown": 0, "bytes": 0, "deaf": ""}
_stdin = _sys.stdin
_main_thread = _threads.get_ident()


def _short(text):
    return text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT] + "… (cut)"


def _plain(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": _base64.b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, str):
        return str(value)
    return _json.loads(_json.dumps(value))


def _bundle(value):
    """MIME type -> data of one value; what its own methods raise is left out."""
    found = {}
    make = getattr(type(value), "_repr_mimebundle_", None)
    if make is not None:
        try:
            given = value._repr_mimebundle_()
            given = given[0] if isinstance(given, tuple) else given
            found.update({str(kind): _plain(data) for kind, data in given.items()})
        except Exception:
            pass
    for name, kind in _REPRS:
        if kind not in found and getattr(type(value), name, None) is not None:
            try:
                data = getattr(value, name)()
                data = data[0] if isinstance(data, tuple) else data
                if data is not None:
                    found[kind] = _plain(data)
            except Exception:
                pass
    if "text/plain" not in found:
        found["text/plain"] = _short(repr(value))
    return found


def _asked(kind, data):
    """The caller's answer while a cell runs; None when nobody is there for such a question."""
    if kind in _state["deaf"] or _threads.get_ident() != _main_thread:
        return None
    _flush()
    answer = question(kind.encode() + data)  # noqa: F821 - put here by the interpreter's own part
    if answer is None:
        _state["deaf"] += kind
    return answer


def _show(bundle):
    text = _json.dumps(bundle)
    if _state["shown"] >= _DISPLAYS_LIMIT or _state["bytes"] + len(text) > _BUNDLE_LIMIT:
        if _state["shown"] > _DISPLAYS_LIMIT:
            return
        _state["shown"] = _DISPLAYS_LIMIT
        bundle = {"text/plain": "(more was shown than a session passes on)"}
        text = _json.dumps(bundle)
    _state["shown"] += 1
    _state["bytes"] += len(text)
    if _asked("d", text.encode()) is None:
        _state["displays"].append(bundle)


_input = _builtins.input


def input(prompt="", /):
    """Read a line from whoever runs the cell."""
    if _sys.stdin is not _stdin:
        return _input(prompt)
    line = _asked("i", str(prompt).encode("utf-8", "replace"))
    if line is None:
        raise EOFError(
            "nobody answers input() here: put the text into a variable, or into a file of the "
            "session"
        )
    if not line:
        raise EOFError("EOF when reading a line")
    return line.decode("utf-8", "replace").removesuffix("\n")


def display(*values, raw=False):
    """Show values as a notebook would; with raw=True each is a dict from MIME type to data."""
    for value in values:
        _show({str(k): _plain(v) for k, v in value.items()} if raw else _bundle(value))


def _figures():
    """Open matplotlib figures become PNG and are closed, as notebooks do."""
    pyplot = _sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    import io

    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        data = io.BytesIO()
        figure.savefig(data, format="png", bbox_inches="tight")
        _show({"image/png": _plain(data.getvalue()), "text/plain": repr(figure)})
    pyplot.close("all")


def _answer(**fields):
    displays = _state["displays"]
    _state.update(displays=[], shown=0, bytes=0, deaf="")
    return _json.dumps({"count": _state["count"], "displays": displays, **fields}).encode()


def _failure(error, skip):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is _names:
        trace = trace.tb_next
    told = _traceback.TracebackException(type(error), error, None if skip else trace)
    told.stack[:] = [frame for frame in told.stack if frame.filename != "<csandbox>"]
    return {
        "name": type(error).__name__,
        "text": _short(str(error)),
        "traceback": _short("".join(told.format())),
    }


def _flush():
    for stream in (_sys.stdout, _sys.stderr):
        try:  # noqa: SIM105 - contextlib is not loaded for this
            stream.flush()
        except Exception:  # closed by the cell, or replaced
            pass


def _flags():
    return _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def compile_cell(text, names):
    """A tuple of code objects, the last one for a value to be shown; or the answer at once."""
    _state["count"] += 1
    name = "<cell {}>".format(_state["count"])
    _linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    try:
        tree = _ast.parse(text, name)
        body, last = tree.body, None
        if body and isinstance(body[-1], _ast.Expr) and not text.rstrip().endswith(";"):
            last = _ast.Expression(body.pop().value)
        codes = [compile(_ast.Module(body, []), name, "exec", _flags(), True)]
        if last is not None:
            codes.append(compile(last, name, "eval", _flags(), True))
        return tuple(codes)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return _answer(status="error", compiled=False, error=_failure(error, True))


def _execute(code, names):
    value = eval(code, names)
    if code.co_flags & _inspect.CO_COROUTINE:
        import asyncio

        value = asyncio.run(value)
    return value


def _deafen():
    """An interrupt is for a cell: while our own code runs, it waits."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT})


def _listen():
    """From here on interrupts count; one that came for the cell before does not."""
    if _signal.SIGINT in _signal.sigpending():
        _signal.sigwait({_signal.SIGINT})
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})


def _run_codes(codes, names, fields):
    _execute(codes[0], names)
    if len(codes) > 1:
        value = _execute(codes[1], names)
        if value is not None:
            names["_"] = value
            bundle = _bundle(value)
            fields["value_repr"] = bundle["text/plain"]
            fields["value"] = bundle if len(_json.dumps(bundle)) < _BUNDLE_LIMIT else None
    _figures()


def run_cell(codes, names):
    """Execute; the answer for the caller. SystemExit ends the session, as it ends a program."""
    fields = {"status": "ok", "compiled": True}
    _state["deaf"] = ""
    try:
        try:
            _listen()
            _run_codes(codes, names, fields)
        finally:
            _deafen()
            for _ in (1, 2):
                pass  # what came in the last moment is raised here, as the cell's
    except SystemExit:
        _flush()
        raise
    except BaseException as error:
        fields = {"status": "error", "compiled": True, "error": _failure(error, False)}
    _flush()
    return _answer(**fields)


def _prepare():
    """Lines leave as they are written, for whoever listens; Agg's plt.show() is no mistake here."""
    import warnings

    for stream in (_sys.stdout, _sys.stderr):
        stream.reconfigure(line_buffering=True)
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


_deafen()
_names = globals()
_builtins.display = display
_builtins.input = input
_prepare()
