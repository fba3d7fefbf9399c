/* Theory of operation: reads the diagnostics back from their dicts, lets the renderer print them
 * without the GIL, and keeps a private list of the dicts alive meanwhile. In the caller. */
#define PY_SSIZE_T_CLEAN
#include "py_guard_render.h"

#include <stdlib.h>
#include <string.h>

#include "render.h"

/* A string that the mapping keeps alive; "" when it is absent. */
static const char *
view_text(PyObject *mapping, const char *key)
{
    PyObject *value = PyDict_GetItemString(mapping, key);
    Py_ssize_t len;
    const char *string = value != NULL && PyUnicode_Check(value)
                             ? PyUnicode_AsUTF8AndSize(value, &len)
                             : "";
    if (string == NULL) {
        PyErr_Clear(); /* a lone surrogate: nothing of ours makes one */
        return "?";
    }
    return string;
}

static size_t
view_number(PyObject *mapping, const char *key)
{
    PyObject *value = PyDict_GetItemString(mapping, key);
    long long number =
        value != NULL && PyLong_Check(value) ? PyLong_AsLongLong(value) : 0;
    PyErr_Clear(); /* a number that does not fit is no place in a source */
    return number > 0 ? (size_t)number : 0;
}

static int
read_view(PyObject *mapping, struct csb_view *ret)
{
    if (!PyDict_Check(mapping)) {
        PyErr_SetString(PyExc_TypeError, "diagnostics: each must be a dict");
        return -1;
    }
    ret->code = view_text(mapping, "code");
    ret->severity = view_text(mapping, "severity");
    ret->message = view_text(mapping, "message");
    ret->label = view_text(mapping, "label");
    ret->help = view_text(mapping, "help");
    ret->note = view_text(mapping, "note");
    ret->line = (uint32_t)view_number(mapping, "line");
    ret->column = (uint32_t)view_number(mapping, "column");
    ret->start = view_number(mapping, "start_byte");
    ret->end = view_number(mapping, "end_byte");
    ret->second = view_text(mapping, "second_label");
    ret->second_line = (uint32_t)view_number(mapping, "second_line");
    ret->second_start = view_number(mapping, "second_start_byte");
    ret->second_end = view_number(mapping, "second_end_byte");
    return 0;
}

/* The views of a list of diagnostics, to be freed; NULL with an exception set. */
static struct csb_view *
read_views(PyObject *list, size_t count, int *ret_width)
{
    struct csb_view *views = calloc(count + 1, sizeof *views);
    uint32_t last = 1;
    if (views == NULL) {
        return (struct csb_view *)(void *)PyErr_NoMemory();
    }
    for (size_t i = 0; i < count; i++) {
        if (read_view(PyList_GetItem(list, (Py_ssize_t)i), &views[i]) < 0) {
            free(views);
            return NULL;
        }
        last = views[i].line > last ? views[i].line : last;
    }
    for (*ret_width = 1; last >= 10; last /= 10) {
        ++*ret_width;
    }
    return views;
}

static int
render(const struct csb_view *views, size_t count, struct csb_sheet *sheet,
       const char *bytes, size_t len, struct csb_text *out)
{
    struct csb_source source;
    if (csb_source_init(&source, bytes, len, len) < 0) {
        return -1;
    }
    sheet->source = &source;
    for (size_t i = 0; i < count; i++) {
        csb_text_puts(out, i > 0 ? "\n" : "");
        csb_render_one(out, sheet, &views[i]);
    }
    sheet->source = NULL;
    csb_source_done(&source);
    return out->failed ? -1 : 0;
}

static PyObject *
render_list(PyObject *list, PyObject *source, PyObject *filename, bool color)
{
    struct csb_sheet sheet = {.color = color};
    struct csb_text out = {0};
    size_t count = (size_t)PyList_Size(list);
    struct csb_view *views = read_views(list, count, &sheet.number_width);
    char *bytes;
    Py_ssize_t len;
    Py_ssize_t name_len;
    PyObject *result;
    PyThreadState *thread;
    int r;
    if (views == NULL || PyBytes_AsStringAndSize(source, &bytes, &len) < 0 ||
        PyBytes_AsStringAndSize(filename, (char **)&sheet.filename, &name_len) < 0) {
        free(views);
        return NULL;
    }
    sheet.filename_len = (size_t)name_len;
    thread = PyEval_SaveThread();
    r = render(views, count, &sheet, bytes, (size_t)len, &out);
    PyEval_RestoreThread(thread);
    result = r < 0 ? PyErr_NoMemory()
                   : PyUnicode_DecodeUTF8(out.bytes == NULL ? "" : out.bytes,
                                          (Py_ssize_t)out.len, "replace");
    csb_text_done(&out);
    free(views);
    return result;
}

PyObject *
csb_py_guard_render(PyObject *diagnostics, PyObject *source, PyObject *filename,
                    bool color)
{
    PyObject *list = PySequence_List(diagnostics);
    /* Names of files may hold surrogates; the renderer escapes what is not UTF-8. */
    PyObject *name =
        list == NULL ? NULL
                     : PyUnicode_AsEncodedString(filename, "utf-8", "surrogatepass");
    PyObject *result = name == NULL ? NULL : render_list(list, source, name, color);
    Py_XDECREF(name);
    Py_XDECREF(list);
    return result;
}
