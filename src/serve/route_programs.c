/* Programs without a model: each run is a prompt in mode "program". */
#include "app/program_check.h"
#include "app/program_globals.h"
#include "serve/serve_limits.h"
#include "serve/serve_routes.h"
#include "serve/serve_run.h"
#include "tool/tool_typegen.h"
#include "types/typegen.h"

/* --- Running ------------------------------------------------------------------------------------------------------ */
static void program_put_request(const lt_serve_request *r, lt_buf *out) {
  static const char *const members[] = {"language", "timeoutMs", "code"};
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  if (!lt_json_exists(lt_json_get(r->body, "language"))) {
    lt_json_key(&w, "language");
    lt_json_put_cstr(&w, "javascript");
  }
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    lt_json value = lt_json_get(r->body, members[i]);
    if (lt_json_exists(value)) {
      lt_json_key(&w, members[i]);
      lt_json_put_raw(&w, lt_json_text(value));
    }
  }
  lt_json_end_object(&w);
}

static void program_put_member(lt_serve_request *r, lt_json object, const char *key, const char *name) {
  lt_json value = lt_json_get(object, key);
  if (lt_json_exists(value)) {
    lt_json_key(&r->w, name);
    lt_json_put_raw(&r->w, lt_json_text(value));
  }
}

/* The output of the program itself is the first one without a parent that is a tool's. */
static void program_put_result(lt_serve_request *r, lt_json prompt) {
  for (lt_json_iter it = lt_json_each(lt_json_get(prompt, "output")); lt_json_next(&it);) {
    if (lt_json_str_eq(lt_json_get(it.value, "type"), LT_STR("tool")) &&
        !lt_json_exists(lt_json_get(it.value, "parent"))) {
      program_put_member(r, lt_json_get(it.value, "result"), "output", "result");
      program_put_member(r, lt_json_get(it.value, "result"), "logs", "logs");
      return;
    }
  }
}

/* What the program said with its value behind, and the prompt that it was. 202: it has not ended. */
static lt_status program_put_run(lt_serve_request *r, const lt_serve_run *run) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "promptId");
  lt_json_put_cstr(&r->w, run->ids.prompt);
  lt_json_key(&r->w, "conversationId");
  lt_json_put_cstr(&r->w, run->ids.conversation);
  lt_json_key(&r->w, "isStored");
  lt_json_put_bool(&r->w, lt_json_bool(lt_json_get(run->prompt, "isStored"), true));
  program_put_member(r, run->prompt, "state", "state");
  program_put_member(r, run->prompt, "error", "error");
  program_put_result(r, run->prompt);
  program_put_member(r, run->prompt, "output", "output");
  lt_json_key(&r->w, "text");
  lt_json_put_str(&r->w, lt_serve_run_text(r, run));
  lt_json_end_object(&r->w);
  r->answer->status = run->has_ended ? 200 : 202;
  return LT_OK;
}

/* Who does not wait wants to follow it: it is kept. */
static lt_status programs_run(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_serve_run run;
  int64_t wait_ms = LT_SERVE_WAIT_MS;
  LT_AUTO_BUF(message, LT_PROMPT_INPUT_BYTES);
  (void)lt_json_int(lt_json_get(r->body, "waitMs"), &wait_ms);
  program_put_request(r, &message);
  LT_TRY(lt_buf_check(&message, err, "the program is too long"));
  const lt_serve_run_options options = {
      .message = lt_buf_view(&message),
      .wait_ms = (uint64_t)wait_ms,
      .is_kept = wait_ms == 0 || lt_json_bool(lt_json_get(r->body, "keep"), false),
  };
  if (!lt_serve_limits_take(r, LT_SERVE_SEAT_PROMPT)) {
    return LT_OK;
  }
  LT_TRY(lt_serve_run_begin(r, &options, &run, err));
  return program_put_run(r, &run);
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
static lt_lang program_language(const lt_serve_request *r) {
  lt_str language = lt_serve_request_text(r, "language");
  return lt_str_eqc(language, "python")       ? LT_LANG_PYTHON
         : lt_str_eqc(language, "typescript") ? LT_LANG_TYPESCRIPT
                                              : LT_LANG_JAVASCRIPT;
}

static lt_status programs_check(lt_serve_request *r, lt_err *err) LT_YIELDS {
  const lt_program_check check = {.session = r->serve->session,
                                  .modules = &r->serve->modules,
                                  .user = r->user,
                                  .code = lt_serve_request_text(r, "code"),
                                  .lang = program_language(r),
                                  .cancel = r->call->cancel};
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "problems");
  LT_TRY(lt_program_check_put(&check, &r->w, err));
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* --- Declarations ------------------------------------------------------------------------------------------------- */
static lt_status declarations_check(const lt_serve_request *r, lt_str language, lt_str part, lt_err *err) {
  static const char *const languages[] = {"", "typescript", "javascript", "python"};
  bool is_known = false;
  for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
    is_known |= lt_str_eqc(language, languages[i]);
  }
  if (!is_known) {
    return lt_fail(err, LT_E_INVALID, "query.language: expected \"typescript\", \"javascript\" or \"python\"");
  }
  r->answer->content_type = "text/plain; charset=utf-8";
  return part.n == 0 || lt_str_eqc(part, "tools") || lt_str_eqc(part, "globals")
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "query.part: expected \"tools\" or \"globals\"");
}

