/* ferry probe: what a copy to a server will do, and how to do it best. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/place/cipher_cache.h"
#include "client/places.h"
#include "client/probe/findings.h"
#include "client/probe/levels.h"
#include "crypto/random.h"

#define SIZE_DEFAULT    (512 * UINT64_C(1024) * 1024)
#define SIZE_LEAST      (64 * UINT64_C(1024))
#define SECONDS_DEFAULT 2
#define SECONDS_MAX     60
#define NOISE_PIECES    4

enum value { VALUE_DATA, VALUE_SECONDS, VALUE_SIZE };

static const struct remote_flag flags[] = {
    {'j', "json", "one JSON object"},
    {0, NULL, NULL},
};

static const struct remote_value values[] = {
    [VALUE_DATA] = {"data", "PATH",
                    "what is to be copied: a file or a directory of this machine"},
    [VALUE_SECONDS] = {"seconds", "N", "measure each way for so long (default 2)"},
    [VALUE_SIZE] = {"size", "BYTES", "write at most so much, with K, M or G (default 512M)"},
    {NULL, NULL, NULL},
};

static const struct remote_usage usage = {
    .line = "probe [--data PATH] [--json] [OPTION]... PLACE",
    .what =
        "Measures link, round trip, processors and data, and says by which method, cipher and\n"
        "compression a copy to the place is fastest, and how fast. A hidden file is written "
        "to\n"
        "the place's directory, read, and removed.",
    .flags = flags,
    .values = values,
    .least = 1,
    .most = 1};

struct probe {
    struct places *places;
    struct probe_effort effort;
    struct probe_place place;
    struct probe_sample sample;
    struct probe_findings findings;
};

/* -- words -- */

