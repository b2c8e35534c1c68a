#include "cli/decision_lines.h"

#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/lines.h"
#include "io/read_ready.h"
#include "io/watch.h"
#include "json/json.h"

struct lt_decision_lines {
  lt_chat *chat;
  lt_watch *watch;
  lt_wait readable;
  lt_lines lines;
  unsigned line; /* number of the last line, from 1 */
  bool is_closing, has_ended;
  lt_cancel end; /* fired when no more lines can come */
  lt_wait ended; /* the fiber has ended */
};

/* --- One line ----------------------------------------------------------------------------------------------------- */
typedef struct decision_line {
  lt_str prompt, call, verb;
  lt_decision decision;
} decision_line;

static lt_status decision_line_read_text(lt_json value, const char *name, lt_arena *arena, lt_str *ret, lt_err *err) {
  if (lt_json_typeof(value) != LT_JSON_STRING) {
    return lt_fail(err, LT_E_INVALID, "%s is a string", name);
  }
  return lt_json_str(value, arena, ret) ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status decision_line_read_remember(lt_json value, lt_arena *arena, lt_remember *ret, lt_err *err) {
  lt_str name;
  LT_TRY(decision_line_read_text(value, "remember", arena, &name, err));
  return lt_decision_find_remember(name, ret) ? LT_OK : lt_fail(err, LT_E_INVALID, "remember is call, tool or session");
}

static lt_status decision_line_read_member(decision_line *line, const lt_json_iter *it, lt_arena *arena, lt_err *err) {
  static const char *const names[] = {"promptId", "toolCallId", "decision", "reason"};
  lt_str *const texts[] = {&line->prompt, &line->call, &line->verb, &line->decision.reason};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (lt_json_str_eq(it->key, lt_str_of(names[i]))) {
      return decision_line_read_text(it->value, names[i], arena, texts[i], err);
    }
  }
  if (lt_json_str_eq(it->key, LT_STR("remember"))) {
    return decision_line_read_remember(it->value, arena, &line->decision.remember, err);
  }
  if (!lt_json_str_eq(it->key, LT_STR("input"))) {
    return lt_fail(err, LT_E_INVALID,
                   "unknown member %.*s; there are promptId, toolCallId, decision, input, reason, remember",
                   LT_STR_ARG(lt_str_sub(lt_json_text(it->key), 0, 100)));
  }
  line->decision.input = lt_json_text(it->value);
  return lt_json_typeof(it->value) == LT_JSON_OBJECT ? LT_OK : lt_fail(err, LT_E_INVALID, "input is an object");
}

static lt_status decision_line_parse(lt_str text, lt_arena *arena, lt_json_doc *doc, decision_line *line, lt_err *err) {
  LT_TRY(lt_json_parse(arena, text, doc, err));
  if (lt_json_typeof(lt_json_root(doc)) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_INVALID, "a decision is an object: {\"toolCallId\", \"decision\", ...}");
  }
  lt_json_iter it = lt_json_each(lt_json_root(doc));
  while (lt_json_next(&it)) {
    LT_TRY(decision_line_read_member(line, &it, arena, err));
  }
  line->decision.is_approved = lt_str_eqc(line->verb, "approve");
  bool is_known = line->decision.is_approved || lt_str_eqc(line->verb, "reject") || lt_str_eqc(line->verb, "cancel");
  if (!is_known) {
    return lt_fail(err, LT_E_INVALID, "decision is approve, reject or cancel");
  }
  return line->decision.input.n == 0 || line->decision.is_approved
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "input goes with approve only");
}

/* The next prompt may begin while the decision is stored. */
static lt_status decision_line_apply(const lt_chat *chat, const decision_line *line, lt_err *err) LT_YIELDS {
  char current[sizeof chat->prompt];
  memcpy(current, chat->prompt, sizeof current);
  lt_str prompt = line->prompt.n > 0 ? line->prompt : lt_str_of(current);
  return lt_str_eqc(line->verb, "cancel")
             ? lt_agent_cancel(chat->agent, LT_CHAT_USER, prompt, err)
             : lt_agent_decide(chat->agent, LT_CHAT_USER, prompt, line->call, &line->decision, err);
}

