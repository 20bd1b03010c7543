/* layers: server */
/* A server of ours that offers one key exchange, one cipher and one MAC, for clients that
 * cannot be told which to use:
 *
 *     ssh_one_way ROOT HOST_KEY_FILE USER_KEY_FILE USER PASSWORD KEX CIPHER MAC
 *
 * It prints its port and serves, on loopback, until it is killed. */
#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/tcp.h"
#include "server/services.h"
#include "session/session.h"
#include "ssh/server.h"
#include "ssh/wire/key.h"
#include "ssh/wire/key_file.h"
#include "task/runtime.h"

enum word { ROOT = 1, HOST_KEY, USER_KEY, USER, PASSWORD, KEX, CIPHER, MAC, WORDS };

static char **words;

static void must(int r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "ssh_one_way: %s: %s\n", what, err_text(r));
    exit(1);
}

static struct crypto_key *read_key(const char *path)
{
    static uint8_t text[SSH_KEY_FILE_MAX];
    struct crypto_key *key;
    FILE *f = fopen(path, "rbe");
    must(f != NULL ? 0 : -ENOENT, path);
    size_t len = fread(text, 1, sizeof(text), f);
    (void)fclose(f);
    must(ssh_key_file_parse(bytes_of(text, len), BYTES_NONE, &key), path);
    return key;
}

static struct account *make_account(void)
{
    struct account *a;
    uint8_t blob[SSH_KEY_BLOB_MAX];
    struct crypto_key *key = read_key(words[USER_KEY]);
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    must(account_new(bytes_str(words[USER]), &a), "account");
    must(rights_set(&a->rights, BYTES_LIT("/"), RIGHTS_ALL), "rights");
    a->hash = mem_strdup(crypt(words[PASSWORD], "$5$rounds=1000$ferry"));
    ssh_key_write(&w, key);
    const struct account_key known = {.blob = blob, .blob_len = w.len, .expires_s = INT64_MAX};
    must(account_add_key(a, &known), "key");
    crypto_key_unref(key);
    return a;
}

static void serve(struct ssh_server *server)
{
    struct addr local, peer;
    struct listener *listener;
    struct scope sessions;
    int fd;
    scope_init(&sessions);
    must(addr_parse(BYTES_LIT("127.0.0.1:0"), &local), "address");
    must(tcp_listen(&local, 16, &fd), "listen");
    must(listener_new(fd, &listener), "listen");
    must(listener_for_dialogues(listener), "listen");
    printf("%u\n", addr_port(&local));
    (void)fflush(stdout);
    for (;;) {
        must(listener_accept(listener, BYTES_NONE, USEC_NEVER, &fd, &peer), "accept");
        must(ssh_session_start(server, &sessions, fd, &peer, &local), "session");
    }
}

static void server_main(void *arg)
{
    (void)arg;
    static struct ssh_host_keys host_keys;
    struct vroot *root;
    struct auth *auth;
    struct session_shared *shared;
    struct ssh_offer *offer;
    const struct ssh_offer_settings offers = {
        .only_kex = words[KEX], .only_ciphers = words[CIPHER], .only_macs = words[MAC]};
    must(vroot_open(words[ROOT], VROOT_BENEATH, &root), words[ROOT]);
    must(auth_new(runtime_hash_pool(runtime_self()), &auth), "accounts");
    must(auth_add(auth, make_account()), "account");
    must(ssh_host_keys_add(&host_keys, read_key(words[HOST_KEY])), "host key");
    must(ssh_offer_new(SSH_SERVER, &offers, &offer), "offer");
    const struct session_settings settings = {
        .roots = &root,
        .auth = auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .vfs = {.atomic_upload = true,
                .sendfile = true,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    must(session_shared_new(&settings, &shared), "sessions");
    struct ssh_server server = {
        .shared = shared,
        .auth = auth,
        .transport = {.role = SSH_SERVER,
                      .offer = offer,
                      .host_keys = &host_keys,
                      .pool = settings.files_pool},
        .services = services_ssh,
    };
    serve(&server);
}

int main(int argc, char **argv)
{
    const struct runtime_settings settings = {.workers = 1};
    struct runtime *runtime;
    words = argv;
    if (argc != WORDS) {
        fputs("usage: ssh_one_way ROOT HOST_KEY USER_KEY USER PASSWORD KEX CIPHER MAC\n",
              stderr);
        return 2;
    }
    must(runtime_signals_setup(), "signals");
    must(runtime_new(&settings, &runtime), "runtime");
    return runtime_run(runtime, server_main, NULL) < 0;
}
