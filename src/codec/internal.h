/* What coder.c and decoder.c share. */
#pragma once
#define ZLIB_CONST /* input is read only */
#include <zlib.h>

#include "codec/codec.h"

/* RFC 1950, 1951: a window of 32 KB, what every receiver can read. */
#define ZLIB_WINDOW_BITS 15
#define ZLIB_GZIP_BITS   16 /* added to them: RFC 1952 around the stream */

/* Its memory comes from base/mem.h. */
void zlib_init(z_stream *);
int zstd_error(size_t code); /* 0 if it is none; else -errno or -FERRY_E... */
