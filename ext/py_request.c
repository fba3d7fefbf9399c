/* Theory of operation: glue, in the caller. Bytes are borrowed from the objects of the
 * mapping, which are kept alive with it, so nothing large is copied. */
#include "py_request.h"

#include "clock.h"
#include "py_collect.h"
#include "py_convert.h"
#include "py_error.h"
#include "py_guard.h"
#include "py_report.h"

#include <stdlib.h>

static int
get_seconds(PyObject *limits, const char *key, int64_t *ret)
{
    double seconds;
    int result = csb_py_get_double(limits, key, &seconds);
    *ret = csb_clock_from_seconds(seconds);
    if (result == 0 && *ret <= 0) {
        PyErr_Format(PyExc_ValueError, "limit '%s': expected seconds above 0", key);
        return -1;
    }
    return result;
}

static int
get_u32(PyObject *limits, const char *key, uint32_t *ret)
{
    uint64_t value;
    int result = csb_py_get_u64(limits, key, &value);
    *ret = value > INT32_MAX ? INT32_MAX : (uint32_t)value;
    return result;
}

int
csb_py_convert_limits(PyObject *mapping, struct csb_limits *ret)
{
    PyObject *limits = csb_py_get(mapping, "limits");
    int result = -1;
    if (limits != NULL && get_seconds(limits, "cpu_s", &ret->cpu_ns) == 0 &&
        get_seconds(limits, "wall_s", &ret->wall_ns) == 0 &&
        get_seconds(limits, "startup_s", &ret->startup_ns) == 0 &&
        csb_py_get_u64(limits, "memory_bytes", &ret->memory_bytes) == 0 &&
        csb_py_get_u64(limits, "output_bytes", &ret->output_bytes) == 0 &&
        csb_py_get_u64(limits, "file_bytes", &ret->file_bytes) == 0 &&
        csb_py_get_u64(limits, "disk_bytes", &ret->disk_bytes) == 0 &&
        get_u32(limits, "files", &ret->files) == 0 &&
        csb_py_get_u64(limits, "stack_bytes", &ret->stack_bytes) == 0 &&
        get_u32(limits, "open_files", &ret->open_files) == 0 &&
        get_u32(limits, "threads", &ret->threads) == 0) {
        result = 0;
    }
    Py_XDECREF(limits);
    return result;
}

/* Bytes of a bytes object, which the caller keeps alive. */
static int
borrow_bytes(PyObject *object, const char *key, struct csb_bytes *ret)
{
    char *data;
    Py_ssize_t size;
    if (!PyBytes_Check(object)) {
        PyErr_Format(PyExc_ValueError, "key '%s': expected bytes", key);
        return -1;
    }
    if (PyBytes_AsStringAndSize(object, &data, &size) < 0) {
        return -1;
    }
    *ret = (struct csb_bytes){(const unsigned char *)data, (size_t)size};
    return 0;
}

static int
convert_file(PyObject *pair, struct csb_file *ret)
{
    PyObject *name;
    PyObject *content;
    if (!PyArg_ParseTuple(pair, "UO:file", &name, &content)) {
        return -1;
    }
    ret->name = PyUnicode_AsUTF8AndSize(name, NULL);
    if (ret->name == NULL) {
        return -1;
    }
    return borrow_bytes(content, "files", &ret->content);
}

static int
convert_files(PyObject *mapping, struct csb_py_request *request)
{
    PyObject *value = csb_py_get(mapping, "files");
    Py_ssize_t count;
    request->file_list = value == NULL ? NULL : PySequence_Tuple(value);
    Py_XDECREF(value);
    if (request->file_list == NULL) {
        return -1;
    }
    count = PyTuple_Size(request->file_list);
    request->files = calloc((size_t)count + 1, sizeof *request->files);
    if (request->files == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (convert_file(PyTuple_GetItem(request->file_list, i), &request->files[i]) <
            0) {
            return -1;
        }
    }
    request->c.files = request->files;
    request->c.file_count = (size_t)count;
    return 0;
}

int
csb_py_request_checked(PyObject *mapping, struct csb_py_request *request)
{
    PyObject *confirm_only = csb_py_get(mapping, "confirm_only");
    int only_ask = confirm_only == NULL ? -1 : PyObject_IsTrue(confirm_only);
    PyObject *checked = only_ask < 0 ? NULL : csb_py_get(mapping, "checked");
    int status = checked == NULL ? -1 : 0;
    Py_XDECREF(confirm_only);
    if (checked != NULL && checked != Py_None) {
        status = csb_py_opinion_init(&request->opinion, checked);
        request->opinion.only_ask = only_ask != 0;
        request->c.job.agrees = csb_py_opinion_agrees;
        request->c.job.agrees_argument = &request->opinion;
    }
    Py_XDECREF(checked);
    return status;
}

