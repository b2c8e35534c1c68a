/* Asks the person at the terminal what a server wants to know (MCP, elicitation): a form, field by field, or a page
 * that the person may open.
 *
 * Which server asks is said by us; every word of the server stands behind a margin, with what cannot be seen made
 * visible. Nothing is sent before the person has seen all of the answer. No address is ever opened. Loop thread only.
 */
#ifndef LT_CLI_SERVER_QUESTIONS_H
#define LT_CLI_SERVER_QUESTIONS_H

#include "cli/console.h"
#include "source/responder.h"

/* Offers forms and addresses where a person can be asked now, else nothing. Borrows. NULL: no memory. Owns: the
 * caller, lt_server_questions_free. */
lt_responder *lt_server_questions_new(lt_loop *loop, lt_console *console);
/* NULL is allowed; no question may be open. */
void lt_server_questions_free(lt_responder *responder);

#endif
