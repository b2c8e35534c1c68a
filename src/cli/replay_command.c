/* lathe replay: runs a recorded prompt again without its tools and its model, and compares the results. */
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/mem.h"
#include "json/json.h"
#include "app/agent_options.h"
#include "cli/commands.h"
#include "app/models.h"
#include "app/modules.h"
#include "cli/command_session.h"
#include "replay/replay_check.h"
#include "store/store_prompts.h"
#include "tool/tool_list.h"

#define USER LT_STR("local")

typedef struct replay_options {
  const char *prompt;
  lt_config_sources sources;
  bool json;
} replay_options;

static const lt_option replay_option_rows[] = {
    {"--json", NULL, NULL, "one JSON object on standard output", LT_OPTION_IS_FLAG(replay_options, json)},
    LT_OPTION_CONFIG(replay_options, sources),
    LT_OPTION_MCP_CONFIG(replay_options, sources),
};

#define ONE_PROMPT "a prompt is wanted: lathe replay ID, or lathe replay last"

/* A stored prompt. */
typedef struct replay_prompt {
  lt_buf text;
  lt_str conversation, model, mode, state, error;
  int64_t replies;
} replay_prompt;

/* A provider with the tools of one server or plugin, which never answers. */
typedef struct recorded_provider {
  lt_provider base; /* first */
  struct recorded_provider *next;
  lt_replay_check *check;
} recorded_provider;

typedef struct replay_job {
  replay_options opt;
  const char *store; /* NULL: the default */
  lt_models models;
  lt_modules modules;
  lt_command_session *session;
  lt_store *from; /* the store, only read */
  lt_journal *records;
  lt_replay_check *check;
  lt_agent *agent;
  lt_arena arena;
  lt_buf tools; /* the recorded tools; the providers' names point into this text */
  recorded_provider *providers;
  lt_catalog *there; /* all tools, with the recorded ones */
  char id[LT_STORE_ID_BYTES + 1];
  replay_prompt then, now;
  double ms;
} replay_job;

/* --- The prompt --------------------------------------------------------------------------------------------------- */
static lt_str replay_str(replay_job *j, lt_json json, const char *key) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(json, key), &j->arena, &text);
  return text;
}

static lt_status replay_read_prompt(replay_job *j, lt_store *db, replay_prompt *p, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_buf_clear(&p->text);
  LT_TRY(lt_store_prompt_get(db, USER, lt_str_of(j->id), &p->text, err));
  LT_TRY(lt_json_parse(&j->arena, lt_buf_view(&p->text), &doc, err));
  lt_json json = lt_json_root(&doc);
  p->conversation = replay_str(j, json, "conversationId");
  p->model = replay_str(j, json, "model");
  p->mode = replay_str(j, json, "mode");
  p->state = replay_str(j, json, "state");
  p->error = replay_str(j, json, "error");
  (void)lt_json_int(lt_json_get(lt_json_get(json, "usage"), "requests"), &p->replies);
  return LT_OK;
}

static bool replay_is_prompt_in(const replay_prompt *p, lt_prompt_state state) {
  return lt_str_eqc(p->state, lt_store_prompt_state_name(state));
}

static lt_status replay_check_prompt_ended(const replay_prompt *p, lt_err *err) {
  if (replay_is_prompt_in(p, LT_PROMPT_RUNNING) || replay_is_prompt_in(p, LT_PROMPT_WAITING)) {
    return lt_fail(err, LT_E_INVALID, "the prompt has not ended: lathe chat -c %.*s goes on with it",
                   LT_STR_ARG(p->conversation));
  }
  return LT_OK;
}

