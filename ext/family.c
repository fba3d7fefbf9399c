/* Theory of operation: runs in the caller. A folder is moved by rename(2) only while no thread
 * of any member can act: that is looked at in /proc, where no member can lie. The home has no
 * write bit for anybody, and chmod is only pretended to children, so that nothing can be left
 * in it for the next member; that it is empty between two members is looked at, too. */
#include "family.h"

#include "branch_fit.h"
#include "clock.h"
#include "fd.h"
#include "raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_NS (2 * CSB_NS_PER_S)
#define LOOK_NS (100 * CSB_NS_PER_MS)
#define SHORT_NS 20000L

enum { OPEN_MODE = 0700, CLOSED_MODE = 0500, PASSABLE_MODE = 0511, STAT_BYTES = 512 };

struct csb_session_family {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    struct csb_scratch home;
    char path[CSB_SCRATCH_PATH_BYTES + sizeof CSB_FAMILY_WORK + 1];
    mode_t mode;
    pid_t group;
    struct csb_member *members;
    struct csb_member *inside; /* whose folder lies in the home */
    bool busy;
    pthread_t holder;
};

static void
family_free(struct csb_session_family *family)
{
    csb_scratch_remove(&family->home);
    (void)pthread_cond_destroy(&family->idle);
    (void)pthread_mutex_destroy(&family->lock);
    free(family);
}

static struct csb_session_family *
family_new(void)
{
    struct csb_session_family *family = calloc(1, sizeof *family);
    pthread_condattr_t attributes;
    if (family != NULL) {
        family->home.fd = family->home.base_fd = CSB_FD_NONE;
        (void)pthread_mutex_init(&family->lock, NULL);
        (void)pthread_condattr_init(&attributes);
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&family->idle, &attributes);
        (void)pthread_condattr_destroy(&attributes);
    }
    return family;
}

static struct csb_member *
member_new(struct csb_session_family *family, const struct csb_scratch *scratch)
{
    struct csb_member *member = calloc(1, sizeof *member);
    if (member != NULL) {
        member->family = family;
        member->proc_fd = CSB_FD_NONE;
        (void)snprintf(member->name, sizeof member->name, "%s", scratch->name);
    }
    return member;
}

