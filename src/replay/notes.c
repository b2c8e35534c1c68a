#include "replay/notes.h"

#include <stdio.h>

#include "base/status.h"

/* --- Finding ------------------------------------------------------------------------------------------------------ */
lt_note *lt_notes_find(const lt_record *record, uint32_t kind) {
  for (size_t i = 0; i < record->note_count; i++) {
    if (record->notes[i].kind == kind) {
      return &record->notes[i];
    }
  }
  return NULL;
}

const lt_note *lt_notes_find_last(const lt_record *record, uint32_t kind) {
  for (size_t i = record->note_count; i > 0; i--) {
    if (record->notes[i - 1].kind == kind) {
      return &record->notes[i - 1];
    }
  }
  return NULL;
}

size_t lt_notes_count(const lt_record *record, uint32_t kind) {
  size_t count = 0;
  for (size_t i = 0; i < record->note_count; i++) {
    count += record->notes[i].kind == kind;
  }
  return count;
}

const lt_recorded_call *lt_notes_find_call(const lt_record *record, uint64_t seq) {
  size_t low = 0, high = record->call_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (record->calls[middle].seq < seq) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < record->call_count && record->calls[low].seq == seq ? &record->calls[low] : NULL;
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */
void lt_notes_put_failure(lt_buf *out, lt_status status, lt_str message) {
  lt_buf_printf(out, "%s ", lt_status_name(status));
  lt_buf_add(out, message);
}

lt_status lt_notes_status(lt_str name, lt_status otherwise) {
  for (int i = 0; i <= LT_E_INTERNAL; i++) {
    if (lt_str_eqc(name, lt_status_name((lt_status)i))) {
      return (lt_status)i;
    }
  }
  return otherwise;
}

lt_status lt_notes_read_failure(lt_str text, lt_str *ret_message) {
  size_t space = lt_str_find(text, LT_STR(" "), 0);
  if (space == SIZE_MAX) {
    return LT_OK;
  }
  *ret_message = lt_str_sub(text, space + 1, text.n);
  return lt_notes_status(lt_str_sub(text, 0, space), LT_E_TOOL);
}

/* --- What ran ----------------------------------------------------------------------------------------------------- */
#define HASH_DIGITS  16
#define ZONE_MAX_LEN 64 /* of a zone's name; no name is that long */

/* The embedded engine is noted by its fingerprint, other runners by their name. */
lt_str lt_notes_put_identity(const lt_program_identity *identity, char *text) {
  char engine[HASH_DIGITS + 1];
  snprintf(engine, sizeof engine, "%016llx", (unsigned long long)identity->engine);
  lt_str runner = identity->engine != 0 ? lt_str_from(engine, HASH_DIGITS) : identity->runner;
  int n = snprintf(text, LT_NOTES_IDENTITY_BYTES, "%.*s %016llx%s%.*s", LT_STR_ARG(runner),
                   (unsigned long long)identity->program, identity->time_zone.n > 0 ? " " : "",
                   LT_STR_ARG(lt_str_sub(identity->time_zone, 0, ZONE_MAX_LEN)));
  return lt_str_from(text, (size_t)n);
}

static bool notes_read_hash(lt_str digits, uint64_t *ret_hash) {
  uint64_t hash = 0;
  for (size_t i = 0; i < digits.n; i++) {
    char c = digits.p[i];
    bool is_letter = c >= 'a' && c <= 'f';
    if (!is_letter && (c < '0' || c > '9')) {
      return false;
    }
    hash = hash << 4 | (uint64_t)(is_letter ? c - 'a' + 10 : c - '0');
  }
  *ret_hash = hash;
  return digits.n == HASH_DIGITS;
}

bool lt_notes_read_identity(lt_str text, lt_program_identity *ret_identity) {
  size_t space = lt_str_find(text, LT_STR(" "), 0);
  if (space == SIZE_MAX) {
    return false;
  }
  lt_program_identity identity = {.runner = lt_str_sub(text, 0, space)};
  lt_str rest = lt_str_sub(text, space + 1, text.n);
  size_t zone = lt_str_find(rest, LT_STR(" "), 0);
  if (zone != SIZE_MAX) {
    identity.time_zone = lt_str_sub(rest, zone + 1, rest.n);
  }
  if (!notes_read_hash(lt_str_sub(rest, 0, zone), &identity.program)) {
    return false;
  }
  if (notes_read_hash(identity.runner, &identity.engine)) {
    identity.runner = LT_STR("quickjs");
  }
  *ret_identity = identity;
  return true;
}
