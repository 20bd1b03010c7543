/* How deep a dialogue goes on the stacks of its tasks. A stack that is over half full in a test
 * has no room for what a test does not do. */
#include "ftp_harness.h"

static char upload[200000];

/* -- the client -- */

static void transfer(struct ftp_client *c, const char *command, size_t upload_len)
{
    static char bytes[4096];
    int data = client_passive(c);
    TASK_ASSERT(data >= 0);
    TASK_ASSERT(client_say(c, command) == 150);
    for (size_t sent = 0; sent < upload_len;) {
        ssize_t n = send(data, upload + sent, upload_len - sent, MSG_NOSIGNAL);
        TASK_ASSERT(n > 0);
        sent += (size_t)n;
    }
    (void)shutdown(data, SHUT_WR);
    while (recv(data, bytes, sizeof(bytes), 0) > 0)
        continue;
    close(data);
    TASK_ASSERT(client_reply(c) == 226);
}

static const char *const words[] = {
    "SYST",          "FEAT",       "HELP",         "HELP STOR",
    "OPTS UTF8 ON",  "MKD sub",    "SIZE file",    "MDTM file",
    "MLST file",     "STAT",       "STAT *",       "MFMT 20200101000000 file",
    "RNFR file",     "RNTO sub/x", "RNFR sub/x",   "RNTO file",
    "CWD sub",       "PWD",        "CDUP",         "SITE CHMOD 600 file",
    "SITE HELP",     "PASV",       "ABOR",         "DELE none",
    "RMD sub",       "NOOP",       "ALLO 1000000", "CWD /a/../b/*",
    "EPRT |1|1.2.3", "PORT 1,2,3", "XYZZY",        "RETR none",
    "REST 10",
};

static void dialogue(struct harness *h)
{
    static struct ftp_client c;
    c = (struct ftp_client){.fd = connect_port(h->port)};
    TASK_ASSERT(client_reply(&c) == 220);
    TASK_ASSERT(client_say(&c, "USER ann") == 331);
    TASK_ASSERT(client_say(&c, "PASS right") == 230);
    TASK_ASSERT(client_say(&c, "TYPE I") == 200);
    transfer(&c, "STOR file", sizeof(upload));
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        TASK_ASSERT(client_say(&c, words[i]) > 0);
    transfer(&c, "RETR file", 0); /* from 10 on */
    transfer(&c, "APPE file", 1000);
    transfer(&c, "STOU", 1000);
    transfer(&c, "MLSD", 0);
    transfer(&c, "LIST -la *", 0);
    transfer(&c, "NLST f*l*", 0);
    TASK_ASSERT(client_say(&c, "TYPE A") == 200);
    transfer(&c, "STOR text", sizeof(upload));
    transfer(&c, "RETR text", 0);
    TASK_ASSERT(client_say(&c, "DELE text") == 250);
    TASK_ASSERT(client_say(&c, "QUIT") == 221);
    client_close(&c);
}

/* -- the depths -- */

struct measured {
    struct harness h;
    struct stack_depth depths[32];
    unsigned count;
};

static void main_measured(void *arg)
{
    struct measured *m = arg;
    harness_main(&m->h);
    const struct stack_depth *depths;
    m->count = runtime_stack_depths(runtime_self(), &depths);
    memcpy(m->depths, depths, m->count * sizeof(*depths));
}

static bool was_measured(const struct measured *m, const char *name)
{
    for (unsigned i = 0; i < m->count; i++)
        if (strcmp(m->depths[i].task_name, name) == 0)
            return true;
    return false;
}

static void no_task_uses_half_of_its_stack(void **state)
{
    (void)state;
    static struct measured m = {.h = {.client = dialogue}};
    (void)snprintf(m.h.root_path, sizeof(m.h.root_path), "/tmp/ferry-stacks-%d", getpid());
    assert_int_equal(mkdir(m.h.root_path, 0755), 0);
    const struct runtime_settings settings = {.workers = 1, .measure_stacks = true};
    run_in_runtime(&settings, main_measured, &m);
    char command[160];
    (void)snprintf(command, sizeof(command), "rm -rf %s", m.h.root_path);
    assert_int_equal(system(command), 0);
    for (unsigned i = 0; i < m.count; i++) {
        const struct stack_depth *d = &m.depths[i];
        print_message("%s: %zu of %zu bytes\n", d->task_name, d->bytes, d->of_bytes);
        assert_true(d->bytes > 0 && d->bytes <= d->of_bytes / 2);
    }
    assert_true(was_measured(&m, "ftp session"));
    assert_true(was_measured(&m, "ftp transfer"));
}

int main(void)
{
    for (size_t i = 0; i < sizeof(upload); i++)
        upload[i] = i % 80 == 79 ? '\n' : 'a';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_task_uses_half_of_its_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
