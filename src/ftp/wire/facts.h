/* Lines of listings: LIST and NLST (RFC 959 4.1.3), MLSD and MLST (RFC 3659 7).
 *
 * Every function appends whole lines with CRLF, or, on failure (-FERRY_ELIMIT, -ENOMEM),
 * nothing. Control characters in names and link targets are shown as '?'. Times are UTC.
 */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

enum ftp_entry_kind {
    FTP_ENTRY_FILE,
    FTP_ENTRY_DIRECTORY,
    FTP_ENTRY_LINK,
    FTP_ENTRY_OTHER,  /* FIFO, socket, device */
    FTP_ENTRY_SELF,   /* the directory being listed: cdir */
    FTP_ENTRY_PARENT, /* its parent: pdir */
};

/* What the account may do with the entry, by the letters of RFC 3659 7.5.5. */
enum ftp_perm {
    FTP_PERM_APPEND = 1 << 0, /* a: APPE to the file */
    FTP_PERM_CREATE = 1 << 1, /* c: STOR, STOU and APPE in the directory */
    FTP_PERM_DELETE = 1 << 2, /* d: DELE or RMD */
    FTP_PERM_ENTER = 1 << 3,  /* e: CWD */
    FTP_PERM_RENAME = 1 << 4, /* f: RNFR */
    FTP_PERM_LIST = 1 << 5,   /* l: LIST, NLST, MLSD */
    FTP_PERM_MKDIR = 1 << 6,  /* m: MKD in the directory */
    FTP_PERM_PURGE = 1 << 7,  /* p: delete what is in the directory */
    FTP_PERM_READ = 1 << 8,   /* r: RETR */
    FTP_PERM_WRITE = 1 << 9,  /* w: STOR over the file */
};

struct ftp_entry {
    struct bytes name;
    struct bytes link_target; /* FTP_ENTRY_LINK; empty: not shown */
    enum ftp_entry_kind kind;
    uint32_t mode; /* permission bits */
    uint32_t links;
    uint64_t size_bytes, inode, device;
    int64_t mtime_us; /* since 1970 */
    unsigned perm;    /* FTP_PERM_...; only letters that fit the kind are shown */
};

/* As `ls -l`: "-rw-r--r--   1 ftp      ftp          1234 Jan  2 15:04 name". Who owns what on
 * the host is nobody's business: owner and group are always "ftp". Files older than half a year
 * or of the future show the year in place of the time. */
MUST_CHECK int ftp_list_line(struct buf *, const struct ftp_entry *, int64_t now_us);

/* prefix and name in one line; the prefix is what the client put before the name ("dir/"). */
MUST_CHECK int ftp_nlst_line(struct buf *, struct bytes prefix, struct bytes name);

/* -- machine-readable facts: a selection is a bit mask -- */

enum ftp_fact {
    FTP_FACT_TYPE = 1 << 0,
    FTP_FACT_SIZE = 1 << 1,
    FTP_FACT_MODIFY = 1 << 2,
    FTP_FACT_PERM = 1 << 3,
    FTP_FACT_UNIQUE = 1 << 4,
    FTP_FACT_UNIX_MODE = 1 << 5,
};

#define FTP_FACTS_ALL      0x3fu
#define FTP_FACTS_TEXT_MAX 64

/* "type=file;size=3;modify=20260102150405;perm=adfrw;unique=fd01g1a2b;UNIX.mode=0644; name".
 * modify has whole seconds, since scripts parse exactly 14 digits; size is given for files. */
MUST_CHECK int ftp_mlsd_line(struct buf *, const struct ftp_entry *, unsigned selected);

/* The same as the middle line of a reply: after a space, 0xFF doubled. */
MUST_CHECK int ftp_mlst_line(struct buf *, const struct ftp_entry *, unsigned selected);

/* What follows "MLST " in OPTS MLST (RFC 3659 7.9): "type;size;", any case. Unknown facts are
 * passed over; the empty list is the empty selection. */
unsigned ftp_facts_parse(struct bytes list);

/* "type;size;" for the reply "200 MLST OPTS type;size;". Returns dst. */
const char *ftp_facts_format(unsigned selected, char dst[FTP_FACTS_TEXT_MAX]);

/* "type*;size;modify;perm;unique;UNIX.mode;" for FEAT, the selected ones starred. */
const char *ftp_facts_feature(unsigned selected, char dst[FTP_FACTS_TEXT_MAX]);
