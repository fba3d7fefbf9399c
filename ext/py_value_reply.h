/* What a child answered to one call (child_call.h), taken apart. Glue; holds the GIL. */
#ifndef CSB_PY_VALUE_REPLY_H
#define CSB_PY_VALUE_REPLY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* open_reply(data, limits): {"kind": "value", "value": bytes}, the value still encoded, or the
 * other kinds with str values. ValueError with the reason when it is none of these. */
PyObject *csb_py_value_open_reply(PyObject *module, PyObject *args);

#endif
