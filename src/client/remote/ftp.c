/* Files of a server by FTP, as an endpoint: one control connection, so one thing at a time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/place/login.h"
#include "client/remote/endpoint.h"
#include "client/remote/ftp_listing.h"
#include "client/remote/meter.h"
#include "ftp/wire/timeval.h"
#include "sftp/client.h"

#define LINE_CAP          (PATH_LEN_MAX + 1024)
#define LISTING_BYTES_MAX (256 * 1024 * 1024)
#define ROOM_BYTES        (256 * 1024)
#define ABORT_US          (5 * USEC_PER_S)
#define NAME_FAILURE      550 /* RFC 959 4.2.2: no such file, or no access */

struct remote {
    struct endpoint endpoint; /* first */
    struct ftp_link *link;
    char home[PATH_LEN_MAX + 1]; /* "": not asked yet */
};

static struct ftp_client *client_of(struct endpoint *e)
{
    return &((struct remote *)e)->link->client;
}

static struct ftp_link *link_of(struct endpoint *e)
{
    return ((struct remote *)e)->link;
}

/* Keeps the server's words of a refusal. */
static int told(struct endpoint *e, int result)
{
    bool has_words = result == -FERRY_EREFUSED || result == -FERRY_ECLOSED;
    (void)text_copy(e->why, sizeof(e->why),
                    has_words ? bytes_str(client_of(e)->text) : BYTES_NONE);
    return result;
}

/* One command whose answer is of a hundred (2: done, 3: go on). */
static PARKS int ask(struct endpoint *e, const char *verb, struct bytes argument,
                     unsigned hundred, struct ftp_answer *ret)
{
    int r = ftp_client_command(client_of(e), verb, argument, ret);
    if (r == 0 && ret->code / 100 != hundred)
        r = -FERRY_EREFUSED;
    return told(e, r);
}

static PARKS int ask_plain(struct endpoint *e, const char *verb, struct bytes argument)
{
    struct ftp_answer answer;
    return ask(e, verb, argument, 2, &answer);
}

/* -- facts -- */

/* The one line of MLST's answer that has facts begins with a blank (RFC 3659 7.2). */
static PARKS int stat_by_mlst(struct endpoint *e, struct bytes path, struct endpoint_facts *ret)
{
    struct ftp_answer answer;
    struct bytes name;
    int r = ask(e, "MLST", path, 2, &answer);
    if (r < 0)
        return r == -FERRY_EREFUSED && client_of(e)->code == NAME_FAILURE ? -ENOENT : r;
    struct bytes lines = answer.lines;
    while (lines.len > 0) {
        struct bytes line = bytes_take_until(&lines, '\n');
        if (line.len == 0 || line.data[0] != ' ')
            continue;
        r = ftp_listed_facts(bytes_skip(line, 1), &name, ret);
        if (r == 0) /* "cdir": what was asked for is a directory */
            ret->kind = ENDPOINT_DIRECTORY;
        return r < 0 ? r : 0;
    }
    return -FERRY_EPROTO;
}

static PARKS int remote_home(struct endpoint *e, char *ret, size_t max);

/* Whether it can be gone into; and back. */
static PARKS int is_directory(struct endpoint *e, struct bytes path)
{
    struct remote *remote = (struct remote *)e;
    int r = remote->home[0] == '\0' ? remote_home(e, remote->home, sizeof(remote->home)) : 0;
    if (r == 0)
        r = ask_plain(e, "CWD", path);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -ENOENT : r;
    return ask_plain(e, "CWD", bytes_str(remote->home));
}

/* Some servers tell a size of directories, too: whether it is one is asked first. */
static PARKS int stat_by_size(struct endpoint *e, struct bytes path, struct endpoint_facts *ret)
{
    struct ftp_client *c = client_of(e);
    struct ftp_answer answer;
    *ret = (struct endpoint_facts){.kind = ENDPOINT_DIRECTORY};
    int r = is_directory(e, path);
    if (r != -ENOENT)
        return r;
    ret->kind = ENDPOINT_FILE;
    r = ftp_client_size(c, path, &ret->size_bytes);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -ENOENT : told(e, r);
    ret->has_size = true;
    if (!link_of(e)->has_mdtm)
        return 0;
    r = ask(e, "MDTM", path, 2, &answer);
    if (r == 0)
        ret->has_times = ftp_timeval_parse(answer.text, &ret->mtime_us) == 0;
    ret->atime_us = ret->mtime_us;
    return r == -FERRY_EREFUSED ? 0 : r;
}

