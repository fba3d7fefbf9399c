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

/* Set sys.path, empty `__main__` of the bootstrap's names. Returns 0 or -1 with an
 * exception. */
int csb_child_prepare(const struct csb_child *child);

/* Take the name, the arguments and the environment of the task. Returns 0 or -1 with an
 * exception. */
int csb_child_become(const struct csb_child_task *task);

/* The name that most submissions have. */
extern const char csb_child_plain_name[];

/* Make a module of a site folder that can not be read look as if it were not installed. To
 * be called after sys.path is set. Returns 0 or -1 with an exception. */
int csb_child_find_in_sites(void);

/* From the submission to its end: read, compile, agree, execute, and answer calls when the
 * mode says so. Returns None, or NULL with SystemExit set, which carries the exit status to
 * the interpreter's own ending. */
PyObject *csb_child_live(struct csb_child *child);

/* Compile the text of a submission under its name. NULL with an exception. */
PyObject *csb_child_compile(PyObject *source, const char *file_name);

/* The second opinion: what was compiled (code objects) is told to the caller, who says
 * whether it goes on. 1 = go on, 0 = refused, -1 with an exception. */
int csb_child_agree(const struct csb_child *child, PyObject *const *codes,
                    size_t count);

/* Answer the caller's frames until it hangs up. 0, or -1 with an exception of our own code. */
int csb_child_converse(const struct csb_child *child, const struct csb_child_task *task,
                       PyObject *globals);

/* New reference: question(bytes) -> bytes or None, by which a session's prelude asks the
 * caller while a frame is carried out. NULL with an exception. */
PyObject *csb_child_question(void);

/* Set variables, NUL-terminated "NAME=value"; of two of one name the first counts. Returns 0
 * or -1 with an exception. */
int csb_child_set_environment(const char *first, uint32_t count);

/* In a zygote: preload, warm up, fork children. Returns only in a child, 0, or -1 with an
 * exception; then csb_child_live. */
int csb_child_serve(struct csb_child *child);

/* End a forked child as the interpreter would: threads joined, exit functions called, the
 * program's own objects let go, streams flushed. `result` is what csb_child_live gave. */
CSB_NORETURN void csb_child_leave(PyObject *result);

/* The first steps of that, which change nothing. Leaves no exception. */
void csb_child_rehearse_leave(void);

/* A `__main__.__loader__` whose get_source() serves linecache and inspect, without its text;
 * give it the text. */
PyObject *csb_child_loader_new(void);
int csb_child_loader_fill(PyObject *loader, PyObject *source);

/* Let tracebacks show the lines of the source also where the caller has a file of that
 * name, which linecache would look for first and can not read. Leaves no exception. */
void csb_child_show_lines(const char *file_name, PyObject *source);

/* Print the exception that is set, and clear it: for a call that failed in a process that goes
 * on. Leaves no exception. */
void csb_child_print_error(void);

/* Print an uncaught exception as CPython would, and raise SystemExit with the status that
 * CPython would end with. `source` may be NULL. Returns NULL always. */
PyObject *csb_child_end(const struct csb_child *child, enum csb_wire_end compile_phase,
                        const char *file_name, PyObject *source);

#endif
