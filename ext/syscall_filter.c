/* Theory of operation: runs in the caller, before any child exists. libseccomp builds the
 * program from the table; it is exported through a memfd (seccomp_export_bpf_mem is newer
 * than Debian 12's 2.5.4), never loaded here. It is then simulated against the same table,
 * because libseccomp before 2.6.1 could merge 64-bit comparisons into a weaker filter
 * (GHSA-4q85-33p6-j5g6).
 *
 * The wide program's default is SECCOMP_RET_TRACE: without a tracer the kernel answers
 * ENOSYS, and, unlike RET_ERRNO, it ranks below USER_NOTIF (seccomp(2), "filter return
 * values"), so the narrow program's denials are still seen by the listener. */
#include "syscall_filter.h"

#include "fd.h"
#include "syscalls.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
release_context(scmp_filter_ctx *context)
{
    if (*context != NULL) {
        seccomp_release(*context);
    }
}

static uint32_t
default_action(enum csb_filter_stage stage)
{
    switch (stage) {
    case CSB_FILTER_WIDE:
        return SCMP_ACT_TRACE(0);
    case CSB_FILTER_NARROW:
    case CSB_FILTER_NARROW_BRANCH:
        return SCMP_ACT_NOTIFY;
    case CSB_FILTER_NARROW_SILENT:
        break;
    }
    return SCMP_ACT_ERRNO(EPERM);
}

/* The wide filter must not answer for the narrow one: what that only watches or pretends,
 * it lets through. clone3 is the exception: also the start must fall back to clone. */
static uint32_t
row_action(const struct csb_syscall_row *row, enum csb_filter_stage stage)
{
    if (row->action == CSB_ACTION_ERRNO &&
        (stage != CSB_FILTER_WIDE || row->sets & CSB_SET_BIT(CSB_SET_STARTUP))) {
        return SCMP_ACT_ERRNO((uint32_t)row->err);
    }
    if (row->action == CSB_ACTION_WATCH &&
        (stage == CSB_FILTER_NARROW || stage == CSB_FILTER_NARROW_BRANCH)) {
        return SCMP_ACT_NOTIFY;
    }
    if (row->action == CSB_ACTION_ALLOW_ALONE && stage == CSB_FILTER_NARROW_BRANCH) {
        return SCMP_ACT_NOTIFY;
    }
    if (row->action == CSB_ACTION_WATCH && stage == CSB_FILTER_NARROW_SILENT &&
        row->err != 0) {
        return SCMP_ACT_ERRNO((uint32_t)row->err); /* never allowed, only answered */
    }
    return SCMP_ACT_ALLOW;
}

static bool
row_chosen(const struct csb_syscall_row *row, uint32_t sets,
           enum csb_filter_stage stage)
{
    return stage == CSB_FILTER_WIDE ||
           (row->sets & sets & ~CSB_SET_BIT(CSB_SET_STARTUP)) != 0;
}

static int
add_row(scmp_filter_ctx context, const struct csb_syscall_row *row, uint32_t action,
        bool with_checks)
{
    struct scmp_arg_cmp compare[CSB_CHECKS_MAX];
    unsigned count = with_checks ? row->check_count : 0;
    int number = seccomp_syscall_resolve_name(row->name);
    if (number < 0) {
        return 0; /* not a call of this architecture, or newer than the library */
    }
    for (unsigned i = 0; i < count; i++) {
        const struct csb_argument_check *check = &row->checks[i];
        compare[i] = (struct scmp_arg_cmp){check->index, SCMP_CMP_MASKED_EQ,
                                           check->mask, check->value};
        if (check->mask == UINT64_MAX) {
            compare[i] =
                (struct scmp_arg_cmp){check->index, SCMP_CMP_EQ, check->value, 0};
        }
    }
    return seccomp_rule_add_array(context, action, number, count, compare);
}

static int
add_rows(scmp_filter_ctx context, uint32_t sets, enum csb_filter_stage stage,
         struct csb_error *reterr)
{
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        uint32_t action = row_action(row, stage);
        int result;
        if (!row_chosen(row, sets, stage) || action == default_action(stage)) {
            continue;
        }
        /* Own pid is unknown to the wide filter, which the narrow one then tightens. */
        result = add_row(context, row, action, stage != CSB_FILTER_WIDE);
        if (result < 0 && result != -EEXIST) {
            return csb_fail(reterr, CSB_STEP_SECCOMP, -result,
                            "add %s to the filter: %s", row->name, strerror(-result));
        }
    }
    return 0;
}

static int
read_program(int fd, struct csb_bpf *ret)
{
    off_t size = lseek(fd, 0, SEEK_END);
    size_t count;
    if (size <= 0 || (size_t)size % sizeof *ret->code != 0 ||
        (size_t)size / sizeof *ret->code > BPF_MAXINSNS) {
        return -EINVAL;
    }
    count = (size_t)size / sizeof *ret->code;
    ret->code = malloc((size_t)size);
    if (ret->code == NULL) {
        return -ENOMEM;
    }
    if (pread(fd, ret->code, (size_t)size, 0) != size) {
        csb_bpf_done(ret);
        return -EIO;
    }
    ret->length = (unsigned short)count;
    return 0;
}

