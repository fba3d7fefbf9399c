/* Theory of operation: in the caller, GIL released, over what hostile children wrote. SipHash
 * (Aumasson, Bernstein: "SipHash: a fast short-input PRF"), two rounds a word and four at the
 * end, with the longer result of its reference. The key never leaves the process. */
#include "keyed_hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

struct csb_hash_secret
csb_hash_secret_new(void)
{
    struct csb_hash_secret secret;
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret) {
        /* A host that is confined itself: what a child cannot see must do. */
        struct timespec now = {0, 0};
        (void)clock_gettime(CLOCK_MONOTONIC, &now); /* zeros are a key as well */
        secret.words[0] = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
        secret.words[1] = (uint64_t)(uintptr_t)&secret ^ (uint64_t)now.tv_sec << 32;
    }
    return secret;
}

static uint64_t
rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void
mix(uint64_t *v, unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void
take(struct csb_hasher *hasher, uint64_t word)
{
    hasher->state[3] ^= word;
    mix(hasher->state, 2);
    hasher->state[0] ^= word;
}

void
csb_hasher_init(struct csb_hasher *hasher, const struct csb_hash_secret *secret)
{
    *hasher = (struct csb_hasher){
        .state = {secret->words[0] ^ UINT64_C(0x736f6d6570736575),
                  secret->words[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                  secret->words[0] ^ UINT64_C(0x6c7967656e657261),
                  secret->words[1] ^ UINT64_C(0x7465646279746573)}};
}

void
csb_hasher_add(struct csb_hasher *hasher, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    unsigned held = (unsigned)(hasher->length % 8);
    hasher->length += count;
    while (count > 0 && held != 0) {
        hasher->tail |= (uint64_t)*at++ << (8 * held);
        count--;
        held = (held + 1) % 8;
        if (held == 0) {
            take(hasher, hasher->tail);
            hasher->tail = 0;
        }
    }
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at,
               sizeof word); /* the key is of this machine: order is no matter */
        take(hasher, word);
    }
    for (unsigned i = 0; i < count; i++) {
        hasher->tail |= (uint64_t)at[i] << (8 * (held + i));
    }
}

void
csb_hasher_add_word(struct csb_hasher *hasher, uint64_t word)
{
    csb_hasher_add(hasher, &word, sizeof word);
}

struct csb_hash
csb_hasher_end(struct csb_hasher *hasher)
{
    uint64_t *v = hasher->state;
    struct csb_hash hash;
    take(hasher, hasher->tail | hasher->length << 56);
    v[2] ^= 0xee;
    mix(v, 4);
    hash.words[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    mix(v, 4);
    hash.words[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
    return hash;
}

bool
csb_hash_equal(struct csb_hash one, struct csb_hash two)
{
    return one.words[0] == two.words[0] && one.words[1] == two.words[1];
}

void
csb_hash_add_to(struct csb_hash *sum, struct csb_hash hash)
{
    sum->words[0] += hash.words[0];
    sum->words[1] += hash.words[1] + (sum->words[0] < hash.words[0]);
}
