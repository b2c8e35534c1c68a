#include "agent/program_feedback.h"

#include "agent/turn_state.h"
#include "text/tokens.h"

#define NOTICE_TOKENS 24 /* of the note that replaces the cut text */

static size_t program_feedback_character_start(lt_str text, size_t at) {
  while (at > 0 && at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80) {
    at--;
  }
  return at < text.n ? at : text.n;
}

/* Keeps twice as much of the beginning as of the end. */
void lt_program_feedback_cut(lt_buf *out, lt_str text, size_t max_tokens) {
  size_t total = lt_tokens_estimate(text);
  if (total <= max_tokens) {
    lt_buf_add(out, text);
    return;
  }
  size_t room = max_tokens > NOTICE_TOKENS ? max_tokens - NOTICE_TOKENS : 0;
  size_t bytes = (size_t)((double)text.n * (double)room / (double)total);
  lt_str head, tail;
  size_t kept;
  for (;;) {
    head = lt_str_sub(text, 0, program_feedback_character_start(text, bytes / 3 * 2));
    tail = lt_str_sub(text, program_feedback_character_start(text, text.n - bytes / 3), text.n);
    kept = lt_tokens_estimate(head) + lt_tokens_estimate(tail);
    if (kept <= room || bytes < 16) {
      break;
    }
    bytes -= bytes / 8;
  }
  lt_buf_add(out, head);
  lt_buf_printf(out, "\n[... about %zu tokens are left out here ...]\n", total - kept);
  lt_buf_add(out, tail);
}

void lt_program_feedback_put_logs(lt_buf *out, const lt_run_result *result) {
  bool first = true;
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (lt_said_is_log(text->said)) {
      lt_buf_addc(out, first ? "" : "\n");
      lt_buf_add(out, text->text);
      first = false;
    }
  }
  if (result->log_cut) {
    lt_buf_printf(out, "\n[more was logged than the %lu KiB that are kept]", LT_RUN_LOG_MAX_BYTES / LT_KIB);
  }
}

void lt_program_feedback_put_output_limit(lt_buf *out, const lt_turn *turn) {
  size_t max = turn->internal->defaults.max_output_bytes;
  max = max > 0 ? max : LT_RUN_OUTPUT_MAX_BYTES;
  if (max % LT_KIB == 0) {
    lt_buf_printf(out, "%zu KiB", max / LT_KIB);
  } else {
    lt_buf_printf(out, "%zu bytes", max);
  }
}

void lt_program_feedback_put_error(lt_buf *out, const lt_run_result *result) {
  lt_buf_add(out, lt_buf_view(&result->error));
  if (result->line > 0) {
    lt_buf_printf(out, " (line %u", result->line);
    if (result->column > 0) {
      lt_buf_printf(out, ", column %u", result->column);
    }
    if (result->context.n > 0) {
      lt_buf_addc(out, ": ");
      lt_buf_add(out, lt_buf_view(&result->context));
    }
    lt_buf_byte(out, ')');
  }
}

/* The stack has more than one line when a function threw the error. One line alone repeats the place of the error. */
void lt_program_feedback_put_stack(lt_buf *out, const lt_run_result *result) {
  if (memchr(result->stack.p != NULL ? result->stack.p : "", '\n', result->stack.n) != NULL) {
    lt_buf_addc(out, "\nStack:\n");
    lt_buf_add(out, lt_buf_view(&result->stack));
  }
}

static void program_feedback_put_call_end(lt_buf *out, const lt_run_result *result, const lt_run_call *call) {
  if (!call->finished) {
    lt_buf_addc(out, ": cut short, perhaps without effect");
  } else if (call->error.n == 0) {
    lt_buf_addc(out, ": done");
  } else if (lt_str_find(lt_buf_view(&result->error), call->error, 0) != SIZE_MAX) {
    lt_buf_addc(out, ": failed, this is the error above");
  } else {
    lt_buf_printf(out, ": failed: %.*s",
                  LT_STR_ARG(lt_str_sub(call->error, 0, program_feedback_character_start(call->error, 200))));
  }
}

static bool program_feedback_is_same_call(const lt_run_call *a, const lt_run_call *b) {
  return b != NULL && lt_str_eq(a->tool, b->tool) && lt_str_eq(a->input, b->input) &&
         a->input_bytes == b->input_bytes && a->finished == b->finished && lt_str_eq(a->error, b->error);
}

