/* The client's transfers: passive connection, command, bytes, last reply. */
#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "ftp/client_internal.h"
#include "io/compress.h"
#include "io/tcp_bulk.h"
#include "io/tls.h"
#include "task/sys.h"

#define TAKE_BYTES (256 * 1024) /* given to a sink at a time, at most */
#define SEND_BYTES (64 * 1024)  /* read from a file at a time, if the kernel cannot send it */

/* Replies to ABOR and to the NOOP behind it: the transfer's, ABOR's own, and no more. */
#define ABORT_REPLIES_MAX 4

/* -- the data connection -- */

/* Where the server listens. Of the address only the port counts: a server that names a third
 * host would have us connect there (RFC 2577 3), and one behind a translator names its own. */
static int ask_passive(struct ftp_client *c, struct addr *ret)
{
    bool is_extended = addr_family(&c->peer) == AF_INET6;
    struct ftp_answer answer;
    int r = ftp_client_command(c, is_extended ? "EPSV" : "PASV", BYTES_NONE, &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    if (r < 0)
        return r;
    struct ftp_address told = {0};
    if (answer.code != (is_extended ? 229 : 227))
        r = -FERRY_EPROTO;
    else if (is_extended)
        r = ftp_answer_epsv(answer.text, &told.port);
    else
        r = ftp_answer_pasv(answer.text, &told);
    if (r < 0)
        return ftp_client_fail(c, r);
    *ret = c->peer;
    addr_set_port(ret, told.port);
    return 0;
}

static int connect_data(struct ftp_client *c)
{
    struct addr to;
    struct io_fd *f;
    int r = ask_passive(c, &to);
    if (r < 0)
        return r;
    r = tcp_connect(&to, c->local.len != 0 ? &c->local : NULL,
                    clock_after(c->settings->connect_us), &f);
    if (r == 0)
        r = tcp_stream_new(f, c->settings->stall_us, &c->data);
    if (r < 0)
        return ftp_client_fail(c, r);
    c->socket = f;
    return 0;
}

static int last_reply(struct ftp_client *c)
{
    struct ftp_answer answer;
    int r = ftp_client_answer(c, &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    ftp_answer_drop(&c->answers);
    return r;
}

/* Offers the control connection's session: servers take it for the proof that both are of one
 * client. Who refuses the handshake says why on the control connection. */
static int secure_data(struct ftp_client *c)
{
    struct stream *plain = c->data;
    c->data = NULL;
    int r = tls_connect(c->settings->tls, plain, c->control,
                        clock_after(c->settings->connect_us), &c->data);
    if (r != -FERRY_ECLOSED && r != -FERRY_EPROTO)
        return r < 0 ? ftp_client_fail(c, r) : 0;
    int said = last_reply(c);
    return said == -FERRY_EREFUSED ? said : ftp_client_fail(c, r);
}

static int deflate_data(struct ftp_client *c)
{
    struct stream *below = c->data;
    struct pool *pool = runtime_codec_pool(runtime_self());
    c->data = NULL;
    int r;
    if (c->is_upload) {
        const struct compress_settings settings = {
            .codec = CODEC_ZLIB, .level = c->level, .pool = pool};
        r = compress_stream_new(below, &settings, &c->data);
    } else {
        const struct decoder_limits limits = {.ratio = EXPAND_RATIO_MAX,
                                              .ratio_after_bytes = EXPAND_FREE_BYTES};
        r = decompress_stream_new(below, CODEC_ZLIB, &limits, pool, NULL, &c->data);
    }
    return r < 0 ? ftp_client_fail(c, r) : 0;
}

static bool is_upload(const char *verb)
{
    static const char *const verbs[] = {"STOR", "STOU", "APPE"};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (bytes_equal_nocase(bytes_str(verb), bytes_str(verbs[i])))
            return true;
    return false;
}

int ftp_client_transfer_begin(struct ftp_client *c, const char *verb, struct bytes path,
                              struct stream **ret)
{
    c->moved_bytes = c->wire_bytes = 0;
    c->is_upload = is_upload(verb);
    struct ftp_answer answer;
    int r = ftp_client_can_send(verb, path) ? connect_data(c) : -FERRY_EBADNAME;
    if (r == 0)
        r = ftp_client_command(c, verb, path, &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 1);
    ftp_answer_drop(&c->answers);
    if (r == 0 && c->settings->tls != NULL)
        r = secure_data(c);
    if (r == 0 && c->is_deflate)
        r = deflate_data(c);
    if (r < 0) {
        ftp_client_drop_data(c, false);
        return r;
    }
    *ret = c->data;
    return 0;
}

/* In MODE Z what was held back is sent, and the end of the compressed stream. In TLS the end is
 * told, or the server would have to take the upload for a part of one. Then
 * the server must close first: what it sent that we did not read (tickets) would turn our close
 * into a reset, which may overtake the last bytes. */
int ftp_client_data_end(struct ftp_client *c)
{
    int r = 0;
    bool is_tls = c->settings->tls != NULL;
    if (c->data != NULL && (is_tls || (c->is_deflate && c->is_upload)))
        r = stream_end(c->data,
                       is_tls && c->is_upload ? clock_after(c->settings->answer_us) : 0);
    if (r == -FERRY_ECLOSED || r == -FERRY_EPROTO)
        r = 0; /* the last reply tells what the server has */
    if (r < 0)
        return ftp_client_fail(c, r);
    ftp_client_drop_data(c, true);
    return 0;
}

int ftp_client_transfer_end(struct ftp_client *c)
{
    int r = ftp_client_data_end(c);
    return r == 0 ? last_reply(c) : r;
}

int ftp_client_abort(struct ftp_client *c)
{
    struct ftp_answer answer;
    int r = ftp_client_send(c, "ABOR", BYTES_NONE);
    ftp_client_drop_data(c, false);
    /* One reply or two: if the first is a 226, it may be that of a transfer which was over
     * before. What NOOP gets marks the end of both. */
    if (r == 0)
        r = ftp_client_command(c, "NOOP", BYTES_NONE, &answer);
    for (unsigned i = 1; r == 0 && answer.code != 200; i++)
        r = i < ABORT_REPLIES_MAX ? ftp_client_answer(c, &answer)
                                  : ftp_client_fail(c, -FERRY_EPROTO);
    ftp_answer_drop(&c->answers);
    return r;
}

/* -- a whole transfer -- */

/* After the bytes: what became of them. If the data connection alone broke the server will say
 * why; that we gave up waiting is our own word. */
static int finish(struct ftp_client *c, int result, uint64_t *ret_bytes)
{
    if (!ftp_client_is_open(c)) /* a sink's own failure */
        return result;
    bool is_of_data = result == -FERRY_ECLOSED || result == -FERRY_ESTALLED ||
                      (result == -FERRY_ETRUNCATED && !c->is_upload);
    if (is_of_data) {
        ftp_client_drop_data(c, false);
        int r = last_reply(c);
        bool said_why = r == -FERRY_EREFUSED && result != -FERRY_ESTALLED;
        return said_why || !ftp_client_is_open(c) ? r : result;
    }
    if (result < 0)
        return ftp_client_fail(c, result);
    int r = ftp_client_transfer_end(c);
    if (r == 0)
        *ret_bytes = c->moved_bytes;
    return r;
}

/* sink NULL: thrown away. */
static int give_to_sink(struct ftp_client *c, const struct ftp_sink *sink,
                        const struct slices *slices)
{
    for (unsigned i = 0; i < slices->count; i++) {
        const struct iovec *piece = &slices->pieces[i];
        int r =
            sink != NULL ? sink->take(sink->arg, bytes_of(piece->iov_base, piece->iov_len)) : 0;
        if (r < 0)
            return r;
        c->moved_bytes += piece->iov_len;
    }
    return 0;
}

static uint64_t download_max(const struct ftp_client *c)
{
    uint64_t max = c->settings->download_bytes;
    return max != 0 ? max : UINT64_MAX;
}

/* Here and in send_block(): where the server is fast there may be no wait to be cancelled in.
 */
static int take_all(struct ftp_client *c, const struct ftp_sink *sink)
{
    while (c->moved_bytes < download_max(c)) {
        if (task_is_cancelled())
            return -ECANCELED;
        struct slices slices;
        int r = stream_take(c->data, TAKE_BYTES, &slices);
        if (r < 0 || slices.len == 0)
            return r;
        r = give_to_sink(c, sink, &slices);
        slices_drop(&slices);
        if (r < 0)
            return ftp_client_fail(c, r);
    }
    return -FERRY_ELIMIT;
}

static int discard_all(struct ftp_client *c)
{
    return tcp_discard(stream_fd(c->data), download_max(c), c->settings->stall_us,
                       &c->moved_bytes);
}

int ftp_client_receive(struct ftp_client *c, const char *verb, struct bytes path,
                       const struct ftp_sink *sink, uint64_t *ret_bytes)
{
    struct stream *data;
    int r = ftp_client_transfer_begin(c, verb, path, &data);
    if (r < 0)
        return r;
    bool is_in_kernel = sink == NULL && stream_fd(data) != NULL;
    r = is_in_kernel ? discard_all(c) : take_all(c, sink);
    return finish(c, r, ret_bytes);
}

int ftp_client_retr(struct ftp_client *c, struct bytes path, const struct ftp_sink *sink,
                    uint64_t *ret_bytes)
{
    return ftp_client_receive(c, "RETR", path, sink, ret_bytes);
}

int ftp_client_nlst(struct ftp_client *c, struct bytes path, const struct ftp_sink *sink,
                    uint64_t *ret_bytes)
{
    return ftp_client_receive(c, "NLST", path, sink, ret_bytes);
}

static int send_block(struct ftp_client *c, const struct ftp_source *source)
{
    while (c->moved_bytes < source->len) {
        uint64_t left = source->len - c->moved_bytes;
        struct bytes piece = source->block;
        if (piece.len > left)
            piece.len = (size_t)left;
        int r = task_is_cancelled() ? -ECANCELED : stream_write_bytes(c->data, piece);
        if (r < 0)
            return r;
        c->moved_bytes += piece.len;
    }
    return 0;
}

/* As the kernel would, for a stream that it cannot write to. */
static int send_part(struct ftp_client *c, const struct file_part *part)
{
    while (c->moved_bytes < part->len) {
        uint64_t left = part->len - c->moved_bytes;
        struct room room;
        if (task_is_cancelled())
            return -ECANCELED;
        int r = stream_room(c->data, left < SEND_BYTES ? (size_t)left : SEND_BYTES, &room);
        if (r < 0)
            return r;
        ssize_t n = sys_preadv2(part->fd, room.pieces, (int)room.count,
                                (off_t)(part->offset + c->moved_bytes), 0);
        if (n <= 0) {
            room_drop(&room);
            return n < 0 ? (int)n : -FERRY_ETRUNCATED;
        }
        r = stream_send(c->data, &room, (size_t)n);
        if (r < 0)
            return r;
        c->moved_bytes += (uint64_t)n;
    }
    return 0;
}

static int send_file(struct ftp_client *c, const struct file_part *part)
{
    struct io_fd *f = stream_fd(c->data);
    return f != NULL ? tcp_send_file(f, part, c->settings->stall_us, &c->moved_bytes)
                     : send_part(c, part);
}

int ftp_client_stor(struct ftp_client *c, struct bytes path, const struct ftp_source *source,
                    uint64_t *ret_bytes)
{
    assert(source->fd >= 0 || source->block.len > 0);
    struct stream *data;
    int r = ftp_client_transfer_begin(c, "STOR", path, &data);
    if (r < 0)
        return r;
    const struct file_part part = {source->fd, source->offset, source->len};
    r = source->fd >= 0 ? send_file(c, &part) : send_block(c, source);
    return finish(c, r, ret_bytes);
}
