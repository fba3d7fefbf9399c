/* Theory of operation: runs in the caller. Interprets the subset of classic BPF that the
 * kernel accepts for seccomp (32-bit loads from struct seccomp_data, jumps, returns, and
 * the AND that masked comparisons use). Anything else ends in KILL, never in ALLOW. */
#include "bpf.h"

#include <stdlib.h>
#include <string.h>

void
csb_bpf_done(struct csb_bpf *program)
{
    free(program->code);
    *program = (struct csb_bpf){0};
}

static bool
jump_taken(const struct sock_filter *step, uint32_t accumulator, bool *ret_known)
{
    *ret_known = true;
    switch (BPF_OP(step->code)) {
    case BPF_JEQ:
        return accumulator == step->k;
    case BPF_JGT:
        return accumulator > step->k;
    case BPF_JGE:
        return accumulator >= step->k;
    case BPF_JSET:
        return (accumulator & step->k) != 0;
    default:
        *ret_known = false;
        return false;
    }
}

/* Load a word of the call; false when the offset is not one the kernel allows. */
static bool
load(const struct seccomp_data *call, uint32_t offset, uint32_t *ret)
{
    if (offset % sizeof *ret != 0 || offset > sizeof *call - sizeof *ret) {
        return false;
    }
    memcpy(ret, (const unsigned char *)call + offset, sizeof *ret);
    return true;
}

uint32_t
csb_bpf_run(const struct csb_bpf *program, const struct seccomp_data *call)
{
    uint32_t accumulator = 0;
    size_t at = 0;
    while (at < program->length) {
        const struct sock_filter *step = &program->code[at++];
        bool known = true;
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            known = load(call, step->k, &accumulator);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            accumulator &= step->k;
            break;
        case BPF_RET | BPF_K:
            return step->k;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        default:
            if (BPF_CLASS(step->code) != BPF_JMP || BPF_SRC(step->code) != BPF_K) {
                return SECCOMP_RET_KILL_PROCESS;
            }
            at += jump_taken(step, accumulator, &known) ? step->jt : step->jf;
        }
        if (!known) {
            return SECCOMP_RET_KILL_PROCESS;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}

unsigned
csb_bpf_patch_equal(struct csb_bpf *program, uint32_t from, uint32_t to)
{
    unsigned count = 0;
    for (size_t i = 0; i < program->length; i++) {
        struct sock_filter *step = &program->code[i];
        if (step->code == (BPF_JMP | BPF_JEQ | BPF_K) && step->k == from) {
            step->k = to;
            count++;
        }
    }
    return count;
}
