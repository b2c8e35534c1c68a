#include "cli/repl.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/utf8.h"
#include "cli/approver.h"
#include "json/json.h"
#include "store/store_sessions.h"

#define NAME_PREFIX "repl-" /* of sessions without a name that a person chose */

/* --- What a program says ------------------------------------------------------------------------------------------ */
static void repl_keep_text(lt_buf *items, lt_str text) {
  lt_json_writer w = lt_json_writer_on(items);
  lt_buf_addc(items, items->n > 0 ? "," : "");
  lt_json_put_str(&w, text);
}

static void repl_on_said(void *arg, lt_said said, lt_str text) {
  static const char *const prefixes[] = {
      [LT_SAID_LOG] = "", [LT_SAID_WARNING] = "[warn] ", [LT_SAID_ERROR] = "[error] "};
  lt_repl *r = arg;
  const lt_console *console = &r->session->console;
  if (r->options->json) {
    repl_keep_text(said == LT_SAID_OUTPUT ? &r->outputs : &r->logs, text);
  } else if (said == LT_SAID_OUTPUT) {
    lt_console_output(console, text);
  } else {
    lt_console_lines(console, prefixes[said], text);
  }
}

/* --- How a program ends ------------------------------------------------------------------------------------------- */
static void repl_take_text(lt_json object, const char *key, lt_arena *arena, lt_buf *out) {
  lt_str text = LT_STR_NULL;
  if (lt_json_str(lt_json_get(object, key), arena, &text)) {
    lt_buf_clear(out);
    lt_buf_add(out, text);
  }
}

/* What the program put out has been told already: those outputs, and its calls, are named after it ("0.text-1"). */
static void repl_take_output(lt_repl *r, lt_json output, lt_arena *arena) {
  lt_json result = lt_json_get(output, "result");
  if (lt_str_find(lt_json_text(lt_json_get(output, "id")), LT_STR("."), 0) != SIZE_MAX) {
    return;
  }
  if (lt_json_str_eq(lt_json_get(output, "type"), LT_STR("text"))) {
    repl_take_text(output, "content", arena, &r->answer);
  } else if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("error"))) {
    repl_take_text(result, "error", arena, &r->error);
  } else if (lt_json_str_eq(lt_json_get(output, "type"), LT_STR("tool"))) {
    lt_buf_clear(&r->value);
    lt_buf_add(&r->value, lt_json_text(lt_json_get(result, "output")));
  }
}

static void repl_on_event(void *arg, const char *event, lt_str data) {
  lt_repl *r = arg;
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  bool is_error = strcmp(event, "prompt.error") == 0;
  r->was_stopped = r->was_stopped || strcmp(event, "prompt.cancelled") == 0;
  if ((!is_error && strcmp(event, "prompt.output") != 0) || lt_json_parse(&arena, data, &doc, NULL) != LT_OK) {
    return;
  }
  if (!is_error) {
    repl_take_output(r, lt_json_get(lt_json_root(&doc), "output"), &arena);
  } else if (r->error.n == 0) { /* the program's own has its place */
    repl_take_text(lt_json_root(&doc), "error", &arena, &r->error);
  }
}

static void repl_put_list(lt_json_writer *w, const char *key, const lt_buf *items) {
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  lt_buf_byte(&list, '[');
  lt_buf_add(&list, lt_buf_view(items));
  lt_buf_byte(&list, ']');
  lt_json_key(w, key);
  lt_json_put_raw(w, lt_buf_view(&list));
}

/* A value that is too long for a record is there as text only. */
static void repl_print_json(const lt_repl *r) {
  LT_AUTO_BUF(line, 4 * LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&line);
  lt_json_begin_object(&w);
  if (r->value.n > 0) {
    lt_json_key(&w, "result");
    lt_json_put_raw(&w, lt_buf_view(&r->value));
  } else if (r->answer.n > 0) {
    lt_json_key(&w, "result");
    lt_json_put_str(&w, lt_buf_view(&r->answer));
  }
  repl_put_list(&w, "outputs", &r->outputs);
  repl_put_list(&w, "logs", &r->logs);
  if (r->was_stopped || r->error.n > 0) {
    lt_json_key(&w, "error");
    lt_json_put_str(&w, r->was_stopped ? LT_STR("the program was stopped") : lt_buf_view(&r->error));
  }
  lt_json_end_object(&w);
  lt_console_output(&r->session->console, lt_buf_view(&line));
}

