/* Archives in and out in memory: cut in many ways, with each failure once, and how deep
 * libarchive goes on a task's stack. */
#include <errno.h>

#include "base/limits.h"
#include "codec/codec.h"
#include "scp_harness.h"
#include "tar/session.h"

#define BLOCK 512
#define CUTS  12
#define SIZE  3000

static uint8_t archive[16 * BLOCK];
static size_t archive_len;
static enum tar_filter filter;
static unsigned complaints;
static int last_error;
static bool tells_window; /* the last complaint */

static int complain(void *arg, const char *path, int error)
{
    (void)arg;
    complaints++;
    last_error = error;
    tells_window = strstr(path, "window") != NULL;
    return 0;
}

static int (*complain_to)(void *arg, const char *path, int error) = complain;

/* POSIX.1-1988 ustar. */
static void add_header(const char *name, char type, size_t size)
{
    char *h = (char *)archive + archive_len;
    unsigned sum = 0;
    memset(h, 0, BLOCK);
    (void)snprintf(h, 100, "%s", name);
    (void)snprintf(h + 100, 8, "%07o", 0640);
    (void)snprintf(h + 124, 12, "%011zo", size);
    (void)snprintf(h + 136, 12, "%011o", 1000000);
    h[156] = type;
    memcpy(h + 257,
           "ustar\0"
           "00",
           8);
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (uint8_t)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    archive_len += BLOCK;
}

static struct bytes make_archive(void)
{
    archive_len = 0;
    memset(archive, 0, sizeof(archive));
    add_header("d/", '5', 0);
    add_header("d/full", '0', SIZE);
    memset(archive + archive_len, 'x', SIZE);
    archive_len += (SIZE + BLOCK - 1) / BLOCK * BLOCK;
    archive_len += 2 * BLOCK;
    return bytes_of(archive, archive_len);
}

static int run_tar(struct harness *h, struct session *session)
{
    struct vpath root;
    int r = vpath_parse(BYTES_LIT("/"), BYTES_LIT("/"), &root);
    if (r < 0)
        return r;
    struct tar_request request = {
        .stream = h->ours,
        .filter = filter,
        .directory = &root,
        .names = h->names,
        .complain = complain_to,
    };
    tar_request_of_session(&request, session);
    complaints = 0;
    r = h->names.len > 0 ? tar_create(&request) : tar_extract(&request);
    vpath_done(&root);
    return r;
}

static bool is_new(const struct harness *h)
{
    return holds(h, "d/full", bytes_of(archive + (size_t)2 * BLOCK, SIZE));
}

static void an_archive_is_unpacked_however_it_comes(void **state)
{
    (void)state;
    const struct step step = {.says = make_archive()};
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
        h.cut = cut;
        h.seed = cut + 1;
        root_new(&h);
        play(&h);
        assert_int_equal(h.result, 0);
        assert_true(is_new(&h));
        root_remove(&h);
    }
}

static void what_is_cut_off_anywhere_is_told(void **state)
{
    (void)state;
    struct step step = {.says = make_archive()};
    for (size_t len = 0; len < archive_len - (size_t)2 * BLOCK; len += 97) {
        struct harness h = {.serves = run_tar, .steps = &step, .count = 1, .cut = len};
        step.says.len = len;
        root_new(&h);
        play(&h);
        if (len > 0 && len % BLOCK != 0 && len > BLOCK)
            assert_int_equal(h.result, 1);
        assert_true(is_new(&h) || !exists(&h, "d/full"));
        assert_true(h.result != 0 || complaints == 0);
        root_remove(&h);
    }
}

/* -- what is made together -- */

static char complained_of[8][64];

static int note_complaint(void *arg, const char *path, int error)
{
    (void)arg;
    last_error = error;
    if (complaints < ARRAY_LEN(complained_of))
        (void)snprintf(complained_of[complaints], sizeof(complained_of[0]), "%s", path);
    complaints++;
    return 0;
}

