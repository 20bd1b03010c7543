/* Command lines, and what commands make of their arguments. Every argument and path is a tail
 * of the line; a request that is written out reads the same. */
#include <stdio.h>

#include "ftp/wire/command.h"
#include "ftp/wire/facts.h"
#include "ftp/wire/list_argument.h"
#include "ftp/wire/mode.h"
#include "ftp/wire/site.h"
#include "ftp/wire/timeval.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void expect_tail(struct bytes tail, struct bytes whole)
{
    INVARIANT(tail.len <= whole.len);
    INVARIANT(tail.len == 0 || tail.data + tail.len == whole.data + whole.len);
}

static void expect_verb(const char verb[FTP_VERB_MAX + 1])
{
    size_t len = strnlen(verb, FTP_VERB_MAX + 1);

    INVARIANT(len > 0 && len <= FTP_VERB_MAX);
    INVARIANT(strspn(verb, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == len);
}

static void expect_same_again(const struct ftp_request *r)
{
    struct buf line;
    struct ftp_request again;

    buf_init(&line, r->argument.len + 16);
    INVARIANT(buf_printf(&line, "  %s ", r->verb) == 0);
    INVARIANT(buf_append_bytes(&line, r->argument) == 0);
    INVARIANT(ftp_command_parse(buf_bytes(&line), &again) == 0);
    INVARIANT(strcmp(again.verb, r->verb) == 0 && bytes_equal(again.argument, r->argument));
    buf_done(&line);
}

static void expect_time(int64_t us)
{
    char text[FTP_TIMEVAL_TEXT_MAX];
    int64_t again;

    INVARIANT(ftp_timeval_parse(bytes_str(ftp_timeval_format(us, text)), &again) == 0);
    INVARIANT(again <= us && us - again < 1000);
}

static void use_argument(struct bytes argument)
{
    struct ftp_list_argument list;
    struct bytes path;
    uint32_t mode;
    int64_t us;
    char text[FTP_FACTS_TEXT_MAX];

    ftp_list_argument_parse(argument, &list);
    expect_tail(list.path, argument);
    if (ftp_chmod_parse(argument, &mode, &path) == 0) {
        INVARIANT(mode <= 07777 && path.len > 0);
        expect_tail(path, argument);
    }
    if (ftp_timeval_split(argument, &us, &path) == 0) {
        INVARIANT(path.len > 0);
        expect_tail(path, argument);
        expect_time(us);
    }
    int level;
    if (ftp_mode_parse(argument, &level) == 0)
        INVARIANT(level >= FTP_MODE_LEVEL_AUTO && level <= FTP_MODE_LEVEL_MAX);
    unsigned facts = ftp_facts_parse(argument);
    INVARIANT((facts & ~FTP_FACTS_ALL) == 0);
    INVARIANT(ftp_facts_parse(bytes_str(ftp_facts_format(facts, text))) == facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes line = bytes_of(data, len);
    struct ftp_request request;

    /* SITE and OPTS parse their argument as a command once more */
    while (ftp_command_parse(line, &request) == 0) {
        expect_verb(request.verb);
        expect_tail(request.argument, line);
        expect_same_again(&request);
        use_argument(request.argument);
        line = request.argument;
    }
    return 0;
}
