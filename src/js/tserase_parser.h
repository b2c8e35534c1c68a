/* The parser of the type eraser: its tokens, and what its parts have in common.
 *
 * Private to js/. A parsing function begins at the current token and returns true behind what it has read; false means
 * that the whole program is left to somebody else, unless the caller restores `at` and tries something else. So there
 * is no error to describe.
 *
 * Functions that skip types change nothing but `at`. All others may erase, and are never tried: which of two things a
 * bracket begins is decided by looking ahead.
 */
#ifndef LT_JS_TSERASE_PARSER_H
#define LT_JS_TSERASE_PARSER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"
#include "js/jslex.h"

/* Words that mean something somewhere. Those before ABSTRACT are reserved: no variable has such a name. */
#define LT_TSERASE_WORDS(X)   \
  X(BREAK, "break")           \
  X(CASE, "case")             \
  X(CATCH, "catch")           \
  X(CLASS, "class")           \
  X(CONST, "const")           \
  X(CONTINUE, "continue")     \
  X(DEBUGGER, "debugger")     \
  X(DEFAULT, "default")       \
  X(DELETE, "delete")         \
  X(DO, "do")                 \
  X(ELSE, "else")             \
  X(ENUM, "enum")             \
  X(EXPORT, "export")         \
  X(EXTENDS, "extends")       \
  X(FALSE, "false")           \
  X(FINALLY, "finally")       \
  X(FOR, "for")               \
  X(FUNCTION, "function")     \
  X(IF, "if")                 \
  X(IMPORT, "import")         \
  X(IN, "in")                 \
  X(INSTANCEOF, "instanceof") \
  X(NEW, "new")               \
  X(NULL, "null")             \
  X(RETURN, "return")         \
  X(SUPER, "super")           \
  X(SWITCH, "switch")         \
  X(THIS, "this")             \
  X(THROW, "throw")           \
  X(TRUE, "true")             \
  X(TRY, "try")               \
  X(TYPEOF, "typeof")         \
  X(VAR, "var")               \
  X(VOID, "void")             \
  X(WHILE, "while")           \
  X(WITH, "with")             \
  X(ABSTRACT, "abstract")     \
  X(ACCESSOR, "accessor")     \
  X(ANY, "any")               \
  X(AS, "as")                 \
  X(ASSERTS, "asserts")       \
  X(ASYNC, "async")           \
  X(AWAIT, "await")           \
  X(BIGINT, "bigint")         \
  X(BOOLEAN, "boolean")       \
  X(DECLARE, "declare")       \
  X(FROM, "from")             \
  X(GET, "get")               \
  X(GLOBAL, "global")         \
  X(IMPLEMENTS, "implements") \
  X(INFER, "infer")           \
  X(INTERFACE, "interface")   \
  X(IS, "is")                 \
  X(KEYOF, "keyof")           \
  X(LET, "let")               \
  X(MODULE, "module")         \
  X(NAMESPACE, "namespace")   \
  X(NEVER, "never")           \
  X(NUMBER, "number")         \
  X(OBJECT, "object")         \
  X(OF, "of")                 \
  X(OUT, "out")               \
  X(OVERRIDE, "override")     \
  X(PRIVATE, "private")       \
  X(PROTECTED, "protected")   \
  X(PUBLIC, "public")         \
  X(READONLY, "readonly")     \
  X(SATISFIES, "satisfies")   \
  X(SET, "set")               \
  X(STATIC, "static")         \
  X(STRING, "string")         \
  X(SYMBOL, "symbol")         \
  X(TYPE, "type")             \
  X(UNDEFINED, "undefined")   \
  X(UNIQUE, "unique")         \
  X(UNKNOWN, "unknown")       \
  X(YIELD, "yield")

typedef enum lt_tserase_word {
  LT_WORD_NONE, /* no word, or one that means nothing */
#define X(name, text) LT_WORD_##name,
  LT_TSERASE_WORDS(X)
#undef X
} lt_tserase_word;

typedef struct lt_tserase_token {
  uint32_t start; /* bytes of the source */
  uint32_t end;
  uint32_t mate; /* of a bracket: the index of the one that belongs to it. Of an enum's member: that of the one before.
                  * Of a parameter property: that of the next one. Otherwise 0 */
  uint8_t kind;  /* lt_jstok_kind */
  uint8_t word;  /* lt_tserase_word */
  char punct;
  bool newline_before : 1;
  bool opens : 1;   /* a stretch of a template that ends by ${ */
  bool is_text : 1; /* an enum's member whose value is a string */
} lt_tserase_token;

