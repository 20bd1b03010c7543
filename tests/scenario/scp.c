/* Dialogues of scp, each with its bytes whole and cut in many ways. */
#include "scp_harness.h"

#define CUTS 12

/* On a fresh tree for each way of cutting; before and after may be NULL. */
static void play_cut(const struct harness *what, void (*before)(struct harness *),
                     void (*after)(struct harness *))
{
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = *what;
        h.cut = cut;
        h.seed = cut + 1;
        root_new(&h);
        if (before)
            before(&h);
        play(&h);
        if (h.heard != h.count)
            fail_msg("cut %d: step %u did not come to pass", (int)cut, h.heard);
        if (after)
            after(&h);
        root_remove(&h);
    }
}

#define SCRIPT(...)                                                                            \
    .steps = (const struct step[]){__VA_ARGS__},                                               \
    .count = ARRAY_LEN(((const struct step[]){__VA_ARGS__}))

/* -- receiving -- */

static void files_are_there(struct harness *h)
{
    assert_int_equal(h->result, 0);
    assert_true(holds(h, "one", BYTES_LIT("12345")));
    assert_true(holds(h, "a b", BYTES_LIT("")));
    assert_non_null(strstr(audit_lines, "\"operation\":\"upload\""));
}

static void files_are_received_one_after_the_other(void **state)
{
    (void)state;
    const struct harness h = {
        .target = ".",
        SCRIPT(HEARS("\0"), SAYS("C0644 5 one\n"), HEARS("\0"), SAYS("12345\0"), HEARS("\0"),
               SAYS("C0600 0 a b\n"), HEARS("\0"), SAYS("\0"), HEARS("\0")),
    };
    play_cut(&h, NULL, files_are_there);
}

