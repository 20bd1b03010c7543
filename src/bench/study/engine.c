/* Runs the cells of a study: every one in turn, round after round, so that what else goes on on
 * the machine meets all of them alike. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/peers/peer_program.h"
#include "bench/study/place.h"
#include "bench/study/record.h"
#include "bench/study/results.h"
#include "task/sys.h"

#define CELL_US    (1800 * USEC_PER_S)
#define SAID_MAX   4096
#define LINK_TRIES 3  /* in a cell's turn */
#define LINK_TESTS 12 /* of one link; it is off then */
#define PAIR_TRIES 3

/* -- what ends a cell's part in it -- */

static int end_cell(struct study_cell *cell, enum study_state state, const char *why)
{
    cell->state = state;
    text_copy_printable(cell->reason, sizeof(cell->reason), bytes_str(why));
    return 0;
}

static int fail_cell(struct study_cell *cell, const char *what, int result,
                     const struct buf *said)
{
    char text[2 * STUDY_REASON_MAX];
    if (result == -ECANCELED)
        return result;
    if (result == -EOPNOTSUPP && cell->program == NULL)
        return end_cell(cell, STUDY_NOT_INSTALLED, "this ferry has no such option");
    if (said != NULL && said->len > 0)
        snprintf(text, sizeof(text), "%s: %.*s", what,
                 said->len < STUDY_REASON_MAX ? (int)said->len : STUDY_REASON_MAX,
                 (const char *)said->data);
    else
        snprintf(text, sizeof(text), "%s: %s", what, err_text(result));
    return end_cell(cell, STUDY_FAILED, text);
}

static bool is_over(const struct study_cell *cell)
{
    return cell->state > STUDY_MEASURED || cell->reason[0] != '\0';
}

/* -- the link -- */

static bool is_off(const struct study_link *link)
{
    double off = link->measured / (double)link->bytes_per_s - 1;
    return off > LINK_TOLERANCE || off < -LINK_TOLERANCE;
}

/* Each rate proves itself once. Something else may have had the processor: three tries, and as
 * many in the next cell's turn. */
static void test_link(struct place *p, struct study_link *link)
{
    for (unsigned i = 0; i < LINK_TRIES && link->tests < LINK_TESTS; i++) {
        link->tests++;
        int r = link_test(&p->link, &link->measured);
        double off = link->measured / (double)link->bytes_per_s - 1;
        if (r == 0 && !is_off(link))
            return;
        if (r < 0)
            snprintf(link->error, sizeof(link->error), "the link's self-test: %s", err_text(r));
        else
            snprintf(link->error, sizeof(link->error),
                     "the link's self-test found %.1f KB/s, %+.1f %%: not within 3 %%",
                     link->measured / 1024, off * 100);
    }
}

/* As far as the ssh suite takes it: what is a quarter too long is another path. */
static bool is_trip_off(const struct study_link *link)
{
    usec_t wanted = link->round_trip_us;
    return wanted > 0 &&
           (link->measured_trip_us < wanted || link->measured_trip_us > wanted + wanted / 4);
}

/* Where no name space can be had, or there is a round trip: a relay tests itself each time that
 * it is started. */
static int set_relay(struct study *s, struct study_cell *cell)
{
    struct study_link *link = &s->links[cell->link];
    int r = place_relay(s->place, cell->server, link);
    if (r == -EOPNOTSUPP)
        return end_cell(
            cell, STUDY_FAILED,
            "no name space for a link, and data connections of FTP go past a relay");
    if (r < 0)
        return fail_cell(cell, "the relay", r, NULL);
    if (is_off(link))
        return end_cell(cell, STUDY_FAILED, "the relay's self-test: not within 3 %");
    if (is_trip_off(link))
        return end_cell(cell, STUDY_FAILED, "the relay's self-test: another round trip");
    return 0;
}

static int set_link(struct study *s, struct study_cell *cell)
{
    struct study_link *link = &s->links[cell->link];
    struct place *p = s->place;
    if (link->bytes_per_s == 0)
        return 0;
    if (p->link_result < 0 || link->round_trip_us > 0)
        return set_relay(s, cell);
    struct buf said;
    buf_init(&said, SAID_MAX);
    int r = link_set_rate(&p->link, link->bytes_per_s, &said);
    if (r == 0 && (link->measured == 0 || link->error[0] != '\0')) {
        test_link(p, link);
        if (!is_off(link))
            link->error[0] = '\0';
    }
    if (r < 0)
        r = fail_cell(cell, "shaping the link", r, &said);
    else if (link->error[0] != '\0')
        (void)end_cell(cell, STUDY_FAILED, link->error);
    buf_done(&said);
    return r;
}

/* -- what must be there -- */

static bool has_program(const char *name)
{
    char path[STUDY_LABEL_MAX];
    snprintf(path, sizeof(path), "/usr/bin/%.40s", name);
    return file_exists(path);
}