/* Text that is put into the program. */
typedef struct lt_tserase_insert {
  uint32_t token; /* index of the one that it belongs to: it is erased with it */
  uint32_t at;    /* bytes of the source */
  uint32_t from;  /* bytes of `inserted` */
  uint32_t n;
} lt_tserase_insert;

/* All enums of one name in one block are one enum. */
typedef struct lt_tserase_enum {
  uint32_t name;        /* index of a token */
  uint32_t block;       /* the block's */
  uint32_t last_member; /* the member's name; 0: there is none. A member's `mate` is the one before */
  bool is_exported;
} lt_tserase_enum;

/* The parameter properties of a constructor, `constructor(private a, readonly b)`. */
typedef struct lt_tserase_properties {
  uint32_t first; /* index of a token, whose `mate` is the next one; 0: there is none */
  uint32_t last;
} lt_tserase_properties;

typedef struct lt_tserase {
  lt_str source;
  char *out; /* the program, its types overwritten so far */
  lt_tserase_token *tokens;
  size_t count;      /* of tokens; the last one is LT_JSTOK_END */
  size_t at;         /* index of the current token */
  size_t steps_left; /* tokens that may still be read */
  unsigned depth;
  bool is_given_up; /* too deep, or too many steps: not even what was only tried counts */
  bool is_changed;
  size_t erased_from; /* bytes: what was erased last */
  size_t erased_to;
  size_t open_end;      /* index of the token before which a statement ended without a semicolon; SIZE_MAX: none */
  bool is_for_head;     /* `in` is no operator here */
  bool is_before_colon; /* here (a): b => c may be (a), and the colon belongs to something outside */
  bool is_heritage;     /* of a class: a { after type arguments is its body */
  bool is_in_extends;   /* of a conditional type: `extends` begins no other one */
  uint32_t block;       /* index of the { of the innermost block; UINT32_MAX: there is none */
  lt_tserase_properties *properties; /* the ( ahead is a constructor's: what it says of properties. Otherwise NULL */
  lt_buf inserted;                   /* text */
  lt_buf inserts;                    /* lt_tserase_insert, by place */
  size_t enum_count;
  lt_tserase_enum enums[LT_TSERASE_ENUMS];
} lt_tserase;

/* --- tserase.c ---------------------------------------------------------------------------------------------------- */

/* The token `ahead` tokens after the current one; the last token, if there are fewer. */
static inline const lt_tserase_token *lt_tserase_peek(const lt_tserase *p, size_t ahead) {
  return &p->tokens[p->at + ahead < p->count ? p->at + ahead : p->count - 1];
}
static inline const lt_tserase_token *lt_tserase_token_at(const lt_tserase *p, size_t index) {
  return &p->tokens[index < p->count ? index : p->count - 1];
}
static inline bool lt_tserase_is_kind(const lt_tserase *p, lt_jstok_kind kind) {
  return lt_tserase_peek(p, 0)->kind == kind;
}
static inline bool lt_tserase_is(const lt_tserase *p, char punct) {
  return lt_tserase_peek(p, 0)->punct == punct;
}
static inline bool lt_tserase_is_word(const lt_tserase *p, lt_tserase_word word) {
  return lt_tserase_peek(p, 0)->word == word;
}
/* The byte behind a token; 0 at the end of the source. */
static inline char lt_tserase_byte_after(const lt_tserase *p, const lt_tserase_token *token) {
  return token->end < p->source.n ? p->source.p[token->end] : '\0';
}
static inline bool lt_tserase_is_reserved(const lt_tserase_token *token) {
  return token->word > LT_WORD_NONE && token->word < LT_WORD_ABSTRACT;
}
/* A name that a variable or a type may have. */
static inline bool lt_tserase_is_name(const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_WORD && !lt_tserase_is_reserved(token);
}

/* Always true, so that it can stand in a row of conditions: running out of steps is remembered. */
bool lt_tserase_advance(lt_tserase *p);
/* Reads that token, or returns false. */
bool lt_tserase_take(lt_tserase *p, char punct);
bool lt_tserase_take_word(lt_tserase *p, lt_tserase_word word);

/* Around everything that can contain itself. False: it is too deep. */
bool lt_tserase_enter(lt_tserase *p);
void lt_tserase_leave(lt_tserase *p);

/* What holds until a bracket, but not within it: saved, cleared, and put back. */
typedef struct lt_tserase_outside {
  bool is_for_head, is_before_colon, is_heritage, is_in_extends;
} lt_tserase_outside;
lt_tserase_outside lt_tserase_go_inside(lt_tserase *p);
void lt_tserase_go_outside(lt_tserase *p, lt_tserase_outside outside);

