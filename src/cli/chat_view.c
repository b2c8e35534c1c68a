#include "cli/chat_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "agent/incomplete.h"
#include "json/json.h"
#include "text/plain.h"
#include "types/typegen_text.h"

#define INPUT_CHARS 100 /* shown of a call's input */
#define ERROR_CHARS 400 /* shown of an error */

/* An output that is pending. */
typedef struct lt_chat_step {
  struct lt_chat_step *next;
  uint64_t began_ms;
  bool is_program;
  char *id;
  char *function;
} lt_chat_step;

/* --- Standard output ---------------------------------------------------------------------------------------------- */
/* Nothing is drawn behind an unfinished line of the answer, and beside a question. */
static void chat_view_pause_activity(lt_chat_view *view) {
  lt_activity_pause(view->activity, view->held > 0 || (view->mid_line && view->out_is_terminal));
}

static void chat_view_write_answer(lt_chat_view *view, lt_str text) {
  if (text.n == 0 || view->write_failed) {
    return;
  }
  view->mid_line = text.p[text.n - 1] != '\n';
  /* The reader may have closed the pipe (`| head`): the prompt still runs to its end. */
  if (!lt_console_write(view->console, stdout, text)) {
    view->write_failed = true;
  }
  chat_view_pause_activity(view);
}

