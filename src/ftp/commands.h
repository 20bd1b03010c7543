/* The command table: what ferry's FTP server knows, in one place. HELP, FEAT and the documents
 * come from it. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "ftp/wire/command.h"
#include "vfs/path.h"

struct ftp_session;

struct ftp_args {
    struct bytes text;        /* as the client sent it; borrowed from the line */
    const struct vpath *path; /* FTP_TAKES_PATH, FTP_MAY_TAKE_PATH: resolved; else NULL */
};

enum ftp_command_flag {
    FTP_BEFORE_LOGIN = 1 << 0,    /* allowed before login; after it everything is */
    FTP_DURING_TRANSFER = 1 << 1, /* answered while data flows; all others wait for its end */
    FTP_TAKES_TEXT = 1 << 2,      /* an argument is required */
    FTP_TAKES_PATH = 1 << 3,      /* and is a path, given to the handler resolved */
    FTP_MAY_TAKE_PATH = 1 << 4,   /* the working directory if there is none */
};

struct ftp_command {
    char verb[FTP_VERB_MAX + 1];
    unsigned flags;
    unsigned rights; /* one of these is needed at the path (vfs/ checks the rest); 0: none */
    PARKS int (*run)(struct ftp_session *, const struct ftp_args *);
    const char *syntax;  /* of the arguments; "": none */
    const char *help;    /* what it does, for HELP */
    const char *feature; /* FEAT's line (RFC 2389); NULL: an old command needs none */
};

/* In the order of HELP. */
const struct ftp_command *ftp_commands(unsigned *ret_count);
const struct ftp_command *ftp_command_find(const char *verb); /* capitals; NULL: unknown */

/* Runs one command line, or holds it (is_holding) for the end of the transfer. 0, or what ends
 * the session. */
PARKS MUST_CHECK int ftp_command_run(struct ftp_session *, struct bytes line);
