#include "agent/recorded_tools.h"

#include "agent/turn_state.h"
#include "tool/tool_list.h"

/* --- Storing a list ----------------------------------------------------------------------------------------------- */
/* Stores the tools (`should_store` false: names them only), and returns the name of the blob, empty on failure. Many
 * prompts see the same snapshot, and a thousand of them may begin at once. A prompt that begins while the first one
 * writes the list uses its name already: the store writes the list before that prompt's record. */
static lt_str recorded_tools_put_blob(lt_turn *turn, const lt_catalog *tools, bool should_store) LT_YIELDS {
  lt_agent *agent = turn->agent;
  uint64_t number = lt_catalog_number(tools);
  char hash[LT_BLOB_HASH_BYTES + 1];
  if (agent->kept == number && (agent->is_kept_stored || !should_store)) {
    return lt_str_of(agent->kept_tools);
  }
  LT_AUTO_BUF(text, LT_BLOB_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_tool_list_put(tools, &w);
  bool kept = text.status == LT_OK;
  if (kept) {
    agent->kept = number;
    agent->is_kept_stored = should_store;
    lt_store_blob_name(lt_buf_view(&text), agent->kept_tools);
    memcpy(hash, agent->kept_tools, sizeof hash);
    kept = !should_store || lt_store_blob_put(agent->options.db, lt_buf_view(&text), hash, NULL) == LT_OK;
  }
  if (!kept && agent->kept == number) {
    agent->kept = 0;
  }
  return kept ? lt_arena_dup(&turn->arena, lt_str_of(hash)) : LT_STR("");
}

static lt_str recorded_tools_keep(lt_turn *turn, const lt_catalog *tools) LT_YIELDS {
  return recorded_tools_put_blob(turn, tools, !lt_deferred_start_is_open(turn->internal));
}

void lt_recorded_tools_store(lt_turn *turn) {
  if (turn->prepared.catalog != NULL) {
    (void)recorded_tools_put_blob(turn, turn->prepared.catalog, true);
  }
}

static void recorded_tools_put_names(lt_json_writer *w, const char *key, const lt_str *names, size_t count) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (size_t i = 0; i < count; i++) {
    lt_json_put_str(w, names[i]);
  }
  lt_json_end_array(w);
}

/* `kept`: the blob's name. */
static void recorded_tools_put_members(lt_json_writer *w, const lt_catalog *tools, lt_str kept) {
  const lt_str *names;
  size_t count = lt_catalog_silent(tools, &names);
  lt_json_key(w, "tools");
  lt_json_put_str(w, kept);
  recorded_tools_put_names(w, "silent", names, count);
  count = lt_catalog_withheld(tools, &names);
  recorded_tools_put_names(w, "withheld", names, count);
}

static void recorded_tools_put_object(lt_buf *out, const lt_catalog *tools, lt_str kept) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  recorded_tools_put_members(&w, tools, kept);
  lt_json_end_object(&w);
}

/* Stores the tools that the turn sees first, and writes them as members of an open object. */
static void recorded_tools_put(lt_turn *turn, lt_json_writer *w) LT_YIELDS {
  const lt_catalog *tools = turn->prepared.catalog;
  LT_AUTO_BUF(object, LT_MIB);
  lt_str kept = tools != NULL ? recorded_tools_keep(turn, tools) : LT_STR("");
  if (kept.n == 0) {
    lt_json_key(w, "tools");
    lt_json_put_str(w, kept);
    return;
  }
  recorded_tools_put_members(w, tools, kept);
  recorded_tools_put_object(&object, tools, kept);
  turn->internal->recorded_tools.last = lt_arena_dup(&turn->arena, lt_buf_view(&object));
}

/* An older Lathe compares it with its own. Many prompts see the same snapshot. */
static uint64_t recorded_tools_hash(lt_agent *agent, const lt_catalog *tools) {
  if (tools == NULL || agent->hashed == lt_catalog_number(tools)) {
    return tools == NULL ? 0 : agent->tools_hash;
  }
  uint64_t hash = 0;
  for (size_t i = 0; i < lt_catalog_count(tools); i++) {
    const lt_tool *tool = lt_catalog_at(tools, i);
    hash = hash * 31 + lt_str_hash(tool->id) + tool->input_schema.n;
  }
  agent->hashed = lt_catalog_number(tools);
  agent->tools_hash = hash;
  return hash;
}