/* --- What happens now --------------------------------------------------------------------------------------------- */
static size_t chat_view_answer_width(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void chat_view_make_way_for_line(void *arg) {
  lt_chat_view *view = arg;
  lt_activity_erase(view->activity);
  if (view->mid_line && view->out_is_terminal && view->err_is_terminal) {
    (void)lt_console_write(view->console, stderr, LT_STR("\n"));
    view->mid_line = false;
    if (view->markdown != NULL) {
      lt_markdown_interrupted(view->markdown);
    }
  }
  chat_view_pause_activity(view);
}

/* Says what runs. The rows of calls come from the calls' events (lt_chat_view_call), not from here. */
static void chat_view_say_activity(lt_chat_view *view) {
  if (view->running) {
    bool is_program = view->steps != NULL && view->steps->is_program;
    lt_activity_say(view->activity, is_program ? LT_STR("running the program") : lt_str_of(view->idle), false);
  }
}

static void chat_view_say_draft(lt_chat_view *view) {
  size_t lines = lt_program_view_draft_lines(&view->program);
  LT_AUTO_BUF(what, LT_KIB);
  if (lines > 0) {
    lt_buf_printf(&what, "the model writes a program, line %zu:", lines);
    lt_activity_update(view->activity, lt_buf_view(&what));
  }
}

void lt_chat_view_call(lt_chat_view *view, const lt_call_event *event) {
  lt_activity_call(view->activity, event);
}

void lt_chat_view_hold(lt_chat_view *view) {
  view->held++;
  chat_view_make_way_for_line(view);
}

void lt_chat_view_unhold(lt_chat_view *view) {
  view->held--;
  chat_view_pause_activity(view);
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
void lt_chat_view_note(lt_chat_view *view, lt_str text) {
  if (view->dims) {
    lt_console_dim(view->console, text);
  } else {
    lt_console_line(view->console, "", text);
  }
}

static void chat_view_put_duration(lt_buf *out, uint64_t ms) {
  if (ms < 1000) {
    lt_buf_printf(out, "%llu ms", (unsigned long long)ms);
  } else {
    lt_buf_printf(out, "%llu.%llu s", (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
  }
}

/* --- Programs and calls ------------------------------------------------------------------------------------------- */
static lt_str chat_view_string(lt_json v, lt_arena *arena) {
  lt_str s = LT_STR_NULL;
  (void)lt_json_str(v, arena, &s);
  return s;
}

static lt_chat_step **chat_view_find_step(lt_chat_view *view, lt_str id) {
  lt_chat_step **place = &view->steps;
  while (*place != NULL && !lt_str_eqc(id, (*place)->id)) {
    place = &(*place)->next;
  }
  return place;
}

static void chat_view_free_step(lt_chat_step *step) {
  if (step != NULL) {
    lt_mem_free(step->id);
    lt_mem_free(step->function);
    lt_mem_free(step);
  }
}

static void chat_view_free_steps(lt_chat_view *view) {
  while (view->steps != NULL) {
    lt_chat_step *next = view->steps->next;
    chat_view_free_step(view->steps);
    view->steps = next;
  }
}

/* Without memory, its time is not shown. */
static void chat_view_add_step(lt_chat_view *view, lt_str id, lt_str function, bool is_program) {
  lt_chat_step *step = lt_mem_zalloc(1, sizeof *step);
  if (step == NULL) {
    return;
  }
  *step = (lt_chat_step){.next = view->steps,
                         .began_ms = lt_loop_now_ms(view->loop),
                         .is_program = is_program,
                         .id = lt_mem_strdup(id),
                         .function = lt_mem_strdup(function)};
  if (step->id == NULL || step->function == NULL) {
    chat_view_free_step(step);
    return;
  }
  view->steps = step;
}

/* "  files.read {"path":"a"}  12 ms", or the error. */
static void chat_view_note_end(lt_chat_view *view, lt_str function, lt_json input, bool is_program, lt_str error,
                               const lt_chat_step *step) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_buf_addc(&line, "  ");
  if (is_program) {
    lt_buf_addc(&line, error.p == NULL ? "the program ended" : "the program failed");
  } else {
    lt_typegen_put_line(&line, function, 200);
    lt_buf_byte(&line, ' ');
    lt_typegen_put_line(&line, lt_json_text(input), INPUT_CHARS);
    lt_buf_addc(&line, error.p == NULL ? " " : "  failed");
  }
  if (step != NULL) {
    lt_buf_addc(&line, is_program || error.p != NULL ? " after " : " ");
    chat_view_put_duration(&line, lt_loop_now_ms(view->loop) - step->began_ms);
  }
  if (error.p != NULL) {
    lt_buf_addc(&line, ": ");
    lt_typegen_put_line(&line, error, ERROR_CHARS);
  }
  lt_chat_view_note(view, lt_buf_view(&line));
}

/* The language of a function's programs; NULL: it runs none. */
static const char *chat_view_language_of(lt_str function) {
  static const struct {
    const char *function, *language;
  } known[] = {{"code.execute", "js"},
               {"execute_typescript", "ts"},
               {"interpreter.run-code", "js"},
               {"execute_code", "python"},
               {"exec", "js"}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (lt_str_eqc(function, known[i].function)) {
      return known[i].language;
    }
  }
  return NULL;
}

static void chat_view_show_tool_output(lt_chat_view *view, lt_json output, lt_arena *arena) {
  lt_str id = chat_view_string(lt_json_get(output, "id"), arena);
  lt_str function = chat_view_string(lt_json_get(output, "function"), arena);
  lt_json input = lt_json_get(output, "input"), result = lt_json_get(output, "result");
  lt_json code = lt_json_get(input, "code");
  const char *language = lt_json_typeof(code) == LT_JSON_STRING ? chat_view_language_of(function) : NULL;
  lt_chat_step **place = chat_view_find_step(view, id), *step = *place;
  if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("pending"))) {
    if (step == NULL && language != NULL) {
      lt_program_view_whole(&view->program, chat_view_string(code, arena), language);
    }
    if (step == NULL) {
      chat_view_add_step(view, id, function, language != NULL);
      chat_view_say_activity(view);
    }
    return;
  }
  bool failed = lt_json_str_eq(lt_json_get(result, "type"), LT_STR("error"));
  lt_str error = failed ? chat_view_string(lt_json_get(result, "error"), arena) : LT_STR_NULL;
  if (failed && error.p == NULL) {
    error = LT_STR("");
  }
  chat_view_note_end(view, function, input, language != NULL, error, step);
  if (step != NULL) {
    *place = step->next;
    chat_view_free_step(step);
    chat_view_say_activity(view);
  }
}

static void chat_view_show_file_output(lt_chat_view *view, lt_json output, lt_arena *arena) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_buf_addc(&line, "  file: artifact ");
  lt_typegen_put_line(&line, chat_view_string(lt_json_get(output, "artifact"), arena), 100);
  lt_buf_addc(&line, " (");
  lt_typegen_put_line(&line, chat_view_string(lt_json_get(output, "mimeType"), arena), 100);
  lt_buf_addc(&line, ") ");
  lt_typegen_put_line(&line, chat_view_string(lt_json_get(output, "description"), arena), 200);
  lt_chat_view_note(view, lt_buf_view(&line));
}

