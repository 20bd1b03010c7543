/* MODE Z, our client against our server, both as tasks of one deterministic runtime. */
#define ftp_client blocking_client /* the harness has one of its own, of plain calls */
#include "ftp_harness.h"
#undef ftp_client

#include "base/err.h"
#include "ftp/client.h"
#include "io/compress.h"

#define FILE_BYTES (1024 * 1024 + 11)

static const struct ftp_client_settings patient; /* no bound: nothing here may hang */

static uint8_t content[FILE_BYTES];

/* -- the server and one task beside it -- */

struct place {
    struct harness harness;
    void (*dialogue)(struct place *, const struct addr *server);
    struct harness_server server;
    struct listener *listener;
    struct scope sessions;
    struct addr local;
};

static void accept_clients(void *arg)
{
    struct place *p = arg;
    struct addr peer;
    int fd, r;
    do {
        r = listener_accept(p->listener, BYTES_NONE, USEC_NEVER, &fd, &peer);
        if (r == 0) /* else the client sees a closed connection */
            (void)!ftp_session_start(&p->server.service, &p->sessions, fd, &peer, &p->local);
    } while (r != -ECANCELED);
}

static void place_main(void *arg)
{
    struct place *p = arg;
    struct scope acceptors;
    int fd;
    p->server = (struct harness_server){.root = NULL};
    server_setup(&p->harness, &p->server);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &p->local) == 0);
    TASK_ASSERT(tcp_listen(&p->local, 64, &fd) == 0 && listener_new(fd, &p->listener) == 0);
    TASK_ASSERT(listener_for_dialogues(p->listener) == 0);
    scope_init(&p->sessions);
    scope_init(&acceptors);
    TASK_ASSERT(scope_start(&acceptors, "accept", TASK_NORMAL, accept_clients, p, NULL) == 0);
    p->dialogue(p, &p->local);
    scope_leave(&acceptors);
    session_end_all(SESSION_KICKED);
    TASK_ASSERT(scope_wait(&p->sessions, USEC_NEVER) == 0);
    scope_leave(&p->sessions);
    listener_free(p->listener);
    session_shared_free(p->server.shared);
    auth_free(p->server.auth);
    vroot_unref(p->server.root);
}

static void make_folder(struct place *p)
{
    (void)snprintf(p->harness.root_path, sizeof(p->harness.root_path), "/tmp/ferry-deflate-%d",
                   getpid());
    TASK_ASSERT(mkdir(p->harness.root_path, 0755) == 0);
}

static void remove_folder(const struct place *p)
{
    char command[160];
    (void)snprintf(command, sizeof(command), "rm -r %s", p->harness.root_path);
    TASK_ASSERT(system(command) == 0);
}

static void run_dialogue(void (*dialogue)(struct place *, const struct addr *), uint64_t seed)
{
    struct place p = {.dialogue = dialogue};
    make_folder(&p);
    run_deterministic(seed, place_main, &p);
    remove_folder(&p);
}

/* -- what dialogues are made of -- */

static void put_file(const struct place *p, const char *name, size_t len)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", p->harness.root_path, name);
    FILE *f = fopen(path, "we");
    TASK_ASSERT(f != NULL && fwrite(content, 1, len, f) == len);
    (void)fclose(f);
}

/* Length of the file if it is that much of the content; -1: another, or none. */
static ssize_t stored_len(const struct place *p, const char *name)
{
    static uint8_t data[FILE_BYTES + 1];
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", p->harness.root_path, name);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return -1;
    size_t len = fread(data, 1, sizeof(data), f);
    (void)fclose(f);
    return len <= FILE_BYTES && memcmp(data, content, len) == 0 ? (ssize_t)len : -1;
}

static int connect_client(struct ftp_client *c, const struct addr *server)
{
    ftp_client_init(c, &patient);
    int r = ftp_client_connect(c, server, NULL);
    if (r == 0)
        r = ftp_client_login(c, BYTES_LIT("ann"), BYTES_LIT("right"));
    if (r == 0)
        r = ftp_client_type(c, 'I');
    return r;
}

static int check_content(void *arg, struct bytes piece)
{
    size_t *off = arg;
    TASK_ASSERT(*off + piece.len <= FILE_BYTES);
    TASK_ASSERT(memcmp(piece.data, content + *off, piece.len) == 0);
    *off += piece.len;
    return 0;
}

static struct ftp_source source_of(size_t len)
{
    return (struct ftp_source){.fd = -1, .block = bytes_of(content, FILE_BYTES), .len = len};
}