static int find_program(struct study_cell *cell)
{
    char names[STUDY_LABEL_MAX], why[2 * STUDY_LABEL_MAX];
    if (cell->program == NULL)
        return 0;
    snprintf(names, sizeof(names), "%s", cell->program);
    for (char *at = names; *at != '\0';) { /* "ssh tar" */
        size_t len = strcspn(at, " ");
        bool is_last = at[len] == '\0';
        at[len] = '\0';
        if (!has_program(at)) {
            snprintf(why, sizeof(why), "there is no %s", at);
            return end_cell(cell, STUDY_NOT_INSTALLED, why);
        }
        at += len + (is_last ? 0 : 1);
    }
    return 0;
}

static int start_server(struct study *s, struct study_cell *cell)
{
    const struct peer *peer;
    if (cell->server == STUDY_NO_SERVER)
        return 0;
    int r = place_server(s->place, cell->server, &peer);
    char why[2 * STUDY_REASON_MAX];
    snprintf(why, sizeof(why), "%s: %.200s", place_server_name(cell->server), peer->error);
    if (r == -ENOENT)
        return end_cell(cell, STUDY_NOT_INSTALLED, why);
    if (r < 0)
        return end_cell(cell, STUDY_FAILED, why);
    study_version(s, "server: %s %s", place_server_name(cell->server), peer->version);
    return 0;
}

/* -- one run -- */

struct attempt {
    struct study *study;
    struct study_cell *cell;
    struct client_words words;
    char datadir[STUDY_PATH_MAX];
    struct buf said;
    bool is_empty;
    /* where a window of time is measured: its beginning */
    usec_t from;
    uint64_t bytes_before;
    int result;
};

static struct client_call call_of(const struct attempt *a, const char *command, bool is_shell)
{
    const struct place *p = a->study->place;
    return (struct client_call){
        .command = command,
        .is_shell = is_shell,
        .words = &a->words,
        .share = p->share.folder[0] != '\0' ? &p->share : NULL,
        .signals = p->signals,
        .timeout_us = CELL_US,
    };
}

static bool is_shaped(const struct attempt *a)
{
    return a->study->links[a->cell->link].bytes_per_s > 0;
}

static bool is_relayed(const struct attempt *a)
{
    return is_shaped(a) && (a->study->place->link_result < 0 ||
                            a->study->links[a->cell->link].round_trip_us > 0);
}

/* -- a window of time: what has come at its beginning and at its end -- */

static void begin_window(void *arg)
{
    struct attempt *a = arg;
    a->result = place_count(a->study->place, &a->bytes_before);
    a->from = clock_now();
}

/* The client was ended, with what it was still doing: its times say nothing. */
static int end_window(struct attempt *a, int result, struct study_run *run)
{
    uint64_t bytes = 0;
    usec_t now = clock_now();
    int r = place_count(a->study->place, &bytes);
    *run = (struct study_run){0};
    if (result < 0 && result != -ETIMEDOUT)
        return result;
    if (r < 0 || a->result < 0)
        return r < 0 ? r : a->result;
    if (a->from == 0 || bytes <= a->bytes_before || now <= a->from)
        return -FERRY_ETRUNCATED;
    run->real_s = (double)(now - a->from) / (double)USEC_PER_S;
    run->bytes = bytes - a->bytes_before;
    return 0;
}

/* The client, from the far side of the link if there is one. */
static int run_client(struct attempt *a, struct study_run *run)
{
    const struct place *p = a->study->place;
    const struct study_window *window = &a->cell->window;
    bool is_far = is_shaped(a) && !is_relayed(a);
    struct client_call call = call_of(a, a->cell->command, a->cell->is_shell);
    struct client client;
    if (window->until_s > 0) {
        call.timeout_us = window->until_s * USEC_PER_S;
        call.at_mark = begin_window;
        call.mark_arg = a;
        call.mark_us = window->from_s * USEC_PER_S;
    }
    int r = is_far ? link_enter(&p->link, true) : 0;
    if (r < 0)
        return r;
    r = client_start(&call, &client);
    int back = is_far ? link_enter(&p->link, false) : 0;
    if (r == 0)
        r = client_wait(&client, &call, run, &a->said);
    if (window->until_s > 0)
        r = end_window(a, r, run);
    return r == 0 ? back : r;
}

/* What a receiver costs is the server's part, and the end of both is the end. */
static int run_with_receiver(struct attempt *a, struct study_run *run)
{
    struct client_call call = call_of(a, a->cell->receiver, true);
    struct client receiver;
    struct study_run other = {0};
    call.share = NULL;
    int r = client_start(&call, &receiver);
    if (r < 0)
        return r;
    r = place_wait_listener(a->study->place);
    usec_t began = clock_now();
    if (r == 0)
        r = run_client(a, run);
    if (r < 0)
        call.timeout_us = 1;
    int ended = client_wait(&receiver, &call, &other, &a->said);
    run->real_s = (double)(clock_now() - began) / (double)USEC_PER_S;
    run->server_user_s = other.user_s;
    run->server_system_s = other.system_s;
    return r == 0 ? ended : r;
}

/* The sum is exact where the kernel tells nanoseconds, the parts are in clock ticks: they are
 * scaled to it. */
