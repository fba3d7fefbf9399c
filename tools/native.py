"""Compile and link the C side: one set of flags, one cache of objects, for everybody.

setup.py, the C tests, the sanitizer build and the lints call this. setuptools would compile
every file again when one changes, and in an editable install in a new folder each time;
here an object is made again only when its command, its source or a header it read has
changed (the compiler's dependency file says which).

Environment: CC, CFLAGS, LDFLAGS and PKG_CONFIG as everywhere; CSANDBOX_SANITIZE=1 builds
`_core` with AddressSanitizer and UBSan; CSANDBOX_JOBS is the number of compilers at a time.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import fetch_sources
import layout

ROOT = layout.ROOT
OBJECTS = ROOT / "build" / "obj"
LIMITED_API = "0x030A0000"  # CPython 3.10, the oldest supported

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wvla",
    "-Wformat=2",
]

# OpenSSF's hardening guide, as far as every gcc >= 10 and clang >= 12 knows it.
HARDENING = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-fstack-protector-strong"]
HARDENING += ["-fstack-clash-protection"]
HARDENING_BY_MACHINE = {
    "x86_64": ["-fcf-protection"],
    "aarch64": ["-mbranch-protection=standard"],
}
LINK_HARDENING = ["-Wl,-z,relro,-z,now,-z,noexecstack"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
SANITIZERS += ["-fno-omit-frame-pointer", "-g"]

#: pkg-config name -> (oldest version, Debian package)
LIBRARIES = {
    "libseccomp": ("2.5.0", "libseccomp-dev"),
    "libutf8proc": ("2.5.0", "libutf8proc-dev"),
    "libcbor": ("0.6.0", "libcbor-dev"),
    "cmocka": ("1.1.5", "libcmocka-dev"),
}
CORE_LIBRARIES = ("libseccomp", "libutf8proc", "libcbor")


def say(text: str) -> None:
    """Print a line in one call: several threads report at the same time."""
    print(f"{text}\n", end="", flush=True)


class BuildError(Exception):
    """The C side cannot be built; the message says why and what to do."""


@dataclass(frozen=True)
class Mode:
    """How to compile: the same source can have an object for each."""

    sanitize: bool = False
    werror: bool = False


def core_mode() -> Mode:
    """The mode that the environment asks for, for `_core`."""
    return Mode(sanitize=os.environ.get("CSANDBOX_SANITIZE", "") not in ("", "0"))


def compiler() -> list[str]:
    """The C compiler as a command. Raises BuildError when there is none."""
    wanted = shlex.split(os.environ.get("CC", ""))
    for command in [wanted] if wanted else [["gcc"], ["cc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    raise BuildError(
        f"no C compiler: {wanted[0] if wanted else 'gcc'} is not on PATH\n"
        "hint: Debian: apt-get install gcc libc6-dev; or set CC"
    )


@functools.cache
def pkg_config(names: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Answer of pkg-config to --cflags or --libs. Raises BuildError naming the Debian package."""
    tool = os.environ.get("PKG_CONFIG", "pkg-config")
    if not shutil.which(tool):
        raise BuildError(f"{tool} is not on PATH\nhint: Debian: apt-get install pkg-config")
    flags: list[str] = []
    for name in names:
        oldest, debian = LIBRARIES[name]
        command = [tool, option, f"{name} >= {oldest}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise BuildError(
                f"{name} >= {oldest} with its headers was not found: {done.stderr.strip()}\n"
                f"hint: Debian: apt-get install {debian}; elsewhere put its .pc on PKG_CONFIG_PATH"
            )
        flags += shlex.split(done.stdout)
    return tuple(flags)


def system_include(flags: Iterable[str]) -> list[str]:
    """Turn -I into -isystem: the warnings of somebody else's headers are not ours."""
    return [part for flag in flags for part in _as_system(flag)]


def _as_system(flag: str) -> list[str]:
    return ["-isystem", flag[2:]] if flag.startswith("-I") else [flag]


