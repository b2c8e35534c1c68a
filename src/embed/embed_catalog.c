/* What a host asks about all tools, and about a program that it does not run. */
#include "app/program_check.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_env.h"
#include "embed/embed_error.h"
#include "tool/tool_typegen.h"
#include "types/typegen.h"

/* --- The catalog -------------------------------------------------------------------------------------------------- */
typedef struct embed_view {
  bool is_for_programs;
  lt_catalog *catalog; /* owned */
} embed_view;

static lt_status embed_catalog_view(lathe_env *env, void *arg, lt_err *err) {
  embed_view *view = arg;
  lt_catalog *all = NULL;
  LT_TRY(lt_door_catalog(env->session.door, &all, err));
  if (!view->is_for_programs) {
    view->catalog = all;
    return LT_OK;
  }
  lt_status status = lt_catalog_for_programs(all, &view->catalog, err);
  lt_catalog_unref(all);
  return status;
}

/* Writes some tools of a catalog. A snapshot may be read on any thread. */
typedef lt_status embed_writer(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out, lt_err *err);

/* The question of a host about tools. */
typedef struct embed_question {
  bool is_for_programs;
  const char *query; /* NULL: all */
  size_t limit;      /* 0: none */
  embed_writer *writer;
  size_t max_tokens;
} embed_question;

static lt_status embed_catalog_write(const lt_catalog *catalog, const embed_question *question, lt_buf *out,
                                     lt_err *err) {
  size_t all = lt_catalog_count(catalog);
  size_t most = question->limit > 0 && question->limit < all ? question->limit : all;
  lt_typegen_tool *tools = lt_mem_zalloc(all + 1, sizeof *tools);
  uint32_t *found = lt_mem_zalloc(all + 1, sizeof *found);
  lt_status status = tools != NULL && found != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the tools");
  if (status == LT_OK) {
    size_t count = lt_catalog_search(catalog, lt_str_of(question->query), found, most);
    for (size_t i = 0; i < count; i++) {
      tools[i] = lt_tool_typegen(lt_catalog_at(catalog, found[i]));
    }
    status = question->writer(tools, count, question->max_tokens, out, err);
  }
  lt_mem_free(tools);
  lt_mem_free(found);
  return status;
}

static lt_status embed_catalog_ask(lathe_env *env, const embed_question *question, lt_buf *out, lt_err *err) {
  embed_view view = {.is_for_programs = question->is_for_programs};
  LT_TRY(lt_embed_env_do(env, embed_catalog_view, &view, err));
  lt_status status = embed_catalog_write(view.catalog, question, out, err);
  lt_catalog_unref(view.catalog);
  return status;
}

/* Hands the text to the host. Errors: those of the buffer. */
static lt_status embed_catalog_hand(lt_buf *out, char **ret_text, lt_err *err) {
  lt_buf_addc(out, "");
  LT_TRY(lt_buf_check(out, err, "the text is too long"));
  char *text = out->p != NULL ? lt_buf_take(out, NULL) : lt_mem_strdup(LT_STR(""));
  if (text == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the text");
  }
  *ret_text = text;
  return LT_OK;
}

/* --- The forms ---------------------------------------------------------------------------------------------------- */
static lt_status embed_write_json(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                  lt_err *err) {
  (void)max_tokens;
  return lt_typegen_json(tools, count, out, err);
}

static lt_status embed_write_ts(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                lt_err *err) {
  (void)max_tokens;
  return lt_typegen_ts(tools, count, out, err);
}

static lt_status embed_write_python(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                    lt_err *err) {
  (void)max_tokens;
  return lt_typegen_py(tools, count, out, err);
}

static const struct {
  const char *form;
  embed_writer *writer;
} embed_forms[] = {{"ts", embed_write_ts}, {"python", embed_write_python}, {"prompt", lt_typegen_prompt_budget}};

static embed_writer *embed_catalog_find_writer(const char *form) {
  for (size_t i = 0; form != NULL && i < sizeof embed_forms / sizeof embed_forms[0]; i++) {
    if (strcmp(embed_forms[i].form, form) == 0) {
      return embed_forms[i].writer;
    }
  }
  return NULL;
}

/* --- For the host ------------------------------------------------------------------------------------------------- */
static lathe_status embed_catalog_answer(lathe_env *env, const embed_question *question, char **ret_text,
                                         lathe_error *error) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = question->writer != NULL ? embed_catalog_ask(env, question, &out, &err)
                                              : lt_fail(&err, LT_E_INVALID, "the form is ts, python or prompt");
  status = status == LT_OK ? embed_catalog_hand(&out, ret_text, &err) : status;
  return lt_embed_env_leave(env, status, &err, error);
}

lathe_status lathe_tools(lathe_env *env, const char *query, size_t limit, char **ret_json, lathe_error *error) {
  const embed_question question = {.query = query, .limit = limit, .writer = embed_write_json};
  if (ret_json == NULL) {
    return lt_embed_error_put(LATHE_E_INVALID, "ret_json is NULL", error);
  }
  *ret_json = NULL;
  return embed_catalog_answer(env, &question, ret_json, error);
}

lathe_status lathe_declare(lathe_env *env, const char *form, size_t max_tokens, char **ret_text, lathe_error *error) {
  const embed_question question = {
      .is_for_programs = true, .writer = embed_catalog_find_writer(form), .max_tokens = max_tokens};
  if (ret_text == NULL) {
    return lt_embed_error_put(LATHE_E_INVALID, "ret_text is NULL", error);
  }
  *ret_text = NULL;
  return embed_catalog_answer(env, &question, ret_text, error);
}

/* --- Checking a program ------------------------------------------------------------------------------------------- */
typedef struct embed_check {
  const char *code;
  lt_lang lang;
  lt_buf *out;
} embed_check;

static lt_status embed_check_program(lathe_env *env, void *arg, lt_err *err) LT_YIELDS {
  const embed_check *asked = arg;
  const lt_program_check check = {.session = &env->session,
                                  .modules = &env->modules,
                                  .user = LT_STR("local"),
                                  .code = lt_str_of(asked->code),
                                  .lang = asked->lang,
                                  .cancel = &env->stop};
  lt_json_writer w = lt_json_writer_on(asked->out);
  return lt_program_check_put(&check, &w, err);
}

static lt_status embed_check_make(lathe_env *env, const lathe_run_options *theirs, lt_buf *out, lt_err *err) {
  lathe_run_options options;
  embed_check check = {.out = out};
  LT_TRY(lt_embed_error_take_struct(theirs, LT_EMBED_BYTES_TO(lathe_run_options, data), sizeof options, &options,
                                    "lathe_run_options", err));
  LT_TRY(lt_embed_error_check_text(options.code, "code", err));
  LT_TRY(lt_embed_error_take_language(options.language, &check.lang, err));
  check.code = options.code;
  return lt_embed_env_do(env, embed_check_program, &check, err);
}

lathe_status lathe_check(lathe_env *env, const lathe_run_options *options, char **ret_json, lathe_error *error) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  if (ret_json == NULL) {
    return lt_embed_error_put(LATHE_E_INVALID, "ret_json is NULL", error);
  }
  *ret_json = NULL;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_check_make(env, options, &out, &err);
  status = status == LT_OK ? embed_catalog_hand(&out, ret_json, &err) : status;
  return lt_embed_env_leave(env, status, &err, error);
}
