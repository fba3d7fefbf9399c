"""A program cannot tell a run from ``python3 program.py``: streams, traceback and exit code equal.

Each program is run by the same interpreter without us, too. What is known to differ is at the end.
"""

import os
import re
import subprocess
import sys
import tempfile
from functools import cache

import pytest

import csandbox
from csandbox._interpreter import interpreter

PROGRAMS = {
    "input": (b"bob\r\nlast", "x = input('name? ')\nprint(repr(x), repr(input()))"),
    "input at the end": (b"", "input('more: ')"),
    "stdin as bytes": (
        b"a\xc3\xa9\xff\nb\n",
        "import sys\nprint(sys.stdin.buffer.readline(), ascii(sys.stdin.read()))",
    ),
    "stdin line by line": (b"a\nb\n\nc", "import sys\nfor line in sys.stdin: print(repr(line))"),
    "stdin by number": (b"abc", "print(open(0).read())"),
    "stdin closed unread": (b"abc", "import sys\nsys.stdin.close()"),
    "streams": (
        b"",
        "import sys\n"
        "for s in sys.stdin, sys.stdout, sys.stderr:\n"
        "    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through)",
    ),
    "arguments": (b"", "import sys\nprint(sys.argv[1:], len(sys.argv))"),
    "exit": (b"", "import sys\nprint('out', end='')\nsys.exit()"),
    "exit with text": (b"", "import sys\nsys.exit('bye é')"),
    "exit with an object": (b"", "import sys\nsys.exit([1, 2.5])"),
    "exit with True": (b"", "import sys\nsys.exit(True)"),
    "exit above 255": (b"", "import sys\nsys.exit(258)"),
    "exit below 0": (b"", "import sys\nsys.exit(-1)"),
    "exit with a huge number": (b"", "import sys\nsys.exit(10**30)"),
    "exit of a thread": (
        b"",
        "import sys, threading\n"
        "t = threading.Thread(target=sys.exit, args=(3,))\nt.start()\nt.join()\nprint('on')",
    ),
    "exit at once": (b"", "import os\nprint('lost')\nos._exit(7)"),
    "exit by an exception of its own": (b"", "class Stop(SystemExit): pass\nraise Stop(5)"),
    "abort": (b"", "import os\nos.abort()"),
    "traceback": (b"", "def f(a,\n  b):\n    return (a +\n            b)\nf(1,\n  'x')\n"),
    "traceback without a last newline": (b"", "x = 1; y = x / 0; z = 1"),
    "traceback after other line ends": (b"", "# a\x0cb\nx = '\u2028'\n\nx = 1; x / 0; x = 1\n"),
    "traceback of wide characters": (b"", "x = 'é'; y = '日本' + 1"),
    "cause": (b"", "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('v') from e"),
    "context": (b"", "try:\n    1/0\nexcept Exception:\n    raise ValueError('v')"),
    "an exception that is none": (b"", "raise BaseException('x')"),
    "an exception without words": (
        b"",
        "class E(Exception):\n    def __str__(self): 1/0\nraise E",
    ),
    "dynamic code": (b"", "exec(compile('1/0', '<dyn>', 'exec'))"),
    "code that does not compile": (b"", "compile('1 +', '<dyn>', 'exec')"),
    "a hook": (b"", "import sys\nsys.excepthook = lambda *a: print(a[0].__name__)\n1/0"),
    "no stderr": (b"", "import sys\nsys.stderr = None\n1/0"),
    "no stdout": (b"", "import sys\nsys.stdout = None\nprint('x')"),
    "stdout closed": (b"", "import sys\nprint('x')\nsys.stdout.close()"),
    "both streams": (b"", "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')"),
    "main": (
        b"",
        "'''doc'''\nimport __main__, sys\n"
        "if __name__ == '__main__': print('yes')\n"
        "print(__doc__, __package__, __spec__, __builtins__, __main__ is sys.modules['__main__'])\n"
        "print(__main__.__dict__ is globals())\n"
        "print(sorted(set(globals()) - {'__file__', '__cached__'}))",
    ),
    "classes of main": (
        b"",
        "import pickle\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
        "print(pickle.loads(pickle.dumps(A(1))), A.__module__)",
    ),
    "source of main": (b"", "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))"),
    "caught and printed": (
        b"",
        "import traceback\ndef f(): 1/0\n"
        "try:\n    f()\nexcept Exception:\n    traceback.print_exc()\n",
    ),
    "at exit": (b"", "import atexit\natexit.register(print, 'bye')\nprint('hi')"),
    "the last object": (
        b"",
        "class A:\n    def __del__(self): print('del')\na = A()\nprint('end')",
    ),
    "threads": (
        b"",
        "import threading, time\nfound = []\n"
        "threads = [threading.Thread(target=found.append, args=(i,)) for i in range(5)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print(sorted(found), threading.current_thread().name)\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()\n"
        "threading.Thread(target=lambda: (time.sleep(60), print('never')), daemon=True).start()\n"
        "print('main')",
    ),
    "asyncio": (
        b"",
        "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n"
        "    print(await asyncio.gather(*[asyncio.sleep(0, i) for i in range(3)]))\n"
        "    print(await asyncio.to_thread(abs, -3))\n"
        "    try: await asyncio.wait_for(asyncio.sleep(5), 0.01)\n"
        "    except asyncio.TimeoutError: print('late')\n    1/0\nasyncio.run(main())\n",
    ),
    "temporary files": (
        b"",
        "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    path = os.path.join(folder, 'x')\n    open(path, 'w').write('a')\n"
        "    print(open(path).read())\nprint(os.path.exists(folder))\n"
        "with tempfile.NamedTemporaryFile() as f:\n"
        "    f.write(b'z')\n    f.flush()\n    print(os.path.getsize(f.name))\n"
        "with tempfile.TemporaryFile() as f:\n"
        "    f.write(b'q')\n    f.seek(0)\n    print(f.read())\n"
        "fd, path = tempfile.mkstemp()\nos.close(fd)\nos.unlink(path)",
    ),
    "files": (
        b"",
        "import os, pathlib, shutil\nos.makedirs('d/e')\n"
        "pathlib.Path('d/e/f').write_text('é')\nshutil.copytree('d', 'g')\n"
        "shutil.copy2('d/e/f', 'h')\nshutil.move('h', 'i')\nprint(open('i').read())\n"
        "print(sorted(map(str, pathlib.Path('.').rglob('*'))))\nshutil.rmtree('d')",
    ),
    "the interpreter": (
        b"",
        "import sys\nprint(sys.version, sys.flags.isolated, sys.getrecursionlimit())\n"
        "print(sys.getfilesystemencoding(), sys.warnoptions, hasattr(sys, 'ps1'))",
    ),
    "line ends": (b"", "print(1)\r\nif 1:\r\n    print('''a\r\nb''')\r\n"),
    "a cookie": (b"", "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint('é')"),
}


