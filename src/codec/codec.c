#include "codec/codec.h"

#include <errno.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/err.h"
#include "base/mem.h"
#include "codec/internal.h"

static void *zlib_alloc(void *arg, unsigned items, unsigned size)
{
    (void)arg;
    return mem_raw((size_t)items * size);
}

static void zlib_free(void *arg, void *p)
{
    (void)arg;
    mem_free(p);
}

const char *codec_name(enum codec codec)
{
    static const char *const names[] = {[CODEC_NONE] = "none",
                                        [CODEC_ZLIB] = "zlib",
                                        [CODEC_ZSTD] = "zstd",
                                        [CODEC_GZIP] = "gzip"};
    return names[codec];
}

void zlib_init(z_stream *z)
{
    *z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
}

/* zstd takes its memory from malloc(): the functions that would give it ours are promised for
 * static linking only, and may change with any version of the shared library. */
int zstd_error(size_t code)
{
    switch ((int)ZSTD_getErrorCode(code)) {
    case ZSTD_error_no_error:
        return 0;
    case ZSTD_error_memory_allocation:
        return -ENOMEM;
    case ZSTD_error_frameParameter_windowTooLarge:
        return -FERRY_ELIMIT;
    default:
        return -EBADMSG;
    }
}