static void tree_is_there(struct harness *h)
{
    struct stat st;
    assert_int_equal(h->result, 0);
    assert_true(holds(h, "new/sub/file", BYTES_LIT("x")));
    assert_int_equal(stat(path_of(h, "new/sub"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0500);
    assert_int_equal(st.st_mtime, 1000000);
    assert_int_equal(stat(path_of(h, "new/sub/file"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0777); /* never setuid */
    assert_int_equal(st.st_mtime, 1234567);
}

static void a_tree_gets_times_and_modes_when_it_is_whole(void **state)
{
    (void)state;
    const struct harness h = {
        .target = "new",
        .options = {.is_recursive = true, .keeps_times = true},
        SCRIPT(HEARS("\0"), SAYS("D0755 0 ignored\n"), HEARS("\0"), SAYS("T1000000 0 5 0\n"),
               HEARS("\0"), SAYS("D0500 0 sub\n"), HEARS("\0"), SAYS("T1234567 0 5 0\n"),
               HEARS("\0"), SAYS("C4777 1 file\n"), HEARS("\0"), SAYS("x\0"), HEARS("\0"),
               SAYS("E\n"), HEARS("\0"), SAYS("E\n"), HEARS("\0")),
    };
    play_cut(&h, NULL, tree_is_there);
}

static void use_up_the_quota(struct harness *h)
{
    TASK_ASSERT(quota_take(h->quota, 9, 0) == 0);
}

static void give_it_back(struct harness *h)
{
    quota_give(h->quota, 9, 0);
}

static void put_old(struct harness *h)
{
    put(h, "full", BYTES_LIT("old"));
}

static void full_is_old(struct harness *h)
{
    assert_int_equal(h->result, 1);
    assert_true(holds(h, "full", BYTES_LIT("old")));
    assert_true(holds(h, "next", BYTES_LIT("ok")));
}

static void nothing_is_kept(struct harness *h)
{
    assert_false(exists(h, "full") || has_partial(h));
}

static void a_quota_that_ends_in_a_file_is_told_and_the_next_file_comes(void **state)
{
    (void)state;
    const struct harness h = {
        .target = ".",
        .quota_bytes = 12,
        SCRIPT(HEARS("\0"), SAYS("C0644 10 full\n"), HEARS("\0"), DOES(use_up_the_quota),
               SAYS("0123456789\0"),
               HEARS("\1scp: /full: the quota of the account is used up\n"), DOES(give_it_back),
               SAYS("C0644 2 next\n"), HEARS("\0"), SAYS("ok\0"), HEARS("\0"),
               SAYS("C0644 4000000000 huge\n"),
               HEARS("\1scp: /huge: the quota of the account is used up\n")),
    };
    play_cut(&h, put_old, full_is_old);
    play_cut(&h, NULL, nothing_is_kept);
}

static void what_its_sender_takes_back_is_not_stored(void **state)
{
    (void)state;
    const struct harness h = {
        .target = ".",
        .options = {.keeps_times = true},
        SCRIPT(HEARS("\0"), SAYS("T1 0 1 0\n"), HEARS("\0"), SAYS("C0644 4 full\n"),
               HEARS("\0"), SAYS("junk\1scp: full: read error\n"), HEARS("\0"),
               SAYS("\1scp: other: no such file\n"), SAYS("C0644 2 next\n"), HEARS("\0"),
               SAYS("ok\0"), HEARS("\0")),
    };
    play_cut(&h, put_old, full_is_old);
    play_cut(&h, NULL, nothing_is_kept);
}

static void old_stands(struct harness *h)
{
    assert_int_equal(h->result, -FERRY_ECLOSED);
    assert_true(holds(h, "full", BYTES_LIT("old")));
}

/* All of it came, and the peer ended in good order: libssh2 says no more. */
static void new_stands(struct harness *h)
{
    assert_true(holds(h, "full", BYTES_LIT("new")));
}

static void a_part_is_kept(struct harness *h)
{
    assert_true(!exists(h, "full") && has_partial(h));
}

static void a_peer_that_leaves_in_a_file_leaves_the_old_one(void **state)
{
    (void)state;
    const struct harness in_body = {
        .target = "full",
        SCRIPT(HEARS("\0"), SAYS("C0644 9 full\n"), HEARS("\0"), SAYS("12345678")),
    };
    const struct harness before_its_word = {
        .target = "full",
        SCRIPT(HEARS("\0"), SAYS("C0644 3 full\n"), HEARS("\0"), SAYS("new")),
    };
    const struct harness in_line = {.target = "full", SCRIPT(HEARS("\0"), SAYS("C0644 3"))};
    play_cut(&in_body, put_old, old_stands);
    play_cut(&in_body, NULL, a_part_is_kept);
    play_cut(&before_its_word, put_old, new_stands);
    play_cut(&in_line, put_old, old_stands);
}

static void is_a_failure(struct harness *h)
{
    assert_int_equal(h->result, 1);
}

static void a_directory_that_does_not_end_is_a_failure(void **state)
{
    (void)state;
    const struct harness h = {
        .target = ".",
        .options = {.is_recursive = true},
        SCRIPT(HEARS("\0"), SAYS("D0755 0 d\n"), HEARS("\0")),
    };
    play_cut(&h, NULL, is_a_failure);
}

static void what_is_wrong_ends_the_dialogue_with_a_word(void **state)
{
    (void)state;
    static const struct step rows[][3] = {
        {HEARS("\0"), SAYS("C0644 1 ../x\n"), HEARS("\2scp: unexpected filename\n")},
        {HEARS("\0"), SAYS("D0755 0 ..\n"), HEARS("\2scp: unexpected filename\n")},
        {HEARS("\0"), SAYS("D0755 0 d\n"), HEARS("\2scp: received directory without -r\n")},
        {HEARS("\0"), SAYS("hello\n"),
         HEARS("\2scp: protocol error: expected control record\n")},
        {HEARS("\0"), SAYS("\n"), HEARS("\2scp: protocol error: expected control record\n")},
        {HEARS("\0"), SAYS("\2scp: I leave\n"), HEARS("")},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct harness h = {.target = ".", .steps = rows[i], .count = 3};
        play_cut(&h, NULL, is_a_failure);
    }
    const struct harness d = {
        .target = "missing",
        .options = {.needs_directory = true},
        SCRIPT(HEARS("\2scp: no such file or directory\n")),
    };
    play_cut(&d, NULL, is_a_failure);
}

/* -- sending -- */

static void make_tree(struct harness *h)
{
    const struct timespec times[2] = {{5, 0}, {1000000, 999}};
    TASK_ASSERT(mkdir(path_of(h, "tree"), 0755) == 0);
    TASK_ASSERT(mkdir(path_of(h, "tree/sub"), 0755) == 0);
    put(h, "tree/sub/file", BYTES_LIT("x"));
    put(h, "one", BYTES_LIT("12345"));
    TASK_ASSERT(chmod(path_of(h, "one"), 0640) == 0);
    TASK_ASSERT(utimensat(AT_FDCWD, path_of(h, "one"), times, 0) == 0);
    TASK_ASSERT(symlink("..", path_of(h, "tree/sub/up")) == 0);
}

static void is_done(struct harness *h)
{
    assert_int_equal(h->result, 0);
    assert_non_null(strstr(audit_lines, "\"operation\":\"download\""));
}

static void a_file_is_sent_with_its_times(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("one\0"),
        .options = {.keeps_times = true},
        SCRIPT(SAYS("\0"), HEARS("T1000000 0 5 0\n"), SAYS("\0"), HEARS("C0640 5 one\n"),
               SAYS("\0"), HEARS("12345\0"), SAYS("\0")),
    };
    play_cut(&h, make_tree, is_done);
}

/* The link is complained of; in which order it and the file come, the file system says. */
static void unlink_up(struct harness *h)
{
    make_tree(h);
    TASK_ASSERT(unlink(path_of(h, "tree/sub/up")) == 0);
}

static void a_tree_is_sent_and_what_is_missing_is_complained_of(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("missing\0tree\0one\0"),
        .options = {.is_recursive = true},
        SCRIPT(SAYS("\0"), HEARS("\1scp: /missing: no such file or directory\n"),
               HEARS("D0755 0 tree\n"), SAYS("\0"), HEARS("D0755 0 sub\n"), SAYS("\0"),
               HEARS("C0644 1 file\n"), SAYS("\0"), HEARS("x\0"), SAYS("\0"), HEARS("E\n"),
               SAYS("\0"), HEARS("E\n"), SAYS("\0"), HEARS("C0640 5 one\n"), SAYS("\0"),
               HEARS("12345\0"), SAYS("\0")),
    };
    play_cut(&h, unlink_up, is_a_failure);
}

static void nothing_more_is_said(struct harness *h)
{
    assert_int_equal(h->result, 1);
    assert_int_equal(h->rest, 0);
}

static void what_the_peer_does_not_want_is_left_out(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("tree\0one\0one\0one\0"),
        .options = {.is_recursive = true},
        SCRIPT(SAYS("\0"), HEARS("D0755 0 tree\n"), SAYS("\1no\n"), HEARS("C0640 5 one\n"),
               SAYS("\1no\n"), HEARS("C0640 5 one\n"), SAYS("\2enough\n")),
    };
    play_cut(&h, make_tree, nothing_more_is_said);
}

static void cut_the_file(struct harness *h)
{
    TASK_ASSERT(truncate(path_of(h, "one"), 2) == 0);
}

static void a_file_that_shrinks_is_filled_up_and_complained_of(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("one\0"),
        SCRIPT(SAYS("\0"), HEARS("C0640 5 one\n"), DOES(cut_the_file), SAYS("\0"),
               HEARS("12\0\0\0\1scp: /one: "), SAYS("\0")),
    };
    play_cut(&h, make_tree, is_a_failure);
}

