#include "client/probe/findings.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "client/copy/plan.h"
#include "client/remote/sftp.h"

#define SMALL_MEAN_BYTES 4096.0 /* of a file, where nothing is known of the data */

void probe_note(struct probe_findings *f, const char *format, ...)
{
    char text[PROBE_NOTE_MAX];
    va_list args;
    if (f->note_count == PROBE_NOTES_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)text_copy_printable(f->notes[f->note_count++], PROBE_NOTE_MAX, bytes_str(text));
}

/* A single file is not many small ones: then those are told of with a usual size. */
static void count_files(struct probe_findings *f)
{
    const struct probe_sample *s = f->sample;
    f->files = (struct probe_files){
        .mean_bytes = SMALL_MEAN_BYTES,
        .at_once = f->place->endpoint != NULL ? f->place->endpoint->at_once : f->files.at_once};
    if (s->is_tree && s->files > 0)
        f->files.mean_bytes = (double)s->total_bytes / (double)s->files;
}

void probe_conclude(struct probe_findings *f)
{
    probe_advise(&f->facts, &f->data, &f->advice);
    if (f->data_path == NULL)
        probe_advise(&f->facts, &f->noise, &f->noise_advice);
    count_files(f);
    probe_small_files(&f->facts, &f->files, &f->small);
}

const char *probe_part_text(enum probe_part part)
{
    static const char *const texts[] = {
        [PROBE_UNKNOWN] = "unknown",         [PROBE_LINK] = "the link",
        [PROBE_CPU_HERE] = "this CPU",       [PROBE_PEER] = "the other machine",
        [PROBE_ROUND_TRIPS] = "round trips",
    };
    return texts[part];
}

/* As ferry cp chooses: a tree of many small files goes as one stream. */
const char *probe_method(const struct probe_findings *f)
{
    const struct probe_sample *s = f->sample;
    if (!f->facts.is_ssh)
        return "ftp";
    bool is_small =
        s->is_tree && s->files >= COPY_TAR_FILES && f->files.mean_bytes <= COPY_TAR_MEAN_BYTES;
    return is_small && f->facts.has_tar ? "tar" : "sftp";
}

void probe_compress_text(const struct probe_forecast *of, char ret[PROBE_COMPRESS_MAX])
{
    switch (of->way) {
    case PROBE_WAY_NONE:
        (void)text_copy(ret, PROBE_COMPRESS_MAX, BYTES_LIT("none"));
        break;
    case PROBE_WAY_LEVEL:
        (void)snprintf(ret, PROBE_COMPRESS_MAX, "zlib:%d", of->level);
        break;
    case PROBE_WAY_AUTO:
        (void)text_copy(ret, PROBE_COMPRESS_MAX, BYTES_LIT("auto"));
        break;
    case PROBE_WAY_OPENSSH:
        (void)text_copy(ret, PROBE_COMPRESS_MAX, BYTES_LIT("ssh"));
        break;
    }
}

/* A word as a shell reads it; as it is where that does no harm. */
static void add_word(struct buf *line, const char *word)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789@%+=:,./_-[]";
    bool is_plain = word[0] != '\0' && strspn(word, harmless) == strlen(word) &&
                    strpbrk(word, "[]") == NULL;
    int r = buf_append_byte(line, ' ');
    if (r == 0)
        r = is_plain ? buf_append_str(line, word) : sftp_quote_word(bytes_str(word), line);
    (void)r; /* what is too long is cut: it is a line to look at */
}

static void add_option(struct buf *line, const char *name, const char *value)
{
    if (value == NULL)
        return;
    add_word(line, name);
    add_word(line, value);
}

/* Those of the login are as they were given here; a URL has its port in it. */
static void add_options(const struct probe_findings *f, struct buf *line, const char *compress)
{
    const struct login_settings *login = &f->place->login;
    const struct location *l = f->place->location;
    char port[8];
    (void)snprintf(port, sizeof(port), "%u", l->port);
    if (f->sample->is_tree && f->data_path != NULL)
        add_word(line, "-r");
    if (f->facts.is_ssh) {
        add_option(line, "-P", l->scheme == LOCATION_SSH && l->port != 0 ? port : NULL);
        for (unsigned i = 0; login->identities != NULL && login->identities[i] != NULL; i++)
            add_option(line, "-i", login->identities[i]);
        add_option(line, "-F", login->config_file);
        add_option(line, "--cipher", login->ciphers);
    }
    add_option(line, "--compress", compress);
}

static void add_places(const struct probe_findings *f, struct buf *line, bool is_up)
{
    char place[PROBE_COMMAND_MAX / 2];
    const struct location *l = f->place->location;
    location_text(l, bytes_str(l->path), sizeof(place), place);
    if (is_up)
        add_word(line, f->data_path != NULL ? f->data_path : "FILE");
    add_word(line, place);
    if (!is_up)
        add_word(line, ".");
}

void probe_command_text(const struct probe_findings *f, char ret[PROBE_COMMAND_MAX])
{
    const struct probe_advice *a = &f->advice;
    char compress[PROBE_COMPRESS_MAX] = "auto";
    bool is_up = a->up_count > 0;
    struct buf line;
    buf_init(&line, PROBE_COMMAND_MAX - 1);
    int r = buf_append_str(&line, "ferry cp");
    if (is_up)
        probe_compress_text(&a->up[a->best], compress);
    if (r == 0) {
        bool has_gain = is_up ? a->best > 0 : a->down_compresses;
        add_options(f, &line, has_gain ? compress : NULL);
        add_places(f, &line, is_up);
    }
    (void)text_copy_printable(ret, PROBE_COMMAND_MAX, buf_bytes(&line));
    buf_done(&line);
}

/* '^' puts the cipher first and leaves the others (ssh_config(5)). */
void probe_config_text(const struct probe_findings *f, char ret[PROBE_COMMAND_MAX])
{
    const struct location *l = f->place->location;
    char host[LOCATION_HOST_MAX + 1];
    ret[0] = '\0';
    if (!f->facts.is_ssh || f->cipher == NULL)
        return;
    bool compresses =
        f->advice.up_count > 0 ? f->advice.openssh_compresses : f->advice.down_compresses;
    (void)text_copy_printable(host, sizeof(host), bytes_str(l->host));
    int n = snprintf(ret, PROBE_COMMAND_MAX, "Host %s\n", host);
    if (l->port != 0)
        n += snprintf(ret + n, PROBE_COMMAND_MAX - (size_t)n, "    Port %u\n", l->port);
    (void)snprintf(ret + n, PROBE_COMMAND_MAX - (size_t)n,
                   "    Ciphers ^%s\n    Compression %s\n", f->cipher,
                   compresses ? "yes" : "no");
}
