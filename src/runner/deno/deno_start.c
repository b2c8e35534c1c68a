/* Starts the two processes behind their walls (jail/jail.h). Deno may only use its folder and the bridge; the compiler
 * may only read its own library and the run's folder. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "jail/jail.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_start.h"
#include "runner/deno/deno_state.h"
#include "runner/thread_limit.h"

#define ARGS_MAX 64

typedef struct deno_start_plan {
  lt_arena arena;
  const char *args[ARGS_MAX + 1];
  size_t count;
  const char *env[12];
  size_t env_count;
  bool failed;
} deno_start_plan;

static void deno_start_add(deno_start_plan *p, const char *arg) {
  LT_CHECK(p->count < ARGS_MAX);
  p->args[p->count++] = arg;
}

__attribute__((format(printf, 2, 3))) static const char *deno_start_text(deno_start_plan *p, const char *fmt, ...) {
  char line[512];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  LT_CHECK(n >= 0 && (size_t)n < sizeof line);
  lt_str copy = lt_arena_dup(&p->arena, lt_str_from(line, (size_t)n));
  p->failed = p->failed || copy.p == NULL;
  return copy.p != NULL ? copy.p : "";
}

static void deno_start_add_env(deno_start_plan *p, const char *name, const char *value) {
  if (value != NULL && strlen(value) < 200) {
    p->env[p->env_count++] = deno_start_text(p, "%s=%s", name, value);
  }
}

/* --- Walls -------------------------------------------------------------------------------------------------------- */

static lt_status deno_start_check_walls(const lt_deno *deno, lt_jail_profile profile, lt_err *err) {
  lt_jail_walls walls;
  lt_jail_probe(&walls);
  return deno->without_walls ? LT_OK : lt_jail_check(&walls, profile, err);
}

/* More processor time than the clock allows: the clock may stand still while the program computes, and Deno has several
 * threads. */
lt_deno_limits lt_deno_start_limits_of(const lt_run_request *request) {
  return (lt_deno_limits){.memory_bytes = lt_run_request_memory_bytes(request),
                          .cpu_seconds = (unsigned long)(lt_run_request_timeout_ms(request) / 1000 + 1) * 4 + 10};
}

static void deno_start_add_jail(deno_start_plan *p, const lt_deno *deno, const lt_deno_instance *instance,
                                const char *profile) {
  deno_start_add(p, deno->helper);
  deno_start_add(p, LT_JAIL_WORD);
  deno_start_add(p, deno_start_text(p, "--parent=%d", (int)getpid()));
  deno_start_add(p, deno_start_text(p, "--profile=%s", profile));
  deno_start_add(p, deno_start_text(p, "--uid=%d", LT_JAIL_UID));
  deno_start_add(p, deno_start_text(p, "--gid=%d", LT_JAIL_UID));
  lt_jail_walls walls;
  lt_jail_probe(&walls);
  deno_start_add(p, deno_start_text(p, "--landlock-abi=%d", walls.landlock_abi));
  deno_start_add(p, deno_start_text(p, "--cpu-seconds=%lu", instance->limits.cpu_seconds));
  deno_start_add(p, deno_start_text(p, "--file-size=%lu", LT_DENO_FILE_BYTES));
  deno_start_add(p, "--open-files=1024");
  deno_start_add(p, deno_start_text(p, "--processes=%lu", (unsigned long)lt_thread_limit()));
  if (deno->without_walls) {
    deno_start_add(p, "--best-effort");
  }
}

static lt_status deno_start_open_process(const lt_deno *deno, const lt_deno_instance *instance, deno_start_plan *p,
                                         size_t line_max, lt_process **ret, lt_err *err) {
  deno_start_add_env(p, "TZ", deno->time_zone != NULL ? deno->time_zone : "UTC");
  if (p->failed) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  lt_process_options options = {
      .file = deno->helper, .argv = p->args, .env = p->env, .cwd = instance->folder, .line_max = line_max};
  return lt_process_open(deno->loop, &options, ret, err);
}

/* --- Deno --------------------------------------------------------------------------------------------------------- */

static void deno_start_allow_bridge(deno_start_plan *p, const lt_deno *deno, const lt_deno_instance *instance) {
  char path[sizeof instance->folder + 16];
  if (instance->transport == LT_DENO_TCP) {
    deno_start_add(p, "--allow-read=.");
    deno_start_add(p, deno_start_text(p, "--allow-net=127.0.0.1:%u", instance->port));
    return;
  }
  lt_deno_folder_bridge_path(deno, instance, path, sizeof path);
  deno_start_add(p, deno_start_text(p, "--allow-read=.,%s", path));
  deno_start_add(p, deno_start_text(p, "--allow-write=%s", path));
  if (instance->transport == LT_DENO_UNIX) {
    deno_start_add(p, deno_start_text(p, "--allow-net=unix:%s", path));
  }
}

