#include "cli/manual_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

/* --- Text --------------------------------------------------------------------------------------------------------- */

/* In roff a backslash begins an escape, "-" may become a dash that nobody can paste, and a line that begins with a dot
 * or an apostrophe is a request. */
static void manual_put(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i == 0 && (text[i] == '.' || text[i] == '\'')) {
      fputs("\\&", stdout);
    }
    if (text[i] == '\\') {
      fputs("\\e", stdout);
    } else if (text[i] == '-') {
      fputs("\\-", stdout);
    } else {
      putchar(text[i]);
    }
  }
}

static void manual_put_words(const char *text) {
  manual_put(text, strlen(text));
}

static void manual_put_capitals(const char *text) {
  for (; *text != '\0'; text++) {
    putchar(*text == ' ' || *text == '-' ? '-' : toupper((unsigned char)*text));
  }
}

/* Lines of a help text: those that begin with a space are shown as they are, the others are filled. What follows the
 * end of a sentence at the end of a line begins on a line of its own. */
static void manual_put_text(const char *text) {
  bool is_block = false, is_after_gap = false;
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    bool is_shown_as_is = n > 0 && text[0] == ' ';
    if (n > 0 && is_after_gap && !is_block && !is_shown_as_is) {
      puts(".PP");
    }
    if (n > 0 && is_shown_as_is != is_block) {
      puts(is_shown_as_is ? ".PP\n.nf" : ".fi\n.PP");
      is_block = is_shown_as_is;
    }
    if (n > 0) {
      manual_put(text, n);
      putchar('\n');
    }
    if (n > 0 && !is_block && text[n - 1] == '.' && text[n] == '\n' && text[n + 1] > ' ') {
      puts(".br");
    }
    is_after_gap = n == 0;
    text += n + (text[n] == '\n');
  }
  if (is_block) {
    puts(".fi");
  }
}

/* --- Parts of a page ---------------------------------------------------------------------------------------------- */

/* The name of a page: "lathe-mcp-install". */
static void manual_put_page_name(const char *command) {
  fputs("lathe", stdout);
  if (*command != '\0') {
    fputs("\\-", stdout);
  }
  for (const char *p = command; *p != '\0'; p++) {
    fputs(*p == ' ' || *p == '-' ? "\\-" : (char[]){*p, '\0'}, stdout);
  }
}

static void manual_begin(const char *name, const char *summary) {
  fputs(*name == '\0' ? ".TH LATHE" : ".TH LATHE-", stdout);
  manual_put_capitals(name);
  fputs(" 1 \"" LT_VERSION_DATE "\" \"lathe " LT_VERSION "\" \"User Commands\"\n.SH NAME\n", stdout);
  manual_put_page_name(name);
  fputs(" \\- ", stdout);
  putchar(tolower((unsigned char)*summary));
  manual_put_words(summary + 1);
  putchar('\n');
}

static void manual_put_row(const char *brief, const char *name, const char *argument, const char *help) {
  fputs(".TP\n", stdout);
  if (brief != NULL) {
    fputs("\\fB", stdout);
    manual_put_words(brief);
    fputs("\\fR, ", stdout);
  }
  fputs("\\fB", stdout);
  manual_put_words(name);
  fputs("\\fR", stdout);
  if (argument != NULL) {
    fputs(" \\fI", stdout);
    manual_put_words(argument);
    fputs("\\fR", stdout);
  }
  putchar('\n');
  for (const char *line = help; line != NULL;) {
    const char *end = strchr(line, '\n');
    if (line != help && line[0] == ' ') {
      puts(".br");
    }
    line += strspn(line, " ");
    manual_put(line, end != NULL ? (size_t)(end - line) : strlen(line));
    putchar('\n');
    line = end != NULL ? end + 1 : NULL;
  }
}

