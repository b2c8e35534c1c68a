#include "agent/history/history.h"

#include <stdio.h>

#include "agent/conversation_search.h"
#include "agent/history/history_writer.h"
#include "agent/modes/mode_table.h"
#include "base/limits.h"
#include "text/tokens.h"

#define ID_CHARS     40 /* the limit of the strictest provider */
#define FRAME_TOKENS 16 /* of a message without its content */

typedef struct history_reader {
  const lt_history *history;
  lt_arena *arena;
  lt_history_part *parts;
  size_t count, room;
  uint64_t *ids; /* hashes of the calls' ids so far; 0: free */
  uint32_t id_mask;
  bool no_memory;
} history_reader;

/* The prompt that is being read. */
typedef struct history_prompt {
  uint32_t number;
  lt_str id;
  lt_history_part_kind program; /* the kind of its programs; LT_HISTORY_PART_CALL: it has none */
  lt_str program_name;
  lt_str unanswered;
  size_t first_part;
  size_t last_program; /* index of its part, or SIZE_MAX */
} history_prompt;

/* --- Parts -------------------------------------------------------------------------------------------------------- */
static lt_history_part *history_add_part(history_reader *r, const history_prompt *p, lt_history_part_kind kind) {
  if (r->count == r->room) {
    size_t room = r->room > 0 ? 2 * r->room : 64;
    lt_history_part *parts = lt_arena_zalloc(r->arena, room, sizeof *parts);
    if (parts == NULL) {
      r->no_memory = true;
      return NULL;
    }
    if (r->count > 0) {
      memcpy(parts, r->parts, r->count * sizeof *parts);
    }
    r->parts = parts;
    r->room = room;
  }
  lt_history_part *part = &r->parts[r->count++];
  *part = (lt_history_part){.kind = kind, .prompt = p->number};
  return part;
}

/* The characters of a string, otherwise empty. */
static lt_str history_read_str(history_reader *r, lt_json v) {
  lt_str text = LT_STR_NULL;
  if (lt_json_typeof(v) == LT_JSON_STRING && !lt_json_str(v, r->arena, &text)) {
    r->no_memory = true;
  }
  return text;
}

static void history_add_text(history_reader *r, const history_prompt *p, lt_history_part_kind kind, lt_str text) {
  lt_history_part *part = text.n > 0 ? history_add_part(r, p, kind) : NULL;
  if (part != NULL) {
    part->text = text;
  }
}

/* The text of the buffer, in the arena. */
static lt_str history_keep_text(history_reader *r, lt_buf *text) {
  lt_str kept = lt_arena_dup(r->arena, lt_buf_view(text));
  r->no_memory = r->no_memory || text->status != LT_OK || kept.p == NULL;
  lt_buf_release(text);
  return kept;
}

/* --- Ids of calls ------------------------------------------------------------------------------------------------- */
/* False: the id was in the set. */
static bool history_enter_id(history_reader *r, lt_str id) {
  uint64_t hash = lt_str_hash(id) | 1;
  uint32_t at = (uint32_t)(hash >> 8) & r->id_mask;
  while (r->ids[at] != 0 && r->ids[at] != hash) {
    at = (at + 1) & r->id_mask;
  }
  bool is_new = r->ids[at] == 0;
  r->ids[at] = hash;
  return is_new;
}

static bool history_is_usable_id(lt_str id) {
  char plain[LT_TOOL_NAME_CHARS + 1];
  lt_tool_definitions_plain_name(id, plain);
  return id.n > 0 && id.n <= ID_CHARS && lt_str_eqc(id, plain);
}

/* Returns the call's stored id when providers accept it and it is unique. Otherwise it makes an id of the call's place,
 * which is the same each time. */
static lt_str history_id_for(history_reader *r, const history_prompt *p, lt_str id, uint32_t number) {
  for (uint64_t salt = 0; !history_is_usable_id(id) || !history_enter_id(r, id); salt++) {
    uint64_t hash = lt_str_hash(p->id) + (uint64_t)number * 0x9E3779B97F4A7C15u + salt;
    id = lt_arena_printf(r->arena, "call_%016llx", (unsigned long long)hash);
    if (id.p == NULL) {
      r->no_memory = true;
      break;
    }
  }
  return id;
}

