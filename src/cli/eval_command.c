/* lathe eval: runs the same tasks in each mode and compares results and costs. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "types/typegen_text.h"
#include "agent/incomplete.h"
#include "agent/modes/mode_list.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/eval_check.h"

#define MODES_MAX 8

typedef struct eval_options {
  const char *file;
  lt_chat_options chat;
  int64_t repeat;
} eval_options;

static const lt_option eval_option_rows[] = {
    {"--mode", "-m", "MODES", "these modes, with commas between, also those of plugins (default: all others)",
     LT_OPTION_IS_TEXT(eval_options, chat.mode)},
    {"--model", NULL, "REF", "a model of the configuration (default: defaults.model, else normal), or PROVIDER/NAME",
     LT_OPTION_IS_TEXT(eval_options, chat.model)},
    {"--repeat", NULL, "N", "each task so often (default 1)", LT_OPTION_IS_NUMBER(eval_options, repeat, 1, 1, 100)},
    {"--yes", "-y", NULL, "approve calls that would be asked about", LT_OPTION_IS_FLAG(eval_options, chat.yes)},
    {"--json", NULL, NULL, "one JSON object instead of the table", LT_OPTION_IS_FLAG(eval_options, chat.json)},
    {"--config", NULL, "FILE", "configuration (default: the file's own, else as everywhere)",
     LT_OPTION_IS_TEXT(eval_options, chat.sources.config_file)},
    LT_OPTION_MCP_CONFIG(eval_options, chat.sources),
};

typedef struct eval_attempt {
  const lt_eval_task *task;
  const char *mode;
  bool right;
  bool is_error;         /* the prompt failed: this says nothing about the answer */
  lt_incomplete missing; /* there was no whole answer to check */
  int64_t rounds, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens;
  double cost; /* in US dollars; -1: there is no price */
  uint64_t ms;
  lt_buf why; /* why the result is wrong */
} eval_attempt;

typedef struct eval_job {
  lt_chat_options opt;
  int64_t repeat;
  const char *modes[MODES_MAX];
  size_t mode_count;
  lt_eval_tasks tasks;
  eval_attempt *attempts;
  size_t count;
  lt_chat chat;
  lt_buf outputs; /* the outputs of the ended prompt, JSON */
} eval_job;

/* --- One attempt -------------------------------------------------------------------------------------------------- */
/* The last attempt is the running one. */
static void eval_on_event(void *arg, const char *event, lt_str data) {
  eval_job *j = arg;
  eval_attempt *a = &j->attempts[j->count];
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  bool failed = strcmp(event, "prompt.error") == 0;
  if ((failed || strcmp(event, "prompt.completed") == 0) && lt_json_parse(&arena, data, &doc, NULL) == LT_OK) {
    lt_json usage = lt_json_get(lt_json_root(&doc), "usage");
    lt_str why = LT_STR_NULL;
    (void)lt_json_int(lt_json_get(usage, "requests"), &a->rounds);
    (void)lt_json_int(lt_json_get(usage, "inputTokens"), &a->input_tokens);
    (void)lt_json_int(lt_json_get(usage, "cachedInputTokens"), &a->cached_input_tokens);
    (void)lt_json_int(lt_json_get(usage, "cacheWriteTokens"), &a->cache_write_tokens);
    (void)lt_json_int(lt_json_get(usage, "outputTokens"), &a->output_tokens);
    (void)lt_json_double(lt_json_get(usage, "cost"), &a->cost);
    (void)lt_json_str(lt_json_get(lt_json_root(&doc), "error"), &arena, &why);
    lt_buf_add(&a->why, why);
    a->is_error = failed;
    a->missing = lt_incomplete_find(lt_incomplete_reason_in(lt_json_root(&doc)));
    lt_buf_add(&j->outputs, lt_json_text(lt_json_get(lt_json_root(&doc), "output")));
  }
}

static const char *eval_outcome_of(const eval_attempt *a) {
  return a->right ? "right" : a->is_error ? "ERROR" : a->missing != LT_INCOMPLETE_NOT ? "NONE" : "WRONG";
}

static void eval_print_attempt(const eval_job *j, const eval_attempt *a) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_buf_printf(&line, "%-6s  %-10s  ", eval_outcome_of(a), a->mode);
  lt_typegen_put_line(&line, lt_str_of(a->task->name), 60);
  if (!a->right) {
    lt_buf_addc(&line, ": ");
    lt_typegen_put_line(&line, lt_buf_view(&a->why), 300);
  }
  lt_console_line(&j->chat.session->console, "", lt_buf_view(&line));
}

