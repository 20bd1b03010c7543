/* layers: codec */
/* Decoders. Input: a byte that says which codec, a seed for the cuts, then the stream.
 *
 * Whole and in pieces it is the same text; never more comes than was asked for; with limits,
 * the output is bounded by the input.
 */
#include "../codec_data.h"
#include "base/err.h"
#include "codec/codec.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX (64 * 1024)
#define TEXT_MAX  (256 * 1024)

static const struct decoder_limits limits = {
    .ratio = 200, .ratio_after_bytes = 16 * 1024, .window_bytes = 128 * 1024};

struct text {
    uint8_t bytes[TEXT_MAX];
    size_t len;
    int result;
    bool is_whole; /* all input was used, or the stream has ended */
    bool is_at_boundary;
};

/* Room that is an allocation of just its size, so that a sanitizer sees one byte too many. */
static int step(struct decoder *d, struct bytes *in, size_t max, struct text *text)
{
    uint8_t *room = malloc(max);
    size_t len = 0;
    struct bytes before = *in;
    INVARIANT(room != NULL);
    int r = decoder_step(d, in, room, max, &len);
    INVARIANT(len <= max && in->len <= before.len && r <= 1);
    INVARIANT(r >= 0 || (len == 0 && in->len == before.len));
    INVARIANT(r != 0 || len == max || in->len == 0);
    memcpy(text->bytes + text->len, room, len);
    text->len += len;
    free(room);
    return r;
}

static void decode(enum codec codec, struct bytes in, uint64_t seed, struct text *text)
{
    struct decoder *d;
    size_t room = 1, before = 0;
    int r = 0;
    *text = (struct text){.len = 0};
    INVARIANT(decoder_new(codec, &limits, &d) == 0);
    while (r == 0 && in.len > 0 && room > 0) {
        size_t cut = seed == 0 ? in.len : 1 + dice_below(&seed, 100);
        struct bytes piece = bytes_first(in, cut);
        in = bytes_skip(in, piece.len);
        do {
            room = TEXT_MAX - text->len;
            if (seed != 0 && room > 0)
                room = 1 + dice_below(&seed, room < 3000 ? room : 3000);
            before = text->len;
            r = room > 0 ? step(d, &piece, room, text) : 0;
        } while (r == 0 && room > 0 && text->len == before + room);
    }
    text->result = r;
    text->is_whole = r == 1 || (in.len == 0 && room > 0);
    text->is_at_boundary = decoder_is_at_boundary(d);
    INVARIANT(r != 1 || text->is_at_boundary);
    decoder_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct text whole, cut;
    if (len < 2 || len > INPUT_MAX)
        return 0;
    struct bytes in = bytes_of(data + 2, len - 2);
    enum codec codec = data[0] % 2 ? CODEC_ZSTD : CODEC_ZLIB;
    decode(codec, in, 0, &whole);
    decode(codec, in, data[1] * UINT64_C(2) + 1, &cut);
    INVARIANT(cut.len <= limits.ratio_after_bytes + 3000 || cut.len / limits.ratio <= in.len);
    if (whole.result < 0 || cut.result < 0 || !whole.is_whole || !cut.is_whole)
        return 0; /* where it is noticed that a stream is none depends on the cuts */
    INVARIANT(whole.result == cut.result && whole.is_at_boundary == cut.is_at_boundary);
    INVARIANT(whole.len == cut.len && memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    return 0;
}
