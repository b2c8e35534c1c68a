/* Versions of the tables. A published version never changes: changes go into the next one.
 *
 * Two versions of Lathe on one file are normal: every MCP client starts its own. So a new version only adds: tables,
 * and columns with a default. The release before reads and writes such a file: it names its columns, and takes no
 * notice of the others. An index that nothing needs may go, too. For that reason `user_version`, which a Lathe refuses
 * when it is newer than its own, stays as it is; the additions are counted in a table of their own. */
#include "store/sqlite/db_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

/* versions[n] leads from version n to n + 1. Names with "__" are plugins' (sql_guard.h), ours have none. Times are
 * "2026-01-31T12:00:00.000Z", so that they sort as text. Each table that grows has an index on its time, for deleting
 * by age. Large columns are last: the columns before them are read without them. */
static const char *const versions[] = {
    /* calls: a call has its row before it is made; the last three columns are NULL until it has ended. `status` is
     * OK, and `answer` the value's JSON text; or a status' name (base/status.h) and the message. */
    "CREATE TABLE calls("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  run TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  tool TEXT NOT NULL,"
    "  repeatable INTEGER NOT NULL,"
    "  started_at TEXT NOT NULL,"
    "  finished_at TEXT,"
    "  status TEXT,"
    "  input TEXT NOT NULL,"
    "  answer TEXT) STRICT;"
    "CREATE INDEX calls_by_run ON calls(run, id);"
    "CREATE INDEX calls_by_start ON calls(started_at);"
    "CREATE INDEX calls_open ON calls(id) WHERE finished_at IS NULL;"
    /* artifacts: `number` is their order; `id` is known outside. */
    "CREATE TABLE artifacts("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  user TEXT NOT NULL,"
    "  type TEXT NOT NULL,"
    "  description TEXT NOT NULL,"
    "  mime_type TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  data BLOB NOT NULL) STRICT;"
    "CREATE INDEX artifacts_by_user ON artifacts(user, number);"
    "CREATE INDEX artifacts_by_creation ON artifacts(created_at);"
    /* plugin_state: `conversation` is empty for a state of no particular conversation. */
    "CREATE TABLE plugin_state("
    "  plugin TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  conversation TEXT NOT NULL,"
    "  changed_at TEXT NOT NULL,"
    "  json TEXT NOT NULL,"
    "  PRIMARY KEY(plugin, user, conversation)) STRICT;"
    "CREATE INDEX plugin_state_by_change ON plugin_state(changed_at);"
    /* plugin_migrations: how many of a plugin's scripts have run. */
    "CREATE TABLE plugin_migrations("
    "  plugin TEXT PRIMARY KEY,"
    "  count INTEGER NOT NULL) STRICT;",
    /* conversations: other tables refer to `number`; `id` is known outside. */
    "CREATE TABLE conversations("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  user TEXT NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  updated_at TEXT NOT NULL,"
    "  title TEXT) STRICT;"
    "CREATE INDEX conversations_by_user ON conversations(user, updated_at);"
    "CREATE INDEX conversations_by_use ON conversations(updated_at);"
    /* prompts: the conversation has the user. `completed_at` is NULL until the prompt has ended. Until then it is
     * the only such prompt of its conversation, and `owner` is the process that runs it (lease.h), or NULL. */
    "CREATE TABLE prompts("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  conversation INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  mode TEXT NOT NULL,"
    "  visible INTEGER NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  completed_at TEXT,"
    "  owner TEXT,"
    "  usage TEXT,"
    "  error TEXT,"
    "  input TEXT NOT NULL) STRICT;"
    "CREATE INDEX prompts_by_conversation ON prompts(conversation, number);"
    "CREATE INDEX prompts_by_creation ON prompts(created_at);"
    "CREATE UNIQUE INDEX prompts_open ON prompts(conversation) WHERE completed_at IS NULL;"
    /* prompt_outputs: a row each, so that a changed output is a small write; the outputs of a prompt lie side by
     * side. */
    "CREATE TABLE prompt_outputs("
    "  prompt INTEGER NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  json TEXT NOT NULL,"
    "  PRIMARY KEY(prompt, number)) STRICT, WITHOUT ROWID;",
    /* calls: `seq` is a call's number in its run, or 0 for a call that no replay looks for; `hash` is its
     * lt_journal_hash. */
    "ALTER TABLE calls ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE calls ADD COLUMN hash INTEGER NOT NULL DEFAULT 0;"
    "CREATE UNIQUE INDEX calls_by_seq ON calls(run, seq) WHERE seq > 0;"
    /* notes: other data that came to a run from outside. `number` is their order, from 1; the others are lt_note's. No
     * time: a run's notes go when its calls do. */
    "CREATE TABLE notes("
    "  run TEXT NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL,"
    "  what INTEGER NOT NULL,"
    "  time_us INTEGER NOT NULL,"
    "  text TEXT NOT NULL,"
    "  PRIMARY KEY(run, number)) STRICT, WITHOUT ROWID;"
    /* blobs: large data that many prompts share, by its hash; `used_at` is the day when it was last put. */
    "CREATE TABLE blobs("
    "  hash TEXT NOT NULL UNIQUE,"
    "  used_at TEXT NOT NULL,"
    "  data BLOB NOT NULL) STRICT;"
    "CREATE INDEX blobs_by_use ON blobs(used_at);",
    /* From here on: additions. schema_additions: how many of them the file has; one row. */
    "CREATE TABLE schema_additions(count INTEGER NOT NULL) STRICT;"
    "INSERT INTO schema_additions VALUES(0);",
    /* prompt_outputs: `change` is the number of the output's last change among all changes of the prompt's outputs,
     * from 1. prompt_shown: the last change that a reader has got. An output with a larger one has to be shown by the
     * next process; outputs of an older Lathe have 0. */
    "ALTER TABLE prompt_outputs ADD COLUMN change INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE prompt_shown(prompt INTEGER PRIMARY KEY, change INTEGER NOT NULL) STRICT;",
    /* artifacts: `run` is the run that has made it, without those that it was started by; empty: none, or an older
     * Lathe has stored it. artifact_sums: the bytes of a run's artifacts, and of all under "". Triggers keep the sums,
     * because an older Lathe writes artifacts, too. */
    "ALTER TABLE artifacts ADD COLUMN run TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE artifact_sums("
    "  run TEXT PRIMARY KEY,"
    "  bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO artifact_sums SELECT '', ifnull(sum(bytes), 0) FROM artifacts;"
    "CREATE TRIGGER artifact_is_stored AFTER INSERT ON artifacts BEGIN"
    "  UPDATE artifact_sums SET bytes = bytes + new.bytes WHERE run = '';"
    "  INSERT INTO artifact_sums SELECT new.run, new.bytes WHERE new.run <> ''"
    "    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;"
    " END;"
    "CREATE TRIGGER artifact_is_deleted AFTER DELETE ON artifacts BEGIN"
    "  UPDATE artifact_sums SET bytes = bytes - old.bytes WHERE run IN ('', old.run);"
    "  DELETE FROM artifact_sums WHERE run = old.run AND run <> '' AND bytes <= 0;"
    " END;",
    /* prompts: `origin` is the configuration that a prompt belongs to, as JSON; NULL: an older Lathe's. owner_beats:
     * the last sign of life of a process that runs prompts, in milliseconds since 1970. */
    "ALTER TABLE prompts ADD COLUMN origin TEXT;"
    "CREATE TABLE owner_beats(owner TEXT PRIMARY KEY, beat_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
    /* prompts: `ended_by` is the owner that ended a prompt; NULL: none has, or an older Lathe. */
    "ALTER TABLE prompts ADD COLUMN ended_by TEXT;",
    /* decisions: what people decide about a prompt's calls, in any process. `taken_at` is NULL until the process that
     * runs the prompt has the decision. calls: the input with which a person replaced the caller's. */
    "CREATE TABLE decisions("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  prompt TEXT NOT NULL,"
    "  conversation TEXT NOT NULL,"
    "  call TEXT NOT NULL,"
    "  hash INTEGER NOT NULL,"
    "  verb TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  tool TEXT NOT NULL,"
    "  remember TEXT NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  taken_at TEXT,"
    "  reason TEXT NOT NULL,"
    "  input TEXT NOT NULL) STRICT;"
    "CREATE INDEX decisions_by_prompt ON decisions(prompt, id);"
    "CREATE INDEX decisions_of_session ON decisions(conversation, id) WHERE remember = 'session';"
    "CREATE INDEX decisions_by_creation ON decisions(created_at);"
    "ALTER TABLE calls ADD COLUMN edited_input TEXT NOT NULL DEFAULT '';",
    /* prompts: `incomplete` is why a completed prompt has no whole answer: rounds, length, filter, empty; NULL: it has
     * one, or an older Lathe's. */
    "ALTER TABLE prompts ADD COLUMN incomplete TEXT;",
    /* events: what readers of `lathe serve` are told; `subject` is the id of a prompt or a conversation. prompt_keys:
     * under which key of the asker's a prompt was asked for. tokens: who may ask; `hash` is a token's SHA-256.
     * Triggers, because an older Lathe removes prompts and conversations, too. */
    "CREATE TABLE events("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  user TEXT NOT NULL,"
    "  subject TEXT NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  data TEXT NOT NULL) STRICT;"
    "CREATE INDEX events_by_user ON events(user, id);"
    "CREATE INDEX events_by_subject ON events(subject, id);"
    "CREATE TABLE prompt_keys("
    "  user TEXT NOT NULL,"
    "  key TEXT NOT NULL,"
    "  hash TEXT NOT NULL,"
    "  prompt TEXT NOT NULL,"
    "  created_at TEXT NOT NULL,"
    "  PRIMARY KEY(user, key)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX prompt_keys_by_prompt ON prompt_keys(prompt);"
    "CREATE TABLE tokens("
    "  hash TEXT PRIMARY KEY,"
    "  user TEXT NOT NULL,"
    "  created_at TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER prompt_is_removed AFTER DELETE ON prompts BEGIN"
    "  DELETE FROM events WHERE subject = old.id;"
    "  DELETE FROM prompt_keys WHERE prompt = old.id;"
    " END;"
    "CREATE TRIGGER conversation_is_removed AFTER DELETE ON conversations BEGIN"
    "  DELETE FROM events WHERE subject = old.id;"
    " END;",
    /* program_sessions: `run` is the prompt that has the session, or had it last; `found` is what it finds, `kept` what
     * it leaves, NULL until it has ended by itself. */
    "CREATE TABLE program_sessions("
    "  user TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  used_at TEXT NOT NULL,"
    "  run TEXT NOT NULL,"
    "  found BLOB,"
    "  kept BLOB,"
    "  PRIMARY KEY(user, name)) STRICT;"
    "CREATE INDEX program_sessions_by_use ON program_sessions(used_at);",
    /* unended_prompts: those whose beginning an event has told, and whose end none has. Few, while events are many. */
    "CREATE TABLE unended_prompts(prompt TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"
    "INSERT INTO unended_prompts SELECT subject FROM events WHERE subject IN (SELECT id FROM prompts) GROUP BY subject"
    "  HAVING max(name IN ('prompt.completed', 'prompt.cancelled', 'prompt.error')) = 0;"
    "CREATE TRIGGER prompt_is_told AFTER INSERT ON events WHEN new.name IN ('prompt.created', 'prompt.resumed') BEGIN"
    "  INSERT OR IGNORE INTO unended_prompts VALUES(new.subject);"
    " END;"
    "CREATE TRIGGER prompt_is_ended AFTER INSERT ON events"
    "  WHEN new.name IN ('prompt.completed', 'prompt.cancelled', 'prompt.error') BEGIN"
    "  DELETE FROM unended_prompts WHERE prompt = new.subject;"
    " END;"
    "CREATE TRIGGER unended_prompt_is_removed AFTER DELETE ON prompts BEGIN"
    "  DELETE FROM unended_prompts WHERE prompt = old.id;"
    " END;",
    /* saved_programs: `hash` is the lt_str_hash of the code, by which the record of a run names a version. A deleted
     * program keeps its rows for a while, and its numbers. */
    "CREATE TABLE saved_programs("
    "  name TEXT NOT NULL,"
    "  version INTEGER NOT NULL,"
    "  saved_at TEXT NOT NULL,"
    "  deleted_at TEXT,"
    "  language TEXT NOT NULL,"
    "  description TEXT NOT NULL,"
    "  schema TEXT NOT NULL,"
    "  hash INTEGER NOT NULL,"
    "  code TEXT NOT NULL,"
    "  PRIMARY KEY(name, version)) STRICT;"
    "CREATE INDEX saved_programs_by_hash ON saved_programs(name, hash);",
    /* prompts: `attachments` are the files that the user has sent with the message, JSON: [{"id" of the artifact,
     * "name", "mimeType", "bytes"}]; NULL: none. */
    "ALTER TABLE prompts ADD COLUMN attachments TEXT;",
    /* conversations: `summary` stands in the place of the earliest prompts where a model is told of them, JSON:
     * {"upTo": the id of the last prompt that it covers, "text"}; NULL: there is none. */
    "ALTER TABLE conversations ADD COLUMN summary TEXT;",
    /* prompts: `undone_at` is when the user took the prompt back; NULL: it counts. */
    "ALTER TABLE prompts ADD COLUMN undone_at TEXT;",
    /* saved_programs: `user` is whose a program is; those of "local" are everybody's. */
    "CREATE TABLE programs_by_user("
    "  user TEXT NOT NULL DEFAULT 'local',"
    "  name TEXT NOT NULL,"
    "  version INTEGER NOT NULL,"
    "  saved_at TEXT NOT NULL,"
    "  deleted_at TEXT,"
    "  language TEXT NOT NULL,"
    "  description TEXT NOT NULL,"
    "  schema TEXT NOT NULL,"
    "  hash INTEGER NOT NULL,"
    "  code TEXT NOT NULL,"
    "  PRIMARY KEY(user, name, version)) STRICT;"
    "INSERT INTO programs_by_user(name, version, saved_at, deleted_at, language, description, schema, hash, code)"
    " SELECT name, version, saved_at, deleted_at, language, description, schema, hash, code FROM saved_programs;"
    "DROP TABLE saved_programs;"
    "ALTER TABLE programs_by_user RENAME TO saved_programs;"
    "CREATE INDEX saved_programs_by_hash ON saved_programs(user, name, hash);",
    /* calls: nothing looks for the open calls of all runs. */
    "DROP INDEX calls_open;",
};
enum { VERSIONS = sizeof versions / sizeof versions[0], BASE_VERSION = 3 };

