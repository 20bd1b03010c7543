#include "xfer/pipe.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"
#include "task/sys.h"

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_result;

static void close_pipe(void *arg)
{
    struct thread_pipe *p = arg;
    sys_close(p->in);
    sys_close(p->out);
    mem_free(p);
}

static void make_key(void)
{
    key_result = -pthread_key_create(&key, close_pipe);
}

static int make_pipe(struct thread_pipe **ret)
{
    struct thread_pipe *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    int ends[2];
    int r = sys_pipe(ends);
    if (r < 0) {
        mem_free(p);
        return r;
    }
    *p = (struct thread_pipe){.in = ends[0], .out = ends[1]};
    (void)!sys_pipe_resize(p->out, PIPE_BYTES); /* a smaller one does as well, in more calls */
    r = -pthread_setspecific(key, p);
    if (r < 0) {
        close_pipe(p);
        return r;
    }
    *ret = p;
    return 0;
}

int pipe_of_thread(struct thread_pipe **ret)
{
    (void)pthread_once(&once, make_key);
    if (key_result < 0)
        return key_result;
    *ret = pthread_getspecific(key);
    return *ret != NULL ? 0 : make_pipe(ret);
}

void pipe_discard(void)
{
    struct thread_pipe *p = pthread_getspecific(key);
    if (p == NULL)
        return;
    (void)pthread_setspecific(key, NULL);
    close_pipe(p);
}
