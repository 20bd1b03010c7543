/* layers: client */
/* Where files are: what is taken is shown again, and read back as the same. */
#include "client/place/location.h"

#include "base/limits.h"
#include "base/text.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX 4096

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check(const struct location *l)
{
    char text[2 * INPUT_MAX], why[LOCATION_WHY_MAX];
    struct location again;
    INVARIANT(l->path != NULL && strlen(l->path) <= PATH_LEN_MAX);
    INVARIANT((l->host == NULL) ==
              (l->scheme == LOCATION_LOCAL || l->scheme == LOCATION_STANDARD));
    INVARIANT(l->password == NULL || l->scheme == LOCATION_FTP);
    location_text(l, bytes_str(l->path), sizeof(text), text);
    INVARIANT(!text_has_control(bytes_str(text)));
    /* Of a URL the text is not encoded again; "~" is a home of ssh alone; "//" makes a URL. */
    if (l->scheme != LOCATION_SSH || l->path[0] == '~' || strncmp(l->path, "//", 2) == 0 ||
        text_has_control(bytes_str(l->path)))
        return;
    INVARIANT(location_parse(text, &again, why) == 0);
    INVARIANT(is_same(l->user, again.user) && is_same(l->host, again.host) &&
              is_same(l->path, again.path));
    location_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char text[INPUT_MAX + 1], why[LOCATION_WHY_MAX];
    struct location l;
    if (len > INPUT_MAX)
        return 0;
    memcpy(text, data, len);
    text[len] = '\0';
    int r = location_parse(text, &l, why);
    INVARIANT(r == 0 || why[0] != '\0');
    if (r == 0) {
        check(&l);
        location_done(&l);
    }
    return 0;
}
