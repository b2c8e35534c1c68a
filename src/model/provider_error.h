/* Reads a provider's error, and prepares its text for our messages. Pure. Private to model/. */
#ifndef LT_MODEL_PROVIDER_ERROR_H
#define LT_MODEL_PROVIDER_ERROR_H

#include "base/arena.h"
#include "json/json.h"

typedef struct lt_provider_error {
  lt_str text; /* one short line, without the key; may be empty */
  lt_str code; /* the error's code or type, as a word; may be empty */
  lt_str all;  /* the unchanged text: for searching, never shown. Borrows: the body */
  int status;  /* the error's code when it is an HTTP status, otherwise 0 */
} lt_provider_error;

/* Reads the body of an error, in any known form: {"error": {"message", "code", "type"}}, {"error": "..."}, {"message"},
 * {"detail"}, [{"error": ...}], a web page, text. Owns: the arena. */
lt_provider_error lt_provider_error_parse(lt_arena *arena, lt_str body, lt_str key);
/* The same for parsed JSON. */
lt_provider_error lt_provider_error_read(lt_arena *arena, lt_json error, lt_str key);

/* The host of a URL, with its port, without a user. Borrows: the URL. */
lt_str lt_provider_error_host(lt_str url);

/* Whether `word` occurs in `text`, ASCII case ignored. */
bool lt_provider_error_mentions(lt_str text, const char *word);

#endif
