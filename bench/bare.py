"""What a warm run costs without any isolation: fork, compile, execute, exit.

Two halves. Started as a script by a bare interpreter (``python -I -S bare.py``) it is the server:
it has compiled before, holds the modules that a zygote of ours holds, and forks for each source
that comes. Imported it is the client. The protocol: u32 length and bytes, both ways; an answer
begins with one byte, 0 when the child has exited with status 0.
"""

from __future__ import annotations

import os
import struct
import sys

HEAD = struct.Struct("=I")


def _read(fd: int, count: int) -> bytes:
    """So many bytes; fewer only at the end of file."""
    parts = []
    while count > 0:
        part = os.read(fd, count)
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _run(source: bytes) -> bytes:
    """One source in a forked child: the status byte and what it printed."""
    mine, its = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(its, 1)
        os.close(mine)
        os.close(its)
        exec(compile(source, "submission.py", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(its)
    printed = []
    while part := os.read(mine, 1 << 16):
        printed.append(part)
    os.close(mine)
    _, status = os.waitpid(pid, 0)
    return bytes([status != 0]) + b"".join(printed)


def _serve(modules: list[str]) -> None:
    import gc

    for name in modules:
        __import__(name)
    for _ in range(3):  # the first compilation costs more than all the rest
        exec(compile("def f(n): return [str(i) for i in range(n)]\nf(9)", "", "exec"), {})
    gc.collect()
    gc.freeze()
    own = os.dup(1)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - a stream that nobody has used
    while head := _read(0, HEAD.size):
        answer = _run(_read(0, *HEAD.unpack(head)))
        os.write(own, HEAD.pack(len(answer)) + answer)


class Bare:
    """The client of one server. One thread at a time."""

    def __init__(self, interpreter: str, modules: list[str]) -> None:
        import subprocess

        self._process = subprocess.Popen(
            [interpreter, "-I", "-S", __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.run(b"pass")

    def run(self, source: bytes) -> bytes:
        """What the program printed. Raises RuntimeError when it failed."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        os.write(process.stdin.fileno(), HEAD.pack(len(source)) + source)
        from_it = process.stdout.fileno()
        answer = _read(from_it, *HEAD.unpack(_read(from_it, HEAD.size)))
        if answer[0] != 0:
            raise RuntimeError("the program failed in the bare interpreter")
        return answer[1:]

    def close(self) -> None:
        with self._process as process:  # its stdin ends, so it does
            assert process.stdin is not None
            process.stdin.close()


if __name__ == "__main__":
    _serve(sys.argv[1:])
