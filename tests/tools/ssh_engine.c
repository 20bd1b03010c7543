/* layers: client */
/* The ssh client and its SFTP engine as a program, for tests against other servers:
 *
 *     ssh_engine [-p PORT] [-l USER] [-i KEY_FILE] [-P PASSPHRASE] [-k KNOWN_HOSTS]
 *                [-c CIPHER] [-m MAC] [-x KEX] [-H HOST_KEY_ALGORITHM] [-o] [-a AGENT_SOCKET]
 *                [-C LEVEL] HOST get REMOTE LOCAL | put LOCAL REMOTE | cat COMMAND | list
 * REMOTE
 *
 * -o: also what is for old peers alone. -C: compresses, at a level or "auto".
 * LOCAL is absolute; "-" throws away what comes. A line on standard error says how much was
 * moved, in which time, and what it cost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "client/ssh_trust.h"
#include "io/compress.h"
#include "scp/client.h"
#include "sftp/client.h"
#include "ssh/agent.h"
#include "task/runtime.h"
#include "task/sys.h"
#include "vfs/vfs.h"

#define LOGIN_US (30 * USEC_PER_S)
#define STALL_US (30 * USEC_PER_S)

struct engine {
    const char *host, *user, *key_file, *passphrase, *known_hosts, *cipher, *agent_socket;
    const char *kex, *mac, *host_key;
    bool legacy;
    uint16_t port;
    const char *verb, *first, *second;

    struct scope scope;
    struct ssh_client_settings settings;
    struct ssh_client *client;
    struct vroot *root;
    struct vfs *vfs;
    struct vfs_policy policy;
    struct rights rights;
    uint64_t bytes;
    char why[SCP_CLIENT_WHY_MAX];
    int result;
};

static int say(const char *what, int r, const char *why)
{
    if (r < 0)
        fprintf(stderr, "ssh_engine: %s: %s%s%s\n", what, err_text(r),
                why[0] != '\0' ? ": " : "", why);
    return r;
}

/* -- local files -- */

static int open_root(struct engine *e)
{
    e->policy = (struct vfs_policy){.file_mode = 0644, .directory_mode = 0755};
    rights_init(&e->rights, RIGHTS_ALL);
    int r = vroot_open("/", VROOT_BENEATH, &e->root);
    if (r == 0)
        r = vfs_new(e->root, &e->rights, &e->policy, NULL, runtime_files_pool(runtime_self()),
                    NULL, &e->vfs);
    return r;
}

/* -- one file by scp -- */

struct scp_one {
    struct engine *engine;
    sftp_sink *sink; /* NULL: thrown away */
    struct sftp_local *local;
    bool is_whole;
};

static int one_begin(void *arg, const struct scp_file *file, char why[SCP_CLIENT_WHY_MAX])
{
    struct scp_one *o = arg;
    (void)why;
    o->engine->bytes = file->size_bytes;
    return 0;
}

static int one_data(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                    unsigned count)
{
    struct scp_one *o = arg;
    return o->sink != NULL ? o->sink(o->local, offset, chunk, pieces, count) : 0;
}

static int one_end(void *arg, int result, char why[SCP_CLIENT_WHY_MAX])
{
    struct scp_one *o = arg;
    (void)why;
    o->is_whole = result == 0;
    return 0;
}

static void one_complaint(void *arg, const char *text)
{
    struct scp_one *o = arg;
    (void)snprintf(o->engine->why, sizeof(o->engine->why), "%s", text);
}

static const struct scp_sink_ops one_ops = {
    .file_begin = one_begin, .data = one_data, .file_end = one_end, .complaint = one_complaint};

static int scp_fetch(struct engine *e, struct stream *stream, sftp_sink *sink,
                     struct sftp_local *local)
{
    const struct scp_path path = {.path = bytes_str(e->first)};
    const struct scp_request request = {
        .paths = &path, .count = 1, .entries_max = 1, .bytes_max = INT64_MAX};
    struct scp_one one = {.engine = e, .sink = sink, .local = local};
    int r = scp_client_get(stream, &request, &one_ops, &one);
    return r == SCP_NOT_ALL || (r == 0 && !one.is_whole) ? -FERRY_EREFUSED : r;
}

