/* Loads libcurl when it is first needed: linking with it would make every start 8 ms longer. Private to io/. */
#ifndef LT_IO_CURL_OPEN_H
#define LT_IO_CURL_OPEN_H

#include <curl/curl.h>

#include "base/err.h"

#define LT_CURL_FUNCTIONS(X) \
  X(global_init)             \
  X(slist_append)            \
  X(slist_free_all)          \
  X(easy_init)               \
  X(easy_setopt)             \
  X(easy_getinfo)            \
  X(easy_pause)              \
  X(easy_strerror)           \
  X(easy_cleanup)            \
  X(url)                     \
  X(url_set)                 \
  X(url_cleanup)             \
  X(multi_init)              \
  X(multi_setopt)            \
  X(multi_add_handle)        \
  X(multi_remove_handle)     \
  X(multi_socket_action)     \
  X(multi_info_read)         \
  X(multi_strerror)          \
  X(multi_cleanup)

typedef struct lt_curl {
#define LT_CURL_MEMBER(name) __typeof__(curl_##name) *name;
  LT_CURL_FUNCTIONS(LT_CURL_MEMBER)
#undef LT_CURL_MEMBER
} lt_curl;

/* Any thread. The first call takes milliseconds. The library stays loaded. Errors: LT_E_UNSUPPORTED; the message names
 * the package to install. */
lt_status lt_curl_open(const lt_curl **ret_curl, lt_err *err);

#endif
