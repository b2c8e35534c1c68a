/* A plugin to start from: a to-do list for each user, in a table of its own.
 *
 *   cc -shared -fPIC -Iinclude -o todo.so examples/todo/todo.c
 *   echo 'plugins: [{path: ./todo.so}]' > lathe.yaml
 *   lathe run --config lathe.yaml -e 'todoAdd({text: "write a plugin"}); todoList()'
 *
 * It shows tools, one that a person has to agree to, a function and a context item, settings, and SQL. JSON is taken
 * apart and put together by SQLite and by the host: no library is needed.
 */
#include "lathe_plugin.h"

/* --- The table: run once each, in order; later versions append scripts ------------------------- */
static const char *const scripts[] = {
    "CREATE TABLE todo__items (id INTEGER PRIMARY KEY, user TEXT NOT NULL, text TEXT NOT NULL,"
    " done INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX todo__items_by_user ON todo__items (user, done);",
};

/* Runs one statement whose ?1 is the user, and ?2 what the tool was called with. Fails the call when that fails. */
static int run(const lathe_host *host, lathe_call *call, lathe_text sql, lathe_text in, lathe_text *ret_rows) {
  lathe_text user = host->quote(call, host->user(call));
  lathe_text params = host->format(call, "[%s,%s]", user.p, in.n > 0 ? in.p : "null");
  if (host->sql(call, sql, params, ret_rows) == 0) {
    return 0;
  }
  host->fail(call, "%s", host->error(call).p);
  return -1;
}

/* Runs it and answers with its first row. */
static void answer_row(const lathe_host *host, lathe_call *call, const char *sql, lathe_text in, const char *none) {
  lathe_text rows;
  if (run(host, call, host->format(call, "%s", sql), in, &rows) != 0) {
    return;
  }
  lathe_text row = host->member(call, rows, "0");
  if (row.n > 0) {
    host->answer(call, row);
  } else {
    host->fail(call, "%s", none);
  }
}

/* --- Tools: `in` has been checked against the schema ------------------------------------------- */
static void add(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text most = host->member(call, host->config(call), "max");
  lathe_text sql = host->format(call,
                                "INSERT INTO todo__items (user, text) SELECT ?1, json_extract(?2, '$.text')"
                                " WHERE (SELECT count(*) FROM todo__items WHERE user = ?1 AND NOT done) < %s"
                                " RETURNING id, text",
                                most.n > 0 ? most.p : "100");
  answer_row(host, call, sql.p, in, "the list is full: complete something first (the setting \"max\")");
}

static void list(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text rows;
  if (run(host, call,
          LATHE_TEXT("SELECT id, text, done FROM todo__items WHERE user = ?1"
                     " AND (NOT done OR json_extract(?2, '$.all')) ORDER BY id"),
          in, &rows) == 0) {
    host->answer(call, rows);
  }
}

static void complete(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  answer_row(host, call,
             "UPDATE todo__items SET done = 1 WHERE user = ?1 AND id = json_extract(?2, '$.id')"
             " RETURNING id, text, done",
             in, "there is no such to-do");
}

static void clear(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text rows;
  if (run(host, call, LATHE_TEXT("DELETE FROM todo__items WHERE user = ?1 AND ?2 IS NOT NULL"), in, &rows) == 0) {
    host->answer(call, LATHE_TEXT("\"The list is empty.\""));
  }
}

/* --- A function that programs find beside the tools; `in` is the array of its arguments --------- */
static void count(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text rows;
  if (run(host, call, LATHE_TEXT("SELECT count(*) AS n FROM todo__items WHERE user = ?1 AND NOT done AND ?2 NOTNULL"),
          in, &rows) == 0) {
    host->answer(call, host->member(call, host->member(call, rows, "0"), "n"));
  }
}

/* --- Hooks -------------------------------------------------------------------------------------- */
#define ID_SCHEMA "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"}},\"required\":[\"id\"]}"

static const lathe_tool tools[] = {
    {.size = sizeof(lathe_tool),
     .name = "add",
     .description = "Put something on the to-do list",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"minLength\":1}},"
                     "\"required\":[\"text\"]}",
     .annotations = "{\"destructiveHint\":false}",
     .invoke = add},
    {.size = sizeof(lathe_tool),
     .name = "list",
     .description = "What is on the to-do list: what is open, or all of it",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"all\":{\"type\":\"boolean\"}}}",
     .annotations = "{\"readOnlyHint\":true}",
     .invoke = list},
    {.size = sizeof(lathe_tool),
     .name = "complete",
     .description = "Mark a to-do as done",
     .input_schema = ID_SCHEMA,
     .annotations = "{\"destructiveHint\":false,\"idempotentHint\":true}",
     .invoke = complete},
    {.size = sizeof(lathe_tool),
     .name = "clear",
     .description = "Remove every to-do, the done ones too",
     .input_schema = "{\"type\":\"object\",\"properties\":{}}",
     .invoke = clear,
     .approval = "the whole to-do list will be gone"},
};

static const lathe_function todo_count = {
    .size = sizeof(lathe_function),
    .name = "todoCount",
    .signature = "() → number",
    .description = "How many to-dos are open",
    .invoke = count,
};

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  int failed = host->add_function(call, &todo_count);
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
    failed |= host->add_tool(call, &tools[i]);
  }
  if (failed || host->migrate(call, scripts, sizeof scripts / sizeof scripts[0]) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

/* Before each prompt: what the model should know without asking. */
static void prepare(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text rows;
  if (run(host, call, LATHE_TEXT("SELECT count(*) AS n FROM todo__items WHERE user = ?1 AND NOT done AND ?2 NOTNULL"),
          in, &rows) == 0) {
    lathe_text open = host->member(call, host->member(call, rows, "0"), "n");
    lathe_text content = host->format(call, "The user has %s open to-dos.", open.p);
    host->add_context(
        call, host->format(call, "{\"type\":\"todo\",\"id\":\"open\",\"content\":%s}", host->quote(call, content).p));
  }
}

LATHE_EXPORT const lathe_plugin *lathe_plugin_entry(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "todo",
      .name = "To-do",
      .description = "A to-do list for each user",
      .config_schema =
          "{\"type\":\"object\",\"properties\":{\"max\":{\"type\":\"integer\",\"minimum\":1}},"
          "\"additionalProperties\":false}",
      .setup = setup,
      .prepare = prepare,
  };
  return &plugin;
}
