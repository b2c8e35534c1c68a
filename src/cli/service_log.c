#include "cli/service_log.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "json/json.h"
#include "text/plain.h"

typedef struct service_log_kind {
  lt_config_log_level level;
  const char *name;
  const char *before;   /* a line for people */
  const char *priority; /* the same for systemd's journal (syslog(3)) */
} service_log_kind;

static const service_log_kind service_log_kinds[] = {
    [LT_REPORT_INFO] = {LT_CONFIG_LOG_INFO, "info", "lathe serve: ", "<6>"},
    [LT_REPORT_WARNING] = {LT_CONFIG_LOG_WARNING, "warning", "warning: ", "<4>"},
    [LT_REPORT_PROGRESS] = {LT_CONFIG_LOG_DEBUG, "debug", "debug: ", "<7>"},
    [LT_REPORT_ERROR] = {LT_CONFIG_LOG_ERROR, "error", "error: ", "<3>"},
    [LT_REPORT_DEBUG] = {LT_CONFIG_LOG_DEBUG, "debug", "debug: ", "<7>"},
};

/* systemd.exec(5): "$JOURNAL_STREAM: ... the device and inode numbers of the stream, separated by a colon". */
static bool service_log_is_journal(void) {
  const char *stream = getenv("JOURNAL_STREAM");
  struct stat facts;
  char *end = NULL;
  if (stream == NULL || fstat(STDERR_FILENO, &facts) != 0 || strtoull(stream, &end, 10) != facts.st_dev ||
      *end != ':') {
    return false;
  }
  return strtoull(end + 1, NULL, 10) == facts.st_ino;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */
static bool service_log_is_word(lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    if ((unsigned char)text.p[i] <= ' ' || text.p[i] == '"' || text.p[i] == '=' || text.p[i] == '\\') {
      return false;
    }
  }
  return text.n > 0;
}

/* A text that is not one word stands in quotes: it cannot look like another fact. */
static void service_log_put_value(lt_buf *line, lt_str text) {
  LT_AUTO_BUF(plain, LT_REPORT_NOTE_BYTES);
  lt_plain_add_line(&plain, text);
  lt_json_writer w = lt_json_writer_on(line);
  if (service_log_is_word(lt_buf_view(&plain))) {
    lt_buf_add(line, lt_buf_view(&plain));
  } else {
    lt_json_put_str(&w, lt_buf_view(&plain));
  }
}

static void service_log_put_text(lt_buf *line, lt_str message, const lt_report_fact *facts) {
  lt_plain_add_line(line, message);
  for (; facts->name != NULL; facts++) {
    lt_buf_printf(line, " %s=", facts->name);
    if (facts->text.p != NULL) {
      service_log_put_value(line, facts->text);
    } else {
      lt_buf_printf(line, "%lld", (long long)facts->number);
    }
  }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */
static void service_log_put_json(lt_buf *line, const char *level, lt_str message, const lt_report_fact *facts) {
  char time[LT_CLOCK_STAMP_BYTES];
  lt_clock_stamp(time);
  lt_json_writer w = lt_json_writer_on(line);
  lt_json_begin_object(&w);
  lt_json_key(&w, "time");
  lt_json_put_cstr(&w, time);
  lt_json_key(&w, "level");
  lt_json_put_cstr(&w, level);
  lt_json_key(&w, "message");
  lt_json_put_str(&w, message);
  for (; facts->name != NULL; facts++) {
    lt_json_key(&w, facts->name);
    if (facts->text.p != NULL) {
      lt_json_put_str(&w, facts->text);
    } else {
      lt_json_put_int(&w, facts->number);
    }
  }
  lt_json_end_object(&w);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
static void service_log_put(lt_buf *line, bool is_json, const char *level, lt_str message,
                            const lt_report_fact *facts) {
  if (is_json) {
    service_log_put_json(line, level, message, facts);
  } else {
    service_log_put_text(line, message, facts);
  }
}

static void service_log_line(const lt_console *console, bool is_json, const service_log_kind *how, lt_str message,
                             const lt_report_fact *facts) {
  const lt_report_fact is_cut[] = {{.name = "cut", .text = LT_STR("true")}, {.name = NULL}};
  LT_AUTO_BUF(line, LT_SERVICE_LOG_LINE_BYTES);
  service_log_put(&line, is_json, how->name, message, facts);
  if (line.status != LT_OK) {
    lt_buf_clear(&line);
    service_log_put(&line, is_json, how->name, lt_str_sub(message, 0, LT_SERVICE_LOG_CUT_BYTES), is_cut);
  }
  const char *before = is_json ? "" : service_log_is_journal() ? how->priority : how->before;
  lt_console_line(console, before, lt_buf_view_or(&line, LT_STR("(too long to be shown)")));
}

/* A pipe that poll(2) calls writable takes PIPE_BUF bytes at once (pipe(7)). An error shows when the line is written.
 */
static bool service_log_is_read(void) {
  struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
  return poll(&to, 1, 0) != 0;
}

void lt_service_log_write(lt_console *console, const lt_config_http *config, lt_report_kind kind, lt_str message,
                          const lt_report_fact *facts) {
  _Static_assert(LT_SERVICE_LOG_LINE_BYTES + 64 <= PIPE_BUF, "a line with what stands before it is written at once");
  const service_log_kind *how = &service_log_kinds[kind];
  bool is_json = config->log == LT_CONFIG_LOG_JSON;
  if (how->level > config->log_level) {
    return;
  }
  if (!service_log_is_read()) {
    console->unread++;
    return;
  }
  if (console->unread > 0) {
    const lt_report_fact lost[] = {{.name = "lines", .number = (int64_t)console->unread}, {.name = NULL}};
    console->unread = 0;
    service_log_line(console, is_json, &service_log_kinds[LT_REPORT_WARNING],
                     LT_STR("lines of the log are lost: its reader did not read"), lost);
    lt_service_log_write(console, config, kind, message, facts);
    return;
  }
  service_log_line(console, is_json, how, message, facts);
}
