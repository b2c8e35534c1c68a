/* Sources of tools: one interface, and one table of the kinds.
 *
 * A source opens itself from the configuration, hands its tools to the door (tool/door.h) and keeps them up to date. A
 * new kind is one file that ends in a const lt_source_type, and one row in LT_SOURCES; docs/guide/extending.md shows
 * one. Plugins are no sources: a plugin registers tools and other things, and the plugin host gives its tools to the
 * door (plugin/host.h). Loop thread only.
 */
#ifndef LT_SOURCE_SOURCE_H
#define LT_SOURCE_SOURCE_H

#include "config/config.h"
#include "io/loop.h"
#include "mcp/mcp_client.h"
#include "source/responder.h"
#include "tool/door.h"

typedef struct lt_source_type lt_source_type;

/* An open source; the first member of the struct of its kind. */
typedef struct lt_source {
  const lt_source_type *type;
  const char *name; /* its name in the configuration; lives as long as the source */
} lt_source;

/* When a source starts; also where the configuration says another thing. */
typedef enum lt_source_start {
  LT_SOURCE_START_AS_CONFIGURED,
  LT_SOURCE_START_AT_ONCE,
  LT_SOURCE_START_AT_CALL, /* its tools are those of the last time, or none */
} lt_source_start;

typedef struct lt_source_options {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_secrets *secrets;
  lt_responder *responder;                       /* answers what servers ask; NULL: nobody does */
  void (*on_warning)(void *arg, lt_str message); /* a whole line; must not yield */
  void *arg;
  lt_source_start start;
  lt_source *before;  /* the source of this kind and name that it takes the place of; NULL: there is none */
  bool is_embedded;   /* the process is somebody else's: nothing that a person keeps for Lathe is used */
  const char *helper; /* of children (io/process.h) */
} lt_source_options;

typedef enum lt_source_state { LT_SOURCE_STARTING, LT_SOURCE_READY, LT_SOURCE_DOWN } lt_source_state;

/* What is known of a source, for a person. */
typedef struct lt_source_facts {
  const char *state;     /* "running", "not started", "failed" or "needs login" */
  const char *transport; /* "stdio", "http" or "sse" */
  lt_str reason;         /* why it failed */
  lt_str version;        /* "name version", as it calls itself; may be empty, as those that follow may be 0 */
  lt_str protocol;
  uint64_t start_ms;     /* how long its last start took, up to its tools */
  uint64_t listed_ms;    /* wall clock: when it gave its list of tools; 0: the list is not known */
  uint64_t memory_bytes; /* of the processes it runs in, where they are ours */
  uint64_t answer_us;    /* how long it takes to answer */
  size_t tool_count;
} lt_source_facts;

struct lt_source_type {
  const char *noun; /* for messages: "server" */
  /* The number of sources of this kind in the configuration, and their names. */
  size_t (*count)(const lt_config *config);
  const char *(*name)(const lt_config *config, size_t index);
  /* Whether two configurations have different sources there: the one that is open has to be replaced. */
  bool (*differs)(const lt_config *config, size_t index, const lt_config *other, size_t other_index);
  /* Starts a source in the background; does not yield. Borrows everything in the options until `close`. NULL in
   * `ret_source`: the source is disabled. Error messages do not have the source's name. `config` may be changed
   * afterwards (config_adopt.h). Owns: the caller, `close` and `free`. */
  lt_status (*open)(const lt_source_options *options, size_t index, lt_source **ret_source, lt_err *err);
  /* Waits until the source's tools are known; the error message is a whole line. NULL: the tools are known after
   * `open`. LT_YIELDS. */
  lt_status (*await)(lt_source *source, lt_err *err) LT_YIELDS;
  /* Whether the source is ready. NULL: always, while it is open. */
  lt_source_state (*state)(const lt_source *source);
  /* Tells what is known, and measures memory and time of one that runs; the texts are in the arena. NULL: there is
   * nothing to tell. LT_YIELDS. */
  lt_status (*describe)(lt_source *source, lt_arena *arena, lt_source_facts *ret_facts, lt_err *err) LT_YIELDS;
  /* The MCP client behind the source. NULL: it is no MCP server. Borrows: while the source is open. */
  lt_mcp *(*client)(const lt_source *source);
  /* Removes the source's tools from the door: nobody can call them any more. Open calls go on. Must not yield. */
  void (*leave)(lt_source *source);
  /* `leave`; waits for open calls until `hurry` fires (NULL: not at all), and ends the source; calls that are still
   * open fail. LT_YIELDS. */
  void (*close)(lt_source *source, lt_cancel *hurry) LT_YIELDS;
  /* Frees a closed source. Who called it may know its provider or its client until then. */
  void (*free)(lt_source *source);
};

/* One row for each kind: NAME_source.c defines lt_NAME_source. */
#define LT_SOURCES(ROW) ROW(mcp)

#define LT_SOURCE_DECLARE(name) extern const lt_source_type lt_##name##_source;
LT_SOURCES(LT_SOURCE_DECLARE)

/* The table. Borrows: it is constant. */
const lt_source_type *const *lt_source_types(size_t *ret_count);

#endif
