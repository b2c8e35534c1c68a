/* The host functions call_tool and call_tools. 0, or -1 with the call's error set. */
#ifndef LT_PLUGIN_NESTED_TOOLS_H
#define LT_PLUGIN_NESTED_TOOLS_H

#include "plugin/plugin_call.h"

int lt_nested_tools_call(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value) LT_YIELDS;
int lt_nested_tools_call_many(lathe_call *call, lathe_text calls, unsigned at_once, lathe_text *ret_results) LT_YIELDS;

#endif
