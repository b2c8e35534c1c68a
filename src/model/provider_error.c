#include "model/provider_error.h"

#include <strings.h>

#include "text/secrets.h"

/* --- Text --------------------------------------------------------------------------------------------------------- */

bool lt_provider_error_mentions(lt_str text, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= text.n; i++) {
    if (strncasecmp(text.p + i, word, n) == 0) {
      return true;
    }
  }
  return false;
}

lt_str lt_provider_error_host(lt_str url) {
  size_t start = lt_str_find(url, LT_STR("://"), 0);
  start = start == SIZE_MAX ? 0 : start + 3;
  size_t end = start;
  while (end < url.n && url.p[end] != '/' && url.p[end] != '?' && url.p[end] != '#') {
    end++;
  }
  for (size_t i = start; i < end; i++) {
    if (url.p[i] == '@') {
      start = i + 1;
    }
  }
  return lt_str_sub(url, start, end);
}

/* Makes one line without control characters, cut at a character. */
static lt_str provider_error_one_line(lt_arena *arena, lt_str text) {
  lt_str copy = lt_arena_dup(arena, lt_str_trim(text));
  char *p = (char *)(uintptr_t)copy.p;
  size_t n = 0;
  for (size_t i = 0; i < copy.n && n < LT_PROVIDER_ERROR_BYTES; i++) {
    bool blank = (unsigned char)p[i] <= ' ' || p[i] == 0x7f;
    if (!blank || n == 0 || p[n - 1] != ' ') {
      p[n++] = blank ? ' ' : p[i];
    }
  }
  if (n == LT_PROVIDER_ERROR_BYTES) {
    while (n > 0 && ((unsigned char)p[n - 1] & 0xC0) == 0x80) {
      n--;
    }
    n -= n > 0 && ((unsigned char)p[n - 1] & 0x80) != 0 ? 1 : 0;
  }
  return lt_str_trim(lt_str_sub(copy, 0, n));
}

/* Some providers repeat the key they were sent. */
static lt_str provider_error_without_key(lt_arena *arena, lt_str text, lt_str key) {
  lt_secrets *secrets = lt_secrets_new();
  LT_AUTO_BUF(out, LT_MODEL_ERROR_BYTES * 2);
  lt_str masked = LT_STR_NULL;
  if (secrets != NULL && lt_secrets_add(secrets, lt_str_trim(key)) == LT_OK) {
    lt_secrets_mask(secrets, text, &out);
    masked = lt_arena_dup_buf(arena, &out);
  }
  lt_secrets_free(secrets);
  return masked;
}

static lt_str provider_error_clean(lt_arena *arena, lt_str text, lt_str key) {
  return provider_error_one_line(arena, key.n > 0 ? provider_error_without_key(arena, text, key) : text);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static lt_str provider_error_string_of(lt_arena *arena, lt_json v) {
  lt_str s = LT_STR_NULL;
  (void)lt_json_str(v, arena, &s);
  return s;
}

static lt_str provider_error_first_string(lt_arena *arena, lt_json v, const char *const *keys) {
  for (; *keys != NULL; keys++) {
    lt_str s = provider_error_string_of(arena, lt_json_get(v, *keys));
    if (s.n > 0) {
      return s;
    }
  }
  return LT_STR_NULL;
}

/* {"message", ...} or a string; FastAPI's "detail" may be a list of {"msg"}. */
static lt_str provider_error_text_of(lt_arena *arena, lt_json v) {
  static const char *const keys[] = {"message", "msg", "detail", "error", "error_description", NULL};
  if (lt_json_typeof(v) == LT_JSON_STRING) {
    return provider_error_string_of(arena, v);
  } else if (lt_json_typeof(v) == LT_JSON_ARRAY) {
    return provider_error_text_of(arena, lt_json_get(lt_json_at(v, 0), "msg"));
  }
  lt_str text = provider_error_first_string(arena, v, keys);
  /* OpenRouter: the message of the provider behind it. */
  lt_str raw = provider_error_string_of(arena, lt_json_get(lt_json_get(v, "metadata"), "raw"));
  return text.n > 0 && raw.n > 0 ? lt_arena_printf(arena, "%.*s: %.*s", LT_STR_ARG(text), LT_STR_ARG(raw)) : text;
}

static lt_json provider_error_error_in(lt_json v) {
  if (lt_json_typeof(v) == LT_JSON_ARRAY) {
    v = lt_json_at(v, 0);
  }
  lt_json inner = lt_json_get(v, "error");
  if (lt_json_typeof(inner) == LT_JSON_OBJECT || (lt_json_typeof(inner) == LT_JSON_STRING)) {
    return inner;
  }
  lt_json detail = lt_json_get(v, "detail");
  return lt_json_exists(detail) ? detail : v;
}

lt_provider_error lt_provider_error_read(lt_arena *arena, lt_json error, lt_str key) {
  static const char *const codes[] = {"code", "type", "status", NULL};
  lt_json inner = provider_error_error_in(error);
  lt_provider_error words = {
      .text = provider_error_clean(arena, provider_error_text_of(arena, inner), key),
      .code = provider_error_clean(arena, provider_error_first_string(arena, inner, codes), key)};
  int64_t status;
  if (lt_json_int(lt_json_get(inner, "code"), &status) && status >= 300 && status < 600) {
    words.status = (int)status;
  }
  return words;
}

lt_provider_error lt_provider_error_parse(lt_arena *arena, lt_str body, lt_str key) {
  lt_str text = lt_str_trim(body);
  lt_json_doc doc;
  if (text.n == 0) {
    return (lt_provider_error){.status = 0};
  } else if (text.p[0] == '<') {
    return (lt_provider_error){.text = LT_STR("a web page")};
  } else if ((text.p[0] == '{' || text.p[0] == '[') && lt_json_parse(arena, text, &doc, NULL) == LT_OK) {
    lt_provider_error words = lt_provider_error_read(arena, lt_json_root(&doc), key);
    words.all = text;
    return words;
  }
  return (lt_provider_error){.text = provider_error_clean(arena, text, key), .all = text};
}
