/* Each allocation and each system call of an SFTP session fails once: the answers stay true,
 * and an old file is lost to no failure. */
#include <fcntl.h>
#include <stdlib.h>

#include "sftp_harness.h"

#define NEW_LEN 100000

static struct harness h;
static int lied_at; /* the line at which an answer was not true, or 0 */

static size_t read_file(const char *name, uint8_t *data, size_t max)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return SIZE_MAX;
    ssize_t n = read(fd, data, max);
    close(fd);
    return n < 0 ? SIZE_MAX : (size_t)n;
}

static bool is_file(const char *name, struct bytes contents)
{
    static uint8_t data[2 * NEW_LEN];
    size_t len = read_file(name, data, sizeof(data));
    return len == contents.len && memcmp(data, contents.data, len) == 0;
}

static bool exists(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    return access(path, F_OK) == 0;
}

#define EXPECT(holds)                                                                          \
    do {                                                                                       \
        if (!(holds) && lied_at == 0)                                                          \
            lied_at = __LINE__;                                                                \
    } while (0)

static void upload(struct harness *hs)
{
    struct client_handle f;
    struct bytes data = pattern_of(NEW_LEN);
    if (client_open(hs, "f", CLIENT_CREATES, &f) != SFTP_OK)
        return;
    bool is_whole = client_put(hs, &f, 0, bytes_first(data, 30000)) == SFTP_OK &&
                    client_put(hs, &f, 30000, bytes_skip(data, 30000)) == SFTP_OK;
    if (client_close(hs, &f) == SFTP_OK)
        EXPECT(is_whole && is_file("f", data));
    else
        EXPECT(is_file("f", BYTES_LIT("old")) || is_file("f", data));
}

static void download(struct harness *hs)
{
    struct client_handle f;
    if (client_open(hs, "there", SFTP_OPEN_READ, &f) != SFTP_OK)
        return;
    if (client_get(hs, &f, 0, 5) == SFTP_DATA)
        EXPECT(bytes_equal(hs->answer.data,
                           bytes_first(BYTES_LIT("what is there"), hs->answer.data.len)));
    if (client_get(hs, &f, 5, 100) == SFTP_DATA)
        EXPECT(bytes_equal(hs->answer.data,
                           bytes_first(BYTES_LIT("is there"), hs->answer.data.len)));
    (void)client_close(hs, &f);
}

static void copy(struct harness *hs)
{
    struct client_handle from, to;
    if (client_open(hs, "there", SFTP_OPEN_READ, &from) != SFTP_OK)
        return;
    if (client_open(hs, "copy", CLIENT_CREATES, &to) == SFTP_OK) {
        int status = client_status(hs, (struct sftp_request){.kind = SFTP_KIND_COPY_DATA,
                                                             .handle = handle_bytes(&from),
                                                             .to_handle = handle_bytes(&to)});
        if (client_close(hs, &to) == SFTP_OK)
            EXPECT(status != SFTP_OK || is_file("copy", BYTES_LIT("what is there")));
        else
            EXPECT(!exists("copy") || is_file("copy", BYTES_LIT("what is there")));
    }
    (void)client_close(hs, &from);
}

static void list(struct harness *hs)
{
    struct client_handle d;
    if (client_open_as(hs, SFTP_KIND_OPENDIR, "/", 0, &d) != SFTP_OK)
        return;
    struct sftp_request q = {.kind = SFTP_KIND_READDIR, .handle = handle_bytes(&d)};
    unsigned answers = 0;
    while (client_ask(hs, q) == SFTP_NAME && answers < 10)
        answers++;
    EXPECT(answers < 10);
    (void)client_close(hs, &d);
}

static void change(struct harness *hs)
{
    struct sftp_request set = {.kind = SFTP_KIND_SETSTAT, .path = BYTES_LIT("there")};
    set.attributes = (struct sftp_attributes){.has = SFTP_ATTR_MODE, .mode = 0600};
    (void)client_status(hs, set);
    (void)client_path(hs, SFTP_KIND_REALPATH, "a/../b");
    (void)client_path(hs, SFTP_KIND_STATVFS, "/");
    if (client_path(hs, SFTP_KIND_STAT, "there") == SFTP_ATTRS)
        EXPECT(hs->answer.attributes.size_bytes == 13);
    if (client_path(hs, SFTP_KIND_MKDIR, "d") == SFTP_STATUS && hs->answer.status == SFTP_OK)
        EXPECT(exists("d"));
    if (client_paths(hs, SFTP_KIND_SYMLINK, "target", "link") == SFTP_OK &&
        client_path(hs, SFTP_KIND_READLINK, "link") == SFTP_NAME) {
        struct bytes name, longname;
        struct sftp_attributes a;
        EXPECT(sftp_answer_name(&hs->answer, &name, &longname, &a) &&
               bytes_equal(name, BYTES_LIT("target")));
    }
    if (client_paths(hs, SFTP_KIND_HARDLINK, "there", "hard") == SFTP_OK)
        EXPECT(is_file("hard", BYTES_LIT("what is there")));
    if (client_paths(hs, SFTP_KIND_RENAME, "there", "gone") == SFTP_OK)
        EXPECT(!exists("there") && is_file("gone", BYTES_LIT("what is there")));
    if (client_path(hs, SFTP_KIND_REMOVE, "gone") == SFTP_STATUS &&
        hs->answer.status == SFTP_OK)
        EXPECT(!exists("gone"));
}

static void dialogue(struct harness *hs)
{
    if (!client_begin(hs))
        return;
    upload(hs);
    download(hs);
    copy(hs);
    list(hs);
    change(hs);
}

static void make_file(const char *name, const char *contents)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    close(fd);
}

static void fail_each(enum fault_kind kind)
{
    const char *root = make_root("sftp-faults");
    const char *only = getenv("FERRY_FAULT_NTH"); /* to look at one n again */
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1, n = first;
    lied_at = 0;
    do {
        h = (struct harness){.root = root, .client = dialogue, .seed = n, .fault = kind};
        h.nth = n;
        make_file("f", "old");
        make_file("there", "what is there");
        harness_run(&h);
        if (lied_at != 0)
            print_message("n = %lu\n", (unsigned long)n);
        assert_int_equal(lied_at, 0);
        clear_folder(root);
    } while (h.counted >= n++ && only == NULL);
    print_message("%lu calls were failed one by one\n", (unsigned long)(n - first));
    assert_int_equal(remove_root(root), 0);
    assert_true(only != NULL || n > 30); /* the faults were really there */
}

static void every_failed_allocation_leaves_files_and_answers_right(void **state)
{
    (void)state;
    fail_each(FAULT_ALLOC);
}

static void every_failed_system_call_leaves_files_and_answers_right(void **state)
{
    (void)state;
    fail_each(FAULT_SYSCALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_leaves_files_and_answers_right),
        cmocka_unit_test(every_failed_system_call_leaves_files_and_answers_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
