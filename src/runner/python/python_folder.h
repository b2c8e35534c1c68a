/* Folders that programs work in. */
#ifndef LT_RUNNER_PYTHON_PYTHON_FOLDER_H
#define LT_RUNNER_PYTHON_PYTHON_FOLDER_H

#include "runner/python/python_state.h"

/* Where programs work. */
lt_status lt_python_check_workspace(const lt_python *python, lt_err *err);
/* The folder that private workspaces are made in. LT_YIELDS while others' are removed that ended without doing so. */
lt_status lt_python_make_base(lt_python *python, lt_err *err) LT_YIELDS;
/* A new folder in it. Owns: the caller, lt_mem_free. */
lt_status lt_python_make_workspace(lt_python *python, uint32_t id, char **ret_path, lt_err *err);

#endif
