/* The tool LT_SAVE_TOOL: a program saves a program, which is a tool for its user from the next program on. */
#ifndef LT_PLUGIN_PROGRAM_SAVE_H
#define LT_PLUGIN_PROGRAM_SAVE_H

#include "plugin/program_tools.h"

/* The tool's description. Its texts are constant. */
lt_tool_spec lt_program_save_spec(void);
/* Carries out a call: checks the program, without running it, and keeps it for the caller's user. `out` gets {"tool",
 * "version"}. LT_YIELDS. Errors: those of lt_program_head_complete and lt_store_program_save, LT_E_TOOL (it cannot be
 * parsed: `out` says where), those of the language's runner. */
lt_status lt_program_save_call(lt_program_tools *tools, lt_str input, const lt_invoke_options *options, lt_buf *out,
                               lt_err *err) LT_YIELDS;

#endif
