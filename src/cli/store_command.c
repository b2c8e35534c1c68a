/* lathe store: what the database has, and trimming it. */
#include <string.h>

#include "app/retention.h"
#include "base/limits.h"
#include "cli/commands.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "types/typegen_text.h"

typedef struct store_options {
  const char *action;
  const char *older_than;
  const char *kind;
  bool dry_run;
  bool json;
  lt_config_sources sources;
} store_options;

typedef struct store_command {
  const store_options *options;
  lt_store_session *session;
  lt_store_ages ages; /* of the configuration, or of the options */
} store_command;

static const lt_option store_option_rows[] = {
    {"--older-than", NULL, "AGE", "trim: remove what is older, as in 30d (default: store.retention)",
     LT_OPTION_IS_TEXT(store_options, older_than)},
    {"--kind", NULL, "KIND", "trim: only conversations, calls or artifacts", LT_OPTION_IS_TEXT(store_options, kind)},
    {"--dry-run", NULL, NULL, "trim: say what would be removed, and remove nothing",
     LT_OPTION_IS_FLAG(store_options, dry_run)},
    {"--json", NULL, NULL, "the same as JSON", LT_OPTION_IS_FLAG(store_options, json)},
    LT_OPTION_CONFIG(store_options, sources),
};

/* --- Options ------------------------------------------------------------------------------------------------------ */
#define store_refuse(...) lt_store_session_refuse("store", __VA_ARGS__)

/* Takes the ages of the chosen kinds; the others are kept. */
static void store_choose_kinds(store_command *s, const lt_store_ages *ages) {
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    bool is_chosen = s->options->kind == NULL || strcmp(s->options->kind, lt_store_kind_name(kind)) == 0;
    s->ages.days[kind] = is_chosen ? ages->days[kind] : -1;
  }
}

static bool store_is_kind(const char *name) {
  lt_store_kind kind = 0;
  while (kind < LT_STORE_KINDS && strcmp(name, lt_store_kind_name(kind)) != 0) {
    kind++;
  }
  return kind < LT_STORE_KINDS;
}

static bool store_is_any_kind_trimmed(const store_command *s) {
  bool any = false;
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    any = any || s->ages.days[kind] >= 0;
  }
  return any;
}

/* LT_EXIT_OK: the options are right. Otherwise the reason has been printed. */
static int store_choose_ages(store_command *s) {
  const store_options *o = s->options;
  int64_t days = -1;
  if (o->older_than != NULL && (!lt_config_age(o->older_than, &days) || days < 0)) {
    return store_refuse("\"%s\" is no age: write 30d, a number of days from 1", o->older_than);
  }
  if (o->kind != NULL && !store_is_kind(o->kind)) {
    return store_refuse("there is no kind \"%s\": say conversations, calls or artifacts", o->kind);
  }
  lt_store_ages all = {.days = {days, days, days}};
  store_choose_kinds(s, &all);
  return LT_EXIT_OK;
}

/* --- What there is ------------------------------------------------------------------------------------------------ */
static void store_put_size(lt_buf *out, uint64_t bytes) {
  if (bytes < LT_MIB) {
    lt_buf_printf(out, "%.1f KiB", (double)bytes / LT_KIB);
  } else {
    lt_buf_printf(out, "%.1f MiB", (double)bytes / LT_MIB);
  }
}

static uint64_t store_number(lt_json json, const char *key) {
  int64_t n = 0;
  (void)lt_json_int(lt_json_get(json, key), &n);
  return (uint64_t)n;
}

