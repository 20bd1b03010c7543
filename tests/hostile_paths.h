/* The table of hostile paths. Whatever takes a path from a peer walks through it, on the tree
 * of hostile_tree.h: vfs, SFTP, scp and what else exec serves. */
#pragma once

enum hostile_kind {
    HOSTILE_FILE,        /* holds "inside" */
    HOSTILE_LINK_IN,     /* a link to such a file */
    HOSTILE_ROOT,        /* the root itself */
    HOSTILE_DIRECTORY,   /* with "file" */
    HOSTILE_LINK_TO_DIR, /* a link to it */
    HOSTILE_NONE,        /* a name that is free */
    HOSTILE_LINK_TO_NONE,
    HOSTILE_UNDER_NONE, /* its directory is not there */
    HOSTILE_UNDER_FILE, /* its directory is a file */
    HOSTILE_LINK_OUT,   /* a link that leads out; it may itself be looked at, moved, removed */
    HOSTILE_OUT,        /* behind a directory that is such a link */
    HOSTILE_LINK_LOOP,
    HOSTILE_UNDER_LOOP,
    HOSTILE_SPECIAL, /* FIFO or socket */
    HOSTILE_LINK_TO_SPECIAL,
    HOSTILE_KIND_COUNT
};

struct hostile_path {
    const char *path;
    enum hostile_kind kind;
};

static const struct hostile_path hostile_paths[] = {
    {"/file", HOSTILE_FILE},
    {"/file/", HOSTILE_FILE},
    {"file", HOSTILE_FILE},
    {"//.//file/.", HOSTILE_FILE},
    {"/dir/../file", HOSTILE_FILE},
    {"/../../../file", HOSTILE_FILE},
    {"../../../file", HOSTILE_FILE},
    {"/nowhere/../file", HOSTILE_FILE},
    {"/ctl\n\r\x01\x1b[2Jname", HOSTILE_FILE},
    {"/not\xffutf8", HOSTILE_FILE},
    {"/link-dir/file", HOSTILE_FILE},
    {"/link-dir/../file", HOSTILE_FILE},
    {"/link-in", HOSTILE_LINK_IN},
    {"/link-in-up", HOSTILE_LINK_IN},
    {"/link-in-chain", HOSTILE_LINK_IN},
    {"/", HOSTILE_ROOT},
    {"..", HOSTILE_ROOT},
    {"/dir/..", HOSTILE_ROOT},
    {"/dir", HOSTILE_DIRECTORY},
    {"/dir/", HOSTILE_DIRECTORY},
    {"/link-dir", HOSTILE_LINK_TO_DIR},
    {"/none", HOSTILE_NONE},
    {"/dir/none", HOSTILE_NONE},
    {"/-rf *", HOSTILE_NONE},
    {"/link-none", HOSTILE_LINK_TO_NONE},
    {"/none/x", HOSTILE_UNDER_NONE},
    {"/../outside/secret", HOSTILE_UNDER_NONE},
    {"../outside/secret", HOSTILE_UNDER_NONE},
    {"dir/../../outside/new", HOSTILE_UNDER_NONE},
    {"/file/x", HOSTILE_UNDER_FILE},
    {"/fifo/x", HOSTILE_UNDER_FILE},
    {"/link-in-abs", HOSTILE_LINK_OUT},
    {"/link-out", HOSTILE_LINK_OUT},
    {"dir/../link-out", HOSTILE_LINK_OUT},
    {"/link-out-abs", HOSTILE_LINK_OUT},
    {"/link-out-chain", HOSTILE_LINK_OUT},
    {"/link-out-dir", HOSTILE_LINK_OUT},
    {"/link-out-new", HOSTILE_LINK_OUT},
    {"/link-out-and-in", HOSTILE_LINK_OUT},
    {"/link-proc", HOSTILE_LINK_OUT},
    {"/link-out-dir/secret", HOSTILE_OUT},
    {"/link-out-dir/new", HOSTILE_OUT},
    {"/link-out-dir/sub", HOSTILE_OUT},
    {"/link-out-dir/sub/new", HOSTILE_OUT},
    {"/link-up/outside/secret", HOSTILE_OUT},
    {"/link-proc/etc/passwd", HOSTILE_OUT},
    {"/link-loop", HOSTILE_LINK_LOOP},
    {"/link-loop/x", HOSTILE_UNDER_LOOP},
    {"/fifo", HOSTILE_SPECIAL},
    {"/socket", HOSTILE_SPECIAL},
    {"/link-fifo", HOSTILE_LINK_TO_SPECIAL},
};
