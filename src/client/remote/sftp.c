/* Files of a server by SFTP, as an endpoint. */
#include "client/remote/sftp.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/place/login.h"
#include "client/remote/contents.h"
#include "client/remote/received.h"

#define AT_ONCE   16
#define MODE_MASK 07777u

struct remote {
    struct endpoint endpoint; /* first */
    struct ssh_channel *channel;
    struct sftp_client *client;
};

static struct remote *remote_of(struct endpoint *e)
{
    return (struct remote *)e;
}

/* Keeps the server's words of a failure. */
static int told(struct endpoint *e, int result)
{
    e->why[0] = '\0';
    if (result < 0 && result != -ECANCELED)
        (void)text_copy_printable(e->why, sizeof(e->why),
                                  bytes_str(sftp_client_why(remote_of(e)->client)));
    return result;
}

/* -- facts -- */

static enum endpoint_kind kind_of(const struct sftp_attributes *a)
{
    if ((a->has & SFTP_ATTR_MODE) == 0)
        return ENDPOINT_UNKNOWN;
    switch (a->mode & SFTP_MODE_KIND) {
    case SFTP_MODE_FILE:
        return ENDPOINT_FILE;
    case SFTP_MODE_DIRECTORY:
        return ENDPOINT_DIRECTORY;
    case SFTP_MODE_LINK:
        return ENDPOINT_LINK;
    case 0: /* permissions alone */
        return ENDPOINT_UNKNOWN;
    default:
        return ENDPOINT_OTHER;
    }
}

static void facts_of(const struct sftp_attributes *a, struct endpoint_facts *ret)
{
    *ret = (struct endpoint_facts){
        .kind = kind_of(a),
        .has_size = (a->has & SFTP_ATTR_SIZE) != 0,
        .has_mode = (a->has & SFTP_ATTR_MODE) != 0,
        .has_times = (a->has & SFTP_ATTR_TIMES) != 0,
        .size_bytes = a->size_bytes,
        .mode = a->mode & MODE_MASK,
        .mtime_us = (int64_t)a->mtime_s * (int64_t)USEC_PER_S,
        .atime_us = (int64_t)a->atime_s * (int64_t)USEC_PER_S,
    };
}

static PARKS int remote_stat(struct endpoint *e, struct bytes path, bool follow,
                             struct endpoint_facts *ret)
{
    struct sftp_attributes a;
    int r = told(e, sftp_client_stat(remote_of(e)->client, path, follow, &a));
    if (r == 0)
        facts_of(&a, ret);
    return r;
}

/* -- listing -- */

struct listing {
    struct endpoint *e;
    endpoint_name_fn *fn;
    void *arg;
    bool has_bad_name;
};

static int on_name(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    struct listing *l = arg;
    struct endpoint_facts facts;
    if (bytes_equal(name, BYTES_LIT(".")) || bytes_equal(name, BYTES_LIT("..")))
        return 0;
    if (!sftp_name_is_safe(name)) {
        l->has_bad_name = true;
        return -FERRY_EBADNAME;
    }
    facts_of(a, &facts);
    return l->fn(l->arg, name, &facts);
}

static PARKS int remote_list(struct endpoint *e, struct bytes path, endpoint_name_fn *fn,
                             void *arg)
{
    struct listing l = {.e = e, .fn = fn, .arg = arg};
    int r = told(e, sftp_client_list(remote_of(e)->client, path, 0, on_name, &l));
    if (l.has_bad_name)
        (void)text_copy(e->why, sizeof(e->why),
                        BYTES_LIT("the server lists a name that no file can have"));
    return r;
}

/* -- contents -- */

struct download {
    struct contents_get contents;
    struct received received;
};

static PARKS int take(void *arg, uint64_t offset, struct chunk *chunk,
                      const struct iovec *pieces, unsigned count)
{
    struct download *d = arg;
    uint64_t len;
    int r = contents_take(&d->contents, offset, chunk, pieces, count, &len);
    if (r == 0)
        received_add(&d->received, offset, offset + len);
    return r;
}

static PARKS int remote_get(struct endpoint *e, struct bytes path,
                            const struct endpoint_get *get, struct endpoint_got *ret)
{
    struct download d;
    const struct sftp_get how = {.offset = get->offset, .sink = take, .arg = &d};
    struct sftp_got got;
    contents_get_init(&d.contents, get);
    received_init(&d.received, get->offset);
    int r = told(e, sftp_client_get(remote_of(e)->client, path, &how, &got));
    facts_of(&got.attributes, &ret->facts);
    ret->bytes = d.received.end - get->offset;
    return r;
}

static PARKS int remote_put(struct endpoint *e, struct bytes path,
                            const struct endpoint_put *put, uint64_t *ret_bytes)
{
    struct contents_put c;
    const struct sftp_put how = {.offset = put->offset,
                                 .mode = put->mode,
                                 .syncs = put->syncs,
                                 .source = contents_fill,
                                 .arg = &c};
    contents_put_init(&c, put);
    return told(e, sftp_client_put(remote_of(e)->client, path, &how, ret_bytes));
}

static PARKS int remote_sha256(struct endpoint *e, struct bytes path, uint64_t bytes,
                               uint8_t ret[32])
{
    struct endpoint_facts facts = {0};
    int r = remote_stat(e, path, true, &facts);
    if (r < 0)
        return r;
    if (!facts.has_size)
        return -EOPNOTSUPP;
    return sftp_ask_sha256(e->ssh, path, bytes, facts.size_bytes, sizeof(e->why), e->why, ret);
}

