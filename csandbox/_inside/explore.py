"""The inside of completion and inspection: executed after session.py, in the same namespace.

What it says of names is data for the caller, who asks the guard which of them to offer.
"""

import builtins as _builtins
import inspect as _inspect
import sys as _sys

_NAMES_LIMIT = 2000
_DOC_LIMIT = 20_000


def _walk(path, names):
    """The value of a dotted name, without calling anything but attribute access."""
    first, *rest = path.split(".")
    if first in names:
        value = names[first]
    elif hasattr(_builtins, first):
        value = getattr(_builtins, first)
    else:
        raise NameError(first)
    for name in rest:
        value = getattr(value, name)
    return value


def _kind(value):
    for kind, is_it in (
        ("module", _inspect.ismodule),
        ("class", _inspect.isclass),
        ("function", callable),
    ):
        if is_it(value):
            return kind
    return "instance"


def _static_kind(value, name):
    try:
        return _kind(_inspect.getattr_static(value, name))
    except AttributeError:
        return "instance"


def _members(path, prefix, names):
    """[name, kind] of what may stand behind ``path.``, and the module that path is (or "")."""
    if not path:
        own = [[n, _kind(v)] for n, v in list(names.items()) if n.startswith(prefix)]
        taken = {n for n, _ in own}
        inherited = [
            [n, _kind(v)]
            for n, v in vars(_builtins).items()
            if n.startswith(prefix) and n not in taken
        ]
        return {"module": "builtins", "own": own, "names": inherited[:_NAMES_LIMIT]}
    value = _walk(path, names)
    found = [str(n) for n in dir(value) if n.startswith(prefix)][:_NAMES_LIMIT]
    module = str(value.__name__) if _inspect.ismodule(value) else ""
    return {"module": module, "own": [], "names": [[n, _static_kind(value, n)] for n in found]}


def _available(modules):
    """Those top-level modules that an import would find."""
    from importlib.util import find_spec

    found = []
    for name in modules:
        try:
            if name in _sys.modules or find_spec(name) is not None:
                found.append(name)
        except (ImportError, ValueError):
            pass
    return found


def _module_members(module, prefix):
    """What ``from module import prefix`` could mean. Imports the module, as the cell would."""
    from importlib import import_module

    value = import_module(module)
    found = [str(n) for n in dir(value) if n.startswith(prefix)]
    for folder in getattr(value, "__path__", ()):
        import os

        for name in os.listdir(folder):
            stem = name.partition(".")[0]
            if stem.startswith(prefix) and stem.isidentifier() and stem not in found:
                found.append(stem)
    return sorted(found)[:_NAMES_LIMIT]


def _about(path, source, names):
    """What a person wants to know of one name."""
    value = _walk(path, names)
    told = {"type": type(value).__name__, "kind": _kind(value)}
    try:  # noqa: SIM105  # contextlib would be one more import in every child
        told["signature"] = path.rpartition(".")[2] + str(_inspect.signature(value))
    except (TypeError, ValueError):
        pass
    if told["kind"] == "instance":
        told["value"] = repr(value)[:_DOC_LIMIT]
    told["doc"] = str(_inspect.getdoc(value) or "")[:_DOC_LIMIT]
    if source:
        try:  # noqa: SIM105
            told["source"] = _inspect.getsource(value)[:_DOC_LIMIT]
        except (OSError, TypeError):
            pass
    return told


def _explore(what, *words):
    """One question: members, available, module_members, about."""
    names = _sys.modules["__main__"].__dict__
    if what == "members":
        return _members(*words, names)
    if what == "available":
        return _available(*words)
    if what == "module_members":
        return _module_members(*words)
    return _about(*words, names)


_builtins.display.explore = _explore
