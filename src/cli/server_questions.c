#include "cli/server_questions.h"

#include "base/limits.h"
#include "base/mem.h"
#include "cli/form_field.h"
#include "cli/json_view.h"
#include "cli/lookalikes.h"
#include "cli/question.h"
#include "cli/question_queue.h"
#include "cli/text_block.h"
#include "mcp/mcp_url.h"
#include "types/typegen_text.h"

#define BEGIN "Answer it? [y]es / [n]o, decline / [l]ater: "
#define SEND  "Send this? [y]es / [n]o, decline / [a]gain / [l]ater: "
#define VISIT "Do you agree to go there? [y]es, I open it myself / [n]o / [l]ater: "

typedef struct server_questions {
  lt_responder base; /* first */
  lt_loop *loop;
  lt_console *console;
  bool can_ask;
} server_questions;

/* What the person has decided (MCP, Elicitation, Response Actions). */
typedef enum server_answer { SERVER_UNCLEAR, SERVER_ACCEPT, SERVER_DECLINE, SERVER_CANCEL, SERVER_AGAIN } server_answer;

/* One question, from its first line to the answer. */
typedef struct server_dialogue {
  const lt_server_question *question;
  lt_terminal *terminal;
  lt_arena arena;
  lt_buf header, body, line;
} server_dialogue;

/* --- Parts -------------------------------------------------------------------------------------------------------- */
/* The server's name is the person's own word for it. */
static void server_dialogue_put_header(server_dialogue *d, const char *what) {
  lt_buf_clear(&d->header);
  lt_buf_addc(&d->header, "The server ");
  lt_typegen_put_string(&d->header, d->question->server);
  lt_buf_printf(&d->header, " %s\n", what);
}

static void server_dialogue_put_words(server_dialogue *d, const char *what, lt_json words) {
  lt_str text = LT_STR("(nothing)");
  (void)lt_json_str(words, &d->arena, &text);
  lt_buf_printf(&d->body, "  %s: ", what);
  (void)lt_text_block_add(&d->body, LT_STR("  "), text, false);
  lt_buf_byte(&d->body, '\n');
  lt_lookalikes_add(&d->body, lt_json_text(words));
}

static lt_status server_dialogue_ask_line(server_dialogue *d, const char *ask, bool is_shown, lt_err *err) LT_YIELDS {
  const lt_question question = {
      .terminal = d->terminal, .header = lt_buf_view(&d->header), .body = lt_buf_view(&d->body), .ask = ask};
  lt_buf_clear(&d->line);
  LT_TRY(lt_buf_check(&d->body, err, "the server's question is too long to be shown"));
  return lt_question_ask(&question, is_shown, d->question->cancel, &d->line, err);
}

static server_answer server_dialogue_read_answer(lt_str line) {
  static const struct {
    const char *word, *letter;
    server_answer answer;
  } answers[] = {{"yes", "y", SERVER_ACCEPT},
                 {"no", "n", SERVER_DECLINE},
                 {"later", "l", SERVER_CANCEL},
                 {"again", "a", SERVER_AGAIN}};
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    if (lt_str_distance(line, lt_str_of(answers[i].word), 0) == 0 ||
        lt_str_distance(line, lt_str_of(answers[i].letter), 0) == 0) {
      return answers[i].answer;
    }
  }
  return SERVER_UNCLEAR;
}

/* Asks until the answer is clear. */
static lt_status server_dialogue_decide(server_dialogue *d, const char *ask, bool may_repeat, server_answer *ret_answer,
                                        lt_err *err) LT_YIELDS {
  *ret_answer = SERVER_UNCLEAR;
  for (bool is_shown = false; *ret_answer == SERVER_UNCLEAR; is_shown = true) {
    LT_TRY(server_dialogue_ask_line(d, ask, is_shown, err));
    *ret_answer = server_dialogue_read_answer(lt_str_trim(lt_buf_view(&d->line)));
    if (*ret_answer == SERVER_AGAIN && !may_repeat) {
      *ret_answer = SERVER_UNCLEAR;
    }
  }
  return LT_OK;
}

