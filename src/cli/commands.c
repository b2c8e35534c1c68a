#include "cli/commands.h"

#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"

#define COMMAND_ROW(name) &lt_##name##_command,
static const lt_command *const commands[] = {LT_COMMANDS(COMMAND_ROW)};
#define COMMANDS (sizeof commands / sizeof commands[0])

bool lt_commands_is_inner(const lt_command *command) {
  return strchr(command->name, ' ') != NULL;
}

void lt_commands_for_each(void (*each)(const lt_command *command, FILE *to), FILE *to) {
  for (size_t i = 0; i < COMMANDS; i++) {
    each(commands[i], to);
    for (const lt_command *const *inner = commands[i]->inner; inner != NULL && *inner != NULL; inner++) {
      each(*inner, to);
    }
  }
}

static void commands_print_line(const lt_command *command, FILE *to) {
  if (!lt_commands_is_inner(command)) {
    fprintf(to, "  lathe %-13s %s\n", command->name, command->summary);
  }
}

void lt_commands_print(FILE *to) {
  lt_commands_for_each(commands_print_line, to);
}

const lt_command *lt_commands_find(const char *name) {
  lt_nearest nearest = lt_nearest_to(lt_str_of(name), 2);
  for (size_t i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i]->name) == 0) {
      return commands[i];
    }
    lt_nearest_offer(&nearest, lt_str_of(commands[i]->name));
  }
  fprintf(stderr, "lathe: unknown command \"%s\"", name);
  if (nearest.name.p != NULL) {
    fprintf(stderr, " (did you mean \"%s\"?)", nearest.name.p);
  }
  fputs("; see lathe --help\n", stderr);
  return NULL;
}

static void commands_print_command_help(const lt_command *command, const lt_option_table *table) {
  printf("%s\n  lathe %s %s\n\n", command->about, command->name, command->synopsis);
  lt_command_options_print(table, stdout);
  printf("\n%s", command->notes);
  for (const lt_command *const *inner = command->inner; inner != NULL && *inner != NULL; inner++) {
    printf("%s  lathe %-18s %s\n", inner == command->inner ? "\n" : "", (*inner)->name, (*inner)->summary);
  }
}

const lt_command *lt_commands_find_inner(const lt_command *command, const char *word) {
  for (const lt_command *const *inner = command->inner; inner != NULL && *inner != NULL; inner++) {
    if (strcmp(strrchr((*inner)->name, ' ') + 1, word) == 0) {
      return *inner;
    }
  }
  return NULL;
}

int lt_commands_run(const lt_command *command, int argc, char **argv) {
  const lt_command *inner = argc > 1 ? lt_commands_find_inner(command, argv[1]) : NULL;
  if (inner != NULL) {
    return lt_commands_run(inner, argc - 1, argv + 1);
  }
  const lt_option_table table = {.command = command->name,
                                 .rows = command->options,
                                 .count = command->option_count,
                                 .operand = command->operand,
                                 .second = command->second,
                                 .third = command->third,
                                 .rest = command->rest};
  void *options = lt_mem_zalloc(1, command->options_size);
  if (options == NULL) {
    fprintf(stderr, "lathe %s: out of memory\n", command->name);
    return LT_EXIT_FAILED;
  }
  int code = LT_EXIT_USAGE;
  switch (lt_command_options_read(&table, argc, argv, options)) {
    case LT_OPTIONS_READ:
      code = command->run(options);
      break;
    case LT_OPTIONS_HELP_WANTED:
      commands_print_command_help(command, &table);
      code = LT_EXIT_OK;
      break;
    case LT_OPTIONS_WRONG:
      break;
  }
  lt_mem_free(options);
  return code;
}
