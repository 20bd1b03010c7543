/* What a server can say to the SFTP client: a table of servers that break the protocol, lie
 * about sizes, or never end. */
#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "sftp/client.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"

#define STALL_US    (5 * USEC_PER_S)
#define LINK_BYTES  (64 * 1024)
#define ASKED       32768 /* what the client asks for where no limits are told */
#define MESSAGE_MAX (SFTP_MESSAGE_MAX + 64)

struct hostile;

/* Answers, or leaves it to the honest part: false. */
typedef bool hook_fn(struct hostile *, const struct sftp_request *);

struct row {
    const char *what;
    int (*client)(struct sftp_client *);
    hook_fn *hook;
    const char *version; /* instead of VERSION; NULL: the honest one */
    size_t version_len;
    uint64_t size_bytes; /* that FSTAT tells */
    int expected;
    bool goes_on; /* the client can still be used afterwards */
};

struct hostile {
    const struct row *row;
    struct stream *stream, *client_stream;
    uint64_t cut;
    uint8_t in[MESSAGE_MAX], out[MESSAGE_MAX];
    struct wire_writer w;
    unsigned asked; /* READs, WRITEs or READDIRs so far */
    struct sftp_request kept;
    uint64_t at;
    bool leaves;
};

static uint64_t got_bytes, right_bytes;
static char why[SFTP_CLIENT_WHY_MAX];

/* -- the server -- */

static bool read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13);
}

/* Of the file at s->at. */
static void put_data(struct hostile *s, uint32_t id, uint32_t told, uint32_t len)
{
    uint8_t head[SFTP_DATA_HEAD];
    sftp_data_head(head, id, told);
    if (told != len) /* the length of the message is right, that of the data is not */
        wire_set_u32(head, SFTP_DATA_HEAD - SFTP_LENGTH_BYTES + len);
    wire_put_bytes(&s->w, bytes_of(head, sizeof(head)));
    for (uint32_t i = 0; i < len; i++)
        wire_put_u8(&s->w, byte_at(s->at + i));
}

static void answer_honestly(struct hostile *s, const struct sftp_request *q)
{
    const struct sftp_attributes a = {.has = SFTP_ATTR_SIZE, .size_bytes = s->row->size_bytes};
    s->at = q->offset;
    switch ((int)q->kind) {
    case SFTP_KIND_OPEN:
    case SFTP_KIND_OPENDIR:
        sftp_put_handle(&s->w, q->id, BYTES_LIT("h"));
        break;
    case SFTP_KIND_FSTAT:
    case SFTP_KIND_STAT:
        sftp_put_attrs(&s->w, q->id, &a);
        break;
    case SFTP_KIND_READ:
        if (q->offset >= s->row->size_bytes) {
            sftp_put_status(&s->w, q->id, SFTP_EOF, "end");
        } else {
            uint64_t left = s->row->size_bytes - q->offset;
            uint32_t len = (uint32_t)(left < q->len ? left : q->len);
            put_data(s, q->id, len, len);
        }
        break;
    default:
        sftp_put_status(&s->w, q->id, SFTP_OK, "");
        break;
    }
}

static bool receive(struct hostile *s, size_t *ret_len)
{
    uint8_t length[SFTP_LENGTH_BYTES];
    if (!read_all(s->stream, length, sizeof(length)))
        return false;
    *ret_len = wire_u32(length);
    TASK_ASSERT(*ret_len <= sizeof(s->in));
    return read_all(s->stream, s->in, *ret_len);
}

static bool send_all(struct hostile *s)
{
    TASK_ASSERT(wire_write_end(&s->w) == 0);
    int r = stream_write_bytes(s->stream, bytes_of(s->w.data, s->w.len));
    s->w.len = 0;
    return r == 0;
}

