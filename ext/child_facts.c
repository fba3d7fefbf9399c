/* Theory of operation: runs in the child, after the submission was compiled and before any of
 * it is executed. Reads code objects; judges nothing (the caller does). Trusts CPython's
 * compiler; the depth and number of code objects are the submission's, hence no recursion. */
#include "child_facts.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 64 }; /* of a member in the guard's tables, and more */

struct opcodes {
    unsigned char import_name;
    unsigned char import_from;
    unsigned char extended_arg;
};

/* Opcode numbers of this interpreter. Known ones by version; a newer CPython is asked
 * through its own opcode module. */
static int
find_opcodes(struct opcodes *ret)
{
    PyObject *version = PySys_GetObject("hexversion"); /* borrowed */
    long hex = version == NULL ? 0 : PyLong_AsLong(version) >> 16;
    PyObject *module;
    PyObject *map;
    if (hex >= 0x030A && hex <= 0x030C) {
        *ret = (struct opcodes){108, 109, 144};
        return 0;
    }
    if (hex == 0x030D) {
        *ret = (struct opcodes){75, 74, 71};
        return 0;
    }
    module = PyImport_ImportModule("opcode");
    map = module == NULL ? NULL : PyObject_GetAttrString(module, "opmap");
    Py_XDECREF(module);
    if (map != NULL) {
        const char *const names[] = {"IMPORT_NAME", "IMPORT_FROM", "EXTENDED_ARG"};
        unsigned char *const numbers[] = {&ret->import_name, &ret->import_from,
                                          &ret->extended_arg};
        for (size_t i = 0; i < CSB_ARRAY_LEN(names); i++) {
            PyObject *number = PyMapping_GetItemString(map, names[i]);
            *numbers[i] = (unsigned char)(number == NULL ? 0 : PyLong_AsLong(number));
            Py_XDECREF(number);
        }
        Py_DECREF(map);
    }
    return PyErr_Occurred() ? -1 : 0;
}

void
csb_fact_list_done(struct csb_fact_list *list)
{
    free(list->bytes);
    *list = (struct csb_fact_list){0};
}

static int
add_bytes(struct csb_fact_list *list, const void *bytes, size_t count)
{
    if (list->capacity - list->count < count) {
        size_t capacity = (list->capacity + count + 256) * 2;
        unsigned char *grown = realloc(list->bytes, capacity);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        list->bytes = grown;
        list->capacity = capacity;
    }
    memcpy(list->bytes + list->count, bytes, count);
    list->count += count;
    return 0;
}

static int
add_text(struct csb_fact_list *list, enum csb_fact_kind kind, const char *text,
         size_t length)
{
    const struct csb_fact fact = {.kind = kind, .length = (uint32_t)length};
    return add_bytes(list, &fact, sizeof fact) < 0 || add_bytes(list, text, length) < 0
               ? -1
               : 0;
}

/* An identifier, which has no lone surrogate. */
static int
add_fact(struct csb_fact_list *list, enum csb_fact_kind kind, PyObject *name)
{
    Py_ssize_t length = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(name, &length);
    return utf8 == NULL ? -1 : add_text(list, kind, utf8, (size_t)length);
}

static int
add_names(struct csb_fact_list *list, PyObject *code, const char *attribute,
          enum csb_fact_kind kind)
{
    PyObject *names = PyObject_GetAttrString(code, attribute);
    int result = names == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_Size(names); i++) {
        result = add_fact(list, kind, PyTuple_GetItem(names, i));
    }
    Py_XDECREF(names);
    return result;
}

static bool
is_word_character(char character)
{
    return (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_';
}

/* Could a string that holds this word be a way to an attribute that is refused? Special names
 * have two underscores and a letter; the names of frames and their kin (`gi_frame`, `f_back`,
 * `tb_next`, `cr_code`, `ag_frame`, `co_code`) have one after two letters. */
static bool
is_telling(const char *word, size_t length)
{
    bool letter = false;
    bool two = false;
    for (size_t i = 0; i < length; i++) {
        letter = letter || word[i] != '_';
        two = two || (i > 0 && word[i] == '_' && word[i - 1] == '_');
    }
    return letter && (two || (length > 2 && (word[1] == '_' || word[2] == '_')));
}

/* A string that is one word may be the name of a module's member: getattr(os, "system"). */
static bool
is_name(size_t word, size_t length)
{
    return word == length && length > 0 && length <= LONGEST_NAME;
}

static int
add_words(struct csb_fact_list *list, const char *text, size_t length)
{
    size_t at = 0;
    int result = 0;
    while (at < length && result == 0) {
        size_t start = at;
        while (at < length && is_word_character(text[at])) {
            at++;
        }
        if (is_telling(text + start, at - start) || is_name(at - start, length)) {
            result = add_text(list, CSB_FACT_STRING, text + start, at - start);
        }
        at += at == start;
    }
    return result;
}

static int
add_string(struct csb_fact_list *list, PyObject *text)
{
    Py_ssize_t length = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &length);
    PyObject *bytes = NULL;
    int result;
    if (utf8 == NULL) {
        PyErr_Clear(); /* a lone surrogate */
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        if (bytes == NULL) {
            return -1;
        }
        utf8 = PyBytes_AsString(bytes);
        length = PyBytes_Size(bytes);
    }
    result = add_words(list, utf8, (size_t)length);
    Py_XDECREF(bytes);
    return result;
}

