/* Writes a lasting rule into the user's own configuration ($XDG_CONFIG_HOME/lathe/lathe.yaml).
 *
 * The file's text stays as it is, with its comments: lines are put in at one place. Where its shape does not allow
 * that, the caller tells the person the lines. A rule is put before the others, since the first one that matches
 * decides.
 */
#ifndef LT_CLI_RULE_FILE_H
#define LT_CLI_RULE_FILE_H

#include "base/buf.h"
#include "base/err.h"

typedef struct lt_rule_file {
  lt_buf path;
  lt_buf rule;  /* the lines that a person would add: "tools:\n  policy:\n ..." */
  lt_buf text;  /* the whole new text; empty: the file's shape does not allow it, `why` says why */
  lt_buf added; /* the lines that are put in */
  lt_buf old;
  size_t line; /* where, from 1 */
  const char *why;
} lt_rule_file;

/* Prepares a rule that allows a tool. Errors: LT_E_NOTFOUND: there is no home; LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. The
 * caller calls lt_rule_file_release also after an error. */
lt_status lt_rule_file_prepare(lt_str tool, lt_rule_file *file, lt_err *err);
/* Writes the new text: the old file is replaced at once or not at all. A link stays a link. Errors: LT_E_IO;
 * LT_E_INVALID: the file has changed since it was read. */
lt_status lt_rule_file_write(const lt_rule_file *file, lt_err *err);
void lt_rule_file_release(lt_rule_file *file);

#endif
