/* Folders that programs work in: the user's workspace, or a private folder for each process. */
#ifndef LT_RUNNER_PYTHON_PYTHON_FOLDER_H
#define LT_RUNNER_PYTHON_PYTHON_FOLDER_H

#include "runner/python/python_state.h"

/* Checks the user's workspace, if there is one. Errors: LT_E_CONFIG (missing, no folder, or not writable). */
lt_status lt_python_folder_check(const lt_python *python, lt_err *err);
/* Makes the folder that contains the private ones, unless it exists. LT_YIELDS while folders that killed processes of
 * Lathe have left behind are removed. */
lt_status lt_python_folder_make_base(lt_python *python, lt_err *err) LT_YIELDS;
/* Makes a private folder. Owns: the caller, lt_mem_free(*ret_path). */
lt_status lt_python_folder_make(lt_python *python, uint32_t id, char **ret_path, lt_err *err);

#endif
