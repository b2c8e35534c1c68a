#include "cli/command_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static const lt_option help_option = {.name = "--help", .brief = "-h", .help = "this"};

/* The state of parsing one command line. */
typedef struct option_reader {
  const lt_option_table *table;
  char *options; /* the command's options struct */
  bool is_help_wanted;
  int operands;
} option_reader;

/* --- Values ------------------------------------------------------------------------------------------------------- */
static const lt_option *command_options_find_option(const lt_option_table *table, lt_str name) {
  for (size_t i = 0; i <= table->count; i++) {
    const lt_option *option = i < table->count ? &table->rows[i] : &help_option;
    if (lt_str_eqc(name, option->name) || (option->brief != NULL && lt_str_eqc(name, option->brief))) {
      return option;
    }
  }
  return NULL;
}

static bool command_options_refuse_unknown(const lt_option_table *table, lt_str name) {
  lt_nearest nearest = lt_nearest_to(name, 3);
  for (size_t i = 0; i < table->count; i++) {
    lt_nearest_offer(&nearest, lt_str_of(table->rows[i].name));
  }
  lt_nearest_offer(&nearest, lt_str_of(help_option.name));
  fprintf(stderr, "lathe %s: unknown option %.*s", table->command, LT_STR_ARG(name));
  if (nearest.name.p != NULL) {
    fprintf(stderr, " (did you mean %s?)", nearest.name.p);
  }
  fprintf(stderr, "; see lathe %s --help\n", table->command);
  return false;
}

static bool command_options_set_number(const option_reader *r, const lt_option *option, const char *text) {
  char *end = NULL;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || n < option->least || n > option->most) {
    fprintf(stderr, "lathe %s: %s expects a whole number from %lld to %lld, not \"%s\"\n", r->table->command,
            option->name, (long long)option->least, (long long)option->most, text);
    return false;
  }
  memcpy(r->options + option->offset, &(int64_t){n}, sizeof(int64_t));
  return true;
}

static bool command_options_add_text(const option_reader *r, const lt_option *option, const char *text) {
  lt_option_texts texts;
  memcpy(&texts, r->options + option->offset, sizeof texts);
  if (texts.count == LT_OPTION_TEXTS_MAX) {
    fprintf(stderr, "lathe %s: %s may be given %d times\n", r->table->command, option->name, LT_OPTION_TEXTS_MAX);
    return false;
  }
  texts.at[texts.count++] = text;
  memcpy(r->options + option->offset, &texts, sizeof texts);
  return true;
}

static bool command_options_set_value(const option_reader *r, const lt_option *option, const char *text) {
  if (option->kind == LT_OPTION_TEXTS) {
    return command_options_add_text(r, option, text);
  }
  if (option->kind == LT_OPTION_NUMBER) {
    return command_options_set_number(r, option, text);
  }
  memcpy(r->options + option->offset, &text, sizeof text);
  return true;
}

static void command_options_set_flag(option_reader *r, const lt_option *option) {
  if (option == &help_option) {
    r->is_help_wanted = true;
  } else {
    memcpy(r->options + option->offset, &(bool){true}, sizeof(bool));
  }
}

static void command_options_set_initial_numbers(const option_reader *r) {
  for (size_t i = 0; i < r->table->count; i++) {
    const lt_option *option = &r->table->rows[i];
    if (option->kind == LT_OPTION_NUMBER) {
      memcpy(r->options + option->offset, &option->initial, sizeof option->initial);
    }
  }
}

/* --- Reading the command line ------------------------------------------------------------------------------------- */
/* `--name=VALUE` or `--name VALUE`. Returns the number of words used; 0: the message has been printed. */
static int command_options_read_option(option_reader *r, int left, char **words) {
  lt_str word = lt_str_of(words[0]);
  size_t equals = lt_str_starts(word, LT_STR("--")) ? lt_str_find(word, LT_STR("="), 0) : SIZE_MAX;
  lt_str name = equals == SIZE_MAX ? word : lt_str_sub(word, 0, equals);
  const lt_option *option = command_options_find_option(r->table, name);
  if (option == NULL) {
    return command_options_refuse_unknown(r->table, name);
  }
  if (option->kind == LT_OPTION_FLAG && equals == SIZE_MAX) {
    command_options_set_flag(r, option);
    return 1;
  }
  if (option->kind == LT_OPTION_FLAG) {
    fprintf(stderr, "lathe %s: %s takes no value\n", r->table->command, option->name);
    return 0;
  }
  if (equals != SIZE_MAX) {
    return command_options_set_value(r, option, words[0] + equals + 1) ? 1 : 0;
  }
  if (left < 2) {
    fprintf(stderr, "lathe %s: %s needs a value; see lathe %s --help\n", r->table->command, option->name,
            r->table->command);
    return 0;
  }
  return command_options_set_value(r, option, words[1]) ? 2 : 0;
}