static void add_file(const char *name, const char *text)
{
    add_header(name, '0', strlen(text));
    if (text[0] == '\0')
        return;
    memset(archive + archive_len, 0, BLOCK);
    memcpy(archive + archive_len, text, strlen(text));
    archive_len += BLOCK;
}

static void begin_archive(void)
{
    archive_len = 0;
    memset(archive, 0, sizeof(archive));
}

static struct bytes end_archive(void)
{
    archive_len += 2 * BLOCK;
    TASK_ASSERT(archive_len <= sizeof(archive));
    return bytes_of(archive, archive_len);
}

static void the_later_of_two_files_stays_and_parents_are_made(void **state)
{
    (void)state;
    begin_archive();
    add_file("f", "first");
    add_file("not/there/g", "g");
    add_file("f", "second");
    add_file("not/h", "h");
    const struct step step = {.says = end_archive()};
    struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    root_new(&h);
    play(&h);
    assert_int_equal(h.result, 0);
    assert_true(holds(&h, "f", BYTES_LIT("second")));
    assert_true(holds(&h, "not/there/g", BYTES_LIT("g")) && holds(&h, "not/h", BYTES_LIT("h")));
    for (unsigned i = 0; i < 4; i++) {
        const char *records[] = {"\"path\":\"/f\"", "\"path\":\"/not/there/g\"",
                                 "\"path\":\"/not/h\"", "\"result\":\"ok\""};
        assert_non_null(strstr(audit_lines, records[i]));
    }
    root_remove(&h);
}

static void each_failure_is_told_by_its_name(void **state)
{
    (void)state;
    begin_archive();
    add_file("a", "a");
    add_file("taken", "x"); /* a directory stands there */
    add_file("../up", "x");
    add_file("file/below", "x");
    add_header("file", '5', 0);
    add_file("b", "b");
    const struct step step = {.says = end_archive()};
    struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    complain_to = note_complaint;
    root_new(&h);
    TASK_ASSERT(mkdir(path_of(&h, "taken"), 0755) == 0);
    put(&h, "file", BYTES_LIT("old"));
    play(&h);
    complain_to = complain;
    assert_int_equal(h.result, 1);
    assert_int_equal(complaints, 4);
    assert_string_equal(complained_of[0], "../up"); /* before anything is tried */
    assert_string_equal(complained_of[1], "taken");
    assert_string_equal(complained_of[2], "file/below");
    assert_string_equal(complained_of[3], "file");
    assert_true(holds(&h, "a", BYTES_LIT("a")) && holds(&h, "b", BYTES_LIT("b")));
    assert_true(holds(&h, "file", BYTES_LIT("old")));
    root_remove(&h);
}

/* More than a batch has room for. */
static void many_files_are_all_there(void **state)
{
    (void)state;
    static uint8_t many[(size_t)700 * BLOCK];
    size_t len = 0;
    char name[16];
    for (unsigned i = 0; i < 300; i++) {
        begin_archive();
        (void)snprintf(name, sizeof(name), "f%u", i);
        add_file(name, name);
        memcpy(many + len, archive, archive_len);
        len += archive_len;
    }
    memset(many + len, 0, (size_t)2 * BLOCK);
    const struct step step = {.says = bytes_of(many, len + (size_t)2 * BLOCK)};
    struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    root_new(&h);
    play(&h);
    assert_int_equal(h.result, 0);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "f%u", i);
        assert_true(holds(&h, name, bytes_str(name)));
    }
    root_remove(&h);
}

static void put_old(struct harness *h)
{
    TASK_ASSERT(mkdir(path_of(h, "d"), 0755) == 0);
    put(h, "d/full", BYTES_LIT("old"));
}

/* Plays with each failure once. */
static void each_failure(enum fault_kind kind, const struct harness *what,
                         void (*after)(struct harness *))
{
    uint64_t n = 1, counted;
    do {
        struct harness h = *what;
        h.fault = kind;
        h.nth = n;
        root_new(&h);
        put_old(&h);
        play(&h);
        after(&h);
        counted = h.counted;
        root_remove(&h);
    } while (n++ <= counted && n < 1000);
    assert_true(n > 10);
}