static void server_main(void *arg)
{
    struct hostile *s = arg;
    size_t len;
    s->w = wire_writer_of(s->out, sizeof(s->out));
    if (!receive(s, &len))
        return;
    if (s->row->version != NULL)
        wire_put_bytes(&s->w, bytes_of(s->row->version, s->row->version_len));
    else
        sftp_put_version(&s->w, SFTP_VERSION);
    while (send_all(s) && !s->leaves && receive(s, &len)) {
        struct sftp_request q;
        TASK_ASSERT(sftp_request_parse(bytes_of(s->in, len), &q) == 0);
        s->at = q.offset;
        if (s->row->hook == NULL || !s->row->hook(s, &q))
            answer_honestly(s, &q);
    }
    (void)(stream_end(s->stream, 0) < 0);
}

/* -- what it does: reads -- */

static bool is_read(const struct sftp_request *q)
{
    return q->kind == SFTP_KIND_READ;
}

static bool of_another_id(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id + 5, 10, 10);
    return is_read(q);
}

static bool of_an_id_far_away(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        sftp_put_status(&s->w, UINT32_MAX, SFTP_OK, "");
    return is_read(q);
}

static bool twice(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, ASKED, ASKED);
    if (is_read(q))
        put_data(s, q->id, ASKED, ASKED);
    return is_read(q);
}

static bool too_long(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, ASKED + 1, ASKED + 1);
    return is_read(q);
}

static bool longer_than_its_message(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, 1000, 999);
    return is_read(q);
}

static bool much_shorter_than_its_message(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, 1000, 2000);
    return is_read(q);
}

static bool a_little_shorter_than_its_message(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q) || q->offset != 0)
        return false;
    put_data(s, q->id, ASKED, ASKED + 1);
    return true;
}

static bool empty(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, 0, 0);
    return is_read(q);
}

static bool of_another_kind(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        sftp_put_handle(&s->w, q->id, BYTES_LIT("x"));
    return is_read(q);
}

static bool of_no_kind(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    wire_put_u32(&s->w, 5);
    wire_put_u8(&s->w, 77);
    wire_put_u32(&s->w, q->id);
    return true;
}

static bool a_status_that_is_right(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        sftp_put_status(&s->w, q->id, SFTP_OK, "");
    return is_read(q);
}

static bool a_message_without_end(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        wire_put_u32(&s->w, UINT32_MAX);
    wire_put_u8(&s->w, SFTP_DATA);
    wire_put_u32(&s->w, q->id);
    return is_read(q);
}

static bool a_message_without_id(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    wire_put_u32(&s->w, 4);
    wire_put_u8(&s->w, SFTP_STATUS);
    wire_put_u32(&s->w, q->id);
    return true;
}

static bool goes_away(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    wire_put_u32(&s->w, 1000);
    wire_put_u8(&s->w, SFTP_DATA);
    s->leaves = true;
    return true;
}

static bool goes_away_within_data(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    put_data(s, q->id, ASKED, ASKED);
    s->w.len -= 7;
    s->leaves = true;
    return true;
}

static bool is_silent(struct hostile *s, const struct sftp_request *q)
{
    (void)s;
    return is_read(q);
}

static bool forbids(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q) || s->asked++ != 1)
        return false;
    sftp_put_status(&s->w, q->id, SFTP_PERMISSION_DENIED, "no\x1b[2J\nmore");
    return true;
}

static bool ends_before_what_it_sends(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q) || q->offset != 0)
        return false;
    sftp_put_status(&s->w, q->id, SFTP_EOF, "");
    return true;
}

/* Two requests at a time, the second one first. */
static bool out_of_order(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    if (s->asked++ % 2 == 0) {
        s->kept = *q;
        return true;
    }
    answer_honestly(s, q);
    answer_honestly(s, &s->kept);
    return true;
}

static bool a_byte_at_a_time(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q) || q->offset >= s->row->size_bytes)
        return false;
    put_data(s, q->id, 1, 1);
    return true;
}

#define REAL_SIZE 100000
#define PUT_BYTES 400000

static bool another_size(struct hostile *s, const struct sftp_request *q)
{
    if (!is_read(q))
        return false;
    if (q->offset >= REAL_SIZE) {
        sftp_put_status(&s->w, q->id, SFTP_EOF, "");
    } else {
        uint64_t left = REAL_SIZE - q->offset;
        uint32_t len = (uint32_t)(left < q->len ? left : q->len);
        put_data(s, q->id, len, len);
    }
    return true;
}