void lt_recorded_tools_start(lt_turn *turn) {
  if (!lt_turn_record_wants_start(turn)) {
    return;
  }
  lt_buf text;
  lt_buf_init(&text, 2 * LT_MIB);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_begin_object(&w);
  lt_json_key(&w, "lathe");
  lt_json_put_cstr(&w, LT_VERSION);
  recorded_tools_put(turn, &w);
  lt_json_end_object(&w);
  lt_turn_record_put_start(turn, recorded_tools_hash(turn->agent, turn->prepared.catalog), &text);
}

/* --- Tools that are not there any more ---------------------------------------------------------------------------- */
typedef struct absent_provider {
  lt_provider base; /* first */
  lt_str reason;
} absent_provider;

static lt_str absent_provider_down(lt_provider *self) {
  return ((absent_provider *)(void *)self)->reason;
}

static lt_status absent_provider_invoke(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                                        lt_buf *out, lt_err *err) LT_YIELDS {
  (void)name;
  (void)input;
  (void)options;
  (void)out;
  return lt_fail(err, LT_E_CLOSED, "%.*s", LT_STR_ARG(absent_provider_down(self)));
}

/* NULL: no memory. */
static lt_provider *absent_provider_new(lt_turn *turn, lt_str ns, lt_str id) {
  absent_provider *absent = lt_arena_zalloc(&turn->arena, 1, sizeof *absent);
  lt_str reason = lt_arena_printf(&turn->arena, "Tool \"%.*s\" is not there any more: the prompt began when it was",
                                  LT_STR_ARG(id));
  lt_str name = lt_arena_dup(&turn->arena, ns);
  if (absent == NULL || reason.p == NULL || name.p == NULL) {
    return NULL;
  }
  absent->base =
      (lt_provider){.name = name, .invoke = absent_provider_invoke, .down = absent_provider_down, .of_caller = true};
  absent->reason = reason;
  return &absent->base;
}

/* --- From the record to a catalog --------------------------------------------------------------------------------- */
typedef struct recorded_catalog {
  lt_turn *turn;
  const lt_catalog *now; /* the tools that there are */
  lt_arena arena;
  lt_tool_list list;
  size_t tools; /* of the list */
  lt_json note;
  lt_catalog_source *sources; /* one for each tool */
  lt_tool_spec *specs;
  size_t count;
} recorded_catalog;

/* The provider of a tool that is not listed now, if it is down or keeps its tools; NULL: there is none. */
static lt_provider *recorded_catalog_find_unlisted(const recorded_catalog *c, lt_str ns) {
  const lt_door *door = c->turn->agent->options.door;
  lt_provider *provider;
  for (size_t i = 0; (provider = lt_door_provider(door, i)) != NULL; i++) {
    bool is_down = provider->down != NULL && provider->down(provider).n > 0;
    if (lt_str_eq(provider->name, ns) && (is_down || provider->keeps_tools)) {
      return provider;
    }
  }
  return NULL;
}

/* Names and descriptions are the recorded ones. What a new call has to comply with is today's: the schema its input is
 * checked against, annotations, approval. */
static lt_status recorded_catalog_add(recorded_catalog *c, lt_str ns, const lt_tool_spec *recorded) {
  lt_str id =
      ns.n > 0 ? lt_arena_printf(&c->arena, "%.*s.%.*s", LT_STR_ARG(ns), LT_STR_ARG(recorded->name)) : recorded->name;
  const lt_tool *tool = lt_catalog_find(c->now, id);
  lt_tool_spec *spec = &c->specs[c->count];
  lt_provider *provider = tool != NULL ? tool->provider : recorded_catalog_find_unlisted(c, ns);
  *spec = *recorded;
  if (tool != NULL) {
    spec->checked_schema = tool->checked_schema;
    spec->annotations = tool->annotations;
    spec->needs_approval = tool->needs_approval;
    spec->approval = tool->approval;
  } else if (provider == NULL) {
    provider = absent_provider_new(c->turn, ns, id);
  }
  c->sources[c->count++] = (lt_catalog_source){.ns = ns, .provider = provider, .tools = spec, .count = 1};
  return id.p != NULL && provider != NULL ? LT_OK : LT_E_NOMEM;
}

/* A tool that is withheld is in the list of all tools, so that programs are told the same about it. */
static lt_status recorded_catalog_add_withheld(recorded_catalog *c, lt_str id) {
  c->specs[c->count] = (lt_tool_spec){.name = id, .not_for_programs = true};
  c->sources[c->count] = (lt_catalog_source){.tools = &c->specs[c->count], .count = 1};
  c->count++;
  return LT_OK;
}

static lt_status recorded_catalog_add_silent(recorded_catalog *c, lt_str ns) {
  c->sources[c->count++] = (lt_catalog_source){.ns = ns};
  return LT_OK;
}

