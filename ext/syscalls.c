/* Theory of operation: the table that a security reviewer reads. Sorted by name; within a
 * name, each row is one more set of arguments under which the call is allowed. Numbers are
 * looked up by libseccomp for the machine at hand, so nothing here assumes an architecture;
 * a name that an architecture does not have is passed over.
 *
 * Landlock decides which files; this table decides which verbs. Landlock alone does not
 * cover stat, chmod, prlimit on others, UDP, SysV IPC, keyrings or io_uring: what is not
 * listed here is denied, and these are not listed. */
#include "syscalls.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#if defined(__s390x__) || !defined(__LP64__)
#error                                                                                 \
    "arguments stand elsewhere on this architecture: clone, mmap and truncated offsets"
#endif

#define C CSB_SET_BIT(CSB_SET_CORE)
#define R CSB_SET_BIT(CSB_SET_READ_FILES)
#define W CSB_SET_BIT(CSB_SET_WRITE_FILES)
#define T CSB_SET_BIT(CSB_SET_THREADS)
#define A CSB_SET_BIT(CSB_SET_ASYNCIO)
#define I CSB_SET_BIT(CSB_SET_TIMERS)
#define S CSB_SET_BIT(CSB_SET_STARTUP)

#define ALL UINT64_MAX
#define IS(index, value) {(index), ALL, (uint64_t)(value)}
#define BITS(index, ignored, value)                                                    \
    {(index), ALL & ~(uint64_t)(ignored), (uint64_t)(value)}

#define SOME(index, mask, value) {(index), (mask), (value)}

#define OK(name, sets, why) {name, sets, CSB_ACTION_ALLOW, 0, 0, {{0}}, why}
#define OK1(name, sets, check, why) {name, sets, CSB_ACTION_ALLOW, 0, 1, {check}, why}
#define ALONE1(name, sets, check, why)                                                 \
    {name, sets, CSB_ACTION_ALLOW_ALONE, 0, 1, {check}, why}
#define OK2(name, sets, check, other, why)                                             \
    {name, sets, CSB_ACTION_ALLOW, 0, 2, {check, other}, why}
#define SAY(name, sets, err, why) {name, sets, CSB_ACTION_ERRNO, err, 0, {{0}}, why}
#define SEE(name, sets, why) {name, sets, CSB_ACTION_WATCH, 0, 0, {{0}}, why}
#define SEE_ONLY(name, sets, err, why)                                                 \
    {name, sets, CSB_ACTION_WATCH, err, 0, {{0}}, why}
#define SEE1(name, sets, check, why) {name, sets, CSB_ACTION_WATCH, 0, 1, {check}, why}

/* What pthread_create asks for; the bits that glibc and musl may add change nothing but
 * where a thread id is stored. Anything else (a process, a namespace, vfork) is denied. */
#define THREAD_FLAGS                                                                   \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
#define THREAD_EXTRAS                                                                  \
    (CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID |  \
     CLONE_DETACHED)
#define SOCKET_FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)
#define FUTEX_FLAGS (FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
/* O_TMPFILE is this bit and O_DIRECTORY; an ordinary open of a folder lacks the bit. */
#define O_TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define MAKES_FILE (O_CREAT | O_TMPFILE_BIT)
/* MAP_SHARED_VALIDATE has the bit of MAP_SHARED too. */
#define MAP_KIND (MAP_SHARED | MAP_ANONYMOUS)
/* Clock ids below 16 are the machine's and the caller's own; the negative ones name other
 * processes by pid (clock_getcpuclockid(3)) and tell their CPU time. */
#define OWN_CLOCK BITS(0, 0xF, 0)

enum { CHANNEL_FD = 3 };

