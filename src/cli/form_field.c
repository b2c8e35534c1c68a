#include "cli/form_field.h"

#include "base/limits.h"
#include "cli/text_block.h"
#include "json/schema.h"

#define MARGIN LT_STR("  ")

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static bool form_field_is_type(lt_json schema, const char *type) {
  return lt_json_str_eq(lt_json_get(schema, "type"), lt_str_of(type));
}

/* "enum" of values, or "oneOf" / "anyOf" of {const, title} (Elicitation, Requested Schema); NONE: free. */
static lt_json form_field_choices_of(lt_json schema) {
  static const char *const names[] = {"enum", "oneOf", "anyOf"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lt_json list = lt_json_get(schema, names[i]);
    if (lt_json_typeof(list) == LT_JSON_ARRAY) {
      return list;
    }
  }
  return (lt_json){NULL, 0};
}

static lt_status form_field_read_kind(lt_form_field *field, lt_err *err) {
  lt_json schema = field->schema;
  bool is_list = form_field_is_type(schema, "array");
  field->choices = form_field_choices_of(is_list ? lt_json_get(schema, "items") : schema);
  bool has_choices = lt_json_count(field->choices) > 0;
  if (lt_json_count(field->choices) > LT_FORM_CHOICES_MAX) {
    return lt_fail(err, LT_E_INVALID, "a field has more than %d choices", LT_FORM_CHOICES_MAX);
  }
  if (is_list && has_choices) {
    field->kind = LT_FORM_CHOICES;
  } else if (form_field_is_type(schema, "boolean")) {
    field->kind = LT_FORM_BOOLEAN;
  } else if (form_field_is_type(schema, "number")) {
    field->kind = LT_FORM_NUMBER;
  } else if (form_field_is_type(schema, "integer")) {
    field->kind = LT_FORM_INTEGER;
  } else if (form_field_is_type(schema, "string") || has_choices) {
    field->kind = has_choices ? LT_FORM_CHOICE : LT_FORM_TEXT;
  } else {
    return lt_fail(err, LT_E_INVALID, "a field is neither text, number, truth nor a choice");
  }
  return LT_OK;
}

lt_status lt_form_field_read(lt_json form, lt_json key, lt_json schema, lt_arena *arena, lt_form_field *ret_field,
                             lt_err *err) {
  lt_form_field field = {.schema = schema};
  if (!lt_json_str(key, arena, &field.name)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a form");
  }
  for (lt_json_iter it = lt_json_each(lt_json_get(form, "required")); lt_json_next(&it);) {
    field.is_required = field.is_required || lt_json_str_eq(it.value, field.name);
  }
  LT_TRY(form_field_read_kind(&field, err));
  *ret_field = field;
  return LT_OK;
}

/* --- Choices ------------------------------------------------------------------------------------------------------ */
static lt_json form_field_choice_value(const lt_form_field *field, uint32_t i) {
  lt_json choice = lt_json_at(field->choices, i), value = lt_json_get(choice, "const");
  return lt_json_exists(value) ? value : choice;
}

static lt_str form_field_text_of(lt_json value, lt_arena *arena) {
  lt_str text = lt_json_text(value);
  (void)lt_json_str(value, arena, &text);
  return text;
}

/* A title that is not the value itself is shown beside it: the value is what is sent. */
static void form_field_put_choice(const lt_form_field *field, uint32_t i, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(line, LT_MIB);
  lt_str value = form_field_text_of(form_field_choice_value(field, i), &arena);
  lt_json title = lt_json_get(lt_json_at(field->choices, i), "title");
  title = lt_json_exists(title) ? title : lt_json_at(lt_json_get(field->schema, "enumNames"), i);
  lt_buf_printf(&line, "%u. ", (unsigned)i + 1);
  lt_buf_add(&line, value);
  if (lt_json_typeof(title) == LT_JSON_STRING && !lt_json_str_eq(title, value)) {
    lt_buf_addc(&line, "  ");
    lt_buf_add(&line, form_field_text_of(title, &arena));
  }
  for (size_t at = 0; at < line.n; at++) {
    line.p[at] = line.p[at] == '\n' ? ' ' : line.p[at];
  }
  (void)lt_text_block_line(out, MARGIN, '|', lt_buf_view(&line), false);
}

