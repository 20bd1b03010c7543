#include "client/probe/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/tar_peer.h"
#include "client/remotes.h"
#include "crypto/random.h"

#define TRIPS_MAX    15
#define TRIPS_LEAST  3
#define TRIPS_US     (2 * USEC_PER_S)
#define REMOVE_TRIES 2

void probe_place_init(struct probe_place *p, const struct location *location,
                      const struct login_settings *login)
{
    *p = (struct probe_place){.location = location, .login = *login};
    p->login.codec = CODEC_NONE;
    p->login.is_codec_given = true;
}

/* -- the connection -- */

static void say(struct probe_place *p, const char *what, const char *why)
{
    (void)snprintf(p->why, sizeof(p->why), "%.200s: %s%.250s", p->location->host, what, why);
}

static PARKS int open_ftp(struct probe_place *p)
{
    struct ftp_link *link;
    int r = ftp_link_open(p->location, &p->login, p->why, &link);
    if (r == 0)
        r = endpoint_ftp_new(link, &p->endpoint);
    if (r == 0)
        p->ftp = link;
    return r;
}

static PARKS int open_ssh(struct probe_place *p)
{
    struct ssh_link *link;
    int r = ssh_link_open(p->location, &p->login, p->why, &link);
    if (r < 0)
        return r;
    r = endpoint_sftp_new(link, &p->endpoint);
    if (r < 0)
        say(p, "it serves no SFTP: ", err_text(r));
    return r;
}

int probe_place_open(struct probe_place *p)
{
    usec_t began_at = clock_now();
    p->why[0] = '\0';
    int r = p->location->scheme == LOCATION_FTP ? open_ftp(p) : open_ssh(p);
    p->login_us = clock_now() - began_at;
    if (r < 0 && p->why[0] == '\0')
        say(p, "", err_text(r));
    return r;
}

static PARKS void close_place(struct probe_place *p)
{
    p->endpoint = endpoint_free(p->endpoint);
    p->ftp = NULL;
}

void probe_place_info(const struct probe_place *p, struct stream_info *ret)
{
    *ret = (struct stream_info){0};
    if (p->endpoint != NULL && p->endpoint->ssh != NULL)
        ssh_transport_stream_info(ssh_client_transport(p->endpoint->ssh->client), ret);
    else if (p->ftp != NULL && p->ftp->client.data != NULL)
        stream_info(p->ftp->client.data, ret);
}

/* -- what it is -- */

static char *directory_of(const char *path)
{
    struct bytes rest = bytes_str(path);
    while (rest.len > 0 && rest.data[rest.len - 1] != '/')
        rest.len--;
    while (rest.len > 1 && rest.data[rest.len - 1] == '/')
        rest.len--;
    return rest.len > 0 ? remotes_join("", rest) : mem_strdup(".");
}

int probe_place_look(struct probe_place *p)
{
    struct endpoint *e = p->endpoint;
    struct endpoint_facts facts;
    char *path = remotes_path(p->location);
    int r = path == NULL ? -ENOMEM : e->ops->stat(e, bytes_str(path), true, &facts);
    if (r < 0) {
        mem_free(path);
        (void)snprintf(p->why, sizeof(p->why), "%.250s", remotes_words(e, r));
        return r;
    }
    if (facts.kind == ENDPOINT_DIRECTORY) {
        p->directory = path;
        return 0;
    }
    p->file = path;
    p->directory = directory_of(path);
    return p->directory != NULL ? 0 : -ENOMEM;
}

int probe_place_name(struct probe_place *p)
{
    uint8_t digits[8];
    char name[sizeof(PROBE_NAME) + 2 * sizeof(digits)];
    int r = crypto_random(digits, sizeof(digits));
    if (r < 0)
        return r;
    size_t len = text_copy(name, sizeof(name), BYTES_LIT(PROBE_NAME));
    for (size_t i = 0; i < sizeof(digits); i++)
        len += (size_t)snprintf(name + len, sizeof(name) - len, "%02x", digits[i]);
    mem_free(p->temporary);
    p->temporary = remotes_join(p->directory, bytes_of(name, len));
    return p->temporary != NULL ? 0 : -ENOMEM;
}

/* -- small requests -- */

static PARKS int ask_once(struct probe_place *p)
{
    struct endpoint *e = p->endpoint;
    struct endpoint_facts facts;
    return p->ftp != NULL ? ftp_client_noop(&p->ftp->client)
                          : e->ops->stat(e, bytes_str(p->directory), true, &facts);
}

