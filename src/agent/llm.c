#include "agent/llm.h"

#include "agent/model_request.h"
#include "base/limits.h"

static lt_status llm_put_message(lt_json_writer *w, const char *role, lt_str content) {
  lt_json_begin_object(w);
  lt_json_key(w, "role");
  lt_json_put_cstr(w, role);
  lt_json_key(w, "content");
  lt_json_put_str(w, content);
  lt_json_end_object(w);
  return w->buf->status;
}

/* The prompt: the characters of a string, or the JSON text of another value. */
static lt_status llm_read_prompt(lt_str args, lt_arena *arena, const char *name, lt_str *ret, lt_err *err) {
  lt_json_doc doc;
  LT_TRY(lt_json_parse(arena, args, &doc, err));
  lt_json prompt = lt_json_at(lt_json_root(&doc), 0);
  lt_json_type type = lt_json_typeof(prompt);
  if (type == LT_JSON_NONE || type == LT_JSON_NULL) {
    return lt_fail(err, LT_E_INVALID, "%s() expects a prompt: %s(\"Summarize: ...\")", name, name);
  }
  if (type != LT_JSON_STRING) {
    *ret = lt_json_text(prompt);
    return LT_OK;
  }
  return lt_json_str(prompt, arena, ret) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
}

static lt_status llm_ask(lt_llm *self, lt_str prompt, bool json, const lt_invoke_options *how,
                         lt_completion *completion, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(messages, LT_PROMPT_MESSAGES_BYTES);
  lt_json_writer w = lt_json_writer_on(&messages);
  lt_json_begin_array(&w);
  llm_put_message(&w, "system",
                  json ? LT_STR("You are a helpful assistant. Respond with valid JSON only.")
                       : LT_STR("You are a helpful assistant. Respond concisely."));
  llm_put_message(&w, "user", prompt);
  lt_json_end_array(&w);
  LT_TRY(lt_buf_check(&messages, err, "the prompt is too long"));
  LT_TRY(self->prepare != NULL ? self->prepare(self, err) : LT_OK);
  const lt_agent_options options = {.http = self->http, .secrets = self->secrets, .monitor = self->monitor};
  const lt_completion_request request = {.model = self->model,
                                         .messages = lt_buf_view(&messages),
                                         .json = json,
                                         .cancel = how->cancel,
                                         .trace = how->caller != NULL ? &how->caller->trace : NULL,
                                         .on_retry = self->on_retry,
                                         .arg = self->arg,
                                         .purpose = "llm",
                                         .run = self->run};
  lt_status status = lt_model_request_complete(&options, &request, completion, err);
  if (self->on_completion != NULL) {
    self->on_completion(self->arg, completion);
  }
  return status;
}

/* Some models put a fence around the JSON although the request forbids it. */
static lt_str llm_without_fence(lt_str text) {
  text = lt_str_trim(text);
  size_t line = lt_str_find(text, LT_STR("\n"), 0);
  if (lt_str_starts(text, LT_STR("```")) && lt_str_ends(text, LT_STR("```")) && line != SIZE_MAX && line + 3 < text.n) {
    return lt_str_trim(lt_str_sub(text, line, text.n - 3));
  }
  return text;
}

/* The reply as a JSON value: parsed JSON, otherwise a string; an empty reply is null. */
static void llm_put_value(lt_buf *out, lt_str reply, bool json) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_str value = llm_without_fence(reply);
  if (!json) {
    lt_json_put_str(&w, reply);
  } else if (value.n == 0 || lt_json_check(value, NULL) == LT_OK) {
    lt_json_put_raw(&w, value);
  } else {
    lt_json_put_str(&w, reply);
  }
}

static lt_status llm_answer(lt_llm *self, const char *name, lt_str args, const lt_invoke_options *options, lt_buf *out,
                            lt_err *err) LT_YIELDS {
  bool json = strcmp(name, "llmJson") == 0;
  lt_str prompt;
  lt_completion completion;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_completion_init(&completion);
  lt_status status = llm_read_prompt(args, &arena, name, &prompt, err);
  if (status == LT_OK) {
    status = llm_ask(self, prompt, json, options, &completion, err);
  }
  if (status == LT_OK) {
    llm_put_value(out, lt_buf_view(&completion.text), json);
  }
  lt_completion_release(&completion);
  return status;
}

static lt_status llm_call(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                          lt_err *err) LT_YIELDS {
  return llm_answer(arg, "llm", args, options, out, err);
}

static lt_status llm_call_json(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                               lt_err *err) LT_YIELDS {
  return llm_answer(arg, "llmJson", args, options, out, err);
}

bool lt_llm_add_functions(lt_llm *self, lt_arena *arena, lt_run_request *world) {
  lt_run_function *functions = lt_arena_zalloc(arena, world->function_count + 2, sizeof(lt_run_function));
  if (functions == NULL) {
    return false;
  }
  if (world->function_count > 0) {
    memcpy(functions, world->functions, world->function_count * sizeof *functions);
  }
  functions[world->function_count++] = (lt_run_function){
      .name = LT_STR("llm"),
      .signature = LT_STR("(prompt) → string"),
      .description = LT_STR("Ask a language model and get its answer as text"),
      .call = llm_call,
      .arg = self,
      .repeatable = true,
  };
  functions[world->function_count++] = (lt_run_function){
      .name = LT_STR("llmJson"),
      .signature = LT_STR("(prompt) → object"),
      .description = LT_STR("The same with an answer in JSON, parsed"),
      .call = llm_call_json,
      .arg = self,
      .repeatable = true,
  };
  world->functions = functions;
  return true;
}