/* --- Outputs ------------------------------------------------------------------------------------------------------ */
static void history_read_file(history_reader *r, const history_prompt *p, lt_json output) {
  lt_str path = history_read_str(r, lt_json_get(output, "path"));
  lt_str what = history_read_str(r, lt_json_get(output, "description"));
  if (path.n == 0) {
    path = history_read_str(r, lt_json_get(output, "artifact"));
  }
  lt_buf text;
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, "[File sent to user: \"");
  lt_buf_add(&text, path);
  lt_buf_addc(&text, what.n > 0 ? "\" \xE2\x80\x94 " : "\"");
  lt_buf_add(&text, what);
  lt_buf_byte(&text, ']');
  history_add_text(r, p, LT_HISTORY_PART_TEXT, history_keep_text(r, &text));
}

/* A program's call is shown with the program. The model must know which calls a failed program has made. */
static void history_note_call(history_reader *r, lt_history_part *program, lt_str function) {
  if (lt_json_str_eq(lt_json_get(program->result, "type"), LT_STR("success")) ||
      program->made.n > LT_HISTORY_SHORT_BYTES) {
    return;
  }
  lt_buf made;
  lt_buf_init(&made, LT_JSON_MAX_BYTES);
  lt_buf_add(&made, program->made);
  lt_buf_addc(&made, made.n > 0 ? ", " : "");
  lt_buf_add(&made, function);
  lt_buf_addc(&made, made.n > LT_HISTORY_SHORT_BYTES ? ", ..." : "");
  program->made = history_keep_text(r, &made);
}

/* The program that made the call: the one that `parent` names; in code mode, where programs make all calls, the last
 * one; or NULL.
 */
static lt_history_part *history_maker_of(history_reader *r, const history_prompt *p, lt_json output) {
  lt_str parent = history_read_str(r, lt_json_get(output, "parent"));
  if (p->last_program != SIZE_MAX && p->program == LT_HISTORY_PART_JAVASCRIPT) {
    return &r->parts[p->last_program];
  }
  for (size_t i = r->count; parent.n > 0 && i > p->first_part; i--) {
    if (lt_str_eq(r->parts[i - 1].stored_id, parent)) {
      return &r->parts[i - 1];
    }
  }
  return NULL;
}

/* A call that is shown as the model's own needs an id; one that is described in text does not. */
static bool history_is_told_with_id(const history_reader *r, lt_history_part_kind kind) {
  return (kind == LT_HISTORY_PART_CALL && r->history->form == LT_HISTORY_CLASSIC) ||
         (kind == LT_HISTORY_PART_TYPESCRIPT && r->history->form == LT_HISTORY_TYPESCRIPT) ||
         (kind == LT_HISTORY_PART_CELL && r->history->form == LT_HISTORY_CODEX);
}

static void history_read_tool(history_reader *r, history_prompt *p, lt_json output, uint32_t number) {
  lt_str function = history_read_str(r, lt_json_get(output, "function"));
  bool is_program = p->program != LT_HISTORY_PART_CALL && lt_str_eq(function, p->program_name);
  lt_history_part *maker = is_program ? NULL : history_maker_of(r, p, output);
  if (maker != NULL) {
    history_note_call(r, maker, function);
  }
  if (function.n == 0 || maker != NULL) {
    return;
  }
  bool is_of_mode = is_program || p->program == LT_HISTORY_PART_CELL;
  lt_history_part *part = history_add_part(r, p, is_of_mode ? p->program : LT_HISTORY_PART_CALL);
  if (part == NULL) {
    return;
  }
  part->function = function;
  part->input = lt_json_get(output, "input");
  part->result = lt_json_get(output, "result");
  part->unanswered = p->unanswered;
  part->stored_id = history_read_str(r, lt_json_get(output, "id"));
  if (history_is_told_with_id(r, part->kind)) {
    part->id = history_id_for(r, p, part->stored_id, number);
  }
  if (is_program) {
    p->last_program = r->count - 1;
  }
}

/* Modes do not read each other's data. */
static void history_read_data(const history_reader *r, const history_prompt *p, lt_json output) {
  lt_history_form form = r->history->form;
  bool is_own = (form == LT_HISTORY_CODE && p->program != LT_HISTORY_PART_CELL) ||
                (form == LT_HISTORY_CODEX && p->program == LT_HISTORY_PART_CELL);
  lt_json data = r->history->ret_data != NULL && is_own ? lt_json_get(output, "data") : (lt_json){0};
  if (lt_json_exists(data)) {
    *r->history->ret_data = lt_json_text(data);
  }
}