static int scp_store(struct engine *e, struct stream *stream, struct sftp_local *local)
{
    const struct scp_file file = {.name = BYTES_LIT("f"), .size_bytes = e->bytes, .mode = 0644};
    struct scp_one one = {.engine = e};
    struct scp_put *put;
    int r = scp_client_put_begin(stream, one_complaint, &one, &put);
    if (r < 0)
        return r;
    r = scp_client_put_file(put, &file, sftp_local_source, local);
    int all = scp_client_put_end(put);
    return r < 0 ? r : r > 0 || all > 0 ? -FERRY_EREFUSED : 0;
}

/* -- one file -- */

/* c: NULL: by scp, over the stream. */
static int fetch(struct engine *e, struct sftp_client *c, struct stream *stream,
                 sftp_sink *sink, struct sftp_local *local)
{
    const struct sftp_get how = {.sink = sink, .arg = local};
    struct sftp_got got;
    if (c == NULL)
        return scp_fetch(e, stream, sink, local);
    int r = sftp_client_get(c, bytes_str(e->first), &how, &got);
    e->bytes = got.bytes;
    return r;
}

static int get(struct engine *e, struct sftp_client *c, struct stream *stream)
{
    struct sftp_local local = {.stall_us = STALL_US};
    struct vpath path;
    if (strcmp(e->second, "-") == 0)
        return fetch(e, c, stream, NULL, &local);
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(e->second), &path);
    if (r < 0)
        return r;
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE};
    r = vfs_upload_begin(e->vfs, &path, &request, &local.upload);
    vpath_done(&path);
    if (r < 0)
        return r;
    local.file = vupload_file(local.upload);
    r = fetch(e, c, stream, sftp_local_sink, &local);
    if (r == 0)
        return vupload_commit(local.upload, e->bytes);
    vupload_break(local.upload, 0);
    return r;
}

static int put(struct engine *e, struct sftp_client *c, struct stream *stream)
{
    struct sftp_local local = {.stall_us = STALL_US};
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(e->first), &path);
    if (r == 0) {
        r = vfs_open(e->vfs, &path, &local.file);
        vpath_done(&path);
    }
    if (r < 0)
        return r;
    if (c != NULL) {
        const struct sftp_put how = {.mode = 0644, .source = sftp_local_source, .arg = &local};
        r = sftp_client_put(c, bytes_str(e->second), &how, &e->bytes);
    } else {
        e->bytes = vfile_stat(local.file)->size_bytes;
        r = scp_store(e, stream, &local);
    }
    (void)vfile_close(local.file);
    return r;
}

static int print_name(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    struct engine *e = arg;
    e->bytes += a->size_bytes;
    if (sftp_name_is_safe(name))
        printf("%.*s\n", (int)name.len, (const char *)name.data);
    return 0;
}

static int list(struct engine *e, struct sftp_client *c, struct stream *stream)
{
    (void)stream;
    return sftp_client_list(c, bytes_str(e->first), 0, print_name, e);
}

/* -- verbs -- */

static int use_sftp(struct engine *e,
                    int (*fn)(struct engine *, struct sftp_client *, struct stream *))
{
    const struct sftp_client_settings settings = {.stall_us = STALL_US};
    struct ssh_channel *channel;
    struct sftp_client *c;
    int r = ssh_channel_open_session(ssh_client_connection(e->client), true, BYTES_LIT("sftp"),
                                     clock_after(LOGIN_US), &channel);
    if (r < 0)
        return say("sftp", r, "");
    r = sftp_client_new(ssh_channel_stream(channel), &settings, &c);
    if (r == 0) {
        r = say(e->verb, fn(e, c, ssh_channel_stream(channel)), sftp_client_why(c));
        (void)sftp_client_free(c);
    } else {
        (void)say("sftp", r, "");
    }
    (void)ssh_channel_close(channel);
    return r;
}

static int use_scp(struct engine *e, bool receives,
                   int (*fn)(struct engine *, struct sftp_client *, struct stream *))
{
    struct buf command;
    struct ssh_channel *channel;
    buf_init(&command, 8192);
    const struct scp_path path = {.path = bytes_str(receives ? e->second : e->first)};
    const struct scp_request request = {.paths = &path, .count = 1};
    int r = receives ? scp_client_put_command(&request, &command)
                     : scp_client_get_command(&request, &command);
    if (r == 0)
        r = ssh_channel_open_session(ssh_client_connection(e->client), false,
                                     buf_bytes(&command), clock_after(LOGIN_US), &channel);
    buf_done(&command);
    if (r < 0)
        return say("scp", r, "");
    r = fn(e, NULL, ssh_channel_stream(channel));
    (void)ssh_channel_close(channel);
    return say("scp", r, e->why);
}