static void repl_print_error(const lt_repl *r) {
  const lt_console *console = &r->session->console;
  lt_str text = lt_buf_view(&r->error);
  size_t end = lt_str_find(text, LT_STR("\n"), 0);
  end = end < text.n ? end : text.n;
  lt_console_line(console, "error: ", lt_str_sub(text, 0, end));
  lt_str rest = lt_str_trim(lt_str_sub(text, end, text.n));
  if (rest.n > 0) {
    lt_console_lines(console, "  ", rest);
  }
}

static void repl_print(lt_repl *r) {
  r->has_failed = r->has_failed || r->was_stopped || r->error.n > 0;
  if (r->options->json) {
    repl_print_json(r);
    return;
  }
  if (r->answer.n > 0) {
    lt_console_output(&r->session->console, lt_buf_view(&r->answer));
  }
  if (r->chat.left) {
    lt_console_format(&r->session->console, "lathe repl: told to end: lathe repl -s %s -c goes on with this program",
                      r->name);
  } else if (r->was_stopped) {
    lt_console_format(&r->session->console, "The program was stopped; variables are as before it.");
  } else if (r->error.n > 0) {
    repl_print_error(r);
  }
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static void repl_put_message(const lt_repl *r, lt_str code, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "language");
  lt_json_put_cstr(&w, r->is_typescript ? "typescript" : "javascript");
  lt_json_key(&w, "session");
  lt_json_put_cstr(&w, r->name);
  lt_json_key(&w, "typed");
  lt_json_put_bool(&w, true);
  lt_json_key(&w, "shows");
  lt_json_put_bool(&w, !r->options->json);
  if (r->options->timeout_ms > 0) {
    lt_json_key(&w, "timeoutMs");
    lt_json_put_int(&w, r->options->timeout_ms);
  }
  lt_json_key(&w, "code");
  lt_json_put_str(&w, code);
  lt_json_end_object(&w);
}

static void repl_begin(lt_repl *r) {
  lt_buf *const texts[] = {&r->answer, &r->error, &r->value, &r->outputs, &r->logs};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_buf_clear(texts[i]);
  }
  r->was_stopped = false;
}

/* A failure of the prompt itself, such as a program that is too long. */
static void repl_end(lt_repl *r, lt_status status, const lt_err *err) {
  if (status != LT_OK && status != LT_E_CANCELLED) {
    lt_buf_clear(&r->error);
    lt_buf_addc(&r->error, lt_err_msg(err));
  }
  r->was_stopped = r->was_stopped || status == LT_E_CANCELLED;
  repl_print(r);
}

/* Lists of conversations show what it is. */
static void repl_name_conversation(const lt_repl *r, lt_str code) LT_YIELDS {
  LT_AUTO_BUF(title, LT_KIB);
  lt_buf_addc(&title, "lathe repl: ");
  lt_str line = lt_str_sub(code, 0, lt_str_find(code, LT_STR("\n"), 0));
  lt_buf_add(&title, lt_utf8_cut(line, 80));
  lt_store *db = lt_toolbox_db(r->session->app.toolbox);
  LT_AUTO_BUF(masked, 2 * LT_KIB);
  lt_secrets_mask(r->session->app.secrets, lt_buf_view(&title), &masked);
  (void)lt_store_conversation_set_title(db, LT_CHAT_USER, lt_str_of(r->chat.conversation), lt_buf_view(&masked), NULL);
}

void lt_repl_run(lt_repl *r, lt_str code) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(message, 2 * LT_PROMPT_INPUT_BYTES);
  bool is_first = r->chat.conversation[0] == '\0';
  repl_begin(r);
  repl_put_message(r, code, &message);
  lt_status status = lt_buf_check(&message, &err, "the program is too long");
  const lt_run_request request = {.code = code};
  size_t bad = lt_run_request_find_bad_byte(&request);
  if (bad != SIZE_MAX && code.p[bad] != '\0') { /* JSON would have another character in its place */
    status = lt_fail(&err, LT_E_INVALID, "the program is not valid UTF-8");
  }
  if (status == LT_OK) {
    status = lt_chat_say(&r->chat, lt_buf_view(&message), &err);
  }
  repl_end(r, status, &err);
  if (is_first && r->chat.conversation[0] != '\0') {
    repl_name_conversation(r, code);
  }
  lt_buf_clear(&r->last);
  lt_buf_add(&r->last, code);
}

