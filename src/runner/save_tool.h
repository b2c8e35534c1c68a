/* The tool with which programs save programs; where it is there, JavaScript has the function save() as well. */
#ifndef LT_RUNNER_SAVE_TOOL_H
#define LT_RUNNER_SAVE_TOOL_H

#define LT_SAVE_TOOL "programs.save"

#endif
