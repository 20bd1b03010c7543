#include "codec/codec.h"

const char *codec_name(enum codec codec)
{
    static const char *const names[] = {
        [CODEC_NONE] = "none", [CODEC_ZLIB] = "zlib", [CODEC_ZSTD] = "zstd"};
    return names[codec];
}
