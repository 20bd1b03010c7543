/* The whole of SFTP in one dialogue, which reads the same however its bytes are cut. */
#include <fcntl.h>

#include "sftp_harness.h"

#define TRANSCRIPT_MAX 65536
#define SEEDS          24

struct transcript {
    size_t len;
    char text[TRANSCRIPT_MAX];
};

static void note(struct harness *h, const char *what)
{
    struct transcript *t = h->state;
    const struct sftp_answer *a = &h->answer;
    int n =
        snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s: %d id %u status %d len %zu\n",
                 what, a->type, a->id, a->type == SFTP_STATUS ? (int)a->status : -1,
                 a->type == SFTP_DATA ? a->data.len : 0);
    t->len += (size_t)n;
    TASK_ASSERT(t->len < sizeof(t->text));
}

static void note_text(struct harness *h, struct bytes text)
{
    struct transcript *t = h->state;
    TASK_ASSERT(t->len + text.len + 2 < sizeof(t->text));
    memcpy(t->text + t->len, text.data, text.len);
    t->len += text.len;
    t->text[t->len++] = '\n';
    t->text[t->len] = '\0';
}

static void note_names(struct harness *h, const char *what)
{
    struct bytes name, longname;
    struct sftp_attributes a;
    note(h, what);
    while (sftp_answer_name(&h->answer, &name, &longname, &a))
        note_text(h, name);
}

static void note_attributes(struct harness *h, const char *what)
{
    char text[64];
    const struct sftp_attributes *a = &h->answer.attributes;
    note(h, what);
    (void)snprintf(text, sizeof(text), "%o %llu", a->mode, (unsigned long long)a->size_bytes);
    note_text(h, bytes_str(text));
}

/* -- parts of the dialogue -- */

static void say_paths(struct harness *h)
{
    static const char *const paths[] = {"",           ".",         "..", "a/../b",
                                        "/x//y/./z/", "../../etc", "~"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        TASK_ASSERT(client_path(h, SFTP_KIND_REALPATH, paths[i]) == SFTP_NAME);
        note_names(h, "realpath");
    }
    TASK_ASSERT(client_path(h, SFTP_KIND_EXPAND_PATH, "~/k") == SFTP_NAME);
    note_names(h, "expand");
    TASK_ASSERT(client_path(h, SFTP_KIND_EXPAND_PATH, "~root") == SFTP_STATUS);
    note(h, "expand of another");
    TASK_ASSERT(client_path(h, SFTP_KIND_HOME_DIRECTORY, "ann") == SFTP_NAME);
    note_names(h, "home");
    TASK_ASSERT(client_path(h, SFTP_KIND_HOME_DIRECTORY, "root") == SFTP_STATUS);
    note(h, "home of another");
}

static void put_and_get(struct harness *h)
{
    struct client_handle f;
    struct bytes data = pattern_of(300);
    TASK_ASSERT(client_open(h, "f", CLIENT_CREATES | SFTP_OPEN_READ, &f) == SFTP_OK);
    TASK_ASSERT(client_put(h, &f, 0, bytes_first(data, 100)) == SFTP_OK);
    TASK_ASSERT(client_put(h, &f, 100, bytes_skip(data, 100)) == SFTP_OK);
    TASK_ASSERT(client_put(h, &f, 0, BYTES_NONE) == SFTP_OK);
    TASK_ASSERT(client_get(h, &f, 50, 1000) == SFTP_DATA);
    note(h, "get what was put");
    TASK_ASSERT(bytes_equal(h->answer.data, bytes_skip(data, 50)));
    TASK_ASSERT(client_ask(h, (struct sftp_request){.kind = SFTP_KIND_FSTAT,
                                                    .handle = handle_bytes(&f)}) == SFTP_ATTRS);
    note_attributes(h, "fstat");
    TASK_ASSERT(client_path(h, SFTP_KIND_STAT, "f") == SFTP_ATTRS);
    note_attributes(h, "stat of an upload");
    TASK_ASSERT(client_status(h, (struct sftp_request){.kind = SFTP_KIND_FSYNC,
                                                       .handle = handle_bytes(&f)}) == SFTP_OK);
    TASK_ASSERT(client_close(h, &f) == SFTP_OK);
    TASK_ASSERT(client_close(h, &f) == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_open(h, "f", SFTP_OPEN_READ, &f) == SFTP_OK);
    TASK_ASSERT(client_get(h, &f, 0, 300) == SFTP_DATA);
    TASK_ASSERT(bytes_equal(h->answer.data, data));
    TASK_ASSERT(client_get(h, &f, 0, 0) == SFTP_DATA && h->answer.data.len == 0);
    TASK_ASSERT(client_get(h, &f, 300, 1) == SFTP_STATUS && h->answer.status == SFTP_EOF);
    TASK_ASSERT(client_get(h, &f, UINT64_MAX, 1) == SFTP_STATUS);
    note(h, "get behind all");
    TASK_ASSERT(client_put(h, &f, 0, data) == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_close(h, &f) == SFTP_OK);
}

