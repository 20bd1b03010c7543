/* Findings as one JSON object on one line. */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/probe/findings.h"

/* Rates have no digits behind the point. */
static void set_rate(json_t *object, const char *name, double bytes_per_s)
{
    if (bytes_per_s > 0 && bytes_per_s < 9e15)
        (void)json_object_set_new(object, name, json_integer((json_int_t)llrint(bytes_per_s)));
}

/* JSON has no bytes that are no UTF-8. */
static json_t *text_of(const char *text)
{
    struct buf valid;
    struct bytes rest = bytes_str(text);
    int r = 0;
    buf_init(&valid, 4 * rest.len + 1);
    while (r == 0 && rest.len > 0) {
        size_t n = text_utf8_len(rest);
        r = n > 0 ? buf_append_bytes(&valid, bytes_first(rest, n))
                  : buf_append_str(&valid, "\xef\xbf\xbd");
        rest = bytes_skip(rest, n > 0 ? n : 1);
    }
    json_t *o = r == 0 ? json_stringn((const char *)valid.data, valid.len) : NULL;
    if (r == 0 && valid.len == 0)
        o = json_string("");
    buf_done(&valid);
    return o;
}

static void set_text(json_t *object, const char *name, const char *text)
{
    (void)json_object_set_new(object, name, text_of(text));
}

static double rounded(double x)
{
    return floor(x * 1e4 + 0.5) / 1e4;
}

static json_t *way(const struct probe_way_seen *w, enum probe_part limit)
{
    json_t *o = json_object();
    set_rate(o, "bytes_per_s", w->rate.bytes_per_s);
    (void)json_object_set_new(o, "bytes", json_integer((json_int_t)w->bytes));
    (void)json_object_set_new(o, "seconds", json_real(rounded((double)w->took_us / 1e6)));
    (void)json_object_set_new(o, "limit", json_string(probe_part_text(limit)));
    (void)json_object_set_new(o, "cpu_share", json_real(rounded(w->rate.cpu)));
    return o;
}

