/* Usual programs run in an image, to see what they change of it. Build time only. */
#ifndef LT_SANDBOX_BLOCK_TRAINING_H
#define LT_SANDBOX_BLOCK_TRAINING_H

#include "base/err.h"
#include "base/str.h"
#include "sandbox/block_order.h"
#include "sandbox/image.h"

/* Runs the programs that lt_engine_freeze was given, each in a box of its own, and shows `order` what each has changed.
 * Then calls lt_block_order_settle. All tools give the same answer, at once. Errors: a program that fails; LT_E_NOMEM.
 */
lt_status lt_block_training_run(lt_block_order *order, const lt_image *image, lt_str programs, lt_err *err);

#endif
