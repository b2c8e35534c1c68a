#include "cli/chat_commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/conversation_summary.h"
#include "agent/modes/mode_list.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cli/chat_complete.h"
#include "cli/conversation_text.h"
#include "cli/tool_lines.h"
#include "cli/tools_policy.h"
#include "store/store_decisions.h"
#include "store/store_summaries.h"
#include "types/typegen_text.h"

#define TOOLS_SHOWN   20
#define HISTORY_SHOWN 10 /* messages, unless the person says how many */
#define HISTORY_MAX   1000
#define EXPORT_MAX    1000
#define UNDONE_SHOWN  60 /* characters */

static const lt_console *chat_commands_console(const lt_chat *chat) {
  return &chat->session->console;
}

static void chat_commands_say_error(const lt_chat *chat, const lt_err *err) {
  lt_console_line(chat_commands_console(chat), "", lt_str_of(lt_err_msg(err)));
}

/* --- The conversation --------------------------------------------------------------------------------------------- */
static void chat_commands_do_new(lt_chat *chat, lt_str rest) {
  (void)rest;
  lt_chat_leave(chat);
  lt_console_format(chat_commands_console(chat), "The next message begins a new conversation.");
}

bool lt_chat_commands_show_history(lt_chat *chat, size_t count) {
  LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_ERR_VAR(err);
  if (chat->conversation[0] == '\0') {
    return false;
  }
  lt_status status = lt_store_history(lt_toolbox_db(chat->session->app.toolbox), LT_CHAT_USER,
                                      lt_str_of(chat->conversation), count, &json, &err);
  if (status == LT_OK) {
    status = lt_conversation_text_put(lt_buf_view(&json), LT_STR_NULL, LT_CONVERSATION_TALK, &text, &err);
  }
  if (status != LT_OK) {
    chat_commands_say_error(chat, &err);
  } else {
    lt_secrets_mask_buf(chat->session->console.secrets, &text);
    lt_chat_view_show_text(&chat->view, lt_buf_view_or(&text, LT_STR_NULL));
  }
  return text.n > 0;
}

static void chat_commands_do_history(lt_chat *chat, lt_str rest) LT_YIELDS {
  unsigned long count = HISTORY_SHOWN;
  if (rest.n > 0) {
    char number[8], *end = number;
    snprintf(number, sizeof number, "%.*s", LT_STR_ARG(rest));
    count = strtoul(number, &end, 10);
    if (*end != '\0' || count == 0 || count > HISTORY_MAX || rest.n >= sizeof number) {
      lt_console_format(chat_commands_console(chat), "/history wants a number of messages, 1 to %d", HISTORY_MAX);
      return;
    }
  }
  if (!lt_chat_commands_show_history(chat, count)) {
    lt_console_format(chat_commands_console(chat), "Nothing has been said in this conversation yet.");
  }
}

static void chat_commands_do_export(lt_chat *chat, lt_str rest) LT_YIELDS {
  char path[4096];
  LT_ERR_VAR(err);
  LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  if (rest.n == 0 || rest.n >= sizeof path || chat->conversation[0] == '\0') {
    lt_console_format(chat_commands_console(chat), chat->conversation[0] == '\0'
                                                       ? "Nothing has been said in this conversation yet."
                                                       : "/export wants the name of a new file: /export talk.md");
    return;
  }
  snprintf(path, sizeof path, "%.*s", LT_STR_ARG(rest));
  lt_store *store = lt_toolbox_db(chat->session->app.toolbox);
  lt_status status = lt_store_history(store, LT_CHAT_USER, lt_str_of(chat->conversation), EXPORT_MAX, &json, &err);
  if (status == LT_OK) {
    status = lt_store_summary_get(store, LT_CHAT_USER, lt_str_of(chat->conversation), &summary, &err);
  }
  if (status == LT_OK) {
    status = lt_conversation_text_put(lt_buf_view(&json), lt_buf_view(&summary), LT_CONVERSATION_MARKDOWN, &text, &err);
  }
  if (status == LT_OK) {
    lt_secrets_mask_buf(chat->session->console.secrets, &text);
    status = lt_file_create(path, lt_buf_view(&text), &err);
  }
  if (status != LT_OK) {
    chat_commands_say_error(chat, &err);
  } else {
    lt_console_format(chat_commands_console(chat), "The conversation is in %s.", path);
  }
}

