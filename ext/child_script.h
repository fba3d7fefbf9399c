/* Make this interpreter look like one that was started on the submission, and run it.
 * In the child; includes Python.h (limited API of 3.10), so glue. */
#ifndef CSB_CHILD_SCRIPT_H
#define CSB_CHILD_SCRIPT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "child_setup.h"

/* Add what `site` would have given: exit, quit, help. Before the last layers, since a policy
 * need not allow any import. Returns 0 or -1 with an exception. */
int csb_child_add_builtins(void);

/* Set sys.path and sys.argv, empty `__main__` of the bootstrap's names. Returns 0 or -1 with
 * an exception. */
int csb_child_prepare(PyObject *module, const struct csb_child *child);

/* Make a module of a site folder that can not be read look as if it were not installed. To
 * be called after sys.path is set. Returns 0 or -1 with an exception. */
int csb_child_find_in_sites(void);

/* Compile and execute. Returns None, or NULL with SystemExit set, which carries the exit
 * status to the interpreter's own ending. */
PyObject *csb_child_execute(PyObject *module, const struct csb_child *child,
                            PyObject *source);

/* The type of `__main__.__loader__`: get_source() serves linecache and inspect. */
PyObject *csb_child_loader_new(PyObject *module, PyObject *source);

/* Let tracebacks show the lines of the source also where the caller has a file of that
 * name, which linecache would look for first and can not read. Leaves no exception. */
void csb_child_show_lines(const char *file_name, PyObject *source);

/* Print the exception that is set, and clear it: for a call that failed in a process that goes
 * on. Leaves no exception. */
void csb_child_print_error(void);

/* Print an uncaught exception as CPython would, and raise SystemExit with the status that
 * CPython would end with. `source` may be NULL. Returns NULL always. */
PyObject *csb_child_end(enum csb_wire_end compile_phase, const char *file_name,
                        PyObject *source);

#endif
