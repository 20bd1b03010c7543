/* The table of hostile paths through scp, tar, cat and sha256sum, as commands of a real
 * session: nothing outside the root is read, made or changed, and what leads there is refused.
 */
#include <crypt.h>

#include "hostile_tree.h"
#include "server/services.h"
#include "ssh_link.h"
#include "ssh_session_link.h"

#define BLOCK       512
#define COMMAND_MAX 1024

/* What a command gets on its standard input. */
enum input { NOTHING, SCP_YES, SCP_FILE, SCP_TREE, SCP_NAMED, TAR_FILE, TAR_NAMED };

struct command {
    const char *text; /* "%s": the path, quoted for a shell */
    enum input input;
    char type;        /* TAR_NAMED: of the entry */
    bool must_refuse; /* what leads out */
    bool takes_links; /* as links, which it does not follow: no refusal is due */
};

static const struct command commands[] = {
    {"cat -- %s", NOTHING, 0, true, false},
    {"sha256sum -- %s", NOTHING, 0, true, false},
    {"scp -f %s", SCP_YES, 0, true, false},
    {"scp -p -r -f %s", SCP_YES, 0, true, false},
    {"scp -t %s", SCP_FILE, 0, true, false},
    {"scp -p -t %s", SCP_FILE, 0, true, false},
    {"scp -d -t %s", SCP_FILE, 0, true, false},
    {"scp -r -t %s", SCP_TREE, 0, true, false},
    {"scp -t /", SCP_NAMED, 'C', false, false},
    {"scp -r -t /", SCP_NAMED, 'D', false, false},
    {"tar cf - %s", NOTHING, 0, true, true},
    {"tar cf - -C %s .", NOTHING, 0, true, true}, /* "." of a link is the link */
    {"tar cf - -C %s file", NOTHING, 0, true, false},
    {"tar cf - -C %s secret sub", NOTHING, 0, false, false},
    {"tar xf - -C %s", TAR_FILE, 0, true, false},
    {"tar xf -", TAR_NAMED, '0', false, false},
    {"tar xf -", TAR_NAMED, '5', false, false},
    {"tar xf -", TAR_NAMED, '1', false, false},
    {"tar xf -", TAR_NAMED, '2', false, false},
    {"tar xpf -", TAR_NAMED, '2', false, false},
};

struct walk {
    struct hostile_ground ground;
    const struct command *command;
    const struct hostile_path *path;
    struct ssh_connection *connection;
    unsigned run, done_well;
    uint8_t input[16 * BLOCK];
    size_t input_len;
    uint8_t output[64 * 1024];
    size_t output_len;
};

static void complain(const struct walk *w, const char *what)
{
    (void)fprintf(stderr, "%s, %s: %s\n", w->command->text, w->path->path, what);
    abort();
}

/* -- what a command is given -- */

static void add(struct walk *w, const char *text, size_t len)
{
    TASK_ASSERT(len <= sizeof(w->input) - w->input_len);
    memcpy(w->input + w->input_len, text, len);
    w->input_len += len;
}

static void add_text(struct walk *w, const char *text)
{
    add(w, text, strlen(text));
}

/* POSIX.1-1988 ustar. */
static void add_entry(struct walk *w, const char *name, char type, const char *link,
                      const char *contents)
{
    char h[BLOCK] = "";
    unsigned sum = 0;
    (void)snprintf(h, 100, "%s", name);
    (void)snprintf(h + 100, 8, "%07o", 0777);
    (void)snprintf(h + 124, 12, "%011o", (unsigned)strlen(contents) & 0xffff);
    (void)snprintf(h + 136, 12, "%011o", 1000000);
    h[156] = type;
    (void)snprintf(h + 157, 100, "%s", link);
    memcpy(h + 257, "ustar\00000", 8);
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (uint8_t)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    add(w, h, BLOCK);
    if (contents[0] == '\0')
        return;
    memset(h, 0, BLOCK);
    memcpy(h, contents, strlen(contents));
    add(w, h, BLOCK);
}

/* The path as a name, or as where a link leads that files are then put through. */
static void add_named_entries(struct walk *w, const char *path, char type)
{
    bool is_link = type == '1' || type == '2';
    if (!is_link) {
        add_entry(w, path, type, "", type == '0' ? "evil" : "");
        return;
    }
    add_entry(w, "made", type, path, "");
    add_entry(w, "made", '0', "", "evil");
    add_entry(w, "again", type, path, "");
    add_entry(w, "again/new", '0', "", "evil");
    add_entry(w, "again/", '5', "", "");
}

