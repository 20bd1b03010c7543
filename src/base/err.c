#include "base/err.h"

#include <errno.h>
#include <stddef.h>

#include "base/attr.h"

/* The texts are for people who know no errno: what happened, in lower case, without a path, a
 * name or an address in it. */
#define ROW(code, text)                                                                        \
    {                                                                                          \
        code, #code, text                                                                      \
    }

static const struct {
    int code;
    const char *name;
    const char *text;
} table[] = {
    ROW(FERRY_EPROTO, "the peer broke the protocol"),
    ROW(FERRY_ELIMIT, "a limit was reached"),
    ROW(FERRY_EAUTH, "wrong name, password or key"),
    ROW(FERRY_ETRUNCATED, "the data ended too early"),
    ROW(FERRY_ECLOSED, "the peer closed the connection"),
    ROW(FERRY_EQUOTA, "the quota of the account is used up"),
    ROW(FERRY_ERIGHTS, "the account may not do this here"),
    ROW(FERRY_ENOTREG, "not a regular file"),
    ROW(FERRY_ESTALLED, "no data moved for too long"),
    ROW(FERRY_EKICKED, "an administrator ended the session"),
    ROW(FERRY_ESHUTDOWN, "the server is stopping"),
    ROW(FERRY_EBADNAME, "not a valid file name"),
    ROW(FERRY_EBANNED, "too many failures from this address"),
    ROW(FERRY_EREFUSED, "the server refused"),

    /* files */
    ROW(ENOENT, "no such file or directory"),
    ROW(EACCES, "permission denied"),
    ROW(EPERM, "operation not permitted"),
    ROW(EEXIST, "it exists already"),
    ROW(ENOTDIR, "not a directory"),
    ROW(EISDIR, "it is a directory"),
    ROW(ENOTEMPTY, "directory not empty"),
    ROW(ENAMETOOLONG, "name too long"),
    ROW(ELOOP, "too many symbolic links"),
    ROW(EXDEV, "the path leaves its tree or file system"),
    ROW(EROFS, "read-only file system"),
    ROW(ENOSPC, "no space left on device"),
    ROW(EDQUOT, "disk quota exceeded"),
    ROW(EFBIG, "file too large"),
    ROW(EIO, "input or output error"),
    ROW(ESTALE, "the file is gone from its server"),
    ROW(EBUSY, "in use"),
    ROW(ETXTBSY, "the file is a running program"),
    ROW(EMLINK, "too many links"),
    ROW(ENXIO, "no such device or address"),
    ROW(ENODEV, "no such device"),
    ROW(ESPIPE, "it has no positions to seek to"),
    ROW(EBADF, "file not open for this"),

    /* resources and calls */
    ROW(ENOMEM, "out of memory"),
    ROW(EMFILE, "too many open files"),
    ROW(ENFILE, "too many open files in the system"),
    ROW(ENOBUFS, "no buffer space left"),
    ROW(EAGAIN, "temporarily not possible"),
    ROW(EINTR, "interrupted"),
    ROW(EINVAL, "invalid argument"),
    ROW(ERANGE, "number out of range"),
    ROW(EOVERFLOW, "value too large"),
    ROW(E2BIG, "too long a list"),
    ROW(EFAULT, "bad address in memory"),
    ROW(ELIBACC, "a library that is needed is not installed"),
    ROW(ENOSYS, "not supported by this kernel"),
    ROW(EOPNOTSUPP, "not supported here"),
    ROW(ECANCELED, "cancelled"),
    ROW(ESRCH, "no such process"),
    ROW(EDEADLK, "it would wait for itself"),
    ROW(EALREADY, "already under way"),
    ROW(EBADMSG, "damaged data"),
    ROW(ENODATA, "no data"),
    ROW(EILSEQ, "not valid text"),

    /* network */
    ROW(EADDRINUSE, "address already in use"),
    ROW(EADDRNOTAVAIL, "no such address on this machine"),
    ROW(EAFNOSUPPORT, "address family not supported"),
    ROW(ECONNREFUSED, "connection refused"),
    ROW(ECONNRESET, "connection reset by the peer"),
    ROW(ECONNABORTED, "connection aborted"),
    ROW(EHOSTUNREACH, "no route to the host"),
    ROW(EHOSTDOWN, "the host is down"),
    ROW(ENETUNREACH, "network unreachable"),
    ROW(ENETDOWN, "network down"),
    ROW(ENETRESET, "connection lost by the network"),
    ROW(ETIMEDOUT, "timed out"),
    ROW(EPIPE, "the peer no longer reads"),
    ROW(ENOTCONN, "not connected"),
    ROW(EISCONN, "already connected"),
    ROW(EINPROGRESS, "in progress"),
    ROW(ENOTSOCK, "not a socket"),
    ROW(EMSGSIZE, "message too long"),
    ROW(EPROTO, "protocol error"),
    ROW(EPROTONOSUPPORT, "protocol not supported"),
    ROW(ENOPROTOOPT, "option not supported"),
    ROW(EDESTADDRREQ, "destination address required"),
    ROW(ESHUTDOWN, "the connection was shut down"),
};

const char *err_text(int result)
{
    if (result >= 0)
        return "success";
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (result == -table[i].code)
            return table[i].text;
    return "unknown error";
}

const char *err_name(int result)
{
    if (result >= 0)
        return "OK";
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (result == -table[i].code)
            return table[i].name;
    return "?";
}
