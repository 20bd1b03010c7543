/* An endpoint by FTP, against our server: what every endpoint does, with what FEAT tells and
 * without. */
#define ftp_client blocking_client /* the harness has one of its own, of plain calls */
#include "ftp_harness.h"
#undef ftp_client
#include "client/place/login.h"
#include "endpoint_cases.h"

struct place {
    struct harness harness; /* root_path */
    bool is_poor;           /* the server is taken for one that has no MLST */
    struct harness_server server;
    struct listener *listener;
    struct scope sessions;
    struct addr local;
    bool done;
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
        TASK_ASSERT(r == 0);
    }
}

static PARKS void use(struct place *p)
{
    char user[] = "ann", password[] = "right", host[] = "127.0.0.1", path[] = "";
    const struct location at_server = {.scheme = LOCATION_FTP,
                                       .user = user,
                                       .password = password,
                                       .host = host,
                                       .port = addr_port(&p->local),
                                       .path = path};
    const struct login_settings settings = {.pool = runtime_files_pool(runtime_self()),
                                            .is_batch = true};
    struct endpoint_place place = {
        .prefix = "", .folder = p->harness.root_path, .has_no_sha256 = true};
    struct endpoint *local;
    struct ftp_link *link;
    char why[LOGIN_WHY_MAX];
    int r = ftp_link_open(&at_server, &settings, why, &link);
    if (r < 0)
        (void)fprintf(stderr, "%s\n", why);
    TASK_ASSERT(r == 0 && link->has_mlst && link->has_size && link->has_mfmt);
    if (p->is_poor)
        link->has_mlst = link->has_mfmt = false;
    TASK_ASSERT(endpoint_ftp_new(link, &place.e) == 0);
    TASK_ASSERT(endpoint_local_new(place.folder, settings.pool, &local) == 0);
    place.vfs = endpoint_vfs(local);
    place.has_no_set = p->is_poor;
    endpoint_cases(&place);
    (void)endpoint_free(place.e);
    (void)endpoint_free(local);
    p->done = true;
}

static void place_main(void *arg)
{
    struct place *p = arg;
    struct scope acceptors;
    int fd;
    server_setup(&p->harness, &p->server);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &p->local) == 0);
    TASK_ASSERT(tcp_listen(&p->local, 64, &fd) == 0);
    TASK_ASSERT(listener_new(fd, &p->listener) == 0);
    TASK_ASSERT(listener_for_dialogues(p->listener) == 0);
    scope_init(&p->sessions);
    scope_init(&acceptors);
    TASK_ASSERT(scope_start(&acceptors, "accept", TASK_NORMAL, accept_clients, p, NULL) == 0);
    use(p);
    scope_leave(&acceptors);
    session_end_all(SESSION_KICKED);
    TASK_ASSERT(scope_wait(&p->sessions, USEC_NEVER) == 0);
    scope_leave(&p->sessions);
    listener_free(p->listener);
    session_shared_free(p->server.shared);
    auth_free(p->server.auth);
    vroot_unref(p->server.root);
}

static void run(bool is_poor)
{
    struct place p = {.is_poor = is_poor};
    (void)snprintf(p.harness.root_path, sizeof(p.harness.root_path), "/tmp/ferry-ftp-%d",
                   getpid());
    assert_int_equal(mkdir(p.harness.root_path, 0755), 0);
    run_threaded(1, place_main, &p);
    assert_true(p.done);
    assert_int_equal(rmdir(p.harness.root_path), 0);
}

static void does_what_an_endpoint_does(void **state)
{
    (void)state;
    run(false);
}

static void does_the_same_by_what_old_servers_have(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_what_an_endpoint_does),
        cmocka_unit_test(does_the_same_by_what_old_servers_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