static void history_read_output(history_reader *r, history_prompt *p, lt_json output, uint32_t number) {
  lt_json type = lt_json_get(output, "type");
  if (lt_json_str_eq(type, LT_STR("text"))) {
    history_add_text(r, p, LT_HISTORY_PART_TEXT, history_read_str(r, lt_json_get(output, "content")));
  } else if (lt_json_str_eq(type, LT_STR("file"))) {
    history_read_file(r, p, output);
  } else if (lt_json_str_eq(type, LT_STR("tool"))) {
    history_read_tool(r, p, output, number);
    history_read_data(r, p, output);
  }
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static void history_read_end(history_reader *r, const history_prompt *p, lt_json json) {
  lt_json state = lt_json_get(json, "state");
  if (lt_json_str_eq(state, LT_STR("cancelled"))) {
    history_add_text(r, p, LT_HISTORY_PART_TEXT, LT_STR("[The user cancelled this request]"));
  } else if (lt_json_str_eq(state, LT_STR("failed"))) {
    lt_str why = history_read_str(r, lt_json_get(json, "error"));
    lt_buf text;
    lt_buf_init(&text, LT_JSON_MAX_BYTES);
    lt_buf_addc(&text, why.n > 0 ? "[This request failed: " : "[This request failed");
    lt_buf_add(&text, lt_str_sub(why, 0, LT_HISTORY_SHORT_BYTES));
    lt_buf_byte(&text, ']');
    history_add_text(r, p, LT_HISTORY_PART_TEXT, history_keep_text(r, &text));
  }
}

/* How programs are stored by the mode, if it has any. */
static void history_find_program(const lt_history *history, lt_json mode, history_prompt *p) {
  static const lt_history_part_kind kinds[] = {
      [LT_HISTORY_CLASSIC] = LT_HISTORY_PART_CALL,
      [LT_HISTORY_TYPESCRIPT] = LT_HISTORY_PART_TYPESCRIPT,
      [LT_HISTORY_CODEX] = LT_HISTORY_PART_CELL,
      [LT_HISTORY_CODE] = LT_HISTORY_PART_JAVASCRIPT,
  };
  for (size_t i = 0; i < history->mode_count; i++) {
    const lt_mode *candidate = history->modes[i];
    if (candidate->program != NULL && lt_json_str_eq(mode, lt_str_of(candidate->id))) {
      p->program = kinds[candidate->history];
      p->program_name = lt_str_of(candidate->program);
    }
  }
}

/* The ids of prompts begin with their time, and so are in their order. */
static bool history_is_wanted(const lt_history *history, lt_str id) {
  bool is_covered = history->summary.up_to.n > 0 && lt_str_cmp(id, history->summary.up_to) <= 0;
  bool is_later = history->until.n > 0 && lt_str_cmp(id, history->until) > 0;
  return !is_covered && !is_later && !lt_str_eq(id, history->current);
}

/* What tools have said is in the summary, too: the model is told whose words it is. */
static void history_read_summary(history_reader *r) {
  const history_prompt none = {.program = LT_HISTORY_PART_CALL};
  lt_buf text;
  if (r->history->summary.text.n == 0) {
    return;
  }
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, "[A summary of the conversation so far, which a model has written: it is a note, and no request");
  lt_buf_addc(&text, r->history->can_search ? ". The tool " LT_CONVERSATION_SEARCH
                                              " finds what was said, word for word]\n"
                                            : "]\n");
  lt_buf_add(&text, r->history->summary.text);
  history_add_text(r, &none, LT_HISTORY_PART_USER, history_keep_text(r, &text));
}

static void history_read_input(history_reader *r, const history_prompt *p, lt_json json) {
  lt_str input = history_read_str(r, lt_json_get(json, "input"));
  lt_history_part *part = input.n > 0 ? history_add_part(r, p, LT_HISTORY_PART_USER) : NULL;
  if (part != NULL) {
    part->text = input;
    part->attachments = lt_json_get(json, "attachments");
  }
}

