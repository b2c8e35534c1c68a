/* The images that programs show with image(): files of the prompt. Internal to agent/. */
#ifndef LT_AGENT_PROGRAM_IMAGES_H
#define LT_AGENT_PROGRAM_IMAGES_H

#include "agent/turn.h"

/* Keeps an image as an artifact, which is a file output of the prompt, and appends what a tool's image is to programs:
 * {type, mimeType, bytes, artifact}. An address of the web is not fetched: it becomes {type, url}. `url`: as the
 * program gave it. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_program_image_keep(lt_turn *turn, lt_str url, lt_buf *out, lt_err *err) LT_YIELDS;
/* The same for all images of a program that has ended. One that cannot be kept is left out. LT_YIELDS. */
void lt_program_images_keep_all(lt_turn *turn, const lt_run_result *result) LT_YIELDS;

#endif