static int
get_flag(PyObject *mapping, const char *key)
{
    PyObject *value = csb_py_get(mapping, key);
    int result = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return result;
}

/* Optional: what a child is asked after its source was executed, and by which code of ours. */
static int
convert_calls(PyObject *mapping, struct csb_py_request *request)
{
    struct csb_job *job = &request->c.job;
    uint64_t reply_bytes;
    PyObject *value;
    Py_ssize_t count;
    int session;
    int cell;
    if (!PyMapping_HasKeyString(mapping, "calls")) {
        return 0;
    }
    value = csb_py_get(mapping, "calls");
    request->call_list = value == NULL ? NULL : PySequence_Tuple(value);
    Py_XDECREF(value);
    if (request->call_list == NULL ||
        csb_py_get_string(mapping, "prelude", &request->prelude) < 0 ||
        csb_py_get_u64(mapping, "reply_bytes", &reply_bytes) < 0) {
        return -1;
    }
    count = PyTuple_Size(request->call_list);
    request->calls = calloc((size_t)count + 1, sizeof *request->calls);
    if (request->calls == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (borrow_bytes(PyTuple_GetItem(request->call_list, i), "calls",
                         &request->calls[i]) < 0) {
            return -1;
        }
    }
    session = get_flag(mapping, "session");
    cell = get_flag(mapping, "cell");
    if (session < 0 || cell < 0) {
        return -1;
    }
    job->mode = session ? CSB_MODE_SESSION : CSB_MODE_CALLS;
    job->call_kind = cell ? CSB_FRAME_CELL : CSB_FRAME_CALL;
    job->calls = request->calls;
    job->call_count = (size_t)count;
    job->reply_bytes = (size_t)reply_bytes;
    return 0;
}

/* The findings as they stand after the second opinion; None when it was not asked for. */
static int
add_findings(PyObject *result, const struct csb_py_opinion *opinion)
{
    PyObject *diagnostics;
    if (!opinion->compared) {
        Py_INCREF(Py_None);
        return csb_py_set(result, "diagnostics", Py_None);
    }
    diagnostics = opinion->failed ? PyErr_NoMemory()
                                  : csb_py_diagnostics(&opinion->findings.diags);
    return csb_py_set(result, "diagnostics", diagnostics);
}

void
csb_py_request_done(struct csb_py_request *request)
{
    free(request->file_name);
    free(request->files);
    free(request->calls);
    free(request->prelude);
    csb_strings_done(&request->arguments);
    csb_strings_done(&request->environment);
    csb_strings_done(&request->patterns);
    csb_collection_done(&request->collection);
    Py_XDECREF(request->source);
    Py_XDECREF(request->input);
    Py_XDECREF(request->file_list);
    Py_XDECREF(request->call_list);
    csb_py_opinion_done(&request->opinion);
}

int
csb_py_request_convert(PyObject *mapping, struct csb_py_request *ret)
{
    struct csb_job *job = &ret->c.job;
    ret->source = csb_py_get(mapping, "source");
    ret->input = ret->source == NULL ? NULL : csb_py_get(mapping, "stdin");
    if (ret->input == NULL || borrow_bytes(ret->source, "source", &job->source) < 0 ||
        borrow_bytes(ret->input, "stdin", &ret->c.input) < 0 ||
        csb_py_get_string(mapping, "filename", &ret->file_name) < 0 ||
        csb_py_get_strings(mapping, "args", &ret->arguments) < 0 ||
        csb_py_get_environment(mapping, "env", &ret->environment) < 0 ||
        (PyMapping_HasKeyString(mapping, "collect") &&
         csb_py_get_strings(mapping, "collect", &ret->patterns) < 0) ||
        convert_files(mapping, ret) < 0 ||
        csb_py_convert_limits(mapping, &ret->limits) < 0) {
        return -1;
    }
    if (csb_py_request_checked(mapping, ret) < 0 || convert_calls(mapping, ret) < 0) {
        return -1;
    }
    job->limits = &ret->limits;
    job->cancel_fd = -1;
    ret->c.file_name = ret->file_name;
    ret->c.prelude = ret->prelude;
    ret->c.arguments = &ret->arguments;
    ret->c.environment = &ret->environment;
    ret->collection.patterns = &ret->patterns;
    ret->c.collection = &ret->collection;
    return 0;
}

PyObject *
csb_py_request_result(const struct csb_policy *policy,
                      const struct csb_py_request *request, int status,
                      const struct csb_report *report, const struct csb_error *error)
{
    PyObject *result = status < 0 ? csb_py_raise(error)
                                  : csb_py_report(policy, &request->limits, report);
    if (result != NULL && (add_findings(result, &request->opinion) < 0 ||
                           csb_py_add_collected(result, &request->collection) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}
