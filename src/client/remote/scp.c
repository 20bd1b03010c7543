/* Files of a server by scp's old protocol, as an endpoint.
 *
 * The protocol can send and take trees, and no more. So facts and listings are what a server
 * announces of a tree whose files are then all declined; a directory is made, or set, by
 * sending it empty; and each file has a command of its own. Nothing is renamed, removed or gone
 * on with.
 */
#include "client/remote/scp.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/names.h"
#include "client/remote/contents.h"
#include "client/remote/scp_dialogue.h"
#include "client/remote/sftp.h"

#define BYTES_MAX    ((uint64_t)INT64_MAX)
#define MODE_FILE    0666u
#define MODE_MASK    0777u
#define PATTERN_MAX  (2 * PATH_LEN_MAX + 8)
#define STAT_ENTRIES 8 /* what is asked for, and complaints */

struct remote {
    struct endpoint endpoint; /* first */
    struct scp_channels channels;
};

static struct remote *remote_of(struct endpoint *e)
{
    return (struct remote *)e;
}

/* Keeps the words of this call; others may have run meanwhile. */
static int told(struct endpoint *e, const struct scp_call *call, int result)
{
    e->why[0] = '\0';
    if (result < 0 && result != -ECANCELED)
        (void)text_copy(e->why, sizeof(e->why), bytes_str(call->why));
    return result;
}

static void facts_of(const struct scp_file *f, enum endpoint_kind kind,
                     struct endpoint_facts *ret)
{
    *ret = (struct endpoint_facts){
        .kind = kind,
        .has_size = kind == ENDPOINT_FILE,
        .has_mode = true,
        .has_times = f->has_times,
        .size_bytes = f->size_bytes,
        .mode = f->mode & MODE_MASK,
        .mtime_us = f->mtime_us,
        .atime_us = f->atime_us,
    };
}

/* The engine's result. */
static PARKS int run_get(struct endpoint *e, struct scp_call *call,
                         const struct scp_request *request, const struct scp_sink_ops *ops)
{
    int r = scp_call_open(call, &remote_of(e)->channels, request, false);
    return r < 0 ? r : scp_client_get(scp_call_stream(call), request, ops, call);
}

/* -- facts -- */

struct look {
    struct scp_call call; /* first: it is what complaints get */
    struct endpoint_facts facts;
    bool has_facts;
};

static PARKS int look_at_directory(void *arg, const struct scp_file *f,
                                   char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct look *look = arg;
    (void)ret_why;
    facts_of(f, ENDPOINT_DIRECTORY, &look->facts);
    look->has_facts = true;
    return SCP_SKIP;
}

static PARKS int look_at_file(void *arg, const struct scp_file *f,
                              char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct look *look = arg;
    (void)ret_why;
    facts_of(f, ENDPOINT_FILE, &look->facts);
    look->has_facts = true;
    return SCP_SKIP;
}

static const struct scp_sink_ops look_ops = {
    .directory_begin = look_at_directory,
    .file_begin = look_at_file,
    .complaint = scp_call_complaint,
};

/* What has no name of its own can be nothing but a directory. */
static PARKS int remote_stat(struct endpoint *e, struct bytes path, bool follow,
                             struct endpoint_facts *ret)
{
    const struct scp_path asked = {.path = path};
    const struct scp_request request = {.is_recursive = true,
                                        .keeps_times = true,
                                        .paths = &asked,
                                        .count = 1,
                                        .entries_max = STAT_ENTRIES,
                                        .bytes_max = BYTES_MAX};
    struct look look = {.has_facts = false};
    (void)follow; /* scp always does */
    if (scp_is_nameless(path)) {
        *ret = (struct endpoint_facts){.kind = ENDPOINT_DIRECTORY};
        return 0;
    }
    int r = run_get(e, &look.call, &request, &look_ops);
    r = scp_call_end(&look.call, look.has_facts && r > 0 ? 0 : r);
    if (r == -FERRY_ENOTREG) {
        look.facts = (struct endpoint_facts){.kind = ENDPOINT_OTHER};
        r = 0;
    }
    if (r == 0)
        *ret = look.facts;
    return told(e, &look.call, r);
}