static lt_status replay_find_prompt(replay_job *j, lt_err *err) LT_YIELDS {
  if (j->store != NULL && strcmp(j->store, ":memory:") == 0) {
    return lt_fail(err, LT_E_CONFIG, "nothing is kept with store: sqlite::memory: there is no prompt");
  }
  LT_TRY(lt_store_new(j->session->app.loop, j->store, &j->from, err));
  lt_status found = lt_store_prompt_find(j->from, USER, lt_str_of(j->opt.prompt), j->id, err);
  LT_TRY(found != LT_E_INVALID ? found : lt_fail(err, LT_E_NOTFOUND, "%s", lt_err_msg(err)));
  LT_TRY(replay_read_prompt(j, j->from, &j->then, err));
  LT_TRY(replay_check_prompt_ended(&j->then, err));
  return lt_store_prompt_copy(lt_toolbox_db(j->session->app.toolbox), j->from, lt_str_of(j->id), err);
}

/* --- The tools ---------------------------------------------------------------------------------------------------- */
static lt_status replay_refuse_beyond_record(lt_provider *self, lt_str name, lt_str input,
                                             const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  (void)input;
  (void)options;
  (void)out;
  return lt_replay_check_refuse(((recorded_provider *)(void *)self)->check, self->name, name, err);
}

static bool replay_is_namespace_in(const lt_catalog *catalog, lt_str ns) {
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    if (lt_str_eq(lt_catalog_at(catalog, i)->ns, ns)) {
      return true;
    }
  }
  return false;
}

static recorded_provider *replay_find_provider(const replay_job *j, lt_str ns) {
  recorded_provider *one = j->providers;
  while (one != NULL && !lt_str_eq(one->base.name, ns)) {
    one = one->next;
  }
  return one;
}

/* A later list of the same source replaces the earlier one: each round of the prompt has its own list from the
 * record. */
static lt_status replay_add_recorded_tools(replay_job *j, const lt_catalog_source *source, lt_err *err) {
  recorded_provider *one = replay_find_provider(j, source->ns);
  if (one == NULL) {
    one = lt_arena_zalloc(&j->arena, 1, sizeof *one);
    if (one == NULL) {
      return lt_fail(err, LT_E_NOMEM, "no memory for the tools that are on record");
    }
    one->base = (lt_provider){.name = source->ns, .invoke = replay_refuse_beyond_record};
    one->check = j->check;
    one->next = j->providers;
    j->providers = one;
  }
  return lt_door_set_tools(j->session->app.door, &one->base, source->tools, source->count, err);
}

/* Sources without tools are recorded, too: names and hints depend on them. */
static lt_status replay_add_silent(replay_job *j, lt_json silent, lt_err *err) {
  lt_json_iter it = lt_json_each(silent);
  while (lt_json_next(&it)) {
    lt_catalog_source source = {.ns = LT_STR("")};
    if (lt_json_str(it.value, &j->arena, &source.ns) && replay_find_provider(j, source.ns) == NULL) {
      LT_TRY(replay_add_recorded_tools(j, &source, err));
    }
  }
  return LT_OK;
}

/* Loaded plugins have their own tools and decide about approvals. */
static lt_status replay_add_list(replay_job *j, const lt_catalog *own, lt_json entry, lt_err *err) {
  lt_tool_list list;
  LT_TRY(lt_tool_list_read(lt_json_text(lt_json_get(entry, "tools")), &j->arena, &list, err));
  for (size_t i = 0; i < list.count; i++) {
    if (!replay_is_namespace_in(own, list.sources[i].ns)) {
      LT_TRY(replay_add_recorded_tools(j, &list.sources[i], err));
    }
  }
  return replay_add_silent(j, lt_json_get(entry, "silent"), err);
}