static void make_input(struct walk *w)
{
    static const char zeros[2 * BLOCK];
    const char *path = w->path->path;
    w->input_len = 0;
    switch (w->command->input) {
    case NOTHING:
        break;
    case SCP_YES:
        add(w, zeros, 256);
        break;
    case SCP_FILE:
        add_text(w, "T1000000 0 1000000 0\nC0777 4 evil\nevil");
        add(w, zeros, 1);
        break;
    case SCP_TREE:
        add_text(w, "D0777 0 evil\nC0777 4 evil\nevil");
        add(w, zeros, 1);
        add_text(w, "E\n");
        break;
    case SCP_NAMED:
        add_text(w, w->command->type == 'C' ? "C0777 4 " : "D0777 0 ");
        add_text(w, path);
        add_text(w, w->command->type == 'C' ? "\nevil" : "\nC0777 4 evil\nevil");
        add(w, zeros, 1);
        add_text(w, w->command->type == 'C' ? "" : "E\n");
        break;
    case TAR_FILE:
        add_entry(w, "evil", '0', "", "evil");
        add(w, zeros, sizeof(zeros));
        break;
    case TAR_NAMED:
        add_named_entries(w, path, w->command->type);
        add(w, zeros, sizeof(zeros));
        break;
    }
}

static const char *make_command(const struct walk *w)
{
    static char text[2 * COMMAND_MAX], quoted[COMMAND_MAX];
    (void)snprintf(quoted, sizeof(quoted), "'%s'", w->path->path); /* none has a quote */
    const char *hole = strstr(w->command->text, "%s");
    if (hole == NULL)
        return w->command->text;
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - w->command->text),
                   w->command->text, quoted, hole + 2);
    return text;
}

/* -- running it -- */

static void read_all(struct walk *w, struct stream *s)
{
    w->output_len = 0;
    while (w->output_len < sizeof(w->output)) {
        ssize_t n =
            stream_read(s, w->output + w->output_len, sizeof(w->output) - w->output_len);
        if (n <= 0)
            return;
        w->output_len += (size_t)n;
    }
    TASK_ASSERT(w->output_len < sizeof(w->output));
}

/* Its exit status. */
static int run_command(struct walk *w)
{
    struct ssh_channel *channel;
    make_input(w);
    TASK_ASSERT(ssh_channel_open_session(w->connection, false, bytes_str(make_command(w)),
                                         clock_after(STALL_US), &channel) == 0);
    struct stream *s = ssh_channel_stream(channel);
    (void)!stream_write_bytes(s, bytes_of(w->input, w->input_len));
    (void)!stream_end(s, clock_after(STALL_US));
    read_all(w, s);
    int status = ssh_channel_status(channel, clock_after(STALL_US));
    (void)ssh_channel_close(channel);
    return status;
}

static bool output_has(const struct walk *w, const char *text)
{
    return memmem(w->output, w->output_len, text, strlen(text)) != NULL;
}

/* sha256sum tells of contents that it does not show. */
static void look_at_output(const struct walk *w)
{
    static char digest[65];
    if (digest[0] == '\0') {
        uint8_t value[CRYPTO_DIGEST_MAX];
        struct bytes part = BYTES_LIT(HOSTILE_SECRET);
        TASK_ASSERT(crypto_digest(CRYPTO_SHA256, &part, 1, value) == 0);
        for (size_t i = 0; i < 32; i++)
            (void)snprintf(digest + 2 * i, 3, "%02x", value[i]);
    }
    if (output_has(w, HOSTILE_SECRET) || output_has(w, digest) || output_has(w, "root:x:0"))
        complain(w, "what is outside was read");
    if (w->command->takes_links && w->path->kind == HOSTILE_LINK_OUT)
        return;
    if (w->path->kind == HOSTILE_LINK_OUT && output_has(w, "secret"))
        complain(w, "what is outside was listed");
}

static bool leads_out(const struct walk *w)
{
    return w->path->kind == HOSTILE_OUT ||
           (w->path->kind == HOSTILE_LINK_OUT && !w->command->takes_links);
}

