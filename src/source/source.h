/* Where tools come from: one interface, and one table of the kinds there are.
 *
 * A source opens itself from the configuration, hands its tools to the door (tool/door.h) and keeps them up to date. A
 * new kind is one file that ends in a const lt_source_type, and one row in LT_SOURCES; docs/guide/extending.md shows
 * one. Plugins are no sources: tools are one of the things a plugin registers, and the host that carries out the rest
 * gives them to the door (plugin/host.h). Loop thread only.
 */
#ifndef LT_SOURCE_SOURCE_H
#define LT_SOURCE_SOURCE_H

#include "config/config.h"
#include "io/loop.h"
#include "tool/door.h"

typedef struct lt_source_type lt_source_type;

/* An open source; the first member of what its kind makes of it. */
typedef struct lt_source {
  const lt_source_type *type;
  const char *name; /* as the configuration has it */
} lt_source;

typedef struct lt_source_options {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_secrets *secrets;
  void (*on_warning)(void *arg, lt_str message); /* a whole line; must not yield */
  void *arg;
} lt_source_options;

typedef enum lt_source_state { LT_SOURCE_STARTING, LT_SOURCE_READY, LT_SOURCE_DOWN } lt_source_state;

struct lt_source_type {
  const char *noun; /* for messages: "server" */
  /* How many of this kind the configuration names, and the name of each. */
  size_t (*count)(const lt_config *config);
  const char *(*name)(const lt_config *config, size_t index);
  /* Starts one, in the background; does not yield. Borrows everything in the options until it is closed. NULL in
   * `ret_source`: it is disabled. Errors without its name in them. Owns: the caller, `close`. */
  lt_status (*open)(const lt_source_options *options, size_t index, lt_source **ret_source, lt_err *err);
  /* Waits until its tools are known; its failure is a whole line. NULL: they are when it is open. LT_YIELDS. */
  lt_status (*await)(lt_source *source, lt_err *err) LT_YIELDS;
  /* NULL: it is ready as long as it is open. */
  lt_source_state (*state)(const lt_source *source);
  /* Takes its tools off the door, ends it and frees it; what still waits for it fails. LT_YIELDS. */
  void (*close)(lt_source *source) LT_YIELDS;
};

/* One row for each kind: NAME_source.c defines lt_NAME_source. */
#define LT_SOURCES(ROW) ROW(mcp)

#define LT_SOURCE_DECLARE(name) extern const lt_source_type lt_##name##_source;
LT_SOURCES(LT_SOURCE_DECLARE)

/* The table. Borrows: for ever. */
const lt_source_type *const *lt_source_types(size_t *ret_count);

#endif
