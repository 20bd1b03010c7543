#include "client/remotes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/names.h"

void remotes_init(struct remotes *r, const struct login_settings *login)
{
    *r = (struct remotes){.login = *login};
    scope_init(&r->scope);
    r->login.pool = runtime_files_pool(runtime_self());
    r->login.scope = &r->scope;
}

void remotes_done(struct remotes *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        (void)endpoint_free(r->at[i].endpoint);
        mem_free(r->at[i].user);
        mem_free(r->at[i].host);
    }
    scope_leave(&r->scope);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct endpoint *find(const struct remotes *r, const struct location *l)
{
    for (unsigned i = 0; i < r->count; i++) {
        const struct remote_at *at = &r->at[i];
        bool is_ftp = l->scheme == LOCATION_FTP;
        if ((at->scheme == LOCATION_FTP) == is_ftp && is_same_text(at->host, l->host) &&
            is_same_text(at->user, l->user) && at->port == l->port)
            return at->endpoint;
    }
    return NULL;
}

static PARKS int open_endpoint(struct remotes *r, const struct location *l,
                               char why[REMOTES_WHY_MAX], struct endpoint **ret)
{
    struct ssh_link *ssh;
    struct ftp_link *ftp;
    int result;
    if (l->host == NULL) {
        result = endpoint_local_new("/", r->login.pool, ret);
    } else if (l->scheme == LOCATION_FTP) {
        result = ftp_link_open(l, &r->login, why, &ftp);
        if (result == 0)
            result = endpoint_ftp_new(ftp, ret);
    } else {
        result = ssh_link_open(l, &r->login, why, &ssh);
        if (result < 0)
            return result;
        result = endpoint_sftp_new(ssh, ret);
        if (result < 0)
            (void)snprintf(why, REMOTES_WHY_MAX, "%.200s: it serves no SFTP: %s", l->host,
                           err_text(result));
    }
    return result;
}

int remotes_get(struct remotes *r, const struct location *l, char ret_why[REMOTES_WHY_MAX],
                struct endpoint **ret)
{
    struct endpoint *e = find(r, l);
    ret_why[0] = '\0';
    if (e != NULL) {
        *ret = e;
        return 0;
    }
    if (r->count == REMOTES_MAX) {
        (void)text_copy(ret_why, REMOTES_WHY_MAX, BYTES_LIT("too many servers at once"));
        return -FERRY_ELIMIT;
    }
    int result = open_endpoint(r, l, ret_why, &e);
    if (result < 0) {
        if (ret_why[0] == '\0')
            (void)text_copy(ret_why, REMOTES_WHY_MAX, bytes_str(err_text(result)));
        return result;
    }
    r->at[r->count++] = (struct remote_at){
        .scheme = l->scheme,
        .user = l->user != NULL ? mem_strdup(l->user) : NULL,
        .host = l->host != NULL ? mem_strdup(l->host) : NULL,
        .port = l->port,
        .endpoint = e,
    };
    *ret = e;
    return 0;
}

char *remotes_join(const char *directory, struct bytes name)
{
    size_t len = strlen(directory);
    bool is_here = strcmp(directory, ".") == 0 || len == 0;
    bool has_slash = len > 0 && directory[len - 1] == '/';
    char *path = mem_raw(len + name.len + 2);
    if (path == NULL)
        return NULL;
    size_t at = is_here ? 0 : text_copy(path, len + 1, bytes_str(directory));
    if (!is_here && !has_slash)
        path[at++] = '/';
    (void)text_copy(path + at, name.len + 1, name);
    return path;
}

char *remotes_absolute(const char *path)
{
    if (path[0] == '/')
        return mem_strdup(path);
    char *here = mem_raw(PATH_LEN_MAX + 1);
    char *joined = here != NULL && getcwd(here, PATH_LEN_MAX + 1) != NULL
                       ? copy_name_join(bytes_str(here), bytes_str(path))
                       : NULL;
    mem_free(here);
    return joined;
}

char *remotes_path(const struct location *l)
{
    if (l->host == NULL)
        return remotes_absolute(l->path);
    return mem_strdup(l->path[0] != '\0' ? l->path : ".");
}

const char *remotes_words(const struct endpoint *e, int result)
{
    bool is_server = e != NULL && e->why[0] != '\0' && result != -ENOENT && result != -EEXIST &&
                     result != -EACCES && result != -ENOMEM && result != -ECANCELED;
    return is_server ? e->why : err_text(result);
}