/* --- Events ------------------------------------------------------------------------------------------------------- */
static void chat_view_show_answer_piece(lt_chat_view *view, lt_str text) {
  LT_AUTO_BUF(cleaned, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(rendered, LT_HELD_OUTPUT_BYTES);
  if (view->out_is_terminal) {
    lt_plain_add(&cleaned, text);
    text = lt_buf_view_or(&cleaned, LT_STR_NULL);
  }
  if (view->markdown != NULL) {
    lt_markdown_set_width(view->markdown, chat_view_answer_width());
    lt_markdown_add(view->markdown, text, &rendered);
    text = lt_buf_view_or(&rendered, LT_STR_NULL);
  }
  if (text.n > 0) {
    lt_activity_erase(view->activity);
    chat_view_write_answer(view, text);
  }
}

static void chat_view_end_answer_line(lt_chat_view *view) {
  LT_AUTO_BUF(rest, LT_HELD_OUTPUT_BYTES);
  if (view->markdown != NULL) {
    lt_markdown_end(view->markdown, &rest);
  } else if (view->mid_line) {
    lt_buf_byte(&rest, '\n');
  }
  if (rest.n > 0) {
    lt_activity_erase(view->activity);
    chat_view_write_answer(view, lt_buf_view_or(&rest, LT_STR("\n")));
  }
}

void lt_chat_view_show_text(lt_chat_view *view, lt_str text) {
  LT_AUTO_BUF(rendered, LT_HELD_OUTPUT_BYTES);
  chat_view_make_way_for_line(view);
  if (view->markdown == NULL || !view->dims) {
    lt_console_line(view->console, "", lt_str_trim(text));
    return;
  }
  lt_markdown_set_width(view->markdown, chat_view_answer_width());
  lt_markdown_add(view->markdown, text, &rendered);
  lt_markdown_end(view->markdown, &rendered);
  (void)lt_console_write(view->console, stderr, lt_buf_view_or(&rendered, LT_STR("(too long to be shown)\n")));
}

static void chat_view_show_output(lt_chat_view *view, lt_json output, lt_arena *arena) {
  lt_json type = lt_json_get(output, "type");
  if (lt_json_str_eq(type, LT_STR("text"))) { /* its text has been shown in pieces */
    chat_view_end_answer_line(view);
  } else if (lt_json_str_eq(type, LT_STR("tool"))) {
    chat_view_show_tool_output(view, output, arena);
  } else {
    chat_view_show_file_output(view, output, arena);
  }
}

static void chat_view_add_count(lt_json usage, const char *key, int64_t *sum) {
  int64_t n = 0;
  *sum += lt_json_int(lt_json_get(usage, key), &n) ? n : 0;
}

static void chat_view_add_usage(lt_chat_usage *sum, lt_json usage) {
  double cost = 0;
  sum->prompts++;
  chat_view_add_count(usage, "requests", &sum->requests);
  chat_view_add_count(usage, "inputTokens", &sum->input_tokens);
  chat_view_add_count(usage, "cachedInputTokens", &sum->cached_input_tokens);
  chat_view_add_count(usage, "cacheWriteTokens", &sum->cache_write_tokens);
  chat_view_add_count(usage, "outputTokens", &sum->output_tokens);
  if (lt_json_double(lt_json_get(usage, "cost"), &cost)) {
    sum->has_cost = true;
    sum->cost += cost;
  }
}

static void chat_view_show_prompt_usage(lt_chat_view *view, lt_json usage) {
  lt_chat_usage own = {0};
  LT_AUTO_BUF(line, LT_KIB);
  chat_view_add_usage(&own, usage);
  const char *about = lt_json_bool(lt_json_get(usage, "estimated"), false) ? "about " : "";
  lt_buf_printf(&line, "  %s%lld tokens in, %lld out, ", about, (long long)own.input_tokens,
                (long long)own.output_tokens);
  if (own.has_cost) {
    lt_buf_printf(&line, "$%.4f, ", own.cost);
  }
  chat_view_put_duration(&line, lt_loop_now_ms(view->loop) - view->began_ms);
  lt_chat_view_note(view, lt_buf_view(&line));
}

static void chat_view_show_prompt_error(lt_chat_view *view, lt_str error) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_typegen_put_text(&line, error, LT_RUN_ERROR_BYTES);
  lt_console_line(view->console, "lathe chat: ", lt_buf_view(&line));
}

static void chat_view_show_incomplete(lt_chat_view *view, lt_str reason) {
  LT_AUTO_BUF(line, LT_KIB);
  lt_typegen_put_line(&line, lt_incomplete_describe(reason), ERROR_CHARS);
  lt_console_line(view->console, "lathe chat: ", lt_buf_view(&line));
}