static PARKS int remote_list(struct endpoint *, struct bytes path, endpoint_name_fn *,
                             void *arg);

struct search {
    struct bytes name;
    bool is_found;
    struct endpoint_facts facts;
};

static int on_searched(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct search *s = arg;
    if (!bytes_equal(name, s->name))
        return 0;
    s->is_found = true;
    s->facts = *facts;
    return 0;
}

/* Where nothing but a listing tells a link, the line in that of its directory. */
static PARKS int stat_in_listing(struct endpoint *e, struct bytes path,
                                 struct endpoint_facts *ret)
{
    size_t len = path.len;
    while (len > 1 && path.data[len - 1] == '/')
        len--;
    size_t slash = len;
    while (slash > 0 && path.data[slash - 1] != '/')
        slash--;
    struct search s = {.name = bytes_of(path.data + slash, len - slash)};
    if (s.name.len == 0 || bytes_equal(s.name, BYTES_LIT(".")) ||
        bytes_equal(s.name, BYTES_LIT("..")))
        return stat_by_size(e, path, ret);
    struct bytes parent = slash > 1 ? bytes_first(path, slash - 1) : bytes_first(path, slash);
    int r = remote_list(e, parent, on_searched, &s);
    if (r == 0 && s.is_found)
        *ret = s.facts;
    return r < 0 ? r : s.is_found ? 0 : -ENOENT;
}

static PARKS int remote_stat(struct endpoint *e, struct bytes path, bool follow,
                             struct endpoint_facts *ret)
{
    if (path.len == 0)
        path = BYTES_LIT(".");
    if (link_of(e)->has_mlst)
        return stat_by_mlst(e, path, ret);
    return follow && link_of(e)->has_size ? stat_by_size(e, path, ret)
                                          : stat_in_listing(e, path, ret);
}

/* A refusal of what is not there is that. */
static PARKS int or_missing(struct endpoint *e, struct bytes path, int result)
{
    char why[sizeof(e->why)];
    struct endpoint_facts facts;
    if (result != -FERRY_EREFUSED || !ftp_client_is_open(client_of(e)))
        return result;
    (void)text_copy(why, sizeof(why), bytes_str(e->why));
    int r = remote_stat(e, path, true, &facts);
    (void)text_copy(e->why, sizeof(e->why), bytes_str(why));
    return r == -ENOENT ? -ENOENT : result;
}

/* -- listing -- */

struct listing {
    endpoint_name_fn *fn;
    void *arg;
    bool has_facts; /* of MLSD */
    int64_t now_us;
    struct buf line;
    uint64_t bytes;
    unsigned count;
    int result; /* the first failure; the rest of the listing is thrown away */
    const char *why;
};

static int take_line(struct listing *l, struct bytes line)
{
    struct endpoint_facts facts;
    struct bytes name;
    int r = l->has_facts ? ftp_listed_facts(line, &name, &facts)
                         : ftp_listed_line(line, l->now_us, &name, &facts);
    if (r == -FERRY_EPROTO && !l->has_facts)
        return 0; /* people's words are between the lines of some */
    if (r <= 0)
        return r;
    if (bytes_equal(name, BYTES_LIT(".")) || bytes_equal(name, BYTES_LIT("..")))
        return 0;
    if (!sftp_name_is_safe(name)) {
        l->why = "the server lists a name that no file can have";
        return -FERRY_EBADNAME;
    }
    return ++l->count > SFTP_LISTING_MAX ? -FERRY_ELIMIT : l->fn(l->arg, name, &facts);
}

static int take_bytes(struct listing *l, struct bytes in)
{
    size_t end;
    int r = 0;
    while (r == 0 && bytes_find(in, '\n', &end)) {
        r = buf_append_bytes(&l->line, bytes_first(in, end));
        if (r == 0)
            r = take_line(l, buf_bytes(&l->line));
        buf_clear(&l->line);
        in = bytes_skip(in, end + 1);
    }
    return r < 0 ? r : buf_append_bytes(&l->line, in);
}

