/* Loads libedit when it is first needed: only interactive use pays for it. Private to io/. */
#ifndef LT_IO_EDIT_OPEN_H
#define LT_IO_EDIT_OPEN_H

#include <histedit.h>

#include "base/err.h"

#define LT_EDIT_FUNCTIONS(X) \
  X(el_init_fd)              \
  X(el_end)                  \
  X(el_reset)                \
  X(el_set)                  \
  X(el_wset)                 \
  X(el_get)                  \
  X(el_gets)                 \
  X(el_line)                 \
  X(el_insertstr)            \
  X(el_push)                 \
  X(el_resize)               \
  X(history_init)            \
  X(history_end)             \
  X(history)

typedef struct lt_edit {
#define LT_EDIT_MEMBER(name) __typeof__(name) *name;
  LT_EDIT_FUNCTIONS(LT_EDIT_MEMBER)
#undef LT_EDIT_MEMBER
} lt_edit;

/* Loop thread. The library stays loaded. Errors: LT_E_UNSUPPORTED; the message names the package to install. */
lt_status lt_edit_open(const lt_edit **ret_edit, lt_err *err);

#endif