static bool never_ends(struct hostile *s, const struct sftp_request *q)
{
    if (is_read(q))
        put_data(s, q->id, (uint32_t)q->len, (uint32_t)q->len);
    return is_read(q);
}

/* -- what it does: the others -- */

static bool a_handle_too_long(struct hostile *s, const struct sftp_request *q)
{
    static const uint8_t long_handle[SFTP_HANDLE_MAX + 1];
    if (q->kind != SFTP_KIND_OPEN)
        return false;
    sftp_put_handle(&s->w, q->id, bytes_of(long_handle, sizeof(long_handle)));
    return true;
}

static bool data_for_a_write(struct hostile *s, const struct sftp_request *q)
{
    if (q->kind != SFTP_KIND_WRITE)
        return false;
    put_data(s, q->id, 10, 10);
    return true;
}

static bool a_full_disk(struct hostile *s, const struct sftp_request *q)
{
    if (q->kind != SFTP_KIND_WRITE || s->asked++ < 2)
        return false;
    sftp_put_status(&s->w, q->id, SFTP_FAILURE, "disk\tfull");
    return true;
}

static bool fails_to_close(struct hostile *s, const struct sftp_request *q)
{
    if (q->kind != SFTP_KIND_CLOSE)
        return false;
    sftp_put_status(&s->w, q->id, SFTP_FAILURE, "not stored");
    return true;
}

static bool names_without_end(struct hostile *s, const struct sftp_request *q)
{
    const struct sftp_attributes none = {0};
    if (q->kind != SFTP_KIND_READDIR)
        return false;
    size_t start = s->w.len;
    sftp_names_begin(&s->w, q->id);
    for (unsigned i = 0; i < 100; i++)
        sftp_names_add(&s->w, BYTES_LIT("x"), BYTES_LIT("x"), &none);
    sftp_names_end(&s->w, start, 100);
    return true;
}

static bool more_names_than_there_are(struct hostile *s, const struct sftp_request *q)
{
    const struct sftp_attributes none = {0};
    if (q->kind != SFTP_KIND_READDIR)
        return false;
    size_t start = s->w.len;
    sftp_names_begin(&s->w, q->id);
    sftp_names_add(&s->w, BYTES_LIT("x"), BYTES_LIT("x"), &none);
    sftp_names_end(&s->w, start, UINT32_MAX);
    return true;
}

static bool no_names(struct hostile *s, const struct sftp_request *q)
{
    if (q->kind != SFTP_KIND_READDIR)
        return false;
    size_t start = s->w.len;
    sftp_names_begin(&s->w, q->id);
    sftp_names_end(&s->w, start, 0);
    return true;
}

static bool a_status_for_a_stat(struct hostile *s, const struct sftp_request *q)
{
    if (q->kind == SFTP_KIND_STAT)
        sftp_put_status(&s->w, q->id, SFTP_OK, "");
    return q->kind == SFTP_KIND_STAT;
}

/* -- the client -- */

static int check_bytes(void *arg, uint64_t offset, struct chunk *chunk,
                       const struct iovec *pieces, unsigned count)
{
    (void)arg, (void)chunk;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *data = pieces[i].iov_base;
        for (size_t k = 0; k < pieces[i].iov_len; k++)
            right_bytes += data[k] == byte_at(offset + k);
        offset += pieces[i].iov_len;
    }
    return 0;
}

static int get(struct sftp_client *c)
{
    const struct sftp_get get = {.sink = check_bytes};
    struct sftp_got got;
    int r = sftp_client_get(c, BYTES_LIT("f"), &get, &got);
    got_bytes = got.bytes;
    return r;
}

static int get_a_part(struct sftp_client *c)
{
    const struct sftp_get get = {.length = 3000000, .sink = check_bytes};
    struct sftp_got got;
    int r = sftp_client_get(c, BYTES_LIT("f"), &get, &got);
    got_bytes = got.bytes;
    return r;
}