static void chat_commands_do_undo(lt_chat *chat, lt_str rest) LT_YIELDS {
  lt_store *db = lt_toolbox_db(chat->session->app.toolbox);
  lt_chat_last last;
  LT_ERR_VAR(err);
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(message, LT_KIB);
  if (rest.n > 0) {
    lt_console_format(chat_commands_console(chat), "/undo takes back one message: say it again for the one before");
    return;
  }
  if (chat->conversation[0] == '\0' || !lt_chat_find_last(db, lt_str_of(chat->conversation), &arena, &last)) {
    lt_console_format(chat_commands_console(chat), "There is no message in this conversation to take back.");
    return;
  }
  if (lt_store_prompt_undo(db, LT_CHAT_USER, last.id, &err) != LT_OK) {
    chat_commands_say_error(chat, &err);
    return;
  }
  lt_typegen_put_line(&message, last.input, UNDONE_SHOWN);
  lt_console_format(chat_commands_console(chat),
                    "Taken back: \"%.*s\" and its answer. What its calls have done is not undone.",
                    LT_STR_ARG(lt_buf_view(&message)));
}

/* --- Mode and model ----------------------------------------------------------------------------------------------- */
static void chat_commands_do_mode(lt_chat *chat, lt_str rest) {
  LT_ERR_VAR(err);
  if (rest.n > 0 && lt_chat_set_mode(chat, rest, &err) != LT_OK) {
    chat_commands_say_error(chat, &err);
    return;
  }
  lt_str mode = lt_buf_view(&chat->mode);
  lt_str usual = chat->models.default_mode;
  if (mode.n > 0) {
    lt_console_format(chat_commands_console(chat), "mode: %.*s", LT_STR_ARG(mode));
  } else {
    lt_console_format(chat_commands_console(chat), "mode: the model's own, else %.*s", LT_STR_ARG(usual));
  }
}

static void chat_commands_do_model(lt_chat *chat, lt_str rest) {
  const lt_console *console = chat_commands_console(chat);
  LT_ERR_VAR(err);
  if (rest.n > 0 && lt_chat_set_model(chat, rest, &err) != LT_OK) {
    chat_commands_say_error(chat, &err);
    return;
  }
  lt_str ref = chat->model.n > 0 ? lt_buf_view(&chat->model) : chat->models.default_ref;
  lt_console_format(console, "model: %.*s", LT_STR_ARG(ref));
  for (size_t i = 0; rest.n == 0 && i < chat->models.count; i++) {
    const lt_model *m = &chat->models.list[i];
    lt_console_format(console, "  %.*s: %.*s%s", LT_STR_ARG(m->ref), LT_STR_ARG(m->name),
                      chat->models.missing[i] != NULL ? " (no key)" : "");
  }
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
/* The decisions that hold until the conversation ends. */
static void chat_commands_put_decisions(const lt_chat *chat, lt_buf *out) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  if (chat->conversation[0] == '\0' ||
      lt_store_decision_list_session(lt_toolbox_db(chat->session->app.toolbox), lt_str_of(chat->conversation), &rows,
                                     NULL) != LT_OK ||
      lt_json_parse(&arena, lt_buf_view(&rows), &doc, NULL) != LT_OK) {
    return;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str tool = LT_STR("");
    (void)lt_json_str(lt_json_get(it.value, "tool"), &arena, &tool);
    lt_typegen_put_line(out, tool, 200);
    lt_buf_addc(out, lt_json_str_eq(lt_json_get(it.value, "verb"), LT_STR("approve"))
                         ? ": allowed until this conversation ends\n"
                         : ": refused until this conversation ends\n");
  }
}

static lt_status chat_commands_report_rules(const lt_chat *chat, const lt_catalog *catalog, lt_str query, lt_buf *out,
                                            lt_err *err) {
  uint32_t found[TOOLS_SHOWN];
  const lt_tool *tools[TOOLS_SHOWN];
  size_t count = lt_catalog_search(catalog, query, found, TOOLS_SHOWN), all = lt_catalog_count(catalog);
  for (size_t i = 0; i < count; i++) {
    tools[i] = lt_catalog_at(catalog, found[i]);
  }
  LT_TRY(lt_tools_policy_report(lt_toolbox_policy(chat->session->app.toolbox), tools, count, false, out, err));
  if (query.n == 0 && all > count) {
    lt_buf_printf(out, "... and %zu more: /permissions QUERY finds them\n", all - count);
  }
  return LT_OK;
}

static void chat_commands_do_permissions(lt_chat *chat, lt_str rest) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_catalog *catalog = NULL;
  LT_AUTO_BUF(report, LT_JSON_MAX_BYTES);
  lt_status status = lt_door_catalog(chat->session->app.door, &catalog, &err);
  if (status == LT_OK) {
    status = chat_commands_report_rules(chat, catalog, rest, &report, &err);
    chat_commands_put_decisions(chat, &report);
  }
  if (status != LT_OK) {
    chat_commands_say_error(chat, &err);
  } else if (report.n > 0) {
    lt_console_line(chat_commands_console(chat), "", lt_buf_view(&report));
  }
  lt_catalog_unref(catalog);
}

