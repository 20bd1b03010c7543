#include "client/copy/report.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

/* -- remedies -- */

static const struct {
    int result;
    const char *text;
} remedies[] = {
    {-EISDIR, "a directory is copied with -r"},
    {-EACCES, "look at the permissions there"},
    {-FERRY_ERIGHTS, "the account has no right to that there"},
    {-ENOSPC, "make room there; the same command goes on"},
    {-EDQUOT, "make room there; the same command goes on"},
    {-FERRY_EQUOTA, "make room there; the same command goes on"},
    {-EROFS, "choose another place"},
    {-FERRY_ECLOSED, "the same command goes on; --retries connects again by itself"},
    {-FERRY_ESTALLED, "the same command goes on; --timeout waits longer"},
    {-FERRY_ETRUNCATED, "copy it when nobody writes to it"},
    {-FERRY_ENOTREG, "only files and directories are copied"},
    {-EXDEV, "a link leads out of the target; name the place that it leads to"},
    {-EBADMSG, "copy it again"},
};

const char *copy_remedy(int result, enum copy_side side)
{
    if (result == -EISDIR && side == COPY_SIDE_TARGET)
        return "there is a directory of that name";
    for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
        if (remedies[i].result == result)
            return remedies[i].text;
    return "";
}

/* -- JSON -- */

void copy_print_json_text(FILE *out, struct bytes s)
{
    fputc('"', out);
    while (s.len > 0) {
        char escaped[TEXT_JSON_CHAR_MAX];
        size_t used, len = text_json_char(s, escaped, &used);
        fwrite(escaped, 1, len, out);
        s = bytes_skip(s, used);
    }
    fputc('"', out);
}

static void print_json_member(FILE *out, const char *key, struct bytes value)
{
    fprintf(out, ",\"%s\":", key);
    copy_print_json_text(out, value);
}

static const char *check_name(enum copy_check check)
{
    static const char *const names[] = {[COPY_CHECK_NONE] = "no",
                                        [COPY_CHECK_SAME] = "yes",
                                        [COPY_CHECK_NOT_POSSIBLE] = "not possible"};
    return names[check];
}

static void print_json(const struct copy_report *r, const struct copy_event *event)
{
    const struct copy_file *f = event->file;
    FILE *out = r->out;
    fputs("{\"file\":", out);
    copy_print_json_text(out, event->path);
    if (event->target.len > 0)
        print_json_member(out, "target", event->target);
    if (f != NULL) {
        fprintf(out, ",\"bytes\":%llu,\"moved_bytes\":%llu,\"seconds\":%.6f",
                (unsigned long long)f->size_bytes, (unsigned long long)f->moved_bytes,
                (double)event->took_us / (double)USEC_PER_S);
        print_json_member(out, "method", bytes_str(f->method != NULL ? f->method : "none"));
        if (f->compression != NULL)
            print_json_member(out, "compression", bytes_str(f->compression));
        if (f->settings->verifies)
            print_json_member(out, "verified", bytes_str(check_name(f->check)));
    }
    const char *result = event->result == 0 ? "ok" : event->is_mended ? "incomplete" : "failed";
    print_json_member(out, "result", bytes_str(result));
    if (event->result < 0) {
        print_json_member(out, "side",
                          bytes_str(event->side == COPY_SIDE_SOURCE ? "source" : "target"));
        print_json_member(out, "error", bytes_str(err_text(event->result)));
        if (event->why[0] != '\0')
            print_json_member(out, "why", bytes_str(event->why));
        if (f != NULL)
            fprintf(out, ",\"kept_bytes\":%llu", (unsigned long long)f->kept_bytes);
    }
    fputs("}\n", out);
}

/* -- people -- */

static void clear_progress(struct copy_report *r)
{
    if (r->progress != NULL)
        copy_progress_clear(r->progress);
}

/* On which machine it failed. */
static const char *host_of(const struct copy_report *r, const struct copy_event *event)
{
    const struct copy_end *end =
        event->side == COPY_SIDE_SOURCE ? event->source->end : r->target->end;
    if (end == NULL)
        return event->side == COPY_SIDE_SOURCE ? "standard input" : "standard output";
    return end->endpoint != NULL && end->endpoint->host != NULL ? end->endpoint->host
                                                                : "this machine";
}

static void print_failure(struct copy_report *r, const struct copy_event *event)
{
    char name[512];
    bool is_source = event->side == COPY_SIDE_SOURCE || event->target.len == 0;
    const char *why = event->why, *remedy = copy_remedy(event->result, event->side);
    (void)text_copy_printable(name, sizeof(name), is_source ? event->path : event->target);
    /* a sentence of connecting has all in it */
    const struct copy_end *end = is_source ? event->source->end : r->target->end;
    if (end != NULL && end->endpoint == NULL && why[0] != '\0') {
        fprintf(r->err, "ferry cp: %s: %s\n", name, why);
        return;
    }
    const char *text = err_text(event->result);
    fprintf(r->err, "ferry cp: %s (%s): %s%s%s%s%s\n", name, host_of(r, event), text,
            why[0] != '\0' && strcmp(why, text) != 0 ? ": " : "",
            strcmp(why, text) != 0 ? why : "", remedy[0] != '\0' ? "; " : "", remedy);
}