static void a_link_in_a_tree_is_not_followed(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("d\0"),
        .options = {.is_recursive = true},
        SCRIPT(SAYS("\0"), HEARS("D0755 0 d\n"), SAYS("\0"),
               HEARS("\1scp: /d/up: not a regular file\nE\n"), SAYS("\0")),
    };
    struct harness fresh = h;
    root_new(&fresh);
    assert_int_equal(mkdir(path_of(&fresh, "d"), 0755), 0);
    assert_int_equal(symlink("..", path_of(&fresh, "d/up")), 0);
    play(&fresh);
    assert_int_equal(fresh.heard, fresh.count);
    assert_int_equal(fresh.result, 1);
    root_remove(&fresh);
}

/* -- failures of our own -- */

static const struct step upload_steps[] = {
    HEARS("\0"),        SAYS("D0755 0 d\n"), HEARS("\0"),
    SAYS("T1 0 1 0\n"), HEARS("\0"),         SAYS("C0644 5 full\n"),
    HEARS("\0"),        SAYS("12345\0"),     HEARS("\0"),
    SAYS("E\n"),        HEARS("\0"),
};
#define STORED_AT 9 /* steps, after which the peer was told that it is */

static void each_failure_once(enum fault_kind kind, const struct harness *what,
                              void (*before)(struct harness *), void (*after)(struct harness *))
{
    uint64_t n = 1, counted;
    do {
        struct harness h = *what;
        h.fault = kind;
        h.nth = n;
        root_new(&h);
        before(&h);
        play(&h);
        after(&h);
        counted = h.counted;
        root_remove(&h);
    } while (n++ <= counted && n < 1000);
    assert_true(n > 10);
}

