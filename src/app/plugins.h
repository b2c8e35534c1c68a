/* The plugins of a session: built-in plugins and those of the configuration. */
#ifndef LT_APP_PLUGINS_H
#define LT_APP_PLUGINS_H

#include "app/report.h"
#include "config/config.h"
#include "io/loop.h"
#include "plugin/host.h"

/* Loads the plugins into the host, one after the other. A plugin that cannot be used gives a warning. A cancel skips
 * the remaining plugins. LT_YIELDS. */
void lt_plugins_load(lt_host *host, const lt_config *config, const lt_report *report,
                     const lt_cancel *cancel) LT_YIELDS;

/* Whether tools of a built-in plugin have this namespace, whatever its case. */
bool lt_plugins_has_namespace(lt_str name);

#endif
