#include "cli/consent.h"

#include <signal.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/question.h"
#include "io/terminal.h"

typedef struct consent_question {
  lt_str body;
  const char *ask;
  lt_loop *loop;
  lt_terminal *terminal;
  lt_cancel cancel;
  lt_consent answer;
} consent_question;

static bool consent_is_word(lt_str line, lt_str word, lt_str letter) {
  return lt_str_eq_fold(line, word) || lt_str_eq_fold(line, letter);
}

/* Asks until the answer is clear. */
static lt_consent consent_read(consent_question *q) LT_YIELDS {
  LT_AUTO_BUF(line, LT_RUN_ERROR_BYTES);
  const lt_question question = {.terminal = q->terminal, .body = q->body, .ask = q->ask};
  for (bool is_shown = false;; is_shown = true) {
    lt_buf_clear(&line);
    if (lt_question_ask(&question, is_shown, &q->cancel, &line, NULL) != LT_OK) {
      return LT_CONSENT_NO;
    }
    lt_str word = lt_str_trim(lt_buf_view(&line));
    if (consent_is_word(word, LT_STR("yes"), LT_STR("y"))) {
      return LT_CONSENT_YES;
    }
    if (consent_is_word(word, LT_STR("no"), LT_STR("n"))) {
      return LT_CONSENT_NO;
    }
  }
}

static void consent_on_fiber(void *arg) {
  consent_question *q = arg;
  q->answer = consent_read(q);
  if (q->cancel.why != LT_OK) {
    q->answer = LT_CONSENT_INTERRUPTED;
    lt_terminal_write(q->terminal, LT_STR("\n"));
  }
  lt_terminal_close(q->terminal);
}

static void consent_on_signal(void *arg, int signum) {
  (void)signum;
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

static lt_status consent_run(consent_question *q) {
  LT_TRY(lt_loop_on_signal(q->loop, SIGINT, consent_on_signal, &q->cancel, NULL));
  LT_TRY(lt_loop_on_signal(q->loop, SIGTERM, consent_on_signal, &q->cancel, NULL));
  LT_TRY(lt_terminal_open(q->loop, "/dev/tty", &q->terminal, NULL));
  lt_status status = lt_loop_spawn(q->loop, consent_on_fiber, q, NULL);
  if (status != LT_OK) {
    lt_terminal_close(q->terminal);
  }
  lt_loop_run(q->loop);
  return status;
}

/* If neither input nor messages are on a terminal, nobody can be asked. */
lt_consent lt_consent_ask(lt_str body, const char *ask) {
  consent_question q = {.body = body, .ask = ask, .answer = LT_CONSENT_NOBODY};
  lt_cancel_init(&q.cancel);
  if (!(isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) || lt_loop_new(&q.loop, NULL) != LT_OK) {
    return LT_CONSENT_NOBODY;
  }
  (void)consent_run(&q);
  lt_loop_free(q.loop);
  return q.answer;
}
