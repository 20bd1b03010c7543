/* The table of hostile paths through each request of SFTP that takes a path: nothing outside
 * the root is read, made or changed, and what leads there is refused. */
#include "hostile_tree.h"
#include "sftp_harness.h"

/* What a request does with the last name of a path. */
enum reach {
    FOLLOWS, /* what a link leads to */
    TAKES,   /* the name itself, which may be a link that leads out */
    NAMES,   /* nothing: it is text to it */
};

struct request {
    const char *name;
    enum sftp_kind kind;
    uint32_t flags;
    enum reach reach;
    bool is_second; /* the path is `to`; `other` is the first */
    const char *other;
    uint32_t attributes; /* 0: mode and times */
};

#define CLAIMS (SFTP_OPEN_WRITE | SFTP_OPEN_CREATE | SFTP_OPEN_EXCLUSIVE)

static const struct request requests[] = {
    {"open to read", SFTP_KIND_OPEN, SFTP_OPEN_READ, FOLLOWS, false, NULL, 0},
    {"open to update", SFTP_KIND_OPEN, SFTP_OPEN_READ | SFTP_OPEN_WRITE, FOLLOWS, false, NULL,
     0},
    {"open to rewrite", SFTP_KIND_OPEN, CLIENT_CREATES, FOLLOWS, false, NULL, 0},
    {"open to append", SFTP_KIND_OPEN, SFTP_OPEN_WRITE | SFTP_OPEN_CREATE | SFTP_OPEN_APPEND,
     FOLLOWS, false, NULL, 0},
    {"open to make", SFTP_KIND_OPEN, CLAIMS, FOLLOWS, false, NULL, 0},
    {"opendir", SFTP_KIND_OPENDIR, 0, FOLLOWS, false, NULL, 0},
    {"stat", SFTP_KIND_STAT, 0, FOLLOWS, false, NULL, 0},
    {"lstat", SFTP_KIND_LSTAT, 0, TAKES, false, NULL, 0},
    {"setstat", SFTP_KIND_SETSTAT, 0, FOLLOWS, false, NULL, 0},
    {"setstat of size", SFTP_KIND_SETSTAT, 0, FOLLOWS, false, NULL, SFTP_ATTR_SIZE},
    {"lsetstat", SFTP_KIND_LSETSTAT, 0, TAKES, false, NULL, 0},
    {"mkdir", SFTP_KIND_MKDIR, 0, FOLLOWS, false, NULL, 0},
    {"rmdir", SFTP_KIND_RMDIR, 0, FOLLOWS, false, NULL, 0},
    {"remove", SFTP_KIND_REMOVE, 0, TAKES, false, NULL, 0},
    {"rename from", SFTP_KIND_RENAME, 0, TAKES, false, "/moved", 0},
    {"rename to", SFTP_KIND_RENAME, 0, FOLLOWS, true, "/other", 0},
    {"posix-rename from", SFTP_KIND_POSIX_RENAME, 0, TAKES, false, "/moved", 0},
    {"posix-rename to", SFTP_KIND_POSIX_RENAME, 0, TAKES, true, "/other", 0},
    {"hardlink from", SFTP_KIND_HARDLINK, 0, FOLLOWS, false, "/moved", 0},
    {"hardlink to", SFTP_KIND_HARDLINK, 0, FOLLOWS, true, "/other", 0},
    {"readlink", SFTP_KIND_READLINK, 0, TAKES, false, NULL, 0},
    {"symlink to", SFTP_KIND_SYMLINK, 0, NAMES, false, "/moved", 0},
    {"symlink at", SFTP_KIND_SYMLINK, 0, FOLLOWS, true, "../outside/new", 0},
    {"statvfs", SFTP_KIND_STATVFS, 0, FOLLOWS, false, NULL, 0},
    {"realpath", SFTP_KIND_REALPATH, 0, NAMES, false, NULL, 0},
    {"expand-path", SFTP_KIND_EXPAND_PATH, 0, NAMES, false, NULL, 0},
};

struct walk {
    struct hostile_ground ground;
    const struct request *request;
    const struct hostile_path *path;
    unsigned asked, granted;
};

static void complain(const struct walk *w, const char *what)
{
    (void)fprintf(stderr, "%s of %s: %s\n", w->request->name, w->path->path, what);
    abort();
}

/* -- answers -- */

static void look_at_answer(struct harness *h)
{
    const struct walk *w = h->state;
    if (memmem(h->message, sizeof(h->message), HOSTILE_SECRET, strlen(HOSTILE_SECRET)) != NULL)
        complain(w, "what is outside was read");
}

/* true: granted. Of old messages nothing is left in the buffer. */
static bool ask(struct harness *h, struct sftp_request q)
{
    memset(h->message, 0, sizeof(h->message));
    int type = client_ask(h, q);
    TASK_ASSERT(type >= 0);
    look_at_answer(h);
    return type != SFTP_STATUS || h->answer.status == SFTP_OK;
}

/* All that can be done by a handle. */
static void use_file(struct harness *h, const struct client_handle *handle, uint32_t flags)
{
    struct walk *w = h->state;
    struct sftp_request q = {.handle = handle_bytes(handle)};
    if (flags == SFTP_OPEN_READ) {
        q.kind = SFTP_KIND_READ;
        q.len = 4096;
        TASK_ASSERT(ask(h, q) && h->answer.type == SFTP_DATA);
        if (!bytes_equal(h->answer.data, BYTES_LIT("inside")))
            complain(w, "another file was read");
    } else {
        TASK_ASSERT(client_put(h, handle, 0, BYTES_LIT("evil")) == SFTP_OK);
    }
    q.kind = SFTP_KIND_FSTAT;
    TASK_ASSERT(ask(h, q));
    q.kind = SFTP_KIND_FSETSTAT;
    q.attributes = (struct sftp_attributes){
        .has = SFTP_ATTR_TIMES, .atime_s = 1000000, .mtime_s = 1000000};
    (void)ask(h, q);
    q.kind = SFTP_KIND_FSTATVFS;
    (void)ask(h, q);
}

