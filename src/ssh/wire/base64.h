/* Base64 (RFC 4648 4), of one text without blanks or line ends. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

struct buf;
/* Appends. Padded, no other byte, and no bit set that no byte has: one text for one value.
 * -FERRY_EPROTO; -FERRY_ELIMIT (ret's cap), -ENOMEM. */
MUST_CHECK int ssh_base64_decode(struct bytes text, struct buf *ret);
/* Appends. -FERRY_ELIMIT (ret's cap), -ENOMEM. */
MUST_CHECK int ssh_base64_encode(struct bytes data, struct buf *ret);