static ssize_t give_zeros(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    ssize_t done = 0;
    (void)arg, (void)chunk;
    for (unsigned i = 0; i < count && offset < PUT_BYTES; i++) {
        uint64_t left = PUT_BYTES - offset;
        size_t len = left < pieces[i].iov_len ? (size_t)left : pieces[i].iov_len;
        memset(pieces[i].iov_base, 0, len);
        done += (ssize_t)len;
        offset += len;
    }
    return done;
}

static int put(struct sftp_client *c)
{
    const struct sftp_put put = {.source = give_zeros};
    return sftp_client_put(c, BYTES_LIT("f"), &put, &got_bytes);
}

static int note_name(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    (void)arg, (void)name, (void)a;
    got_bytes++;
    return 0;
}

static int list(struct sftp_client *c)
{
    return sftp_client_list(c, BYTES_LIT("d"), 1000, note_name, NULL);
}

static int look(struct sftp_client *c)
{
    struct sftp_attributes a;
    return sftp_client_stat(c, BYTES_LIT("f"), true, &a);
}

#define VERSION(text) text, sizeof(text) - 1

static const struct row rows[] = {
    {"another id", get, of_another_id, NULL, 0, 9, -FERRY_EPROTO, false},
    {"an id far away", get, of_an_id_far_away, NULL, 0, 9, -FERRY_EPROTO, false},
    {"answers twice", get, twice, NULL, 0, 1 << 20, -FERRY_EPROTO, false},
    {"more than asked for", get, too_long, NULL, 0, 1 << 20, -FERRY_EPROTO, false},
    {"beyond its message", get, longer_than_its_message, NULL, 0, 9, -FERRY_EPROTO, false},
    {"far behind", get, much_shorter_than_its_message, NULL, 0, 9, -FERRY_EPROTO, false},
    {"a byte behind", get, a_little_shorter_than_its_message, NULL, 0, 1 << 20, 0, true},
    {"no data", get, empty, NULL, 0, 9, -FERRY_EPROTO, false},
    {"another kind", get, of_another_kind, NULL, 0, 9, -FERRY_EPROTO, false},
    {"no kind", get, of_no_kind, NULL, 0, 9, -FERRY_EPROTO, false},
    {"status ok", get, a_status_that_is_right, NULL, 0, 9, -FERRY_EPROTO, true},
    {"endless message", get, a_message_without_end, NULL, 0, 9, -FERRY_EPROTO, false},
    {"without id", get, a_message_without_id, NULL, 0, 9, -FERRY_EPROTO, false},
    {"goes away", get, goes_away, NULL, 0, 9, -FERRY_ECLOSED, false},
    {"goes away in data", get, goes_away_within_data, NULL, 0, 9, -FERRY_ECLOSED, false},
    {"silent", get, is_silent, NULL, 0, 9, -FERRY_ESTALLED, false},
    {"forbids", get, forbids, NULL, 0, 1 << 20, -EACCES, true},
    {"ends too early", get, ends_before_what_it_sends, NULL, 0, 1 << 20, -FERRY_ETRUNCATED,
     true},
    {"ends twice", get, ends_before_what_it_sends, NULL, 0, 3 * ASKED, -FERRY_ETRUNCATED, true},
    {"out of order", get, out_of_order, NULL, 0, 15 * ASKED, 0, true},
    {"a byte at a time", get, a_byte_at_a_time, NULL, 0, 200, 0, true},
    {"says it is short", get, another_size, NULL, 0, 5, 0, true},
    {"says it is empty", get, another_size, NULL, 0, 0, 0, true},
    {"says it is long", get, another_size, NULL, 0, UINT64_MAX, 0, true},
    {"never ends", get_a_part, never_ends, NULL, 0, 5, 0, true},
    {"long handle", get, a_handle_too_long, NULL, 0, 9, -FERRY_EPROTO, false},
    {"data for a write", put, data_for_a_write, NULL, 0, 0, -FERRY_EPROTO, false},
    {"disk full", put, a_full_disk, NULL, 0, 0, -FERRY_EREFUSED, true},
    {"fails to close", put, fails_to_close, NULL, 0, 0, -FERRY_EREFUSED, true},
    {"takes it all", put, NULL, NULL, 0, 0, 0, true},
    {"endless listing", list, names_without_end, NULL, 0, 0, -FERRY_ELIMIT, true},
    {"names that are not there", list, more_names_than_there_are, NULL, 0, 0, -FERRY_EPROTO,
     true},
    {"an empty listing", list, no_names, NULL, 0, 0, 0, true},
    {"ok for a stat", look, a_status_for_a_stat, NULL, 0, 0, -FERRY_EPROTO, false},
    {"a shell", look, NULL, VERSION("Welcome to this host!\r\n"), 0, -FERRY_EPROTO, false},
    {"version 2", look, NULL, VERSION("\0\0\0\5\2\0\0\0\2"), 0, -FERRY_EPROTO, false},
    {"a status first", look, NULL, VERSION("\0\0\0\x9\x65\0\0\0\3\0\0\0\0"), 0, -FERRY_EPROTO,
     false},
    {"a short version", look, NULL, VERSION("\0\0\0\2\2\0"), 0, -FERRY_EPROTO, false},
    {"a bad extension", look, NULL, VERSION("\0\0\0\xb\2\0\0\0\3\0\0\0\x9xx"), 0, 0, true},
    {"nothing", look, NULL, VERSION(""), 0, -FERRY_ESTALLED, false},
};

