"""File work that honest programs do, where the kernel's answer is only a pretence."""

from __future__ import annotations

import pytest

import csandbox

pytestmark = pytest.mark.both_modes

PROGRAMS = {
    "touch makes a file": "from pathlib import Path\nPath('a').touch()\nprint(Path('a').exists())",
    "touch of a file": "from pathlib import Path\np = Path('a'); p.write_text('x')\np.touch()\n"
    "print(p.read_text() == 'x')",
    "copy2": "import shutil\nopen('a', 'w').write('x')\nshutil.copy2('a', 'b')\n"
    "print(open('b').read() == 'x')",
    "copytree": "import os, shutil\nos.mkdir('d')\nopen('d/a', 'w').write('x')\n"
    "shutil.copytree('d', 'e')\nprint(os.listdir('e') == ['a'])",
    "temporary files": "import tempfile\nwith tempfile.TemporaryFile() as f:\n"
    "    f.write(b'x'); f.seek(0); print(f.read() == b'x')",
    "temporary folder": "import os, tempfile\nwith tempfile.TemporaryDirectory() as d:\n"
    "    open(os.path.join(d, 'a'), 'w').write('x')\nprint(not os.path.exists(d))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_works_in_the_scratch_folder(name: str) -> None:
    result = csandbox.run(PROGRAMS[name], profile="open")
    assert (result.verdict, result.stdout) == ("accepted", "True\n"), result.stderr
    assert result.violations == ()


CAUGHT = """
import mmap, sys
try:
    mmap.mmap(-1, 1 << 40)
except OSError:
    pass
sys.exit(1)
"""


def test_a_refusal_that_was_caught_is_no_verdict() -> None:
    assert csandbox.run(CAUGHT, profile="open").verdict == "runtime_error"


def test_a_program_cannot_say_that_it_did_not_compile() -> None:
    source = (
        "import ctypes, os\nprint('I ran', flush=True)\n"
        "ctypes.CDLL(None).prctl(0x43534245, 1, 0, 0, 0)\nos._exit(1)\n"
    )
    assert csandbox.run(source, profile="open").verdict == "runtime_error"


def test_a_source_too_branched_for_the_parser_is_a_compile_error() -> None:
    source = "x = 1\nif x == 0: pass\n" + "".join(f"elif x == {i}: pass\n" for i in range(7000))
    assert csandbox.run(source, profile="open").verdict in {"compile_error", "accepted"}


def test_environment_that_exec_does_not_take_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="env"):
        csandbox.run("1", env={"A": "x" * 200_000})
    with pytest.raises(ValueError, match=r"args\[1\]"):
        csandbox.run("1", args=["x", "y" * 131_072])
    assert csandbox.run("1", args=["y" * 131_071], profile="open").ok
    with pytest.raises(TypeError, match="env"):
        csandbox.run("1", env=[("A", "b")])  # type: ignore[arg-type]


def test_a_limit_beyond_every_float() -> None:
    with pytest.raises(csandbox.ProfileError, match="at most"):
        csandbox.Limits(memory_bytes=10**400)


def test_a_filename_that_is_no_text() -> None:
    for call in (csandbox.check, csandbox.run):
        with pytest.raises(ValueError, match="surrogate"):
            call("1", filename="\ud800.py")
