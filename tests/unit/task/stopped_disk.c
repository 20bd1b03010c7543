/* A job on a file system that has stopped (SIGSTOP to its FUSE server): the task that waited is
 * free at once, others go on, and the job's memory goes when the file system does. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "runtime_fixture.h"
#include "stoppable_mount.h"
#include "task/pool.h"
#include "task/sys.h"

static char folder[64], backing[96], mount_point[96];
static pid_t server;

/* -- the file system -- */

static int start_file_system(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/ferry-stopped-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(backing, sizeof(backing), "%s/backing", folder);
    (void)snprintf(mount_point, sizeof(mount_point), "%s/mount", folder);
    assert_int_equal(mkdir(backing, 0755) + mkdir(mount_point, 0755), 0);
    char file[128];
    (void)snprintf(file, sizeof(file), "%s/data", backing);
    FILE *f = fopen(file, "we");
    assert_non_null(f);
    (void)fputs("something to read\n", f);
    (void)fclose(f);

    server = stoppable_mount(backing, mount_point);
    return server > 0 ? 0 : -1;
}

static void end_file_system(void)
{
    stoppable_unmount(mount_point);
    stoppable_kill(server);
    char file[128];
    (void)snprintf(file, sizeof(file), "%s/data", backing);
    (void)unlink(file);
    (void)rmdir(backing);
    (void)rmdir(mount_point);
    (void)rmdir(folder);
}

/* -- the job -- */

struct read_job {
    struct job job;
    char path[128];
    char *buffer; /* owned, as everything else */
    ssize_t result;
};

static _Atomic int started, freed;

static void read_run(struct job *job)
{
    struct read_job *j = (struct read_job *)job;
    atomic_fetch_add(&started, 1);
    int fd = open(j->path, O_RDONLY | O_CLOEXEC);
    j->result = fd < 0 ? -errno : sys_read(fd, j->buffer, 4096);
    sys_close(fd);
}

static void read_free(struct job *job)
{
    struct read_job *j = (struct read_job *)job;
    mem_free(j->buffer);
    mem_free(j);
    atomic_fetch_add(&freed, 1);
}

static int run_read(const char *directory)
{
    struct read_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j && (j->buffer = mem_new(4096)));
    j->job.run = read_run;
    j->job.free = read_free;
    (void)snprintf(j->path, sizeof(j->path), "%s/data", directory);
    int r = job_run(runtime_files_pool(runtime_self()), &j->job, NULL, USEC_NEVER);
    if (r < 0)
        return r;
    r = j->result > 0 ? 0 : -EIO;
    j->job.free(&j->job);
    return r;
}

static int victim_result;

static void victim(void *arg)
{
    (void)arg;
    victim_result = run_read(mount_point);
}

static void nap(void)
{
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
}

static void main_stopped(void *arg)
{
    (void)arg;
    struct scope scope;
    struct task *t;
    scope_init(&scope);
    TASK_ASSERT(run_read(mount_point) == 0); /* it works while it runs */
    TASK_ASSERT(kill(server, SIGSTOP) == 0);
    int before = started;
    TASK_ASSERT(scope_start(&scope, "victim", TASK_NORMAL, victim, NULL, &t) == 0);
    while (started == before)
        nap();
    for (unsigned i = 0; i < 100; i++)
        TASK_ASSERT(run_read(backing) == 0); /* a hundred others beside it */
    int freed_before = freed;
    task_cancel(t);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) ==
                0); /* free, while the disk is still stopped */
    TASK_ASSERT(victim_result == -ECANCELED && freed == freed_before);
    TASK_ASSERT(run_read(backing) == 0);
    TASK_ASSERT(kill(server, SIGCONT) == 0);
    while (freed < freed_before + 2) /* the other is that of the last run_read() */
        nap();
    scope_leave(&scope);
}

static void a_job_on_a_stopped_disk_holds_nobody(void **state)
{
    (void)state;
    if (start_file_system() < 0) {
        end_file_system();
        print_message("skipped: no FUSE here\n");
        skip();
    }
    run_threaded(1, main_stopped, NULL);
    end_file_system();
}

int main(int argc, char **argv)
{
    (void)argc;
    stoppable_find(argv[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_on_a_stopped_disk_holds_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
