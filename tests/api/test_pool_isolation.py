"""Nothing of one run in the next, in one pool: a run spoils something, the next one looks.

Every pair of the table is run in a pool of one worker and one spare, so the second child was forked
by the same zygote, before or after the first one ran. The look alone, in a pool that nobody has
spoilt, must say the same, and where possible a look in the spoiling run itself must say otherwise.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec

import pytest

import csandbox

#: name -> (what the first run does, what the second prints)
PAIRS = {
    "module state": ("import json\njson.spoilt = 1", "import json\nprint(hasattr(json, 'spoilt'))"),
    "a function of a module": (
        "import json\njson.dumps = lambda *a: 'spoilt'",
        "import json\nprint(json.dumps(1))",
    ),
    "builtins patched": (
        "import builtins\nbuiltins.len = lambda x: -1",
        "print(len('abc'))",
    ),
    "builtins added": (
        "import builtins\nbuiltins.spoilt = 1",
        "import builtins\nprint(hasattr(builtins, 'spoilt'))",
    ),
    "sys.modules added": (
        "import sys\nsys.modules['spoilt'] = sys",
        "try: import spoilt\nexcept ImportError: print('no')\nelse: print('yes')",
    ),
    "sys.modules taken": (
        "import sys\ndel sys.modules['json']\nsys.modules['re'] = None",
        "import re, sys\nprint('json' in sys.modules, re.sub('a', 'b', 'a'))",
    ),
    "meta_path": ("import sys\nsys.meta_path.clear()", "import colorsys\nprint('found')"),
    "sys.path": ("import sys\nsys.path.insert(0, '/spoilt')", "import sys\nprint(sys.path)"),
    "main": ("spoilt = 1", "print('spoilt' in globals())"),
    "files": ("open('f', 'w').write('x')", "import os\nprint(os.listdir('.'))"),
    "folders": ("import os\nos.makedirs('a/b')", "import os\nprint(os.listdir('.'))"),
    "hidden files": ("open('.f', 'w').write('x')", "import os\nprint(os.listdir('.'))"),
    "a link": ("import os\nos.symlink('/etc', 'l')", "import os\nprint(os.listdir('.'))"),
    "mode of the folder": (
        "import os\nos.chmod('.', 0o500)",
        "import os\nprint(oct(os.stat('.').st_mode))",
    ),
    "descriptors": (
        "import os\nfor _ in range(9): os.open('.', os.O_RDONLY)",
        "import os\nprint(os.dup(0))",
    ),
    "a descriptor closed": ("import os\nos.close(2)", "import sys\nprint('e', file=sys.stderr)"),
    "flags of stdin": (
        "import os\nos.set_blocking(0, False)\nos.set_inheritable(0, True)",
        "import os\nprint(os.get_blocking(0), os.get_inheritable(0))",
    ),
    "environment": (
        "import os\nos.environ['SPOILT'] = '1'\nos.environ.pop('HOME', 0)",
        "import os\nprint(sorted(os.environ))",
    ),
    "cwd": (
        "import os\nos.mkdir('d')\nos.chdir('d')",
        "import os\nprint(os.listdir('.'), os.path.basename(os.getcwd())[:8])",
    ),
    "umask": ("import os\nos.umask(0o777)", "import os\nprint(oct(os.umask(0o22)))"),
    "atexit": ("import atexit\natexit.register(print, 'spoilt')", "print('clean')"),
    "signal handlers": (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "import signal\nprint(signal.getsignal(signal.SIGTERM))",
    ),
    "signal mask": (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
        "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    ),
    "locale": (
        "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
        "import locale\nprint(locale.setlocale(locale.LC_ALL))",
    ),
    "recursion limit": (
        "import sys\nsys.setrecursionlimit(50)",
        "import sys\nprint(sys.getrecursionlimit())",
    ),
    "switch interval": (
        "import sys\nsys.setswitchinterval(1)",
        "import sys\nprint(sys.getswitchinterval())",
    ),
    "trace and hooks": (
        "import sys\nsys.excepthook = sys.displayhook = print\nsys.setprofile(lambda *a: None)",
        "import sys\nprint(sys.getprofile(), sys.excepthook is sys.__excepthook__)",
    ),
    "audit hook": (
        "import sys\nsys.addaudithook(lambda e, a: print('spoilt'))",
        "compile('1', '', 'eval')\nprint('clean')",
    ),
    "warnings": (
        "import warnings\nwarnings.simplefilter('ignore')",
        "import warnings\nwarnings.warn('heard')",
    ),
    "gc": (
        "import gc\ngc.disable()\ngc.callbacks.append(print)",
        "import gc\nprint(gc.isenabled(), gc.callbacks)",
    ),
    "interned and cached": (
        "import re\nre.compile('spoilt-pattern')",
        "import re\nprint(any('spoilt' in str(k) for k in getattr(re, '_cache', {})))",
    ),
    "linecache": (
        "import linecache\nlinecache.cache['x.py'] = (1, None, ['spoilt\\n'], 'x.py')",
        "import linecache\nprint(repr(linecache.getline('x.py', 1)))",
    ),
    "decimal context": (
        "import decimal\ndecimal.getcontext().prec = 3\ndecimal.DefaultContext.prec = 3",
        "import decimal\nprint(decimal.getcontext().prec)",
    ),
    "types patched": (
        "import collections\ncollections.Counter.total = lambda s: -1",
        "import collections\n"
        "print(collections.Counter('ab').total() if hasattr(collections.Counter, 'total') else 2)",
    ),
    "bytes of an object": (
        "import ctypes\nctypes.memmove(id(5) + 24, b'\\7', 1)",
        "import ctypes\n"
        "print(int.from_bytes(ctypes.string_at(id(5) + 24, 1), 'little'), sum([2, 3]))",
    ),
    "rlimits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
        "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 9)",
    ),
    "seed": (
        "import random\nrandom.seed(1)",
        "import random\nrandom.seed(2)\nprint(random.random())",
    ),
    "an argument": ("import sys\nsys.argv.append('spoilt')", "import sys\nprint(sys.argv)"),
    "stdin left unread": ("print(input())", "import sys\nprint(sys.stdin.readline())"),
    "threads": (
        "import threading\nthreading.stack_size(1 << 20)\nthreading.excepthook = print",
        "import threading\nprint(threading.stack_size(), threading.excepthook is print)",
    ),
}  # fmt: skip
#: Three chances for a zygote to hand something on.
TIMES = 2
OPTIONS = {"stdin": b"one\ntwo\n", "limits": {"cpu_s": 10, "wall_s": 30}}


def told(result: csandbox.Result) -> tuple[str, str, str]:
    return result.verdict, result.stdout, result.stderr


@cache
def outcomes() -> dict[str, list[tuple[str, str, str]]]:
    """The look before anything was spoilt, then after each time that it was."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        for name, (_, look) in PAIRS.items():
            found[name] = [told(pool.run(look, **OPTIONS))]
        for _ in range(TIMES):
            for name, (spoil, look) in PAIRS.items():
                pool.run(spoil, **OPTIONS)
                found[name].append(told(pool.run(look, **OPTIONS)))
    return found


