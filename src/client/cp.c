/* ferry cp: copies files between places. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/copy/explain.h"
#include "client/copy/names.h"
#include "client/copy/options.h"
#include "client/copy/plan.h"
#include "client/copy/report.h"
#include "client/place/login.h"
#include "client/remote/glob.h"
#include "client/remote/sftp.h"
#include "client/remote_options.h"
#include "client/remotes.h"
#include "client/run.h"
#include "io/fd_stream.h"
#include "task/sys.h"

/* A place of the command line, and how it is reached. */
struct place {
    struct cp *cp;
    struct location location;
    struct copy_end end;
    char *directory; /* of this machine: what the end is made for */
    char *path;      /* the end's path */
    bool has_end;
    bool goes_by_scp; /* the server was found to have no SFTP */
};

struct cp {
    struct copy_options options;
    struct login_settings login;
    struct scope links;
    struct place *places; /* the sources, then the target */
    unsigned count;
    struct copy_source *sources; /* with what patterns stand for */
    unsigned source_count;
    struct endpoint_names *names; /* of each place; or NULL */
    struct copy_target target;
    struct stream *standard;
    struct xfer_bucket *bucket;
    struct copy *copy;
    struct copy_report report;
    struct copy_progress progress;
    struct copy_figures figures;
    struct copy_plan plan;
    struct copy_ends ends;
    bool shows_progress;
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "ferry cp: %s: %s\n", what, why);
    return -EINVAL;
}

/* -- connecting -- */

static bool is_ssh(enum location_scheme scheme)
{
    return scheme == LOCATION_SSH || scheme == LOCATION_SFTP || scheme == LOCATION_SCP;
}

static PARKS int open_ssh(struct place *p, char why[COPY_WHY_MAX], struct endpoint **ret)
{
    enum copy_method method = p->cp->options.method;
    struct ssh_link *link;
    int r = ssh_link_open(&p->location, &p->cp->login, why, &link);
    if (r < 0)
        return r;
    if (method == COPY_METHOD_SCP || p->goes_by_scp)
        return endpoint_scp_new(link, ret);
    r = endpoint_sftp_try(link, ret);
    if (r == 0)
        return 0;
    if (method == COPY_METHOD_AUTO && sftp_is_missing(link, r)) {
        p->goes_by_scp = true;
        copy_report_note(&p->cp->report, p->location.host,
                         "it does not serve SFTP: scp's old protocol is taken");
        return endpoint_scp_new(link, ret);
    }
    (void)ssh_link_close(link);
    snprintf(why, COPY_WHY_MAX, "%s: it does not serve SFTP: %s", p->location.host,
             err_text(r));
    return r;
}

static PARKS int open_ftp(struct place *p, char why[COPY_WHY_MAX], struct endpoint **ret)
{
    struct ftp_link *link;
    int r = ftp_link_open(&p->location, &p->cp->login, why, &link);
    if (r < 0)
        return r;
    r = endpoint_ftp_new(link, ret);
    if (r < 0)
        snprintf(why, COPY_WHY_MAX, "%s: %s", p->location.host, err_text(r));
    return r;
}

static PARKS int open_place(void *arg, char why[COPY_WHY_MAX], struct endpoint **ret)
{
    struct place *p = arg;
    if (is_ssh(p->location.scheme))
        return open_ssh(p, why, ret);
    if (p->location.scheme == LOCATION_FTP)
        return open_ftp(p, why, ret);
    int r = endpoint_local_new(p->directory, p->cp->login.pool, ret);
    if (r < 0)
        snprintf(why, COPY_WHY_MAX, "%s", err_text(r));
    return r;
}

static void on_retrying(void *arg, unsigned attempt, usec_t pause_us, const char *why)
{
    struct place *p = arg;
    copy_report_retrying(&p->cp->report, attempt, pause_us, why);
}

static void init_end(struct place *p, const char *directory)
{
    const struct copy_end_settings settings = {.open = open_place,
                                               .arg = p,
                                               .retries = p->cp->options.retries,
                                               .retrying = on_retrying};
    p->directory = directory != NULL ? mem_strdup(directory) : NULL;
    copy_end_init(&p->end, &settings);
    p->has_end = true;
}

/* -- places -- */

static bool is_same_server(const struct location *one, const struct location *two)
{
    bool has_user = one->user != NULL && two->user != NULL;
    return one->scheme == two->scheme && one->port == two->port && one->host != NULL &&
           two->host != NULL && strcmp(one->host, two->host) == 0 &&
           (has_user ? strcmp(one->user, two->user) == 0 : one->user == two->user);
}

