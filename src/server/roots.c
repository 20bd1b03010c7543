#include "server/roots.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/ssh_keys.h"
#include "task/sys.h"

/* The index of an earlier account with the same root, or that account's own. */
static unsigned first_with_root(const struct settings *s, unsigned account)
{
    for (unsigned i = 0; i < account; i++)
        if (strcmp(s->accounts[i].root, s->accounts[account].root) == 0)
            return i;
    return account;
}

static int open_root(struct roots *roots, const struct account_setting *a,
                     enum vroot_links links, struct refusal *why)
{
    int r = vroot_open(a->root, links, &roots->at[roots->count]);
    if (r < 0)
        return refuse(why, "%s, the root of '%s': %s", a->root, a->name, err_text(r));
    roots->count++;
    return 0;
}

int roots_open(struct settings *s, struct roots *ret, struct refusal *why)
{
    struct roots roots = {.at = mem_new(s->account_count * sizeof(*roots.at)),
                          .rights = mem_new(s->account_count * sizeof(*roots.rights))};
    int r = roots.at == NULL || roots.rights == NULL ? refuse(why, "out of memory") : 0;
    for (unsigned i = 0; r == 0 && i < s->account_count; i++) {
        struct account_setting *a = &s->accounts[i];
        unsigned first = first_with_root(s, i);
        if (first == i) {
            a->root_index = roots.count;
            r = open_root(&roots, a, s->links, why);
        } else {
            a->root_index = s->accounts[first].root_index;
        }
        if (r == 0)
            roots.rights[a->root_index] |= a->rights;
    }
    if (r == 0)
        *ret = roots;
    else
        roots_close(&roots);
    return r;
}

void roots_close(struct roots *roots)
{
    for (unsigned i = 0; i < roots->count; i++)
        vroot_unref(roots->at[i]);
    mem_free(roots->at);
    mem_free(roots->rights);
    *roots = (struct roots){0};
}

void roots_allow(const struct roots *roots, struct sandbox_rules *rules)
{
    for (unsigned i = 0; i < roots->count; i++) {
        unsigned rights = roots->rights[i];
        bool only_reads = (rights & ~(unsigned)RIGHTS_READ_ONLY) == 0;
        enum sandbox_access access = rights & RIGHT_LINK ? SANDBOX_LINKS : SANDBOX_WRITE;
        sandbox_add_tree(rules, vroot_fd(roots->at[i]), only_reads ? SANDBOX_READ : access);
    }
}

static unsigned warn_if(int failure, const char *event, const char *root)
{
    if (failure >= 0)
        return 0;
    struct log_record r;
    log_begin(&r, LOG_WARNING, event);
    log_text(&r, "root", root);
    log_err(&r, failure);
    log_end(&r);
    return 1;
}

unsigned roots_warn_access(const struct roots *roots, const struct settings *s)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC};
    unsigned warnings = 0;
    for (unsigned i = 0; i < s->account_count; i++) {
        const struct account_setting *a = &s->accounts[i];
        if (first_with_root(s, i) != i)
            continue;
        int root = vroot_fd(roots->at[a->root_index]);
        int fd = sys_openat2(root, ".", &how);
        warnings += warn_if(fd, "unreadable_root", a->root);
        sys_close(fd);
        if ((roots->rights[a->root_index] & RIGHT_WRITE) != 0)
            warnings +=
                warn_if(sys_faccessat(root, ".", W_OK | X_OK), "unwritable_root", a->root);
    }
    return warnings;
}

static int read_keys(struct account *account, const struct account_setting *a,
                     const char *of_all, struct refusal *why)
{
    int r = 0;
    if (a->authorized_keys != NULL)
        r = ssh_authorized_keys_read(a->authorized_keys, account, why);
    if (r == 0 && of_all != NULL)
        r = ssh_authorized_keys_read(of_all, account, why);
    return r;
}

static int fill_account(struct account *account, const struct account_setting *a)
{
    account->anonymous = a->anonymous;
    account->root_index = a->root_index;
    account->rate_bytes_per_s = a->rate_bytes_per_s;
    account->root = mem_strdup(a->root);
    if (account->root == NULL)
        return -ENOMEM;
    int r = rights_set(&account->rights, BYTES_LIT("/"), a->rights);
    if (r == 0 && (a->quota_bytes != 0 || a->quota_files != 0))
        r = quota_new(a->quota_bytes, a->quota_files, &account->quota);
    if (r < 0 || a->anonymous)
        return r;
    if (a->hash == NULL && a->password.len == 0) /* keys alone */
        return 0;
    if (a->hash == NULL)
        return account_set_password(account, bytes_of(a->password.data, a->password.len));
    account->hash = mem_strdup(a->hash);
    return account->hash == NULL ? -ENOMEM : 0;
}

static int add_account(struct auth *auth, const struct account_setting *a, const char *keys,
                       struct refusal *why)
{
    struct account *account;
    int r = account_new(bytes_str(a->name), &account);
    if (r == 0) {
        r = fill_account(account, a);
        if (r == 0 && !a->anonymous && read_keys(account, a, keys, why) < 0) {
            account_unref(account);
            return -EINVAL;
        }
        if (r < 0)
            account_unref(account);
        else
            r = auth_add(auth, account);
    }
    return r < 0 ? refuse(why, "account '%s': %s", a->name, err_text(r)) : 0;
}

int accounts_load(const struct settings *s, struct pool *hash_pool, struct auth **ret,
                  struct refusal *why)
{
    struct auth *auth;
    int r = auth_new(hash_pool, &auth);
    if (r < 0)
        return refuse(why, "accounts: %s", err_text(r));
    auth_set_remember(auth, s->remember_us);
    for (unsigned i = 0; i < s->account_count; i++) {
        r = add_account(auth, &s->accounts[i], s->authorized_keys, why);
        if (r < 0) {
            (void)auth_free(auth);
            return r;
        }
    }
    *ret = auth;
    return 0;
}

static int check_keys(const struct account_setting *a, const char *of_all, struct refusal *why)
{
    struct account *account;
    int r = account_new(bytes_str(a->name), &account);
    if (r < 0)
        return refuse(why, "account '%s': %s", a->name, err_text(r));
    r = read_keys(account, a, of_all, why);
    account_unref(account);
    return r;
}

int accounts_check_keys(const struct settings *s, struct refusal *why)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < s->account_count; i++)
        if (!s->accounts[i].anonymous)
            r = check_keys(&s->accounts[i], s->authorized_keys, why);
    return r;
}
