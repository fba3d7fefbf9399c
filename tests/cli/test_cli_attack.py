"""``csandbox doctor --attack``: our own attacks, on the user's machine."""

import json
from pathlib import Path

import csandbox
from csandbox import _attack
from csandbox._attack_programs import ATTACKS

FOLDER = Path(__file__).parents[1] / "escape" / "attacks"


def test_the_programs_are_those_of_the_tests():
    assert {path.stem: path.read_text() for path in FOLDER.glob("*.txt")} == ATTACKS


def test_all_are_stopped_and_counted_by_layer(cli):
    done = cli("doctor", "--attack", "--json")
    data = json.loads(done.stdout)
    through = [attack for attack in data["attacks"] if not attack["held"]]
    assert (through, done.returncode) == ([], 0)
    assert len(data["attacks"]) == len(ATTACKS) == sum(n for n, _ in data["layers"].values())
    assert all(tried == held for tried, held in data["layers"].values())


def test_one_that_works_is_told(monkeypatch, capsys):
    from csandbox import _cli

    monkeypatch.setattr(
        _attack, "ATTACKS", {"x": "# to speak\n# layers: none\nprint('EFFECT')", "y": "# be\n1"}
    )
    assert _cli.main(["doctor", "--attack"]) == 1
    shown = capsys.readouterr().out
    assert "x: to speak: it worked" in shown
    assert "NOT CONTAINED: x." in shown


def test_nothing_is_tried_with_a_layer_less(monkeypatch, capsys):
    """The runs ask for every required layer: a missing one is an error, never a weaker run."""
    from csandbox import _cli

    asked = []

    def refuse(source, **options):
        asked.append(options)
        raise csandbox.UnsupportedError(feature="landlock", hint="none")

    monkeypatch.setattr(_attack, "run", refuse)
    assert _cli.main(["doctor", "--attack"]) == 3
    assert len(asked) == 1
    assert "allow_degraded" not in asked[0]
    required = csandbox.Profile.load(asked[0]["profile"]).isolation.require
    assert {"seccomp", "landlock", "privileges", "no_new_privs", "rlimits"} <= set(required)
