/* The state table walked whole, against a list that was written from the RFCs by hand. */
#include "ssh/state.h"

#include <string.h>

#include "base/attr.h"
#include "check.h"

/* One character for each phase, in the order of enum ssh_phase: */
// clang-format off
/*     K  KEXINIT awaited (first)    X  INIT or REPLY awaited (first)    N  NEWKEYS awaited (first)
 *     S  service                    A  authentication                   R  running
 *     x  INIT or REPLY awaited      n  NEWKEYS awaited (again)          E  ended */
// clang-format on
/* In a row: '+' accepted, 'i' ignored, '-' the connection ends, 'u' answered with
 * UNIMPLEMENTED. */
#define PHASES 9

struct row {
    uint8_t first, last;  /* messages */
    const char *verdicts; /*           KXNSARxnE */
};

/* What a server hears. */
static const struct row server_rows[] = {
    {0, 0, "---------"},   /* no such message */
    {1, 1, "++++++++-"},   /* DISCONNECT (RFC 4253 11.1): at any time */
    {2, 2, "iiiiiiii-"},   /* IGNORE (11.2): any time after the ident */
    {3, 3, "iiiiiiii-"},   /* UNIMPLEMENTED (11.4) */
    {4, 4, "iiiiiiii-"},   /* DEBUG (11.3) */
    {5, 5, "---+-----"},   /* SERVICE_REQUEST (10), not during an exchange (7.1) */
    {6, 6, "---------"},   /* SERVICE_ACCEPT is a server's */
    {7, 7, "---+-----"},   /* EXT_INFO of a client: behind its first NEWKEYS (RFC 8308 2.4) */
    {8, 19, "---uuu---"},  /* unknown of the transport; an exchange knows what may come (7.1) */
    {20, 20, "+----+---"}, /* KEXINIT: first of all, and when it runs (9) */
    {21, 21, "--+----+-"}, /* NEWKEYS: when keys are there (7.3) */
    {22, 29, "---uuu---"},
    {30, 30, "-+----+--"}, /* INIT of a client (8) */
    {31, 31, "---------"}, /* REPLY is a server's */
    {32, 49, "---uuu---"},
    {50, 50,
     "----+i---"}, /* USERAUTH_REQUEST (RFC 4252 5); after the login without effect (5.3) */
    {51, 53, "---------"}, /* FAILURE, SUCCESS, BANNER are a server's */
    {54, 59, "---uuu---"},
    {60, 60, "---------"}, /* PK_OK is a server's */
    {61, 79, "---uuu---"},
    {80, 82,
     "-----+---"}, /* global requests and answers (RFC 4254 4), after the login (RFC 4252 6) */
    {83, 89, "---uuu---"},
    {90, 90, "-----+---"},  /* CHANNEL_OPEN */
    {91, 92, "---------"},  /* answers to an open; a server opens none */
    {93, 98, "-----+---"},  /* WINDOW_ADJUST to CHANNEL_REQUEST */
    {99, 100, "---------"}, /* answers to a request; a server asks for none */
    {101, 191, "---uuu---"},
    {192, 193, "-----+---"}, /* PING, PONG (OpenSSH's PROTOCOL 1.8) */
    {194, 255, "---uuu---"},
};

/* What a client hears. */
static const struct row client_rows[] = {
    {0, 0, "---------"},     {1, 1, "++++++++-"},     {2, 4, "iiiiiiii-"},
    {5, 5, "---------"}, /* SERVICE_REQUEST is a client's */
    {6, 6, "---+-----"}, /* SERVICE_ACCEPT */
    {7, 7, "---++----"}, /* EXT_INFO: behind NEWKEYS, and before SUCCESS (RFC 8308 2.4) */
    {8, 19, "---uuu---"},    {20, 20, "+----+---"},   {21, 21, "--+----+-"},
    {22, 29, "---uuu---"},   {30, 30, "---------"}, /* INIT is a client's */
    {31, 31, "-+----+--"},                          /* REPLY */
    {32, 49, "---uuu---"},   {50, 50, "---------"}, /* a request is a client's */
    {51, 53, "----+----"},                          /* FAILURE, SUCCESS, BANNER (RFC 4252 5) */
    {54, 59, "---uuu---"},   {60, 60, "----+----"}, /* PK_OK, PASSWD_CHANGEREQ */
    {61, 79, "---uuu---"},   {80, 82, "-----+---"},   {83, 89, "---uuu---"},
    {90, 100, "-----+---"}, /* all of RFC 4254 */
    {101, 191, "---uuu---"}, {192, 193, "-----+---"}, {194, 255, "---uuu---"},
};

/* Strict exchange: in the first three phases nothing but what is awaited, and DISCONNECT. */
static char strict_of(char verdict, unsigned phase)
{
    return phase <= SSH_PHASE_NEWKEYS && verdict != '+' ? '-' : verdict;
}

static const char signs[] = {
    [SSH_ACCEPT] = '+', [SSH_IGNORE] = 'i', [SSH_UNIMPLEMENTED] = 'u', [SSH_REFUSE] = '-'};

static void walk(enum ssh_role role, const struct row *rows, unsigned count)
{
    unsigned next = 0; /* every message stands in one row */
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(rows[i].first, next);
        assert_int_equal(strlen(rows[i].verdicts), PHASES);
        for (unsigned message = rows[i].first; message <= rows[i].last; message++) {
            for (unsigned phase = 0; phase < PHASES; phase++) {
                char want = rows[i].verdicts[phase];
                char is = signs[ssh_state_verdict(role, (enum ssh_phase)phase, false,
                                                  (uint8_t)message)];
                char is_strict = signs[ssh_state_verdict(role, (enum ssh_phase)phase, true,
                                                         (uint8_t)message)];
                if (is != want || is_strict != strict_of(want, phase))
                    fail_msg("role %d, message %u, phase %u: %c, strict %c, want %c", (int)role,
                             message, phase, is, is_strict, want);
            }
        }
        next = rows[i].last + 1u;
    }
    assert_int_equal(next, 256);
}

static void a_server_hears_what_the_rfcs_let_it_hear(void **state)
{
    (void)state;
    assert_int_equal(PHASES, SSH_PHASE_COUNT);
    walk(SSH_SERVER, server_rows, ARRAY_LEN(server_rows));
}

static void a_client_hears_what_the_rfcs_let_it_hear(void **state)
{
    (void)state;
    walk(SSH_CLIENT, client_rows, ARRAY_LEN(client_rows));
}

static void every_phase_has_a_name(void **state)
{
    (void)state;
    for (unsigned phase = 0; phase < SSH_PHASE_COUNT; phase++)
        assert_true(strlen(ssh_phase_name((enum ssh_phase)phase)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_hears_what_the_rfcs_let_it_hear),
        cmocka_unit_test(a_client_hears_what_the_rfcs_let_it_hear),
        cmocka_unit_test(every_phase_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
