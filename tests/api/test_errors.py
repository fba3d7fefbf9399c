"""The exceptions: what they are, what they carry, and that they cross process borders."""

import copy
import errno
import pickle

import pytest

import csandbox
from csandbox import (
    OutcomeError,
    ProfileError,
    RejectedError,
    Result,
    SandboxError,
    SetupError,
    UnsupportedError,
)

EXAMPLES = [
    SandboxError("went wrong"),
    ProfileError("bad value", path="/x.toml", key="limits.cpu_s"),
    UnsupportedError(feature="landlock", hint="boot with lsm=landlock", message="no Landlock"),
    SetupError(step="exec", errno=errno.EACCES, message="cannot start"),
    OutcomeError("too slow", result=Result("time_limit", limit_hit="cpu")),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_pickle_and_copy_keep_everything(error):
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def test_tree():
    assert issubclass(ProfileError, (SandboxError, ValueError))
    assert issubclass(ProfileError, ValueError)
    assert issubclass(UnsupportedError, OSError)
    assert issubclass(SetupError, OSError)
    assert issubclass(RejectedError, OutcomeError)
    for name in csandbox.__all__:
        thing = getattr(csandbox, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, SandboxError)
            assert thing.__module__ == "csandbox"


def test_unsupported_carries_feature_and_hint():
    error = UnsupportedError(feature="landlock", hint="do this", message="no Landlock here")
    assert (error.feature, error.hint, error.errno) == ("landlock", "do this", errno.ENOTSUP)
    assert str(error) == "no Landlock here (hint: do this)"


def test_setup_carries_step_and_errno():
    error = SetupError(step="exec", errno=errno.EACCES, message="cannot start")
    assert (error.step, error.errno, str(error)) == ("exec", errno.EACCES, "cannot start")
    assert pickle.loads(pickle.dumps(error)).errno == errno.EACCES


def test_default_messages_are_sentences():
    assert "seccomp" in str(UnsupportedError(feature="seccomp"))
    assert "clone" in str(SetupError(step="clone"))
    assert "memory_limit" in str(OutcomeError(result=Result("memory_limit")))
