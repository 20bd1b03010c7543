/* Credit: what the peer may still send on a channel (RFC 4254 5.2).
 *
 * Credit is not memory: what is held and not dropped stops the reading of the connection, which
 * has a cap of its own. So a window may follow the path, to SSH_WINDOW_MAX, as long as the
 * channel is alone: unread data of one delays the others'.
 *
 * How long the path is, is measured where it matters, between a grant of credit and the first
 * byte that it made possible. TCP's own round trip says nothing of a path behind a relay, and
 * nothing of the time a peer takes to answer.
 */
#include "base/err.h"
#include "io/chunk.h"
#include "ssh/connection_internal.h"

#define GRANT_MIN  (64 * 1024) /* of one adjust */
#define GRANTS     8           /* of a window: the last of its data is not always dropped yet */
#define ROUND_MIN  USEC_PER_MS /* shorter paths do not need more than SSH_WINDOW_FIRST */
#define STALL_PART 4           /* of a round in silence: the peer waited for credit */
#define NEAR_PART  2 /* of a round more than the shortest is as short: ends are busy */

/* The credit of a channel that is opened now, and of one of several. */
static uint32_t window_share(const struct ssh_connection *c)
{
    if (c->count == 1)
        return SSH_WINDOW_FIRST;
    uint32_t share = SSH_INPUT_CAP / c->count;
    return share > SSH_WINDOW_SHARE_MIN ? share : SSH_WINDOW_SHARE_MIN;
}

void ssh_channel_window_init(struct ssh_channel *ch)
{
    ch->window = ch->window_size = window_share(ch->connection);
    ch->granted = ch->window;
}

/* -- growing -- */

static void grow(struct ssh_channel *ch)
{
    if (ch->connection->count != 1 || ch->window_size >= SSH_WINDOW_MAX)
        return;
    uint32_t size = ch->window_size < SSH_WINDOW_MAX / 2 ? ch->window_size * 2 : SSH_WINDOW_MAX;
    ch->grown += size - ch->window_size;
    ch->window_size = size;
}

/* A peer that had to wait was silent, or, where its data comes evenly because its credit does,
 * it used the new credit as soon as any path allowed. Who had credit left takes as long as that
 * lasts: twice as long in a window of twice the size, so that a path that is full ends it. */
static bool has_waited(const struct ssh_channel *ch, usec_t round, usec_t silence)
{
    if (round < ROUND_MIN)
        return false;
    return silence >= round / STALL_PART ||
           (ch->shortest_us != 0 && round <= ch->shortest_us + ch->shortest_us / NEAR_PART);
}

void ssh_channel_window_take(struct ssh_channel *ch, uint32_t len)
{
    ch->window -= len;
    if (ch->round_at == 0)
        return;
    usec_t now = clock_now();
    if (ch->granted - ch->window > ch->round_bytes) {
        usec_t round = now - ch->round_at;
        if (has_waited(ch, round, now - ch->data_at))
            grow(ch);
        if (ch->shortest_us == 0 || round < ch->shortest_us)
            ch->shortest_us = round;
        ch->round_at = 0;
    }
    ch->data_at = now;
}

/* From now on a byte beyond what was granted before is this grant's. One round at a time. */
static void begin_round(struct ssh_channel *ch)
{
    if (ch->round_at != 0)
        return;
    ch->round_at = ch->data_at = clock_now();
    ch->round_bytes = ch->granted;
}

/* -- granting -- */

/* What one channel was given while it was alone is not renewed while there are others. */
static void shrink(struct ssh_channel *ch)
{
    uint32_t share = window_share(ch->connection);
    if (ch->connection->count == 1 || ch->window_size <= share)
        return;
    ch->window_size -= ch->grown; /* not granted yet */
    ch->grown = 0;
    if (ch->window_size <= share)
        return;
    uint32_t excess = ch->window_size - share;
    uint32_t kept_back = ch->dropped < excess ? ch->dropped : excess;
    ch->window_size -= kept_back;
    ch->dropped -= kept_back;
}

int ssh_channel_adjust(struct ssh_channel *ch)
{
    shrink(ch);
    uint32_t enough = ch->window_size / GRANTS;
    if (enough < GRANT_MIN)
        enough = GRANT_MIN;
    if (ch->dropped < enough || ch->has_peer_eof || ch->has_sent_close ||
        !ssh_connection_may_seal(ch->connection))
        return 0;
    uint32_t bytes = ch->dropped + ch->grown;
    uint8_t payload[16];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_adjust_write(&w, ch->peer_id, bytes);
    begin_round(ch);
    ch->window += bytes;
    ch->granted += bytes;
    ch->dropped = ch->grown = 0;
    return ssh_transport_say_written(ch->connection->transport, &w);
}
