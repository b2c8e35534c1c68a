/* What the files of saved programs share. Internal to program_tools.c and program_save.c. */
#ifndef LT_PLUGIN_PROGRAM_TOOLS_IMPL_H
#define LT_PLUGIN_PROGRAM_TOOLS_IMPL_H

#include "plugin/program_tools.h"

/* Everybody's programs, as they were read at one time. */
typedef struct lt_program_set lt_program_set;

struct lt_program_tools {
  lt_provider base; /* first member: the door's pointer is cast to this struct */
  lt_host *host;
  lt_host_options options;
  lt_program_set *first;  /* whose modules are lent out */
  lt_program_set *latest; /* the same, or a later one */
  uint64_t saves;         /* so far, here */
  bool may_save;
};

/* Whether everybody has a program of that name. */
bool lt_program_tools_has(const lt_program_tools *tools, lt_str name);
/* Reads everybody's programs again, and gives them to the door. LT_YIELDS. */
lt_status lt_program_tools_read(lt_program_tools *tools, lt_err *err) LT_YIELDS;
/* The limits and modules of a program that is run, or checked, for a call. */
void lt_program_tools_set_request(const lt_program_tools *tools, const lt_invoke_options *options,
                                  const lt_caller *caller, lt_run_request *request);
/* Appends `TypeError: no (line 2, column 7: source)`. */
void lt_program_tools_put_failure(const lt_run_result *result, lt_buf *out);

#endif