static json_t *forecasts(const struct probe_advice *a)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < a->up_count; i++) {
        char compress[PROBE_COMPRESS_MAX];
        json_t *o = json_object();
        probe_compress_text(&a->up[i], compress);
        set_text(o, "compress", compress);
        if (a->up[i].way == PROBE_WAY_AUTO)
            (void)json_object_set_new(o, "level", json_integer(a->up[i].level));
        set_rate(o, "bytes_per_s", a->up[i].bytes_per_s);
        (void)json_object_set_new(o, "limit", json_string(probe_part_text(a->up[i].limit)));
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *levels(const struct probe_data *d)
{
    json_t *list = json_array();
    for (int i = 1; i < PROBE_LEVELS; i++) {
        json_t *o = json_object();
        (void)json_object_set_new(o, "level", json_integer(i));
        (void)json_object_set_new(o, "ratio", json_real(rounded(d->levels[i].ratio)));
        set_rate(o, "bytes_per_s", d->levels[i].bytes_per_s);
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *data(const struct probe_findings *f)
{
    const struct probe_sample *s = f->sample;
    json_t *o = json_object();
    if (f->data_path != NULL) {
        set_text(o, "path", f->data_path);
        (void)json_object_set_new(o, "files", json_integer((json_int_t)s->files));
        (void)json_object_set_new(o, "bytes", json_integer((json_int_t)s->total_bytes));
    }
    (void)json_object_set_new(o, "sample_bytes", json_integer((json_int_t)s->bytes.len));
    (void)json_object_set_new(o, "levels", levels(&f->data));
    set_rate(o, "expand_bytes_per_s", f->data.expand_bytes_per_s);
    return o;
}

static json_t *ciphers(const struct crypto_speeds *s)
{
    json_t *o = json_object();
    (void)json_object_set_new(o, "aes128-gcm@openssh.com", json_integer((json_int_t)s->gcm128));
    (void)json_object_set_new(o, "aes256-gcm@openssh.com", json_integer((json_int_t)s->gcm256));
    (void)json_object_set_new(o, "chacha20-poly1305@openssh.com",
                              json_integer((json_int_t)s->chacha));
    (void)json_object_set_new(o, "aes128-ctr", json_integer((json_int_t)s->ctr_hmac));
    return o;
}

static json_t *small_files(const struct probe_findings *f)
{
    json_t *o = json_object();
    set_rate(o, "mean_bytes", f->files.mean_bytes);
    (void)json_object_set_new(o, "single_per_s", json_real(rounded(f->small.single_per_s)));
    (void)json_object_set_new(o, "limit", json_string(probe_part_text(f->small.single_limit)));
    if (f->small.tar_per_s > 0)
        (void)json_object_set_new(o, "tar_per_s", json_real(rounded(f->small.tar_per_s)));
    return o;
}

static json_t *advice(const struct probe_findings *f, char text[PROBE_COMMAND_MAX])
{
    const struct probe_advice *a = &f->advice;
    char compress[PROBE_COMPRESS_MAX];
    json_t *o = json_object();
    if (a->up_count > 0) {
        const struct probe_forecast *best = &a->up[a->best];
        probe_compress_text(best, compress);
        set_text(o, "method", probe_method(f));
        set_text(o, "compress", compress);
        set_rate(o, "bytes_per_s", best->bytes_per_s);
        (void)json_object_set_new(o, "limit", json_string(probe_part_text(best->limit)));
    }
    set_rate(o, "fetch_bytes_per_s", a->down_plain);
    set_rate(o, "fetch_compressed_bytes_per_s", a->down_packed);
    probe_command_text(f, text);
    set_text(o, "command", text);
    probe_config_text(f, text);
    if (text[0] != '\0')
        set_text(o, "ssh_config", text);
    return o;
}

static json_t *whole(const struct probe_findings *f, char text[PROBE_COMMAND_MAX])
{
    const struct location *l = f->place->location;
    json_t *o = json_object(), *notes = json_array();
    location_text(l, bytes_str(l->path), PROBE_COMMAND_MAX, text);
    set_text(o, "place", text);
    set_text(o, "server", f->server);
    (void)json_object_set_new(o, "login_s",
                              json_real(rounded((double)f->place->login_us / 1e6)));
    (void)json_object_set_new(o, "round_trip_ms",
                              json_real(rounded((double)f->facts.rtt_us / 1e3)));
    (void)json_object_set_new(o, "to", way(&f->up, f->facts.rates.up_limit));
    (void)json_object_set_new(o, "from", way(&f->down, f->facts.rates.down_limit));
    if (f->cipher != NULL) {
        set_text(o, "cipher", f->cipher);
        (void)json_object_set_new(o, "ciphers_here", ciphers(&f->speeds));
    }
    (void)json_object_set_new(o, "can_compress", json_boolean(f->facts.can_compress));
    (void)json_object_set_new(o, "data", data(f));
    (void)json_object_set_new(o, "predicted", forecasts(&f->advice));
    if (f->data_path == NULL)
        (void)json_object_set_new(o, "predicted_incompressible", forecasts(&f->noise_advice));
    (void)json_object_set_new(o, "small_files", small_files(f));
    (void)json_object_set_new(o, "advice", advice(f, text));
    for (unsigned i = 0; i < f->note_count; i++)
        (void)json_array_append_new(notes, text_of(f->notes[i]));
    (void)json_object_set_new(o, "notes", notes);
    return o;
}

int probe_print_json(const struct probe_findings *f, FILE *out)
{
    char scratch[PROBE_COMMAND_MAX];
    json_t *o = whole(f, scratch);
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(o);
    if (text == NULL)
        return -ENOMEM;
    fprintf(out, "%s\n", text);
    mem_free(text);
    return 0;
}
