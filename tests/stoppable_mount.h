/* A FUSE mount by tests/tools/stoppable_fs.c, a program that lies beside the test's own. */
#pragma once
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_fixture.h"

static char stoppable_program[4096];

/* First in main(): argv[0] says where the program is. */
static inline void stoppable_find(const char *self)
{
    static char copy[4096];
    (void)snprintf(copy, sizeof(copy), "%s", self);
    (void)snprintf(stoppable_program, sizeof(stoppable_program), "%s/stoppable_fs",
                   dirname(copy));
}

/* Serves what lies in backing under place; returns the server's pid when it does, -1 where
 * there is no FUSE. */
static inline pid_t stoppable_mount(char *backing, char *place)
{
    int out[2];
    TASK_ASSERT(pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t files;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_adddup2(&files, out[1], 1);
    char *argv[] = {stoppable_program, backing, place, NULL};
    pid_t server;
    int r = posix_spawn(&server, stoppable_program, &files, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)close(out[1]);
    char text[16] = "";
    bool is_mounted = r == 0 && read(out[0], text, sizeof(text)) > 0;
    (void)close(out[0]);
    if (r == 0 && !is_mounted)
        (void)waitpid(server, NULL, 0);
    return is_mounted ? server : -1;
}

/* As the machine of a file server that is switched off, also while it is stopped. */
static inline void stoppable_kill(pid_t server)
{
    if (server <= 0)
        return;
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
}

static inline void stoppable_unmount(const char *place)
{
    (void)umount2(place, MNT_DETACH);
}
