/* Numeric addresses and ranges of them, as people write them: "192.0.2.7", "10.0.0.0/8", "2001:db8::/32", and "unix"
 * for what comes over a unix socket. Pure. */
#ifndef LT_IO_ADDRESS_RANGE_H
#define LT_IO_ADDRESS_RANGE_H

#include <stdbool.h>

#include "base/str.h"

typedef struct lt_address_range {
  unsigned char bytes[16]; /* of an IPv6 address; IPv4 as ::ffff:a.b.c.d */
  unsigned bits;           /* that count, from the first */
  bool is_unix;
} lt_address_range;

/* False: it is none, or bits behind the "/" are set ("10.1.0.0/8" is a mistake). */
bool lt_address_range_read(lt_str text, lt_address_range *ret_range);
/* Whether a single address is in the range; what is no address is in none. */
bool lt_address_range_has(const lt_address_range *range, lt_str address);
/* Whether it is an address of this machine: of loopback, or "unix". */
bool lt_address_is_local(lt_str address);
/* Who has an address: IPv4 as it is, also when it is written as IPv6 (::ffff:192.0.2.7); of IPv6 the network of 64
 * bits, as a client has all of its addresses. Writes into `room`, or borrows `address`. */
#define LT_ADDRESS_BYTES 48
lt_str lt_address_network(lt_str address, char room[LT_ADDRESS_BYTES]);
/* The address without a port and brackets, as proxies write it: "[::1]:80" and "192.0.2.7:80". Empty: it is none. */
lt_str lt_address_without_port(lt_str text);

#endif
