/* Theory of operation: unit test of the keyed hash: the vectors of SipHash's authors, and that
 * pieces make no difference. */
#include "keyed_hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct csb_hash_secret
counting_key(void)
{
    unsigned char bytes[16];
    struct csb_hash_secret secret;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)i;
    }
    memcpy(&secret, bytes, sizeof secret);
    return secret;
}

static struct csb_hash
hash_counting(size_t count, size_t piece)
{
    const struct csb_hash_secret secret = counting_key();
    struct csb_hasher hasher;
    csb_hasher_init(&hasher, &secret);
    for (size_t at = 0; at < count;) {
        unsigned char bytes[64];
        size_t some = count - at < piece ? count - at : piece;
        for (size_t i = 0; i < some; i++) {
            bytes[i] = (unsigned char)(at + i);
        }
        csb_hasher_add(&hasher, bytes, some);
        at += some;
    }
    return csb_hasher_end(&hasher);
}

/* vectors_sip128 of the reference, lengths 0, 1 and 2. */
static void
test_the_vectors_of_the_authors(void **state)
{
    static const struct {
        size_t count;
        unsigned char hash[16];
    } rows[] = {
        {0,
         {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
          0x55, 0x02, 0x93}},
        {1,
         {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
          0x22, 0xfc, 0x45}},
        {2,
         {0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6,
          0x0a, 0xff, 0xe4}},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_hash hash = hash_counting(rows[i].count, 64);
        assert_memory_equal(&hash, rows[i].hash, sizeof hash);
    }
}

static void
test_pieces_make_no_difference(void **state)
{
    (void)state;
    for (size_t count = 0; count < 100; count++) {
        struct csb_hash whole = hash_counting(count, 64);
        for (size_t piece = 1; piece < 20; piece++) {
            assert_true(csb_hash_equal(hash_counting(count, piece), whole));
        }
    }
}

static void
test_sums_carry(void **state)
{
    struct csb_hash sum = {{UINT64_MAX, 1}};
    (void)state;
    csb_hash_add_to(&sum, (struct csb_hash){{1, 2}});
    assert_int_equal(sum.words[0], 0);
    assert_int_equal(sum.words[1], 4);
}

static void
test_keys_differ(void **state)
{
    struct csb_hash_secret one = csb_hash_secret_new();
    struct csb_hash_secret two = csb_hash_secret_new();
    (void)state;
    assert_memory_not_equal(&one, &two, sizeof one);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_vectors_of_the_authors),
        cmocka_unit_test(test_pieces_make_no_difference),
        cmocka_unit_test(test_sums_carry),
        cmocka_unit_test(test_keys_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
