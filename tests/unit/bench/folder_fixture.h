/* A folder of the test's own, made before and removed after it. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "check.h"

static char fixture_folder[32];

static inline int folder_fixture_setup(void **state)
{
    (void)state;
    snprintf(fixture_folder, sizeof(fixture_folder), "/tmp/ferry-test-XXXXXX");
    return mkdtemp(fixture_folder) == NULL;
}

static inline int folder_fixture_teardown(void **state)
{
    (void)state;
    folder_remove(fixture_folder);
    return file_exists(fixture_folder);
}

/* The path of what lies in it; two can be used at once. */
static inline const char *in_folder(const char *name)
{
    static char path[2][256];
    static unsigned turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", fixture_folder, name);
    return path[turn];
}

/* Writes a file, and makes the folders that lead to it. */
static inline void put(const char *name, const char *text)
{
    char parent[256];
    snprintf(parent, sizeof(parent), "%s", in_folder(name));
    *strrchr(parent, '/') = '\0';
    assert_int_equal(folder_make_all(parent, 0700), 0);
    assert_int_equal(file_write(in_folder(name), 0600, bytes_str(text)), 0);
}
