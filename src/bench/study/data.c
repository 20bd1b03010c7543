#include "bench/study/data.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/machine/noise.h"
#include "bench/peers/peer_program.h"
#include "bench/study/place.h"
#include "task/sys.h"

#define TOOL_US    (600 * USEC_PER_S)
#define SCRIPT_MAX 4096
#define SAID_MAX   (256 * 1024)
#define BLOCK      65536
#define GROUP_MAX  (64 * 1024 * 1024)
#define FILES      3

static int new_data(struct study *s, const char *name, const char *folder,
                    struct study_data **ret)
{
    if (s->data_count == STUDY_DATA_MAX)
        return -E2BIG;
    struct study_data *d = *ret = &s->data[s->data_count];
    text_copy(d->name, sizeof(d->name), bytes_str(name));
    snprintf(d->path, sizeof(d->path), "%.240s/%s", folder, name);
    return (int)s->data_count++;
}

static int run_script(const char *script, struct buf *said)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    return peer_program_run(argv, NULL, TOOL_US, said);
}

static int stat_length(const char *path, uint64_t *ret)
{
    struct stat st;
    int r = sys_fstatat(AT_FDCWD, path, &st, 0);
    if (r == 0)
        *ret = (uint64_t)st.st_size;
    return r;
}

/* -- what it is worth to gzip -- */

static int ask_gzip(struct study_data *d)
{
    char script[STUDY_PATH_MAX + 64];
    struct buf said;
    buf_init(&said, SAID_MAX);
    snprintf(script, sizeof(script), "gzip -6 -c %s | wc -c", d->path);
    int r = run_script(script, &said);
    if (r == 0)
        r = text_u64(peer_program_last_words(buf_bytes(&said)), 10, UINT64_MAX, &d->gz_bytes);
    buf_done(&said);
    return r;
}

/* -- sources -- */

/* Headers, modules of Python and what else of source text Debian packages put on a machine; in
 * the order of their names, so that the same packages make the same archive. */
static const char tar_script[] =
    "set -e; cd /; f=%s; rm -f $f.part; "
    "find usr/src usr/include usr/lib/python3 usr/lib/python3.* usr/share/perl usr/lib/gcc "
    "usr/share/doc -xdev -type f \\( -name '*.[chSs]' -o -name '*.[ch]pp' -o -name '*.py' "
    "-o -name '*.p[lm]' -o -name '*.hpp' -o -path 'usr/include/*' -o -name '*.txt' "
    "-o -name '*.html' \\) 2>/dev/null | LC_ALL=C sort > $f.list || :; "
    "tar --format=ustar --owner=0 --group=0 --mtime=@0 --mode=644 -cf - --no-recursion "
    "-T $f.list 2>/dev/null | head -c %llu > $f.part; mv $f.part $f; rm -f $f.list";

static int make_tar(const char *path, uint64_t bytes)
{
    char *script = mem_raw(SCRIPT_MAX);
    struct buf said;
    buf_init(&said, SAID_MAX);
    int r = script == NULL ? -ENOMEM : 0;
    if (r == 0) {
        snprintf(script, SCRIPT_MAX, tar_script, path, (unsigned long long)bytes);
        r = run_script(script, &said);
    }
    mem_free(script);
    buf_done(&said);
    return r;
}

int data_source_tar(struct study *s, uint64_t bytes)
{
    char name[STUDY_LABEL_MAX];
    struct study_data *d;
    snprintf(name, sizeof(name), "source-%llu.tar", (unsigned long long)bytes);
    int number = new_data(s, name, STUDY_CACHE, &d);
    int r = number < 0 ? number : folder_make_all(STUDY_CACHE, 0755);
    if (r == 0 && stat_length(d->path, &d->bytes) < 0)
        r = make_tar(d->path, bytes);
    if (r == 0)
        r = stat_length(d->path, &d->bytes);
    if (r == 0)
        r = ask_gzip(d);
    snprintf(d->note, sizeof(d->note),
             "tar of the source files that Debian packages have put into /usr here (headers, "
             "Python, Perl, text), the first %llu bytes; gzip -6 makes %llu of them",
             (unsigned long long)d->bytes, (unsigned long long)d->gz_bytes);
    return r < 0 ? r : number;
}

/* -- noise and zeros -- */

static struct noise_owner owner_of(const struct study *s)
{
    return (struct noise_owner){.uid = s->place->stage->uid, .gid = s->place->stage->gid};
}

