/* Requests, for who serves them and for who makes them: one table of kinds says name, extension
 * and fields of each. Pure; what a request points to lies in its message. */
#pragma once
#include <stdbool.h>

#include "sftp/wire/attributes.h"
#include "sftp/wire/message.h"

/* In the order of the table, whose names options and logs use (they are sftp-server's). */
enum sftp_kind {
    SFTP_KIND_OPEN,
    SFTP_KIND_CLOSE,
    SFTP_KIND_READ,
    SFTP_KIND_WRITE,
    SFTP_KIND_LSTAT,
    SFTP_KIND_FSTAT,
    SFTP_KIND_SETSTAT,
    SFTP_KIND_FSETSTAT,
    SFTP_KIND_OPENDIR,
    SFTP_KIND_READDIR,
    SFTP_KIND_REMOVE,
    SFTP_KIND_MKDIR,
    SFTP_KIND_RMDIR,
    SFTP_KIND_REALPATH,
    SFTP_KIND_STAT,
    SFTP_KIND_RENAME,
    SFTP_KIND_READLINK,
    SFTP_KIND_SYMLINK,
    SFTP_KIND_POSIX_RENAME,
    SFTP_KIND_STATVFS,
    SFTP_KIND_FSTATVFS,
    SFTP_KIND_HARDLINK,
    SFTP_KIND_FSYNC,
    SFTP_KIND_LSETSTAT,
    SFTP_KIND_LIMITS,
    SFTP_KIND_EXPAND_PATH,
    SFTP_KIND_COPY_DATA,
    SFTP_KIND_HOME_DIRECTORY,
    SFTP_KIND_COUNT,
    SFTP_KIND_UNKNOWN = SFTP_KIND_COUNT, /* to be answered with SFTP_OP_UNSUPPORTED */
};

struct sftp_kind_row {
    const char *name;
    const char *extension; /* of SFTP_EXTENDED; else NULL */
    const char *version;   /* of the extension, as VERSION tells it */
    const char *fields;    /* in their order, a letter each (see struct sftp_request) */
    enum sftp_type type;
    bool changes; /* is refused where nothing may be changed */
};

/* Never NULL; kind < SFTP_KIND_COUNT. */
const struct sftp_kind_row *sftp_kind_row(enum sftp_kind);
/* SFTP_KIND_UNKNOWN: there is none of that name. */
enum sftp_kind sftp_kind_named(struct bytes name);

struct sftp_request {
    enum sftp_kind kind;
    uint32_t id;
    struct bytes path;          /* p: or the target of SYMLINK, the user of home-directory */
    struct bytes to;            /* t: RENAME's new name, the link that SYMLINK makes */
    struct bytes handle;        /* h */
    struct bytes to_handle;     /* w */
    uint64_t offset, to_offset; /* o, O */
    uint64_t len;               /* l (four bytes), L (eight bytes) */
    uint32_t flags;             /* f: enum sftp_open_flag */
    struct sftp_attributes attributes; /* a */
    struct bytes data;                 /* d */
};

/* message: behind the length. -FERRY_EPROTO: too short for an id, and nobody can be answered.
 * -EBADMSG: kind and id are right, but fields are missing or longer than the message. Bytes
 * behind the last field are ignored, as sftp-server does. */
MUST_CHECK int sftp_request_parse(struct bytes message, struct sftp_request *ret);
/* With its length. The writer fails where it does not fit. */
void sftp_request_write(struct wire_writer *, const struct sftp_request *);
/* The head of a WRITE whose len bytes follow: SFTP_WRITE_HEAD bytes if the handle has
 * SFTP_HANDLE_BYTES. */
void sftp_write_head(struct wire_writer *, uint32_t id, struct bytes handle, uint64_t offset,
                     uint32_t len);
/* The same read: false if it is not of that form, or if the message's length is not what the
 * fields say. *ret has no data, and len. */
bool sftp_write_head_parse(const uint8_t at[SFTP_WRITE_HEAD], struct sftp_request *ret);

/* INIT: the version that the client speaks. Extensions behind it are ignored. -FERRY_EPROTO. */
MUST_CHECK int sftp_init_parse(struct bytes message, uint32_t *ret_version);
void sftp_init_write(struct wire_writer *, uint32_t version);
