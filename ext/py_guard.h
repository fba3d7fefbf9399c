#ifndef CSB_PY_GUARD_H
#define CSB_PY_GUARD_H
#include <Python.h>
int csb_py_guard_add(PyObject *module);
#endif
