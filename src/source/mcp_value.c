#include "source/mcp_value.h"

#include "base/limits.h"
#include "text/base64.h"
#include "tool/json_type.h"

/* --- Text --------------------------------------------------------------------------------------------------------- */
static bool mcp_value_is_kind(lt_json block, const char *kind) {
  return lt_json_str_eq(lt_json_get(block, "type"), lt_str_of(kind));
}

/* A string's characters; empty where there is no string. */
static lt_status mcp_value_get_text(lt_arena *arena, lt_json v, lt_str *ret_text) {
  lt_str text = LT_STR("");
  if (lt_json_typeof(v) == LT_JSON_STRING && !lt_json_str(v, arena, &text)) {
    return LT_E_NOMEM;
  }
  *ret_text = text;
  return LT_OK;
}

/* Parses a text that may be JSON; no value if it is not. LT_E_NOMEM is a failure. */
static lt_status mcp_value_try_parse(lt_arena *arena, lt_str text, lt_json *ret) {
  lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
  lt_status status = doc != NULL ? lt_json_parse(arena, text, doc, NULL) : LT_E_NOMEM;
  if (status == LT_E_NOMEM) {
    return status;
  }
  *ret = status == LT_OK ? lt_json_root(doc) : (lt_json){0};
  return LT_OK;
}

/* Whether a text with an object or array counts as JSON: yes, unless the tool's schema says string. */
static lt_status mcp_value_is_meant(lt_arena *arena, lt_json type, lt_json text, lt_str json, bool *ret) {
  lt_json kind;
  LT_TRY(mcp_value_try_parse(arena, json.p[0] == '{' ? LT_STR("{}") : LT_STR("[]"), &kind));
  bool meant = !lt_json_exists(type) || !lt_json_fits_type(type, text) || lt_json_fits_type(type, kind);
  *ret = meant && lt_json_check(json, NULL) == LT_OK;
  return LT_OK;
}

/* Whether the text is a number, boolean or null, and the tool's schema allows that type but no string. */
static lt_status mcp_value_is_declared(lt_arena *arena, lt_json type, lt_json text, lt_str json, bool *ret) {
  lt_json value = {0};
  if (lt_json_exists(type) && !lt_json_fits_type(type, text)) {
    LT_TRY(mcp_value_try_parse(arena, json, &value));
  }
  *ret = lt_json_exists(value) && lt_json_fits_type(type, value);
  return LT_OK;
}

static lt_status mcp_value_put_single_text(lt_arena *arena, lt_json text, lt_str output_schema, lt_buf *out) {
  lt_str s;
  lt_json schema;
  bool parsed = false;
  LT_TRY(mcp_value_get_text(arena, text, &s));
  LT_TRY(mcp_value_try_parse(arena, output_schema, &schema));
  lt_json type = lt_json_get(schema, "type");
  lt_str json = lt_str_trim(s);
  if (json.n > 0 && (json.p[0] == '{' || json.p[0] == '[')) {
    LT_TRY(mcp_value_is_meant(arena, type, text, json, &parsed));
  } else if (json.n > 0) {
    LT_TRY(mcp_value_is_declared(arena, type, text, json, &parsed));
  }
  if (parsed) {
    lt_buf_add(out, json); /* unchanged: numbers keep their digits */
  } else {
    lt_json_writer w = lt_json_writer_on(out);
    lt_json_put_str(&w, s);
  }
  return LT_OK;
}

static lt_status mcp_value_put_joined_texts(lt_arena *arena, lt_json content, lt_buf *out) {
  bool first = true;
  lt_buf_byte(out, '"');
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    lt_str s;
    LT_TRY(mcp_value_get_text(arena, lt_json_get(it.value, "text"), &s));
    lt_buf_addc(out, first ? "" : "\\n");
    lt_json_escape(out, s);
    first = false;
  }
  lt_buf_byte(out, '"');
  return LT_OK;
}

