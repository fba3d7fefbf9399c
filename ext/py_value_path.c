/* Theory of operation: glue, either process, only when encoding has failed. Names of types and
 * keys are whoever's, so they are cut, and written in ASCII. */
#include "py_value_path.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CHARACTERS = 40 };

static void
append(char *buffer, size_t size, const char *text)
{
    size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s", text); /* cut is as good */
}

/* The first characters in printable ASCII; false with no exception left when that fails. */
static bool
to_ascii(PyObject *text, char *buffer, size_t size)
{
    PyObject *cut = PyUnicode_Substring(text, 0, MOST_CHARACTERS);
    PyObject *bytes = cut == NULL
                          ? NULL
                          : PyUnicode_AsEncodedString(cut, "ascii", "backslashreplace");
    bool result = bytes != NULL;
    if (result) {
        (void)snprintf(buffer, size, "%s", PyBytes_AsString(bytes));
        for (char *at = buffer; *at != '\0'; at++) {
            *at = *at < ' ' || *at == 0x7f ? '?' : *at;
        }
    }
    Py_XDECREF(cut);
    Py_XDECREF(bytes);
    PyErr_Clear();
    return result;
}

void
csb_py_type_name(PyObject *type, char *buffer, size_t size)
{
    PyObject *name = PyObject_GetAttrString(type, "__name__");
    if (name == NULL || !PyUnicode_Check(name) || !to_ascii(name, buffer, size)) {
        (void)snprintf(buffer, size, "?");
    }
    Py_XDECREF(name);
    PyErr_Clear();
}

static bool
is_identifier(const char *text)
{
    bool result = text[0] != '\0' && !(text[0] >= '0' && text[0] <= '9');
    for (; *text != '\0' && result; text++) {
        result = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                 (*text >= '0' && *text <= '9') || *text == '_';
    }
    return result;
}

static void
append_key(PyObject *key, char *buffer, size_t size)
{
    char text[MOST_CHARACTERS * 10 + 1];
    char piece[sizeof text + 8];
    if (PyUnicode_CheckExact(key) && to_ascii(key, text, sizeof text)) {
        if (is_identifier(text)) {
            (void)snprintf(piece, sizeof piece, ".%s%s", text,
                           PyUnicode_GetLength(key) > MOST_CHARACTERS ? "..." : "");
        } else {
            (void)snprintf(piece, sizeof piece, "[\"%s\"]", text);
        }
        append(buffer, size, piece);
        return;
    }
    if (PyLong_CheckExact(key)) {
        int overflow;
        long number = PyLong_AsLongAndOverflow(key, &overflow);
        if (!overflow) {
            (void)snprintf(piece, sizeof piece, "[%ld]", number);
            append(buffer, size, piece);
            return;
        }
    }
    csb_py_type_name((PyObject *)Py_TYPE(key), text, sizeof text);
    (void)snprintf(piece, sizeof piece, "[<%s>]", text);
    append(buffer, size, piece);
}

void
csb_py_path(const struct csb_py_frame *frames, size_t count, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "$");
    for (size_t i = 0; i < count && strlen(buffer) + 1 < size; i++) {
        const struct csb_py_frame *frame = &frames[i];
        char piece[48];
        if (frame->kind == CSB_VALUE_DICT && frame->value == NULL &&
            frame->key != NULL) {
            append_key(frame->key, buffer, size);
            continue;
        }
        (void)snprintf(piece, sizeof piece,
                       frame->kind == CSB_VALUE_DICT ? ".<key %zd>"
                       : frame->kind == CSB_VALUE_LIST || frame->kind == CSB_VALUE_TUPLE
                           ? "[%zd]"
                           : ".<element %zd>",
                       frame->index - 1);
        append(buffer, size, piece);
    }
    if (strlen(buffer) + 1 == size) {
        memcpy(buffer + size - 4, "...", 4);
    }
}
