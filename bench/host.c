/* Lathe as a library in C, one of those that are measured side by side: answers the lines that bench/peers/host.mjs
 * describes. The programs are those of bench/peers/programs.mjs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "bench/measure.h"
#include "bench/memory.h"
#include "json/json.h"
#include "lathe.h"

enum { LINE_BYTES = 4096, WHY_BYTES = 256, TOOL_MS = 10, SETTLE_S = 3, TIMEOUT_MS = 60000, CALLS = 10000 };
enum { SMALL_MB = 128, LARGE_MB = 1500 };

#define WAIT_CODE "slow({});\n1+2"

typedef struct host {
  lathe_env *env;
  char *loaded;       /* what the tool "load" answers: JSON */
  lt_measure figures; /* of the line that is answered */
  char why[WHY_BYTES];
} host;

static host the_host;

/* The program of a task. */
static const struct {
  const char *task;
  const char *code;
} programs[] = {
    {"plus", "1+2"},
    {"call", "add({a: 1, b: 2})"},
    {"calls", "let sum = 0;\nfor (let i = 0; i < 100; i++) sum = add({a: sum, b: i});\nsum"},
    {"read",
     "let read = 0;\nfor (const item of load({})) read += item.id + item.name.length + item.at.x + "
     "item.tags.length + (item.open ? 1 : 0);\nread"},
};

/* --- Files and answers -------------------------------------------------------------------------------------------- */
/* Owned by the caller; NULL: it cannot be read. */
static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    long n = ftell(file);
    rewind(file);
    text = malloc((size_t)n + 1);
    if (text != NULL) {
      text[fread(text, 1, (size_t)n, file)] = '\0';
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

/* A number of an object, as text; "" for none. */
static void read_member(const char *json, const char *key, char *ret_text, size_t room) {
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  ret_text[0] = '\0';
  if (lt_json_parse(&arena, lt_str_from(json, strlen(json)), &doc, NULL) == LT_OK) {
    lt_str value = lt_json_text(lt_json_get(lt_json_root(&doc), key));
    snprintf(ret_text, room, "%.*s", (int)value.n, value.p);
  }
}

/* Notes why a program has failed, or gave a wrong answer. */
static bool is_right(lathe_status status, const char *report, const char *message, const char *expected) {
  char value[WHY_BYTES / 4] = "";
  if (status == LATHE_OK) {
    read_member(report, "result", value, sizeof value);
  }
  if (strcmp(value, expected) != 0 && the_host.why[0] == '\0') {
    snprintf(the_host.why, WHY_BYTES, status == LATHE_OK ? "a wrong answer: %s" : "%s",
             status == LATHE_OK ? value : message);
  }
  return strcmp(value, expected) == 0;
}

/* --- One after the other ------------------------------------------------------------------------------------------ */
static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  char a[WHY_BYTES / 4], b[WHY_BYTES / 4], sum[WHY_BYTES / 4];
  (void)arg;
  if (event->type == LATHE_EVENT_CALL && strcmp(event->tool, "load") == 0) {
    lathe_answer(env, event->call, the_host.loaded, NULL);
  } else if (event->type == LATHE_EVENT_CALL) {
    read_member(event->json, "a", a, sizeof a);
    read_member(event->json, "b", b, sizeof b);
    snprintf(sum, sizeof sum, "%ld", strtol(a, NULL, 10) + strtol(b, NULL, 10));
    lathe_answer(env, event->call, sum, NULL);
  }
}

static bool run_times(int count, const lathe_run_options *run, const char *expected) {
  bool is_well = true;
  for (int i = 0; i < count && is_well; i++) {
    lathe_error error = {.size = sizeof error};
    char *report = NULL;
    double start = lt_measure_now();
    lathe_status status = lathe_run(the_host.env, run, on_event, NULL, &report, &error);
    double ns = lt_measure_now() - start;
    is_well = is_right(status, report, error.message, expected);
    lathe_free(report);
    lt_measure_add(&the_host.figures, ns);
  }
  return is_well;
}

static bool run_task(const char *task, int count, const char *expected, const char *what) {
  char path[LINE_BYTES + sizeof LT_BENCH_DIR], *code = NULL;
  bool is_reading = strcmp(task, "read") == 0, is_script = strcmp(task, "script") == 0;
  lathe_run_options run = {.size = sizeof run,
                           .timeout_ms = TIMEOUT_MS,
                           .keeps_signals = true,
                           .memory_bytes = (uint64_t)(is_reading ? LARGE_MB : SMALL_MB) * LT_MIB};
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    run.code = strcmp(programs[i].task, task) == 0 ? programs[i].code : run.code;
  }
  if (is_script) {
    snprintf(path, sizeof path, LT_BENCH_DIR "/programs/%s.js", what);
    run.code = code = read_file(path);
  } else if (is_reading) {
    free(the_host.loaded);
    the_host.loaded = read_file(what);
  }
  bool is_known = run.code != NULL && (!is_reading || the_host.loaded != NULL);
  if (!is_known) {
    snprintf(the_host.why, WHY_BYTES, "%.20s cannot be read: %.200s", task, what);
  }
  is_known = is_known && run_times(count, &run, expected);
  free(code);
  return is_known;
}

