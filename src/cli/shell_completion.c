#include "cli/shell_completion.h"

#include <string.h>

#include "base/str.h"
#include "cli/commands.h"

/* --- What the tables say about a value ---------------------------------------------------------------------------- */

typedef enum completion_value { COMPLETION_NOTHING, COMPLETION_WORDS, COMPLETION_FILE } completion_value;

/* "js|ts|python" are words to choose from, "FILE|-" and "FOLDER" are files, "MS" nobody can guess. */
static completion_value completion_value_of(const char *name) {
  if (name == NULL) {
    return COMPLETION_NOTHING;
  }
  if (strstr(name, "FILE") != NULL || strstr(name, "FOLDER") != NULL) {
    return COMPLETION_FILE;
  }
  bool are_words = strspn(name, "abcdefghijklmnopqrstuvwxyz|-") == strlen(name);
  return are_words ? COMPLETION_WORDS : COMPLETION_NOTHING;
}

/* "js|ts|python" as "js ts python". */
static void completion_put_words(const char *words, FILE *to) {
  for (const char *p = words; *p != '\0'; p++) {
    fputc(*p == '|' ? ' ' : *p, to);
  }
}

/* The words that may stand behind a command: its operands that are words, and the commands under it. */
static void completion_put_operand_words(const lt_command *command, FILE *to) {
  const lt_command_operand *const operands[] = {&command->operand, &command->second, &command->third};
  for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
    if (completion_value_of(operands[i]->name) == COMPLETION_WORDS) {
      completion_put_words(operands[i]->name, to);
      fputc(' ', to);
    }
  }
  for (const lt_command *const *inner = command->inner; inner != NULL && *inner != NULL; inner++) {
    fprintf(to, "%s ", strrchr((*inner)->name, ' ') + 1);
  }
}

static bool completion_takes_files(const lt_command *command) {
  return completion_value_of(command->operand.name) == COMPLETION_FILE ||
         completion_value_of(command->second.name) == COMPLETION_FILE;
}

/* The first line of a help text, without the characters to which quotes and descriptions of the shells give a meaning.
 */
static void completion_put_help(const char *help, FILE *to) {
  for (const char *p = help; *p != '\0' && *p != '\n'; p++) {
    if (*p == '\'') {
      fputs("’", to);
    } else if (strchr("[]:\\\"$`", *p) == NULL) {
      fputc(*p, to);
    }
  }
}

/* A part of a pattern that fits the names of commands under another one. */
static void completion_inner_pattern(const lt_command *command, FILE *to) {
  if (lt_commands_is_inner(command)) {
    fprintf(to, " | '%s'", command->name);
  }
}

/* --- bash --------------------------------------------------------------------------------------------------------- */

static void completion_bash_commands(const lt_command *command, FILE *to) {
  if (!lt_commands_is_inner(command)) {
    fprintf(to, " %s", command->name);
  }
}

/* "    'run --lang') words='js ts python' ;;" */
static void completion_bash_value(const lt_command *command, const char *name, const lt_option *option, FILE *to) {
  fprintf(to, "    '%s %s') ", command->name, name);
  switch (completion_value_of(option->argument)) {
    case COMPLETION_WORDS:
      fputs("files='' words='", to);
      completion_put_words(option->argument, to);
      fputs("' ;;\n", to);
      break;
    case COMPLETION_FILE:
      fputs("files=1 words='' ;;\n", to);
      break;
    case COMPLETION_NOTHING:
      fputs("return ;;\n", to);
      break;
  }
}

static void completion_bash_values(const lt_command *command, FILE *to) {
  for (size_t i = 0; i < command->option_count; i++) {
    const lt_option *option = &command->options[i];
    if (option->kind == LT_OPTION_FLAG) {
      continue;
    }
    completion_bash_value(command, option->name, option, to);
    if (option->brief != NULL) {
      completion_bash_value(command, option->brief, option, to);
    }
  }
}

static void completion_bash_options(const lt_command *command, FILE *to) {
  fprintf(to, "    '%s') options='", command->name);
  for (size_t i = 0; i < command->option_count; i++) {
    fprintf(to, "%s ", command->options[i].name);
  }
  fputs("--help' words='", to);
  completion_put_operand_words(command, to);
  fprintf(to, "' files=%s ;;\n", completion_takes_files(command) ? "1" : "");
}

void lt_shell_completion_bash(FILE *to) {
  fputs(
      "# Completion of lathe for bash; made by `lathe completion bash`.\n"
      "_lathe() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
      "  local options='' words='' files=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '",
      to);
  lt_commands_for_each(completion_bash_commands, to);
  fputs(
      " --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  if ((COMP_CWORD > 2)); then\n"
      "    case \"$command ${COMP_WORDS[2]}\" in\n"
      "    ''",
      to);
  lt_commands_for_each(completion_inner_pattern, to);
  fputs(
      ") command+=\" ${COMP_WORDS[2]}\" ;;\n"
      "    esac\n"
      "  fi\n"
      "  case \"$command\" in\n",
      to);
  lt_commands_for_each(completion_bash_options, to);
  fputs(
      "    *) return ;;\n"
      "  esac\n"
      "  case \"$command $before\" in\n",
      to);
  lt_commands_for_each(completion_bash_values, to);
  fputs(
      "    *) [[ $word = -* ]] && words=$options files='' ;;\n"
      "  esac\n"
      "  [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  [ -z \"$files\" ] || { compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$word\")); }\n"
      "}\n"
      "complete -F _lathe lathe\n",
      to);
}

