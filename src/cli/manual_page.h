/* Manual pages, made from the tables of commands that `--help` is made from. */
#ifndef LT_CLI_MANUAL_PAGE_H
#define LT_CLI_MANUAL_PAGE_H

/* `lathe __man`, which `make install` calls. Without words it prints on standard output what there are pages of, one a
 * line: "lathe", "lathe chat", "lathe mcp install". With the words behind "lathe" (none: "lathe" itself) it prints that
 * page in the macros of man(7). argv[0] is "__man". Returns the exit code. */
int lt_manual_page_main(int argc, char **argv);

#endif