/* Adds each name of a member of the note. A record of the release before has no such member: then `now` is used. */
static lt_status recorded_catalog_add_names(recorded_catalog *c, const char *key, const lt_str *now, size_t now_count,
                                            lt_status (*add)(recorded_catalog *c, lt_str name)) {
  lt_json names = lt_json_get(c->note, key);
  lt_json_iter it = lt_json_each(names);
  lt_str name;
  for (size_t i = 0; !lt_json_exists(names) && i < now_count; i++) {
    LT_TRY(add(c, now[i]));
  }
  while (lt_json_exists(names) && lt_json_next(&it)) {
    LT_TRY(lt_json_str(it.value, &c->arena, &name) ? add(c, name) : LT_E_NOMEM);
  }
  return LT_OK;
}

static lt_status recorded_catalog_collect(recorded_catalog *c) {
  const lt_str *silent, *withheld;
  size_t silent_count = lt_catalog_silent(c->now, &silent), withheld_count = lt_catalog_withheld(c->now, &withheld);
  size_t room = c->tools + lt_json_count(lt_json_get(c->note, "silent")) +
                lt_json_count(lt_json_get(c->note, "withheld")) + silent_count + withheld_count + 1;
  c->sources = lt_arena_zalloc(&c->arena, room, sizeof *c->sources);
  c->specs = lt_arena_zalloc(&c->arena, room, sizeof *c->specs);
  if (c->sources == NULL || c->specs == NULL) {
    return LT_E_NOMEM;
  }
  for (size_t i = 0; i < c->list.count; i++) {
    for (size_t t = 0; t < c->list.sources[i].count; t++) {
      LT_TRY(recorded_catalog_add(c, c->list.sources[i].ns, &c->list.sources[i].tools[t]));
    }
  }
  LT_TRY(recorded_catalog_add_names(c, "silent", silent, silent_count, recorded_catalog_add_silent));
  return recorded_catalog_add_names(c, "withheld", withheld, withheld_count, recorded_catalog_add_withheld);
}

static lt_status recorded_catalog_build(recorded_catalog *c, lt_catalog **ret_catalog, lt_err *err) {
  lt_catalog *all;
  if (recorded_catalog_collect(c) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools that are on record");
  }
  LT_TRY(lt_catalog_new(c->sources, c->count, &all, err));
  if (!c->turn->mode->for_programs) {
    *ret_catalog = all;
    return LT_OK;
  }
  lt_status status = lt_catalog_for_programs(all, ret_catalog, err);
  lt_catalog_unref(all);
  return status;
}

/* Reads the recorded list. LT_E_NOTFOUND: it was not kept, or it has been removed since. */
static lt_status recorded_catalog_read(recorded_catalog *c, lt_str note, lt_buf *text, lt_err *err) LT_YIELDS {
  lt_json_doc *doc = lt_arena_zalloc(&c->arena, 1, sizeof *doc);
  lt_str blob = LT_STR("");
  if (doc == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools that are on record");
  }
  LT_TRY(lt_json_parse(&c->arena, note, doc, err));
  c->note = lt_json_root(doc);
  (void)lt_json_str(lt_json_get(c->note, "tools"), &c->arena, &blob);
  if (blob.n == 0) {
    return LT_E_NOTFOUND;
  }
  LT_TRY(lt_store_blob_get(c->turn->agent->options.db, blob, text, err));
  LT_TRY(lt_tool_list_read(lt_buf_view(text), &c->arena, &c->list, err));
  for (size_t i = 0; i < c->list.count; i++) {
    c->tools += c->list.sources[i].count;
  }
  return LT_OK;
}

static lt_status recorded_tools_restore(lt_turn *turn, lt_str note, lt_err *err) LT_YIELDS {
  recorded_catalog c = {.turn = turn, .now = turn->prepared.catalog};
  lt_catalog *recorded = NULL;
  LT_AUTO_BUF(text, LT_BLOB_MAX_BYTES);
  lt_arena_init(&c.arena, LT_PROMPT_MEMORY_BYTES);
  lt_status status = recorded_catalog_read(&c, note, &text, err);
  if (status == LT_OK) {
    status = recorded_catalog_build(&c, &recorded, err);
  }
  lt_arena_release(&c.arena);
  if (status == LT_OK) {
    lt_catalog_unref(turn->prepared.catalog);
    turn->prepared.catalog = recorded;
    turn->caller.catalog = recorded;
  }
  return status == LT_E_NOTFOUND ? LT_OK : status; /* without a list, the prompt sees the tools that there are */
}

