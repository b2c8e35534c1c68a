/* Puts a check together from its parts: replay_check.c (the journal), replay_check_runner.c, replay_check_observer.c.
 */
#include "base/mem.h"
#include "replay/replay_check_impl.h"

lt_replay_check *lt_replay_check_new(const lt_replay_check_options *options) {
  lt_replay_check *c = lt_mem_zalloc(1, sizeof *c);
  if (c != NULL) {
    lt_replay_check_journal_init(&c->journal);
    lt_replay_check_runner_init(&c->runner);
    lt_replay_check_observer_init(&c->observer);
    c->options = *options;
    lt_buf_init(&c->fault, 4 * LT_KIB);
    lt_buf_init(&c->reasons, 4 * LT_KIB);
  }
  return c;
}

void lt_replay_check_free(lt_replay_check *c) {
  if (c == NULL) {
    return;
  }
  for (lt_replay_check_program *program = c->programs, *next; program != NULL; program = next) {
    next = program->next;
    lt_buf_release(&program->run);
    lt_buf_release(&program->text);
    lt_mem_free(program);
  }
  for (lt_replay_check_call *repeated = c->calls, *next; repeated != NULL; repeated = next) {
    next = repeated->next;
    lt_buf_release(&repeated->run);
    lt_buf_release(&repeated->answer);
    lt_mem_free(repeated);
  }
  lt_buf_release(&c->fault);
  lt_buf_release(&c->reasons);
  lt_mem_free(c);
}

lt_journal *lt_replay_check_journal(lt_replay_check *c) {
  return &c->journal;
}

lt_runner *lt_replay_check_runner(lt_replay_check *c) {
  return &c->runner;
}

lt_replay_observer *lt_replay_check_observer(lt_replay_check *c) {
  return &c->observer;
}
