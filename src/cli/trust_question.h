/* Asks the person at the terminal whether to trust a file that was found. Nothing else runs while the question is open.
 */
#ifndef LT_CLI_TRUST_QUESTION_H
#define LT_CLI_TRUST_QUESTION_H

#include "base/buf.h"
#include "config/config.h"

typedef enum lt_trust_answer {
  LT_TRUST_NOBODY, /* there is no terminal to ask on */
  LT_TRUST_NO,
  LT_TRUST_ONCE,   /* for this command */
  LT_TRUST_ALWAYS, /* until the file changes */
  LT_TRUST_INTERRUPTED,
} lt_trust_answer;

/* Shows everything that the file wants, in pages, and then asks. The end of input counts as no. */
lt_trust_answer lt_trust_question_ask(const lt_config_file *file);

/* Appends what the file wants, with notes about words that look like other words. */
void lt_trust_question_put_wants(const lt_config_file *file, lt_buf *out);

#endif
