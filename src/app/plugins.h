/* Which plugins a session has: those that are built in and those of the configuration. */
#ifndef LT_APP_PLUGINS_H
#define LT_APP_PLUGINS_H

#include "app/report.h"
#include "config/config.h"
#include "io/loop.h"
#include "plugin/host.h"

/* Loads them into the host, one after the other. One that cannot be used is a warning; a cancel that fires keeps the
 * rest from being loaded. LT_YIELDS. */
void lt_plugins_load(lt_host *host, const lt_config *config, const lt_report *report,
                     const lt_cancel *cancel) LT_YIELDS;

#endif
