/* A session: configuration, secrets, loop, door, policy, plugins and sources of tools, opened and closed together.
 * Every way in needs one.
 *
 * A session has no terminal, no signals and no exit codes: those belong to the way in. Messages of the session go
 * through `report`; questions to a person go through the approver of a run (tool/caller.h). One thread.
 *
 *   lt_session_configure     reads the configuration; the way in may then read and change it
 *   lt_session_start         makes loop, door and policy: reports their faults before anything runs
 *   lt_session_open          on a fiber: starts the sources, loads the plugins meanwhile
 *   lt_session_await         on a fiber: waits for the sources, then calls the plugins' ready hooks
 *   lt_session_close         on a fiber, also when a step before failed
 *   lt_session_release       in any case
 */
#ifndef LT_APP_SESSION_H
#define LT_APP_SESSION_H

#include "app/report.h"
#include "app/server_answers.h"
#include "app/settings.h"
#include "app/sources.h"
#include "app/toolbox.h"
#include "config/config.h"
#include "io/loop.h"
#include "telemetry/telemetry.h"
#include "tool/door.h"

typedef struct lt_session {
  lt_report report;      /* set by the way in, but for the secrets */
  lt_monitor monitor;    /* its functions are set by the way in, also later; told of all that the session does */
  bool is_embedded;      /* set before the configuration is read: the process belongs to a host. Then nothing is written
                            to the person's own folders, variables do not say where traces go, and no compiler is
                            started unless the configuration names it */
  const char *helper;    /* likewise: the path of the program that starts children (io/exec.h, jail/jail.h); NULL: our
                            own program is one. Borrowed */
  bool is_service;       /* set by the way in before it is started: its configuration may be read again */
  bool without_sources;  /* set by the way in before it opens the session: no source of tools is started */
  lt_source_start start; /* likewise, of the sources ... */
  const char *start_only; /* ... or of the one of this name; NULL: of all (app/sources.h) */
  lt_responder *asked;    /* likewise: answers what servers ask; NULL: nobody, or ... */
  bool is_asked_later;    /* ... somebody who comes when the session is open (session.answers.way_in) */
  lt_config config;
  const lt_mode_rounds *rounds;      /* defaults.maxRounds */
  const lt_exposure_rule *exposures; /* tools.expose, as the door has them */
  lt_secrets *secrets;
  lt_loop *loop;
  lt_door *door;
  lt_telemetry *telemetry; /* NULL: nothing is traced */
  lt_toolbox *toolbox;
  lt_server_answers answers;
  lt_sources *sources;
  lt_cancel cancel; /* fired by the way in: ends waits, and runs that use it */
} lt_session;

/* `session` is zero but for the report. Warnings of the configuration are reported. Errors: lt_settings_load's. */
lt_status lt_session_configure(lt_session *session, const lt_config_sources *sources, lt_err *err);
/* Errors: LT_E_CONFIG, with file and key; LT_E_NOMEM, and what the loop says. */
lt_status lt_session_start(lt_session *session, lt_err *err);
/* Errors: LT_E_NOMEM, and those of the store. LT_YIELDS. */
lt_status lt_session_open(lt_session *session, lt_err *err) LT_YIELDS;
/* Returns early when the cancel fires. LT_YIELDS. */
void lt_session_await(lt_session *session) LT_YIELDS;
/* All runs and agents of the session must have ended. LT_YIELDS. */
void lt_session_close(lt_session *session) LT_YIELDS;
/* The loop has ended. */
void lt_session_release(lt_session *session);

#endif
