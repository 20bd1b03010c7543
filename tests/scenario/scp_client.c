/* scp's client against scp's server: files and trees, both ways, cut anywhere. */
#include <errno.h>

#include "scp_client_harness.h"

#define FILE_BYTES 100000
#define CUTS       6
#define SECONDS    1000000007

static void put_pattern(const struct harness *h, const char *name, size_t len)
{
    static uint8_t data[FILE_BYTES];
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(i);
    put(h, name, bytes_of(data, len));
}

static bool holds_pattern(const struct harness *h, const char *name, size_t len)
{
    static uint8_t data[FILE_BYTES + 1];
    int fd = open(path_of(h, name), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, data, sizeof(data));
    (void)close(fd);
    for (size_t i = 0; i < len && n == (ssize_t)len; i++)
        if (data[i] != byte_at(i))
            return false;
    return n == (ssize_t)len;
}

static void make_directory(const struct harness *h, const char *name)
{
    assert_int_equal(mkdir(path_of(h, name), 0755), 0);
}

static void set_time(const struct harness *h, const char *name)
{
    const struct timespec times[2] = {{5, 0}, {SECONDS, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path_of(h, name), times, 0), 0);
}

static long long time_of(const struct harness *h, const char *name)
{
    struct stat st;
    return stat(path_of(h, name), &st) == 0 ? (long long)st.st_mtime : -1;
}

/* t/f, t/sub/g, t/sub/deep, u */
static void make_tree(const struct harness *h)
{
    make_directory(h, "t");
    make_directory(h, "t/sub");
    make_directory(h, "t/sub/deep");
    put_pattern(h, "t/f", FILE_BYTES);
    put_pattern(h, "t/sub/g", 1);
    put_pattern(h, "u", 0);
    set_time(h, "t/sub/g");
    set_time(h, "t/f");
    set_time(h, "t/sub/deep");
    set_time(h, "t/sub");
    set_time(h, "t");
}

static void play_get(struct harness *h, uint64_t cut)
{
    h->steps = gets;
    h->count = 1;
    begin(h, cut);
    root_new(h);
    make_tree(h);
    play(h);
    root_remove(h);
    assert_int_equal(wrong_bytes, 0);
    skips = NULL;
    fails_with = 0;
}

/* -- get -- */

static void a_tree_comes_whole_with_times_and_modes(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.options = {.is_recursive = true, .keeps_times = true},
                            .names = BYTES_LIT("t\0")};
        ASK("some/where/t/");
        request.keeps_times = true;
        play_get(&h, cut);
        assert_string_equal(notes, "dir t 755 @1000000007\n"
                                   "file t/f 644 @1000000007\nOK 100000\n"
                                   "dir t/sub 755 @1000000007\n"
                                   "file t/sub/g 644 @1000000007\nOK 1\n"
                                   "dir t/sub/deep 755 @1000000007\nup\nup\nup\n");
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
    }
}

static void several_files_come_as_they_were_asked_for(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.names = BYTES_LIT("u\0t/sub/g\0t/f\0")};
        ASK("u", "t/sub/*", "t/f");
        request.is_recursive = false;
        play_get(&h, cut);
        assert_string_equal(notes,
                            "file u 644\nOK 0\nfile g 644\nOK 1\nfile f 644\nOK 100000\n");
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
    }
}

static void what_the_server_complains_of_does_not_end_it(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.names = BYTES_LIT("none\0u\0")};
        ASK("none", "u");
        play_get(&h, cut);
        assert_string_equal(
            notes, "complaint: scp: /none: no such file or directory\nfile u 644\nOK 0\n");
        assert_int_equal(result, SCP_NOT_ALL);
    }
}

static void what_is_skipped_is_said_and_the_rest_comes(void **state)
{
    (void)state;

    static const struct {
        const char *path, *in, *notes;
    } rows[] = {
        {"t/f", "begin",
         "dir t 755\nfile t/f 644\ndir t/sub 755\nfile t/sub/g 644\nOK 1\n"
         "dir t/sub/deep 755\nup\nup\nup\n"},
        {"t/f", "end",
         "dir t 755\nfile t/f 644\nOK 100000\ndir t/sub 755\nfile t/sub/g 644\nOK 1\n"
         "dir t/sub/deep 755\nup\nup\nup\n"},
        {"t/sub/g", "data",
         "dir t 755\nfile t/f 644\nOK 100000\ndir t/sub 755\nfile t/sub/g 644\n"
         "FERRY_EREFUSED 1\ndir t/sub/deep 755\nup\nup\nup\n"},
        {"t/sub", "begin", "dir t 755\nfile t/f 644\nOK 100000\ndir t/sub 755\nup\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (uint64_t cut = 0; cut < CUTS; cut++) {
            struct harness h = {.options = {.is_recursive = true}, .names = BYTES_LIT("t\0")};
            ASK("t");
            skips = rows[i].path;
            skips_in = rows[i].in;
            play_get(&h, cut);
            assert_string_equal(notes, rows[i].notes);
            assert_int_equal(result, 0);
            assert_int_equal(h.result, 1); /* the server heard of it */
        }
    }
}