static lt_chat_end chat_view_end_of(const char *event) {
  return strcmp(event, "prompt.completed") == 0   ? LT_CHAT_COMPLETED
         : strcmp(event, "prompt.cancelled") == 0 ? LT_CHAT_CANCELLED
         : strcmp(event, "prompt.error") == 0     ? LT_CHAT_FAILED
                                                  : LT_CHAT_UNFINISHED;
}

/* What the system has taken counts as shown: a terminal, a file, or a pipe, whether or not its reader still reads. What
 * is held while a question is open does not. */
static void chat_view_acknowledge(lt_chat_view *view, const char *event, lt_json data, lt_arena *arena) {
  int64_t change = 0;
  if (view->on_shown == NULL || view->write_failed || strcmp(event, "prompt.output") != 0 ||
      !lt_json_int(lt_json_get(data, "change"), &change)) {
    return;
  }
  lt_str prompt = chat_view_string(lt_json_get(data, "promptId"), arena);
  if (view->console->held == NULL || !view->out_is_terminal) {
    view->on_shown(view->arg, prompt, (uint64_t)change);
  } else if (prompt.n < sizeof view->held_prompt) {
    snprintf(view->held_prompt, sizeof view->held_prompt, "%.*s", LT_STR_ARG(prompt));
    view->held_change = (uint64_t)change;
  }
}

static void chat_view_acknowledge_held(void *arg) {
  lt_chat_view *view = arg;
  if (view->held_change > 0) {
    view->on_shown(view->arg, lt_str_of(view->held_prompt), view->held_change);
    view->held_change = 0;
  }
}

static void chat_view_show_summarized(lt_chat_view *view, lt_json data) {
  char text[120];
  int64_t prompts = 0;
  (void)lt_json_int(lt_json_get(data, "prompts"), &prompts);
  snprintf(text, sizeof text, "  the conversation is long: %lld earlier messages are summarised for the model",
           (long long)prompts);
  lt_chat_view_note(view, lt_str_of(text));
}

static void chat_view_show_retry(lt_chat_view *view, const char *what, lt_json data, lt_arena *arena) {
  int64_t wait_ms = 0, next_try = 0, tries = 0;
  LT_AUTO_BUF(line, LT_KIB);
  (void)lt_json_int(lt_json_get(data, "waitMs"), &wait_ms);
  (void)lt_json_int(lt_json_get(data, "try"), &next_try);
  (void)lt_json_int(lt_json_get(data, "tries"), &tries);
  const char *why = lt_arena_printf(arena, "%.*s", LT_STR_ARG(chat_view_string(lt_json_get(data, "reason"), arena))).p;
  const lt_retry_notice notice = {.why = why != NULL ? why : "",
                                  .wait_ms = (uint64_t)wait_ms,
                                  .next_try = (unsigned)next_try,
                                  .tries_max = (unsigned)tries};
  lt_buf_printf(&line, "  %s", what);
  lt_model_put_retry(&notice, &line);
  lt_chat_view_note(view, lt_buf_view(&line));
}

static void chat_view_show_event(lt_chat_view *view, const char *event, lt_json data, lt_arena *arena) {
  lt_chat_end end = chat_view_end_of(event);
  lt_str incomplete = lt_incomplete_reason_in(data);
  if (strcmp(event, "prompt.stream") == 0 && incomplete.n == 0) { /* of a text */
    chat_view_show_answer_piece(view, chat_view_string(lt_json_get(data, "delta"), arena));
  } else if (strcmp(event, "prompt.output") == 0) {
    chat_view_show_output(view, lt_json_get(data, "output"), arena);
  } else if (strcmp(event, "prompt.summarized") == 0) {
    chat_view_show_summarized(view, data);
  } else if (strcmp(event, "prompt.retrying") == 0) {
    chat_view_show_retry(view, "", data, arena);
  } else if (strcmp(event, "conversation.retrying") == 0 && view->running) { /* not while somebody types */
    chat_view_show_retry(view, "the title: ", data, arena);
  } else if (end != LT_CHAT_UNFINISHED) {
    chat_view_end_answer_line(view);
    chat_view_add_usage(&view->usage, lt_json_get(data, "usage"));
    if (end == LT_CHAT_COMPLETED) {
      chat_view_show_prompt_usage(view, lt_json_get(data, "usage"));
      if (incomplete.n > 0) {
        chat_view_show_incomplete(view, incomplete);
      }
    } else if (end == LT_CHAT_CANCELLED) {
      lt_chat_view_note(view, LT_STR("  cancelled"));
    } else {
      chat_view_show_prompt_error(view, chat_view_string(lt_json_get(data, "error"), arena));
    }
  }
}

