/* A command's options, declared in a table: parsing, `--help` and "did you mean" come from it.
 *
 * --NAME VALUE, --NAME=VALUE, -x VALUE, flags; `--` ends the options; a command may take the words after it. Every
 * command knows --help and -h. A message is one line on standard error and says what to do.
 */
#ifndef LT_CLI_COMMAND_OPTIONS_H
#define LT_CLI_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum lt_option_kind { LT_OPTION_FLAG, LT_OPTION_TEXT, LT_OPTION_TEXTS, LT_OPTION_NUMBER } lt_option_kind;

#define LT_OPTION_TEXTS_MAX 32
/* The values of an option that may be given several times. */
typedef struct lt_option_texts {
  const char *at[LT_OPTION_TEXTS_MAX];
  int count;
} lt_option_texts;

/* A row: an option of the command line, and the member that it sets. */
typedef struct lt_option {
  const char *name;     /* "--timeout" */
  const char *brief;    /* "-e", or NULL */
  const char *argument; /* name of the value in the help; NULL for a flag */
  const char *help;     /* without a dot at the end; "\n" separates lines */
  lt_option_kind kind;
  size_t offset;                /* in the command's options */
  int64_t initial, least, most; /* numbers: the default, and the inclusive bounds */
} lt_option;

/* The kind and the member of a row. `options` is the type of the command's options. */
#define LT_OPTION_IS_FLAG(options, member) .kind = LT_OPTION_FLAG, .offset = LT_OPTION_PLACE(options, member, bool)
#define LT_OPTION_IS_TEXT(options, member) \
  .kind = LT_OPTION_TEXT, .offset = LT_OPTION_PLACE(options, member, const char *)
#define LT_OPTION_IS_TEXTS(options, member) \
  .kind = LT_OPTION_TEXTS, .offset = LT_OPTION_PLACE(options, member, lt_option_texts)
#define LT_OPTION_IS_NUMBER(options, member, not_given, min, max)                                                 \
  .kind = LT_OPTION_NUMBER, .offset = LT_OPTION_PLACE(options, member, int64_t), .initial = (int64_t)(not_given), \
  .least = (int64_t)(min), .most = (int64_t)(max)
/* Does not compile when the member has another type. */
#define LT_OPTION_PLACE(options, member, type) \
  (offsetof(options, member) +                 \
   0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((options *)NULL)->member), type) ? 1 : -1]))

/* The words after `--`, for a command that hands them on. */
typedef struct lt_option_words {
  char **at;
  int count;
  bool is_given; /* there was a `--` */
} lt_option_words;

/* An operand: a word that is no option. A command has at most three. */
typedef struct lt_command_operand {
  const char *name; /* for the help: "FILE"; NULL: the command has no operand */
  const char *help;
  const char *rule; /* the message for too many operands or a missing one */
  bool is_required;
  size_t offset; /* of a const char * in the command's options */
} lt_command_operand;

#define LT_OPERAND_IS(options, member)      .offset = LT_OPTION_PLACE(options, member, const char *)
#define LT_OPERAND_IS_REST(options, member) .offset = LT_OPTION_PLACE(options, member, lt_option_words)

typedef struct lt_option_table {
  const char *command; /* its name, for messages */
  const lt_option *rows;
  size_t count;
  lt_command_operand operand;
  lt_command_operand second; /* never required; its rule is not used */
  lt_command_operand third;  /* likewise */
  lt_command_operand rest;   /* the words after `--`, an lt_option_words; its name is NULL: they are operands */
} lt_option_table;

typedef enum lt_options_outcome { LT_OPTIONS_READ, LT_OPTIONS_HELP_WANTED, LT_OPTIONS_WRONG } lt_options_outcome;

/* Reads argv[1] and the following words into `options`, which the caller has set to zero. Borrows argv.
 * LT_OPTIONS_WRONG: the message has been printed. */
lt_options_outcome lt_command_options_read(const lt_option_table *table, int argc, char **argv, void *options);

/* Prints the operand and the options, each with its help. */
void lt_command_options_print(const lt_option_table *table, FILE *to);

#endif
