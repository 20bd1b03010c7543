/* Result codes of the whole tree.
 *
 * 0 or positive is success. A failure is -errno when a system call is the cause and -FERRY_E...
 * when it is ours; one int carries either. One table gives the texts, which are harmless: they
 * may be shown to a peer. Output parameters (ret_...) are written on success only.
 */
#pragma once

enum ferry_err {
    FERRY_EPROTO = 1000, /* the peer broke the protocol */
    FERRY_ELIMIT,        /* a bound of base/limits.h or of the settings was reached */
    FERRY_EAUTH,         /* wrong name, password or key; never says which */
    FERRY_ETRUNCATED,    /* the source ended before what it promised */
    FERRY_ECLOSED,       /* the peer closed the connection */
    FERRY_EQUOTA,        /* the account's quota is used up */
    FERRY_ERIGHTS,       /* the account has no right to do this here */
    FERRY_ENOTREG,       /* neither a regular file nor a directory */
    FERRY_ESTALLED,      /* no byte moved before the stall deadline */
    FERRY_EKICKED,       /* an administrator ended the session */
    FERRY_ESHUTDOWN,     /* the server is stopping */
    FERRY_EBADNAME,      /* a name that no file can have (NUL, too long, reserved) */
    FERRY_EBANNED,       /* too many failures from this address */
    FERRY_EREFUSED,      /* the server said no to a request of ours */
    FERRY_ERR_END
};

/* Never NULL; "success" for 0 and above, "unknown error" for what is not in the table.
 * Thread-safe (strerror is not used). */
const char *err_text(int result);

/* "ENOENT", "FERRY_EQUOTA"; "OK" for 0 and above, "?" if unknown. For logs. */
const char *err_name(int result);
