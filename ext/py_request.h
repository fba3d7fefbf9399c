/* The request mapping of _core.pyi, turned into what the C core takes. Glue, in the caller. */
#ifndef CSB_PY_REQUEST_H
#define CSB_PY_REQUEST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "launch.h"
#include "py_checked.h"

struct csb_py_request {
    struct csb_request c;
    struct csb_limits limits;
    char *file_name;
    char *prelude;
    struct csb_strings arguments;
    struct csb_strings environment;
    struct csb_file *files;
    struct csb_bytes *calls;
    struct csb_strings patterns;
    struct csb_collection collection;
    PyObject *source; /* owned references that keep the borrowed bytes alive */
    PyObject *input;
    PyObject *file_list;
    PyObject *call_list;
    struct csb_py_opinion opinion;
};

/* Fill a zeroed struct; 0, or -1 with an exception. To be released in every case. */
int csb_py_request_convert(PyObject *mapping, struct csb_py_request *ret);
void csb_py_request_done(struct csb_py_request *request);

/* Of it only the findings of the first opinion ("checked"), or None: then nobody is asked. For a
 * request that was converted before its source was checked. 0, or -1 with an exception. */
int csb_py_request_checked(PyObject *mapping, struct csb_py_request *request);

/* The limits of a mapping with the key "limits". */
int csb_py_convert_limits(PyObject *mapping, struct csb_limits *ret);

/* The result of a run as a new dict, or NULL with an exception. `status` and `error` are what
 * the core returned. */
PyObject *csb_py_request_result(const struct csb_policy *policy,
                                const struct csb_py_request *request, int status,
                                const struct csb_report *report,
                                const struct csb_error *error);

#endif
