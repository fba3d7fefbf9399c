/* Theory of operation: runs in the child. A site folder may be listed, but only the packages
 * of the profile can be read, so an import of another one would end in PermissionError and
 * break every `try: import cython / except ImportError` (scipy has one). The finder made
 * here says instead that such a module is not there. Courtesy only: what can be read is
 * Landlock's part, and a hostile program that takes the finder out gains nothing.
 *
 * It is made by a path hook, so a program that imports nothing outside the standard library
 * pays for one list entry. */
#include "child_script.h"

#include <string.h>

/* Only look-ups in a site folder pay for the trial open; the standard library's do not.
 * The loaders are importlib's own, taken as PathFinder takes them. */
static const char site_finder[] =
    "from _frozen_importlib_external import FileFinder, _get_supported_file_loaders\n"
    "from _io import FileIO\n"
    "class SiteFinder(FileFinder):\n"
    "    def find_spec(self, fullname, target=None):\n"
    "        spec = FileFinder.find_spec(self, fullname, target)\n"
    "        if spec is not None and spec.has_location:\n"
    "            try:\n"
    "                FileIO(spec.origin).close()\n"
    "            except PermissionError:\n"
    "                return None\n"
    "        return spec\n"
    "finder = SiteFinder(path, *_get_supported_file_loaders())\n";

static PyObject *
make_finder(PyObject *path)
{
    PyObject *globals = PyDict_New();
    PyObject *code = NULL;
    PyObject *result = NULL;
    PyObject *finder = NULL;
    if (globals != NULL &&
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) == 0 &&
        PyDict_SetItemString(globals, "path", path) == 0) {
        code = Py_CompileString(site_finder, "<csandbox>", Py_file_input);
    }
    if (code != NULL) {
        result = PyEval_EvalCode(code, globals, globals);
    }
    if (result != NULL) {
        finder = PyDict_GetItemString(globals, "finder"); /* borrowed */
        Py_XINCREF(finder);
    }
    Py_XDECREF(code);
    Py_XDECREF(globals);
    Py_XDECREF(result);
    return finder;
}

static bool
ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* An entry of sys.path_hooks: a finder for the folder, or ImportError for the next hook. */
static PyObject *
site_hook(PyObject *module, PyObject *path)
{
    const char *text = PyUnicode_Check(path) ? PyUnicode_AsUTF8AndSize(path, NULL) : "";
    (void)module;
    if (text == NULL) {
        PyErr_Clear();
        text = "";
    }
    if (ends_with(text, "/site-packages") || ends_with(text, "/dist-packages")) {
        return make_finder(path);
    }
    PyErr_SetString(PyExc_ImportError, "not a folder of installed packages");
    return NULL;
}

static PyMethodDef hook = {"site_hook", site_hook, METH_O,
                           "A finder for a folder of installed packages."};

int
csb_child_find_in_sites(void)
{
    PyObject *hooks = PySys_GetObject("path_hooks"); /* borrowed */
    PyObject *function = PyCFunction_NewEx(&hook, NULL, NULL);
    int result = -1;
    if (hooks != NULL && PyList_Check(hooks) && function != NULL) {
        result = PyList_Insert(hooks, 0, function);
    }
    Py_XDECREF(function);
    return result;
}
