/* The struct of the sources. Private to sources.c (opening, waiting, telling, closing) and sources_change.c (another
 * configuration). */
#ifndef LT_APP_SOURCES_IMPL_H
#define LT_APP_SOURCES_IMPL_H

#include "app/sources.h"
#include "io/fan_out.h"

/* A source may be slow to start and to end, so both run on a separate fiber, which points to the slot: a slot lives
 * until the sources are closed. So does its source: catalogs go on pointing to its provider, and requests of the
 * gateway to its client. */
typedef struct lt_source_slot {
  struct lt_source_slot *next_gone;
  lt_sources *all;
  const lt_source_type *type;
  char *name;
  size_t index;      /* in the configuration, among those of its kind */
  lt_source *source; /* NULL: disabled, or it could not be opened */
  lt_err why;        /* it could not be opened */
  bool has_left;     /* the configuration does not have it any more */
  bool is_ending;    /* a fiber closes it */
} lt_source_slot;

struct lt_sources {
  lt_sources_options options;
  lt_source_slot **slots; /* kind by kind, in the configuration's order */
  size_t count;
  lt_source_slot *gone; /* those that have left the configuration */
  size_t gone_count;
  lt_fan_out fan_out;    /* fibers that wait for a source, or end one, while somebody waits for all of them */
  lt_fan_out background; /* likewise, after a change */
  lt_cancel closing;     /* fired by lt_sources_close: nobody waits for open calls any more */
  lt_mcp_listener listener;
  const char *log_level; /* NULL: the clients' own */
};

/* The number of sources of all kinds. */
size_t lt_sources_configured(const lt_config *config);
/* A slot without a source, for the one at `index` of `config`. NULL: no memory. Owns: the caller, lt_sources_slot_free.
 */
lt_source_slot *lt_sources_slot_new(lt_sources *all, const lt_source_type *type, const lt_config *config, size_t index);
/* Frees a slot and its source, which is closed. NULL is allowed. */
void lt_sources_slot_free(lt_source_slot *slot);
/* Opens the slot's source; a failure is a warning. `before`: the source whose place it takes; may be NULL. */
void lt_sources_slot_open(lt_source_slot *slot, lt_source *before);
/* A fiber that waits for a slot's source; a failure is a warning. LT_YIELDS. */
void lt_sources_slot_await(void *slot) LT_YIELDS;

#endif
