/* One test of an SFTP server in memory: what is asked for, and what came of it. */
#pragma once
#include <string.h>

#include "base/fault.h"
#include "check.h"
#include "io/memory.h"
#include "sftp/server.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"

#define AUDIT_MAX 16384

struct harness {
    const char *root; /* a folder that is there */
    uint64_t seed;
    uint64_t cut;    /* 0: nothing is cut */
    size_t cap;      /* of the pair; 0: 64 KB */
    unsigned rights; /* 0: all */
    bool pauses;     /* before each request, so that the server dozes */
    bool is_plain;   /* uploads go to their name at once */
    uint64_t quota_bytes;
    struct sftp_settings settings;
    enum fault_kind fault;
    uint64_t nth;     /* 0: none */
    uint64_t counted; /* calls of that kind */
    void (*client)(struct harness *);
    void *state;

    struct stream *stream; /* the client's end */
    struct sftp_server *server;
    struct stream *server_stream;
    int result; /* of the server's last run */
    unsigned dozed;
    bool has_ended;
    bool is_dropped; /* by the client: the server is freed where it dozes */
    uint32_t last_id;
    struct sftp_answer answer; /* the last one; it lies in message */
    uint8_t message[SFTP_MESSAGE_MAX];
};

static char audit_lines[AUDIT_MAX];
static size_t audit_len;

static inline void note_audit(const char *line, size_t len)
{
    if (audit_len + len < AUDIT_MAX)
        memcpy(audit_lines + audit_len, line, len);
    audit_len += len;
    audit_lines[audit_len < AUDIT_MAX ? audit_len : AUDIT_MAX - 1] = '\0';
}