/* What came into being as a link is used once more. */
static void use_what_was_made(struct walk *w)
{
    static const struct command uses[] = {
        {"cat made again/secret", NOTHING, 0, false, false},
        {"scp -t made", SCP_FILE, 0, false, false},
        {"scp -t again", SCP_FILE, 0, false, false},
        {"tar xf - -C again", TAR_FILE, 0, false, false},
    };
    const struct command *before = w->command;
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        w->command = &uses[i];
        (void)run_command(w);
        look_at_output(w);
    }
    w->command = before;
}

static void walk_one(struct walk *w)
{
    hostile_reset(&w->ground);
    int status = run_command(w);
    TASK_ASSERT(status >= 0);
    look_at_output(w);
    if (status == 0 && w->command->must_refuse && leads_out(w))
        complain(w, "it leads out, and was granted");
    if (w->command->type == '1' || w->command->type == '2')
        use_what_was_made(w);
    hostile_check(&w->ground, w->command->text, w->path->path);
    w->run++;
    w->done_well += status == 0;
}

static int walk_all(struct link *l)
{
    struct walk *w = l->state;
    w->connection = ssh_client_connection(l->client);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        unsigned before = w->done_well;
        w->command = &commands[i];
        for (size_t j = 0; j < ARRAY_LEN(hostile_paths); j++) {
            w->path = &hostile_paths[j];
            walk_one(w);
        }
        if (w->command->must_refuse && w->done_well == before)
            complain(w, "it never ends well");
    }
    return 0;
}

/* -- the session -- */

static void world_init(struct session_world *world, const struct walk *w)
{
    struct account *a = NULL;
    TASK_ASSERT(vroot_open(hostile_at(w->ground.base, "root"), VROOT_BENEATH, &world->root) ==
                0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &world->auth) == 0);
    TASK_ASSERT(account_new(BYTES_LIT("ann"), &a) == 0);
    TASK_ASSERT(rights_set(&a->rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    a->hash = mem_strdup(crypt("any", "$5$rounds=1000$ferry")); /* not the subject */
    TASK_ASSERT(a->hash != NULL && auth_add(world->auth, a) == 0);
    world->settings = (struct session_settings){
        .roots = &world->root,
        .auth = world->auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .vfs = {.atomic_upload = true,
                .sendfile = true,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    TASK_ASSERT(session_shared_new(&world->settings, &world->shared) == 0);
    static const struct ssh_offer_settings offers;
    TASK_ASSERT(ssh_offer_new(SSH_SERVER, &offers, &world->offer) == 0);
    world->server = (struct ssh_server){
        .shared = world->shared,
        .auth = world->auth,
        .transport = {.role = SSH_SERVER,
                      .offer = world->offer,
                      .host_keys = test_host_keys(),
                      .pool = world->settings.files_pool},
        .services = services_ssh,
    };
}

static void world_done(struct session_world *world)
{
    ssh_offer_free(world->offer);
    session_shared_free(world->shared);
    auth_free(world->auth);
    vroot_unref(world->root);
}

static void session_main_of_test(void *arg)
{
    struct walk *w = arg;
    struct session_world world = {.root = NULL};
    struct session_link s = {.result = 0};
    struct link l = {.dialogue = walk_all, .state = w};
    struct scope clients;
    struct stream *stream;
    scope_init(&clients);
    scope_init(&s.sessions);
    world_init(&world, w);
    session_connect(&s, &world, &stream);
    link_client(&l, stream, &clients);
    if (l.connected < 0)
        (void)fprintf(stderr, "login: %s\n", l.why);
    TASK_ASSERT(l.connected == 0 && l.result == 0);
    TASK_ASSERT(scope_wait(&clients, USEC_NEVER) == 0);
    TASK_ASSERT(scope_wait(&s.sessions, USEC_NEVER) == 0);
    scope_leave(&clients);
    scope_leave(&s.sessions);
    world_done(&world);
}

static void hostile_paths_of_commands_reach_nothing_outside(void **state)
{
    (void)state;
    static struct walk w;
    hostile_init(&w.ground);
    run_deterministic(1, session_main_of_test, &w);
    assert_int_equal(w.run, ARRAY_LEN(commands) * ARRAY_LEN(hostile_paths));
    hostile_done(&w.ground);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_paths_of_commands_reach_nothing_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
