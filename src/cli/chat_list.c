/* Finds a conversation by its id, and lists all conversations. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/chat.h"
#include "cli/commands.h"
#include "json/json.h"
#include "json/member_text.h"
#include "text/plain.h"
#include "types/typegen_text.h"

#define IDS_SHOWN  4    /* of an ambiguous beginning */
#define LISTED_MAX 1000 /* only the last used conversations are searched and listed */

/* Of a line of the list, in columns: */
#define NAME_COLUMNS 100
#define NAME_LEAST   12
#define ID_SHORT     8
#define WIDE_COLUMNS 120 /* a window has room for whole ids from here on ... */
#define TIME_COLUMNS 64  /* ... and for the time of the day and the number of messages from here on */

/* --- Finding a conversation --------------------------------------------------------------------------------------- */
static lt_status chat_list_fail_several(lt_json all, lt_str wanted, lt_arena *arena, lt_err *err) {
  LT_AUTO_BUF(ids, LT_ERR_MSG_MAX);
  unsigned found = 0;
  for (lt_json_iter it = lt_json_each(all); lt_json_next(&it);) {
    lt_str id;
    if (lt_json_str(lt_json_get(it.value, "id"), arena, &id) && lt_str_starts(id, wanted) && found++ < IDS_SHOWN) {
      lt_buf_addc(&ids, ids.n > 0 ? ", " : "");
      lt_buf_add(&ids, id);
    }
  }
  return lt_fail(err, LT_E_NOTFOUND, "%u conversations begin with \"%.*s\": %.*s%s; say more of the id", found,
                 LT_STR_ARG(lt_str_sub(wanted, 0, LT_STORE_ID_BYTES)), LT_STR_ARG(lt_buf_view(&ids)),
                 found > IDS_SHOWN ? ", ... (lathe chat --list)" : "");
}

static lt_status chat_list_choose(lt_json all, lt_str wanted, lt_arena *arena, lt_str *ret, lt_err *err) {
  bool last = lt_str_eqc(wanted, "last");
  unsigned found = 0;
  lt_json_iter it = lt_json_each(all);
  while (lt_json_next(&it)) {
    lt_str id;
    if (!lt_json_str(lt_json_get(it.value, "id"), arena, &id)) {
      continue;
    }
    if (lt_str_eq(id, wanted) || (last && found == 0)) {
      *ret = id;
      return LT_OK;
    }
    if (lt_str_starts(id, wanted)) {
      *ret = id;
      found++;
    }
  }
  if (found == 1) {
    return LT_OK;
  }
  lt_str shown = lt_str_sub(wanted, 0, 2 * LT_STORE_ID_BYTES);
  return found > 1 ? chat_list_fail_several(all, wanted, arena, err)
         : last    ? lt_fail(err, LT_E_NOTFOUND, "there is no conversation yet: begin one without -c")
                   : lt_fail(err, LT_E_NOTFOUND, "no conversation begins with \"%.*s\"; see lathe chat --list",
                             LT_STR_ARG(shown));
}

lt_status lt_chat_find(lt_store *db, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) {
  lt_json_doc doc;
  lt_str id = LT_STR_NULL;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  lt_status status = wanted.n > 0 ? lt_store_conversation_list(db, LT_CHAT_USER, LISTED_MAX, &list, err)
                                  : lt_fail(err, LT_E_NOTFOUND, "-c wants a conversation's id, or \"last\"");
  if (status == LT_OK) {
    status = lt_json_parse(&arena, lt_buf_view(&list), &doc, err);
  }
  if (status == LT_OK) {
    status = chat_list_choose(lt_json_root(&doc), wanted, &arena, &id, err);
  }
  if (status == LT_OK) {
    snprintf(ret_id, LT_STORE_ID_BYTES + 1, "%.*s", LT_STR_ARG(id));
  }
  return status;
}

/* --- The last prompt ---------------------------------------------------------------------------------------------- */
static lt_str chat_list_text_in(lt_json prompt, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  return lt_json_str(lt_json_get(prompt, key), arena, &text) ? lt_arena_dup(arena, text) : LT_STR("");
}