static void chat_view_print_event_json(lt_chat_view *view, const char *event, lt_str data) {
  LT_AUTO_BUF(line, 2 * LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&line);
  lt_json_begin_object(&w);
  lt_json_key(&w, "event");
  lt_json_put_cstr(&w, event);
  lt_json_key(&w, "data");
  lt_json_put_raw(&w, data);
  lt_json_end_object(&w);
  lt_buf_byte(&line, '\n');
  lt_secrets_mask_buf(view->console->secrets, &line);
  chat_view_write_answer(view, lt_buf_view(&line));
}

/* Elsewhere than at a terminal the whole program is shown when it runs. */
static void chat_view_show_draft(lt_chat_view *view, lt_json data, lt_arena *arena) {
  int64_t index = 0;
  if (view->activity != NULL && !view->json) {
    (void)lt_json_int(lt_json_get(data, "index"), &index);
    const lt_program_piece piece = {
        .text = chat_view_string(lt_json_get(data, "delta"), arena),
        .language = chat_view_language_of(chat_view_string(lt_json_get(data, "function"), arena)),
        .index = (size_t)index,
        .restarts = lt_json_bool(lt_json_get(data, "restart"), false)};
    lt_program_view_draft(&view->program, &piece);
    chat_view_say_draft(view);
  }
}

void lt_chat_view_event(lt_chat_view *view, const char *event, lt_str data) {
  lt_json_doc doc;
  if (chat_view_end_of(event) != LT_CHAT_UNFINISHED) {
    view->end = chat_view_end_of(event);
  }
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  bool is_wanted = !view->json || strcmp(event, "prompt.output") == 0 || strcmp(event, "prompt.completed") == 0 ||
                   strcmp(event, "prompt.stream") == 0;
  bool is_read = is_wanted && lt_json_parse(&arena, data, &doc, NULL) == LT_OK;
  if (is_read && lt_json_bool(lt_json_get(lt_json_root(&doc), "program"), false)) {
    chat_view_show_draft(view, lt_json_root(&doc), &arena);
    return; /* scripts join the pieces to texts */
  }
  if (is_read && view->end == LT_CHAT_COMPLETED && lt_incomplete_reason_in(lt_json_root(&doc)).n > 0) {
    view->end = LT_CHAT_INCOMPLETE;
  }
  if (view->json) {
    chat_view_print_event_json(view, event, data);
  } else if (is_read) {
    chat_view_show_event(view, event, lt_json_root(&doc), &arena);
  }
  if (is_read) {
    chat_view_acknowledge(view, event, lt_json_root(&doc), &arena);
  }
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
lt_status lt_chat_view_init(lt_chat_view *view, const lt_chat_view_options *o, lt_err *err) {
  *view = (lt_chat_view){.loop = o->loop, .console = o->console, .json = o->json, .idle = "waiting for the model"};
  view->out_is_terminal = isatty(STDOUT_FILENO);
  view->err_is_terminal = isatty(STDERR_FILENO) && getenv("TERM") != NULL && strcmp(getenv("TERM"), "dumb") != 0;
  view->dims = view->err_is_terminal && lt_console_has_colour(stderr);
  view->activity = o->json ? NULL : o->activity;
  lt_program_view_init(&view->program, o->console, view->err_is_terminal, o->verbose);
  if (view->out_is_terminal && !o->json && lt_console_has_colour(stdout)) {
    LT_TRY(lt_markdown_new(chat_view_answer_width(), &view->markdown, err));
  }
  view->console->make_way = chat_view_make_way_for_line;
  view->console->on_release = chat_view_acknowledge_held;
  view->console->way_arg = view;
  return LT_OK;
}

void lt_chat_view_release(lt_chat_view *view) {
  if (view->console != NULL) {
    lt_activity_say(view->activity, LT_STR(""), false);
    view->console->make_way = NULL;
    view->console->on_release = NULL;
  }
  lt_markdown_free(view->markdown);
  view->markdown = NULL;
  lt_program_view_release(&view->program);
  chat_view_free_steps(view); /* of calls that began while the agent ended */
}

void lt_chat_view_begin(lt_chat_view *view) {
  view->running = true;
  view->end = LT_CHAT_UNFINISHED;
  view->began_ms = lt_loop_now_ms(view->loop);
  chat_view_pause_activity(view);
  chat_view_say_activity(view);
}

void lt_chat_view_finish(lt_chat_view *view) {
  view->running = false;
  lt_activity_say(view->activity, LT_STR(""), false);
  chat_view_free_steps(view);
}
