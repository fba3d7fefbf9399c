/* Theory of operation: words are mixed in by a multiplication to 128 bits with secret operands,
 * both halves of which are kept, so that no difference between two names has a known effect.
 * In the caller, GIL released; the names are hostile, the key never leaves the process. */
#include "hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

__extension__ typedef unsigned __int128 wide;

struct csb_hash_key
csb_hash_key_new(void)
{
    struct csb_hash_key key;
    if (getrandom(&key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key) {
        struct timespec now = {0, 0};
        (void)clock_gettime(CLOCK_MONOTONIC, &now); /* zeros are a key as well */
        key.start = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
        key.factor = (uint64_t)(uintptr_t)&key ^ (uint64_t)now.tv_sec;
    }
    key.factor |= 1;
    return key;
}

static uint64_t
mix(uint64_t state, uint64_t word, uint64_t factor)
{
    wide product = (wide)(state ^ word) * factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ (state << 32 | state >> 32);
}

uint32_t
csb_hash_bytes(const struct csb_hash_key *key, const char *bytes, size_t len)
{
    uint64_t state = key->start ^ len;
    uint64_t word;
    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        state = mix(state, word, key->factor);
    }
    word = 0;
    memcpy(&word, bytes, len);
    return csb_hash_number(key, state ^ word);
}

uint32_t
csb_hash_number(const struct csb_hash_key *key, uint64_t number)
{
    uint64_t state = mix(key->start, number, key->factor);
    return (uint32_t)(mix(state, number, key->factor) >> 32);
}
