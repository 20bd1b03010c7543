/* The text of a configuration file, ready for libconfuse.
 *
 * libconfuse 3.3 (Debian 12) counts a line that holds a comment three times, so its line
 * numbers would be wrong. Comments become blanks here: what is left has the lines of the file.
 * It also takes the end of a file for the end of every open section, as if nothing were cut
 * off.
 */
#pragma once
#include "base/buf.h"
#include "server/settings.h"

#define CONFIG_BYTES_MAX (1024 * 1024)

/* Terminated; ret is the caller's to buf_done(), also on failure. Refused: what cannot be read,
 * is longer than CONFIG_BYTES_MAX, holds a NUL or has an open brace, quote or comment at its
 * end. */
MUST_CHECK int config_text_read(const char *path, struct buf *ret, struct refusal *);

/* "# ...", "// ..." and C's comments, outside of quotes, become blanks; newlines stay, and a
 * comment that never ends. */
void config_text_blank_comments(char *text, size_t len);

/* Of a text whose comments are blank: the line of the quote or comment, else of the outermost
 * brace, that is never closed, or 0; and what it was, for a message. */
unsigned config_text_open_line(const char *text, size_t len, const char **ret_opener);
