"""``csandbox profiles [NAME|PATH]``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from csandbox._cli.console import emit, emit_json, paint, wants_color
from csandbox._profile import Profile


def _value(value: object) -> str:
    """A TOML value. JSON's strings, numbers and booleans are TOML's too."""
    if isinstance(value, list):
        lines: list[str] = []
        line = ""
        for item in map(_value, value):
            if line and len(line) + len(item) > 92:
                lines.append(line)
                line = ""
            line += f"{item}, "
        if not lines:
            return f"[{line.rstrip(', ')}]"
        return "[\n" + "".join(f"    {part.rstrip()}\n" for part in [*lines, line]) + "]"
    return json.dumps(value, ensure_ascii=True)


def _key(name: str) -> str:
    return (
        name
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii()
        else _value(name)
    )


def toml_lines(tree: Mapping[str, Any], section: str = "") -> Iterator[str]:
    """The profile as the TOML file that would give it, without ``extends``."""
    for name, value in tree.items():
        if not isinstance(value, Mapping):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in tree.items():
        if isinstance(value, Mapping):
            inner = f"{section}{_key(name)}"
            if any(not isinstance(item, Mapping) for item in value.values()) or not value:
                yield f"\n[{inner}]"
            yield from toml_lines(value, f"{inner}.")


def command(options: argparse.Namespace) -> int:
    """List the built-in profiles, or print one with everything that it extends worked in."""
    if options.profile is not None:
        profile = Profile.load(options.profile)
        if options.json:
            emit_json({**profile.to_dict(), "digest": profile.digest()})
        else:
            emit("\n".join(toml_lines(profile.to_dict())))
        return 0
    profiles = [Profile.load(name) for name in Profile.builtin()]
    if options.json:
        emit_json([{"name": p.name, "summary": p.summary, "digest": p.digest()} for p in profiles])
        return 0
    color = wants_color(options.color, sys.stdout)
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        emit(f"{paint(profile.name.ljust(width), 'bold', color)}  {profile.summary}")
    return 0
