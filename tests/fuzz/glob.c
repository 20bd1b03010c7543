/* Patterns: fnmatch(3) agrees where both define the result, and the steps bound the work.
 * Input: a pattern, a newline, a name. */
#include "base/glob.h"

#include <fnmatch.h>

#include "base/err.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define SIDE_MAX 64

/* The same text in an alphabet where POSIX leaves nothing open: no brackets within brackets,
 * no range, no '\' at the end. */
static void restrict_to(const char *alphabet, struct bytes s, char dst[SIDE_MAX + 1])
{
    size_t letters = strlen(alphabet), len = s.len < SIDE_MAX ? s.len : SIDE_MAX;

    for (size_t i = 0; i < len; i++)
        dst[i] = alphabet[s.data[i] % letters];
    while (len > 0 && dst[len - 1] == '\\')
        len--;
    dst[len] = '\0';
}

static void compare_with_fnmatch(struct bytes pattern, struct bytes name)
{
    static const char *const alphabets[] = {"ab*?", "ab*?\\", "ab*[]!"};
    char p[SIDE_MAX + 1], n[SIDE_MAX + 1];

    restrict_to("ab", name, n);
    for (size_t i = 0; i < ARRAY_LEN(alphabets); i++) {
        restrict_to(alphabets[i], pattern, p);
        uint64_t steps = UINT64_MAX;
        int hit = glob_match(bytes_str(p), bytes_str(n), &steps);
        INVARIANT(hit == (fnmatch(p, n, 0) == 0));
    }
}

static void check_steps(struct bytes pattern, struct bytes name)
{
    const uint64_t plenty = UINT64_MAX;
    uint64_t steps = plenty;
    int result = glob_match(pattern, name, &steps);
    uint64_t used = plenty - steps;

    /* an element is looked at for each byte of the name, and scanned to the pattern's end */
    INVARIANT(result == 0 || result == 1);
    INVARIANT(used <= (pattern.len + 1) * (pattern.len + 1) * (name.len + 1));
    steps = used;
    INVARIANT(glob_match(pattern, name, &steps) == result && steps == 0);
    if (used == 0)
        return;
    steps = used - 1;
    INVARIANT(glob_match(pattern, name, &steps) == -FERRY_ELIMIT && steps == 0);
}

static void check_literal(struct bytes pattern)
{
    uint64_t steps = UINT64_MAX;

    if (!glob_has_magic(pattern))
        INVARIANT(glob_match(pattern, pattern, &steps) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len), name = BYTES_NONE;
    size_t at = len;

    if (len > 4096)
        return 0;
    if (bytes_find(in, '\n', &at))
        name = bytes_skip(in, at + 1);
    struct bytes pattern = bytes_first(in, at);
    compare_with_fnmatch(pattern, name);
    check_steps(pattern, name);
    check_literal(pattern);
    return 0;
}