static void is_old_or_new(struct harness *h)
{
    assert_true(is_new(h) || (h->result != 0 && holds(h, "d/full", BYTES_LIT("old"))));
}

static void unpacking_is_true_whatever_fails(void **state)
{
    (void)state;
    const struct step step = {.says = make_archive()};
    const struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    each_failure(FAULT_ALLOC, &h, is_old_or_new);
    each_failure(FAULT_SYSCALL, &h, is_old_or_new);
}

/* What is written by itself, behind a small one. */
#define LARGE_BYTES (70 * 1000)

static struct bytes make_large(void)
{
    static uint8_t large[(size_t)150 * BLOCK];
    begin_archive();
    add_file("d/small", "small");
    add_header("d/full", '0', LARGE_BYTES);
    memcpy(large, archive, archive_len);
    memset(large + archive_len, 'x', LARGE_BYTES);
    TASK_ASSERT(archive_len + LARGE_BYTES + (size_t)3 * BLOCK <= sizeof(large));
    return bytes_of(large, sizeof(large));
}

static bool is_whole(struct harness *h)
{
    struct stat st;
    return stat(path_of(h, "d/full"), &st) == 0 && st.st_size == LARGE_BYTES;
}

static void large_is_old_or_new(struct harness *h)
{
    assert_true(is_whole(h) || (h->result != 0 && holds(h, "d/full", BYTES_LIT("old"))));
    assert_true(holds(h, "d/small", BYTES_LIT("small")) ||
                (h->result != 0 && !exists(h, "d/small")));
}

static void unpacking_what_is_large_is_true_whatever_fails(void **state)
{
    (void)state;
    const struct step step = {.says = make_large()};
    const struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    each_failure(FAULT_ALLOC, &h, large_is_old_or_new);
    each_failure(FAULT_SYSCALL, &h, large_is_old_or_new);
}

static void is_whole_or_a_failure(struct harness *h)
{
    assert_true(h->result != 0 || h->rest == (size_t)20 * BLOCK);
    assert_true(h->result != 1 || complaints > 0);
}

static void packing_is_true_whatever_fails(void **state)
{
    (void)state;
    const struct harness h = {.serves = run_tar, .names = BYTES_LIT("d\0")};
    each_failure(FAULT_ALLOC, &h, is_whole_or_a_failure);
    each_failure(FAULT_SYSCALL, &h, is_whole_or_a_failure);
}

/* What came, decompressed: so many bytes. */
static size_t unpacked_size(const struct harness *h)
{
    static const struct decoder_limits no_limits;
    static uint8_t plain[32 * BLOCK];
    struct bytes in = bytes_of(h->keeps, h->rest);
    struct decoder *d;
    size_t len = 0;
    assert_true(h->rest <= h->keeps_max);
    assert_int_equal(decoder_new(CODEC_ZSTD, &no_limits, &d), 0);
    assert_int_equal(decoder_step(d, &in, plain, sizeof(plain), &len), 0);
    assert_true(in.len == 0 && decoder_is_at_boundary(d));
    decoder_free(d);
    return len;
}

static void is_packed_or_a_failure(struct harness *h)
{
    fault_arm(h->fault, 0); /* what looks is none of it */
    assert_true(h->result != 0 || unpacked_size(h) == (size_t)20 * BLOCK);
    assert_true(h->result != 1 || complaints > 0);
}

static void packing_by_zstd_is_true_whatever_fails(void **state)
{
    (void)state;
    static uint8_t kept[32 * BLOCK];
    const struct harness h = {
        .serves = run_tar, .names = BYTES_LIT("d\0"), .keeps = kept, .keeps_max = sizeof(kept)};
    filter = TAR_ZSTD;
    each_failure(FAULT_ALLOC, &h, is_packed_or_a_failure);
    each_failure(FAULT_SYSCALL, &h, is_packed_or_a_failure);
    filter = TAR_PLAIN;
}