static int print_all(struct engine *e, struct stream *s)
{
    for (;;) {
        struct slices in;
        int r = stream_take(s, 256 * 1024, &in);
        if (r < 0 || in.len == 0)
            return r;
        for (unsigned i = 0; i < in.count && e->second == NULL; i++)
            if (write(STDOUT_FILENO, in.pieces[i].iov_base, in.pieces[i].iov_len) !=
                (ssize_t)in.pieces[i].iov_len)
                r = -EIO;
        e->bytes += in.len;
        slices_drop(&in);
        if (r < 0)
            return r;
    }
}

static int run_command(struct engine *e)
{
    struct ssh_channel *channel;
    int r = ssh_channel_open_session(ssh_client_connection(e->client), false,
                                     bytes_str(e->first), clock_after(LOGIN_US), &channel);
    if (r < 0)
        return say("cat", r, "");
    r = print_all(e, ssh_channel_stream(channel));
    if (r == 0)
        r = ssh_channel_status(channel, clock_after(LOGIN_US));
    (void)ssh_channel_close(channel);
    return say("cat", r, "") < 0 ? r : -r;
}

static int run_verb(struct engine *e)
{
    if (strcmp(e->verb, "get") == 0)
        return use_sftp(e, get);
    if (strcmp(e->verb, "put") == 0)
        return use_sftp(e, put);
    if (strcmp(e->verb, "list") == 0)
        return use_sftp(e, list);
    if (strcmp(e->verb, "scpget") == 0)
        return use_scp(e, false, get);
    if (strcmp(e->verb, "scpput") == 0)
        return use_scp(e, true, put);
    return run_command(e);
}

static int run_and_tell(struct engine *e)
{
    usec_t began = clock_now(), cpu = (usec_t)sys_own_cpu_us();
    int r = run_verb(e);
    const struct ssh_chosen *chosen = ssh_transport_chosen(ssh_client_transport(e->client));
    double seconds = (double)(clock_now() - began) / USEC_PER_S;
    double cpu_s = (double)((usec_t)sys_own_cpu_us() - cpu) / USEC_PER_S;
    fprintf(stderr, "%llu bytes, %.3f s, %.1f MB/s, cpu %.3f s, %s\n",
            (unsigned long long)e->bytes, seconds, (double)e->bytes / 1e6 / seconds, cpu_s,
            ssh_cipher_name(chosen->cipher[SSH_TO_CLIENT]));
    return r;
}

/* -- the login -- */

static int log_in_and_run(struct engine *e, struct ssh_trust *trust)
{
    char why[SSH_CLIENT_WHY_MAX];
    e->settings.transport.check_host_key = ssh_trust_check;
    e->settings.transport.check_arg = trust;
    int r = ssh_client_connect(&e->settings, &e->scope, why, &e->client);
    if (r < 0)
        return say("login", r, ssh_trust_why(trust)[0] != '\0' ? ssh_trust_why(trust) : why);
    r = run_and_tell(e);
    e->client = ssh_client_free(e->client);
    return r;
}

static bool give_passphrase(void *arg, const char *path, struct buf *ret)
{
    const struct engine *e = arg;
    (void)path;
    return e->passphrase != NULL && buf_append_str(ret, e->passphrase) == 0;
}

static int load_key(struct engine *e, struct ssh_keys *keys)
{
    int r = ssh_keys_add_file(keys, e->key_file, give_passphrase, e);
    if (r < 0)
        fprintf(stderr, "ssh_engine: %s: %s\n", e->key_file, ssh_keys_why(r));
    return r;
}