/* -- listing -- */

struct listing {
    struct scp_call call; /* first */
    struct bytes directory;
    const char *pattern; /* by which its entries are asked for; NULL: they come within it */
    bool is_entered;
    endpoint_name_fn *fn;
    void *arg;
    int result; /* of fn, or of a complaint that is nobody's */
};

static int tell(struct listing *l, struct bytes path, const struct endpoint_facts *facts)
{
    size_t at;
    while (bytes_find(path, '/', &at))
        path = bytes_skip(path, at + 1);
    int r = l->fn(l->arg, path, facts);
    return r < 0 ? r : SCP_SKIP;
}

static PARKS int list_directory(void *arg, const struct scp_file *f,
                                char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct listing *l = arg;
    struct endpoint_facts facts;
    (void)ret_why;
    if (l->pattern == NULL && !l->is_entered) {
        l->is_entered = true;
        return 0;
    }
    facts_of(f, ENDPOINT_DIRECTORY, &facts);
    return tell(l, f->name, &facts);
}

static PARKS int list_end(void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    (void)arg, (void)ret_why;
    return 0;
}

static PARKS int list_file(void *arg, const struct scp_file *f,
                           char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct listing *l = arg;
    struct endpoint_facts facts;
    (void)ret_why;
    if (l->pattern == NULL && !l->is_entered)
        return -ENOTDIR;
    facts_of(f, ENDPOINT_FILE, &facts);
    return tell(l, f->name, &facts);
}

/* Of an entry: who asks for it alone hears what is the matter with it. */
static void list_complaint(void *arg, const char *text)
{
    struct listing *l = arg;
    const struct endpoint_facts unknown = {.kind = ENDPOINT_UNKNOWN};
    struct bytes name = scp_complaint_name(bytes_str(text));
    if (l->result < 0)
        return;
    if (name.len == 0)
        l->result = scp_complaint_result(bytes_str(text));
    else if (l->pattern == NULL || !bytes_equal(name, bytes_str(l->pattern)))
        l->result = l->fn(l->arg, name, &unknown);
}

static const struct scp_sink_ops list_ops = {
    .directory_begin = list_directory,
    .directory_end = list_end,
    .file_begin = list_file,
    .complaint = scp_call_complaint,
};

static PARKS int list_asked(struct endpoint *e, struct listing *l, const struct scp_path *asked)
{
    const struct scp_request request = {.is_recursive = true,
                                        .keeps_times = true,
                                        .paths = asked,
                                        .count = 1,
                                        .entries_max = SFTP_LISTING_MAX,
                                        .bytes_max = BYTES_MAX};
    l->call = (struct scp_call){.heard = list_complaint, .arg = l};
    int r = run_get(e, &l->call, &request, &list_ops);
    if (r == SCP_NOT_ALL && (l->is_entered || l->pattern != NULL))
        r = l->result;
    return scp_call_end(&l->call, r);
}

/* "DIRECTORY/PATTERN", of which a shell sees a pattern in the last component alone. */
static int make_pattern(struct bytes directory, const char *pattern, struct buf *ret)
{
    int r = directory.len == 0 ? buf_append_byte(ret, '.') : 0;
    for (size_t i = 0; i < directory.len && r == 0; i++) {
        if (memchr("*?[\\", directory.data[i], 4) != NULL)
            r = buf_append_byte(ret, '\\');
        if (r == 0)
            r = buf_append_byte(ret, directory.data[i]);
    }
    return r < 0 ? r : buf_printf(ret, "/%s", pattern);
}

/* It cannot be asked for by a name, so its entries are. Some shells run nothing at all where a
 * pattern matches nothing. */
static PARKS int list_nameless(struct endpoint *e, struct listing *l)
{
    static const char *const patterns[] = {"*", ".[!.]*", "..?*"};
    int r = 0;
    for (unsigned i = 0; i < ARRAY_LEN(patterns) && r == 0; i++) {
        struct buf pattern;
        l->pattern = patterns[i];
        l->result = 0;
        buf_init(&pattern, PATTERN_MAX);
        r = make_pattern(l->directory, l->pattern, &pattern);
        const struct scp_path asked = {.path = buf_bytes(&pattern), .is_pattern = true};
        if (r == 0)
            r = list_asked(e, l, &asked);
        if (r == -FERRY_EREFUSED && l->call.complaints == 0)
            r = 0;
        buf_done(&pattern);
    }
    return r;
}