static void a_peer_that_leaves_is_a_failure(void **state)
{
    (void)state;
    struct harness h = {.serves = run_tar, .names = BYTES_LIT("d\0"), .leaves = true};
    root_new(&h);
    put_old(&h);
    play(&h);
    assert_int_equal(h.result, -FERRY_ECLOSED);
    root_remove(&h);
}

/* -- memory -- */

#define WINDOW_8_MB 0x68 /* 2^(10 + 13) */
#define WINDOW_9_MB 0x69
#define WINDOW_2_GB 0xa8
#define WRAPPED_MAX (sizeof(archive) + 64)

/* A frame with one block as it is (RFC 8878 3.1.1). */
static size_t wrap(uint8_t *at, uint8_t window, struct bytes what)
{
    const size_t block = what.len << 3 | 1;
    const uint8_t head[] = {0x28,
                            0xb5,
                            0x2f,
                            0xfd,
                            0,
                            window,
                            (uint8_t)block,
                            (uint8_t)(block >> 8),
                            (uint8_t)(block >> 16)};
    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), what.data, what.len);
    return sizeof(head) + what.len;
}

/* The archive in two frames, with something skippable between them. */
static struct bytes in_frames(uint8_t first, uint8_t second)
{
    static const uint8_t skipped[] = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3};
    static uint8_t wrapped[WRAPPED_MAX];
    struct bytes all = make_archive();
    size_t len = wrap(wrapped, first, bytes_first(all, BLOCK + 100));
    memcpy(wrapped + len, skipped, sizeof(skipped));
    len += sizeof(skipped);
    len += wrap(wrapped + len, second, bytes_skip(all, BLOCK + 100));
    return bytes_of(wrapped, len);
}

static bool unpacks(struct bytes what, uint64_t cut)
{
    const struct step step = {.says = what};
    struct harness h = {
        .serves = run_tar, .steps = &step, .count = 1, .cut = cut, .seed = cut + 1};
    root_new(&h);
    play(&h);
    bool is_whole = h.result == 0 && is_new(&h);
    assert_true(is_whole || (h.result == 1 && complaints > 0 && !exists(&h, "d/full")));
    root_remove(&h);
    return is_whole;
}

static void a_frame_that_wants_much_memory_is_refused(void **state)
{
    (void)state;
    static const uint8_t large[] = {WINDOW_9_MB, WINDOW_2_GB, 0xff};
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        assert_true(unpacks(in_frames(WINDOW_8_MB, WINDOW_8_MB), cut));
        for (size_t i = 0; i < ARRAY_LEN(large); i++) {
            assert_false(unpacks(in_frames(large[i], WINDOW_8_MB), cut));
            assert_true(last_error == -FERRY_ELIMIT && tells_window);
            assert_false(unpacks(in_frames(WINDOW_8_MB, large[i]), cut));
            assert_true(last_error == -FERRY_ELIMIT && tells_window);
        }
    }
}

static void frames_in_frames_are_not_unpacked(void **state)
{
    (void)state;
    static uint8_t wrapped[WRAPPED_MAX + 64];
    size_t len = wrap(wrapped, WINDOW_8_MB, in_frames(WINDOW_8_MB, WINDOW_8_MB));
    assert_false(unpacks(bytes_of(wrapped, len), 0));
}

struct silent {
    struct tar_request request;
    int result;
};

static void silent_main(void *arg)
{
    struct silent *s = arg;
    s->result = tar_extract(&s->request);
}

