#include "agent/media_parts.h"

#include "agent/agent_state.h"
#include "base/limits.h"
#include "text/media_type.h"

#define PART_TYPE "artifact"

/* --- Writing ------------------------------------------------------------------------------------------------------ */
/* The writer of one more part. */
static lt_json_writer media_parts_add(lt_buf *parts) {
  lt_buf_addc(parts, parts->n > 0 ? "," : "");
  lt_json_writer w = lt_json_writer_on(parts);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "type", LT_STR(PART_TYPE));
  return w;
}

/* Writes a string of ours as it is; anything else is left out. */
static void media_parts_copy(lt_json_writer *w, const char *key, lt_json value) {
  if (lt_json_typeof(value) == LT_JSON_STRING || lt_json_typeof(value) == LT_JSON_NUMBER) {
    lt_json_key(w, key);
    lt_json_put_raw(w, lt_json_text(value));
  }
}

static void media_parts_put_from(lt_buf *parts, lt_json from, const char *id_key) {
  lt_json_writer w = media_parts_add(parts);
  media_parts_copy(&w, "id", lt_json_get(from, id_key));
  media_parts_copy(&w, "name", lt_json_get(from, "name"));
  media_parts_copy(&w, "mimeType", lt_json_get(from, "mimeType"));
  media_parts_copy(&w, "bytes", lt_json_get(from, "bytes"));
  lt_json_end_object(&w);
}

void lt_media_parts_put_attachments(lt_buf *parts, lt_json attachments) {
  for (lt_json_iter it = lt_json_each(attachments); lt_json_next(&it);) {
    media_parts_put_from(parts, it.value, "id");
  }
}

static size_t media_parts_put_image(lt_buf *parts, lt_json block) {
  bool is_image = lt_json_str_eq(lt_json_get(block, "type"), LT_STR("image")) &&
                  lt_json_typeof(lt_json_get(block, "artifact")) == LT_JSON_STRING &&
                  lt_json_typeof(lt_json_get(block, "mimeType")) == LT_JSON_STRING;
  if (is_image) {
    media_parts_put_from(parts, block, "artifact");
  }
  return is_image;
}

void lt_media_parts_put_answer(lt_buf *parts, lt_json answer) {
  size_t count = 0;
  if (lt_json_typeof(answer) == LT_JSON_OBJECT) {
    (void)media_parts_put_image(parts, answer);
    return;
  }
  lt_json_iter it = lt_json_each(answer);
  while (lt_json_typeof(answer) == LT_JSON_ARRAY && count < LT_ATTACHMENTS_MAX && lt_json_next(&it)) {
    count += lt_json_typeof(it.value) == LT_JSON_OBJECT ? media_parts_put_image(parts, it.value) : 0;
  }
}

static void media_parts_put_text(lt_json_writer *w, lt_str text) {
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("text"));
  lt_json_put_pair(w, "text", text);
  lt_json_end_object(w);
}

void lt_media_parts_put_message(lt_json_writer *w, const char *role, lt_str parts, lt_str text) {
  lt_json_begin_object(w);
  lt_json_put_pair(w, "role", lt_str_of(role));
  lt_json_key(w, "content");
  lt_json_begin_array(w);
  lt_json_put_raw(w, parts);
  if (text.n > 0) {
    media_parts_put_text(w, text);
  }
  lt_json_end_array(w);
  lt_json_end_object(w);
}

/* --- Filling ------------------------------------------------------------------------------------------------------ */
typedef struct media_filler {
  const lt_turn *turn;
  lt_str why_none;
  lt_json_writer w;
  lt_arena arena;
  size_t number; /* of the part, from 0 */
  size_t first;  /* the first one that is sent */
  lt_media_filled *filled;
} media_filler;

static bool media_parts_is_part(lt_json part) {
  return lt_json_str_eq(lt_json_get(part, "type"), LT_STR(PART_TYPE));
}

static lt_str media_parts_str(media_filler *f, lt_json value) {
  lt_str text = LT_STR_NULL;
  if (lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, &f->arena, &text)) {
    f->w.buf->status = LT_E_NOMEM;
  }
  return text;
}

/* A text is part of the conversation: it is not left out for others. */
static bool media_parts_is_text(lt_str mime_type) {
  return lt_str_starts(mime_type, LT_STR("text/"));
}

static int64_t media_parts_bytes(lt_json part) {
  int64_t bytes = 0;
  (void)lt_json_int(lt_json_get(part, "bytes"), &bytes);
  return bytes > 0 ? bytes : 0;
}

/* Calls `visit` for each part of each message. */
static void media_parts_each(lt_json messages, void (*visit)(void *arg, lt_json part), void *arg) {
  for (lt_json_iter it = lt_json_each(messages); lt_json_next(&it);) {
    lt_json content = lt_json_get(it.value, "content");
    lt_json_iter parts = lt_json_each(content);
    while (lt_json_typeof(content) == LT_JSON_ARRAY && lt_json_next(&parts)) {
      if (media_parts_is_part(parts.value)) {
        visit(arg, parts.value);
      }
    }
  }
}