static void history_read_prompt(history_reader *r, lt_json json, uint32_t number) {
  history_prompt p = {
      .number = number, .program = LT_HISTORY_PART_CALL, .first_part = r->count, .last_program = SIZE_MAX};
  lt_json mode = lt_json_get(json, "mode"), state = lt_json_get(json, "state");
  p.id = history_read_str(r, lt_json_get(json, "id"));
  if (lt_json_typeof(json) != LT_JSON_OBJECT || (p.id.n > 0 && !history_is_wanted(r->history, p.id))) {
    return;
  }
  history_find_program(r->history, mode, &p);
  if (lt_json_str_eq(state, LT_STR("cancelled"))) {
    p.unanswered = LT_STR("(no answer: the request was cancelled before)");
  } else if (lt_json_str_eq(state, LT_STR("failed"))) {
    p.unanswered = LT_STR("(no answer: the request failed before)");
  }
  history_read_input(r, &p, json);
  lt_json outputs = lt_json_get(json, "output");
  lt_json_iter it = lt_json_each(outputs);
  for (uint32_t i = 0; lt_json_typeof(outputs) == LT_JSON_ARRAY && lt_json_next(&it); i++) {
    history_read_output(r, &p, it.value, i);
  }
  history_read_end(r, &p, json);
}

static size_t history_count_outputs(lt_json prompts) {
  size_t count = 0;
  lt_json_iter it = lt_json_each(prompts);
  while (lt_json_next(&it)) {
    count += lt_json_count(lt_json_get(it.value, "output"));
  }
  return count;
}

static lt_status history_read_all(history_reader *r, lt_json prompts, lt_err *err) {
  uint32_t size = 16;
  while (size < 2 * history_count_outputs(prompts)) {
    size *= 2;
  }
  r->id_mask = size - 1;
  r->ids = lt_arena_zalloc(r->arena, size, sizeof *r->ids);
  r->no_memory = r->ids == NULL;
  history_read_summary(r);
  lt_json_iter it = lt_json_each(prompts);
  for (uint32_t i = 0; !r->no_memory && lt_json_next(&it); i++) {
    history_read_prompt(r, it.value, i);
  }
  return r->no_memory ? lt_fail(err, LT_E_NOMEM, "no memory for the conversation's history") : LT_OK;
}

/* --- Fitting ------------------------------------------------------------------------------------------------------ */
static lt_status history_write(const history_reader *r, lt_json_writer *w, lt_buf *ret_user, lt_buf *ret_parts) {
  lt_history_writer writer;
  lt_history_writer_init(&writer, r->history, w, r->arena);
  for (size_t i = 0; i < r->count && w->buf->status == LT_OK; i++) {
    lt_history_writer_put(&writer, &r->parts[i]);
  }
  lt_status status = lt_history_writer_end(&writer, ret_user, ret_parts);
  lt_history_writer_release(&writer);
  return status;
}

/* Tokens of a value as it is shown. The stored text is a good estimate of that, and exists already. */
static size_t history_tokens_of(lt_str text, const lt_history_part *part) {
  if (part->level == LT_HISTORY_PART_SHORT && text.n > LT_HISTORY_SHORT_BYTES) {
    return LT_HISTORY_SHORT_BYTES / 3;
  }
  return lt_tokens_estimate(part->kind <= LT_HISTORY_PART_TEXT ? text : lt_str_sub(text, 0, LT_HISTORY_PART_BYTES));
}

/* A program's text is only shortened when it is an argument of a call. */
static size_t history_tokens_of_input(const history_reader *r, const lt_history_part *part) {
  bool is_argument = part->kind == LT_HISTORY_PART_CALL ||
                     (part->kind == LT_HISTORY_PART_TYPESCRIPT && r->history->form == LT_HISTORY_TYPESCRIPT);
  lt_history_part as = *part;
  as.level = is_argument ? part->level : LT_HISTORY_PART_WHOLE;
  return history_tokens_of(lt_json_text(part->input), &as);
}

/* A text is sent as it is; what an image takes depends on the model. */
static size_t history_tokens_of_files(lt_json attachments) {
  size_t tokens = 0;
  for (lt_json_iter it = lt_json_each(attachments); lt_json_next(&it);) {
    int64_t bytes = 0;
    bool is_text = lt_json_str_eq(lt_json_get(it.value, "mimeType"), LT_STR("text/plain"));
    (void)lt_json_int(lt_json_get(it.value, "bytes"), &bytes);
    tokens += is_text && bytes > 0 ? (size_t)bytes / 4 : LT_MEDIA_TOKENS;
  }
  return tokens;
}

