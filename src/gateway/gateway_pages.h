/* Answers in pieces that clients do not cut. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_PAGES_H
#define LT_GATEWAY_GATEWAY_PAGES_H

#include "gateway/gateway_state.h"

/* Cuts a long answer behind its first piece, with a line that says how to read on. Errors: LT_E_NOMEM. */
lt_status lt_gateway_pages_cut(lt_str run, lt_gateway_answer *answer, lt_err *err);
/* Leaves the piece that begins at byte `from`. Errors: LT_E_INVALID: the answer ends before; LT_E_NOMEM. */
lt_status lt_gateway_pages_take(lt_str run, uint64_t from, lt_gateway_answer *answer, lt_err *err);

#endif