/* What breaks the connection is a listing without end alone. */
static PARKS int on_bytes(void *arg, struct bytes in)
{
    struct listing *l = arg;
    l->bytes += in.len;
    if (l->bytes > LISTING_BYTES_MAX)
        return -FERRY_ELIMIT;
    if (l->result == 0)
        l->result = take_bytes(l, in);
    return 0;
}

static PARKS int receive_listing(struct endpoint *e, const char *verb, struct bytes argument,
                                 struct listing *l)
{
    const struct ftp_sink sink = {.take = on_bytes, .arg = l};
    uint64_t bytes;
    buf_init(&l->line, LINE_CAP);
    int r = told(e, ftp_client_receive(client_of(e), verb, argument, &sink, &bytes));
    if (r == 0 && l->result == 0 && l->line.len > 0)
        l->result = take_line(l, buf_bytes(&l->line));
    buf_done(&l->line);
    return r < 0 ? r : l->result;
}

/* With -a, which shows hidden files; a name that begins with '-' is no option. */
static PARKS int list_by_list(struct endpoint *e, struct bytes path, struct listing *l)
{
    struct buf argument;
    bool is_option = path.len > 0 && path.data[0] == '-';
    buf_init(&argument, LINE_CAP);
    int r = buf_append_str(&argument, path.len > 0 ? "-a " : "-a");
    if (r == 0 && is_option)
        r = buf_append_str(&argument, "./");
    if (r == 0)
        r = buf_append_bytes(&argument, path);
    if (r == 0)
        r = receive_listing(e, "LIST", buf_bytes(&argument), l);
    if (r == -FERRY_EREFUSED && l->bytes == 0)
        r = receive_listing(e, "LIST", path, l);
    buf_done(&argument);
    return r;
}

static PARKS int remote_list(struct endpoint *e, struct bytes path, endpoint_name_fn *fn,
                             void *arg)
{
    struct listing l = {
        .fn = fn, .arg = arg, .has_facts = link_of(e)->has_mlst, .now_us = clock_wall_us()};
    int r = 0;
    if (!l.has_facts && path.len > 0) /* LIST of a file, or of nothing, is no failure */
        r = is_directory(e, path);
    if (r == 0)
        r = l.has_facts ? receive_listing(e, "MLSD", path, &l) : list_by_list(e, path, &l);
    if (l.why != NULL)
        (void)text_copy(e->why, sizeof(e->why), bytes_str(l.why));
    return or_missing(e, path, r);
}

/* -- contents -- */

static PARKS int restart_at(struct endpoint *e, uint64_t offset)
{
    struct ftp_answer answer;
    char text[24];
    if (offset == 0)
        return 0;
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)offset);
    int r = ask(e, "REST", bytes_str(text), 3, &answer);
    return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
}

/* Our side has failed, or the data connection: the control connection goes on if it can. */
static PARKS void give_up(struct endpoint *e, int result)
{
    struct ftp_client *c = client_of(e);
    if (!ftp_client_is_open(c))
        return;
    if (result == -ECANCELED) {
        ftp_client_close(c);
        return;
    }
    task_shield_begin(clock_after(ABORT_US));
    if (ftp_client_abort(c) < 0)
        ftp_client_close(c);
    task_shield_end();
}

static PARKS int take_all(const struct endpoint_get *get, struct stream *in,
                          struct meter *meter)
{
    for (;;) {
        struct slices slices;
        uint64_t budget;
        int r = meter_budget(meter, CHUNK_BYTES_MAX, &budget);
        if (r == 0)
            r = stream_take(in, (size_t)budget, &slices);
        if (r < 0)
            return r;
        size_t len = slices.len;
        meter_give_back(meter, budget - len);
        if (len > 0)
            r = get->take(get->arg, get->offset + meter->bytes, slices.chunk, slices.pieces,
                          slices.count);
        slices_drop(&slices);
        if (r < 0 || len == 0)
            return r;
        meter_moved(meter, len);
        if (task_turn_is_over())
            task_yield();
    }
}