static PARKS int remote_list(struct endpoint *e, struct bytes path, endpoint_name_fn *fn,
                             void *arg)
{
    struct listing l = {.directory = path, .fn = fn, .arg = arg};
    const struct scp_path asked = {.path = path};
    int r = scp_is_nameless(path) ? list_nameless(e, &l) : list_asked(e, &l, &asked);
    return told(e, &l.call, r);
}

/* -- contents -- */

struct download {
    struct scp_call call; /* first */
    struct contents_get contents;
    struct endpoint_got *got;
    int result; /* of the file's end */
};

static PARKS int get_begin(void *arg, const struct scp_file *f,
                           char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct download *d = arg;
    (void)ret_why;
    facts_of(f, ENDPOINT_FILE, &d->got->facts);
    return 0;
}

static PARKS int get_data(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    struct download *d = arg;
    uint64_t len;
    int r = contents_take(&d->contents, offset, chunk, pieces, count, &len);
    if (r < 0)
        return r;
    d->got->bytes += len;
    return 0;
}

static PARKS int get_end(void *arg, int result, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct download *d = arg;
    (void)ret_why;
    d->result = result;
    return 0;
}

static const struct scp_sink_ops get_ops = {
    .file_begin = get_begin,
    .data = get_data,
    .file_end = get_end,
    .complaint = scp_call_complaint,
};

static PARKS int remote_get(struct endpoint *e, struct bytes path,
                            const struct endpoint_get *get, struct endpoint_got *ret)
{
    const struct scp_path asked = {.path = path};
    const struct scp_request request = {.keeps_times = true,
                                        .paths = &asked,
                                        .count = 1,
                                        .entries_max = STAT_ENTRIES,
                                        .bytes_max = BYTES_MAX};
    struct download d = {.got = ret};
    *ret = (struct endpoint_got){.bytes = 0};
    if (get->offset > 0)
        return -EOPNOTSUPP;
    contents_get_init(&d.contents, get);
    int r = run_get(e, &d.call, &request, &get_ops);
    if (r >= 0 && d.result < 0)
        r = d.result;
    return told(e, &d.call, scp_call_end(&d.call, r));
}

/* What is sent goes into the directory that the path is in: a directory that stands there under
 * its name is then in the way, and nothing goes into it. */
struct sending {
    struct scp_call call;
    struct scp_put *put;
    struct scp_file file; /* or directory */
};

static PARKS int send_begin(struct endpoint *e, struct sending *s, struct bytes path,
                            const struct endpoint_facts *keeps, bool is_directory)
{
    struct bytes parent = copy_name_parent(path);
    const struct scp_path to = {.path = parent.len > 0 ? parent : BYTES_LIT(".")};
    const struct scp_request request = {.is_recursive = is_directory,
                                        .keeps_times = keeps != NULL,
                                        .needs_directory = true,
                                        .paths = &to,
                                        .count = 1};
    s->file.name = copy_name_last(path);
    if (keeps != NULL) {
        s->file.mode = keeps->has_mode ? keeps->mode & MODE_MASK : s->file.mode;
        s->file.has_times = keeps->has_times;
        s->file.mtime_us = keeps->mtime_us;
        s->file.atime_us = keeps->atime_us;
    }
    int r = scp_call_open(&s->call, &remote_of(e)->channels, &request, true);
    return r < 0 ? r
                 : scp_client_put_begin(scp_call_stream(&s->call), scp_call_complaint, &s->call,
                                        &s->put);
}

static PARKS int send_end(struct endpoint *e, struct sending *s, int result)
{
    if (s->put != NULL) {
        int all = scp_client_put_end(s->put);
        result = result < 0 ? result : all;
    }
    return told(e, &s->call, scp_call_end(&s->call, result));
}

