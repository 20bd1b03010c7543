/* From inside. */
#pragma once
#include <archive.h>
#include <archive_entry.h>

#include "base/limits.h"
#include "tar/tar.h"
#include "tar/zstd.h"

struct tar {
    struct tar *next; /* that runs on this worker */
    const struct tar_request *request;
    bool has_failed;
    int error; /* of the stream, in a callback of libarchive */
    struct archive *archive;
    struct archive_entry *entry;

    /* reading */
    struct slices slices; /* what was taken last; libarchive is in piece `piece` */
    unsigned piece;
    uint8_t head[4]; /* of the stream: says how it is compressed */
    size_t head_len;
    bool is_head_read, is_zstd;
    struct zstd_frames frames;
    const char *refused; /* what was refused, if not just the archive */
    bool is_broken;      /* the archive, in the contents of an entry */
    bool is_in_header;   /* libarchive looks for the next entry */
    int64_t header_start;

    char text[PATH_LEN_MAX + 1]; /* target of a link */
};

/* Runs work(tar) in a task with a large stack, to its end. */
PARKS MUST_CHECK int tar_run(const struct tar_request *, PARKS int (*work)(struct tar *));
/* What an archive's call failed with: the stream's failure, or what is wrong with the bytes. */
int tar_failure(const struct tar *);
/* 0, or the failure of the stream, or a cancel. */
PARKS MUST_CHECK int tar_complain(struct tar *, const char *path, int error);

/* -- libarchive's ends -- */

MUST_CHECK int tar_open_input(struct tar *);
void tar_close_input(struct tar *);
/* As archive_read_next_header(), bounded: 1, 0: the end. */
PARKS MUST_CHECK int tar_next_entry(struct tar *);
/* All of its contents, holes as zeros; a failure is as of tar_failure(). */
PARKS MUST_CHECK int tar_read_contents(struct tar *, uint8_t *to, size_t len);
/* What nobody read of this entry. */
PARKS MUST_CHECK int tar_skip_body(struct tar *);

/* The contents of the entry as a stream, holes as zeros, up to its size. */
struct tar_body {
    struct stream stream;
    struct tar *tar;
    const uint8_t *block; /* libarchive's; len bytes that belong at `at` */
    size_t len;
    uint64_t at, offset, size;
    bool has_ended;
};

void tar_body_init(struct tar_body *, struct tar *, uint64_t size);
