/* Ollama's own API, https://github.com/ollama/ollama/blob/main/docs/api.md: answers come whole. */
#include "base/limits.h"
#include "model/completion_wire.h"

static void ollama_write_request(const lt_completion_request *request, unsigned quirks, lt_buf *out) {
  (void)quirks;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "model");
  lt_json_put_str(&w, request->model->name);
  lt_json_key(&w, "messages");
  lt_json_put_raw(&w, request->messages);
  if (request->tools.n > 0) {
    lt_json_key(&w, "tools");
    lt_json_put_raw(&w, request->tools);
  }
  if (request->json) {
    lt_json_key(&w, "format");
    lt_json_put_cstr(&w, "json");
  }
  lt_json_key(&w, "stream");
  lt_json_put_bool(&w, false);
  lt_json_end_object(&w);
}

static lt_status ollama_read(lt_assembly *a, lt_str name, lt_json json, bool is_whole, lt_err *err) {
  (void)name;
  (void)is_whole;
  if (lt_json_exists(lt_json_get(json, "error"))) {
    return lt_assembly_take_error(a, json, err);
  }
  lt_json message = lt_json_get(json, "message");
  lt_assembly_take_said(a, lt_assembly_str(a, lt_json_get(message, "content")));
  lt_assembly_take_calls(a, message);
  lt_usage *usage = &a->completion->usage;
  a->has_usage = lt_json_int(lt_json_get(json, "prompt_eval_count"), &usage->input_tokens) &&
                 lt_json_int(lt_json_get(json, "eval_count"), &usage->output_tokens);
  a->completion->finish =
      lt_json_str_eq(lt_json_get(json, "done_reason"), LT_STR("length")) ? LT_FINISH_LENGTH : LT_FINISH_STOP;
  a->finished = true;
  return lt_assembly_check(a, err);
}

const lt_completion_wire lt_ollama_chat_wire = {
    .path = "/api/chat",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write_request = ollama_write_request,
    .read = ollama_read,
};