static PARKS int receive(const struct endpoint_get *get, struct stream *in, uint64_t *ret_bytes)
{
    struct meter meter;
    if (get->upload == NULL) {
        meter_init(&meter, get->bucket, get->progress);
        int r = take_all(get, in, &meter);
        *ret_bytes = meter.bytes;
        return r;
    }
    const struct xfer_request request = {.length = UINT64_MAX,
                                         .buckets = {get->bucket},
                                         .stall_us = in->stall_us,
                                         .progress = get->progress};
    struct xfer_result result;
    int r = xfer_receive(in, get->upload, &request, &result);
    *ret_bytes = result.file_bytes;
    return r;
}

static PARKS int remote_get(struct endpoint *e, struct bytes path,
                            const struct endpoint_get *get, struct endpoint_got *ret)
{
    struct ftp_client *c = client_of(e);
    struct stream *in;
    *ret = (struct endpoint_got){.facts.kind = ENDPOINT_FILE};
    int r = restart_at(e, get->offset);
    if (r == 0)
        r = told(e, ftp_client_transfer_begin(c, "RETR", path, &in));
    if (r < 0)
        return or_missing(e, path, r);
    r = receive(get, in, &ret->bytes);
    if (r < 0) {
        give_up(e, r);
        return told(e, r);
    }
    return told(e, ftp_client_transfer_end(c));
}

static PARKS int fill_all(const struct endpoint_put *put, struct stream *out,
                          struct meter *meter)
{
    for (;;) {
        struct room room;
        uint64_t budget;
        int r = meter_budget(meter, ROOM_BYTES, &budget);
        if (r == 0)
            r = stream_room(out, (size_t)budget, &room);
        if (r < 0)
            return r;
        ssize_t n = put->fill(put->arg, put->offset + meter->bytes, room.chunk, room.pieces,
                              room.count);
        meter_give_back(meter, n > 0 ? budget - (uint64_t)n : budget);
        if (n <= 0) {
            room_drop(&room);
            return (int)n;
        }
        r = stream_send(out, &room, (size_t)n);
        if (r < 0)
            return r;
        meter_moved(meter, (uint64_t)n);
        if (task_turn_is_over())
            task_yield();
    }
}

static PARKS int send_all(const struct endpoint_put *put, struct stream *out,
                          uint64_t *ret_bytes)
{
    struct meter meter;
    if (put->file == NULL) {
        meter_init(&meter, put->bucket, put->progress);
        int r = fill_all(put, out, &meter);
        if (r == 0)
            r = stream_flush(out);
        *ret_bytes = meter.bytes;
        return r;
    }
    const struct xfer_request request = {.offset = put->offset,
                                         .length = UINT64_MAX,
                                         .buckets = {put->bucket},
                                         .stall_us = out->stall_us,
                                         .progress = put->progress};
    struct xfer_result result;
    int r = xfer_send(put->file, out, &request, &result);
    *ret_bytes = result.file_bytes;
    return r;
}

/* Some servers refuse REST before STOR and append gladly, which is the same if the file ends
 * where it is continued. */
static PARKS int begin_put(struct endpoint *e, struct bytes path, uint64_t offset,
                           struct stream **ret)
{
    struct ftp_client *c = client_of(e);
    uint64_t size;
    int r = restart_at(e, offset);
    if (r == 0)
        r = told(e, ftp_client_transfer_begin(c, "STOR", path, ret));
    if (offset == 0 || (r != -FERRY_EREFUSED && r != -EOPNOTSUPP))
        return r;
    int of_size = ftp_client_size(c, path, &size);
    if (of_size < 0 || size != offset)
        return r;
    return told(e, ftp_client_transfer_begin(c, "APPE", path, ret));
}

/* After a put that broke: what is there of it. */
static PARKS uint64_t bytes_there(struct endpoint *e, struct bytes path,
                                  const struct endpoint_put *put, uint64_t sent)
{
    uint64_t size = 0;
    if (!ftp_client_is_open(client_of(e)) || !link_of(e)->has_size ||
        ftp_client_size(client_of(e), path, &size) < 0 || size < put->offset)
        return 0;
    return size - put->offset < sent ? size - put->offset : sent;
}

