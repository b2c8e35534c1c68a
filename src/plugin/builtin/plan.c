/* execute_plan: several independent calls of tools as one (seed Oasis), for models that call tools one by one. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "json/json.h"
#include "plugin/builtin/plugins.h"

#define ID "execute_plan"

typedef struct limits {
  int64_t steps;
  int64_t at_once;
} limits;

static lathe_text view(const lt_buf *buf) {
  return (lathe_text){buf->p != NULL ? buf->p : "", buf->n};
}

static limits read_limits(const lathe_host *host, lathe_call *call) {
  limits l = {.steps = LT_PLAN_STEPS, .at_once = LT_PLAN_AT_ONCE};
  lathe_text config = host->config(call);
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, lt_str_from(config.p, config.n), &doc, NULL) == LT_OK) {
    (void)lt_json_int(lt_json_get(lt_json_root(&doc), "maxSteps"), &l.steps);
    (void)lt_json_int(lt_json_get(lt_json_root(&doc), "concurrency"), &l.at_once);
  }
  lt_arena_release(&arena);
  return l;
}

/* --- The tool ----------------------------------------------------------------------------------------------------- */
static bool has_itself(lt_json steps) {
  lt_json_iter it = lt_json_each(steps);
  while (lt_json_next(&it)) {
    if (lt_json_str_eq(lt_json_get(it.value, "tool"), LT_STR(ID))) {
      return true;
    }
  }
  return false;
}

static void put_steps(lt_json steps, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  lt_json_iter it = lt_json_each(steps);
  while (lt_json_next(&it)) {
    lt_json_begin_object(&w);
    lt_json_key(&w, "tool");
    lt_json_put_raw(&w, lt_json_text(lt_json_get(it.value, "tool")));
    lt_json_key(&w, "input");
    lt_json_put_raw(&w, lt_json_text(lt_json_get(it.value, "args")));
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
}

/* All of a plan or nothing of it: what is wrong with it is said before the first step. */
static void carry_out(const lathe_host *host, lathe_call *call, lt_json steps) {
  limits l = read_limits(host, call);
  lathe_text results;
  lt_buf calls;
  lt_buf_init(&calls, LT_JSON_MAX_BYTES);
  uint32_t count = lt_json_count(steps);
  if (count == 0) {
    host->fail(call, ID " requires at least one step");
  } else if (count > l.steps) {
    host->fail(call, ID " limited to %lld steps, got %u", (long long)l.steps, count);
  } else if (has_itself(steps)) {
    host->fail(call, ID " steps cannot call " ID);
  } else {
    put_steps(steps, &calls);
    if (host->call_tools(call, view(&calls), (unsigned)l.at_once, &results) == 0) {
      host->answer(call, results);
    } else {
      host->fail(call, "%s", host->error(call).p);
    }
  }
  lt_buf_release(&calls);
}

static void execute(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lt_arena arena;
  lt_json_doc doc;
  lt_err err = LT_ERR_INIT;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, lt_str_from(in.p, in.n), &doc, &err) == LT_OK) {
    carry_out(host, call, lt_json_get(lt_json_root(&doc), "steps"));
  } else {
    host->fail(call, "%s", lt_err_msg(&err));
  }
  lt_arena_release(&arena);
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  limits l = read_limits(host, call);
  const lathe_tool tool = {
      .size = sizeof tool,
      .name = ID,
      .description =
          host->format(call,
                       "Execute several independent tool calls at once, in no particular order: no step can use what "
                       "another one returns. At most %lld steps. The results are in the order of the steps, each with "
                       "its status: a step that fails does not keep the others from being carried out.",
                       (long long)l.steps)
              .p,
      .input_schema =
          "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"steps\":{\"type\":\"array\",\"items\":"
          "{"
          "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
          "\"tool\":{\"type\":\"string\",\"description\":\"The tool's name\"},"
          "\"args\":{\"type\":[\"object\",\"null\"],\"description\":\"Its arguments\"}},"
          "\"required\":[\"tool\"]}}},\"required\":[\"steps\"]}",
      .output_schema =
          "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
          "\"step\":{\"type\":\"integer\"},\"tool\":{\"type\":\"string\"},"
          "\"status\":{\"enum\":[\"ok\",\"error\"]},\"result\":{},\"error\":{\"type\":\"string\"}},"
          "\"required\":[\"step\",\"tool\",\"status\"]}}",
      .annotations = "{\"idempotentHint\":true}", /* what its steps do is on record by itself */
      .invoke = execute,
      .flags = LATHE_NOT_FOR_PROGRAMS,
  };
  if (host->add_tool(call, &tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_plan(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "plan",
      .name = "Plan",
      .description = "Several tool calls as one",
      .config_schema =
          "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
          "\"maxSteps\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
          "\"concurrency\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}}}",
      .flags = LATHE_ON_LOOP | LATHE_NO_NAMESPACE,
      .setup = setup,
  };
  return &plugin;
}