int data_noise(struct study *s, const char *name, uint64_t bytes)
{
    struct study_data *d;
    int number = new_data(s, name, s->place->datadir, &d);
    int r = number < 0 ? number : noise_file(d->path, bytes, owner_of(s));
    if (number >= 0)
        d->bytes = bytes;
    if (r == 0)
        snprintf(d->note, sizeof(d->note), "%llu bytes of noise in one file, in memory",
                 (unsigned long long)bytes);
    return r < 0 ? r : number;
}

int data_hole(struct study *s, const char *name, uint64_t bytes)
{
    struct study_data *d;
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, .mode = 0644};
    int number = new_data(s, name, s->place->datadir, &d);
    int fd = number < 0 ? number : sys_openat2(AT_FDCWD, d->path, &how);
    int r = fd < 0 ? fd : sys_ftruncate(fd, (off_t)bytes);
    sys_close(fd);
    if (number >= 0)
        d->bytes = bytes;
    if (r == 0)
        snprintf(d->note, sizeof(d->note), "%llu bytes of a hole: zeros that take no memory",
                 (unsigned long long)bytes);
    return r < 0 ? r : number;
}

/* Written, not left as a hole: pages are read as those of any file are. */
static int write_zeros(const char *path, uint64_t len, const uint8_t *zeros)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, .mode = 0644};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    ssize_t n = fd;
    while (n >= 0 && len > 0) {
        n = sys_write(fd, zeros, len < BLOCK ? (size_t)len : BLOCK);
        len -= n > 0 ? (uint64_t)n : 0;
    }
    sys_close(fd);
    return n < 0 ? (int)n : 0;
}

static int zero_folder(const char *path, unsigned count, uint64_t each)
{
    uint8_t *zeros = mem_new(BLOCK);
    int r = zeros == NULL ? -ENOMEM : folder_make(path, 0755);
    for (unsigned i = 0; r == 0 && i < count; i++) {
        char file[STUDY_PATH_MAX + 32];
        snprintf(file, sizeof(file), "%s/file-%06u.dat", path, i);
        r = write_zeros(file, each, zeros);
    }
    mem_free(zeros);
    return r;
}

int data_folder(struct study *s, const char *name, unsigned count, uint64_t each, bool is_zero)
{
    struct study_data *d;
    int number = new_data(s, name, s->place->datadir, &d);
    int r = number < 0 ? number
            : is_zero  ? zero_folder(d->path, count, each)
                       : noise_folder(d->path, count, each, owner_of(s));
    if (r < 0)
        return r;
    d->bytes = count * each;
    d->files = count;
    snprintf(d->note, sizeof(d->note), "%u files of %llu bytes of %s each, in memory", count,
             (unsigned long long)each, is_zero ? "zeros" : "noise");
    return number;
}

/* -- the groups -- */

/* What the study had, its length, and where something like it is looked for: the shortest file
 * of at least that length, or several from the longest on, until that length is reached. */
static const struct source {
    const char *what;
    uint64_t bytes;
    const char *find;
} sources[2][FILES] = {
    {{"PostScript with pictures", 700118,
      "/usr/share -xdev -name '*.ps' -o -name '*.eps' -o -name '*.svg'"},
     {"text", 646529, "/usr/share -xdev -name 'changelog' -o -name '*.txt' -o -name '*.po'"},
     {"C source", 1445408, "/usr/include /usr/src -xdev -name '*.h' -o -name '*.c'"}},
    {{"picture (JPEG, PNG)", 141551,
      "/usr/share -xdev -name '*.jpg' -o -name '*.jpeg' -o -name '*.png'"},
     {"shared library", 1005912, "/usr/lib -xdev -name 'libX11.so.6.*' -o -name 'libc.so.6'"},
     {"program", 1587712, "/usr/bin -xdev -name 'gs' -o -name 'python3.*' -o -name 'bash'"}},
};

static const char group_script[] =
    "find %s 2>/dev/null | LC_ALL=C sort | while read -r f; do [ -f \"$f\" ] && "
    "echo \"$(stat -Lc %%s \"$f\") $f\"; done | sort -rn -k1,1 -k2 | "
    "awk -v w=%llu '{n = $1; sub(/^[0-9]+ /, \"\"); if (n >= w) b = $0; "
    "else if (NR <= 400 && s < w) {s += n; l = l $0 \"\\n\"}} "
    "END {if (b != \"\") print b; else printf \"%%s\", l}'";

static int find_sources(const struct source *from, struct buf *ret_paths)
{
    char *script = mem_raw(SCRIPT_MAX);
    if (script == NULL)
        return -ENOMEM;
    snprintf(script, SCRIPT_MAX, group_script, from->find, (unsigned long long)from->bytes);
    int r = run_script(script, ret_paths);
    mem_free(script);
    return r;
}

