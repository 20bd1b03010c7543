/* Ports for passive mode when no range is set: a part of those that the kernel gives out by
 * itself, so that a session can take one of them without the kernel's search. */
#pragma once
#include <stdint.h>

#include "base/bytes.h"

/* So many at most: each is a rule of the sandbox, which costs time at the start and memory of
 * the kernel. */
#define OWN_PORTS_MAX 8192
/* Linux gives connect(2) every second port first, those as even or odd as the first of its
 * range, and bind(2) the others; so do we. */
#define OWN_PORTS_STEP 2

struct own_ports {
    uint16_t first, last; /* both 0: leave it to the kernel */
};

/* A random part of the kernel's range. Nothing if that cannot be read, or if the administrator
 * has reserved ports (ip_local_reserved_ports): the kernel's choice respects them. */
struct own_ports own_ports_choose(void);

/* range, reserved: what the files of /proc hold; random: which part. */
struct own_ports own_ports_within(struct bytes range, struct bytes reserved, uint32_t random);
