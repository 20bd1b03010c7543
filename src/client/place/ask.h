/* Questions to a person, on the terminal that the process belongs to (/dev/tty), whatever its
 * standard input and output are. */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

/* There is a terminal. */
bool ask_is_possible(void);
/* One line, without its end. The text of is_secret is not shown, and Ctrl-Z does not stop the
 * process meanwhile; whatever ends the wait, a cancel too, the terminal is as it was. ret's
 * whole cap is reserved by the caller. -FERRY_ECLOSED: the end of input instead of a line;
 * -FERRY_ELIMIT: too long; -ECANCELED; -errno: there is no terminal. */
PARKS MUST_CHECK int ask_line(const char *question, bool is_secret, struct buf *ret);
