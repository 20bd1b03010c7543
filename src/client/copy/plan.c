#include "client/copy/plan.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

static bool has(const struct copy_ends *ends, enum copy_place place)
{
    return ends->source == place || ends->target == place;
}

bool copy_ends_have_tar(const struct copy_ends *ends)
{
    return (ends->source == COPY_PLACE_LOCAL && ends->target == COPY_PLACE_SSH) ||
           (ends->source == COPY_PLACE_SSH && ends->target == COPY_PLACE_LOCAL);
}

/* NULL: it can be. */
static const char *refusal(enum copy_method wanted, const struct copy_ends *ends)
{
    switch (wanted) {
    case COPY_METHOD_AUTO:
    case COPY_METHOD_LOCAL:
        return NULL;
    case COPY_METHOD_FTP:
        return has(ends, COPY_PLACE_FTP) ? NULL : "no ftp:// URL is among these";
    case COPY_METHOD_SFTP:
    case COPY_METHOD_SCP:
    case COPY_METHOD_TAR:
        break;
    }
    if (!has(ends, COPY_PLACE_SSH))
        return "no place of these is reached by ssh";
    if (wanted == COPY_METHOD_TAR && !ends->has_tar)
        return "it takes directories between this machine and a server, and verifies nothing";
    return NULL;
}

static enum copy_method choose(const struct copy_ends *ends, const struct copy_sample *sample,
                               const char **ret_why)
{
    bool is_small =
        sample->files >= COPY_TAR_FILES && sample->bytes / sample->files <= COPY_TAR_MEAN_BYTES;
    if (has(ends, COPY_PLACE_SSH) && sample->is_tree && is_small && ends->has_tar) {
        *ret_why = "many small files: one stream of tar, without a round trip for each";
        return COPY_METHOD_TAR;
    }
    if (has(ends, COPY_PLACE_SSH)) {
        *ret_why = "over ssh: SFTP, with as many requests in flight as the path takes";
        return COPY_METHOD_SFTP;
    }
    if (has(ends, COPY_PLACE_FTP)) {
        *ret_why = "the URL says so";
        return COPY_METHOD_FTP;
    }
    *ret_why = "both ends are this machine";
    return COPY_METHOD_LOCAL;
}

int copy_plan(enum copy_method wanted, const struct copy_ends *ends,
              const struct copy_sample *sample, char ret_why[COPY_PLAN_WHY_MAX],
              struct copy_plan *ret)
{
    const char *why = refusal(wanted, ends);
    if (why != NULL) {
        (void)text_copy(ret_why, COPY_PLAN_WHY_MAX, bytes_str(why));
        return -EINVAL;
    }
    *ret = (struct copy_plan){.method = wanted};
    why = "it was asked for";
    if (wanted == COPY_METHOD_AUTO)
        ret->method = choose(ends, sample, &why);
    (void)text_copy(ret->why, sizeof(ret->why), bytes_str(why));
    return 0;
}
