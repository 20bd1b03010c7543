#include "ftp/commands.h"

#include <string.h>

#include "check.h"
#include "ftp/session.h"

static const char *const promised[] = {
    "USER", "PASS", "ACCT", "CWD",  "CDUP", "QUIT", "REIN", "PORT", "PASV", "EPRT",
    "EPSV", "TYPE", "STRU", "MODE", "RETR", "STOR", "STOU", "APPE", "ALLO", "REST",
    "RNFR", "RNTO", "ABOR", "DELE", "RMD",  "MKD",  "PWD",  "LIST", "NLST", "MLST",
    "MLSD", "SIZE", "MDTM", "MFMT", "SITE", "SYST", "STAT", "HELP", "NOOP", "FEAT",
    "OPTS", "XCUP", "XCWD", "XMKD", "XPWD", "XRMD",
};

static bool is_one_of(const char *verb, const char *const *verbs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(verbs[i], verb) == 0)
            return true;
    return false;
}

/* The commands with this flag are exactly these. */
static void assert_flag_is_of(unsigned flag, const char *const *verbs, unsigned verb_count)
{
    unsigned count, found = 0;
    const struct ftp_command *commands = ftp_commands(&count);
    for (unsigned i = 0; i < count; i++) {
        bool is_set = (commands[i].flags & flag) != 0;
        if (is_set != is_one_of(commands[i].verb, verbs, verb_count))
            fail_msg("%s", commands[i].verb);
        found += is_set;
    }
    assert_int_equal(found, verb_count);
}

static void has_every_promised_command_and_no_other(void **state)
{
    (void)state;
    unsigned count;
    (void)ftp_commands(&count);
    assert_int_equal(count, ARRAY_LEN(promised));
    for (unsigned i = 0; i < ARRAY_LEN(promised); i++)
        if (ftp_command_find(promised[i]) == NULL)
            fail_msg("%s is missing", promised[i]);
    assert_null(ftp_command_find("AUTH"));
    assert_null(ftp_command_find("retr"));
    assert_null(ftp_command_find(""));
}

static void every_row_has_a_handler_and_help(void **state)
{
    (void)state;
    unsigned count;
    const struct ftp_command *commands = ftp_commands(&count);
    for (unsigned i = 0; i < count; i++) {
        assert_non_null(commands[i].run);
        assert_true(strlen(commands[i].help) > 0);
        assert_ptr_equal(ftp_command_find(commands[i].verb), &commands[i]); /* none twice */
        bool takes = (commands[i].flags & (FTP_TAKES_TEXT | FTP_TAKES_PATH)) != 0;
        if (takes && commands[i].syntax[0] == '\0')
            fail_msg("%s does not say what it takes", commands[i].verb);
        if (commands[i].rights != 0 && (commands[i].flags & FTP_TAKES_PATH) == 0)
            fail_msg("%s has rights and no path to check them at", commands[i].verb);
    }
}

static void before_login_only_harmless_commands_run(void **state)
{
    (void)state;
    static const char *const verbs[] = {"USER", "PASS", "ACCT", "REIN", "QUIT",
                                        "OPTS", "SYST", "FEAT", "HELP", "NOOP"};
    assert_flag_is_of(FTP_BEFORE_LOGIN, verbs, ARRAY_LEN(verbs));
}

static void during_a_transfer_four_commands_are_answered(void **state)
{
    (void)state;
    static const char *const verbs[] = {"ABOR", "STAT", "NOOP", "QUIT"};
    assert_flag_is_of(FTP_DURING_TRANSFER, verbs, ARRAY_LEN(verbs));
}

static void every_extension_is_announced(void **state)
{
    (void)state;
    static const char *const verbs[] = {"MODE", "OPTS", "EPSV", "EPRT", "REST",
                                        "MLST", "SIZE", "MDTM", "MFMT"};
    unsigned count;
    const struct ftp_command *commands = ftp_commands(&count);
    for (unsigned i = 0; i < count; i++)
        if ((commands[i].feature != NULL) !=
            is_one_of(commands[i].verb, verbs, ARRAY_LEN(verbs)))
            fail_msg("%s", commands[i].verb);
}

static void an_idle_session_is_small(void **state)
{
    (void)state;
    /* with its stream (64 bytes), its descriptor and the account's view it stays about 1 KB */
    assert_true(sizeof(struct ftp_session) <= 448);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_promised_command_and_no_other),
        cmocka_unit_test(every_row_has_a_handler_and_help),
        cmocka_unit_test(before_login_only_harmless_commands_run),
        cmocka_unit_test(during_a_transfer_four_commands_are_answered),
        cmocka_unit_test(every_extension_is_announced),
        cmocka_unit_test(an_idle_session_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
