"""Limits from the options that `run`, `grade` and `audit` share."""

from __future__ import annotations

import argparse

from csandbox._cli.arguments import Usage
from csandbox._errors import ProfileError
from csandbox._limits import Limits


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that were given; Usage when one is out of range."""
    names = Limits().to_dict()
    try:
        return Limits(**{name: getattr(options, f"limit_{name}") for name in names})
    except ProfileError as error:
        raise Usage(str(error)) from error
