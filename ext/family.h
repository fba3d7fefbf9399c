/* What a session shares with the sessions that were branched off it: the path of the working
 * folder, the seccomp listener, and the right to run.
 *
 * The Landlock rules and the filter of a process are inherited by what it forks and can not
 * be exchanged, so all members name the same folder (the home) and are heard by the same
 * listener. Each has a working folder of its own all the same: while a member runs its folder
 * lies in the home, as `work`; the others' lie outside, where no rule reaches. So one member
 * runs at a time, the others are stopped, and all see the same path. In the caller, any
 * thread, no GIL. */
#ifndef CSB_FAMILY_H
#define CSB_FAMILY_H

#include "scratch.h"

#define CSB_FAMILY_WORK "work"

struct csb_session_family;

/* One session's share. */
struct csb_member {
    struct csb_session_family *family;
    struct csb_member *next;
    pid_t pid;                         /* of its process; 0 before it is known */
    int proc_fd;                       /* /proc/PID, owned */
    char name[CSB_SCRATCH_PATH_BYTES]; /* of its folder, when that lies outside */
};

/* A family of one: the scratch folder is moved into a new home. `owner`: whom scratch folders
 * are given to, 0 = the caller keeps them. */
int csb_family_make(const struct csb_scratch *scratch, const char *base, uint32_t owner,
                    struct csb_member **ret, struct csb_error *reterr) CSB_MUST_USE;

/* One more member, whose folder lies outside. */
int csb_family_join(const struct csb_member *member, const struct csb_scratch *scratch,
                    struct csb_member **ret, struct csb_error *reterr) CSB_MUST_USE;

/* The member's process, which is alive. */
void csb_member_is(struct csb_member *member, pid_t pid);

/* Its process was killed, or never was: its folder lies outside afterwards. Frees it, and with
 * the last one the home. NULL is harmless. */
void csb_member_leave(struct csb_member *member);

/* The path at which each member finds its folder. */
const char *csb_member_path(const struct csb_member *member);

/* The home's name, part of each path in a folder that lies in it, and the home itself, for
 * the Landlock rule. */
const char *csb_member_home(const struct csb_member *member, int *ret_fd);

/* The process group that all members are in: the pid of the first. */
pid_t csb_member_group(const struct csb_member *member);

/* Kill every process of the group that is no member's: a branch that did not come up as it
 * should. */
void csb_family_hunt(const struct csb_member *member);

/* Wait until no other member runs, then let this one: its folder is moved in. -EDEADLK when
 * the calling thread holds the family already, -EINTR when `interrupted` said so. */
int csb_family_enter(struct csb_member *member, bool (*interrupted)(void *argument),
                     void *argument, struct csb_error *reterr) CSB_MUST_USE;
void csb_family_exit(struct csb_member *member);

/* While entered: another member takes the place of the one that is stopped. */
int csb_family_swap(struct csb_member *member, struct csb_error *reterr) CSB_MUST_USE;

/* Wait until no thread of the member can do anything: all stopped, or gone. */
int csb_member_await_stop(const struct csb_member *member) CSB_MUST_USE;

#endif
