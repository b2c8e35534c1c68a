#include "agent/conversation_search.h"

#include "agent/history/history_search.h"
#include "agent/turn_state.h"
#include "base/limits.h"

#define NAMESPACE "conversation"

typedef struct conversation_search {
  lt_provider base; /* first */
  lt_catalog_source source;
  const lt_turn *turn;
} conversation_search;

/* --- Searching ---------------------------------------------------------------------------------------------------- */
typedef struct conversation_search_job {
  lt_history_search search;
  lt_buf page;
  lt_json_writer w;
  size_t count; /* prompts of the page */
  lt_status status;
  lt_err err;
} conversation_search_job;

/* Runs on a thread of the pool. Until it returns, the loop does not touch the job. */
static void conversation_search_page(void *arg) {
  conversation_search_job *job = arg;
  job->status = lt_history_search_put(&job->search, lt_buf_view(&job->page), &job->w, &job->count, &job->err);
}

/* Prompts with long answers come in smaller pages. */
static lt_status conversation_search_read(const lt_turn *turn, conversation_search_job *job, size_t *ret_max,
                                          lt_err *err) LT_YIELDS {
  lt_status status = LT_E_LIMIT;
  for (size_t max = LT_CONVERSATION_SEARCH_PAGE; max > 0 && status == LT_E_LIMIT; max /= 10) {
    *ret_max = max;
    lt_buf_clear(&job->page);
    status = lt_store_history_before(turn->agent->options.db, turn->user, lt_str_of(turn->ids.conversation),
                                     lt_str_of(job->search.before), max, &job->page, err);
    status = lt_status_first(status, job->page.status);
  }
  return status;
}

static lt_status conversation_search_all(const lt_turn *turn, conversation_search_job *job, const lt_cancel *cancel,
                                         bool *ret_more, lt_err *err) LT_YIELDS {
  size_t max = 0, seen = 0;
  do {
    LT_TRY(conversation_search_read(turn, job, &max, err));
    if (job->page.n > LT_HISTORY_INLINE_BYTES) {
      LT_TRY(lt_loop_offload(turn->agent->options.loop, conversation_search_page, job, err));
    } else {
      conversation_search_page(job);
    }
    LT_TRY(lt_err_copy(err, &job->err));
    if (cancel != NULL && cancel->why != LT_OK) {
      return lt_fail(err, cancel->why, "the search was cancelled");
    }
    seen += job->count;
    *ret_more = job->search.found == job->search.max || job->count == max;
  } while (job->count == max && job->search.found < job->search.max && seen < LT_CONVERSATION_SEARCH_PROMPTS);
  return LT_OK;
}

/* The prompts of the conversation are counted with the running one, which is the last. */
static lt_status conversation_search_begin(const lt_turn *turn, lt_history_search *search, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(about, LT_MIB);
  LT_TRY(
      lt_store_conversation_get(turn->agent->options.db, turn->user, lt_str_of(turn->ids.conversation), &about, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&about), &doc, err));
  (void)lt_json_int(lt_json_get(lt_json_root(&doc), "prompts"), &search->number);
  memcpy(search->before, turn->ids.prompt, sizeof search->before);
  return LT_OK;
}

static lt_status conversation_search_run(const lt_turn *turn, lt_json input, const lt_invoke_options *options,
                                         lt_arena *arena, lt_buf *out, lt_err *err) LT_YIELDS {
  conversation_search_job job = {.search = {.own = LT_STR(LT_CONVERSATION_SEARCH)}, .err = LT_ERR_INIT};
  int64_t max = LT_CONVERSATION_FOUND;
  bool has_more = false;
  (void)lt_json_int(lt_json_get(input, "limit"), &max);
  if (!lt_json_str(lt_json_get(input, "query"), arena, &job.search.query)) {
    return lt_fail(err, LT_E_NOMEM, "no memory to search the conversation");
  }
  job.search.max = max < LT_CONVERSATION_FOUND_MAX ? (size_t)max : LT_CONVERSATION_FOUND_MAX;
  job.search.query = lt_str_trim(job.search.query);
  if (job.search.query.n == 0) {
    return lt_fail(err, LT_E_INVALID, "the query has no words: say what to look for");
  }
  LT_TRY(conversation_search_begin(turn, &job.search, err));
  job.w = lt_json_writer_on(out);
  lt_json_begin_object(&job.w);
  lt_json_key(&job.w, "matches");
  lt_json_begin_array(&job.w);
  lt_buf_init(&job.page, LT_JSON_MAX_BYTES);
  lt_status status = conversation_search_all(turn, &job, options->cancel, &has_more, err);
  lt_buf_release(&job.page);
  LT_TRY(status);
  lt_json_end_array(&job.w);
  lt_json_key(&job.w, "more");
  lt_json_put_bool(&job.w, has_more);
  lt_json_end_object(&job.w);
  return lt_buf_check(out, err, "no memory for what was found");
}

