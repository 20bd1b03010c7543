/* Our client against our server, both as tasks of one deterministic runtime. */
#define ftp_client blocking_client /* the harness has one of its own, of plain calls */
#include "ftp_harness.h"
#undef ftp_client
#include <sys/mman.h>

#include "base/err.h"
#include "base/limits.h"
#include "ftp/client.h"

#define FILE_BYTES (3 * 1024 * 1024 + 11)
#define LIMIT_US   (30 * USEC_PER_S) /* of the runtime's clock, for what is meant to end so */

static const struct ftp_client_settings patient; /* no bound: nothing here may hang */
static const struct ftp_client_settings strict = {
    .connect_us = LIMIT_US, .answer_us = LIMIT_US, .stall_us = LIMIT_US};

/* -- the server and one task beside it -- */

struct place {
    struct harness harness; /* root_path, and the fault if there is one */
    const char *host;
    void (*dialogue)(struct place *, const struct addr *server);
    bool is_skipped;

    struct harness_server server;
    struct listener *listener;
    struct scope sessions;
    struct addr local;
};

static void accept_clients(void *arg)
{
    struct place *p = arg;
    for (;;) {
        struct addr peer;
        int fd;
        int r = listener_accept(p->listener, BYTES_NONE, USEC_NEVER, &fd, &peer);
        if (r == -ECANCELED)
            return;
        if (r == 0)
            r = ftp_session_start(&p->server.service, &p->sessions, fd, &peer, &p->local);
        (void)r; /* the client sees a closed connection */
    }
}

static void place_main(void *arg)
{
    struct place *p = arg;
    char text[ADDR_TEXT_MAX];
    struct scope acceptors;
    int fd;
    p->server = (struct harness_server){.root = NULL};
    server_setup(&p->harness, &p->server);
    (void)snprintf(text, sizeof(text), "%s:0", p->host);
    TASK_ASSERT(addr_parse(bytes_str(text), &p->local) == 0);
    p->is_skipped = tcp_listen(&p->local, 64, &fd) < 0; /* a machine without IPv6 */
    if (!p->is_skipped) {
        TASK_ASSERT(listener_new(fd, &p->listener) == 0);
        TASK_ASSERT(listener_for_dialogues(p->listener) == 0);
        scope_init(&p->sessions);
        scope_init(&acceptors);
        TASK_ASSERT(scope_start(&acceptors, "accept", TASK_NORMAL, accept_clients, p, NULL) ==
                    0);
        p->dialogue(p, &p->local);
        scope_leave(&acceptors);
        session_end_all(SESSION_KICKED);
        TASK_ASSERT(scope_wait(&p->sessions, USEC_NEVER) == 0);
        scope_leave(&p->sessions);
        listener_free(p->listener);
    }
    session_shared_free(p->server.shared);
    auth_free(p->server.auth);
    vroot_unref(p->server.root);
}

static void make_folder(struct place *p)
{
    (void)snprintf(p->harness.root_path, sizeof(p->harness.root_path), "/tmp/ferry-client-%d",
                   getpid());
    TASK_ASSERT(mkdir(p->harness.root_path, 0755) == 0);
}

static void remove_folder(const struct place *p)
{
    char command[160];
    (void)snprintf(command, sizeof(command), "rm -r %s", p->harness.root_path);
    TASK_ASSERT(system(command) == 0);
}

static void place_run(struct place *p, uint64_t seed)
{
    make_folder(p);
    run_deterministic(seed, place_main, p);
    remove_folder(p);
}

static void run_dialogue(void (*dialogue)(struct place *, const struct addr *), uint64_t seed)
{
    struct place p = {.host = "127.0.0.1", .dialogue = dialogue};
    place_run(&p, seed);
    assert_false(p.is_skipped);
}

/* -- what dialogues are made of -- */

static uint8_t byte_at(uint64_t off)
{
    return (uint8_t)(off * 7 + off / 251);
}

static void put_file(const struct place *p, const char *name, size_t len)
{
    char path[128];
    uint8_t *data = mem_raw(len + 1);
    (void)snprintf(path, sizeof(path), "%s/%s", p->harness.root_path, name);
    FILE *f = fopen(path, "we");
    TASK_ASSERT(f != NULL && data != NULL);
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(i);
    TASK_ASSERT(fwrite(data, 1, len, f) == len);
    (void)fclose(f);
    mem_free(data);
}

