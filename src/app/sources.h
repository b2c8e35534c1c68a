/* The sources of a session's tools, of every kind. They start and end in parallel. */
#ifndef LT_APP_SOURCES_H
#define LT_APP_SOURCES_H

#include "app/report.h"
#include "config/config.h"
#include "io/loop.h"
#include "mcp/mcp_client.h"
#include "source/responder.h"
#include "source/source.h"
#include "tool/door.h"

typedef struct lt_sources lt_sources;
typedef struct lt_sources_change lt_sources_change;

typedef struct lt_sources_options {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_secrets *secrets;
  lt_responder *responder; /* answers what servers ask; may be NULL */
  const lt_report *report; /* gets a warning for each source that cannot be started */
  lt_cancel *cancel;       /* ends the waiting */
  bool is_embedded;        /* as in lt_session ... */
  const char *helper;      /* ... and this, too */
  bool is_empty;           /* no source of the configuration is started */
  lt_source_start start;   /* of all sources ... */
  const char *only;        /* ... or of the one of this name, and the others start at a call; NULL: of all */
} lt_sources_options;

/* Starts all sources that are not disabled, in the background. Borrows everything in the options. Errors: LT_E_NOMEM.
 * Owns: the caller, lt_sources_close. */
lt_status lt_sources_open(const lt_sources_options *options, lt_sources **ret_sources, lt_err *err);
/* The number of sources in the configuration, with those that are disabled or could not start. */
size_t lt_sources_count(const lt_sources *sources);
/* The MCP client of a source; NULL: it is disabled, could not be opened, or is no MCP server. Borrows: until
 * lt_sources_close. One whose source has left the configuration meanwhile is CLOSED after its last call. */
lt_mcp *lt_sources_mcp(const lt_sources *sources, size_t i);
/* Sets the one listener of all MCP clients, also of those that come later, and asks them what they offer beside tools.
 * A change of the configuration is a notice of a list too, without a client. */
void lt_sources_listen(lt_sources *sources, const lt_mcp_listener *listener);
/* lt_mcp_set_log_level for all MCP clients, also for those that come later. */
void lt_sources_set_log_level(lt_sources *sources, const char *level);
/* Waits until each source is ready or down, or the cancel fires. A source that is down gives a warning. LT_YIELDS. */
void lt_sources_await(lt_sources *sources) LT_YIELDS;
/* A source as `lathe servers` shows it. */
typedef struct lt_sources_row {
  const char *noun; /* "server" */
  const char *name;
  lt_source_facts facts; /* `state` is also "disabled" */
} lt_sources_row;
/* Tells about each source of the configuration, in its order; those that run are measured side by side. The rows are in
 * the arena. Errors: LT_E_NOMEM. LT_YIELDS. */
lt_status lt_sources_describe(lt_sources *sources, lt_arena *arena, lt_sources_row **ret_rows, size_t *ret_count,
                              lt_err *err) LT_YIELDS;

/* --- Another configuration ----------------------------------------------------------------------------------------
 * The configuration of the options is replaced in place while the sources are open (config_adopt.h): first a plan is
 * made, then the configuration is replaced, then the plan is carried out. Sources whose configuration is the same are
 * not touched. */
/* Plans for what `fresh` has. Nothing is changed yet. Does not yield. Errors: LT_E_LIMIT (LT_SOURCES_GONE_MAX),
 * LT_E_NOMEM. Owns: the caller, lt_sources_change_carry_out or lt_sources_change_free. */
lt_status lt_sources_change_plan(lt_sources *sources, const lt_config *fresh, lt_sources_change **ret_change,
                                 lt_err *err);
/* Takes the tools of sources that are gone or different off the door, and ends each when its last open call has ended;
 * starts those that are new or different, in the background. One that takes the place of another has that one's tools
 * until its own are known. Failures are warnings, as in lt_sources_open and lt_sources_await. Does not yield. Owns:
 * takes the change. */
void lt_sources_change_carry_out(lt_sources *sources, lt_sources_change *change);
/* Drops a plan. NULL is allowed. */
void lt_sources_change_free(lt_sources_change *change);

/* Closes the sources. Calls that still wait for a source fail. LT_YIELDS. NULL is allowed. */
void lt_sources_close(lt_sources *sources) LT_YIELDS;

#endif