/* clang-format off */
const struct csb_syscall_row csb_syscall_rows[] = {
    OK("access", R, "imports probe paths; Landlock does not hide existence, see SECURITY.md"),
    OK("alarm", I, "SIGALRM to itself"),
    OK("arch_prctl", S, "the dynamic loader sets the TLS base"),
    OK("brk", C, "malloc; counted by RLIMIT_DATA"),
    OK("capget", S, "the confirmation reads that no capability is left"),
    OK("capset", S, "drops the last capabilities"),
    OK("chdir", W, "below the scratch; elsewhere nothing can be opened anyway"),
    SAY("chmod", W, 0, "pretended: shutil.copy needs success, same-owner files outside must not change"),
    SAY("chown", W, 0, "pretended, as chmod"),
    OK1("clock_getres", C, OWN_CLOCK, "time module"),
    OK1("clock_gettime", C, OWN_CLOCK, "time module, where the vdso does not serve"),
    OK1("clock_nanosleep", C, OWN_CLOCK, "time.sleep"),
    SEE1("clone", T, BITS(0, THREAD_EXTRAS, THREAD_FLAGS), "threads; counted, so that the cap holds"),
    SAY("clone3", C|S, ENOSYS, "its flags are behind a pointer that BPF can not read; glibc falls back to clone"),
    OK("close", C, "own descriptors"),
    OK1("close_range", C, BITS(2, CLOSE_RANGE_CLOEXEC, 0), "own descriptors; CLOSE_RANGE_UNSHARE would give a thread a table, and a limit, of its own"),
    OK("copy_file_range", W, "shutil"),
    OK("dup", C, "own descriptors"),
    OK("dup2", C, "own descriptors"),
    OK("dup3", C, "own descriptors"),
    OK("epoll_create", A, "asyncio, selectors"),
    OK("epoll_create1", A, "asyncio, selectors"),
    OK("epoll_ctl", A, "asyncio, selectors"),
    OK("epoll_pwait", A, "asyncio, selectors"),
    OK("epoll_pwait2", A, "asyncio, selectors"),
    OK("epoll_wait", A, "asyncio, selectors"),
    OK("eventfd2", A, "wake-ups between threads"),
    OK("execve", S, "the interpreter itself, once; Landlock names the file"),
    OK("exit", C, "end of a thread"),
    SEE("exit_group", C, "the end is seen from outside: exit code and peak memory are read before it"),
    OK("faccessat", R, "imports"),
    OK("faccessat2", R, "imports"),
    OK("fadvise64", R, "hints about own files"),
    SEE("fallocate", W, "bounded by RLIMIT_FSIZE; added up, because it takes disk space at once"),
    SAY("fchmod", C, 0, "pretended; also the canary by which a child confirms that this filter is on"),
    SAY("fchmodat", W, 0, "pretended, as chmod"),
    SAY("fchmodat2", W, 0, "pretended, as chmod"),
    SAY("fchown", W, 0, "pretended, as chmod"),
    SAY("fchownat", W, 0, "pretended, as chmod"),
    OK1("fcntl", C, IS(1, F_DUPFD), "own descriptors"),
    OK1("fcntl", C, IS(1, F_DUPFD_CLOEXEC), "own descriptors"),
    OK1("fcntl", C, IS(1, F_GETFD), "own descriptors"),
    OK1("fcntl", C, IS(1, F_GETFL), "own descriptors"),
    OK1("fcntl", C, IS(1, F_SETFD), "own descriptors"),
    OK1("fcntl", C, IS(1, F_SETFL), "own descriptors; locks, leases, F_SETOWN and pipe sizes stay denied"),
    OK("fdatasync", W, "own files"),
    OK("fstat", C, "own descriptors"),
    OK("fsync", W, "own files"),
    OK("ftruncate", W, "bounded by RLIMIT_FSIZE"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_CMP_REQUEUE), "locks; the PI operations stay denied, a large attack surface"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_REQUEUE), "locks"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_WAIT), "locks"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_WAIT_BITSET), "locks"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_WAKE), "locks"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_WAKE_BITSET), "locks"),
    OK1("futex", C, BITS(1, FUTEX_FLAGS, FUTEX_WAKE_OP), "locks"),
    SAY("get_mempolicy", C, ENOSYS, "NUMA probing by numpy; its absence is harmless"),
    OK("getcpu", C, "which CPU this thread is on"),
    OK("getcwd", C, "the scratch folder"),
    OK("getdents64", R, "listing folders that Landlock lets be opened"),
    OK("getegid", C, "who am I"),
    OK("geteuid", C, "who am I"),
    OK("getgid", C, "who am I"),
    OK("getgroups", C, "who am I"),
    OK("getitimer", I, "own timer"),
    OK("getpeername", A, "own socket pair"),
    OK1("getpgid", C, IS(0, 0), "its own; others' would tell that a pid exists"),
    OK("getpgrp", C, "its own"),
    OK("getpid", C, "its own"),
    OK("getppid", C, "its own"),
    OK("getrandom", C, "secrets, hash seeds"),
    OK("getresgid", C, "who am I"),
    OK("getresuid", C, "who am I"),
    OK("getrlimit", C, "resource module"),
    OK1("getrusage", C, IS(0, 0), "its own"),
    OK1("getrusage", C, IS(0, 1), "its thread's (RUSAGE_THREAD)"),
    OK1("getsid", C, IS(0, 0), "its own"),
    OK("getsockname", A, "own socket pair"),
    OK("getsockopt", A, "own socket pair"),
    OK("gettid", C, "its own"),
    OK("gettimeofday", C, "time module"),
    OK("getuid", C, "who am I"),
    OK1("ioctl", C, IS(1, FIOCLEX), "close-on-exec"),
    OK1("ioctl", C, IS(1, FIONBIO), "non-blocking mode"),
    OK1("ioctl", C, IS(1, FIONCLEX), "close-on-exec"),
    OK1("ioctl", C, IS(1, FIONREAD), "bytes waiting"),
    OK1("ioctl", C, IS(1, TCGETS), "isatty; TIOCSTI and every other request stay denied"),
    OK1("ioctl", C, IS(1, TIOCGWINSZ), "terminal size"),
    ALONE1("kill", C, IS(0, CSB_OWN_PID), "signals to itself (raise, abort, signal tests)"),
    SAY("lchown", W, 0, "pretended, as chmod"),
    SAY("listxattr", W, ENOTSUP, "shutil.copystat copes"),
    SAY("llistxattr", W, ENOTSUP, "shutil.copystat copes"),
    OK("lseek", C, "own descriptors"),
    SAY("lsetxattr", W, ENOTSUP, "shutil.copystat copes"),
    OK("lstat", R, "imports, pathlib"),
    OK1("madvise", C, IS(2, MADV_DONTDUMP), "malloc"),
    OK1("madvise", C, IS(2, MADV_DONTNEED), "malloc"),
    OK1("madvise", C, IS(2, MADV_FREE), "malloc"),
    OK1("madvise", C, IS(2, MADV_HUGEPAGE), "numpy arrays"),
    OK1("madvise", C, IS(2, MADV_NOHUGEPAGE), "thread stacks"),
    OK1("madvise", C, IS(2, MADV_NORMAL), "mmap module"),
    OK1("madvise", C, IS(2, MADV_RANDOM), "mmap module"),
    OK1("madvise", C, IS(2, MADV_SEQUENTIAL), "mmap module"),
    OK1("madvise", C, IS(2, MADV_WILLNEED), "mmap module; MERGEABLE (a side channel) and HWPOISON stay denied"),
    SAY("mbind", C, ENOSYS, "NUMA placement by OpenBLAS; its absence is harmless"),
    OK("membarrier", C, "liburcu, Go-like runtimes"),
    OK("mincore", C, "its own pages"),
    SEE("mkdir", W, "below the scratch; counted"),
    SEE("mkdirat", W, "below the scratch; counted"),
    SEE1("mmap", C, SOME(3, MAP_KIND, MAP_SHARED | MAP_ANONYMOUS), "shared anonymous memory escapes RLIMIT_DATA: the supervisor adds it up"),
    OK1("mmap", C, SOME(3, MAP_KIND, 0), "files and shared libraries; PR_SET_MDWE refuses writable-and-executable pages"),
    OK1("mmap", C, SOME(3, MAP_KIND, MAP_ANONYMOUS), "memory; counted by RLIMIT_DATA"),
    ALONE1("mmap", C, SOME(3, MAP_KIND, MAP_SHARED), "files of its own, bounded by RLIMIT_FSIZE; a branch would share them"),
    OK("mprotect", C, "malloc arenas, RELRO; see mmap"),
    OK("mremap", C, "realloc"),
    OK("msync", C, "mmap module"),
    OK("munmap", C, "memory"),
    OK("nanosleep", C, "time.sleep"),
    OK("newfstatat", R, "imports, pathlib"),
    OK1("open", R, SOME(1, MAKES_FILE, 0), "CPython 3.13 still uses it once; Landlock decides which file"),
    SEE1("open", W, SOME(1, O_CREAT, O_CREAT), "a new file, below the scratch; counted"),
    SEE1("open", W, SOME(1, O_TMPFILE_BIT, O_TMPFILE_BIT), "a new file without a name; counted"),
    OK1("openat", R, SOME(2, MAKES_FILE, 0), "Landlock decides which file"),
    SEE1("openat", W, SOME(2, O_CREAT, O_CREAT), "a new file, below the scratch; counted"),
    SEE1("openat", W, SOME(2, O_TMPFILE_BIT, O_TMPFILE_BIT), "a new file without a name; counted"),
    SAY("openat2", C, ENOSYS, "its flags are behind a pointer; libc falls back"),
    OK("pause", C, "wait for a signal"),
    OK("pipe", A, "inside the process"),
    OK("pipe2", A, "inside the process"),
    OK("poll", C, "wait on own descriptors"),
    OK("ppoll", C, "wait on own descriptors"),
    OK1("prctl", C, IS(0, PR_GET_NAME), "thread names"),
    OK1("prctl", C, IS(0, PR_SET_NAME), "thread names"),
    OK("prctl", S, "layers that are entered after exec"),
    OK("pread64", C, "own descriptors"),
    OK("preadv", C, "own descriptors"),
    OK("preadv2", C, "own descriptors"),
    OK1("prlimit64", C, IS(0, 0), "own limits, which can only be lowered: hard = soft and no capability"),
    OK("pselect6", C, "wait on own descriptors"),
    OK("pwrite64", C, "own descriptors"),
    OK("pwritev", C, "own descriptors"),
    OK("pwritev2", C, "own descriptors"),
    OK("read", C, "own descriptors"),
    OK("readlink", R, "imports, pathlib"),
    OK("readlinkat", R, "imports, pathlib"),
    OK("readv", C, "own descriptors"),
    OK1("recvfrom", A, IS(4, 0), "own socket pair"),
    SEE("rename", W, "below the scratch; waits while the supervisor adds up the disk space"),
    SEE("renameat", W, "below the scratch; as rename"),
    SEE("renameat2", W, "below the scratch; as rename"),
    OK("restart_syscall", C, "the kernel's own continuation of a sleep"),
    OK("rmdir", W, "below the scratch"),
    OK("rseq", C, "glibc registers each thread"),
    OK("rt_sigaction", C, "signal module"),
    OK("rt_sigpending", C, "signal module"),
    OK("rt_sigprocmask", C, "signal module, thread start"),
    OK("rt_sigreturn", C, "end of a signal handler"),
    OK("rt_sigsuspend", C, "signal module"),
    OK("rt_sigtimedwait", C, "signal module"),
    OK("sched_get_priority_max", C, "constants"),
    OK("sched_get_priority_min", C, "constants"),
    OK1("sched_getaffinity", C, IS(0, 0), "os.cpu_count; others' pids stay denied"),
    ALONE1("sched_getaffinity", C, IS(0, CSB_OWN_PID), "the same through pthread_getaffinity_np"),
    OK1("sched_getparam", C, IS(0, 0), "its own"),
    OK1("sched_getscheduler", C, IS(0, 0), "its own"),
    OK("sched_yield", C, "time.sleep(0)"),
    OK("seccomp", S, "the narrow filter itself"),
    OK2("seccomp", C, IS(0, 1), IS(1, 0), "SECCOMP_SET_MODE_FILTER: the last filter, which denies this call and sendmsg; another one could only deny more"),
    OK("select", C, "wait on own descriptors"),
    OK("sendfile", W, "shutil"),
    OK1("sendmsg", C, IS(0, CHANNEL_FD), "hands the listener to the supervisor, once; then the last filter denies it"),
    OK1("sendto", A, IS(4, 0), "own socket pair, without an address"),
    OK("set_mempolicy", S, "numactl-started interpreters"),
    OK("set_robust_list", C, "glibc registers each thread"),
    OK("set_tid_address", S, "the dynamic loader"),
    OK("setgroups", S, "drops groups when started as root"),
    OK("setitimer", I, "signals to itself"),
    OK("setresgid", S, "drops the gid when started as root"),
    OK("setresuid", S, "drops the uid when started as root"),
    SAY("setxattr", W, ENOTSUP, "shutil.copystat copes"),
    OK("shutdown", A, "own socket pair"),
    OK("sigaltstack", C, "faulthandler, threads"),
    OK2("socketpair", A, IS(0, AF_UNIX), BITS(1, SOCKET_FLAGS, SOCK_STREAM), "asyncio wakes itself through one"),
    OK("stat", R, "imports"),
    OK("statx", R, "imports, pathlib"),
    OK("sysinfo", C, "os.sysconf"),
    ALONE1("tgkill", C, IS(0, CSB_OWN_PID), "raise(3), pthread_kill(3)"),
    OK("time", C, "time module"),
    OK("times", C, "os.times"),
    OK("umask", W, "tempfile"),
    OK("uname", C, "platform module"),
    OK("unlink", W, "below the scratch"),
    OK("unlinkat", W, "below the scratch"),
    SEE_ONLY("utimensat", W, EPERM, "pretended, but for `touch`, which must go on to make the file"),
    OK("wait4", C, "there is nobody to wait for: ECHILD, as CPython expects"),
    OK("waitid", C, "there is nobody to wait for: ECHILD"),
    OK("write", C, "own descriptors"),
    OK("writev", C, "own descriptors"),
};