/* --- Other blocks ------------------------------------------------------------------------------------------------- */
/* The state of turning an answer into a value. */
typedef struct value {
  lt_arena *arena;
  lt_mcp_media_list *media; /* NULL: the bytes are not needed */
  lt_buf *out;
} value;

static void mcp_value_put_member(lt_json_writer *w, const char *key, lt_json member) {
  lt_json_key(w, key);
  lt_json_put_raw(w, lt_json_text(member));
}

/* Records the place of an artifact's id. */
static lt_status mcp_value_collect_media(value *v, const char *type, lt_json mime_type, lt_str base64) {
  LT_AUTO_BUF(bytes, LT_JSON_MAX_BYTES);
  lt_mcp_media *one = lt_arena_zalloc(v->arena, 1, sizeof *one);
  if (one == NULL) {
    return LT_E_NOMEM;
  }
  lt_base64_decode(base64, &bytes);
  *one = (lt_mcp_media){.type = lt_str_of(type), .data = lt_arena_dup(v->arena, lt_buf_view(&bytes)), .at = v->out->n};
  LT_TRY(bytes.status); /* no answer is better than an empty image */
  LT_TRY(mcp_value_get_text(v->arena, mime_type, &one->mime_type));
  if (one->data.p == NULL) {
    return LT_E_NOMEM;
  }
  *v->media->last = one;
  v->media->last = &one->next;
  v->media->count++;
  return LT_OK;
}

static lt_status mcp_value_put_bytes(value *v, lt_json_writer *w, const char *type, lt_json mime_type, lt_json base64) {
  lt_str s;
  LT_TRY(mcp_value_get_text(v->arena, base64, &s));
  size_t bytes = lt_base64_length(s);
  lt_json_key(w, "bytes");
  lt_json_put_int(w, (int64_t)bytes);
  lt_json_key(w, "artifact");
  if (v->media != NULL && v->media->count < LT_ANSWER_MEDIA_MAX && bytes > 0) {
    LT_TRY(mcp_value_collect_media(v, type, mime_type, s));
  }
  lt_json_put_null(w);
  return LT_OK;
}

static lt_status mcp_value_put_media(value *v, lt_json_writer *w, lt_json block, const char *type) {
  lt_json mime_type = lt_json_get(block, "mimeType");
  lt_json_begin_object(w);
  mcp_value_put_member(w, "type", lt_json_get(block, "type"));
  mcp_value_put_member(w, "mimeType", mime_type);
  LT_TRY(mcp_value_put_bytes(v, w, type, mime_type, lt_json_get(block, "data")));
  lt_json_end_object(w);
  return LT_OK;
}

static lt_status mcp_value_put_resource(value *v, lt_json_writer *w, lt_json resource) {
  lt_json mime_type = lt_json_get(resource, "mimeType");
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "resource");
  mcp_value_put_member(w, "uri", lt_json_get(resource, "uri"));
  mcp_value_put_member(w, "mimeType", mime_type);
  lt_json text = lt_json_get(resource, "text");
  if (lt_json_exists(text)) {
    mcp_value_put_member(w, "text", text);
  } else {
    LT_TRY(mcp_value_put_bytes(v, w, "resource", mime_type, lt_json_get(resource, "blob")));
  }
  lt_json_end_object(w);
  return LT_OK;
}

static void mcp_value_put_text_block(lt_json_writer *w, lt_json block) {
  lt_json_begin_object(w);
  mcp_value_put_member(w, "type", lt_json_get(block, "type"));
  mcp_value_put_member(w, "text", lt_json_get(block, "text"));
  lt_json_end_object(w);
}

static lt_status mcp_value_put_block(value *v, lt_json_writer *w, lt_json block) {
  if (mcp_value_is_kind(block, "text")) {
    mcp_value_put_text_block(w, block);
    return LT_OK;
  }
  if (mcp_value_is_kind(block, "image") || mcp_value_is_kind(block, "audio")) {
    return mcp_value_put_media(v, w, block, mcp_value_is_kind(block, "image") ? "image" : "audio");
  }
  if (mcp_value_is_kind(block, "resource")) {
    return mcp_value_put_resource(v, w, lt_json_get(block, "resource"));
  }
  lt_json_put_raw(w, lt_json_text(block)); /* resource_link, and what later versions may add */
  return LT_OK;
}

