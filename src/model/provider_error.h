/* What a provider says about an error, made fit for our messages. Pure; private to model/. */
#ifndef LT_MODEL_PROVIDER_ERROR_H
#define LT_MODEL_PROVIDER_ERROR_H

#include "base/arena.h"
#include "json/json.h"

typedef struct lt_provider_error {
  lt_str text; /* one line, not long, without the key; may be empty */
  lt_str code; /* the error's code or type, as a word; may be empty */
  lt_str all;  /* as it came: for looking into, never shown. Borrows: the body */
  int status;  /* the error's code, where it is a number like those of HTTP, else 0 */
} lt_provider_error;

/* Of an error's body, in any of the forms in use: {"error": {"message", "code", "type"}}, {"error": "..."},
 * {"message"},
 * {"detail"}, [{"error": ...}], a web page, text. Owns: the arena. */
lt_provider_error lt_provider_error_parse(lt_arena *arena, lt_str body, lt_str key);
/* The same of JSON that was read already. */
lt_provider_error lt_provider_error_read(lt_arena *arena, lt_json error, lt_str key);

/* The host of a URL, with its port, without a user. Borrows: the URL. */
lt_str lt_provider_error_host(lt_str url);

/* Whether `word` occurs in `text`, ASCII case ignored. */
bool lt_provider_error_mentions(lt_str text, const char *word);

#endif
