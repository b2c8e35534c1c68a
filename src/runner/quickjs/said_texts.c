#include "runner/quickjs/said_texts.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "runner/quickjs/run.h"

void lt_said_texts_init(lt_run *run) {
  run->said = (lt_said_texts){.last = &run->result->texts};
}

void lt_said_texts_rewind(lt_run *run) {
  run->said.output_bytes = run->said.log_bytes = run->said.count = 0;
  run->result->done = run->result->output_cut = run->result->log_cut = false;
}

static void on_said_text(void *arg) {
  lt_run_text *text = arg;
  lt_run *run = text->run;
  run->request->on_text(run->request->arg, text->said, text->text);
}

static void said_add(lt_run *run, lt_said said, lt_str what) {
  if (!lt_said_is_log(said)) {
    lt_tape_shown(&run->tape);
  }
  if (run->tape.fault.n > 0 || run->said.count++ < run->said.count_before) {
    return; /* the program is about to be stopped, or repeats a text from before it was dropped */
  }
  lt_run_text *text = lt_mem_alloc(sizeof *text + what.n);
  if (text == NULL) {
    *(lt_said_is_log(said) ? &run->result->log_cut : &run->result->output_cut) = true;
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, what.p ? what.p : "", what.n);
  *text = (lt_run_text){.said = said, .text = lt_str_from(bytes, what.n), .run = run};
  *run->said.last = text;
  run->said.last = &text->next;
  run->said.count_before++;
  if (run->request->on_text != NULL) {
    text->post = (lt_post){.fn = on_said_text, .arg = text};
    lt_lane_post(run->lane, &text->post);
  }
}

/* Adds a text, or where there is no room the beginning of a log line; half an output would be taken for all of it.
 * After the first cut it adds nothing. */
static void said_add_fitting(lt_run *run, lt_said said, lt_str text, size_t *used, size_t max, bool *was_cut) {
  size_t room = max > *used ? max - *used : 0;
  /* An empty text costs something, so that their number is limited. A cell may say much. */
  size_t costs = run->request->is_cell ? text.n + sizeof(lt_run_text) : text.n > 0 ? text.n : 1;
  if (*was_cut) {
    return;
  }
  *was_cut = costs > room;
  *used += costs;
  text = !*was_cut || lt_said_is_log(said) ? lt_utf8_cut(text, room) : LT_STR_NULL;
  if (!*was_cut || text.n > 0) {
    said_add(run, said, text);
  }
}

static void said_log(lt_run *run, lt_said said, lt_str text) {
  said_add_fitting(run, said, text, &run->said.log_bytes, lt_run_request_log_bytes(run->request),
                   &run->result->log_cut);
}

/* Its images and notices share the room of its outputs. */
static void said_shown(lt_run *run, lt_said said, lt_str text) {
  said_add_fitting(run, said, text, &run->said.output_bytes, lt_run_request_output_bytes(run->request),
                   &run->result->output_cut);
}

void lt_said_texts_output(lt_run *run, lt_str text) {
  said_shown(run, LT_SAID_OUTPUT, text);
}

static void said_image(lt_run *run, lt_str url) {
  if (run->request->takes_images) {
    said_shown(run, LT_SAID_IMAGE, url);
    return;
  }
  LT_AUTO_BUF(line, LT_KIB);
  size_t end = lt_str_find(url, LT_STR(","), 0);
  lt_buf_addc(&line, "[image] ");
  lt_buf_add(&line, lt_str_sub(url, 0, end < 100 ? end : 100));
  lt_buf_printf(&line, " (%zu bytes)", url.n);
  said_log(run, LT_SAID_LOG, lt_buf_view(&line));
}

void lt_said_texts_log(lt_run *run, lt_log_level level, lt_str text) {
  bool is_cell = run->request->is_cell;
  switch (level) {
    case LT_LOG_LOG:
      said_log(run, LT_SAID_LOG, text);
      break;
    case LT_LOG_WARN:
      said_log(run, LT_SAID_WARNING, text);
      break;
    case LT_LOG_ERROR:
      said_log(run, LT_SAID_ERROR, text);
      break;
    case LT_LOG_IMAGE:
      said_image(run, text);
      break;
    case LT_LOG_NOTICE:
      is_cell ? said_shown(run, LT_SAID_NOTICE, text) : said_log(run, LT_SAID_LOG, text);
      break;
    case LT_LOG_YIELD:
      if (is_cell) {
        said_shown(run, LT_SAID_YIELD, text);
      }
      break;
  }
}
