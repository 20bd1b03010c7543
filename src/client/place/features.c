#include "client/place/features.h"

#include <stddef.h>

#include "base/attr.h"

static const struct row {
    const char *name; /* a line is this, or begins with it and a blank */
    size_t at;
} rows[] = {
    {"MLST", offsetof(struct ftp_features, has_mlst)},
    {"SIZE", offsetof(struct ftp_features, has_size)},
    {"MDTM", offsetof(struct ftp_features, has_mdtm)},
    {"MFMT", offsetof(struct ftp_features, has_mfmt)},
    {"REST STREAM", offsetof(struct ftp_features, has_rest)},
    {"MODE Z", offsetof(struct ftp_features, has_mode_z)},
    {"UTF8", offsetof(struct ftp_features, has_utf8)},
};

static bool is_feature(struct bytes line, const char *name)
{
    struct bytes word = bytes_str(name);
    if (!bytes_equal_nocase(bytes_first(line, word.len), word))
        return false;
    return line.len == word.len || line.data[word.len] == ' ' || line.data[word.len] == '\r';
}

/* draft-bryan-ftpext-hash-02 3: "HASH SHA-256;SHA-1*", the one with '*' is the chosen one. */
static bool has_sha256(struct bytes line)
{
    line = bytes_skip(line, sizeof("HASH ") - 1);
    while (line.len > 0) {
        struct bytes name = bytes_take_until(&line, ';');
        if (name.len > 0 && name.data[name.len - 1] == '*')
            name.len--;
        if (bytes_equal_nocase(name, BYTES_LIT("SHA-256")))
            return true;
    }
    return false;
}

struct ftp_features ftp_features_parse(struct bytes lines)
{
    struct ftp_features f = {0};
    while (lines.len > 0) {
        struct bytes line = bytes_take_until(&lines, '\n');
        while (line.len > 0 && (line.data[0] == ' ' || line.data[0] == '\t'))
            line = bytes_skip(line, 1);
        if (is_feature(line, "HASH"))
            f.has_hash = has_sha256(line);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if (is_feature(line, rows[i].name))
                *(bool *)((char *)&f + rows[i].at) = true;
    }
    return f;
}