/* Some servers confirm what their MODE Z has damaged. */
static PARKS int check_size(struct endpoint *e, struct bytes path, uint64_t expected)
{
    uint64_t size;
    if (!link_of(e)->compresses || !link_of(e)->has_size)
        return 0;
    int r = told(e, ftp_client_size(client_of(e), path, &size));
    if (r < 0 || size == expected)
        return r;
    (void)snprintf(e->why, sizeof(e->why),
                   "it said that all is stored, and has %" PRIu64 " of %" PRIu64
                   " bytes: its MODE Z is broken, try --compress none",
                   size, expected);
    return -FERRY_EPROTO;
}

static PARKS int remote_put(struct endpoint *e, struct bytes path,
                            const struct endpoint_put *put, uint64_t *ret_bytes)
{
    struct stream *out;
    uint64_t sent = 0;
    *ret_bytes = 0;
    int r = begin_put(e, path, put->offset, &out);
    if (r < 0)
        return r;
    r = send_all(put, out, &sent);
    if (r < 0)
        give_up(e, r);
    else
        r = ftp_client_transfer_end(client_of(e));
    (void)told(e, r);
    if (r == 0)
        r = check_size(e, path, put->offset + sent);
    if (r == 0)
        *ret_bytes = sent;
    else if (r != -ECANCELED)
        *ret_bytes = bytes_there(e, path, put, sent);
    return r;
}

/* -- digests -- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char upper = text_upper((char)c);
    return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

/* The first word of 64 hexadecimal digits: "SHA-256 0-4 DIGEST name", or it alone. */
static int read_digest(struct bytes text, uint8_t ret[32])
{
    while (text.len > 0) {
        struct bytes word = bytes_take_until(&text, ' ');
        bool is_digest = word.len == 64;
        for (size_t i = 0; is_digest && i < 32; i++) {
            int high = hex_digit(word.data[2 * i]), low = hex_digit(word.data[2 * i + 1]);
            is_digest = high >= 0 && low >= 0;
            ret[i] = is_digest ? (uint8_t)(high << 4 | low) : 0;
        }
        if (is_digest)
            return 0;
    }
    return -EOPNOTSUPP;
}

/* draft-bryan-ftpext-hash-02, of whole files. */
static PARKS int remote_sha256(struct endpoint *e, struct bytes path, uint64_t bytes,
                               uint8_t ret[32])
{
    struct ftp_answer answer;
    uint64_t size;
    if (!link_of(e)->has_hash)
        return -EOPNOTSUPP;
    int r = told(e, ftp_client_size(client_of(e), path, &size));
    if (r < 0)
        return or_missing(e, path, r);
    if (size != bytes)
        return -EOPNOTSUPP;
    r = ask_plain(e, "OPTS", BYTES_LIT("HASH SHA-256"));
    if (r == 0)
        r = ask(e, "HASH", path, 2, &answer);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
    return read_digest(answer.text, ret);
}

/* -- names -- */

static PARKS int remote_mkdir(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct endpoint_facts facts;
    char why[sizeof(e->why)];
    (void)mode; /* the server's own: FTP has none */
    int r = ask_plain(e, "MKD", path);
    if (r != -FERRY_EREFUSED)
        return r;
    (void)text_copy(why, sizeof(why), bytes_str(e->why));
    if (remote_stat(e, path, true, &facts) == 0)
        r = -EEXIST;
    (void)text_copy(e->why, sizeof(e->why), bytes_str(why));
    return r;
}

static PARKS int remote_rmdir(struct endpoint *e, struct bytes path)
{
    return or_missing(e, path, ask_plain(e, "RMD", path));
}

static PARKS int remote_remove(struct endpoint *e, struct bytes path)
{
    return or_missing(e, path, ask_plain(e, "DELE", path));
}

static PARKS int rename_plainly(struct endpoint *e, struct bytes from, struct bytes to)
{
    struct ftp_answer answer;
    int r = ask(e, "RNFR", from, 3, &answer);
    return r < 0 ? r : ask_plain(e, "RNTO", to);
}

/* Where the server refuses to rename over a file, the file is removed first. */
static PARKS int remote_rename(struct endpoint *e, struct bytes from, struct bytes to)
{
    struct endpoint_facts facts;
    int r = rename_plainly(e, from, to);
    if (r != -FERRY_EREFUSED)
        return r;
    r = or_missing(e, from, r);
    if (r == -ENOENT || remote_stat(e, to, false, &facts) < 0 || facts.kind != ENDPOINT_FILE)
        return r;
    r = ask_plain(e, "DELE", to);
    return r < 0 ? r : rename_plainly(e, from, to);
}