/* --- At the same time --------------------------------------------------------------------------------------------- */
/* Calls that wait for their answer, in the order of their deadlines. */
typedef struct crowd {
  uint64_t calls[CALLS];
  double due_ns[CALLS];
  int first, last; /* those between them wait */
  int running;     /* programs */
  bool is_held;    /* nothing is answered: returns as soon as all wait */
  bool is_well;
} crowd;

static void crowd_start(crowd *c, int count) {
  const lathe_run_options run = {.size = sizeof run, .code = WAIT_CODE, .timeout_ms = TIMEOUT_MS};
  uint64_t number;
  c->first = c->last = 0;
  c->is_well = count <= CALLS;
  c->running = 0;
  for (int i = 0; i < count && c->is_well; i++) {
    c->is_well = lathe_start(the_host.env, &run, &number, NULL) == LATHE_OK;
    c->running += c->is_well;
  }
}

static void crowd_take(crowd *c, const lathe_event *event) {
  if (event->type == LATHE_EVENT_CALL && c->last < CALLS) {
    c->calls[c->last] = event->call;
    c->due_ns[c->last++] = lt_measure_now() + TOOL_MS * 1e6;
  } else if (event->type == LATHE_EVENT_END) {
    c->is_well = is_right(event->status, event->json, event->text, "3") && c->is_well;
    c->running--;
  }
}

/* Until all have ended; where nothing is answered, until all wait. */
static void crowd_go_on(crowd *c) {
  const lathe_event *event;
  while (c->is_held ? c->last < c->running : c->running > 0) {
    double now = lt_measure_now();
    for (; !c->is_held && c->first < c->last && c->due_ns[c->first] <= now; c->first++) {
      lathe_answer(the_host.env, c->calls[c->first], "null", NULL);
    }
    bool is_waiting = !c->is_held && c->first < c->last;
    int timeout_ms = is_waiting ? (int)((c->due_ns[c->first] - now) / 1e6) + 1 : -1;
    if (lathe_next(the_host.env, timeout_ms, &event) == LATHE_OK) {
      crowd_take(c, event);
      lathe_event_free(event);
    }
  }
}

static bool run_burst(int count) {
  static crowd c;
  c.is_held = false;
  double start = lt_measure_now();
  crowd_start(&c, count);
  crowd_go_on(&c);
  lt_measure_add(&the_host.figures, lt_measure_now() - start);
  return c.is_well;
}

static double private_bytes(void) {
  return (double)(lt_memory_kib(getpid(), "Private") + lt_memory_kib(getpid(), "Swap:")) * (double)LT_KIB;
}

static bool run_live(int count) {
  static crowd c;
  c.is_held = false;
  crowd_start(&c, 1);
  crowd_go_on(&c);
  double before = private_bytes();
  c.is_held = true;
  crowd_start(&c, count);
  crowd_go_on(&c);
  lt_measure_add(&the_host.figures, (private_bytes() - before) / count);
  sleep(SETTLE_S);
  lt_measure_add(&the_host.figures, (private_bytes() - before) / count);
  c.is_well = c.is_well && c.last == count;
  c.is_held = false;
  crowd_go_on(&c);
  return c.is_well;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void answer(char *line) {
  char *rest = line, *words[4];
  for (int i = 0; i < 4; i++) {
    char *word = strsep(&rest, " \n");
    words[i] = word != NULL ? word : "";
  }
  int count = atoi(words[1]);
  the_host.why[0] = '\0';
  if (strcmp(words[0], "name") == 0) {
    printf("ok lathe %s\n", lathe_version());
    return;
  }
  bool is_well = strcmp(words[0], "burst") == 0  ? run_burst(count)
                 : strcmp(words[0], "live") == 0 ? run_live(count)
                                                 : run_task(words[0], count, words[2], words[3]);
  if (is_well) {
    printf("ok");
    for (size_t i = 0; i < the_host.figures.count; i++) {
      printf(" %.0f", the_host.figures.at[i]);
    }
    printf("\n");
  } else {
    printf("no %s\n", the_host.why[0] != '\0' ? the_host.why : "a program could not be started");
  }
  lt_measure_release(&the_host.figures);
}

int main(void) {
  static const char *const tools[] = {"add", "load", "slow"};
  lathe_error error = {.size = sizeof error};
  char line[LINE_BYTES];
  bool is_open = lathe_open(NULL, &the_host.env, &error) == LATHE_OK;
  for (size_t i = 0; i < sizeof tools / sizeof tools[0] && is_open; i++) {
    const lathe_tool_options tool = {.size = sizeof tool, .name = tools[i]};
    is_open = lathe_add_tool(the_host.env, &tool, &error) == LATHE_OK;
  }
  if (!is_open) {
    fprintf(stderr, "lt_bench_host: %s\n", error.message);
    return EXIT_FAILURE;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    answer(line);
    fflush(stdout);
  }
  lathe_close(the_host.env);
  free(the_host.loaded);
  return 0;
}