static void manual_put_options(const lt_command *command) {
  const lt_command_operand *const operands[] = {&command->operand, &command->second, &command->third, &command->rest};
  puts(".SH OPTIONS");
  for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
    if (operands[i]->name != NULL) {
      manual_put_row(NULL, operands[i]->name, NULL, operands[i]->help);
    }
  }
  for (size_t i = 0; i < command->option_count; i++) {
    const lt_option *option = &command->options[i];
    manual_put_row(option->brief, option->name, option->argument, option->help);
  }
  manual_put_row("-h", "--help", NULL, "a shorter form of this page");
}

static void manual_put_reference(const char *name) {
  fputs("\\fB", stdout);
  manual_put_page_name(name);
  fputs("\\fR(1)", stdout);
}

/* --- Pages -------------------------------------------------------------------------------------------------------- */

static void manual_print_command(const lt_command *command) {
  manual_begin(command->name, command->summary);
  printf(".SH SYNOPSIS\n\\fBlathe %s\\fR ", command->name);
  manual_put_words(command->synopsis);
  puts("\n.SH DESCRIPTION");
  manual_put_text(command->about);
  manual_put_options(command);
  puts(".SH NOTES");
  manual_put_text(command->notes);
  puts(".SH SEE ALSO");
  for (const lt_command *const *inner = command->inner; inner != NULL && *inner != NULL; inner++) {
    manual_put_reference((*inner)->name);
    puts(",");
  }
  manual_put_reference("");
  putchar('\n');
}

static void manual_put_command(const lt_command *command, FILE *to) {
  (void)to;
  if (!lt_commands_is_inner(command)) {
    puts(".TP");
    manual_put_reference(command->name);
    putchar('\n');
    manual_put_words(command->summary);
    putchar('\n');
  }
}

static void manual_print_program(void) {
  manual_begin("", "Code mode for language-model agents");
  puts(
      ".SH SYNOPSIS\n\\fBlathe\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
      "A model writes a program instead of calling tools one by one. The program runs in a sandbox and calls the\n"
      "configured tools, such as those of MCP servers, as plain functions.\n.SH COMMANDS");
  lt_commands_for_each(manual_put_command, stdout);
  puts(".SH OPTIONS");
  manual_put_row("-h", "--help", NULL, "a line for each command; lathe COMMAND --help says more");
  manual_put_row(NULL, "--version", NULL, "the version, and those of its parts");
  puts(".SH FILES");
  manual_put_row(NULL, "~/.config/lathe/lathe.yaml", NULL, "the configuration of a user");
  manual_put_row(NULL, "./lathe.yaml", NULL, "the configuration of a folder, when it is trusted");
  manual_put_row(NULL, "~/.local/state/lathe/", NULL, "the database, the list of trusted files, logins to servers");
  puts(".SH ENVIRONMENT");
  manual_put_row(NULL, "LATHE_CONFIG", NULL, "the file of the configuration, in place of ./lathe.yaml");
  manual_put_row(NULL, "OPENAI_API_KEY, ANTHROPIC_API_KEY", NULL,
                 "the key of a model, where the configuration names none");
  puts(".SH EXIT STATUS\n0 ok, 1 failed, 2 usage, 3 configuration, 124 timeout, 130 interrupted.");
}

static void manual_print_name(const lt_command *command, FILE *to) {
  fprintf(to, "lathe %s\n", command->name);
}

int lt_manual_page_main(int argc, char **argv) {
  if (argc < 2) {
    puts("lathe");
    lt_commands_for_each(manual_print_name, stdout);
    return LT_EXIT_OK;
  }
  if (argc == 2) {
    manual_print_program();
    return LT_EXIT_OK;
  }
  const lt_command *command = lt_commands_find(argv[2]);
  if (command != NULL && argc > 3) {
    command = lt_commands_find_inner(command, argv[3]);
  }
  if (command == NULL) {
    return LT_EXIT_USAGE;
  }
  manual_print_command(command);
  return LT_EXIT_OK;
}
