/* One process of TypeScript's compiler as a language server (`tsc --lsp --stdio`), behind the walls that programs have.
 *
 * It has four documents: its settings, the declarations of all programs' globals, those of one program's tools, and
 * that program. All are texts in its memory, in a folder that does not exist; of the file system it may read the
 * compiler's own library only. A fiber owns the process and reads its answers. Loop thread only.
 */
#ifndef LT_RUNNER_TYPECHECK_TSC_SERVER_H
#define LT_RUNNER_TYPECHECK_TSC_SERVER_H

#include "base/buf.h"
#include "io/loop.h"

typedef struct lt_tsc_server lt_tsc_server;

typedef struct lt_tsc_server_options {
  lt_loop *loop;
  const char *tsc;    /* the full path of the native program */
  const char *helper; /* the full path of a program that knows `__jail` (jail/jail.h) */
  bool without_walls; /* it is started although a wall cannot be had */
  lt_str globals;     /* declarations; borrowed as long as the server lives */
  unsigned wait_ms;   /* for the answer to a check, the start included; 0: LT_TYPECHECK_WAIT_MS */
} lt_tsc_server_options;

/* Starts the process and its fiber, and has it read its library. Does not wait for that. Errors: LT_E_UNSUPPORTED (a
 * wall is missing), those of lt_process_open. Owns: the caller, lt_tsc_server_close. */
lt_status lt_tsc_server_open(const lt_tsc_server_options *options, lt_tsc_server **ret_server, lt_err *err);
/* Kills the process, and waits until it is gone. NULL is allowed. LT_YIELDS. */
void lt_tsc_server_close(lt_tsc_server *server) LT_YIELDS;
/* Only kills: then lt_tsc_server_has_ended becomes true. Does not yield. */
void lt_tsc_server_kill(lt_tsc_server *server);
bool lt_tsc_server_has_ended(const lt_tsc_server *server);

/* Asks what is wrong with a program. `*ret_reply` is the server's JSON-RPC response (its result: `items`, the
 * Diagnostic[] of LSP 3.17), borrowed until the next call. One caller at a time. LT_YIELDS. Errors: LT_E_TIMEOUT
 * (wait_ms), LT_E_CANCELLED, LT_E_CLOSED (the process ended, and how; also when it is no such server),
 * LT_E_NOMEM. After an error other than LT_E_CANCELLED the server is of no use any more. */
lt_status lt_tsc_server_check(lt_tsc_server *server, lt_str tools, lt_str program, lt_cancel *cancel, lt_str *ret_reply,
                              lt_err *err) LT_YIELDS;

#endif
