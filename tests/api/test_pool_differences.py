# ruff: noqa: E501  (tables)
"""A program can not tell a spare child from an interpreter of its own, nor can its caller.

One table, each program once fresh and once warm: the same output, verdict and exit code. What
differs on purpose stands in `DIFFERENT`, with the reason, and must differ.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest

import csandbox

PROGRAMS: dict[str, str] = {
    # how it ends
    "nothing": "",
    "output": "print('a', 'b', sep='-')",
    "exit": "exit(3)",
    "quit with text": "quit('text')",
    "SystemExit None": "raise SystemExit",
    "SystemExit 0": "raise SystemExit(0)",
    "SystemExit True": "raise SystemExit(True)",
    "SystemExit 256": "raise SystemExit(256)",
    "SystemExit -1": "raise SystemExit(-1)",
    "SystemExit huge": "raise SystemExit(1 << 80)",
    "SystemExit float": "raise SystemExit(2.5)",
    "SystemExit tuple": "raise SystemExit(1, 2)",
    "SystemExit empty text": "raise SystemExit('')",
    "SystemExit own class": "class E(SystemExit): pass\nraise E(7)",
    "SystemExit int subclass": "class I(int): pass\nraise SystemExit(I(9))",
    "SystemExit with a bad str": "class B:\n    def __str__(self): raise ValueError('no')\nraise SystemExit(B())",
    "SystemExit code changed": "e = SystemExit(1)\ne.code = 4\nraise e",
    "SystemExit in a thread": "import threading\nt = threading.Thread(target=lambda: exit(5))\nt.start()\nt.join()\nprint('on')",
    "SystemExit stderr replaced": "import sys\nsys.stderr = sys.stdout\nraise SystemExit('words')",
    "SystemExit stderr None": "import sys\nsys.stderr = None\nraise SystemExit('words')",
    "os._exit": "import os\nprint('lost')\nos._exit(6)",
    "os._exit flushed": "import os\nprint('kept', flush=True)\nos._exit(6)",
    "os.abort": "import os\nos.abort()",
    "signal to itself": "import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\nimport time\ntime.sleep(5)",
    "SIGINT to itself": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)",
    "SIGINT handled": "import os, signal\nsignal.signal(signal.SIGINT, lambda *a: print('seen'))\nos.kill(os.getpid(), signal.SIGINT)\nprint('on')",
    "SIGPIPE": "import signal\nprint(signal.getsignal(signal.SIGPIPE))",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "KeyboardInterrupt text": "raise KeyboardInterrupt('why')",
    "BaseException": "raise BaseException('b')",
    "GeneratorExit": "raise GeneratorExit",
    # tracebacks
    "traceback": "def f(x):\n    return 1 / x\n\n\ndef g():\n    return f(0)\n\n\ng()",
    "chained": "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('v') from e",
    "in a handler": "try:\n    {}['k']\nexcept KeyError:\n    int('x')",
    "syntax error": "x = (1,\n",
    "indentation error": "if 1:\nx = 1",
    "syntax error at the end": "def f(:\n    pass",
    "null byte in the text": "x = 'a\\0b'\nprint(len(x))",
    "name hint": "import math\nmath.squareroot(2)",
    "name hint 2": "value = 1\nprint(valeu)",
    "group": "import sys\nif sys.version_info < (3, 11): print('old')\nelse: raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
    "note": "e = ValueError('v')\nif hasattr(e, 'add_note'): e.add_note('a note')\nraise e",
    "excepthook": "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__, v)\n1 / 0",
    "excepthook fails": "import sys\ndef hook(*a): raise ValueError('in the hook')\nsys.excepthook = hook\n1 / 0",
    "excepthook None": "import sys\nsys.excepthook = None\n1 / 0",
    "last exception": "import sys, atexit\natexit.register(lambda: print(repr(getattr(sys, 'last_value', None))))\n1 / 0",
    "tracebacklimit": "import sys\nsys.tracebacklimit = 0\n1 / 0",
    "str fails": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "unraisable": "class A:\n    def __del__(self): raise ValueError('u')\na = A()\ndel a\nprint('on')",
    "thread raises": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()",
    "recursion": "def f(): return f()\nf()",
    "recursion caught": "import sys\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nprint(abs(f(0) - sys.getrecursionlimit()) < 60)",
    "memory error": "try:\n    bytearray(1 << 40)\nexcept MemoryError: print('refused')",
    "assert": "assert 1 == 2, 'words'",
    "import error": "import no_such_module",
    "from import error": "from math import no_such_name",
    # the end of an interpreter
    "atexit": "import atexit\natexit.register(print, 'one')\natexit.register(print, 'two')\nprint('body')",
    "atexit raises": "import atexit\n@atexit.register\ndef f(): 1 / 0\nprint('body')",
    "atexit exits": "import atexit\n@atexit.register\ndef f(): raise SystemExit(9)\nprint('body')",
    "atexit after an error": "import atexit\natexit.register(print, 'bye')\n1 / 0",
    "atexit reads the code": "import atexit, sys\natexit.register(lambda: print('modules', len(sys.modules) > 5))",
    "atexit starts a thread": "import atexit, threading\n@atexit.register\ndef f():\n    try:\n        t = threading.Thread(target=print, args=('late',))\n        t.start()\n        t.join()\n    except RuntimeError as e: print('refused')",
    "del of a global": "class A:\n    def __del__(self): print('gone')\na = A()\nprint('body')",
    "del of two": "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('gone', self.n)\na = A(1)\nb = A(2)",
    "del in a cycle": "class A:\n    def __del__(self): print('gone')\na = A()\na.a = a\ndel a",
    "del of a cycle of a global": "class A:\n    def __del__(self): print('gone')\na = A()\na.a = a",
    "del uses a function": "def say(): print('said')\nclass A:\n    def __del__(self): say()\na = A()",
    "del uses a module": "import math\nclass A:\n    def __del__(self): print(math.pi)\na = A()",
    "del in a closure": "class A:\n    def __del__(self): print('gone')\ndef f():\n    a = A()\n    return lambda: a\ng = f()",
    "del of a default": "class A:\n    def __del__(self): print('gone')\ndef f(a=A()): return a",
    "del of a class attribute": "class A:\n    def __del__(self): print('gone')\nclass B: a = A()",
    "del raises": "class A:\n    def __del__(self): raise ValueError('late')\na = A()",
    "del exits": "class A:\n    def __del__(self): raise SystemExit(3)\na = A()",
    "del of an underscore": "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('gone', self.n)\nb = A('b')\n_a = A('_a')",
    "generator at the end": "def f():\n    try: yield 1\n    finally: print('closed')\ng = f()\nnext(g)",
    "weakref finalize": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'finalized')",
    "file left open": "f = open('f', 'w')\nf.write('x' * 10)\nimport atexit, os\natexit.register(lambda: print(os.path.getsize('f')))",
    "temporary folder": "import tempfile\nd = tempfile.TemporaryDirectory()\nprint(bool(d))",
    "thread goes on": "import threading, time\ndef f():\n    time.sleep(0.1)\n    print('late')\nthreading.Thread(target=f).start()\nprint('body')",
    "daemon thread": "import threading, time\ndef f():\n    time.sleep(5)\n    print('never')\nthreading.Thread(target=f, daemon=True).start()\nprint('body')",
    "thread and error": "import threading, time\ndef f():\n    time.sleep(0.1)\n    print('late')\nthreading.Thread(target=f).start()\n1 / 0",
    "executor": "from concurrent.futures import ThreadPoolExecutor\nx = ThreadPoolExecutor(2)\nprint(list(x.map(abs, [-1, -2])))",
    "executor left with work": "from concurrent.futures import ThreadPoolExecutor\nimport time\nx = ThreadPoolExecutor(1)\nx.submit(lambda: (time.sleep(0.1), print('worked')))\nprint('body')",
    "timer": "import threading\nthreading.Timer(0.1, print, ['rang']).start()",
    # streams
    "stdin": "print(input(), input())",
    "stdin to the end": "import sys\nprint(repr(sys.stdin.read()))",
    "stdin lines": "import sys\nfor line in sys.stdin: print(len(line))",
    "stdin bytes": "import sys\nprint(sys.stdin.buffer.read())",
    "stdin by descriptor": "import os\nprint(os.read(0, 100))",
    "stdin past its end": "input()\ninput()\ninput()",
    "prompt": "x = input('prompt: ')\nprint(x)",
    "stdout closed": "import sys\nprint('x')\nsys.stdout.close()",
    "stdout closed, then print": "import sys\nsys.stdout.close()\nprint('x')",
    "stdout closed below": "import os\nprint('lost')\nos.close(1)",
    "stderr closed below": "import os\nos.close(2)\n1 / 0",
    "stdout None": "import sys\nsys.stdout = None\nprint('x')",
    "stdout replaced": "import io, sys\nsys.stdout = io.StringIO()\nprint('x')",
    "stdout replaced, flush raises": "import sys\nclass S:\n    def write(self, t): pass\n    def flush(self): raise ValueError('no')\nsys.stdout = S()\nprint('x')",
    "stdout detached": "import sys\nb = sys.stdout.detach()\nb.write(b'raw')",
    "stdout full": "import os, sys\ntry: os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nexcept OSError as e: print(e.errno)\nprint('x')",
    "order of streams": "import sys\nprint('1', file=sys.stderr)\nprint('2')\nprint('3', file=sys.stderr)",
    "surrogates": "print('\\udc80')",
    "encoding": "import sys\nprint(sys.stdout.encoding, sys.stdout.errors, sys.stdin.errors, sys.stderr.errors, 'ä€😀')",
    "buffering": "import sys\nprint(sys.stdout.line_buffering, sys.stderr.line_buffering, sys.stdout.write_through, sys.stdin.line_buffering)",
    "stream names": "import sys\nprint(sys.stdin.name, sys.stdout.name, sys.stderr.name, sys.stdin.mode, sys.stdout.mode)",
    "stream identity": "import sys\nprint(sys.stdout is sys.__stdout__, sys.stdin is sys.__stdin__, sys.stdout.fileno(), sys.stdin.isatty())",
    "much output": "for n in range(3000): print(n)",
    "reconfigure": "import sys\nsys.stdout.reconfigure(encoding='latin-1')\nprint('ä')",
    # what it sees of itself
    "argv": "import sys\nprint(sys.argv)",
    "orig_argv": "import sys\nprint(len(sys.orig_argv) > 1, sys.orig_argv[-2:] if len(sys.orig_argv) > 1 else sys.orig_argv)",
    "main": "import __main__, sys\nprint(sorted(vars(__main__)), __name__, __main__ is sys.modules['__main__'])",
    "main file": "print(__file__, __spec__, __package__, __doc__, __cached__ if '__cached__' in globals() else 'none')",
    "main loader": "print(type(__loader__).__name__, __builtins__.__name__)",
    "doc": "'''the doc'''\nprint(__doc__)",
    "annotations": "x: int = 1\nprint(__annotations__)",
    "future": "from __future__ import annotations\ndef f(x: no): pass\nprint(f.__annotations__)",
    "future is not inherited": "def f(x: int): pass\nprint(f.__annotations__, compile('1 <> 2', '', 'eval', 0x80000 if False else 0) if False else '')",
    "flags": "import sys\nprint(sys.flags)",
    "xoptions": "import sys\nprint(sys._xoptions, sys.warnoptions)",
    "path": "import sys\nprint(sys.path)",
    "path hooks": "import sys\nprint(len(sys.path_hooks), [getattr(m, '__name__', type(m).__name__) for m in sys.meta_path])",
    "executable": "import sys\nprint(sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix)",
    "version": "import sys\nprint(sys.version, sys.platform, sys.byteorder, sys.maxsize, sys.float_info.dig)",
    "limits of sys": "import sys\nprint(sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits() if hasattr(sys, 'get_int_max_str_digits') else '')",
    "trace": "import sys\nprint(sys.gettrace(), sys.getprofile(), sys.dont_write_bytecode, sys.pycache_prefix)",
    "displayhook": "import sys\nprint(sys.displayhook is sys.__displayhook__, sys.excepthook is sys.__excepthook__)",
    "gc": "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.garbage)",
    "threads": "import threading\nprint(threading.active_count(), threading.current_thread(), threading.main_thread() is threading.current_thread(), threading.enumerate())",
    "thread names": "import threading\nt = threading.Thread(target=print)\nprint(t.name)",
    "frames": "import sys\nf = sys._getframe()\nprint(f.f_back, f.f_code.co_name, f.f_code.co_filename, f.f_lineno, f.f_globals is f.f_locals)",
    "stack": "import traceback\nprint(len(traceback.extract_stack()))\nprint(traceback.format_stack())",
    "getsource": "import inspect\ndef f(x):\n    # a comment\n    return x\nprint(inspect.getsource(f))",
    "getsource of a class": "import inspect\nclass A:\n    x = 1\nprint(inspect.getsource(A))",
    "getmodule": "import inspect\ndef f(): pass\nprint(inspect.getmodule(f), inspect.getfile(f))",
    "linecache": "import linecache\nprint(repr(linecache.getline(__file__, 1)))",
    "its file is there": "import os\nprint(os.path.exists(__file__), os.listdir('.'))",
    "pickle of main": "import pickle\nclass A:\n    def __eq__(self, o): return type(o) is type(self)\nprint(pickle.loads(pickle.dumps(A())) == A(), A.__module__)",
    "dataclass": "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nprint(P(1), P(1) < P(2))",
    "named tuple": "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int = 1\nprint(P(), P.__module__)",
    "enum": "import enum\nclass C(enum.Enum):\n    A = enum.auto()\nprint(C.A, C.__module__)",
    "warnings": "import warnings\nwarnings.warn('careful')\nwarnings.warn('careful', DeprecationWarning)",
    "warning filters": "import warnings\nprint([(f[0], f[2].__name__) for f in warnings.filters])",
    "warning once": "import warnings\nfor _ in range(3): warnings.warn('again')",
    "syntax warning": "x = 1\nprint(x is 1)",
    "invalid escape": "print('\\d')",
    "deprecated": "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('w')",
    "resource warning": "open('f', 'w')\nprint('on')",
    "unawaited": "async def f(): pass\nf()\nprint('on')",
    "int digits": "print(int('1' * 5000))",
    "locale": "import locale\nprint(locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(False))",
    "environment": "import os\nprint(sorted(os.environ))",
    "home": "import os\nprint(os.environ.get('HOME') == os.getcwd(), os.path.expanduser('~') == os.getcwd())",
    "cwd": "import os\nprint(os.path.basename(os.getcwd())[:9], os.access('.', os.W_OK))",
    "umask": "import os\nprint(oct(os.umask(0)))",
    "descriptors": "import os\nopened = []\nfor n in range(64):\n    try: os.fstat(n); opened.append(n)\n    except OSError: pass\nprint(opened)",
    "signal handlers": "import signal\nprint([(s.name, str(signal.getsignal(s))) for s in signal.valid_signals() if hasattr(s, 'name') and signal.getsignal(s) not in (None, signal.SIG_DFL)])",
    "signal mask": "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "pending signals": "import signal\nprint(signal.sigpending())",
    "rlimits": "import resource\nprint([resource.getrlimit(getattr(resource, n)) for n in ('RLIMIT_CORE', 'RLIMIT_NOFILE', 'RLIMIT_FSIZE', 'RLIMIT_STACK', 'RLIMIT_MEMLOCK')])",
    "process": "import os\nprint(os.getpid() == os.getpgrp() == os.getsid(0), os.nice(0), os.sched_getscheduler(0))",
    "uids": "import os\nprint(os.getresuid(), os.getresgid(), os.getgroups())",
    "process title": "print(open('/proc/self/comm').read() if False else '')",
    "random is seeded": "import random\nprint(random.random() == random.random(), 0 <= random.random() < 1)\nrandom.seed(5)\nprint(random.random())",
    "hash of text": "print(hash('a') == hash('a'), hash(1), hash(1.5))",
    "gc stats": "import gc\nprint(gc.get_freeze_count() >= 0)",
    "time": "import time\nprint(time.process_time() < 5, time.tzname, time.localtime(0)[:4])",
    "builtins": "import builtins\nprint(sorted(vars(builtins)))",
    "underscore": "import builtins\nprint(hasattr(builtins, '_'))",
    "help is there": "print(exit, quit)\nprint(type(copyright).__name__, type(help).__name__)",
    "site": "import sys\nprint('site' in sys.modules)",
    "own imports": "with open('mine.py', 'w') as f: f.write('X = 5')\nimport mine\nprint(mine.X, mine.__file__ == __import__('os').path.abspath('mine.py'))",
    "own shadows a module": "with open('colorsys.py', 'w') as f: f.write('X = 5')\nimport colorsys\nprint(getattr(colorsys, 'X', None))",
    "import time modules": "import json, re, collections, datetime\nprint(json.dumps({'a': 1}), re.findall('a', 'aa'), collections.Counter('aab'), datetime.date(2020, 1, 2))",
    "reload": "import importlib, json\nprint(importlib.reload(json).dumps(1))",
    "strptime": "import datetime\nprint(datetime.datetime.strptime('2020-01-02', '%Y-%m-%d'))",
    "decimal": "import decimal\nprint(decimal.getcontext())",
    "contextvars": "import contextvars\nprint(len(contextvars.copy_context()))",
    # larger things
    "asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 5\nprint(asyncio.run(f()))",
    "asyncio gather": "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\nasync def m(): print(await asyncio.gather(*map(f, range(5))))\nasyncio.run(m())",
    "asyncio left over": "import asyncio\nasync def m():\n    asyncio.ensure_future(asyncio.sleep(9))\nasyncio.run(m())\nprint('on')",
    "asyncio thread": "import asyncio\nasync def m(): print(await asyncio.to_thread(sum, [1, 2]))\nasyncio.run(m())",
    "multiprocessing": "import multiprocessing\ntry:\n    p = multiprocessing.Process(target=print)\n    p.start()\nexcept OSError as e: print(type(e).__name__, e.errno)",
    "multiprocessing pool": "import multiprocessing\ntry: multiprocessing.Pool(1)\nexcept OSError as e: print(type(e).__name__, e.errno)",
    "subprocess": "import subprocess\ntry: subprocess.run(['true'])\nexcept OSError as e: print(type(e).__name__, e.errno)",
    "fork": "import os\ntry: os.fork()\nexcept OSError as e: print(type(e).__name__, e.errno)",
    "register_at_fork": "import os\nos.register_at_fork(before=lambda: print('before'))\ntry: os.fork()\nexcept OSError as e: print(e.errno)",
    "logging": "import logging\nlogging.warning('w')\nlogging.getLogger('x').error('e')\nlogging.info('i')",
    "faulthandler": "import faulthandler\nprint(faulthandler.is_enabled())",
    "doctest": "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nimport doctest\nprint(doctest.testmod())",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\nr = unittest.main(exit=False, verbosity=0).result\nprint(r.testsRun)",
    "unittest exits": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 2)\nunittest.main(verbosity=0)",
    "exec and eval": "exec('x = 5')\nprint(x, eval('x + 1'))",
    "input evaluated": "print(sum(map(int, input().split())))",
    "star import": "from math import *\nprint(pi)",
    "ast": "import ast\nprint(ast.dump(ast.parse('x = 1')))",
    "dis": "import dis\ndef f(): return 1\nprint(len(list(dis.get_instructions(f))) > 0)",
    "code module": "import code\nprint(code.compile_command('1 +') is None)",
    "tracemalloc": "import tracemalloc\nprint(tracemalloc.is_tracing())",
    "sys.exit in atexit order": "import atexit, sys\natexit.register(lambda: print('a'))\nsys.exit(4)",
    "settrace": "import sys\nlines = []\ndef t(f, e, a):\n    lines.append(e)\n    return t\nsys.settrace(t)\ndef g(): return 1\ng()\nsys.settrace(None)\nprint(lines)",
    "audit hook": "import sys\nseen = []\nsys.addaudithook(lambda e, a: seen.append(e))\ncompile('1', '', 'eval')\nprint('compile' in seen)",
}  # fmt: skip

#: Differs on purpose: why.
DIFFERENT = {
    "modules": (
        "import sys\nprint('json' in sys.modules, 'heapq' in sys.modules)",
        "what the profile preloads is in sys.modules",
    ),
    "weakref callback": (
        "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, lambda r: print('called'))",
        "CPython collects a __main__ of cycles as a whole, callbacks of weak references that go with "
        "it unseen; a spare child lets go one name after the other",
    ),
}
STDIN = b"1 2\n3 4\n"
ARGUMENTS = ["one", "two words"]
LIMITS = {"cpu_s": 10, "wall_s": 30, "memory_bytes": 512 << 20}
SCRATCH = re.compile(r"csandbox-[A-Za-z0-9_-]+")
#: Addresses, and what unittest took.
NEW = re.compile(r"0x[0-9a-f]{6,}|\b1[0-9]{14}\b|in 0\.\d\d\ds")


def seen(result: csandbox.Result) -> dict[str, Any]:
    """What a caller sees, without what is new in each run."""
    text = {
        name: NEW.sub("NEW", SCRATCH.sub("SCRATCH", getattr(result, name)))
        for name in ("stdout", "stderr")
    }
    return {
        **text,
        "verdict": result.verdict,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "limit_hit": result.limit_hit,
        "violations": [dict(violation) for violation in result.violations],
        "isolation": dict(result.isolation),
    }


@cache
def outcomes() -> dict[str, tuple[csandbox.Result, csandbox.Result]]:
    """Every program, fresh and warm; the pools are gone when this returns."""
    options: dict[str, Any] = {"stdin": STDIN, "args": ARGUMENTS, "limits": LIMITS}
    programs = {**PROGRAMS, **{name: text for name, (text, _) in DIFFERENT.items()}}
    with csandbox.Pool("open", workers=2, spares=2) as pool, ThreadPoolExecutor(4) as threads:
        warm = [threads.submit(pool.run, text, **options) for text in programs.values()]
        fresh = [
            threads.submit(csandbox.run, text, profile="open", fresh=True, **options)
            for text in programs.values()
        ]
        pairs = [(one.result(), other.result()) for one, other in zip(fresh, warm, strict=True)]
    return dict(zip(programs, pairs, strict=True))


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_same_fresh_and_warm(name: str) -> None:
    fresh, warm = outcomes()[name]
    assert seen(warm) == seen(fresh)


@pytest.mark.parametrize("name", list(DIFFERENT))
def test_what_differs_on_purpose_does(name: str) -> None:
    fresh, warm = outcomes()[name]
    assert seen(warm) != seen(fresh), DIFFERENT[name][1]
    assert fresh.ok and warm.ok


def test_the_table_sees_something() -> None:
    """Programs without output or error would be the same whatever happened."""
    silent = [name for name, (fresh, _) in outcomes().items() if not (fresh.stdout or fresh.stderr)]
    assert len(silent) <= 20, silent
    verdicts = {fresh.verdict for fresh, _ in outcomes().values()}
    assert {"accepted", "runtime_error", "compile_error"} <= verdicts


def test_isolation_is_told_for_a_program_that_does_not_compile() -> None:
    fresh, warm = outcomes()["syntax error"]
    assert warm.isolation["rlimits"] == fresh.isolation["rlimits"] == "enforced"
