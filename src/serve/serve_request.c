#include "serve/serve_request.h"

#include <stdio.h>

#include "serve/serve_log.h"

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static int serve_request_hex_digit(char c) {
  char low = (char)(c | ' ');
  return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* RFC 3986, section 2.1. */
bool lt_serve_request_decode(lt_str text, lt_arena *arena, lt_str *ret) {
  char *to = lt_arena_alloc(arena, text.n + 1);
  size_t n = 0;
  for (size_t i = 0; to != NULL && i < text.n; i++) {
    char c = text.p[i];
    if (c == '%') {
      int high = i + 2 < text.n ? serve_request_hex_digit(text.p[i + 1]) : -1;
      int low = high >= 0 ? serve_request_hex_digit(text.p[i + 2]) : -1;
      if (low < 0) {
        return false;
      }
      c = (char)(high * 16 + low);
      i += 2;
    }
    if (c == '\0') { /* what reads the text as C would take less of it for the whole */
      return false;
    }
    to[n++] = c;
  }
  if (to == NULL) {
    return false;
  }
  to[n] = '\0';
  LT_AUTO_BUF(mended, 4 * LT_HTTP_URL_MAX_BYTES);
  lt_json_mend_utf8(&mended, lt_str_from(to, n));
  *ret = lt_str_from(to, n);
  return mended.status == LT_OK && lt_str_eq(lt_buf_view(&mended), *ret);
}

/* The undecoded value; NULL bytes: the parameter is missing. */
static lt_str serve_request_find_parameter(lt_str query, lt_str name) {
  for (size_t at = 0; at < query.n;) {
    size_t end = lt_str_find(query, LT_STR("&"), at);
    lt_str part = lt_str_sub(query, at, end);
    size_t equals = lt_str_find(part, LT_STR("="), 0);
    if (lt_str_eq(lt_str_sub(part, 0, equals), name)) {
      return equals == SIZE_MAX ? LT_STR("") : lt_str_sub(part, equals + 1, part.n);
    }
    at = end == SIZE_MAX ? query.n : end + 1;
  }
  return LT_STR_NULL;
}

/* URL Standard, "application/x-www-form-urlencoded": a space is sent as a plus. */
lt_str lt_serve_request_query(const lt_serve_request *r, const char *name) {
  lt_str value = lt_arena_dup(r->arena, serve_request_find_parameter(r->call->query, lt_str_of(name)));
  char *p = (char *)(uintptr_t)value.p;
  for (size_t i = 0; i < value.n; i++) {
    p[i] = p[i] == '+' ? ' ' : p[i];
  }
  lt_str decoded = LT_STR_NULL;
  return value.p != NULL && lt_serve_request_decode(value, r->arena, &decoded) ? decoded : LT_STR_NULL;
}

lt_status lt_serve_request_number(const lt_serve_request *r, const char *name, int64_t min, int64_t max,
                                  int64_t standard, int64_t *ret_n, lt_err *err) {
  lt_json_doc doc;
  lt_str text = lt_serve_request_query(r, name);
  int64_t n = standard;
  bool is_number = text.n == 0 || (lt_json_parse(r->arena, text, &doc, NULL) == LT_OK &&
                                   lt_json_int(lt_json_root(&doc), &n) && n >= min && n <= max);
  if (!is_number) {
    return lt_fail(err, LT_E_INVALID, "query.%s: expected a whole number from %lld to %lld", name, (long long)min,
                   (long long)max);
  }
  *ret_n = n;
  return LT_OK;
}

lt_str lt_serve_request_text(const lt_serve_request *r, const char *name) {
  lt_str text = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(r->body, name), r->arena, &text);
  return text;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */
static void serve_request_put_error(lt_serve_request *r, int http_status, const char *code, const char *message) {
  lt_buf_clear(&r->answer->body);
  r->answer->status = http_status;
  r->answer->content_type = "application/json";
  r->w = lt_json_writer_on(&r->answer->body);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "error");
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "code");
  lt_json_put_cstr(&r->w, code);
  lt_json_key(&r->w, "message");
  lt_json_put_cstr(&r->w, message);
  lt_json_end_object(&r->w);
  lt_json_end_object(&r->w);
}

lt_status lt_serve_request_refuse(lt_serve_request *r, int http_status, const char *code, const char *format, ...) {
  char message[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  serve_request_put_error(r, http_status, code, message);
  return LT_OK;
}

/* The status' name in lower case, without its "E_": "E_NOTFOUND" is "notfound". */
static void serve_request_name(lt_status status, char *ret_code, size_t size_bytes) {
  const char *name = lt_status_name(status) + sizeof "E_" - 1;
  size_t n = 0;
  for (; name[n] != '\0' && n + 1 < size_bytes; n++) {
    ret_code[n] = (char)(name[n] | ' ');
  }
  ret_code[n] = '\0';
}

void lt_serve_request_fail(lt_serve_request *r, const lt_err *err) {
  char code[32];
  LT_AUTO_BUF(message, 8 * LT_ERR_MSG_MAX);
  serve_request_name(err->status, code, sizeof code);
  lt_buf_addc(&message, lt_err_msg(err));
  lt_secrets_mask_buf(r->serve->session->secrets, &message);
  const char *text = message.status == LT_OK ? message.p : lt_status_text(err->status);
  bool is_later =
      err->status == LT_E_CLOSED || err->status == LT_E_IO; /* the server ends; its disk is full, or fails */
  int http_status = is_later ? 503 : lt_status_http(err->status);
  serve_request_put_error(r, http_status, code, text);
  if (http_status >= 500 && r->call->cancel->why == LT_OK) {
    lt_serve_log_failure(r, http_status, text);
  }
}
