/* Between the files of the SFTP client. */
#pragma once
#include "base/buf.h"
#include "io/chunk.h"
#include "sftp/client.h"
#include "sftp/flight.h"
#include "sftp/input.h"

#define SFTP_SLOTS_MAX  1024 /* requests that are not answered */
#define SFTP_FLOW_SLOTS 768  /* of them one transfer's */
#define SFTP_READ_USUAL (32 * 1024)
#define SFTP_HEAD_BYTES 25 /* of a READ, or of a WRITE without data, less the handle */

enum sftp_waiting { SFTP_SLOT_FREE, SFTP_SLOT_CALL, SFTP_SLOT_READ, SFTP_SLOT_WRITE };

/* A request that is not answered; its index is part of its id. */
struct sftp_slot {
    enum sftp_waiting waiting;
    uint32_t id;
    struct sftp_call *call; /* NULL: whoever asked has left */
    struct sftp_flow *flow; /* likewise */
    uint64_t offset;
    uint32_t len;
};

/* One answer that a task waits for. Lies on its stack, and leaves before it goes. */
struct sftp_call {
    struct event answered;
    int result;
    struct buf message; /* what the answer lies in */
    struct sftp_answer answer;
};

struct sftp_part {
    uint64_t offset;
    uint32_t len;
};

/* A whole file that is on its way; it leaves before its task goes. */
struct sftp_flow {
    struct event moved; /* something was answered */
    sftp_sink *sink;
    void *arg;
    struct sftp_flight flight;
    unsigned open;          /* requests that are not answered */
    uint64_t in_flight;     /* their bytes */
    uint64_t next;          /* where the next request begins */
    uint64_t end;           /* nothing is asked for from here on */
    uint64_t data_end;      /* behind the last byte that came */
    uint64_t bytes;         /* that came, or were written */
    struct sftp_part *gaps; /* what short answers have left */
    unsigned gap_count, gap_room;
    int result; /* the first failure */
};

/* Pieces that wait for their flow's sink: answers that follow each other are one call. */
struct sftp_batch {
    struct sftp_flow *flow;
    uint64_t offset;
    size_t len;
    unsigned count;
    struct iovec pieces[ROOM_PIECES_MAX];
};

struct sftp_client {
    struct stream *stream;
    usec_t stall_us;
    uint64_t in_flight_max;
    uint64_t kinds; /* a bit for each that the server has */
    uint32_t read_bytes, write_bytes;
    char why[SFTP_CLIENT_WHY_MAX];

    struct scope scope; /* of the reading task */
    struct task *reader;
    struct sftp_input input;
    usec_t heard_at;
    int broken; /* why nothing more comes */
    struct sftp_slot *slots;
    unsigned slot_count, slots_used;
    uint32_t last_generation;
    struct sftp_batch batch;
    struct sftp_flow *sinking; /* whose sink runs */
    struct event sunk;         /* it has returned */

    bool is_sending; /* one task at a time writes messages */
    struct event may_send;
};

/* -- sending (client.c) -- */

/* One task at a time, which has at least one slot. A failure breaks the client, as half a
 * message may have gone. */
PARKS MUST_CHECK int sftp_turn_begin(struct sftp_client *);
void sftp_turn_end(struct sftp_client *, int result);
/* -EAGAIN: all are used; -ENOMEM. */
MUST_CHECK int sftp_slot_new(struct sftp_client *, const struct sftp_slot *, uint32_t *ret_id);
/* Of a request that was not sent after all. */
void sftp_slot_drop(struct sftp_client *, uint32_t id);
void sftp_client_break(struct sftp_client *, int result);
/* Until the event is set, which a break does too. -FERRY_ESTALLED breaks the client. */
PARKS MUST_CHECK int sftp_client_wait(struct sftp_client *, struct event *);

/* Sends the request, which gets an id. */
PARKS MUST_CHECK int sftp_call_send(struct sftp_client *, struct sftp_request *,
                                    struct sftp_call *);
/* 0: call->answer is of the type, or a status that is right if that is what was asked for; or a
 * failure. sftp_call_done() follows each send, whatever came of it. */
PARKS MUST_CHECK int sftp_call_wait(struct sftp_client *, struct sftp_call *, enum sftp_type);
void sftp_call_done(struct sftp_client *, struct sftp_call *);
/* A request whose answer nobody needs. */
PARKS MUST_CHECK int sftp_tell(struct sftp_client *, struct sftp_request *);
/* A request that a status answers. */
PARKS MUST_CHECK int sftp_ask_status(struct sftp_client *, struct sftp_request *);
/* What a status is to us, which the client remembers in words. */
int sftp_client_result(struct sftp_client *, const struct sftp_answer *);

/* -- reading (client_reader.c) -- */

void sftp_reader_main(void *arg); /* the client */
/* The flow's task leaves: no answer goes to it from now on. Waits for its sink. */
PARKS void sftp_flow_leave(struct sftp_client *, struct sftp_flow *);
