/* Answers servers' requests for a model's words (MCP, sampling/createMessage) by the configured model, where the
 * configuration lets a server ask, within its limits.
 *
 * What a server sends is its own text: the model gets it without tools and without anything of the run. Loop thread
 * only.
 */
#ifndef LT_APP_SAMPLING_H
#define LT_APP_SAMPLING_H

#include "config/config.h"
#include "io/http.h"
#include "app/models.h"
#include "model/model.h"
#include "source/responder.h"
#include "tool/monitor.h"

typedef struct lt_sampling lt_sampling;

/* Borrows everything until the end. NULL: no memory. Owns: the caller, lt_sampling_free. */
lt_sampling *lt_sampling_new(lt_loop *loop, lt_config *config, const lt_secrets *secrets);
/* Who is told of questions to models; NULL: nobody. */
void lt_sampling_monitor(lt_sampling *sampling, lt_monitor *monitor);
/* The configuration has other models now. */
void lt_sampling_forget_models(lt_sampling *sampling);
/* NULL is allowed; no answer may be under way. */
void lt_sampling_free(lt_sampling *sampling);
/* Whether the configuration lets this server ask. */
bool lt_sampling_allows(const lt_sampling *sampling, lt_str server);
/* Appends a CreateMessageResult. `ret_usage` has the tokens, also after a failure. LT_YIELDS. Errors: LT_E_DENIED (the
 * limit of requests), LT_E_INVALID (a request that cannot be answered: its messages, or tools), what lt_models_find and
 * the model say. */
lt_status lt_sampling_answer(lt_sampling *sampling, const lt_server_question *question, lt_buf *ret_result,
                             lt_usage *ret_usage, lt_err *err) LT_YIELDS;

#endif