static lt_status eval_check_attempt_outputs(eval_job *j, eval_attempt *a, lt_err *err) LT_YIELDS {
  lt_command_session *s = j->chat.session;
  lt_runner *runner = lt_toolbox_runner(s->app.toolbox, NULL, LT_LANG_JAVASCRIPT, err);
  if (runner == NULL) {
    return err->status;
  }
  return lt_eval_check(runner, a->task, lt_buf_view(&j->outputs), &s->app.cancel, &a->right, &a->why, err);
}

static lt_status eval_attempt_task(eval_job *j, const lt_eval_task *task, const char *mode, lt_err *err) LT_YIELDS {
  lt_chat *chat = &j->chat;
  eval_attempt *a = &j->attempts[j->count];
  uint64_t began = lt_loop_now_ms(chat->session->app.loop);
  *a = (eval_attempt){.task = task, .mode = mode, .cost = -1};
  lt_buf_init(&a->why, LT_MIB);
  lt_buf_clear(&j->outputs);
  chat->conversation[0] = '\0';
  lt_status status = lt_chat_say(chat, lt_str_of(task->prompt), err);
  a->ms = lt_loop_now_ms(chat->session->app.loop) - began;
  if (a->missing != LT_INCOMPLETE_NOT) {
    lt_buf_add(&a->why, lt_incomplete_describe(lt_str_of(lt_incomplete_name(a->missing))));
  } else if (status == LT_OK && j->outputs.n > 0) {
    status = eval_check_attempt_outputs(j, a, err);
  }
  if (status == LT_OK) {
    eval_print_attempt(j, a);
  }
  j->count++;
  return status;
}

static lt_status eval_attempt_all_tasks(eval_job *j, lt_err *err) LT_YIELDS {
  for (size_t m = 0; m < j->mode_count; m++) {
    LT_TRY(lt_chat_set_mode(&j->chat, lt_str_of(j->modes[m]), err));
    for (size_t t = 0; t < j->tasks.count; t++) {
      for (int64_t n = 0; n < j->repeat; n++) {
        LT_TRY(eval_attempt_task(j, &j->tasks.list[t], j->modes[m], err));
      }
    }
  }
  return LT_OK;
}

/* --- The report --------------------------------------------------------------------------------------------------- */
typedef struct eval_sum {
  int64_t tries, right, rounds, input_tokens, output_tokens;
  double cost;
  bool has_cost;
  uint64_t ms;
  int64_t errors, missing[LT_INCOMPLETE_REASONS];
} eval_sum;

static eval_sum eval_sum_of(const eval_job *j, const char *mode) {
  eval_sum s = {0};
  for (size_t i = 0; i < j->count; i++) {
    const eval_attempt *a = &j->attempts[i];
    if (strcmp(a->mode, mode) == 0) {
      s.tries++;
      s.right += a->right;
      s.errors += a->is_error;
      s.missing[a->missing] += a->missing != LT_INCOMPLETE_NOT;
      s.rounds += a->rounds;
      s.input_tokens += a->input_tokens;
      s.output_tokens += a->output_tokens;
      s.has_cost = s.has_cost || a->cost >= 0;
      s.cost += a->cost > 0 ? a->cost : 0;
      s.ms += a->ms;
    }
  }
  return s;
}

/* What of a mode's tries was neither right nor wrong: "code: 2 errors, 1 without an answer (rounds)". */
static void eval_print_missing(const char *mode, const eval_sum *s) {
  const char *before = ": ";
  bool has_any = s->errors > 0;
  for (size_t i = 0; i < LT_INCOMPLETE_REASONS; i++) {
    has_any = has_any || s->missing[i] > 0;
  }
  if (!has_any) {
    return;
  }
  fputs(mode, stdout);
  if (s->errors > 0) {
    printf("%s%lld with an error", before, (long long)s->errors);
    before = ", ";
  }
  for (size_t i = 0; i < LT_INCOMPLETE_REASONS; i++) {
    if (s->missing[i] > 0) {
      printf("%s%lld without a whole answer (%s)", before, (long long)s->missing[i],
             lt_incomplete_name((lt_incomplete)i));
      before = ", ";
    }
  }
  putchar('\n');
}

static bool eval_has_cost(const eval_job *j) {
  bool has_cost = false;
  for (size_t m = 0; m < j->mode_count; m++) {
    has_cost = has_cost || eval_sum_of(j, j->modes[m]).has_cost;
  }
  return has_cost;
}