static void note_kept(struct copy_report *r, const struct copy_event *event)
{
    const struct copy_file *f = event->file;
    if (f == NULL || event->result == 0 || f->kept_bytes == 0)
        return;
    r->kept_bytes += f->kept_bytes;
    r->kept_of += f->facts.has_size ? f->facts.size_bytes : 0;
    if (r->kept_files++ > 0)
        return;
    bool is_local = r->target->end->endpoint != NULL && r->target->end->endpoint->host == NULL;
    char name[sizeof(r->kept_in) - 32];
    (void)text_copy_printable(name, sizeof(name), event->target);
    snprintf(r->kept_in, sizeof(r->kept_in), is_local ? "a hidden file beside %s" : "%s%s",
             name, is_local ? "" : ".ferry-part");
}

void copy_report_event(struct copy_report *r, const struct copy_event *event)
{
    const struct copy_file *f = event->file;
    note_kept(r, event);
    if (r->options->json) {
        print_json(r, event);
        return;
    }
    if (event->result == -ECANCELED)
        return; /* the end says it */
    if (event->result < 0) {
        clear_progress(r);
        print_failure(r, event);
        if (event->is_mended)
            fprintf(r->err, "ferry cp: what is not there follows file by file\n");
    } else if (f != NULL && (f->check == COPY_CHECK_NOT_POSSIBLE || f->has_grown)) {
        char name[512];
        clear_progress(r);
        (void)text_copy_printable(name, sizeof(name), event->path);
        if (f->has_grown)
            fprintf(r->err, "ferry cp: %s: it grew while it was read\n", name);
        if (f->check == COPY_CHECK_NOT_POSSIBLE && r->unchecked_files++ == 0)
            fprintf(r->err,
                    "ferry cp: %s: not verified: a SHA-256 cannot be had of both ends\n", name);
    }
}

void copy_report_retrying(struct copy_report *r, unsigned attempt, usec_t pause_us,
                          const char *why)
{
    if (r->options->is_quiet || r->options->json)
        return;
    clear_progress(r);
    fprintf(r->err, "ferry cp: connection lost (%s); connecting again in %llu s (%u of %u)\n",
            why, (unsigned long long)((pause_us + USEC_PER_S - 1) / USEC_PER_S), attempt,
            r->options->retries);
}

void copy_report_note(struct copy_report *r, const char *host, const char *text)
{
    if (r->options->is_quiet || r->options->json)
        return;
    clear_progress(r);
    fprintf(r->err, "ferry cp: %s: %s\n", host, text);
}

static void print_json_end(const struct copy_report *r, const struct copy_totals *totals,
                           double seconds, bool is_interrupted)
{
    fprintf(r->out,
            "{\"summary\":true,\"files\":%llu,\"directories\":%llu,\"failed\":%llu,"
            "\"unconfirmed\":%llu,\"bytes\":%llu,\"seconds\":%.6f,\"interrupted\":%s,"
            "\"kept_bytes\":%llu}\n",
            (unsigned long long)totals->files, (unsigned long long)totals->directories,
            (unsigned long long)totals->failed, (unsigned long long)totals->unconfirmed,
            (unsigned long long)totals->bytes, seconds, is_interrupted ? "true" : "false",
            (unsigned long long)r->kept_bytes);
}

/* A stream of tar broke off, and nobody could look what has come of it. */
static void print_unconfirmed(const struct copy_report *r, const struct copy_totals *totals)
{
    if (!totals->may_be_parts)
        return;
    fprintf(
        r->err,
        "ferry cp: not known of %llu file%s that went as a stream of tar: whether the server "
        "has stored them; the last may be there in part; the same command sends all again\n",
        (unsigned long long)totals->unconfirmed, totals->unconfirmed == 1 ? "" : "s");
}

static void print_kept(const struct copy_report *r, bool is_interrupted)
{
    char kept[COPY_AMOUNT_MAX], of[COPY_AMOUNT_MAX];
    const char *head = is_interrupted ? "interrupted" : "not complete";
    if (r->kept_files == 0) {
        if (is_interrupted)
            fprintf(r->err, "ferry cp: interrupted\n");
        return;
    }
    copy_amount_text(r->kept_bytes, kept);
    copy_amount_text(r->kept_of, of);
    fprintf(r->err, "ferry cp: %s: %s of %s are kept in %s%s; the same command goes on\n", head,
            kept, of, r->kept_in, r->kept_files > 1 ? " and others" : "");
}

void copy_report_end(struct copy_report *r, const struct copy_totals *totals, int result,
                     bool is_interrupted)
{
    double seconds = (double)(clock_now() - r->began_at) / (double)USEC_PER_S;
    clear_progress(r);
    if (r->options->json)
        print_json_end(r, totals, seconds, is_interrupted);
    print_kept(r, is_interrupted);
    print_unconfirmed(r, totals);
    if (result < 0 || r->progress == NULL || !r->progress->was_drawn)
        return;
    char bytes[COPY_AMOUNT_MAX], rate[COPY_AMOUNT_MAX];
    copy_amount_text(totals->bytes, bytes);
    copy_amount_text((uint64_t)((double)totals->bytes / (seconds > 0 ? seconds : 1)), rate);
    fprintf(r->err, "%llu file%s, %s in %.1f s, %s/s\n", (unsigned long long)totals->files,
            totals->files == 1 ? "" : "s", bytes, seconds, rate);
}
