#include "base/secret.h"

#include <errno.h>

#include "base/mem.h"

int secret_copy(struct bytes s, struct secret *ret)
{
    uint8_t *data = mem_raw(s.len + 1);
    if (data == NULL)
        return -ENOMEM;
    if (s.len != 0)
        memcpy(data, s.data, s.len);
    data[s.len] = '\0';
    *ret = (struct secret){data, s.len};
    return 0;
}

void secret_done(struct secret *s)
{
    mem_wipe_free(s->data, s->len);
    *s = (struct secret){0};
}

bool secret_equal(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    /* volatile: the compiler may not leave the loop at the first difference. */
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < a.len; i++)
        difference = (uint8_t)(difference | (a.data[i] ^ b.data[i]));
    return difference == 0;
}