bool lt_chat_find_last(lt_store *db, lt_str conversation, lt_arena *arena, lt_chat_last *ret_last) {
  lt_json_doc doc;
  LT_AUTO_ARENA(scratch, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  bool found = lt_store_history(db, LT_CHAT_USER, conversation, 1, &text, NULL) == LT_OK &&
               lt_json_parse(&scratch, lt_buf_view(&text), &doc, NULL) == LT_OK;
  if (found) {
    lt_json prompt = lt_json_at(lt_json_root(&doc), 0), state = lt_json_get(prompt, "state");
    *ret_last = (lt_chat_last){
        .id = chat_list_text_in(prompt, "id", arena),
        .mode = chat_list_text_in(prompt, "mode", arena),
        .model = chat_list_text_in(prompt, "model", arena),
        .input = chat_list_text_in(prompt, "input", arena),
        .open = lt_json_str_eq(state, lt_str_of(lt_store_prompt_state_name(LT_PROMPT_RUNNING))) ||
                lt_json_str_eq(state, lt_str_of(lt_store_prompt_state_name(LT_PROMPT_WAITING))),
    };
    found = ret_last->id.n > 0;
  }
  return found;
}

static bool chat_list_is_waiting(lt_json state) {
  return lt_json_str_eq(state, lt_str_of(lt_store_prompt_state_name(LT_PROMPT_WAITING)));
}

/* The state of the last prompt when its process ended; empty: the prompt has ended or still runs. */
static lt_json chat_list_state_of(lt_json orphans, lt_str id) {
  lt_json_iter it = lt_json_each(orphans);
  while (lt_json_next(&it)) {
    if (lt_json_str_eq(lt_json_get(it.value, "conversationId"), id)) {
      return lt_json_get(it.value, "state");
    }
  }
  return (lt_json){0};
}

bool lt_chat_waits(lt_store *db, lt_str conversation) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(open, LT_JSON_MAX_BYTES);
  bool waits = lt_store_prompt_orphans_of(db, LT_CHAT_USER, conversation, &open, NULL) == LT_OK &&
               lt_json_parse(&arena, lt_buf_view(&open), &doc, NULL) == LT_OK &&
               chat_list_is_waiting(chat_list_state_of(lt_json_root(&doc), conversation));
  return waits;
}

/* --- The list of conversations ------------------------------------------------------------------------------------ */
typedef struct listing {
  const lt_chat_options *options;
  lt_config config;
  lt_console console;
  lt_loop *loop;
  int exit_code;
} listing;

/* Shortens "2026-01-31T23:59:59.000Z" for people. */
static void chat_list_put_time(lt_buf *out, lt_str stamp, bool has_time) {
  lt_typegen_put_line(out, lt_str_sub(stamp, 0, 10), 10);
  if (has_time) {
    lt_buf_byte(out, ' ');
    lt_typegen_put_line(out, lt_str_sub(stamp, 11, 16), 5);
  }
}

/* Prints the unfinished prompt that -c resumes first. */
static const char *chat_list_rest_of(lt_json orphans, lt_str id) {
  lt_json state = chat_list_state_of(orphans, id);
  return !lt_json_exists(state) ? "" : chat_list_is_waiting(state) ? "  (waits for approval)" : "  (cut short)";
}

/* The first line of a program that is no comment. */
static lt_str chat_list_first_line(lt_str code) {
  lt_str line = LT_STR("");
  for (size_t at = 0; line.n == 0 && at < code.n;) {
    size_t end = lt_str_find(code, LT_STR("\n"), at);
    end = end < code.n ? end : code.n;
    line = lt_str_trim(lt_str_sub(code, at, end));
    bool is_comment = lt_str_starts(line, LT_STR("//")) || lt_str_starts(line, LT_STR("#"));
    line = is_comment ? LT_STR("") : line;
    at = end + 1;
  }
  return line;
}

