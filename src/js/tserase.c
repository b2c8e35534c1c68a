#include "js/tserase.h"

#include "base/limits.h"
#include "base/mem.h"
#include "js/tserase_parser.h"

/* --- Tokens ------------------------------------------------------------------------------------------------------- */
static uint8_t token_find_word(lt_str text) {
  static const struct {
    lt_str text;
    lt_tserase_word word;
  } words[] = {
#define X(name, text) {{text, sizeof text - 1}, LT_WORD_##name},
      LT_TSERASE_WORDS(X)
#undef X
  };
  if (text.n < 2 || text.n > 10 || text.p[0] < 'a' || text.p[0] > 'y') {
    return LT_WORD_NONE;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (words[i].text.p[0] == text.p[0] && lt_str_eq(words[i].text, text)) {
      return (uint8_t)words[i].word;
    }
  }
  return LT_WORD_NONE;
}

static bool tokens_grow(lt_tserase *p, size_t *room) {
  if (p->count < *room) {
    return true;
  }
  size_t more = *room == 0 ? 256 : *room * 2;
  lt_tserase_token *tokens = lt_mem_realloc(p->tokens, more * sizeof *tokens);
  if (tokens == NULL) {
    return false;
  }
  p->tokens = tokens;
  *room = more;
  return true;
}

static char token_closing(const lt_tserase_token *open) {
  switch (open->punct) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return '\0'; /* a template, which goes on with a template */
  }
}

/* The open brackets are a list: the `mate` of each is the one around it, until it is closed. */
static bool tokens_follow_bracket(lt_tserase *p, lt_tserase_token *token, uint32_t *open) {
  uint32_t index = (uint32_t)(token - p->tokens);
  bool continues = token->kind == LT_JSTOK_TEMPLATE && p->source.p[token->start] == '}';
  if (continues || token->punct == ')' || token->punct == ']' || token->punct == '}') {
    if (*open == UINT32_MAX || token_closing(&p->tokens[*open]) != token->punct) {
      return false;
    }
    token->mate = *open;
    *open = p->tokens[*open].mate;
    p->tokens[token->mate].mate = index;
  }
  if (token->opens || token->punct == '(' || token->punct == '[' || token->punct == '{') {
    token->mate = *open; /* a template that goes on has forgotten its beginning: nobody asks */
    *open = index;
  }
  return true;
}

/* An escape in a word hides which word it is. <!-- is a comment of old, in scripts only, and so is --> that begins a
 * line. */
static bool token_is_odd(const lt_jslex *lx) {
  lt_str text = lx->tok.text;
  if (lx->tok.kind == LT_JSTOK_WORD) {
    return memchr(text.p, '\\', text.n) != NULL;
  }
  if (lx->tok.kind != LT_JSTOK_INCDEC || text.p[0] != '-') {
    return false;
  }
  size_t start = (size_t)(text.p - lx->src.p);
  bool is_first = lx->tok.newline_before || lx->prev.kind == LT_JSTOK_START;
  return (is_first && lt_str_starts(lt_str_sub(lx->src, start, lx->src.n), LT_STR("-->"))) ||
         (start >= 2 && lt_str_starts(lt_str_sub(lx->src, start - 2, lx->src.n), LT_STR("<!--")));
}

static bool tokens_read(lt_tserase *p) {
  lt_jslex lx;
  size_t room = 0;
  uint32_t open = UINT32_MAX;
  lt_jslex_init(&lx, p->source);
  for (bool is_token = true; is_token; p->count++) {
    is_token = lt_jslex_next(&lx);
    if (!tokens_grow(p, &room) || lx.depth > LT_JSSCAN_DEPTH || token_is_odd(&lx)) {
      return false;
    }
    size_t start = is_token ? (size_t)(lx.tok.text.p - p->source.p) : p->source.n;
    lt_tserase_token *token = &p->tokens[p->count];
    *token = (lt_tserase_token){.start = (uint32_t)start,
                                .end = (uint32_t)(start + lx.tok.text.n),
                                .kind = (uint8_t)lx.tok.kind,
                                .word = lx.tok.kind == LT_JSTOK_WORD ? token_find_word(lx.tok.text) : LT_WORD_NONE,
                                .punct = lx.tok.kind == LT_JSTOK_PUNCT ? lx.tok.punct : '\0',
                                .newline_before = lx.tok.newline_before,
                                .opens = lx.tok.kind == LT_JSTOK_TEMPLATE && lx.tok.wants_operand};
    if (!tokens_follow_bracket(p, token, &open)) {
      return false;
    }
  }
  return open == UINT32_MAX && !lx.unterminated;
}