/* --- The session of programs -------------------------------------------------------------------------------------- */
static lt_status repl_name_session(lt_repl *r, lt_err *err) {
  uint32_t number;
  if (!lt_random_fill(&number, sizeof number)) {
    return lt_fail(err, LT_E_IO, "there are no random numbers for the session's name");
  }
  snprintf(r->name, sizeof r->name, NAME_PREFIX "%08x", number);
  return LT_OK;
}

/* Goes on in the conversation of the session's last program. */
static lt_status repl_find_session(lt_repl *r, lt_err *err) LT_YIELDS {
  const lt_repl_options *opt = r->options;
  lt_store *db = lt_toolbox_db(r->session->app.toolbox);
  lt_session_used used;
  bool is_named = opt->session != NULL;
  if (!is_named && !opt->goes_on) {
    return repl_name_session(r, err);
  }
  lt_str name = is_named ? lt_str_of(opt->session) : LT_STR(NAME_PREFIX);
  lt_status status = lt_store_session_find(db, LT_CHAT_USER, name, !is_named, &used, err);
  if (status == LT_E_NOTFOUND && is_named && !opt->goes_on) {
    snprintf(r->name, sizeof r->name, "%s", opt->session);
    return LT_OK;
  }
  if (status == LT_E_NOTFOUND) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no session%s%s to go on with: begin one without -c",
                   is_named ? " " : "", is_named ? opt->session : "");
  }
  LT_TRY(status);
  memcpy(r->name, used.name, sizeof r->name);
  memcpy(r->chat.conversation, used.conversation, sizeof r->chat.conversation);
  return LT_OK;
}

void lt_repl_catch_up(lt_repl *r) {
  LT_ERR_VAR(err);
  repl_begin(r);
  lt_status status = r->chat.conversation[0] != '\0' ? lt_chat_catch_up(&r->chat, &err) : LT_OK;
  if (status != LT_OK || r->answer.n > 0 || r->error.n > 0 || r->was_stopped) {
    repl_end(r, status, &err);
  }
}

void lt_repl_forget(lt_repl *r) {
  LT_ERR_VAR(err);
  lt_session_used used;
  lt_store *db = lt_toolbox_db(r->session->app.toolbox);
  lt_status status = lt_store_session_find(db, LT_CHAT_USER, lt_str_of(r->name), false, &used, &err);
  if (status == LT_OK) {
    const lt_session_key key = {.user = LT_CHAT_USER, .name = lt_str_of(r->name), .run = lt_str_of(used.run)};
    status = lt_store_session_drop(db, &key, &err);
  }
  if (status != LT_OK && status != LT_E_NOTFOUND) {
    lt_console_line(&r->session->console, "", lt_str_of(lt_err_msg(&err)));
  }
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
lt_status lt_repl_open(lt_repl *r, lt_err *err) {
  lt_buf_init(&r->source, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf_init(&r->last, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf *const texts[] = {&r->answer, &r->error, &r->value, &r->outputs, &r->logs};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_buf_init(texts[i], LT_JSON_MAX_BYTES);
  }
  r->chat_options = (lt_chat_options){.mode = "program", .yes = r->options->yes, .json = r->options->json};
  r->chat.options = &r->chat_options;
  r->chat.session = r->session;
  r->chat.on_event = repl_on_event;
  r->chat.on_said = repl_on_said;
  r->chat.arg = r;
  LT_TRY(lt_chat_open(&r->chat, err));
  r->chat.keeps = lt_toolbox_keeps(r->session->app.toolbox);
  r->chat.view.idle = "running the program";
  lt_approver_set_who(r->chat.approver, "The program", lt_approval_answer_prompt_scope());
  return repl_find_session(r, err);
}

void lt_repl_close(lt_repl *r) {
  lt_chat_close(&r->chat);
  lt_buf *const texts[] = {&r->source, &r->last, &r->answer, &r->error, &r->value, &r->outputs, &r->logs};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_buf_release(texts[i]);
  }
}