static void log_in(struct ftp_client *c, const struct addr *server)
{
    ftp_client_init(c, &patient);
    TASK_ASSERT(ftp_client_connect(c, server, NULL) == 0 && c->code == 220);
    TASK_ASSERT(ftp_client_login(c, BYTES_LIT("ann"), BYTES_LIT("right")) == 0);
    TASK_ASSERT(c->code == 230);
    TASK_ASSERT(ftp_client_type(c, 'I') == 0);
}

static void log_out(struct ftp_client *c)
{
    TASK_ASSERT(ftp_client_quit(c) == 0 && c->code == 221 && !ftp_client_is_open(c));
}

/* No buffer of a reply is left. */
static void check_idle(const struct ftp_client *c)
{
    TASK_ASSERT(ftp_client_is_open(c) && c->data == NULL);
    TASK_ASSERT(c->answers.in.in.data == NULL && c->answers.lines.data == NULL);
}

static int check_byte(void *arg, struct bytes piece)
{
    uint64_t *off = arg;
    for (size_t i = 0; i < piece.len; i++)
        TASK_ASSERT(piece.data[i] == byte_at((*off)++));
    return 0;
}

/* -- login -- */

static void refuse_then_log_in(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct ftp_answer answer;
    (void)p;
    ftp_client_init(&c, &patient);
    TASK_ASSERT(ftp_client_noop(&c) == -FERRY_ECLOSED);
    TASK_ASSERT(ftp_client_connect(&c, server, NULL) == 0 && c.code == 220);
    check_idle(&c);
    TASK_ASSERT(ftp_client_dele(&c, BYTES_LIT("x")) == -FERRY_EREFUSED && c.code == 530);
    TASK_ASSERT(ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("wrong")) == -FERRY_EAUTH);
    TASK_ASSERT(c.code == 530 && c.text[0] != '\0');
    check_idle(&c);
    TASK_ASSERT(ftp_client_login(&c, BYTES_LIT("eve\r\nNOOP"), BYTES_NONE) == -FERRY_EBADNAME);
    TASK_ASSERT(ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("right")) == 0);
    TASK_ASSERT(ftp_client_noop(&c) == 0 && c.code == 200);
    check_idle(&c);
    TASK_ASSERT(ftp_client_command(&c, "FEAT", BYTES_NONE, &answer) == 0);
    TASK_ASSERT(answer.code == 211 && bytes_start_with(answer.lines, BYTES_LIT("211-")));
    log_out(&c);
    TASK_ASSERT(ftp_client_noop(&c) == -FERRY_ECLOSED);
    log_in(&c, server); /* the same object again */
    ftp_client_close(&c);
    ftp_client_close(&c);
}

static void a_refused_login_leaves_the_connection_in_use(void **state)
{
    (void)state;
    run_dialogue(refuse_then_log_in, 1);
}

static void try_three_passwords(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    int r = -FERRY_EAUTH;
    (void)p;
    ftp_client_init(&c, &patient);
    TASK_ASSERT(ftp_client_connect(&c, server, NULL) == 0);
    for (unsigned i = 0; i < FTP_LOGIN_TRIES_MAX && r == -FERRY_EAUTH; i++)
        r = ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("wrong"));
    if (r == -FERRY_EAUTH) /* said 530 to the last one too, and then good-bye */
        r = ftp_client_noop(&c);
    TASK_ASSERT(r == -FERRY_ECLOSED && c.code == 421 && !ftp_client_is_open(&c));
}

static void a_server_that_says_421_is_gone(void **state)
{
    (void)state;
    run_dialogue(try_three_passwords, 2);
}

/* -- transfers -- */

static const size_t sizes[] = {0, 1, 4096, 100000, FILE_BYTES};

static void download(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    log_in(&c, server);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        uint64_t size = 7, thrown = 7, taken = 7, off = 0;
        const struct ftp_sink sink = {check_byte, &off};
        put_file(p, "f", sizes[i]);
        TASK_ASSERT(ftp_client_size(&c, BYTES_LIT("f"), &size) == 0 && size == sizes[i]);
        TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), NULL, &thrown) == 0);
        TASK_ASSERT(thrown == sizes[i] && c.code == 226 && c.moved_bytes == sizes[i]);
        TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("/f"), &sink, &taken) == 0);
        TASK_ASSERT(taken == sizes[i] && off == sizes[i]);
        check_idle(&c);
    }
    log_out(&c);
}

static void downloads_bring_what_the_file_holds(void **state)
{
    (void)state;
    run_dialogue(download, 3);
}

