/* lathe conversations: lists, shows, finds, exports and deletes what was said. */
#include <string.h>

#include "base/limits.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/conversation_text.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "store/store_summaries.h"
#include "store/store_upkeep.h"
#include "types/typegen_text.h"

#define SHOWN_PROMPTS_MAX 1000 /* the last ones */
#define CALL_CHARS        100  /* shown of a text that was not found */

typedef struct conversations_options {
  const char *action;
  const char *id;
  bool json;
  lt_config_sources sources;
} conversations_options;

static const lt_option conversations_option_rows[] = {
    {"--json", NULL, NULL, "the same as JSON (not for delete)", LT_OPTION_IS_FLAG(conversations_options, json)},
    LT_OPTION_CONFIG(conversations_options, sources),
};

/* --- Show and export ---------------------------------------------------------------------------------------------- */
static lt_status conversations_show(lt_store_session *s, const conversations_options *o, lt_str id,
                                    lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_store_history(s->db, LT_CHAT_USER, id, SHOWN_PROMPTS_MAX, &json, err));
  if (o->json) {
    return lt_console_report(&s->console, &json);
  }
  LT_TRY(lt_store_summary_get(s->db, LT_CHAT_USER, id, &summary, err));
  LT_TRY(lt_conversation_text_put(lt_buf_view(&json), lt_buf_view(&summary), LT_CONVERSATION_LINES, &text, err));
  return lt_console_report(&s->console, &text);
}

/* The title, as a heading. Warns when earlier prompts are left out. */
static lt_status conversations_put_title(lt_store_session *s, lt_str about, lt_buf *out, lt_err *err) {
  lt_json_doc doc;
  lt_str title = LT_STR_NULL;
  int64_t prompts = 0;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_TRY(lt_json_parse(&arena, about, &doc, err));
  if (lt_json_str(lt_json_get(lt_json_root(&doc), "title"), &arena, &title)) {
    lt_buf_addc(out, "# ");
    lt_typegen_put_line(out, title, LT_TITLE_BYTES);
    lt_buf_addc(out, "\n\n");
  }
  if (lt_json_int(lt_json_get(lt_json_root(&doc), "prompts"), &prompts) && prompts > SHOWN_PROMPTS_MAX) {
    lt_console_format(&s->console, "warning: the last %d of %lld messages are exported", SHOWN_PROMPTS_MAX,
                      (long long)prompts);
  }
  return LT_OK;
}

static lt_status conversations_export(lt_store_session *s, const conversations_options *o, lt_str id,
                                      lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(about, LT_MIB);
  LT_AUTO_BUF(prompts, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_store_conversation_get(s->db, LT_CHAT_USER, id, &about, err));
  LT_TRY(lt_store_history(s->db, LT_CHAT_USER, id, SHOWN_PROMPTS_MAX, &prompts, err));
  LT_TRY(lt_store_summary_get(s->db, LT_CHAT_USER, id, &summary, err));
  if (o->json) {
    lt_json_writer w = lt_json_writer_on(&text);
    lt_json_begin_object(&w);
    lt_json_key(&w, "conversation");
    lt_json_put_raw(&w, lt_buf_view(&about));
    lt_json_key(&w, "prompts");
    lt_json_put_raw(&w, lt_buf_view(&prompts));
    if (summary.n > 0) {
      lt_json_key(&w, "summary");
      lt_json_put_raw(&w, lt_buf_view(&summary));
    }
    lt_json_end_object(&w);
  } else {
    LT_TRY(conversations_put_title(s, lt_buf_view(&about), &text, err));
    LT_TRY(
        lt_conversation_text_put(lt_buf_view(&prompts), lt_buf_view(&summary), LT_CONVERSATION_MARKDOWN, &text, err));
  }
  LT_TRY(lt_buf_check(&text, err, "the conversation is too long to be exported"));
  return lt_console_report(&s->console, &text);
}

