/* TYPE STRU MODE REST ALLO OPTS: what holds for the transfers that follow. */
#include <inttypes.h>

#include "base/text.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/wire/facts.h"
#include "ftp/wire/mode.h"

/* RFC 959 3.1.1, RFC 1123 4.1.5: what any of these mean on a system of 8-bit bytes. */
static const struct {
    const char *text;
    bool is_ascii;
} types[] = {{"A", true}, {"A N", true}, {"I", false}, {"L 8", false}, {"L8", false}};

int ftp_cmd_type(struct ftp_session *s, const struct ftp_args *args)
{
    for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
        if (!bytes_equal_nocase(args->text, bytes_str(types[i].text)))
            continue;
        s->is_ascii = types[i].is_ascii;
        return ftp_say(s, 200, "Type is %s.", s->is_ascii ? "ASCII" : "binary");
    }
    return ftp_say(s, 504, "Only TYPE A, TYPE I and TYPE L 8 are known.");
}

/* Cameras and old devices send these two always and give up on any refusal. */
int ftp_cmd_stru(struct ftp_session *s, const struct ftp_args *args)
{
    if (!bytes_equal_nocase(args->text, BYTES_LIT("F")))
        return ftp_say(s, 504, "Only STRU F is known.");
    return ftp_say(s, 200, "Structure is file.");
}

/* RFC 959 3.4; draft-preston-ftpext-deflate */
static const struct {
    const char *text, *name;
    bool is_deflate;
} modes[] = {{"S", "stream", false}, {"Z", "deflate", true}};

int ftp_cmd_mode(struct ftp_session *s, const struct ftp_args *args)
{
    for (unsigned i = 0; i < ARRAY_LEN(modes); i++) {
        if (!bytes_equal_nocase(args->text, bytes_str(modes[i].text)))
            continue;
        s->is_deflate = modes[i].is_deflate;
        return ftp_say(s, 200, "Mode is %s.", modes[i].name);
    }
    return ftp_say(s, 504, "Only MODE S and MODE Z are known.");
}

/* Holds for the next transfer command, whatever stands between: clients send PASV there. */
int ftp_cmd_rest(struct ftp_session *s, const struct ftp_args *args)
{
    uint64_t offset;
    if (text_u64(args->text, 10, INT64_MAX, &offset) < 0)
        return ftp_say(s, 501, "Use REST with a count of bytes.");
    s->restart_at = offset;
    return ftp_say(s, 350, "The next transfer begins at byte %" PRIu64 ".", offset);
}

/* "bytes" or "bytes R record size" (RFC 959 4.1.3); the record size means nothing here. */
int ftp_cmd_allo(struct ftp_session *s, const struct ftp_args *args)
{
    size_t end = args->text.len;
    (void)bytes_find(args->text, ' ', &end);
    uint64_t wanted;
    if (text_u64(bytes_first(args->text, end), 10, INT64_MAX, &wanted) < 0)
        return ftp_say(s, 501, "Use ALLO with a count of bytes.");
    s->allocate_bytes = wanted;
    return ftp_say(s, 200, "The next upload is checked for this much room.");
}

/* -- OPTS (RFC 2389) -- */

/* Names are bytes here and UTF-8 as far as clients agree, so any wish is granted. Windows'
 * Explorer disconnects when it is not. */
static int opts_utf8(struct ftp_session *s, struct bytes value)
{
    (void)value;
    return ftp_say(s, 200, "Names are UTF-8.");
}

static int opts_mlst(struct ftp_session *s, struct bytes value)
{
    char text[FTP_FACTS_TEXT_MAX];
    s->facts = (uint8_t)ftp_facts_parse(value);
    return ftp_say(s, 200, "MLST OPTS %s", ftp_facts_format(s->facts, text));
}

/* It holds for what we send: what comes to us says its own. */
static int opts_mode(struct ftp_session *s, struct bytes value)
{
    int level;
    if (ftp_mode_parse(value, &level) < 0)
        return ftp_say(s, 501, "Use OPTS MODE Z LEVEL with 0 to %d or AUTO.",
                       FTP_MODE_LEVEL_MAX);
    s->level = (int8_t)level;
    if (level == FTP_MODE_LEVEL_AUTO)
        return ftp_say(s, 200, "MODE Z LEVEL is set to AUTO.");
    return ftp_say(s, 200, "MODE Z LEVEL is set to %d.", level);
}

static const struct {
    const char *name;
    PARKS int (*set)(struct ftp_session *, struct bytes value);
} options[] = {
    {"UTF8", opts_utf8}, {"UTF-8", opts_utf8}, {"MLST", opts_mlst}, {"MODE", opts_mode}};

int ftp_cmd_opts(struct ftp_session *s, const struct ftp_args *args)
{
    struct ftp_request request;
    if (ftp_command_parse(args->text, &request) == 0)
        for (unsigned i = 0; i < ARRAY_LEN(options); i++)
            if (strcmp(options[i].name, request.verb) == 0)
                return options[i].set(s, request.argument);
    return ftp_say(s, 501, "Only OPTS UTF8, OPTS MLST and OPTS MODE are known.");
}
