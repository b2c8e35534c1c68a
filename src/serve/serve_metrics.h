/* What GET /metrics tells: counters of what happens, and what there is at the moment. Internal to serve/.
 *
 * Labels are names of the configuration, of tools, modes and routes: bounded (text/metric.h), and never a user, a
 * prompt or a text. Loop thread only.
 */
#ifndef LT_SERVE_SERVE_METRICS_H
#define LT_SERVE_SERVE_METRICS_H

#include "serve/serve_routes.h"

/* Errors: LT_E_NOMEM. Owns: the caller, lt_serve_metrics_free. */
lt_status lt_serve_metrics_new(lt_serve_metrics **ret_metrics, lt_err *err);
void lt_serve_metrics_free(lt_serve_metrics *metrics); /* NULL is allowed */

/* What the session's monitor is told (tool/monitor.h). */
void lt_serve_metrics_take_prompt(lt_serve_metrics *metrics, const lt_monitor_prompt *prompt);
void lt_serve_metrics_take_question(lt_serve_metrics *metrics, const lt_monitor_question *question);
void lt_serve_metrics_take_program(lt_serve_metrics *metrics, const lt_monitor_program *program);
void lt_serve_metrics_take_call(lt_serve_metrics *metrics, const lt_call_event *event);
/* An answered request. `route` is NULL when its path or method is not known. */
void lt_serve_metrics_take_request(lt_serve_metrics *metrics, const lt_serve_route *route, const lt_http_answer *answer,
                                   uint64_t took_us);
/* An event has reached the store and its readers. */
void lt_serve_metrics_take_event(lt_serve_metrics *metrics, uint64_t lag_us);

/* Answers GET /metrics. LT_YIELDS. */
lt_status lt_serve_metrics_answer(lt_serve_request *request, lt_err *err) LT_YIELDS;

#endif
