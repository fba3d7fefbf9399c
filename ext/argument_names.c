/* Theory of operation: tables only. A value that is not named here is shown as a number, so
 * what is missing is a matter of comfort. Of each system call the one argument stands here
 * that tells what was meant: for calls that the system call table checks it is the argument
 * checked there (tests/c/test_violation.c holds the two against each other). */
#include "argument_names.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define N(constant) {(uint64_t)(constant), #constant}

/* clang-format off */
static const struct csb_value_name domains[] = {
    N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET), N(AF_ALG), N(AF_VSOCK),
    N(AF_BLUETOOTH), N(AF_CAN), N(AF_TIPC), N(AF_KEY), N(AF_XDP), N(AF_RDS), N(AF_PPPOX), N(AF_QIPCRTR),
    N(AF_UNSPEC), N(AF_AX25), N(AF_NFC), N(AF_RXRPC), N(AF_KCM), N(AF_SMC),
};

static const struct csb_value_name socket_types[] = {
    N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_SEQPACKET), N(SOCK_RDM),
};

static const struct csb_value_name requests[] = {
    N(TIOCSTI), N(TIOCLINUX), N(TIOCSCTTY), N(TIOCNOTTY), N(TIOCSWINSZ), N(TIOCGWINSZ), N(TIOCSETD),
    N(TIOCGETD), N(TIOCCONS), N(TIOCSPGRP), N(TIOCGPGRP), N(TIOCGPTN), N(TIOCSPTLCK), N(TIOCGSID),
    N(TIOCEXCL), N(TIOCOUTQ), N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TCSBRK), N(TCFLSH), N(TCXONC),
    N(FIONREAD), N(FIONBIO), N(FIOASYNC), N(FIOCLEX), N(FIONCLEX), N(FIOQSIZE),
    {0x8901, "FIOSETOWN"}, {0x8912, "SIOCGIFCONF"}, {0x8933, "SIOCGIFINDEX"},
    {0x40049409, "FICLONE"}, {0xC020660B, "FS_IOC_FIEMAP"}, {0x80086601, "FS_IOC_GETFLAGS"},
    {0x40086602, "FS_IOC_SETFLAGS"},
};

static const struct csb_value_name options[] = {
    N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE), N(PR_SET_DUMPABLE), N(PR_SET_KEEPCAPS),
    N(PR_GET_KEEPCAPS), N(PR_SET_NAME), N(PR_GET_NAME), N(PR_GET_SECCOMP), N(PR_SET_SECCOMP),
    N(PR_CAPBSET_READ), N(PR_CAPBSET_DROP), N(PR_GET_TSC), N(PR_SET_TSC), N(PR_GET_SECUREBITS),
    N(PR_SET_SECUREBITS), N(PR_SET_TIMERSLACK), N(PR_GET_TIMERSLACK), N(PR_SET_MM), N(PR_SET_PTRACER),
    N(PR_SET_CHILD_SUBREAPER), N(PR_GET_CHILD_SUBREAPER), N(PR_SET_NO_NEW_PRIVS), N(PR_GET_NO_NEW_PRIVS),
    N(PR_SET_THP_DISABLE), N(PR_GET_THP_DISABLE), N(PR_CAP_AMBIENT), N(PR_GET_SPECULATION_CTRL),
    N(PR_SET_SPECULATION_CTRL), N(PR_SET_IO_FLUSHER), N(PR_MCE_KILL), N(PR_SET_SYSCALL_USER_DISPATCH),
    {65, "PR_SET_MDWE"}, {66, "PR_GET_MDWE"}, {0x53564d41, "PR_SET_VMA"},
};

/* What makes more than a thread of a clone; settid and exit signal say nothing. */
static const struct csb_value_name clone_flags[] = {
    N(CLONE_NEWUSER), N(CLONE_NEWNS), N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_NEWIPC), N(CLONE_NEWUTS),
    N(CLONE_NEWCGROUP), N(CLONE_THREAD), N(CLONE_VFORK), N(CLONE_VM), N(CLONE_FILES), N(CLONE_PARENT),
    N(CLONE_PTRACE), N(CLONE_UNTRACED), N(CLONE_PIDFD), N(CLONE_IO),
};

