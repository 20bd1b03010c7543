#include "bench/engine/choice.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/descriptors.h"
#include "bench/peers/stage.h"
#include "check.h"

#define FEATURE 4

static struct bench_options options;
static struct stage *const staged = (struct stage *)&options; /* only whether there is one */

static const struct recipe ferryd = {.name = "ferryd", .is_event_driven = true};
static const struct recipe forking = {.name = "forking"};
static const struct recipe lacking = {
    .name = "lacking", .lacks = FEATURE, .is_event_driven = true};
static const struct recipe bare = {
    .name = "floor", .is_floor = true, .is_event_driven = true, .lacks = FEATURE};

/* All of them, running. */
static struct bench *bench_new(void)
{
    static const struct recipe *const recipes_of_it[] = {&ferryd, &forking, &lacking, &bare};
    struct bench *b = mem_new(sizeof(*b));
    assert_non_null(b);
    options = (struct bench_options){.kind = BENCH_ALL};
    b->options = &options;
    b->stage = staged;
    for (unsigned i = 0; i < ARRAY_LEN(recipes_of_it); i++) {
        b->targets[i].recipe = recipes_of_it[i];
        b->targets[i].pid = 100 + i;
        b->target_count++;
    }
    return b;
}

/* The names of those that take part. */
static const char *names_of(struct bench *b, unsigned traits, unsigned needs)
{
    static char text[128];
    const struct row_kind kind = {.name = "row", .traits = traits, .needs = needs};
    struct target *targets[BENCH_TARGETS_MAX];
    unsigned count = choice_of_targets(b, &kind, targets);
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        const char *name = targets[i]->recipe != NULL ? targets[i]->recipe->name : "?";
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ", name);
    }
    return text;
}

static const char *names(struct bench *b, unsigned traits)
{
    return names_of(b, traits, 0);
}

static void servers_take_part_in_what_they_can_do(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    assert_string_equal(names(b, 0), "ferryd forking lacking floor ");
    assert_string_equal(names(b, ROW_NO_FLOOR), "ferryd forking lacking ");
    assert_string_equal(names_of(b, 0, FEATURE), "ferryd forking ");
    assert_string_equal(names(b, ROW_THOUSANDS), "ferryd lacking floor ");
    assert_string_equal(names(b, ROW_NEEDS_PID), "ferryd forking lacking floor ");
    mem_free(b);
}

static void one_that_does_not_run_is_left_out(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    b->targets[2].pid = 0;
    assert_string_equal(names(b, 0), "ferryd forking floor ");
    mem_free(b);
}

static void without_the_first_server_there_is_no_row(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    b->targets[0].pid = 0;
    assert_string_equal(names(b, 0), "");
    mem_free(b);
}

static void a_server_that_runs_already_needs_a_process_for_its_memory_alone(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    const struct row_kind any = {.name = "row", .kinds = 1u << BENCH_ALL};
    const struct row_kind memory = {
        .name = "row", .kinds = 1u << BENCH_ALL, .traits = ROW_NEEDS_PID};
    options.has_server = true;
    b->target_count = 1;
    b->targets[0].recipe = NULL;
    b->targets[0].pid = 0;
    assert_string_equal(names(b, 0), "? ");
    assert_true(choice_has_row(&options, &any));
    assert_false(choice_has_row(&options, &memory));
    assert_non_null(strstr(choice_refusal(&options, &memory), "--pid"));
    options.pid = 1;
    assert_true(choice_has_row(&options, &memory));
    assert_null(choice_refusal(&options, &memory));
    mem_free(b);
}

static void rows_are_those_of_the_kind_unless_they_are_named(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    const struct row_kind kind = {.name = "row", .kinds = 1u << BENCH_ALL | 1u << BENCH_UPLOAD};
    assert_true(choice_has_row(&options, &kind));
    options.kind = BENCH_UPLOAD;
    assert_true(choice_has_row(&options, &kind));
    options.kind = BENCH_DOWNLOAD;
    assert_false(choice_has_row(&options, &kind));
    options.rows = "other,row";
    assert_true(choice_has_row(&options, &kind));
    options.rows = "other,rows";
    options.kind = BENCH_UPLOAD;
    assert_false(choice_has_row(&options, &kind));
    mem_free(b);
}

static void a_quick_run_has_no_thousands_of_sessions_unless_they_are_named(void **state)
{
    (void)state;
    descriptors_raise();
    if (descriptors_most() < 2000)
        skip();
    struct bench *b = bench_new();
    const struct row_kind kind = {
        .name = "row", .kinds = 1u << BENCH_ALL, .traits = ROW_THOUSANDS};
    assert_true(choice_has_row(&options, &kind));
    options.quick = true;
    assert_false(choice_has_row(&options, &kind));
    options.rows = "row";
    assert_true(choice_has_row(&options, &kind));
    mem_free(b);
}

static void thousands_of_sessions_need_as_many_descriptors(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    const struct row_kind kind = {
        .name = "row", .kinds = 1u << BENCH_ALL, .traits = ROW_THOUSANDS};
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 1999;
    if (before.rlim_max < 2000)
        skip();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(descriptors_sessions(), 1499);
    assert_non_null(strstr(choice_refusal(&options, &kind), "ulimit -n"));
    assert_false(choice_has_row(&options, &kind));
    few.rlim_cur = 2000;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_null(choice_refusal(&options, &kind));
    assert_true(choice_has_row(&options, &kind));
    few.rlim_cur = 999;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(descriptors_sessions(), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    mem_free(b);
}

static void what_needs_a_stage_is_not_for_a_server_that_runs_already(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    const struct row_kind kind = {
        .name = "row", .kinds = 1u << BENCH_ALL, .traits = ROW_STAGED};
    assert_true(choice_has_row(&options, &kind));
    assert_null(choice_refusal(&options, &kind));
    options.has_server = true;
    assert_non_null(strstr(choice_refusal(&options, &kind), "--url"));
    assert_false(choice_has_row(&options, &kind));
    options.rows = "row";
    assert_false(choice_has_row(&options, &kind));
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_take_part_in_what_they_can_do),
        cmocka_unit_test(one_that_does_not_run_is_left_out),
        cmocka_unit_test(without_the_first_server_there_is_no_row),
        cmocka_unit_test(a_server_that_runs_already_needs_a_process_for_its_memory_alone),
        cmocka_unit_test(rows_are_those_of_the_kind_unless_they_are_named),
        cmocka_unit_test(a_quick_run_has_no_thousands_of_sessions_unless_they_are_named),
        cmocka_unit_test(thousands_of_sessions_need_as_many_descriptors),
        cmocka_unit_test(what_needs_a_stage_is_not_for_a_server_that_runs_already),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