static void eval_print_table(const eval_job *j) {
  bool has_cost = eval_has_cost(j);
  printf("%-12s %9s %8s %10s %10s %9s%s\n", "mode", "right", "rounds", "tokens in", "tokens out", "time",
         has_cost ? "      cost" : "");
  for (size_t m = 0; m < j->mode_count; m++) {
    eval_sum s = eval_sum_of(j, j->modes[m]);
    double n = s.tries > 0 ? (double)s.tries : 1;
    char right[48];
    snprintf(right, sizeof right, "%lld/%lld", (long long)s.right, (long long)s.tries);
    printf("%-12s %9s %8.1f %10.0f %10.0f %7.1f s", j->modes[m], right, (double)s.rounds / n,
           (double)s.input_tokens / n, (double)s.output_tokens / n, (double)s.ms / n / 1000);
    if (has_cost) {
      printf("  $%7.4f", s.cost / n);
    }
    putchar('\n');
  }
  for (size_t m = 0; m < j->mode_count; m++) {
    eval_sum s = eval_sum_of(j, j->modes[m]);
    eval_print_missing(j->modes[m], &s);
  }
  fflush(stdout);
}

static void eval_put_int(lt_json_writer *w, const char *key, int64_t n) {
  lt_json_key(w, key);
  lt_json_put_int(w, n);
}

static void eval_put_attempt(lt_json_writer *w, const eval_attempt *a) {
  lt_json_begin_object(w);
  lt_json_key(w, "task");
  lt_json_put_cstr(w, a->task->name);
  lt_json_key(w, "mode");
  lt_json_put_cstr(w, a->mode);
  lt_json_key(w, "right");
  lt_json_put_bool(w, a->right);
  eval_put_int(w, "rounds", a->rounds);
  eval_put_int(w, "inputTokens", a->input_tokens);
  eval_put_int(w, "cachedInputTokens", a->cached_input_tokens);
  eval_put_int(w, "cacheWriteTokens", a->cache_write_tokens);
  eval_put_int(w, "outputTokens", a->output_tokens);
  if (a->cost >= 0) {
    lt_json_key(w, "cost");
    lt_json_put_double(w, a->cost);
  }
  eval_put_int(w, "durationMs", (int64_t)a->ms);
  if (!a->right) {
    lt_json_key(w, "why");
    lt_json_put_str(w, lt_buf_view(&a->why));
  }
  if (a->is_error) {
    lt_json_key(w, "error");
    lt_json_put_bool(w, true);
  }
  lt_incomplete_put(w, a->missing);
  lt_json_end_object(w);
}

static void eval_print_json(const eval_job *j) {
  LT_AUTO_BUF(out, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "results");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < j->count; i++) {
    eval_put_attempt(&w, &j->attempts[i]);
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  (void)lt_console_report(&j->chat.session->console, &out);
}

static bool eval_are_all_right(const eval_job *j) {
  for (size_t i = 0; i < j->count; i++) {
    if (!j->attempts[i].right) {
      return false;
    }
  }
  return true;
}