/* Nothing of one member may wait in the home for the next. */
static bool
is_empty(int folder)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    bool empty = listing != NULL;
    if (listing == NULL) {
        csb_fd_close(&own);
        return false;
    }
    while (empty && (entry = readdir(listing)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    (void)closedir(listing);
    return empty;
}

static int
move(struct csb_session_family *family, const struct csb_member *member, bool in)
{
    struct csb_scratch *home = &family->home;
    int result = 0;
    if (fchmod(home->fd, OPEN_MODE) != 0) {
        return -errno;
    }
    if (in && !is_empty(home->fd)) {
        result = -ENOTEMPTY;
    } else if (in) {
        result = renameat(home->base_fd, member->name, home->fd, CSB_FAMILY_WORK);
    } else {
        result = renameat(home->fd, CSB_FAMILY_WORK, home->base_fd, member->name);
    }
    result = result == -1 ? -errno : result;
    if (fchmod(home->fd, family->mode) != 0 && result == 0) {
        result = -errno;
    }
    return result;
}

/* The state letter of a thread, 0 when it is gone. The name in between may hold anything. */
static char
state_of(int tasks, const char *name)
{
    char path[64];
    char text[STAT_BYTES];
    const char *end;
    ssize_t length;
    int fd;
    (void)snprintf(path, sizeof path, "%.20s/stat", name);
    fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    csb_fd_close(&fd);
    text[length > 0 ? length : 0] = '\0';
    end = strrchr(text, ')');
    return end == NULL || strlen(end) < 3 ? '\0' : end[2];
}

static bool
is_still(int process)
{
    int tasks = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = tasks < 0 ? NULL : fdopendir(tasks);
    const struct dirent *entry;
    bool still = true;
    if (listing == NULL) {
        csb_fd_close(&tasks);
        return errno == ENOENT || errno == ESRCH; /* reaped */
    }
    while (still && (entry = readdir(listing)) != NULL) {
        char state = entry->d_name[0] == '.' ? 'T' : state_of(tasks, entry->d_name);
        still = state == '\0' || strchr("TtZX", state) != NULL;
    }
    (void)closedir(listing);
    return still;
}

int
csb_member_await_stop(const struct csb_member *member)
{
    const int64_t deadline = csb_clock_now_ns() + STOP_NS;
    const struct timespec moment = {0, SHORT_NS};
    while (member->proc_fd >= 0 && !is_still(member->proc_fd)) {
        if (csb_clock_now_ns() > deadline) {
            return -ETIMEDOUT;
        }
        (void)nanosleep(&moment, NULL);
    }
    return 0;
}

int
csb_family_make(const struct csb_scratch *scratch, const char *base, uint32_t owner,
                struct csb_member **ret, struct csb_error *reterr)
{
    struct csb_session_family *family = family_new();
    struct csb_member *member = family == NULL ? NULL : member_new(family, scratch);
    int result = 0;
    *ret = NULL;
    if (member == NULL) {
        free(family);
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a session");
    }
    family->mode = owner == 0 ? CLOSED_MODE : PASSABLE_MODE;
    result = csb_scratch_make(&family->home, base, 0, reterr);
    if (result == 0) {
        (void)snprintf(family->path, sizeof family->path, "%s/%s", family->home.path,
                       CSB_FAMILY_WORK);
        result = move(family, member, true);
        if (result < 0) {
            (void)csb_fail(reterr, CSB_STEP_SCRATCH, -result, "move a folder: %s",
                           strerror(-result));
        }
    }
    if (result < 0) {
        free(member);
        family_free(family);
        return result;
    }
    family->inside = family->members = member;
    *ret = member;
    return 0;
}

int
csb_family_join(const struct csb_member *member, const struct csb_scratch *scratch,
                struct csb_member **ret, struct csb_error *reterr)
{
    struct csb_session_family *family = member->family;
    *ret = member_new(family, scratch);
    if (*ret == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a session");
    }
    (void)pthread_mutex_lock(&family->lock);
    (*ret)->next = family->members;
    family->members = *ret;
    (void)pthread_mutex_unlock(&family->lock);
    return 0;
}

void
csb_member_is(struct csb_member *member, pid_t pid)
{
    char path[64];
    member->pid = pid;
    (void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
    member->proc_fd = csb_fd_raise(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (member->family->group == 0) {
        member->family->group = pid;
    }
}

void
csb_member_leave(struct csb_member *member)
{
    struct csb_session_family *family = member == NULL ? NULL : member->family;
    struct csb_member **link;
    bool last;
    if (member == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&family->lock);
    if (family->inside == member) {
        /* killed: it is on its way. What can not be moved is removed with the home. */
        (void)!csb_member_await_stop(member);
        (void)!move(family, member, false);
        family->inside = NULL;
    }
    for (link = &family->members; *link != member; link = &(*link)->next) {
    }
    *link = member->next;
    last = family->members == NULL;
    (void)pthread_mutex_unlock(&family->lock);
    csb_fd_close(&member->proc_fd);
    free(member);
    if (last) {
        family_free(family);
    }
}

const char *
csb_member_path(const struct csb_member *member)
{
    return member->family->path;
}

const char *
csb_member_home(const struct csb_member *member, int *ret_fd)
{
    *ret_fd = member->family->home.fd;
    return member->family->home.name;
}

pid_t
csb_member_group(const struct csb_member *member)
{
    return member->family->group;
}

/* The lock is held. */
static bool
is_member(const struct csb_session_family *family, pid_t pid)
{
    const struct csb_member *member = family->members;
    while (member != NULL && member->pid != pid) {
        member = member->next;
    }
    return member != NULL;
}

static bool
is_stranger(const struct csb_session_family *family, pid_t pid)
{
    struct csb_kin kin;
    return csb_kin_of(pid, &kin) && kin.group == family->group &&
           !is_member(family, pid);
}

/* Looked at again through the descriptor: the number may have been another's meanwhile. */
static void
kill_stranger(const struct csb_session_family *family, pid_t pid)
{
    int pidfd = (int)csb_syscall(SYS_pidfd_open, pid, 0);
    if (pidfd >= 0 && is_stranger(family, pid)) {
        (void)csb_syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, 0, 0);
    }
    csb_fd_close(&pidfd);
}

void
csb_family_hunt(const struct csb_member *member)
{
    struct csb_session_family *family = member->family;
    DIR *listing = opendir("/proc");
    const struct dirent *entry;
    (void)pthread_mutex_lock(&family->lock);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && is_stranger(family, pid)) {
            kill_stranger(family, pid);
        }
    }
    (void)pthread_mutex_unlock(&family->lock);
    if (listing != NULL) {
        (void)closedir(listing);
    }
}

