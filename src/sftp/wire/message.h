/* SFTP version 3: numbers and bounds (draft-ietf-secsh-filexfer-02; OpenSSH's PROTOCOL for the
 * extensions). A message is a length in four bytes, and as many bytes behind it: a type, an id
 * that the answer repeats, and fields. */
#pragma once
#include <stdint.h>

#define SFTP_VERSION 3

#define SFTP_LENGTH_BYTES  4
#define SFTP_PACKET_MAX    (256 * 1024) /* bytes behind the length: told to clients */
#define SFTP_DATA_MAX      (SFTP_PACKET_MAX - 1024) /* of one READ or WRITE: the same */
#define SFTP_MESSAGE_MAX   (SFTP_PACKET_MAX + 1024) /* beyond it the peer is not heard */
#define SFTP_HANDLE_MAX    256                      /* bytes (draft 6.2) */
#define SFTP_HANDLE_BYTES  8                        /* of ours */
#define SFTP_DATA_HEAD     13 /* of a DATA answer before its bytes, with the length */
#define SFTP_WRITE_HEAD    33 /* of a WRITE before its bytes, if the handle is one of ours */
#define SFTP_EXTENSION_MAX 64 /* bytes of an extension's name */

enum sftp_type {
    SFTP_INIT = 1,
    SFTP_VERSION_ANSWER = 2,
    SFTP_OPEN = 3,
    SFTP_CLOSE = 4,
    SFTP_READ = 5,
    SFTP_WRITE = 6,
    SFTP_LSTAT = 7,
    SFTP_FSTAT = 8,
    SFTP_SETSTAT = 9,
    SFTP_FSETSTAT = 10,
    SFTP_OPENDIR = 11,
    SFTP_READDIR = 12,
    SFTP_REMOVE = 13,
    SFTP_MKDIR = 14,
    SFTP_RMDIR = 15,
    SFTP_REALPATH = 16,
    SFTP_STAT = 17,
    SFTP_RENAME = 18,
    SFTP_READLINK = 19,
    SFTP_SYMLINK = 20,
    SFTP_STATUS = 101,
    SFTP_HANDLE = 102,
    SFTP_DATA = 103,
    SFTP_NAME = 104,
    SFTP_ATTRS = 105,
    SFTP_EXTENDED = 200,
    SFTP_EXTENDED_REPLY = 201,
};

/* Draft 7. Others become SFTP_FAILURE where they are read. */
enum sftp_status {
    SFTP_OK = 0,
    SFTP_EOF = 1,
    SFTP_NO_SUCH_FILE = 2,
    SFTP_PERMISSION_DENIED = 3,
    SFTP_FAILURE = 4,
    SFTP_BAD_MESSAGE = 5,
    SFTP_NO_CONNECTION = 6,
    SFTP_CONNECTION_LOST = 7,
    SFTP_OP_UNSUPPORTED = 8,
    SFTP_STATUS_COUNT,
};

/* Draft 6.3. */
enum sftp_open_flag {
    SFTP_OPEN_READ = 1 << 0,
    SFTP_OPEN_WRITE = 1 << 1,
    SFTP_OPEN_APPEND = 1 << 2,
    SFTP_OPEN_CREATE = 1 << 3,
    SFTP_OPEN_TRUNCATE = 1 << 4,
    SFTP_OPEN_EXCLUSIVE = 1 << 5,
};