static void upload(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    int fd = memfd_create("upload", MFD_CLOEXEC);
    uint8_t *data = mem_raw(FILE_BYTES + 100);
    TASK_ASSERT(fd >= 0 && data != NULL);
    for (size_t i = 0; i < FILE_BYTES; i++)
        data[100 + i] = byte_at(i);
    TASK_ASSERT(write(fd, data, FILE_BYTES + 100) == FILE_BYTES + 100);
    (void)p;
    log_in(&c, server);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        /* 251 * 256 bytes of it repeat */
        const struct ftp_source sources[] = {
            {.fd = fd, .offset = 100, .len = sizes[i]},
            {.fd = -1, .block = bytes_of(data + 100, 64256), .len = sizes[i]},
        };
        for (size_t way = 0; way < ARRAY_LEN(sources); way++) {
            uint64_t sent = 7, size = 7, got = 7, off = 0;
            const struct ftp_sink sink = {check_byte, &off};
            TASK_ASSERT(ftp_client_stor(&c, BYTES_LIT("up"), &sources[way], &sent) == 0);
            TASK_ASSERT(sent == sizes[i] && c.code == 226);
            TASK_ASSERT(ftp_client_size(&c, BYTES_LIT("up"), &size) == 0 && size == sizes[i]);
            TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("up"), &sink, &got) == 0);
            TASK_ASSERT(got == sizes[i]);
            check_idle(&c);
        }
    }
    /* the source ends early: the server must not keep it as the whole */
    const struct ftp_source too_long = {.fd = fd, .offset = 100, .len = FILE_BYTES + 1};
    uint64_t sent = 7;
    TASK_ASSERT(ftp_client_stor(&c, BYTES_LIT("cut"), &too_long, &sent) == -FERRY_ETRUNCATED);
    TASK_ASSERT(sent == 7 && !ftp_client_is_open(&c));
    log_in(&c, server);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("cut"), NULL, &sent) == -FERRY_EREFUSED);
    log_out(&c);
    mem_free(data);
    close(fd);
}

static void uploads_leave_what_was_sent_or_nothing(void **state)
{
    (void)state;
    run_dialogue(upload, 4);
}

static int collect(void *arg, struct bytes piece)
{
    return buf_append_bytes(arg, piece);
}

static int refuse(void *arg, struct bytes piece)
{
    (void)arg;
    (void)piece;
    return -ENOSPC;
}

static void name_files(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct buf names;
    const struct ftp_sink sink = {collect, &names}, full = {refuse, NULL};
    uint64_t bytes = 7;
    const struct ftp_source source = {.fd = -1, .block = BYTES_LIT("abc"), .len = 5};
    const struct bytes odd = BYTES_LIT("a \xff\xfb \"b\"");
    buf_init(&names, 1000);
    log_in(&c, server);
    TASK_ASSERT(ftp_client_stor(&c, odd, &source, &bytes) == 0 && bytes == 5);
    put_file(p, "f", 1000);
    TASK_ASSERT(ftp_client_nlst(&c, BYTES_NONE, &sink, &bytes) == 0 && bytes == names.len);
    TASK_ASSERT(buf_append_byte(&names, 0) == 0);
    TASK_ASSERT(strstr((char *)names.data, "a \xff\xfb \"b\"\r\n") != NULL);
    TASK_ASSERT(strstr((char *)names.data, "f\r\n") != NULL);
    TASK_ASSERT(ftp_client_dele(&c, odd) == 0 && c.code == 250);
    bytes = 7;
    TASK_ASSERT(ftp_client_dele(&c, odd) == -FERRY_EREFUSED && c.code == 550);
    TASK_ASSERT(ftp_client_retr(&c, odd, NULL, &bytes) == -FERRY_EREFUSED && c.code == 550);
    TASK_ASSERT(ftp_client_size(&c, odd, &bytes) == -FERRY_EREFUSED && c.code == 550);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f\n"), NULL, &bytes) == -FERRY_EBADNAME);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f\0"), NULL, &bytes) == -FERRY_EBADNAME);
    TASK_ASSERT(bytes == 7);
    check_idle(&c);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), &full, &bytes) == -ENOSPC);
    TASK_ASSERT(!ftp_client_is_open(&c));
    buf_done(&names);
}

static void names_of_any_bytes_are_sent_and_refusals_are_told(void **state)
{
    (void)state;
    run_dialogue(name_files, 5);
}