/* Sources of one server share a connection; those of this machine share the root. */
static struct place *end_of(struct cp *cp, struct place *p)
{
    for (struct place *earlier = cp->places; earlier < p; earlier++) {
        bool is_local =
            earlier->location.scheme == LOCATION_LOCAL && p->location.scheme == LOCATION_LOCAL;
        if (earlier->has_end && (is_local || is_same_server(&earlier->location, &p->location)))
            return earlier;
    }
    return p;
}

static PARKS int prepare_source(struct cp *cp, struct place *p, struct copy_source *ret,
                                const char *shown)
{
    struct place *owner = end_of(cp, p);
    bool is_local = p->location.scheme == LOCATION_LOCAL;
    *ret = (struct copy_source){.path = "", .shown = shown};
    if (p->location.scheme == LOCATION_STANDARD) {
        ret->stream = cp->standard;
        return 0;
    }
    if (owner == p)
        init_end(p, is_local ? "/" : NULL);
    p->path = is_local ? remotes_absolute(p->location.path) : mem_strdup(p->location.path);
    if (p->path == NULL || (is_local && owner->directory == NULL))
        return -ENOMEM;
    /* where a login leads to is a directory, whatever the server calls it */
    ret->path = p->path[0] != '\0' ? p->path : ".";
    ret->end = &owner->end;
    return 0;
}

/* -- the target -- */

static int not_a_directory(const struct cp *cp, const char *why)
{
    return complain(cp->options.target, why);
}

static bool needs_directory(const struct cp *cp)
{
    return cp->source_count > 1 || cp->places[cp->count - 1].location.is_directory;
}

/* Of this machine: the end is made for the directory that is written to. */
static int prepare_local_target(struct cp *cp, struct place *p)
{
    struct stat st;
    char *whole = remotes_absolute(p->location.path);
    int r = whole == NULL ? -ENOMEM : sys_fstatat(AT_FDCWD, whole, &st, 0);
    if (r == 0 && S_ISDIR(st.st_mode)) {
        init_end(p, whole);
        p->path = mem_strdup("");
        cp->target.is_directory = true;
    } else if (r == 0 && !S_ISREG(st.st_mode)) {
        r = not_a_directory(cp, "it is neither a file nor a directory; to a pipe or a device: "
                                "- and the shell's >");
    } else if (r == 0 && needs_directory(cp)) {
        r = not_a_directory(cp, "it is not a directory");
    } else if (r == 0 || r == -ENOENT) {
        struct bytes parent = copy_name_parent(bytes_str(whole));
        char *directory = copy_name_join(parent, BYTES_NONE);
        struct bytes name = copy_name_last(bytes_str(whole));
        if (r < 0 && needs_directory(cp) &&
            !(cp->options.is_recursive && cp->source_count == 1))
            r = not_a_directory(cp, "there is no such directory");
        else
            r = 0;
        init_end(p, directory);
        p->path = copy_name_join(name, BYTES_NONE);
        mem_free(directory);
    } else {
        r = complain(cp->options.target, err_text(r));
    }
    mem_free(whole);
    return r;
}

static PARKS int prepare_remote_target(struct cp *cp, struct place *p)
{
    struct endpoint_facts facts;
    struct endpoint *e;
    init_end(p, NULL);
    p->path = mem_strdup(p->location.path[0] != '\0' ? p->location.path : ".");
    if (p->path == NULL)
        return -ENOMEM;
    int r = copy_end_enter(&p->end, &e);
    if (r < 0)
        return r == -ECANCELED ? r : complain(cp->options.target, p->end.why);
    r = e->ops->stat(e, bytes_str(p->path), true, &facts);
    copy_end_leave(&p->end, r);
    if (r == 0)
        cp->target.is_directory = facts.kind == ENDPOINT_DIRECTORY;
    else if (r != -ENOENT)
        return r == -ECANCELED ? r : complain(cp->options.target, err_text(r));
    if (cp->target.is_directory || !needs_directory(cp) ||
        (r == -ENOENT && cp->options.is_recursive && cp->source_count == 1))
        return 0;
    return not_a_directory(cp, r < 0 ? "there is no such directory" : "it is not a directory");
}