/* --- Showing ------------------------------------------------------------------------------------------------------ */
static void form_field_put_words(lt_json words, const char *what, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_MIB);
  if (lt_json_typeof(words) == LT_JSON_STRING) {
    lt_buf_printf(out, "  %s: ", what);
    (void)lt_text_block_add(out, MARGIN, form_field_text_of(words, &arena), false);
    lt_buf_byte(out, '\n');
  }
}

static void form_field_put_bound(const lt_form_field *field, const char *key, const char *words, lt_buf *out) {
  double bound;
  if (lt_json_double(lt_json_get(field->schema, key), &bound)) {
    lt_buf_printf(out, ", %s %.15g", words, bound);
  }
}

static void form_field_put_want(const lt_form_field *field, lt_buf *out) {
  static const char *const wants[] = {
      [LT_FORM_TEXT] = "a text",       [LT_FORM_NUMBER] = "a number",     [LT_FORM_INTEGER] = "a whole number",
      [LT_FORM_BOOLEAN] = "yes or no", [LT_FORM_CHOICE] = "one of these", [LT_FORM_CHOICES] = "any of these",
  };
  static const char *const formats[] = {"email", "uri", "date", "date-time"};
  lt_buf_addc(out, wants[field->kind]);
  form_field_put_bound(field, "minimum", "at least", out);
  form_field_put_bound(field, "maximum", "at most", out);
  form_field_put_bound(field, "minLength", "characters at least", out);
  form_field_put_bound(field, "maxLength", "characters at most", out);
  form_field_put_bound(field, "minItems", "at least", out);
  form_field_put_bound(field, "maxItems", "at most", out);
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (lt_json_str_eq(lt_json_get(field->schema, "format"), lt_str_of(formats[i]))) {
      lt_buf_printf(out, ", as %s", formats[i]);
    }
  }
  lt_buf_addc(out, field->is_required ? "; it is required\n" : "; it may be left out\n");
}

void lt_form_field_put(const lt_form_field *field, lt_buf *out) {
  lt_json standard = lt_json_get(field->schema, "default");
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_buf_addc(out, "  name: ");
  (void)lt_text_block_add(out, MARGIN, field->name, false);
  lt_buf_byte(out, '\n');
  form_field_put_words(lt_json_get(field->schema, "title"), "title", out);
  form_field_put_words(lt_json_get(field->schema, "description"), "description", out);
  lt_buf_addc(out, "  wanted: ");
  form_field_put_want(field, out);
  for (uint32_t i = 0; i < lt_json_count(field->choices); i++) {
    out->n -= i == 0 ? 1 : 0; /* the block's lines begin with their line break */
    form_field_put_choice(field, i, out);
  }
  lt_buf_addc(out, lt_json_count(field->choices) > 0 ? "\n" : "");
  if (lt_json_exists(standard)) {
    lt_buf_addc(out, "  Enter answers with: ");
    (void)lt_text_block_add(out, MARGIN, form_field_text_of(standard, &arena), false);
    lt_buf_byte(out, '\n');
  }
}

const char *lt_form_field_prompt(const lt_form_field *field) {
  return field->kind == LT_FORM_BOOLEAN   ? "[y]es / [n]o: "
         : field->kind == LT_FORM_CHOICE  ? "Its number or value: "
         : field->kind == LT_FORM_CHOICES ? "Their numbers, with commas between: "
                                          : "Your answer: ";
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
static lt_status form_field_put_chosen(const lt_form_field *field, lt_str word, lt_buf *out, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MIB);
  uint32_t count = lt_json_count(field->choices), number = 0;
  for (size_t i = 0; i < word.n && number <= count; i++) {
    bool is_digit = word.p[i] >= '0' && word.p[i] <= '9';
    number = is_digit ? number * 10 + (uint32_t)(word.p[i] - '0') : UINT32_MAX;
  }
  for (uint32_t i = 0; i < count; i++) { /* a value comes before a number */
    if (lt_str_eq(word, form_field_text_of(form_field_choice_value(field, i), &arena))) {
      number = i + 1;
      break;
    }
  }
  if (number < 1 || number > count) {
    return lt_fail(err, LT_E_INVALID, "that is none of the choices: write a number from 1 to %u", (unsigned)count);
  }
  lt_buf_add(out, lt_json_text(form_field_choice_value(field, number - 1)));
  return LT_OK;
}