static const struct csb_value_name range_flags[] = {
    {2, "CLOSE_RANGE_UNSHARE"}, {4, "CLOSE_RANGE_CLOEXEC"},
};

static const struct csb_value_name open_flags[] = {
    {O_TMPFILE & ~O_DIRECTORY, "O_TMPFILE"}, N(O_CREAT),
};

static const struct csb_value_name map_flags[] = {
    N(MAP_GROWSDOWN), N(MAP_HUGETLB),
};

static const struct csb_value_name fcntl_commands[] = {
    N(F_DUPFD), N(F_DUPFD_CLOEXEC), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK),
    N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_SETOWN_EX), N(F_GETOWN_EX),
    N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE), N(F_GETLEASE), N(F_NOTIFY),
    N(F_SETPIPE_SZ), N(F_GETPIPE_SZ), N(F_ADD_SEALS), N(F_GET_SEALS), N(F_SET_RW_HINT), N(F_GET_RW_HINT),
};

static const struct csb_value_name futex_operations[] = {
    N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE), N(FUTEX_WAKE_OP),
    N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI), N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET),
    N(FUTEX_WAIT_REQUEUE_PI), N(FUTEX_CMP_REQUEUE_PI), {13, "FUTEX_LOCK_PI2"},
};

static const struct csb_value_name advices[] = {
    N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED), N(MADV_FREE),
    N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_MERGEABLE), N(MADV_UNMERGEABLE),
    N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), N(MADV_DODUMP), N(MADV_WIPEONFORK),
    N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT), N(MADV_POPULATE_READ), N(MADV_POPULATE_WRITE),
    N(MADV_HWPOISON), {101, "MADV_SOFT_OFFLINE"}, {25, "MADV_COLLAPSE"},
};

static const struct csb_value_name resources[] = {
    N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE), N(RLIMIT_RSS),
    N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS), N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING),
    N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE), N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME),
};

static const struct csb_value_name usages[] = {
    {0xFFFFFFFF, "RUSAGE_CHILDREN"}, {0, "RUSAGE_SELF"}, {1, "RUSAGE_THREAD"},
};

static const struct csb_value_name priorities[] = {
    N(PRIO_PROCESS), N(PRIO_PGRP), N(PRIO_USER),
};

static const struct csb_value_name traces[] = {
    N(PTRACE_TRACEME), N(PTRACE_PEEKTEXT), N(PTRACE_PEEKDATA), N(PTRACE_POKETEXT), N(PTRACE_POKEDATA),
    N(PTRACE_CONT), N(PTRACE_KILL), N(PTRACE_ATTACH), N(PTRACE_DETACH), N(PTRACE_SEIZE), N(PTRACE_SYSCALL),
    N(PTRACE_GETREGS), N(PTRACE_SETREGS), N(PTRACE_INTERRUPT), N(PTRACE_SETOPTIONS),
};

static const struct csb_value_name key_operations[] = {
    N(KEYCTL_GET_KEYRING_ID), N(KEYCTL_JOIN_SESSION_KEYRING), N(KEYCTL_UPDATE), N(KEYCTL_REVOKE),
    N(KEYCTL_DESCRIBE), N(KEYCTL_CLEAR), N(KEYCTL_LINK), N(KEYCTL_UNLINK), N(KEYCTL_SEARCH), N(KEYCTL_READ),
    N(KEYCTL_SETPERM), N(KEYCTL_INVALIDATE), N(KEYCTL_GET_PERSISTENT),
};

static const struct csb_value_name filter_operations[] = {
    N(SECCOMP_SET_MODE_STRICT), N(SECCOMP_SET_MODE_FILTER), N(SECCOMP_GET_ACTION_AVAIL),
    N(SECCOMP_GET_NOTIF_SIZES),
};

static const struct csb_value_name program_commands[] = {
    {0, "BPF_MAP_CREATE"}, {1, "BPF_MAP_LOOKUP_ELEM"}, {2, "BPF_MAP_UPDATE_ELEM"}, {5, "BPF_PROG_LOAD"},
    {6, "BPF_OBJ_PIN"}, {7, "BPF_OBJ_GET"}, {8, "BPF_PROG_ATTACH"}, {18, "BPF_BTF_LOAD"},
};