static PARKS int prepare_target(struct cp *cp)
{
    struct place *p = &cp->places[cp->count - 1];
    int r = 0;
    if (p->location.scheme == LOCATION_STANDARD) {
        cp->target.stream = cp->standard;
        cp->target.path = "-";
        return cp->source_count > 1 ? not_a_directory(cp, "it takes one file") : 0;
    }
    r = p->location.scheme == LOCATION_LOCAL ? prepare_local_target(cp, p)
                                             : prepare_remote_target(cp, p);
    if (r == 0 && (p->path == NULL || (p->location.scheme == LOCATION_LOCAL && !p->directory)))
        r = -ENOMEM;
    cp->target.end = &p->end;
    cp->target.path = p->path;
    return r;
}

/* -- patterns -- */

static PARKS int names_of(struct copy_end *end, struct bytes pattern,
                          struct endpoint_names *ret, const char **ret_why)
{
    struct endpoint *e;
    int r = copy_end_enter(end, &e);
    if (r < 0) {
        *ret_why = end->why;
        return r;
    }
    r = endpoint_glob(e, pattern, ret);
    copy_end_leave(end, r);
    *ret_why = r == -ENOENT         ? "nothing there has such a name"
               : r == -FERRY_ELIMIT ? "the pattern stands for too many names"
                                    : err_text(r);
    return r;
}

static PARKS int expand(struct cp *cp, unsigned i)
{
    struct copy_source *source = &cp->sources[i];
    struct place *p = &cp->places[i];
    if (source->end == NULL || p->location.scheme == LOCATION_LOCAL ||
        !glob_has_magic(bytes_str(source->path)))
        return 1;
    const char *why;
    int r = names_of(source->end, bytes_str(source->path), &cp->names[i], &why);
    return r < 0 && r != -ECANCELED ? complain(source->shown, why) : r;
}

/* Each pattern becomes the names that it stands for. */
static PARKS int expand_all(struct cp *cp)
{
    unsigned count = 0;
    for (unsigned i = 0; i < cp->source_count; i++) {
        int r = expand(cp, i);
        if (r < 0)
            return r;
        count += cp->names[i].count > 0 ? cp->names[i].count : 1;
    }
    struct copy_source *all = mem_new(count * sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    for (unsigned i = 0, at = 0; i < cp->source_count; i++) {
        const struct endpoint_names *names = &cp->names[i];
        if (names->count == 0)
            all[at++] = cp->sources[i];
        for (unsigned n = 0; n < names->count; n++) {
            all[at] = cp->sources[i];
            all[at++].path = names->names[n];
        }
    }
    mem_free(cp->sources);
    cp->sources = all;
    cp->source_count = count;
    return 0;
}

/* -- running -- */

static void on_event(void *arg, const struct copy_event *event)
{
    struct cp *cp = arg;
    copy_report_event(&cp->report, event);
}

static void progress_main(void *arg)
{
    struct cp *cp = arg;
    while (task_sleep_until(clock_now() + COPY_PROGRESS_EVERY_US) == 0)
        copy_progress_draw(&cp->progress, cp->copy);
}

static PARKS int run_copy(struct cp *cp)
{
    mode_t mask = umask(0);
    struct scope scope;
    (void)umask(mask);
    const struct copy_settings settings = {
        .files = {.preserves = cp->options.preserves,
                  .verifies = cp->options.verifies,
                  .resumes = cp->options.resumes,
                  .umask = mask,
                  .bucket = cp->bucket},
        .is_recursive = cp->options.is_recursive,
        .method = cp->options.method,
        .ends = cp->ends,
        .packing = {.codec = cp->options.codec,
                    .level = cp->options.level,
                    .is_any_fine = cp->options.is_codec_free},
        .tell = on_event,
        .arg = cp,
    };
    int r = copy_new(&settings, cp->sources, cp->source_count, &cp->target, &cp->copy);
    if (r < 0)
        return r;
    scope_init(&scope);
    copy_progress_init(&cp->progress, STDERR_FILENO);
    if (cp->shows_progress)
        cp->report.progress = &cp->progress;
    cp->report.began_at = clock_now();
    cp->report.target = &cp->target;
    if (cp->shows_progress &&
        scope_start(&scope, "progress", TASK_NORMAL, progress_main, cp, NULL) < 0)
        cp->report.progress = NULL;
    r = copy_run(cp->copy);
    scope_leave(&scope);
    copy_report_end(&cp->report, copy_totals(cp->copy), r, client_run_signal() != 0);
    return r;
}

static void explain(struct cp *cp)
{
    const struct copy_totals *totals = copy_totals(cp->copy);
    struct copy_figures *f = &cp->figures;
    f->elapsed_us = clock_now() - cp->report.began_at;
    f->cpu_us = sys_own_cpu_us() - f->cpu_us;
    usec_t waited_us = copy_cpu_waited_us();
    f->waited_us = waited_us > f->waited_us ? waited_us - f->waited_us : 0;
    f->blocked_us = pool_blocked_us(cp->login.pool);
    f->bytes = totals->bytes;
    f->files = totals->files;
    f->limit_bytes_per_s = cp->options.rate_bytes_per_s;
    f->sends = cp->target.end != NULL && cp->target.end->endpoint != NULL &&
               cp->target.end->endpoint->host != NULL;
    f->receives = cp->sources[0].end != NULL && cp->sources[0].end->endpoint != NULL &&
                  cp->sources[0].end->endpoint->host != NULL;
    struct endpoint *e = f->sends      ? cp->target.end->endpoint
                         : f->receives ? cp->sources[0].end->endpoint
                                       : NULL;
    if (e != NULL)
        copy_figures_of(e, f);
    const char *packing = copy_packing_of(cp->copy);
    if (packing != NULL)
        f->compression = packing;
    const struct copy_plan *plan = copy_plan_of(cp->copy);
    if (f->method != NULL && strcmp(f->method, "scp") == 0 &&
        cp->options.method == COPY_METHOD_AUTO)
        f->why_method = "the server does not serve SFTP";
    if (plan != NULL && plan->method == COPY_METHOD_TAR) {
        f->method = copy_method_name(plan->method);
        f->why_method = plan->why;
    }
    copy_explain_print(stderr, f);
}

static PARKS int run_prepared(struct cp *cp)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < cp->count - 1; i++)
        r = prepare_source(cp, &cp->places[i], &cp->sources[i], cp->options.sources[i]);
    if (r == 0)
        r = expand_all(cp);
    if (r == 0)
        r = prepare_target(cp);
    if (r == 0) {
        cp->figures.cpu_us = sys_own_cpu_us();
        if (cp->options.explains) {
            pool_measure(cp->login.pool);
            cp->figures.waited_us = copy_cpu_waited_us();
        }
        r = run_copy(cp);
        if (cp->options.explains && cp->copy != NULL && r != -ECANCELED)
            explain(cp);
    }
    if (r == -ENOMEM)
        fprintf(stderr, "ferry cp: %s\n", err_text(r));
    if (r == -ECANCELED && cp->copy == NULL)
        fprintf(stderr, "ferry cp: interrupted\n");
    return r;
}