static int result, after;

static void run_row(void *arg)
{
    struct hostile *s = arg;
    const struct sftp_client_settings settings = {.stall_us = STALL_US};
    struct sftp_client *c = NULL;
    struct scope scope;
    TASK_ASSERT(memory_pair_new(LINK_BYTES, s->cut, &s->client_stream, &s->stream) == 0);
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "server", TASK_NORMAL, server_main, s, NULL) == 0);
    result = sftp_client_new(s->client_stream, &settings, &c);
    after = result;
    if (result == 0) {
        result = s->row->client(c);
        (void)snprintf(why, sizeof(why), "%s", sftp_client_why(c));
        after = look(c);
    }
    TASK_ASSERT(sftp_client_free(c) == NULL);
    s->client_stream = stream_free(s->client_stream);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    s->stream = stream_free(s->stream);
}

static void run(const struct row *row, uint64_t cut)
{
    static struct hostile s;
    s = (struct hostile){.row = row, .cut = cut};
    got_bytes = right_bytes = 0;
    run_deterministic(cut + 1, run_row, &s);
    if (result != row->expected || (after == 0) != row->goes_on)
        print_message("%s, cut %d: %s, then %s\n", row->what, (int)cut, err_name(result),
                      err_name(after));
    assert_int_equal(result, row->expected);
    assert_int_equal(after == 0, row->goes_on);
}

static void each_server_that_is_not_one_is_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (uint64_t cut = 0; cut < 4; cut++)
            run(&rows[i], cut);
}

static const struct row *row_named(const char *what)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].what, what) == 0)
            return &rows[i];
    return NULL;
}

static void a_file_has_the_bytes_that_came_whatever_was_said(void **state)
{
    (void)state;

    static const struct {
        const char *what;
        uint64_t bytes;
    } sizes[] = {
        {"out of order", 15 * ASKED},
        {"a byte at a time", 200},
        {"another id", 0},
        {"far behind", 0},
        {"beyond its message", 0},
        {"more than asked for", 0},
        {"says it is short", REAL_SIZE},
        {"says it is empty", REAL_SIZE},
        {"says it is long", REAL_SIZE},
        {"never ends", 3000000},
        {"a byte behind", 1 << 20},
        {"takes it all", PUT_BYTES},
        {"endless listing", 1000},
    };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        run(row_named(sizes[i].what), 0);
        assert_int_equal(got_bytes, sizes[i].bytes);
        if (row_named(sizes[i].what)->client == get)
            assert_int_equal(right_bytes, sizes[i].bytes);
    }
}

static void what_a_server_says_is_printable(void **state)
{
    (void)state;
    run(row_named("forbids"), 0);
    assert_string_equal(why, "no?[2J?more");
    run(row_named("disk full"), 0);
    assert_string_equal(why, "disk?full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_server_that_is_not_one_is_found_out),
        cmocka_unit_test(a_file_has_the_bytes_that_came_whatever_was_said),
        cmocka_unit_test(what_a_server_says_is_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
