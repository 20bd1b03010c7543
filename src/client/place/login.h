/* Connecting to a place: addresses, ssh's configuration, keys, agent, passwords, .netrc, and
 * the questions that only a person can answer.
 *
 * One struct login_settings for a command; one link for each server that it talks to.
 */
#pragma once
#include "client/place/location.h"
#include "codec/codec.h"
#include "ftp/client.h"
#include "ssh/client.h"
#include "ssh/connection.h"
#include "task/pool.h"
#include "task/task.h"

#define LOGIN_WHY_MAX 512

struct login_settings {
    struct pool *pool;             /* key exchange, files; the resolver */
    struct scope *scope;           /* of the tasks that read; outlives the links */
    usec_t connect_us;             /* for everything until the login; 0: DEFAULT_CONNECT_US */
    usec_t stall_us;               /* 0: DEFAULT_STALL_US */
    const char *ciphers;           /* NULL: configuration's, or the order of this CPU */
    enum codec codec;              /* CODEC_ZLIB: zlib@openssh.com with the level below; NONE */
    int level;                     /* or COMPRESS_AUTO (io/compress.h) */
    bool is_codec_given;           /* else the configuration's Compression rules */
    const char *config_file;       /* -F; NULL: $HOME/.ssh/config; "none": no file */
    const char *const *identities; /* -i, ends with NULL; or NULL */
    bool is_batch;                 /* ask nobody */
    bool is_verbose;               /* -v: steps on standard error */
};

/* -- ssh -- */

struct ssh_link {
    struct ssh_client *client;
    struct ssh_connection *connection;
    char *host; /* as people know it, for messages */
    /* what the server calls itself */
    bool is_ferry;
    bool has_compression;             /* it can, whether it was asked to or not */
    const char *cipher, *compression; /* names of what was agreed */
};

/* -FERRY_EAUTH, -ETIMEDOUT, -ECONNREFUSED ...; ret_why is a sentence that names host, what
 * failed, and what to do. */
PARKS MUST_CHECK int ssh_link_open(const struct location *, const struct login_settings *,
                                   char ret_why[LOGIN_WHY_MAX], struct ssh_link **ret);
PARKS struct ssh_link *ssh_link_close(struct ssh_link *); /* NULL is fine */

/* -- ftp -- */

struct ftp_link {
    struct ftp_client client;
    struct ftp_client_settings settings;
    char *host;
    /* of FEAT */
    bool has_mlst, has_size, has_mdtm, has_mfmt, has_rest, has_mode_z, has_hash;
    bool compresses; /* MODE Z is on: it was asked for, and the server has it */
};

PARKS MUST_CHECK int ftp_link_open(const struct location *, const struct login_settings *,
                                   char ret_why[LOGIN_WHY_MAX], struct ftp_link **ret);
PARKS struct ftp_link *ftp_link_close(struct ftp_link *); /* NULL is fine */