/* No remote imports, no imports from npm, no configuration, no lock file, no prompts. */
static void deno_start_add_deno(deno_start_plan *p, const lt_deno_instance *instance) {
  static const char *const fixed[] = {"deno",       "run",           "--quiet",        "--no-prompt",
                                      "--no-check", "--no-remote",   "--no-npm",       "--no-config",
                                      "--no-lock",  "--cached-only", "--no-code-cache"};
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
    deno_start_add(p, fixed[i]);
  }
  if (instance->has_modules) {
    deno_start_add(p, "--import-map");
    deno_start_add(p, "imports.json");
  }
  deno_start_add(p, deno_start_text(p, "--v8-flags=--max-old-space-size=%lu",
                                    (unsigned long)(instance->limits.memory_bytes / LT_MIB)));
}

static void deno_start_plan_deno(deno_start_plan *p, const lt_deno *deno, const lt_deno_instance *instance) {
  deno_start_add_jail(p, deno, instance, instance->transport == LT_DENO_TCP ? "deno-tcp" : "deno");
  if (instance->transport == LT_DENO_TCP) {
    deno_start_add(p, deno_start_text(p, "--connect-port=%u", instance->port));
  } else {
    deno_start_add(p, deno_start_text(p, "--socket=%s/bridge", instance->folder));
  }
  deno_start_add(
      p, deno_start_text(p, "--data=%lu", (unsigned long)(instance->limits.memory_bytes + LT_DENO_SLACK_BYTES)));
  deno_start_add(p, deno_start_text(p, "--write=%s", instance->folder));
  deno_start_add(p, "--");
  deno_start_add(p, deno->exe);
  deno_start_add_deno(p, instance);
  deno_start_allow_bridge(p, deno, instance);
  deno_start_add(p, "lathe.js");
  deno_start_add_env(p, "DENO_DIR", deno_start_text(p, "%s/deno", instance->folder));
  deno_start_add_env(p, "DENO_CACHE_DB_MODE", "in-memory");
  deno_start_add_env(p, "DENO_NO_UPDATE_CHECK", "1");
  deno_start_add_env(p, "NO_COLOR", "1");
  deno_start_add_env(p, "HOME", instance->folder);
}

lt_status lt_deno_start(lt_deno *deno, lt_deno_instance *instance, lt_err *err) {
  LT_TRY(deno_start_check_walls(deno, instance->transport == LT_DENO_TCP ? LT_JAIL_DENO_TCP : LT_JAIL_DENO, err));
  deno_start_plan p = {.count = 0};
  lt_arena_init(&p.arena, LT_MIB);
  deno_start_plan_deno(&p, deno, instance);
  lt_status status = deno_start_open_process(deno, instance, &p, LT_DENO_LINE_MAX_BYTES, &instance->process, err);
  lt_arena_release(&p.arena);
  return status;
}

/* --- The compiler ------------------------------------------------------------------------------------------------- */

static void deno_start_plan_checker(deno_start_plan *p, const lt_deno_run *run) {
  static const char *const fixed[] = {
      "tsc",         "--noEmit",         "--pretty",          "false",
      "--target",    "esnext",           "--module",          "esnext",
      "--lib",       "esnext",           "--moduleDetection", "force",
      "--noResolve", "--skipLibCheck",   "--strict",          "--useUnknownInCatchVariables",
      "false",       "--singleThreaded", "--typeRoots",       "none",
      "lathe.d.ts",  "program.ts"};
  char folder[LT_PROC_PATH_MAX_BYTES];
  snprintf(folder, sizeof folder, "%s", run->deno->tsc);
  deno_start_add_jail(p, run->deno, &run->instance, "python"); /* no sockets at all */
  deno_start_add(p, deno_start_text(p, "--data=%lu", LT_DENO_CHECKER_BYTES));
  deno_start_add(p, deno_start_text(p, "--read=%s", dirname(folder)));
  deno_start_add(p, deno_start_text(p, "--read=%s", run->instance.folder));
  deno_start_add(p, "--");
  deno_start_add(p, run->deno->tsc);
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
    deno_start_add(p, fixed[i]);
  }
  /* The process ends before a collection would pay: without it, it takes a third of the time. */
  deno_start_add_env(p, "GOGC", "off");
  deno_start_add_env(p, "GOMEMLIMIT", "1GiB");
}

lt_status lt_deno_start_checker(lt_deno_run *run, lt_err *err) {
  deno_start_plan p = {.count = 0};
  lt_arena_init(&p.arena, LT_MIB);
  deno_start_plan_checker(&p, run);
  lt_status status =
      deno_start_open_process(run->deno, &run->instance, &p, LT_DENO_FAULTS_MAX_BYTES, &run->checker.process, err);
  lt_arena_release(&p.arena);
  return status;
}
