/* Theory of operation: in the child, after the submission was executed. Reads a request that
 * the caller wrote, calls the submission, writes what came of it. All of this process is
 * hostile by now, this code included: a reply is data that the caller compares, never a
 * verdict, and a forged one is nothing but another answer to the same question. */
#include "child_call.h"

#include "child_entry.h"
#include "child_nodes.h"
#include "child_script.h"
#include "py_value_decode.h"
#include "py_value_encode.h"

#include <string.h>

/* In characters, then in bytes: of one text, for saying why not, of all but a value. */
enum { MOST_MESSAGE = 500, MOST_TEXT = 4000, HEAD_ROOM = 1024, MOST_WORDS = 16384 };

/* For requests: the caller holds its own. */
static const struct csb_value_limits request_limits = {
    .bytes = UINT64_C(1) << 40,
    .items = UINT64_C(1) << 32,
    .depth = CSB_VALUE_MAX_DEPTH,
    .int_digits = UINT32_MAX,
};

struct call {
    PyObject *globals;    /* borrowed */
    PyObject *request;    /* owned; a dict */
    PyObject *entry;      /* borrowed from it, as are the next */
    PyObject *adapters;   /* may be NULL */
    PyObject *positional; /* owned; a tuple */
    PyObject *named;      /* owned; a dict */
    struct csb_value_limits limits;
};

static void
put(struct csb_value_writer *reply, const char *text)
{
    csb_write_text(reply, text, strlen(text));
}

/* Any text of the submission: cut, and what cannot be encoded left out. */
static void
put_text(struct csb_value_writer *reply, PyObject *text)
{
    const struct csb_value_limits limits = {MOST_TEXT, 0, 0, 0};
    PyObject *cut = text == NULL || !PyUnicode_Check(text)
                        ? NULL
                        : PyUnicode_Substring(text, 0, MOST_MESSAGE);
    struct csb_value_writer piece = {.limit = limits.bytes};
    struct csb_value_fault fault;
    if (cut != NULL && csb_py_encode(cut, &limits, &piece, &fault) == 0) {
        csb_write_raw(reply, piece.bytes, piece.count);
    } else {
        put(reply, "");
    }
    csb_value_writer_done(&piece);
    Py_XDECREF(cut);
    PyErr_Clear();
}

static void
begin(struct csb_value_writer *reply, const char *kind, uint64_t pairs)
{
    reply->count = 0;
    reply->full = false;
    csb_write_dict(reply, pairs);
    put(reply, "kind");
    put(reply, kind);
}

/* Text of the exception that is set, new reference or NULL. Takes the exception. */
static PyObject *
take_message(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *text;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    text = value == NULL ? NULL : PyObject_Str(value);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return text;
}

/* {"kind": kind, "message": str of the exception}. Takes the exception. */
static void
say(struct csb_value_writer *reply, const char *kind)
{
    PyObject *text = take_message();
    begin(reply, kind, 2);
    put(reply, "message");
    put_text(reply, text);
    Py_XDECREF(text);
}

/* The result has not the shape that its adapter needs. Takes the exception. */
static void
say_no_shape(struct csb_value_writer *reply)
{
    PyObject *text = take_message();
    begin(reply, "unencodable", 3);
    put(reply, "path");
    put(reply, "$");
    put(reply, "message");
    put_text(reply, text);
    Py_XDECREF(text);
}

/* User code raised. Printed as at the end of a program, but for SystemExit. */
static void
say_raised(struct csb_value_writer *reply)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *name;
    PyObject *text;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    name = PyObject_GetAttrString(type, "__name__");
    PyErr_Clear();
    text = value == NULL ? NULL : PyObject_Str(value);
    PyErr_Clear();
    begin(reply, "raised", 3);
    put(reply, "type");
    put_text(reply, name);
    put(reply, "message");
    put_text(reply, text);
    Py_XDECREF(name);
    Py_XDECREF(text);
    if (PyErr_GivenExceptionMatches(type, PyExc_SystemExit)) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return;
    }
    PyErr_Restore(type, value, traceback);
    csb_child_print_error();
}

