/* scp's client against scp's server, and against servers that say something else. */
#include <errno.h>

#include "scp/client.h"
#include "scp_harness.h"

#define FILE_BYTES 100000

static int result;
static unsigned long long got_bytes, right_bytes;
static struct scp_file file;
static char why[SCP_CLIENT_WHY_MAX];
static uint64_t source_bytes; /* what the source has */

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13);
}

static int check_bytes(void *arg, uint64_t offset, struct chunk *chunk,
                       const struct iovec *pieces, unsigned count)
{
    (void)chunk;
    if (arg != NULL && offset > 0)
        return -ENOSPC;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *data = pieces[i].iov_base;
        for (size_t k = 0; k < pieces[i].iov_len; k++)
            right_bytes += data[k] == byte_at(offset + k);
        offset += pieces[i].iov_len;
        got_bytes += pieces[i].iov_len;
    }
    return 0;
}

static ssize_t give_bytes(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    ssize_t done = 0;
    (void)arg, (void)chunk;
    for (unsigned i = 0; i < count && offset < source_bytes; i++) {
        uint64_t left = source_bytes - offset;
        size_t len = left < pieces[i].iov_len ? (size_t)left : pieces[i].iov_len;
        for (size_t k = 0; k < len; k++)
            ((uint8_t *)pieces[i].iov_base)[k] = byte_at(offset + k);
        offset += len;
        done += (ssize_t)len;
    }
    return done;
}

static void get_it(struct harness *h)
{
    result = scp_client_get(h->peers, &file, 1 << 20, check_bytes, NULL, why);
}

static void get_onto_a_full_disk(struct harness *h)
{
    result = scp_client_get(h->peers, &file, 1 << 20, check_bytes, h, why);
}

static void put_it(struct harness *h)
{
    result = scp_client_put(h->peers, &file, give_bytes, NULL, why);
}

static const struct step gets[] = {DOES(get_it)};
static const struct step gets_onto_a_full_disk[] = {DOES(get_onto_a_full_disk)};
static const struct step puts_it[] = {DOES(put_it)};

static void put_pattern(const struct harness *h, const char *name)
{
    static uint8_t data[FILE_BYTES];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = byte_at(i);
    put(h, name, bytes_of(data, sizeof(data)));
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

static void begin(struct harness *h, uint64_t cut)
{
    h->cut = cut;
    h->seed = cut + 1;
    got_bytes = right_bytes = 0;
    result = 1;
    why[0] = '\0';
}

/* -- against the server of ours -- */

static void a_file_comes_whole_with_its_times(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 6; cut++) {
        struct harness h = {.options = {.keeps_times = true},
                            .names = BYTES_LIT("f\0"),
                            .steps = gets,
                            .count = 1};
        begin(&h, cut);
        root_new(&h);
        put_pattern(&h, "f");
        const struct timespec times[2] = {{5, 0}, {1000000007, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path_of(&h, "f"), times, 0), 0);
        file = (struct scp_file){.name = BYTES_LIT("f"), .has_times = true};
        play(&h);
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
        assert_true(got_bytes == FILE_BYTES && right_bytes == FILE_BYTES);
        assert_true(file.has_times && file.mtime_us == 1000000007 * USEC_PER_S);
        assert_int_equal(file.mode, 0644);
        root_remove(&h);
    }
}

static void a_file_is_put_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, FILE_BYTES};
    for (uint64_t cut = 0; cut < 9; cut++) {
        struct harness h = {
            .options = {.keeps_times = true}, .target = "g", .steps = puts_it, .count = 1};
        begin(&h, cut);
        root_new(&h);
        source_bytes = sizes[cut % 3];
        file = (struct scp_file){.name = BYTES_LIT("f"),
                                 .size_bytes = source_bytes,
                                 .mode = 0640,
                                 .has_times = true,
                                 .mtime_us = 1000000007 * USEC_PER_S};
        play(&h);
        assert_int_equal(result, 0);
        assert_int_equal(h.result, 0);
        struct stat st;
        assert_int_equal(stat(path_of(&h, "g"), &st), 0);
        assert_int_equal(st.st_mtime, 1000000007);
        assert_true(holds_pattern(&h, "g", source_bytes));
        root_remove(&h);
    }
}

static void a_source_that_ends_too_early_leaves_no_file(void **state)
{
    (void)state;
    struct harness h = {.target = "g", .steps = puts_it, .count = 1};
    begin(&h, 2);
    root_new(&h);
    source_bytes = 5000;
    file = (struct scp_file){.name = BYTES_LIT("f"), .size_bytes = FILE_BYTES, .mode = 0644};
    play(&h);
    assert_int_equal(result, -FERRY_ETRUNCATED);
    assert_false(exists(&h, "g"));
    root_remove(&h);
}

static void what_the_server_refuses_is_said(void **state)
{
    (void)state;
    struct harness h = {.names = BYTES_LIT("none\0"), .steps = gets, .count = 1};
    begin(&h, 3);
    root_new(&h);
    file = (struct scp_file){.name = BYTES_LIT("none")};
    play(&h);
    assert_int_equal(result, -FERRY_EREFUSED);
    assert_non_null(strstr(why, "no such file"));
    h.names = BYTES_NONE;
    h.target = "none/f";
    h.steps = puts_it;
    file = (struct scp_file){.name = BYTES_LIT("f"), .size_bytes = 5, .mode = 0644};
    source_bytes = 5;
    play(&h);
    assert_int_equal(result, -FERRY_EREFUSED);
    root_remove(&h);
}

