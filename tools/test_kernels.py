"""Boot Debian's kernels in an emulated machine and run checks in each: `make test-kernels`.

An initramfs is made from this tree: a static busybox, this interpreter with its standard library,
pytest, csandbox as built, tests/. qemu emulates the processor in software, so no privilege and no
virtualisation is needed; a machine takes some ten minutes, and says what it is at. Kernels are
Debian's packages, fetched with apt into build/kernels, also from releases that this system does not
follow (their lists are kept apart; nothing is installed). One that cannot be had is said so and
passed over, unless all are.

tests/machine/init and guest.py are what runs inside. Exit status 1 when a check failed or no kernel
could be booted.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import io
import marshal
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "kernels"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITES = ("bullseye", "bookworm", "trixie", "sid")
# A test takes some ten seconds of an emulated processor, so not all run in all machines: those of
# control groups, which exist nowhere else, in each, as root and as a user; those of other layers
# where the kernel differs most from the one that the test suite runs on, as a user, and in one of
# the two modes ("-warm": without it). Landlock's versions are tested against the real ones by the
# attacks of `csandbox doctor`, and by tests/kernel/test_landlock_abis.py elsewhere.
CGROUP = "tests/kernel/test_cgroup.py"
LAYERS = "tests/kernel/test_layers.py"
NAMESPACES = "tests/kernel/test_namespaces.py"
NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
SKIPPED = {"test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "turtledemo",
           "__pycache__", "site-packages", "dist-packages"}  # fmt: skip
PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
MEMORY_MIB = 1536
# A machine says what it begins: one that says nothing for so long hangs. The longest test waits for
# some ten starts of an interpreter, each of some seconds, and thirty times that on a busy host.
SILENCE_S = 1500
LISTS_LAST_S = 24 * 3600


@dataclass(frozen=True)
class Machine:
    """One kernel: where it comes from, how it is booted, and the Landlock ABI that it must have."""

    name: str
    suite: str
    package: str
    abi: int
    options: str = ""
    tests: tuple[str, ...] = (CGROUP,)  # as a user; as root always those of CGROUP


MACHINES = (
    Machine("6.1", "bookworm", "linux-image-cloud-amd64", 2, tests=(CGROUP, LAYERS, "-warm")),
    Machine(
        "6.1-no-landlock",
        "bookworm",
        "linux-image-cloud-amd64",
        0,
        options="lsm=lockdown,yama",
    ),
    Machine("6.12", "trixie", "linux-image-cloud-amd64", 6, tests=(CGROUP, NAMESPACES)),
    Machine("5.10", "bullseye", "linux-image-cloud-amd64", 0),
    Machine("newest", "sid", "linux-image-cloud-amd64", -1, tests=(CGROUP, LAYERS, "-fresh")),
)


def say(text: str) -> None:
    """One line of the report."""
    print(text, flush=True)


# ---- kernels -------------------------------------------------------------------------------------


def apt(*words: str, cwd: Path | None = None) -> str:
    """An apt command on lists of its own; its output. Raises CalledProcessError."""
    private = {
        "Dir::Etc::sourcelist": WORK / "apt" / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": WORK / "apt" / "lists",
        "Dir::Cache": WORK / "apt" / "cache",
        "APT::Sandbox::User": "root",
    }
    options = [f"-o={key}={value}" for key, value in private.items()]
    done = subprocess.run(
        [words[0], *options, *words[1:]],
        cwd=cwd,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return done.stdout


def make_lists() -> None:
    """Package lists of every suite, from the archive that this system uses itself."""
    sites = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    archive = next(
        (line.split()[0] for line in sites if line.endswith(tuple(f" {s}" for s in SUITES))), None
    )
    if archive is None:
        raise SystemExit("test-kernels: this system's apt follows no Debian release")
    for folder in ("apt/lists/partial", "apt/cache/archives/partial"):
        (WORK / folder).mkdir(parents=True, exist_ok=True)
    lines = [f"deb [signed-by={KEYRING}] {archive} {suite} main\n" for suite in SUITES]
    sources = WORK / "apt" / "sources.list"
    if sources.exists() and time.time() - sources.stat().st_mtime < LISTS_LAST_S:
        return
    sources.write_text("".join(lines))
    try:
        apt("apt-get", "update")
    except subprocess.CalledProcessError:
        sources.unlink()
        raise


def concrete(package: str, suite: str) -> tuple[str, str]:
    """The package and version that a suite's meta-package stands for."""
    versions = re.findall(
        rf"^\s*{re.escape(package)} \|\s*(\S+) \|.* {suite}/",
        apt("apt-cache", "madison", package),
        re.M,
    )
    if not versions:
        raise LookupError(f"{suite} has no {package}")
    shown = apt("apt-cache", "show", f"{package}={versions[0]}")
    found = re.search(r"^Depends: .*?(linux-image-\d\S+)", shown, re.M)
    if found is None:
        raise LookupError(f"{package} of {suite} stands for nothing")
    return found[1], versions[0]