/* --- The modes ---------------------------------------------------------------------------------------------------- */
/* Copies one item of a list up to its comma. */
static lt_status eval_add_mode(eval_job *j, lt_str mode, lt_err *err) {
  if (mode.n == 0) {
    return lt_fail(err, LT_E_INVALID, "-m wants modes with commas between: -m classic,code");
  }
  for (size_t i = 0; i < j->mode_count; i++) {
    if (lt_str_eqc(mode, j->modes[i])) {
      return lt_fail(err, LT_E_INVALID, "-m names the mode \"%s\" twice", j->modes[i]);
    }
  }
  if (j->mode_count == MODES_MAX) {
    return lt_fail(err, LT_E_INVALID, "-m takes at most %d modes", MODES_MAX);
  }
  lt_str copy = lt_arena_dup(&j->tasks.scratch.arena, mode); /* ends with a NUL */
  j->modes[j->mode_count++] = copy.p;
  return copy.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status eval_take_modes(eval_job *j, lt_err *err) {
  lt_str rest = lt_str_of(j->opt.mode != NULL ? j->opt.mode : LT_MODEL_MODE_IDS);
  for (size_t comma; (comma = lt_str_find(rest, LT_STR(","), 0)) != SIZE_MAX;) {
    LT_TRY(eval_add_mode(j, lt_str_trim(lt_str_sub(rest, 0, comma)), err));
    rest = lt_str_sub(rest, comma + 1, rest.n);
  }
  j->opt.mode = NULL;
  return eval_add_mode(j, lt_str_trim(rest), err);
}

static lt_status eval_check_modes(lt_command_session *s, void *arg, lt_err *err) {
  const eval_job *j = arg;
  for (size_t i = 0; i < j->mode_count; i++) {
    LT_TRY(lt_chat_check_mode(s, lt_str_of(j->modes[i]), err));
  }
  return lt_chat_check_default(s, &j->chat.models, err);
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status eval_check(lt_command_session *s, void *arg, lt_err *err) {
  eval_job *j = arg;
  const lt_model *model;
  s->app.config.store = ":memory:";
  LT_TRY(lt_models_fill(&s->app.config, &j->chat.models, err));
  LT_TRY(lt_models_find(&j->chat.models, lt_str_of(j->opt.model), &model, err));
  return eval_check_modes(s, arg, err);
}

static int eval_exit_code(const eval_job *j, lt_status status) {
  return status == LT_OK                                     ? eval_are_all_right(j) ? LT_EXIT_OK : LT_EXIT_FAILED
         : status == LT_E_CANCELLED                          ? LT_EXIT_INTERRUPTED
         : status == LT_E_CONFIG                             ? LT_EXIT_CONFIG
         : status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                                             : LT_EXIT_FAILED;
}

static int eval_work(lt_command_session *s, void *arg) LT_YIELDS {
  eval_job *j = arg;
  LT_ERR_VAR(err);
  j->chat.options = &j->opt;
  j->chat.session = s;
  j->chat.on_event = eval_on_event;
  j->chat.arg = j;
  lt_status status = lt_chat_open(&j->chat, &err);
  if (status == LT_OK) {
    status = eval_attempt_all_tasks(j, &err);
  }
  if (status != LT_OK && status != LT_E_CANCELLED) {
    lt_console_format(&s->console, "lathe eval: %s", lt_err_msg(&err));
  } else if (status == LT_OK && j->opt.json) {
    eval_print_json(j);
  } else if (status == LT_OK) {
    eval_print_table(j);
  }
  lt_chat_close(&j->chat);
  return eval_exit_code(j, status);
}

static int eval_run(eval_job *j) {
  LT_ERR_VAR(err);
  if (eval_take_modes(j, &err) != LT_OK) {
    fprintf(stderr, "lathe eval: %s\n", lt_err_msg(&err));
    return LT_EXIT_USAGE;
  }
  j->attempts = lt_mem_zalloc(j->tasks.count * j->mode_count * (size_t)j->repeat, sizeof *j->attempts);
  if (j->attempts == NULL) {
    fprintf(stderr, "lathe eval: out of memory\n");
    return LT_EXIT_FAILED;
  }
  lt_buf_init(&j->outputs, LT_JSON_MAX_BYTES);
  lt_config_sources sources = j->opt.sources;
  sources.found_file = j->tasks.config; /* the person named the tasks only */
  const lt_command_plan plan = {.work = eval_work, .check = eval_check, .loaded = eval_check_modes, .arg = j};
  int code = lt_command_session_run(&sources, &plan);
  for (size_t i = 0; i < j->count; i++) {
    lt_buf_release(&j->attempts[i].why);
  }
  lt_mem_free(j->attempts);
  lt_buf_release(&j->outputs);
  return code;
}

static int eval_command(void *arg) {
  const eval_options *opt = arg;
  eval_job j = {.opt = opt->chat, .repeat = opt->repeat};
  LT_ERR_VAR(err);
  lt_status status = lt_eval_tasks_read(opt->file, &j.tasks, &err);
  int code = LT_EXIT_CONFIG;
  if (status != LT_OK) {
    fprintf(stderr, "lathe eval: %s\n", lt_err_msg(&err));
  } else {
    code = eval_run(&j);
  }
  lt_eval_tasks_release(&j.tasks);
  return code;
}

const lt_command lt_eval_command = {
    .name = "eval",
    .summary = "Give a model the same tasks in each mode, and compare",
    .about = "Give a model the same tasks in each mode, and print what came of it: success, rounds, tokens, time.\n",
    .synopsis = "FILE [options]",
    .operand = {"FILE",
                "tasks: [{name, prompt, check}]; check: {contains: TEXT}, {matches: PATTERN}, {json: VALUE} or\n"
                "{js: EXPRESSION over text, outputs and calls}; config: FILE beside it, when it is trusted",
                "one file with tasks is wanted: lathe eval FILE; see lathe eval --help", true,
                LT_OPERAND_IS(eval_options, file)},
    .options = eval_option_rows,
    .option_count = sizeof eval_option_rows / sizeof eval_option_rows[0],
    .options_size = sizeof(eval_options),
    .notes =
        "Nothing is kept: the conversations are not in the store. Standard output: the table; standard error: each "
        "try\n"
        "as it ends.\n"
        "Exit code: 0 all were right, 1 some were not, 2 usage, 3 configuration, 130 interrupted.\n",
    .run = eval_command,
};
