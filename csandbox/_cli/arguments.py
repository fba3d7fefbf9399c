"""The command line's grammar: from words to one command that is ready to be called."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from csandbox._schema import CHOICES, FEATURES
from csandbox._units import parse_bytes, parse_seconds

EXIT_CODES = """\
exit codes:
  0    fine: nothing found, or the program ran to its end and exited with 0
  1    the code failed or was found wanting (findings, a verdict other than
       "accepted", a layer that doctor misses)
  2    usage: wrong options, a file or profile that cannot be read
  3    infrastructure: the sandbox could not do its work; says nothing about the code
  130  interrupted      141  the reader of the output went away
"""

EXAMPLES = """\
examples:
  csandbox check solution.py                    what the profile does not allow, and where
  csandbox run --cpu 2s --memory 256MiB a.py    run it, contained; stdin is passed on
  csandbox run - --json < a.py                  program from stdin, result as JSON
  csandbox run a.py -- --size 3                 arguments for the program
  csandbox call a.py add --args "[1, 2]"        call a function, print what it returns
  csandbox explain CSB101                       what a code means and what to do
  csandbox grade a.py --tests DIR               judge it by DIR/01.in, DIR/01.out, …
  csandbox audit DIR --reference right.py       would these tests accept a cheat?
  csandbox doctor                               what this kernel can enforce, tried out