static lt_status mcp_value_put_blocks(value *v, lt_json content) {
  lt_json_writer w = lt_json_writer_on(v->out);
  bool several = lt_json_count(content) > 1;
  if (several) {
    lt_json_begin_array(&w);
  }
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    LT_TRY(mcp_value_put_block(v, &w, it.value));
  }
  if (several) {
    lt_json_end_array(&w);
  }
  return LT_OK;
}

/* --- The result --------------------------------------------------------------------------------------------------- */
static uint32_t mcp_value_count_texts(lt_json content) {
  uint32_t texts = 0;
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    texts += mcp_value_is_kind(it.value, "text");
  }
  return texts;
}

static lt_status mcp_value_put_content(value *v, lt_json content, lt_str output_schema) {
  lt_buf *out = v->out;
  uint32_t count = lt_json_count(content);
  if (lt_json_typeof(content) != LT_JSON_ARRAY || count == 0) {
    /* An empty result, or an unknown one, which is shown rather than lost. */
    bool nothing = count == 0 && lt_json_typeof(content) != LT_JSON_STRING;
    lt_buf_add(out, nothing ? LT_STR("null") : lt_json_text(content));
    return LT_OK;
  }
  if (mcp_value_count_texts(content) < count) {
    return mcp_value_put_blocks(v, content);
  }
  if (count == 1) {
    return mcp_value_put_single_text(v->arena, lt_json_get(lt_json_at(content, 0), "text"), output_schema, out);
  }
  return mcp_value_put_joined_texts(v->arena, content, out);
}

/* The message of a failure: all its texts. */
static lt_status mcp_value_add_error_text(lt_arena *arena, lt_json content, lt_buf *out) {
  lt_json_iter it = lt_json_each(content);
  while (lt_json_next(&it)) {
    lt_json holder = mcp_value_is_kind(it.value, "resource") ? lt_json_get(it.value, "resource") : it.value;
    lt_str s;
    LT_TRY(mcp_value_get_text(arena, lt_json_get(holder, "text"), &s));
    if (lt_str_trim(s).n > 0) {
      lt_buf_addc(out, out->n > 0 ? "\n" : "");
      lt_buf_add(out, s);
    }
  }
  return LT_OK;
}

static lt_status mcp_value_put_error(lt_arena *arena, lt_json result, lt_str id, lt_buf *out) {
  LT_TRY(mcp_value_add_error_text(arena, lt_json_get(result, "content"), out));
  lt_json structured = lt_json_get(result, "structuredContent");
  if (out->n == 0 && lt_json_count(structured) > 0) {
    lt_buf_add(out, lt_json_text(structured));
  }
  if (out->n == 0) {
    lt_buf_addc(out, "Tool \"");
    lt_buf_add(out, id);
    lt_buf_addc(out, "\" failed without a message");
  }
  return out->status != LT_OK ? out->status : LT_E_TOOL;
}

lt_status lt_mcp_value(lt_arena *arena, lt_json result, lt_str id, lt_str output_schema, lt_mcp_media_list *media,
                       lt_buf *out) {
  value v = {.arena = arena, .media = media, .out = out};
  lt_json structured = lt_json_get(result, "structuredContent");
  if (lt_json_bool(lt_json_get(result, "isError"), false)) {
    return mcp_value_put_error(arena, result, id, out);
  }
  if (lt_json_exists(structured) && lt_json_typeof(structured) != LT_JSON_NULL) {
    lt_buf_add(out, lt_json_text(structured));
  } else {
    LT_TRY(mcp_value_put_content(&v, lt_json_get(result, "content"), output_schema));
  }
  return out->status;
}
