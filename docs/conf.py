"""Sphinx builds these pages: `make docs`. Warnings are errors there."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import csandbox  # noqa: E402 - from this tree

project = "csandbox"
author = "the csandbox authors"
version = release = csandbox.__version__
html_title = f"csandbox {version}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "from_code"]
# README.md of docs/rules is its index.
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_ext"]
# Programs that the guard refuses need not be Python.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 3
# In docstrings one backtick names something of csandbox, or it is code.
default_role = "py:obj"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "core"}
python_maximum_signature_line_length = 88
highlight_language = "none"

html_theme = "furo"
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None

linkcheck_timeout = 20
linkcheck_retries = 2
