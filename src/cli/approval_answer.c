#include "cli/approval_answer.h"

#define SEPARATORS " \t,.:;-!"

static const struct {
  const char *letter, *word, *other; /* other: a second word, or NULL */
  lt_answer answer;
} approval_answer_words[] = {
    {"y", "yes", "approve", LT_ANSWER_YES},  {"n", "no", "reject", LT_ANSWER_NO},
    {"s", "show", NULL, LT_ANSWER_SHOW},     {"e", "edit", NULL, LT_ANSWER_EDIT},
    {"a", "always", NULL, LT_ANSWER_ALWAYS}, {"c", "call", NULL, LT_ANSWER_CALL},
    {"t", "tool", NULL, LT_ANSWER_TOOL},     {"u", "until", "session", LT_ANSWER_SESSION},
    {"w", "write", "rule", LT_ANSWER_RULE},  {"v", "never", NULL, LT_ANSWER_NEVER},
    {"?", "help", NULL, LT_ANSWER_HELP},
};

static bool approval_answer_is(lt_str word, const char *known) {
  return known != NULL && lt_str_distance(word, lt_str_of(known), 0) == 0;
}

static lt_answer approval_answer_of(lt_str word) {
  for (size_t i = 0; i < sizeof approval_answer_words / sizeof approval_answer_words[0]; i++) {
    if (approval_answer_is(word, approval_answer_words[i].letter) ||
        approval_answer_is(word, approval_answer_words[i].word) ||
        approval_answer_is(word, approval_answer_words[i].other)) {
      return approval_answer_words[i].answer;
    }
  }
  return LT_ANSWER_UNCLEAR;
}

lt_answer lt_approval_answer_read(lt_str line, lt_str *ret_reason) {
  line = lt_str_trim(line);
  if (lt_str_starts(line, LT_STR("/"))) { /* also accepts a command of the dialogue */
    line = lt_str_sub(line, 1, line.n);
  }
  size_t end = 0;
  while (end < line.n && strchr(SEPARATORS, line.p[end]) == NULL) {
    end++;
  }
  lt_answer answer = approval_answer_of(lt_str_sub(line, 0, end));
  while (end < line.n && strchr(SEPARATORS, line.p[end]) != NULL) {
    end++;
  }
  lt_str rest = lt_str_sub(line, end, line.n);
  if (answer == LT_ANSWER_NO) {
    bool because = lt_str_distance(lt_str_sub(rest, 0, 8), LT_STR("because "), 0) == 0;
    *ret_reason = because ? lt_str_trim(lt_str_sub(rest, 8, rest.n)) : rest;
    return answer;
  }
  bool is_show_all = answer == LT_ANSWER_SHOW && lt_str_distance(rest, LT_STR("all"), 0) == 0;
  return rest.n == 0 || is_show_all ? answer : LT_ANSWER_UNCLEAR; /* "yes, but ..." is no yes */
}

lt_answer_scope lt_approval_answer_prompt_scope(void) {
  return (lt_answer_scope){
      .until_end = "until the answer to your message is complete",
      .until_session = "until you leave this conversation (/new, or the end of lathe chat)",
  };
}

void lt_approval_answer_put_choices(lt_buf *out, const lt_answer_scope *scope, bool has_call) {
  if (has_call) {
    lt_buf_printf(out, "  c  this tool with exactly this input, %s\n", scope->until_end);
  }
  lt_buf_printf(out, "  t  this tool with any input, %s\n", scope->until_end);
  if (scope->until_session != NULL) {
    lt_buf_printf(out, "  u  this tool with any input, %s\n", scope->until_session);
  }
  lt_buf_addc(out, "  w  this tool with any input, in every run: writes a rule to your own configuration\n");
}

const char *lt_approval_answer_choice_line(const lt_answer_scope *scope, bool has_call) {
  bool has_session = scope->until_session != NULL;
  return has_session
             ? (has_call ? "Always: [c] / [t] / [u] / [w], or Enter for none: "
                         : "Always: [t] / [u] / [w], or Enter for none: ")
             : (has_call ? "Always: [c] / [t] / [w], or Enter for none: " : "Always: [t] / [w], or Enter for none: ");
}

void lt_approval_answer_put_help(lt_buf *out, const lt_answer_scope *scope, bool has_call) {
  lt_buf_addc(out,
              "  y  make this call, once\n"
              "  n  do not make it; a reason may follow: n use the folder drafts\n"
              "  s  show all of the input as it is\n"
              "  e  edit the input; it is shown again before the call is made\n"
              "Make it, and later calls without a question (a asks which):\n");
  lt_approval_answer_put_choices(out, scope, has_call);
  lt_buf_printf(out, "Never:\n  v  refuse this tool with any input, %s\n", scope->until_end);
}