/* --- Following the record ----------------------------------------------------------------------------------------- */
/* The members of a note, in the form of recorded_tools_put_object. */
static void recorded_tools_put_note(lt_turn *turn, lt_str note, lt_buf *out) {
  static const char *const keys[] = {"tools", "silent", "withheld"};
  lt_json_doc doc;
  if (lt_json_parse(&turn->arena, note, &doc, NULL) != LT_OK) {
    return;
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    lt_json_key(&w, keys[i]);
    lt_json_put_raw(&w, lt_json_text(lt_json_get(lt_json_root(&doc), keys[i])));
  }
  lt_json_end_object(&w);
}

static lt_status recorded_tools_take(lt_turn *turn, lt_str note, lt_err *err) LT_YIELDS {
  lt_recorded_tools *tools = &turn->internal->recorded_tools;
  const lt_catalog *now = turn->prepared.catalog;
  LT_AUTO_BUF(recorded, LT_MIB);
  LT_AUTO_BUF(object, LT_MIB);
  recorded_tools_put_note(turn, note, &recorded);
  recorded_tools_put_object(&object, now, recorded_tools_keep(turn, now));
  tools->last = lt_arena_dup(&turn->arena, lt_buf_view(&recorded));
  if (lt_str_eq(lt_buf_view(&recorded), lt_buf_view(&object))) {
    return LT_OK;
  }
  turn->internal->record.has_other_tools = true;
  return recorded_tools_restore(turn, note, err);
}

static void recorded_tools_note_change(lt_turn *turn, uint64_t round) LT_YIELDS {
  lt_recorded_tools *tools = &turn->internal->recorded_tools;
  const lt_catalog *now = turn->prepared.catalog;
  lt_str kept = recorded_tools_keep(turn, now);
  LT_AUTO_BUF(object, LT_MIB);
  recorded_tools_put_object(&object, now, kept);
  if (kept.n > 0 && object.status == LT_OK && !lt_str_eq(tools->last, lt_buf_view(&object))) {
    tools->last = lt_arena_dup(&turn->arena, lt_buf_view(&object));
    lt_turn_record_put_tools(turn, round, tools->last);
  }
}

lt_status lt_recorded_tools_follow(lt_turn *turn, lt_err *err) {
  uint64_t round = turn->internal->recorded_tools.rounds++;
  lt_str note = lt_turn_record_tools(turn, round);
  if (note.n > 0) {
    return recorded_tools_take(turn, note, err);
  }
  if (round > 0 && turn->internal->journal.note != NULL && turn->prepared.catalog != NULL) {
    recorded_tools_note_change(turn, round);
  }
  return LT_OK;
}

/* --- For replay --------------------------------------------------------------------------------------------------- */
static lt_status recorded_tools_put_list(lt_store *db, lt_str note, lt_json_writer *w, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str blob = LT_STR("");
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(list, LT_BLOB_MAX_BYTES);
  LT_TRY(lt_json_parse(&arena, note, &doc, err));
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "tools"), &arena, &blob);
  if (blob.n > 0) {
    LT_TRY(lt_store_blob_get(db, blob, &list, err));
  }
  lt_json_begin_object(w);
  lt_json_key(w, "tools");
  lt_json_put_raw(w, list.n > 0 ? lt_buf_view(&list) : LT_STR("[]"));
  lt_json_key(w, "silent");
  lt_json_put_raw(w, lt_json_text(lt_json_get(lt_json_root(&doc), "silent")));
  lt_json_end_object(w);
  return LT_OK;
}

static bool recorded_tools_is_note(const lt_note *note) {
  return note->kind == LT_PROMPT_NOTE_START || note->kind == LT_PROMPT_NOTE_TOOLS;
}

lt_status lt_agent_recorded_tools(lt_store *db, lt_journal *journal, lt_str prompt, lt_buf *out, lt_err *err) {
  lt_record record;
  LT_TRY(journal->recall(journal, prompt, &record, err));
  lt_status status = LT_OK;
  if (lt_notes_find(&record, LT_PROMPT_NOTE_START) == NULL) {
    status =
        lt_fail(err, LT_E_NOTFOUND, "nothing is on record of the prompt: it is an older Lathe's, or had not begun");
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; status == LT_OK && i < record.note_count; i++) {
    if (recorded_tools_is_note(&record.notes[i])) {
      status = recorded_tools_put_list(db, record.notes[i].text, &w, err);
    }
  }
  lt_json_end_array(&w);
  lt_record_release(&record);
  return status;
}