static void a_sink_that_fails_ends_it(void **state)
{
    (void)state;
    static const char *const places[] = {"begin", "data", "end"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct harness h = {.options = {.is_recursive = true}, .names = BYTES_LIT("t\0")};
        ASK("t");
        skips = "t/f";
        skips_in = places[i];
        fails_with = -ENOSPC;
        play_get(&h, 1);
        assert_int_equal(result, -ENOSPC);
        assert_null(strstr(notes, "sub"));
        assert_true(i == 0 || strstr(notes, i == 1 ? "ENOSPC" : "OK 100000") != NULL);
    }
}

static void the_bounds_of_a_request_hold(void **state)
{
    (void)state;
    struct harness h = {.options = {.is_recursive = true}, .names = BYTES_LIT("t\0")};
    ASK("t");
    request.entries_max = 4;
    play_get(&h, 1);
    assert_int_equal(result, -FERRY_ELIMIT);
    ASK("t");
    request.bytes_max = FILE_BYTES;
    play_get(&h, 1);
    assert_int_equal(result, -EFBIG);
    assert_non_null(strstr(notes, "OK 100000"));
    ASK("t");
    request.entries_max = 5;
    request.bytes_max = FILE_BYTES + 1;
    play_get(&h, 1);
    assert_int_equal(result, 0);
}

/* -- put -- */

struct move {
    enum { PUSH, POP, FILE_OF } kind;

    const char *name;
    uint64_t size, source;
    int expected, source_error;
};

static const struct move *moves;
static unsigned move_count;
static bool has_times;

static int make_move(struct scp_put *p, const struct move *m)
{
    const struct scp_file file = {
        .name = m->name != NULL ? bytes_str(m->name) : BYTES_NONE,
        .size_bytes = m->size,
        .mode = m->kind == PUSH ? 0750 : 0640,
        .has_times = has_times,
        .mtime_us = SECONDS * USEC_PER_S,
    };
    source_bytes = m->source;
    source_error = m->source_error;
    switch (m->kind) {
    case PUSH:
        return scp_client_put_push(p, &file);
    case POP:
        return scp_client_put_pop(p);
    case FILE_OF:
        break;
    }
    return scp_client_put_file(p, &file, give_bytes, NULL);
}

static void put_it(struct harness *h)
{
    struct scp_put *p;
    result = scp_client_put_begin(h->peers, on_complaint, NULL, &p);
    if (result < 0)
        return;
    for (unsigned i = 0; i < move_count; i++) {
        int r = make_move(p, &moves[i]);
        if (r != moves[i].expected)
            note("move %u: %s\n", i, err_name(r));
    }
    result = scp_client_put_end(p);
}

static const struct step puts_it[] = {DOES(put_it)};

#define MOVES(...)                                                                             \
    do {                                                                                       \
        static const struct move list[] = {__VA_ARGS__};                                       \
        moves = list;                                                                          \
        move_count = ARRAY_LEN(list);                                                          \
    } while (0)

static void play_put(struct harness *h, uint64_t cut)
{
    h->steps = puts_it;
    h->count = 1;
    begin(h, cut);
    play(h);
}

static void a_file_is_put_whole(void **state)
{
    (void)state;
    MOVES({FILE_OF, "f", FILE_BYTES, FILE_BYTES, 0, 0});
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.options = {.keeps_times = true}, .target = "g"};
        has_times = true;
        root_new(&h);
        play_put(&h, cut);
        assert_string_equal(notes, "");
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
        assert_true(holds_pattern(&h, "g", FILE_BYTES) && time_of(&h, "g") == SECONDS);
        root_remove(&h);
    }
}

