/* Images and files in the messages of a model request. Internal to agent/.
 *
 * In the messages that modes and histories write, an image or a file is a part {"type": "artifact", "id", "name",
 * "mimeType", "bytes"} of a message's content: small, and the same each time. Right before a model is asked, such parts
 * become what chat completions have (image_url, file, text), with the data from the store, or a text that says what is
 * left out: a model may take no images, a file may be gone, or there may be too many.
 */
#ifndef LT_AGENT_MEDIA_PARTS_H
#define LT_AGENT_MEDIA_PARTS_H

#include "agent/turn.h"
#include "json/json.h"

/* Both append parts to a list: JSON, with commas between them. */
/* Each of a prompt's attachments (store_prompts.h). */
void lt_media_parts_put_attachments(lt_buf *parts, lt_json attachments);
/* Each image that is in a tool's answer, a JSON value: {"type": "image", "mimeType", "artifact", "bytes"}, alone or in
 * an array; at most LT_ATTACHMENTS_MAX. */
void lt_media_parts_put_answer(lt_buf *parts, lt_json answer);

/* Writes a message whose content is such a list, and a text behind it. */
void lt_media_parts_put_message(lt_json_writer *w, const char *role, lt_str parts, lt_str text);

typedef struct lt_media_filled {
  lt_str messages;                 /* the filled ones, in `out`; or what was given, when it has no such parts */
  lt_buf *out;                     /* the caller's, empty */
  size_t media_bytes, media_count; /* lt_completion_request */
} lt_media_filled;
/* Fills the parts of `messages`. `why_none`: why no data may be sent; empty: it may. LT_YIELDS. Errors: LT_E_NOMEM,
 * LT_E_LIMIT, the store's. */
lt_status lt_media_parts_fill(const lt_turn *turn, lt_str messages, lt_str why_none, lt_media_filled *filled,
                              lt_err *err) LT_YIELDS;

#endif
