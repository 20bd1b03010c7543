/* Binary messages: a reader and a writer with a sticky error, most significant byte first.
 *
 * A reader that ran out of bytes, or met a length beyond its bound, gives zeros and empty runs
 * from then on: a message is read from its first field to its last without a test between, and
 * wire_read_end() tells in the end. The same for a writer that is full. Neither owns memory;
 * what a reader gives points into its source.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

struct wire_reader {
    const uint8_t *at;
    size_t left;
    bool has_failed;
};

struct wire_reader wire_reader_of(struct bytes);
uint8_t wire_get_u8(struct wire_reader *);
bool wire_get_bool(struct wire_reader *); /* any byte but 0 (RFC 4251 5) */
uint16_t wire_get_u16(struct wire_reader *);
uint32_t wire_get_u32(struct wire_reader *);
uint64_t wire_get_u64(struct wire_reader *);
struct bytes wire_get_bytes(struct wire_reader *, size_t len);
/* A string of RFC 4251 5: its length in four bytes, at most max, then its bytes. */
struct bytes wire_get_string(struct wire_reader *, size_t max);
struct bytes wire_get_rest(struct wire_reader *);
/* -FERRY_EPROTO: something was missing, too long, or is left. */
MUST_CHECK int wire_read_end(const struct wire_reader *);

struct wire_writer {
    uint8_t *data;
    size_t len, cap;
    bool has_failed; /* it was full; what did not fit is left out whole, as is all behind it */
};

struct wire_writer wire_writer_of(void *data, size_t cap);
void wire_put_u8(struct wire_writer *, uint8_t);
void wire_put_bool(struct wire_writer *, bool);
void wire_put_u16(struct wire_writer *, uint16_t);
void wire_put_u32(struct wire_writer *, uint32_t);
void wire_put_u64(struct wire_writer *, uint64_t);
void wire_put_bytes(struct wire_writer *, struct bytes);
void wire_put_string(struct wire_writer *, struct bytes); /* at most UINT32_MAX bytes */
/* A number without sign, most significant byte first, as an mpint of RFC 4251 5: no leading
 * zeros but the one that keeps it positive. */
void wire_put_mpint(struct wire_writer *, struct bytes magnitude);
/* -FERRY_ELIMIT: it did not fit. */
MUST_CHECK int wire_write_end(const struct wire_writer *);

/* Stand-alone numbers. */
uint32_t wire_u32(const uint8_t at[4]);
void wire_set_u32(uint8_t at[4], uint32_t);