static PARKS int remote_put(struct endpoint *e, struct bytes path,
                            const struct endpoint_put *put, uint64_t *ret_bytes)
{
    struct contents_put c;
    struct sending s = {.file = {.mode = put->mode != 0 ? put->mode & MODE_MASK : MODE_FILE,
                                 .size_bytes = put->size_bytes}};
    *ret_bytes = 0;
    if (put->offset > 0 || put->size_bytes > BYTES_MAX) {
        (void)text_copy(e->why, sizeof(e->why),
                        BYTES_LIT("scp must be told the size before; take --method sftp"));
        return -EOPNOTSUPP;
    }
    contents_put_init(&c, put);
    int r = send_begin(e, &s, path, put->keeps, false);
    if (r == 0)
        r = scp_client_put_file(s.put, &s.file, contents_fill, &c);
    r = send_end(e, &s, r);
    if (r == 0)
        *ret_bytes = put->size_bytes;
    return r;
}

/* -- directories -- */

static PARKS int send_directory(struct endpoint *e, struct bytes path, uint32_t mode,
                                const struct endpoint_facts *keeps)
{
    struct sending s = {.file = {.mode = mode & MODE_MASK}};
    int r = send_begin(e, &s, path, keeps, true);
    if (r == 0)
        r = scp_client_put_push(s.put, &s.file);
    if (r == 0)
        r = scp_client_put_pop(s.put);
    return send_end(e, &s, r);
}

/* scp makes no word of one that is there already. */
static PARKS int remote_mkdir(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct endpoint_facts there;
    int r = remote_stat(e, path, true, &there);
    if (r == 0)
        return -EEXIST;
    return r == -ENOENT ? send_directory(e, path, mode != 0 ? mode : 0777, NULL) : r;
}

static PARKS int remote_set(struct endpoint *e, struct bytes path,
                            const struct endpoint_facts *facts)
{
    if (!facts->has_mode || scp_is_nameless(path))
        return -EOPNOTSUPP;
    return send_directory(e, path, facts->mode, facts);
}

/* -- what the protocol has not -- */

static int refuse(struct endpoint *e)
{
    (void)text_copy(e->why, sizeof(e->why), BYTES_LIT("scp has no such request"));
    return -EOPNOTSUPP;
}

static PARKS int remote_remove(struct endpoint *e, struct bytes path)
{
    (void)path;
    return refuse(e);
}

static PARKS int remote_rename(struct endpoint *e, struct bytes from, struct bytes to)
{
    (void)from, (void)to;
    return refuse(e);
}

static PARKS int remote_home(struct endpoint *e, char *ret, size_t max)
{
    (void)ret, (void)max;
    return refuse(e);
}

static PARKS int remote_sha256(struct endpoint *e, struct bytes path, uint64_t bytes,
                               uint8_t ret[32])
{
    struct endpoint_facts facts = {0};
    int r = remote_stat(e, path, true, &facts);
    if (r < 0)
        return r;
    return sftp_ask_sha256(e->ssh, path, bytes, facts.size_bytes, sizeof(e->why), e->why, ret);
}

static PARKS void remote_free(struct endpoint *e)
{
    (void)ssh_link_close(e->ssh);
    mem_free(remote_of(e));
}

static const struct endpoint_ops remote_ops = {
    .method = "scp",
    .stat = remote_stat,
    .list = remote_list,
    .get = remote_get,
    .put = remote_put,
    .mkdir = remote_mkdir,
    .rmdir = remote_remove,
    .remove = remote_remove,
    .rename = remote_rename,
    .set = remote_set,
    .sha256 = remote_sha256,
    .home = remote_home,
    .free = remote_free,
};

int endpoint_scp_new(struct ssh_link *link, struct endpoint **ret)
{
    struct remote *remote = mem_new(sizeof(*remote));
    if (remote == NULL) {
        (void)ssh_link_close(link);
        return -ENOMEM;
    }
    remote->endpoint = (struct endpoint){.ops = &remote_ops,
                                         .host = link->host,
                                         .is_ordered = true,
                                         .stores_whole = link->is_ferry,
                                         .is_whole_only = true,
                                         .at_once = SCP_AT_ONCE,
                                         .ssh = link};
    scp_channels_init(&remote->channels, link);
    *ret = &remote->endpoint;
    return 0;
}
