"""Streams of tar while this machine has no memory for something, or a disk cannot be read: told, mended, never half."""

import os
import shutil
import subprocess

import pytest

from conftest import IS_SANITIZED, random_bytes, require
from test_client_places import FERRY, OwnServer, home, own, sshd  # noqa: F401
from test_cp import lines
from test_cp_tar import same

pytestmark = pytest.mark.skipif(IS_SANITIZED, reason="malloc is the sanitizer's")

# Fails one call: the FAULT_MALLOC-th allocation, or the FAULT_READ-th read of a regular file. FAULT_COUNT names a
# file that gets both counts at the end.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>

static atomic_ulong mallocs, reads;
static unsigned long malloc_nth, read_nth;

__attribute__((constructor)) static void begin(void)
{
    const char *m = getenv("FAULT_MALLOC"), *r = getenv("FAULT_READ");
    malloc_nth = m != NULL ? strtoul(m, NULL, 10) : 0;
    read_nth = r != NULL ? strtoul(r, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) {
        fprintf(f, "%lu %lu\n", mallocs, reads);
        fclose(f);
    }
}

/* glibc's own names: dlsym() would allocate. */
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static int is_missing(void)
{
    if (atomic_fetch_add(&mallocs, 1) + 1 != malloc_nth)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return is_missing() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return is_missing() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return is_missing() ? NULL : __libc_realloc(p, n);
}

static int fails(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || atomic_fetch_add(&reads, 1) + 1 != read_nth)
        return 0;
    errno = EIO;
    return 1;
}

#define READER(name, args, call)                                                            \
    ssize_t name args                                                                       \
    {                                                                                       \
        static ssize_t(*real) args;                                                         \
        if (real == NULL)                                                                   \
            real = (ssize_t(*) args)dlsym(RTLD_NEXT, #name);                                \
        return fails(fd) ? -1 : real call;                                                  \
    }

READER(preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
READER(preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags), (fd, v, n, at, flags))
READER(pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    require("cc")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "shim.so", folder / "shim.c", "-ldl"], check=True)
    return folder / "shim.so"


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "tree"
    (top / "sub").mkdir(parents=True)
    for i in range(20):
        (top / "sub" / ("f%d" % i)).write_bytes(random_bytes(3000 + i, i))
    (top / "large").write_bytes(b"a line of text\n" * 60_000)
    return top


def copy(shim, tree, url, packing="none", **faults):
    environment = dict(os.environ, LD_PRELOAD=str(shim), **{name: str(value) for name, value in faults.items()})
    done = subprocess.run([FERRY, "cp", "--json", "-r", "--method", "tar", "--compress", packing, tree, url], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1, 3), (faults, done)
    return done


@pytest.mark.parametrize("packing", ["none", "zstd", "auto"])
def test_whatever_memory_is_missing_it_is_all_there_or_a_failure(own, shim, tree, tmp_path, packing):
    url = OwnServer(own, "sftp").url
    copy(shim, tree, url + "/copy", packing, FAULT_COUNT=tmp_path / "count")
    shutil.rmtree(own.root / "copy")
    total = int((tmp_path / "count").read_text().split()[0])
    assert total > 200
    failed = 0
    for nth in range(total * 2 // 5, total, max(1, total // 40)):  # what comes before is the login
        done = copy(shim, tree, url + "/copy", packing, FAULT_MALLOC=nth)
        failed += done.returncode != 0
        assert done.returncode != 0 or same(tree, own.root / "copy"), nth
        assert done.returncode == 0 or done.stderr != "" or '"failed"' in done.stdout, nth
        shutil.rmtree(own.root / "copy", ignore_errors=True)
    assert failed > 0


@pytest.mark.parametrize("packing", ["none", "zstd"])
def test_a_file_that_cannot_be_read_once_is_sent_again(sshd, shim, tree, tmp_path, packing):
    require("zstd")
    copy(shim, tree, sshd.url + "/copy", packing, FAULT_COUNT=tmp_path / "count")
    shutil.rmtree(sshd.files / "copy")
    total = int((tmp_path / "count").read_text().split()[1])
    assert total >= 20
    again = 0
    for nth in range(1, total + 1, max(1, total // 15)):
        done = copy(shim, tree, sshd.url + "/copy", packing, FAULT_READ=nth)
        if done.returncode == 0:
            assert same(tree, sshd.files / "copy"), nth
            again += sum(line.get("method") == "sftp" for line in lines(done.stdout))
        shutil.rmtree(sshd.files / "copy", ignore_errors=True)
    assert again > 3