static void store_put_kind(const store_command *s, lt_store_kind kind, lt_json row, lt_arena *arena, lt_buf *out) {
  LT_AUTO_BUF(size, LT_KIB);
  lt_str oldest = LT_STR("");
  int64_t days = s->ages.days[kind];
  if (lt_json_exists(lt_json_get(row, "bytes"))) {
    store_put_size(&size, store_number(row, "bytes"));
  }
  (void)lt_json_str(lt_json_get(row, "oldest"), arena, &oldest);
  lt_buf_printf(out, "%-14s%9llu%12.*s", lt_store_kind_name(kind), (unsigned long long)store_number(row, "count"),
                LT_STR_ARG(lt_buf_view(&size)));
  lt_buf_printf(out, "  %-16.*s", LT_STR_ARG(lt_str_sub(oldest, 0, 10)));
  if (days < 0) {
    lt_buf_addc(out, "kept for ever\n");
  } else {
    lt_buf_printf(out, "kept for %lld days\n", (long long)days);
  }
}

static void store_put_report(const store_command *s, lt_json report, lt_arena *arena, lt_buf *out) {
  lt_str path = LT_STR("");
  (void)lt_json_str(lt_json_get(report, "path"), arena, &path);
  lt_typegen_put_line(out, path, LT_PROC_PATH_MAX_BYTES);
  lt_buf_addc(out, ": ");
  store_put_size(out, store_number(report, "bytes"));
  lt_buf_addc(out, ", ");
  store_put_size(out, store_number(report, "freeBytes"));
  lt_buf_addc(out, lt_json_bool(lt_json_get(report, "readOnly"), false) ? " of it free; it can only be read\n"
                                                                        : " of it free\n");
  lt_buf_printf(out, "%-14s%9s%12s  %-16s\n", "", "number", "size", "oldest");
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    store_put_kind(s, kind, lt_json_at(lt_json_get(report, "kinds"), kind), arena, out);
  }
}

static lt_status store_show(const store_command *s, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_MIB);
  LT_AUTO_BUF(text, LT_MIB);
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_TRY(lt_store_report(s->session->db, &json, err));
  if (s->options->json) {
    return lt_console_report(&s->session->console, &json);
  }
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  store_put_report(s, lt_json_root(&doc), &arena, &text);
  return lt_console_report(&s->session->console, &text);
}

/* --- Trimming ----------------------------------------------------------------------------------------------------- */
/* The size of the file and of what is free in it. */
static lt_status store_measure(const store_command *s, uint64_t *ret_bytes, uint64_t *ret_free, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_MIB);
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_TRY(lt_store_report(s->session->db, &json, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  *ret_bytes = store_number(lt_json_root(&doc), "bytes");
  *ret_free = store_number(lt_json_root(&doc), "freeBytes");
  return LT_OK;
}

static lt_status store_trim_all(const store_command *s, lt_store_trimmed *all, lt_err *err) LT_YIELDS {
  lt_store_trimmed part;
  *all = (lt_store_trimmed){.rows = 0};
  do {
    LT_TRY(lt_store_trim(s->session->db, &s->ages, LT_TRIM_ROWS, true, &part, err));
    for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
      all->removed[kind] += part.removed[kind];
    }
    all->artifact_bytes += part.artifact_bytes;
    all->rows += part.rows;
  } while (part.rows > 0);
  return LT_OK;
}

static void store_put_removed(const store_command *s, const lt_store_trimmed *all, lt_buf *out) {
  if (all->rows == 0) {
    lt_buf_addc(out, "nothing is old enough to be removed\n");
    return;
  }
  lt_buf_addc(out, s->options->dry_run ? "would remove " : "removed ");
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    lt_buf_printf(out, "%s%llu %s", kind > 0 ? ", " : "", (unsigned long long)all->removed[kind],
                  lt_store_kind_name(kind));
  }
  lt_buf_addc(out, " (");
  store_put_size(out, all->artifact_bytes);
  lt_buf_addc(out, ")\n");
}

static void store_put_removed_json(const lt_store_trimmed *all, uint64_t before, uint64_t after, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    lt_json_key(&w, lt_store_kind_name(kind));
    lt_json_put_int(&w, (int64_t)all->removed[kind]);
  }
  lt_json_key(&w, "artifactBytes");
  lt_json_put_int(&w, (int64_t)all->artifact_bytes);
  lt_json_key(&w, "bytesBefore");
  lt_json_put_int(&w, (int64_t)before);
  lt_json_key(&w, "bytes");
  lt_json_put_int(&w, (int64_t)after);
  lt_json_end_object(&w);
}