/* --- A form ------------------------------------------------------------------------------------------------------- */
/* Asks for one field until the answer fits. `content`: the members so far. */
static lt_status server_dialogue_ask_field(server_dialogue *d, const lt_form_field *field, uint32_t number,
                                           uint32_t count, lt_json_writer *content, lt_err *err) LT_YIELDS {
  char what[64];
  snprintf(what, sizeof what, "asks, field %u of %u:", (unsigned)number, (unsigned)count);
  server_dialogue_put_header(d, what);
  lt_buf_clear(&d->body);
  lt_form_field_put(field, &d->body);
  for (bool is_shown = false;; is_shown = true) {
    LT_AUTO_BUF(value, LT_MIB);
    LT_ERR_VAR(why);
    LT_TRY(server_dialogue_ask_line(d, lt_form_field_prompt(field), is_shown, err));
    lt_status status = lt_form_field_take(field, lt_buf_view(&d->line), &value, &why);
    if (status == LT_OK && value.n > 0) {
      lt_json_key_str(content, field->name);
      lt_json_put_raw(content, lt_buf_view(&value));
    }
    if (status != LT_E_INVALID) {
      return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
    }
    LT_AUTO_BUF(note, LT_MIB);
    lt_buf_addc(&note, "  ");
    lt_typegen_put_line(&note, lt_str_of(lt_err_msg(&why)), 300);
    lt_buf_byte(&note, '\n');
    lt_terminal_write(d->terminal, lt_buf_view(&note));
  }
}

static lt_status server_dialogue_ask_fields(server_dialogue *d, lt_json form, lt_buf *content, lt_err *err) LT_YIELDS {
  lt_json properties = lt_json_get(form, "properties");
  uint32_t number = 0, count = lt_json_count(properties);
  lt_json_writer w = lt_json_writer_on(content);
  lt_json_begin_object(&w);
  for (lt_json_iter it = lt_json_each(properties); lt_json_next(&it);) {
    lt_form_field field;
    LT_TRY(lt_form_field_read(form, it.key, it.value, &d->arena, &field, err));
    LT_TRY(server_dialogue_ask_field(d, &field, ++number, count, &w, err));
  }
  lt_json_end_object(&w);
  return lt_buf_check(content, err, "no memory for the answer");
}

/* Fields that cannot be asked for are a fault of the server, before the person is bothered. */
static lt_status server_dialogue_check_form(server_dialogue *d, lt_json form, lt_err *err) {
  lt_json properties = lt_json_get(form, "properties");
  if (lt_json_typeof(properties) != LT_JSON_OBJECT || lt_json_count(properties) > LT_FORM_FIELDS_MAX) {
    return lt_fail(err, LT_E_INVALID, "requestedSchema: expected an object of at most %d properties",
                   LT_FORM_FIELDS_MAX);
  }
  for (lt_json_iter it = lt_json_each(properties); lt_json_next(&it);) {
    lt_form_field field;
    LT_TRY(lt_form_field_read(form, it.key, it.value, &d->arena, &field, err));
  }
  return LT_OK;
}

static lt_status server_dialogue_hold_form(server_dialogue *d, lt_buf *content, server_answer *ret_answer,
                                           lt_err *err) LT_YIELDS {
  lt_json form = lt_json_get(d->question->params, "requestedSchema");
  server_dialogue_put_header(d, "asks you something; the words behind | are the server's, not Lathe's:");
  server_dialogue_put_words(d, "it says", lt_json_get(d->question->params, "message"));
  lt_buf_printf(&d->body, "  It wants %u %s. Give it nothing that it must not know, such as a password.\n",
                (unsigned)lt_json_count(lt_json_get(form, "properties")),
                lt_json_count(lt_json_get(form, "properties")) == 1 ? "field" : "fields");
  LT_TRY(server_dialogue_decide(d, BEGIN, false, ret_answer, err));
  while (*ret_answer == SERVER_ACCEPT || *ret_answer == SERVER_AGAIN) {
    lt_buf_clear(content);
    LT_TRY(server_dialogue_ask_fields(d, form, content, err));
    server_dialogue_put_header(d, "gets this answer:");
    lt_buf_clear(&d->body);
    lt_buf_addc(&d->body, "  ");
    (void)lt_json_view_add(&d->body, lt_buf_view(content), "  ", true);
    lt_buf_byte(&d->body, '\n');
    LT_TRY(server_dialogue_decide(d, SEND, true, ret_answer, err));
    if (*ret_answer == SERVER_ACCEPT) {
      return LT_OK;
    }
  }
  return LT_OK;
}

/* --- A page ------------------------------------------------------------------------------------------------------- */
/* "MUST show the full URL to the user for examination before consent [...] SHOULD highlight the domain of the URL"
 * (Elicitation, Safe URL Handling) */
