/* Theory of operation: unit test of the BPF simulator, since every other statement about a
 * filter rests on it. Small programs by hand, with the answer that bpf(4) gives. */
#include "bpf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALLOW SECCOMP_RET_ALLOW
#define KILL SECCOMP_RET_KILL_PROCESS
#define LOAD(field)                                                                    \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define RUN(call, ...)                                                                 \
    run((struct sock_filter[]){__VA_ARGS__},                                           \
        sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter),      \
        call)

static uint32_t
run(struct sock_filter *code, size_t length, const struct seccomp_data *call)
{
    const struct csb_bpf program = {(unsigned short)length, code};
    return csb_bpf_run(&program, call);
}

static void
test_each_field_is_loaded_from_its_place(void **state)
{
    const struct seccomp_data call = {.nr = 7,
                                      .arch = 0xC000003E,
                                      .args = {UINT64_C(0x1111111122222222), 0, 0, 0, 0,
                                               UINT64_C(0x3333333344444444)}};
    (void)state;
    assert_int_equal(RUN(&call, LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
                         RETURN(ALLOW), RETURN(1)),
                     ALLOW);
    assert_int_equal(RUN(&call, LOAD(arch),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xC000003E, 0, 1),
                         RETURN(ALLOW), RETURN(1)),
                     ALLOW);
    assert_int_equal(RUN(&call, LOAD(args[0]),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x22222222, 0, 1),
                         RETURN(ALLOW), RETURN(1)),
                     ALLOW);
    assert_int_equal(RUN(&call, LOAD(args[5]) /* low half */,
                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof call - 4),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x33333333, 0, 1),
                         RETURN(ALLOW), RETURN(1)),
                     ALLOW);
}

static uint32_t
compare(uint16_t operation, int number, uint32_t constant)
{
    const struct seccomp_data call = {.nr = number};
    return RUN(&call, LOAD(nr), BPF_JUMP(BPF_JMP | operation | BPF_K, constant, 0, 1),
               RETURN(1), RETURN(2));
}

static void
test_comparisons_are_unsigned(void **state)
{
    (void)state;
    assert_int_equal(compare(BPF_JEQ, 5, 5), 1);
    assert_int_equal(compare(BPF_JEQ, 5, 6), 2);
    assert_int_equal(compare(BPF_JGT, 5, 5), 2);
    assert_int_equal(compare(BPF_JGT, 6, 5), 1);
    assert_int_equal(compare(BPF_JGT, -1, 5), 1);
    assert_int_equal(compare(BPF_JGE, 5, 5), 1);
    assert_int_equal(compare(BPF_JGE, 4, 5), 2);
    assert_int_equal(compare(BPF_JGE, -1, 0x80000000), 1);
    assert_int_equal(compare(BPF_JSET, 6, 2), 1);
    assert_int_equal(compare(BPF_JSET, 5, 2), 2);
}

static void
test_mask_and_unconditional_jump(void **state)
{
    const struct seccomp_data call = {.nr = 0x1F5};
    (void)state;
    assert_int_equal(RUN(&call, LOAD(nr), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF0),
                         BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(9),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xF0, 0, 1), RETURN(1),
                         RETURN(2)),
                     1);
}

static void
test_what_the_kernel_would_refuse_ends_in_kill(void **state)
{
    const struct seccomp_data call = {.nr = 1};
    (void)state;
    assert_int_equal(RUN(&call, LOAD(nr)), KILL); /* runs off the end */
    assert_int_equal(RUN(&call, BPF_STMT(BPF_JMP | BPF_JA, 9), RETURN(ALLOW)), KILL);
    assert_int_equal(RUN(&call, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(ALLOW)),
                     KILL);
    assert_int_equal(
        RUN(&call, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof call), RETURN(ALLOW)),
        KILL);
    assert_int_equal(RUN(&call, BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), RETURN(ALLOW)),
                     KILL);
    assert_int_equal(RUN(&call, BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 1), RETURN(ALLOW)),
                     KILL);
    assert_int_equal(RUN(&call, BPF_STMT(BPF_RET | BPF_A, 0)), KILL);
    assert_int_equal(
        RUN(&call, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 0), RETURN(ALLOW)), KILL);
    assert_int_equal(run(NULL, 0, &call), KILL);
}

static void
test_patch_changes_equality_tests_only(void **state)
{
    struct csb_bpf program = {4, calloc(4, sizeof(struct sock_filter))};
    const struct sock_filter code[] = {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 77, 0, 1),
                                       BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 77, 0, 1),
                                       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 78, 0, 1),
                                       RETURN(77)};
    (void)state;
    assert_non_null(program.code);
    memcpy(program.code, code, sizeof code);
    assert_int_equal(csb_bpf_patch_equal(&program, 77, 5), 1);
    assert_int_equal(program.code[0].k, 5);
    assert_int_equal(program.code[1].k, 77);
    assert_int_equal(program.code[2].k, 78);
    assert_int_equal(program.code[3].k, 77);
    assert_int_equal(csb_bpf_patch_equal(&program, 1234, 5), 0);
    csb_bpf_done(&program);
    assert_null(program.code);
    csb_bpf_done(&program); /* twice is harmless */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_is_loaded_from_its_place),
        cmocka_unit_test(test_comparisons_are_unsigned),
        cmocka_unit_test(test_mask_and_unconditional_jump),
        cmocka_unit_test(test_what_the_kernel_would_refuse_ends_in_kill),
        cmocka_unit_test(test_patch_changes_equality_tests_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