int lt_db_tables_version(void) {
  return VERSIONS;
}

int lt_db_tables_base_version(void) {
  return BASE_VERSION;
}

static lt_status db_tables_count_additions(struct sqlite3 *sql, int64_t *ret_count, lt_err *err) {
  int64_t tables = 0;
  *ret_count = 0;
  LT_TRY(lt_query_number(sql, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_additions'", &tables, err));
  return tables == 0 ? LT_OK : lt_query_number(sql, "SELECT count FROM schema_additions", ret_count, err);
}

lt_status lt_db_tables_check(struct sqlite3 *sql, int *ret_version, lt_err *err) {
  int64_t application = 0, version = 0, objects = 0;
  LT_TRY(lt_query_number(sql, "PRAGMA application_id", &application, err));
  LT_TRY(lt_query_number(sql, "PRAGMA user_version", &version, err));
  LT_TRY(lt_query_number(sql, "SELECT count(*) FROM sqlite_schema", &objects, err));
  bool is_new = application == 0 && version == 0 && objects == 0;
  if (!is_new && application != LT_DB_TABLES_APPLICATION) {
    return lt_fail(err, LT_E_IO, "the database %s belongs to another program: name another with `store: sqlite:PATH`",
                   lt_sqlite.db_filename(sql, "main"));
  }
  if (version > BASE_VERSION) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "the database %s was made by a newer Lathe (version %" PRId64
                   " of its tables, this one knows %d): use that Lathe, or name another with `store: sqlite:PATH`",
                   lt_sqlite.db_filename(sql, "main"), version, BASE_VERSION);
  }
  int64_t additions = 0;
  LT_TRY(db_tables_count_additions(sql, &additions, err));
  *ret_version = (int)(version + additions);
  return LT_OK;
}

lt_status lt_db_tables_upgrade(struct sqlite3 *sql, int version, lt_err *err) {
  int old = 0;
  LT_TRY(lt_db_tables_check(sql, &old, err));
  for (int i = old; i < version; i++) {
    LT_TRY(lt_query_exec(sql, versions[i], err));
  }
  if (old >= version) {
    return LT_OK;
  }
  char text[128];
  snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d", LT_DB_TABLES_APPLICATION,
           version < BASE_VERSION ? version : BASE_VERSION);
  LT_TRY(lt_query_exec(sql, text, err));
  if (version <= BASE_VERSION) {
    return LT_OK;
  }
  snprintf(text, sizeof text, "UPDATE schema_additions SET count = %d", version - BASE_VERSION);
  return lt_query_exec(sql, text, err);
}