static lt_status server_dialogue_hold_url(server_dialogue *d, server_answer *ret_answer, lt_err *err) LT_YIELDS {
  lt_json words = lt_json_get(d->question->params, "url");
  lt_str url = LT_STR("");
  (void)lt_json_str(words, &d->arena, &url);
  lt_str origin = lt_mcp_url_origin(url);
  if (origin.n == 0) {
    return lt_fail(err, LT_E_INVALID, "url: expected an address that begins with https:// and has no user");
  }
  server_dialogue_put_header(d, "wants you to open a page; the words behind | are the server's, not Lathe's:");
  server_dialogue_put_words(d, "it says", lt_json_get(d->question->params, "message"));
  server_dialogue_put_words(d, "the address", words);
  lt_buf_addc(&d->body, "  where it leads: ");
  (void)lt_text_block_add(&d->body, LT_STR("  "), origin, false);
  lt_buf_addc(&d->body, lt_str_starts(origin, LT_STR("https://"))
                            ? "\n"
                            : "\n  It is not encrypted: everybody on the way can read what you write there.\n");
  lt_buf_addc(&d->body, "  Lathe does not open it. Whoever has the page gets what you write there.\n");
  return server_dialogue_decide(d, VISIT, false, ret_answer, err);
}

/* --- Answering ---------------------------------------------------------------------------------------------------- */
static void server_questions_put_result(server_answer answer, lt_str content, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "action");
  lt_json_put_cstr(&w, answer == SERVER_ACCEPT ? "accept" : answer == SERVER_DECLINE ? "decline" : "cancel");
  if (answer == SERVER_ACCEPT && content.n > 0) {
    lt_json_key(&w, "content");
    lt_json_put_raw(&w, content);
  }
  lt_json_end_object(&w);
}

/* The end of the terminal's input is no decision. */
static lt_status server_questions_hold(const server_questions *self, server_dialogue *d, lt_buf *ret_result,
                                       lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(content, LT_JSON_MAX_BYTES);
  server_answer answer = SERVER_CANCEL;
  bool is_url = lt_json_str_eq(lt_json_get(d->question->params, "mode"), LT_STR("url"));
  if (!is_url) {
    LT_TRY(server_dialogue_check_form(d, lt_json_get(d->question->params, "requestedSchema"), err));
  }
  LT_TRY(lt_console_hold(self->console, err));
  lt_status status =
      is_url ? server_dialogue_hold_url(d, &answer, err) : server_dialogue_hold_form(d, &content, &answer, err);
  if (status != LT_OK && status != LT_E_INVALID) {
    lt_terminal_write(d->terminal, LT_STR("\n"));
  }
  lt_console_release(self->console);
  if (status == LT_E_CLOSED || status == LT_E_IO) {
    answer = SERVER_CANCEL;
    status = LT_OK;
  }
  LT_TRY(status);
  server_questions_put_result(answer, lt_buf_view(&content), ret_result);
  return LT_OK;
}

static lt_status server_questions_ask(const server_questions *self, const lt_server_question *question,
                                      lt_buf *ret_result, lt_err *err) LT_YIELDS {
  server_dialogue d = {.question = question};
  if (!lt_question_queue_open_terminal(self->loop, &d.terminal)) {
    server_questions_put_result(SERVER_DECLINE, LT_STR_NULL, ret_result);
    return LT_OK;
  }
  lt_arena_init(&d.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_buf_init(&d.header, LT_KIB);
  lt_buf_init(&d.body, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&d.line, LT_RUN_ERROR_BYTES);
  lt_status status = server_questions_hold(self, &d, ret_result, err);
  lt_buf_release(&d.header);
  lt_buf_release(&d.body);
  lt_buf_release(&d.line);
  lt_arena_release(&d.arena);
  lt_terminal_close(d.terminal);
  return status;
}

static lt_status server_questions_answer(lt_responder *base, const lt_server_question *question, lt_buf *ret_result,
                                         lt_err *err) LT_YIELDS {
  const server_questions *self = (const server_questions *)(const void *)base;
  if (question->kind != LT_MCP_ASK_ELICITATION) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Method not found");
  }
  lt_question_turn turn;
  lt_status status = lt_question_queue_enter(self->console, self->loop, &turn, question->cancel, err);
  if (status == LT_OK) {
    status = server_questions_ask(self, question, ret_result, err);
  }
  lt_question_queue_leave(self->console, &turn);
  return status;
}

static lt_mcp_offers server_questions_offers(lt_responder *base, lt_str server) {
  (void)server;
  bool can_ask = ((const server_questions *)(const void *)base)->can_ask;
  return (lt_mcp_offers){.has_forms = can_ask, .has_urls = can_ask};
}

lt_responder *lt_server_questions_new(lt_loop *loop, lt_console *console) {
  server_questions *self = lt_mem_zalloc(1, sizeof *self);
  lt_terminal *terminal;
  if (self == NULL) {
    return NULL;
  }
  *self = (server_questions){
      .base = {.offers = server_questions_offers, .answer = server_questions_answer}, .loop = loop, .console = console};
  self->can_ask = lt_question_queue_open_terminal(loop, &terminal);
  if (self->can_ask) {
    lt_terminal_close(terminal);
  }
  return &self->base;
}

void lt_server_questions_free(lt_responder *responder) {
  lt_mem_free(responder);
}