/* Erases from a token up to, but not including, the current one. Line ends stay. */
void lt_tserase_erase_from(lt_tserase *p, size_t index);
/* The same for a whole statement or member: a semicolon takes its place where the one before has none. */
void lt_tserase_erase_statement(lt_tserase *p, size_t index);
/* Puts text before or behind a token: `form`, in which @ stands for the text of token `name`, and # for that of token
 * `key` as a string. */
void lt_tserase_insert_before(lt_tserase *p, size_t index, const char *form, size_t name, size_t key);
void lt_tserase_insert_behind(lt_tserase *p, size_t index, const char *form, size_t name, size_t key);
static inline lt_str lt_tserase_text(const lt_tserase *p, size_t index) {
  const lt_tserase_token *token = lt_tserase_token_at(p, index);
  return lt_str_sub(p->source, token->start, token->end);
}
/* The end of a statement or of a class's field: a semicolon, or where one is inserted (ECMA-262, 12.10.1). Where the
 * statement ended by an erased type, a semicolon is put: what follows might continue the statement now. */
bool lt_tserase_end_statement(lt_tserase *p);

/* --- tserase_type.c ----------------------------------------------------------------------------------------------- */

bool lt_tserase_type_skip(lt_tserase *p);
/* ... or a type predicate: `x is T`, `asserts x`. */
bool lt_tserase_type_skip_result(lt_tserase *p);
/* `<A, B>` and `<T extends U = V>`. */
bool lt_tserase_type_skip_arguments(lt_tserase *p);
bool lt_tserase_type_skip_parameters(lt_tserase *p);
/* `{ a: T; b(): U }` */
bool lt_tserase_type_skip_object(lt_tserase *p);
/* `A, B<C>` */
bool lt_tserase_type_skip_list(lt_tserase *p);
/* `[k: T]: U` */
bool lt_tserase_type_is_index(const lt_tserase *p);
bool lt_tserase_type_skip_index(lt_tserase *p);
/* These erase what they read; where there is no `:` or `<`, that is nothing. */
bool lt_tserase_type_erase_annotation(lt_tserase *p);
bool lt_tserase_type_erase_result(lt_tserase *p);
bool lt_tserase_type_erase_parameters(lt_tserase *p);

/* --- tserase_expression.c ----------------------------------------------------------------------------------------- */

bool lt_tserase_expression_read(lt_tserase *p);
/* Without a comma outside brackets. */
bool lt_tserase_expression_read_single(lt_tserase *p);
/* `<T>value`. Where a statement or a function's body may begin, `<T>{}` would become one. */
bool lt_tserase_expression_is_assertion(lt_tserase *p);
/* What a class extends. */
bool lt_tserase_expression_read_heritage(lt_tserase *p);

/* --- tserase_function.c ------------------------------------------------------------------------------------------- */

/* A name or a pattern that something is bound to. */
bool lt_tserase_function_read_target(lt_tserase *p);
/* In parentheses. */
bool lt_tserase_function_read_parameters(lt_tserase *p);
/* Type parameters, parameters and result. */
bool lt_tserase_function_read_signature(lt_tserase *p);
bool lt_tserase_function_read_body(lt_tserase *p);
/* From the word `function`. `ret_has_body`: NULL if it must have one. */
bool lt_tserase_function_read(lt_tserase *p, bool *ret_has_body);
/* The key of a member: a name, a string, a number, an expression in brackets. */
bool lt_tserase_function_read_key(lt_tserase *p);

/* --- tserase_class.c, tserase_enum.c, tserase_statement.c, tserase_module.c --------------------------------------- */

/* From the word `class`. */
bool lt_tserase_class_read(lt_tserase *p);

/* From the words `enum` or `const enum` of a statement that begins at token `start`. */
bool lt_tserase_enum_read(lt_tserase *p, size_t start);

/* Statements up to a } or the end, or a case of a switch statement. */
bool lt_tserase_statement_read_list(lt_tserase *p);
bool lt_tserase_statement_read_block(lt_tserase *p);
/* A declaration that may follow `export`; everything from token `start` on is erased if it has no value. False at
 * anything else. */
bool lt_tserase_statement_read_declaration(lt_tserase *p, size_t start);

/* From the words `import` and `export`. */
bool lt_tserase_module_read_import(lt_tserase *p);
bool lt_tserase_module_read_export(lt_tserase *p);

#endif