@cache
def plainly(name: str) -> tuple[str, bytes, bytes, int]:
    """Path of the program, then stdout, stderr and return code without csandbox."""
    stdin, source = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "prog.py")
        with open(path, "wb") as file:
            file.write(source.encode())
        environment = {**csandbox.Profile.load("open").env, "HOME": folder, "TMPDIR": folder}
        os.mkdir(os.path.join(folder, "empty"))
        done = subprocess.run(
            [interpreter().executable, "-I", "-S", path, "a", "é"],
            input=stdin,
            capture_output=True,
            cwd=os.path.join(folder, "empty"),
            env=environment,
        )
    return path, done.stdout, done.stderr, done.returncode


@pytest.mark.both_modes
@pytest.mark.parametrize("name", PROGRAMS)
def test_equal(name):
    stdin, source = PROGRAMS[name]
    path, out, err, code = plainly(name)
    result = csandbox.run(source, stdin=stdin, args=["a", "é"], filename=path, profile="open")
    ended = result.exit_code if result.signal is None else -result.signal
    assert (result.stdout_bytes, result.stderr_bytes, ended) == (out, err, code)


# ---- known to differ, as README says ------------------------------------------------------------


@pytest.mark.both_modes
def test_only_a_walk_over_the_stack_sees_a_frame_more():
    source = (
        "import sys\nframe = sys._getframe()\nprint(frame.f_back.f_back, frame.f_code.co_filename)"
    )
    result = csandbox.run(source, profile="open", filename="mine.py")
    assert result.stdout == "None mine.py\n"


@pytest.mark.both_modes
def test_a_thread_says_its_line_by_number():
    """CPython prints this one by itself; before 3.13 it asks only the disk for the text."""
    source = "import threading\nt = threading.Thread(target=lambda: 1/0)\nt.start()\nt.join()\n"
    result = csandbox.run(source, profile="open", filename="mine.py")
    assert result.ok
    assert '  File "mine.py", line 2, in <lambda>' in result.stderr.splitlines()
    assert ("target=lambda: 1/0" in result.stderr) == (sys.version_info >= (3, 13))
    assert not re.search("csandbox|_child|<string>", result.stderr)
