#include "cli/trust_question.h"

#include <signal.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/lookalikes.h"
#include "cli/question.h"
#include "config/config_review.h"
#include "io/terminal.h"
#include "json/json.h"

#define QUESTION "Trust it? [y]es, until it changes / [o]nce, for this command / [n]o: "

typedef struct trust_question {
  const lt_config_file *file;
  lt_loop *loop;
  lt_terminal *terminal;
  lt_cancel cancel;
  lt_trust_answer answer;
} trust_question;

/* --- The question ------------------------------------------------------------------------------------------------- */

static lt_trust_answer trust_question_answer(lt_str line) {
  static const struct {
    const char *word, *letter;
    lt_trust_answer answer;
  } answers[] = {{"yes", "y", LT_TRUST_ALWAYS}, {"once", "o", LT_TRUST_ONCE}, {"no", "n", LT_TRUST_NO}};
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    if (lt_str_distance(line, lt_str_of(answers[i].word), 0) == 0 ||
        lt_str_distance(line, lt_str_of(answers[i].letter), 0) == 0) {
      return answers[i].answer;
    }
  }
  return LT_TRUST_NOBODY; /* no answer */
}

/* Asks until the answer is clear. The end of input is no. */
static lt_trust_answer trust_question_read(trust_question *q, const lt_question *question) LT_YIELDS {
  LT_AUTO_BUF(line, LT_RUN_ERROR_BYTES);
  for (bool is_shown = false;; is_shown = true) {
    lt_buf_clear(&line);
    if (lt_question_ask(question, is_shown, &q->cancel, &line, NULL) != LT_OK) {
      return LT_TRUST_NO;
    }
    lt_trust_answer answer = trust_question_answer(lt_str_trim(lt_buf_view(&line)));
    if (answer != LT_TRUST_NOBODY) {
      return answer;
    }
  }
}

void lt_trust_question_put_wants(const lt_config_file *file, lt_buf *out) {
  LT_AUTO_BUF(json, LT_CONFIG_REVIEW_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_json_put_cstr(&w, file->wants);
  lt_buf_addc(out, file->wants);
  lt_lookalikes_add(out, lt_buf_view(&json));
}

static void trust_question_on_fiber(void *arg) {
  trust_question *q = arg;
  LT_AUTO_BUF(header, LT_CONFIG_REVIEW_BYTES);
  LT_AUTO_BUF(body, LT_CONFIG_REVIEW_BYTES);
  lt_config_review_text(lt_str_of(q->file->path), &header);
  lt_buf_addc(&header, q->file->trust == LT_CONFIG_CHANGED
                           ? "\nhas changed since you trusted it. With it, Lathe would\n"
                           : "\nis not trusted. With it, Lathe would\n");
  lt_trust_question_put_wants(q->file, &body);
  lt_buf_addc(&body, "  What it names (commands, plugins, modules) may change later without a question.\n");
  const lt_question question = {
      .terminal = q->terminal, .header = lt_buf_view(&header), .body = lt_buf_view(&body), .ask = QUESTION};
  bool is_whole = header.status == LT_OK && body.status == LT_OK;
  q->answer = is_whole ? trust_question_read(q, &question) : LT_TRUST_NO;
  if (q->cancel.why != LT_OK) {
    q->answer = LT_TRUST_INTERRUPTED;
    lt_terminal_write(q->terminal, LT_STR("\n"));
  }
  lt_terminal_close(q->terminal);
}

static void trust_question_on_signal(void *arg, int signum) {
  (void)signum;
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

static lt_status trust_question_run(trust_question *q) {
  LT_TRY(lt_loop_on_signal(q->loop, SIGINT, trust_question_on_signal, &q->cancel, NULL));
  LT_TRY(lt_loop_on_signal(q->loop, SIGTERM, trust_question_on_signal, &q->cancel, NULL));
  LT_TRY(lt_terminal_open(q->loop, "/dev/tty", &q->terminal, NULL));
  lt_status status = lt_loop_spawn(q->loop, trust_question_on_fiber, q, NULL);
  if (status != LT_OK) {
    lt_terminal_close(q->terminal);
  }
  lt_loop_run(q->loop);
  return status;
}

/* As for approvals: if neither input nor messages are on a terminal, nobody can be asked. */
lt_trust_answer lt_trust_question_ask(const lt_config_file *file) {
  trust_question q = {.file = file, .answer = LT_TRUST_NOBODY};
  lt_cancel_init(&q.cancel);
  if (!(isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) || lt_loop_new(&q.loop, NULL) != LT_OK) {
    return LT_TRUST_NOBODY;
  }
  (void)trust_question_run(&q);
  lt_loop_free(q.loop);
  return q.answer;
}
