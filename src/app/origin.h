/* The origin of a session's prompts: the folder, and the configuration files that count. A prompt records it, and only
 * a process with the same files resumes it (agent/prompt_origin.h).
 */
#ifndef LT_APP_ORIGIN_H
#define LT_APP_ORIGIN_H

#include "config/config.h"

/* The origin as JSON: {"folder", "files": [{"path", "hash", "why", "user"}]}. Owns: the configuration's arena. Empty:
 * no memory. */
lt_str lt_origin_of(lt_config *config);

#endif