static lt_status conversation_search_invoke(lt_provider *self, lt_str name, lt_str input,
                                            const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  (void)name;
  const conversation_search *own = (const conversation_search *)(void *)self;
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_TRY(lt_json_parse(&arena, input, &doc, err));
  return conversation_search_run(own->turn, lt_json_root(&doc), options, &arena, out, err);
}

static lt_str conversation_search_down(lt_provider *self) {
  (void)self;
  return LT_STR("");
}

/* --- Offering ----------------------------------------------------------------------------------------------------- */
#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

static const char conversation_search_input[] =
    "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":400,"
    "\"description\":\"Words that the text has, all of them\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,"
    "\"maximum\":" TEXT_OF(LT_CONVERSATION_FOUND_MAX) ",\"default\":" TEXT_OF(LT_CONVERSATION_FOUND) "}},"
    "\"required\":[\"query\"]}";

static const char conversation_search_output[] =
    "{\"type\":\"object\",\"properties\":{\"matches\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{\"message\":{\"type\":\"integer\",\"description\":\"Number of the user's message, from 1\"},"
    "\"at\":{\"type\":\"string\"},\"by\":{\"type\":\"string\",\"description\":\"user, assistant, or the tool that was "
    "called\"},\"text\":{\"type\":\"string\",\"description\":\"What stands around the words\"}},\"required\":"
    "[\"message\",\"at\",\"by\",\"text\"]}},\"more\":{\"type\":\"boolean\",\"description\":\"Not all was looked at\"}},"
    "\"required\":[\"matches\",\"more\"]}";

static conversation_search *conversation_search_new(lt_turn *turn) {
  conversation_search *search = lt_arena_zalloc(&turn->arena, 1, sizeof *search);
  lt_tool_spec *spec = lt_arena_zalloc(&turn->arena, 1, sizeof *spec);
  if (search == NULL || spec == NULL) {
    return NULL;
  }
  *spec = (lt_tool_spec){
      .name = LT_STR("search"),
      .description = LT_STR("Find what was said earlier in this conversation, word for word: messages, answers, calls "
                            "of tools with their results. Newest first"),
      .input_schema = lt_str_of(conversation_search_input),
      .output_schema = lt_str_of(conversation_search_output),
      .annotations = LT_STR("{\"readOnlyHint\":true,\"openWorldHint\":false}"),
  };
  search->base = (lt_provider){.name = LT_STR(NAMESPACE),
                               .invoke = conversation_search_invoke,
                               .down = conversation_search_down,
                               .of_caller = true};
  search->source = (lt_catalog_source){.ns = search->base.name, .provider = &search->base, .tools = spec, .count = 1};
  search->turn = turn;
  return search;
}

lt_status lt_conversation_search_offer(lt_turn *turn, lt_err *err) {
  lt_turn_state *state = turn->internal;
  turn->caller.own_tools = NULL;
  if (!state->is_shortened || lt_door_check_namespace(turn->agent->options.door, LT_STR(NAMESPACE), NULL) != LT_OK) {
    return LT_OK;
  }
  if (state->search == NULL) {
    state->search = conversation_search_new(turn);
  }
  if (state->search == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tool " LT_CONVERSATION_SEARCH);
  }
  turn->caller.own_tools = &state->search->source;
  return LT_OK;
}

bool lt_conversation_search_is_offered(const lt_turn *turn) {
  return turn->caller.own_tools != NULL && turn->prepared.catalog != NULL &&
         lt_catalog_find(turn->prepared.catalog, LT_STR(LT_CONVERSATION_SEARCH)) != NULL;
}
