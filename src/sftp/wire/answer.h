/* Answers, for who makes them and for who reads them. Pure; what an answer points to lies in
 * its message. A writer that is full leaves a whole answer out or fails. */
#pragma once
#include <stdbool.h>

#include "sftp/wire/attributes.h"
#include "sftp/wire/message.h"

/* -- writing: each with its length -- */

void sftp_put_version(struct wire_writer *, uint32_t version);
/* Behind sftp_put_version(), whose message it makes longer; start: what w->len was before. */
void sftp_add_extension(struct wire_writer *, size_t start, const char *name,
                        const char *version);

void sftp_put_status(struct wire_writer *, uint32_t id, enum sftp_status, const char *text);
void sftp_put_handle(struct wire_writer *, uint32_t id, struct bytes handle);
void sftp_put_attrs(struct wire_writer *, uint32_t id, const struct sftp_attributes *);
/* The head of a DATA answer whose len bytes follow. */
void sftp_data_head(uint8_t at[SFTP_DATA_HEAD], uint32_t id, uint32_t len);

/* Names: begin, add each, end. start: what w->len was before. */
void sftp_names_begin(struct wire_writer *, uint32_t id);
void sftp_names_add(struct wire_writer *, struct bytes name, struct bytes longname,
                    const struct sftp_attributes *);
void sftp_names_end(struct wire_writer *, size_t start, uint32_t count);

/* statvfs@openssh.com */
struct sftp_space {
    uint64_t block_bytes, fragment_bytes, blocks, blocks_free, blocks_available;
    uint64_t files, files_free, files_available, id, flags, name_max;
};

enum sftp_space_flag { SFTP_SPACE_READ_ONLY = 1 << 0, SFTP_SPACE_NO_SETUID = 1 << 1 };

void sftp_put_space(struct wire_writer *, uint32_t id, const struct sftp_space *);

/* limits@openssh.com */
struct sftp_limits {
    uint64_t packet_bytes, read_bytes, write_bytes, handles; /* 0: no bound is told */
};

void sftp_put_limits(struct wire_writer *, uint32_t id, const struct sftp_limits *);

/* -- reading -- */

struct sftp_answer {
    enum sftp_type type;
    uint32_t id; /* of SFTP_VERSION_ANSWER: the version */
    enum sftp_status status;
    struct bytes text;                 /* STATUS; may be absent */
    struct bytes handle;               /* HANDLE */
    struct bytes data;                 /* DATA */
    struct sftp_attributes attributes; /* ATTRS */
    uint32_t count;                    /* NAME */
    struct wire_reader rest; /* NAME, VERSION and EXTENDED_REPLY: what the next four read */
};

/* message: behind the length. -FERRY_EPROTO. */
MUST_CHECK int sftp_answer_parse(struct bytes message, struct sftp_answer *ret);
/* One name after the other; false: there is none left, or what is left is none. */
bool sftp_answer_name(struct sftp_answer *, struct bytes *ret_name, struct bytes *ret_longname,
                      struct sftp_attributes *ret);
bool sftp_answer_extension(struct sftp_answer *, struct bytes *ret_name,
                           struct bytes *ret_version);
MUST_CHECK int sftp_answer_space(struct sftp_answer *, struct sftp_space *ret);
MUST_CHECK int sftp_answer_limits(struct sftp_answer *, struct sftp_limits *ret);
