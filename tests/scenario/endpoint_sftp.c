/* An endpoint by SFTP, against our server: what every endpoint does, and what it does when
 * memory or a system call fails. */
#include "base/buf.h"
#include "check.h"
#include "client/remote/sftp.h"
#include "endpoint_cases.h"
#include "sftp_harness.h"
#include "sftp_setup.h"

static bool done;

static void use(struct harness *h)
{
    struct endpoint_place p = {.prefix = "", .folder = h->root, .has_no_sha256 = true};
    struct endpoint *local;
    TASK_ASSERT(endpoint_sftp_over(h->stream, h->state != NULL, &p.e) == 0);
    TASK_ASSERT(endpoint_local_new(h->root, runtime_files_pool(runtime_self()), &local) == 0);
    p.vfs = endpoint_vfs(local);
    TASK_ASSERT(p.e->stores_whole == (h->state != NULL));
    endpoint_cases(&p);
    (void)endpoint_free(p.e);
    (void)endpoint_free(local);
    done = true;
}

static void run(struct harness *h)
{
    done = false;
    harness_run(h);
    assert_true(done);
}

static void does_what_an_endpoint_does(void **state)
{
    static bool yes = true;
    const char *root = make_root("endpoint");
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct harness whole = {.root = root, .seed = seed, .client = use, .state = &yes};
        run(&whole);
        struct harness plain = {
            .root = root, .seed = seed, .cut = seed, .is_plain = true, .client = use};
        run(&plain);
    }
    assert_int_equal(remove_root(root), 0);
}

/* -- faults -- */

static PARKS void try_all(struct harness *h)
{
    struct endpoint_place p = {.prefix = "", .folder = h->root};
    struct text_source source = {.text = "hello"};
    struct text_sink sink = {.text = ""};
    struct endpoint_facts facts;
    struct endpoint_got got;
    struct names_seen seen = {0};
    uint64_t bytes;
    if (endpoint_sftp_over(h->stream, true, &p.e) < 0)
        return;
    int put = put_text(&p, "file", 0, &source, &bytes);
    TASK_ASSERT(put < 0 || (bytes == 5 && host_has(&p, "file", "hello")));
    int r = get_text(&p, "file", 0, &sink, &got);
    TASK_ASSERT(r < 0 || put < 0 || (got.bytes == 5 && strcmp(sink.text, "hello") == 0));
    r = p.e->ops->stat(p.e, at(&p, "file"), true, &facts);
    TASK_ASSERT(r < 0 || put < 0 || facts.size_bytes == 5);
    r = p.e->ops->list(p.e, at(&p, ""), see_name, &seen);
    TASK_ASSERT(r < 0 || put < 0 || seen.files == 1);
    r = p.e->ops->rename(p.e, at(&p, "file"), at(&p, "other"));
    TASK_ASSERT(r < 0 || put < 0 || host_has(&p, "other", "hello"));
    r = p.e->ops->remove(p.e, at(&p, "other"));
    TASK_ASSERT(r < 0 || host_lacks(&p, "other"));
    (void)endpoint_free(p.e);
}

static void walk(enum fault_kind kind)
{
    const char *root = make_root("endpoint-fault");
    uint64_t count = 1;
    for (uint64_t nth = 0; nth <= count; nth++) {
        struct harness h = {
            .root = root, .seed = 3, .client = try_all, .fault = kind, .nth = nth};
        harness_run(&h);
        (void)clear_folder(root);
        if (nth == 0)
            count = kind == FAULT_ALLOC ? 400 : 200;
        else if (h.counted < nth)
            break;
    }
    (void)remove_root(root);
}

static void any_allocation_that_fails_is_a_failure_that_is_told(void **state)
{
    (void)state;
    walk(FAULT_ALLOC);
}

static void any_system_call_that_fails_is_a_failure_that_is_told(void **state)
{
    (void)state;
    walk(FAULT_SYSCALL);
}

/* -- words -- */

static void a_word_is_quoted_for_a_shell(void **state)
{
    struct buf b;
    (void)state;
    buf_init(&b, 64);
    assert_int_equal(sftp_quote_word(BYTES_LIT("it's $HOME"), &b), 0);
    assert_true(bytes_equal(buf_bytes(&b), BYTES_LIT("'it'\\''s $HOME'")));
    assert_int_equal(sftp_quote_word(BYTES_LIT("a\0b"), &b), -EINVAL);
    buf_done(&b);
}

#define DIGEST "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void a_line_of_sha256sum_is_read_and_nothing_else(void **state)
{
    uint8_t is[32];
    (void)state;
    assert_int_equal(sftp_sha256_line(BYTES_LIT(DIGEST "  name"), is), 0);
    assert_int_equal(is[0], 0xba);
    assert_int_equal(is[31], 0xad);
    assert_int_equal(sftp_sha256_line(BYTES_LIT("\\" DIGEST "  na\\nme"), is), 0);
    assert_int_equal(sftp_sha256_line(BYTES_LIT(DIGEST), is), 0);
    assert_int_equal(sftp_sha256_line(BYTES_LIT(DIGEST "0"), is), -FERRY_EPROTO);
    assert_int_equal(sftp_sha256_line(BYTES_LIT("sha256sum: no such file"), is), -FERRY_EPROTO);
    assert_int_equal(sftp_sha256_line(BYTES_NONE, is), -FERRY_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_what_an_endpoint_does),
        cmocka_unit_test(any_allocation_that_fails_is_a_failure_that_is_told),
        cmocka_unit_test(any_system_call_that_fails_is_a_failure_that_is_told),
        cmocka_unit_test(a_word_is_quoted_for_a_shell),
        cmocka_unit_test(a_line_of_sha256sum_is_read_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