/* Estimates the tokens of one part. */
static void history_measure(const history_reader *r, lt_history_part *part) {
  if (part->level == LT_HISTORY_PART_OMITTED) {
    part->tokens = FRAME_TOKENS / 4; /* several left-out parts share one note */
  } else if (part->kind <= LT_HISTORY_PART_TEXT) {
    part->tokens = FRAME_TOKENS + history_tokens_of(part->text, part) + history_tokens_of_files(part->attachments);
  } else {
    part->tokens =
        3 * FRAME_TOKENS + history_tokens_of_input(r, part) + history_tokens_of(lt_json_text(part->result), part);
  }
}

static bool history_is_step(const lt_history_part *part) {
  return part->kind != LT_HISTORY_PART_USER && part->kind != LT_HISTORY_PART_TEXT;
}

/* Whether shortening leaves the part unchanged: then it need not be measured again. */
static bool history_is_short(const lt_history_part *part) {
  lt_str of = part->kind <= LT_HISTORY_PART_TEXT ? part->text : lt_json_text(part->input);
  lt_str result = part->kind <= LT_HISTORY_PART_TEXT ? LT_STR_NULL : lt_json_text(part->result);
  return of.n <= LT_HISTORY_SHORT_BYTES && result.n <= LT_HISTORY_SHORT_BYTES;
}

/* Reduces parts by one level, the oldest first, until all parts fit. */
static void history_lower_level(const history_reader *r, bool steps, lt_history_part_level level, size_t *total) {
  for (size_t i = 0; i<r->count && * total> r->history->max_tokens; i++) {
    lt_history_part *part = &r->parts[i];
    if (part->kind != LT_HISTORY_PART_USER && history_is_step(part) == steps) {
      *total -= part->tokens;
      part->level = level;
      if (level != LT_HISTORY_PART_SHORT || !history_is_short(part)) {
        history_measure(r, part);
      }
      *total += part->tokens;
    }
  }
}

/* A token has at least one byte: a text with fewer bytes than the limit need not be measured. */
static void history_fit(const history_reader *r) {
  size_t total = 0;
  if (r->history->max_tokens == 0 || r->history->prompts.n <= r->history->max_tokens) {
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    history_measure(r, &r->parts[i]);
    total += r->parts[i].tokens;
  }
  history_lower_level(r, true, LT_HISTORY_PART_SHORT, &total);
  history_lower_level(r, true, LT_HISTORY_PART_OMITTED, &total);
  history_lower_level(r, false, LT_HISTORY_PART_SHORT, &total);
  history_lower_level(r, false, LT_HISTORY_PART_OMITTED, &total);
}

static lt_status history_put_parsed(const lt_history *history, lt_arena *arena, lt_json_writer *w, lt_buf *ret_user,
                                    lt_buf *ret_parts, lt_err *err) {
  lt_json_doc doc;
  history_reader r = {.history = history, .arena = arena};
  if (lt_json_parse(arena, history->prompts, &doc, err) != LT_OK) {
    return lt_err_prefix(err, "the stored history of the conversation cannot be read");
  }
  if (lt_json_typeof(lt_json_root(&doc)) != LT_JSON_ARRAY) {
    return lt_fail(err, LT_E_SYNTAX, "the stored history of the conversation cannot be read: it is no array");
  }
  LT_TRY(history_read_all(&r, lt_json_root(&doc), err));
  history_fit(&r);
  return lt_fail_if(err, history_write(&r, w, ret_user, ret_parts), "no room for the conversation's history");
}

size_t lt_history_max_tokens(const lt_model *model) {
  return model->context_tokens > 0 ? (size_t)model->context_tokens / 2 : LT_HISTORY_TOKENS;
}

lt_status lt_history_put(const lt_history *history, lt_json_writer *w, lt_buf *ret_user, lt_buf *ret_parts,
                         lt_err *err) {
  if (history->prompts.n == 0) {
    return LT_OK;
  }
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  return history_put_parsed(history, &arena, w, ret_user, ret_parts, err);
}
