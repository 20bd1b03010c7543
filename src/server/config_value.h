/* Values of ferryd.conf(5): libconfuse's parse callbacks, which refuse a bad value on the line
 * it stands on, and the parsers of values that are texts to libconfuse. */
#pragma once
#include <confuse.h>
#include <stdint.h>

#include "base/attr.h"
#include "io/addr.h"

/* ret is a long */
int config_value_size(cfg_t *, cfg_opt_t *, const char *value, void *ret); /* K, M, G, T */
/* As a size: 0, or enough that the keys' change is not the most of the traffic. */
int config_value_rekey_bytes(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_count(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_seconds(cfg_t *, cfg_opt_t *, const char *value, void *ret);
/* off, auto or a level: 0, COMPRESS_AUTO (io/compress.h), 1 to 9 */
int config_value_compression(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_sync(cfg_t *, cfg_opt_t *, const char *value, void *ret);  /* enum vfs_sync */
int config_value_links(cfg_t *, cfg_opt_t *, const char *value, void *ret); /* vroot_links */
int config_value_log_format(cfg_t *, cfg_opt_t *, const char *value, void *ret);

/* ret is a text: the value itself, checked */
int config_value_address(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_masquerade(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_ports(cfg_t *, cfg_opt_t *, const char *value, void *ret);
int config_value_path(cfg_t *, cfg_opt_t *, const char *value, void *ret); /* absolute */
int config_value_hash(cfg_t *, cfg_opt_t *, const char *value, void *ret); /* crypt(3) */
int config_value_right(cfg_t *, cfg_opt_t *, const char *value, void *ret);

/* "203.0.113.7", "2001:db8::7": no port. -EINVAL. */
MUST_CHECK int config_masquerade_parse(const char *value, struct addr *ret);
/* "50000-50999": -EINVAL; below 1024 or the wrong way round: -ERANGE. */
MUST_CHECK int config_ports_parse(const char *value, uint16_t *ret_first, uint16_t *ret_last);
