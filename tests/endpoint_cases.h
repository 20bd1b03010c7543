/* What every endpoint does, whatever is behind it: run as a task with an endpoint whose paths
 * begin with a prefix and lie in a folder of this machine. */
#pragma once
#include "endpoint_place.h"

/* -- the cases -- */

static PARKS inline void case_stat(const struct endpoint_place *p)
{
    struct endpoint_facts facts;
    write_host(p, "file", "hello");
    TASK_ASSERT(mkdir(host_path(p, "sub"), 0755) == 0);
    TASK_ASSERT(p->e->ops->stat(p->e, at(p, "file"), true, &facts) == 0);
    TASK_ASSERT(facts.kind == ENDPOINT_FILE && facts.has_size && facts.size_bytes == 5);
    TASK_ASSERT(p->e->ops->stat(p->e, at(p, "sub"), true, &facts) == 0);
    TASK_ASSERT(facts.kind == ENDPOINT_DIRECTORY);
    TASK_ASSERT(p->e->ops->stat(p->e, at(p, "not"), true, &facts) == -ENOENT);
    TASK_ASSERT(unlink(host_path(p, "file")) == 0 && rmdir(host_path(p, "sub")) == 0);
}

struct names_seen {
    unsigned files, directories, others;
    uint64_t bytes;
    int fails;
};

static inline int see_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct names_seen *seen = arg;
    TASK_ASSERT(name.len > 0 && memchr(name.data, '/', name.len) == NULL);
    TASK_ASSERT(!bytes_equal(name, BYTES_LIT(".")) && !bytes_equal(name, BYTES_LIT("..")));
    seen->files += facts->kind == ENDPOINT_FILE;
    seen->directories += facts->kind == ENDPOINT_DIRECTORY;
    seen->others += facts->kind != ENDPOINT_FILE && facts->kind != ENDPOINT_DIRECTORY;
    seen->bytes += facts->size_bytes;
    return seen->fails;
}

static PARKS inline void case_list(const struct endpoint_place *p)
{
    struct names_seen seen = {0}, fails = {.fails = -EXDEV};
    TASK_ASSERT(mkdir(host_path(p, "list"), 0755) == 0);
    TASK_ASSERT(p->e->ops->list(p->e, at(p, "list"), see_name, &seen) == 0);
    TASK_ASSERT(seen.files + seen.directories + seen.others == 0);
    write_host(p, "list/a b", "123");
    write_host(p, "list/.c", "4");
    TASK_ASSERT(mkdir(host_path(p, "list/d"), 0755) == 0);
    TASK_ASSERT(p->e->ops->list(p->e, at(p, "list"), see_name, &seen) == 0);
    TASK_ASSERT(seen.files == 2 && seen.directories == 1 && seen.others == 0);
    TASK_ASSERT(p->e->ops->list(p->e, at(p, "list"), see_name, &fails) == -EXDEV);
    TASK_ASSERT(p->e->ops->list(p->e, at(p, "not"), see_name, &seen) < 0);
    TASK_ASSERT(unlink(host_path(p, "list/a b")) == 0 && unlink(host_path(p, "list/.c")) == 0 &&
                rmdir(host_path(p, "list/d")) == 0 && rmdir(host_path(p, "list")) == 0);
}

static PARKS inline void case_get(const struct endpoint_place *p)
{
    struct text_sink whole = {.text = ""}, rest = {.text = ""}, none = {.text = ""};
    struct text_sink fails = {.fails = -ENOSPC};
    struct endpoint_got got;
    write_host(p, "file", "hello world");
    TASK_ASSERT(get_text(p, "file", 0, &whole, &got) == 0);
    TASK_ASSERT(strcmp(whole.text, "hello world") == 0 && got.bytes == 11);
    TASK_ASSERT(get_text(p, "file", 6, &rest, &got) == 0);
    TASK_ASSERT(strcmp(rest.text + 6, "world") == 0 && got.bytes == 5);
    TASK_ASSERT(get_text(p, "not", 0, &none, &got) == -ENOENT && got.bytes == 0);
    TASK_ASSERT(get_text(p, "file", 0, &fails, &got) == -ENOSPC);
    write_host(p, "file", "");
    TASK_ASSERT(get_text(p, "file", 0, &none, &got) == 0 && got.bytes == 0);
    TASK_ASSERT(unlink(host_path(p, "file")) == 0);
}

static PARKS inline void case_put(const struct endpoint_place *p)
{
    struct text_source hello = {.text = "hello world"}, breaks = {"hello world", 5};
    struct text_source empty = {.text = ""};
    uint64_t bytes;
    TASK_ASSERT(put_text(p, "new", 0, &hello, &bytes) == 0 && bytes == 11);
    TASK_ASSERT(host_has(p, "new", "hello world"));
    TASK_ASSERT(truncate(host_path(p, "new"), 6) == 0);
    TASK_ASSERT(put_text(p, "new", 6, &hello, &bytes) == 0 && bytes == 5);
    TASK_ASSERT(host_has(p, "new", "hello world"));
    TASK_ASSERT(put_text(p, "new", 0, &breaks, &bytes) == -EIO && bytes <= 5);
    TASK_ASSERT(!p->e->stores_whole || host_has(p, "new", "hello world"));
    TASK_ASSERT(put_text(p, "new", 0, &empty, &bytes) == 0 && host_has(p, "new", ""));
    TASK_ASSERT(put_text(p, "no/such", 0, &hello, &bytes) < 0 && bytes == 0);
    TASK_ASSERT(unlink(host_path(p, "new")) == 0);
}

