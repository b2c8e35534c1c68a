/* What a session answers when its servers ask: the configured model where the configuration lets a server ask it, and
 * for everything else who has been handed down by the way in (a person at the terminal, another agent's client). */
#ifndef LT_APP_SERVER_ANSWERS_H
#define LT_APP_SERVER_ANSWERS_H

#include "app/sampling.h"

typedef struct lt_server_answers {
  lt_responder base;    /* first */
  lt_responder *way_in; /* may be NULL */
  bool is_way_in_late;  /* it comes after the servers have started: until then they are offered everything */
  lt_sampling *sampling;
  /* Tokens that a server's request has used in a run (lt_caller.run); may be NULL; the way in may set it. Must not
   * yield. */
  void (*on_usage)(void *arg, lt_str run, const lt_usage *usage);
  void *arg;
} lt_server_answers;

/* Borrows everything; not to be moved. Errors: LT_E_NOMEM. Owns: the caller, lt_server_answers_release. */
lt_status lt_server_answers_init(lt_server_answers *answers, lt_loop *loop, lt_config *config,
                                 const lt_secrets *secrets, lt_responder *way_in, bool is_way_in_late, lt_err *err);
/* The servers have ended. A zero struct is allowed. */
void lt_server_answers_release(lt_server_answers *answers);

#endif
