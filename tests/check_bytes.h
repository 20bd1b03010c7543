/* Runs of bytes against a literal, NULs included. */
#pragma once
#include "base/bytes.h"
#include "check.h"

#define assert_bytes_equal(actual, literal)                                                    \
    do {                                                                                       \
        struct bytes bytes_ = (actual);                                                        \
        assert_int_equal(bytes_.len, sizeof(literal) - 1);                                     \
        if (bytes_.len != 0)                                                                   \
            assert_memory_equal(bytes_.data, literal, bytes_.len);                             \
    } while (0)
