"""The names that users import, and how they present themselves."""

import inspect
import subprocess
import sys
import typing

import csandbox


def test_all_is_complete_and_importable():
    assert sorted(csandbox.__all__) == csandbox.__all__
    for name in csandbox.__all__:
        assert hasattr(csandbox, name)


def test_public_things_name_the_public_module():
    for name in csandbox.__all__:
        thing = getattr(csandbox, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__module__ == "csandbox", name
            assert thing.__doc__, name


def test_everything_is_annotated():
    for function in (csandbox.run, csandbox.check, csandbox.probe):
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty
        for index, parameter in enumerate(signature.parameters.values()):
            assert parameter.annotation is not inspect.Parameter.empty
            if index:
                assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert typing.get_type_hints(csandbox.probe)["return"] is csandbox.Features


def test_version():
    from importlib.metadata import version

    assert csandbox.__version__ == version("csandbox")


def test_import_is_quiet_and_light():
    code = (
        "import sys; before = set(sys.modules); import csandbox; "
        "heavy = {'subprocess', 'asyncio', 'tomllib', 'argparse', 'unittest', 'multiprocessing'}; "
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_other_systems_get_a_clear_import_error():
    code = "import sys; sys.platform = 'darwin'; import csandbox"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: csandbox needs Linux (this is darwin)" in done.stderr


def test_probe():
    features = csandbox.probe()
    assert features.ok, features.missing
    assert {"landlock", "seccomp", "rlimits"} <= set(features)
    assert features["landlock"].available
    assert features.to_dict()["seccomp"]["available"] is True
    assert "missing: nothing" in repr(features)
