/* tar: `tar cf - . | ssh host tar xf -`, and the other way round. */
#include "server/exec/exec.h"
#include "tar/session.h"

struct tar_arguments {
    bool creates, extracts; /* c, x: one of them */
    bool keeps_modes;
    enum tar_filter filter;
    const char *directory; /* -C */
    unsigned first;        /* word that is no option */
};

/* An option's own word: the rest of its bundle (not if that has no '-'), or the next. */
static const char *take_value(const struct words *w, struct tar_arguments *a, const char *rest)
{
    if (*rest != '\0')
        return rest;
    return a->first < w->count ? w->at[a->first++] : NULL;
}

static bool take_file(const char *value)
{
    return value != NULL && strcmp(value, "-") == 0;
}

/* 1: go on in the bundle; 0: all of it was used; -1: not known. */
static int take_letter(const struct words *w, struct tar_arguments *a, const char *letter,
                       bool is_bare)
{
    const char *rest = is_bare ? "" : letter + 1;
    switch (*letter) {
    case 'c':
        a->creates = true;
        return 1;
    case 'x':
        a->extracts = true;
        return 1;
    case 'z':
        a->filter = TAR_GZIP;
        return 1;
    case 'p':
        a->keeps_modes = true;
        return 1;
    case 'v': /* how much it says */
        return 1;
    case 'f':
        return take_file(take_value(w, a, rest)) ? is_bare : -1;
    case 'C':
        a->directory = take_value(w, a, rest);
        return a->directory != NULL ? is_bare : -1;
    default:
        return -1;
    }
}

static bool take_bundle(const struct words *w, struct tar_arguments *a, const char *letters,
                        bool is_bare)
{
    int r = 1;
    for (; *letters != '\0' && r > 0; letters++)
        r = take_letter(w, a, letters, is_bare);
    return r >= 0;
}

static bool take_long(struct tar_arguments *a, const char *word)
{
    if (strcmp(word, "--zstd") == 0)
        a->filter = TAR_ZSTD;
    else if (strcmp(word, "--gzip") == 0)
        a->filter = TAR_GZIP;
    else
        return false;
    return true;
}

/* The first word may be a bundle without '-', as in "tar xzf -". */
static bool parse(const struct words *w, struct tar_arguments *ret)
{
    struct tar_arguments a = {.first = 1};
    bool is_known = true;
    while (a.first < w->count && is_known) {
        const char *word = w->at[a.first];
        bool is_bare = a.first == 1 && word[0] != '-';
        if (!is_bare && (word[0] != '-' || word[1] == '\0'))
            break;
        a.first++;
        if (strcmp(word, "--") == 0)
            break;
        is_known = word[0] == '-' && word[1] == '-'
                       ? take_long(&a, word)
                       : take_bundle(w, &a, is_bare ? word : word + 1, is_bare);
    }
    *ret = a;
    return is_known && a.creates != a.extracts && (a.first < w->count) == a.creates;
}

static int complain(void *arg, const char *path, int error)
{
    return exec_complain(arg, path, error);
}

static PARKS int run(struct exec *e, const struct tar_arguments *a,
                     const struct vpath *directory)
{
    struct tar_request request = {
        .stream = e->stream,
        .filter = a->filter,
        .keeps_modes = a->keeps_modes,
        .directory = directory,
        .complain = complain,
        .arg = e,
    };
    tar_request_of_session(&request, e->session);
    if (a->extracts)
        return tar_extract(&request);
    struct buf names;
    int r = exec_names(e, a->first, vpath_bytes(directory), &names);
    request.names = buf_bytes(&names);
    if (r == 0)
        r = tar_create(&request);
    buf_done(&names);
    return r;
}

int exec_tar(struct exec *e)
{
    struct tar_arguments a;
    struct vpath directory;
    if (!parse(&e->words, &a))
        return exec_usage(e);
    const char *name = a.directory != NULL ? a.directory : "/";
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(name), &directory);
    if (r < 0)
        return exec_complain(e, name, r);
    r = run(e, &a, &directory);
    vpath_done(&directory);
    return r;
}