/* How many of the oldest images and documents are left out. When there are too many, half of them go at once, so that
 * most requests begin with what the request before had: the providers' caches keep it. */
typedef struct media_window {
  lt_json messages;
  size_t count, first; /* parts so far, and the first one that is sent */
  size_t sent;         /* images and documents that are sent, and their bytes */
  int64_t bytes;
} media_window;

typedef struct media_drop {
  media_window *window;
  size_t number;
} media_drop;

static bool media_parts_is_too_much(const media_window *w, size_t share) {
  return w->sent > LT_MEDIA_REQUEST_MAX / share || w->bytes > (int64_t)(LT_MEDIA_REQUEST_BYTES / share);
}

static bool media_parts_counts(lt_json part) {
  LT_AUTO_ARENA(arena, LT_KIB);
  lt_str type = LT_STR_NULL;
  return !lt_json_str(lt_json_get(part, "mimeType"), &arena, &type) || !media_parts_is_text(type);
}

static void media_parts_drop(void *arg, lt_json part) {
  media_drop *drop = arg;
  media_window *w = drop->window;
  size_t number = drop->number++;
  if (number >= w->first && number + 1 < w->count && media_parts_counts(part) && media_parts_is_too_much(w, 2)) {
    w->sent--;
    w->bytes -= media_parts_bytes(part);
    w->first = number + 1;
  }
}

static void media_parts_count(void *arg, lt_json part) {
  media_window *w = arg;
  w->count++;
  if (!media_parts_counts(part)) {
    return;
  }
  w->sent++;
  w->bytes += media_parts_bytes(part);
  if (media_parts_is_too_much(w, 1)) {
    media_drop drop = {.window = w};
    media_parts_each(w->messages, media_parts_drop, &drop);
  }
}

/* --- One part ----------------------------------------------------------------------------------------------------- */
static void media_parts_put_name(lt_buf *out, lt_str name) {
  lt_buf_addc(out, "[Attached");
  lt_buf_addc(out, name.n > 0 ? ": " : "");
  lt_buf_add(out, name);
}

static void media_parts_put_left_out(media_filler *f, lt_json part, lt_str name, lt_str mime_type, lt_str why) {
  LT_AUTO_BUF(text, LT_MIB);
  media_parts_put_name(&text, name);
  lt_buf_printf(&text, " (%.*s, %lld bytes): left out, ", LT_STR_ARG(lt_str_sub(mime_type, 0, 100)),
                (long long)media_parts_bytes(part));
  lt_buf_add(&text, why);
  lt_buf_byte(&text, ']');
  media_parts_put_text(&f->w, lt_buf_view(&text));
  f->w.buf->status = lt_status_first(f->w.buf->status, text.status);
}