static void decision_lines_take(lt_decision_lines *l, lt_str text) LT_YIELDS {
  lt_json_doc doc;
  LT_ERR_VAR(err);
  decision_line line = {0};
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  l->line++;
  if (lt_str_trim(text).n == 0) {
    return;
  }
  lt_status status = decision_line_parse(text, &arena, &doc, &line, &err);
  if (status == LT_OK) {
    status = decision_line_apply(l->chat, &line, &err);
  }
  if (status != LT_OK) {
    lt_console_format(&l->chat->session->console, "lathe chat: standard input, line %u: %s", l->line, lt_err_msg(&err));
  }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
/* False: there is nothing more for now. */
static bool decision_lines_read(lt_decision_lines *l) {
  size_t room = 0;
  char *to = lt_lines_reserve(&l->lines, &room);
  ssize_t n = to != NULL ? lt_read_ready(STDIN_FILENO, to, room) : LT_READ_END;
  if (n > 0) {
    lt_lines_commit(&l->lines, (size_t)n);
  } else if (n != LT_READ_LATER) {
    lt_lines_end(&l->lines);
  }
  return n > 0;
}

/* False: the input has ended. */
static bool decision_lines_take_all(lt_decision_lines *l) LT_YIELDS {
  lt_str text;
  for (;;) {
    lt_lines_got got = lt_lines_next(&l->lines, &text);
    if (got == LT_LINES_MORE || got == LT_LINES_END) {
      return got == LT_LINES_MORE;
    }
    if (got == LT_LINES_OVER) {
      lt_console_format(&l->chat->session->console, "lathe chat: standard input, line %u: it is too long", ++l->line);
    } else {
      decision_lines_take(l, text);
    }
  }
}

static void decision_lines_on_fiber(void *arg) {
  lt_decision_lines *l = arg;
  bool more = true;
  lt_watch_set(l->watch, LT_WATCH_READ);
  while (more && !l->is_closing) {
    (void)lt_wait_on(&l->readable, UINT64_MAX);
    bool has_read = !l->is_closing;
    while (has_read && more) {
      has_read = decision_lines_read(l);
      more = decision_lines_take_all(l);
    }
  }
  lt_watch_close(l->watch);
  l->watch = NULL;
  l->has_ended = true;
  lt_cancel_fire(&l->end, LT_E_CANCELLED);
  lt_wait_wake(&l->ended, LT_OK);
}

lt_status lt_decision_lines_open(lt_chat *chat, lt_decision_lines **ret_lines, lt_err *err) {
  lt_loop *loop = chat->session->app.loop;
  lt_decision_lines *l = lt_mem_zalloc(1, sizeof *l);
  if (l == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  l->chat = chat;
  lt_wait_init(&l->readable, loop);
  lt_wait_init(&l->ended, loop);
  lt_cancel_init(&l->end);
  lt_lines_init(&l->lines, LT_JSON_MAX_BYTES);
  lt_status status = lt_watch_open(loop, STDIN_FILENO, &l->readable, &l->watch, err);
  if (status == LT_OK) {
    status = lt_loop_spawn(loop, decision_lines_on_fiber, l, err);
  }
  if (status != LT_OK) {
    lt_watch_close(l->watch);
    lt_lines_release(&l->lines);
    lt_mem_free(l);
    return lt_err_prefix(err, "standard input gives no decisions");
  }
  *ret_lines = l;
  return LT_OK;
}

void lt_decision_lines_close(lt_decision_lines *l) {
  if (l == NULL) {
    return;
  }
  l->is_closing = true;
  lt_wait_wake(&l->readable, LT_OK);
  while (!l->has_ended) {
    lt_wait_on(&l->ended, UINT64_MAX);
  }
  lt_lines_release(&l->lines);
  lt_mem_free(l);
}

bool lt_decision_lines_may_come(const lt_decision_lines *l) {
  return l != NULL && !l->has_ended;
}

void lt_decision_lines_wait(lt_decision_lines *l, lt_cancel *cancel) {
  lt_wait wait;
  lt_cancel_node ours, theirs;
  lt_wait_init(&wait, l->chat->session->app.loop);
  lt_cancel_add(&l->end, &ours, &wait);
  lt_cancel_add(cancel, &theirs, &wait);
  (void)lt_wait_on(&wait, UINT64_MAX);
  lt_cancel_remove(cancel, &theirs);
  lt_cancel_remove(&l->end, &ours);
}
