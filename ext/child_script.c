/* Theory of operation: runs in the child, after READY. Everything here acts inside the
 * confined process on behalf of the submission; no security depends on it. The aim is that
 * a program can not tell the difference from `python3 program.py`: its own __main__, file
 * name, line numbers and argv, and no frame of ours in a traceback. */
#include "child_script.h"

#include "child_facts.h"
#include "child_nodes.h"

#include <string.h>

static bool
contains_nul(PyObject *source, const char *text)
{
    Py_ssize_t size = 0;
    (void)PyUnicode_AsUTF8AndSize(source, &size);
    return strlen(text) != (size_t)size;
}

/* Could the first two lines hold a coding cookie (PEP 263)? Without the word there is none. */
static bool
may_have_cookie(const char *text)
{
    const char *end = strchr(text, '\n');
    const char *word = strstr(text, "coding");
    end = end == NULL ? NULL : strchr(end + 1, '\n');
    return word != NULL && (end == NULL || word < end);
}

/* The text is UTF-8 whatever it says: compile() of a str ignores a cookie. But compile()
 * also sets up every AST type, a millisecond in a new process; Py_CompileString does not,
 * and reads the same text when there is no cookie to obey. Flags of the bootstrap are
 * inherited by neither. */
PyObject *
csb_child_compile(PyObject *source, const char *file_name)
{
    const char *text = PyUnicode_AsUTF8AndSize(source, NULL);
    PyObject *builtins = PyEval_GetBuiltins();                     /* borrowed */
    PyObject *compile = PyDict_GetItemString(builtins, "compile"); /* borrowed */
    PyObject *name;
    PyObject *code = NULL;
    if (text == NULL) {
        return NULL;
    }
    /* A NUL would hide the rest of the text from a C string; compile() refuses it. */
    if (!may_have_cookie(text) && !contains_nul(source, text)) {
        return Py_CompileString(text, file_name, Py_file_input);
    }
    name = PyUnicode_DecodeFSDefault(file_name);
    if (compile != NULL && name != NULL) {
        code = PyObject_CallFunction(compile, "OOsii", source, name, "exec", 0, 1);
    }
    Py_XDECREF(name);
    return code;
}

int
csb_child_agree(const struct csb_child *child, PyObject *const *codes, size_t count)
{
    struct csb_fact_list facts = {0};
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = csb_child_collect(codes[i], &facts);
    }
    if (result == 0) {
        result = csb_child_await_go(child, facts.bytes, facts.count) ? 1 : 0;
    }
    csb_fact_list_done(&facts);
    return result;
}

/* The code of the submission, agreed on; NULL with SystemExit when there is none. */
static PyObject *
agreed_code(const struct csb_child *child, const struct csb_child_task *task,
            PyObject *source)
{
    PyObject *code = csb_child_compile(source, task->file_name);
    int agreed;
    if (code == NULL) {
        csb_child_tell_broken(child);
        csb_child_close_channel();
        return csb_child_end(child, CSB_END_COMPILE_ERROR, task->file_name, source);
    }
    agreed = csb_child_agree(child, &code, 1);
    if (agreed == 1) {
        if (task->header.mode == CSB_MODE_SCRIPT) {
            csb_child_close_channel();
        }
        return code;
    }
    Py_DECREF(code);
    csb_child_close_channel();
    if (agreed == 0) {
        PyErr_SetString(PyExc_SystemExit, "refused"); /* the caller kills us first */
    }
    return csb_child_end(child, CSB_END_OTHER, task->file_name, source);
}

static int
give_loader(const struct csb_child *child, PyObject *globals, PyObject *source)
{
    PyObject *loader;
    int result;
    if (child->loader != NULL) {
        return csb_child_loader_fill(child->loader, source); /* it is in its place */
    }
    loader = csb_child_loader_new();
    result = loader == NULL || csb_child_loader_fill(loader, source) < 0
                 ? -1
                 : PyDict_SetItemString(globals, "__loader__", loader);
    Py_XDECREF(loader);
    return result;
}

static PyObject *
execute(const struct csb_child *child, const struct csb_child_task *task,
        PyObject *source)
{
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    PyObject *code;
    PyObject *result;
    if (give_loader(child, globals, source) < 0 ||
        (task->header.mode == CSB_MODE_CALLS &&
         (child->nodes != NULL ? csb_child_give_nodes(child->nodes, globals)
                               : csb_child_add_nodes(globals)) < 0)) {
        return NULL;
    }
    code = agreed_code(child, task, source);
    if (code == NULL) {
        return NULL;
    }
    result = PyEval_EvalCode(code, globals, globals);
    Py_DECREF(code);
    if (result != NULL && task->header.mode != CSB_MODE_SCRIPT &&
        csb_child_converse(child, task, globals) < 0) {
        Py_CLEAR(result);
    }
    return result != NULL
               ? result
               : csb_child_end(child, CSB_END_OTHER, task->file_name, source);
}

/* Names that a spare has taken already. */
static bool
is_plain(const struct csb_child_task *task)
{
    return task->header.argument_count == 0 && task->header.environment_count == 0 &&
           strcmp(task->file_name, csb_child_plain_name) == 0;
}

PyObject *
csb_child_live(struct csb_child *child)
{
    struct csb_child_task task = {0};
    PyObject *source;
    PyObject *result;
    csb_child_take_task(child, &task);
    source = PyUnicode_DecodeUTF8(task.source, (Py_ssize_t)task.header.source_bytes,
                                  "strict");
    if (source == NULL) {
        csb_child_tell_broken(child);
        csb_child_close_channel();
        result = csb_child_end(child, CSB_END_COMPILE_ERROR, task.file_name, NULL);
    } else if (!(child->named && is_plain(&task)) && csb_child_become(&task) < 0) {
        result = csb_child_end(child, CSB_END_OTHER, task.file_name, NULL);
    } else {
        result = execute(child, &task, source);
    }
    Py_XDECREF(source);
    csb_child_task_done(&task);
    return result;
}