static PARKS inline void case_names(const struct endpoint_place *p)
{
    write_host(p, "one", "1");
    write_host(p, "two", "2");
    TASK_ASSERT(p->e->ops->mkdir(p->e, at(p, "sub"), 0755) == 0);
    TASK_ASSERT(p->e->ops->mkdir(p->e, at(p, "sub"), 0755) == -EEXIST);
    TASK_ASSERT(p->e->ops->rename(p->e, at(p, "one"), at(p, "sub/three")) == 0);
    TASK_ASSERT(host_has(p, "sub/three", "1") && host_lacks(p, "one"));
    TASK_ASSERT(p->e->ops->rename(p->e, at(p, "sub/three"), at(p, "two")) == 0);
    TASK_ASSERT(host_has(p, "two", "1") && host_lacks(p, "sub/three"));
    TASK_ASSERT(p->e->ops->rename(p->e, at(p, "not"), at(p, "two")) == -ENOENT);
    TASK_ASSERT(host_has(p, "two", "1"));
    TASK_ASSERT(p->e->ops->rmdir(p->e, at(p, "two")) < 0);
    TASK_ASSERT(p->e->ops->remove(p->e, at(p, "two")) == 0 && host_lacks(p, "two"));
    TASK_ASSERT(p->e->ops->remove(p->e, at(p, "two")) == -ENOENT);
    TASK_ASSERT(p->e->ops->rmdir(p->e, at(p, "sub")) == 0 && host_lacks(p, "sub"));
}

static PARKS inline void case_set(const struct endpoint_place *p)
{
    const struct endpoint_facts facts = {.has_mode = true,
                                         .mode = 0600,
                                         .has_times = true,
                                         .mtime_us = INT64_C(1000000000000000),
                                         .atime_us = INT64_C(1000000000000000)};
    struct stat st;
    write_host(p, "file", "x");
    int r = p->e->ops->set(p->e, at(p, "file"), &facts);
    TASK_ASSERT(r == (p->has_no_set ? -EOPNOTSUPP : 0));
    TASK_ASSERT(stat(host_path(p, "file"), &st) == 0);
    TASK_ASSERT(r < 0 || (st.st_mtime == 1000000000 && (st.st_mode & 0777) == 0600));
    TASK_ASSERT(unlink(host_path(p, "file")) == 0);
}

static PARKS inline void case_sha256(const struct endpoint_place *p)
{
    /* of "abc" */
    static const uint8_t expected[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                         0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                         0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                         0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    uint8_t is[32];
    write_host(p, "file", "abcd");
    int r = p->e->ops->sha256(p->e, at(p, "file"), 3, is);
    TASK_ASSERT(r == (p->has_no_sha256 ? -EOPNOTSUPP : 0));
    TASK_ASSERT(r < 0 || memcmp(is, expected, sizeof(is)) == 0);
    TASK_ASSERT(unlink(host_path(p, "file")) == 0);
}

/* A file of this machine, and an upload, by the endpoint's shortest path. */
static PARKS inline void case_files(const struct endpoint_place *p)
{
    static const uint64_t size = 3 * 1024 * 1024 + 5;
    struct xfer_progress progress = {0};
    struct endpoint_got got;
    struct vfile *file;
    struct vupload *upload;
    struct vpath path;
    struct stat st;
    uint64_t bytes;
    if (p->vfs == NULL)
        return;
    write_host(p, "big", "begins");
    TASK_ASSERT(truncate(host_path(p, "big"), (off_t)size) == 0);
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("big"), &path) == 0);
    TASK_ASSERT(vfs_open(p->vfs, &path, &file) == 0);
    vpath_done(&path);
    const struct endpoint_put put = {
        .file = file, .size_bytes = size, .mode = 0640, .progress = &progress};
    TASK_ASSERT(p->e->ops->put(p->e, at(p, "copy"), &put, &bytes) == 0 && bytes == size);
    TASK_ASSERT(stat(host_path(p, "copy"), &st) == 0 && (uint64_t)st.st_size == size);
    TASK_ASSERT(atomic_load(&progress.file_bytes) == size);
    (void)vfile_close(file);
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE};
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("back"), &path) == 0);
    TASK_ASSERT(vfs_upload_begin(p->vfs, &path, &request, &upload) == 0);
    vpath_done(&path);
    const struct endpoint_get get = {.upload = upload, .progress = &progress};
    TASK_ASSERT(p->e->ops->get(p->e, at(p, "copy"), &get, &got) == 0 && got.bytes == size);
    TASK_ASSERT(vupload_commit(upload, size) == 0);
    TASK_ASSERT(stat(host_path(p, "back"), &st) == 0 && (uint64_t)st.st_size == size);
    TASK_ASSERT(unlink(host_path(p, "big")) == 0 && unlink(host_path(p, "copy")) == 0 &&
                unlink(host_path(p, "back")) == 0);
}

static PARKS inline void endpoint_cases(const struct endpoint_place *p)
{
    case_stat(p);
    case_list(p);
    case_get(p);
    case_put(p);
    case_names(p);
    case_set(p);
    case_sha256(p);
    case_files(p);
}
