/* lathe conversations: lists, shows and deletes what was said. */
#include <string.h>

#include "agent/incomplete.h"
#include "base/limits.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "store/store_upkeep.h"
#include "types/typegen_text.h"

#define SHOWN_PROMPTS_MAX 1000 /* the last ones */
#define CALL_CHARS        100  /* shown of a call's input, and of its error */

typedef struct conversations_options {
  const char *action;
  const char *id;
  bool json;
  lt_config_sources sources;
} conversations_options;

static const lt_option conversations_option_rows[] = {
    {"--json", NULL, NULL, "list and show: the same as JSON", LT_OPTION_IS_FLAG(conversations_options, json)},
    LT_OPTION_CONFIG(conversations_options, sources),
};

/* --- Show --------------------------------------------------------------------------------------------------------- */
static lt_str conversations_text(lt_json json, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(json, key), arena, &text);
  return text;
}

static void conversations_put_call(lt_json output, lt_arena *arena, lt_buf *out) {
  lt_json result = lt_json_get(output, "result");
  lt_buf_addc(out, "  ");
  lt_typegen_put_line(out, conversations_text(output, "function", arena), 2 * CALL_CHARS);
  lt_buf_byte(out, ' ');
  lt_typegen_put_line(out, lt_json_text(lt_json_get(output, "input")), CALL_CHARS);
  if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("error"))) {
    lt_buf_addc(out, "  failed: ");
    lt_typegen_put_line(out, conversations_text(result, "error", arena), CALL_CHARS);
  } else if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("pending"))) {
    lt_buf_addc(out, "  has not ended");
  }
  lt_buf_byte(out, '\n');
}

static void conversations_put_output(lt_json output, lt_arena *arena, lt_buf *out) {
  lt_json type = lt_json_get(output, "type");
  if (lt_json_str_eq(type, LT_STR("text"))) {
    lt_str text = conversations_text(output, "content", arena);
    lt_buf_add(out, text);
    lt_buf_addc(out, lt_str_ends(text, LT_STR("\n")) ? "" : "\n");
  } else if (lt_json_str_eq(type, LT_STR("tool"))) {
    conversations_put_call(output, arena, out);
  } else {
    lt_buf_addc(out, "  file: artifact ");
    lt_typegen_put_line(out, conversations_text(output, "artifact", arena), CALL_CHARS);
    lt_buf_byte(out, '\n');
  }
}

/* The input with "> " before each line. */
static void conversations_put_input(lt_str input, lt_buf *out) {
  for (size_t at = 0; at < input.n;) {
    size_t end = lt_str_find(input, LT_STR("\n"), at);
    end = end < input.n ? end : input.n;
    lt_buf_addc(out, "> ");
    lt_buf_add(out, lt_str_sub(input, at, end));
    lt_buf_byte(out, '\n');
    at = end + 1;
  }
}

static void conversations_put_prompt(lt_json prompt, lt_arena *arena, lt_buf *out) {
  lt_str state = conversations_text(prompt, "state", arena), error = conversations_text(prompt, "error", arena);
  conversations_put_input(conversations_text(prompt, "input", arena), out);
  lt_json_iter it = lt_json_each(lt_json_get(prompt, "output"));
  while (lt_json_next(&it)) {
    conversations_put_output(it.value, arena, out);
  }
  if (lt_incomplete_reason_in(prompt).n > 0) {
    lt_buf_addc(out, "  (incomplete: ");
    lt_typegen_put_line(out, lt_incomplete_describe(lt_incomplete_reason_in(prompt)), CALL_CHARS);
    lt_buf_addc(out, ")\n");
  } else if (!lt_str_eqc(state, "completed")) {
    lt_buf_printf(out, "  (%.*s%s", LT_STR_ARG(state), error.n > 0 ? ": " : "");
    lt_typegen_put_line(out, error, 4 * CALL_CHARS);
    lt_buf_addc(out, ")\n");
  }
}

static lt_status conversations_show(lt_store_session *s, const conversations_options *o, lt_str id,
                                    lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_store_history(s->db, LT_CHAT_USER, id, SHOWN_PROMPTS_MAX, &json, err));
  if (o->json) {
    return lt_console_report(&s->console, &json);
  }
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    conversations_put_prompt(it.value, &arena, &text);
  }
  LT_TRY(lt_buf_check(&text, err, "the conversation is too long to be shown: see --json"));
  return lt_console_report(&s->console, &text);
}

/* --- Delete ------------------------------------------------------------------------------------------------------- */
static lt_status conversations_delete(lt_store_session *s, lt_str id, lt_err *err) LT_YIELDS {
  bool done = false;
  while (!done) {
    LT_TRY(lt_store_conversation_remove(s->db, LT_CHAT_USER, id, LT_TRIM_ROWS, &done, err));
  }
  lt_console_format(&s->console, "deleted the conversation %.*s; its artifacts stay", LT_STR_ARG(id));
  return LT_OK;
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status conversations_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const conversations_options *o = arg;
  char id[LT_STORE_ID_BYTES + 1] = "";
  LT_TRY(lt_chat_find(s->db, lt_str_of(o->id), id, err));
  return strcmp(o->action, "show") == 0 ? conversations_show(s, o, lt_str_of(id), err)
                                        : conversations_delete(s, lt_str_of(id), err);
}

static int conversations_run(void *options) {
  const conversations_options *o = options;
  const char *action = o->action != NULL ? o->action : "list";
  if (strcmp(action, "list") == 0 && o->id == NULL) {
    lt_chat_options list = {.sources = o->sources, .json = o->json, .list = true};
    list.sources.leaves_out_untrusted = true;
    return lt_chat_list(&list);
  }
  if (strcmp(action, "show") != 0 && strcmp(action, "delete") != 0) {
    return lt_store_session_refuse("conversations", "say list, show ID or delete ID");
  }
  if (o->id == NULL) {
    return lt_store_session_refuse("conversations", "%s wants a conversation's id, its beginning, or \"last\"", action);
  }
  return lt_store_session_run("conversations", &o->sources, conversations_work, options);
}

const lt_command lt_conversations_command = {
    .name = "conversations",
    .summary = "List, show and delete conversations",
    .about = "List conversations, show one, or delete one.\n",
    .synopsis = "[list | show ID | delete ID] [options]",
    .operand = {"list|show|delete", "list: id, last use, messages, title (as lathe chat --list)",
                "say list, show ID or delete ID", false, LT_OPERAND_IS(conversations_options, action)},
    .second = {"ID", "of a conversation: all of it, its beginning, or \"last\"", "", false,
               LT_OPERAND_IS(conversations_options, id)},
    .options = conversations_option_rows,
    .option_count = sizeof conversations_option_rows / sizeof conversations_option_rows[0],
    .options_size = sizeof(conversations_options),
    .notes =
        "delete removes the conversation with its prompts and the record of their calls; it is not asked about.\n"
        "A conversation with a prompt that has not ended is not deleted. lathe store trim deletes by age.\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = conversations_run,
};
