/* Where lines that a person types are kept from one dialogue to the next: a file beside the default database. */
#ifndef LT_CLI_HISTORY_FILE_H
#define LT_CLI_HISTORY_FILE_H

/* The file's path. Creates missing folders. NULL: no home folder, or no memory. Owns: the caller, lt_mem_free. */
char *lt_history_file_path(const char *name);

#endif
