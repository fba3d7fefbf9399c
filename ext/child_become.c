/* Theory of operation: runs in the child, before untrusted code. Gives the interpreter what
 * `python3 program.py` would have: search path, arguments, environment, a clean __main__. No
 * security depends on it. */
#include "child_script.h"

#include "child_courtesy.h"

#include <stdlib.h>
#include <string.h>

/* Names that a fresh __main__ has; anything else in it is the bootstrap's. */
static const char *const main_names[] = {"__name__",    "__doc__",  "__package__",
                                         "__loader__",  "__spec__", "__annotations__",
                                         "__builtins__"};

const char csb_child_plain_name[] = "submission.py";

static PyObject *
string_list(const char *first, const char *at, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = first == NULL ? 1 : 0; list != NULL && i <= count; i++) {
        const char *text = i == 0 ? first : at;
        PyObject *item = PyUnicode_DecodeFSDefault(text);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
        at += i == 0 ? 0 : strlen(at) + 1;
    }
    return list;
}

static int
set_sys(const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PySys_SetObject(name, value);
    Py_XDECREF(value);
    return result;
}

/* sys.orig_argv tells how the interpreter was started: as the program would expect it. */
static PyObject *
original_argv(const struct csb_child_task *task)
{
    PyObject *list =
        string_list(task->file_name, task->first_argument, task->header.argument_count);
    PyObject *executable = PySys_GetObject("executable"); /* borrowed */
    if (list != NULL && executable != NULL && PyList_Insert(list, 0, executable) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static bool
is_main_name(PyObject *key)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(main_names); i++) {
        if (PyUnicode_CompareWithASCIIString(key, main_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int
clean_main(PyObject *globals)
{
    PyObject *keys = PyDict_Keys(globals);
    int result = keys == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i); /* borrowed */
        if (!is_main_name(key)) {
            result = PyDict_DelItem(globals, key);
        }
    }
    Py_XDECREF(keys);
    return result;
}

/* os.environ wraps this dict, whether os was imported before or is later. */
static int
set_variable(PyObject *variables, const char *pair)
{
    const char *equals = strchr(pair, '=');
    PyObject *name;
    PyObject *value;
    int result = -1;
    char *copy;
    if (equals == NULL) {
        return 0;
    }
    copy = strndup(pair, (size_t)(equals - pair));
    if (copy == NULL || setenv(copy, equals + 1, 1) != 0) {
        free(copy);
        (void)PyErr_NoMemory();
        return -1;
    }
    name = PyBytes_FromString(copy);
    value = PyBytes_FromString(equals + 1);
    if (name != NULL && value != NULL) {
        result = PyDict_SetItem(variables, name, value);
    }
    Py_XDECREF(name);
    Py_XDECREF(value);
    free(copy);
    return result;
}

/* Of two variables of one name the first counts, so the last is set first. */
int
csb_child_set_environment(const char *first, uint32_t count)
{
    PyObject *posix; /* borrowed */
    PyObject *variables = NULL;
    uint32_t left = count;
    int result = -1;
    if (left == 0) {
        return 0; /* it was given at exec */
    }
    /* It is always there; an import statement would go through a hundred places more. */
    posix = PyImport_AddModule("posix");
    if (posix != NULL) {
        variables = PyObject_GetAttrString(posix, "environ");
    }
    if (variables != NULL) {
        result = 0;
        while (left > 0 && result == 0) {
            result = set_variable(variables, csb_child_skip_strings(first, --left));
        }
    }
    Py_XDECREF(variables);
    return result;
}

int
csb_child_become(const struct csb_child_task *task)
{
    if (set_sys("argv", string_list(task->file_name, task->first_argument,
                                    task->header.argument_count)) < 0 ||
        set_sys("orig_argv", original_argv(task)) < 0) {
        return -1;
    }
    return csb_child_set_environment(task->first_environment,
                                     task->header.environment_count);
}

/* `-S` leaves out site, which would have added these; contest programs call exit(). */
int
csb_child_add_builtins(void)
{
    static const char *const quitters[] = {"exit", "quit"};
    PyObject *site = PyImport_ImportModule("_sitebuiltins");
    PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
    PyObject *value = NULL;
    int result = site == NULL ? -1 : 0;
    for (size_t i = 0; result == 0 && i < CSB_ARRAY_LEN(quitters); i++) {
        value = PyObject_CallMethod(site, "Quitter", "ss", quitters[i],
                                    "Ctrl-D (i.e. EOF)");
        result =
            value == NULL ? -1 : PyDict_SetItemString(builtins, quitters[i], value);
        Py_CLEAR(value);
    }
    if (result == 0) {
        value = PyObject_CallMethod(site, "_Helper", NULL);
        result = value == NULL ? -1 : PyDict_SetItemString(builtins, "help", value);
        Py_CLEAR(value);
    }
    Py_XDECREF(site);
    return result;
}

int
csb_child_prepare(const struct csb_child *child)
{
    const struct csb_wire_config *config = &child->config;
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    if (set_sys("path", string_list(NULL, child->first_path, config->path_count)) < 0) {
        return -1;
    }
    if (csb_child_courtesy(child->profile) < 0) {
        return -1;
    }
    if (config->path_count > 0 && csb_child_find_in_sites() < 0) {
        return -1;
    }
    return clean_main(globals);
}