static void stop_half_way(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct stream *data;
    uint8_t some[100];
    uint64_t bytes = 7;
    put_file(p, "big", 20 * 1024 * 1024); /* more than socket buffers hold */
    put_file(p, "small", 10);
    log_in(&c, server);
    TASK_ASSERT(ftp_client_abort(&c) == 0); /* nothing to stop */
    for (unsigned i = 0; i < 2; i++) {
        const struct bytes path = i == 0 ? BYTES_LIT("big") : BYTES_LIT("small");
        TASK_ASSERT(ftp_client_transfer_begin(&c, "RETR", path, &data) == 0);
        TASK_ASSERT(stream_read(data, some, sizeof(some)) > 0);
        TASK_ASSERT(ftp_client_abort(&c) == 0);
        check_idle(&c);
        TASK_ASSERT(ftp_client_noop(&c) == 0);
    }
    TASK_ASSERT(ftp_client_transfer_begin(&c, "STOR", BYTES_LIT("up"), &data) == 0);
    TASK_ASSERT(stream_write_bytes(data, BYTES_LIT("half")) == 0);
    TASK_ASSERT(ftp_client_abort(&c) == 0);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("up"), NULL, &bytes) == -FERRY_EREFUSED);
    TASK_ASSERT(ftp_client_transfer_begin(&c, "STOR", BYTES_LIT("up"), &data) == 0);
    TASK_ASSERT(stream_write_bytes(data, BYTES_LIT("whole")) == 0);
    TASK_ASSERT(ftp_client_transfer_end(&c) == 0);
    TASK_ASSERT(ftp_client_size(&c, BYTES_LIT("up"), &bytes) == 0 && bytes == 5);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("small"), NULL, &bytes) == 0 && bytes == 10);
    log_out(&c);
}

static void abort_leaves_the_connection_in_step(void **state)
{
    (void)state;
    run_dialogue(stop_half_way, 6);
}

/* -- addresses -- */

static void use_another_address(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    struct addr from;
    uint64_t bytes = 7;
    put_file(p, "f", 1000);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.3.4.5:0"), &from) == 0);
    ftp_client_init(&c, &patient);
    TASK_ASSERT(ftp_client_connect(&c, server, &from) == 0);
    TASK_ASSERT(ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("right")) == 0);
    TASK_ASSERT(ftp_client_type(&c, 'I') == 0);
    /* the server takes data connections from the same host only */
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("f"), NULL, &bytes) == 0 && bytes == 1000);
    log_out(&c);
    TASK_ASSERT(addr_parse(BYTES_LIT("192.0.2.1:0"), &from) == 0);
    TASK_ASSERT(ftp_client_connect(&c, server, &from) == -EADDRNOTAVAIL);
    TASK_ASSERT(!ftp_client_is_open(&c) && c.code == 0);
}

static void both_connections_come_from_the_address_that_was_asked_for(void **state)
{
    (void)state;
    run_dialogue(use_another_address, 7);
}

static void transfers_go_over_ipv6(void **state)
{
    (void)state;
    struct place p = {.host = "[::1]", .dialogue = download};
    place_run(&p, 8);
    if (p.is_skipped)
        skip();
}

/* -- ends -- */

struct stuck {
    struct ftp_client client;
    int result;
    uint64_t bytes;
};

static void upload_without_end(void *arg)
{
    static const uint8_t block[64 * 1024];
    struct stuck *s = arg;
    const struct ftp_source source = {
        .fd = -1, .block = {block, sizeof(block)}, .len = UINT64_MAX};
    s->result = ftp_client_stor(&s->client, BYTES_LIT("endless"), &source, &s->bytes);
}

static void wait_for_a_reply(void *arg)
{
    struct stuck *s = arg;
    struct ftp_answer answer;
    s->result = ftp_client_answer(&s->client, &answer); /* none is owed */
}

static void end_from_outside(struct place *p, const struct addr *server)
{
    static task_fn *const waits[] = {upload_without_end, wait_for_a_reply};
    uint64_t bytes;
    (void)p;
    for (unsigned i = 0; i < 2 * ARRAY_LEN(waits); i++) {
        struct stuck s = {.bytes = 7};
        struct scope scope;
        struct task *task;
        bool breaks = i % 2 != 0;
        log_in(&s.client, server);
        scope_init(&scope);
        TASK_ASSERT(scope_start(&scope, "stuck", TASK_NORMAL, waits[i / 2], &s, &task) == 0);
        for (unsigned turn = 0; turn < 200; turn++)
            task_yield();
        if (breaks)
            ftp_client_break(&s.client);
        else
            task_cancel(task);
        TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
        TASK_ASSERT(s.result == (breaks ? -FERRY_ECLOSED : -ECANCELED));
        TASK_ASSERT(s.bytes == 7 && !ftp_client_is_open(&s.client));
        scope_leave(&scope);
    }
    struct ftp_client c;
    log_in(&c, server);
    TASK_ASSERT(ftp_client_retr(&c, BYTES_LIT("endless"), NULL, &bytes) == -FERRY_EREFUSED);
    log_out(&c);
}