static int by_time(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

int probe_place_round_trip(struct probe_place *p, usec_t *ret_us)
{
    usec_t trips[TRIPS_MAX], began_at = clock_now(), before = began_at;
    unsigned count = 0;
    int r = ask_once(p); /* the first finds what is not in the server's cache */
    while (r == 0 && count < TRIPS_MAX &&
           (count < TRIPS_LEAST || before - began_at < TRIPS_US)) {
        before = clock_now();
        r = ask_once(p);
        trips[count++] = clock_now() - before;
    }
    if (r < 0) {
        (void)snprintf(p->why, sizeof(p->why), "%.250s", remotes_words(p->endpoint, r));
        return r;
    }
    qsort(trips, count, sizeof(*trips), by_time);
    *ret_us = trips[count / 2];
    return 0;
}

/* -- tar -- */

int probe_place_find_tar(struct probe_place *p, bool *ret)
{
    const struct copy_packing plain = {.codec = CODEC_NONE};
    enum tar_filter filter;
    const char *why;
    *ret = false;
    if (p->endpoint->ssh == NULL)
        return 0;
    int r = copy_tar_find(p->endpoint->ssh, &plain, &filter, &why);
    *ret = r == 0;
    return r == -ECANCELED ? r : 0;
}

/* -- the end -- */

static bool is_gone(int result)
{
    return result == 0 || result == -ENOENT;
}

static PARKS bool is_absent(struct probe_place *p)
{
    struct endpoint *e = p->endpoint;
    struct endpoint_facts facts;
    return e->ops->stat(e, bytes_str(p->temporary), false, &facts) == -ENOENT;
}

static PARKS int remove_once(struct probe_place *p)
{
    int r = p->endpoint == NULL ? probe_place_open(p) : 0;
    if (r < 0)
        return r;
    r = p->endpoint->ops->remove(p->endpoint, bytes_str(p->temporary));
    if (!is_gone(r) && is_absent(p)) /* a read-only place refuses that, too */
        r = -ENOENT;
    if (!is_gone(r))
        (void)snprintf(p->why, sizeof(p->why), "%.250s", remotes_words(p->endpoint, r));
    return r;
}

struct remover {
    struct probe_place *place;
    struct event done;
    int result;
};

/* A connection of which nobody knows what it still carries is not used for it again. */
static void remove_main(void *arg)
{
    struct remover *remover = arg;
    int r = -FERRY_ECLOSED;
    for (unsigned i = 0; i < REMOVE_TRIES && !is_gone(r) && r != -ECANCELED; i++) {
        if (i > 0)
            close_place(remover->place);
        r = remove_once(remover->place);
    }
    remover->result = r;
    event_set(&remover->done);
}

/* A task of its own is not cancelled with us, and may have shields of its own. */
static PARKS int remove_apart(struct remover *remover)
{
    struct scope scope;
    event_init(&remover->done);
    scope_init(&scope);
    int r = scope_start(&scope, "remove", TASK_NORMAL, remove_main, remover, NULL);
    if (r == 0) {
        task_shield_begin(clock_after(PROBE_REMOVE_US));
        r = event_wait(&remover->done, USEC_NEVER);
        task_shield_end();
    }
    scope_leave(&scope);
    return r;
}

int probe_place_remove(struct probe_place *p)
{
    if (p->temporary == NULL)
        return 0;
    p->login.is_batch = true; /* nobody is asked for a password twice */
    struct remover *remover = mem_new(sizeof(*remover));
    if (remover == NULL)
        return -ENOMEM;
    remover->place = p;
    int r = remove_apart(remover);
    r = r < 0 ? r : remover->result;
    mem_free(remover);
    if (!is_gone(r)) {
        if (p->why[0] == '\0')
            say(p, "", err_text(r));
        return r;
    }
    mem_free(p->temporary);
    p->temporary = NULL;
    return 0;
}

bool probe_place_is_lost(const struct probe_place *p, int result)
{
    if (p->endpoint == NULL)
        return true;
    if (p->ftp != NULL)
        return !ftp_client_is_open(&p->ftp->client);
    return result == -FERRY_ECLOSED || result == -FERRY_ESTALLED || result == -FERRY_EPROTO ||
           result == -ETIMEDOUT;
}

void probe_place_done(struct probe_place *p)
{
    close_place(p);
    mem_free(p->directory);
    mem_free(p->file);
    mem_free(p->temporary);
}
