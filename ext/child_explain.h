/* Words for a refusal: what CPython made of an errno, said with the rule and the profile.
 * In the child; includes Python.h, glue. Courtesy only: nothing here refuses anything. */
#ifndef CSB_CHILD_EXPLAIN_H
#define CSB_CHILD_EXPLAIN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "csb.h"

/* What a call was for; decides the reason that is given when it is refused with EPERM. */
enum csb_denial {
    CSB_DENIAL_CALL,
    CSB_DENIAL_NETWORK,
    CSB_DENIAL_PROCESS,
    CSB_DENIAL_SIGNAL,
};

/* Change the text (`strerror`, and with it str(), and `args`) of an OSError that came from the
 * kernel's EPERM or EACCES, or from a name that could not be looked up. Type, errno, filename
 * and traceback stay; any other exception is left alone, and so is one whose text is not
 * the C library's. `what` is the call's name, "" when it is not known; `profile` a str. No
 * exception may be set, none is afterwards. */
void csb_child_explain_error(PyObject *error, enum csb_denial denial, const char *what,
                             PyObject *profile);

/* The same for the exception that is set, which stays set. */
void csb_child_explain(enum csb_denial denial, const char *what, PyObject *profile);

/* The exception that is set, if it says that there is no top-level module `name`: say which
 * profile it is that has none. */
void csb_child_explain_import(PyObject *name, PyObject *profile);

#endif
