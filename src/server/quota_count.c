#include "server/quota_count.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "vfs/path.h"
#include "vfs/quota.h"
#include "vfs/vfs.h"

struct held {
    uint64_t bytes, files;
};

/* Directories still to be read, each a path of its own. */
struct pending {
    struct vpath path;
    struct pending *next;
};

static int push(struct pending **list, struct bytes parent, struct bytes name)
{
    struct pending *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    int r = vpath_parse(parent, name, &p->path);
    if (r < 0) {
        mem_free(p);
        return r;
    }
    p->next = *list;
    *list = p;
    return 0;
}

static struct pending *pop(struct pending **list)
{
    struct pending *p = *list;
    *list = p->next;
    return p;
}

static void drop(struct pending *p)
{
    vpath_done(&p->path);
    mem_free(p);
}

/* As vfs/ counts: each name is a file, a file with several names is one content. */
static void add_entry(const struct ventry *e, struct held *held)
{
    held->files++;
    if (e->stat.kind == VSTAT_FILE)
        held->bytes += e->stat.size_bytes / (e->stat.links > 1 ? e->stat.links : 1);
}

static int count_directory(struct vfs *vfs, const struct vpath *path, struct pending **list,
                           struct held *held)
{
    struct vdir *dir;
    int r = vfs_dir_open(vfs, path, &dir);
    if (r < 0)
        return r;
    const struct ventry *entries;
    while ((r = vdir_next(dir, &entries)) > 0) {
        int failure = 0;
        for (int i = 0; i < r && failure == 0; i++) {
            add_entry(&entries[i], held);
            if (entries[i].stat.kind == VSTAT_DIRECTORY)
                failure = push(list, vpath_bytes(path),
                               bytes_of(entries[i].name, entries[i].name_len));
        }
        if (failure < 0) {
            r = failure;
            break;
        }
    }
    (void)vdir_close(dir);
    return r;
}

static int count_tree(struct vfs *vfs, struct held *ret)
{
    struct pending *list = NULL;
    struct held held = {0, 0};
    int r = push(&list, BYTES_LIT("/"), BYTES_LIT("/"));
    while (list != NULL) {
        struct pending *p = pop(&list);
        if (r == 0) {
            r = count_directory(vfs, &p->path, &list, &held);
            /* gone, or not ours to read: the rest counts */
            if (r != -ECANCELED && r != -ENOMEM)
                r = 0;
        }
        drop(p);
    }
    *ret = held;
    return r;
}

static int count_root(struct server *server, unsigned root, struct held *ret)
{
    struct rights rights;
    rights_init(&rights, RIGHT_LIST);
    struct vfs *vfs;
    int r = vfs_new(server->roots.at[root], &rights, &server->settings->vfs, NULL,
                    runtime_files_pool(server->runtime), NULL, &vfs);
    if (r == 0) {
        r = count_tree(vfs, ret);
        (void)vfs_free(vfs);
    }
    rights_done(&rights);
    return r;
}

/* -- accounts -- */

struct counting { /* accounts with a quota, borrowed from auth/ */
    struct account **accounts;
    unsigned count;
};

static bool has_quota(const struct account_setting *a)
{
    return a->quota_bytes != 0 || a->quota_files != 0;
}

static const struct account_setting *setting_of(const struct server *server,
                                                const struct account *account)
{
    const struct settings *s = server->settings;
    for (unsigned i = 0; i < s->account_count; i++)
        if (bytes_equal(bytes_str(s->accounts[i].name), bytes_str(account->name)))
            return &s->accounts[i];
    return NULL;
}

static int collect(struct account *account, void *arg)
{
    struct counting *c = arg;
    if (account->quota != NULL)
        c->accounts[c->count++] = account;
    return 0;
}

static uint64_t at_most(uint64_t held, uint64_t max)
{
    return max != 0 && held > max ? max : held;
}

static void settle(const struct account_setting *a, struct account *account, struct held held)
{
    struct log_record r;
    log_begin(&r, LOG_INFO, "quota_counted");
    log_text(&r, "user", a->name);
    log_u64(&r, "bytes", held.bytes);
    log_u64(&r, "files", held.files);
    log_end(&r);
    (void)!quota_take(account->quota, at_most(held.bytes, a->quota_bytes),
                      at_most(held.files, a->quota_files));
}

/* Each root is counted once, for all accounts that share it. */
static int count_for(struct server *server, struct counting *c, unsigned first)
{
    unsigned root = c->accounts[first]->root_index;
    for (unsigned i = 0; i < first; i++)
        if (c->accounts[i]->root_index == root)
            return 0; /* with that one */
    struct held held;
    int r = count_root(server, root, &held);
    for (unsigned i = first; r == 0 && i < c->count; i++)
        if (c->accounts[i]->root_index == root)
            settle(setting_of(server, c->accounts[i]), c->accounts[i], held);
    return r;
}

bool quota_count_is_needed(const struct server *server)
{
    const struct settings *s = server->settings;
    for (unsigned i = 0; i < s->account_count; i++)
        if (has_quota(&s->accounts[i]))
            return true;
    return false;
}

void quota_count_all(struct server *server)
{
    struct counting c = {.accounts =
                             mem_new(server->settings->account_count * sizeof(*c.accounts))};
    int r = c.accounts == NULL ? -ENOMEM : auth_each(server->auth, collect, &c);
    for (unsigned i = 0; r == 0 && i < c.count; i++)
        r = count_for(server, &c, i);
    mem_free(c.accounts);
    if (r < 0 && r != -ECANCELED) {
        struct log_record record;
        log_begin(&record, LOG_ERROR, "quota_not_counted");
        log_err(&record, r);
        log_end(&record);
    }
}
