/* A client that is killed in mid-upload: the kernel ends its data connection in good order, and
 * its control connection a moment later. No half file may stand under the name, a new one
 * either. */
#include "ftp_harness.h"

#define MANY_TURNS 500

static char upload[200000];

/* Runs on the server's worker, whose clock stands still while a task yields: the two ends are
 * turns of the loop apart, and no time. */
struct death {
    struct worker_message message;
    struct scope scope;
    int data, control;
    _Atomic bool is_over;
};

static void die(void *arg)
{
    struct death *d = arg;
    close(d->data);
    for (unsigned i = 0; i < MANY_TURNS; i++)
        task_yield();
    close(d->control);
    atomic_store(&d->is_over, true);
}

static void on_death(struct worker_message *message)
{
    struct death *d = (struct death *)message;
    scope_init(&d->scope);
    TASK_ASSERT(scope_start(&d->scope, "death", TASK_NORMAL, die, d, NULL) == 0);
}

static void upload_and_die(struct harness *h)
{
    static struct ftp_client c;
    static struct death death;
    c = (struct ftp_client){.fd = connect_port(h->port)};
    TASK_ASSERT(client_reply(&c) == 220);
    TASK_ASSERT(client_say(&c, "USER ann") == 331);
    TASK_ASSERT(client_say(&c, "PASS right") == 230);
    TASK_ASSERT(client_say(&c, "TYPE I") == 200);
    int data = client_passive(&c);
    TASK_ASSERT(data >= 0);
    TASK_ASSERT(client_say(&c, "STOR file") == 150);
    for (size_t sent = 0; sent < sizeof(upload);) {
        ssize_t n = send(data, upload + sent, sizeof(upload) - sent, MSG_NOSIGNAL);
        TASK_ASSERT(n > 0);
        sent += (size_t)n;
    }
    death = (struct death){.message.fn = on_death, .data = data, .control = c.fd};
    worker_post(h->worker, &death.message);
    while (!atomic_load(&death.is_over))
        (void)sched_yield();
}

static void a_half_file_gets_no_name(void **state)
{
    (void)state;
    struct harness h = {.client = upload_and_die};
    char command[160], path[80];
    (void)snprintf(h.root_path, sizeof(h.root_path), "/tmp/ferry-killed-%d", getpid());
    (void)snprintf(path, sizeof(path), "%s/file", h.root_path);
    assert_int_equal(mkdir(h.root_path, 0755), 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        harness_run(&h, seed);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(errno, ENOENT);
    }
    (void)snprintf(command, sizeof(command), "rm -rf %s", h.root_path);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_half_file_gets_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