static void set_attributes(struct harness *h)
{
    struct sftp_request q = {.kind = SFTP_KIND_SETSTAT, .path = BYTES_LIT("f")};
    q.attributes = (struct sftp_attributes){.has = SFTP_ATTR_MODE | SFTP_ATTR_TIMES,
                                            .mode = 0104640,
                                            .atime_s = 5,
                                            .mtime_s = 1000000};
    TASK_ASSERT(client_status(h, q) == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_STAT, "f") == SFTP_ATTRS);
    TASK_ASSERT(h->answer.attributes.mtime_s == 1000000);
    note_attributes(h, "stat after setstat");
    q.attributes = (struct sftp_attributes){.has = SFTP_ATTR_OWNER, .uid = 7, .gid = 8};
    TASK_ASSERT(client_status(h, q) == SFTP_OK); /* accepted, and nothing is done */
    q.kind = SFTP_KIND_LSETSTAT;
    TASK_ASSERT(client_status(h, q) == SFTP_OK);
    q.kind = SFTP_KIND_SETSTAT;
    q.path = BYTES_LIT("missing");
    TASK_ASSERT(client_status(h, q) == SFTP_NO_SUCH_FILE);
    q.path = BYTES_LIT("f");
    q.attributes = (struct sftp_attributes){.has = SFTP_ATTR_SIZE, .size_bytes = 7};
    TASK_ASSERT(client_status(h, q) == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_LSTAT, "f") == SFTP_ATTRS);
    note_attributes(h, "lstat after truncation");
    q.attributes.size_bytes = UINT64_MAX;
    TASK_ASSERT(client_status(h, q) == SFTP_FAILURE);
}

static void change_names(struct harness *h)
{
    TASK_ASSERT(client_path(h, SFTP_KIND_MKDIR, "d") == SFTP_STATUS);
    note(h, "mkdir");
    TASK_ASSERT(client_path(h, SFTP_KIND_MKDIR, "d") == SFTP_STATUS);
    note(h, "mkdir again");
    TASK_ASSERT(put_file(h, "g", BYTES_LIT("g")));
    TASK_ASSERT(client_paths(h, SFTP_KIND_RENAME, "f", "g") == SFTP_FAILURE);
    TASK_ASSERT(client_paths(h, SFTP_KIND_RENAME, "f", "h") == SFTP_OK);
    TASK_ASSERT(client_paths(h, SFTP_KIND_POSIX_RENAME, "h", "g") == SFTP_OK);
    TASK_ASSERT(client_paths(h, SFTP_KIND_POSIX_RENAME, "h", "g") == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_paths(h, SFTP_KIND_SYMLINK, "../x y", "d/link") == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_READLINK, "d/link") == SFTP_NAME);
    note_names(h, "readlink");
    TASK_ASSERT(client_path(h, SFTP_KIND_READLINK, "g") == SFTP_STATUS);
    TASK_ASSERT(client_path(h, SFTP_KIND_LSTAT, "d/link") == SFTP_ATTRS);
    TASK_ASSERT((h->answer.attributes.mode & SFTP_MODE_KIND) == SFTP_MODE_LINK);
    TASK_ASSERT(client_path(h, SFTP_KIND_STAT, "d/link") == SFTP_STATUS);
    TASK_ASSERT(client_paths(h, SFTP_KIND_HARDLINK, "g", "g2") == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_RMDIR, "d") == SFTP_STATUS);
    note(h, "rmdir of a full one");
    TASK_ASSERT(client_path(h, SFTP_KIND_REMOVE, "d/link") == SFTP_STATUS);
    note(h, "remove");
    TASK_ASSERT(client_path(h, SFTP_KIND_RMDIR, "d") == SFTP_STATUS);
    note(h, "rmdir");
}

static void list(struct harness *h)
{
    struct client_handle d;
    TASK_ASSERT(put_file(h, "a\nname", BYTES_LIT("raw")));
    TASK_ASSERT(client_open_as(h, SFTP_KIND_OPENDIR, "g", 0, &d) == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_open_as(h, SFTP_KIND_OPENDIR, ".", 0, &d) == SFTP_OK);
    struct sftp_request q = {.kind = SFTP_KIND_READDIR, .handle = handle_bytes(&d)};
    TASK_ASSERT(client_ask(h, q) == SFTP_NAME);
    TASK_ASSERT(h->answer.count == 3); /* g, g2 and that one */
    note(h, "readdir");
    TASK_ASSERT(client_status(h, q) == SFTP_EOF);
    q.kind = SFTP_KIND_FSTAT;
    TASK_ASSERT(client_ask(h, q) == SFTP_ATTRS);
    TASK_ASSERT((h->answer.attributes.mode & SFTP_MODE_KIND) == SFTP_MODE_DIRECTORY);
    TASK_ASSERT(client_get(h, &d, 0, 1) == SFTP_STATUS);
    note(h, "read of a directory");
    TASK_ASSERT(client_close(h, &d) == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_REMOVE, "a\nname") == SFTP_STATUS);
    TASK_ASSERT(h->answer.status == SFTP_OK);
}

