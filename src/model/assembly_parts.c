/* The parts of an answer in their order: what its provider wants back exactly as it came (thinking with its signature,
 * encrypted reasoning), and where texts and calls stand between. */
#include "base/limits.h"
#include "base/mem.h"
#include "model/assembly.h"
#include "model/completion_wire.h"

lt_answer_part *lt_assembly_part(lt_assembly *a, int64_t index, lt_answer_part_kind kind) {
  for (size_t i = a->part_count; i > 0; i--) {
    if (a->parts[i - 1].index == index && a->parts[i - 1].kind == kind) {
      return &a->parts[i - 1];
    }
  }
  lt_answer_part *parts =
      a->part_count < LT_MODEL_PARTS_MAX ? lt_mem_realloc(a->parts, (a->part_count + 1) * sizeof *parts) : NULL;
  if (parts == NULL) {
    a->part_status = a->part_count < LT_MODEL_PARTS_MAX ? LT_E_NOMEM : LT_E_LIMIT;
    return NULL;
  }
  a->parts = parts;
  lt_answer_part *part = &parts[a->part_count++];
  *part = (lt_answer_part){.index = index, .kind = kind};
  lt_buf_init(&part->text, LT_MODEL_TEXT_MAX_BYTES);
  lt_buf_init(&part->signature, LT_MODEL_TEXT_MAX_BYTES);
  return part;
}

void lt_assembly_release_parts(lt_assembly *a) {
  for (size_t i = 0; i < a->part_count; i++) {
    lt_buf_release(&a->parts[i].text);
    lt_buf_release(&a->parts[i].signature);
  }
  lt_mem_free(a->parts);
  a->parts = NULL;
  a->part_count = 0;
}

size_t lt_assembly_parts_size(const lt_assembly *a) {
  size_t size = a->part_count;
  for (size_t i = 0; i < a->part_count; i++) {
    size += a->parts[i].text.n + a->parts[i].signature.n;
  }
  return size;
}

lt_status lt_assembly_parts_status(const lt_assembly *a) {
  lt_status status = lt_status_first(a->part_status, a->completion->kept.status);
  for (size_t i = 0; i < a->part_count && status == LT_OK; i++) {
    status = lt_status_first(a->parts[i].text.status, a->parts[i].signature.status);
  }
  return status == LT_OK && lt_assembly_parts_size(a) > LT_MODEL_KEPT_MAX_BYTES ? LT_E_LIMIT : status;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
/* An order is only worth keeping where calls are to be answered, and something stands in it that the answer's text and
 * calls do not have. A call that was found in the text is in no part. */
static bool assembly_parts_are_wanted(const lt_assembly *a) {
  bool has_own = false;
  if (a->call_count == 0) {
    return false;
  }
  for (size_t i = 0; i < a->part_count; i++) {
    has_own = has_own || a->parts[i].kind == LT_ANSWER_THINKING || a->parts[i].kind == LT_ANSWER_OWN;
  }
  for (size_t i = 0; i < a->call_count; i++) {
    has_own = has_own && !a->calls[i].is_text;
  }
  return has_own;
}

static void assembly_parts_put_text(lt_json_writer *w, const char *key, const lt_buf *text) {
  lt_json_key(w, key);
  lt_json_put_str(w, lt_buf_view(text));
}

static void assembly_parts_put(lt_json_writer *w, const lt_answer_part *part) {
  lt_json_begin_object(w);
  switch (part->kind) {
    case LT_ANSWER_TEXT:
      assembly_parts_put_text(w, "text", &part->text);
      break;
    case LT_ANSWER_CALL:
      lt_json_key(w, "call");
      lt_json_put_bool(w, true);
      break;
    case LT_ANSWER_OWN:
      lt_json_key(w, "own");
      lt_json_put_raw(w, lt_buf_view(&part->text));
      break;
    case LT_ANSWER_THINKING:
    default:
      lt_json_key(w, "own");
      lt_json_begin_object(w);
      lt_json_key(w, "type");
      lt_json_put_cstr(w, "thinking");
      assembly_parts_put_text(w, "thinking", &part->text);
      assembly_parts_put_text(w, "signature", &part->signature);
      lt_json_end_object(w);
      break;
  }
  lt_json_end_object(w);
}

void lt_assembly_end_parts(lt_assembly *a) {
  if (!assembly_parts_are_wanted(a)) {
    return;
  }
  lt_json_writer w = lt_json_writer_on(&a->completion->kept);
  lt_json_begin_object(&w);
  lt_json_key(&w, "api");
  lt_json_put_cstr(&w, a->wire->name);
  lt_json_key(&w, "parts");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < a->part_count; i++) {
    assembly_parts_put(&w, &a->parts[i]);
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
}
