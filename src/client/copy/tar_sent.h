/* What is known of a directory that went as a stream of tar, when the stream did not end well:
 * what was told already, and which files the other end has whole. */
#pragma once
#include "client/copy/file.h"

#define COPY_SENT_DAMAGED_MAX 1024 /* names */
#define COPY_SENT_TOLD_MAX    65536

struct copy_sent {
    /* A file that the server's tar has unpacked has the time that was sent with it, which it
     * gets when it is complete. */
    bool keeps_times; /* its source's; else this: */
    int64_t mtime_us;
    bool is_ours; /* the directory was made by this command: what is in it came by the stream */
    bool tells_each; /* file that it brings, when it is whole */
    bool is_full;    /* the server's disk, or what it allows: nothing more is sent */
    uint64_t found_files, missing_files; /* counted by copy_sent_look() */
    /* the rest is tar_sent.c's own */
    char **damaged;
    unsigned damaged_count;
    uint64_t *told;
    unsigned told_count;
};

void copy_sent_done(struct copy_sent *);

/* Sent with zeros for its end. -ENOMEM; -FERRY_ELIMIT: COPY_SENT_DAMAGED_MAX. */
MUST_CHECK int copy_sent_add_damaged(struct copy_sent *, struct bytes path);
bool copy_sent_is_damaged(const struct copy_sent *, struct bytes path);
/* Its failure was told, so it is not told again; as far as memory goes. */
void copy_sent_add_told(struct copy_sent *, struct bytes path);
bool copy_sent_was_told(const struct copy_sent *, struct bytes path);

/* The words of a tar that had no room. Pure. */
bool copy_sent_words_say_full(struct bytes words);

/* Is it there as it was sent? 1; 0: it is not, and *ret_remains: something of that name is. */
PARKS MUST_CHECK int copy_sent_look(struct copy_sent *, struct endpoint *, const char *path,
                                    const struct endpoint_facts *source, bool *ret_remains);
