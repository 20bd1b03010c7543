/* A client of SFTP that asks by hand and waits for each answer. */
#pragma once
#include <errno.h>

#include "base/err.h"
#include "runtime_fixture.h"
#include "sftp_setup.h"

static inline bool read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The next answer; false: the server has gone. */
static inline bool client_receive(struct harness *h)
{
    uint8_t length[SFTP_LENGTH_BYTES];
    if (!read_all(h->stream, length, sizeof(length)))
        return false;
    size_t len = wire_u32(length);
    TASK_ASSERT(len <= sizeof(h->message));
    if (!read_all(h->stream, h->message, len))
        return false;
    TASK_ASSERT(sftp_answer_parse(bytes_of(h->message, len), &h->answer) == 0);
    return true;
}

static inline bool client_write(struct harness *h, struct bytes data)
{
    return stream_write_bytes(h->stream, data) == 0;
}

/* Sends a request, which gets an id, without waiting for its answer. */
static inline bool client_send(struct harness *h, struct sftp_request q)
{
    static uint8_t request[SFTP_MESSAGE_MAX + SFTP_LENGTH_BYTES];
    if (h->pauses)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    q.id = ++h->last_id;
    sftp_request_write(&w, &q);
    TASK_ASSERT(wire_write_end(&w) == 0);
    return client_write(h, bytes_of(request, w.len));
}

/* -1: the server has gone; else the type of the answer. */
static inline int client_ask(struct harness *h, struct sftp_request q)
{
    if (!client_send(h, q) || !client_receive(h))
        return -1;
    TASK_ASSERT(h->answer.id == h->last_id);
    return (int)h->answer.type;
}

/* The status of an answer that is one; -1 where it is none or nobody answers. */
static inline int client_status(struct harness *h, struct sftp_request q)
{
    int type = client_ask(h, q);
    return type == SFTP_STATUS ? (int)h->answer.status : -1;
}

static inline bool client_begin(struct harness *h)
{
    uint8_t request[16];
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    sftp_init_write(&w, SFTP_VERSION);
    return client_write(h, bytes_of(request, w.len)) && client_receive(h) &&
           h->answer.type == SFTP_VERSION_ANSWER;
}

struct client_handle {
    uint8_t data[SFTP_HANDLE_BYTES];
};

static inline struct bytes handle_bytes(const struct client_handle *handle)
{
    return bytes_of(handle->data, sizeof(handle->data));
}

static inline int client_open_as(struct harness *h, enum sftp_kind kind, const char *path,
                                 uint32_t flags, struct client_handle *ret)
{
    int type = client_ask(
        h, (struct sftp_request){.kind = kind, .path = bytes_str(path), .flags = flags});
    if (type == SFTP_HANDLE) {
        TASK_ASSERT(h->answer.handle.len == SFTP_HANDLE_BYTES);
        memcpy(ret->data, h->answer.handle.data, SFTP_HANDLE_BYTES);
        return SFTP_OK;
    }
    return type == SFTP_STATUS ? (int)h->answer.status : -1;
}

static inline int client_open(struct harness *h, const char *path, uint32_t flags,
                              struct client_handle *ret)
{
    return client_open_as(h, SFTP_KIND_OPEN, path, flags, ret);
}

#define CLIENT_CREATES (SFTP_OPEN_WRITE | SFTP_OPEN_CREATE | SFTP_OPEN_TRUNCATE)

static inline int client_close(struct harness *h, const struct client_handle *handle)
{
    return client_status(
        h, (struct sftp_request){.kind = SFTP_KIND_CLOSE, .handle = handle_bytes(handle)});
}

static inline int client_put(struct harness *h, const struct client_handle *handle,
                             uint64_t offset, struct bytes data)
{
    return client_status(h, (struct sftp_request){.kind = SFTP_KIND_WRITE,
                                                  .handle = handle_bytes(handle),
                                                  .offset = offset,
                                                  .len = data.len,
                                                  .data = data});
}

/* SFTP_DATA or SFTP_STATUS. */
static inline int client_get(struct harness *h, const struct client_handle *handle,
                             uint64_t offset, uint32_t len)
{
    return client_ask(h, (struct sftp_request){.kind = SFTP_KIND_READ,
                                               .handle = handle_bytes(handle),
                                               .offset = offset,
                                               .len = len});
}

static inline int client_path(struct harness *h, enum sftp_kind kind, const char *path)
{
    return client_ask(h, (struct sftp_request){.kind = kind, .path = bytes_str(path)});
}

static inline int client_paths(struct harness *h, enum sftp_kind kind, const char *path,
                               const char *to)
{
    return client_status(
        h, (struct sftp_request){.kind = kind, .path = bytes_str(path), .to = bytes_str(to)});
}

static inline bool put_file(struct harness *h, const char *path, struct bytes data)
{
    struct client_handle handle;
    return client_open(h, path, CLIENT_CREATES, &handle) == SFTP_OK &&
           client_put(h, &handle, 0, data) == SFTP_OK && client_close(h, &handle) == SFTP_OK;
}
