/* Data for tests of compression: from a seed, so that each run has the same. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* xorshift64*: rand() is the same everywhere only by luck. */
static inline uint64_t dice(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(0x2545F4914F6CDD1D);
}

static inline size_t dice_below(uint64_t *seed, size_t n)
{
    return (size_t)(dice(seed) >> 32) % n;
}

/* Stretches of zeros, of words, and of noise, up to 10,000 bytes each. */
static inline void fill_mixed(uint64_t *seed, uint8_t *data, size_t len)
{
    static const char words[] = "the server answers the client when the file is stored whole ";
    size_t at = 0;
    while (at < len) {
        size_t n = 1 + dice_below(seed, 10000), kind = dice_below(seed, 3);
        if (n > len - at)
            n = len - at;
        for (size_t i = 0; i < n; i++) {
            size_t word = kind == 1 && i % 8 == 0 ? dice_below(seed, sizeof(words) - 9) : 0;
            if (kind == 0)
                data[at + i] = 0;
            else if (kind == 2)
                data[at + i] = (uint8_t)(dice(seed) >> 56);
            else if (i % 8 == 0)
                memcpy(data + at + i, words + word, n - i < 8 ? n - i : 8);
        }
        at += n;
    }
}
