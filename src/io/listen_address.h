/* An address to listen at, as people write it: "127.0.0.1:8420", "[::1]:8420", "localhost:8420", ":8420", "8420", or
 * "unix:/run/lathe.sock". Pure. */
#ifndef LT_IO_LISTEN_ADDRESS_H
#define LT_IO_LISTEN_ADDRESS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

typedef struct lt_listen_address {
  char unix_path[108]; /* of a unix socket: no more is set but `is_loopback`, and the name "localhost"; "": none */
  char host[48];       /* numeric, without brackets: for lt_http_server_options.address */
  char name[52];       /* the same as it stands in a URL and in a Host header: IPv6 in brackets */
  unsigned port;       /* 0: any that is free */
  bool is_v6;
  bool is_loopback; /* only programs of this machine reach it */
} lt_listen_address;

/* Without a host it is 127.0.0.1. `example_port` is for the message. Errors: LT_E_INVALID. */
lt_status lt_listen_address_read(lt_str text, unsigned example_port, lt_listen_address *ret_address, lt_err *err);
/* Whether a Host header names this address or loopback, with any port: no name of a page's can be made to do so. */
bool lt_listen_address_is_named(const lt_listen_address *address, lt_str host);

#endif
