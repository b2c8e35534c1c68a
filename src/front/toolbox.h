/* What a session's calls are governed by: the policy of the configuration, and for each run a caller with its budget
 * and somebody to ask. Loop thread only.
 */
#ifndef LT_FRONT_TOOLBOX_H
#define LT_FRONT_TOOLBOX_H

#include "front/config.h"
#include "front/say.h"
#include "io/loop.h"
#include "tool/caller.h"

typedef struct lt_toolbox lt_toolbox;

typedef struct lt_toolbox_options {
  lt_loop *loop;
  const lt_config *config;
  lt_say *say;
} lt_toolbox_options;

/* Compiles the policy. Borrows everything in the options. Errors: LT_E_CONFIG, with file and key; LT_E_NOMEM. Owns: the
 * caller, lt_toolbox_close. */
lt_status lt_toolbox_open(const lt_toolbox_options *options, lt_toolbox **ret_toolbox, lt_err *err);
/* Every run must have ended. NULL is allowed. */
void lt_toolbox_close(lt_toolbox *toolbox);

/* One run: its caller, and what that is made of. Not to be moved while it is in use. */
typedef struct lt_toolbox_run {
  lt_caller caller;
  char id[33];
} lt_toolbox_run;

/* `yes`: what would be asked about is approved. Errors: LT_E_NOMEM. On success: lt_toolbox_end. */
lt_status lt_toolbox_begin(lt_toolbox *toolbox, bool yes, lt_toolbox_run *ret_run, lt_err *err);
/* Its calls must have ended. */
void lt_toolbox_end(lt_toolbox *toolbox, lt_toolbox_run *run);

#endif
