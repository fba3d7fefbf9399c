"""Every Landlock ABI's ruleset on this kernel: what it holds, what it gives up, and to whom.

The ABI is masked (``landlock_abi_for_tests``), so the ruleset of an older kernel is made and
entered here. An attack that a version cannot stop must get through when Landlock is alone, or the
table of ``csb_landlock_lost`` says too much; with the filter it is stopped under every version.
Kernels that really are older are booted by ``make test-kernels``.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from csandbox import _core
from csandbox._errors import UnsupportedError
from tests.confined import EMULATED, confined, spec

ABI = int(str(_core.probe()["landlock"]["detail"]).split()[1].rstrip(";"))
ALONE = ("seccomp", "seccomp_notify", "namespaces")
# In an emulated machine only the kernel's own: the masks are the same everywhere.
MASKS = [min(ABI, 6)] if EMULATED and ABI else [abi for abi in range(1, 7) if abi <= ABI]

#: attack -> (first ABI that stops it, words of the note that say it is lost below, program)
ATTACKS = {
    "read": (1, "", "open({secret!r}).read()"),
    "write": (1, "", "open({secret!r}, 'a').close()"),
    "make": (1, "", "os.mkdir({folder!r} + '/made')"),
    "list": (1, "", "os.listdir({folder!r})"),
    "rename": (1, "", "os.rename({secret!r}, {secret!r} + 'x')"),
    "link": (1, "", "os.link({secret!r}, 'mine')"),
    "truncate": (3, "truncate() by path", "os.truncate({secret!r}, 1)"),
    "tcp": (4, "TCP", "socket.create_connection(('127.0.0.1', {port}), 5)"),
    "ioctl": (5, "device ioctl", "fcntl.ioctl(os.open('/dev/null', os.O_RDWR), 0xC0DE)"),
    "abstract": (6, "abstract sockets", "connect_abstract({name!r})"),
    "signal": (6, "signals", "os.kill({pid}, 0)"),
}
HEAD = """
import errno, fcntl, os, socket
def connect_abstract(name):
    socket.socket(socket.AF_UNIX).connect("\\0" + name)
try:
    {body}
    print("EFFECT")
except OSError as error:
    print("EFFECT" if error.errno == errno.ENOTTY else error.errno)
"""


@pytest.fixture
def places() -> Iterator[dict[str, object]]:
    """A folder, a file, a TCP and an abstract socket of the host, and its pid."""
    with (
        tempfile.TemporaryDirectory(prefix="abi-") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
    ):
        os.chmod(folder, 0o777)
        secret = Path(folder, "secret")
        secret.write_text("secret")
        secret.chmod(0o666)
        name = f"csandbox-abi-{os.getpid()}"
        unix.bind("\0" + name)
        unix.listen()
        yield {
            "folder": folder,
            "secret": str(secret),
            "port": tcp.getsockname()[1],
            "name": name,
            "pid": os.getpid(),
        }


@pytest.mark.parametrize("abi", MASKS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_version_holds_and_loses(attack: str, abi: int, places: dict[str, object]) -> None:
    first, words, body = ATTACKS[attack]
    source = HEAD.format(body=body.format(**places))
    # The uid is kept, so that nothing but Landlock can be what refuses.
    alone = confined(source, without=[*ALONE, "privileges"], landlock_abi=abi)
    assert ("EFFECT" in alone["out"]) == (abi < first), alone["out"] + alone["err"]
    note = alone["isolation"]["landlock"]
    assert note.startswith(f"enforced (ABI {abi}")
    if words:
        assert (words in note) == (abi < first)
    Path(str(places["secret"])).write_text("secret")
    both = confined(source, landlock_abi=abi)
    assert "EFFECT" not in both["out"]


@pytest.mark.parametrize("abi", MASKS)
def test_honest_use_of_the_scratch_folder(abi: int) -> None:
    """Below ABI 2 a rename into another folder is refused (EXDEV); shutil.move copies then."""
    source = (
        "import os, shutil, tempfile\n"
        "open('a', 'w').write('x' * 10)\n"
        "with open('a', 'r+') as f: f.truncate(2)\n"
        "os.rename('a', 'b'); os.mkdir('d'); shutil.move('b', 'd/c')\n"
        "assert open('d/c').read() == 'xx'\n"
        "with tempfile.NamedTemporaryFile() as f: f.write(b'1')\n"
        "open(os.devnull, 'w').write('x')\n"
        "os.remove('d/c'); os.rmdir('d')\n"
        "import json, decimal, random\n"
        "print(os.listdir('.'))"
    )
    result = confined(source, landlock_abi=abi)
    assert (result["out"], result["verdict"]) == ("[]\n", "accepted"), result["err"]


def test_without_landlock_nothing_starts_unless_the_caller_says_so() -> None:
    with pytest.raises(UnsupportedError) as caught:
        _core.Policy(spec(landlock_abi=0))
    assert caught.value.feature == "landlock"
    assert "lsm=landlock" in caught.value.hint
    require = tuple(name for name in spec()["require"] if name != "landlock")
    result = confined("print(1)", landlock_abi=0, require=require, degrade=("landlock",))
    assert result["verdict"] == "accepted"
    assert result["isolation"]["landlock"] == "degraded: this kernel has no Landlock"