static int fail(struct probe *p, const char *what, const char *why)
{
    fprintf(stderr, "ferry probe: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    p->places->code = EXIT_FAILED;
    return -EIO;
}

static void tell(const struct probe *p, const char *what)
{
    if (p->places->options.login.is_verbose)
        fprintf(stderr, "ferry: %s: %s\n", p->place.location->host, what);
}

static const char *place_text(const struct probe *p, char ret[512])
{
    const struct location *l = p->place.location;
    location_text(l, bytes_str(l->path), 512, ret);
    return ret;
}

static int fail_at_place(struct probe *p, const char *why)
{
    char text[512];
    return fail(p, place_text(p, text), why);
}

/* -- the data -- */

static PARKS int take_sample(struct probe *p)
{
    const char *path = p->findings.data_path;
    int r = path != NULL ? probe_sample_take(&p->sample, path, p->places->remotes.login.pool)
                         : probe_sample_invent(&p->sample);
    if (r == 0 || r == -ECANCELED)
        return r;
    return fail(p, path != NULL ? path : "a sample",
                r == -ENODATA ? "there is nothing in it to look at" : err_text(r));
}

static PARKS int measure_noise(struct probe *p, struct pool *pool)
{
    uint8_t *noise = mem_raw(NOISE_PIECES * PROBE_PIECE_BYTES);
    int r = noise != NULL ? crypto_random(noise, NOISE_PIECES * PROBE_PIECE_BYTES) : -ENOMEM;
    if (r == 0)
        r = probe_levels_measure(bytes_of(noise, NOISE_PIECES * PROBE_PIECE_BYTES), pool,
                                 &p->findings.noise);
    mem_free(noise);
    return r;
}

static PARKS int look_at_data(struct probe *p)
{
    struct pool *pool = runtime_codec_pool(runtime_self());
    int r = take_sample(p);
    if (r < 0)
        return r;
    r = probe_levels_measure(buf_bytes(&p->sample.bytes), pool, &p->findings.data);
    if (r == 0 && p->findings.data_path == NULL)
        r = measure_noise(p, pool);
    if (r < 0 && r != -ECANCELED)
        return fail(p, "compressing the sample", err_text(r));
    if (p->sample.unread_files > 0)
        probe_note(&p->findings, "%llu of the files could not be read",
                   (unsigned long long)p->sample.unread_files);
    return r;
}

/* -- the server -- */

static uint64_t speed_of(enum ssh_cipher_kind kind, const struct crypto_speeds *s)
{
    switch ((int)kind) {
    case SSH_CIPHER_AES128_GCM:
        return s->gcm128;
    case SSH_CIPHER_AES256_GCM:
        return s->gcm256;
    case SSH_CIPHER_CHACHA20:
        return s->chacha;
    default:
        return s->ctr_hmac;
    }
}

static void describe_ssh(struct probe *p, const struct ssh_link *link)
{
    struct probe_findings *f = &p->findings;
    const struct ssh_transport *t = ssh_client_transport(link->client);
    f->speeds = crypto_speeds();
    f->cipher = link->cipher;
    f->facts.is_ssh = true;
    f->facts.is_ferry = link->is_ferry;
    f->facts.can_compress = link->has_compression;
    f->facts.cipher_bytes_per_s =
        (double)speed_of(ssh_transport_chosen(t)->cipher[SSH_TO_SERVER], &f->speeds);
    (void)text_copy_printable(f->server, sizeof(f->server),
                              bytes_str(ssh_transport_peer_ident(t)->text));
}

static PARKS int connect_to(struct probe *p)
{
    struct probe_findings *f = &p->findings;
    int r = probe_place_open(&p->place);
    if (r < 0) {
        if (r != -ECANCELED)
            (void)fail(p, p->place.why, "");
        p->places->code = EXIT_NO_LOGIN;
        return r == -ECANCELED ? r : -EIO;
    }
    if (p->place.endpoint->ssh != NULL)
        describe_ssh(p, p->place.endpoint->ssh);
    else
        f->facts.can_compress = p->place.ftp->has_mode_z;
    f->files.at_once = p->place.endpoint->at_once;
    r = probe_place_look(&p->place);
    if (r == 0) {
        tell(p, "measuring the round trip");
        r = probe_place_round_trip(&p->place, &f->facts.rtt_us);
    }
    if (r == 0)
        r = probe_place_find_tar(&p->place, &f->facts.has_tar);
    if (r < 0 && r != -ECANCELED)
        return fail_at_place(p, p->place.why);
    p->effort.rtt_us = f->facts.rtt_us;
    return r;
}

/* -- both ways -- */

static enum probe_part limit_of(const struct probe_way_seen *way, bool is_up)
{
    const struct steady_rate *s = &way->rate;
    if (s->bytes_per_s <= 0)
        return PROBE_UNKNOWN;
    /* only the sender's kernel knows what it waits for */
    return probe_limit_of(s->cpu, is_up ? s->busy : 0, s->full);
}

/* What failed for the server's reasons leaves the rest to be measured. */
static int judge(struct probe *p, int result, const char *what, struct probe_way_seen *way,
                 double *ret_rate)
{
    *ret_rate = way->rate.bytes_per_s;
    if (result == -ECANCELED || result == -ENOMEM)
        return result;
    if (result < 0 && probe_place_is_lost(&p->place, result))
        return fail_at_place(p, p->place.why);
    if (result < 0 && *ret_rate > 0)
        probe_note(&p->findings, "%s ended early: %s", what, p->place.why);
    else if (result < 0)
        probe_note(&p->findings, "%s: %s", what, p->place.why);
    else if (*ret_rate <= 0)
        probe_note(&p->findings, "%s: too little of it could be moved to tell a rate", what);
    if (*ret_rate > 0 && way->is_rough)
        probe_note(&p->findings, "%s took %llu ms: its rate is a rough one", what,
                   (unsigned long long)(way->took_us / USEC_PER_MS));
    if (way->is_held_between)
        probe_note(&p->findings,
                   "something between here and there holds back what it has taken: the rate is "
                   "that of what the server confirmed");
    return 0;
}

static PARKS int measure_up(struct probe *p)
{
    struct probe_findings *f = &p->findings;
    tell(p, "writing");
    int r = probe_place_name(&p->place);
    if (r == 0)
        r = probe_upload(&p->place, &p->effort, &f->up);
    return judge(p, r, "writing to it", &f->up, &f->facts.rates.up);
}

static PARKS int measure_down(struct probe *p, const char *path)
{
    struct probe_findings *f = &p->findings;
    tell(p, "reading");
    int r = probe_download(&p->place, path, &p->effort, &f->down);
    return judge(p, r, "reading from it", &f->down, &f->facts.rates.down);
}

/* What could be written is read; else the file that the place names, if it does. */
static PARKS int measure(struct probe *p)
{
    struct probe_findings *f = &p->findings;
    int r = measure_up(p);
    if (r < 0)
        return r;
    const char *path =
        f->up.bytes > 0 && f->facts.rates.up > 0 ? p->place.temporary : p->place.file;
    if (path != NULL)
        r = measure_down(p, path);
    else
        probe_note(f, "nothing was read either: the place names no file to read instead");
    f->facts.rates.up_limit = limit_of(&f->up, true);
    f->facts.rates.down_limit = limit_of(&f->down, false);
    return r;
}

/* In any case, and by another connection if this one is of no use any more. */
static PARKS int clean_up(struct probe *p, int result)
{
    char text[512];
    if (p->place.temporary == NULL || probe_place_remove(&p->place) == 0)
        return result;
    location_text(p->place.location, bytes_str(p->place.temporary), sizeof(text), text);
    fprintf(stderr, "ferry probe: %s may still be there, remove it with ferry rm: %s\n", text,
            p->place.why);
    p->places->code = EXIT_FAILED;
    return result < 0 ? result : -EIO;
}

/* -- the whole -- */

static PARKS int run(struct probe *p)
{
    int r = look_at_data(p);
    if (r == 0)
        r = connect_to(p);
    if (r == 0)
        r = clean_up(p, measure(p));
    return r;
}

static int report(struct probe *p)
{
    struct probe_findings *f = &p->findings;
    probe_conclude(f);
    if (places_has(p->places, 'j'))
        return probe_print_json(f, stdout);
    probe_print(f, stdout);
    return 0;
}

static int take_effort(struct probe *p)
{
    const struct remote_options *o = &p->places->options;
    uint64_t seconds = SECONDS_DEFAULT, size = SIZE_DEFAULT;
    const char *text = o->values[VALUE_SECONDS];
    if (text != NULL &&
        (text_u64(bytes_str(text), 10, SECONDS_MAX, &seconds) < 0 || seconds == 0))
        return remote_options_complain("probe", "--seconds takes 1 to 60, not", text);
    text = o->values[VALUE_SIZE];
    if (text != NULL && (text_size(bytes_str(text), &size) < 0 || size < SIZE_LEAST))
        return remote_options_complain("probe", "--size takes 64K and more, not", text);
    if (o->at[0].host == NULL)
        return remote_options_complain("probe", "this is no server's place:", o->at[0].path);
    p->effort.time_us = seconds * USEC_PER_S;
    p->effort.size_bytes = size;
    return EXIT_OK;
}

static PARKS void probe_main(struct places *places)
{
    struct probe *p = mem_new(sizeof(*p));
    if (p == NULL) {
        fprintf(stderr, "ferry probe: %s\n", err_text(-ENOMEM));
        places->code = EXIT_FAILED;
        return;
    }
    p->places = places;
    places->code = take_effort(p);
    if (places->code == EXIT_OK) {
        cipher_cache_use();
        probe_sample_init(&p->sample);
        probe_place_init(&p->place, &places->options.at[0], &places->remotes.login);
        p->findings.place = &p->place;
        p->findings.sample = &p->sample;
        p->findings.data_path = places->options.values[VALUE_DATA];
        int r = run(p);
        if (r == 0)
            r = report(p);
        if (r == 0 && p->findings.facts.rates.up <= 0 && p->findings.facts.rates.down <= 0)
            r = fail_at_place(p, "no rate could be measured");
        if (r == -ENOMEM)
            (void)fail(p, err_text(r), "");
        if (r == -ECANCELED) {
            fputs("ferry probe: interrupted\n", stderr);
            places->code = EXIT_FAILED;
        }
        probe_place_done(&p->place);
        probe_sample_done(&p->sample);
    }
    mem_free(p);
}

int command_probe(int argc, char **argv)
{
    return places_run(argc, argv, &usage, probe_main);
}