/* A Python program's own functions stand before those of its tools. */
static lt_status declarations_put_globals(const lt_serve_request *r, lt_str language, lt_err *err) {
  lt_buf *out = &r->answer->body;
  return lt_str_eqc(language, "python") ? lt_typegen_py(NULL, 0, out, err)
                                        : lt_program_globals_put(lt_toolbox_host(r->serve->session->toolbox), out, err);
}

static lt_status declarations_put(const lt_serve_request *r, lt_str language, const lt_catalog *catalog, lt_err *err) {
  size_t count = lt_catalog_count(catalog);
  lt_buf *out = &r->answer->body;
  lt_typegen_tool *tools = lt_arena_zalloc(r->arena, count + 1, sizeof *tools);
  if (tools == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the declarations");
  }
  for (size_t i = 0; i < count; i++) {
    tools[i] = lt_tool_typegen(lt_catalog_at(catalog, i));
  }
  return lt_str_eqc(language, "python")       ? lt_typegen_py(tools, count, out, err)
         : lt_str_eqc(language, "javascript") ? lt_typegen_prompt(tools, count, out, err)
                                              : lt_typegen_ts(tools, count, out, err);
}

static lt_status programs_declare(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_catalog *all = NULL, *catalog = NULL;
  lt_str language = lt_serve_request_query(r, "language"), part = lt_serve_request_query(r, "part");
  LT_TRY(declarations_check(r, language, part, err));
  if (lt_str_eqc(part, "globals")) {
    return declarations_put_globals(r, language, err);
  }
  LT_TRY(lt_host_catalog_of_user(lt_toolbox_host(r->serve->session->toolbox), r->user, &all, err));
  lt_status status = lt_catalog_for_programs(all, &catalog, err);
  lt_catalog_unref(all);
  LT_TRY(status);
  status = declarations_put(r, language, catalog, err);
  lt_catalog_unref(catalog);
  return status;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static const lt_serve_parameter declarations_query[] = {
    {"language", "{\"enum\":[\"typescript\",\"javascript\",\"python\"]}", "typescript by default"},
    {"part", "{\"enum\":[\"tools\",\"globals\"]}",
     "globals: what every program has beside the tools; tools by default"},
    {NULL},
};

#define PLACE "{\"type\":\"integer\",\"minimum\":1}"

const lt_serve_route lt_route_programs_rows[] = {
    {"POST", "/run", "runProgram",
     "Runs a program without a model, and waits for its end; 202: it has not ended, and GET /prompts/{id} has it.",
     .flags = LT_SERVE_MAY_WAIT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"code\"],\"properties\":{"
             "\"code\":{\"type\":\"string\"},\"language\":{\"enum\":[\"javascript\",\"typescript\",\"python\"]},"
             "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600000},"
             "\"waitMs\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":600000},"
             "\"keep\":{\"type\":\"boolean\",\"description\":\"it is stored also when it has no effect\"}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"promptId\",\"conversationId\",\"state\",\"text\",\"output\"],"
               "\"properties\":{\"promptId\":{\"type\":\"string\"},\"conversationId\":{\"type\":\"string\"},\"state\":"
               "{\"type\":\"string\"},\"text\":{\"type\":\"string\"},\"error\":{\"type\":\"string\"},\"result\":{},"
               "\"logs\":{\"type\":\"string\"},\"isStored\":{\"type\":\"boolean\"},\"output\":{"
               "\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/PromptOutput\"}}}}",
     .handle = programs_run},
    {"POST", "/check", "checkProgram",
     "What is wrong with a program, without running it: syntax, unknown names, types where there is a compiler.",
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"code\"],\"properties\":{"
             "\"code\":{\"type\":\"string\"},\"language\":{\"enum\":[\"javascript\",\"typescript\",\"python\"]}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"problems\"],\"properties\":{\"problems\":{\"type\":\"array\","
               "\"items\":{\"type\":\"object\",\"required\":[\"line\",\"column\",\"severity\",\"message\"],"
               "\"properties\":{\"line\":" PLACE ",\"column\":" PLACE ",\"endLine\":" PLACE ",\"endColumn\":" PLACE
               ",\"severity\":{\"enum\":[\"error\",\"warning\"]},\"message\":{\"type\":\"string\"}}}}}}",
     .handle = programs_check},
    {"GET", "/declarations", "getDeclarations", "Declarations of what programs can call.",
     .flags = LT_SERVE_HAS_OWN_TYPE, .type = "text/plain", .query = declarations_query, .handle = programs_declare},
    {NULL},
};
