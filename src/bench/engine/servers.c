#include "bench/engine/servers.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/usage.h"

#define SETTINGS_TEXT_MAX 16384

/* -- which -- */

static struct target *add(struct bench *b, const char *name)
{
    struct bench_results *results = b->results;
    struct target *t = &b->targets[b->target_count++];
    t->record = &results->servers[results->server_count++];
    text_copy(t->record->name, sizeof(t->record->name), bytes_str(name));
    return t;
}

void servers_use(struct bench *b, const struct addr *addr)
{
    const struct bench_url *server = &b->options->server;
    struct target *t = add(b, server->host);
    snprintf(t->record->where, sizeof(t->record->where), "%.80s port %u", server->host,
             server->port);
    t->pid = b->options->pid;
    t->addr = *addr;
    t->user = server->user;
    t->password = server->password;
}

int servers_choose(struct bench *b)
{
    const struct recipe_list *list = b->suite->recipes;
    for (size_t i = 0; i < list->count; i++) {
        const struct recipe *recipe = &list->recipes[i];
        bool is_peer = recipe->package != NULL;
        if (is_peer && !bench_list_has(b->options->peers, recipe->name))
            continue;
        if (b->target_count == BENCH_TARGETS_MAX)
            return -E2BIG;
        struct target *t = add(b, recipe->name);
        t->recipe = recipe;
        t->user = STAGE_USER;
        t->password = b->stage->password;
    }
    return 0;
}

/* -- starting and stopping -- */

struct start {
    struct bench *bench;
    struct target *target;
    enum recipe_variant variant;
};

static int start_blocking(void *arg)
{
    const struct start *s = arg;
    return peer_start(&s->target->peer, s->bench->stage, s->bench->suite->recipes,
                      s->target->recipe, s->variant);
}

static int stop_blocking(void *arg)
{
    struct target *t = arg;
    peer_stop(&t->peer);
    return 0;
}

static void keep_settings(struct bench *b, struct target *t)
{
    char **settings = &t->record->settings[t->peer.variant];
    if (*settings != NULL)
        return;
    *settings = mem_raw(SETTINGS_TEXT_MAX);
    if (*settings != NULL)
        peer_settings_text(&t->peer, b->stage, *settings, SETTINGS_TEXT_MAX);
}

static void keep_record(struct target *t)
{
    struct bench_server *record = t->record;
    struct peer_place place;
    peer_place_find(t->recipe, &place);
    text_copy(record->version, sizeof(record->version), bytes_str(t->peer.version));
    snprintf(record->where, sizeof(record->where), "%.90s",
             place.root[0] != '\0' ? place.root : "/");
}

static void keep_failure(struct target *t, int result)
{
    if (result == -ENOENT && t->recipe->package != NULL)
        snprintf(t->record->error, sizeof(t->record->error),
                 "not installed: ferry bench peers --install");
    else
        snprintf(t->record->error, sizeof(t->record->error), "it does not start: %.200s",
                 t->peer.error[0] != '\0' ? t->peer.error : err_text(result));
}

static int start_one(struct bench *b, struct target *t, enum recipe_variant variant)
{
    struct start start = {.bench = b, .target = t, .variant = variant};
    char label[BENCH_LABEL_MAX];
    snprintf(label, sizeof(label), "starting %s", t->recipe->name);
    b->label = label;
    int r = aside_run(b->pool, start_blocking, &start);
    b->label = "starting servers";
    if (r < 0) {
        (void)!aside_run(b->pool, stop_blocking, t);
        if (variant == RECIPE_PLAIN)
            keep_failure(t, r);
        return r;
    }
    t->pid = t->peer.pid;
    t->addr = t->peer.addr;
    keep_settings(b, t);
    if (variant == RECIPE_PLAIN)
        keep_record(t);
    return 0;
}

void servers_stop(struct bench *b)
{
    for (unsigned i = 0; i < b->target_count; i++) {
        struct target *t = &b->targets[i];
        b->suite->hang_up(t);
        if (t->recipe != NULL && t->pid != 0)
            (void)!aside_run(b->pool, stop_blocking, t);
        if (t->recipe != NULL)
            t->pid = 0;
    }
    b->has_variant = false;
}

int servers_run(struct bench *b, enum recipe_variant variant)
{
    if (b->stage == NULL || (b->has_variant && b->variant == variant))
        return 0;
    servers_stop(b);
    for (unsigned i = 0; i < b->target_count; i++) {
        struct target *t = &b->targets[i];
        if (t->record->error[0] != '\0' || !recipe_has(t->recipe, variant))
            continue;
        if (task_is_cancelled())
            return -ECANCELED;
        int r = start_one(b, t, variant);
        if (r < 0 && i == 0 && b->results->error[0] == '\0') {
            snprintf(b->results->error, sizeof(b->results->error), "%s: %.200s",
                     t->record->name, t->peer.error[0] != '\0' ? t->peer.error : err_text(r));
            return r;
        }
    }
    b->has_variant = true;
    b->variant = variant;
    return 0;
}

int servers_look(struct bench *b)
{
    for (unsigned i = 0; i < b->target_count; i++) {
        struct target *t = &b->targets[i];
        struct bench_results *results = b->results;
        struct usage seen;
        if (t->pid == 0)
            continue;
        int r = usage_read(b->pool, t->pid, true, &seen);
        if (r == -ENOENT)
            snprintf(results->error, sizeof(results->error), "there is no process %u", t->pid);
        else if (r < 0 && r != -ECANCELED)
            snprintf(results->error, sizeof(results->error), "process %u: %s", t->pid,
                     err_text(r));
        if (r < 0)
            return r;
        t->record->has_memory_start = seen.dirty_result == 0;
        t->record->memory_start_bytes = seen.dirty_bytes;
        if (seen.dirty_result < 0)
            snprintf(results->notice, sizeof(results->notice),
                     "memory of process %u is not shown: %s", t->pid,
                     err_text(seen.dirty_result));
    }
    return 0;
}
