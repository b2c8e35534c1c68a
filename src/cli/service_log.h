/* The log of `lathe serve`: a line on standard error for each thing that happens.
 *
 * As text it is for people: "lathe serve: prompt completed promptId=01a2... durationMs=120". Where standard error is
 * the journal of systemd, the line begins with its priority instead (sd-daemon(3)). As JSON it is {"time", "level",
 * "message"} with the facts behind. Either way it is one line, without control characters, whatever the texts in it.
 */
#ifndef LT_CLI_SERVICE_LOG_H
#define LT_CLI_SERVICE_LOG_H

#include "app/report.h"
#include "cli/console.h"
#include "config/config.h"

/* Writes a line, unless the configuration wants only more important ones. `facts`: as lt_report_note has them. */
void lt_service_log_write(const lt_console *console, const lt_config_http *config, lt_report_kind kind, lt_str message,
                          const lt_report_fact *facts);

#endif
