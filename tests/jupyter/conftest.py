"""One kernel for all tests of this folder, started by jupyter_client from its kernelspec."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WAIT_S = 120


class Driver:
    """What a frontend does, message by message."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager = manager
        self.client = client

    def processes(self) -> set[int]:
        """What lives below the kernel."""
        return descendants(self.manager.provisioner.pid)

    def gone(self, processes: set[int]) -> bool:
        """Whether none of them is left, soon."""
        return not left_of(processes)

    def ask(self, kind: str, *args: Any, **more: Any) -> dict[str, Any]:
        """One request on the shell channel and its reply."""
        sent = getattr(self.client, kind)(*args, **more)
        while True:
            reply = self.client.get_shell_msg(timeout=WAIT_S)
            if reply["parent_header"].get("msg_id") == sent:
                content: dict[str, Any] = reply["content"]
                return content

    def run(
        self,
        code: str,
        seen: Callable[[str, dict[str, Any]], None] | None = None,
        stdin: Callable[[dict[str, Any]], None] | None = None,
    ) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
        """Execute a cell: the reply, and what was published meanwhile. `stdin` is for input()."""
        published: list[tuple[str, dict[str, Any]]] = []

        def hook(message: dict[str, Any]) -> None:
            kind, content = message["msg_type"], message["content"]
            if kind not in ("status", "execute_input"):
                published.append((kind, content))
                if seen is not None:
                    seen(kind, content)

        reply = self.client.execute_interactive(
            code, output_hook=hook, timeout=WAIT_S, allow_stdin=stdin is not None, stdin_hook=stdin
        )
        return reply["content"], published


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """The clients hold sockets of their own from test to test; `kernel` looks at processes."""


def descendants(pid: int) -> set[int]:
    """Every process below this one."""
    parents = {int(e): int(s[1]) for e in os.listdir("/proc") if e.isdigit() and (s := stat(e))}
    found: set[int] = set()
    grew = {pid}
    while grew:
        grew = {child for child, parent in parents.items() if parent in grew} - found
        found |= grew
    return found


def stat(pid: str) -> list[str]:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def left_of(processes: set[int]) -> set[int]:
    """Those that live on; they get some time to end."""
    deadline = time.monotonic() + 30
    while True:
        left = {pid for pid in processes if (s := stat(str(pid))) and s[0] != "Z"}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kernelspec, written by the installer."""
    from csandbox.jupyter.install import install

    prefix = tmp_path_factory.mktemp("prefix")
    return Path(install(prefix=str(prefix))).parent


@pytest.fixture(scope="module")
def kernel(kernels: Path) -> Iterator[Driver]:
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    specs = KernelSpecManager(kernel_dirs=[str(kernels)])
    manager = KernelManager(kernel_name="csandbox", kernel_spec_manager=specs)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=WAIT_S)
        yield Driver(manager, client)
    finally:
        processes = descendants(manager.provisioner.pid)
        client.stop_channels()
        manager.shutdown_kernel(now=False)
        manager.context.destroy()
        assert not left_of(processes)