/* -- names -- */

/* A plain failure is all that version 3 has for a name that is taken. */
static PARKS int remote_mkdir(struct endpoint *e, struct bytes path, uint32_t mode)
{
    struct sftp_client *c = remote_of(e)->client;
    struct sftp_attributes a;
    int r = told(e, sftp_client_mkdir(c, path, mode != 0 ? mode : 0777));
    if (r == -FERRY_EREFUSED && sftp_client_stat(c, path, false, &a) == 0)
        r = -EEXIST;
    return r;
}

static PARKS int remote_rmdir(struct endpoint *e, struct bytes path)
{
    return told(e, sftp_client_rmdir(remote_of(e)->client, path));
}

static PARKS int remote_remove(struct endpoint *e, struct bytes path)
{
    return told(e, sftp_client_remove(remote_of(e)->client, path));
}

/* Where the server refuses to rename over a file, the file is removed first. */
static PARKS int remote_rename(struct endpoint *e, struct bytes from, struct bytes to)
{
    struct sftp_client *c = remote_of(e)->client;
    struct sftp_attributes a;
    int r = told(e, sftp_client_rename(c, from, to));
    if (r != -FERRY_EREFUSED || sftp_client_has(c, SFTP_KIND_POSIX_RENAME))
        return r;
    if (sftp_client_stat(c, from, false, &a) < 0 || sftp_client_stat(c, to, false, &a) < 0 ||
        kind_of(&a) == ENDPOINT_DIRECTORY)
        return r;
    r = told(e, sftp_client_remove(c, to));
    return r < 0 ? r : told(e, sftp_client_rename(c, from, to));
}

/* Times of version 3 are seconds in 32 bits. */
static uint32_t seconds_of(int64_t us)
{
    int64_t s = us / (int64_t)USEC_PER_S;
    return s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

static PARKS int remote_set(struct endpoint *e, struct bytes path,
                            const struct endpoint_facts *facts)
{
    const struct sftp_attributes a = {
        .has =
            (facts->has_mode ? SFTP_ATTR_MODE : 0u) | (facts->has_times ? SFTP_ATTR_TIMES : 0u),
        .mode = facts->mode & MODE_MASK,
        .mtime_s = seconds_of(facts->mtime_us),
        .atime_s = seconds_of(facts->atime_us),
    };
    return told(e, sftp_client_setstat(remote_of(e)->client, path, &a));
}

static PARKS int remote_home(struct endpoint *e, char *ret, size_t max)
{
    return told(e, sftp_client_realpath(remote_of(e)->client, BYTES_LIT("."), ret, max));
}

static PARKS void remote_free(struct endpoint *e)
{
    struct remote *remote = remote_of(e);
    (void)sftp_client_free(remote->client);
    (void)ssh_channel_close(remote->channel);
    if (e->ssh != NULL)
        (void)ssh_link_close(e->ssh);
    mem_free(remote);
}

static const struct endpoint_ops remote_ops = {
    .method = "sftp",
    .stat = remote_stat,
    .list = remote_list,
    .get = remote_get,
    .put = remote_put,
    .mkdir = remote_mkdir,
    .rmdir = remote_rmdir,
    .remove = remote_remove,
    .rename = remote_rename,
    .set = remote_set,
    .sha256 = remote_sha256,
    .home = remote_home,
    .free = remote_free,
};

/* -- life -- */

int endpoint_sftp_over(struct stream *stream, bool is_ferry, struct endpoint **ret)
{
    const struct sftp_client_settings settings = {.stall_us = 0};
    struct remote *remote = mem_new(sizeof(*remote));
    if (remote == NULL)
        return -ENOMEM;
    remote->endpoint =
        (struct endpoint){.ops = &remote_ops, .stores_whole = is_ferry, .at_once = AT_ONCE};
    int r = sftp_client_new(stream, &settings, &remote->client);
    if (r < 0) {
        mem_free(remote);
        return r;
    }
    *ret = &remote->endpoint;
    return 0;
}

int endpoint_sftp_try(struct ssh_link *link, struct endpoint **ret)
{
    struct ssh_channel *channel = NULL;
    struct endpoint *e;
    int r = ssh_channel_open_session(link->connection, true, BYTES_LIT("sftp"),
                                     clock_after(DEFAULT_CONNECT_US), &channel);
    if (r == 0)
        r = endpoint_sftp_over(ssh_channel_stream(channel), link->is_ferry, &e);
    if (r < 0) {
        (void)ssh_channel_close(channel);
        return r;
    }
    remote_of(e)->channel = channel;
    e->ssh = link;
    e->host = link->host;
    *ret = e;
    return 0;
}

int endpoint_sftp_new(struct ssh_link *link, struct endpoint **ret)
{
    int r = endpoint_sftp_try(link, ret);
    if (r < 0)
        (void)ssh_link_close(link);
    return r;
}

/* No subsystem of that name is a refusal; one whose program is not there ends at once. */
bool sftp_is_missing(const struct ssh_link *link, int result)
{
    return (result == -FERRY_EREFUSED || result == -FERRY_ECLOSED) &&
           ssh_client_result(link->client) == 0;
}