/* -- life -- */

static int open_standard(struct cp *cp)
{
    bool is_used = false;
    for (unsigned i = 0; i < cp->count; i++)
        is_used = is_used || cp->places[i].location.scheme == LOCATION_STANDARD;
    return is_used ? fd_stream_new(STDIN_FILENO, STDOUT_FILENO, 0, &cp->standard) : 0;
}

/* A server that nobody came to; one that was lost later is a failure as any other. */
static bool has_unreached(const struct cp *cp)
{
    for (unsigned i = 0; i < cp->count; i++) {
        const struct place *p = &cp->places[i];
        if (p->has_end && p->location.host != NULL && p->end.failed < 0 && !p->end.was_open)
            return true;
    }
    return false;
}

static PARKS int cp_main(void *arg)
{
    struct cp *cp = arg;
    scope_init(&cp->links);
    cp->login.pool = runtime_files_pool(runtime_self());
    cp->login.scope = &cp->links;
    int r = open_standard(cp);
    if (r == 0 && cp->options.rate_bytes_per_s > 0)
        r = xfer_bucket_new(cp->options.rate_bytes_per_s, &cp->bucket);
    if (r < 0)
        fprintf(stderr, "ferry cp: %s\n", err_text(r));
    else
        r = run_prepared(cp);
    int code = r >= 0 ? EXIT_OK : has_unreached(cp) ? EXIT_NO_LOGIN : EXIT_FAILED;
    for (unsigned i = 0; i < cp->count; i++)
        if (cp->places[i].has_end)
            copy_end_done(&cp->places[i].end);
    scope_leave(&cp->links);
    (void)stream_free(cp->standard);
    (void)xfer_bucket_free(cp->bucket);
    copy_free(cp->copy);
    return code;
}

static void settle_login(struct cp *cp)
{
    const struct copy_options *o = &cp->options;
    cp->login.connect_us = o->connect_us;
    cp->login.stall_us = o->stall_us;
    cp->login.ciphers = o->cipher;
    cp->login.codec = o->codec;
    cp->login.level = o->level;
    cp->login.is_codec_given = o->is_codec_given;
    cp->login.config_file = o->config_file;
    cp->login.identities = o->identity_count > 0 ? o->identities : NULL;
    cp->login.is_batch = o->is_batch;
    cp->login.is_verbose = o->is_verbose;
    cp->shows_progress = !o->is_quiet && o->shows_progress && !o->json && isatty(STDERR_FILENO);
}