static int
export_program(scmp_filter_ctx context, struct csb_bpf *ret, struct csb_error *reterr)
{
    CSB_CLEANUP(csb_fd_close) int fd = memfd_create("csandbox-bpf", MFD_CLOEXEC);
    int result;
    if (fd < 0) {
        result = errno;
        return csb_fail(reterr, CSB_STEP_SECCOMP, result, "memfd for the filter: %s",
                        strerror(result));
    }
    result = seccomp_export_bpf(context, fd);
    if (result == 0) {
        result = read_program(fd, ret);
    }
    if (result < 0) {
        return csb_fail(reterr, CSB_STEP_SECCOMP, -result, "export the filter: %s",
                        strerror(-result));
    }
    return 0;
}

static struct seccomp_data
call_of_row(const struct csb_syscall_row *row)
{
    struct seccomp_data call = {.nr = seccomp_syscall_resolve_name(row->name),
                                .arch = csb_seccomp_arch()};
    for (unsigned i = 0; i < row->check_count; i++) {
        call.args[row->checks[i].index] = row->checks[i].value;
    }
    return call;
}

/* With a bit of a checked argument flipped, one of the upper half that the kernel would cut
 * off, the call must not pass any more. Checks that look at some bits only are left to the
 * table test: with another of those bits, another row may allow the call. */
static bool
checks_bite(const struct csb_bpf *program, const struct csb_syscall_row *row,
            const struct seccomp_data *call)
{
    for (unsigned i = 0; i < row->check_count && i < CSB_CHECKS_MAX; i++) {
        const uint64_t upper = UINT64_C(1) << 40;
        struct seccomp_data wrong = *call;
        wrong.args[row->checks[i].index] ^= upper;
        if (!(row->checks[i].mask & upper)) {
            continue;
        }
        if (csb_bpf_run(program, &wrong) == SECCOMP_RET_ALLOW) {
            return false;
        }
    }
    return true;
}

static int
test_rows(const struct csb_bpf *program, uint32_t sets, enum csb_filter_stage stage,
          struct csb_error *reterr)
{
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        struct seccomp_data call = call_of_row(row);
        uint32_t answer;
        if (call.nr < 0 || !row_chosen(row, sets, stage)) {
            continue;
        }
        answer = csb_bpf_run(program, &call);
        /* libseccomp's action values are the kernel's, see seccomp(2) */
        if (answer != row_action(row, stage)) {
            return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                            "self-test: the filter answers 0x%x to %s", answer,
                            row->name);
        }
        if (stage != CSB_FILTER_WIDE && !checks_bite(program, row, &call)) {
            return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                            "self-test: an argument check of %s does not hold",
                            row->name);
        }
    }
    return 0;
}

static int
test_denials(const struct csb_bpf *program, struct csb_error *reterr)
{
    const uint32_t x32_bit = UINT32_C(0x40000000);
    struct seccomp_data foreign = {.arch = csb_seccomp_arch() ^ UINT32_C(0x80000000)};
    for (size_t i = 0; i < csb_syscalls_never_count; i++) {
        struct seccomp_data call = {.arch = csb_seccomp_arch()};
        call.nr = seccomp_syscall_resolve_name(csb_syscalls_never[i]);
        if (call.nr >= 0 && csb_bpf_run(program, &call) == SECCOMP_RET_ALLOW) {
            return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                            "self-test: the filter allows %s", csb_syscalls_never[i]);
        }
    }
    if (csb_bpf_run(program, &foreign) != SECCOMP_RET_KILL_PROCESS) {
        return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                        "self-test: a foreign architecture is not killed");
    }
#ifdef __x86_64__
    {
        struct seccomp_data x32 = {.arch = csb_seccomp_arch(), .nr = (int)x32_bit};
        if (csb_bpf_run(program, &x32) != SECCOMP_RET_KILL_PROCESS) {
            return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                            "self-test: x32 calls are not killed");
        }
    }
#else
    (void)x32_bit;
#endif
    return 0;
}

static int
make_context(enum csb_filter_stage stage, scmp_filter_ctx *ret,
             struct csb_error *reterr)
{
    scmp_filter_ctx context = seccomp_init(default_action(stage));
    if (context == NULL) {
        return csb_fail(reterr, CSB_STEP_SECCOMP, ENOMEM,
                        "libseccomp can not make a filter for this kernel");
    }
    *ret = context;
    if (seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) !=
            0 ||
        seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0) {
        return csb_fail(reterr, CSB_STEP_SECCOMP, EINVAL,
                        "libseccomp is too old (2.5 or newer is needed)");
    }
    return 0;
}

int
csb_seccomp_compile(uint32_t sets, enum csb_filter_stage stage, struct csb_bpf *ret,
                    struct csb_error *reterr)
{
    CSB_CLEANUP(release_context) scmp_filter_ctx context = NULL;
    int result;
    *ret = (struct csb_bpf){0};
    result = make_context(stage, &context, reterr);
    if (result == 0) {
        result = add_rows(context, sets, stage, reterr);
    }
    if (result == 0) {
        result = export_program(context, ret, reterr);
    }
    if (result == 0) {
        result = test_rows(ret, sets, stage, reterr);
    }
    if (result == 0 && stage != CSB_FILTER_WIDE) {
        result = test_denials(ret, reterr);
    }
    if (result < 0) {
        csb_bpf_done(ret);
    }
    return result;
}

char *
csb_seccomp_name(int number)
{
    return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
}

int
csb_seccomp_number(const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    return number < 0 ? -1 : number;
}

uint32_t
csb_seccomp_arch(void)
{
    return seccomp_arch_native();
}
