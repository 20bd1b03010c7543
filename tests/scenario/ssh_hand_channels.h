/* What a client by hand says on channels. */
#pragma once
#include "ssh_hand_link.h"

static inline int hand_open_as(struct by_hand *h, uint32_t sender, uint32_t window,
                               uint32_t packet_max)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_open open = {.type = BYTES_LIT("session"),
                                          .sender = sender,
                                          .window = window,
                                          .packet_max = packet_max};
    ssh_channel_open_write(&w, &open);
    return hand_say(h, bytes_of(payload, w.len));
}

static inline int hand_open(struct by_hand *h, uint32_t window, uint32_t packet_max)
{
    return hand_open_as(h, 7, window, packet_max);
}

static inline int hand_exec(struct by_hand *h, uint32_t channel, const char *command)
{
    uint8_t payload[128];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_request m = {.recipient = channel,
                                          .kind = SSH_REQUEST_EXEC,
                                          .wants_reply = true,
                                          .text = bytes_str(command)};
    ssh_channel_request_write(&w, &m);
    return hand_say(h, bytes_of(payload, w.len));
}

static inline int hand_plain(struct by_hand *h, enum ssh_message message, uint32_t channel)
{
    uint8_t payload[8];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_plain_write(&w, message, channel);
    return hand_say(h, bytes_of(payload, w.len));
}

static inline int hand_adjust(struct by_hand *h, uint32_t channel, uint32_t bytes)
{
    uint8_t payload[16];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_adjust_write(&w, channel, bytes);
    return hand_say(h, bytes_of(payload, w.len));
}

/* at: of the pattern */
static inline int hand_data_at(struct by_hand *h, uint32_t channel, size_t len, uint64_t at)
{
    static uint8_t payload[SSH_DATA_HEAD + SSH_DATA_MAX + 1];
    ssh_channel_data_head(payload, channel, (uint32_t)len);
    pattern_fill(payload + SSH_DATA_HEAD, len, at);
    return hand_say(h, bytes_of(payload, SSH_DATA_HEAD + len));
}

static inline int hand_data(struct by_hand *h, uint32_t channel, size_t len)
{
    return hand_data_at(h, channel, len, 0);
}

/* Hears messages until one of this number; those between are dropped. */
static inline int hand_until(struct by_hand *h, int message)
{
    int r = hand_hear(h);
    while (r >= 0 && r != message)
        r = hand_hear(h);
    return r < 0 ? r : 0;
}

/* Logged in, a channel 0 of the server's with a command. */
static inline int hand_ready(struct by_hand *h, const char *command, uint32_t window,
                             uint32_t packet_max)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    if (r == 0)
        r = hand_log_in(h);
    if (r == 0)
        r = hand_open(h, window, packet_max);
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_OPEN_CONFIRMATION)
        return -EIO;
    if (r == 0 && command != NULL)
        r = hand_exec(h, 0, command);
    if (r == 0 && command != NULL && hand_hear(h) != SSH_MSG_CHANNEL_SUCCESS)
        return -EIO;
    return r;
}

/* Until the server goes. */
static inline int hand_to_the_end(struct by_hand *h)
{
    int r;
    do {
        r = hand_hear(h);
    } while (r >= 0 && r != SSH_MSG_DISCONNECT);
    return r == SSH_MSG_DISCONNECT ? 0 : r;
}
