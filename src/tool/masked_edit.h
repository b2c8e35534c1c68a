/* An input that a person edits is shown without its secrets. Where the edited text still has a mask, the tool gets the
 * secret. Internal to tool/. */
#ifndef LT_TOOL_MASKED_EDIT_H
#define LT_TOOL_MASKED_EDIT_H

#include "base/arena.h"
#include "base/err.h"

/* `shown`: the masked text of `input`; `edited`: what a person made of it. A value of `edited` that is unchanged, at
 * its place in `shown`, becomes the value at that place in `input`. `*ret_text` is in the arena. Errors: LT_E_INVALID:
 * the edited text is not JSON, or has a mask at another place than the secret's; LT_E_LIMIT; LT_E_NOMEM. */
lt_status lt_masked_edit_restore(lt_arena *arena, lt_str shown, lt_str input, lt_str edited, lt_str *ret_text,
                                 lt_err *err);

#endif
