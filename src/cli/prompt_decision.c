#include "cli/prompt_decision.h"

#include <stdio.h>
#include <string.h>

#include "agent/waiting_calls.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/approver.h"
#include "cli/chat.h"

static const char *const command_names[] = {"approve", "reject", "cancel"};
static const char *const done_names[] = {"approved", "rejected", "cancelled"};

typedef struct prompt_decision {
  const lt_prompt_decision_options *options;
  lt_decision_verb verb;
  lt_config config;
  lt_console console;
  lt_loop *loop;
  lt_store *db;
  char prompt[LT_STORE_ID_BYTES + 1];
  lt_waiting_calls waiting;
  const lt_waiting_call *call; /* NULL for a cancel */
  lt_arena arena;
  lt_decision decision;
  int64_t row;
  int exit_code;
} prompt_decision;

static lt_status prompt_decision_fail_inactive(const prompt_decision *d, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "Prompt \"%.*s\" not found or no longer active", 2 * LT_STORE_ID_BYTES,
                 d->options->prompt);
}

/* --- Which call --------------------------------------------------------------------------------------------------- */
static lt_status prompt_decision_find(prompt_decision *d, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  lt_status status = lt_store_prompt_find(d->db, LT_CHAT_USER, lt_str_of(d->options->prompt), d->prompt, &why);
  bool is_prompt = strncmp(d->prompt, d->options->prompt, strlen(d->options->prompt)) == 0;
  if (status == LT_E_NOTFOUND || (status == LT_OK && !is_prompt)) { /* a conversation's id names no prompt */
    return prompt_decision_fail_inactive(d, err);
  }
  LT_TRY(status == LT_OK ? LT_OK : lt_err_copy(err, &why));
  LT_TRY(lt_waiting_calls_read(d->db, LT_CHAT_USER, lt_str_of(d->prompt), &d->waiting, err));
  return d->waiting.has_ended ? prompt_decision_fail_inactive(d, err) : LT_OK;
}

static lt_status decision_list_calls(const prompt_decision *d, lt_err *err) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  for (size_t i = 0; i < d->waiting.count; i++) {
    lt_buf_addc(&names, i > 0 ? ", " : "");
    lt_buf_add(&names, d->waiting.calls[i].id);
    lt_buf_addc(&names, " (");
    lt_buf_add(&names, d->waiting.calls[i].tool);
    lt_buf_addc(&names, ")");
  }
  return lt_fail(err, LT_E_INVALID, "several calls wait for approval, say which: lathe %s %s CALL, where CALL is %.*s",
                 command_names[d->verb], d->prompt, LT_STR_ARG(lt_buf_view(&names)));
}

static lt_status decision_find_call(prompt_decision *d, lt_err *err) {
  const char *wanted = d->options->call;
  for (size_t i = 0; i < d->waiting.count; i++) {
    if (wanted == NULL ? d->waiting.count == 1 : lt_str_eqc(d->waiting.calls[i].id, wanted)) {
      d->call = &d->waiting.calls[i];
    }
  }
  if (d->call != NULL) {
    return LT_OK;
  }
  if (wanted == NULL && d->waiting.count > 1) {
    return decision_list_calls(d, err);
  }
  return wanted != NULL ? lt_fail(err, LT_E_NOTFOUND, "No tool call \"%.100s\" waits for approval", wanted)
                        : lt_fail(err, LT_E_NOTFOUND, "No tool call of the prompt waits for approval");
}

/* --- The person --------------------------------------------------------------------------------------------------- */
static lt_status decision_ask(prompt_decision *d, lt_err *err) LT_YIELDS {
  const lt_tool tool = {.id = d->call->tool};
  const lt_approval what = {.tool = &tool, .input = d->call->input, .reason = d->call->reason};
  lt_approver *approver = lt_approver_new(d->loop, &d->console, false);
  lt_status status = LT_OK;
  if (approver == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_approver_set_who(approver, "The model", lt_approval_answer_prompt_scope());
  if (!lt_approver_can_ask(approver)) {
    status = lt_fail(err, LT_E_UNSUPPORTED, "there is no terminal to show the question on: run it in a terminal");
  } else {
    status = approver->ask(approver, &what, NULL, &d->arena, &d->decision, err);
  }
  lt_approver_free(approver);
  return status;
}

static lt_status decision_make(prompt_decision *d, lt_err *err) LT_YIELDS {
  lt_str remember = lt_str_of(d->options->remember != NULL ? d->options->remember : "");
  if (d->verb == LT_VERB_CANCEL) {
    return d->options->call == NULL ? LT_OK
                                    : lt_fail(err, LT_E_INVALID,
                                              "a prompt is cancelled as a whole: lathe cancel ID; "
                                              "for one call there is lathe reject");
  }
  LT_TRY(decision_find_call(d, err));
  if (d->verb == LT_VERB_REJECT) {
    d->decision.reason = lt_str_of(d->options->reason != NULL ? d->options->reason : "");
    return remember.n == 0 || lt_decision_find_remember(remember, &d->decision.remember)
               ? LT_OK
               : lt_fail(err, LT_E_INVALID, "--remember is call, tool or session");
  }
  if (!d->call->is_whole) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "the call's input is too long to be shown here: approve it where its process asks");
  }
  return decision_ask(d, err);
}