static lt_status replay_set_recorded_tools(replay_job *j, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_catalog *own;
  lt_status status = LT_OK;
  LT_TRY(lt_agent_recorded_tools(j->from, j->records, lt_str_of(j->id), &j->tools, err));
  LT_TRY(lt_json_parse(&j->arena, lt_buf_view(&j->tools), &doc, err));
  LT_TRY(lt_door_catalog(j->session->app.door, &own, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (status == LT_OK && lt_json_next(&it)) {
    status = replay_add_list(j, own, it.value, err);
  }
  lt_catalog_unref(own);
  return status;
}

/* A tool whose plugin is not configured any more cannot be called again. */
static bool replay_is_only_calling(void *arg, lt_str id) {
  replay_job *j = arg;
  const lt_tool *tool = j->there != NULL ? lt_catalog_find(j->there, id) : NULL;
  if (tool == NULL || !tool->only_calls || tool->provider->invoke != replay_refuse_beyond_record) {
    return tool != NULL && tool->only_calls;
  }
  lt_replay_check_skip(j->check,
                       lt_arena_printf(&j->arena, "the tool %.*s is not configured any more", LT_STR_ARG(id)));
  return false;
}

/* --- Running the prompt again ------------------------------------------------------------------------------------- */
/* The record names the runner of a program. The current configuration does not matter. */
static lt_runner *replay_runner_on_record(void *arg, const char *id, lt_lang lang, lt_err *err) {
  return lt_toolbox_runner(((replay_job *)arg)->session->app.toolbox, id, lang, err);
}

/* The prompt's model may be missing from the configuration, because no model is asked. */
static lt_status replay_take_models(replay_job *j, lt_models *ret_models, lt_err *err) {
  size_t count = j->models.count;
  lt_model *models = lt_arena_zalloc(&j->arena, count + 1, sizeof *models);
  if (models == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  memcpy(models, j->models.list, count * sizeof *models);
  bool found = false;
  for (size_t i = 0; i < count; i++) {
    found = found || lt_str_eq(models[i].ref, j->then.model);
  }
  if (!found && count > 0) {
    models[count] = models[0];
    models[count++].ref = j->then.model;
  }
  *ret_models = (lt_models){.list = models, .count = count, .room = count, .default_ref = models[0].ref};
  return LT_OK;
}

static lt_status replay_make_agent(replay_job *j, lt_err *err) {
  lt_models models;
  LT_TRY(replay_take_models(j, &models, err));
  lt_agent_options options = lt_agent_options_of(&j->session->app, &models, &j->modules);
  options.journal = lt_replay_check_journal(j->check);
  options.observer = lt_replay_check_observer(j->check);
  return lt_agent_new(&options, &j->agent, err);
}

static lt_status replay_open(replay_job *j, lt_err *err) LT_YIELDS {
  lt_command_session *s = j->session;
  LT_TRY(lt_modules_load(&s->app, &j->modules, err));
  LT_TRY(replay_find_prompt(j, err));
  j->records = lt_store_journal_new(lt_toolbox_db(s->app.toolbox));
  const lt_replay_check_options options = {
      .records = j->records, .only_calls = replay_is_only_calling, .runner = replay_runner_on_record, .arg = j};
  j->check = j->records != NULL ? lt_replay_check_new(&options) : NULL;
  if (j->check == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_toolbox_use_runner(s->app.toolbox, lt_replay_check_runner(j->check));
  LT_TRY(replay_set_recorded_tools(j, err));
  LT_TRY(lt_door_catalog(j->session->app.door, &j->there, err));
  return replay_make_agent(j, err);
}

static lt_status replay_run(replay_job *j, lt_err *err) LT_YIELDS {
  uint64_t began = lt_loop_now_ms(j->session->app.loop);
  LT_TRY(replay_open(j, err));
  lt_str id = lt_str_of(j->id);
  LT_TRY(lt_agent_resume(j->agent, USER, id, err));
  lt_status status = lt_agent_wait(j->agent, id, &j->session->app.cancel, err);
  LT_TRY(status == LT_E_NOTFOUND ? LT_OK : status);
  j->ms = (double)(lt_loop_now_ms(j->session->app.loop) - began);
  return replay_read_prompt(j, lt_toolbox_db(j->session->app.toolbox), &j->now, err);
}

static void replay_close(replay_job *j) LT_YIELDS {
  lt_agent_free(j->agent);
  lt_catalog_unref(j->there);
  for (recorded_provider *one = j->providers; one != NULL; one = one->next) {
    lt_door_remove(j->session->app.door, &one->base);
  }
  lt_toolbox_use_runner(j->session->app.toolbox, NULL);
  lt_replay_check_free(j->check);
  lt_store_journal_free(j->records);
  lt_store_close(j->from);
  lt_modules_release(&j->modules);
}

/* --- The report --------------------------------------------------------------------------------------------------- */
/* A prompt that did not end by itself has an incomplete record. */
static bool replay_ends_with_record(const replay_job *j) {
  return !replay_is_prompt_in(&j->then, LT_PROMPT_COMPLETED) && lt_replay_check_is_beyond(j->check);
}

/* Why the results differ; empty: they are equal. */
static lt_str replay_difference(replay_job *j) {
  lt_str fault = lt_replay_check_fault(j->check);
  if (fault.n > 0) {
    return fault;
  }
  if (replay_ends_with_record(j) ||
      (lt_str_eq(j->now.state, j->then.state) && lt_str_eq(j->now.error, j->then.error))) {
    return LT_STR("");
  }
  if (lt_str_starts(j->now.error, LT_STR("diverged: "))) {
    return lt_str_sub(j->now.error, 10, j->now.error.n);
  }
  return lt_arena_printf(&j->arena, "it ended as %.*s%s%.*s, and on record it ended as %.*s%s%.*s",
                         LT_STR_ARG(j->now.state), j->now.error.n > 0 ? ": " : "", LT_STR_ARG(j->now.error),
                         LT_STR_ARG(j->then.state), j->then.error.n > 0 ? ": " : "", LT_STR_ARG(j->then.error));
}

static void replay_put_int(lt_json_writer *w, const char *key, int64_t n) {
  lt_json_key(w, key);
  lt_json_put_int(w, n);
}

static void replay_print_json(const replay_job *j, lt_str why) {
  lt_replay_check_counts counts = lt_replay_check_count(j->check);
  LT_AUTO_BUF(out, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "promptId", lt_str_of(j->id));
  lt_json_put_pair(&w, "conversationId", j->then.conversation);
  lt_json_put_pair(&w, "mode", j->then.mode);
  lt_json_put_pair(&w, "state", j->then.state);
  lt_json_key(&w, "same");
  lt_json_put_bool(&w, why.n == 0);
  if (why.n > 0) {
    lt_json_put_pair(&w, "difference", why);
  }
  replay_put_int(&w, "replies", j->now.replies);
  replay_put_int(&w, "programs", counts.programs);
  replay_put_int(&w, "skippedPrograms", counts.skipped);
  if (counts.skipped > 0) {
    lt_json_put_pair(&w, "skippedBecause", lt_replay_check_reasons(j->check));
  }
  replay_put_int(&w, "calls", (int64_t)counts.calls);
  replay_put_int(&w, "durationMs", (int64_t)j->ms);
  lt_json_end_object(&w);
  (void)lt_console_report(&j->session->console, &out);
}

static void replay_put_count(lt_buf *out, int64_t count, const char *what, const char *many) {
  lt_buf_printf(out, "%lld %s", (long long)count, count == 1 ? what : many);
}

static void replay_print_same(const replay_job *j) {
  lt_replay_check_counts counts = lt_replay_check_count(j->check);
  LT_AUTO_BUF(out, 8 * LT_KIB);
  lt_buf_printf(&out, "prompt %s (%.*s): the same again", j->id, LT_STR_ARG(j->then.mode));
  if (replay_ends_with_record(j)) {
    lt_buf_printf(&out, ", as far as it came (%.*s)", LT_STR_ARG(j->then.state));
  }
  lt_buf_addc(&out, ": ");
  replay_put_count(&out, j->now.replies, "reply", "replies");
  lt_buf_addc(&out, ", ");
  replay_put_count(&out, counts.programs, "program", "programs");
  lt_buf_addc(&out, ", ");
  replay_put_count(&out, (int64_t)counts.calls, "call", "calls");
  lt_buf_printf(&out, ", %.0f ms", j->ms);
  if (counts.skipped > 0) {
    lt_buf_addc(&out, "; answered by the record: ");
    replay_put_count(&out, counts.skipped, "program", "programs");
    lt_buf_printf(&out, " (%.*s)", LT_STR_ARG(lt_replay_check_reasons(j->check)));
  }
  (void)lt_console_report(&j->session->console, &out);
}

static int replay_print(replay_job *j) {
  lt_str why = replay_difference(j);
  if (j->opt.json) {
    replay_print_json(j, why);
  } else if (why.n > 0) {
    LT_AUTO_BUF(line, LT_MIB);
    lt_buf_printf(&line, "lathe replay: prompt %s diverged from its record: ", j->id);
    lt_buf_add(&line, why);
    lt_console_line(&j->session->console, "", lt_buf_view(&line));
  } else {
    replay_print_same(j);
  }
  return why.n > 0 ? LT_EXIT_FAILED : LT_EXIT_OK;
}

/* --- The command -------------------------------------------------------------------------------------------------- */
/* The session's own store is temporary. */
static lt_status replay_prepare(lt_command_session *s, void *arg, lt_err *err) {
  replay_job *j = arg;
  j->store = s->app.config.store;
  s->app.config.store = ":memory:";
  s->app.without_sources = true;
  s->app.config.require_walls = true; /* without walls a program would repeat its effects on this machine */
  s->app.config.python.workspace = NULL;
  return lt_models_fill(&s->app.config, &j->models, err);
}

static int replay_exit_code(lt_status status) {
  return status == LT_E_CANCELLED  ? LT_EXIT_INTERRUPTED
         : status == LT_E_CONFIG   ? LT_EXIT_CONFIG
         : status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                   : LT_EXIT_FAILED;
}

static int replay_work(lt_command_session *s, void *arg) LT_YIELDS {
  replay_job *j = arg;
  LT_ERR_VAR(err);
  j->session = s;
  lt_arena_init(&j->arena, 4 * LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&j->then.text, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&j->now.text, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&j->tools, LT_BLOB_MAX_BYTES);
  lt_status status = replay_run(j, &err);
  int code = status == LT_OK ? replay_print(j) : replay_exit_code(status);
  if (status != LT_OK && status != LT_E_CANCELLED) {
    lt_console_line(&s->console, "lathe replay: ", lt_str_of(lt_err_msg(&err)));
  }
  replay_close(j);
  lt_buf_release(&j->then.text);
  lt_buf_release(&j->now.text);
  lt_buf_release(&j->tools);
  lt_arena_release(&j->arena);
  return code;
}

static int replay_command(void *arg) {
  replay_job j = {.opt = *(const replay_options *)arg};
  if (j.opt.prompt[0] == '\0') {
    fprintf(stderr, "lathe replay: " ONE_PROMPT "\n");
    return LT_EXIT_USAGE;
  }
  const lt_command_plan plan = {.work = replay_work, .check = replay_prepare, .arg = &j};
  return lt_command_session_run(&j.opt.sources, &plan);
}

const lt_command lt_replay_command = {
    .name = "replay",
    .summary = "Go through a recorded prompt again, without tools and model",
    .about =
        "Go through a recorded prompt again, without its tools and its model, and see whether it comes to the same.\n",
    .synopsis = "PROMPT [options]",
    .operand = {"PROMPT", "a prompt's id or a conversation's (its last prompt), the beginning of one, or \"last\"",
                ONE_PROMPT, true, LT_OPERAND_IS(replay_options, prompt)},
    .options = replay_option_rows,
    .option_count = sizeof replay_option_rows / sizeof replay_option_rows[0],
    .options_size = sizeof(replay_options),
    .notes =
        "What the model replied and what tools answered comes from the record; programs run again, and whatever they\n"
        "call, say and come to is compared with what they did then. No server is started, no model is asked, no tool "
        "is\n"
        "called, nothing is written. Programs in Python or on Deno have another clock and other random numbers than "
        "then;\n"
        "where their interpreter is missing the record answers for them, which is told.\n"
        "Exit code: 0 it came to the same, 1 it did not (the first difference is told) or could not be gone through, "
        "2\n"
        "usage, 3 configuration, 130 interrupted.\n",
    .run = replay_command,
};