def python_include() -> list[str]:
    """-isystem of the running interpreter's headers. Raises BuildError when they are missing."""
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("include", "platinclude"))
    if not any(Path(folder, "Python.h").exists() for folder in folders):
        raise BuildError(
            f"Python.h was not found in {', '.join(folders)}\n"
            "hint: Debian: apt-get install python3-dev; elsewhere this Python's development files"
        )
    return [part for folder in folders for part in ("-isystem", folder)]


def limited_api() -> bool:
    """Whether this interpreter has the limited API (a free-threaded one has not)."""
    return not sysconfig.get_config_var("Py_GIL_DISABLED")


def own_flags(source: Path, mode: Mode, version: str) -> list[str]:
    """Compiler flags of one of our files."""
    # As `#define _GNU_SOURCE` writes it, so that a file may say it again.
    flags = ["-std=gnu11", "-D_GNU_SOURCE=", *code_flags(mode), *WARNINGS]
    flags += ["-Werror"] if mode.werror else []
    flags += layout.include_flags(source)
    child = source in layout.child_sources()
    flags += [] if child else system_include(pkg_config(CORE_LIBRARIES, "--cflags"))
    if layout.is_glue(source):
        flags += python_include()
        flags += [f"-DPy_LIMITED_API={LIMITED_API}"] if limited_api() else []
        found = fetch_sources.versions()
        flags += [f'-DCSB_VERSION="{version}"']
        flags += [f'-DCSB_TREE_SITTER_VERSION="{found["tree-sitter"]}"']
        flags += [f'-DCSB_GRAMMAR_VERSION="{found["tree-sitter-python"]}"']
    return flags


def third_party_flags(source: Path, mode: Mode) -> list[str]:
    """Compiler flags of tree-sitter's files: upstream's; asserts only when sanitized."""
    flags = ["-std=c11", "-w", "-D_POSIX_C_SOURCE=200112L", "-D_DEFAULT_SOURCE", *code_flags(mode)]
    flags += ["-DTREE_SITTER_HIDE_SYMBOLS"] + ([] if mode.sanitize else ["-DNDEBUG"])
    if layout.GRAMMAR in source.parents:
        return [*flags, "-I" + layout.inside(layout.GRAMMAR / "src")]
    return [
        *flags,
        *("-I" + layout.inside(layout.TREE_SITTER / part) for part in ("include", "src")),
    ]


def code_flags(mode: Mode) -> list[str]:
    """Flags of every object: position, visibility, optimisation, hardening or sanitizers."""
    base = ["-fPIC", "-fvisibility=hidden"]
    if mode.sanitize:
        return [*base, "-O1", *SANITIZERS]
    return [*base, "-O2", *HARDENING, *HARDENING_BY_MACHINE.get(platform.machine(), [])]


def compile_all(sources: Iterable[Path], flags: Callable[[Path], list[str]]) -> list[Path]:
    """Bring the object of each source up to date, several at a time; return them in order.

    Raises BuildError with the compiler's words about every file that failed.
    """
    jobs = int(os.environ.get("CSANDBOX_JOBS", "0")) or os.cpu_count() or 1
    extra = shlex.split(os.environ.get("CFLAGS", ""))
    command = compiler()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [
            pool.submit(_compile, source, [*command, *flags(source), *extra]) for source in sources
        ]
    errors = [str(task.exception()) for task in tasks if task.exception() is not None]
    if errors:
        raise BuildError("\n".join(errors))
    return [task.result() for task in tasks]


