/* What the agent costs beyond the model and the tools: a round of code mode, a long conversation until the model is
 * asked, and a thousand conversations at once. Everything is stored in a file on a disk, as for users. */
#include "agent/agent.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/measure.h"
#include "bench/rig.h"
#include "store/sqlite/db.h"

enum { TOOLS = 30, WARM_UP = 3, PROMPTS = 40, ROUNDS = 10, ASKED = 500, AT_ONCE = 1000, CROWDS = 5, MODEL_MS = 200 };
enum { EARLIER = 1000, CONTINUED = 30, FLUSHES = 400 };

/* What the model says, as it stands in JSON. */
#define NEVER_DONE   "const found = benchEcho({path: \\\"src\\\", limit: 20});\\nfound.path"
#define ONLY_READS   "const found = benchPeek({path: \\\"src\\\", limit: 20});\\nfound.path"
#define DONE_AT_ONCE "const found = benchEcho({path: \\\"src\\\", limit: 20});\\noutput(found.path);\\ndone();"

static const char question[] = "[{\"role\":\"user\",\"content\":\"What is in src?\"}]";

/* --- An agent ----------------------------------------------------------------------------------------------------- */
typedef struct desk {
  lt_rig *rig;
  lt_crowd_model model;
  lt_http *http;
  lt_store *db;
  lt_journal *journal;
  lt_host *host;
  lt_agent *agent;
  lt_model models[1];
  const char *mode;
  size_t failed;
  size_t left; /* at once */
  lt_wait done;
  const char *messages; /* of bare completions */
  char folder[32];
  char url[64];
} desk;

static lt_runner *runner_of(void *arg, lt_lang lang, lt_err *err) {
  desk *d = arg;
  (void)lang;
  (void)err;
  return lt_quickjs_runner(d->rig->runner);
}

static void on_line(void *arg, bool warning, lt_str line) {
  (void)arg;
  if (warning) {
    fprintf(stderr, "bench: %.*s\n", LT_STR_ARG(line));
  }
}

static void on_event(void *arg, lt_str user, const char *event, lt_str data) {
  desk *d = arg;
  (void)user;
  if (strcmp(event, "prompt.error") == 0 && d->failed++ == 0) {
    fprintf(stderr, "bench: %.*s\n", LT_STR_ARG(data));
  }
}

static void open_agent(desk *d) {
  const lt_host_options host = {
      .loop = d->rig->loop, .door = d->rig->door, .db = d->db, .runner = runner_of, .on_line = on_line, .arg = d};
  LT_CHECK(lt_host_new(&host, &d->host, NULL) == LT_OK);
  lt_host_ready(d->host);
  snprintf(d->url, sizeof d->url, "http://127.0.0.1:%d/v1", d->model.port);
  d->models[0] = (lt_model){.ref = LT_STR("normal"), .name = LT_STR("fake-model"), .base_url = lt_str_of(d->url)};
  static const lt_mode_rounds rounds = {{"code", 4}, ROUNDS};
  const lt_agent_options options = {.loop = d->rig->loop,
                                    .door = d->rig->door,
                                    .db = d->db,
                                    .http = d->http,
                                    .host = d->host,
                                    .journal = d->journal,
                                    .models = d->models,
                                    .model_count = 1,
                                    .runner = runner_of,
                                    .runner_arg = d,
                                    .on_event = on_event,
                                    .rounds = &rounds,
                                    .rounds_count = 1,
                                    .arg = d};
  LT_CHECK(lt_agent_new(&options, &d->agent, NULL) == LT_OK);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  return remove(path);
}

