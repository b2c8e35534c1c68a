/* A session: what every way in needs, opened and closed as one: configuration, secrets, loop, door, policy, plugins and
 * sources of tools.
 *
 * There is no terminal, no signal and no exit code in it: those are the way in's. What a session has to say goes
 * through `report`, and what it asks a person through the approver of a run (tool/caller.h). One thread.
 *
 *   lt_session_configure     reads the configuration; the way in may look at it then, and change it
 *   lt_session_start         makes loop, door and policy: what is wrong with them is found before anything runs
 *   lt_session_open          on a fiber: starts the sources, loads the plugins meanwhile
 *   lt_session_await         on a fiber: waits for the sources, and tells the plugins that all tools are there
 *   lt_session_close         on a fiber, also where a step before failed
 *   lt_session_release       in any case
 */
#ifndef LT_APP_SESSION_H
#define LT_APP_SESSION_H

#include "app/report.h"
#include "app/settings.h"
#include "app/sources.h"
#include "app/toolbox.h"
#include "config/config.h"
#include "io/loop.h"
#include "tool/door.h"

typedef struct lt_session {
  lt_report report;     /* set by the way in, but for the secrets */
  bool without_sources; /* set by the way in before it opens the session: no source of tools is started */
  lt_config config;
  const lt_mode_rounds *rounds; /* defaults.maxRounds */
  lt_secrets *secrets;
  lt_loop *loop;
  lt_door *door;
  lt_toolbox *toolbox;
  lt_sources *sources;
  lt_cancel cancel; /* fired by the way in: ends the waiting, and runs that follow it */
} lt_session;

/* `session` is zero but for the report. Warnings of the configuration are reported. Errors: lt_settings_load's. */
lt_status lt_session_configure(lt_session *session, const lt_config_sources *sources, lt_err *err);
/* Errors: LT_E_CONFIG, with file and key; LT_E_NOMEM, and what the loop says. */
lt_status lt_session_start(lt_session *session, lt_err *err);
/* Errors: LT_E_NOMEM, and those of the store. LT_YIELDS. */
lt_status lt_session_open(lt_session *session, lt_err *err) LT_YIELDS;
/* Returns early when the cancel fires. LT_YIELDS. */
void lt_session_await(lt_session *session) LT_YIELDS;
/* Every run and every agent of it must have ended. LT_YIELDS. */
void lt_session_close(lt_session *session) LT_YIELDS;
/* The loop has ended. */
void lt_session_release(lt_session *session);

#endif