static void
say_unencodable(struct csb_value_writer *reply, const char *path, const char *message)
{
    begin(reply, "unencodable", 3);
    put(reply, "path");
    put(reply, path);
    put(reply, "message");
    put(reply, message);
}

static int
get_number(PyObject *list, Py_ssize_t at, uint64_t most, uint64_t *ret)
{
    *ret = PyLong_AsUnsignedLongLong(PyList_GetItem(list, at));
    if (!PyErr_Occurred() && *ret > most) {
        PyErr_SetString(PyExc_ValueError, "limits: too large");
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int
read_limits(PyObject *list, struct csb_value_limits *ret)
{
    uint64_t depth;
    uint64_t digits;
    if (list == NULL || !PyList_CheckExact(list) || PyList_Size(list) != 4) {
        PyErr_SetString(PyExc_ValueError, "limits: expected a list of four");
        return -1;
    }
    if (get_number(list, 0, UINT64_C(1) << 40, &ret->bytes) < 0 ||
        get_number(list, 1, UINT64_MAX, &ret->items) < 0 ||
        get_number(list, 2, CSB_VALUE_MAX_DEPTH, &depth) < 0 ||
        get_number(list, 3, UINT32_MAX, &digits) < 0) {
        return -1;
    }
    ret->depth = (uint32_t)depth;
    ret->int_digits = (uint32_t)digits;
    return 0;
}

/* A str, or NULL for None and for what is missing. */
static const char *
adapter_name(PyObject *name)
{
    return name == NULL || !PyUnicode_Check(name) ? NULL
                                                  : PyUnicode_AsUTF8AndSize(name, NULL);
}

/* In place: the list is this call's own. */
static int
adapt_positional(const struct call *call, PyObject *list)
{
    PyObject *names = call->adapters == NULL
                          ? NULL
                          : PyDict_GetItemString(call->adapters, "args"); /* borrowed */
    for (Py_ssize_t i = 0;
         names != NULL && i < PyList_Size(names) && i < PyList_Size(list); i++) {
        const char *name = adapter_name(PyList_GetItem(names, i));
        PyObject *made;
        if (name == NULL) {
            continue;
        }
        made = csb_child_to_nodes(call->globals, PyList_GetItem(list, i), name);
        if (made == NULL || PyList_SetItem(list, i, made) < 0) {
            return -1;
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int
adapt_named(const struct call *call)
{
    PyObject *names =
        call->adapters == NULL
            ? NULL
            : PyDict_GetItemString(call->adapters, "kwargs"); /* borrowed */
    Py_ssize_t position = 0;
    PyObject *key;
    PyObject *value;
    while (names != NULL && PyDict_Next(names, &position, &key, &value)) {
        const char *name = adapter_name(value);
        PyObject *given = PyDict_GetItemWithError(call->named, key); /* borrowed */
        PyObject *made;
        if (name == NULL || given == NULL) {
            continue;
        }
        made = csb_child_to_nodes(call->globals, given, name);
        if (made == NULL || PyDict_SetItem(call->named, key, made) < 0) {
            Py_XDECREF(made);
            return -1;
        }
        Py_DECREF(made);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int
read_request(const unsigned char *bytes, size_t count, struct call *ret)
{
    PyObject *list;
    ret->request = csb_py_decode(bytes, count, &request_limits);
    if (ret->request == NULL) {
        return -1;
    }
    if (!PyDict_CheckExact(ret->request)) {
        PyErr_SetString(PyExc_ValueError, "expected a dict");
        return -1;
    }
    ret->entry = PyDict_GetItemString(ret->request, "entry");
    ret->adapters = PyDict_GetItemString(ret->request, "adapters");
    ret->named = PyDict_GetItemString(ret->request, "kwargs");
    list = PyDict_GetItemString(ret->request, "args");
    Py_XINCREF(ret->named);
    if (ret->entry == NULL || !PyUnicode_CheckExact(ret->entry) || list == NULL ||
        !PyList_CheckExact(list) || ret->named == NULL ||
        !PyDict_CheckExact(ret->named) ||
        (ret->adapters != NULL && !PyDict_CheckExact(ret->adapters))) {
        PyErr_SetString(PyExc_ValueError, "expected entry, args, kwargs, adapters");
        return -1;
    }
    if (read_limits(PyDict_GetItemString(ret->request, "limits"), &ret->limits) < 0 ||
        adapt_positional(ret, list) < 0 || adapt_named(ret) < 0) {
        return -1;
    }
    ret->positional = PyList_AsTuple(list);
    return ret->positional == NULL ? -1 : 0;
}

/* What counts as the result: what was returned, or an argument; adapted. Takes `returned`. */
static PyObject *
pick_result(const struct call *call, PyObject *returned)
{
    PyObject *from = call->adapters == NULL
                         ? NULL
                         : PyDict_GetItemString(call->adapters, "from"); /* borrowed */
    const char *name =
        call->adapters == NULL
            ? NULL
            : adapter_name(PyDict_GetItemString(call->adapters, "result"));
    PyObject *result = returned;
    if (from != NULL && from != Py_None) {
        result = PyTuple_GetItem(call->positional, PyLong_AsSsize_t(from));
        Py_XINCREF(result);
        Py_DECREF(returned);
    }
    if (result != NULL && name != NULL) {
        PyObject *adapted = csb_child_from_nodes(result, name, call->limits.items);
        Py_DECREF(result);
        result = adapted;
    }
    return result;
}

static void
say_value(struct csb_value_writer *reply, const struct call *call, PyObject *value)
{
    struct csb_value_fault fault;
    int result;
    begin(reply, "value", 2);
    put(reply, "value");
    reply->limit = reply->count + call->limits.bytes;
    result = csb_py_encode(value, &call->limits, reply, &fault);
    reply->limit += HEAD_ROOM; /* for saying why not */
    if (result > 0) {
        say_unencodable(reply, fault.path, fault.message);
    } else if (result < 0) {
        say_raised(reply);
    }
}

static void
make_call(struct csb_value_writer *reply, const struct call *call)
{
    bool missing;
    PyObject *function = csb_child_find_entry(call->globals, call->entry, &missing);
    PyObject *value;
    if (function == NULL) {
        if (missing) {
            say(reply, "no_entry");
        } else {
            say_raised(reply);
        }
        return;
    }
    value = PyObject_Call(function, call->positional, call->named);
    Py_DECREF(function);
    if (value == NULL) {
        say_raised(reply);
        return;
    }
    value = pick_result(call, value);
    if (value == NULL) {
        say_no_shape(reply);
        return;
    }
    say_value(reply, call, value);
    Py_DECREF(value);
}

/* So that what a call prints is on its way before its reply is. */
static void
flush(const char *name)
{
    PyObject *stream = PySys_GetObject(name); /* borrowed */
    PyObject *result;
    if (stream != NULL && stream != Py_None) {
        result = PyObject_CallMethod(stream, "flush", NULL);
        Py_XDECREF(result);
        PyErr_Clear(); /* a stream that the submission has closed or replaced */
    }
}

int
csb_child_answer(PyObject *globals, const unsigned char *request, size_t count,
                 struct csb_value_writer *reply)
{
    struct call call = {.globals = globals};
    reply->limit = MOST_WORDS;
    if (read_request(request, count, &call) < 0) {
        say(reply, "bad_request");
    } else {
        make_call(reply, &call);
    }
    Py_XDECREF(call.request);
    Py_XDECREF(call.positional);
    Py_XDECREF(call.named);
    flush("stdout");
    flush("stderr");
    PyErr_Clear();
    return reply->failed || reply->full ? -1 : 0;
}