@pytest.mark.parametrize("name", list(PAIRS))
def test_nothing_is_handed_on(name: str) -> None:
    clean, *later = outcomes()[name]
    assert clean[0] == "accepted", clean
    assert later == [clean] * TIMES


def test_the_spoiling_spoils() -> None:
    """In one run together, most pairs show what they look for; the rest end it or are refused."""
    unseen = []
    with csandbox.Pool("open", workers=2, spares=2) as pool:
        for name, (spoil, look) in PAIRS.items():
            if told(pool.run(f"{spoil}\n{look}", **OPTIONS)) == outcomes()[name][0]:
                unseen.append(name)
    assert set(unseen) <= {"seed", "a descriptor closed", "mode of the folder", "locale"}


def test_the_source_of_an_earlier_run_is_nowhere_in_memory() -> None:
    """Not in the heap of a later child: looked for by a word that the searcher does not hold."""
    word = "".join(reversed("drow-terces-eht")) + str(os.getpid())
    spoil = f"secret = '{word}'\nkeep = [secret * 100 for _ in range(1000)]\nprint(len(keep))"
    look = (
        "import gc, sys\n"
        f"parts = {word[:7]!r}, {word[7:]!r}\n"
        "found = 0\n"
        "for o in gc.get_objects():\n"
        "    if isinstance(o, dict):\n"
        "        found += sum(isinstance(v, str) and parts[0] + parts[1] in v "
        "for v in list(o.values()))\n"
        "print(found)"
    )
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        for _ in range(3):
            assert pool.run(spoil, **OPTIONS).stdout == "1000\n"
            assert pool.run(look, **OPTIONS).stdout == "0\n"


RANDOM = {
    "random": "import random\nprint(random.random())",
    "random instance": "import random\nprint(random.Random().random())",
    "os.urandom": "import os\nprint(os.urandom(8))",
    "uuid": "import uuid\nprint(uuid.uuid4())",
    "secrets": "import secrets\nprint(secrets.token_hex())",
    "tempfile": "import tempfile\nprint(tempfile.mktemp()[-8:])",
    "numpy.random": "import numpy\nprint(numpy.random.random())",
    "numpy default_rng": "import numpy\nprint(numpy.random.default_rng().random())",
}


@pytest.mark.parametrize("name", list(RANDOM))
def test_random_numbers_are_new_in_each_run(name: str) -> None:
    numpy = "numpy" in name
    if numpy and not find_spec("numpy"):
        pytest.skip("numpy is not installed here")
    with csandbox.Pool("open", workers=1, spares=1, preload=["numpy"] * numpy) as pool:
        results = [pool.run(RANDOM[name], **OPTIONS) for _ in range(4)]
    assert all(result.ok for result in results), results[0].stderr
    assert len({result.stdout for result in results}) == 4


def test_a_child_that_is_killed_spoils_nothing() -> None:
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        for source, verdict in (
            ("while True: pass", "time_limit"),
            ("import ctypes\nctypes.string_at(0)", "runtime_error"),
            ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "runtime_error"),
            ("x = []\nwhile True: x.append(bytes(10 ** 7))", "memory_limit"),
            ("import os\nos._exit(3)", "runtime_error"),
        ):
            limits = {"cpu_s": 0.3, "wall_s": 20, "memory_bytes": 100 << 20}
            assert pool.run(source, limits=limits).verdict == verdict, source
            assert pool.run("print(1)").stdout == "1\n"
