#include "bench/peers/peer_etc.h"

#include <errno.h>
#include <stdio.h>

#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/peers/recipe_text.h"

#define PATH_BYTES (STAGE_PATH_MAX + 128)
#define COPY_MAX   (4 * 1024 * 1024)

/* pam_unix alone, without its pause after a wrong password. */
static const char pam[] = "auth required pam_unix.so nodelay\n"
                          "account required pam_unix.so\n";

static const struct {
    const char *name;
    mode_t mode;
    const char *text; /* template */
} files[] = {
    {"passwd", 0644,
     "root:x:0:0:root:/root:/bin/sh\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
     "sshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n" /* sshd's half without rights */
     "!each @NAME@:x:@UID@:@GID@::@FOLDER@:/bin/sh\n"},
    {"shadow", 0600,
     "root:*:19000:0:99999:7:::\n"
     "nobody:*:19000:0:99999:7:::\n"
     "!each @NAME@:@HASH@:19000:0:99999:7:::\n"},
    {"group", 0644,
     "root:x:0:\n"
     "nogroup:x:65534:\n"
     "bench:x:@GID@:\n"},
    {"nsswitch.conf", 0644,
     "passwd: files\n"
     "group: files\n"
     "shadow: files\n"
     "hosts: files\n"
     "services: files\n"
     "protocols: files\n"},
    {"hosts", 0644, "127.0.0.1 localhost\n"},
    {"shells", 0644, "/bin/sh\n"},
    {"ftpusers", 0644, ""},
    {"pam.d/other", 0644, "auth required pam_deny.so\naccount required pam_deny.so\n"},
};

/* Of the host; one that it has not got is not missed. */
static const char *const copies[] = {"ld.so.cache", "services", "protocols", "localtime"};

static int copy(const char *name, const char *etc)
{
    char from[PATH_BYTES], to[PATH_BYTES];
    snprintf(from, sizeof(from), "/etc/%s", name);
    snprintf(to, sizeof(to), "%s/%s", etc, name);
    struct buf text;
    buf_init(&text, COPY_MAX);
    int r = file_read(from, &text);
    if (r == 0)
        r = file_write(to, 0644, buf_bytes(&text));
    else if (r == -ENOENT)
        r = 0;
    buf_done(&text);
    return r;
}

static int write_text(const char *etc, unsigned i, const struct recipe_words *words)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", etc, files[i].name);
    struct buf text;
    buf_init(&text, RECIPE_TEXT_MAX);
    int r = recipe_text_fill(files[i].text, words, &text);
    if (r == 0)
        r = file_write(path, files[i].mode, buf_bytes(&text));
    buf_wipe(&text);
    return r;
}

/* For the service that asks; every other one is refused. */
static int write_pam(const char *pam_d, const char *service)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", pam_d, service);
    return file_write(path, 0644, bytes_str(pam));
}

const char *peer_etc_pam(const struct recipe *recipe)
{
    return recipe->pam != NULL ? pam : NULL;
}

int peer_etc_write(const struct stage *stage, const struct recipe *recipe, const char *work)
{
    const struct recipe_words words = {
        .stage = stage,
        .work = work,
        .root = "",
        .accounts = STAGE_ACCOUNTS,
    };
    char etc[PATH_BYTES - 64], pam_d[PATH_BYTES - 32];
    snprintf(etc, sizeof(etc), "%s/etc", work);
    snprintf(pam_d, sizeof(pam_d), "%s/pam.d", etc);
    int r = folder_make(etc, 0755);
    if (r == 0)
        r = folder_make(pam_d, 0755);
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(files); i++)
        r = write_text(etc, i, &words);
    if (r == 0 && recipe->pam != NULL)
        r = write_pam(pam_d, recipe->pam);
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(copies); i++)
        r = copy(copies[i], etc);
    return r;
}
