/* Usual programs run in an image, to see what they change of it. Build time only. */
#ifndef LT_SANDBOX_BLOCK_TRAINING_H
#define LT_SANDBOX_BLOCK_TRAINING_H

#include "base/err.h"
#include "base/str.h"
#include "sandbox/block_order.h"
#include "sandbox/image.h"

/* Runs each program of `programs` (lt_engine_freeze) in a box of its own, watched by `order`. Its tools answer at once
 * with the input. Errors: a program that does not end with a value. */
lt_status lt_block_training_run(lt_block_order *order, const lt_image *image, lt_str programs, lt_err *err);

#endif
