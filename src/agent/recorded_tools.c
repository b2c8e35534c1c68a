#include "agent/recorded_tools.h"

#include "agent/turn_state.h"
#include "json/json.h"
#include "replay/notes.h"
#include "tool/tool_list.h"

static void recorded_tools_forget(lt_agent *agent) {
  lt_catalog_unref(agent->kept);
  agent->kept = NULL;
}

/* Many prompts see the same snapshot, and a thousand of them may begin at once. A prompt that begins while the first
 * one writes the list uses its name already: the store writes the list before that prompt's record. */
lt_str lt_recorded_tools_keep(lt_turn *turn, lt_catalog *tools) {
  lt_agent *agent = turn->agent;
  char hash[LT_BLOB_HASH_BYTES + 1];
  if (agent->kept == tools) {
    return lt_str_of(agent->kept_tools);
  }
  LT_AUTO_BUF(text, LT_BLOB_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_tool_list_put(tools, &w);
  bool kept = text.status == LT_OK;
  if (kept) {
    recorded_tools_forget(agent);
    agent->kept = lt_catalog_ref(tools);
    lt_store_blob_name(lt_buf_view(&text), agent->kept_tools);
    kept = lt_store_blob_put(agent->options.db, lt_buf_view(&text), hash, NULL) == LT_OK;
  }
  if (!kept && agent->kept == tools) {
    recorded_tools_forget(agent);
  }
  return kept ? lt_arena_dup(&turn->arena, lt_str_of(hash)) : LT_STR("");
}

static lt_status recorded_tools_name(const lt_record *record, lt_arena *arena, lt_str *ret_name, lt_err *err) {
  const lt_note *start = lt_notes_find(record, LT_PROMPT_NOTE_START);
  lt_json_doc doc;
  if (start == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "nothing is on record of the prompt: it is an older Lathe's, or had not begun");
  }
  *ret_name = LT_STR("");
  LT_TRY(lt_json_parse(arena, start->text, &doc, err));
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "tools"), arena, ret_name);
  return LT_OK;
}

lt_status lt_agent_recorded_tools(lt_store *db, lt_journal *journal, lt_str prompt, lt_buf *out, lt_err *err) {
  lt_record record;
  lt_str name = LT_STR(""); /* in the record, or in the arena */
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_TRY(journal->recall(journal, prompt, &record, err));
  lt_status status = recorded_tools_name(&record, &arena, &name, err);
  if (status == LT_OK && name.n > 0) {
    status = lt_store_blob_get(db, name, out, err);
  } else if (status == LT_OK) {
    lt_buf_addc(out, "[]");
  }
  lt_record_release(&record);
  return status;
}
