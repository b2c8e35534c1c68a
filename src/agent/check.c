#include "agent/check.h"

#include "agent/outbox_impl.h"
#include "agent/turn_state.h"
#include "base/utf8.h"
#include "json/json.h"
#include "tool/tool_list.h"

/* --- The prompt itself -------------------------------------------------------------------------------------------- */
lt_status lt_turn_check_reply(lt_turn *turn, lt_err *err) {
  lt_turn_record *record = &turn->own->record;
  if (!record->differs) {
    return LT_OK;
  }
  lt_buf why;
  lt_buf_init(&why, LT_KIB);
  lt_buf_printf(&why, "the model is told something else before its reply %llu",
                (unsigned long long)record->differed + 1);
  record->differs = false; /* it has been said */
  lt_status status = lt_turn_diverge(turn, lt_buf_view(&why), err);
  lt_buf_release(&why);
  return status;
}

lt_status lt_turn_check_beyond(lt_turn *turn, const char *what, lt_err *err) {
  lt_buf why;
  lt_buf_init(&why, LT_KIB);
  lt_buf_printf(&why, LT_AGENT_BEYOND ": %s", what);
  lt_status status = lt_turn_diverge(turn, lt_buf_view(&why), err);
  lt_buf_release(&why);
  return status;
}

lt_status lt_turn_check_end(lt_turn *turn, lt_err *err) {
  const char *id = lt_outbox_unclaimed(&turn->own->outbox);
  if (id == NULL) {
    return LT_OK;
  }
  lt_buf why;
  lt_buf_init(&why, LT_KIB);
  lt_buf_printf(&why, "it ended without the output \"%s\" that is on record", id);
  lt_status status = lt_turn_diverge(turn, lt_buf_view(&why), err);
  lt_buf_release(&why);
  return status;
}

/* --- Outputs ------------------------------------------------------------------------------------------------------ */
typedef struct comparing {
  lt_outbox *outbox;
  const lt_output *output;
  lt_arena arena;
  lt_json_doc doc;
  lt_json json; /* as it is on record */
} comparing;

static bool begin(comparing *c, lt_outbox *o, const lt_output *output) {
  *c = (comparing){.outbox = o, .output = output};
  lt_arena_init(&c->arena, 2 * LT_PROMPT_MEMORY_BYTES);
  bool read = lt_json_parse(&c->arena, lt_buf_view(&output->json), &c->doc, NULL) == LT_OK;
  if (read) {
    c->json = lt_json_root(&c->doc);
  } else {
    lt_arena_release(&c->arena);
  }
  return read;
}

static void end(comparing *c) {
  lt_arena_release(&c->arena);
}

#define SHOWN_BYTES 160

static void put_shown(lt_buf *out, lt_str text, size_t from) {
  lt_buf_addc(out, from > 0 ? "..." : "");
  lt_buf_add(out, lt_utf8_cut(lt_str_sub(text, from, text.n), SHOWN_BYTES));
  lt_buf_addc(out, text.n - from > SHOWN_BYTES ? "..." : "");
}

/* From a little before the first difference. */
static size_t first_difference(lt_str a, lt_str b) {
  size_t at = 0;
  while (at < a.n && at < b.n && a.p[at] == b.p[at]) {
    at++;
  }
  size_t from = at > 20 ? at - 20 : 0;
  while (from > 0 && from < a.n && ((unsigned char)a.p[from] & 0xc0) == 0x80) {
    from--;
  }
  return from;
}

static void differs(const comparing *c, const char *what, lt_str now, lt_str then) {
  lt_buf why;
  size_t from = first_difference(now, then);
  lt_buf_init(&why, 4 * LT_KIB);
  lt_buf_printf(&why, "the %s of the output \"%.*s\" is \"", what, LT_STR_ARG(c->output->id));
  put_shown(&why, now, from);
  lt_buf_addc(&why, "\", and on record it is \"");
  put_shown(&why, then, from);
  lt_buf_addc(&why, "\"");
  (void)lt_turn_diverge(c->outbox->turn, lt_buf_view(&why), NULL);
  lt_buf_release(&why);
}

/* Of what was too long only the beginning is there. */
static bool is_preview(lt_str text) {
  return lt_str_starts(text, LT_STR("{\"preview\":"));
}

static void compare(const comparing *c, const char *what, lt_str now, lt_str then) {
  if (!lt_str_eq(now, then) && !is_preview(then)) {
    differs(c, what, now, then);
  }
}