/* --- Search ------------------------------------------------------------------------------------------------------- */
static lt_status conversations_search(lt_store_session *s, const conversations_options *o, lt_err *err) LT_YIELDS {
  const lt_conversation_page page = {.user = LT_CHAT_USER, .text = lt_str_of(o->id), .max = SHOWN_PROMPTS_MAX};
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(open, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(lines, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_conversation_page(s->db, &page, &list, err));
  if (o->json) {
    return lt_console_report(&s->console, &list);
  }
  LT_TRY(lt_store_prompt_orphans_of(s->db, LT_CHAT_USER, LT_STR(""), &open, err));
  LT_TRY(lt_chat_list_put(lt_buf_view(&list), lt_buf_view(&open), lt_chat_list_columns(), &lines, err));
  if (lines.n == 0) {
    LT_AUTO_BUF(shown, LT_KIB);
    lt_typegen_put_line(&shown, lt_str_of(o->id), CALL_CHARS);
    return lt_fail(err, LT_E_NOTFOUND, "no conversation has \"%.*s\" in its title, a message or an answer",
                   LT_STR_ARG(lt_buf_view(&shown)));
  }
  return lt_console_report(&s->console, &lines);
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
/* What can be done with one conversation, or with a text; "list" is apart, because it needs neither. */
static const struct {
  const char *name, *wants;
} conversations_actions[] = {{"show", "a conversation's id, its beginning, or \"last\""},
                             {"search", "a text"},
                             {"export", "a conversation's id, its beginning, or \"last\""},
                             {"delete", "a conversation's id, its beginning, or \"last\""}};

static lt_status conversations_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const conversations_options *o = arg;
  char id[LT_STORE_ID_BYTES + 1] = "";
  if (strcmp(o->action, "search") == 0) {
    return conversations_search(s, o, err);
  }
  LT_TRY(lt_chat_find(s->db, lt_str_of(o->id), id, err));
  return strcmp(o->action, "show") == 0     ? conversations_show(s, o, lt_str_of(id), err)
         : strcmp(o->action, "export") == 0 ? conversations_export(s, o, lt_str_of(id), err)
                                            : conversations_delete(s, lt_str_of(id), err);
}

static int conversations_run(void *options) {
  const conversations_options *o = options;
  const char *action = o->action != NULL ? o->action : "list", *wants = NULL;
  if (strcmp(action, "list") == 0 && o->id == NULL) {
    lt_chat_options list = {.sources = o->sources, .json = o->json, .list = true};
    list.sources.leaves_out_untrusted = true;
    return lt_chat_list(&list);
  }
  for (size_t i = 0; i < sizeof conversations_actions / sizeof conversations_actions[0]; i++) {
    wants = strcmp(action, conversations_actions[i].name) == 0 ? conversations_actions[i].wants : wants;
  }
  if (wants == NULL) {
    return lt_store_session_refuse("conversations", "say list, show ID, search TEXT, export ID or delete ID");
  }
  if (o->id == NULL || o->id[0] == '\0') {
    return lt_store_session_refuse("conversations", "%s wants %s", action, wants);
  }
  return lt_store_session_run("conversations", &o->sources, conversations_work, options);
}

const lt_command lt_conversations_command = {
    .name = "conversations",
    .summary = "List, show, search, export and delete conversations",
    .about = "List conversations, show one, find those with a text, export one, or delete one.\n",
    .synopsis = "[list | show ID | search TEXT | export ID | delete ID] [options]",
    .operand = {"list|show|search|export|delete", "list: id, last use, messages, title (as lathe chat --list)",
                "say list, show ID, search TEXT, export ID or delete ID", false,
                LT_OPERAND_IS(conversations_options, action)},
    .second =
        {"ID|TEXT",
         "of a conversation: all of its id, its beginning, or \"last\"; search: a text in its title, a message or "
         "an\nanswer, whose ASCII letters may have either case",
         "", false, LT_OPERAND_IS(conversations_options, id)},
    .options = conversations_option_rows,
    .option_count = sizeof conversations_option_rows / sizeof conversations_option_rows[0],
    .options_size = sizeof(conversations_options),
    .notes =
        "export writes Markdown to standard output, with --json {\"conversation\", \"prompts\", \"summary\"?}. Where "
        "a\n"
        "summary takes the place of earlier messages for the model, show and export have it, too.\n"
        "delete removes the conversation with its prompts and the record of their calls; it is not asked about.\n"
        "A conversation with a prompt that has not ended is not deleted. lathe store trim deletes by age.\n"
        "\n"
        "Exit code: 0 ok, 1 failed or nothing found, 2 usage, 3 configuration.\n",
    .run = conversations_run,
};