static PARKS int set_mode(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct buf argument;
    buf_init(&argument, LINE_CAP);
    int r = buf_printf(&argument, "CHMOD %03o ", (unsigned)mode & 0777u);
    if (r >= 0)
        r = buf_append_bytes(&argument, path);
    if (r == 0)
        r = ask_plain(e, "SITE", buf_bytes(&argument));
    buf_done(&argument);
    return r;
}

static PARKS int set_time(struct endpoint *e, struct bytes path, int64_t us)
{
    struct buf argument;
    char text[FTP_TIMEVAL_TEXT_MAX];
    if (!link_of(e)->has_mfmt)
        return -EOPNOTSUPP;
    buf_init(&argument, LINE_CAP);
    int r = buf_printf(&argument, "%s ", ftp_timeval_format(us, text));
    if (r >= 0)
        r = buf_append_bytes(&argument, path);
    if (r == 0)
        r = ask_plain(e, "MFMT", buf_bytes(&argument));
    buf_done(&argument);
    return r;
}

/* 500, 502 and 504: it has no such command. */
static bool is_unknown(struct endpoint *e, int result)
{
    unsigned code = client_of(e)->code;
    return result == -FERRY_EREFUSED && (code == 500 || code == 502 || code == 504);
}

static PARKS int remote_set(struct endpoint *e, struct bytes path,
                            const struct endpoint_facts *facts)
{
    int r = facts->has_mode ? set_mode(e, path, facts->mode) : 0;
    if (is_unknown(e, r))
        r = -EOPNOTSUPP;
    if (r < 0 && r != -EOPNOTSUPP)
        return or_missing(e, path, r);
    int of_time = facts->has_times ? set_time(e, path, facts->mtime_us) : 0;
    return of_time < 0 ? of_time : r;
}

/* 257 "NAME", with each quote in it doubled (RFC 959 appendix II). */
static int read_quoted(struct bytes text, char *ret, size_t max)
{
    size_t len = 0;
    if (text.len == 0 || text.data[0] != '"')
        return -FERRY_EPROTO;
    for (size_t i = 1; i < text.len; i++) {
        if (text.data[i] == '"' && (i + 1 == text.len || text.data[i + 1] != '"')) {
            ret[len] = '\0';
            return len > 0 ? 0 : -FERRY_EPROTO;
        }
        i += text.data[i] == '"';
        if (len + 1 >= max)
            return -FERRY_ELIMIT;
        ret[len++] = (char)text.data[i];
    }
    return -FERRY_EPROTO;
}

static PARKS int remote_home(struct endpoint *e, char *ret, size_t max)
{
    struct ftp_answer answer;
    int r = ask(e, "PWD", BYTES_NONE, 2, &answer);
    return r < 0 ? r : read_quoted(answer.text, ret, max);
}

static void remote_info(struct endpoint *e, struct stream_info *ret)
{
    *ret = client_of(e)->path;
}

static PARKS void remote_free(struct endpoint *e)
{
    struct remote *remote = (struct remote *)e;
    (void)ftp_link_close(remote->link);
    mem_free(remote);
}

static const struct endpoint_ops remote_ops = {
    .method = "ftp",
    .stat = remote_stat,
    .list = remote_list,
    .get = remote_get,
    .put = remote_put,
    .mkdir = remote_mkdir,
    .rmdir = remote_rmdir,
    .remove = remote_remove,
    .rename = remote_rename,
    .set = remote_set,
    .sha256 = remote_sha256,
    .home = remote_home,
    .info = remote_info,
    .free = remote_free,
};

int endpoint_ftp_new(struct ftp_link *link, struct endpoint **ret)
{
    struct remote *remote = mem_new(sizeof(*remote));
    if (remote == NULL) {
        (void)ftp_link_close(link);
        return -ENOMEM;
    }
    remote->endpoint = (struct endpoint){
        .ops = &remote_ops, .host = link->host, .is_ordered = true, .at_once = 1};
    remote->link = link;
    *ret = &remote->endpoint;
    return 0;
}