/* -- transfers -- */

static void there_and_back(struct ftp_client *c, const struct place *p, size_t len)
{
    size_t off = 0;
    const struct ftp_sink sink = {check_content, &off};
    const struct ftp_source source = source_of(len);
    uint64_t sent = 7, got = 7;
    TASK_ASSERT(ftp_client_stor(c, BYTES_LIT("f"), &source, &sent) == 0 && sent == len);
    TASK_ASSERT(stored_len(p, "f") == (ssize_t)len);
    TASK_ASSERT(c->wire_bytes > 0 && c->wire_bytes < len + len / 1000 + 100);
    TASK_ASSERT(ftp_client_retr(c, BYTES_LIT("f"), &sink, &got) == 0);
    TASK_ASSERT(got == len && off == len);
    TASK_ASSERT(c->wire_bytes > 0 && c->wire_bytes < len + len / 1000 + 100);
}

static void transfer_at_each_level(struct place *p, const struct addr *server)
{
    static const int levels[] = {COMPRESS_AUTO, 0, 1, 6, 9};
    static const size_t sizes[] = {0, 1, 4096, 100000, FILE_BYTES};
    struct ftp_client c;
    TASK_ASSERT(connect_client(&c, server) == 0);
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        TASK_ASSERT(ftp_client_mode(&c, 'Z', levels[i]) == 0);
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
            there_and_back(&c, p, sizes[k]);
    }
    /* the server takes the level for what it sends, and takes it back */
    uint64_t bytes;
    TASK_ASSERT(ftp_client_mode(&c, 'Z', 0) == 0);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), NULL, &bytes) == 0 && bytes == FILE_BYTES);
    TASK_ASSERT(c.wire_bytes > FILE_BYTES);
    TASK_ASSERT(ftp_client_mode(&c, 'Z', COMPRESS_AUTO) == 0 && !c.told_level);
    there_and_back(&c, p, 4096);
    TASK_ASSERT(c.wire_bytes < 4096);
    TASK_ASSERT(ftp_client_mode(&c, 'S', 0) == 0);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), NULL, &bytes) == 0 && bytes == 4096);
    TASK_ASSERT(c.wire_bytes == 0);
    TASK_ASSERT(ftp_client_quit(&c) == 0);
}

static void files_arrive_whole_at_each_level_and_are_counted_unpacked(void **state)
{
    (void)state;
    run_dialogue(transfer_at_each_level, 1);
}

static int append_piece(void *arg, struct bytes piece)
{
    return buf_append_bytes(arg, piece);
}

static void list_in_both_modes(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct buf plain, packed;
    const struct ftp_sink to_plain = {append_piece, &plain},
                          to_packed = {append_piece, &packed};
    uint64_t bytes, again;
    char name[20];
    buf_init(&plain, 100000);
    buf_init(&packed, 100000);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "file-%d", i);
        put_file(p, name, 1);
    }
    TASK_ASSERT(connect_client(&c, server) == 0);
    TASK_ASSERT(ftp_client_receive(&c, "MLSD", BYTES_NONE, &to_plain, &bytes) == 0);
    TASK_ASSERT(ftp_client_mode(&c, 'Z', COMPRESS_AUTO) == 0);
    TASK_ASSERT(ftp_client_receive(&c, "MLSD", BYTES_NONE, &to_packed, &again) == 0);
    TASK_ASSERT(bytes == again && bytes_equal(buf_bytes(&plain), buf_bytes(&packed)));
    TASK_ASSERT(c.wire_bytes < bytes / 4);
    TASK_ASSERT(ftp_client_quit(&c) == 0);
    buf_done(&plain);
    buf_done(&packed);
}

static void listings_say_the_same_in_mode_z(void **state)
{
    (void)state;
    run_dialogue(list_in_both_modes, 2);
}

static void begin_at_an_offset(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct ftp_answer answer;
    size_t off = 50000;
    const struct ftp_sink sink = {check_content, &off};
    uint64_t got;
    put_file(p, "f", 200000);
    TASK_ASSERT(connect_client(&c, server) == 0);
    TASK_ASSERT(ftp_client_mode(&c, 'Z', 6) == 0);
    TASK_ASSERT(ftp_client_command(&c, "REST", BYTES_LIT("50000"), &answer) == 0);
    TASK_ASSERT(answer.code == 350);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), &sink, &got) == 0);
    TASK_ASSERT(got == 150000 && off == 200000);
    TASK_ASSERT(ftp_client_quit(&c) == 0);
}