static void chat_list_read_member(lt_str json, const char *key, lt_buf *out) {
  lt_member_text reader;
  lt_member_text_init(&reader, key);
  lt_member_text_add(&reader, json, out);
}

/* What a conversation without a title is known by: its first message. That of a run without a model is JSON with its
 * language and its program, and may be cut off. */
static void chat_list_put_message(lt_buf *out, lt_str message) {
  LT_AUTO_BUF(language, LT_MIB);
  LT_AUTO_BUF(code, LT_MIB);
  chat_list_read_member(message, "language", &language);
  chat_list_read_member(message, "code", &code);
  lt_str line = language.n > 0 ? chat_list_first_line(lt_buf_view(&code)) : LT_STR("");
  lt_buf_addc(out, line.n > 0 ? "Program: " : "");
  lt_buf_add(out, line.n > 0 ? line : message);
}

static void chat_list_read_name(lt_json conversation, lt_arena *arena, lt_buf *out) {
  lt_str text = LT_STR("");
  if (lt_json_str(lt_json_get(conversation, "title"), arena, &text) && lt_str_trim(text).n > 0) {
    lt_buf_add(out, text);
  } else if (lt_json_str(lt_json_get(conversation, "firstMessage"), arena, &text) && lt_str_trim(text).n > 0) {
    chat_list_put_message(out, text);
  } else {
    lt_buf_addc(out, "(no title)");
  }
}

static size_t chat_list_columns_of(lt_str text) {
  size_t columns = 0;
  lt_plain_reader reader = lt_plain_reader_of(text);
  for (uint32_t cp; lt_plain_next(&reader, &cp);) {
    columns += lt_plain_columns(cp);
  }
  return columns;
}

/* At most `room` columns: of wide characters there are fewer. */
static void chat_list_put_name(lt_buf *out, lt_str name, size_t room) {
  size_t from = out->n;
  for (size_t chars = room; chars > 0;) {
    lt_buf_cut(out, from);
    lt_typegen_put_line(out, name, chars);
    size_t columns = chat_list_columns_of(lt_str_sub(lt_buf_view(out), from, out->n));
    size_t over = columns > room ? (columns - room + 1) / 2 : 0;
    chars = over == 0 ? 0 : chars - (over < chars ? over : chars);
  }
}

/* How much of a line there is room for. */
typedef struct list_form {
  size_t id_chars, name_columns;
  bool has_time; /* with the time of the day and the number of messages */
} list_form;

/* A narrow window has the beginning of an id, which is enough for all commands. */
static list_form chat_list_form_of(size_t columns) {
  list_form form = {.id_chars = LT_STORE_ID_BYTES, .name_columns = NAME_COLUMNS, .has_time = true};
  if (columns > 0 && columns < WIDE_COLUMNS) {
    form.id_chars = ID_SHORT;
    form.has_time = columns >= TIME_COLUMNS;
  }
  size_t taken = form.id_chars + (form.has_time ? 26 : 14); /* with the spaces between them */
  size_t room = columns > taken + NAME_LEAST ? columns - taken : NAME_LEAST;
  form.name_columns = columns > 0 && room < NAME_COLUMNS ? room : NAME_COLUMNS;
  return form;
}

static void chat_list_put_line(lt_json conversation, lt_json orphans, const list_form *form, lt_arena *arena,
                               lt_buf *out) {
  lt_str id = LT_STR_NULL, stamp = LT_STR_NULL;
  int64_t prompts = 0;
  LT_AUTO_BUF(name, LT_MIB);
  (void)lt_json_str(lt_json_get(conversation, "id"), arena, &id);
  (void)lt_json_str(lt_json_get(conversation, "updatedAt"), arena, &stamp);
  (void)lt_json_int(lt_json_get(conversation, "prompts"), &prompts);
  const char *rest = chat_list_rest_of(orphans, id);
  chat_list_read_name(conversation, arena, &name);
  lt_buf_add(out, lt_str_sub(id, 0, form->id_chars));
  lt_buf_addc(out, "  ");
  chat_list_put_time(out, stamp, form->has_time);
  if (form->has_time) {
    lt_buf_printf(out, "  %4lld", (long long)prompts);
  }
  lt_buf_addc(out, "  ");
  size_t taken = strlen(rest) < form->name_columns - NAME_LEAST ? strlen(rest) : form->name_columns - NAME_LEAST;
  chat_list_put_name(out, lt_buf_view(&name), form->name_columns - taken);
  lt_buf_addc(out, rest);
}