/* What was removed stays removed when the file cannot be rewritten. */
static void store_give_back(store_command *s, uint64_t before, uint64_t *ret_after, lt_buf *out) LT_YIELDS {
  LT_ERR_VAR(err);
  uint64_t left = 0;
  *ret_after = before;
  if (lt_store_compact(s->session->db, &err) != LT_OK || store_measure(s, ret_after, &left, &err) != LT_OK) {
    LT_AUTO_BUF(line, 2 * LT_ERR_MSG_MAX);
    lt_buf_printf(&line, "the file keeps its size, and its free room is used again: %s", lt_err_msg(&err));
    lt_console_warning(&s->session->console, lt_buf_view(&line));
    return;
  }
  lt_buf_addc(out, "the file was rewritten (VACUUM): ");
  store_put_size(out, before);
  lt_buf_addc(out, " before, ");
  store_put_size(out, *ret_after);
  lt_buf_addc(out, " now\n");
}

static lt_status store_trim(store_command *s, lt_err *err) LT_YIELDS {
  lt_store_trimmed all;
  uint64_t before = 0, unused = 0, after;
  LT_AUTO_BUF(text, LT_MIB);
  LT_AUTO_BUF(json, LT_MIB);
  LT_TRY(store_measure(s, &before, &unused, err));
  LT_TRY(s->options->dry_run ? lt_store_trim_count(s->session->db, &s->ages, &all, err) : store_trim_all(s, &all, err));
  after = before;
  store_put_removed(s, &all, &text);
  if (!s->options->dry_run && (all.rows > 0 || unused > 0)) {
    store_give_back(s, before, &after, &text);
  }
  store_put_removed_json(&all, before, after, &json);
  return lt_console_report(&s->session->console, s->options->json ? &json : &text);
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status store_work(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS {
  store_command *s = arg;
  s->session = session;
  if (s->options->older_than == NULL) {
    lt_store_ages ages = lt_retention_of(&session->config);
    store_choose_kinds(s, &ages);
  }
  if (s->options->action == NULL) {
    return store_show(s, err);
  }
  return store_is_any_kind_trimmed(s) ? store_trim(s, err)
                                      : lt_fail(err, LT_E_INVALID,
                                                "nothing says how old: --older-than 30d, or store.retention in the "
                                                "configuration; see lathe store --help");
}

static int store_run(void *options) {
  store_command s = {.options = options};
  const char *action = s.options->action;
  if (action != NULL && strcmp(action, "trim") != 0) {
    return store_refuse("there is nothing called \"%s\" to do: say trim, or nothing", action);
  }
  if (action == NULL && (s.options->older_than != NULL || s.options->kind != NULL || s.options->dry_run)) {
    return store_refuse("--older-than, --kind and --dry-run belong to trim");
  }
  int code = store_choose_ages(&s);
  return code == LT_EXIT_OK ? lt_store_session_run("store", &s.options->sources, store_work, &s) : code;
}

const lt_command lt_store_command = {
    .name = "store",
    .summary = "What the database has, and removing what is old",
    .about = "Say what the database has: its size, how much of each kind, the oldest, and how long it is kept.\n",
    .synopsis = "[trim] [options]",
    .operand = {"trim", "remove what is old, and make the file smaller", "say trim, or nothing", false,
                LT_OPERAND_IS(store_options, action)},
    .options = store_option_rows,
    .option_count = sizeof store_option_rows / sizeof store_option_rows[0],
    .options_size = sizeof(store_options),
    .notes =
        "What belongs to a prompt that has not ended is never removed. The configuration says with store.retention\n"
        "how long each kind is kept; commands then remove a little of what is older when they end.\n"
        "A file that can only be read is shown, too.\n"
        "\n"
        "  lathe store trim --older-than 90d --kind artifacts --dry-run\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = store_run,
};
