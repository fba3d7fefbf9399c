/* THE ORDER in which the layers are entered. A security reviewer reads confine.c first.
 *
 * Three parts, because an interpreter has to start after the first, and because what the
 * second did can only be confirmed before the third: csb_confine_early runs between clone
 * and exec, csb_confine_drop and csb_confine_filter in the started, still trusted
 * interpreter, before it has read a byte of untrusted source. Raw system calls only;
 * allocates nothing, takes no lock, touches no libc state but errno (of a thread that is
 * suspended meanwhile). All return 0 or fill *ret and
 * return -errno; after a failure the process must not go on. */
#ifndef CSB_CONFINE_H
#define CSB_CONFINE_H

#include "feature.h"
#include "plan.h"

int csb_confine_early(const struct csb_plan *plan,
                      struct csb_failure *ret) CSB_MUST_USE;

/* A step of it alone, for the trial of namespaces.c: join and make the namespaces of a child.
 * 0 when there are none to enter. */
int csb_confine_namespaces(const struct csb_namespaces *namespaces,
                           struct csb_failure *ret) CSB_MUST_USE;

/* The same for a child that a zygote has forked: what the zygote entered before (the fine
 * ruleset, no_new_privs, dropped privileges) is inherited, the rest is entered here. The
 * plan's descriptors are any numbers above CSB_CHANNEL_FD; directory_fd is its scratch. */
int csb_confine_forked(const struct csb_plan *plan, int directory_fd,
                       struct csb_failure *ret) CSB_MUST_USE;

/* A run's own limits, when the child was there before the run. */
int csb_confine_rlimits(const struct csb_rlimit *rlimits, size_t count,
                        struct csb_failure *ret) CSB_MUST_USE;

/* Drop every capability and, when uid is not 0, become that uid and gid. Dropping clears
 * the parent-death signal (prctl(2)), which is therefore set again here. */
int csb_confine_drop(uint32_t uid, uint32_t skipped,
                     struct csb_failure *ret) CSB_MUST_USE;

/* Enter the narrow filter, the last layer. On success *ret_listener is the listener that
 * `notify` asked for, or -1. */
int csb_confine_filter(const struct csb_bpf *narrow, bool notify, uint32_t skipped,
                       int *ret_listener, struct csb_failure *ret) CSB_MUST_USE;

/* After the listener was handed over: nothing is ever sent along a socket again, and no
 * filter added. Descriptors in flight are open files that no limit of the run counts, and
 * are counted per user (unix(7)), so they could keep others of the uid from starting. */
int csb_confine_last(uint32_t skipped, struct csb_failure *ret) CSB_MUST_USE;

#endif
