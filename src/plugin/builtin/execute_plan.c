/* execute_plan: several independent calls of tools as one (seed Oasis), for models that call tools one by one. */
#include "base/limits.h"
#include "plugin/builtin/builtin_plugins.h"
#include "plugin/builtin/builtin_support.h"

#define ID "execute_plan"

typedef struct plan_limits {
  int64_t steps;
  int64_t at_once;
} plan_limits;

static plan_limits execute_plan_limits(const lathe_host *host, lathe_call *call) {
  lathe_text config = host->config(call);
  return (plan_limits){.steps = lt_builtin_number(host->member(call, config, "maxSteps"), LT_PLAN_STEPS),
                       .at_once = lt_builtin_number(host->member(call, config, "concurrency"), LT_PLAN_AT_ONCE)};
}

/* --- The tool ----------------------------------------------------------------------------------------------------- */
static bool execute_plan_calls_itself(lt_json steps) {
  lt_json_iter it = lt_json_each(steps);
  while (lt_json_next(&it)) {
    if (lt_json_str_eq(lt_json_get(it.value, "tool"), LT_STR(ID))) {
      return true;
    }
  }
  return false;
}

static void execute_plan_put_calls(lt_json steps, lt_buf *out) {
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

/* A plan is checked as a whole before its first step. */
static void execute_plan_steps(const lathe_host *host, lathe_call *call, lt_json steps) {
  plan_limits limits = execute_plan_limits(host, call);
  lathe_text results;
  LT_AUTO_BUF(calls, LT_JSON_MAX_BYTES);
  uint32_t count = lt_json_count(steps);
  if (count == 0) {
    host->fail(call, ID " requires at least one step");
  } else if (count > limits.steps) {
    host->fail(call, ID " limited to %lld steps, got %u", (long long)limits.steps, count);
  } else if (execute_plan_calls_itself(steps)) {
    host->fail(call, ID " steps cannot call " ID);
  } else {
    execute_plan_put_calls(steps, &calls);
    if (host->call_tools(call, (lathe_text){calls.p, calls.n}, (unsigned)limits.at_once, &results) == 0) {
      host->answer(call, results);
    } else {
      lt_builtin_fail_with_error(host, call);
    }
  }
}

static void execute_plan_run(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  LT_ERR_VAR(err);
  if (lt_json_parse(&arena, lt_builtin_str(in), &doc, &err) == LT_OK) {
    execute_plan_steps(host, call, lt_json_get(lt_json_root(&doc), "steps"));
  } else {
    host->fail(call, "%s", lt_err_msg(&err));
  }
}

static void execute_plan_setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  plan_limits limits = execute_plan_limits(host, call);
  const lathe_tool tool = {
      .size = sizeof tool,
      .name = ID,
      .description =
          host->format(call,
                       "Execute several independent tool calls at once, in no particular order: no step can use what "
                       "another one returns. At most %lld steps. The results are in the order of the steps, each with "
                       "its status: a step that fails does not keep the others from being carried out.",
                       (long long)limits.steps)
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
      .annotations = "{\"idempotentHint\":true}", /* the calls of its steps are recorded themselves */
      .invoke = execute_plan_run,
      .flags = LATHE_NOT_FOR_PROGRAMS,
  };
  if (host->add_tool(call, &tool) != 0) {
    lt_builtin_fail_with_error(host, call);
  }
}

const lathe_plugin *lt_builtin_plan(void) {
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
      .setup = execute_plan_setup,
  };
  return &plugin;
}
