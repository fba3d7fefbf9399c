/* Theory of operation: runs in the caller, once a profile and interpreter. Fails closed: a
 * required feature that this kernel lacks is an error here, before anything is started;
 * one that the caller declared degradable is left out with a note that every result shows. */
#include "policy.h"

#include "landlock.h"
#include "probe.h"
#include "reach.h"
#include "syscall_filter.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
csb_policy_init(struct csb_policy *policy)
{
    memset(policy, 0, sizeof *policy);
    csb_path_rules_init(&policy->paths);
    csb_cgroup_init(&policy->cgroup);
    csb_namespaces_init(&policy->namespaces);
    policy->landlock_abi_max = INT_MAX;
}

void
csb_policy_done(struct csb_policy *policy)
{
    free(policy->python);
    free(policy->child_module);
    free(policy->scratch_base);
    free(policy->profile);
    csb_strings_done(&policy->module_path);
    csb_strings_done(&policy->environment);
    csb_path_rules_done(&policy->paths);
    csb_cgroup_done(&policy->cgroup);
    csb_namespaces_done(&policy->namespaces);
    csb_bpf_done(&policy->wide_filter);
    csb_bpf_done(&policy->narrow_filter);
    csb_policy_init(policy);
}

/* A feature that the kernel does not have: an error, or a note. */
static int
missing(struct csb_policy *policy, enum csb_feature feature, const char *why,
        struct csb_error *reterr)
{
    uint32_t bit = CSB_FEATURE_BIT(feature);
    if (policy->required & bit && !(policy->degradable & bit)) {
        return csb_fail(reterr, CSB_STEP_CONFIRM, EOPNOTSUPP, "%s: %s",
                        csb_feature_name(feature), why);
    }
    policy->required &= ~bit;
    (void)snprintf(policy->notes[feature], sizeof policy->notes[feature],
                   "degraded: %s", why);
    return 0;
}

/* The uid to become. Kept when the interpreter or a module folder would be out of reach:
 * then root without any capability runs the code, behind the same Landlock rules. */
static void
choose_uid(struct csb_policy *policy)
{
    char obstacle[CSB_NOTE_BYTES / 2] = "";
    char reason[CSB_NOTE_BYTES / 2 + 64] = "";
    char *note = policy->notes[CSB_FEATURE_PRIVILEGES];
    bool reachable;
    policy->root = geteuid() == 0;
    if (!policy->root) {
        (void)snprintf(note, CSB_NOTE_BYTES, "enforced (uid %u, no capabilities)",
                       (unsigned)geteuid());
        policy->uid = 0;
        return;
    }
    reachable =
        csb_reachable_by_others(policy->python, obstacle, sizeof obstacle) &&
        csb_reachable_by_others(policy->child_module, obstacle, sizeof obstacle) &&
        csb_reachable_by_others(policy->scratch_base, obstacle, sizeof obstacle);
    for (size_t i = 0; i < policy->module_path.count && reachable; i++) {
        reachable = csb_reachable_by_others(policy->module_path.items[i], obstacle,
                                            sizeof obstacle);
    }
    if (!reachable) {
        (void)snprintf(reason, sizeof reason, "%s is closed to other users", obstacle);
    } else if (!csb_uid_can_be_taken(policy->uid)) {
        (void)snprintf(reason, sizeof reason, "this root may not become uid %u",
                       policy->uid);
    } else {
        (void)snprintf(note, CSB_NOTE_BYTES, "enforced (uid %u, no capabilities)",
                       policy->uid);
        return;
    }
    policy->uid = 0;
    (void)snprintf(note, CSB_NOTE_BYTES, "enforced (no capabilities; uid 0 kept: %s)",
                   reason);
}

static int
choose_landlock(struct csb_policy *policy, const struct csb_probe *probe,
                struct csb_error *reterr)
{
    char *note = policy->notes[CSB_FEATURE_LANDLOCK];
    const int abi = probe->landlock_abi < policy->landlock_abi_max
                        ? probe->landlock_abi
                        : policy->landlock_abi_max;
    const char *lost = csb_landlock_lost(abi);
    if (policy->skipped & CSB_FEATURE_BIT(CSB_FEATURE_LANDLOCK)) {
        return 0;
    }
    if (abi == 0) {
        return missing(policy, CSB_FEATURE_LANDLOCK, "this kernel has no Landlock",
                       reterr);
    }
    policy->landlock_abi = abi;
    (void)snprintf(note, CSB_NOTE_BYTES, "enforced (ABI %d%s%s)", abi,
                   lost[0] == '\0' ? "" : "; not covered: ", lost);
    return csb_path_rules_seal(&policy->paths, policy->scratch_base,
                               policy->scratch_writable, policy->landlock_abi, reterr);
}