static void chat_commands_do_tools(lt_chat *chat, lt_str rest) {
  lt_tool_lines_print(chat_commands_console(chat), chat->session->app.door, rest);
}

/* --- Other commands ----------------------------------------------------------------------------------------------- */
static void chat_commands_do_program(lt_chat *chat, lt_str rest) {
  (void)rest;
  if (!lt_program_view_show_last(&chat->view.program)) {
    lt_console_format(chat_commands_console(chat), "No program has run yet.");
  }
}

static void chat_commands_say_retry(void *arg, const lt_retry_notice *notice) {
  LT_AUTO_BUF(line, LT_KIB);
  lt_model_put_retry(notice, &line);
  lt_console_line(chat_commands_console(arg), "  ", lt_buf_view(&line));
}

/* The text of a summary, in the arena. */
static lt_str chat_commands_read_summary(const lt_buf *summary, lt_arena *arena) {
  lt_json_doc doc;
  lt_str text = LT_STR("");
  if (lt_json_parse(arena, lt_buf_view(summary), &doc, NULL) == LT_OK) {
    (void)lt_json_str(lt_json_get(lt_json_root(&doc), "text"), arena, &text);
  }
  return text;
}

static void chat_commands_do_compact(lt_chat *chat, lt_str rest) LT_YIELDS {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  (void)rest;
  if (chat->conversation[0] == '\0') {
    lt_console_format(chat_commands_console(chat), "Nothing has been said in this conversation yet.");
    return;
  }
  const lt_compact_request request = {.user = LT_CHAT_USER,
                                      .conversation = lt_str_of(chat->conversation),
                                      .model = lt_buf_view(&chat->model),
                                      .on_retry = chat_commands_say_retry,
                                      .arg = chat};
  lt_status status = lt_conversation_compact(chat->agent, &request, &summary, &err);
  if (status != LT_OK) {
    chat_commands_say_error(chat, &err);
    return;
  }
  lt_console_line(chat_commands_console(chat), "The model is told this from now on, in place of what was said:\n",
                  chat_commands_read_summary(&summary, &arena));
}

static void chat_commands_do_usage(lt_chat *chat, lt_str rest) {
  const lt_chat_usage *usage = &chat->view.usage;
  LT_AUTO_BUF(line, LT_KIB);
  (void)rest;
  lt_buf_printf(&line,
                "%lld messages, %lld requests: %lld tokens in (%lld from the provider's cache, %lld written to it), "
                "%lld out",
                (long long)usage->prompts, (long long)usage->requests, (long long)usage->input_tokens,
                (long long)usage->cached_input_tokens, (long long)usage->cache_write_tokens,
                (long long)usage->output_tokens);
  if (usage->has_cost) {
    lt_buf_printf(&line, ": $%.4f", usage->cost);
  } else {
    lt_buf_addc(&line, "; no price is configured (models[].price)");
  }
  lt_console_line(chat_commands_console(chat), "", lt_buf_view(&line));
}

static void chat_commands_do_decide(lt_chat *chat, lt_str rest) {
  (void)rest;
  lt_console_format(chat_commands_console(chat), "Nothing waits for approval.");
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static void chat_commands_do_help(lt_chat *chat, lt_str rest);

typedef struct chat_command {
  const char *name, *argument;
  const char *help;                                  /* NULL: another name for a command, which the help leaves out */
  void (*act)(lt_chat *chat, lt_str rest) LT_YIELDS; /* NULL: leave */
  const char *more;                                  /* the end of the help; NULL: it has none */
} chat_command;

static const chat_command chat_commands[] = {
    {"/help", "", "these commands", chat_commands_do_help, NULL},
    {"/model", "[REF]", "which model is asked", chat_commands_do_model, NULL},
    {"/mode", "[MODE]", "how the model works: ", chat_commands_do_mode, LT_MODEL_MODE_IDS},
    {"/tools", "[QUERY]", "the tools there are", chat_commands_do_tools, NULL},
    {"/permissions", "[QUERY]", "which calls are allowed, asked about or refused", chat_commands_do_permissions, NULL},
    {"/usage", "", "the tokens of this dialogue, and what they cost", chat_commands_do_usage, NULL},
    {"/program", "", "the last program as a whole", chat_commands_do_program, NULL},
    {"/history", "[COUNT]", "the last messages and answers of this conversation", chat_commands_do_history, NULL},
    {"/export", "FILE", "write this conversation to a new file, as Markdown", chat_commands_do_export, NULL},
    {"/compact", "", "have the model summarise what was said: it is told the summary from then on",
     chat_commands_do_compact, NULL},
    {"/undo", "", "take back the last message and its answer, not what its calls have done", chat_commands_do_undo,
     NULL},
    {"/new", "", "a new conversation, in the default mode unless one was chosen", chat_commands_do_new, NULL},
    {"/approve", "", "answers a question about a call (so does y)", chat_commands_do_decide, NULL},
    {"/reject", "[REASON]", "likewise (so does n)", chat_commands_do_decide, NULL},
    {"/quit", "", "leave (or Ctrl-D)", NULL, NULL},
    {"/exit", "", NULL, NULL, NULL},
};
#define COMMAND_COUNT (sizeof chat_commands / sizeof chat_commands[0])

static void chat_commands_do_help(lt_chat *chat, lt_str rest) {
  LT_AUTO_BUF(text, LT_MIB);
  (void)rest;
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const chat_command *c = &chat_commands[i];
    if (c->help != NULL) {
      char usage[64];
      snprintf(usage, sizeof usage, "%s %s", c->name, c->argument);
      lt_buf_printf(&text, "  %-21s %s%s\n", usage, c->help, c->more != NULL ? c->more : "");
    }
  }
  lt_buf_addc(&text,
              "Ctrl-C ends an answer, and Lathe when it is typed twice; \"\\\" at a line's end goes on with the next,\n"
              "as do pasted lines. Tab completes commands, tools, and files behind \"@\".\n");
  lt_console_line(chat_commands_console(chat), "", lt_buf_view(&text));
}