/* --- What the parts have in common -------------------------------------------------------------------------------- */
bool lt_tserase_advance(lt_tserase *p) {
  if (p->steps_left == 0) {
    p->is_given_up = true;
    p->at = p->count - 1;
  } else if (p->at + 1 < p->count) {
    p->at++;
    p->steps_left--;
  }
  return true;
}

bool lt_tserase_take(lt_tserase *p, char punct) {
  return lt_tserase_is(p, punct) && lt_tserase_advance(p);
}

bool lt_tserase_take_word(lt_tserase *p, lt_tserase_word word) {
  return lt_tserase_is_word(p, word) && lt_tserase_advance(p);
}

bool lt_tserase_enter(lt_tserase *p) {
  if (p->depth == LT_TSERASE_DEPTH) {
    p->is_given_up = true;
  }
  if (p->is_given_up) {
    return false;
  }
  p->depth++;
  return true;
}

void lt_tserase_leave(lt_tserase *p) {
  p->depth--;
}

lt_tserase_outside lt_tserase_go_inside(lt_tserase *p) {
  lt_tserase_outside outside = {p->is_for_head, p->is_before_colon, p->is_heritage, p->is_in_extends};
  p->is_for_head = p->is_before_colon = p->is_heritage = p->is_in_extends = false;
  return outside;
}

void lt_tserase_go_outside(lt_tserase *p, lt_tserase_outside outside) {
  p->is_for_head = outside.is_for_head;
  p->is_before_colon = outside.is_before_colon;
  p->is_heritage = outside.is_heritage;
  p->is_in_extends = outside.is_in_extends;
}

/* --- Text that is put in ------------------------------------------------------------------------------------------ */
static lt_tserase_insert *inserts_of(const lt_tserase *p, size_t *ret_count) {
  *ret_count = p->inserts.n / sizeof(lt_tserase_insert);
  return (lt_tserase_insert *)(void *)p->inserts.p;
}

/* Drops what was put in from that token on: all of it is erased. */
static void inserts_drop(lt_tserase *p, size_t index) {
  size_t count;
  const lt_tserase_insert *list = inserts_of(p, &count);
  while (count > 0 && list[count - 1].token >= index) {
    count--;
  }
  lt_buf_cut(&p->inserts, count * sizeof *list);
}

/* Behind what was put in at the same place. */
static void inserts_add(lt_tserase *p, lt_tserase_insert insert) {
  if (lt_buf_reserve(&p->inserts, sizeof insert) == NULL) {
    return;
  }
  size_t count;
  lt_tserase_insert *list = inserts_of(p, &count);
  lt_buf_commit(&p->inserts, sizeof insert);
  while (count > 0 && list[count - 1].at > insert.at) {
    list[count] = list[count - 1];
    count--;
  }
  list[count] = insert;
}

static void insert_add_form(lt_tserase *p, const char *form, size_t name, size_t key) {
  lt_str key_text = lt_tserase_text(p, key);
  const char *quote = lt_tserase_token_at(p, key)->kind == LT_JSTOK_STRING ? "" : "\"";
  for (; *form != '\0'; form++) {
    if (*form == '@') {
      lt_buf_add(&p->inserted, lt_tserase_text(p, name));
    } else if (*form == '#') {
      lt_buf_addc(&p->inserted, quote);
      lt_buf_add(&p->inserted, key_text);
      lt_buf_addc(&p->inserted, quote);
    } else {
      lt_buf_byte(&p->inserted, *form);
    }
  }
}

static void insert_at(lt_tserase *p, size_t index, uint32_t at, const char *form, size_t name, size_t key) {
  if (*form == '\0') {
    return;
  }
  uint32_t from = (uint32_t)p->inserted.n;
  insert_add_form(p, form, name, key);
  inserts_add(p, (lt_tserase_insert){(uint32_t)index, at, from, (uint32_t)p->inserted.n - from});
  p->is_changed = true;
}

void lt_tserase_insert_before(lt_tserase *p, size_t index, const char *form, size_t name, size_t key) {
  insert_at(p, index, lt_tserase_token_at(p, index)->start, form, name, key);
}

void lt_tserase_insert_behind(lt_tserase *p, size_t index, const char *form, size_t name, size_t key) {
  insert_at(p, index, lt_tserase_token_at(p, index)->end, form, name, key);
}