/* Calls `body` with an agent whose model says `text` after `answer_ms`; LT_YIELDS. */
static void with_agent(lt_rig *rig, const char *text, uint64_t answer_ms, void (*body)(desk *d)) {
  desk d = {.rig = rig,
            .mode = "code",
            .messages = question,
            .folder = "/var/tmp/lathe-bench-XXXXXX"}; /* where /tmp may be memory */
  char path[64];
  if (mkdtemp(d.folder) == NULL || !lt_crowd_model_start(&d.model, answer_ms, text)) {
    lt_measure_skip("the agent", "no folder could be made in /var/tmp, or no model started");
    return;
  }
  snprintf(path, sizeof path, "%s/lathe.db", d.folder);
  LT_CHECK(lt_store_new(rig->loop, path, &d.db, NULL) == LT_OK);
  LT_CHECK(lt_http_new(rig->loop, &d.http, NULL) == LT_OK);
  d.journal = lt_store_journal_new(d.db);
  LT_CHECK(d.journal != NULL);
  open_agent(&d);
  body(&d);
  lt_agent_free(d.agent);
  lt_host_free(d.host);
  lt_store_journal_free(d.journal);
  lt_http_free(d.http);
  lt_store_close(d.db);
  lt_crowd_model_stop(&d.model);
  nftw(d.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* From the start of a prompt to its end. LT_YIELDS. */
static double prompt(desk *d, const char *conversation) {
  const lt_prompt_request request = {.user = LT_STR("local"),
                                     .conversation = lt_str_of(conversation),
                                     .input = LT_STR("What is in src?"),
                                     .mode = lt_str_of(d->mode)};
  lt_prompt_ids ids;
  lt_err err = LT_ERR_INIT;
  double since = lt_measure_now();
  if (lt_agent_start(d->agent, &request, &ids, &err) != LT_OK ||
      lt_agent_wait(d->agent, lt_str_of(ids.prompt), NULL, &err) != LT_OK) {
    if (d->failed++ == 0) {
      fprintf(stderr, "bench: %s\n", lt_err_msg(&err));
    }
  }
  return lt_measure_now() - since;
}

static bool all_well(const desk *d, const char *what) {
  if (d->failed > 0) {
    lt_measure_skip(what, "%zu prompts failed", d->failed);
  }
  return d->failed == 0;
}

/* --- A round ------------------------------------------------------------------------------------------------------ */
static void complete(desk *d) {
  lt_completion_request request = {.model = &d->models[0], .messages = lt_str_of(d->messages)};
  lt_completion completion;
  lt_completion_init(&completion);
  d->failed += lt_model_complete(d->http, &request, &completion, NULL) == LT_OK ? 0 : 1;
  lt_completion_release(&completion);
}

static void measure_bare(desk *d, lt_measure *bare) {
  for (int i = 0; i < ASKED; i++) {
    double since = lt_measure_now();
    complete(d);
    lt_measure_add(bare, lt_measure_now() - since);
  }
}

/* What the disk takes for a line more in a file, as before each call that must not be made twice. */
static void measure_flush(const desk *d) {
  static const char page[4096] = {'x'};
  char path[64];
  lt_measure flush;
  lt_measure_init(&flush);
  snprintf(path, sizeof path, "%s/flush", d->folder);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  for (int i = 0; fd >= 0 && i < FLUSHES; i++) {
    double since = lt_measure_now();
    if (pwrite(fd, page, sizeof page, i % 100 * (off_t)sizeof page) != sizeof page || fdatasync(fd) != 0) {
      break;
    }
    if (i >= 100) { /* the file has its size */
      lt_measure_add(&flush, lt_measure_now() - since);
    }
  }
  close(fd);
  lt_measure_print_ns("  of which the disk: a bare write of a page, flushed", &flush, 0);
}

static void measure_rounds(desk *d, const char *what, bool flushes) {
  lt_measure bare, whole, ours;
  lt_measure_init(&bare);
  lt_measure_init(&whole);
  lt_measure_init(&ours);
  for (int i = 0; i < WARM_UP; i++) {
    prompt(d, "");
  }
  measure_bare(d, &bare);
  double completion = lt_measure_median(&bare);
  uint64_t asked = d->model.seen->count;
  uint64_t commits = lt_db_commits(d->db);
  for (int i = 0; i < PROMPTS; i++) {
    double ns = prompt(d, "") / ROUNDS;
    lt_measure_add(&whole, ns);
    lt_measure_add(&ours, ns - completion);
  }
  uint64_t rounds = d->model.seen->count - asked;
  if (!all_well(d, what)) {
    return;
  }
  LT_CHECK(rounds == (uint64_t)PROMPTS * ROUNDS);
  lt_measure_print_ns(what, &ours, 0.5e6);
  if (flushes) {
    measure_flush(d);
  }
  lt_measure_print_ns("  the whole round, with a model that takes no time", &whole, 0);
  lt_measure_print_ns("  of which a bare completion", &bare, 0);
  lt_measure_print_one("  transactions in a round", LT_MEASURE_COUNT,
                       (double)(lt_db_commits(d->db) - commits) / (double)rounds, 0);
}

static void measure_acting(desk *d) {
  measure_rounds(d, "a round of code mode beyond the model, a program with one call", true);
}

static void measure_reading(desk *d) {
  measure_rounds(d, "... with a call that only reads", false);
}

/* --- A long conversation ------------------------------------------------------------------------------------------ */
#define OUTPUT                                                                                                       \
  "{\"type\":\"tool\",\"id\":\"x\",\"function\":\"code.execute\",\"input\":{\"code\":\"const found = "               \
  "benchEcho({path: "                                                                                                \
  "\\\"src\\\", limit: 20});\\nfor (const entry of found.entries ?? []) {\\n  console.log(entry.name, "              \
  "entry.size);\\n}"                                                                                                 \
  "\\noutput(found.path);\\ndone();\"},\"result\":{\"type\":\"success\",\"output\":{\"path\":\"src\",\"limit\":20}," \
  "\"logs\":\"base 31\\ncodec 58\\nsandbox 22\\nio 33\"},\"start\":\"2026-01-31T12:00:00.000Z\",\"end\":"            \
  "\"2026-01-31T12:00:00.010Z\"}"
#define TEXT_OUTPUT                                                                                      \
  "{\"type\":\"text\",\"id\":\"t\",\"content\":\"There are base, codec, sandbox and io, the largest of " \
  "which is codec with 58 files.\",\"start\":\"2026-01-31T12:00:00.000Z\"}"

static void store_prompt(desk *d, const char *conversation) {
  char id[LT_STORE_ID_BYTES + 1];
  LT_CHECK(lt_store_new_prompt_id(id, NULL) == LT_OK);
  const lt_prompt_row row = {.id = lt_str_of(id),
                             .user = LT_STR("local"),
                             .conversation = lt_str_of(conversation),
                             .model = LT_STR("normal"),
                             .mode = LT_STR("code"),
                             .input = LT_STR("Which folders are in src, and which of them is the largest?"),
                             .visible = true};
  LT_CHECK(lt_store_prompt_create(d->db, &row, NULL) == LT_OK);
  LT_CHECK(lt_store_prompt_put_output(d->db, row.id, 0, LT_STR(OUTPUT), NULL) == LT_OK);
  LT_CHECK(lt_store_prompt_put_output(d->db, row.id, 1, LT_STR(TEXT_OUTPUT), NULL) == LT_OK);
  LT_CHECK(lt_store_prompt_set_state(d->db, row.id, LT_PROMPT_COMPLETED, LT_STR_NULL, LT_STR_NULL, NULL) == LT_OK);
}

static void measure_conversation(desk *d) {
  static const char what[] = "1,000 prompts continued, until the model is asked";
  lt_measure asked;
  char conversation[LT_STORE_ID_BYTES + 1];
  lt_measure_init(&asked);
  LT_CHECK(lt_store_new_id(conversation, NULL) == LT_OK);
  for (int i = 0; i < EARLIER; i++) {
    store_prompt(d, conversation);
  }
  for (int i = 0; i < CONTINUED + WARM_UP; i++) {
    double since = lt_measure_now();
    prompt(d, conversation);
    if (i >= WARM_UP) {
      lt_measure_add(&asked, d->model.seen->last_at - since); /* it is asked once */
    }
  }
  if (all_well(d, what)) {
    lt_measure_print_ns(what, &asked, 10e6);
  }
}

/* --- At once ------------------------------------------------------------------------------------------------------ */
static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void converse(void *arg) {
  desk *d = arg;
  prompt(d, "");
  if (--d->left == 0) {
    lt_wait_wake(&d->done, LT_OK);
  }
}

/* Without the agent. */
static void only_ask(void *arg) {
  desk *d = arg;
  complete(d);
  if (--d->left == 0) {
    lt_wait_wake(&d->done, LT_OK);
  }
}

static void at_once(desk *d, lt_fiber_fn fn, size_t count) {
  lt_wait_init(&d->done, d->rig->loop);
  d->left = count;
  for (size_t i = 0; i < count; i++) {
    LT_CHECK(lt_loop_spawn(d->rig->loop, fn, d, NULL) == LT_OK);
  }
  while (d->left > 0) {
    lt_wait_on(&d->done, UINT64_MAX);
  }
}

/* Requests of the same size, to the same model, which shares the processors with us. */
static void measure_bare_crowd(desk *d) {
  char messages[65536];
  lt_measure crowd, cpu, theirs;
  lt_measure_init(&crowd);
  lt_measure_init(&cpu);
  lt_measure_init(&theirs);
  size_t room = d->model.seen->bytes < sizeof messages ? (size_t)d->model.seen->bytes : sizeof messages - 1;
  snprintf(messages, sizeof messages, "[{\"role\":\"user\",\"content\":\"%0*d\"}]", (int)(room > 160 ? room - 160 : 1),
           0);
  d->messages = messages;
  for (int i = 0; i < CROWDS; i++) {
    double since = lt_measure_now(), cpu_since = cpu_now(), theirs_since = lt_crowd_model_cpu(&d->model);
    at_once(d, only_ask, AT_ONCE);
    lt_measure_add(&crowd, lt_measure_now() - since);
    lt_measure_add(&cpu, cpu_now() - cpu_since);
    lt_measure_add(&theirs, lt_crowd_model_cpu(&d->model) - theirs_since);
  }
  d->messages = question;
  lt_measure_print_ns("  the same requests without the agent", &crowd, 0);
  lt_measure_print_ns("    our processor time for them", &cpu, 0);
  lt_measure_print_ns("    the model's", &theirs, 0);
}

static void measure_at_once(desk *d, const char *mode, const char *what) {
  lt_measure crowd, cpu;
  lt_measure_init(&crowd);
  lt_measure_init(&cpu);
  d->mode = mode;
  at_once(d, converse, AT_ONCE); /* start-up: threads, boxes, connections, the file */
  uint64_t commits = lt_db_commits(d->db);
  for (int i = 0; i < CROWDS; i++) {
    double since = lt_measure_now();
    double cpu_since = cpu_now();
    at_once(d, converse, AT_ONCE);
    lt_measure_add(&crowd, lt_measure_now() - since);
    lt_measure_add(&cpu, cpu_now() - cpu_since);
  }
  if (!all_well(d, what)) {
    return;
  }
  lt_measure_print_ns(what, &crowd, 300e6);
  lt_measure_print_ns("  of which our own processor time", &cpu, 0);
  lt_measure_print_one("  transactions", LT_MEASURE_COUNT, (double)(lt_db_commits(d->db) - commits) / CROWDS, 0);
  measure_bare_crowd(d);
}

static void measure_crowd(desk *d) {
  measure_at_once(d, "code", "1,000 conversations at once, 200 ms a model: code mode");
  measure_at_once(d, "classic", "... classic mode, which answers with a text");
}

/* A connection each, at both ends. */
static void allow_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  with_agent(rig, NEVER_DONE, 0, measure_acting);
  with_agent(rig, ONLY_READS, 0, measure_reading);
  with_agent(rig, DONE_AT_ONCE, 0, measure_conversation);
  with_agent(rig, DONE_AT_ONCE, MODEL_MS, measure_crowd);
}

void lt_bench_agent(void) {
  allow_files();
  lt_rig_run(TOOLS, measure, NULL);
}