/* `data`: JSON text of a string with base64. */
static void media_parts_put_address(media_filler *f, const char *key, lt_str mime_type, lt_str data) {
  LT_AUTO_BUF(address, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_addc(&address, "\"data:");
  lt_json_escape(&address, mime_type);
  lt_buf_addc(&address, ";base64,");
  lt_buf_add(&address, lt_str_sub(data, 1, data.n));
  lt_json_key(&f->w, key);
  lt_json_put_raw(&f->w, lt_buf_view(&address));
  f->w.buf->status = lt_status_first(f->w.buf->status, address.status);
  f->filled->media_bytes += data.n;
  f->filled->media_count++;
}

static void media_parts_put_image_url(media_filler *f, lt_str mime_type, lt_str data) {
  lt_json_begin_object(&f->w);
  lt_json_put_pair(&f->w, "type", LT_STR("image_url"));
  lt_json_key(&f->w, "image_url");
  lt_json_begin_object(&f->w);
  media_parts_put_address(f, "url", mime_type, data);
  lt_json_end_object(&f->w);
  lt_json_end_object(&f->w);
}

static void media_parts_put_file(media_filler *f, lt_str name, lt_str mime_type, lt_str data) {
  lt_json_begin_object(&f->w);
  lt_json_put_pair(&f->w, "type", LT_STR("file"));
  lt_json_key(&f->w, "file");
  lt_json_begin_object(&f->w);
  lt_json_put_pair(&f->w, "filename", name.n > 0 ? name : LT_STR("file"));
  media_parts_put_address(f, "file_data", mime_type, data);
  lt_json_end_object(&f->w);
  lt_json_end_object(&f->w);
}

/* A text with its name, or the name of an image before it. */
static void media_parts_put_named(media_filler *f, lt_str name, lt_json data) {
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  media_parts_put_name(&text, name);
  lt_buf_byte(&text, ']');
  if (lt_json_exists(data)) {
    lt_buf_byte(&text, '\n');
    lt_buf_add(&text, media_parts_str(f, data));
  }
  media_parts_put_text(&f->w, lt_buf_view(&text));
  f->w.buf->status = lt_status_first(f->w.buf->status, text.status);
}

/* Why the data is not sent; empty: it is. */
static lt_str media_parts_why_not(const media_filler *f, lt_str mime_type) {
  bool is_image = lt_media_type_is_image(mime_type);
  if (media_parts_is_text(mime_type)) {
    return LT_STR_NULL;
  } else if (!is_image && !lt_str_eqc(mime_type, "application/pdf")) {
    return LT_STR("models take no such files");
  } else if (!(is_image ? lt_model_takes_images : lt_model_takes_files)(f->turn->model)) {
    return is_image ? LT_STR("this model takes no images") : LT_STR("this model takes no documents");
  } else if (f->why_none.n > 0) {
    return f->why_none;
  }
  return f->number < f->first ? LT_STR("later ones took its place") : LT_STR_NULL;
}

static lt_status media_parts_put_data(media_filler *f, lt_json part, lt_str name, lt_str mime_type,
                                      lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  lt_status status = lt_store_artifact_get(f->turn->agent->options.db, f->turn->user,
                                           media_parts_str(f, lt_json_get(part, "id")), &json, err);
  if (status == LT_E_NOTFOUND) {
    media_parts_put_left_out(f, part, name, mime_type, LT_STR("it is not kept any more"));
    return LT_OK;
  }
  LT_TRY(status);
  LT_TRY(lt_json_parse(&f->arena, lt_buf_view(&json), &doc, err));
  lt_json data = lt_json_get(lt_json_root(&doc), "data");
  if (media_parts_is_text(mime_type)) {
    media_parts_put_named(f, name, data);
    return LT_OK;
  }
  if (name.n > 0 && lt_media_type_is_image(mime_type)) {
    media_parts_put_named(f, name, (lt_json){0});
  }
  if (lt_media_type_is_image(mime_type)) {
    media_parts_put_image_url(f, mime_type, lt_json_text(data));
  } else {
    media_parts_put_file(f, name, mime_type, lt_json_text(data));
  }
  return LT_OK;
}

static lt_status media_parts_fill_part(media_filler *f, lt_json part, lt_err *err) LT_YIELDS {
  lt_str name = media_parts_str(f, lt_json_get(part, "name"));
  lt_str mime_type = media_parts_str(f, lt_json_get(part, "mimeType"));
  lt_str why = media_parts_why_not(f, mime_type);
  f->number++;
  if (why.n > 0) {
    media_parts_put_left_out(f, part, name, mime_type, why);
    return LT_OK;
  }
  return media_parts_put_data(f, part, name, mime_type, err);
}

/* --- All messages ------------------------------------------------------------------------------------------------- */
static lt_status media_parts_fill_content(media_filler *f, lt_json content, lt_err *err) LT_YIELDS {
  lt_json_begin_array(&f->w);
  for (lt_json_iter it = lt_json_each(content); lt_json_next(&it);) {
    if (media_parts_is_part(it.value)) {
      LT_TRY(media_parts_fill_part(f, it.value, err));
    } else {
      lt_json_put_raw(&f->w, lt_json_text(it.value));
    }
  }
  lt_json_end_array(&f->w);
  return LT_OK;
}

static lt_status media_parts_fill_message(media_filler *f, lt_json message, lt_err *err) LT_YIELDS {
  if (lt_json_typeof(lt_json_get(message, "content")) != LT_JSON_ARRAY) {
    lt_json_put_raw(&f->w, lt_json_text(message));
    return LT_OK;
  }
  lt_json_begin_object(&f->w);
  for (lt_json_iter it = lt_json_each(message); lt_json_next(&it);) {
    lt_json_key_str(&f->w, media_parts_str(f, it.key));
    if (lt_json_str_eq(it.key, LT_STR("content"))) {
      LT_TRY(media_parts_fill_content(f, it.value, err));
    } else {
      lt_json_put_raw(&f->w, lt_json_text(it.value));
    }
  }
  lt_json_end_object(&f->w);
  return LT_OK;
}

static lt_status media_parts_fill_all(media_filler *f, lt_str messages, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&f->arena, messages, &doc, err));
  media_window window = {.messages = lt_json_root(&doc)};
  media_parts_each(window.messages, media_parts_count, &window);
  f->first = window.first;
  if (window.count == 0) {
    return LT_OK;
  }
  lt_json_begin_array(&f->w);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    LT_TRY(media_parts_fill_message(f, it.value, err));
  }
  lt_json_end_array(&f->w);
  LT_TRY(lt_buf_check(f->w.buf, err, "the conversation is too long to be sent"));
  f->filled->messages = lt_buf_view(f->w.buf);
  return LT_OK;
}

lt_status lt_media_parts_fill(const lt_turn *turn, lt_str messages, lt_str why_none, lt_media_filled *filled,
                              lt_err *err) {
  filled->messages = messages;
  if (lt_str_find(messages, LT_STR("\"" PART_TYPE "\""), 0) == SIZE_MAX) { /* not where a text speaks of one */
    return LT_OK;
  }
  media_filler f = {.turn = turn, .why_none = why_none, .w = lt_json_writer_on(filled->out), .filled = filled};
  lt_arena_init(&f.arena, LT_HISTORY_MEMORY_BYTES);
  lt_status status = media_parts_fill_all(&f, messages, err);
  lt_arena_release(&f.arena);
  return status;
}
