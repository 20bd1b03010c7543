/* Bytes as people read them. */
#pragma once

#define SIZE_TEXT_MAX 24

/* One decimal and a letter, by powers of 1024, as ftpbench has it: "8.8M", "512.0B". Returns
 * dst. */
const char *size_text(double bytes, char dst[SIZE_TEXT_MAX]);