/* What each level makes of it, as the study's last table has it: three lines. */
static int ask_levels(struct study *s, struct bytes text, struct study_source *ret)
{
    char path[STUDY_PATH_MAX], script[2 * STUDY_PATH_MAX];
    struct buf said;
    buf_init(&said, SAID_MAX);
    snprintf(path, sizeof(path), "%.300s/source", s->place->datadir);
    snprintf(script, sizeof(script), "for l in 1 6 9; do gzip -$l -c %s | wc -c; done", path);
    int r = file_write(path, 0600, text);
    if (r == 0)
        r = run_script(script, &said);
    struct bytes rest = buf_bytes(&said);
    for (unsigned i = 0; r == 0 && i < STUDY_LEVELS; i++)
        r = text_u64(bytes_take_until(&rest, '\n'), 10, UINT64_MAX, &ret->at_level[i]);
    buf_done(&said);
    return r;
}

static int read_source(struct study *s, unsigned group, const struct source *from,
                       struct buf *ret)
{
    struct buf paths;
    char path[STUDY_PATH_MAX], first[STUDY_PATH_MAX] = "nothing of the kind is here";
    size_t before = ret->len;
    unsigned count = 0;
    buf_init(&paths, SAID_MAX);
    int r = s->source_count < STUDY_SOURCES_MAX ? find_sources(from, &paths) : -E2BIG;
    struct bytes rest = buf_bytes(&paths);
    while (r == 0 && rest.len > 0 && ret->len - before < from->bytes) {
        text_copy(path, sizeof(path), bytes_take_until(&rest, '\n'));
        if (count++ == 0)
            memcpy(first, path, sizeof(first));
        r = file_read(path, ret);
    }
    buf_done(&paths);
    if (r < 0)
        return r;
    if (ret->len - before > from->bytes)
        ret->len = before + from->bytes;
    struct study_source *source = &s->sources[s->source_count++];
    source->group = group;
    source->bytes = ret->len - before;
    text_copy(source->what, sizeof(source->what), bytes_str(from->what));
    snprintf(source->path, sizeof(source->path), "%.280s%s", first,
             count > 1 ? " and others" : "");
    return ask_levels(s, bytes_of(ret->data + before, source->bytes), source);
}

/* The first `share` of each file, and all of them as often as they fit. */
static int put_group(const struct buf *whole, const size_t ends[FILES], uint64_t bytes,
                     const char *path)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, .mode = 0644};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    ssize_t n = fd;
    uint64_t left = bytes;
    while (n >= 0 && left > 0) {
        uint64_t turn = left < whole->len ? left : whole->len;
        uint64_t put = 0;
        for (unsigned i = 0; n >= 0 && i < FILES; i++) {
            size_t start = i == 0 ? 0 : ends[i - 1];
            uint64_t upto = i + 1 == FILES ? turn : turn * ends[i] / whole->len;
            for (size_t at = 0; n >= 0 && put < upto; at += (size_t)n, put += (uint64_t)n)
                n = sys_write(fd, whole->data + start + at, (size_t)(upto - put));
        }
        left -= put;
    }
    sys_close(fd);
    return n < 0 ? (int)n : 0;
}

static int read_group(struct study *s, unsigned group, struct buf *whole, size_t ends[FILES])
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < FILES; i++) {
        r = read_source(s, group, &sources[group][i], whole);
        ends[i] = whole->len;
    }
    return r == 0 && whole->len == 0 ? -ENOENT : r;
}

static int add_part(struct study *s, unsigned group, const struct buf *whole,
                    const size_t ends[FILES], uint64_t bytes)
{
    struct study_data *d;
    char name[STUDY_LABEL_MAX];
    snprintf(name, sizeof(name), "group-%u-%u", group + 1, s->data_count);
    int number = new_data(s, name, s->place->datadir, &d);
    int r = number < 0 ? number : put_group(whole, ends, bytes, d->path);
    if (r < 0)
        return r;
    d->bytes = bytes;
    return number;
}

int data_group(struct study *s, unsigned group, unsigned count,
               uint64_t (*size)(const struct study *, unsigned i, uint64_t whole),
               unsigned ret[DATA_SIZES_MAX])
{
    struct buf whole;
    size_t ends[FILES];
    buf_init(&whole, GROUP_MAX);
    int r = read_group(s, group, &whole, ends);
    for (unsigned i = 0; r >= 0 && i < count; i++) {
        r = add_part(s, group, &whole, ends, size(s, i, whole.len));
        if (r < 0)
            break;
        ret[i] = (unsigned)r;
    }
    buf_done(&whole);
    return r < 0 ? r : 0;
}
