/* The n-th allocation and the n-th system call fail, for all n, across a whole FTP dialogue: no
 * leak (under ASan), no crash, no hang, no lost file, and no reply that is not true. */
#include "ftp_harness.h"

#define OLD_LEN 10000
#define NEW_LEN 300000 /* more than a turn takes at once */

static char old_data[OLD_LEN], new_data[NEW_LEN], got[NEW_LEN + 1];

/* -- the folder -- */

static void put_file(const struct harness *h, const char *name, const char *data, size_t len)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h->root_path, name);
    FILE *f = fopen(path, "we");
    TASK_ASSERT(f && fwrite(data, 1, len, f) == len);
    (void)fclose(f);
}

/* Length of the file, its bytes in got[]; -1: there is none. */
static ssize_t get_file(const struct harness *h, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h->root_path, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    size_t len = fread(got, 1, sizeof(got), f);
    (void)fclose(f);
    return (ssize_t)len;
}

static bool exists(const struct harness *h, const char *name)
{
    char path[128];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/%s", h->root_path, name);
    return lstat(path, &st) == 0;
}

static bool holds(const struct harness *h, const char *name, const char *data, size_t len)
{
    return get_file(h, name) == (ssize_t)len && memcmp(got, data, len) == 0;
}

static void empty_folder(const struct harness *h)
{
    char command[160];
    (void)snprintf(command, sizeof(command), "find %s -mindepth 1 -delete", h->root_path);
    TASK_ASSERT(system(command) == 0);
    put_file(h, "good", old_data, OLD_LEN);
}

/* -- commands whose replies must be true -- */

/* No reply, or that the session ends (421): it says nothing of the command. */
static bool is_silent(int code)
{
    return code == 0 || code == 421;
}

/* A transfer command: the code of its last reply, 0: the connection is gone. */
static int transfer(struct ftp_client *c, const char *command, const char *send_data,
                    size_t send_len, size_t *ret_got)
{
    int data = client_passive(c);
    int code = client_say(c, command);
    size_t len = 0;
    if (data >= 0 && code == 150) {
        while (send_len) {
            ssize_t n = send(data, send_data, send_len, MSG_NOSIGNAL);
            if (n <= 0)
                break;
            send_data += n;
            send_len -= (size_t)n;
        }
        (void)shutdown(data, SHUT_WR);
        for (ssize_t n;
             len < sizeof(got) && (n = recv(data, got + len, sizeof(got) - len, 0)) > 0;)
            len += (size_t)n;
    }
    if (data >= 0)
        close(data);
    *ret_got = len;
    return code == 150 ? client_reply(c) : code;
}

static void store(struct harness *h, struct ftp_client *c)
{
    size_t len;
    int code = transfer(c, "STOR good", new_data, NEW_LEN, &len);
    if (code == 226)
        TASK_ASSERT(holds(h, "good", new_data, NEW_LEN));
    else if (!is_silent(code))
        TASK_ASSERT(holds(h, "good", old_data, OLD_LEN));
    else /* the last word did not arrive: either, but whole */
        TASK_ASSERT(holds(h, "good", old_data, OLD_LEN) || holds(h, "good", new_data, NEW_LEN));
}

static void size_and_retrieve(struct harness *h, struct ftp_client *c)
{
    size_t len;
    if (client_say(c, "SIZE good") == 213)
        TASK_ASSERT(strtol(c->reply + 4, NULL, 10) == get_file(h, "good"));
    static char whole[NEW_LEN];
    ssize_t there = get_file(h, "good");
    memcpy(whole, got, (size_t)there);
    int code = transfer(c, "RETR good", NULL, 0, &len);
    TASK_ASSERT(len <= (size_t)there && memcmp(got, whole, len) == 0);
    if (code == 226)
        TASK_ASSERT(len == (size_t)there);
}

static void append_and_delete(struct harness *h, struct ftp_client *c)
{
    size_t len;
    put_file(h, "log", old_data, 100);
    int code = transfer(c, "APPE log", old_data + 100, 100, &len);
    ssize_t there = get_file(h, "log");
    TASK_ASSERT(there >= 100 && there <= 200 && memcmp(got, old_data, (size_t)there) == 0);
    if (code == 226)
        TASK_ASSERT(there == 200);
    code = client_say(c, "DELE log");
    if (code == 250)
        TASK_ASSERT(!exists(h, "log"));
    else if (!is_silent(code))
        TASK_ASSERT(exists(h, "log"));
}

