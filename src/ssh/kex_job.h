/* A key exchange as an object: what it knows, and its computations. For ssh/kex.c, and for
 * ssh/transport.c, which has one while it is under way.
 *
 * It is a pool job that owns all it needs. While the job runs it is the pool's: a task that is
 * cancelled then leaves it behind, and it frees itself (job.free). */
#pragma once
#include "base/buf.h"
#include "base/wire.h"
#include "crypto/agree.h"
#include "ssh/kex.h"
#include "ssh/wire/packet.h"

#define SSH_KEXINIT_OWN_MAX 2048
#define SSH_KEX_REPLY_MAX   4096 /* key and signature of RSA-8192, group 16 */

enum ssh_kex_step {
    SSH_KEX_ANSWER, /* the server's: own pair, secret, hash, signature, keys */
    SSH_KEX_CHECK   /* the client's: secret, hash, the server's signature, keys */
};

struct ssh_kex {
    struct job job;
    usec_t deadline;

    /* given */
    enum ssh_kex_step step;
    enum ssh_role role;
    struct ssh_chosen chosen;
    struct bytes own_ident; /* static text */
    struct ssh_ident peer_ident;
    struct ssh_hash session_id; /* len 0: this exchange's hash becomes it */
    struct buf own_kexinit, peer_kexinit;
    struct buf peer_public;
    struct crypto_key *signer;  /* server */
    struct crypto_agree *agree; /* a client has it from the start */

    /* server: made; client: given by the peer */
    struct buf host_key, signature;

    /* made */
    int result;
    struct ssh_hash hash;
    struct crypto_key *peer_key; /* client */
    struct ssh_cipher *sealing, *opening;
};

struct ssh_kex *ssh_kex_new(void);              /* NULL: no memory */
struct ssh_kex *ssh_kex_free(struct ssh_kex *); /* NULL is fine */
/* The computations of k->step, here and now. Its result is k->result, too. */
int ssh_kex_run(struct ssh_kex *);

enum crypto_agree_kind ssh_kex_agree(enum ssh_kex_kind);
/* A public value in INIT or REPLY: a string of a curve, an mpint of a group. */
void ssh_kex_put_public(struct wire_writer *, enum ssh_kex_kind, struct bytes);
struct bytes ssh_kex_get_public(struct wire_reader *, enum ssh_kex_kind);
