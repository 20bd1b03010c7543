/* Received data lies where it was decrypted; what is short is copied, and chunks are used
 * again. */
#include "ssh_dialogue.h"
#include "ssh_hand_channels.h"

/* -- long and short packets in one chunk -- */

#define LONG  1100 /* stays in place */
#define SHORT 500  /* is copied */

/* All lies in one chunk when the service sees it. Behind a long piece there is room for the
 * short one only where that itself was received: the sanitizer sees a copy onto its source. */
static int client_mixes_lengths(struct by_hand *h)
{
    struct ssh_channel_request m;
    char command[32];
    (void)snprintf(command, sizeof(command), "sink %d", 2 * (LONG + SHORT));
    int r = hand_ready(h, command, 1000, 32768);
    for (unsigned i = 0; i < 2 && r == 0; i++) {
        r = hand_data_at(h, 0, LONG, (LONG + SHORT) * i);
        if (r == 0)
            r = hand_data_at(h, 0, SHORT, (LONG + SHORT) * i + LONG);
    }
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_EOF, 0);
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_REQUEST);
    if (r == 0 && ssh_channel_request_parse(h->heard, &m) < 0)
        r = -EIO;
    return r == 0 && (m.kind != SSH_REQUEST_EXIT_STATUS || m.number != 0) ? -EPERM : r;
}

static void a_copy_does_not_go_into_the_chunk_it_comes_from(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_mixes_lengths, 0);
    assert_int_equal(l.result, 0);
}

/* -- a chunk that has come back -- */

#define ROUNDS 200

/* Each piece is taken before the next is sent: all of them lie in one chunk, one after the
 * other. */
static int dialogue_one_by_one(struct link *l)
{
    struct ssh_channel *ch;
    uint8_t data[LONG], back[LONG];
    int r = open_exec(l, "echo", &ch);
    const struct chunk *in = NULL;
    unsigned changes = 0;
    for (unsigned i = 0; i < ROUNDS && r == 0; i++) {
        pattern_fill(data, sizeof(data), i);
        r = stream_write_bytes(ssh_channel_stream(ch), bytes_of(data, sizeof(data)));
        for (size_t got = 0; got < sizeof(back) && r == 0;) {
            ssize_t n = stream_read(ssh_channel_stream(ch), back + got, sizeof(back) - got);
            r = n > 0 ? 0 : -EIO;
            got += n > 0 ? (size_t)n : 0;
        }
        TASK_ASSERT(r < 0 || memcmp(data, back, sizeof(data)) == 0);
        TASK_ASSERT(l->server.transport->in->used <= 2);
        changes += l->server.transport->in != in;
        in = l->server.transport->in;
    }
    if (r == 0)
        r = stream_end(ssh_channel_stream(ch), 0);
    (void)ssh_channel_close(ch);
    return r == 0 && changes > ROUNDS / 2 ? -EIO : r;
}

static void the_pieces_of_a_chunk_that_came_back_are_free_again(void **state)
{
    (void)state;
    struct link l = link_of(dialogue_one_by_one);
    link_run(&l, 1);
    assert_int_equal(l.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_does_not_go_into_the_chunk_it_comes_from),
        cmocka_unit_test(the_pieces_of_a_chunk_that_came_back_are_free_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