/* While two archives of the session wait for their first byte. */
static int run_third(struct harness *h, struct session *session)
{
    struct stream *ends[TAR_PER_SESSION][2];
    struct silent silent[TAR_PER_SESSION];
    struct vpath root;
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("/"), &root) == 0);
    for (unsigned i = 0; i < TAR_PER_SESSION; i++) {
        TASK_ASSERT(memory_pair_new(700, 0, &ends[i][0], &ends[i][1]) == 0);
        silent[i] = (struct silent){
            .request = {.stream = ends[i][0], .directory = &root, .complain = complain}};
        tar_request_of_session(&silent[i].request, session);
        TASK_ASSERT(scope_start(&scope, "silent", TASK_NORMAL, silent_main, &silent[i], NULL) ==
                    0);
    }
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    int r = run_tar(h, session);
    TASK_ASSERT(r == 1 && complaints == 1 && last_error == -EBUSY);
    for (unsigned i = 0; i < TAR_PER_SESSION; i++)
        ends[i][1] = stream_free(ends[i][1]);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    for (unsigned i = 0; i < TAR_PER_SESSION; i++)
        stream_free(ends[i][0]);
    scope_leave(&scope);
    vpath_done(&root);
    return run_tar(h, session); /* there is room again */
}

static void a_session_has_two_archives_at_once(void **state)
{
    (void)state;
    const struct step step = {.says = make_archive()};
    struct harness h = {.serves = run_third, .steps = &step, .count = 1};
    root_new(&h);
    play(&h);
    assert_int_equal(h.result, 0);
    assert_true(is_new(&h));
    root_remove(&h);
}

/* -- stacks -- */

static void measure(struct harness *h)
{
    const struct runtime_settings settings = {
        .deterministic = true, .seed = 1, .measure_stacks = true};
    const struct stack_depth *depths;
    struct runtime *rt = NULL;
    bool is_measured = false;
    assert_int_equal(runtime_new(&settings, &rt), 0);
    assert_int_equal(runtime_run(rt, dialogue, h), 0);
    unsigned count = runtime_stack_depths(rt, &depths);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(depths[i].task_name, "tar") != 0)
            continue;
        print_message("tar: %zu of %zu bytes of stack\n", depths[i].bytes, depths[i].of_bytes);
        assert_true(depths[i].bytes < depths[i].of_bytes / 2);
        is_measured = true;
    }
    assert_true(is_measured);
    (void)runtime_free(rt);
}

/* Enough for several blocks of each compression, and neither even nor random. */
static void put_text(struct harness *h)
{
    static uint8_t text[700 * 1000];
    uint32_t n = 1;
    for (size_t i = 0; i < sizeof(text); i++) {
        n = n * 1664525 + 1013904223;
        text[i] = (uint8_t)("etaoin shrdlu"[(n >> 24) % 13]);
    }
    put_old(h);
    put(h, "d/text", bytes_of(text, sizeof(text)));
}

static void libarchive_uses_less_than_half_of_the_stack(void **state)
{
    (void)state;

    const enum tar_filter filters[] = {TAR_PLAIN, TAR_GZIP, TAR_ZSTD};

    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        struct harness h = {.serves = run_tar, .names = BYTES_LIT("d\0")};
        filter = filters[i];
        root_new(&h);
        put_text(&h);
        measure(&h);
        assert_int_equal(h.result, 0);
        root_remove(&h);
    }
    filter = TAR_PLAIN;
    const struct step step = {.says = make_archive()};
    struct harness h = {.serves = run_tar, .steps = &step, .count = 1};
    root_new(&h);
    measure(&h);
    root_remove(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_unpacked_however_it_comes),
        cmocka_unit_test(what_is_cut_off_anywhere_is_told),
        cmocka_unit_test(the_later_of_two_files_stays_and_parents_are_made),
        cmocka_unit_test(each_failure_is_told_by_its_name),
        cmocka_unit_test(many_files_are_all_there),
        cmocka_unit_test(unpacking_is_true_whatever_fails),
        cmocka_unit_test(unpacking_what_is_large_is_true_whatever_fails),
        cmocka_unit_test(packing_is_true_whatever_fails),
        cmocka_unit_test(packing_by_zstd_is_true_whatever_fails),
        cmocka_unit_test(a_peer_that_leaves_is_a_failure),
        cmocka_unit_test(a_frame_that_wants_much_memory_is_refused),
        cmocka_unit_test(frames_in_frames_are_not_unpacked),
        cmocka_unit_test(a_session_has_two_archives_at_once),
        cmocka_unit_test(libarchive_uses_less_than_half_of_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
