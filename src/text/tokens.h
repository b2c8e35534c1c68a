/* How many tokens a model will count in a text, roughly, without its tokenizer.
 *
 * Tokenizers differ and change; what is budgeted with this is only meant to be about right and hardly ever too small.
 * Measured against a real one (o200k_base): the prompt's listing of seven real MCP servers 1.03 times as many, their
 * TypeScript declarations 1.17, their schemas 1.33, English 1.03, C 1.17, Chinese and Japanese 1.5, Russian 1.9. Too
 * small only for what no tokenizer has words for: hexadecimal digits 0.92, random letters 0.46.
 */
#ifndef LT_TEXT_TOKENS_H
#define LT_TEXT_TOKENS_H

#include "base/str.h"

/* Of texts that end in a line break, the sum is the estimate of them one after the other. */
size_t lt_tokens_estimate(lt_str text);

#endif