static const struct csb_value_name personalities[] = {
    N(PER_LINUX), N(PER_LINUX32), N(ADDR_NO_RANDOMIZE), {0xFFFFFFFF, "query"}, N(READ_IMPLIES_EXEC),
};

#define NAMED(names) 0, (names), CSB_ARRAY_LEN(names), NULL
#define VALUE(call, index, key, names)                                                 \
    {call, key, index, CSB_ARGUMENT_VALUE, NAMED(names)}
#define MASKED(call, index, key, ignored, names)                                       \
    {call, key, index, CSB_ARGUMENT_VALUE, ignored, names, CSB_ARRAY_LEN(names), NULL}
#define FLAGS(call, index, key, names, none)                                           \
    {call, key, index, CSB_ARGUMENT_FLAGS, 0, names, CSB_ARRAY_LEN(names), none}
#define PLAIN(call, index, key, kind) {call, key, index, CSB_ARGUMENT_##kind, 0, NULL, 0, NULL}
#define PROCESS(call, index) PLAIN(call, index, "target", PROCESS)

const struct csb_argument_row csb_argument_rows[] = {
    VALUE("bpf", 0, "command", program_commands),
    PLAIN("clock_adjtime", 0, "clock", CLOCK),
    PLAIN("clock_getres", 0, "clock", CLOCK),
    PLAIN("clock_gettime", 0, "clock", CLOCK),
    PLAIN("clock_nanosleep", 0, "clock", CLOCK),
    PLAIN("clock_settime", 0, "clock", CLOCK),
    FLAGS("clone", 0, "flags", clone_flags, "new process"),
    FLAGS("close_range", 2, "flags", range_flags, "unknown"),
    VALUE("fcntl", 1, "command", fcntl_commands),
    MASKED("futex", 1, "operation", FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, futex_operations),
    PROCESS("get_robust_list", 0),
    PROCESS("getpgid", 0),
    VALUE("getpriority", 0, "which", priorities),
    VALUE("getrusage", 0, "who", usages),
    PROCESS("getsid", 0),
    VALUE("ioctl", 1, "request", requests),
    PROCESS("kcmp", 1),
    VALUE("keyctl", 0, "operation", key_operations),
    PLAIN("kill", 0, "target", SIGNALS),
    VALUE("madvise", 2, "advice", advices),
    PROCESS("migrate_pages", 0),
    FLAGS("mmap", 3, "flags", map_flags, "shared"),
    PROCESS("move_pages", 0),
    FLAGS("open", 1, "flags", open_flags, "existing file"),
    FLAGS("openat", 2, "flags", open_flags, "existing file"),
    VALUE("personality", 0, "persona", personalities),
    PROCESS("pidfd_open", 0),
    VALUE("prctl", 0, "option", options),
    PROCESS("prlimit64", 0),
    PROCESS("process_vm_readv", 0),
    PROCESS("process_vm_writev", 0),
    VALUE("ptrace", 0, "request", traces),
    PLAIN("recvfrom", 4, "address", POINTER),
    PROCESS("rt_sigqueueinfo", 0),
    PROCESS("rt_tgsigqueueinfo", 0),
    PROCESS("sched_getaffinity", 0),
    PROCESS("sched_getparam", 0),
    PROCESS("sched_getscheduler", 0),
    PROCESS("sched_setaffinity", 0),
    PROCESS("sched_setattr", 0),
    PROCESS("sched_setparam", 0),
    PROCESS("sched_setscheduler", 0),
    VALUE("seccomp", 0, "operation", filter_operations),
    PLAIN("sendto", 4, "address", POINTER),
    FLAGS("setns", 1, "type", clone_flags, "any"),
    VALUE("setpriority", 0, "which", priorities),
    VALUE("setrlimit", 0, "resource", resources),
    VALUE("socket", 0, "domain", domains),
    MASKED("socketpair", 1, "type", SOCK_CLOEXEC | SOCK_NONBLOCK, socket_types),
    PROCESS("tgkill", 0),
    PROCESS("tkill", 0),
    FLAGS("unshare", 0, "flags", clone_flags, "nothing"),
};
/* clang-format on */

const size_t csb_argument_row_count = CSB_ARRAY_LEN(csb_argument_rows);