static void folders_and_names(struct harness *h, struct ftp_client *c)
{
    size_t len;
    int code = client_say(c, "MKD sub");
    if (!is_silent(code))
        TASK_ASSERT(exists(h, "sub") == (code == 257));
    (void)client_say(c, "CWD sub");
    (void)client_say(c, "PWD");
    (void)client_say(c, "CDUP");
    put_file(h, "a", old_data, 10);
    if (client_say(c, "RNFR /a") == 350) {
        code = client_say(c, "RNTO /b");
        if (!is_silent(code))
            TASK_ASSERT(exists(h, "b") == (code == 250) && exists(h, "a") == (code != 250));
    }
    if (transfer(c, "MLSD /", NULL, 0, &len) == 226) {
        got[len < sizeof(got) ? len : sizeof(got) - 1] = '\0';
        TASK_ASSERT(strstr(got, " good\r\n"));
    }
    if (transfer(c, "LIST -la /g*", NULL, 0, &len) == 226) {
        got[len < sizeof(got) ? len : sizeof(got) - 1] = '\0';
        TASK_ASSERT(strstr(got, "/good\r\n"));
    }
    (void)client_say(c, "MLST /good");
    (void)client_say(c, "MDTM /good");
    (void)client_say(c, "MFMT 20200101000000 /good");
    (void)client_say(c, "SITE CHMOD 600 /good");
    code = client_say(c, "RMD /sub");
    if (code == 250)
        TASK_ASSERT(!exists(h, "sub"));
}

static bool login(struct ftp_client *c, const struct harness *h)
{
    *c = (struct ftp_client){.fd = connect_port(h->port)};
    if (c->fd < 0 || client_reply(c) != 220)
        return false;
    if (client_say(c, "USER ann") != 331 || client_say(c, "PASS right") != 230)
        return false;
    return client_say(c, "TYPE I") == 200;
}

static void dialogue(struct harness *h)
{
    static struct ftp_client c;
    empty_folder(h);
    if (login(&c, h)) {
        store(h, &c);
        size_and_retrieve(h, &c);
        append_and_delete(h, &c);
        folders_and_names(h, &c);
        (void)client_say(&c, "FEAT");
        (void)client_say(&c, "STAT");
        (void)client_say(&c, "QUIT");
    }
    client_close(&c);
}

/* One dialogue with a fault in it, then one that must be flawless: the server has not suffered.
 */
static void faulty_then_clean(struct harness *h)
{
    static struct ftp_client c;
    dialogue(h);
    h->counted = fault_count(h->kind);
    fault_arm(h->kind, 0);
    empty_folder(h);
    size_t len;
    TASK_ASSERT(login(&c, h));
    TASK_ASSERT(transfer(&c, "STOR good", new_data, NEW_LEN, &len) == 226);
    TASK_ASSERT(transfer(&c, "RETR good", NULL, 0, &len) == 226 && len == NEW_LEN);
    TASK_ASSERT(memcmp(got, new_data, NEW_LEN) == 0);
    TASK_ASSERT(client_say(&c, "QUIT") == 221);
    client_close(&c);
}

static void fail_each(enum fault_kind kind)
{
    struct harness h = {.kind = kind, .client = faulty_then_clean};
    (void)snprintf(h.root_path, sizeof(h.root_path), "/tmp/ferry-faults-%d", getpid());
    TASK_ASSERT(mkdir(h.root_path, 0755) == 0);
    const char *only = getenv("FERRY_FAULT_NTH"); /* to look at one n again */
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t n = first;
    do {
        h.nth = n;
        if (only || getenv("FERRY_TRACE") || n % 100 == 0)
            print_message("n = %lu\n", (unsigned long)n);
        harness_run(&h, n);
    } while (h.counted >= n++ && !only);
    print_message("%lu calls were failed one by one\n", (unsigned long)(n - first));
    char command[160];
    (void)snprintf(command, sizeof(command), "rm -rf %s", h.root_path);
    assert_int_equal(system(command), 0);
    assert_true(only || n > 50); /* the faults were really there */
}

static void every_failed_allocation_leaves_files_and_replies_right(void **state)
{
    (void)state;
    fail_each(FAULT_ALLOC);
}

static void every_failed_system_call_leaves_files_and_replies_right(void **state)
{
    (void)state;
    fail_each(FAULT_SYSCALL);
}

int main(void)
{
    for (size_t i = 0; i < OLD_LEN; i++)
        old_data[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < NEW_LEN; i++)
        new_data[i] = (char)(i * 2654435761u >> 24);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_leaves_files_and_replies_right),
        cmocka_unit_test(every_failed_system_call_leaves_files_and_replies_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
