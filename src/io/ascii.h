/* FTP's ASCII type (RFC 959, 3.1.1.1) as a filter.
 *
 * Sending turns LF into CRLF (a CR that is already before it is kept, not doubled); receiving
 * turns CRLF into LF and leaves a lone CR alone. State is kept across pieces. stream_info()
 * tells of the stream below: what goes over the wire, after the conversion.
 */
#pragma once
#include "io/stream.h"

/* Takes below on success and on failure. */
MUST_CHECK int ascii_stream_new(struct stream *below, struct stream **ret);
