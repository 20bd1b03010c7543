#include "ssh/state.h"

#include "base/attr.h"

/* Sets of phases and of own roles, as bits. */
#define IN(phase)  (1u << SSH_PHASE_##phase)
#define FIRST      (IN(KEXINIT) | IN(KEX) | IN(NEWKEYS))
#define EXCHANGING (FIRST | IN(RUNNING_KEX) | IN(RUNNING_NEWKEYS))
#define SETTLED    (IN(SERVICE) | IN(AUTH) | IN(RUNNING))
#define ALIVE      (EXCHANGING | SETTLED)
#define BOTH       (1u << SSH_CLIENT | 1u << SSH_SERVER)
#define CLIENT     (1u << SSH_CLIENT)
#define SERVER     (1u << SSH_SERVER)

/* What is accepted, and by whom. A message that stands here is refused in every other phase;
 * one that does not is unknown. Rows of one message add up. */
static const struct {
    uint8_t message;
    uint8_t roles;
    uint16_t phases;
} accepted[] = {
    {SSH_MSG_DISCONNECT, BOTH, ALIVE},
    {SSH_MSG_SERVICE_REQUEST, SERVER, IN(SERVICE)},
    {SSH_MSG_SERVICE_ACCEPT, CLIENT, IN(SERVICE)},
    {SSH_MSG_EXT_INFO, SERVER, IN(SERVICE)},
    {SSH_MSG_EXT_INFO, CLIENT, IN(SERVICE) | IN(AUTH)},
    {SSH_MSG_KEXINIT, BOTH, IN(KEXINIT) | IN(RUNNING)},
    {SSH_MSG_NEWKEYS, BOTH, IN(NEWKEYS) | IN(RUNNING_NEWKEYS)},
    {SSH_MSG_KEXDH_INIT, SERVER, IN(KEX) | IN(RUNNING_KEX)},
    {SSH_MSG_KEXDH_REPLY, CLIENT, IN(KEX) | IN(RUNNING_KEX)},
    {SSH_MSG_USERAUTH_REQUEST, SERVER, IN(AUTH)},
    {SSH_MSG_USERAUTH_FAILURE, CLIENT, IN(AUTH)},
    {SSH_MSG_USERAUTH_SUCCESS, CLIENT, IN(AUTH)},
    {SSH_MSG_USERAUTH_BANNER, CLIENT, IN(AUTH)},
    {SSH_MSG_USERAUTH_PK_OK, CLIENT, IN(AUTH)},
    {SSH_MSG_GLOBAL_REQUEST, BOTH, IN(RUNNING)},
    {SSH_MSG_REQUEST_SUCCESS, BOTH, IN(RUNNING)},
    {SSH_MSG_REQUEST_FAILURE, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_OPEN, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_OPEN_CONFIRMATION, CLIENT, IN(RUNNING)},
    {SSH_MSG_CHANNEL_OPEN_FAILURE, CLIENT, IN(RUNNING)},
    {SSH_MSG_CHANNEL_WINDOW_ADJUST, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_DATA, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_EXTENDED_DATA, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_EOF, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_CLOSE, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_REQUEST, BOTH, IN(RUNNING)},
    {SSH_MSG_CHANNEL_SUCCESS, CLIENT, IN(RUNNING)},
    {SSH_MSG_CHANNEL_FAILURE, CLIENT, IN(RUNNING)},
    {SSH_MSG_PING, BOTH, IN(RUNNING)},
    {SSH_MSG_PONG, BOTH, IN(RUNNING)},
};

/* What has no effect: "may be sent at any time" (RFC 4253 11), and a request to log in that was
 * under way when the login succeeded (RFC 4252 5.3). */
static const struct {
    uint8_t message;
    uint8_t roles;
    uint16_t phases;
} ignored[] = {
    {SSH_MSG_IGNORE, BOTH, ALIVE},
    {SSH_MSG_UNIMPLEMENTED, BOTH, ALIVE},
    {SSH_MSG_DEBUG, BOTH, ALIVE},
    {SSH_MSG_USERAUTH_REQUEST, SERVER, IN(RUNNING)},
};

enum ssh_verdict ssh_state_verdict(enum ssh_role own, enum ssh_phase phase, bool strict,
                                   uint8_t message)
{
    unsigned role_bit = 1u << own, phase_bit = 1u << phase;
    bool is_known = false;
    for (unsigned i = 0; i < ARRAY_LEN(accepted); i++) {
        if (accepted[i].message != message)
            continue;
        is_known = true;
        if ((accepted[i].roles & role_bit) != 0 && (accepted[i].phases & phase_bit) != 0)
            return SSH_ACCEPT;
    }
    bool is_exchange = (EXCHANGING & phase_bit) != 0;
    bool is_strict = strict && (FIRST & phase_bit) != 0;
    for (unsigned i = 0; i < ARRAY_LEN(ignored) && !is_strict; i++)
        if (ignored[i].message == message && (ignored[i].roles & role_bit) != 0 &&
            (ignored[i].phases & phase_bit) != 0)
            return SSH_IGNORE;
    if (is_known || is_exchange || phase == SSH_PHASE_ENDED || message == 0)
        return SSH_REFUSE;
    return SSH_UNIMPLEMENTED;
}

const char *ssh_phase_name(enum ssh_phase phase)
{
    static const char *const names[SSH_PHASE_COUNT] = {
        [SSH_PHASE_KEXINIT] = "greeting",
        [SSH_PHASE_KEX] = "key exchange",
        [SSH_PHASE_NEWKEYS] = "key exchange",
        [SSH_PHASE_SERVICE] = "service request",
        [SSH_PHASE_AUTH] = "authentication",
        [SSH_PHASE_RUNNING] = "connection",
        [SSH_PHASE_RUNNING_KEX] = "rekeying",
        [SSH_PHASE_RUNNING_NEWKEYS] = "rekeying",
        [SSH_PHASE_ENDED] = "end",
    };
    return names[phase];
}
