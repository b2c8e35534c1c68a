/* Lines about a plugin for a person, such as a warning or what it logs. Loop thread only. */
#ifndef LT_PLUGIN_HOST_LINE_H
#define LT_PLUGIN_HOST_LINE_H

#include "plugin/host_state.h"

/* Shows "plugin ID: TEXT" as one line, without secrets and control characters. */
lt_status lt_host_line_show(const lt_plugin *plugin, bool is_warning, lt_str text);

#endif