/* --- zsh ---------------------------------------------------------------------------------------------------------- */

static void completion_zsh_command(const lt_command *command, FILE *to) {
  if (!lt_commands_is_inner(command)) {
    fprintf(to, "    '%s:", command->name);
    completion_put_help(command->summary, to);
    fputs("'\n", to);
  }
}

static void completion_zsh_option(const char *name, const lt_option *option, FILE *to) {
  fprintf(to, "      '%s[", name);
  completion_put_help(option->help, to);
  fputc(']', to);
  if (option->kind != LT_OPTION_FLAG) {
    fputs(":value:", to);
  }
  switch (completion_value_of(option->argument)) {
    case COMPLETION_WORDS:
      fputc('(', to);
      completion_put_words(option->argument, to);
      fputc(')', to);
      break;
    case COMPLETION_FILE:
      fputs("_files", to);
      break;
    case COMPLETION_NOTHING:
      break;
  }
  fputs("' \\\n", to);
}

static void completion_zsh_case(const lt_command *command, FILE *to) {
  fprintf(to, "  '%s')\n    _arguments \\\n", command->name);
  for (size_t i = 0; i < command->option_count; i++) {
    const lt_option *option = &command->options[i];
    completion_zsh_option(option->name, option, to);
    if (option->brief != NULL) {
      completion_zsh_option(option->brief, option, to);
    }
  }
  fputs("      '--help[this]' \\\n      '*: :", to);
  if (completion_takes_files(command)) {
    fputs("_files", to);
  } else {
    fputs("( ", to);
    completion_put_operand_words(command, to);
    fputs(")", to);
  }
  fputs("'\n    ;;\n", to);
}

void lt_shell_completion_zsh(FILE *to) {
  fputs(
      "#compdef lathe\n"
      "# Completion of lathe for zsh; made by `lathe completion zsh`.\n"
      "_lathe() {\n"
      "  local command=$words[2]\n"
      "  local -a commands=(\n",
      to);
  lt_commands_for_each(completion_zsh_command, to);
  fputs(
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case \"$command $words[2]\" in\n"
      "  ''",
      to);
  lt_commands_for_each(completion_inner_pattern, to);
  fputs(
      ")\n"
      "    if ((CURRENT > 2)); then\n"
      "      command+=\" $words[2]\"\n"
      "      shift words\n"
      "      ((CURRENT--))\n"
      "    fi\n"
      "    ;;\n"
      "  esac\n"
      "  case $command in\n",
      to);
  lt_commands_for_each(completion_zsh_case, to);
  fputs(
      "  esac\n"
      "}\n"
      "# Called by the shell when the file lies in its path; otherwise it is bound here.\n"
      "if [ \"$funcstack[1]\" = _lathe ]; then\n"
      "  _lathe \"$@\"\n"
      "else\n"
      "  compdef _lathe lathe\n"
      "fi\n",
      to);
}

/* --- fish --------------------------------------------------------------------------------------------------------- */

/* The words behind "lathe" are those of this command, and of none under it. */
static void completion_fish_condition(const lt_command *command, FILE *to) {
  const char *inner = strchr(command->name, ' ');
  if (inner != NULL) {
    fprintf(to, "complete -c lathe -n '__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s'",
            (int)(inner - command->name), command->name, inner + 1);
  } else {
    fprintf(to, "complete -c lathe -n '__fish_seen_subcommand_from %s'", command->name);
  }
}

static void completion_fish_option(const lt_command *command, const lt_option *option, FILE *to) {
  completion_fish_condition(command, to);
  fprintf(to, " -l %s", option->name + 2);
  if (option->brief != NULL) {
    fprintf(to, " -s %s", option->brief + 1);
  }
  switch (completion_value_of(option->argument)) {
    case COMPLETION_WORDS:
      fputs(" -x -a '", to);
      completion_put_words(option->argument, to);
      fputc('\'', to);
      break;
    case COMPLETION_FILE:
      fputs(" -r -F", to);
      break;
    case COMPLETION_NOTHING:
      fputs(option->kind == LT_OPTION_FLAG ? "" : " -x", to);
      break;
  }
  fputs(" -d '", to);
  completion_put_help(option->help, to);
  fputs("'\n", to);
}

static void completion_fish_command(const lt_command *command, FILE *to) {
  if (!lt_commands_is_inner(command)) {
    fprintf(to, "complete -c lathe -n __fish_use_subcommand -a %s -d '", command->name);
    completion_put_help(command->summary, to);
    fputs("'\n", to);
  }
  completion_fish_condition(command, to);
  fputs(completion_takes_files(command) ? " -F -a '" : " -a '", to);
  completion_put_operand_words(command, to);
  fputs("'\n", to);
  for (size_t i = 0; i < command->option_count; i++) {
    completion_fish_option(command, &command->options[i], to);
  }
}

void lt_shell_completion_fish(FILE *to) {
  fputs(
      "# Completion of lathe for fish; made by `lathe completion fish`.\n"
      "complete -c lathe -f\n"
      "complete -c lathe -n __fish_use_subcommand -l help -d 'a line for each command'\n"
      "complete -c lathe -n __fish_use_subcommand -l version -d 'the version'\n",
      to);
  lt_commands_for_each(completion_fish_command, to);
}
