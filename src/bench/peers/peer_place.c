#include "bench/peers/peer_place.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bench/machine/file.h"
#include "task/sys.h"

#define PATH_BYTES       (STAGE_PATH_MAX + 128)
#define STATUS_MAX       (64 * 1024 * 1024)
#define VERSION_FILE_MAX 4096

static bool has(const char *root, const char *file)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof(path), "%s/%s", root, file);
    return n > 0 && (size_t)n < sizeof(path) && file_exists(path);
}

/* -- our own -- */

/* ferryd stands beside ferry, where they were built as where they were installed. */
static void find_own(const struct recipe *recipe, struct peer_place *ret)
{
    text_copy(ret->version, sizeof(ret->version), BYTES_LIT(FERRY_VERSION));
    ret->is_installed = recipe->program == NULL;
    static const char *const beside[] = {"", "/../sbin", "/../bin"};
    char self[STAGE_PATH_MAX - 16];
    ssize_t n = sys_readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0 || recipe->program == NULL)
        return;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (unsigned i = 0; !ret->is_installed && i < ARRAY_LEN(beside); i++) {
        snprintf(ret->root, sizeof(ret->root), "%s%s", self, beside[i]);
        ret->is_installed = has(ret->root, recipe->program);
    }
}

/* -- Debian's -- */

/* A file of one line. */
static void read_version(const char *path, struct peer_place *ret)
{
    struct buf text;
    buf_init(&text, VERSION_FILE_MAX);
    if (file_read(path, &text) == 0) {
        struct bytes rest = buf_bytes(&text);
        text_copy_printable(ret->version, sizeof(ret->version), bytes_take_until(&rest, '\n'));
    }
    buf_done(&text);
}

/* "Package: NAME" begins a paragraph of dpkg's status file, "Version: X" is a line of it. */
static void read_status(const char *package, struct peer_place *ret)
{
    struct buf text;
    buf_init(&text, STATUS_MAX);
    bool is_in = false;
    struct bytes rest =
        file_read("/var/lib/dpkg/status", &text) == 0 ? buf_bytes(&text) : BYTES_NONE;
    while (rest.len > 0) {
        struct bytes line = bytes_take_until(&rest, '\n');
        if (bytes_start_with(line, BYTES_LIT("Package: ")))
            is_in = bytes_equal(bytes_skip(line, 9), bytes_str(package));
        else if (is_in && bytes_start_with(line, BYTES_LIT("Version: ")))
            text_copy_printable(ret->version, sizeof(ret->version), bytes_skip(line, 9));
    }
    buf_done(&text);
}

void peer_place_find(const struct recipe *recipe, struct peer_place *ret)
{
    *ret = (struct peer_place){.is_installed = false};
    if (recipe->package == NULL) {
        find_own(recipe, ret);
        return;
    }
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), PEERS_FOLDER "/%s/" PEERS_VERSION_FILE, recipe->name);
    snprintf(ret->root, sizeof(ret->root), PEERS_FOLDER "/%s", recipe->name);
    if (has(ret->root, recipe->program)) {
        ret->is_installed = true;
        read_version(path, ret);
        return;
    }
    ret->root[0] = '\0';
    ret->is_installed = has("", recipe->program);
    if (ret->is_installed)
        read_status(recipe->package, ret);
}
