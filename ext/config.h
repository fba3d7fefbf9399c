/* The first message to a child: what it needs to finish its confinement. Holds nothing of a
 * submission. Built in the caller, on the heap; no GIL. */
#ifndef CSB_CONFIG_H
#define CSB_CONFIG_H

#include "message.h"
#include "policy.h"
#include "run_limits.h"

/* `rlimits` are those that the child must find in force. */
int csb_config_build(const struct csb_policy *policy, const struct csb_rlimit *rlimits,
                     size_t rlimit_count, struct csb_message *ret,
                     struct csb_error *reterr) CSB_MUST_USE;

/* For a zygote, whose children get their limits with the submission. */
int csb_config_build_zygote(const struct csb_policy *policy,
                            const struct csb_strings *preload, struct csb_message *ret,
                            struct csb_error *reterr) CSB_MUST_USE;

#endif