"""


class Usage(Exception):
    """The command line asks for something that cannot be done; the message says what."""


def _quantity(parse: Callable[[str], float | int]) -> Callable[[str], float | int]:
    def convert(text: str) -> float | int:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} must be written NAME=VALUE")
    return name, value


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="data as JSON on stdout")
    common.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: on a terminal (default; NO_COLOR and FORCE_COLOR count), always, never",
    )
    return common


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-p",
        "--profile",
        default="compute",
        metavar="NAME|PATH",
        help="a built-in profile, or a TOML file (default: compute)",
    )


def _limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits", "what is left out comes from the profile")
    seconds = _quantity(parse_seconds)
    size = _quantity(parse_bytes)
    for flag, field, kind, metavar, text in (
        ("--cpu", "cpu_s", seconds, "TIME", "CPU time, for example 2s or 500ms"),
        ("--wall", "wall_s", seconds, "TIME", "time by the clock (default: 3 × CPU + 1 s)"),
        ("--startup", "startup_s", seconds, "TIME", "time for the interpreter to start"),
        ("--memory", "memory_bytes", size, "SIZE", "private memory, for example 256MiB"),
        ("--output", "output_bytes", size, "SIZE", "output per stream"),
        ("--file-size", "file_bytes", size, "SIZE", "size of one written file"),
        ("--disk", "disk_bytes", size, "SIZE", "all written files together"),
        ("--files", "files", int, "N", "files and folders made"),
        ("--open-files", "open_files", int, "N", "descriptors open at once"),
        ("--threads", "threads", int, "N", "threads at once, the main one included"),
        ("--stack", "stack_bytes", size, "SIZE", "stack of the main thread"),
    ):
        group.add_argument(
            flag, dest=f"limit_{field}", type=kind, default=None, metavar=metavar, help=text
        )


def _add_check(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("check", "say what a profile does not allow, without running anything")
    parser.add_argument("files", nargs="+", metavar="FILE", help="source files; - is stdin")
    parser.add_argument(
        "--format",
        choices=("full", "concise", "json", "github", "sarif"),
        default="full",
        help="full: with source lines (default); concise: one line each; github: annotations; "
        "sarif: SARIF 2.1.0; json is --json",
    )
    _profile(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary on stderr")


def _add_run(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("run", "check a program, then run it contained")
    parser.usage = "csandbox run [options] FILE [-- ARGUMENT …]"
    parser.add_argument("file", metavar="FILE", help="the program; - is stdin")
    _profile(parser)
    _limits(parser)
    parser.add_argument(
        "--stdin",
        metavar="FILE",
        help="what the program reads (default: this command's stdin when it is no terminal)",
    )
    parser.add_argument("--no-stdin", action="store_true", help="the program reads nothing")
    parser.add_argument(
        "--file",
        dest="files_in",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=PATH",
        help="put a copy of PATH into the working folder as NAME; may be repeated",
    )
    parser.add_argument(
        "--collect",
        action="append",
        default=[],
        metavar="PATTERN",
        help='bring files back that the program left, such as "*.png" or "out/**"; may be repeated',
    )
    parser.add_argument(
        "--into", metavar="DIR", help="where collected files go; must be missing or empty"
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="set a variable for the program; may be repeated",
    )
    parser.add_argument(
        "--allow-degraded",
        action="append",
        default=[],
        choices=FEATURES,
        metavar="LAYER",
        help=f"run although this layer is missing ({', '.join(FEATURES)}); may be repeated",
    )
    for layer in ("namespaces", "cgroup"):
        parser.add_argument(
            f"--{layer}",
            choices=CHOICES,
            help=f"enter {layer} of the child's own where possible, never, or fail",
        )
    parser.add_argument("--python", metavar="PATH", help="another CPython to run it with")
    parser.add_argument(
        "--audit-log", metavar="PATH", help="append one line of JSON about this run to PATH"
    )
    parser.add_argument("--fresh", action="store_true", help="always an interpreter of its own")
    parser.add_argument("--raw", action="store_true", help="do not escape output on a terminal")
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary on stderr")


def _task(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--compare",
        metavar="HOW",
        help="how output is compared: exact, lines (default for files of tests), tokens, "
        "float(rel=1e-6), unordered_lines, json, case_insensitive, yes_no",
    )
    parser.add_argument(
        "--entry", metavar="NAME", help="the function that assertions and calls are about"
    )
    parser.add_argument(
        "--row", type=int, metavar="N", help="which row of a .jsonl file of tasks, from 0"
    )
    parser.add_argument(
        "-p",
        "--profile",
        default="contest",
        metavar="NAME|PATH",
        help="a built-in profile, or a TOML file (default: contest)",
    )
    _limits(parser)


def _add_grade(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("grade", "judge a submission by tests, out of its reach")
    parser.add_argument("file", metavar="SUBMISSION", help="the program; - is stdin")
    parser.add_argument(
        "--tests",
        required=True,
        metavar="FILE|DIR",
        help="a folder (01.in, 01.out), assertions (.py), or a row of a data set (.json, .jsonl)",
    )
    _task(parser)
    parser.add_argument(
        "--isolation",
        choices=("test", "submission"),
        default="test",
        help="test: a fresh child for each test (default); submission: one for all calls",
    )
    parser.add_argument(
        "--stop", choices=("first", "never"), default="never", help="after a failed test"
    )
    parser.add_argument(
        "--feedback",
        choices=("none", "counts", "first", "full"),
        default="counts",
        help="what the report shows (default: counts); hidden tests never show data",
    )
    parser.add_argument(
        "--visible", action="store_true", help="none of the tests is hidden from the report"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of the order of the tests")
    parser.add_argument(
        "--total",
        type=_quantity(parse_seconds),
        metavar="TIME",
        help="time by the clock for all tests",
    )
    parser.add_argument(
        "--allow-weak",
        action="store_true",
        help="run what could not become data beside the submission, which can cheat it",
    )


def _add_audit(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("audit", "try programs that must fail against a task's tests")
    parser.add_argument("tests", metavar="TASK", help="the tests, as for grade --tests")
    parser.add_argument("--reference", metavar="FILE", help="a program that must pass")
    for word, text in (("right", "is right too"), ("wrong", "must fail too")):
        parser.add_argument(
            f"--{word}", action="append", default=[], metavar="FILE", help=f"a program that {text}"
        )
    _task(parser)
    parser.add_argument(
        "--repeat", type=int, default=2, metavar="N", help="runs of the reference (default: 2)"
    )


def _add_call(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("call", "call one function of a program, contained, and print what it returns")
    parser.add_argument("file", metavar="FILE", help="the program; - is stdin")
    parser.add_argument(
        "entry", metavar="ENTRY", help="a function, Class.method, or Solution().method"
    )
    parser.add_argument(
        "--args", default="[]", metavar="JSON", help='arguments as a JSON list: "[[2, 7], 9]"'
    )
    parser.add_argument(
        "--kwargs", default="{}", metavar="JSON", help="arguments by name as a JSON object"
    )
    parser.add_argument(
        "--adapt",
        action="append",
        default=[],
        type=_pair,
        metavar="PLACE=NAME",
        help="argument PLACE (0, 1, …, a name, or return) is a ListNode, TreeNode, "
        "list[ListNode] or list[TreeNode]; may be repeated",
    )
    _profile(parser)
    _limits(parser)
    parser.add_argument("--python", metavar="PATH", help="another CPython to run it with")
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary on stderr")


def _add_jupyter(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("jupyter", "install the Jupyter kernel: csandbox jupyter install")
    parser.add_argument("action", choices=("install",), help="write the kernelspec")
    _profile(parser)
    _limits(parser)
    parser.add_argument("--name", default="csandbox", help="of the kernel (default: csandbox)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user only")
    where.add_argument(
        "--prefix", metavar="DIR", help="below this folder, as in PREFIX/share/jupyter"
    )
    where.add_argument(
        "--sys-prefix", action="store_true", help="in this interpreter's (virtual) environment"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="csandbox",
        description="Check and run Python code that somebody else wrote, contained by the kernel.",
        epilog=f"{EXAMPLES}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="version and how it was built")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    common = _common()

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=EXIT_CODES,
            parents=[common],
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    _add_check(add)
    _add_run(add)
    _add_call(add)
    _add_grade(add)
    _add_audit(add)
    _add_jupyter(add)
    explain = add("explain", "say what a code means and what to do")
    explain.add_argument("code", nargs="?", metavar="CODE", help="CSB101, CSR020, …; without: all")
    add("rules", "list the guard's rules")
    doctor = add("doctor", "say what this kernel can enforce, and try it out")
    doctor.add_argument(
        "--attack",
        action="store_true",
        help="instead: run the attacks of csandbox's own tests, confined, and say what held",
    )
    doctor.add_argument("--no-self-test", action="store_true", help="only ask the kernel")
    profiles = add("profiles", "list the built-in profiles, or show one with all its values")
    profiles.add_argument("profile", nargs="?", metavar="NAME|PATH")
    return parser


def parse(words: Sequence[str]) -> Callable[[], int]:
    """The command that these words ask for. Exits with 2 (argparse) or raises Usage."""
    own, program_args = list(words), []
    if "--" in own and "run" in own[: own.index("--")]:
        cut = own.index("--")
        own, program_args = own[:cut], own[cut + 1 :]
    parser = _parser()
    options = parser.parse_args(own)
    options.program_args = program_args
    if options.version:
        from csandbox._cli.version import show

        return show
    if options.command is None:
        parser.error("name a command, or --help")
    module: Any = __import__(f"csandbox._cli.{options.command}", fromlist=["command"])
    command: Callable[[argparse.Namespace], int] = module.command
    return lambda: command(options)