static lt_status form_field_put_several(const lt_form_field *field, lt_str line, lt_buf *out, lt_err *err) {
  lt_buf_byte(out, '[');
  for (size_t at = 0, count = 0; at < line.n; count++) {
    size_t end = lt_str_find(line, LT_STR(","), at);
    end = end < line.n ? end : line.n;
    lt_buf_addc(out, count > 0 ? "," : "");
    LT_TRY(form_field_put_chosen(field, lt_str_trim(lt_str_sub(line, at, end)), out, err));
    at = end + 1;
  }
  lt_buf_byte(out, ']');
  return LT_OK;
}

static lt_status form_field_put_number(lt_str line, lt_buf *out, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_json_doc doc;
  if (lt_json_parse(&arena, line, &doc, NULL) != LT_OK || lt_json_typeof(lt_json_root(&doc)) != LT_JSON_NUMBER) {
    return lt_fail(err, LT_E_INVALID, "that is no number");
  }
  lt_buf_add(out, line);
  return LT_OK;
}

static lt_status form_field_put_truth(lt_str line, lt_buf *out, lt_err *err) {
  static const struct {
    const char *word;
    bool value;
  } words[] = {{"y", true}, {"yes", true}, {"true", true}, {"n", false}, {"no", false}, {"false", false}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (lt_str_distance(line, lt_str_of(words[i].word), 0) == 0) {
      lt_buf_addc(out, words[i].value ? "true" : "false");
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_INVALID, "answer y or n");
}

static lt_status form_field_put_typed(const lt_form_field *field, lt_str line, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_str word = lt_str_trim(line);
  switch (field->kind) {
    case LT_FORM_TEXT:
      lt_json_put_str(&w, line);
      return LT_OK;
    case LT_FORM_NUMBER:
    case LT_FORM_INTEGER:
      return form_field_put_number(word, out, err);
    case LT_FORM_BOOLEAN:
      return form_field_put_truth(word, out, err);
    case LT_FORM_CHOICE:
      return form_field_put_chosen(field, word, out, err);
    case LT_FORM_CHOICES:
      return form_field_put_several(field, word, out, err);
  }
  return LT_E_INVALID;
}

/* By the field's own schema: a schema that cannot be used is the server's fault, and checks nothing. */
static lt_status form_field_check(const lt_form_field *field, lt_str value, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(faults, LT_ERR_MSG_MAX);
  lt_json_doc doc;
  lt_schema *schema = NULL;
  LT_TRY(lt_json_parse(&arena, value, &doc, err));
  if (lt_schema_new(lt_json_text(field->schema), &schema, NULL) != LT_OK) {
    return LT_OK;
  }
  bool is_wrong = lt_schema_check(schema, lt_json_root(&doc), LT_STR("the answer"), &faults, NULL) == LT_E_INVALID;
  lt_schema_free(schema);
  return is_wrong ? lt_fail(err, LT_E_INVALID, "%.*s", LT_STR_ARG(lt_buf_view(&faults))) : LT_OK;
}

lt_status lt_form_field_take(const lt_form_field *field, lt_str line, lt_buf *ret_value, lt_err *err) {
  if (lt_str_trim(line).n > 0) {
    LT_TRY(form_field_put_typed(field, line, ret_value, err));
  } else if (lt_json_exists(lt_json_get(field->schema, "default"))) {
    lt_buf_add(ret_value, lt_json_text(lt_json_get(field->schema, "default")));
  } else if (field->is_required) {
    return lt_fail(err, LT_E_INVALID, "this field is required");
  }
  LT_TRY(lt_buf_check(ret_value, err, "no memory for the answer"));
  return ret_value->n > 0 ? form_field_check(field, lt_buf_view(ret_value), err) : LT_OK;
}
