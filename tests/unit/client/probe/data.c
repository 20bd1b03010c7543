/* Samples of files and trees, and what the levels make of them; with each call that can fail.
 */
#include "client/probe/data.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "client/probe/levels.h"
#include "runtime_fixture.h"

#define FILES      40
#define FILE_BYTES 1000

static char folder[64];

static const char *path_of(const char *name, char ret[128])
{
    (void)snprintf(ret, 128, "%s/%s", folder, name);
    return ret;
}

static void put(const char *name, const char *byte, size_t len)
{
    char path[128];
    FILE *f = fopen(path_of(name, path), "w");
    TASK_ASSERT(f != NULL);
    for (size_t i = 0; i < len; i++)
        TASK_ASSERT(fputc(*byte, f) != EOF);
    TASK_ASSERT(fclose(f) == 0);
}

static int setup(void **state)
{
    char path[128], name[16];
    (void)state;
    strcpy(folder, "/tmp/ferry-probe-XXXXXX");
    if (mkdtemp(folder) == NULL || mkdir(path_of("tree", path), 0755) < 0 ||
        mkdir(path_of("none", path), 0755) < 0)
        return -1;
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof(name), "tree/%u", i);
        put(name, i % 2 == 0 ? "a" : "b", FILE_BYTES);
    }
    put("empty", "", 0);
    put("large", "x", PROBE_SAMPLE_BYTES + 100000);
    return mkfifo(path_of("pipe", path), 0600);
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command); /* NOLINT: its own folder */
}

/* -- what is taken -- */

struct taking {
    const char *name;
    struct probe_sample sample;
    int result;
};

static void take(void *arg)
{
    struct taking *t = arg;
    char path[128];
    probe_sample_init(&t->sample);
    t->result = probe_sample_take(&t->sample, path_of(t->name, path),
                                  runtime_files_pool(runtime_self()));
}

static size_t count_of(const struct probe_sample *s, uint8_t byte)
{
    size_t count = 0;
    for (size_t i = 0; i < s->bytes.len; i++)
        count += s->bytes.data[i] == byte;
    return count;
}