static void put_server_times(const struct usage *before, const struct usage *after,
                             struct study_run *run)
{
    double cpu_s = (double)(after->cpu_us - before->cpu_us) / (double)USEC_PER_S;
    double user = (double)(after->user_us - before->user_us);
    double system = (double)(after->system_us - before->system_us);
    double share = user + system > 0 ? user / (user + system) : 0;
    run->server_user_s = cpu_s * share;
    run->server_system_s = cpu_s - run->server_user_s;
}

static int run_once(struct attempt *a, struct study_run *run)
{
    const struct place *p = a->study->place;
    struct study_cell *cell = a->cell;
    struct usage before, after;
    *run = (struct study_run){0};
    int r = place_clean(p);
    if (r < 0)
        return r;
    place_words(p, cell->server, &a->study->data[cell->data], is_relayed(a), a->is_empty,
                a->datadir, &a->words);
    unsigned processes = place_server_processes(p, cell->server);
    place_server_cpu(p, cell->server, processes, &before);
    r = cell->receiver != NULL ? run_with_receiver(a, run) : run_client(a, run);
    if (cell->receiver == NULL && cell->window.until_s == 0) {
        place_server_cpu(p, cell->server, processes, &after);
        if (after.cpu_us >= before.cpu_us)
            put_server_times(&before, &after, run);
    }
    if (cell->window.until_s > 0)
        return r;
    run->bytes = a->is_empty ? 0 : a->study->data[cell->data].bytes;
    return r == 0 ? place_check(p, run->bytes) : r;
}

/* The run, less a session that moves nothing, if the cell takes that off. What came in the way
 * of the shorter one may make it the longer one. */
static int run_pair(struct attempt *a, struct study_run *ret)
{
    int r = 0;
    ret->real_s = 0;
    for (unsigned i = 0; r == 0 && ret->real_s <= 0 && i < PAIR_TRIES; i++) {
        struct study_run start = {0};
        a->is_empty = a->cell->subtracts_start;
        if (a->is_empty)
            r = run_once(a, &start);
        a->is_empty = false;
        if (r == 0)
            r = run_once(a, ret);
        ret->real_s -= start.real_s;
    }
    return r;
}

static int run_cell(struct study *s, struct study_cell *cell)
{
    struct attempt a = {.study = s, .cell = cell};
    struct study_run run = {0};
    buf_init(&a.said, SAID_MAX);
    int r = 0;
    if (cell->measure != NULL) {
        run.real_s = run.user_s = cell->measure(s, cell);
        run.bytes = s->data[cell->data].bytes;
    } else {
        r = run_pair(&a, &run);
    }
    if (r == 0 && run.real_s > 0) {
        cell->runs[cell->count++] = run;
        cell->state = STUDY_MEASURED;
    } else if (r == 0) {
        r = end_cell(cell, STUDY_FAILED,
                     "shorter than the start of a session: nothing is left");
    } else {
        r = fail_cell(cell, "it failed", r, &a.said);
    }
    buf_done(&a.said);
    return r;
}

/* -- all of them -- */

static int take_turn(struct study *s, struct study_cell *cell)
{
    char name[4 * STUDY_LABEL_MAX];
    study_cell_name(s, cell, sizeof(name), name);
    study_progress(s, name);
    int r = find_program(cell);
    if (r == 0 && !is_over(cell))
        r = start_server(s, cell);
    if (r == 0 && !is_over(cell))
        r = set_link(s, cell);
    return r == 0 && !is_over(cell) ? run_cell(s, cell) : r;
}

static int run_rounds(struct study *s)
{
    int r = 0;
    for (unsigned round = 0; r == 0 && round < s->options->runs; round++)
        for (unsigned i = 0; r == 0 && i < s->cell_count; i++)
            if (!is_over(&s->cells[i]))
                r = take_turn(s, &s->cells[i]);
    return r;
}

/* -- the whole -- */

static int run_in_place(struct study *s)
{
    int r = place_open(s->place, s->options->cpu_share);
    char empty[STUDY_PATH_MAX + 8];
    snprintf(empty, sizeof(empty), "%s/file", s->place->empty);
    if (r == 0)
        r = file_write(empty, 0644, BYTES_NONE);
    if (r == 0) {
        study_progress(s, "making what is to be moved");
        r = s->suite->fill(s);
    }
    if (r == 0) {
        study_record(s);
        r = run_rounds(s);
        if (s->suite->judge != NULL && (r == 0 || r == -ECANCELED))
            s->suite->judge(s);
    }
    study_progress(s, NULL);
    place_close(s->place);
    return r;
}

int study_run(struct study *s)
{
    s->began_at_us = clock_wall_us();
    s->place = mem_new(sizeof(*s->place));
    int r = s->place != NULL ? run_in_place(s) : -ENOMEM;
    if (r == -ECANCELED)
        snprintf(s->error, sizeof(s->error), "interrupted");
    s->took_us = (usec_t)(clock_wall_us() - s->began_at_us);
    mem_free(s->place);
    s->place = NULL;
    return r;
}