/* The lock is held, or the family is. */
static int
let_in(struct csb_session_family *family, struct csb_member *member,
       struct csb_error *reterr)
{
    int result = 0;
    if (family->inside == member) {
        return 0;
    }
    if (family->inside != NULL) {
        result = csb_member_await_stop(family->inside);
        if (result == 0) {
            result = move(family, family->inside, false);
        }
        family->inside = result == 0 ? NULL : family->inside;
    }
    if (result == 0) {
        result = move(family, member, true);
        family->inside = result == 0 ? member : NULL;
    }
    return result == 0 ? 0
                       : csb_fail(reterr, CSB_STEP_SCRATCH, -result,
                                  "let the session have its working folder: %s",
                                  strerror(-result));
}

static void
wait_a_moment(struct csb_session_family *family)
{
    const int64_t until_ns = csb_clock_now_ns() + LOOK_NS;
    const struct timespec until = {(time_t)(until_ns / CSB_NS_PER_S),
                                   (long)(until_ns % CSB_NS_PER_S)};
    (void)pthread_cond_timedwait(&family->idle, &family->lock, &until);
}

int
csb_family_enter(struct csb_member *member, bool (*interrupted)(void *argument),
                 void *argument, struct csb_error *reterr)
{
    struct csb_session_family *family = member->family;
    int result = 0;
    (void)pthread_mutex_lock(&family->lock);
    while (family->busy && result == 0) {
        if (pthread_equal(family->holder, pthread_self())) {
            result = csb_fail(reterr, CSB_STEP_SUPERVISE, EDEADLK,
                              "this thread is running a cell of a session of the same "
                              "family, and one runs at a time");
            break;
        }
        wait_a_moment(family);
        (void)pthread_mutex_unlock(&family->lock);
        if (interrupted != NULL && interrupted(argument)) {
            result = csb_fail(reterr, CSB_STEP_SUPERVISE, EINTR,
                              "interrupted while another session of the family ran");
        }
        (void)pthread_mutex_lock(&family->lock);
    }
    if (result == 0) {
        result = let_in(family, member, reterr);
    }
    if (result == 0) {
        family->busy = true;
        family->holder = pthread_self();
    }
    (void)pthread_mutex_unlock(&family->lock);
    return result;
}

void
csb_family_exit(struct csb_member *member)
{
    struct csb_session_family *family = member->family;
    (void)pthread_mutex_lock(&family->lock);
    family->busy = false;
    (void)pthread_cond_broadcast(&family->idle);
    (void)pthread_mutex_unlock(&family->lock);
}

int
csb_family_swap(struct csb_member *member, struct csb_error *reterr)
{
    struct csb_session_family *family = member->family;
    int result;
    (void)pthread_mutex_lock(&family->lock);
    result = let_in(family, member, reterr);
    (void)pthread_mutex_unlock(&family->lock);
    return result;
}
