/* A confinement that many runs share: what a child may read, call and become.
 *
 * Filled by the glue field by field, then csb_policy_compile checks it against this kernel
 * and makes what the kernel takes; from then on it is read-only and may be used by any
 * number of threads at once. Owns everything it holds. No GIL. */
#ifndef CSB_POLICY_H
#define CSB_POLICY_H

#include "bpf.h"
#include "cgroup.h"
#include "error.h"
#include "feature.h"
#include "namespaces.h"
#include "path_rules.h"
#include "string_list.h"

enum { CSB_NOTE_BYTES = 256 };

struct csb_remover;

struct csb_policy {
    /* filled by the glue */
    char *python;       /* absolute path of the interpreter */
    char *child_module; /* absolute path of the _child extension */
    char *scratch_base;
    char *profile; /* its name, for messages; NULL: none are made clearer */
    struct csb_strings module_path;
    struct csb_strings environment; /* "NAME=value" */
    struct csb_path_rules paths;
    uint32_t sets; /* CSB_SET_BIT */
    bool scratch_writable;
    bool kill_on_violation;
    bool namespaces_wanted;
    bool cgroup_wanted;
    uint32_t required;    /* feature bits */
    uint32_t degradable;  /* feature bits that may be missing */
    uint32_t skipped;     /* feature bits that a test takes out */
    int landlock_abi_max; /* what tests pretend that the kernel has at most */
    uint32_t uid;         /* to become when the caller is root */
    struct csb_remover
        *remover; /* remover.h; borrowed, NULL: folders are removed at once */

    /* made by csb_policy_compile */
    bool root;
    bool notify;
    int landlock_abi;         /* 0 = no ruleset is used */
    struct csb_cgroup cgroup; /* .fd CSB_FD_NONE: runs have no leaf */
    struct csb_namespaces namespaces;
    uint64_t own_namespaces[CSB_NAMESPACE_COUNT]; /* the caller's, by inode number */
    struct csb_bpf wide_filter;
    struct csb_bpf narrow_filter;
    char notes[CSB_FEATURE_COUNT][CSB_NOTE_BYTES]; /* for `isolation`, may be "" */
};

/* All fields empty; csb_policy_done is safe from here on. */
void csb_policy_init(struct csb_policy *policy);
void csb_policy_done(struct csb_policy *policy);

/* Returns 0, or -EOPNOTSUPP with the feature's name as reterr->message and step
 * CSB_STEP_CONFIRM when this kernel can not enforce a required feature, or another error. */
int csb_policy_compile(struct csb_policy *policy,
                       struct csb_error *reterr) CSB_MUST_USE;

#endif