/* -- against others -- */

static struct bytes said;

static int say_it(struct harness *h, struct session *session)
{
    (void)session;
    int r = stream_write_bytes(h->ours, said);
    return r < 0 ? r : stream_end(h->ours, USEC_NEVER);
}

static const struct {
    struct bytes said;
    int expected;
    unsigned bytes;
} hostile[] = {
    {BYTES_LIT("C0644 5 f\n12345\0"), 0, 5},
    {BYTES_LIT("C0644 5 g\n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("C0644 5 ../f\n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("C0644 5 /f\n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("C0644 5 .\n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("C0644 5 \n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("C0644 5 f\0x\n12345\0"), -FERRY_EBADNAME, 0},
    {BYTES_LIT("D0755 0 f\nC0644 5 f\n12345\0E\n"), -FERRY_EPROTO, 0},
    {BYTES_LIT("E\n"), -FERRY_EPROTO, 0},
    {BYTES_LIT("T1 0 2 0\nC0644 5 f\n12345\0"), -FERRY_EPROTO, 0},
    {BYTES_LIT("C0644 99999999 f\n12345\0"), -EFBIG, 0},
    {BYTES_LIT("C0644 -5 f\n12345\0"), -FERRY_EPROTO, 0},
    {BYTES_LIT("C0644 5 f\n123"), -FERRY_ECLOSED, 3},
    {BYTES_LIT("C0644 5 f\n12345"), -FERRY_ECLOSED, 5},
    {BYTES_LIT("C0644 5 f\n12345\1it\x1b[2J changed\n"), -FERRY_EREFUSED, 5},
    {BYTES_LIT("C0644 5 f\n123456\0"), -FERRY_EPROTO, 5},
    {BYTES_LIT("C0644 5 f"), -FERRY_ECLOSED, 0},
    {BYTES_LIT("\1no\n"), -FERRY_EREFUSED, 0},
    {BYTES_LIT("\2no\n"), -FERRY_EREFUSED, 0},
    {BYTES_LIT("Welcome to this host!\n"), -FERRY_EPROTO, 0},
    {BYTES_LIT("\n"), -FERRY_EPROTO, 0},
    {{0}, -FERRY_ECLOSED, 0},
};

static void nothing_is_taken_that_was_not_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        for (uint64_t cut = 0; cut < 3; cut++) {
            struct harness h = {.serves = say_it, .steps = gets, .count = 1};
            begin(&h, cut);
            root_new(&h);
            said = hostile[i].said;
            file = (struct scp_file){.name = BYTES_LIT("f")};
            play(&h);
            if (result != hostile[i].expected)
                print_message("row %d: %s\n", (int)i, err_name(result));
            assert_int_equal(result, hostile[i].expected);
            assert_int_equal(got_bytes, hostile[i].bytes);
            assert_null(strchr(why, '\x1b'));
            root_remove(&h);
        }
    }
}

static void a_line_without_end_is_no_line(void **state)
{
    (void)state;
    static uint8_t data[8192];
    struct harness h = {.serves = say_it, .steps = gets, .count = 1};
    memset(data, 'C', sizeof(data));
    begin(&h, 0);
    root_new(&h);
    said = bytes_of(data, sizeof(data));
    file = (struct scp_file){.name = BYTES_LIT("f")};
    play(&h);
    assert_int_equal(result, -FERRY_EPROTO);
    root_remove(&h);
}

static void a_sink_that_fails_ends_it(void **state)
{
    (void)state;
    struct harness h = {.names = BYTES_LIT("f\0"), .steps = gets_onto_a_full_disk, .count = 1};
    begin(&h, 1);
    root_new(&h);
    put_pattern(&h, "f");
    file = (struct scp_file){.name = BYTES_LIT("f")};
    play(&h);
    assert_int_equal(result, -ENOSPC);
    root_remove(&h);
}

static void a_path_is_quoted_for_a_shell(void **state)
{
    (void)state;

    static const struct {
        bool receives, has_times;
        struct bytes path;
        const char *command;
    } rows[] = {
        {false, false, BYTES_LIT("a b"), "scp -f -- 'a b'"},
        {true, true, BYTES_LIT("-x"), "scp -t -p -- '-x'"},
        {false, false, BYTES_LIT("it's $(rm *)"), "scp -f -- 'it'\\''s $(rm *)'"},
    };
    struct buf command;
    buf_init(&command, 64);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_clear(&command);
        assert_int_equal(
            scp_client_command(rows[i].receives, rows[i].has_times, rows[i].path, &command), 0);
        assert_int_equal(command.len, strlen(rows[i].command));
        assert_memory_equal(command.data, rows[i].command, command.len);
    }
    assert_int_equal(scp_client_command(false, false, BYTES_LIT("a\0b"), &command), -EINVAL);
    buf_done(&command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_comes_whole_with_its_times),
        cmocka_unit_test(a_file_is_put_whole),
        cmocka_unit_test(a_source_that_ends_too_early_leaves_no_file),
        cmocka_unit_test(what_the_server_refuses_is_said),
        cmocka_unit_test(nothing_is_taken_that_was_not_asked_for),
        cmocka_unit_test(a_line_without_end_is_no_line),
        cmocka_unit_test(a_sink_that_fails_ends_it),
        cmocka_unit_test(a_path_is_quoted_for_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