static void ask_for_the_rest(struct harness *h)
{
    struct sftp_limits limits;
    struct sftp_space space;
    TASK_ASSERT(client_ask(h, (struct sftp_request){.kind = SFTP_KIND_LIMITS}) ==
                SFTP_EXTENDED_REPLY);
    TASK_ASSERT(sftp_answer_limits(&h->answer, &limits) == 0);
    TASK_ASSERT(limits.read_bytes == 261120 && limits.handles == 256);
    TASK_ASSERT(client_path(h, SFTP_KIND_STATVFS, "/") == SFTP_EXTENDED_REPLY);
    TASK_ASSERT(sftp_answer_space(&h->answer, &space) == 0);
    TASK_ASSERT(space.block_bytes > 0 && space.blocks >= space.blocks_free);
    struct client_handle from, to;
    TASK_ASSERT(client_open(h, "g", SFTP_OPEN_READ, &from) == SFTP_OK);
    TASK_ASSERT(client_open(h, "copy", CLIENT_CREATES, &to) == SFTP_OK);
    TASK_ASSERT(client_ask(h, (struct sftp_request){.kind = SFTP_KIND_FSTATVFS,
                                                    .handle = handle_bytes(&to)}) ==
                SFTP_EXTENDED_REPLY);
    struct sftp_request q = {.kind = SFTP_KIND_COPY_DATA,
                             .handle = handle_bytes(&from),
                             .to_handle = handle_bytes(&to),
                             .offset = 1};
    TASK_ASSERT(client_status(h, q) == SFTP_OK);
    q.to_handle = handle_bytes(&from);
    TASK_ASSERT(client_status(h, q) == SFTP_BAD_MESSAGE);
    TASK_ASSERT(client_close(h, &from) == SFTP_OK);
    TASK_ASSERT(client_close(h, &to) == SFTP_OK);
    TASK_ASSERT(client_path(h, SFTP_KIND_STAT, "copy") == SFTP_ATTRS);
    note_attributes(h, "stat of a copy");
}

static void send_nonsense(struct harness *h)
{
    static const uint8_t unknown[] = {0, 0, 0, 5, 99, 0, 0, 0, 9};
    static const uint8_t cut_off[] = {0, 0, 0, 6, SFTP_OPEN, 0, 0, 0, 10, 0};
    TASK_ASSERT(client_write(h, bytes_of(unknown, sizeof(unknown))) && client_receive(h));
    TASK_ASSERT(h->answer.status == SFTP_OP_UNSUPPORTED);
    note(h, "unknown");
    TASK_ASSERT(client_write(h, bytes_of(cut_off, sizeof(cut_off))) && client_receive(h));
    TASK_ASSERT(h->answer.status == SFTP_BAD_MESSAGE);
    note(h, "cut off");
}

static void dialogue(struct harness *h)
{
    TASK_ASSERT(client_begin(h));
    say_paths(h);
    put_and_get(h);
    set_attributes(h);
    change_names(h);
    list(h);
    ask_for_the_rest(h);
    send_nonsense(h);
}

static struct transcript first, other;

static void however_it_is_cut_and_dozing_or_not_it_reads_the_same(void **state)
{
    (void)state;
    const char *root = make_root("sftp-dialogue");
    for (unsigned i = 0; i < SEEDS; i++) {
        static struct harness h;
        struct transcript *t = i == 0 ? &first : &other;
        t->len = 0;
        h = (struct harness){.root = root, .client = dialogue, .state = t};
        h.seed = i + 1;
        h.cut = i;
        h.cap = i % 3 == 0 ? 0 : 100 * i;
        h.is_plain = i % 2 == 1;
        h.pauses = i % 4 >= 2;
        harness_run(&h);
        assert_int_equal(h.result, 0);
        assert_string_equal(first.text, t->text);
        assert_true(!h.pauses || h.dozed > 40);
        clear_folder(root);
    }
    assert_int_equal(remove_root(root), 0);
    assert_non_null(strstr(first.text, "/etc"));
    assert_non_null(strstr(first.text, "../x y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_it_is_cut_and_dozing_or_not_it_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
