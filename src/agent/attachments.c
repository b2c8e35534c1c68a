#include "agent/attachments.h"

#include "agent/agent_state.h"
#include "agent/media_parts.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "text/base64.h"
#include "text/media_type.h"
#include "text/plain.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */
/* What is behind the last slash, as one line without control characters. */
static void attachment_put_name(lt_buf *out, lt_str name) {
  size_t from = name.n;
  while (from > 0 && name.p[from - 1] != '/' && name.p[from - 1] != '\\') {
    from--;
  }
  name = lt_str_sub(name, from, name.n);
  lt_plain_add_line(out, lt_utf8_cut(name.n > 0 ? name : LT_STR("attachment"), LT_ATTACHMENT_NAME_BYTES));
}

/* --- Checks ------------------------------------------------------------------------------------------------------- */
static lt_status attachment_refuse(lt_status status, lt_str name, const char *what, lt_err *err) {
  LT_AUTO_BUF(shown, LT_MIB);
  attachment_put_name(&shown, name);
  return lt_fail(err, status, "attachment \"%.*s\": %s", LT_STR_ARG(lt_buf_view(&shown)), what);
}

static bool attachment_promises_media(const lt_attachment *a) {
  return lt_media_type_promised(a->name) != NULL || lt_media_type_is_image(a->mime_type) ||
         lt_str_eqc(a->mime_type, "application/pdf");
}

static lt_status attachment_refuse_type(const lt_attachment *a, lt_err *err) {
  if (lt_media_type_promised(a->name) != NULL) {
    return attachment_refuse(LT_E_INVALID, a->name,
                             "it is named like an image or a PDF, and its content is none: look at the file", err);
  } else if (attachment_promises_media(a)) {
    return attachment_refuse(LT_E_INVALID, a->name,
                             "its media type is that of an image or a PDF, and its content is none: look at the data",
                             err);
  }
  return attachment_refuse(
      LT_E_INVALID, a->name,
      "models take images (PNG, JPEG, GIF, WebP), PDFs and texts in UTF-8, and it is none of them: "
      "convert it, or give the model a tool that reads it",
      err);
}

/* A file whose name or media type promises an image is one of some kind: which one, the content says. */
static lt_status attachment_check(const lt_attachment *a, lt_err *err) {
  const char *type = lt_media_type_of(a->data);
  if (a->data.n == 0) {
    return attachment_refuse(LT_E_INVALID, a->name, "the file is empty", err);
  } else if (type == NULL || (attachment_promises_media(a) && lt_str_eqc(lt_str_of(type), "text/plain"))) {
    return attachment_refuse_type(a, err);
  } else if (lt_str_eqc(lt_str_of(type), "text/plain") && a->data.n > LT_ATTACHMENT_TEXT_BYTES) {
    return attachment_refuse(LT_E_LIMIT, a->name,
                             "a text may have 512 KiB, because each later request has all of it: send a part, or give "
                             "the model a tool that reads it",
                             err);
  } else if (lt_media_type_is_image(lt_str_of(type)) && a->data.n > LT_ATTACHMENT_IMAGE_BYTES) {
    return attachment_refuse(LT_E_LIMIT, a->name, "an image may have 3.75 MiB: make it smaller", err);
  }
  return LT_OK;
}

const char *lt_agent_attachment_type(const lt_attachment *attachment) {
  return lt_media_type_of(attachment->data);
}

lt_status lt_agent_check_attachments(const lt_attachment *attachments, size_t count, lt_err *err) {
  size_t bytes = 0;
  if (count > LT_ATTACHMENTS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "a message may have %d attachments, and this one has %zu: send several messages",
                   LT_ATTACHMENTS_MAX, count);
  }
  for (size_t i = 0; i < count; i++) {
    bytes += attachments[i].data.n;
    if (bytes > LT_ATTACHMENTS_BYTES) {
      return attachment_refuse(LT_E_LIMIT, attachments[i].name,
                               "the attachments of a message may have 10 MiB: send several messages, or less", err);
    }
    LT_TRY(attachment_check(&attachments[i], err));
  }
  return LT_OK;
}

