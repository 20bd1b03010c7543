/* The arguments of ferry cp. */
#pragma once
#include <stdio.h>

#include "base/attr.h"
#include "base/clock.h"
#include "client/place/location.h"
#include "codec/codec.h"

#define COPY_IDENTITIES_MAX 8

enum copy_method {
    COPY_METHOD_AUTO,
    COPY_METHOD_SFTP,
    COPY_METHOD_SCP,
    COPY_METHOD_TAR,
    COPY_METHOD_FTP,
    COPY_METHOD_LOCAL /* nobody asks for it: no server takes part */
};

const char *copy_method_name(enum copy_method);

struct copy_options {
    bool help, is_recursive, preserves, is_quiet, is_verbose, is_batch;
    bool resumes, verifies, explains, json, shows_progress;
    enum copy_method method;
    enum codec codec;
    int level;                          /* or COMPRESS_AUTO */
    bool is_codec_given, is_codec_free; /* free: "auto" */
    const char *cipher;                 /* NULL: automatic */
    uint16_t port;                      /* 0: not given */
    const char *config_file;
    const char *identities[COPY_IDENTITIES_MAX + 1];
    unsigned identity_count;
    uint64_t rate_bytes_per_s; /* 0: no limit */
    unsigned retries;
    usec_t stall_us, connect_us; /* 0: the usual */
    char **sources;              /* of argv, as the target */
    unsigned source_count;
    char *target;
};

#define COPY_DEFAULT_RETRIES 3

/* 0; -EINVAL: why was printed to err. Borrows argv. */
MUST_CHECK int copy_options_parse(int argc, char **argv, FILE *err, struct copy_options *ret);
void copy_options_print_help(FILE *);
