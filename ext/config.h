/* The first message to a child: what it needs to finish its confinement and to look like
 * the script that it is about to become. Built in the caller, on the heap; no GIL. */
#ifndef CSB_CONFIG_H
#define CSB_CONFIG_H

#include "plan.h"
#include "policy.h"
#include "wire.h"

struct csb_config {
    unsigned char *bytes; /* owned; header and payload as sent */
    size_t count;
};

void csb_config_done(struct csb_config *config);

/* The narrow filter is copied with the child's pid put in, which is why this can only be
 * made after the child exists. */
int csb_config_build(const struct csb_policy *policy, const struct csb_plan *plan,
                     pid_t child, const char *file_name,
                     const struct csb_strings *arguments, struct csb_config *ret,
                     struct csb_error *reterr) CSB_MUST_USE;

#endif
