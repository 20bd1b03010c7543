/* scp's client against servers that send what nobody asked for. */
#include <errno.h>

#include "scp_client_harness.h"

/* What byte_at() gives for the first five. */
#define FIVE "\x00\xbb\x77\x33\xef"

static struct bytes said;

static int say_it(struct harness *h, struct session *session)
{
    (void)session;
    int r = stream_write_bytes(h->ours, said);
    return r < 0 ? r : stream_end(h->ours, USEC_NEVER);
}

static void hear(struct bytes what, uint64_t cut)
{
    struct harness h = {.serves = say_it, .steps = gets, .count = 1};
    begin(&h, cut);
    root_new(&h);
    said = what;
    play(&h);
    root_remove(&h);
    assert_null(strchr(notes, '\x1b'));
}

struct row {
    struct bytes said;
    int expected;
    const char *notes; /* NULL: no call at all */
};

static void play_rows(const struct row *rows, size_t count, void (*asks)(void))
{
    for (size_t i = 0; i < count; i++) {
        for (uint64_t cut = 0; cut < 4; cut++) {
            asks();
            hear(rows[i].said, cut);
            const char *expected = rows[i].notes != NULL ? rows[i].notes : "";
            if (result != rows[i].expected || strcmp(notes, expected) != 0)
                print_message("row %d: %s\n%s", (int)i, err_name(result), notes);
            assert_int_equal(result, rows[i].expected);
            assert_string_equal(notes, expected);
        }
    }
}

/* -- one file -- */

static void ask_for_a_file(void)
{
    ASK("some/f");
    request.is_recursive = false;
    request.bytes_max = 1000;
}

