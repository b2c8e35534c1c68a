/* Names that do not depend on the database behind the store: ids, hashes of blobs, states, the default path. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "store/store.h"
#include "store/store_prompts.h"

/* --- Ids ---------------------------------------------------------------------------------------------------------- */
enum { TIME_DIGITS = 12 };

lt_status lt_store_new_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) {
  return lt_random_hex(ret_id, LT_STORE_ID_BYTES)
             ? LT_OK
             : lt_fail(err, LT_E_IO, "the kernel gives no random numbers for an id");
}

/* The first 12 digits are the time in milliseconds. */
lt_status lt_store_new_prompt_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) {
  LT_TRY(lt_store_new_id(ret_id, err));
  uint64_t ms = lt_clock_wall_us() / 1000;
  for (int i = TIME_DIGITS - 1; i >= 0; i--) {
    ret_id[i] = "0123456789abcdef"[ms & 15];
    ms >>= 4;
  }
  return LT_OK;
}

/* --- Blobs -------------------------------------------------------------------------------------------------------- */
/* A second 64-bit hash, unlike lt_str_hash; it takes eight bytes at a time. Both can be made to collide on purpose: the
 * store compares the bytes, and refuses others under the same name. */
static uint64_t blob_hash_words(lt_str s) {
  uint64_t hash = s.n;
  for (size_t at = 0; at < s.n; at += 8) {
    uint64_t word = 0;
    memcpy(&word, s.p + at, s.n - at < 8 ? s.n - at : 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

void lt_store_blob_name(lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1]) {
  snprintf(ret_hash, LT_BLOB_HASH_BYTES + 1, "%016" PRIx64 "%016" PRIx64, lt_str_hash(data), blob_hash_words(data));
}

/* --- States of a prompt ------------------------------------------------------------------------------------------- */
const char *lt_store_prompt_state_name(lt_prompt_state state) {
  static const char *const names[] = {
      [LT_PROMPT_RUNNING] = "running",     [LT_PROMPT_WAITING] = "waiting_for_approval",
      [LT_PROMPT_COMPLETED] = "completed", [LT_PROMPT_FAILED] = "failed",
      [LT_PROMPT_CANCELLED] = "cancelled",
  };
  return names[state];
}

/* --- The default path --------------------------------------------------------------------------------------------- */
lt_status lt_store_default_path(lt_buf *out, lt_err *err) {
  const char *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  if (state != NULL && state[0] == '/') { /* XDG Base Directory Specification: a relative path is to be ignored */
    lt_buf_addc(out, state);
  } else if (home != NULL && home[0] == '/') {
    lt_buf_addc(out, home);
    lt_buf_addc(out, "/.local/state");
  } else {
    return lt_fail(err, LT_E_CONFIG, "there is no place for the database: set $HOME or $XDG_STATE_HOME");
  }
  lt_buf_addc(out, "/lathe/lathe.db");
  return lt_buf_check(out, err, "no memory for the database's path");
}