/* A layer that is taken when it is there: required, degradable, or simply off. */
static int
not_available(struct csb_policy *policy, enum csb_feature feature, const char *why,
              struct csb_error *reterr)
{
    if ((policy->required | policy->degradable) & CSB_FEATURE_BIT(feature)) {
        return missing(policy, feature, why, reterr);
    }
    (void)snprintf(policy->notes[feature], sizeof policy->notes[feature], "off: %s",
                   why);
    return 0;
}

static int
choose_namespaces(struct csb_policy *policy, struct csb_error *reterr)
{
    const uint32_t bit = CSB_FEATURE_BIT(CSB_FEATURE_NAMESPACES);
    char *note = policy->notes[CSB_FEATURE_NAMESPACES];
    char why[CSB_NOTE_BYTES - 16];
    if (policy->skipped & bit) {
        return 0;
    }
    if (!policy->namespaces_wanted) {
        policy->required &= ~bit;
        (void)snprintf(note, CSB_NOTE_BYTES, "off: namespaces=\"off\"");
        return 0;
    }
    if (!csb_namespaces_own(policy->own_namespaces)) {
        return not_available(policy, CSB_FEATURE_NAMESPACES,
                             "/proc is not mounted, or the kernel has no namespaces",
                             reterr);
    }
    if (!csb_namespaces_open(&policy->namespaces, policy->root && policy->uid != 0, why,
                             sizeof why)) {
        memset(policy->own_namespaces, 0, sizeof policy->own_namespaces);
        return not_available(policy, CSB_FEATURE_NAMESPACES, why, reterr);
    }
    policy->namespaces.required = (policy->required & bit) != 0;
    (void)snprintf(note, CSB_NOTE_BYTES, "enforced (user, net, ipc, uts, cgroup)");
    return 0;
}

static int
choose_cgroup(struct csb_policy *policy, struct csb_error *reterr)
{
    const uint32_t bit = CSB_FEATURE_BIT(CSB_FEATURE_CGROUP);
    char why[CSB_NOTE_BYTES - 16];
    if (policy->skipped & bit) {
        return 0;
    }
    if (!policy->cgroup_wanted) {
        policy->required &= ~bit;
        (void)snprintf(policy->notes[CSB_FEATURE_CGROUP], CSB_NOTE_BYTES,
                       "off: cgroup=\"off\"");
        return 0;
    }
    if (!csb_cgroup_find(&policy->cgroup, why, sizeof why)) {
        return not_available(policy, CSB_FEATURE_CGROUP, why, reterr);
    }
    (void)snprintf(policy->notes[CSB_FEATURE_CGROUP], CSB_NOTE_BYTES,
                   "enforced (memory.max, memory.swap.max, pids.max)");
    return 0;
}

static int
choose_mdwe(struct csb_policy *policy, const struct csb_probe *probe,
            struct csb_error *reterr)
{
    return probe->mdwe
               ? 0
               : not_available(policy, CSB_FEATURE_MDWE, "needs Linux 6.3", reterr);
}

static int
compile_filters(struct csb_policy *policy, const struct csb_probe *probe,
                struct csb_error *reterr)
{
    int result = 0;
    if (!probe->seccomp_filter) {
        result = missing(policy, CSB_FEATURE_SECCOMP,
                         "this kernel has no seccomp filter", reterr);
        policy->skipped |= CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP);
    }
    policy->notify = probe->seccomp_notify &&
                     !(policy->skipped & (CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP_NOTIFY) |
                                          CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP)));
    if (result == 0 && !probe->seccomp_notify) {
        result =
            missing(policy, CSB_FEATURE_SECCOMP_NOTIFY,
                    "this kernel has no seccomp user notification, or another "
                    "listener is in the way: denials are not counted, no thread is "
                    "counted against its limit, shared memory is limited late, and "
                    "some failures are only called runtime_error",
                    reterr);
    }
    if (result == 0) {
        result = csb_seccomp_compile(0, CSB_FILTER_WIDE, &policy->wide_filter, reterr);
    }
    if (result == 0) {
        result = csb_seccomp_compile(
            policy->sets, policy->notify ? CSB_FILTER_NARROW : CSB_FILTER_NARROW_SILENT,
            &policy->narrow_filter, reterr);
    }
    return result;
}

int
csb_policy_compile(struct csb_policy *policy, struct csb_error *reterr)
{
    struct csb_probe probe;
    int result;
    csb_probe(&probe);
    if (!probe.pidfd || !probe.close_range) {
        return csb_fail(reterr, CSB_STEP_CONFIRM, EOPNOTSUPP, "%s",
                        csb_feature_name(CSB_FEATURE_FDS));
    }
    choose_uid(policy);
    result = choose_namespaces(policy, reterr);
    if (result == 0) {
        result = choose_cgroup(policy, reterr);
    }
    if (result == 0) {
        result = choose_mdwe(policy, &probe, reterr);
    }
    if (result == 0) {
        result = choose_landlock(policy, &probe, reterr);
    }
    if (result == 0) {
        result = compile_filters(policy, &probe, reterr);
    }
    return result;
}
