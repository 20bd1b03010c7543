#include "bench/report/baseline.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"

#define SAMPLE_MIN 1e-12 /* of those above 0; no unit of ours needs less, */
#define SAMPLE_MAX 1e15  /* or more, and ratios of these are numbers still */
#define SEED       UINT64_C(0x6261736c696e65)

/* One server in one row. */
struct then {
    char row[BENCH_NAME_MAX];
    char label[BENCH_LABEL_MAX];
    char unit[BENCH_NAME_MAX];
    char server[BENCH_NAME_MAX];
    double samples[BENCH_SAMPLES_MAX];
    unsigned sample_count; /* at least 1 */
};

struct baseline {
    struct then cells[BENCH_ROWS_MAX * BENCH_TARGETS_MAX];
    unsigned count;
};

static int complain(char why[BENCH_ERROR_MAX], const char *what, size_t row)
{
    snprintf(why, BENCH_ERROR_MAX, "row %zu: %s", row + 1, what);
    return -FERRY_EPROTO;
}

/* False: there is no such text, or it is longer than any of ours. */
static bool take_text(const json_t *o, const char *key, char *dst, size_t cap)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL && text_copy(dst, cap, bytes_str(text)) == strlen(text);
}

static bool is_sample(const json_t *sample)
{
    double value = json_number_value(sample);
    return json_is_number(sample) &&
           (value == 0 || (value >= SAMPLE_MIN && value <= SAMPLE_MAX));
}

static bool take_samples(const json_t *list, struct then *then)
{
    size_t count = json_array_size(list);
    if (count == 0 || count > BENCH_SAMPLES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *sample = json_array_get(list, i);
        if (!is_sample(sample))
            return false;
        then->samples[then->sample_count++] = json_number_value(sample);
    }
    return true;
}

static int take_server(struct baseline *b, const json_t *server, const struct then *row,
                       size_t index, char why[BENCH_ERROR_MAX])
{
    struct then *then = &b->cells[b->count];
    *then = *row;
    if (!take_text(server, "server", then->server, sizeof(then->server)))
        return complain(why, "a server without a name", index);
    if (json_object_get(server, "error") != NULL)
        return 0;
    if (!take_samples(json_object_get(server, "samples"), then))
        return complain(why, "samples are no list of numbers", index);
    b->count++;
    return 0;
}

static int take_row(struct baseline *b, const json_t *row, size_t index,
                    char why[BENCH_ERROR_MAX])
{
    struct then then = {0};
    const json_t *servers = json_object_get(row, "servers");
    if (!take_text(row, "row", then.row, sizeof(then.row)) ||
        !take_text(row, "label", then.label, sizeof(then.label)) ||
        !take_text(row, "unit", then.unit, sizeof(then.unit)))
        return complain(why, "\"row\", \"label\" or \"unit\" is missing", index);
    if (!json_is_array(servers) || json_array_size(servers) > BENCH_TARGETS_MAX)
        return complain(why, "\"servers\" is no list, or too long", index);
    int r = 0;
    for (size_t i = 0; i < json_array_size(servers) && r == 0; i++)
        r = take_server(b, json_array_get(servers, i), &then, index, why);
    return r;
}

static int take_run(struct baseline *b, const json_t *run, char why[BENCH_ERROR_MAX])
{
    const json_t *rows = json_object_get(run, "rows");
    if (!json_is_array(rows) || json_array_size(rows) > BENCH_ROWS_MAX) {
        snprintf(why, BENCH_ERROR_MAX, "\"rows\" is no list of at most %d", BENCH_ROWS_MAX);
        return -FERRY_EPROTO;
    }
    int r = 0;
    for (size_t i = 0; i < json_array_size(rows) && r == 0; i++)
        r = take_row(b, json_array_get(rows, i), i, why);
    return r;
}

int baseline_parse(struct bytes text, char why[BENCH_ERROR_MAX], struct baseline **ret)
{
    json_error_t error;
    json_t *run = json_loadb((const char *)text.data, text.len, 0, &error);
    if (run == NULL) {
        snprintf(why, BENCH_ERROR_MAX, "line %d, column %d: %s", error.line, error.column,
                 error.text);
        return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -FERRY_EPROTO;
    }
    struct baseline *b = mem_new(sizeof(*b));
    int r = b != NULL ? take_run(b, run, why) : -ENOMEM;
    json_decref(run);
    if (r < 0)
        (void)baseline_free(b);
    else
        *ret = b;
    return r;
}

int baseline_load(const char *path, char why[BENCH_ERROR_MAX], struct baseline **ret)
{
    struct buf b;
    why[0] = '\0';
    buf_init(&b, BASELINE_BYTES_MAX);
    int r = file_read(path, &b);
    if (r == 0)
        r = baseline_parse(buf_bytes(&b), why, ret);
    buf_done(&b);
    return r;
}

struct baseline *baseline_free(struct baseline *b)
{
    mem_free(b);
    return NULL;
}

/* -- then and now -- */

static const struct then *find(const struct baseline *b, const struct bench_row *row,
                               const char *server)
{
    for (unsigned i = 0; i < b->count; i++) {
        const struct then *then = &b->cells[i];
        if (strcmp(then->row, row->name) == 0 && strcmp(then->label, row->label) == 0 &&
            strcmp(then->unit, bench_unit_name(row->unit)) == 0 &&
            strcmp(then->server, server) == 0)
            return then;
    }
    return NULL;
}

struct bench_ratio baseline_ratio(const struct baseline *b, const struct bench_row *row,
                                  const struct bench_cell *cell)
{
    struct bench_ratio ratio = {0};
    const struct then *then = find(b, row, cell->target);
    if (then == NULL || bench_cell_has_failed(cell) || cell->sample_count == 0)
        return ratio;
    const double *above = cell->samples, *below = then->samples;
    unsigned above_count = cell->sample_count, below_count = then->sample_count;
    if (!bench_unit_is_speed(row->unit)) {
        above = then->samples;
        below = cell->samples;
        above_count = then->sample_count;
        below_count = cell->sample_count;
    }
    double divisor = statistics_median_of(below, below_count);
    ratio.is_known = divisor > 0;
    if (!ratio.is_known)
        return ratio;
    ratio.value = statistics_median_of(above, above_count) / divisor;
    ratio.has_interval = above_count >= BENCH_INTERVAL_MIN &&
                         below_count >= BENCH_INTERVAL_MIN &&
                         statistics_ratio_interval(above, above_count, below, below_count, SEED,
                                                   &ratio.interval) == 0;
    return ratio;
}