static const struct row of_a_file[] = {
    {BYTES_LIT("C0644 5 f\n" FIVE "\0"), 0, "file f 644\nOK 5\n"},
    {BYTES_LIT("C7755 5 f\n" FIVE "\0"), 0, "file f 755\nOK 5\n"}, /* no setuid */
    {BYTES_LIT("C0644 5 g\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 ../f\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 some/f\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 /f\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 .\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 ..\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 \n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 f\0x\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 F\n" FIVE "\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0644 5 f\n" FIVE "\0C0644 5 f\n" FIVE "\0"), -FERRY_EBADNAME,
     "file f 644\nOK 5\n"},
    {BYTES_LIT("C0644 5 f\n" FIVE "\0C0644 5 .bashrc\n" FIVE "\0"), -FERRY_EBADNAME,
     "file f 644\nOK 5\n"},
    {BYTES_LIT("D0755 0 f\nC0644 5 f\n" FIVE "\0E\n"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("E\n"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C0644 5 f\n" FIVE "\0E\n"), -FERRY_EPROTO, "file f 644\nOK 5\n"},
    {BYTES_LIT("T1 0 2 0\nC0644 5 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C0644 1001 f\n" FIVE "\0"), -EFBIG, NULL},
    {BYTES_LIT("C0644 9223372036854775807 f\n" FIVE "\0"), -EFBIG, NULL},
    {BYTES_LIT("C0644 9223372036854775808 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C0644 -5 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C0999 5 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C-644 5 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C10644 5 f\n" FIVE "\0"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("C0644 5 f\n\x00\xbb\x77"), -FERRY_ECLOSED, "file f 644\nFERRY_ECLOSED 3\n"},
    {BYTES_LIT("C0644 5 f\n" FIVE), -FERRY_ECLOSED, "file f 644\nFERRY_ECLOSED 5\n"},
    {BYTES_LIT("C0644 5 f\n" FIVE "\1it\x1b[2J changed\n"), SCP_NOT_ALL,
     "file f 644\ncomplaint: it?[2J changed\nFERRY_ETRUNCATED 5\n"},
    {BYTES_LIT("C0644 5 f\n" FIVE "\2gone\n"), -FERRY_EREFUSED,
     "file f 644\ncomplaint: gone\nFERRY_EREFUSED 5\n"},
    {BYTES_LIT("C0644 5 f\n" FIVE "x\0"), -FERRY_EPROTO, "file f 644\nFERRY_EPROTO 5\n"},
    {BYTES_LIT("C0644 5 f"), -FERRY_ECLOSED, NULL},
    {BYTES_LIT("\1no\n"), SCP_NOT_ALL, "complaint: no\n"},
    {BYTES_LIT("\2no\nC0644 5 f\n" FIVE "\0"), -FERRY_EREFUSED, "complaint: no\n"},
    {BYTES_LIT("Welcome to this host!\n"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("\n"), -FERRY_EPROTO, NULL},
    {{0}, -FERRY_ECLOSED, NULL},
};

static void of_a_file_nothing_else_is_taken(void **state)
{
    (void)state;
    play_rows(of_a_file, ARRAY_LEN(of_a_file), ask_for_a_file);
}

/* -- a tree -- */

static void ask_for_a_tree(void)
{
    ASK("d");
    request.keeps_times = true;
    request.bytes_max = 9;
    request.entries_max = 5;
}

static const struct row of_a_tree[] = {
    {BYTES_LIT("T7 0 8 0\nD0700 0 d\nC0600 5 f\n" FIVE "\0E\n"), 0,
     "dir d 700 @7\nfile d/f 600\nOK 5\nup\n"},
    {BYTES_LIT("C0600 5 d\n" FIVE "\0"), 0, "file d 600\nOK 5\n"},
    {BYTES_LIT("D0700 0 other\nE\n"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("D0700 0 ..\nE\n"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("D0700 0 d/../..\nE\n"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("D0700 0 d\nD0700 0 ..\nE\n"), -FERRY_EBADNAME, "dir d 700\n"},
    {BYTES_LIT("D0700 0 d\nC0600 5 ../f\n" FIVE "\0"), -FERRY_EBADNAME, "dir d 700\n"},
    {BYTES_LIT("D0700 0 d\nC0600 5 /etc/f\n" FIVE "\0"), -FERRY_EBADNAME, "dir d 700\n"},
    {BYTES_LIT("D0700 0 d\nE\nC0600 5 f\n" FIVE "\0"), -FERRY_EBADNAME, "dir d 700\nup\n"},
    {BYTES_LIT("D0700 0 d\nE\nD0700 0 d\n"), -FERRY_EBADNAME, "dir d 700\nup\n"},
    {BYTES_LIT("D0700 0 d\nE\nE\n"), -FERRY_EPROTO, "dir d 700\nup\n"},
    {BYTES_LIT("D0700 0 d\nT1 0 2 0\nE\n"), -FERRY_EPROTO, "dir d 700\n"},
    {BYTES_LIT("D0700 0 d\nT1 0 2 0\nT1 0 2 0\n"), -FERRY_EPROTO, "dir d 700\n"},
    {BYTES_LIT("T1 0\nD0700 0 d\n"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("T-1 0 2 0\nD0700 0 d\n"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("D0700 0 d\n"), -FERRY_ECLOSED, "dir d 700\n"},
    {BYTES_LIT("D0700 0 d\nE\nT1 0 2 0\n"), -FERRY_ECLOSED, "dir d 700\nup\n"},
    {BYTES_LIT("D0700 0 d\nC0600 5 f\n" FIVE "\0C0600 5 g\n" FIVE "\0"), -EFBIG,
     "dir d 700\nfile d/f 600\nOK 5\n"},
    {BYTES_LIT("D0700 0 d\nC0600 0 a\n\0C0600 0 b\n\0C0600 0 c\n\0C0600 0 d\n\0C0600 0 e\n\0"),
     -FERRY_ELIMIT,
     "dir d 700\nfile d/a 600\nOK 0\nfile d/b 600\nOK 0\nfile d/c 600\nOK 0\n"
     "file d/d 600\nOK 0\n"},
    {BYTES_LIT("\1a\n\1b\n\1c\n\1d\n\1e\n\1f\n"), -FERRY_ELIMIT,
     "complaint: a\ncomplaint: b\ncomplaint: c\ncomplaint: d\ncomplaint: e\ncomplaint: f\n"},
    {BYTES_LIT("D0700 0 d\n\1d/x: no\nE\n"), SCP_NOT_ALL,
     "dir d 700\ncomplaint: d/x: no\nup\n"},
    {BYTES_LIT("D0700 0 d\n\0E\n"), -FERRY_EPROTO, "dir d 700\n"},
};

static void of_a_tree_nothing_else_is_taken(void **state)
{
    (void)state;
    play_rows(of_a_tree, ARRAY_LEN(of_a_tree), ask_for_a_tree);
}

/* -- patterns -- */

static void ask_for_a_pattern(void)
{
    ASK("x/*.c", "y/name", "z/name");
}

static const struct row of_a_pattern[] = {
    {BYTES_LIT("C0600 0 a.c\n\0C0600 0 b.c\n\0C0600 0 name\n\0C0600 0 name\n\0"), 0,
     "file a.c 600\nOK 0\nfile b.c 600\nOK 0\nfile name 600\nOK 0\nfile name 600\nOK 0\n"},
    {BYTES_LIT("C0600 0 a.h\n\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0600 0 .c\n\0"), -FERRY_EBADNAME, NULL}, /* hidden */
    {BYTES_LIT("C0600 0 .a.c\n\0"), -FERRY_EBADNAME, NULL},
    {BYTES_LIT("C0600 0 *.c\n\0C0600 0 name\n\0"), -FERRY_ECLOSED,
     "file *.c 600\nOK 0\nfile name 600\nOK 0\n"}, /* the other name never came */
    {BYTES_LIT("C0600 0 name\n\0C0600 0 name\n\0"), -FERRY_ECLOSED,
     "file name 600\nOK 0\nfile name 600\nOK 0\n"},
    {BYTES_LIT("C0600 0 name\n\0C0600 0 name\n\0C0600 0 name\n\0"), -FERRY_EBADNAME,
     "file name 600\nOK 0\nfile name 600\nOK 0\n"},
};

static void a_name_must_match_what_was_asked_for(void **state)
{
    (void)state;
    play_rows(of_a_pattern, ARRAY_LEN(of_a_pattern), ask_for_a_pattern);
}

/* -- without end -- */

static void a_line_without_end_is_no_line(void **state)
{
    (void)state;
    static uint8_t data[8192];
    memset(data, 'C', sizeof(data));
    ASK("f");
    hear(bytes_of(data, sizeof(data)), 0);
    assert_int_equal(result, -FERRY_EPROTO);
    data[0] = '\1';
    hear(bytes_of(data, sizeof(data)), 0);
    assert_int_equal(result, -FERRY_EPROTO);
    assert_string_equal(notes, "");
}

static struct buf many;

static void add(const char *line, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(buf_append_str(&many, line), 0);
}

static void nesting_ends_somewhere(void **state)
{
    (void)state;
    buf_init(&many, 1 << 20);
    add("D0700 0 d\n", SCP_DEPTH_MAX);
    add("E\n", SCP_DEPTH_MAX);
    ASK("d");
    request.entries_max = 10000;
    hear(buf_bytes(&many), 1);
    assert_int_equal(result, 0);
    buf_clear(&many);
    add("D0700 0 d\n", SCP_DEPTH_MAX + 1);
    hear(buf_bytes(&many), 1);
    assert_int_equal(result, -FERRY_ELIMIT);
    buf_done(&many);
}

static void a_path_and_a_name_that_are_too_long_are_refused(void **state)
{
    (void)state;
    char line[300];
    memset(line, 'n', sizeof(line));
    memcpy(line, "D0700 0 ", 8);
    memcpy(line + 8 + NAME_LEN_MAX, "\n", 2);
    buf_init(&many, 1 << 20);
    add("D0700 0 d\n", 1);
    add(line, (PATH_LEN_MAX - 1) / (NAME_LEN_MAX + 1)); /* as many as there is room for */
    ASK("d");
    hear(buf_bytes(&many), 0);
    assert_int_equal(result, -FERRY_ECLOSED);
    add(line, 1);
    hear(buf_bytes(&many), 0);
    assert_int_equal(result, -ENAMETOOLONG);
    buf_clear(&many);
    memcpy(line + 8 + NAME_LEN_MAX, "n\n", 3);
    add("D0700 0 d\n", 1);
    add(line, 1);
    hear(buf_bytes(&many), 0);
    assert_int_equal(result, -ENAMETOOLONG);
    buf_done(&many);
}

/* -- what is answered -- */

static struct bytes heard;
static bool has_heard;

static int say_and_compare(struct harness *h, struct session *session)
{
    uint8_t data[512];
    size_t len = 0;
    ssize_t n = 1;
    (void)session;
    int r = stream_write_bytes(h->ours, said);
    if (r == 0)
        r = stream_end(h->ours, 0);
    while (r == 0 && n > 0 && len < sizeof(data)) {
        n = stream_read(h->ours, data + len, sizeof(data) - len);
        len += n > 0 ? (size_t)n : 0;
    }
    has_heard = bytes_equal(bytes_of(data, len), heard);
    return r;
}

static const struct {
    struct bytes said, heard;
    const char *skips, *in;
} of_words[] = {
    {BYTES_LIT("C0600 5 d\n" FIVE "\0"), BYTES_LIT("\0\0\0"), NULL, NULL},
    {BYTES_LIT("C0600 5 d\n" FIVE "\1d changed\n"), BYTES_LIT("\0\0\0"), NULL, NULL},
    {BYTES_LIT("C0600 5 d\n"), BYTES_LIT("\0\1scp: d: not wanted\n"), "d", "begin"},
    {BYTES_LIT("C0600 5 d\n" FIVE "\0"), BYTES_LIT("\0\0\1scp: d: not wanted\n"), "d", "data"},
    {BYTES_LIT("C0600 5 d\n" FIVE "\0"), BYTES_LIT("\0\0\1scp: d: not wanted\n"), "d", "end"},
    {BYTES_LIT("T1 0 2 0\nD0600 0 d\nD0700 0 e\nE\n"),
     BYTES_LIT("\0\0\0\1scp: d/e: not wanted\n\0"), "d/e", "begin"},
};

static void a_skip_is_told_in_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(of_words); i++) {
        struct harness h = {.serves = say_and_compare, .steps = gets, .count = 1};
        ask_for_a_tree();
        begin(&h, 2);
        root_new(&h);
        said = of_words[i].said;
        heard = of_words[i].heard;
        skips = of_words[i].skips;
        skips_in = of_words[i].in;
        play(&h);
        root_remove(&h);
        skips = NULL;
        assert_true(has_heard);
        assert_true(result == 0 || result == SCP_NOT_ALL);
    }
}

/* -- servers that receive -- */

static void put_one(struct harness *h)
{
    const struct scp_file file = {
        .name = BYTES_LIT("f"), .size_bytes = 5, .mode = 0600, .has_times = true};
    struct scp_put *p;
    source_bytes = 5;
    result = scp_client_put_begin(h->peers, on_complaint, NULL, &p);
    if (result < 0)
        return;
    result = scp_client_put_file(p, &file, give_bytes, NULL);
    int all = scp_client_put_end(p);
    if (result == 0)
        result = all;
}

static const struct step puts_one[] = {DOES(put_one)};

static const struct row of_answers[] = {
    {BYTES_LIT("\0\0\0\0"), 0, NULL},
    {BYTES_LIT("\1no\n"), -FERRY_EREFUSED, "complaint: no\n"},
    {BYTES_LIT("\2no\n"), -FERRY_EREFUSED, "complaint: no\n"},
    {BYTES_LIT("Welcome\n"), -FERRY_EPROTO, NULL},
    {{0}, -FERRY_ECLOSED, NULL},
    {BYTES_LIT("\0\1no\x1b\n"), SCP_SKIP, "complaint: no?\n"},
    {BYTES_LIT("\0\0\1no\n"), SCP_SKIP, "complaint: no\n"},
    {BYTES_LIT("\0\0\0\1full\n"), SCP_SKIP, "complaint: full\n"},
    {BYTES_LIT("\0\0\0\2full\n"), -FERRY_EREFUSED, "complaint: full\n"},
    {BYTES_LIT("\0\0\0"), -FERRY_ECLOSED, NULL},
    {BYTES_LIT("\0\0\0x"), -FERRY_EPROTO, NULL},
    {BYTES_LIT("\0\0\0\1cut"), -FERRY_ECLOSED, NULL},
};

static int say_and_hear_all(struct harness *h, struct session *session)
{
    uint8_t waste[256];
    (void)session;
    int r = stream_write_bytes(h->ours, said);
    if (r == 0)
        r = stream_end(h->ours, 0);
    while (r == 0 && stream_read(h->ours, waste, sizeof(waste)) > 0)
        continue;
    return r;
}

static void an_answer_is_an_answer_or_it_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(of_answers); i++) {
        for (uint64_t cut = 0; cut < 4; cut++) {
            struct harness h = {.serves = say_and_hear_all, .steps = puts_one, .count = 1};
            begin(&h, cut);
            root_new(&h);
            said = of_answers[i].said;
            play(&h);
            root_remove(&h);
            if (result != of_answers[i].expected)
                print_message("row %d: %s\n", (int)i, err_name(result));
            assert_int_equal(result, of_answers[i].expected);
            assert_string_equal(notes, of_answers[i].notes != NULL ? of_answers[i].notes : "");
        }
    }
}

static void push_too_many(struct harness *h)
{
    const struct scp_file directory = {.name = BYTES_LIT("d"), .mode = 0700};
    struct scp_put *p;
    result = scp_client_put_begin(h->peers, on_complaint, NULL, &p);
    TASK_ASSERT(result == 0);
    result = scp_client_put_push(p, &directory); /* is refused, and nothing was entered */
    TASK_ASSERT(result == SCP_SKIP);
    for (unsigned i = 0; i < SCP_DEPTH_MAX && result >= 0; i++)
        result = scp_client_put_push(p, &directory);
    note("%s\n", err_name(result));
    result = scp_client_put_push(p, &directory);
    TASK_ASSERT(scp_client_put_end(p) == SCP_NOT_ALL);
}

static const struct step pushes_too_many[] = {DOES(push_too_many)};

static void what_is_too_deep_is_not_sent(void **state)
{
    (void)state;
    static uint8_t answers[SCP_DEPTH_MAX + 8];
    struct harness h = {.serves = say_and_hear_all, .steps = pushes_too_many, .count = 1};
    memcpy(answers, "\0\1no\n", 5);
    begin(&h, 1);
    root_new(&h);
    said = bytes_of(answers, sizeof(answers));
    play(&h);
    root_remove(&h);
    assert_int_equal(result, -FERRY_ELIMIT);
    assert_string_equal(notes, "complaint: no\nOK\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_file_nothing_else_is_taken),
        cmocka_unit_test(of_a_tree_nothing_else_is_taken),
        cmocka_unit_test(a_name_must_match_what_was_asked_for),
        cmocka_unit_test(a_line_without_end_is_no_line),
        cmocka_unit_test(nesting_ends_somewhere),
        cmocka_unit_test(a_path_and_a_name_that_are_too_long_are_refused),
        cmocka_unit_test(a_skip_is_told_in_its_place),
        cmocka_unit_test(an_answer_is_an_answer_or_it_ends),
        cmocka_unit_test(what_is_too_deep_is_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
