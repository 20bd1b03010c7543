/* A session that dozes before each command answers as one that never did: the same dialogue
 * twice, once as fast as the client can, once waiting before each command until the session has
 * given its stack back. */
#include "ftp_harness.h"

#define TRANSCRIPT_MAX 32768

struct transcript {
    bool doze;
    unsigned dozed; /* commands before which it really did */
    size_t len;
    char text[TRANSCRIPT_MAX];
};

/* -- asking the worker -- */

struct question {
    struct worker_message message;
    _Atomic unsigned dozing;
    _Atomic bool answered;
};

static void on_question(struct worker_message *message)
{
    struct question *q = (struct question *)message;
    struct worker_stats stats;
    worker_stats(worker_self(), &stats);
    atomic_store(&q->dozing, stats.dozing);
    atomic_store(&q->answered, true);
}

static void wait_until_it_dozes(struct harness *h, struct transcript *t)
{
    static struct question q;
    for (unsigned tries = 0; tries < 2000; tries++) {
        q.message.fn = on_question;
        atomic_store(&q.answered, false);
        worker_post(h->worker, &q.message);
        while (!atomic_load(&q.answered))
            (void)sched_yield();
        if (atomic_load(&q.dozing)) {
            t->dozed++;
            return;
        }
        (void)usleep(5000); /* its clock runs on only while nobody asks */
    }
    TASK_ASSERT(!"the session does not doze");
}

/* -- the dialogue -- */

struct step {
    const char *command;
    const char *upload; /* NULL: a download, if it is a transfer */
    bool transfers;
};

static const struct step steps[] = {
    {"NOOP", NULL, false},
    {"USER ann", NULL, false},
    {"PASS wrong", NULL, false},
    {"USER ann", NULL, false},
    {"PASS right", NULL, false},
    {"OPTS MLST type;size;", NULL, false},
    {"TYPE I", NULL, false},
    {"MKD a b", NULL, false},
    {"CWD a b", NULL, false},
    {"PWD", NULL, false},
    {"STOR f", "contents of a file\n", true},
    {"SIZE f", NULL, false},
    {"REST 9", NULL, false},
    {"RETR f", NULL, true},
    {"ALLO 100", NULL, false},
    {"APPE f", "and more\n", true},
    {"RETR f", NULL, true},
    {"MLSD", NULL, true},
    {"NLST *", NULL, true},
    {"RNFR f", NULL, false},
    {"RNTO g", NULL, false},
    {"REST 3", NULL, false},
    {"STOR g", "XYZ", true},
    {"TYPE A", NULL, false},
    {"RETR g", NULL, true},
    {"EPSV ALL", NULL, false},
    {"PASV", NULL, false},
    {"DELE g", NULL, false},
    {"CDUP", NULL, false},
    {"RMD a b", NULL, false},
    {"RNTO x", NULL, false},
    {"REIN", NULL, false},
    {"PWD", NULL, false},
    {"USER ann", NULL, false},
    {"PASS right", NULL, false},
    {"PWD", NULL, false},
    {"QUIT", NULL, false},
};

static void note(struct transcript *t, const char *text, size_t len)
{
    TASK_ASSERT(t->len + len < TRANSCRIPT_MAX);
    memcpy(t->text + t->len, text, len);
    t->len += len;
}

static void note_line(struct transcript *t, const char *text)
{
    note(t, text, strlen(text));
}

static void transfer(struct ftp_client *c, const struct step *step, struct transcript *t)
{
    char bytes[512];
    int data = client_passive(c);
    TASK_ASSERT(data >= 0);
    TASK_ASSERT(client_say(c, step->command) == 150);
    note_line(t, c->reply);
    if (step->upload)
        TASK_ASSERT(send(data, step->upload, strlen(step->upload), MSG_NOSIGNAL) > 0);
    (void)shutdown(data, SHUT_WR);
    for (ssize_t n; (n = recv(data, bytes, sizeof(bytes), 0)) > 0;)
        note(t, bytes, (size_t)n);
    close(data);
    TASK_ASSERT(client_reply(c) == 226);
    note_line(t, c->reply);
}

static void dialogue(struct harness *h)
{
    static struct ftp_client c;
    struct transcript *t = h->client_state;
    c = (struct ftp_client){.fd = connect_port(h->port)};
    TASK_ASSERT(client_reply(&c) == 220);
    note_line(t, c.reply);
    for (unsigned i = 0; i < ARRAY_LEN(steps); i++) {
        if (t->doze)
            wait_until_it_dozes(h, t);
        note_line(t, steps[i].command);
        note_line(t, "\n");
        if (steps[i].transfers) {
            transfer(&c, &steps[i], t);
        } else {
            TASK_ASSERT(client_say(&c, steps[i].command) > 0);
            note_line(t, c.reply);
        }
    }
    client_close(&c);
}

static void dozing_before_each_command_makes_no_difference(void **state)
{
    (void)state;
    static struct transcript awake, dozing;
    struct harness h = {.client = dialogue, .client_state = &awake};
    (void)snprintf(h.root_path, sizeof(h.root_path), "/tmp/ferry-doze-%d", getpid());
    assert_int_equal(mkdir(h.root_path, 0755), 0);
    harness_run(&h, 1);
    h.client_state = &dozing;
    dozing.doze = true;
    harness_run(&h, 2);
    assert_int_equal(rmdir(h.root_path), 0);
    assert_int_equal(dozing.dozed, ARRAY_LEN(steps));
    assert_string_equal(awake.text, dozing.text);
    assert_non_null(strstr(awake.text, "contents of a file\nand more\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dozing_before_each_command_makes_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
