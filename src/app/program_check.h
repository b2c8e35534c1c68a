/* What is wrong with a program, without running it: for an editor. */
#ifndef LT_APP_PROGRAM_CHECK_H
#define LT_APP_PROGRAM_CHECK_H

#include "app/modules.h"
#include "app/session.h"
#include "json/json.h"

typedef struct lt_program_check {
  lt_session *session;
  const lt_modules *modules; /* what the program may import */
  lt_str user;
  lt_str code;
  lt_lang lang;
  lt_cancel *cancel;
} lt_program_check;

/* Writes [{"line", "column", "endLine"?, "endColumn"?, "severity": "error" or "warning", "message"}]: syntax; unknown
 * names, of tools too; types, where the session has a compiler. Parses where programs run, for LT_CHECK_TIMEOUT_MS at
 * most. LT_YIELDS. Errors: LT_E_TIMEOUT, LT_E_CANCELLED, and those of the language's runner. */
lt_status lt_program_check_put(const lt_program_check *check, lt_json_writer *w, lt_err *err) LT_YIELDS;

#endif
