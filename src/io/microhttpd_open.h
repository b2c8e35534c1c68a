/* Loads libmicrohttpd when it is first needed: linking with it would make every start longer. Private to io/. */
#ifndef LT_IO_MICROHTTPD_OPEN_H
#define LT_IO_MICROHTTPD_OPEN_H

#include <microhttpd.h>

#include "base/err.h"

#define LT_MHD_FUNCTIONS(X)                         \
  X(start_daemon)                                   \
  X(stop_daemon)                                    \
  X(quiesce_daemon)                                 \
  X(run)                                            \
  X(get_timeout)                                    \
  X(get_daemon_info)                                \
  X(get_connection_info)                            \
  X(suspend_connection)                             \
  X(resume_connection)                              \
  X(lookup_connection_value)                        \
  X(get_connection_values)                          \
  X(create_response_from_buffer_with_free_callback) \
  X(create_response_from_callback)                  \
  X(add_response_header)                            \
  X(queue_response)                                 \
  X(destroy_response)

typedef struct lt_mhd {
#define LT_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
  LT_MHD_FUNCTIONS(LT_MHD_MEMBER)
#undef LT_MHD_MEMBER
} lt_mhd;

/* Loop thread. The library stays loaded. Errors: LT_E_UNSUPPORTED; the message names the package to install. */
lt_status lt_microhttpd_open(const lt_mhd **ret_mhd, lt_err *err);

#endif
