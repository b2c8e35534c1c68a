/* The table of host functions for plugins. */
#ifndef LT_PLUGIN_HOST_TABLE_H
#define LT_PLUGIN_HOST_TABLE_H

#include "lathe_plugin.h"

extern const lathe_host lt_host_table;

#endif
