#include "client/copy/explain.h"

#include "base/attr.h"
#include "check.h"

#define S USEC_PER_S

static void the_verdict_follows_from_the_figures(void **state)
{
    (void)state;

    const struct {
        enum copy_limit limit;
        struct copy_figures figures;
    } rows[] = {
        {COPY_LIMIT_SHORT, {.elapsed_us = S / 10, .bytes = 1000, .files = 1, .cpu_us = S / 10}},
        {COPY_LIMIT_SHORT, {.elapsed_us = S}},
        {COPY_LIMIT_ASKED,
         {.elapsed_us = S, .bytes = 950000, .files = 1, .limit_bytes_per_s = 1000000}},
        {COPY_LIMIT_CPU_HERE,
         {.elapsed_us = S,
          .cpu_us = S * 9 / 10,
          .bytes = 1000000000,
          .files = 1,
          .sends = true}},
        {COPY_LIMIT_CPU_HERE, /* which others had, half of the time */
         {.elapsed_us = S,
          .cpu_us = S * 45 / 100,
          .waited_us = S * 45 / 100,
          .bytes = 1000000000,
          .files = 1,
          .sends = true}},
        {COPY_LIMIT_DISK_HERE,
         {.elapsed_us = S, .cpu_us = S / 3, .bytes = 1000000, .files = 1}},
        {COPY_LIMIT_DISK_HERE,
         {.elapsed_us = S,
          .cpu_us = S / 10,
          .blocked_us = S * 85 / 100,
          .bytes = 1000000,
          .files = 1,
          .receives = true}},
        {COPY_LIMIT_BOTH_HERE, /* the CPU and a disk, in turn */
         {.elapsed_us = S,
          .cpu_us = S / 2,
          .blocked_us = S / 2,
          .bytes = 1000000,
          .files = 1,
          .receives = true}},
        {COPY_LIMIT_FAR, /* jobs that had no CPU: counted once */
         {.elapsed_us = S,
          .cpu_us = S / 10,
          .waited_us = S / 2,
          .blocked_us = S / 2,
          .bytes = 1000000,
          .files = 1,
          .receives = true}},
        {COPY_LIMIT_PEER, /* its program takes nothing, but its kernel all that it is sent */
         {.elapsed_us = S,
          .bytes = 3000000,
          .files = 1,
          .sends = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = S / 10,
          .window_us = S * 9 / 10}},
        {COPY_LIMIT_WINDOW, /* 2 MB in each round of 100 ms */
         {.elapsed_us = 10 * S,
          .bytes = 200000000,
          .files = 1,
          .sends = true,
          .has_link = true,
          .rtt_us = 100000,
          .busy_us = 9 * S,
          .window_us = 8 * S}},
        {COPY_LIMIT_FAR, /* a connection of which nothing is known */
         {.elapsed_us = S, .bytes = 3000000, .files = 1, .sends = true}},
        {COPY_LIMIT_FAR, /* between two servers */
         {.elapsed_us = S,
          .bytes = 3000000,
          .files = 1,
          .sends = true,
          .receives = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = S * 9 / 10}},
        {COPY_LIMIT_LINK,
         {.elapsed_us = 10 * S,
          .cpu_us = S,
          .bytes = 1000000000,
          .files = 1,
          .sends = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = 9 * S,
          .peer_full_us = S}},
        {COPY_LIMIT_PEER,
         {.elapsed_us = 10 * S,
          .cpu_us = S,
          .bytes = 1000000000,
          .files = 1,
          .sends = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = 9 * S,
          .peer_full_us = 6 * S}},
        {COPY_LIMIT_PEER, /* the connection was idle half of the time, and so were we */
         {.elapsed_us = 10 * S,
          .cpu_us = S,
          .bytes = 1000000000,
          .files = 1,
          .sends = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = 5 * S}},
        {COPY_LIMIT_FAR, /* a receiver does not know what its sender waits for */
         {.elapsed_us = 10 * S,
          .cpu_us = S,
          .bytes = 1000000000,
          .files = 1,
          .receives = true,
          .has_link = true,
          .rtt_us = 1000,
          .busy_us = 9 * S}},
        {COPY_LIMIT_ROUND_TRIPS,
         {.elapsed_us = 20 * S,
          .cpu_us = S,
          .bytes = 1000000,
          .files = 2000,
          .receives = true,
          .has_link = true,
          .rtt_us = 100000,
          .at_once = 16}},
        {COPY_LIMIT_FAR, /* so many at once that they do not add up */
         {.elapsed_us = 20 * S,
          .cpu_us = S,
          .bytes = 1000000,
          .files = 2000,
          .receives = true,
          .has_link = true,
          .rtt_us = 1000,
          .at_once = 16}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(copy_limit_of(&rows[i].figures), rows[i].limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_follows_from_the_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
