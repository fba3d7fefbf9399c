/* Everything that a child needs before exec, frozen into one block.
 *
 * Built by the caller, read by the child between clone and exec, where nothing may be
 * allocated or looked up any more. Pointers are valid there because the address space is
 * shared until exec (fresh mode) or copied (a forking zygote). The plan owns nothing: its
 * maker keeps every descriptor and string alive until spawn returns. */
#ifndef CSB_PLAN_H
#define CSB_PLAN_H

#include "bpf.h"
#include "error.h"
#include "namespaces.h"
#include "run_limits.h"

#include <sys/types.h>

/* In the child: 0, 1, 2 and this one are open, nothing else. */
enum { CSB_CHANNEL_FD = 3 };

/* See path_rules.h. */
enum { CSB_LANDLOCK_LAYERS = 2 };

struct csb_plan {
    const char *executable; /* absolute */
    char *const *argv;
    char *const *envp;
    const char *directory; /* private scratch, becomes the working directory */
    int stdin_fd;          /* all >= CSB_FD_MIN */
    int stdout_fd;
    int stderr_fd;
    int channel_fd;
    int landlock_fds
        [CSB_LANDLOCK_LAYERS]; /* rulesets, or CSB_FD_NONE without Landlock */
    int cgroup_fd;             /* cgroup.procs of the run's leaf, or CSB_FD_NONE */
    struct csb_namespaces namespaces; /* borrowed from the policy */
    struct csb_bpf wide_filter;
    struct csb_rlimit rlimits[CSB_RLIMITS_MAX];
    size_t rlimit_count;
    pid_t caller;     /* for the parent-death race */
    bool root;        /* the caller is uid 0 */
    uint32_t skipped; /* feature bits that tests take out; 0 in real use */
};

/* Where and why the child failed before exec. */
struct csb_failure {
    enum csb_step step;
    int err;
};

#endif
