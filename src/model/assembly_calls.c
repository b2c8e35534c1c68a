/* Puts the calls of an answer together from pieces: with or without numbers and ids, with arguments as text or as an
 * object. */
#include <stdio.h>

#include "base/mem.h"
#include "base/random.h"
#include "model/assembly.h"

enum { ID_MAX_BYTES = 1024, NAME_MAX_BYTES = 4096, LEGACY = -2 };

void lt_assembly_release_calls(lt_assembly *a) {
  for (size_t i = 0; i < a->call_count; i++) {
    lt_buf_release(&a->calls[i].id);
    lt_buf_release(&a->calls[i].name);
    lt_buf_release(&a->calls[i].arguments);
  }
  lt_mem_free(a->calls);
  a->calls = NULL;
  a->call_count = 0;
}

/* Adds an empty call. NULL: there are too many calls, or no memory; lt_assembly_calls_status reports it. */
static lt_call_parts *assembly_calls_add_call(lt_assembly *a, int64_t index) {
  if (a->call_count >= LT_MODEL_CALLS_MAX) {
    a->calls[0].arguments.status = LT_E_LIMIT;
    return NULL;
  }
  lt_call_parts *calls = lt_mem_realloc(a->calls, (a->call_count + 1) * sizeof *calls);
  if (calls == NULL) {
    a->completion->text.status = LT_E_NOMEM;
    return NULL;
  }
  a->calls = calls;
  lt_call_parts *call = &calls[a->call_count++];
  *call = (lt_call_parts){.index = index};
  lt_buf_init(&call->id, ID_MAX_BYTES);
  lt_buf_init(&call->name, NAME_MAX_BYTES);
  lt_buf_init(&call->arguments, LT_MODEL_TEXT_MAX_BYTES);
  return call;
}

static lt_call_parts *assembly_calls_find_index(lt_assembly *a, int64_t index) {
  for (size_t i = a->call_count; i > 0; i--) {
    if (a->calls[i - 1].index == index) {
      return &a->calls[i - 1];
    }
  }
  return NULL;
}

static lt_call_parts *assembly_calls_find_id(lt_assembly *a, lt_str id) {
  for (size_t i = a->call_count; i > 0; i--) {
    if (lt_str_eq(lt_buf_view(&a->calls[i - 1].id), id)) {
      return &a->calls[i - 1];
    }
  }
  return NULL;
}

/* Whether a piece begins a new call although it has the index of this one. Some servers give all calls the index 0. */
static bool assembly_calls_is_another(const lt_call_parts *call, lt_str id, lt_str name, bool has_arguments) {
  if (id.n > 0 && call->id.n > 0) {
    return !lt_str_eq(id, lt_buf_view(&call->id));
  }
  return name.n > 0 && has_arguments && call->arguments.n > 0 &&
         lt_json_check(lt_buf_view(&call->arguments), NULL) == LT_OK;
}

static lt_call_parts *assembly_calls_call_for(lt_assembly *a, int64_t index, lt_str id, lt_str name,
                                              bool has_arguments) {
  lt_call_parts *call = NULL;
  if (index != -1) {
    call = assembly_calls_find_index(a, index);
  } else if (id.n > 0) {
    call = assembly_calls_find_id(a, id);
  } else if (a->call_count > 0) { /* without index and id: the piece continues the last call, unless it has a name */
    call = &a->calls[a->call_count - 1];
    call = call->is_text || (name.n > 0 && call->name.n > 0) ? NULL : call;
  }
  return call == NULL || assembly_calls_is_another(call, id, name, has_arguments) ? assembly_calls_add_call(a, index)
                                                                                  : call;
}

/* A name arrives whole. Most servers send it once; some repeat it with every piece. */
static void assembly_calls_take_name(lt_call_parts *call, lt_str name) {
  if (!lt_str_eq(lt_buf_view(&call->name), name)) {
    lt_buf_add(&call->name, name);
  }
}

static void assembly_calls_take_arguments(lt_assembly *a, lt_call_parts *call, lt_json arguments) {
  size_t before = call->arguments.n;
  lt_str text = LT_STR_NULL;
  lt_json_type type = lt_json_typeof(arguments);
  if (type == LT_JSON_STRING) {
    (void)lt_json_str(arguments, &a->event, &text);
  } else if (type == LT_JSON_OBJECT) { /* complete, and possibly repeated */
    text = lt_json_text(arguments);
    call->is_object = true;
    lt_buf_clear(&call->arguments);
  }
  lt_buf_add(&call->arguments, text);
  a->bytes += call->arguments.n > before ? call->arguments.n - before : 0;
}

static lt_str assembly_calls_string_in(lt_assembly *a, lt_json v) {
  lt_str s = LT_STR_NULL;
  (void)lt_json_str(v, &a->event, &s);
  return s;
}

bool lt_assembly_has_arguments(lt_assembly *a, int64_t index) {
  const lt_call_parts *call = assembly_calls_find_index(a, index);
  return call != NULL && call->arguments.n > 0;
}