static void command_options_read_operand(option_reader *r, const char *word) {
  const lt_command_operand *const operands[] = {&r->table->operand, &r->table->second, &r->table->third};
  size_t i = (size_t)r->operands++, count = sizeof operands / sizeof operands[0];
  const lt_command_operand *operand = operands[i < count ? i : 0];
  if (i < count && operand->name != NULL) {
    memcpy(r->options + operand->offset, &word, sizeof word);
  }
}

/* Takes all words after `--`. False: they are operands of this command. */
static bool command_options_take_rest(option_reader *r, int count, char **words) {
  const lt_option_words rest = {.at = words, .count = count, .is_given = true};
  if (r->table->rest.name != NULL) {
    memcpy(r->options + r->table->rest.offset, &rest, sizeof rest);
  }
  return r->table->rest.name != NULL;
}

static bool command_options_check_operands(const option_reader *r) {
  const lt_command_operand *operand = &r->table->operand;
  int most = (operand->name != NULL) + (r->table->second.name != NULL) + (r->table->third.name != NULL);
  int least = operand->is_required ? 1 : 0;
  if (r->operands >= least && r->operands <= most) {
    return true;
  }
  fprintf(stderr, "lathe %s: %s\n", r->table->command, operand->rule);
  return false;
}

lt_options_outcome lt_command_options_read(const lt_option_table *table, int argc, char **argv, void *options) {
  option_reader r = {.table = table, .options = options};
  bool may_be_option = true;
  command_options_set_initial_numbers(&r);
  for (int i = 1; i < argc;) {
    bool is_option = may_be_option && argv[i][0] == '-' && argv[i][1] != '\0';
    int used = 1;
    if (is_option && strcmp(argv[i], "--") == 0) {
      may_be_option = false;
      used = command_options_take_rest(&r, argc - i - 1, argv + i + 1) ? argc - i : 1;
    } else if (is_option) {
      used = command_options_read_option(&r, argc - i, argv + i);
    } else {
      command_options_read_operand(&r, argv[i]);
    }
    if (used == 0) {
      return LT_OPTIONS_WRONG;
    }
    i += used;
  }
  if (r.is_help_wanted) {
    return LT_OPTIONS_HELP_WANTED;
  }
  return command_options_check_operands(&r) ? LT_OPTIONS_READ : LT_OPTIONS_WRONG;
}

/* --- Help --------------------------------------------------------------------------------------------------------- */
#define HELP_COLUMN 21

/* "  -e, --eval CODE    the program itself", or the help on separate lines when the name is long. */
static void command_options_print_row(FILE *to, const char *name, const char *help) {
  int width = fprintf(to, "  %s", name);
  if (width > HELP_COLUMN - 2) {
    width = 0;
    fputc('\n', to);
  }
  for (const char *line = help; line != NULL; width = 0) {
    const char *end = strchr(line, '\n');
    fprintf(to, "%*s%.*s\n", HELP_COLUMN - width, "", (int)(end != NULL ? (size_t)(end - line) : strlen(line)), line);
    line = end != NULL ? end + 1 : NULL;
  }
}

static void command_options_print_option(FILE *to, const lt_option *option) {
  char name[80];
  snprintf(name, sizeof name, "%s%s%s%s%s", option->brief != NULL ? option->brief : "",
           option->brief != NULL ? ", " : "", option->name, option->argument != NULL ? " " : "",
           option->argument != NULL ? option->argument : "");
  command_options_print_row(to, name, option->help);
}

void lt_command_options_print(const lt_option_table *table, FILE *to) {
  if (table->operand.name != NULL) {
    command_options_print_row(to, table->operand.name, table->operand.help);
  }
  if (table->second.name != NULL) {
    command_options_print_row(to, table->second.name, table->second.help);
  }
  if (table->third.name != NULL) {
    command_options_print_row(to, table->third.name, table->third.help);
  }
  if (table->rest.name != NULL) {
    command_options_print_row(to, table->rest.name, table->rest.help);
  }
  for (size_t i = 0; i < table->count; i++) {
    command_options_print_option(to, &table->rows[i]);
  }
  command_options_print_option(to, &help_option);
}
