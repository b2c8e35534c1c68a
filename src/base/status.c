#include "base/status.h"

#include <stddef.h>

typedef struct status_row {
  const char *name;
  const char *text;
  int http;
  int rpc;
  bool retryable;
} status_row;

static const status_row table[] = {
#define STATUS_ROW(name, text, http, rpc, retry) [LT_##name] = {#name, text, http, rpc, retry},
    LT_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

/* A number that is no status of ours is a bug of ours, and is reported as one rather than read past the table. */
static const status_row *status_row_of(lt_status status) {
  size_t i = (size_t)status;
  return i < sizeof(table) / sizeof(table[0]) ? &table[i] : &table[LT_E_INTERNAL];
}

const char *lt_status_text(lt_status status) {
  return status_row_of(status)->text;
}

const char *lt_status_name(lt_status status) {
  return status_row_of(status)->name;
}

int lt_status_http(lt_status status) {
  return status_row_of(status)->http;
}

int lt_status_rpc(lt_status status) {
  return status_row_of(status)->rpc;
}

bool lt_status_retryable(lt_status status) {
  return status_row_of(status)->retryable;
}