void lt_assembly_take_call(lt_assembly *a, int64_t index, lt_str id, lt_str name, lt_json arguments) {
  bool has_arguments =
      lt_json_typeof(arguments) == LT_JSON_OBJECT || lt_json_count(arguments) > 0 || lt_json_text(arguments).n > 2;
  lt_call_parts *call = assembly_calls_call_for(a, index, id, name, has_arguments);
  if (call == NULL) {
    return;
  }
  if (call->id.n == 0) {
    lt_buf_add(&call->id, id);
  }
  assembly_calls_take_name(call, name);
  assembly_calls_take_arguments(a, call, arguments);
}

void lt_assembly_take_code(lt_assembly *a, int64_t index, lt_str piece, bool is_last) {
  lt_call_parts *call = assembly_calls_find_index(a, index);
  if (call == NULL) {
    return;
  }
  LT_AUTO_BUF(quoted, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&quoted);
  lt_json_put_str(&w, piece);
  size_t before = call->arguments.n;
  lt_buf_addc(&call->arguments, before == 0 ? "{\"code\":\"" : "");
  lt_buf_add(&call->arguments, lt_str_sub(lt_buf_view(&quoted), 1, quoted.n > 0 ? quoted.n - 1 : 0));
  lt_buf_addc(&call->arguments, is_last ? "\"}" : "");
  call->arguments.status = lt_status_first(call->arguments.status, quoted.status);
  a->bytes += call->arguments.n - before;
}

static void assembly_calls_take_function(lt_assembly *a, int64_t index, lt_str id, lt_json function) {
  lt_assembly_take_call(a, index, id, assembly_calls_string_in(a, lt_json_get(function, "name")),
                        lt_json_get(function, "arguments"));
}

void lt_assembly_add_text_call(lt_assembly *a, lt_str name, lt_str arguments) {
  lt_call_parts *call = assembly_calls_add_call(a, -1);
  if (call != NULL) {
    call->is_text = true;
    lt_buf_add(&call->name, name);
    lt_buf_add(&call->arguments, arguments);
    a->bytes += arguments.n;
  }
}

void lt_assembly_take_calls(lt_assembly *a, lt_json delta) {
  lt_json_iter it = lt_json_each(lt_json_get(delta, "tool_calls"));
  while (lt_json_next(&it)) {
    int64_t index = -1;
    if (!lt_json_int(lt_json_get(it.value, "index"), &index) || index < 0) {
      index = -1;
    }
    assembly_calls_take_function(a, index, assembly_calls_string_in(a, lt_json_get(it.value, "id")),
                                 lt_json_get(it.value, "function"));
  }
  lt_json legacy = lt_json_get(delta, "function_call");
  if (lt_json_typeof(legacy) == LT_JSON_OBJECT) {
    assembly_calls_take_function(a, LEGACY, LT_STR_NULL, legacy);
  }
}

lt_status lt_assembly_calls_status(const lt_assembly *a) {
  for (size_t i = 0; i < a->call_count; i++) {
    const lt_buf *all[] = {&a->calls[i].id, &a->calls[i].name, &a->calls[i].arguments};
    for (size_t j = 0; j < 3; j++) {
      if (all[j]->status != LT_OK) {
        return all[j]->status;
      }
    }
  }
  return a->bytes > LT_MODEL_TEXT_MAX_BYTES ? LT_E_LIMIT : LT_OK;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static bool assembly_calls_is_taken(const lt_requested_call *calls, size_t n, lt_str id) {
  for (size_t i = 0; i < n; i++) {
    if (lt_str_eq(calls[i].id, id)) {
      return true;
    }
  }
  return false;
}

/* Random, so that the id differs from all others in the conversation. */
static lt_str assembly_calls_make_id(lt_arena *arena) {
  uint64_t random = 0;
  if (!lt_random_fill(&random, sizeof random)) {
    random = (uint64_t)(uintptr_t)arena;
  }
  return lt_arena_printf(arena, "call_%016llx", (unsigned long long)random);
}

lt_status lt_assembly_end_calls(lt_assembly *a) {
  lt_completion *c = a->completion;
  lt_requested_call *calls = lt_arena_zalloc(&c->arena, a->call_count, sizeof *calls);
  if (calls == NULL && a->call_count > 0) {
    return LT_E_NOMEM;
  }
  size_t n = 0;
  bool has_own = false;
  for (size_t i = 0; i < a->call_count; i++) {
    has_own = has_own || !a->calls[i].is_text;
  }
  for (size_t i = 0; i < a->call_count; i++) {
    const lt_call_parts *parts = &a->calls[i];
    bool is_nothing = parts->name.n == 0 && parts->arguments.n == 0;
    if (is_nothing || (parts->is_text && has_own)) { /* some servers parse the text, and leave it there */
      continue;
    }
    lt_str id = lt_buf_view(&parts->id);
    bool usable = id.n > 0 && !assembly_calls_is_taken(calls, n, id);
    calls[n] = (lt_requested_call){
        .id = usable ? lt_arena_dup(&c->arena, id) : assembly_calls_make_id(&c->arena),
        .name = lt_arena_dup(&c->arena, lt_buf_view(&parts->name)),
        .arguments = lt_arena_dup(&c->arena, lt_buf_view(&parts->arguments)),
    };
    if (calls[n].id.p == NULL || calls[n].name.p == NULL || calls[n].arguments.p == NULL) {
      return LT_E_NOMEM;
    }
    n++;
  }
  c->calls = calls;
  c->call_count = n;
  return LT_OK;
}