static void cancel_and_break_end_whatever_goes_on(void **state)
{
    (void)state;
    run_dialogue(end_from_outside, 9);
}

static void shut_down_meanwhile(struct place *p, const struct addr *server)
{
    struct ftp_client c;
    (void)p;
    log_in(&c, server);
    session_end_all(SESSION_KICKED);
    TASK_ASSERT(scope_wait(&p->sessions, USEC_NEVER) == 0);
    TASK_ASSERT(ftp_client_noop(&c) == -FERRY_ECLOSED && !ftp_client_is_open(&c));
}

static void a_server_that_ends_is_told_as_closed(void **state)
{
    (void)state;
    run_dialogue(shut_down_meanwhile, 10);
}

/* -- faults -- */

/* Calls of its commands, whose faults hit server and client alike: each ends, and says 0 only
 * for what is so. */
static void transfer_with_a_fault(struct ftp_client *c)
{
    uint64_t bytes = 0, size = 700, off = 0;
    const struct ftp_sink sink = {check_byte, &off};
    const struct ftp_source source = {.fd = -1, .block = BYTES_LIT("abc"), .len = 700};
    if (ftp_client_stor(c, BYTES_LIT("up"), &source, &bytes) == 0) {
        TASK_ASSERT(bytes == 700);
        TASK_ASSERT(ftp_client_size(c, BYTES_LIT("up"), &size) < 0 || size == 700);
    }
    if (ftp_client_retr(c, BYTES_LIT("f"), &sink, &bytes) == 0)
        TASK_ASSERT(bytes == 1000 && off == 1000);
    if (ftp_client_retr(c, BYTES_LIT("f"), NULL, &bytes) == 0)
        TASK_ASSERT(bytes == 1000);
    if (ftp_client_abort(c) == 0)
        TASK_ASSERT(ftp_client_is_open(c));
}

static void dialogue_with_a_fault(struct place *p, const struct addr *server)
{
    struct harness *h = &p->harness;
    struct ftp_client c;
    put_file(p, "f", 1000);
    fault_arm(h->kind, h->nth);
    ftp_client_init(&c, &strict);
    int r = ftp_client_connect(&c, server, NULL);
    if (r == 0)
        r = ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("right"));
    if (r == 0)
        r = ftp_client_type(&c, 'I');
    if (r == 0)
        transfer_with_a_fault(&c);
    r = ftp_client_quit(&c);
    h->counted = fault_count(h->kind);
    fault_arm(h->kind, 0);
    TASK_ASSERT(!ftp_client_is_open(&c));
    TASK_ASSERT(h->counted >= h->nth || r == 0); /* the last round has none */
    log_in(&c, server);
    log_out(&c);
}

static void fail_each(enum fault_kind kind)
{
    struct place p = {.host = "127.0.0.1", .dialogue = dialogue_with_a_fault};
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

static void every_failed_allocation_ends_in_a_result(void **state)
{
    (void)state;
    fail_each(FAULT_ALLOC);
}

static void every_failed_system_call_ends_in_a_result(void **state)
{
    (void)state;
    fail_each(FAULT_SYSCALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_login_leaves_the_connection_in_use),
        cmocka_unit_test(a_server_that_says_421_is_gone),
        cmocka_unit_test(downloads_bring_what_the_file_holds),
        cmocka_unit_test(uploads_leave_what_was_sent_or_nothing),
        cmocka_unit_test(names_of_any_bytes_are_sent_and_refusals_are_told),
        cmocka_unit_test(abort_leaves_the_connection_in_step),
        cmocka_unit_test(both_connections_come_from_the_address_that_was_asked_for),
        cmocka_unit_test(transfers_go_over_ipv6),
        cmocka_unit_test(cancel_and_break_end_whatever_goes_on),
        cmocka_unit_test(a_server_that_ends_is_told_as_closed),
        cmocka_unit_test(every_failed_allocation_ends_in_a_result),
        cmocka_unit_test(every_failed_system_call_ends_in_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