def kernel(machine: Machine) -> Path:
    """The kernel image of a machine, fetched and unpacked when it is not there."""
    package, version = concrete(machine.package, machine.suite)
    folder = WORK / f"{package}_{version.replace(':', '.')}"
    image = folder / "vmlinuz"
    # Since Debian 14 the image itself is in a package of its own.
    for name in (package, package.replace("linux-image-", "linux-binary-", 1)):
        if not image.exists():
            fetched = WORK / "fetched"
            shutil.rmtree(fetched, ignore_errors=True)
            fetched.mkdir(parents=True)
            apt("apt-get", "download", name, cwd=fetched)
            unpacked = fetched / "unpacked"
            subprocess.run(["dpkg-deb", "-x", next(fetched.glob("*.deb")), unpacked], check=True)
            folder.mkdir(exist_ok=True)
            for found in unpacked.rglob("vmlinuz*"):
                shutil.move(str(found), image)
            shutil.rmtree(fetched)
    if not image.exists():
        raise LookupError(f"no image in {package}")
    return image


# ---- initramfs -----------------------------------------------------------------------------------


class Archive:
    """An initramfs in the newc format (cpio(5)), everything owned by root."""

    def __init__(self) -> None:
        """Begin an empty one."""
        self._out = io.BytesIO()
        self._made: set[str] = set()

    def _entry(self, name: str, mode: int, content: bytes) -> None:
        raw = name.lstrip("/").encode()
        fields = (len(self._made) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(raw) + 1, 0)
        self._out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + raw + b"\0")
        self._out.write(b"\0" * (-self._out.tell() % 4) + content)
        self._out.write(b"\0" * (-self._out.tell() % 4))

    def folder(self, name: str) -> None:
        """A folder and those above it, open to everybody."""
        for path in [*reversed(Path(name).parents), Path(name)]:
            if str(path) not in self._made and str(path) not in ("/", "."):
                self._made.add(str(path))
                self._entry(str(path), stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, content: bytes, executable: bool = False) -> None:
        """A file; a second one of the same name is left out."""
        if name not in self._made:
            self.folder(str(Path(name).parent))
            self._made.add(name)
            self._entry(name, stat.S_IFREG | (0o755 if executable else 0o644), content)

    def copy(self, path: Path, name: str | None = None) -> None:
        """A file of this machine, symbolic links followed."""
        self.file(name or str(path), path.read_bytes(), os.access(path, os.X_OK))

    def tree(self, path: Path, name: str | None = None) -> None:
        """A folder without what no check needs."""
        for folder, folders, files in os.walk(path):
            folders[:] = [f for f in folders if f not in SKIPPED and not f.startswith("config-3")]
            for file in files:
                source = Path(folder, file)
                if source.is_file() and not file.endswith((".a", ".pyc")):
                    place = Path(name or path, source.relative_to(path))
                    self.copy(source, str(place))
                    if file.endswith(".py"):
                        self.compiled(source, place)

    def compiled(self, source: Path, place: Path) -> None:
        """Bytecode that is believed without a look at the time of its source.

        Without it every start of an interpreter, of each child too, compiles what it imports: most
        of the time of an emulated machine.
        """
        text = source.read_bytes()
        try:
            code = compile(text, str(place), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return  # a file that is no program
        header = importlib.util.MAGIC_NUMBER + b"\1\0\0\0" + importlib.util.source_hash(text)
        self.file(importlib.util.cache_from_source(str(place)), header + marshal.dumps(code))

    def written(self) -> bytes:
        """The finished archive, compressed."""
        self._entry("TRAILER!!!", 0, b"")
        return gzip.compress(self._out.getvalue(), 1)


def libraries(paths: Iterable[Path]) -> Iterator[Path]:
    """Shared libraries that programs and extensions are linked with, the dynamic loader too."""
    for path in paths:
        done = subprocess.run(["ldd", path], check=False, capture_output=True, text=True)
        for found in re.findall(r"(/\S+) \(0x", done.stdout):
            yield Path(found)


def make_initramfs(target: Path) -> None:
    """Everything that init and guest.py need."""
    archive = Archive()
    python = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib")).resolve()
    archive.copy(Path(shutil.which("busybox") or "/bin/busybox"), "/bin/busybox")
    archive.file("/init", (ROOT / "tests" / "machine" / "init").read_bytes(), executable=True)
    archive.file("/python", str(python).encode())
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/etc"):
        archive.folder(folder)
    archive.file("/etc/passwd", b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n")
    archive.file("/etc/group", b"root:x:0:\nuser:x:1000:\n")
    archive.copy(python)
    archive.tree(library)
    extensions = [*(ROOT / "csandbox").glob("*.so"), *(library / "lib-dynload").glob("*.so")]
    for path in dict.fromkeys(libraries([python, *extensions])):
        archive.copy(path)
    for extra in ("libseccomp.so.2",):  # by ctypes, in tests
        for path in Path("/usr/lib").glob(f"*/{extra}"):
            archive.copy(path)
    site = Path(sysconfig.get_path("purelib"))
    archive.copy(site / "py.py", "/csandbox/py.py")  # pytest's, a module of one file
    for package in PACKAGES:
        archive.tree(site / package, f"/csandbox/{package}")
        for info in site.glob(f"{package}-*.dist-info"):
            archive.tree(info, f"/csandbox/{info.name}")
    archive.tree(ROOT / "csandbox", "/csandbox/csandbox")
    for name in ("__init__.py", "confined.py", "conftest.py"):
        archive.copy(ROOT / "tests" / name, f"/csandbox/tests/{name}") if (
            ROOT / "tests" / name
        ).exists() else None
    for name in ("kernel", "machine"):
        archive.tree(ROOT / "tests" / name, f"/csandbox/tests/{name}")
    archive.copy(ROOT / "pyproject.toml", "/csandbox/pyproject.toml")
    target.write_bytes(archive.written())


# ---- machines ------------------------------------------------------------------------------------


def follow(log: Path, process: subprocess.Popen[bytes]) -> list[str]:
    """Say each line of the machine's report as it comes; all of them, when it has ended."""
    report: list[str] = []
    heard = time.monotonic()
    with log.open("rb") as console:
        rest = b""
        while True:
            ended = process.poll() is not None
            chunk = console.read()
            *lines, rest = (rest + chunk).split(b"\n")
            for raw in lines:
                line = raw.decode(errors="replace").replace("\r", "")
                if line.startswith("CSB "):
                    report.append(line[4:])
                    say(f"   {time.strftime('%H:%M:%S')} {line[4:]}")
            heard = time.monotonic() if chunk else heard
            if ended and not chunk:
                return report
            if time.monotonic() - heard > SILENCE_S:
                say(f"   the machine has said nothing for {SILENCE_S} s: it is stopped")
                process.kill()
                heard = time.monotonic()
            time.sleep(0.2)


def boot(machine: Machine, image: Path, initramfs: Path, tests: Iterable[str] | None) -> int:
    """Boot it and say its report; how many checks failed (-1: it did not get so far)."""
    # Emulated on a busy host, a timer may be late enough for the kernel to give up on it.
    options = (
        "console=ttyS0 quiet mitigations=off no_timer_check panic=-1 random.trust_cpu=1 "
        f"csb.abi={machine.abi} csb.pytest={','.join(tests or machine.tests)} "
        f"csb.pytest_root={CGROUP if tests is None else ''} {machine.options}"
    )
    log = WORK / f"{machine.name}.log"
    log.write_bytes(b"")
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", str(MEMORY_MIB),
               "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none",
               "-serial", f"file:{log}", "-no-reboot", "-kernel", str(image),
               "-initrd", str(initramfs), "-append", options]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            report = follow(log, process)
        finally:
            process.kill()
    end = re.fullmatch(r"END failed=(\d+)", report[-1]) if report else None
    if end is None:
        for line in log.read_text(errors="replace").replace("\r", "").split("\n")[-15:]:
            say(f"   console: {line}")
        return -1
    return int(end[1])


def install_what_is_missing() -> None:
    """Install qemu and busybox, by apt as root; otherwise the list is printed."""
    missing = [package for tool, package in NEEDED.items() if shutil.which(tool) is None]
    if not missing:
        return
    say(f"installing {' '.join(missing)}")
    if os.geteuid() != 0:
        raise SystemExit(f"test-kernels: as root: apt-get install {' '.join(missing)}")
    subprocess.run(
        ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )


def main() -> int:
    """Every machine, or those named."""
    parser = argparse.ArgumentParser(description="Boot Debian's kernels and run checks in each.")
    parser.add_argument("names", nargs="*", help="machines; default: all")
    parser.add_argument("--tests", nargs="+", metavar="FILE", help="other pytest files than usual")
    parser.add_argument("--list", action="store_true", help="say which there are")
    options = parser.parse_args()
    if options.list:
        for machine in MACHINES:
            say(f"{machine.name:16} {machine.suite} {machine.options}")
        return 0
    chosen = [m for m in MACHINES if not options.names or m.name in options.names]
    install_what_is_missing()
    WORK.mkdir(parents=True, exist_ok=True)
    make_lists()
    initramfs = WORK / "initramfs"
    make_initramfs(initramfs)
    say(f"initramfs: {initramfs.stat().st_size / (1 << 20):.0f} MiB")
    summary = []
    for machine in chosen:
        begun = time.monotonic()
        say(f"\n== {machine.name}")
        try:
            image = kernel(machine)
        except (LookupError, OSError, subprocess.CalledProcessError, StopIteration) as error:
            say(f"   not to be had: {error}")
            summary.append((machine.name, "not to be had", 0))
            continue
        failed = boot(machine, image, initramfs, options.tests)
        word = "did not finish" if failed < 0 else f"{failed} failed" if failed else "all held"
        summary.append((machine.name, f"{word} ({time.monotonic() - begun:.0f} s)", failed))
    say("")
    for name, word, _ in summary:
        say(f"{name:16} {word}")
    booted = [failed for _, word, failed in summary if word != "not to be had"]
    return 0 if booted and not any(booted) else 1


if __name__ == "__main__":
    sys.exit(main())
