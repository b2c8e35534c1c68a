#include "gateway/gateway_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_state.h"

#define SUFFIX_CHARS 9 /* "_" and eight digits of a hash */

/* --- Writing names ------------------------------------------------------------------------------------------------ */
static bool gateway_names_is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Each character becomes one byte. */
static void gateway_names_put(lt_buf *out, lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    if (i == 0 || ((unsigned char)text.p[i] & 0xC0) != 0x80) {
      lt_buf_byte(out, gateway_names_is_allowed(text.p[i]) ? text.p[i] : '_');
    }
  }
}

/* Cuts the name behind `from` when it is too long; a cut name, and one that `salt` must tell from others, ends in a
 * hash. */
static void gateway_names_bound(lt_buf *out, lt_str server, lt_str name, uint32_t salt) {
  if (out->n == 0) {
    lt_buf_byte(out, '_');
  }
  if (out->n <= LT_GATEWAY_NAME_CHARS && salt == 0) {
    return;
  }
  uint64_t hash = lt_str_hash(name) * 31 + lt_str_hash(server);
  size_t most = LT_GATEWAY_NAME_CHARS - SUFFIX_CHARS;
  out->n = out->n < most ? out->n : most;
  lt_buf_printf(out, "_%08x", (uint32_t)(hash ^ (hash >> 32)) + salt);
}

static void gateway_names_put_long(lt_buf *out, const lt_gateway_named *thing, uint32_t salt) {
  gateway_names_put(out, thing->server);
  lt_buf_addc(out, thing->server.n > 0 ? "_" : "");
  gateway_names_put(out, thing->name);
  gateway_names_bound(out, thing->server, thing->name, salt);
}

/* --- Names that are taken ----------------------------------------------------------------------------------------- */
/* How often each name occurs, by its hash. */
typedef struct gateway_name_counts {
  uint64_t *hashes;
  uint32_t *counts;
  size_t mask;
} gateway_name_counts;

static uint32_t *gateway_names_count_of(const gateway_name_counts *taken, lt_str name) {
  uint64_t hash = lt_str_hash(name) | 1;
  size_t at = (size_t)(hash >> 1) & taken->mask;
  while (taken->hashes[at] != 0 && taken->hashes[at] != hash) {
    at = (at + 1) & taken->mask;
  }
  taken->hashes[at] = hash;
  return &taken->counts[at];
}

static bool gateway_names_counts_init(gateway_name_counts *taken, size_t count) {
  size_t size = 64;
  while (size < 4 * count) {
    size *= 2;
  }
  *taken = (gateway_name_counts){.hashes = lt_mem_zalloc(size, sizeof *taken->hashes),
                                 .counts = lt_mem_zalloc(size, sizeof *taken->counts),
                                 .mask = size - 1};
  return taken->hashes != NULL && taken->counts != NULL;
}

static void gateway_names_counts_release(gateway_name_counts *taken) {
  lt_mem_free(taken->hashes);
  lt_mem_free(taken->counts);
}

#define GATEWAY_NAME_ROW(tool) lt_gateway_##tool.name,

/* Our own tools keep their names, and a thing's own name counts once for each thing that has it. */
static void gateway_names_count_own(const gateway_name_counts *taken, const lt_gateway_named *things, size_t count) {
  const char *const ours[] = {LT_GATEWAY_TOOLS(GATEWAY_NAME_ROW)};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
    *gateway_names_count_of(taken, lt_str_of(ours[i])) += 2;
  }
  for (size_t i = 0; i < count; i++) {
    LT_AUTO_BUF(own, LT_MIB);
    gateway_names_put(&own, things[i].name);
    ++*gateway_names_count_of(taken, lt_buf_view(&own));
  }
}

/* --- Making ------------------------------------------------------------------------------------------------------- */
static lt_status gateway_names_make_one(lt_gateway_named *thing, const gateway_name_counts *taken, lt_arena *arena) {
  LT_AUTO_BUF(name, LT_MIB);
  gateway_names_put(&name, thing->name);
  bool is_own =
      name.n > 0 && name.n <= LT_GATEWAY_NAME_CHARS && *gateway_names_count_of(taken, lt_buf_view(&name)) == 1;
  for (uint32_t salt = 0; !is_own; salt++) {
    lt_buf_clear(&name);
    gateway_names_put_long(&name, thing, salt);
    uint32_t *count = gateway_names_count_of(taken, lt_buf_view(&name));
    if (*count == 0 || name.status != LT_OK) {
      *count = 2;
      break;
    }
  }
  thing->wire = lt_arena_dup_buf(arena, &name);
  return thing->wire.p != NULL ? LT_OK : LT_E_NOMEM;
}

lt_status lt_gateway_names_make(lt_gateway_named *things, size_t count, lt_arena *arena, lt_err *err) {
  gateway_name_counts taken;
  lt_status status = gateway_names_counts_init(&taken, count + 16) ? LT_OK : LT_E_NOMEM;
  if (status == LT_OK) {
    gateway_names_count_own(&taken, things, count);
  }
  for (size_t i = 0; i < count && status == LT_OK; i++) {
    status = gateway_names_make_one(&things[i], &taken, arena);
  }
  gateway_names_counts_release(&taken);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "no memory for the names of %zu tools or prompts", count);
}

size_t lt_gateway_names_find(const lt_gateway_named *things, size_t count, lt_str wire) {
  for (size_t i = 0; i < count; i++) {
    if (lt_str_eq(things[i].wire, wire)) {
      return i;
    }
  }
  for (size_t i = 0; i < count; i++) {
    LT_AUTO_BUF(name, LT_MIB);
    gateway_names_put_long(&name, &things[i], 0);
    if (lt_str_eq(lt_buf_view(&name), wire)) {
      return i;
    }
  }
  return SIZE_MAX;
}
