/* Asks at the terminal whether something that was shown is to be done. */
#ifndef LT_CLI_CONSENT_H
#define LT_CLI_CONSENT_H

#include "base/str.h"

typedef enum lt_consent {
  LT_CONSENT_YES,
  LT_CONSENT_NO,
  LT_CONSENT_NOBODY, /* there is no terminal */
  LT_CONSENT_INTERRUPTED,
} lt_consent;

/* Shows `body` and asks; `ask` ends in the choices, "[y]es / [n]o: ". All texts are fit for a terminal. The end of
 * input is no. Runs a loop of its own. */
lt_consent lt_consent_ask(lt_str body, const char *ask);

#endif