static void make_folder(struct harness *h)
{
    TASK_ASSERT(mkdir(path_of(h, "d"), 0755) == 0);
    put(h, "d/full", BYTES_LIT("old"));
}

static void what_was_said_is_true(struct harness *h)
{
    bool is_new = holds(h, "d/full", BYTES_LIT("12345"));
    assert_true(is_new || holds(h, "d/full", BYTES_LIT("old")));
    if (h->heard >= STORED_AT)
        assert_true(is_new);
    if (h->result == 0)
        assert_int_equal(h->heard, h->count);
}

static void an_upload_is_true_whatever_fails(void **state)
{
    (void)state;
    const struct harness h = {
        .target = ".",
        .options = {.is_recursive = true, .keeps_times = true},
        .steps = upload_steps,
        .count = ARRAY_LEN(upload_steps),
    };
    each_failure_once(FAULT_ALLOC, &h, make_folder, what_was_said_is_true);
    each_failure_once(FAULT_SYSCALL, &h, make_folder, what_was_said_is_true);
}

static void says_no_less_than_all(struct harness *h)
{
    if (h->result == 0)
        assert_int_equal(h->heard, h->count);
}

static void a_tree_is_whole_or_a_failure_whatever_fails(void **state)
{
    (void)state;
    const struct harness h = {
        .names = BYTES_LIT("tree\0"),
        .options = {.is_recursive = true},
        SCRIPT(SAYS("\0"), HEARS("D0755 0 tree\n"), SAYS("\0"), HEARS("D0755 0 sub\n"),
               SAYS("\0"), HEARS("C0644 1 file\n"), SAYS("\0"), HEARS("x\0"), SAYS("\0"),
               HEARS("E\n"), SAYS("\0"), HEARS("E\n"), SAYS("\0")),
    };
    each_failure_once(FAULT_ALLOC, &h, unlink_up, says_no_less_than_all);
    each_failure_once(FAULT_SYSCALL, &h, unlink_up, says_no_less_than_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_received_one_after_the_other),
        cmocka_unit_test(a_tree_gets_times_and_modes_when_it_is_whole),
        cmocka_unit_test(a_quota_that_ends_in_a_file_is_told_and_the_next_file_comes),
        cmocka_unit_test(what_its_sender_takes_back_is_not_stored),
        cmocka_unit_test(a_peer_that_leaves_in_a_file_leaves_the_old_one),
        cmocka_unit_test(a_directory_that_does_not_end_is_a_failure),
        cmocka_unit_test(what_is_wrong_ends_the_dialogue_with_a_word),
        cmocka_unit_test(a_file_is_sent_with_its_times),
        cmocka_unit_test(a_tree_is_sent_and_what_is_missing_is_complained_of),
        cmocka_unit_test(what_the_peer_does_not_want_is_left_out),
        cmocka_unit_test(a_file_that_shrinks_is_filled_up_and_complained_of),
        cmocka_unit_test(a_link_in_a_tree_is_not_followed),
        cmocka_unit_test(an_upload_is_true_whatever_fails),
        cmocka_unit_test(a_tree_is_whole_or_a_failure_whatever_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
