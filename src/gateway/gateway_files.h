/* Files that a run has put out, such as a screenshot of a tool: towards clients. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_FILES_H
#define LT_GATEWAY_GATEWAY_FILES_H

#include "gateway/gateway_request.h"

/* Adds them to the answer of a run: images as content, up to LT_GATEWAY_IMAGE_BYTES each and LT_GATEWAY_IMAGES_BYTES
 * together, all others as a line of text that names the artifact. `prompt`: one of the request's user, as
 * lt_store_prompt_get has it. LT_YIELDS. */
void lt_gateway_files_put(const lt_gateway_request *request, lt_json prompt, lt_arena *arena,
                          lt_gateway_answer *answer) LT_YIELDS;

#endif
