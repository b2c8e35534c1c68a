#include "agent/program_images.h"

#include "agent/turn_state.h"
#include "text/base64.h"

/* `data:image/png;base64,iVBOR...` (RFC 2397). False: it is another address. */
static bool program_image_split(lt_str url, lt_str *ret_type, lt_str *ret_base64) {
  lt_str scheme = LT_STR("data:"), mark = LT_STR(";base64");
  size_t comma = lt_str_find(url, LT_STR(","), 0);
  if (!lt_str_starts(url, scheme) || comma == SIZE_MAX || !lt_str_ends(lt_str_sub(url, 0, comma), mark)) {
    return false;
  }
  *ret_type = lt_str_sub(url, scheme.n, comma - mark.n);
  *ret_base64 = lt_str_sub(url, comma + 1, url.n);
  return true;
}

static lt_status program_image_store(lt_turn *turn, lt_str mime_type, lt_str data, lt_buf *ret_id,
                                     lt_err *err) LT_YIELDS {
  lt_artifacts *artifacts = turn->caller.artifacts;
  const lt_artifact artifact = {.user = turn->user,
                                .run = lt_str_of(turn->ids.prompt),
                                .type = LT_STR("image"),
                                .description = LT_STR("an image of a program"),
                                .mime_type = mime_type,
                                .data = data};
  return artifacts != NULL ? artifacts->put(artifacts, &artifact, ret_id, err)
                           : lt_fail(err, LT_E_UNSUPPORTED, "there is no store for images");
}

lt_status lt_program_image_keep(lt_turn *turn, lt_str url, lt_buf *out, lt_err *err) {
  lt_str mime_type, base64;
  LT_AUTO_BUF(id, LT_KIB);
  LT_AUTO_BUF(data, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(out);
  bool is_data = program_image_split(url, &mime_type, &base64);
  if (is_data) {
    lt_base64_decode(base64, &data);
    LT_TRY(lt_buf_check(&data, err, "no memory for an image"));
    LT_TRY(program_image_store(turn, mime_type, lt_buf_view(&data), &id, err));
  }
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "type", LT_STR("image"));
  if (is_data) {
    lt_json_put_pair(&w, "mimeType", mime_type);
    lt_json_key(&w, "bytes");
    lt_json_put_int(&w, (int64_t)data.n);
    lt_json_put_pair(&w, "artifact", lt_buf_view(&id));
  } else {
    lt_json_put_pair(&w, "url", url);
  }
  lt_json_end_object(&w);
  return lt_buf_check(out, err, "no memory for an image");
}

void lt_program_images_keep_all(lt_turn *turn, const lt_run_result *result) {
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (text->said == LT_SAID_IMAGE) {
      LT_AUTO_BUF(about, LT_JSON_MAX_BYTES);
      (void)lt_program_image_keep(turn, text->text, &about, NULL);
    }
  }
}
