#include "tool/answer_spill.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"

/* The first bytes of a value, of a string its characters, cut between characters. Owns: the arena. */
static lt_str spill_preview(lt_arena *arena, lt_str json) {
  lt_str text = json;
  lt_json_doc doc;
  if (json.n > 0 && json.p[0] == '"' && lt_json_parse(arena, json, &doc, NULL) == LT_OK) {
    lt_json_str(lt_json_root(&doc), arena, &text);
  }
  return lt_utf8_cut(text, LT_ANSWER_PREVIEW_BYTES);
}

static lt_status spill_keep(const lt_caller *caller, lt_str tool, lt_str json, lt_buf *ret_id, lt_err *err) LT_YIELDS {
  if (caller == NULL || caller->artifacts == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "the answer of \"%.*s\" is cut: there is no store to keep it in",
                   LT_STR_ARG(tool));
  }
  const lt_artifact artifact = {
      .user = caller->user,
      .run = caller->run,
      .type = LT_STR("tool-result"),
      .description = tool,
      .mime_type = LT_STR("application/json"),
      .data = json,
  };
  return caller->artifacts->put(caller->artifacts, &artifact, ret_id, err);
}

/* A value that is kept as an artifact, now or already. */
typedef struct spilled_value {
  lt_str value;
  lt_str id;
  int64_t from; /* where in the artifact's data it begins */
} spilled_value;

/* The answer of artifact.get is an artifact already. Borrows: the value, the arena. */
static bool spill_is_fetched_artifact(lt_arena *arena, lt_str tool, spilled_value *w) {
  lt_json_doc doc;
  if (!lt_str_eqc(tool, "artifact.get") || lt_json_parse(arena, w->value, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json root = lt_json_root(&doc), data = lt_json_get(root, "data");
  if (!lt_json_str(lt_json_get(root, "id"), arena, &w->id) || !lt_json_exists(data)) {
    return false;
  }
  (void)lt_json_int(lt_json_get(root, "offset"), &w->from);
  w->value = lt_json_text(data);
  return true;
}

static void spill_put_summary(lt_buf *to, lt_str preview, const spilled_value *all) {
  lt_json_writer w = lt_json_writer_on(to);
  lt_json_begin_object(&w);
  lt_json_key(&w, "preview");
  lt_json_put_str(&w, preview);
  lt_json_key(&w, "bytes");
  lt_json_put_int(&w, (int64_t)all->value.n);
  lt_json_key(&w, "artifact");
  if (all->id.n > 0) {
    lt_json_put_str(&w, all->id);
  } else {
    lt_json_put_null(&w);
  }
  lt_json_key(&w, "note");
  lt_json_put_cstr(
      &w, all->id.n > 0 ? "The answer is long: this is its beginning. All of it is in the artifact: a program gets it "
                          "with getArtifact(id), artifact.get gives pieces of it, the next one from \"offset\" on."
                        : "The answer is long: this is its beginning. The rest could not be kept.");
  if (all->id.n > 0) {
    lt_json_key(&w, "offset");
    lt_json_put_int(&w, all->from + (int64_t)preview.n);
  }
  lt_json_end_object(&w);
}

lt_status lt_answer_spill(const lt_caller *caller, lt_str tool, lt_buf *out, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(id, LT_ARTIFACT_ID_BYTES);
  lt_buf summary; /* becomes `out` */
  lt_buf_init(&summary, out->max);
  lt_status status = LT_OK;
  spilled_value all = {.value = lt_buf_view(out)};
  if (!spill_is_fetched_artifact(&arena, tool, &all)) {
    status = spill_keep(caller, tool, all.value, &id, err);
    all.id = lt_buf_view(&id);
  }
  spill_put_summary(&summary, spill_preview(&arena, all.value), &all);
  lt_buf_release(out);
  *out = summary;
  return status;
}
