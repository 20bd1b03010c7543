/* The JSON of an earlier run: whatever it holds, it is refused with the place, or its samples
 * give a ratio that is a number. */
/* layers: bench */
#include "bench/report/baseline.h"

#include "base/err.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct bench_row row = {
    .name = "retr",
    .label = "RETR (server -> client)",
    .unit = BENCH_MB_PER_S,
    .cells = {{.target = "ferryd", .samples = {100, 120, 140}, .sample_count = 3}},
    .count = 1,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char why[BENCH_ERROR_MAX] = "";
    struct baseline *b = NULL;
    int r = baseline_parse(bytes_of(data, len), why, &b);
    if (r < 0) {
        INVARIANT(r == -FERRY_EPROTO && b == NULL && why[0] != '\0');
        return 0;
    }
    struct bench_ratio ratio = baseline_ratio(b, &row, &row.cells[0]);
    INVARIANT(!ratio.is_known || ratio.value >= 0);
    INVARIANT(!ratio.has_interval ||
              (ratio.is_known && ratio.interval.low <= ratio.interval.high));
    baseline_free(b);
    return 0;
}
