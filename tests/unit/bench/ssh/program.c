#include "bench/ssh/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "bench/machine/file.h"
#include "runtime_fixture.h"
#include "unit/bench/folder_fixture.h"

#define LONG_US (60 * USEC_PER_S)

/* In place of OpenSSH's: a script that does what the test says with the words it gets. */
static struct stage stage;
static struct addr server;
static const struct ssh_row_detail detail = {.cipher = "cipher-x", .mac = "mac-y"};
static char script[256];

static int setup(void **state)
{
    if (folder_fixture_setup(state) != 0)
        return -1;
    snprintf(stage.base, sizeof(stage.base), "%s", fixture_folder);
    return addr_parse(BYTES_LIT("127.0.0.7:2022"), &server);
}

static void write_script(const char *text)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), "#!/bin/sh\n%s\n", text);
    snprintf(script, sizeof(script), "%s", in_folder("script"));
    assert_int_equal(file_write(script, 0700, bytes_str(whole)), 0);
}

struct act {
    struct ssh_program program;
    struct ssh_program_call call;
    struct ssh_program_cpu cpu;
    const char *question;
    int asked, ended;
    char said[4096];
};

static struct act act;

static struct runtime *runtime;

static struct pool *pool(void)
{
    return runtime_files_pool(runtime);
}

static void run_main(task_fn *fn)
{
    const struct runtime_settings settings = {.workers = 1, .pool_threads = 1};
    assert_int_equal(runtime_new(&settings, &runtime), 0);
    assert_int_equal(runtime_run(runtime, fn, NULL), 0);
    runtime = runtime_free(runtime);
}

static void act_main(void *arg)
{
    (void)arg;
    ssh_program_init(&act.program);
    int r = ssh_program_start(&act.program, &act.call);
    TASK_ASSERT(r == 0);
    if (act.question != NULL) {
        act.asked = ssh_program_ask(&act.program, act.question, "answer", clock_after(LONG_US));
        act.ended = act.asked;
    }
    if (act.question == NULL)
        act.ended = ssh_program_wait(&act.program, pool(), clock_after(LONG_US), &act.cpu);
    size_t len = act.program.said.len < sizeof(act.said) - 1 ? act.program.said.len
                                                             : sizeof(act.said) - 1;
    if (len > 0)
        memcpy(act.said, act.program.said.data, len);
    act.said[len] = '\0';
    ssh_program_stop(&act.program, pool());
}

static void run(const char *text, struct ssh_program_call call, const char *question)
{
    write_script(text);
    memset(&act, 0, sizeof(act));
    act.call = call;
    act.call.path = script;
    act.call.stage = &stage;
    act.call.detail = &detail;
    act.call.server = &server;
    act.question = question;
    run_main(act_main);
}

static bool has_word(const char *word)
{
    char line[512];
    snprintf(line, sizeof(line), "\n%s\n", word);
    return strstr(act.said, line) != NULL;
}

static void it_gets_the_stage_s_keys_the_row_s_cipher_and_no_settings_of_a_user(void **state)
{
    (void)state;
    run("echo; printf '%s\\n' \"$@\"",
        (struct ssh_program_call){.args = {"-q", "@", "@a file", "last"}}, NULL);
    assert_int_equal(act.ended, 0);
    char word[320];
    assert_true(has_word("-F/dev/null"));
    snprintf(word, sizeof(word), "-oIdentityFile=%s/ssh/client_key", stage.base);
    assert_true(has_word(word));
    snprintf(word, sizeof(word), "-oUserKnownHostsFile=%s/ssh/known_hosts", stage.base);
    assert_true(has_word(word));
    assert_true(has_word("-oCiphers=cipher-x"));
    assert_true(has_word("-oMACs=mac-y"));
    assert_true(has_word("-oPort=2022"));
    assert_true(has_word("-oControlMaster=no"));
    assert_true(has_word("-oIdentityAgent=none"));
    assert_true(has_word("bench@127.0.0.7"));
    assert_true(has_word("bench@127.0.0.7:a file"));
    assert_true(has_word("last"));
}

static void an_answer_is_found_behind_what_else_is_said(void **state)
{
    (void)state;
    run("read a; echo \"sftp> $a\"; echo no answer here; echo answer: $a; cat",
        (struct ssh_program_call){.is_spoken_to = true}, "get x\n");
    assert_int_equal(act.asked, 0);
    assert_string_equal(act.said, "");
}

static void one_that_ends_instead_of_answering_is_told_with_its_last_words(void **state)
{
    (void)state;
    char text[256];
    run("read a; echo working; echo 'file not found' >&2; exit 1",
        (struct ssh_program_call){.is_spoken_to = true}, "get x\n");
    assert_int_equal(act.asked, -FERRY_ECLOSED);
    assert_non_null(strstr(act.said, "file not found"));
    buf_init(&act.program.said, 4096);
    assert_int_equal(buf_append_str(&act.program.said, act.said), 0);
    ssh_program_explain(&act.program, "sftp", act.asked, sizeof(text), text);
    assert_string_equal(text, "sftp: file not found");
    buf_done(&act.program.said);
}

static void a_failure_is_told_and_what_it_wrote_is_discarded_if_that_was_asked_for(void **state)
{
    (void)state;
    run("echo data; echo why >&2; exit 3", (struct ssh_program_call){.discards = true}, NULL);
    assert_int_equal(act.ended, -FERRY_EREFUSED);
    assert_string_equal(act.said, "why\n");
}

static void a_file_can_be_what_it_reads(void **state)
{
    (void)state;
    char path[256];
    put("input", "from a file\n");
    snprintf(path, sizeof(path), "%s", in_folder("input"));
    run("cat", (struct ssh_program_call){.input = path}, NULL);
    assert_int_equal(act.ended, 0);
    assert_string_equal(act.said, "from a file\n");
}

static void what_its_children_used_is_counted_apart(void **state)
{
    (void)state;
    /* each counts to where the kernel's ticks can tell */
    run("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; "
        "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done",
        (struct ssh_program_call){0}, NULL);
    assert_int_equal(act.ended, 0);
    assert_true(act.cpu.own_us > 0);
    assert_true(act.cpu.others_us > 0);
}

static int start_result;

static void absent_main(void *arg)
{
    (void)arg;
    struct ssh_program p;
    const struct ssh_program_call call = {
        .path = "/nonexistent/sftp", .stage = &stage, .detail = &detail, .server = &server};
    ssh_program_init(&p);
    start_result = ssh_program_start(&p, &call);
    ssh_program_stop(&p, pool());
}

static void one_that_is_not_there_is_told(void **state)
{
    (void)state;
    run_main(absent_main);
    assert_int_equal(start_result, -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_gets_the_stage_s_keys_the_row_s_cipher_and_no_settings_of_a_user),
        TEST(an_answer_is_found_behind_what_else_is_said),
        TEST(one_that_ends_instead_of_answering_is_told_with_its_last_words),
        TEST(a_failure_is_told_and_what_it_wrote_is_discarded_if_that_was_asked_for),
        TEST(a_file_can_be_what_it_reads),
        TEST(what_its_children_used_is_counted_apart),
        TEST(one_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