/* --- Writing and waiting ------------------------------------------------------------------------------------------ */
static lt_status decision_write(prompt_decision *d, lt_err *err) LT_YIELDS {
  bool is_no = d->verb == LT_VERB_APPROVE && !d->decision.is_approved;
  d->verb = is_no ? LT_VERB_REJECT : d->verb;
  lt_decision_row row = {
      .prompt = lt_str_of(d->prompt), .verb = d->verb, .user = LT_CHAT_USER, .decision = d->decision};
  if (d->call != NULL) {
    row.call = d->call->id;
    row.hash = d->call->hash;
    row.tool = d->call->tool;
  }
  return lt_store_decision_put(d->db, &row, &d->row, err);
}

/* False: it has not been taken, or cannot be read. */
static bool decision_is_taken(const prompt_decision *d) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  if (lt_store_decision_list(d->db, lt_str_of(d->prompt), &rows, NULL) != LT_OK ||
      lt_json_parse(&arena, lt_buf_view(&rows), &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  bool is_taken = false;
  while (lt_json_next(&it)) {
    int64_t id = 0;
    bool is_ours = lt_json_int(lt_json_get(it.value, "id"), &id) && id == d->row;
    is_taken |= is_ours && lt_json_typeof(lt_json_get(it.value, "takenAt")) == LT_JSON_STRING;
  }
  return is_taken;
}

/* The output of a call that will never be made, as the agent ends it. */
static void decision_put_cancelled(lt_json output, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_iter it = lt_json_each(output);
  char now[LT_CLOCK_STAMP_BYTES];
  lt_clock_stamp(now);
  lt_json_begin_object(&w);
  while (lt_json_next(&it)) {
    LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
    lt_str key;
    if (lt_json_str(it.key, &arena, &key) && !lt_str_eqc(key, "result")) {
      lt_json_key_str(&w, key);
      lt_json_put_raw(&w, lt_json_text(it.value));
    }
  }
  lt_json_key(&w, "result");
  lt_json_begin_object(&w);
  lt_json_key(&w, "type");
  lt_json_put_cstr(&w, "error");
  lt_json_key(&w, "error");
  lt_json_put_cstr(&w, "cancelled");
  lt_json_end_object(&w);
  lt_json_key(&w, "end");
  lt_json_put_cstr(&w, now);
  lt_json_end_object(&w);
}

/* No output of a prompt that has ended is pending. */
static lt_status decision_end_outputs(const prompt_decision *d, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_store_prompt_get(d->db, LT_CHAT_USER, lt_str_of(d->prompt), &text, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&text), &doc, err));
  lt_json_iter it = lt_json_each(lt_json_get(lt_json_root(&doc), "output"));
  for (uint32_t number = 0; lt_json_next(&it); number++) {
    LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
    if (lt_json_str_eq(lt_json_get(lt_json_get(it.value, "result"), "type"), LT_STR("pending"))) {
      decision_put_cancelled(it.value, &json);
      LT_TRY(lt_buf_check(&json, err, "no memory for the prompt"));
      LT_TRY(lt_store_prompt_put_output(d->db, lt_str_of(d->prompt), number, lt_buf_view(&json), err));
    }
  }
  return LT_OK;
}

/* The prompt has no process: this one ends it. LT_E_INVALID: another process was faster. */
static lt_status decision_end_orphan(const prompt_decision *d, lt_err *err) LT_YIELDS {
  LT_TRY(lt_store_prompt_claim(d->db, lt_str_of(d->prompt), err));
  (void)decision_end_outputs(d, NULL);
  lt_status status =
      lt_store_prompt_set_state(d->db, lt_str_of(d->prompt), LT_PROMPT_CANCELLED, LT_STR(""), LT_STR(""), err);
  return status == LT_OK ? lt_store_decision_take(d->db, d->row, err) : status;
}