static int parse_place(struct cp *cp, struct place *p, char *text)
{
    char why[LOCATION_WHY_MAX];
    int r = location_parse(text, &p->location, why);
    remote_options_wipe(text);
    p->cp = cp;
    if (r < 0)
        return complain(text, r == -EINVAL ? why : err_text(r));
    if (p->location.port == 0 && is_ssh(p->location.scheme))
        p->location.port = cp->options.port;
    return 0;
}

/* The words of a method that these places do not have. */
static int check_method(struct cp *cp)
{
    struct copy_ends *ends = &cp->ends;
    char why[COPY_PLAN_WHY_MAX];
    for (unsigned i = 0; i < cp->count; i++) {
        enum location_scheme scheme = cp->places[i].location.scheme;
        bool is_target = i + 1 == cp->count;
        enum copy_place place = is_ssh(scheme)             ? COPY_PLACE_SSH
                                : scheme == LOCATION_FTP   ? COPY_PLACE_FTP
                                : scheme == LOCATION_LOCAL ? COPY_PLACE_LOCAL
                                                           : COPY_PLACE_STREAM;
        *(is_target ? &ends->target : &ends->source) = place;
    }
    ends->has_tar = copy_ends_have_tar(ends) && !cp->options.verifies;
    if (copy_plan(cp->options.method, ends, &(struct copy_sample){0}, why, &cp->plan) == 0) {
        cp->figures.why_method = cp->plan.why;
        return 0;
    }
    fprintf(stderr, "ferry cp: --method %s: %s\nTry 'ferry cp --help'.\n",
            copy_method_name(cp->options.method), why);
    return -EINVAL;
}

/* Only what goes as a stream of tar can be compressed by zstd. */
static int check_zstd(const struct cp *cp)
{
    const struct copy_options *o = &cp->options;
    bool can_be_tar = cp->ends.has_tar && cp->ends.target == COPY_PLACE_SSH &&
                      (o->method == COPY_METHOD_AUTO || o->method == COPY_METHOD_TAR);
    if (o->codec != CODEC_ZSTD || (can_be_tar && o->is_recursive))
        return 0;
    fprintf(stderr,
            "ferry cp: --compress zstd: only a stream of tar has it, with -r, to a server over "
            "ssh, without --verify; else zlib or auto\nTry 'ferry cp --help'.\n");
    return -EINVAL;
}

static int prepare(struct cp *cp)
{
    cp->count = cp->options.source_count + 1;
    cp->source_count = cp->options.source_count;
    cp->places = mem_new(cp->count * sizeof(*cp->places));
    cp->sources = mem_new(cp->count * sizeof(*cp->sources));
    cp->names = mem_new(cp->count * sizeof(*cp->names));
    if (cp->places == NULL || cp->sources == NULL || cp->names == NULL)
        return -ENOMEM;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < cp->source_count; i++)
        r = parse_place(cp, &cp->places[i], cp->options.sources[i]);
    if (r == 0)
        r = parse_place(cp, &cp->places[cp->count - 1], cp->options.target);
    if (r == 0)
        r = check_method(cp);
    return r == 0 ? check_zstd(cp) : r;
}

static void cp_done(struct cp *cp)
{
    for (unsigned i = 0; cp->places != NULL && i < cp->count; i++) {
        location_done(&cp->places[i].location);
        mem_free(cp->places[i].directory);
        mem_free(cp->places[i].path);
        if (cp->names != NULL)
            endpoint_names_done(&cp->names[i]);
    }
    mem_free(cp->places);
    mem_free(cp->sources);
    mem_free(cp->names);
    mem_free(cp);
}

int command_cp(int argc, char **argv)
{
    struct cp *cp = mem_new(sizeof(*cp));
    if (cp == NULL)
        return EXIT_FAILED;
    int code = EXIT_USAGE;
    if (copy_options_parse(argc, argv, stderr, &cp->options) == 0) {
        if (cp->options.help) {
            copy_options_print_help(stdout);
            code = EXIT_OK;
        } else {
            int r = prepare(cp);
            settle_login(cp);
            cp->report =
                (struct copy_report){.options = &cp->options, .out = stdout, .err = stderr};
            code = r == -ENOMEM ? EXIT_FAILED : r < 0 ? EXIT_USAGE : client_run(cp_main, cp);
        }
    }
    cp_done(cp);
    return code;
}