static void files_and_trees_are_sampled(void **state)
{
    (void)state;

    const struct {
        const char *name;
        int result;
        uint64_t files, bytes;
        size_t sample;
        bool is_tree;
    } rows[] = {
        {"tree", 0, FILES, FILES * FILE_BYTES, FILES * FILE_BYTES, true},
        {"tree/7", 0, 1, FILE_BYTES, FILE_BYTES, false},
        {"large", 0, 1, PROBE_SAMPLE_BYTES + 100000, PROBE_SAMPLE_BYTES, false},
        {"empty", -ENODATA, 1, 0, 0, false},
        {"none", -ENODATA, 0, 0, 0, true},
        {"missing", -ENOENT, 0, 0, 0, false},
        {"pipe", -FERRY_ENOTREG, 0, 0, 0, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct taking t = {.name = rows[i].name};
        run_threaded(1, take, &t);
        assert_int_equal(t.result, rows[i].result);
        assert_int_equal(t.sample.files, rows[i].files);
        assert_int_equal(t.sample.total_bytes, rows[i].bytes);
        assert_int_equal(t.sample.bytes.len, rows[i].sample);
        assert_int_equal(t.sample.is_tree, rows[i].is_tree);
        if (rows[i].is_tree && t.result == 0)
            assert_int_equal(count_of(&t.sample, 'a'), FILES / 2 * FILE_BYTES);
        probe_sample_done(&t.sample);
    }
}

static void what_is_made_up_is_the_same_each_time(void **state)
{
    (void)state;
    struct probe_sample one, two;
    probe_sample_init(&one);
    probe_sample_init(&two);
    assert_int_equal(probe_sample_invent(&one), 0);
    assert_int_equal(probe_sample_invent(&two), 0);
    assert_true(one.bytes.len > 1000000 &&
                bytes_equal(buf_bytes(&one.bytes), buf_bytes(&two.bytes)));
    probe_sample_done(&one);
    probe_sample_done(&two);
}

/* -- what the levels make of it -- */

struct measuring {
    struct bytes sample;
    struct probe_data data;
    int result;
};

static void measure(void *arg)
{
    struct measuring *m = arg;
    m->result = probe_levels_measure(m->sample, runtime_codec_pool(runtime_self()), &m->data);
}

static void every_level_is_measured(void **state)
{
    (void)state;
    struct probe_sample text;
    probe_sample_init(&text);
    assert_int_equal(probe_sample_invent(&text), 0);
    struct measuring m = {.sample = buf_bytes(&text.bytes)};
    run_threaded(1, measure, &m);
    assert_int_equal(m.result, 0);
    for (unsigned i = 1; i < PROBE_LEVELS; i++)
        assert_true(m.data.levels[i].ratio > 0.1 && m.data.levels[i].ratio < 0.5 &&
                    m.data.levels[i].bytes_per_s > 0);
    assert_true(m.data.levels[9].ratio < m.data.levels[1].ratio);
    assert_true(m.data.expand_bytes_per_s > 0);
    probe_sample_done(&text);
}

/* -- faults -- */

/* Each of them once, until one is not reached any more: none leaks (asan), crashes or lies. */
static void each_allocation_that_fails_is_told(void **state)
{
    (void)state;
    struct probe_sample text;
    probe_sample_init(&text);
    assert_int_equal(buf_append_str(&text.bytes, "some text, and some text again"), 0);
    struct measuring m = {.sample = buf_bytes(&text.bytes), .result = -1};
    unsigned failed = 0;
    run_deterministic(1, measure, &m);
    const struct probe_data right = m.data;
    for (unsigned n = 1; n < 20000; n++) {
        struct runtime *rt = NULL;
        const struct runtime_settings settings = {.deterministic = true, .seed = n};
        assert_int_equal(runtime_new(&settings, &rt), 0);
        fault_arm(FAULT_ALLOC, n);
        m.result = -1;
        int r = runtime_run(rt, measure, &m);
        uint64_t calls = fault_count(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        (void)runtime_free(rt);
        if (r == 0)
            assert_true(m.result == 0 || m.result == -ENOMEM);
        for (unsigned i = 1; i < PROBE_LEVELS && m.result == 0; i++)
            assert_true(fabs(m.data.levels[i].ratio - right.levels[i].ratio) < 1e-9);
        failed += m.result == -ENOMEM;
        if (calls < n)
            break;
    }
    assert_int_equal(m.result, 0);
    assert_true(failed > PROBE_LEVELS);
    probe_sample_done(&text);
}

static void each_failure_of_a_file_is_told(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        struct taking t = {.name = "tree", .result = -1};
        unsigned failed = 0;
        for (unsigned n = 1; n < 20000; n++) {
            struct runtime *rt = NULL;
            const struct runtime_settings settings = {.deterministic = true, .seed = n};
            assert_int_equal(runtime_new(&settings, &rt), 0);
            t.result = -1;
            t.sample.bytes = (struct buf){0};
            fault_arm((enum fault_kind)kind, n);
            int r = runtime_run(rt, take, &t);
            uint64_t calls = fault_count((enum fault_kind)kind);
            fault_arm((enum fault_kind)kind, 0);
            (void)runtime_free(rt);
            failed += t.result < 0;
            /* a file that cannot be read is missing in the sample, and that is told */
            if (r == 0 && t.result == 0 && t.sample.bytes.len < FILES * FILE_BYTES)
                assert_true(t.sample.unread_files > 0);
            probe_sample_done(&t.sample);
            if (calls < n)
                break;
        }
        assert_int_equal(t.result, 0);
        assert_true(failed > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_trees_are_sampled),
        cmocka_unit_test(what_is_made_up_is_the_same_each_time),
        cmocka_unit_test(every_level_is_measured),
        cmocka_unit_test(each_allocation_that_fails_is_told),
        cmocka_unit_test(each_failure_of_a_file_is_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