static int load_and_log_in(struct engine *e)
{
    const struct ssh_trust_settings hosts = {
        .host = e->host, .port = e->port, .files = &e->known_hosts, .file_count = 1};
    struct ssh_trust *trust;
    struct ssh_keys keys = {0};
    struct ssh_agent *agent = NULL;
    struct ssh_offer *offer = NULL;
    int r = say("known_hosts", ssh_trust_new(&hosts, &trust), "");
    if (r < 0)
        return r;
    if (e->key_file != NULL)
        r = load_key(e, &keys);
    if (r == 0 && e->agent_socket != NULL)
        r = say("agent", ssh_agent_connect(e->agent_socket, STALL_US, &agent), "");
    if (agent != NULL)
        e->settings.signers = ssh_agent_signers(agent, &e->settings.signer_count);
    e->settings.keys = keys.keys;
    e->settings.key_count = keys.count;
    const struct ssh_offer_settings offers = {
        .nistp256 = true,
        .legacy = e->legacy,
        .only_kex = e->kex,
        .only_ciphers = e->cipher,
        .only_macs = e->mac,
        .only_host_keys = e->host_key != NULL ? e->host_key : ssh_trust_host_keys(trust)};
    if (r == 0)
        r = say("offer", ssh_offer_new(SSH_CLIENT, &offers, &offer), "");
    e->settings.transport.offer = offer;
    if (r == 0)
        r = log_in_and_run(e, trust);
    (void)ssh_offer_free(offer);
    (void)ssh_agent_free(agent);
    ssh_keys_done(&keys);
    (void)ssh_trust_free(trust);
    return r;
}

static void engine_main(void *arg)
{
    struct engine *e = arg;
    char address[128];
    (void)snprintf(address, sizeof(address), "%s:%u", e->host, e->port);
    e->settings.user = e->user;
    e->settings.deadline = clock_after(LOGIN_US);
    e->settings.stall_us = STALL_US;
    e->settings.transport.role = SSH_CLIENT;
    e->settings.transport.pool = runtime_files_pool(runtime_self());
    e->settings.transport.codec_pool = runtime_codec_pool(runtime_self());
    scope_init(&e->scope);
    e->result = addr_parse(bytes_str(address), &e->settings.to);
    if (e->result == 0)
        e->result = open_root(e);
    if (say("start", e->result, "") == 0)
        e->result = load_and_log_in(e);
    scope_leave(&e->scope);
    (void)vfs_free(e->vfs);
    vroot_unref(e->root);
    rights_done(&e->rights);
}

static bool read_options(struct engine *e, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "p:l:i:P:k:c:a:m:x:H:oC:")) != -1) {
        switch (option) {
        case 'p':
            e->port = (uint16_t)strtoul(optarg, NULL, 10);
            break;
        case 'l':
            e->user = optarg;
            break;
        case 'i':
            e->key_file = optarg;
            break;
        case 'P':
            e->passphrase = optarg;
            break;
        case 'k':
            e->known_hosts = optarg;
            break;
        case 'c':
            e->cipher = optarg;
            break;
        case 'm':
            e->mac = optarg;
            break;
        case 'x':
            e->kex = optarg;
            break;
        case 'H':
            e->host_key = optarg;
            break;
        case 'o': /* also what is for old peers alone */
            e->legacy = true;
            break;
        case 'C':
            e->settings.transport.compression =
                strcmp(optarg, "auto") == 0 ? COMPRESS_AUTO : atoi(optarg);
            break;
        case 'a':
            e->agent_socket = optarg;
            break;
        default:
            return false;
        }
    }
    if (argc - optind < 3)
        return false;
    e->host = argv[optind];
    e->verb = argv[optind + 1];
    e->first = argv[optind + 2];
    e->second = argv[optind + 3];
    return e->second != NULL || strcmp(e->verb, "cat") == 0 || strcmp(e->verb, "list") == 0;
}

int main(int argc, char **argv)
{
    static struct engine e;
    const struct runtime_settings settings = {.workers = 1};
    struct runtime *runtime;
    e = (struct engine){.port = 22, .user = "nobody", .known_hosts = "/dev/null"};
    if (!read_options(&e, argc, argv)) {
        fputs(
            "usage: ssh_engine [options] HOST get|put|scpget|scpput|cat|list FIRST [SECOND]\n",
            stderr);
        return 2;
    }
    if (runtime_signals_setup() < 0 || runtime_new(&settings, &runtime) < 0)
        return 1;
    int r = runtime_run(runtime, engine_main, &e);
    (void)runtime_free(runtime);
    return r < 0 || e.result < 0 ? 1 : 0;
}