static void offsets_count_what_is_not_compressed(void **state)
{
    (void)state;
    run_dialogue(begin_at_an_offset, 3);
}

static void abort_one_of_each(struct place *p, const struct addr *server)
{
    static const char *const verbs[] = {"RETR", "STOR"};
    struct ftp_client c;
    put_file(p, "f", FILE_BYTES);
    TASK_ASSERT(connect_client(&c, server) == 0);
    TASK_ASSERT(ftp_client_mode(&c, 'Z', 1) == 0);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        struct stream *data;
        TASK_ASSERT(ftp_client_transfer_begin(&c, verbs[i], BYTES_LIT("f"), &data) == 0);
        if (i == 1)
            TASK_ASSERT(stream_write_bytes(data, bytes_of(content, 200000)) == 0);
        TASK_ASSERT(ftp_client_abort(&c) == 0);
        TASK_ASSERT(stored_len(p, "f") == FILE_BYTES);
    }
    there_and_back(&c, p, 100000);
    TASK_ASSERT(ftp_client_quit(&c) == 0);
}

static void an_aborted_transfer_leaves_the_connection_in_step(void **state)
{
    (void)state;
    run_dialogue(abort_one_of_each, 4);
}

/* -- faults -- */

/* Whatever fails, no reply says what is not so, and nothing but the content is ever stored. */
static int transfer_with_a_fault(struct ftp_client *c, const struct place *p)
{
    size_t off = 0;
    const struct ftp_sink sink = {check_content, &off};
    const struct ftp_source source = source_of(150000);
    uint64_t bytes;
    int r = ftp_client_stor(c, BYTES_LIT("f"), &source, &bytes);
    TASK_ASSERT(r < 0 || stored_len(p, "f") == 150000);
    TASK_ASSERT(stored_len(p, "f") == 150000 || stored_len(p, "f") == 10);
    if (!ftp_client_is_open(c))
        return r;
    off = 0;
    r = ftp_client_retr(c, BYTES_LIT("f"), &sink, &bytes);
    TASK_ASSERT(r < 0 || (ssize_t)off == stored_len(p, "f"));
    return r;
}

static void dialogue_with_a_fault(struct place *p, const struct addr *server)
{
    struct harness *h = &p->harness;
    struct ftp_client c;
    put_file(p, "f", 10);
    fault_arm(h->kind, h->nth);
    int r = connect_client(&c, server);
    if (r == 0)
        r = ftp_client_mode(&c, 'Z', 6);
    if (r == 0)
        r = transfer_with_a_fault(&c, p);
    ftp_client_close(&c);
    h->counted = fault_count(h->kind);
    fault_arm(h->kind, 0);
    TASK_ASSERT(h->counted >= h->nth || r == 0); /* the last round has none */
    TASK_ASSERT(connect_client(&c, server) == 0 && ftp_client_mode(&c, 'Z', 1) == 0);
    there_and_back(&c, p, 100000);
    TASK_ASSERT(ftp_client_quit(&c) == 0);
}

static void fail_each(enum fault_kind kind)
{
    struct place p = {.dialogue = dialogue_with_a_fault};
    p.harness.kind = kind;
    make_folder(&p);
    do {
        p.harness.nth++;
        run_deterministic(p.harness.nth, place_main, &p);
    } while (p.harness.counted >= p.harness.nth);
    remove_folder(&p);
    print_message("%lu calls were failed one by one\n", (unsigned long)p.harness.nth);
    assert_true(p.harness.nth > 50); /* the faults were really there */
}

static void every_failed_allocation_leaves_files_and_replies_right(void **state)
{
    (void)state;
    fail_each(FAULT_ALLOC);
}

static void every_failed_system_call_leaves_files_and_replies_right(void **state)
{
    (void)state;
    fail_each(FAULT_SYSCALL);
}

int main(void)
{
    for (size_t i = 0; i < FILE_BYTES; i++)
        content[i] = (uint8_t)(i % 100 < 60 ? i / 100 : i * 2654435761u >> 24);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_arrive_whole_at_each_level_and_are_counted_unpacked),
        cmocka_unit_test(listings_say_the_same_in_mode_z),
        cmocka_unit_test(offsets_count_what_is_not_compressed),
        cmocka_unit_test(an_aborted_transfer_leaves_the_connection_in_step),
        cmocka_unit_test(every_failed_allocation_leaves_files_and_replies_right),
        cmocka_unit_test(every_failed_system_call_leaves_files_and_replies_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
