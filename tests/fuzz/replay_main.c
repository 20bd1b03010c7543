/* Runs a fuzz target over files and folders of inputs: the corpus as an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rbe");
    if (!f)
        return -1;
    static uint8_t data[1 << 20];
    size_t len = fread(data, 1, sizeof(data), f);
    fclose(f);
    /* an exact allocation, so that a read past the end is seen by the sanitizer */
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    return 0;
}

static unsigned replay(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return replay_file(path) == 0;
    unsigned count = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char name[1024];
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        count += replay_file(name) == 0;
    }
    closedir(d);
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("replayed %u inputs\n", count);
    return count >= 3 ? 0 : 1; /* a target with fewer seeds is a mistake */
}