static lt_str str_of(comparing *c, lt_json value) {
  lt_str text = LT_STR("");
  (void)lt_json_str(value, &c->arena, &text);
  return text;
}

void lt_outbox_check_text(lt_outbox *o, const lt_output *output, lt_str text) {
  comparing c;
  if (begin(&c, o, output)) {
    compare(&c, "content", text, str_of(&c, lt_json_get(c.json, "content")));
    end(&c);
  }
}

void lt_outbox_check_tool(lt_outbox *o, const lt_output *output, const lt_outbox_tool *tool) {
  comparing c;
  if (begin(&c, o, output)) {
    lt_json input = lt_json_get(c.json, "input");
    bool is_json = lt_json_check(tool->input, NULL) == LT_OK;
    compare(&c, "tool", tool->function, str_of(&c, lt_json_get(c.json, "function")));
    compare(&c, "input", tool->input, is_json ? lt_json_text(input) : str_of(&c, input));
    end(&c);
  }
}

void lt_outbox_check_result(lt_outbox *o, const lt_output *output, lt_status status, lt_str answer) {
  comparing c;
  if (!begin(&c, o, output)) {
    return;
  }
  lt_json result = lt_json_get(c.json, "result");
  bool failed = lt_json_exists(lt_json_get(result, "error"));
  if (failed != (status != LT_OK)) {
    compare(&c, "end", status == LT_OK ? LT_STR("success") : answer,
            failed ? str_of(&c, lt_json_get(result, "error")) : LT_STR("success"));
  } else if (failed) {
    compare(&c, "error", lt_str_sub(answer, 0, LT_RUN_ERROR_BYTES), str_of(&c, lt_json_get(result, "error")));
  } else {
    lt_json value = lt_json_get(result, "output");
    compare(&c, "result", answer, lt_json_exists(value) ? lt_json_text(value) : LT_STR(""));
  }
  end(&c);
}

/* --- The tools ---------------------------------------------------------------------------------------------------- */
static void forget_tools(lt_agent *agent) {
  lt_catalog_unref(agent->kept);
  agent->kept = NULL;
}

/* The same snapshot is the same for many prompts, of which a thousand may begin at once: whoever comes while the first
 * one writes has the name, and is on record behind it. */
lt_str lt_turn_keep_tools(lt_turn *turn, lt_catalog *tools) {
  lt_agent *agent = turn->agent;
  char hash[LT_BLOB_HASH_BYTES + 1];
  if (agent->kept == tools) {
    return lt_str_of(agent->kept_tools);
  }
  lt_buf text;
  lt_buf_init(&text, LT_BLOB_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_tool_list_put(tools, &w);
  bool kept = text.status == LT_OK;
  if (kept) {
    forget_tools(agent);
    agent->kept = lt_catalog_ref(tools);
    lt_store_blob_name(lt_buf_view(&text), agent->kept_tools);
    kept = lt_store_blob_put(agent->options.db, lt_buf_view(&text), hash, NULL) == LT_OK;
  }
  lt_buf_release(&text);
  if (!kept && agent->kept == tools) {
    forget_tools(agent);
  }
  return kept ? lt_arena_dup(&turn->arena, lt_str_of(hash)) : LT_STR("");
}

static lt_status read_start(const lt_record *record, lt_arena *arena, lt_str *ret_tools, lt_err *err) {
  for (size_t i = 0; i < record->note_count; i++) {
    lt_json_doc doc;
    if (record->notes[i].kind == LT_PROMPT_NOTE_START) {
      *ret_tools = LT_STR("");
      LT_TRY(lt_json_parse(arena, record->notes[i].text, &doc, err));
      (void)lt_json_str(lt_json_get(lt_json_root(&doc), "tools"), arena, ret_tools);
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_NOTFOUND, "nothing is on record of the prompt: it is an older Lathe's, or had not begun");
}

lt_status lt_agent_recorded_tools(lt_store *db, lt_journal *journal, lt_str prompt, lt_buf *out, lt_err *err) {
  lt_record record;
  lt_arena arena;
  lt_str hash = LT_STR("");
  LT_TRY(journal->recall(journal, prompt, &record, err));
  lt_arena_init(&arena, LT_MIB);
  lt_status status = read_start(&record, &arena, &hash, err);
  if (status == LT_OK && hash.n > 0) {
    status = lt_store_blob_get(db, hash, out, err);
  } else if (status == LT_OK) {
    lt_buf_addc(out, "[]");
  }
  lt_arena_release(&arena);
  lt_record_release(&record);
  return status;
}