def _compile(source: Path, command: list[str]) -> Path:
    name = source.relative_to(ROOT)
    flavour = hashlib.sha256("\0".join(command).encode()).hexdigest()[:12]
    target = OBJECTS / flavour / name.with_suffix(".o")
    depfile = target.with_suffix(".d")
    if _fresh(target, depfile):
        return target
    say(f"cc {name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    began = time.time() - 0.02  # file times are as coarse as the kernel's tick
    unfinished = target.with_suffix(f".{os.getpid()}.o")
    full = [*command, "-MD", "-MF", str(depfile), "-c", str(name), "-o", str(unfinished)]
    done = _run(full)
    if done.returncode != 0:
        raise BuildError(f"{done.stdout}{name}: the C compiler failed")
    if done.stdout:
        say(done.stdout.rstrip())
    # As old as the text that was read: a file saved while the compiler ran counts as newer.
    os.utime(unfinished, (began, began))
    os.replace(unfinished, target)
    return target


def _fresh(target: Path, depfile: Path) -> bool:
    try:
        made = target.stat().st_mtime_ns
        text = depfile.read_text().replace("\\\n", " ").partition(":")[2]
        read = [name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", text) if name]
        return all(os.stat(ROOT / name).st_mtime_ns <= made for name in read)
    except OSError:
        return False


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run in ROOT with paths relative to it, so that no path of this machine gets into the code."""
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def link(target: Path, objects: list[Path], flags: list[str]) -> None:
    """Link unless `target` was made by this very command from these very objects."""
    command = [*compiler(), "-o", str(target), *map(str, objects), *flags]
    _make(target, objects, [*command, *shlex.split(os.environ.get("LDFLAGS", ""))])


def archive(target: Path, objects: list[Path]) -> None:
    """Put the objects into a static library, unless it has been made from these very objects."""
    _make(target, objects, [os.environ.get("AR", "ar"), "rcs", str(target), *map(str, objects)])


def _make(target: Path, objects: list[Path], command: list[str]) -> None:
    state = "\0".join(command + [str(path.stat().st_mtime_ns) for path in objects])
    digest = hashlib.sha256(state.encode()).hexdigest()
    # Beside the objects, since what lies beside a target goes into the wheel.
    stamp = OBJECTS / "made" / hashlib.sha256(bytes(target)).hexdigest()[:16]
    if target.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    say(f"make {target.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # a process that has it mapped keeps the old one
    done = _run(command)
    if done.returncode != 0:
        raise BuildError(f"{done.stdout}{target.name}: {command[0]} failed")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)


def shared_flags() -> list[str]:
    """Linker flags of an extension: hardened, and the module's init function alone exported."""
    script = layout.inside(ROOT / "ext" / "exports.map")
    return ["-shared", *LINK_HARDENING, f"-Wl,--version-script={script}", "-Wl,--as-needed"]


def build_core(target: Path, version: str) -> None:
    """Build `csandbox._core` as `target`."""
    mode = core_mode()
    objects = compile_all(layout.core_sources(), lambda s: own_flags(s, mode, version))
    objects += third_party_objects(mode)
    flags = [*shared_flags(), *pkg_config(CORE_LIBRARIES, "--libs")]
    link(target, objects, flags + (SANITIZERS if mode.sanitize else []))


def build_child(target: Path, version: str) -> None:
    """Build `csandbox._child` as `target`.

    Never sanitized: AddressSanitizer needs calls that the confined child may not make, and a
    policy that changed with the build would be tested nowhere.
    """
    objects = compile_all(layout.child_sources(), lambda s: own_flags(s, Mode(), version))
    link(target, objects, shared_flags())


def build_janitor(target: Path, version: str) -> None:
    """Build the program `csandbox/_janitor*` as `target`; never sanitized: it has no report."""
    objects = compile_all(layout.janitor_sources(), lambda s: own_flags(s, Mode(), version))
    link(target, objects, ["-pie", *LINK_HARDENING, "-Wl,--as-needed", "-pthread"])


def third_party_objects(mode: Mode) -> list[Path]:
    """Bring tree-sitter's objects up to date and return them."""
    sources = layout.third_party_sources()
    missing = [path for path in sources if not path.exists()]
    if missing:
        raise BuildError(f"{missing[0].relative_to(ROOT)} is missing: run tools/fetch_sources.py")
    return compile_all(sources, lambda s: third_party_flags(s, mode))
