/* lathe programs: lists saved programs, shows one, or deletes one. */
#include <string.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "store/store_programs.h"
#include "types/typegen_text.h"

typedef struct programs_options {
  const char *action;
  const char *name;
  const char *user;
  int64_t version; /* 0: the latest */
  bool json;
  lt_config_sources sources;
} programs_options;

static const lt_option programs_option_rows[] = {
    {"--version", NULL, "N", "with show: that version instead of the latest",
     LT_OPTION_IS_NUMBER(programs_options, version, 0, 1, INT64_MAX)},
    {"--user", NULL, "NAME", "the programs of that user of lathe serve alone (default: everybody's)",
     LT_OPTION_IS_TEXT(programs_options, user)},
    {"--json", NULL, NULL, "as JSON, with everything that is known of it", LT_OPTION_IS_FLAG(programs_options, json)},
    LT_OPTION_CONFIG(programs_options, sources),
    LT_OPTION_STORE(programs_options, sources),
};

static lt_str programs_user(const programs_options *o) {
  return o->user != NULL ? lt_str_of(o->user) : LT_STR(LT_SAVED_FOR_ALL);
}

static lt_str programs_text(lt_json json, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(json, key), arena, &text);
  return text;
}

static int64_t programs_version(lt_json program) {
  int64_t version = 0;
  (void)lt_json_int(lt_json_get(program, "version"), &version);
  return version;
}

/* --- List --------------------------------------------------------------------------------------------------------- */
static void programs_put_line(lt_json program, lt_arena *arena, lt_buf *out) {
  lt_str description = programs_text(program, "description", arena);
  lt_buf_printf(out, "%.*s  %lld  ", LT_STR_ARG(programs_text(program, "name", arena)),
                (long long)programs_version(program));
  lt_typegen_put_line(out, lt_str_sub(programs_text(program, "savedAt", arena), 0, 10), 10);
  lt_buf_addc(out, "  ");
  lt_buf_add(out, programs_text(program, "language", arena));
  lt_buf_addc(out, description.n > 0 ? "  " : "");
  lt_typegen_put_line(out, lt_str_sub(description, 0, lt_str_find(description, LT_STR("\n"), 0)), 100);
  lt_buf_byte(out, '\n');
}

static lt_status programs_list(lt_store_session *s, const programs_options *o, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_programs_list(s->db, programs_user(o), lt_str_of(o->name), true, &json, err));
  if (o->json) {
    return lt_console_report(&s->console, &json);
  }
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    programs_put_line(it.value, &arena, &text);
  }
  return lt_console_report(&s->console, &text);
}

/* --- Show --------------------------------------------------------------------------------------------------------- */
/* The program's text, so that `lathe programs show NAME > FILE` gives the file back. */
static lt_status programs_show(lt_store_session *s, const programs_options *o, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_programs_list(s->db, programs_user(o), lt_str_of(o->name), true, &json, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    if (o->version == 0 || o->version == programs_version(it.value)) {
      lt_console_output(&s->console, o->json ? lt_json_text(it.value) : programs_text(it.value, "code", &arena));
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_NOTFOUND, "there is no %sprogram \"%s\": lathe programs list%s%s",
                 o->version > 0 ? "such version of the " : "", o->name, o->version > 0 ? " " : "",
                 o->version > 0 ? o->name : "");
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status programs_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const programs_options *o = arg;
  if (o->action != NULL && strcmp(o->action, "show") == 0) {
    return programs_show(s, o, err);
  }
  if (o->action != NULL && strcmp(o->action, "delete") == 0) {
    return lt_store_program_delete(s->db, programs_user(o), lt_str_of(o->name), err);
  }
  return programs_list(s, o, err);
}

static int saved_programs_run(void *options) {
  const programs_options *o = options;
  bool shows = o->action != NULL && strcmp(o->action, "show") == 0;
  bool deletes = o->action != NULL && strcmp(o->action, "delete") == 0;
  if (o->action != NULL && !shows && !deletes && strcmp(o->action, "list") != 0) {
    return lt_store_session_refuse("programs", "say list, show NAME or delete NAME");
  }
  if ((shows || deletes) && o->name == NULL) {
    return lt_store_session_refuse("programs", "%s wants a program's name", o->action);
  }
  if (o->version > 0 && !shows) {
    return lt_store_session_refuse("programs", "--version goes with show");
  }
  return lt_store_session_run("programs", &o->sources, programs_work, options);
}

const lt_command lt_programs_command = {
    .name = "programs",
    .summary = "List saved programs, show or delete one",
    .about = "List saved programs (lathe save), write one to standard output, or delete one.\n",
    .synopsis = "[list [NAME] | show NAME | delete NAME] [options]",
    .operand = {"list|show|delete",
                "list: name, version, day, language, description; with NAME all versions of that one",
                "say list, show NAME or delete NAME", false, LT_OPERAND_IS(programs_options, action)},
    .second = {"NAME", "of a program", "", false, LT_OPERAND_IS(programs_options, name)},
    .options = programs_option_rows,
    .option_count = sizeof programs_option_rows / sizeof programs_option_rows[0],
    .options_size = sizeof(programs_options),
    .notes =
        "An older version is brought back by saving it again:\n"
        "\n"
        "  lathe programs show report --version 2 > report.js && lathe save report report.js\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = saved_programs_run,
};
