/* The observer of a check: compares a prompt's outputs with the stored ones. */
#include "base/utf8.h"
#include "json/json.h"
#include "replay/replay_check_impl.h"

static lt_replay_check *check_of_observer(lt_replay_observer *self) {
  return (lt_replay_check *)(void *)((char *)self - offsetof(lt_replay_check, observer));
}

/* --- The prompt --------------------------------------------------------------------------------------------------- */
static lt_status check_on_reply(lt_replay_observer *self, uint64_t number, bool is_same, lt_err *err) {
  (void)self;
  return is_same ? LT_OK
                 : lt_fail(err, LT_E_DIVERGED, "the model is told something else before its reply %llu",
                           (unsigned long long)number + 1);
}

static lt_status check_on_record_end(lt_replay_observer *self, const char *what, lt_err *err) {
  check_of_observer(self)->is_beyond = true;
  return lt_fail(err, LT_E_DIVERGED, LT_REPLAY_RECORD_END ": %s", what);
}

static lt_status check_on_end(lt_replay_observer *self, const char *missing, lt_err *err) {
  (void)self;
  return missing == NULL ? LT_OK
                         : lt_fail(err, LT_E_DIVERGED, "it ended without the output \"%s\" that is on record", missing);
}

static void check_on_divergence(lt_replay_observer *self, uint64_t replies, lt_buf *reason) {
  (void)self;
  lt_buf_printf(reason, " (round %llu)", (unsigned long long)replies);
}

/* --- Outputs ------------------------------------------------------------------------------------------------------ */
#define SHOWN_OUTPUT_BYTES 160
#define SHOWN_SAME_BYTES   20 /* before the first difference */

static void output_put_shown(lt_buf *out, lt_str text, size_t from) {
  lt_buf_addc(out, from > 0 ? "..." : "");
  lt_buf_add(out, lt_utf8_cut(lt_str_sub(text, from, text.n), SHOWN_OUTPUT_BYTES));
  lt_buf_addc(out, text.n - from > SHOWN_OUTPUT_BYTES ? "..." : "");
}

/* A character a little before the first difference. */
static size_t output_first_difference(lt_str a, lt_str b) {
  size_t at = 0;
  while (at < a.n && at < b.n && a.p[at] == b.p[at]) {
    at++;
  }
  size_t from = at > SHOWN_SAME_BYTES ? at - SHOWN_SAME_BYTES : 0;
  while (from > 0 && from < a.n && lt_utf8_continues(a.p[from])) {
    from--;
  }
  return from;
}

/* Compares one part of an output with the record. */
static lt_status output_compare(const lt_replay_output *stored, const char *part, lt_str actual, lt_str recorded,
                                lt_err *err) {
  if (lt_str_eq(actual, recorded)) {
    return LT_OK;
  }
  LT_AUTO_BUF(why, 4 * LT_KIB);
  size_t from = output_first_difference(actual, recorded);
  lt_buf_printf(&why, "the %s of the output \"%.*s\" is \"", part, LT_STR_ARG(stored->id));
  output_put_shown(&why, actual, from);
  lt_buf_addc(&why, "\", and on record it is \"");
  output_put_shown(&why, recorded, from);
  lt_buf_addc(&why, "\"");
  return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&why)));
}

/* Of a long value only the beginning is stored, so it cannot be compared. */
static bool output_is_preview(lt_json value) {
  return lt_json_exists(lt_json_get(value, "preview")) && lt_json_exists(lt_json_get(value, "artifact"));
}

static lt_status output_compare_value(const lt_replay_output *stored, const char *part, lt_str actual, lt_json recorded,
                                      lt_err *err) {
  lt_str text = lt_json_exists(recorded) ? lt_json_text(recorded) : LT_STR("");
  return output_is_preview(recorded) ? LT_OK : output_compare(stored, part, actual, text, err);
}

static lt_str output_str(lt_json object, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(object, key), arena, &text);
  return text;
}

static lt_status check_on_text(lt_replay_observer *self, const lt_replay_output *stored, lt_str text, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, 2 * LT_PROMPT_MEMORY_BYTES);
  (void)self;
  if (lt_json_parse(&arena, stored->json, &doc, NULL) != LT_OK) {
    return LT_OK;
  }
  return output_compare(stored, "content", text, output_str(lt_json_root(&doc), "content", &arena), err);
}

static lt_status check_on_call(lt_replay_observer *self, const lt_replay_output *stored, lt_str function, lt_str input,
                               lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, 2 * LT_PROMPT_MEMORY_BYTES);
  (void)self;
  if (lt_json_parse(&arena, stored->json, &doc, NULL) != LT_OK) {
    return LT_OK;
  }
  lt_json root = lt_json_root(&doc);
  LT_TRY(output_compare(stored, "tool", function, output_str(root, "function", &arena), err));
  if (lt_json_check(input, NULL) != LT_OK) {
    return output_compare(stored, "input", input, output_str(root, "input", &arena), err);
  }
  return output_compare_value(stored, "input", input, lt_json_get(root, "input"), err);
}

static lt_status check_on_result(lt_replay_observer *self, const lt_replay_output *stored, lt_status status,
                                 lt_str answer, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, 2 * LT_PROMPT_MEMORY_BYTES);
  (void)self;
  if (lt_json_parse(&arena, stored->json, &doc, NULL) != LT_OK) {
    return LT_OK;
  }
  lt_json result = lt_json_get(lt_json_root(&doc), "result");
  bool had_failed = lt_json_exists(lt_json_get(result, "error"));
  lt_str error = had_failed ? output_str(result, "error", &arena) : LT_STR("success");
  if (had_failed != (status != LT_OK)) {
    return output_compare(stored, "end", status == LT_OK ? LT_STR("success") : answer, error, err);
  }
  if (had_failed) {
    return output_compare(stored, "error", lt_str_sub(answer, 0, LT_RUN_ERROR_BYTES), error, err);
  }
  return output_compare_value(stored, "result", answer, lt_json_get(result, "output"), err);
}

void lt_replay_check_observer_init(lt_replay_observer *observer) {
  *observer = (lt_replay_observer){.on_reply = check_on_reply,
                                   .on_record_end = check_on_record_end,
                                   .on_text = check_on_text,
                                   .on_call = check_on_call,
                                   .on_result = check_on_result,
                                   .on_end = check_on_end,
                                   .on_divergence = check_on_divergence};
}
