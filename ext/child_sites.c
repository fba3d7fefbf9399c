/* Theory of operation: runs in the child. A site folder may be listed, but only the packages
 * of the profile can be read, so an import of another one would end in PermissionError and
 * break every `try: import cython / except ImportError` (scipy has one). The finder made
 * here says instead that such a module is not there. Courtesy only: what can be read is
 * Landlock's part, and a hostile program that takes the finder out gains nothing. */
#include "child_script.h"

/* Only look-ups in a site folder pay for the trial open; the standard library's do not.
 * The loaders are importlib's own, taken as PathFinder takes them. */
static const char site_finders[] =
    "def install():\n"
    "    import sys\n"
    "    from _frozen_importlib_external import FileFinder, _get_supported_file_loaders\n"
    "    from _io import FileIO\n"
    "    class SiteFinder(FileFinder):\n"
    "        def find_spec(self, fullname, target=None):\n"
    "            spec = FileFinder.find_spec(self, fullname, target)\n"
    "            if spec is not None and spec.has_location:\n"
    "                try:\n"
    "                    FileIO(spec.origin).close()\n"
    "                except PermissionError:\n"
    "                    return None\n"
    "            return spec\n"
    "    for path in sys.path:\n"
    "        if path.endswith(('/site-packages', '/dist-packages')):\n"
    "            finder = SiteFinder(path, *_get_supported_file_loaders())\n"
    "            sys.path_importer_cache[path] = finder\n"
    "install()\n";

int
csb_child_find_in_sites(void)
{
    PyObject *globals = PyDict_New();
    PyObject *code = NULL;
    PyObject *result = NULL;
    if (globals != NULL &&
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) == 0) {
        code = Py_CompileString(site_finders, "<csandbox>", Py_file_input);
    }
    if (code != NULL) {
        result = PyEval_EvalCode(code, globals, globals);
    }
    Py_XDECREF(code);
    Py_XDECREF(globals);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}
