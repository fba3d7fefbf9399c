"""The tables of test_syscalls.py: system call, arguments, and what the kernel must answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BASE = ("core", "read-files")
OK = "ok"  # a result >= 0


@dataclass(frozen=True)
class Row:
    """One call. ``arguments`` are numbers or names that the child resolves (see TRY)."""

    name: str
    arguments: tuple[int | str, ...]
    want: str = "EPERM"  # under the filter: "ok" or an errno's name
    sets: tuple[str, ...] = BASE
    always: bool = False  # an unconfined kernel without capabilities says the same
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


# Runs in the child. BUFFER is zeroed memory, PAGE a mapped page, "@x" the path x, and the other
# names are ids. The filter's own errno needs no effect, so all arguments are harmless.


MAKES_FD = {
    "pidfd_open", "userfaultfd", "memfd_create", "memfd_secret", "inotify_init1", "timerfd_create",
    "socket", "epoll_create", "epoll_create1", "eventfd2", "inotify_init",
}  # fmt: skip
AT_FDCWD = -100
NOWHERE = "@/nonexistent/x"
HIGH = 1 << 32


# Without the filter Landlock's signal scope (ABI 6), RLIMIT_MEMLOCK and the ptrace rule say EPERM
# too to some of these: ``always``, and the simulator's tables (tests/c) hold the filter itself.
def refuse(name: str, *arguments: int | str, **more: Any) -> Row:
    return Row(name, arguments, **more)


def allow(name: str, *arguments: int | str, want: str = OK, **more: Any) -> Row:
    return Row(name, arguments, want, **more)


def variants(name: str, index: int, values: dict[str, int], *arguments: int | str) -> list[Row]:
    """Refused rows that differ in one argument."""
    rows = []
    for variant, value in values.items():
        changed = (*arguments[:index], value, *arguments[index:])
        rows.append(Row(name, changed, variant=variant))
    return rows


# ---- arguments under which a call stops being harmless ------------------------------------------

CLONE_THREAD = 0x10000
ARGUMENTS = [
    *variants(
        "fcntl",
        1,
        {
            "F_SETLK": 6,
            "F_SETOWN": 8,
            "F_GETOWN": 9,
            "F_SETSIG": 10,
            "F_SETOWN_EX": 15,
            "F_OFD_SETLK": 37,
            "F_SETLEASE": 1024,
            "F_NOTIFY": 1026,
            "F_SETPIPE_SZ": 1031,
            "F_GETPIPE_SZ": 1032,
            "F_ADD_SEALS": 1033,
            "F_SET_RW_HINT": 1036,
            "F_GETFL with a high bit": 3 | HIGH,
        },
        -1,
        0,
    ),
    *variants(
        "ioctl",
        1,
        {
            "TIOCSTI": 0x5412,
            "TIOCLINUX": 0x541C,
            "TIOCSCTTY": 0x540E,
            "TCSETS": 0x5402,
            "TIOCSWINSZ": 0x5414,
            "FIOASYNC": 0x5452,
            "FIOSETOWN": 0x8901,
            "FS_IOC_SETFLAGS": 0x40086602,
            "FICLONE": 0x40049409,
            "FIBMAP": 1,
            "TIOCSTI with a high bit": 0x5412 | HIGH,
            "TCGETS with a high bit": 0x5401 | HIGH,
        },
        -1,
        "BUFFER",
    ),
    *variants(
        "prctl",
        0,
        {
            "PR_SET_PDEATHSIG": 1,
            "PR_SET_DUMPABLE": 4,
            "PR_SET_KEEPCAPS": 8,
            "PR_SET_SECCOMP": 22,
            "PR_CAPBSET_READ": 23,
            "PR_SET_TSC": 26,
            "PR_SET_TIMERSLACK": 29,
            "PR_SET_MM": 35,
            "PR_SET_CHILD_SUBREAPER": 36,
            "PR_GET_NO_NEW_PRIVS": 39,
            "PR_SET_THP_DISABLE": 41,
            "PR_SET_SPECULATION_CTRL": 53,
            "PR_SCHED_CORE": 62,
            "PR_SET_VMA": 0x53564D41,
            "PR_SET_PTRACER": 0x59616D61,
            "PR_SET_NAME with a high bit": 15 | HIGH,
        },
        99,
        99,
        99,
        99,
    ),
    *variants(
        "futex",
        1,
        {
            "FUTEX_FD": 2,
            "FUTEX_LOCK_PI": 6,
            "FUTEX_TRYLOCK_PI": 8,
            "FUTEX_WAIT_REQUEUE_PI": 11,
            "FUTEX_CMP_REQUEUE_PI": 12,
            "FUTEX_LOCK_PI2": 13,
            "FUTEX_LOCK_PI, private": 6 | 128,
            "unknown": 99,
        },
        1,
        0,
        0,
        0,
        0,
    ),
    refuse("futex", "BUFFER", 7, 0, 0, 0, 0, always=True, variant="FUTEX_UNLOCK_PI: not owner"),
    refuse("futex_waitv", 0, 0, 0, 0, 0),
    *variants(
        "madvise",
        2,
        {
            "MADV_REMOVE": 9,
            "MADV_MERGEABLE": 12,
            "MADV_UNMERGEABLE": 13,
            "MADV_COLD": 20,
            "MADV_PAGEOUT": 21,
            "MADV_POPULATE_WRITE": 23,
            "MADV_COLLAPSE": 25,
            "unknown": 99,
            "MADV_DONTNEED with a high bit": 4 | HIGH,
        },
        "PAGE",
        4096,
    ),
    refuse("madvise", "PAGE", 4096, 100, always=True, variant="MADV_HWPOISON"),
    *variants(
        "mmap",
        3,
        {
            "a stack that RLIMIT_DATA does not count": 0x122,
            "huge pages of the machine's reserve": 0x40022,
            "shared ones": 0x40021,
            "of a size of their own": 0x40022 | 30 << 26,
            "both": 0x40122,
        },
        0,
        4096,
        3,
        -1,
        0,
    ),
    refuse("kill", "PPID", 0, always=True),
    refuse("kill", 0, 0, variant="own group"),
    refuse("kill", -1, 0, variant="everybody"),
    refuse("kill", "MINUS_PPID", 0, variant="the parent's group"),
    refuse("kill", 1, 0, always=True, variant="init"),
    refuse("tgkill", "PPID", "PPID", 0, always=True),
    refuse("prlimit64", "PPID", 7, 0, "BUFFER"),
    refuse("prlimit64", "PID", 7, 0, "BUFFER", variant="even by its own number"),
    refuse("getpgid", "PPID"),
    refuse("getsid", "PPID"),
    refuse("getpriority", 0, "PPID"),
    refuse("sched_getaffinity", "PPID", 128, "BUFFER"),
    refuse("sched_getparam", "PPID", "BUFFER"),
    refuse("sched_getscheduler", "PPID"),
    refuse("sched_getattr", "PPID", "BUFFER", 48, 0),
    refuse("sched_rr_get_interval", "PPID", "BUFFER"),
    refuse("getrusage", -1, "BUFFER", variant="RUSAGE_CHILDREN"),
    refuse("clock_gettime", "PARENT_CLOCK", "BUFFER"),
    refuse("clock_gettime", "OWN_CLOCK", "BUFFER", variant="negative ids are all refused"),
    refuse("clock_getres", "PARENT_CLOCK", "BUFFER"),
    refuse("clock_nanosleep", "PARENT_CLOCK", 0, "BUFFER", 0),
    refuse("ioprio_get", 1, "PPID"),
    allow("clone3", 0, 0, want="ENOSYS"),
    allow("openat2", AT_FDCWD, NOWHERE, "BUFFER", 24, want="ENOSYS"),
    allow("mbind", 0, 0, 0, 0, 0, 0, want="ENOSYS"),
    allow("get_mempolicy", 1, 0, 0, 0, 0, want="ENOSYS"),
    allow("fchmod", -1, 0, variant="pretended"),
]

# ---- the neighbours: what each set is for -------------------------------------------------------

ALLOWED = [
    allow("getpid"),
    allow("gettid"),
    allow("getppid"),
    allow("getuid"),
    allow("getpgrp"),
    allow("getpgid", 0),
    allow("getsid", 0),
    allow("getgroups", 0, 0),
    allow("close", -1, want="EBADF"),
    allow("dup", -1, want="EBADF"),
    allow("dup3", -1, 9, 0, want="EBADF"),
    allow("lseek", -1, 0, 0, want="EBADF"),
    allow("fstat", -1, "BUFFER", want="EBADF"),
    allow("read", -1, "BUFFER", 1, want="EBADF"),
    allow("write", -1, "BUFFER", 1, want="EBADF"),
    allow("pread64", -1, "BUFFER", 1, 0, want="EBADF"),
    allow("fcntl", 0, 1),
    allow("fcntl", 0, 3),
    allow("fcntl", -1, 1030, 4, want="EBADF"),
    allow("ioctl", 0, 0x5401, "BUFFER", want="ENOTTY"),
    allow("ioctl", 0, 0x5413, "BUFFER", want="ENOTTY"),
    allow("ioctl", 0, 0x541B, "BUFFER"),
    allow("ioctl", 0, 0x5450, 0),
    allow("futex", "BUFFER", 1, 1),
    allow("futex", "BUFFER", 1 | 128, 1),
    allow("futex", "BUFFER", 0, 1, 0, want="EAGAIN"),
    allow("madvise", "PAGE", 4096, 4),
    allow("madvise", "PAGE", 4096, 8),
    allow("kill", "PID", 0),
    allow("tgkill", "PID", "TID", 0),
    allow("prlimit64", 0, 7, 0, "BUFFER"),
    allow("getrlimit", 7, "BUFFER"),
    allow("getrusage", 0, "BUFFER"),
    allow("getrusage", 1, "BUFFER"),
    allow("sched_getaffinity", 0, 128, "BUFFER"),
    allow("sched_getaffinity", "PID", 128, "BUFFER"),
    allow("sched_yield"),
    allow("sched_getscheduler", 0),
    allow("clock_gettime", 0, "BUFFER"),
    allow("clock_gettime", 1, "BUFFER"),
    allow("clock_gettime", 2, "BUFFER"),
    allow("clock_getres", 1, "BUFFER"),
    allow("clock_nanosleep", 1, 0, "BUFFER", 0),
    allow("nanosleep", "BUFFER", 0),
    allow("prctl", 16, "BUFFER"),
    allow("prctl", 15, "@name"),
    allow("getrandom", "BUFFER", 8, 0),
    allow("uname", "BUFFER"),
    allow("sysinfo", "BUFFER"),
    allow("times", "BUFFER"),
    allow("getcwd", "BUFFER", 4096),
    allow("mmap", 0, 4096, 3, 0x22, -1, 0),
    allow("mprotect", "PAGE", 4096, 3),
    allow("wait4", -1, 0, 1, 0, want="ECHILD"),
    allow("waitid", 0, 0, "BUFFER", 5, 0, want="ECHILD"),
    allow("poll", 0, 0, 0),
    allow("select", 0, 0, 0, 0, "BUFFER"),
    allow("rt_sigprocmask", 0, 0, "BUFFER", 8),
    allow("membarrier", 0, 0, 0),
    allow("openat", AT_FDCWD, NOWHERE, 0, want="ENOENT"),
    allow("open", NOWHERE, 0, want="ENOENT"),
    allow("openat", AT_FDCWD, "@/etc/passwd", 0, want="EACCES", variant="Landlock"),
    allow("stat", NOWHERE, "BUFFER", want="ENOENT"),
    allow("newfstatat", AT_FDCWD, NOWHERE, "BUFFER", 0, want="ENOENT"),
    allow("statx", AT_FDCWD, NOWHERE, 0, 0, "BUFFER", want="ENOENT"),
    allow("access", NOWHERE, 0, want="ENOENT"),
    allow("readlink", NOWHERE, "BUFFER", 1, want="ENOENT"),
    allow("getdents64", -1, "BUFFER", 64, want="EBADF"),
    allow("brk", 0),
    allow("close_range", 900, 901, 0),
    allow("dup2", -1, 9, want="EBADF"),
    allow("getcpu", "BUFFER", 0, 0),
    allow("geteuid"),
    allow("getgid"),
    allow("getegid"),
    allow("getresuid", "BUFFER", "BUFFER", "BUFFER"),
    allow("getresgid", "BUFFER", "BUFFER", "BUFFER"),
    allow("gettimeofday", "BUFFER", 0),
    allow("time", 0),
    allow("mincore", "PAGE", 4096, "BUFFER"),
    allow("mremap", "PAGE", 4096, 4096, 0),
    allow("msync", "PAGE", 4096, 1),
    allow("munmap", "PAGE", 0, want="EINVAL"),
    allow("ppoll", "BUFFER", 0, "BUFFER", 0, 8),
    allow("pselect6", 0, 0, 0, 0, "BUFFER", 0),
    allow("readv", -1, "BUFFER", 1, want="EBADF"),
    allow("writev", -1, "BUFFER", 1, want="EBADF"),
    allow("preadv", -1, "BUFFER", 1, 0, 0, want="EBADF"),
    allow("preadv2", -1, "BUFFER", 1, 0, 0, 0, want="EBADF"),
    allow("pwrite64", -1, "BUFFER", 1, 0, want="EBADF"),
    allow("pwritev", -1, "BUFFER", 1, 0, 0, want="EBADF"),
    allow("pwritev2", -1, "BUFFER", 1, 0, 0, 0, want="EBADF"),
    allow("restart_syscall", want="EINTR"),
    allow("rseq", 0, 0, 0, 0, want="EINVAL"),
    allow("rt_sigaction", 10, 0, "BUFFER", 8),
    allow("rt_sigpending", "BUFFER", 8),
    allow("rt_sigsuspend", "BUFFER", 4, want="EINVAL"),
    allow("rt_sigtimedwait", "BUFFER", 0, "BUFFER", 8, want="EAGAIN"),
    allow("sched_get_priority_max", 0),
    allow("sched_get_priority_min", 0),
    allow("sched_getparam", 0, "BUFFER"),
    allow("set_robust_list", 0, 1, want="EINVAL"),
    allow("sigaltstack", 0, "BUFFER"),
    allow("faccessat", AT_FDCWD, NOWHERE, 0, want="ENOENT"),
    allow("faccessat2", AT_FDCWD, NOWHERE, 0, 0, want="ENOENT"),
    allow("fadvise64", -1, 0, 0, 0, want="EBADF"),
    allow("lstat", NOWHERE, "BUFFER", want="ENOENT"),
    allow("readlinkat", AT_FDCWD, NOWHERE, "BUFFER", 1, want="ENOENT"),
]

#: Allowed, and no row of one call could show it: where it is shown instead.
ELSEWHERE = {
    "clone": "test_clone_makes_threads_and_nothing_else",
    "exit": "the same: a thread that ends",
    "exit_group": "every run ends by it",
    "pause": "test_a_signal_handler_returns",
    "rt_sigreturn": "test_a_signal_handler_returns",
    "seccomp": "allowed once, for the last filter, which denies it: a row of NEVER",
    "sendmsg": "allowed once, for the listener; then the last filter denies it: a row of NEVER",
}

# By set: what it allows (with its answer), each of which is refused without it.
BY_SET = {
    "write-files": [
        allow("unlink", NOWHERE, want="ENOENT"), allow("mkdir", NOWHERE, 0, want="ENOENT"),
        allow("rmdir", NOWHERE, want="ENOENT"),
        allow("rename", NOWHERE, "@/nonexistent/y", want="ENOENT"),
        allow("renameat2", AT_FDCWD, NOWHERE, AT_FDCWD, NOWHERE, 0, want="ENOENT"),
        allow("ftruncate", -1, 0, want="EBADF"), allow("fsync", -1, want="EBADF"),
        allow("fallocate", -1, 0, 0, 1, want="EBADF"), allow("chdir", NOWHERE, want="ENOENT"),
        allow("sendfile", -1, -1, 0, 1, want="EBADF"),
        allow("copy_file_range", -1, 0, -1, 0, 1, 0, want="EBADF"), allow("umask", 0o77),
        allow("chmod", NOWHERE, 0, variant="pretended"),
        allow("fchmodat", AT_FDCWD, NOWHERE, 0, variant="pretended"),
        allow("chown", NOWHERE, 0, 0, variant="pretended"),
        allow("lchown", NOWHERE, 0, 0, variant="pretended"),
        allow("fchown", -1, 0, 0, variant="pretended"),
        allow("fchownat", AT_FDCWD, NOWHERE, 0, 0, 0, variant="pretended"),
        allow("utimensat", AT_FDCWD, NOWHERE, 1, 0, variant="pretended"),
        allow("utimensat", AT_FDCWD, NOWHERE, 0, 0, want="EPERM", variant="as touch calls it"),
        allow("fdatasync", -1, want="EBADF"),
        allow("mkdirat", AT_FDCWD, NOWHERE, 0, want="ENOENT"),
        allow("renameat", AT_FDCWD, NOWHERE, AT_FDCWD, NOWHERE, want="ENOENT"),
        allow("unlinkat", AT_FDCWD, NOWHERE, 0, want="ENOENT"),
        allow("listxattr", NOWHERE, 0, 0, want="ENOTSUP"),
        allow("setxattr", NOWHERE, NOWHERE, 0, 0, 0, want="ENOTSUP"),
    ],
    "threads": [],  # clone needs a real stack: test_clone_flags
    "asyncio": [
        allow("epoll_create1", 0), allow("epoll_ctl", -1, 1, 0, "BUFFER", want="EBADF"),
        allow("epoll_wait", -1, "BUFFER", 1, 0, want="EBADF"), allow("eventfd2", 0, 0),
        allow("pipe2", "BUFFER", 0x80000), allow("socketpair", 1, 1, 0, "BUFFER"),
        allow("socketpair", 1, 1 | 0x80000 | 0x800, 0, "BUFFER"),
        allow("sendto", -1, "BUFFER", 1, 0, 0, 0, want="EBADF"),
        allow("recvfrom", -1, "BUFFER", 1, 0, 0, 0, want="EBADF"),
        allow("getsockname", -1, "BUFFER", "BUFFER", want="EBADF"),
        allow("shutdown", -1, 0, want="EBADF"),
        allow("epoll_create", 1), allow("pipe", "BUFFER"),
        allow("epoll_pwait", -1, "BUFFER", 1, 0, 0, 8, want="EBADF"),
        allow("epoll_pwait2", -1, "BUFFER", 1, "BUFFER", 0, 8, want="EBADF"),
        allow("getpeername", -1, "BUFFER", "BUFFER", want="EBADF"),
        allow("getsockopt", -1, 1, 1, "BUFFER", "BUFFER", want="EBADF"),
    ],
    "timers": [
        allow("alarm", 0), allow("getitimer", 0, "BUFFER"), allow("setitimer", 0, "BUFFER", 0),
    ],
}  # fmt: skip

# With the set on, still refused.
STILL_REFUSED = {
    "write-files": [
        refuse("truncate", NOWHERE, 0), refuse("fsetxattr", -1, NOWHERE, 0, 0, 0),
        refuse("utimes", NOWHERE, 0), refuse("utime", NOWHERE, 0), refuse("flock", -1, 2),
        refuse("fchdir", -1), refuse("setxattrat", -1, NOWHERE, 0, 0, 0, 0),
    ],
    "asyncio": [
        refuse("socketpair", 1, 2, 0, "BUFFER", variant="datagrams"),
        refuse("socketpair", 1, 5, 0, "BUFFER", variant="packets"),
        refuse("socketpair", 2, 1, 0, "BUFFER", variant="AF_INET"),
        refuse("socketpair", 16, 3, 0, "BUFFER", variant="AF_NETLINK"),
        refuse("sendto", -1, "BUFFER", 1, 0, "BUFFER", 16, variant="with an address"),
        refuse("recvfrom", -1, "BUFFER", 1, 0, "BUFFER", "BUFFER", variant="with an address"),
        refuse("setsockopt", -1, 1, 1, 0, 0), refuse("io_cancel", 0, 0, 0),
    ],
    "timers": [refuse("timer_settime", 0, 0, 0, 0), refuse("timerfd_settime", -1, 0, 0, 0)],
}  # fmt: skip