/* --- Erasing ------------------------------------------------------------------------------------------------------ */
void lt_tserase_erase_from(lt_tserase *p, size_t index) {
  if (index >= p->at) {
    return;
  }
  p->erased_from = p->tokens[index].start;
  p->erased_to = p->tokens[p->at - 1].end;
  inserts_drop(p, index);
  for (size_t i = p->erased_from; i < p->erased_to; i++) {
    if (p->out[i] != '\n' && p->out[i] != '\r') {
      p->out[i] = ' ';
    }
  }
  p->is_changed = true;
}

void lt_tserase_erase_statement(lt_tserase *p, size_t index) {
  lt_tserase_erase_from(p, index);
  if (p->open_end == index) {
    p->out[p->erased_from] = ';';
  }
}

bool lt_tserase_end_statement(lt_tserase *p) {
  if (lt_tserase_take(p, ';')) {
    return true;
  }
  const lt_tserase_token *next = lt_tserase_peek(p, 0);
  if (!next->newline_before && next->punct != '}' && next->kind != LT_JSTOK_END) {
    return false;
  }
  p->open_end = p->at;
  if (next->newline_before && p->is_changed && p->at > 0 && p->erased_to == p->tokens[p->at - 1].end) {
    p->out[p->erased_from] = ';';
  }
  return true;
}

/* --- A program ---------------------------------------------------------------------------------------------------- */
static bool program_erase(lt_tserase *p) {
  if (!tokens_read(p)) {
    return false;
  }
  p->steps_left = p->count * LT_TSERASE_STEPS;
  return lt_tserase_statement_read_list(p) && lt_tserase_is_kind(p, LT_JSTOK_END) && !p->is_given_up &&
         p->inserted.status == LT_OK && p->inserts.status == LT_OK;
}

/* Puts the text in, from the last place to the first: the program, at the end of `out`, moves apart. */
static bool program_insert(const lt_tserase *p, lt_buf *out) {
  size_t count, more = 0, left = p->source.n;
  const lt_tserase_insert *list = inserts_of(p, &count);
  for (size_t i = 0; i < count; i++) {
    more += list[i].n;
  }
  if (lt_buf_reserve(out, more) == NULL) {
    return false;
  }
  char *from = out->p + out->n - left, *to = out->p + out->n + more;
  for (size_t i = count; i-- > 0; left = list[i].at) {
    to -= left - list[i].at;
    memmove(to, from + list[i].at, left - list[i].at);
    to -= list[i].n;
    memcpy(to, p->inserted.p + list[i].from, list[i].n);
  }
  lt_buf_commit(out, more);
  return true;
}

static lt_tserase_end program_close(const lt_tserase *p, lt_buf *out) {
  if (!p->is_changed) {
    return LT_TSERASE_NOTHING;
  }
  if (p->inserts.n == 0) {
    return LT_TSERASE_ERASED;
  }
  return program_insert(p, out) ? LT_TSERASE_WRITTEN : LT_TSERASE_UNSURE;
}

/* U+2028 and U+2029 end a line here and in no editor. */
static bool program_has_odd_lines(lt_str source) {
  return lt_str_find(source, LT_STR("\xE2\x80\xA8"), 0) != SIZE_MAX ||
         lt_str_find(source, LT_STR("\xE2\x80\xA9"), 0) != SIZE_MAX;
}

lt_tserase_end lt_tserase_program(lt_str source, lt_buf *out) {
  if (source.n == 0) {
    return LT_TSERASE_NOTHING;
  }
  if (source.n > LT_TSERASE_MAX_BYTES || program_has_odd_lines(source)) {
    return LT_TSERASE_UNSURE;
  }
  size_t start = out->n;
  lt_buf_add(out, source);
  if (out->status != LT_OK) {
    return LT_TSERASE_UNSURE;
  }
  lt_tserase p = {.source = source, .out = out->p + start, .open_end = SIZE_MAX, .block = UINT32_MAX};
  lt_buf_init(&p.inserted, LT_TSERASE_INSERTED_MAX_BYTES);
  lt_buf_init(&p.inserts, LT_TSERASE_INSERTED_MAX_BYTES);
  lt_tserase_end end = program_erase(&p) ? program_close(&p, out) : LT_TSERASE_UNSURE;
  lt_mem_free(p.tokens);
  lt_buf_release(&p.inserted);
  lt_buf_release(&p.inserts);
  if (end != LT_TSERASE_ERASED && end != LT_TSERASE_WRITTEN) {
    lt_buf_cut(out, start);
  }
  return end;
}
