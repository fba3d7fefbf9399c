/* Reading plain data out of mappings: one function a type, errors that name the key.
 * Glue: holds the GIL. All return 0, or -1 with KeyError-free, readable exceptions set. */
#ifndef CSB_PY_CONVERT_H
#define CSB_PY_CONVERT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "csb.h"
#include "string_list.h"

/* New reference to mapping[key]; ValueError "missing key 'x'" when absent. */
PyObject *csb_py_get(PyObject *mapping, const char *key);

int csb_py_get_string(PyObject *mapping, const char *key, char **ret_owned);
int csb_py_get_double(PyObject *mapping, const char *key, double *ret);
int csb_py_get_u64(PyObject *mapping, const char *key, uint64_t *ret);

/* Sequence of str → list of file-system-encoded strings without NUL. */
int csb_py_get_strings(PyObject *mapping, const char *key, struct csb_strings *ret);

/* Mapping str -> str → list of "NAME=value". */
int csb_py_get_environment(PyObject *mapping, const char *key, struct csb_strings *ret);

/* Call each(item text, argument) for each str of a sequence; stops at the first -1. */
int csb_py_for_each_string(PyObject *mapping, const char *key,
                           int (*each)(const char *text, void *argument),
                           void *argument);

/* dict[key] = value, taking the reference; -1 also when value is NULL. */
int csb_py_set(PyObject *dict, const char *key, PyObject *value);

#endif
