"""Namespaces as callers choose them: auto, off, require, and what is said when a kernel refuses."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys

import pytest

import csandbox
from csandbox import _core
from tests.confined import ROOT, confined, mode, reachable_python, request, run_in, spec

KINDS = ("user", "net", "ipc", "uts", "cgroup")
AVAILABLE = bool(_core.probe()["namespaces"]["available"])
here = pytest.mark.skipif(not AVAILABLE, reason=str(_core.probe()["namespaces"]["detail"]))
PR_GET_DUMPABLE = 3
LOOK = (
    "import json, os\n"
    f"print(json.dumps({{k: os.stat('/proc/self/ns/' + k).st_ino for k in {KINDS!r}}}))"
)


def state(**options: object) -> str:
    limits = {"startup_s": 300}  # may be emulated
    result = csandbox.run("print(1)", limits=limits, **options)  # type: ignore[arg-type]
    assert result.ok, result.stderr
    return result.isolation["namespaces"]


@here
def test_the_three_words() -> None:
    whole = "enforced (user, net, ipc, uts, cgroup)"
    assert state() == state(namespaces="auto") == state(namespaces="require") == whole
    assert state(namespaces="off") == 'off: namespaces="off"'
    profile = csandbox.Profile.load("compute").replace(isolation={"namespaces": "off"})
    assert state(profile=profile) == 'off: namespaces="off"'
    assert state(profile=profile, namespaces="require") == whole


def test_a_wrong_word_is_named() -> None:
    with pytest.raises(ValueError, match="namespaces must be one of 'auto', 'off', 'require'"):
        csandbox.run("1", namespaces="yes")
    with pytest.raises(csandbox.ProfileError, match=r"isolation\.namespaces"):
        csandbox.Profile.load("compute").replace(isolation={"namespaces": "on"})
    with pytest.raises(csandbox.ProfileError, match=r"isolation\.require names it"):
        csandbox.Profile.load("compute").replace(
            isolation={"namespaces": "off", "extend_require": ["namespaces"]}
        )


@here
def test_what_is_shared_and_what_is_new_in_each_run() -> None:
    policy = _core.Policy(spec())
    first, second = (json.loads(run_in(policy, request(LOOK))["stdout"]) for _ in range(2))
    ours = {kind: os.stat(f"/proc/self/ns/{kind}").st_ino for kind in KINDS}
    assert all(first[kind] != ours[kind] for kind in KINDS)
    assert (first["user"], first["net"]) == (second["user"], second["net"])


@here
def test_the_host_keeps_its_own_and_stays_dumpable() -> None:
    """A child in shared memory must not change what belongs to that memory."""
    libc = ctypes.CDLL(None)
    before = (libc.prctl(PR_GET_DUMPABLE), os.uname().nodename, os.stat("/proc/self/ns/net"))
    confined("print(1)", require=(*spec()["require"], "namespaces"))
    after = (libc.prctl(PR_GET_DUMPABLE), os.uname().nodename, os.stat("/proc/self/ns/net"))
    assert before[:2] == after[:2]
    assert before[2].st_ino == after[2].st_ino


@here
@pytest.mark.skipif(not ROOT, reason="only root has another uid to give")
def test_a_child_of_root_can_still_become_another_user() -> None:
    python = reachable_python()
    if python is None:
        pytest.skip("no interpreter that others may run")
    source = "import os\nprint(os.getresuid(), os.getgroups())"
    assert confined(source, python=python)["out"].startswith("(60700, 60700, 60700) []")


REFUSALS = {
    "user.max_user_namespaces=0": "echo 0 >/proc/sys/user/max_user_namespaces",
    "user.max_net_namespaces=0": "echo 0 >/proc/sys/user/max_net_namespaces",
}
#: `run` of the mode that its first line names, in a process of its own.
RUN = {
    "fresh": "import csandbox\ndef run(**o): return csandbox.run('1', fresh=True, "
    "limits={'startup_s': 300}, **o)\n",
    "warm": "import csandbox\ndef run(**o):\n"
    "    with csandbox.Pool(startup_s=300, **o) as pool: return pool.run('1')\n",
}
CODE = (
    "print(run().isolation['namespaces'])\n"
    "try: run(namespaces='require')\n"
    "except csandbox.UnsupportedError as error: print(error.feature, error)"
)


@here
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare(1) is not installed")
@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_is_named(said: str) -> None:
    """In a user namespace of its own a switch can be turned without touching the machine's."""
    command = f'{REFUSALS[said]} && exec {sys.executable} -c "$CODE"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CODE": RUN[mode()] + CODE},
    )
    if "unshare" in done.stderr and done.returncode != 0:
        pytest.skip(f"no user namespaces here: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    assert lines[0] == f"off: {said}", done.stderr
    assert lines[1].startswith("namespaces ") and said in lines[1] and "hint" in lines[1]


@here
@pytest.mark.skipif(not ROOT, reason="only root can be without its rights")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv(1) is not installed")
@pytest.mark.parametrize(
    ("dropped", "expected"),
    [
        ("-sys_admin", "accepted enforced ("),
        ("-all", "accepted off: this root is without CAP_SETFCAP"),
    ],
)
def test_root_without_rights(dropped: str, expected: str) -> None:
    code = RUN[mode()] + "r = run(); print(r.verdict, r.isolation['namespaces'])"
    done = subprocess.run(
        [
            "setpriv",
            f"--bounding-set={dropped}",
            f"--inh-caps={dropped}",
            sys.executable,
            "-c",
            code,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(expected), done.stdout + done.stderr


@here
@pytest.mark.parametrize("word", ["auto", "require"])
def test_one_that_cannot_be_entered_after_all(word: str) -> None:
    """A limit of the machine may be met between the trial and a run."""
    before = set(os.listdir("/proc/self/fd"))
    require = (*spec()["require"], *(["namespaces"] if word == "require" else []))
    policy = _core.Policy(spec(require=require))
    with open(os.devnull, "rb") as nothing:
        for number in set(os.listdir("/proc/self/fd")) - before:
            try:
                if os.readlink(f"/proc/self/fd/{number}").startswith("net:["):
                    os.dup2(nothing.fileno(), int(number), inheritable=False)
            except OSError:
                continue  # the listing's own
    if word == "require":
        with pytest.raises(csandbox.SetupError) as caught:
            _core.run(policy, request("print(1)"))
        assert caught.value.step == "namespaces"
    else:
        result = _core.run(policy, request("print(1)"))
        assert result["stdout"] == b"1\n"
        assert result["isolation"]["namespaces"] == "off: refused for this run"