size_t lt_chat_list_columns(void) {
  struct winsize size;
  bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 0;
}

lt_status lt_chat_list_put(lt_str list, lt_str open, size_t columns, lt_buf *out, lt_err *err) {
  const list_form form = chat_list_form_of(columns);
  lt_json_doc doc, orphans;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_TRY(lt_json_parse(&arena, list, &doc, err));
  LT_TRY(lt_json_parse(&arena, open, &orphans, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    chat_list_put_line(it.value, lt_json_root(&orphans), &form, &arena, out);
    lt_buf_byte(out, '\n');
  }
  return lt_buf_check(out, err, "the list of conversations is too long to be shown");
}

static lt_status chat_list_print(const listing *l, lt_str list, lt_str open, lt_err *err) {
  LT_AUTO_BUF(lines, LT_JSON_MAX_BYTES);
  if (l->options->json) {
    lt_console_output(&l->console, list);
    return LT_OK;
  }
  LT_TRY(lt_chat_list_put(list, open, lt_chat_list_columns(), &lines, err));
  if (lines.n > 0) {
    lt_console_output(&l->console, lt_buf_view(&lines));
  }
  return LT_OK;
}

static lt_status chat_list_list_all(listing *l, lt_err *err) LT_YIELDS {
  lt_store *db;
  LT_TRY(lt_store_new(l->loop, l->config.store, &db, err));
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(open, LT_JSON_MAX_BYTES);
  lt_status status = lt_store_conversation_list(db, LT_CHAT_USER, LISTED_MAX, &list, err);
  if (status == LT_OK) {
    status = lt_store_prompt_orphans_of(db, LT_CHAT_USER, LT_STR(""), &open, err);
  }
  if (status == LT_OK) {
    status = chat_list_print(l, lt_buf_view(&list), lt_buf_view(&open), err);
  }
  lt_store_close(db);
  return status;
}

static void chat_list_on_fiber(void *arg) {
  listing *l = arg;
  LT_ERR_VAR(err);
  lt_status status = chat_list_list_all(l, &err);
  if (status != LT_OK) {
    lt_console_line(&l->console, "lathe chat: ", lt_str_of(lt_err_msg(&err)));
  }
  l->exit_code = status == LT_OK ? LT_EXIT_OK : status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
}

static void chat_list_warn_untrusted(const listing *l) {
  const lt_config_file *file = lt_config_untrusted(&l->config);
  if (file != NULL) {
    lt_console_format(&l->console, "warning: %s is not trusted and does not count", file->name);
  }
}

int lt_chat_list(const lt_chat_options *options) {
  listing l = {.options = options, .exit_code = LT_EXIT_CONFIG};
  LT_ERR_VAR(err);
  lt_config_sources sources = options->sources;
  sources.leaves_out_untrusted = true; /* nothing is started: the person's own conversations are listed */
  if (lt_settings_load(&sources, &l.config, &err) == LT_OK) {
    chat_list_warn_untrusted(&l);
    l.exit_code = LT_EXIT_FAILED;
    if (lt_loop_new(&l.loop, &err) == LT_OK && lt_loop_spawn(l.loop, chat_list_on_fiber, &l, &err) == LT_OK) {
      lt_loop_run(l.loop);
    }
    lt_loop_free(l.loop);
  }
  if (err.status != LT_OK) {
    lt_console_line(&l.console, "lathe: ", lt_str_of(lt_err_msg(&err)));
  }
  lt_config_release(&l.config);
  return l.exit_code;
}
