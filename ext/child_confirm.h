/* What is really in force, found out by asking the kernel and by trying, not by memory.
 * In the child, before untrusted code; raw system calls, no effect. */
#ifndef CSB_CHILD_CONFIRM_H
#define CSB_CHILD_CONFIRM_H

#include "run_limits.h"
#include "wire.h"

/* Feature bits that can be asked for while every query is still allowed. */
uint32_t csb_confirm_before(const struct csb_wire_config *config,
                            const struct csb_rlimit *rlimits);

/* Namespaces: a zygote's children can not leave those that it has entered. */
uint32_t csb_confirm_namespaces(const struct csb_wire_config *config);

/* The resource limits alone, also under the narrow filter. */
uint32_t csb_confirm_rlimits(const struct csb_rlimit *rlimits, uint32_t rlimit_count);

/* After privileges were dropped, before the narrow filter, which would refuse the questions
 * (and nobody would answer, since the listener has not been handed over yet). */
uint32_t csb_confirm_dropped(uint32_t uid);

/* The filter itself, by a call that it answers without the listener. */
uint32_t csb_confirm_filter(int listener);

#endif
