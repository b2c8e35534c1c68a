/* The log of `lathe serve`: a line on standard error for each thing that happens.
 *
 * As text it is for people: "lathe serve: prompt completed promptId=01a2... durationMs=120". Where standard error is
 * the journal of systemd, the line begins with its priority instead (sd-daemon(3)). As JSON it is {"time", "level",
 * "message"} with the facts behind. Either way it is one line, without control characters, whatever the texts in it.
 *
 * The service never waits for the reader of its log. Lines that the reader does not take are lost, and counted in a
 * line that follows.
 */
#ifndef LT_CLI_SERVICE_LOG_H
#define LT_CLI_SERVICE_LOG_H

#include "app/report.h"
#include "cli/console.h"
#include "config/config.h"

/* Writes a line, unless the configuration wants only more important ones. `facts`: as lt_report_note has them. Of a
 * line above LT_SERVICE_LOG_LINE_BYTES the begin of the message is written, with "cut". Does not wait. */
void lt_service_log_write(lt_console *console, const lt_config_http *config, lt_report_kind kind, lt_str message,
                          const lt_report_fact *facts);

#endif