static void use_directory(struct harness *h, const struct client_handle *handle)
{
    const struct walk *w = h->state;
    const struct sftp_request q = {.kind = SFTP_KIND_READDIR, .handle = handle_bytes(handle)};
    while (ask(h, q)) {
        if (memmem(h->message, sizeof(h->message), "secret", 6) != NULL ||
            memmem(h->message, sizeof(h->message), "passwd", 6) != NULL)
            complain(w, "what is outside was listed");
    }
}

static void use_handle(struct harness *h)
{
    const struct walk *w = h->state;
    struct client_handle handle;
    TASK_ASSERT(h->answer.handle.len == SFTP_HANDLE_BYTES);
    memcpy(handle.data, h->answer.handle.data, SFTP_HANDLE_BYTES);
    if (w->request->kind == SFTP_KIND_OPENDIR)
        use_directory(h, &handle);
    else
        use_file(h, &handle, w->request->flags);
    (void)client_close(h, &handle);
}

/* What was made at /moved may be a link out: it leads nowhere either. */
static void use_what_was_made(struct harness *h)
{
    struct client_handle handle;
    memset(h->message, 0, sizeof(h->message));
    if (client_open(h, "/moved", SFTP_OPEN_READ, &handle) == SFTP_OK) {
        (void)client_get(h, &handle, 0, 4096);
        look_at_answer(h);
        (void)client_close(h, &handle);
    }
    if (client_open(h, "/moved", CLIENT_CREATES, &handle) == SFTP_OK) {
        (void)client_put(h, &handle, 0, BYTES_LIT("evil"));
        (void)client_close(h, &handle);
    }
    (void)client_path(h, SFTP_KIND_OPENDIR, "/moved");
    (void)client_path(h, SFTP_KIND_MKDIR, "/moved/new");
}

/* -- the walk -- */

/* Whether a request must be refused, whatever it does. */
static bool leads_out(const struct request *r, enum hostile_kind kind)
{
    return (kind == HOSTILE_OUT && r->reach != NAMES) ||
           (kind == HOSTILE_LINK_OUT && r->reach == FOLLOWS);
}

static void walk_one(struct harness *h)
{
    struct walk *w = h->state;
    const struct request *r = w->request;
    const struct bytes path = bytes_str(w->path->path);
    const struct bytes other = r->other != NULL ? bytes_str(r->other) : BYTES_NONE;
    const uint32_t has = r->attributes != 0 ? r->attributes : SFTP_ATTR_MODE | SFTP_ATTR_TIMES;
    hostile_reset(&w->ground);
    bool is_granted = ask(h, (struct sftp_request){
                                 .kind = r->kind,
                                 .path = r->is_second ? other : path,
                                 .to = r->is_second ? path : other,
                                 .flags = r->flags,
                                 .attributes = {.has = has,
                                                .size_bytes = 1,
                                                .mode = 0700,
                                                .atime_s = 1000000,
                                                .mtime_s = 1000000},
                             });
    if (is_granted && leads_out(r, w->path->kind))
        complain(w, "it leads out, and was granted");
    if (is_granted && h->answer.type == SFTP_HANDLE)
        use_handle(h);
    if (is_granted && r->other != NULL && !r->is_second)
        use_what_was_made(h);
    hostile_check(&w->ground, r->name, w->path->path);
    w->asked++;
    w->granted += is_granted;
}

static void walk_all(struct harness *h)
{
    struct walk *w = h->state;
    TASK_ASSERT(client_begin(h));
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        w->request = &requests[i];
        unsigned before = w->granted;
        for (size_t j = 0; j < ARRAY_LEN(hostile_paths); j++) {
            w->path = &hostile_paths[j];
            walk_one(h);
        }
        /* each can be granted; but no folder of the table is empty */
        if (w->granted == before && w->request->kind != SFTP_KIND_RMDIR)
            complain(w, "it is never granted");
    }
}

static void walk(bool is_plain)
{
    static struct harness h;
    struct walk w = {.asked = 0};
    char root[80];
    hostile_init(&w.ground);
    (void)snprintf(root, sizeof(root), "%s", hostile_at(w.ground.base, "root"));
    h = (struct harness){
        .root = root, .client = walk_all, .seed = 1, .state = &w, .is_plain = is_plain};
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(w.asked, ARRAY_LEN(requests) * ARRAY_LEN(hostile_paths));
    hostile_done(&w.ground);
}

static void hostile_paths_reach_nothing_outside(void **state)
{
    (void)state;
    walk(false);
}

/* Where uploads go to their names at once, an open makes the file itself. */
static void nor_do_they_where_uploads_are_in_place(void **state)
{
    (void)state;
    walk(true);
}

/* A request that takes a path and has no row here would be missing. */
static void each_request_with_a_path_is_in_the_walk(void **state)
{
    (void)state;
    for (enum sftp_kind kind = 0; kind < SFTP_KIND_COUNT; kind++) {
        const char *fields = sftp_kind_row(kind)->fields;
        bool has_path = strpbrk(fields, "pt") != NULL && kind != SFTP_KIND_HOME_DIRECTORY;
        bool is_walked = false;
        for (size_t i = 0; i < ARRAY_LEN(requests); i++)
            is_walked = is_walked || requests[i].kind == kind;
        assert_int_equal(is_walked, has_path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_paths_reach_nothing_outside),
        cmocka_unit_test(nor_do_they_where_uploads_are_in_place),
        cmocka_unit_test(each_request_with_a_path_is_in_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
