"""``csandbox rules``."""

from __future__ import annotations

import argparse
import sys

from csandbox import _core
from csandbox._cli.console import emit, emit_json, paint, wants_color


def command(options: argparse.Namespace) -> int:
    """List every rule of the guard: code, name, family, severity, sentence."""
    rules = sorted(_core.rules(), key=lambda rule: rule["code"])
    if options.json:
        emit_json(rules)
        return 0
    color = wants_color(options.color, sys.stdout)
    width = max(len(rule["name"]) for rule in rules)
    family = ""
    for rule in rules:
        if rule["family"] != family:
            family = rule["family"]
            fixed = "" if rule["selectable"] else ", in every profile"
            emit(f"{family} ({rule['severity']}{fixed})")
        name = rule["name"].ljust(width)
        emit(f"  {paint(rule['code'], 'bold', color)}  {name}  {rule['summary']}")
    return 0