static void a_tree_is_put_whole_with_times_and_modes(void **state)
{
    (void)state;
    MOVES({PUSH, "t", 0, 0, 0, 0}, {FILE_OF, "f", FILE_BYTES, FILE_BYTES, 0, 0},
          {PUSH, "sub", 0, 0, 0, 0}, {FILE_OF, "empty", 0, 0, 0, 0}, {POP, NULL, 0, 0, 0, 0},
          {FILE_OF, "after it's", 3, 3, 0, 0}, {POP, NULL, 0, 0, 0, 0},
          {FILE_OF, "u", 5, 5, 0, 0});
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {
            .options = {.is_recursive = true, .keeps_times = true, .needs_directory = true},
            .target = "."};
        struct stat st;
        has_times = true;
        root_new(&h);
        play_put(&h, cut);
        assert_string_equal(notes, "");
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
        assert_true(holds_pattern(&h, "t/f", FILE_BYTES) && holds_pattern(&h, "u", 5));
        assert_true(holds_pattern(&h, "t/sub/empty", 0));
        assert_true(holds_pattern(&h, "t/after it's", 3));
        assert_true(time_of(&h, "t") == SECONDS && time_of(&h, "t/sub") == SECONDS);
        assert_int_equal(stat(path_of(&h, "t/sub"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0750);
        root_remove(&h);
    }
}

static void what_the_server_cannot_store_does_not_end_it(void **state)
{
    (void)state;
    MOVES({PUSH, "is a file", 0, 0, SCP_SKIP, 0}, {FILE_OF, "is a dir", 3, 3, SCP_SKIP, 0},
          {FILE_OF, "f", 3, 3, 0, 0});
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.options = {.is_recursive = true}, .target = "."};
        has_times = false;
        root_new(&h);
        make_directory(&h, "is a dir");
        put_pattern(&h, "is a file", 0);
        play_put(&h, cut);
        assert_null(strstr(notes, "move"));
        assert_non_null(strstr(notes, "complaint: scp: /is a file: "));
        assert_non_null(strstr(notes, "complaint: scp: /is a dir: "));
        assert_int_equal(result, SCP_NOT_ALL);
        assert_true(holds_pattern(&h, "f", 3));
        root_remove(&h);
    }
}

static void a_source_that_ends_too_early_leaves_no_file_and_the_next_is_put(void **state)
{
    (void)state;
    MOVES({FILE_OF, "short", FILE_BYTES, 5000, SCP_SKIP, 0},
          {FILE_OF, "broken", FILE_BYTES, 5000, SCP_SKIP, -EIO}, {FILE_OF, "f", 3, 3, 0, 0});
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.target = "."};
        has_times = false;
        root_new(&h);
        play_put(&h, cut);
        assert_null(strstr(notes, "move"));
        assert_non_null(strstr(notes, "complaint: short: "));
        assert_non_null(strstr(notes, "complaint: broken: "));
        assert_int_equal(result, SCP_NOT_ALL);
        assert_false(exists(&h, "short") || exists(&h, "broken"));
        assert_true(holds_pattern(&h, "f", 3));
        root_remove(&h);
    }
}

static void a_cancelled_source_ends_it(void **state)
{
    (void)state;
    MOVES({FILE_OF, "f", FILE_BYTES, 5000, -ECANCELED, -ECANCELED});
    struct harness h = {.target = "."};
    has_times = false;
    root_new(&h);
    play_put(&h, 3);
    assert_string_equal(notes, "");
    assert_false(exists(&h, "f"));
    root_remove(&h);
}

static void a_name_that_is_no_component_is_not_sent(void **state)
{
    (void)state;
    MOVES({FILE_OF, "", 3, 3, -FERRY_EBADNAME, 0}, {FILE_OF, "a/b", 3, 3, -FERRY_EBADNAME, 0},
          {PUSH, "..", 0, 0, -FERRY_EBADNAME, 0}, {PUSH, "a/", 0, 0, -FERRY_EBADNAME, 0},
          {FILE_OF, "f", 3, 3, 0, 0});
    struct harness h = {.options = {.is_recursive = true}, .target = "."};
    root_new(&h);
    play_put(&h, 1);
    assert_string_equal(notes, "");
    assert_int_equal(result, 0);
    root_remove(&h);
}

static void a_server_that_will_not_receive_says_why(void **state)
{
    (void)state;
    MOVES({FILE_OF, "f", 3, 3, 0, 0});
    struct harness h = {.options = {.needs_directory = true}, .target = "none"};
    root_new(&h);
    play_put(&h, 2);
    assert_int_equal(result, -FERRY_EREFUSED);
    assert_string_equal(notes, "complaint: scp: no such file or directory\n");
    root_remove(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_comes_whole_with_times_and_modes),
        cmocka_unit_test(several_files_come_as_they_were_asked_for),
        cmocka_unit_test(what_the_server_complains_of_does_not_end_it),
        cmocka_unit_test(what_is_skipped_is_said_and_the_rest_comes),
        cmocka_unit_test(a_sink_that_fails_ends_it),
        cmocka_unit_test(the_bounds_of_a_request_hold),
        cmocka_unit_test(a_file_is_put_whole),
        cmocka_unit_test(a_tree_is_put_whole_with_times_and_modes),
        cmocka_unit_test(what_the_server_cannot_store_does_not_end_it),
        cmocka_unit_test(a_source_that_ends_too_early_leaves_no_file_and_the_next_is_put),
        cmocka_unit_test(a_cancelled_source_ends_it),
        cmocka_unit_test(a_name_that_is_no_component_is_not_sent),
        cmocka_unit_test(a_server_that_will_not_receive_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
