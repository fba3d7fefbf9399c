/* Theory of operation: glue, in the caller, after the child is dead. Only copies; a name
 * that is no text is shown with backslashes. */
#include "py_collect.h"

#include "py_convert.h"

#include <string.h>

static int
add_item(PyObject *files, PyObject *skipped, const struct csb_collected *item)
{
    PyObject *name = PyUnicode_DecodeUTF8(item->name, (Py_ssize_t)strlen(item->name),
                                          "backslashreplace");
    PyObject *value = item->skipped == NULL
                          ? PyBytes_FromStringAndSize((const char *)item->bytes,
                                                      (Py_ssize_t)item->count)
                          : PyUnicode_FromString(item->skipped);
    int result =
        name == NULL || value == NULL
            ? -1
            : PyDict_SetItem(item->skipped == NULL ? files : skipped, name, value);
    Py_XDECREF(name);
    Py_XDECREF(value);
    return result;
}

/* What is not named one by one stands under a name that no file can have. */
static int
add_rest(PyObject *skipped, const struct csb_collection *collection)
{
    if (collection->unnamed > 0 &&
        csb_py_set(skipped, "…/",
                   PyUnicode_FromFormat("%zu more that match", collection->unnamed)) <
            0) {
        return -1;
    }
    return collection->cut_short
               ? csb_py_set(skipped, "/",
                            PyUnicode_FromString("more files than are looked at"))
               : 0;
}

int
csb_py_add_collected(PyObject *dict, const struct csb_collection *collection)
{
    PyObject *files = PyDict_New();
    PyObject *skipped = PyDict_New();
    int result = files == NULL || skipped == NULL ? -1 : 0;
    for (size_t i = 0; result == 0 && i < collection->count; i++) {
        result = add_item(files, skipped, &collection->items[i]);
    }
    if (result == 0) {
        result = add_rest(skipped, collection);
    }
    if (result < 0) {
        Py_XDECREF(files);
        Py_XDECREF(skipped);
        return -1;
    }
    result = csb_py_set(dict, "files", files);
    return csb_py_set(dict, "files_skipped", skipped) < 0 ? -1 : result;
}
