/* Theory of operation: runs in the child. The submission has no file, so tracebacks and
 * inspect would show no source lines; linecache asks `__main__.__loader__` for them. A
 * hostile program may replace the loader: it only deceives itself. */
#include "child_script.h"

static PyObject *
get_source(PyObject *self, PyObject *name)
{
    (void)name; /* there is one source */
    return PyObject_GetAttrString(self, "_source");
}

static PyMethodDef loader_methods[] = {
    {"get_source", get_source, METH_O, "The text of the program."},
    {NULL, NULL, 0, NULL},
};

PyObject *
csb_child_loader_new(void)
{
    static const char name[] = "csandbox.SourceLoader";
    PyType_Slot slots[] = {{Py_tp_methods, loader_methods}, {0, NULL}};
    /* A type without its own dealloc needs a dict to hold the text: inherit from a Python
     * class made by type(), which has one. */
    PyType_Spec spec = {name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *base = PyType_FromSpec(&spec);
    PyObject *type = NULL;
    PyObject *loader = NULL;
    if (base != NULL) {
        type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "SourceLoader",
                                     base);
    }
    if (type != NULL) {
        loader = PyObject_CallNoArgs(type);
    }
    Py_XDECREF(base);
    Py_XDECREF(type);
    return loader;
}

int
csb_child_loader_fill(PyObject *loader, PyObject *source)
{
    return PyObject_SetAttrString(loader, "_source", source);
}

/* Its lines as linecache keeps a file's: only "\n" ends one (str.splitlines knows ten others,
 * and counts would differ from CPython's), and the last has one, too: carets are placed from
 * the end. */
static PyObject *
lines_of(PyObject *source)
{
    PyObject *end = PyUnicode_FromString("\n");
    PyObject *lines = end == NULL ? NULL : PyUnicode_Split(source, end, -1);
    const Py_ssize_t count = lines == NULL ? 0 : PyList_Size(lines);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *line = PyUnicode_Concat(PyList_GetItem(lines, i), end);
        if (line == NULL || PyList_SetItem(lines, i, line) < 0) {
            Py_CLEAR(lines);
            break;
        }
    }
    Py_XDECREF(end);
    return lines;
}

void
csb_child_show_lines(const char *file_name, PyObject *source)
{
    PyObject *module = PyImport_ImportModule("linecache");
    PyObject *cache = module == NULL ? NULL : PyObject_GetAttrString(module, "cache");
    PyObject *name = PyUnicode_DecodeFSDefault(file_name);
    PyObject *lines = lines_of(source);
    PyObject *entry = NULL;
    if (cache != NULL && name != NULL && lines != NULL) {
        /* size, mtime, lines, name; no mtime means: never compared with a file */
        entry = Py_BuildValue("(nOOO)", PyObject_Size(source), Py_None, lines, name);
    }
    if (entry == NULL || PyObject_SetItem(cache, name, entry) < 0) {
        PyErr_Clear(); /* a traceback without lines is still one */
    }
    Py_XDECREF(entry);
    Py_XDECREF(lines);
    Py_XDECREF(name);
    Py_XDECREF(cache);
    Py_XDECREF(module);
}