/* Lists the calls that were made, so that the model's next program does not repeat them. */
void lt_program_feedback_put_calls(lt_buf *out, const lt_run_result *result) {
  size_t listed = 0, more = 0;
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    size_t times = 1;
    for (; program_feedback_is_same_call(call, call->next); call = call->next) {
      times++;
    }
    if (listed >= LT_TOOL_LISTED_MAX) {
      more += times;
      continue;
    }
    lt_buf_addc(out, listed++ == 0 ? "\n\nTool calls that have already happened (do not repeat their effects):" : "");
    lt_buf_addc(out, "\n- ");
    if (times > 1) {
      lt_buf_printf(out, "%zu \u00d7 ", times);
    }
    lt_buf_add(out, call->tool);
    lt_buf_printf(out, " %.*s",
                  LT_STR_ARG(lt_str_sub(call->input, 0, program_feedback_character_start(call->input, 120))));
    lt_buf_addc(out, call->input.n > 120 ? "..." : "");
    program_feedback_put_call_end(out, result, call);
  }
  if (more > 0) {
    lt_buf_printf(out, "\n- and %zu more", more);
  }
}

static void program_feedback_put_shown(lt_buf *out, const lt_turn *turn, const lt_run_result *result) {
  size_t count = 0;
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    count += text->said == LT_SAID_OUTPUT;
  }
  if (count > 0) {
    lt_buf_printf(out, "\n\nThe user has been shown %zu %s of output(): do not output the same again.", count,
                  count == 1 ? "text" : "texts");
  }
  if (result->output_cut) {
    lt_buf_addc(out, " The rest was more than the ");
    lt_program_feedback_put_output_limit(out, turn);
    lt_buf_addc(out, " a program may output: it was dropped, and the user has been told so.");
  }
}

/* Limits the text to the remaining tokens. */
static void program_feedback_put_section(lt_buf *out, const char *title, lt_str text, size_t max_tokens) {
  lt_buf_addc(out, out->n > 0 ? "\n\n" : "");
  lt_buf_addc(out, title);
  lt_program_feedback_cut(out, text, max_tokens);
}

/* Applies to errors in the reply itself, which may have text around the program or several code blocks. It does not
 * apply to JSON that the program has read. */
static bool program_feedback_is_of_form(const lt_run_result *result) {
  lt_str error = lt_buf_view(&result->error);
  return result->calls == NULL && result->texts == NULL && lt_str_starts(error, LT_STR("SyntaxError")) &&
         lt_str_find(error, LT_STR("JSON"), 0) == SIZE_MAX;
}

static void program_feedback_put_failure(lt_buf *out, const lt_run_result *result, const lt_secrets *secrets) {
  LT_AUTO_BUF(text, 4 * LT_RUN_LOG_MAX_BYTES);
  lt_program_feedback_put_error(&text, result);
  lt_program_feedback_put_stack(&text, result);
  lt_program_feedback_put_calls(&text, result);
  lt_secrets_mask_buf(secrets, &text);
  program_feedback_put_section(out, "Execution error: ", lt_buf_view(&text), LT_FEEDBACK_TOKENS / 2);
  if (program_feedback_is_of_form(result)) {
    lt_buf_addc(out, "\n\nReply with one program and nothing else: no words before or after it, no second code block.");
  }
}

static void program_feedback_put_success(lt_buf *out, const lt_run_result *result, lt_str value, size_t max_tokens) {
  program_feedback_put_section(out, "Execution result: ", value.n > 0 ? value : LT_STR("undefined"), max_tokens);
  bool silent = value.n == 0 && !result->done;
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    silent = silent && !lt_said_is_log(text->said);
  }
  if (silent) {
    lt_buf_addc(out,
                "\n\nThe program returned nothing and logged nothing, and done() was not called. If the task is "
                "finished, reply with done(); otherwise end the program with the value you want to see, or log() "
                "it.");
  }
}

void lt_program_feedback_put(lt_buf *out, const lt_turn *turn, const lt_run_result *result, lt_str value) {
  const lt_secrets *secrets = turn->agent->options.secrets;
  LT_AUTO_BUF(logs, 2 * LT_RUN_LOG_MAX_BYTES);
  lt_program_feedback_put_logs(&logs, result);
  lt_secrets_mask_buf(secrets, &logs);
  bool logged = logs.n > 0;
  if (logged) {
    program_feedback_put_section(out, "Logs:\n", lt_buf_view(&logs), LT_FEEDBACK_TOKENS / 2);
  }
  if (result->status == LT_OK) {
    program_feedback_put_success(out, result, value, logged ? LT_FEEDBACK_TOKENS / 2 : LT_FEEDBACK_TOKENS);
  } else {
    program_feedback_put_failure(out, result, secrets);
  }
  program_feedback_put_shown(out, turn, result);
}