static size_t chat_commands_name_end(lt_str line) {
  size_t end = 0;
  while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t') {
    end++;
  }
  return end;
}

void lt_chat_commands_run(lt_chat *chat, lt_str line, bool *ret_leaves) {
  size_t end = chat_commands_name_end(line);
  lt_str name = lt_str_sub(line, 0, end), rest = lt_str_trim(lt_str_sub(line, end, line.n));
  lt_nearest nearest = lt_nearest_to(name, 2);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (lt_str_eqc(name, chat_commands[i].name)) {
      if (chat_commands[i].act != NULL) {
        chat_commands[i].act(chat, rest);
      } else {
        *ret_leaves = true;
      }
      return;
    }
    lt_nearest_offer(&nearest, lt_str_of(chat_commands[i].name));
  }
  LT_AUTO_BUF(shown, LT_KIB);
  lt_typegen_put_line(&shown, name, 60);
  lt_console_format(chat_commands_console(chat), "There is no command %.*s: %s%s", LT_STR_ARG(lt_buf_view(&shown)),
                    nearest.name.p != NULL ? "did you mean " : "see ",
                    nearest.name.p != NULL ? nearest.name.p : "/help");
}

bool lt_chat_commands_is_one(lt_str line) {
  lt_str name = lt_str_sub(line, 1, line.n);
  size_t end = 0;
  while (end < name.n && strchr(" \t/", name.p[end]) == NULL) {
    end++;
  }
  bool is_path = end < name.n && name.p[end] == '/';
  return line.n > 0 && line.p[0] == '/' && !is_path && lt_str_find(line, LT_STR("\n"), 0) == SIZE_MAX;
}

/* --- Completion --------------------------------------------------------------------------------------------------- */
static void chat_commands_complete_name(lt_line_completion *completion) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    lt_line_completion_add(completion, lt_str_of(chat_commands[i].name));
  }
}

static void chat_commands_complete_argument(const lt_chat *chat, lt_str command, lt_line_completion *completion) {
  if (lt_str_eqc(command, "/mode")) {
    lt_chat_complete_mode(chat, completion);
  } else if (lt_str_eqc(command, "/model")) {
    lt_chat_complete_model(chat, completion);
  } else if (lt_str_eqc(command, "/tools") || lt_str_eqc(command, "/permissions")) {
    lt_chat_complete_tool(chat, completion);
  } else if (lt_str_eqc(command, "/export")) {
    lt_chat_complete_file(completion);
  }
}

void lt_chat_commands_complete(const lt_chat *chat, lt_line_completion *completion) {
  lt_str line = completion->line;
  size_t from = line.n;
  while (from > 0 && strchr(" \t\n", line.p[from - 1]) == NULL) {
    from--;
  }
  bool is_command = lt_chat_commands_is_one(line);
  completion->start = from;
  if (from == 0 && is_command) {
    chat_commands_complete_name(completion);
  } else if (from < line.n && line.p[from] == '@') {
    completion->start = from + 1;
    lt_chat_complete_file(completion);
  } else if (is_command) {
    chat_commands_complete_argument(chat, lt_str_sub(line, 0, chat_commands_name_end(line)), completion);
  } else if (from < line.n) {
    lt_chat_complete_tool(chat, completion);
  }
}
