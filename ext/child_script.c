/* Theory of operation: runs in the child, after READY. Everything here acts inside the
 * confined process on behalf of the submission; no security depends on it. The aim is that
 * a program can not tell the difference from `python3 program.py`: its own __main__, file
 * name, line numbers and argv, and no frame of ours in a traceback. */
#include "child_script.h"

#include "child_facts.h"

#include <string.h>

/* Names that a fresh __main__ has; anything else in it is the bootstrap's. */
static const char *const main_names[] = {"__name__",    "__doc__",  "__package__",
                                         "__loader__",  "__spec__", "__annotations__",
                                         "__builtins__"};

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
original_argv(const struct csb_child *child)
{
    PyObject *list = string_list(child->file_name, child->first_argument,
                                 child->config.argument_count);
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
csb_child_prepare(PyObject *module, const struct csb_child *child)
{
    const struct csb_wire_config *config = &child->config;
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    (void)module;
    if (set_sys("path", string_list(NULL, child->first_path, config->path_count)) < 0 ||
        set_sys("argv", string_list(child->file_name, child->first_argument,
                                    config->argument_count)) < 0 ||
        set_sys("orig_argv", original_argv(child)) < 0) {
        return -1;
    }
    if (config->path_count > 0 && csb_child_find_in_sites() < 0) {
        return -1;
    }
    return clean_main(globals);
}

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
static PyObject *
compile_source(PyObject *source, const char *file_name)
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

/* The second opinion: what was compiled is told to the caller, who says whether it goes on. */
static int
agree_on(PyObject *code)
{
    struct csb_fact_list facts = {0};
    int result = csb_child_collect(code, &facts);
    if (result == 0) {
        csb_child_await_go(facts.bytes, facts.count);
        csb_child_close_channel();
    }
    csb_fact_list_done(&facts);
    return result;
}

PyObject *
csb_child_execute(PyObject *module, const struct csb_child *child, PyObject *source)
{
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    PyObject *loader = csb_child_loader_new(module, source);
    PyObject *code = NULL;
    PyObject *result;
    if (loader == NULL || PyDict_SetItemString(globals, "__loader__", loader) < 0) {
        Py_XDECREF(loader);
        return NULL;
    }
    Py_DECREF(loader);
    code = compile_source(source, child->file_name);
    if (code == NULL) {
        csb_child_close_channel();
        return csb_child_end(CSB_END_COMPILE_ERROR, child->file_name, source);
    }
    if (agree_on(code) < 0) {
        csb_child_close_channel();
        Py_DECREF(code);
        return csb_child_end(CSB_END_OTHER, child->file_name, source);
    }
    result = PyEval_EvalCode(code, globals, globals);
    Py_DECREF(code);
    return result != NULL ? result
                          : csb_child_end(CSB_END_OTHER, child->file_name, source);
}
