#include "gateway/gateway_files.h"

#include "base/limits.h"

typedef struct gateway_file {
  lt_str id, mime_type;
  int64_t bytes;
  lt_str data; /* base64; empty: it is not shown */
} gateway_file;

static void gateway_files_put_image(const gateway_file *file, lt_buf *blocks) {
  lt_json_writer w = lt_json_writer_on(blocks);
  lt_buf_addc(blocks, blocks->n > 0 ? "," : "");
  lt_json_begin_object(&w);
  lt_json_key(&w, "type");
  lt_json_put_cstr(&w, "image");
  lt_json_key(&w, "data");
  lt_json_put_str(&w, file->data);
  lt_json_key(&w, "mimeType");
  lt_json_put_str(&w, file->mime_type);
  lt_json_end_object(&w);
}

static void gateway_files_put_line(const gateway_file *file, lt_buf *text) {
  lt_buf_addc(text, text->n > 0 && text->p[text->n - 1] != '\n' ? "\n" : "");
  lt_buf_printf(text, "[%.*s, %lld bytes: getArtifact(\"%.*s\") in a program, or `lathe artifacts get %.*s`]\n",
                LT_STR_ARG(file->mime_type), (long long)file->bytes, LT_STR_ARG(file->id), LT_STR_ARG(file->id));
}

static void gateway_files_put_one(const lt_gateway_request *request, lt_json output, lt_arena *arena,
                                  lt_gateway_answer *answer) LT_YIELDS {
  gateway_file file = {.bytes = 0};
  lt_json_doc doc;
  LT_AUTO_BUF(artifact, LT_JSON_MAX_BYTES);
  lt_store *store = lt_toolbox_db(request->gateway->session->toolbox);
  if (!lt_json_str(lt_json_get(output, "artifact"), arena, &file.id) ||
      !lt_json_str(lt_json_get(output, "mimeType"), arena, &file.mime_type) ||
      lt_store_artifact_get(store, request->peer->user, file.id, &artifact, NULL) != LT_OK ||
      lt_json_parse(arena, lt_buf_view(&artifact), &doc, NULL) != LT_OK) {
    return; /* it was trimmed since */
  }
  (void)lt_json_int(lt_json_get(lt_json_root(&doc), "bytes"), &file.bytes);
  bool is_shown = lt_str_starts(file.mime_type, LT_STR("image/")) && file.bytes <= (int64_t)LT_GATEWAY_IMAGE_BYTES &&
                  answer->blocks.n + (size_t)file.bytes * 4 / 3 <= LT_GATEWAY_IMAGES_BYTES;
  if (is_shown && lt_json_str(lt_json_get(lt_json_root(&doc), "data"), arena, &file.data)) {
    gateway_files_put_image(&file, &answer->blocks);
  } else {
    gateway_files_put_line(&file, &answer->text);
  }
}

void lt_gateway_files_put(const lt_gateway_request *request, lt_json prompt, lt_arena *arena,
                          lt_gateway_answer *answer) {
  for (lt_json_iter it = lt_json_each(lt_json_get(prompt, "output")); lt_json_next(&it);) {
    if (lt_json_str_eq(lt_json_get(it.value, "type"), LT_STR("file"))) {
      gateway_files_put_one(request, it.value, arena, answer);
    }
  }
}
