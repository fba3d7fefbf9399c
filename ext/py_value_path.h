/* Where in an object the encoder is: its stack of open containers, and its spelling as a path.
 * Glue; holds the GIL. */
#ifndef CSB_PY_VALUE_PATH_H
#define CSB_PY_VALUE_PATH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "value_reader.h"

struct csb_py_frame {
    PyObject *object;   /* owned; a list, tuple, dict, set or frozenset */
    PyObject *iterator; /* owned; sets only */
    PyObject *key;      /* owned; dicts only: of the pair that is being written */
    PyObject *value;    /* owned; dicts only: still to be written; NULL: at the key */
    Py_ssize_t count;   /* what the head announced */
    Py_ssize_t index;   /* items or pairs begun */
    Py_ssize_t position;
    enum csb_value_kind kind;
    bool hashed; /* everything inside must be hashable */
};

/* "$.groups[0]" of the item that the innermost of these frames is at. Always fits, cut when
 * longer. Leaves no exception. */
void csb_py_path(const struct csb_py_frame *frames, size_t count, char *buffer,
                 size_t size);

/* Name of an object's type for a message, cut and in ASCII. Leaves no exception. */
void csb_py_type_name(PyObject *type, char *buffer, size_t size);

#endif
