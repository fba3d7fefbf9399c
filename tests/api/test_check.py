"""``check`` as a user calls it; what each rule finds is tested beside the rules."""

import json
import pickle

import pytest

import csandbox
from csandbox import Diagnostic, Report


def test_nothing_to_say():
    report = csandbox.check("import math\nprint(math.pi)")
    assert isinstance(report, Report)
    assert report.ok
    assert list(report) == []


def test_findings_are_data():
    report = csandbox.check("x = 1\nimport socket, os\n", filename="a.py")
    assert not report.ok
    (finding,) = report
    assert isinstance(finding, Diagnostic)
    assert (finding.code, finding.line, finding.column) == ("CSB101", 2, 8)
    assert finding.help
    text = str(report)
    assert "CSB101" in text
    assert "a.py:2:8" in text
    assert "import socket, os" in text
    assert json.loads(json.dumps(report.to_dict()))["ok"] is False


def test_profile_decides():
    source = "import numpy"
    assert csandbox.check(source, profile="compute").ok
    assert not csandbox.check(source, profile="contest").ok
    assert not csandbox.check("import socket", profile=csandbox.Profile.load("contest")).ok
    assert csandbox.check("import socket", profile="open").ok


def test_help_of_the_profile_is_shown():
    (finding,) = csandbox.check("import requests")
    assert "network is off" in finding.help


def test_bytes_and_text_are_alike():
    for source in ("import socket", b"import socket", b"\xef\xbb\xbfimport socket"):
        assert [d.code for d in csandbox.check(source)] == ["CSB101"]


@pytest.mark.parametrize("source", ["", "\n", b"", "é = 1", "\ud800", b"\xff", b"\0", "x" * 10**6])
def test_any_source_gives_a_report(source):
    assert isinstance(csandbox.check(source), Report)


def test_lone_surrogates_and_wrong_bytes_are_findings():
    for source in ("x = '\ud800'", b"x = '\xff'"):
        report = csandbox.check(source)
        assert not report.ok
        assert all(d.code.startswith("CSB0") for d in report)


def test_report_pickles():
    report = csandbox.check("import socket")
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


def test_unknown_rule_code_in_a_profile(tmp_path):
    with pytest.raises(csandbox.ProfileError, match="CSB999"):
        csandbox.Profile.load("compute").replace(guard={"ignore": ["CSB999"]})
    path = tmp_path / "mine.toml"
    path.write_text('extends = "compute"\n[guard]\nselect = ["CSB9"]\n')
    with pytest.raises(csandbox.ProfileError, match="CSB9") as caught:
        csandbox.check("x", profile=path)
    assert (caught.value.path, caught.value.key) == (str(path), "guard.select")