const size_t csb_syscall_row_count = CSB_ARRAY_LEN(csb_syscall_rows);

const char *const csb_syscalls_never[] = {
    "accept", "accept4", "acct", "add_key", "adjtimex", "bind", "bpf", "chroot",
    "clock_adjtime", "clock_settime", "connect", "delete_module", "execveat", "fanotify_init",
    "fanotify_mark", "finit_module", "fork", "fsconfig", "fsmount", "fsopen", "fspick",
    "get_robust_list", "init_module", "inotify_add_watch", "inotify_init", "inotify_init1",
    "inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup",
    "io_submit", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "ioprio_set", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "landlock_add_rule",
    "landlock_create_ruleset", "landlock_restrict_self", "link", "linkat", "listen",
    "lookup_dcookie", "memfd_create", "memfd_secret", "migrate_pages", "mknod", "mknodat",
    "mlock", "mlock2", "mlockall", "modify_ldt", "mount", "mount_setattr", "move_mount",
    "move_pages", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
    "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "name_to_handle_at", "nfsservctl",
    "open_by_handle_at", "open_tree", "perf_event_open", "personality", "pidfd_getfd",
    "pidfd_open", "pidfd_send_signal", "pivot_root", "pkey_alloc", "pkey_free", "pkey_mprotect",
    "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev", "ptrace",
    "quotactl", "quotactl_fd", "reboot", "recvmmsg", "recvmsg", "remap_file_pages",
    "request_key", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sched_setaffinity", "sched_setattr",
    "sched_setparam", "sched_setscheduler", "semctl", "semget", "semop", "semtimedop",
    "sendmmsg", "setdomainname", "setfsgid", "setfsuid", "setgid", "sethostname", "setns",
    "setpgid", "setpriority", "setregid", "setreuid", "setrlimit", "setsid", "setsockopt",
    "settimeofday", "setuid", "shmat", "shmctl", "shmdt", "shmget", "signalfd", "signalfd4",
    "socket", "splice", "swapoff", "swapon", "symlink", "symlinkat", "sync", "syncfs", "syslog",
    "tee", "timer_create", "timerfd_create", "timerfd_settime", "tkill", "umount2", "unshare",
    "uselib", "userfaultfd", "ustat", "vfork", "vhangup", "vmsplice",
};
/* clang-format on */

const size_t csb_syscalls_never_count = CSB_ARRAY_LEN(csb_syscalls_never);

static const char *const set_names[CSB_SET_COUNT] = {
    [CSB_SET_CORE] = "core",
    [CSB_SET_READ_FILES] = "read-files",
    [CSB_SET_WRITE_FILES] = "write-files",
    [CSB_SET_THREADS] = "threads",
    [CSB_SET_ASYNCIO] = "asyncio",
    [CSB_SET_TIMERS] = "timers",
    [CSB_SET_STARTUP] = "startup",
};

const char *
csb_syscall_set_name(enum csb_syscall_set set)
{
    return set < CSB_SET_COUNT ? set_names[set] : "unknown";
}

enum csb_syscall_set
csb_syscall_set_lookup(const char *name)
{
    for (unsigned set = 0; set < CSB_SET_STARTUP; set++) {
        if (strcmp(set_names[set], name) == 0) {
            return (enum csb_syscall_set)set;
        }
    }
    return CSB_SET_COUNT;
}