/* --- From JSON ---------------------------------------------------------------------------------------------------- */
static lt_status attachment_read_data(lt_json one, lt_arena *arena, lt_attachment *a, lt_err *err) {
  lt_json text = lt_json_get(one, "text"), data = lt_json_get(one, "data");
  lt_str base64;
  if (lt_json_exists(text) == lt_json_exists(data)) {
    return attachment_refuse(LT_E_INVALID, a->name, "it has either `data` (base64) or `text`", err);
  }
  bool is_read = lt_json_str(lt_json_exists(text) ? text : data, arena, lt_json_exists(text) ? &a->data : &base64);
  if (is_read && lt_json_exists(data)) {
    LT_AUTO_BUF(bytes, LT_JSON_MAX_BYTES);
    lt_base64_decode(base64, &bytes);
    a->data = lt_arena_dup(arena, lt_buf_view(&bytes));
    is_read = bytes.status == LT_OK && a->data.p != NULL;
  }
  return is_read ? LT_OK : attachment_refuse(LT_E_INVALID, a->name, "`data` and `text` are strings", err);
}

lt_status lt_agent_read_attachments(lt_json list, lt_arena *arena, lt_attachment **ret_attachments, size_t *ret_count,
                                    lt_err *err) {
  size_t count = lt_json_count(list), i = 0;
  *ret_count = 0;
  if (!lt_json_exists(list) || lt_json_typeof(list) == LT_JSON_NULL) {
    return LT_OK;
  }
  if (lt_json_typeof(list) != LT_JSON_ARRAY || count > LT_ATTACHMENTS_MAX) {
    return lt_fail(err, LT_E_INVALID, "attachments are a list of at most %d objects", LT_ATTACHMENTS_MAX);
  }
  lt_attachment *all = lt_arena_zalloc(arena, count + 1, sizeof *all);
  if (all == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the attachments");
  }
  for (lt_json_iter it = lt_json_each(list); lt_json_next(&it); i++) {
    (void)lt_json_str(lt_json_get(it.value, "name"), arena, &all[i].name);
    (void)lt_json_str(lt_json_get(it.value, "mimeType"), arena, &all[i].mime_type);
    LT_TRY(attachment_read_data(it.value, arena, &all[i], err));
  }
  *ret_attachments = all;
  *ret_count = count;
  return lt_agent_check_attachments(all, count, err);
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */
/* The files would be stored once more each time that somebody asks while the conversation is busy. */
static lt_status attachment_check_idle(const lt_agent *agent, const lt_prompt_request *request, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(history, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  if (request->conversation.n == 0) {
    return LT_OK;
  }
  LT_TRY(lt_store_history(agent->options.db, request->user, request->conversation, 1, &history, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&history), &doc, err));
  lt_json last = lt_json_at(lt_json_root(&doc), 0);
  bool is_busy = lt_json_exists(last) && !lt_json_exists(lt_json_get(last, "completedAt"));
  return is_busy ? lt_fail(err, LT_E_INVALID, "the conversation has a prompt that has not ended") : LT_OK;
}

static lt_status attachment_keep(const lt_agent *agent, const lt_prompt_request *request, const lt_prompt_ids *ids,
                                 const lt_attachment *a, lt_json_writer *w, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(name, LT_MIB);
  LT_AUTO_BUF(id, LT_KIB);
  attachment_put_name(&name, a->name);
  const lt_artifact artifact = {
      .user = request->user,
      .run = lt_str_of(ids->prompt),
      .type = LT_STR("attachment"),
      .description = lt_buf_view(&name),
      .mime_type = lt_str_of(lt_media_type_of(a->data)),
      .data = a->data,
  };
  LT_TRY(lt_buf_check(&name, err, "no memory for an attachment's name"));
  LT_TRY(agent->options.artifacts->put(agent->options.artifacts, &artifact, &id, err));
  lt_json_begin_object(w);
  lt_json_put_pair(w, "id", lt_buf_view(&id));
  lt_json_put_pair(w, "name", lt_buf_view(&name));
  lt_json_put_pair(w, "mimeType", artifact.mime_type);
  lt_json_key(w, "bytes");
  lt_json_put_int(w, (int64_t)a->data.n);
  lt_json_end_object(w);
  return LT_OK;
}

lt_status lt_attachments_keep(lt_agent *agent, const lt_prompt_request *request, const lt_prompt_ids *ids, lt_buf *out,
                              lt_err *err) {
  if (request->attachment_count == 0) {
    return LT_OK;
  }
  if (agent->options.artifacts == NULL || request->is_deferred) {
    return lt_fail(err, LT_E_UNSUPPORTED, "attachments cannot be kept here: there is no store for them");
  }
  LT_TRY(lt_agent_check_attachments(request->attachments, request->attachment_count, err));
  LT_TRY(attachment_check_idle(agent, request, err));
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < request->attachment_count; i++) {
    LT_TRY(attachment_keep(agent, request, ids, &request->attachments[i], &w, err));
  }
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "no memory for the attachments");
}