static void decision_print(const prompt_decision *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void decision_print(const prompt_decision *d, const char *format, ...) {
  LT_AUTO_BUF(text, LT_MIB);
  char rest[256];
  va_list args;
  va_start(args, format);
  vsnprintf(rest, sizeof rest, format, args);
  va_end(args);
  lt_buf_addc(&text, done_names[d->verb]);
  lt_buf_addc(&text, rest);
  lt_console_output(&d->console, lt_buf_view(&text));
}

static void decision_print_taken(const prompt_decision *d, lt_str owner) {
  if (owner.n == 0) {
    decision_print(d, "%s", "");
  } else if (d->verb == LT_VERB_CANCEL) {
    decision_print(d, "; process %.*s ends the prompt", LT_STR_ARG(owner));
  } else {
    decision_print(d, "; process %.*s goes on", LT_STR_ARG(owner));
  }
}

/* True: there is nothing more to wait for. `owner` keeps the last process that ran the prompt. */
static bool decision_follow(prompt_decision *d, lt_buf *owner, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(now, LT_KIB);
  lt_status status = lt_store_decision_owner(d->db, LT_CHAT_USER, lt_str_of(d->prompt), &now, err);
  if (decision_is_taken(d)) {
    *err = LT_ERR_INIT;
    decision_print_taken(d, lt_buf_view(owner));
    return true;
  }
  if (status != LT_OK) {
    return true;
  }
  if (now.n > 0) {
    lt_buf_clear(owner);
    lt_buf_add(owner, lt_buf_view(&now));
    return false;
  }
  if (d->verb != LT_VERB_CANCEL) {
    decision_print(d, "; no process runs the prompt: it continues with lathe chat -c %.*s",
                   LT_STR_ARG(d->waiting.conversation));
    return true;
  }
  bool has_ended = decision_end_orphan(d, NULL) == LT_OK;
  if (has_ended) {
    decision_print(d, "%s", "");
  }
  return has_ended;
}

/* A process on another machine may be gone: only a claim finds out. */
static lt_status decision_wait(prompt_decision *d, lt_buf *owner, lt_err *err) LT_YIELDS {
  for (unsigned waited_ms = 0; waited_ms < LT_DECISION_WAIT_MS; waited_ms += LT_DECISION_POLL_MS / 2) {
    if (decision_follow(d, owner, err)) {
      return err->status;
    }
    lt_loop_sleep(d->loop, LT_DECISION_POLL_MS / 2);
  }
  if (d->verb == LT_VERB_CANCEL && decision_end_orphan(d, NULL) == LT_OK) {
    decision_print(d, "%s", "");
  } else {
    decision_print(d, "; process %.*s has not taken it yet", LT_STR_ARG(lt_buf_view(owner)));
  }
  return LT_OK;
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status decision_work(prompt_decision *d, lt_err *err) LT_YIELDS {
  LT_TRY(lt_store_new(d->loop, d->config.store, &d->db, err));
  LT_TRY(prompt_decision_find(d, err));
  LT_TRY(decision_make(d, err));
  LT_AUTO_BUF(owner, LT_KIB); /* looked up first: that process may take the row and end at once */
  (void)lt_store_decision_owner(d->db, LT_CHAT_USER, lt_str_of(d->prompt), &owner, NULL);
  LT_TRY(decision_write(d, err));
  return decision_wait(d, &owner, err);
}

static void decision_on_fiber(void *arg) {
  prompt_decision *d = arg;
  LT_ERR_VAR(err);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "lathe %s: ", command_names[d->verb]);
  lt_status status = decision_work(d, &err);
  if (status == LT_E_NOTFOUND) { /* one line that other programs read, too */
    lt_console_line(&d->console, "", lt_str_of(lt_err_msg(&err)));
  } else if (status != LT_OK) {
    lt_console_line(&d->console, prefix, lt_str_of(lt_err_msg(&err)));
  }
  lt_waiting_calls_release(&d->waiting);
  lt_store_close(d->db);
  d->exit_code = status == LT_OK ? LT_EXIT_OK : status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
}

int lt_prompt_decision_run(const lt_prompt_decision_options *options, lt_decision_verb verb) {
  prompt_decision d = {.options = options, .verb = verb, .exit_code = LT_EXIT_CONFIG};
  LT_ERR_VAR(err);
  lt_config_sources sources = options->sources;
  sources.leaves_out_untrusted = true; /* nothing is started: the person decides about their own prompts */
  lt_arena_init(&d.arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_settings_load(&sources, &d.config, &err) == LT_OK) {
    d.exit_code = LT_EXIT_FAILED;
    if (lt_loop_new(&d.loop, &err) == LT_OK && lt_loop_spawn(d.loop, decision_on_fiber, &d, &err) == LT_OK) {
      lt_loop_run(d.loop);
    }
    lt_loop_free(d.loop);
  }
  if (err.status != LT_OK) {
    lt_console_line(&d.console, "lathe: ", lt_str_of(lt_err_msg(&err)));
  }
  lt_arena_release(&d.arena);
  lt_config_release(&d.config);
  return d.exit_code;
}
