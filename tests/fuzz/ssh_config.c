/* layers: client */
/* ssh's configuration: whatever stands in it, what is kept is bounded, and what is behind it
 * does not change what came first. */
#include "client/place/ssh_config.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX 16384

static const struct ssh_config_who who = {
    .alias = "host", .local_user = "me", .home = "/home/me"};

struct included {
    struct bytes text;
    char *why;
    unsigned left;
};

static int include(void *arg, struct ssh_config *c, const char *pattern, unsigned depth)
{
    struct included *in = arg;
    INVARIANT(depth < SSH_CONFIG_DEPTH_MAX);
    if (in->left == 0)
        return 0;
    in->left--;
    return ssh_config_read(c, in->text, pattern, depth, include, arg, in->why);
}

static int read_all(struct ssh_config *c, struct bytes text)
{
    char why[SSH_CONFIG_WHY_MAX] = "";
    struct included in = {.text = text, .why = why, .left = 20};
    ssh_config_init(c, &who);
    int r = ssh_config_read(c, text, "file", 0, include, &in, why);
    INVARIANT(r == 0 || r == -EINVAL || r == -FERRY_ELIMIT);
    INVARIANT(r != -EINVAL || why[0] != '\0');
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ssh_config c;
    if (len > INPUT_MAX)
        return 0;
    if (read_all(&c, bytes_of(data, len)) == 0) {
        INVARIANT(c.identity_count <= SSH_CONFIG_FILES_MAX && c.known_hosts_count <= 4);
        for (unsigned i = 0; i < c.identity_count; i++) {
            char *path;
            int r = ssh_config_expand(&c, c.identities[i], &path);
            INVARIANT(r == 0 || r == -EINVAL || r == -FERRY_ELIMIT);
            if (r == 0)
                mem_free(path);
        }
    }
    ssh_config_done(&c);
    return 0;
}