/* Constants, tuples and frozen sets within them included: code objects go on the list of what
 * is still to be walked, telling words of strings into the facts. */
static int
add_constant(struct csb_fact_list *list, PyObject *item, PyTypeObject *code_type,
             PyObject *work, PyObject *pending)
{
    PyObject *items;
    int result;
    if (PyUnicode_Check(item)) {
        return add_string(list, item);
    }
    if (PyTuple_Check(item)) {
        return PyList_Append(work, item);
    }
    if (PyObject_TypeCheck(item, code_type)) {
        return PyList_Append(pending, item);
    }
    if (!PyFrozenSet_Check(item)) {
        return 0;
    }
    items = PySequence_Tuple(item);
    result = items == NULL ? -1 : PyList_Append(work, items);
    Py_XDECREF(items);
    return result;
}

static int
add_constants(struct csb_fact_list *list, PyObject *code, PyObject *pending)
{
    PyObject *work = PyList_New(0);
    PyObject *first = PyObject_GetAttrString(code, "co_consts");
    int result = work == NULL || first == NULL ? -1 : PyList_Append(work, first);
    Py_XDECREF(first);
    for (Py_ssize_t at = 0; result == 0 && at < PyList_Size(work); at++) {
        PyObject *group = PyList_GetItem(work, at); /* borrowed; work only grows */
        for (Py_ssize_t i = 0; result == 0 && i < PyTuple_Size(group); i++) {
            result = add_constant(list, PyTuple_GetItem(group, i), Py_TYPE(code), work,
                                  pending);
        }
    }
    Py_XDECREF(work);
    return result;
}

static int
add_imports(struct csb_fact_list *list, PyObject *code, const struct opcodes *opcodes)
{
    PyObject *names = PyObject_GetAttrString(code, "co_names");
    PyObject *bytes = PyObject_GetAttrString(code, "co_code");
    int result = names == NULL || bytes == NULL ? -1 : 0;
    const unsigned char *at = NULL;
    unsigned long extended = 0;
    Py_ssize_t size = 0;
    if (result == 0) {
        at = (const unsigned char *)PyBytes_AsString(bytes);
        size = PyBytes_Size(bytes);
    }
    /* Instructions are pairs of bytes since 3.6; inline caches of fresh code are zero. */
    for (Py_ssize_t i = 0; result == 0 && i + 1 < size; i += 2) {
        unsigned long argument = extended << 8 | at[i + 1];
        bool from = at[i] == opcodes->import_from;
        extended = at[i] == opcodes->extended_arg ? argument : 0;
        if (from || at[i] == opcodes->import_name) {
            PyObject *name =
                PyTuple_GetItem(names, (Py_ssize_t)argument); /* borrowed */
            result = name == NULL
                         ? -1
                         : add_fact(list, from ? CSB_FACT_FROM : CSB_FACT_IMPORT, name);
        }
    }
    Py_XDECREF(names);
    Py_XDECREF(bytes);
    return result;
}

int
csb_child_collect(PyObject *code, struct csb_fact_list *ret)
{
    struct opcodes opcodes = {0, 0, 0};
    PyObject *pending = PyList_New(0);
    int result = pending == NULL ? -1 : PyList_Append(pending, code);
    if (result == 0) {
        result = find_opcodes(&opcodes);
    }
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(pending); i++) {
        PyObject *one = PyList_GetItem(pending, i); /* borrowed; pending only grows */
        result = add_names(ret, one, "co_names", CSB_FACT_NAME) < 0 ||
                         add_names(ret, one, "co_varnames", CSB_FACT_LOCAL) < 0 ||
                         add_names(ret, one, "co_cellvars", CSB_FACT_LOCAL) < 0 ||
                         add_imports(ret, one, &opcodes) < 0 ||
                         add_constants(ret, one, pending) < 0
                     ? -1
                     : 0;
    }
    Py_XDECREF(pending);
    return result;
}
